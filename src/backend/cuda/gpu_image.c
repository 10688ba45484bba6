/* gpu_image.c - constant data of a GPU program in one block of memory. */
#include "gpu_image.h"
#include "memory.h"

#include <string.h>

enum { LINE = 128 };

void sfu__gpu_image_clear(sfu__gpu_image *image) {
    sfu__free(image->bytes);
    sfu__free(image->pointers);
    *image = (sfu__gpu_image){0};
}

sfu_status sfu__gpu_image_add(size_t *at, sfu__gpu_image *image, const void *data, size_t bytes) {
    const size_t start = (image->size + LINE - 1) / LINE * LINE;
    if (bytes > SIZE_MAX / 2 - start) {
        return SFU_ERR_MEMORY;
    }
    char *grown = sfu__grow(image->bytes, &image->capacity, start + bytes, 1);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    image->bytes = grown;
    memset(grown + image->size, 0, start - image->size);
    if (data != NULL) {
        memcpy(grown + start, data, bytes);
    } else {
        memset(grown + start, 0, bytes);
    }
    image->size = start + bytes;
    *at = start;
    return SFU_OK;
}

sfu_status sfu__gpu_image_point(sfu__gpu_image *image, size_t at, size_t target) {
    size_t *grown =
        sfu__grow(image->pointers, &image->pointer_capacity, image->pointer_count + 1, sizeof *image->pointers);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    const uint64_t offset = target;
    image->pointers = grown;
    image->pointers[image->pointer_count++] = at;
    memcpy(image->bytes + at, &offset, sizeof offset);
    return SFU_OK;
}

sfu_status sfu__gpu_image_array(sfu__gpu_image *image, size_t pointer_at, const void *data, size_t bytes) {
    sfu_status status = SFU_OK;
    size_t at;
    if (bytes == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__gpu_image_add(&at, image, data, bytes));
    SFU_TRY(sfu__gpu_image_point(image, pointer_at, at));
done:
    return status;
}

void sfu__gpu_image_place(sfu__gpu_image *image, uint64_t address) {
    for (size_t i = 0; i < image->pointer_count; i++) {
        uint64_t pointer;
        memcpy(&pointer, image->bytes + image->pointers[i], sizeof pointer);
        pointer += address;
        memcpy(image->bytes + image->pointers[i], &pointer, sizeof pointer);
    }
}
