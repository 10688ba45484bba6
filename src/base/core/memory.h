/* memory.h - the one door through which the library allocates. */
#ifndef SFU_MEMORY_H
#define SFU_MEMORY_H

#include "status.h"

/* count * size bytes, not initialised (or zeroed); NULL with the message set when there are none or the product
 * overflows. A count of 0 gives a pointer that may be freed. */
void *sfu__alloc(size_t count, size_t size);
void *sfu__alloc_zero(size_t count, size_t size);

/* Like realloc: on failure the old block stays as it was, NULL is returned and the message set. */
void *sfu__resize(void *pointer, size_t count, size_t size);

void sfu__free(void *pointer);

/* A copy of a string, or of `size` bytes with a 0 behind them. */
char *sfu__copy_string(const char *text);
char *sfu__copy_bytes(const char *bytes, size_t size);

/* Inside a function with `status` and `done:`. */
#define SFU_ALLOC(pointer, count)                                                                                      \
    do {                                                                                                               \
        (pointer) = sfu__alloc((size_t)(count), sizeof *(pointer));                                                    \
        if ((pointer) == NULL) {                                                                                       \
            status = SFU_ERR_MEMORY;                                                                                   \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

#define SFU_ALLOC_ZERO(pointer, count)                                                                                 \
    do {                                                                                                               \
        (pointer) = sfu__alloc_zero((size_t)(count), sizeof *(pointer));                                               \
        if ((pointer) == NULL) {                                                                                       \
            status = SFU_ERR_MEMORY;                                                                                   \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* Makes room for `need` items in a growing array: doubles *capacity until it fits. The array is passed and returned
 * as it is with realloc; NULL means no memory and the old array is still there. */
void *sfu__grow(void *array, size_t *capacity, size_t need, size_t item_size);

#endif
