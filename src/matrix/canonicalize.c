/* canonicalize.c - brings a sparse matrix into canonical form: rows sorted by column, no duplicates, no zeros. */
#include "matrix.h"
#include "progress.h"

#include <stdlib.h>

typedef struct entry {
    int32_t column;
    int32_t position; /* original index in the row: duplicates are summed in that order */
    float value;
} entry;

static int compare_entries(const void *a, const void *b) {
    const entry *x = a;
    const entry *y = b;
    if (x->column != y->column) {
        return x->column < y->column ? -1 : 1;
    }
    return (x->position > y->position) - (x->position < y->position);
}

static bool is_canonical(const sfu_matrix *matrix) {
    for (int32_t row = 0; row < matrix->rows; row++) {
        for (int64_t i = matrix->indptr[row]; i < matrix->indptr[row + 1]; i++) {
            const bool first = i == matrix->indptr[row];
            if ((!first && matrix->indices[i] <= matrix->indices[i - 1]) ||
                (matrix->values != NULL && matrix->values[i] == 0)) {
                return false;
            }
        }
    }
    return true;
}

static int64_t widest_row(const sfu_matrix *matrix) {
    int64_t widest = 0;
    for (int32_t row = 0; row < matrix->rows; row++) {
        const int64_t width = matrix->indptr[row + 1] - matrix->indptr[row];
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* Sorts the row [begin, end) in the buffer `row`, writes it to `out` and returns its end. */
static int64_t canonicalize_row(sfu_matrix *matrix, entry *row, int64_t begin, int64_t end, int64_t out,
                                int64_t *merged) {
    const int32_t width = (int32_t)(end - begin);
    for (int32_t i = 0; i < width; i++) {
        row[i] = (entry){matrix->indices[begin + i], i, matrix->values[begin + i]};
    }
    qsort(row, (size_t)width, sizeof *row, compare_entries);
    for (int32_t i = 0; i < width;) {
        double sum = 0;
        int32_t next = i;
        while (next < width && row[next].column == row[i].column) {
            sum += (double)row[next++].value;
        }
        *merged += next - i - 1;
        if ((float)sum != 0) {
            matrix->indices[out] = row[i].column;
            matrix->values[out++] = (float)sum;
        }
        i = next;
    }
    return out;
}

static sfu_status canonicalize_rows(sfu_matrix *matrix, int64_t *merged) {
    sfu_status status = SFU_OK;
    entry *row = NULL;
    if (matrix->values == NULL) {
        SFU_ALLOC(matrix->values, matrix->indptr[matrix->rows]);
        for (int64_t i = 0; i < matrix->indptr[matrix->rows]; i++) {
            matrix->values[i] = 1;
        }
    }
    SFU_ALLOC(row, widest_row(matrix));
    int64_t out = 0;
    int64_t begin = 0;
    for (int32_t r = 0; r < matrix->rows; r++) {
        const int64_t end = matrix->indptr[r + 1];
        SFU_TRY(sfu__poll_at(r));
        out = canonicalize_row(matrix, row, begin, end, out, merged);
        matrix->indptr[r + 1] = out;
        begin = end;
    }
done:
    sfu__free(row);
    return status;
}

static void drop_unit_values(sfu_matrix *matrix) {
    if (matrix->values == NULL) {
        return;
    }
    for (int64_t i = 0; i < matrix->indptr[matrix->rows]; i++) {
        if (matrix->values[i] != 1) {
            return;
        }
    }
    sfu__free(matrix->values);
    matrix->values = NULL;
}

sfu_status sfu__matrix_canonicalize(sfu_matrix *matrix, int64_t *merged) {
    int64_t added = 0;
    sfu_status status = SFU_OK;
    if (!is_canonical(matrix)) {
        status = canonicalize_rows(matrix, &added);
    }
    if (status == SFU_OK) {
        drop_unit_values(matrix);
        if (merged != NULL) {
            *merged = added;
        }
    }
    return status;
}
