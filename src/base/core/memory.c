/* memory.c - memory allocation through a replaceable allocator. */
#define _DEFAULT_SOURCE /* madvise */
#include "memory.h"
#include "file_blocks.h"
#include "process_memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void sfu__prefer_large_pages(void *block, size_t bytes) {
    enum { LARGE_PAGE = 1 << 21, MIN_BYTES = 2 * LARGE_PAGE };
    if (block != NULL && bytes >= MIN_BYTES) {
        const uintptr_t begin = ((uintptr_t)block + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
        const uintptr_t end = ((uintptr_t)block + bytes) / LARGE_PAGE * LARGE_PAGE;
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    }
}

/* ---- the default allocator: malloc, counted ---------------------------------------------------------------------- */

static atomic_size_t bytes_used;
static _Thread_local size_t bytes_limit, bytes_refused;

size_t sfu__memory_used(void) { return atomic_load(&bytes_used); }
size_t sfu__memory_limit(void) { return bytes_limit; }
size_t sfu__memory_refused(void) { return bytes_refused; }
void sfu__memory_refuse(size_t needed) { bytes_refused = needed; }

void sfu__memory_set_limit(size_t bytes) {
    bytes_limit = bytes;
    bytes_refused = 0;
}

static _Thread_local size_t large_in_files; /* the most bytes; 0: they are in memory */
static atomic_size_t bytes_most;

static size_t used_with_files(void) { return sfu__memory_used() + sfu__file_blocks_bytes(); }

void sfu__memory_in_files(size_t most) { large_in_files = most; }
size_t sfu__memory_is_in_files(void) { return large_in_files; }
size_t sfu__memory_take_most(void) { return atomic_exchange(&bytes_most, used_with_files()); }

static void note_most(size_t bytes) {
    size_t most = atomic_load(&bytes_most);
    while (large_in_files > 0 && bytes > most && !atomic_compare_exchange_weak(&bytes_most, &most, bytes)) {
    }
}

bool sfu__memory_fits(size_t more) {
    const size_t limit = sfu__memory_limit(), wanted = sfu__memory_used() + more;
    note_most(used_with_files() + more);
    if (large_in_files > 0 || limit == 0 || wanted <= limit) {
        return true;
    }
    sfu__memory_refuse(wanted);
    return false;
}

static _Thread_local const char *spill_folder;
static _Thread_local bool lacks_disk; /* the last allocation */

void sfu__memory_spill(const char *folder) { spill_folder = folder; }
const char *sfu__memory_spill_folder(void) { return spill_folder; }

static bool spills(size_t before, size_t bytes) {
    enum { SPILLED = 1 << 16 };
    return spill_folder != NULL && bytes >= SPILLED && bytes > before &&
           sfu__memory_used() + (bytes - before) > sfu__memory_limit() / 2;
}

void sfu__memory_trim(void) { (void)malloc_trim(0); }

static void malloc_release(void *user, void *pointer) {
    (void)user;
    if (sfu__file_block_size(pointer) > 0) {
        sfu__file_block_free(pointer);
        return;
    }
    atomic_fetch_sub(&bytes_used, malloc_usable_size(pointer));
    free(pointer);
}

/* The block moves to a file, or from one file to another. */
static void *move_to_file(void *pointer, size_t before, size_t bytes) {
    if (sfu__file_block_size(pointer) > 0 && sfu__file_block_resize(pointer, bytes)) {
        note_most(used_with_files());
        return pointer;
    }
    const bool enough = large_in_files == 0 || used_with_files() + bytes <= large_in_files;
    void *block = enough ? sfu__file_block_new(bytes, spill_folder) : NULL;
    lacks_disk = block == NULL;
    if (block != NULL && pointer != NULL) {
        memcpy(block, pointer, before < bytes ? before : bytes);
        malloc_release(NULL, pointer);
    }
    note_most(used_with_files());
    return block;
}

static void *malloc_resize(void *user, void *pointer, size_t bytes) {
    enum { LARGE = 1 << 14 };
    (void)user;
    const size_t in_file = sfu__file_block_size(pointer);
    const size_t before = in_file > 0 ? in_file : malloc_usable_size(pointer);
    if (in_file > 0 || (large_in_files > 0 && bytes >= LARGE) || spills(before, bytes)) {
        return move_to_file(pointer, before, bytes);
    }
    if (bytes > before && !sfu__memory_fits(bytes - before)) {
        return NULL;
    }
    void *block = realloc(pointer, bytes);
    if (block != NULL) {
        atomic_fetch_add(&bytes_used, malloc_usable_size(block) - before); /* modulo 2^64 */
    }
    sfu__prefer_large_pages(block, bytes);
    return block;
}

/* ---- allocation through a replaceable allocator ------------------------------------------------------------------ */

static const sfu_allocator malloc_allocator = {malloc_resize, malloc_release, NULL};
static sfu_allocator allocator_in_use = {malloc_resize, malloc_release, NULL};

void sfu_set_allocator(const sfu_allocator *allocator) {
    allocator_in_use = allocator != NULL ? *allocator : malloc_allocator;
}

void *sfu__resize(void *pointer, size_t count, size_t size) {
    size_t bytes;
    sfu__process_memory_start();
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX) {
        sfu__fail(SFU_ERR_MEMORY, "out of memory: cannot allocate %zu items of %zu bytes", count, size);
        return NULL;
    }
    lacks_disk = false;
    void *block = allocator_in_use.resize(allocator_in_use.user, pointer, bytes > 0 ? bytes : 1);
    if (block == NULL && !(lacks_disk && spill_folder != NULL)) { /* the file has said why */
        const bool limited = sfu__memory_limit() > 0 && allocator_in_use.resize == malloc_resize;
        if (limited && sfu__memory_refused() == 0) { /* the system refused it: RLIMIT_DATA, as large as the limit */
            sfu__memory_refuse(sfu__memory_used() + bytes);
        }
        sfu__fail(SFU_ERR_MEMORY, "out of memory%s: cannot allocate %zu bytes", limited ? " within the limit" : "",
                  bytes);
    }
    return block;
}

void *sfu__alloc(size_t count, size_t size) { return sfu__resize(NULL, count, size); }

void *sfu__alloc_zero(size_t count, size_t size) {
    void *block = sfu__resize(NULL, count, size);
    if (block != NULL) {
        memset(block, 0, count * size);
    }
    return block;
}

void *sfu__alloc_lazy(size_t count, size_t size) {
    enum { PAGE = 1 << 16 }; /* the largest of any system */
    char *block = sfu__resize(NULL, count, size);
    if (block == NULL) {
        return NULL;
    }
    const size_t bytes = count * size, before = (PAGE - (uintptr_t)block % PAGE) % PAGE;
    const size_t pages = bytes > before ? (bytes - before) / PAGE * PAGE : 0;
    /* malloc maps what is as large as this: private pages that are zero when they come back. In a file they are. */
    const bool mapped = bytes > (size_t)1 << 26 && allocator_in_use.resize == malloc_resize;
    if (!mapped || madvise(block + before, pages, MADV_DONTNEED) != 0) {
        memset(block, 0, bytes);
        return block;
    }
    (void)madvise(block + before, pages, MADV_NOHUGEPAGE); /* with these, rows far apart would take all of it */
    memset(block, 0, before);
    memset(block + before + pages, 0, bytes - before - pages);
    return block;
}

void sfu__free(void *pointer) { allocator_in_use.release(allocator_in_use.user, pointer); }

char *sfu__copy_bytes(const char *bytes, size_t size) {
    char *copy = size < SIZE_MAX ? sfu__alloc(size + 1, 1) : NULL;
    if (copy != NULL) {
        memcpy(copy, bytes, size);
        copy[size] = '\0';
    }
    return copy;
}

char *sfu__copy_string(const char *text) { return sfu__copy_bytes(text, strlen(text)); }

void sfu_text_free(char *text) { sfu__free(text); }

void *sfu__grow(void *array, size_t *capacity, size_t need, size_t item_size) {
    if (need <= *capacity && array != NULL) {
        return array;
    }
    size_t grown = *capacity > 0 ? *capacity : 16;
    while (grown < need) {
        if (grown > SIZE_MAX / 2) {
            grown = need;
            break;
        }
        grown *= 2;
    }
    void *block = sfu__resize(array, grown, item_size);
    if (block != NULL) {
        *capacity = grown;
    }
    return block;
}
