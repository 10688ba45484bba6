/* mat.h - matrices by name out of a .mat file.
 *
 * Version 5 (all that MATLAB and scipy write by default) is read here: it is a list of tagged elements, and a file of
 * 600 bytes with a false length made libmatio take gigabytes. Version 7.3 is HDF5, which libmatio reads; it is loaded
 * when first used. Version 4 is refused.
 */
#ifndef SFU_MAT_H
#define SFU_MAT_H

#include "arrays.h"

typedef struct sfu__mat sfu__mat;

SFU_CHECKED sfu_status sfu__mat_open(sfu__mat **mat, const char *path);
void sfu__mat_free(sfu__mat *mat);

bool sfu__mat_has(const sfu__mat *mat, const char *name);

/* A matrix of real numbers, dense or sparse. The data of a dense one belongs to the mat until the next call. Where
 * there is none of that name: SFU_ERR_FORMAT and a line that lists what is there. */
SFU_CHECKED sfu_status sfu__mat_get(sfu__table *table, sfu__mat *mat, const char *name);

/* "PAP 3025x3025, feature 3025x1870": the variables that are there, cut after a few hundred bytes. */
const char *sfu__mat_list(const sfu__mat *mat);

#endif
