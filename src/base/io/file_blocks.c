/* file_blocks.c - blocks of memory in unlinked temporary files, one file each. */
#include "file_blocks.h"
#include "scratch_file.h"

#include <pthread.h>
#include <stdatomic.h>

enum { BLOCKS_MAX = 512 };

typedef struct file_block {
    void *data; /* NULL: free */
    size_t bytes;
    sfu__scratch *file;
} file_block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static file_block blocks[BLOCKS_MAX];
static atomic_int used; /* blocks; usually 0, so that nobody locks */
static atomic_size_t bytes_used;

size_t sfu__file_blocks_bytes(void) { return atomic_load(&bytes_used); }

/* NULL: there is none. The caller has the lock. */
static file_block *find(const void *data) {
    for (int i = 0; i < BLOCKS_MAX; i++) {
        if (blocks[i].data == data) {
            return &blocks[i];
        }
    }
    return NULL;
}

size_t sfu__file_block_size(const void *block) {
    if (block == NULL || atomic_load(&used) == 0) {
        return 0;
    }
    pthread_mutex_lock(&lock);
    const file_block *found = find(block);
    const size_t bytes = found != NULL ? found->bytes : 0;
    pthread_mutex_unlock(&lock);
    return bytes;
}

void *sfu__file_block_new(size_t bytes) {
    file_block block = {.bytes = bytes};
    if (sfu__scratch_new_somewhere(&block.file) != SFU_OK ||
        sfu__scratch_map_zeros(&block.data, block.file, (int64_t)bytes) != SFU_OK) {
        sfu__scratch_free(block.file);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    file_block *free_one = find(NULL);
    if (free_one != NULL) {
        *free_one = block;
        atomic_fetch_add(&used, 1);
        atomic_fetch_add(&bytes_used, bytes);
    }
    pthread_mutex_unlock(&lock);
    if (free_one == NULL) {
        sfu__scratch_free(block.file);
        return NULL;
    }
    return block.data;
}

void sfu__file_block_free(void *block) {
    pthread_mutex_lock(&lock);
    file_block *found = find(block);
    sfu__scratch *file = found->file;
    atomic_fetch_sub(&bytes_used, found->bytes);
    *found = (file_block){0};
    atomic_fetch_sub(&used, 1);
    pthread_mutex_unlock(&lock);
    sfu__scratch_free(file);
}
