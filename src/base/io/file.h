/* file.h - reading files (copied, mapped or streamed), and path functions; writer.h writes files. */
#ifndef SFU_FILE_H
#define SFU_FILE_H

#include "text.h"
#include "writer.h"

/* The bytes of a file. A file of at most 16 MiB is copied, so that later changes do not matter; a larger one is mapped.
 * A pipe is read to its end. Starts as {0}. */
enum { SFU__BYTES_COPIED = 1 << 24 };
typedef struct sfu__bytes {
    const unsigned char *data;
    size_t size;
    void *mapped; /* to unmap, or NULL */
    void *owned;  /* to free, or NULL */
} sfu__bytes;

SFU_CHECKED sfu_status sfu__bytes_open(sfu__bytes *bytes, const char *path);
SFU_CHECKED sfu_status sfu__bytes_map(sfu__bytes *bytes, const char *path); /* mapped whatever its size */
void sfu__bytes_close(sfu__bytes *bytes);

/* Whether an address lies in the mapping of a file, which another process may change or truncate; and a hint that
 * mapped bytes are not needed in memory for now. */
bool sfu__bytes_is_mapped(const sfu__bytes *bytes, const void *address);
void sfu__bytes_drop(const sfu__bytes *bytes, const void *from, size_t size);

/* Whether a decompressed size is plausible for a compressed size: at most 256 MiB, or 100 times the file. */
bool sfu__is_unpacked_fair(double unpacked, double packed);

/* A stream of bytes from a file, gzip-compressed or not: read until *got is 0. A truncated gzip file is an error, and
 * one that decompresses to an implausible size. */
typedef struct sfu__stream_file sfu__stream_file;
SFU_CHECKED sfu_status sfu__stream_open(sfu__stream_file **stream, const char *path);
SFU_CHECKED sfu_status sfu__stream_read(sfu__stream_file *stream, char *buffer, size_t size, size_t *got);
/* Position and size in the file itself, before decompression: for progress. */
double sfu__stream_position(const sfu__stream_file *stream);
double sfu__stream_size(const sfu__stream_file *stream);
void sfu__stream_close(sfu__stream_file *stream);

/* The last component; the last component without its suffix (nor ".gz"); "FOLDER/NAME", allocated. */
const char *sfu__path_base(const char *path);
char *sfu__path_stem(const char *path);
char *sfu__path_join(const char *folder, const char *name);
bool sfu__path_is_file(const char *path);
bool sfu__path_is_folder(const char *path);
bool sfu__path_is_pipe(const char *path);                       /* other libraries would block on it */
bool sfu__path_ends_with(const char *path, const char *ending); /* "x.CSV.gz" ends with ".csv" too */
SFU_CHECKED sfu_status sfu__make_folders(const char *path);

#endif
