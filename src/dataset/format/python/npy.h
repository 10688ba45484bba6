/* npy.h - reads numpy's .npy files, versions 1 to 3.
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

/* A view of a .npy file in memory. `location` is the prefix of messages, also of the array's own. */
SFU_CHECKED sfu_status sfu__npy_view(sfu__array *array, const void *bytes, size_t size, const char *location);

/* The number of entries that the header of a .npy file declares, from its first `have` bytes of `size`; fails if type
 * and shape do not match `size`. 0 if the header is longer than `have`. */
SFU_CHECKED sfu_status sfu__npy_announced(int64_t *entries, const void *bytes, size_t have, size_t size,
                                          const char *location);

#endif
