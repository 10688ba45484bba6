/* file.h - files: mapped or streamed to be read, written whole (writer.h); and paths. */
#ifndef SFU_FILE_H
#define SFU_FILE_H

#include "text.h"
#include "writer.h"

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

/* Paths. The last part; the last part without its ending (".gz" goes too); "FOLDER/NAME", allocated. */
const char *sfu__path_base(const char *path);
char *sfu__path_stem(const char *path);
char *sfu__path_join(const char *folder, const char *name);
bool sfu__path_is_file(const char *path);
bool sfu__path_is_folder(const char *path);
bool sfu__path_ends_with(const char *path, const char *ending); /* "x.CSV.gz" ends with ".csv" too */
SFU_CHECKED sfu_status sfu__make_folders(const char *path);

#endif
