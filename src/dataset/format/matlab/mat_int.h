/* mat_int.h - a .mat file from the inside: mat.c has what both versions share, mat5.c reads version 5, mat_matio.c has
 * libmatio read version 7.3. */
#ifndef SFU_MAT_INT_H
#define SFU_MAT_INT_H

#include "file.h"
#include "mat.h"

struct sfu__mat {
    char *path;
    sfu__bytes bytes;
    bool big_endian;
    sfu__strings names; /* of the variables */
    sfu__text list;     /* for messages */
    size_t *places;     /* version 5: where in the file each variable's element begins */
    size_t place_capacity;
    char *unpacked;   /* version 5: the variable that the last table borrows from, where it was packed */
    void *hdf5;       /* version 7.3: the file */
    void *variable;   /* and the variable that the last table borrows from */
    bool holds_matio; /* version 7.3: and the lock of matio */
};

/* Adds a variable to the list. */
SFU_CHECKED sfu_status sfu__mat_add(sfu__mat *mat, const char *name, size_t name_size, const int64_t *shape, int dims);

/* Makes a table of compressed columns, `used` entries of which the offsets tell; indices and values may be longer. All
 * three borrow. */
SFU_CHECKED sfu_status sfu__mat_sparse(sfu__table *table, int64_t rows, int64_t cols, const sfu__array *offsets,
                                       sfu__array *indices, sfu__array *values);

/* Lists the variables; reads one, the i-th, whose place in messages is in the table; lets go of what is open. */
SFU_CHECKED sfu_status sfu__mat5_list(sfu__mat *mat);
SFU_CHECKED sfu_status sfu__mat5_get(sfu__table *table, sfu__mat *mat, int64_t i);
SFU_CHECKED sfu_status sfu__mat_matio_open(sfu__mat *mat);
SFU_CHECKED sfu_status sfu__mat_matio_get(sfu__table *table, sfu__mat *mat, const char *name);
void sfu__mat_matio_close(sfu__mat *mat);

#endif
