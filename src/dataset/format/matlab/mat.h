/* mat.h - reads matrices by name from a .mat file.
 *
 * Version 5 (the default of MATLAB and scipy) is parsed by mat5.c rather than by libmatio, which allocates gigabytes
 * for a file of 600 bytes with a false length. Version 7.3 is HDF5 and is read by libmatio, which is loaded on first
 * use. Version 4 is rejected.
 */
#ifndef SFU_MAT_H
#define SFU_MAT_H

#include "arrays.h"

typedef struct sfu__mat sfu__mat;

SFU_CHECKED sfu_status sfu__mat_open(sfu__mat **mat, const char *path);
void sfu__mat_free(sfu__mat *mat);

bool sfu__mat_has(const sfu__mat *mat, const char *name);

/* Reads a matrix of real numbers, dense or sparse. The data of a dense matrix is owned by the mat and valid until the
 * next call. If there is no such variable: SFU_ERR_FORMAT and a message that lists the variables. */
SFU_CHECKED sfu_status sfu__mat_get(sfu__table *table, sfu__mat *mat, const char *name);

/* "PAP 3025x3025, feature 3025x1870": the variables of the file, truncated after a few hundred bytes. */
const char *sfu__mat_list(const sfu__mat *mat);

#endif
