/* writer.h - outputs that appear whole or not at all.
 *
 * A file is written under another name beside its place (temporary.h), synced and renamed onto it. One that it replaces
 * leaves its mode behind and, where the system allows it, its owner. A device, a FIFO and /dev/stdout are written to as
 * the bytes come (output_path.h): what was written there before a failure stays.
 */
#ifndef SFU_WRITER_H
#define SFU_WRITER_H

#include "digest.h"
#include "progress.h"

typedef struct sfu__writer sfu__writer;
SFU_CHECKED sfu_status sfu__writer_open(sfu__writer **writer, const char *path);
/* The same without a file: the bytes go to `write` as they come. */
SFU_CHECKED sfu_status sfu__writer_open_sink(sfu__writer **writer, sfu_write_fn write, void *user);

/* Both borrowed, NULL for none: gets every byte; is asked every 64 KiB, `done` counting the bytes of all its writers.
 */
void sfu__writer_watch(sfu__writer *writer, sfu__digest *digest, sfu__ticker *ticker, double *done);

SFU_CHECKED sfu_status sfu__writer_add(sfu__writer *writer, const void *bytes, size_t size);
SFU_CHECKED sfu_status sfu__writer_format(sfu__writer *writer, const char *format, ...) SFU_PRINTF(2, 3);

/* Whether text is written so that a spreadsheet takes it for text (csv_write.h). */
void sfu__writer_set_spreadsheet(sfu__writer *writer, bool on);
bool sfu__writer_is_spreadsheet(const sfu__writer *writer);

/* The path that another program may write in our place, before commit; NULL where there is no such file. */
const char *sfu__writer_temporary(const sfu__writer *writer);

/* Everything of a commit that a full disk can make fail: after it, the bytes are on disk under the temporary name. */
SFU_CHECKED sfu_status sfu__writer_finish(sfu__writer *writer);
/* Finishes, and moves it into place. Always to be followed by close, which removes what was not committed. */
SFU_CHECKED sfu_status sfu__writer_commit(sfu__writer *writer);
/* Instead of a commit: removes the regular file that is in the place. */
void sfu__writer_remove_old(sfu__writer *writer);
void sfu__writer_close(sfu__writer *writer);

#endif
