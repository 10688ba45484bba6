/* file_blocks.c - blocks of memory in one unlinked temporary file, found by their address.
 *
 * One file for all: a network is planned with tens of thousands of blocks, and to create and remove a file for each
 * took half of the time on ext4. A region that is freed stays mapped and is used again by a block of about its size,
 * since taking space on the disk and giving it back took most of what was left. All is given back when no block is
 * in use.
 */
#include "file_blocks.h"
#include "scratch_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* A process may have about 2^16 mappings. Regions have sizes of powers of two, CLASSES of them; larger ones are as
 * large as their block, and are not kept. */
enum { BLOCKS_MAX = 1 << 15, CHAINS = 1 << 15, CLASSES = 13 };
static const size_t REGION_MIN = 1 << 14;

typedef struct file_block {
    void *data;
    size_t bytes, region; /* of the block, and what is mapped for it */
    int64_t offset;       /* in the file */
    int32_t next;         /* in its chain or list: a number from 1 on; 0: none */
} file_block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sfu__scratch *file; /* NULL until there is a block; then until the process ends, as the table in it */
static struct table {
    file_block blocks[BLOCKS_MAX + 1];
    int32_t chains[CHAINS];
    int32_t idle[CLASSES];   /* lists of regions that no block uses */
    int32_t unmapped, taken; /* a list of numbers without a region; how many numbers were ever taken */
} * table;
static atomic_int used; /* blocks; usually 0, so that nobody locks */
static atomic_size_t bytes_used;

size_t sfu__file_blocks_bytes(void) { return atomic_load(&bytes_used); }

/* ---- the table: the caller has the lock -------------------------------------------------------------------------- */

static int32_t *chain_of(const void *data) {
    enum { PAGE = 1 << 12 };
    return &table->chains[(uintptr_t)data / PAGE * UINT64_C(0x9E3779B97F4A7C15) >> 49];
}

/* The link to a block; to 0 if there is none. */
static int32_t *find(const void *data) {
    int32_t *link = chain_of(data);
    while (*link != 0 && table->blocks[*link].data != data) {
        link = &table->blocks[*link].next;
    }
    return link;
}

static void push(int32_t *list, int32_t number) {
    table->blocks[number].next = *list;
    *list = number;
}

static int32_t pop(int32_t *list) {
    const int32_t number = *list;
    *list = table->blocks[number].next; /* that of number 0 is 0 */
    return number;
}

/* ---- regions: the caller has the lock ---------------------------------------------------------------------------- */

/* The size of the region for a block. *idle: the list of such regions; NULL: they are not kept. */
static size_t region_of(size_t bytes, int32_t **idle) {
    int size = 0;
    while (size < CLASSES && REGION_MIN << size < bytes) {
        size++;
    }
    *idle = size < CLASSES ? &table->idle[size] : NULL;
    return size < CLASSES ? REGION_MIN << size : bytes;
}

static void unmap(int32_t number) {
    const file_block *block = &table->blocks[number];
    sfu__scratch_block_unmap(file, block->data, block->offset, (int64_t)block->region);
    table->blocks[number] = (file_block){0};
    push(&table->unmapped, number);
}

static void unmap_idle(void) {
    for (int size = 0; size < CLASSES; size++) {
        while (table->idle[size] != 0) {
            unmap(pop(&table->idle[size]));
        }
    }
}

/* The number of a new region; 0, with the message set: there is no space for it. */
static int32_t map_region(size_t region) {
    if (table->unmapped == 0 && table->taken == BLOCKS_MAX) {
        unmap_idle();
    }
    if (table->unmapped == 0 && table->taken == BLOCKS_MAX) {
        sfu__fail(SFU_ERR_MEMORY, "out of memory: more than %d blocks in a temporary file", BLOCKS_MAX);
        return 0;
    }
    const int32_t number = table->unmapped != 0 ? pop(&table->unmapped) : ++table->taken;
    file_block *block = &table->blocks[number];
    *block = (file_block){.region = region};
    if (sfu__scratch_block_map(&block->data, &block->offset, file, (int64_t)region) != SFU_OK) {
        push(&table->unmapped, number);
        return 0;
    }
    return number;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

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

static void *take(size_t bytes) {
    int32_t *idle;
    const size_t region = region_of(bytes, &idle);
    int32_t number = idle != NULL ? pop(idle) : 0;
    if (number == 0) {
        number = map_region(region);
    }
    if (number == 0) {
        return NULL;
    }
    table->blocks[number].bytes = bytes;
    push(chain_of(table->blocks[number].data), number);
    atomic_fetch_add(&used, 1);
    atomic_fetch_add(&bytes_used, bytes);
    return table->blocks[number].data;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

size_t sfu__file_block_size(const void *block) {
    if (block == NULL || atomic_load(&used) == 0) {
        return 0;
    }
    pthread_mutex_lock(&lock);
    const size_t bytes = table->blocks[*find(block)].bytes;
    pthread_mutex_unlock(&lock);
    return bytes;
}

void *sfu__file_block_new(size_t bytes, const char *folder) {
    pthread_mutex_lock(&lock);
    void *block = file != NULL || make_file(folder) == SFU_OK ? take(bytes) : NULL;
    pthread_mutex_unlock(&lock);
    return block;
}

bool sfu__file_block_resize(void *block, size_t bytes) {
    pthread_mutex_lock(&lock);
    file_block *resized = &table->blocks[*find(block)];
    const bool fits = bytes <= resized->region;
    if (fits) {
        atomic_fetch_add(&bytes_used, bytes - resized->bytes); /* modulo 2^64 */
        resized->bytes = bytes;
    }
    pthread_mutex_unlock(&lock);
    return fits;
}

void sfu__file_block_free(void *block) {
    pthread_mutex_lock(&lock);
    int32_t *idle;
    const int32_t number = pop(find(block));
    atomic_fetch_sub(&bytes_used, table->blocks[number].bytes);
    (void)region_of(table->blocks[number].region, &idle);
    if (idle != NULL) {
        push(idle, number);
    } else {
        unmap(number);
    }
    if (atomic_fetch_sub(&used, 1) == 1) {
        unmap_idle();
    }
    pthread_mutex_unlock(&lock);
}
