/* npz.h - reads arrays by name from a .npz file, which is a zip archive of .npy files.
 *
 * A member is decompressed in chunks, so that memory is allocated only for bytes that exist. A member is rejected in
 * advance if its declared size exceeds what deflate can produce, differs from what its own .npy header declares, or,
 * together with the members read before, exceeds the limit of sfu__check_unpacked.
 */
#ifndef SFU_NPZ_H
#define SFU_NPZ_H

#include "arrays.h"

typedef struct sfu__npz sfu__npz;

SFU_CHECKED sfu_status sfu__npz_open(sfu__npz **npz, const char *path);
void sfu__npz_free(sfu__npz *npz);

/* Whether the archive has NAME.npy. */
bool sfu__npz_has(const sfu__npz *npz, const char *name);

/* Decompresses NAME.npy. The data is owned by the npz. If there is no such array: SFU_ERR_FORMAT and a message that
 * lists the arrays. */
SFU_CHECKED sfu_status sfu__npz_get(sfu__array *array, sfu__npz *npz, const char *name);

/* The path it was opened with. */
const char *sfu__npz_path(const sfu__npz *npz);

/* "a, b, c": the names of the arrays, truncated after a few hundred bytes. The caller frees it. */
char *sfu__npz_list(const sfu__npz *npz);

#endif
