/* memory.h - memory allocation; all allocations of the library go through these functions. */
#ifndef SFU_MEMORY_H
#define SFU_MEMORY_H

#include "status.h"

/* Allocates count * size bytes, uninitialized (or zeroed); NULL with the message set if out of memory or on overflow.
 * A count of 0 gives a pointer that may be freed. */
void *sfu__alloc(size_t count, size_t size);
void *sfu__alloc_zero(size_t count, size_t size);

/* Zeroed; a large array takes memory only where it is written or read, page by page. */
void *sfu__alloc_lazy(size_t count, size_t size);

/* Requests huge pages for a large array, which makes first touch and random access cheaper. Only a hint: systems
 * without support ignore it. sfu__alloc and the like do so, but not sfu__alloc_lazy. */
void sfu__prefer_large_pages(void *block, size_t bytes);

/* Like realloc: on failure the old block is unchanged, NULL is returned and the message set. */
void *sfu__resize(void *pointer, size_t count, size_t size);

void sfu__free(void *pointer);

/* Bytes allocated now, unless sfu_set_allocator replaced the allocator; and the limit of them for this thread, which
 * sfu__parallel hands to its threads: an allocation beyond it fails as if there were no memory. 0: none.
 * sfu__memory_refused: the limit that such an allocation needed, of this thread or of sfu__parallel, since the limit
 * was set; 0: there was none. sfu__memory_refuse notes one, for memory that is counted before it is allocated. */
size_t sfu__memory_used(void);
size_t sfu__memory_limit(void);
size_t sfu__memory_refused(void);
void sfu__memory_set_limit(size_t bytes);
void sfu__memory_refuse(size_t needed);

/* Whether so many more bytes may be allocated; notes it, as an allocation does, if not. */
bool sfu__memory_fits(size_t more);

/* This thread, and those that sfu__parallel starts for it, take large blocks from temporary files, beyond any limit, to
 * find what a computation needs; but at most so many bytes in all, files included (SIZE_MAX: any number; 0: none are
 * taken). sfu__memory_take_most: the most bytes that such threads have had at once, files and those of
 * sfu__memory_fits included, since the last call. */
void sfu__memory_in_files(size_t most);
size_t sfu__memory_is_in_files(void);
size_t sfu__memory_take_most(void);

/* Blocks of 64 KiB or more that take this thread, and those that sfu__parallel starts for it, beyond half of the limit
 * lie in a temporary file in this folder, which is borrowed; NULL: none do. The other half is for small blocks, and for
 * steps that keep to the limit themselves. */
void sfu__memory_spill(const char *folder);
const char *sfu__memory_spill_folder(void);

/* Gives the pages of freed blocks back to the system. */
void sfu__memory_trim(void);

/* A copy of a string, or of `size` bytes with a terminating NUL. */
char *sfu__copy_string(const char *text);
char *sfu__copy_bytes(const char *bytes, size_t size);

/* For functions with `status` and `done:`. */
#define SFU__ALLOC_BY(allocate, pointer, count)                                                                        \
    do {                                                                                                               \
        (pointer) = allocate((size_t)(count), sizeof *(pointer));                                                      \
        if ((pointer) == NULL) {                                                                                       \
            status = SFU_ERR_MEMORY;                                                                                   \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)
#define SFU_ALLOC(pointer, count) SFU__ALLOC_BY(sfu__alloc, pointer, count)
#define SFU_ALLOC_ZERO(pointer, count) SFU__ALLOC_BY(sfu__alloc_zero, pointer, count)
#define SFU_ALLOC_LAZY(pointer, count) SFU__ALLOC_BY(sfu__alloc_lazy, pointer, count)

/* Ensures space for `need` items in a growing array: doubles *capacity until it fits. Returns the array as realloc
 * does; NULL means out of memory, and the old array is unchanged. */
void *sfu__grow(void *array, size_t *capacity, size_t need, size_t item_size);

#endif
