/* file.h - files in whole: mapped to be read, written beside their place and moved into it. */
#ifndef SFU_FILE_H
#define SFU_FILE_H

#include "text.h"

/* The bytes of a file, mapped where that is possible, else (a pipe) read. Starts as {0}. */
typedef struct sfu__bytes {
    const unsigned char *data;
    size_t size;
    void *mapped; /* what to unmap, or NULL */
    void *owned;  /* what to free, or NULL */
} sfu__bytes;

SFU_CHECKED sfu_status sfu__bytes_open(sfu__bytes *bytes, const char *path);
void sfu__bytes_close(sfu__bytes *bytes);

/* A stream of bytes out of a file, gzip'd or not: read until *got is 0. A cut gzip file is an error. */
typedef struct sfu__stream_file sfu__stream_file;
SFU_CHECKED sfu_status sfu__stream_open(sfu__stream_file **stream, const char *path);
SFU_CHECKED sfu_status sfu__stream_read(sfu__stream_file *stream, char *buffer, size_t size, size_t *got);
/* Of the file itself, which with gzip is smaller than what comes out: for progress. */
double sfu__stream_position(const sfu__stream_file *stream);
double sfu__stream_size(const sfu__stream_file *stream);
void sfu__stream_close(sfu__stream_file *stream);

/* A file that appears whole or not at all: written under another name in the same folder, synced, renamed. */
typedef struct sfu__writer sfu__writer;
SFU_CHECKED sfu_status sfu__writer_open(sfu__writer **writer, const char *path);
SFU_CHECKED sfu_status sfu__writer_add(sfu__writer *writer, const void *bytes, size_t size);
SFU_CHECKED sfu_status sfu__writer_format(sfu__writer *writer, const char *format, ...) SFU_PRINTF(2, 3);
/* The same without a file: the bytes go to `write` as they come. */
SFU_CHECKED sfu_status sfu__writer_open_sink(sfu__writer **writer, sfu_write_fn write, void *user);
/* Moves it into place. Always to be followed by close, which removes what was not committed. */
SFU_CHECKED sfu_status sfu__writer_commit(sfu__writer *writer);
void sfu__writer_close(sfu__writer *writer);

/* Paths. The last part; the last part without its ending (".gz" goes too); "FOLDER/NAME", allocated. */
const char *sfu__path_base(const char *path);
char *sfu__path_stem(const char *path);
char *sfu__path_join(const char *folder, const char *name);
bool sfu__path_is_file(const char *path);
bool sfu__path_is_folder(const char *path);
bool sfu__path_is_pipe(const char *path); /* which other libraries would open without an end */
bool sfu__path_ends_with(const char *path, const char *ending); /* "x.CSV.gz" ends with ".csv" too */
SFU_CHECKED sfu_status sfu__make_folders(const char *path);

#endif
