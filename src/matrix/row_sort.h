/* row_sort.h - the keys of one row in ascending order, their weights with them. */
#ifndef SFU_ROW_SORT_H
#define SFU_ROW_SORT_H

#include <stdint.h>

/* Sorts keys[count], equal ones in the order in which they stand, and moves weights (or NULL) along. The other two are
 * room for `count` each; other_weights is not used without weights. */
void sfu__sort_row(uint32_t *keys, float *weights, uint32_t *other_keys, float *other_weights, int64_t count);

#endif
