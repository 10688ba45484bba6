/* file_blocks.c - blocks of memory in unlinked temporary files, one file each, found by their address. */
#include "file_blocks.h"
#include "scratch_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

enum { BLOCKS_MAX = 1 << 15, CHAINS = 1 << 15 }; /* a process may have about 2^16 mappings */

typedef struct file_block {
    void *data;
    size_t bytes;
    int32_t next; /* in its chain, or among those that were freed: a number from 1 on; 0: none */
} file_block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table {
    file_block blocks[BLOCKS_MAX + 1];
    int32_t chains[CHAINS], freed, taken; /* the first of each; how many were ever taken */
} * table;                                /* in a file itself; NULL until there is a block */
static atomic_int used;                   /* blocks; usually 0, so that nobody locks */
static atomic_size_t bytes_used;

size_t sfu__file_blocks_bytes(void) { return atomic_load(&bytes_used); }

static int32_t *chain_of(const void *data) {
    enum { PAGE = 1 << 12 };
    return &table->chains[(uintptr_t)data / PAGE * UINT64_C(0x9E3779B97F4A7C15) >> 49];
}

/* The link to a block; to 0 if there is none. The caller has the lock. */
static int32_t *find(const void *data) {
    int32_t *link = chain_of(data);
    while (*link != 0 && table->blocks[*link].data != data) {
        link = &table->blocks[*link].next;
    }
    return link;
}

size_t sfu__file_block_size(const void *block) {
    if (block == NULL || atomic_load(&used) == 0) {
        return 0;
    }
    pthread_mutex_lock(&lock);
    const size_t bytes = table->blocks[*find(block)].bytes;
    pthread_mutex_unlock(&lock);
    return bytes;
}

/* The number of a block that is not in use; 0: there is none. */
static int32_t take_number(void) {
    const int32_t number = table->freed != 0 ? table->freed : table->taken < BLOCKS_MAX ? ++table->taken : 0;
    table->freed = table->freed != 0 ? table->blocks[number].next : 0;
    return number;
}

void *sfu__file_block_new(size_t bytes) {
    void *data = NULL;
    if (sfu__scratch_map_alone(&data, (int64_t)bytes) != SFU_OK) {
        return NULL;
    }
    pthread_mutex_lock(&lock);
    void *made = table;
    const bool exists = made != NULL || sfu__scratch_map_alone(&made, sizeof *table) == SFU_OK;
    table = made;
    const int32_t number = exists ? take_number() : 0;
    if (number != 0) {
        int32_t *chain = chain_of(data);
        table->blocks[number] = (file_block){data, bytes, *chain};
        *chain = number;
        atomic_fetch_add(&used, 1);
        atomic_fetch_add(&bytes_used, bytes);
    }
    pthread_mutex_unlock(&lock);
    if (number == 0) {
        munmap(data, bytes);
        return NULL;
    }
    return data;
}

void sfu__file_block_free(void *block) {
    pthread_mutex_lock(&lock);
    int32_t *link = find(block);
    const int32_t number = *link;
    const size_t bytes = table->blocks[number].bytes;
    *link = table->blocks[number].next;
    table->blocks[number] = (file_block){.next = table->freed};
    table->freed = number;
    atomic_fetch_sub(&used, 1);
    atomic_fetch_sub(&bytes_used, bytes);
    pthread_mutex_unlock(&lock);
    munmap(block, bytes);
}
