/* mat_int.h - internals of the .mat reader: mat.c has what both versions share, mat5.c reads version 5, mat_matio.c
 * reads version 7.3 through libmatio. */
#ifndef SFU_MAT_INT_H
#define SFU_MAT_INT_H

#include "file.h"
#include "mat.h"

struct sfu__mat {
    char *path;
    sfu__bytes bytes;
    bool big_endian;
    sfu__strings names; /* of the variables */
    sfu__text list;     /* of the variables, for messages */
    size_t *offsets;    /* version 5: file offset of each variable's element */
    size_t offset_capacity;
    char *unpacked;   /* version 5: the decompressed variable that the last table borrows from, if any */
    void *hdf5;       /* version 7.3: the open file */
    void *variable;   /* version 7.3: the variable that the last table borrows from */
    bool holds_matio; /* version 7.3: the global lock of libmatio is held */
};

/* Adds a variable to the list. */
SFU_CHECKED sfu_status sfu__mat_add(sfu__mat *mat, const char *name, size_t name_size, const int64_t *shape, int dims);

/* Makes a table from a CSC matrix. The last offset is the number of entries; indices and values may be longer, and are
 * truncated. All three are borrowed. */
SFU_CHECKED sfu_status sfu__mat_sparse(sfu__table *table, int64_t rows, int64_t cols, const sfu__array *offsets,
                                       sfu__array *indices, sfu__array *values);

/* Per version: list the variables; read variable i, whose location for messages is in the table; close. */
SFU_CHECKED sfu_status sfu__mat5_list(sfu__mat *mat);
SFU_CHECKED sfu_status sfu__mat5_get(sfu__table *table, sfu__mat *mat, int64_t i);
SFU_CHECKED sfu_status sfu__mat_matio_open(sfu__mat *mat);
SFU_CHECKED sfu_status sfu__mat_matio_get(sfu__table *table, sfu__mat *mat, const char *name);
void sfu__mat_matio_close(sfu__mat *mat);

#endif
