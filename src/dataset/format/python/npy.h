/* npy.h - numpy's .npy files, versions 1 to 3.
 *
 *   "\x93NUMPY"  major  minor    eight bytes
 *   u16 or u32, little-endian    size of the header: u16 in version 1
 *   a Python dictionary          {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, blanks, a newline
 *   bytes                        the entries, or a pickle where descr is '|O'
 *
 * The dictionary is read by a small parser that accepts just these three keys, each once.
 */
#ifndef SFU_NPY_H
#define SFU_NPY_H

#include "arrays.h"

/* A view of a .npy file in memory. `place` starts messages, the array's own included. */
SFU_CHECKED sfu_status sfu__npy_view(sfu__array *array, const void *bytes, size_t size, const char *place);

/* How many entries a .npy file of `size` bytes has, by its first `have` bytes, and whether that is what such a file
 * holds; 0 where its header is longer than that. */
SFU_CHECKED sfu_status sfu__npy_announced(int64_t *entries, const void *bytes, size_t have, size_t size,
                                          const char *place);

#endif
