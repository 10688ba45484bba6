/* mapped.c - a small lock-free table of mapped files, because it is read inside a signal handler. A row is free if its
 * address is 0, and being filled in if it is TAKEN. If the table is full, a mapping is not registered.
 */
#include "mapped.h"

#include <stdatomic.h>
#include <string.h>

enum { ROWS = 64, NAME = 256, TAKEN = 1 };

static struct {
    atomic_uintptr_t begin;
    atomic_size_t size;
    char path[NAME]; /* escaped */
} rows[ROWS];

void sfu__mapped_add(const void *begin, size_t size, const char *path) {
    for (int i = 0; i < ROWS; i++) {
        uintptr_t free_row = 0;
        if (atomic_compare_exchange_strong(&rows[i].begin, &free_row, TAKEN)) {
            sfu_escape(rows[i].path, NAME, path, strlen(path));
            atomic_store(&rows[i].size, size);
            atomic_store(&rows[i].begin, (uintptr_t)begin);
            return;
        }
    }
}

void sfu__mapped_remove(const void *begin) {
    for (int i = 0; i < ROWS; i++) {
        uintptr_t wanted = (uintptr_t)begin;
        if (atomic_compare_exchange_strong(&rows[i].begin, &wanted, 0)) {
            return;
        }
    }
}

const char *sfu_mapped_file(const void *address) {
    for (int i = 0; i < ROWS; i++) {
        const uintptr_t begin = atomic_load(&rows[i].begin);
        if (begin > TAKEN && (uintptr_t)address >= begin && (uintptr_t)address - begin < atomic_load(&rows[i].size)) {
            return rows[i].path;
        }
    }
    return NULL;
}
