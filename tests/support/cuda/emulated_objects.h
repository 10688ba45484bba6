/* emulated_objects.h - what programs create in the emulated driver: allocations, streams, events, modules. Each belongs
 * to a device and is found by its address. The caller holds the driver's lock. */
#ifndef SFU_EMULATED_OBJECTS_H
#define SFU_EMULATED_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef enum emulated_kind { DEVICE_MEMORY, HOST_MEMORY, STREAM, EVENT, MODULE, EMULATED_KINDS } emulated_kind;

typedef struct emulated_object {
    struct emulated_object *next;
    emulated_kind kind;
    int device;
    unsigned char *block, *data; /* data: the address that programs know; block: with the guard bytes */
    size_t bytes;
    struct timespec time; /* of an event */
} emulated_object;

/* A new object with `bytes` bytes, filled with 0xff; NULL if there is no memory. */
emulated_object *emulated_add(emulated_kind kind, int device, size_t bytes);

/* The object of this address; NULL if there is none of this kind. */
emulated_object *emulated_find(emulated_kind kind, const void *data);

/* Checks the guard bytes and frees. */
void emulated_remove(emulated_object *object);

/* Removes all objects of a device. */
void emulated_remove_all(int device);

/* Whether the range lies in one allocation of device memory. */
bool emulated_is_inside(uint64_t address, size_t bytes);

/* Bytes of device memory that a device has allocated. */
size_t emulated_used(int device);

/* Objects of all devices by kind. */
void emulated_count(int64_t counts[EMULATED_KINDS]);

#endif
