#include "row_lengths.h"

#include "memory.h"

#include <string.h>

static int64_t length_of(const int64_t *indptr, int32_t row) { return indptr[row + 1] - indptr[row]; }

/* A counting sort. */
sfu_status sfu__sort_by_length(int32_t *rows, int32_t count, const int64_t *indptr) {
    sfu_status status = SFU_OK;
    int64_t longest = 0;
    int32_t *next = NULL; /* [n]: where the next row of n entries goes */
    int32_t *sorted = NULL;
    for (int32_t i = 0; i < count; i++) {
        longest = length_of(indptr, rows[i]) > longest ? length_of(indptr, rows[i]) : longest;
    }
    SFU_ALLOC_ZERO(next, longest + 2);
    SFU_ALLOC(sorted, count);
    for (int32_t i = 0; i < count; i++) {
        next[length_of(indptr, rows[i]) + 1]++;
    }
    for (int64_t n = 0; n < longest; n++) {
        next[n + 1] += next[n];
    }
    for (int32_t i = 0; i < count; i++) {
        sorted[next[length_of(indptr, rows[i])]++] = rows[i];
    }
    memcpy(rows, sorted, (size_t)count * sizeof *rows);
done:
    sfu__free(next);
    sfu__free(sorted);
    return status;
}
