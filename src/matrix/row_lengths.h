/* row_lengths.h - rows of a sparse matrix by the number of their entries. */
#ifndef SFU_ROW_LENGTHS_H
#define SFU_ROW_LENGTHS_H

#include "status.h"

/* Sorts a list of rows by ascending number of entries; rows of one length stay in the order they had. */
SFU_CHECKED sfu_status sfu__sort_by_length(int32_t *rows, int32_t count, const int64_t *indptr);

#endif
