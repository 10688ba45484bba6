/* npz.h - arrays by name out of a .npz file, which is a zip of .npy files.
 *
 * What a member unpacks to is read piece by piece, so that memory is only taken for bytes that really come. Refused
 * beforehand is a member that announces more than deflate can pack into its size, another size than its own header has
 * shape and type for, or, with those that were read before, more than is fair (sfu__check_unpacked).
 */
#ifndef SFU_NPZ_H
#define SFU_NPZ_H

#include "arrays.h"

typedef struct sfu__npz sfu__npz;

SFU_CHECKED sfu_status sfu__npz_open(sfu__npz **npz, const char *path);
void sfu__npz_free(sfu__npz *npz);

/* Whether NAME.npy is in it. */
bool sfu__npz_has(const sfu__npz *npz, const char *name);

/* NAME.npy, unpacked. The data belongs to the npz. Where there is none: SFU_ERR_FORMAT and a line that lists what is
 * there. */
SFU_CHECKED sfu_status sfu__npz_get(sfu__array *array, sfu__npz *npz, const char *name);

/* The path that it was opened with. */
const char *sfu__npz_path(const sfu__npz *npz);

/* "a, b, c": the arrays that are there, cut after a few hundred bytes. To be freed. */
char *sfu__npz_list(const sfu__npz *npz);

#endif
