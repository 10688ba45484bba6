/* scratch_file.h - a temporary file for arrays that do not fit into memory.
 *
 * The file is created in a folder and unlinked at once, so nothing is left behind however the process ends. Regions of
 * it are written and read at offsets, by several threads, and mapped once they are complete. Its bytes are page cache,
 * not anonymous memory.
 */
#ifndef SFU_SCRATCH_FILE_H
#define SFU_SCRATCH_FILE_H

#include "memory.h"

typedef struct sfu__scratch sfu__scratch;

SFU_CHECKED sfu_status sfu__scratch_new(sfu__scratch **scratch, const char *folder);
/* In the current folder, or in $TMPDIR or /tmp if that cannot be written. */
SFU_CHECKED sfu_status sfu__scratch_new_somewhere(sfu__scratch **scratch);
void sfu__scratch_free(sfu__scratch *scratch); /* with its mappings */

/* The offset of a new region of `bytes` bytes. Disk space is used only for what is written. */
int64_t sfu__scratch_reserve(sfu__scratch *scratch, int64_t bytes);

SFU_CHECKED sfu_status sfu__scratch_write(sfu__scratch *scratch, int64_t offset, const void *bytes, int64_t size);
SFU_CHECKED sfu_status sfu__scratch_read(sfu__scratch *scratch, int64_t offset, void *bytes, int64_t size);

/* Maps a region whose first `bytes` bytes are written, read-only, until the file is freed. `offset` is one of
 * sfu__scratch_reserve. */
SFU_CHECKED sfu_status sfu__scratch_map(const void **data, sfu__scratch *scratch, int64_t offset, int64_t bytes);

/* Maps a new region of `bytes` bytes, zeros that may be written, until the file is freed. */
SFU_CHECKED sfu_status sfu__scratch_map_zeros(void **data, sfu__scratch *scratch, int64_t bytes);

/* As the last, for any number of regions that come and go, by several threads: each until it is unmapped, which gives
 * its disk space back. */
SFU_CHECKED sfu_status sfu__scratch_block_map(void **data, int64_t *offset, sfu__scratch *scratch, int64_t bytes);
void sfu__scratch_block_unmap(sfu__scratch *scratch, void *data, int64_t offset, int64_t bytes);

/* The number of bytes written so far. */
int64_t sfu__scratch_written(const sfu__scratch *scratch);

#endif
