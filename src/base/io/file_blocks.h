/* file_blocks.h - blocks of memory in a temporary file: page cache, not anonymous memory, and not within the limit.
 *
 * memory.c takes large blocks from here where it is measured what a computation needs, or estimated with more than the
 * memory limit leaves, and those of an import that do not fit its limit.
 */
#ifndef SFU_FILE_BLOCKS_H
#define SFU_FILE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of a block; 0: it is none of these. */
size_t sfu__file_block_size(const void *block);

/* A new block, of zeros if it has more than 64 MiB; NULL with the message set if there is no space for it. The first
 * block makes the file, in `folder` or, if that is NULL, where sfu__scratch_new_somewhere does. */
void *sfu__file_block_new(size_t bytes, const char *folder);
void sfu__file_block_free(void *block);

/* Whether the block has space for so many bytes; then it has them. */
bool sfu__file_block_resize(void *block, size_t bytes);

/* The bytes of all blocks. */
size_t sfu__file_blocks_bytes(void);

#endif
