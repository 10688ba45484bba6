/* array_file.h - one matrix or vector per file: scipy's sparse .npz and numpy's .npy. */
#ifndef SFU_ARRAY_FILE_H
#define SFU_ARRAY_FILE_H

#include "arrays.h"
#include "file.h"
#include "npz.h"

/* It stays open while its table is used. Starts as {0}. */
typedef struct sfu__array_file {
    sfu__bytes bytes;
    sfu__npz *npz;
    sfu__table table;
} sfu__array_file;

/* Whether a path (or NULL) ends in .npy or .npz. */
bool sfu__is_array_path(const char *path);

/* Call sfu__array_file_close also after a failure. */
SFU_CHECKED sfu_status sfu__array_file_open(sfu__array_file *file, const char *path);
void sfu__array_file_close(sfu__array_file *file);

/* Whether it is a list of edges, not a matrix. */
bool sfu__array_file_is_list(const sfu__array_file *file);

#endif
