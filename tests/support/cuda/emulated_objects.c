/* emulated_objects.c - the list of objects, with guard bytes around each. */
#include "emulated_objects.h"
#include "emulated_settings.h"
#include "sanitized.h"

#include <stdlib.h>
#include <string.h>

/* The sanitizer guards blocks of malloc itself, and would not see an access to guard bytes of ours. */
enum { ALIGNMENT = 256, GUARD = SFU__SANITIZED ? 0 : 256, GUARD_BYTE = 0xa5 };

static emulated_object *objects;

emulated_object *emulated_add(emulated_kind kind, int device, size_t bytes) {
    emulated_object *object = calloc(1, sizeof *object);
    void *block = NULL;
    if (object == NULL || bytes > SIZE_MAX - 2 * GUARD || posix_memalign(&block, ALIGNMENT, bytes + 2 * GUARD) != 0) {
        free(object);
        return NULL;
    }
    *object = (emulated_object){objects, kind, device, block, (unsigned char *)block + GUARD, bytes, {0}};
    memset(block, GUARD_BYTE, GUARD);
    memset(object->data, 0xff, bytes);
    memset(object->data + bytes, GUARD_BYTE, GUARD);
    objects = object;
    return object;
}

emulated_object *emulated_find(emulated_kind kind, const void *data) {
    for (emulated_object *object = objects; object != NULL; object = object->next) {
        if (object->kind == kind && object->data == data) {
            return object;
        }
    }
    return NULL;
}

static void check_guards(const emulated_object *object) {
    for (int i = 0; i < GUARD; i++) {
        if (object->block[i] != GUARD_BYTE || object->data[object->bytes + (size_t)i] != GUARD_BYTE) {
            emulated_fault("something wrote outside an allocation of %zu bytes", object->bytes);
        }
    }
}

void emulated_remove(emulated_object *object) {
    emulated_object **at = &objects;
    while (*at != object) {
        at = &(*at)->next;
    }
    *at = object->next;
    check_guards(object);
    free(object->block);
    free(object);
}

void emulated_remove_all(int device) {
    for (emulated_object *object = objects, *next; object != NULL; object = next) {
        next = object->next;
        if (object->device == device) {
            emulated_remove(object);
        }
    }
}

bool emulated_is_inside(uint64_t address, size_t bytes) {
    for (const emulated_object *object = objects; object != NULL; object = object->next) {
        const uint64_t start = (uint64_t)(uintptr_t)object->data;
        if (object->kind == DEVICE_MEMORY && address >= start && address - start <= object->bytes &&
            bytes <= object->bytes - (size_t)(address - start)) {
            return true;
        }
    }
    return false;
}

size_t emulated_used(int device) {
    size_t used = 0;
    for (const emulated_object *object = objects; object != NULL; object = object->next) {
        used += object->kind == DEVICE_MEMORY && object->device == device ? object->bytes : 0;
    }
    return used;
}

void emulated_count(int64_t counts[EMULATED_KINDS]) {
    memset(counts, 0, EMULATED_KINDS * sizeof *counts);
    for (const emulated_object *object = objects; object != NULL; object = object->next) {
        counts[object->kind]++;
    }
}
