/* file.h - files: copied, mapped or streamed to be read, written whole (writer.h); and paths. */
#ifndef SFU_FILE_H
#define SFU_FILE_H

#include "text.h"
#include "writer.h"

/* The bytes of a file. One of at most 16 MiB is copied, and what becomes of it afterwards does not matter; a larger one
 * is mapped. A pipe is read. Starts as {0}. */
enum { SFU__BYTES_COPIED = 1 << 24 };
typedef struct sfu__bytes {
    const unsigned char *data;
    size_t size;
    void *mapped; /* what to unmap, or NULL */
    void *owned;  /* what to free, or NULL */
} sfu__bytes;

SFU_CHECKED sfu_status sfu__bytes_open(sfu__bytes *bytes, const char *path);
void sfu__bytes_close(sfu__bytes *bytes);

/* Whether an address lies in the mapping of a file, where another process may change what it holds or take it away; and
 * that the bytes there are not needed in memory for now, where they are mapped. */
bool sfu__bytes_is_mapped(const sfu__bytes *bytes, const void *address);
void sfu__bytes_drop(const sfu__bytes *bytes, const void *from, size_t size);

/* Whether it is fair that a packed file of so many bytes unpacks to so many: at most 256 MiB, or 100 times the file. */
bool sfu__is_unpacked_fair(double unpacked, double packed);

/* A stream of bytes out of a file, gzip'd or not: read until *got is 0. A cut gzip file is an error, and so is one that
 * unpacks to more than is fair. */
typedef struct sfu__stream_file sfu__stream_file;
SFU_CHECKED sfu_status sfu__stream_open(sfu__stream_file **stream, const char *path);
SFU_CHECKED sfu_status sfu__stream_read(sfu__stream_file *stream, char *buffer, size_t size, size_t *got);
/* Of the file itself, which with gzip is smaller than what comes out: for progress. */
double sfu__stream_position(const sfu__stream_file *stream);
double sfu__stream_size(const sfu__stream_file *stream);
void sfu__stream_close(sfu__stream_file *stream);

/* Paths. The last part; the last part without its ending (".gz" goes too); "FOLDER/NAME", allocated. */
const char *sfu__path_base(const char *path);
char *sfu__path_stem(const char *path);
char *sfu__path_join(const char *folder, const char *name);
bool sfu__path_is_file(const char *path);
bool sfu__path_is_folder(const char *path);
bool sfu__path_is_pipe(const char *path);                       /* which other libraries would open without an end */
bool sfu__path_ends_with(const char *path, const char *ending); /* "x.CSV.gz" ends with ".csv" too */
SFU_CHECKED sfu_status sfu__make_folders(const char *path);

#endif
