/* gpu_image.h - constant data of a GPU program: structs and arrays in one block of memory, copied to the device at
 * once.
 *
 * Pointers inside the image hold offsets from its start until it is placed at an address of the device. */
#ifndef SFU_GPU_IMAGE_H
#define SFU_GPU_IMAGE_H

#include "status.h"

/* Starts as {0}. */
typedef struct sfu__gpu_image {
    char *bytes;
    size_t size, capacity;
    size_t *pointers; /* positions of the pointers */
    size_t pointer_count, pointer_capacity;
} sfu__gpu_image;

void sfu__gpu_image_clear(sfu__gpu_image *image);

/* Appends a copy of `bytes` bytes (data NULL: zeros), aligned to a cache line. */
SFU_CHECKED sfu_status sfu__gpu_image_add(size_t *at, sfu__gpu_image *image, const void *data, size_t bytes);

/* The pointer at position `at` points to `target` in the image. */
SFU_CHECKED sfu_status sfu__gpu_image_point(sfu__gpu_image *image, size_t at, size_t target);

/* Appends an array and points to it; no items: the pointer stays NULL. */
SFU_CHECKED sfu_status sfu__gpu_image_array(sfu__gpu_image *image, size_t pointer_at, const void *data, size_t bytes);

/* Turns all offsets into addresses. Called once. */
void sfu__gpu_image_place(sfu__gpu_image *image, uint64_t address);

#endif
