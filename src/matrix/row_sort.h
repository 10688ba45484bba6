/* row_sort.h - stable sort of the keys of one row, together with their weights. */
#ifndef SFU_ROW_SORT_H
#define SFU_ROW_SORT_H

#include <stdint.h>

/* Sorts keys[count] in ascending order (stable) and moves weights (or NULL) along. The other two arrays are scratch of
 * `count` each; other_weights is not used without weights. */
void sfu__sort_row(uint32_t *keys, float *weights, uint32_t *other_keys, float *other_weights, int64_t count);

#endif
