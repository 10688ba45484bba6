/* file_blocks.h - blocks of memory in a temporary file: page cache, not anonymous memory, and not within the limit.
 *
 * memory.c takes large blocks from here where it is measured what a computation needs, or estimated with more than the
 * memory limit leaves.
 */
#ifndef SFU_FILE_BLOCKS_H
#define SFU_FILE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of a block; 0: it is none of these. */
size_t sfu__file_block_size(const void *block);

/* A new block of zeros; NULL if there is no space for it. */
void *sfu__file_block_new(size_t bytes);
void sfu__file_block_free(void *block);

/* The bytes of all blocks. */
size_t sfu__file_blocks_bytes(void);

#endif
