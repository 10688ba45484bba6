/* file_blocks.h - blocks of memory in temporary files: page cache, not anonymous memory, and not counted.
 *
 * memory.c takes large blocks from here where an estimate needs more than the memory limit leaves.
 */
#ifndef SFU_FILE_BLOCKS_H
#define SFU_FILE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of a block; 0: it is none of these. */
size_t sfu__file_block_size(const void *block);

/* A new block of zeros, in a file that is unlinked at once; NULL if there is no space for it. */
void *sfu__file_block_new(size_t bytes);
void sfu__file_block_free(void *block);

#endif
