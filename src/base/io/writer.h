/* writer.h - atomic file output.
 *
 * A file is written under a temporary name in the same folder (temporary.h), synced and renamed. It inherits the mode
 * and, if permitted, the owner of the file it replaces. A device, a FIFO and /dev/stdout are written to directly
 * (output_path.h): what was written before a failure stays.
 */
#ifndef SFU_WRITER_H
#define SFU_WRITER_H

#include "digest.h"
#include "progress.h"

typedef struct sfu__writer sfu__writer;
SFU_CHECKED sfu_status sfu__writer_open(sfu__writer **writer, const char *path);
/* The same without a file: the bytes are passed to `write`. */
SFU_CHECKED sfu_status sfu__writer_open_sink(sfu__writer **writer, sfu_write_fn write, void *user);

/* Sets a digest that receives every byte, and a ticker that is called every 64 KiB; `done` counts the bytes of all its
 * writers. Both are borrowed; NULL for none. */
void sfu__writer_watch(sfu__writer *writer, sfu__digest *digest, sfu__ticker *ticker, double *done);

SFU_CHECKED sfu_status sfu__writer_add(sfu__writer *writer, const void *bytes, size_t size);
SFU_CHECKED sfu_status sfu__writer_format(sfu__writer *writer, const char *format, ...) SFU_PRINTF(2, 3);

/* Whether text is protected from being executed as a formula by a spreadsheet (csv_write.h). */
void sfu__writer_set_spreadsheet(sfu__writer *writer, bool on);
bool sfu__writer_is_spreadsheet(const sfu__writer *writer);

/* The temporary path, for another program to write to before commit; NULL for a stream or sink. */
const char *sfu__writer_temporary(const sfu__writer *writer);

/* Does everything of a commit that can fail on a full disk: the bytes are then on disk under the temporary name. */
SFU_CHECKED sfu_status sfu__writer_finish(sfu__writer *writer);
/* Finishes and renames. Always followed by close, which removes an uncommitted file. */
SFU_CHECKED sfu_status sfu__writer_commit(sfu__writer *writer);
/* Instead of a commit: removes the existing regular file at the path. */
void sfu__writer_remove_old(sfu__writer *writer);
void sfu__writer_close(sfu__writer *writer);

/* All of these at once. */
SFU_CHECKED sfu_status sfu__write_file(const char *path, const void *bytes, size_t size);

#endif
