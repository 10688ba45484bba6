/* block_by_length.c - rows in the order of their length: a list of them, and blocks that have them so, which is what
 * narrow products are fast on.
 *
 * The rows are moved, not only listed: those of one length lie all over a matrix, and to fetch them from there would
 * cost more than is gained.
 */
#include "plan_int.h"

#include <assert.h>
#include <string.h>

static int64_t places_of(const int64_t *indptr, int32_t row) { return indptr[row + 1] - indptr[row]; }

sfu_status sfu__sort_by_length(int32_t *rows, int32_t count, const int64_t *indptr) {
    sfu_status status = SFU_OK;
    int64_t longest = 0;
    int32_t *next = NULL; /* [n]: where the next row of n places goes */
    int32_t *sorted = NULL;
    for (int32_t i = 0; i < count; i++) {
        longest = places_of(indptr, rows[i]) > longest ? places_of(indptr, rows[i]) : longest;
    }
    SFU_ALLOC_ZERO(next, longest + 2);
    SFU_ALLOC(sorted, count);
    for (int32_t i = 0; i < count; i++) {
        next[places_of(indptr, rows[i]) + 1]++;
    }
    for (int64_t n = 0; n < longest; n++) {
        next[n + 1] += next[n];
    }
    for (int32_t i = 0; i < count; i++) {
        sorted[next[places_of(indptr, rows[i])]++] = rows[i];
    }
    memcpy(rows, sorted, (size_t)count * sizeof *rows);
done:
    sfu__free(next);
    sfu__free(sorted);
    return status;
}

sfu_status sfu__sort_stages_by_length(int32_t *rows, const sfu__row_set *row_set, const int64_t *indptr) {
    sfu_status status = SFU_OK;
    for (int stage = 0; stage < SFU__STAGES; stage++) {
        const sfu__range at = sfu__stage_rows(row_set, stage);
        SFU_TRY(sfu__sort_by_length(rows + at.begin, (int32_t)(at.end - at.begin), indptr));
    }
done:
    return status;
}

/* The entries of `from`, row by row in turn. */
static void copy_in_turn(sfu__block *to, const sfu__sparse *from) {
    int64_t at = 0;
    for (int32_t i = 0; i < from->rows; i++) {
        const int64_t begin = from->indptr[to->row_perm[i]];
        const size_t places = (size_t)places_of(from->indptr, to->row_perm[i]);
        memcpy(to->own.indices + at, from->indices + begin, places * sizeof *from->indices);
        memcpy(to->own.values + at, from->values + begin, places * sizeof *from->values);
        at += (int64_t)places;
        to->own.indptr[i + 1] = at;
    }
}

/* Whether each row has one value alone. */
static bool rows_even(const sfu_matrix *of) {
    for (int32_t i = 0; i < of->rows; i++) {
        for (int64_t e = of->indptr[i] + 1; e < of->indptr[i + 1]; e++) {
            if (of->values[e] != of->values[e - 1]) {
                return false;
            }
        }
    }
    return true;
}

/* What products read instead of indices and values: fewer bytes and, where rows have one value, fewer lines. */
static sfu_status shorten(sfu__block *block) {
    sfu_status status = SFU_OK;
    const sfu_matrix *from = &block->own;
    const int64_t count = from->indptr[from->rows];
    assert(from->cols <= UINT16_MAX + 1); /* sfu__wants_by_length has seen to it */
    SFU_ALLOC(block->indices16, count);
    for (int64_t e = 0; e < count; e++) {
        block->indices16[e] = (uint16_t)from->indices[e];
    }
    if (rows_even(from)) {
        SFU_ALLOC_ZERO(block->row_value, from->rows);
        for (int32_t i = 0; i < from->rows; i++) {
            if (from->indptr[i] < from->indptr[i + 1]) {
                block->row_value[i] = from->values[from->indptr[i]];
            }
        }
    }
done:
    return status;
}

sfu_status sfu__block_by_length(sfu__block *block, const sfu__row_set *row_set) {
    sfu_status status = SFU_OK;
    const sfu__sparse *from = &block->view;
    const int64_t count = from->indptr[from->rows];
    sfu__block sorted = {.own = {.rows = from->rows, .cols = from->cols}};
    SFU_ALLOC(sorted.row_perm, from->rows);
    for (int32_t i = 0; i < from->rows; i++) {
        sorted.row_perm[i] = i;
    }
    SFU_TRY(row_set != NULL ? sfu__sort_stages_by_length(sorted.row_perm, row_set, from->indptr)
                            : sfu__sort_by_length(sorted.row_perm, from->rows, from->indptr));
    SFU_ALLOC_ZERO(sorted.own.indptr, (int64_t)from->rows + 1);
    SFU_ALLOC(sorted.own.indices, count);
    SFU_ALLOC(sorted.own.values, count);
    copy_in_turn(&sorted, from);
    SFU_TRY(shorten(&sorted));
    sorted.view = (sfu__sparse){.rows = from->rows,
                                .cols = from->cols,
                                .indptr = sorted.own.indptr,
                                .indices = sorted.own.indices,
                                .values = sorted.own.values,
                                .row_perm = sorted.row_perm,
                                .indices16 = sorted.indices16,
                                .row_value = sorted.row_value};
    sfu__block_clear(block);
    *block = sorted;
    sorted = (sfu__block){0};
done:
    sfu__block_clear(&sorted);
    return status;
}
