/* file_blocks.c - blocks of memory in one unlinked temporary file, found by their address.
 *
 * One file for all: a network is planned with tens of thousands of blocks, and to create and remove a file for each
 * took half of the time on ext4. */
#include "file_blocks.h"
#include "scratch_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { BLOCKS_MAX = 1 << 15, CHAINS = 1 << 15 }; /* a process may have about 2^16 mappings */

typedef struct file_block {
    void *data;
    size_t bytes;
    int64_t offset; /* in the file */
    int32_t next;   /* in its chain, or among those that were freed: a number from 1 on; 0: none */
} file_block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sfu__scratch *file; /* NULL until there is a block; then until the process ends, as the table in it */
static struct table {
    file_block blocks[BLOCKS_MAX + 1];
    int32_t chains[CHAINS], freed, taken; /* the first of each; how many were ever taken */
} * table;
static atomic_int used; /* blocks; usually 0, so that nobody locks */
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

static sfu_status make_file(const char *folder) {
    sfu_status status = SFU_OK;
    void *zeros = NULL;
    SFU_TRY(folder != NULL ? sfu__scratch_new(&file, folder) : sfu__scratch_new_somewhere(&file));
    SFU_TRY(sfu__scratch_map_zeros(&zeros, file, sizeof *table));
    table = zeros;
done:
    if (status != SFU_OK) {
        sfu__scratch_free(file);
        file = NULL;
    }
    return status;
}

/* The file with the table in it; NULL if it cannot be made. */
static sfu__scratch *file_of_blocks(const char *folder) {
    pthread_mutex_lock(&lock);
    if (file == NULL) {
        (void)make_file(folder); /* the caller sees it */
    }
    pthread_mutex_unlock(&lock);
    return file;
}

void *sfu__file_block_new(size_t bytes, const char *folder) {
    void *data = NULL;
    int64_t offset = 0;
    sfu__scratch *const in = file_of_blocks(folder);
    if (in == NULL || sfu__scratch_block_map(&data, &offset, in, (int64_t)bytes) != SFU_OK) {
        return NULL;
    }
    pthread_mutex_lock(&lock);
    const int32_t number = take_number();
    if (number != 0) {
        int32_t *chain = chain_of(data);
        table->blocks[number] = (file_block){data, bytes, offset, *chain};
        *chain = number;
        atomic_fetch_add(&used, 1);
        atomic_fetch_add(&bytes_used, bytes);
    }
    pthread_mutex_unlock(&lock);
    if (number == 0) {
        sfu__scratch_block_unmap(in, data, offset, (int64_t)bytes);
        sfu__fail(SFU_ERR_MEMORY, "out of memory: more than %d blocks in a temporary file", BLOCKS_MAX);
        return NULL;
    }
    return data;
}

void sfu__file_block_free(void *block) {
    pthread_mutex_lock(&lock);
    int32_t *link = find(block);
    const int32_t number = *link;
    const file_block freed = table->blocks[number];
    *link = freed.next;
    table->blocks[number] = (file_block){.next = table->freed};
    table->freed = number;
    atomic_fetch_sub(&used, 1);
    atomic_fetch_sub(&bytes_used, freed.bytes);
    pthread_mutex_unlock(&lock);
    sfu__scratch_block_unmap(file, block, freed.offset, (int64_t)freed.bytes);
}
