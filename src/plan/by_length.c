/* by_length.c - blocks whose rows stand in the order of their length, which is what narrow products are fast on.
 *
 * The rows are moved, not only listed: those of one length lie all over a matrix, and to fetch them from there would
 * cost more than is gained.
 */
#include "plan_int.h"

#include <string.h>

static int64_t places_of(const sfu__sparse *A, int32_t row) { return A->indptr[row + 1] - A->indptr[row]; }

/* The rows by ascending length, those of one length in their order: sorted by counting. */
static sfu_status list_by_length(int32_t **turn, const sfu__sparse *A) {
    sfu_status status = SFU_OK;
    int64_t longest = 0;
    int32_t *next = NULL; /* [n]: where the next row of n places goes */
    for (int32_t i = 0; i < A->rows; i++) {
        longest = places_of(A, i) > longest ? places_of(A, i) : longest;
    }
    SFU_ALLOC_ZERO(next, longest + 2);
    SFU_ALLOC(*turn, A->rows);
    for (int32_t i = 0; i < A->rows; i++) {
        next[places_of(A, i) + 1]++;
    }
    for (int64_t n = 0; n < longest; n++) {
        next[n + 1] += next[n];
    }
    for (int32_t i = 0; i < A->rows; i++) {
        (*turn)[next[places_of(A, i)]++] = i;
    }
done:
    sfu__free(next);
    return status;
}

/* The entries of `from`, row by row in turn. */
static void copy_in_turn(sfu__block *to, const sfu__sparse *from) {
    int64_t at = 0;
    for (int32_t i = 0; i < from->rows; i++) {
        const int64_t begin = from->indptr[to->turn[i]];
        const size_t places = (size_t)places_of(from, to->turn[i]);
        memcpy(to->own.indices + at, from->indices + begin, places * sizeof *from->indices);
        memcpy(to->own.values + at, from->values + begin, places * sizeof *from->values);
        at += (int64_t)places;
        to->own.indptr[i + 1] = at;
    }
}

sfu_status sfu__block_by_length(sfu__block *block) {
    sfu_status status = SFU_OK;
    const sfu__sparse *from = &block->view;
    const int64_t count = from->indptr[from->rows];
    sfu__block sorted = {.own = {.rows = from->rows, .cols = from->cols}};
    SFU_TRY(list_by_length(&sorted.turn, from));
    SFU_ALLOC_ZERO(sorted.own.indptr, (int64_t)from->rows + 1);
    SFU_ALLOC(sorted.own.indices, count);
    SFU_ALLOC(sorted.own.values, count);
    copy_in_turn(&sorted, from);
    sorted.view = (sfu__sparse){.rows = from->rows,
                                .cols = from->cols,
                                .indptr = sorted.own.indptr,
                                .indices = sorted.own.indices,
                                .values = sorted.own.values,
                                .turn = sorted.turn};
    sfu__block_clear(block);
    *block = sorted;
    sorted = (sfu__block){0};
done:
    sfu__block_clear(&sorted);
    return status;
}
