/* row_builder.c - builds a sparse matrix in pieces of 64 rows, in parallel, and joins them. */
#include "row_builder.h"
#include "memory.h"
#include "parallel.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_PER_PIECE = 64, ROWS = 3 };

/* The rows of one work item, until all are known. */
typedef struct piece {
    int32_t *indices;
    float *values;
    size_t count, indices_capacity, values_capacity;
} piece;

typedef struct job {
    sfu_matrix *matrix;
    piece *pieces;
    sfu__row (*scratch)[ROWS]; /* [threads] */
    sfu__row_fn make;
    void *context;
} job;

/* ---- rows ------------------------------------------------------------------------------------------------------- */

void sfu__row_empty(sfu__row *row) {
    for (int32_t i = 0; i < row->count; i++) {
        row->sums[row->columns[i]] = 0.0;
        row->present[row->columns[i] / 64] = 0;
    }
    row->count = 0;
}

void sfu__row_move(sfu__row *to, sfu__row *from) {
    for (int32_t i = 0; i < from->count; i++) {
        sfu__row_add(to, from->columns[i], from->sums[from->columns[i]]);
    }
    sfu__row_empty(from);
}

static int ascending(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* By scanning the bitmap if there are many, else by qsort. */
void sfu__row_sort(sfu__row *row, int32_t cols) {
    if ((int64_t)row->count * 16 < cols / 64) {
        qsort(row->columns, (size_t)row->count, sizeof *row->columns, ascending);
        return;
    }
    int32_t at = 0;
    for (int32_t word = 0; word < (cols + 63) / 64; word++) {
        for (uint64_t bits = row->present[word]; bits != 0; bits &= bits - 1) {
            row->columns[at++] = word * 64 + __builtin_ctzll(bits);
        }
    }
}

static sfu_status keep_row(piece *to, sfu__row *row, int32_t cols) {
    const size_t need = to->count + (size_t)row->count;
    int32_t *indices = sfu__grow(to->indices, &to->indices_capacity, need, sizeof *indices);
    if (indices == NULL) {
        return SFU_ERR_MEMORY;
    }
    to->indices = indices;
    float *values = sfu__grow(to->values, &to->values_capacity, need, sizeof *values);
    if (values == NULL) {
        return SFU_ERR_MEMORY;
    }
    to->values = values;
    sfu__row_sort(row, cols);
    for (int32_t i = 0; i < row->count; i++) {
        indices[to->count] = row->columns[i];
        values[to->count++] = (float)row->sums[row->columns[i]];
    }
    return SFU_OK;
}

/* Gives back what the arrays have more than they need: of all pieces together, up to as much as the matrix. */
static sfu_status fit(piece *self) {
    if (self->count == 0) {
        return SFU_OK;
    }
    int32_t *indices = sfu__resize(self->indices, self->count, sizeof *indices);
    self->indices = indices != NULL ? indices : self->indices;
    float *values = sfu__resize(self->values, self->count, sizeof *values);
    self->values = values != NULL ? values : self->values;
    return indices != NULL && values != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

/* ---- assembly --------------------------------------------------------------------------------------------------- */

static int32_t end_row(const job *self, int64_t item) {
    const int64_t end = (item + 1) * ROWS_PER_PIECE;
    return (int32_t)(end < self->matrix->rows ? end : self->matrix->rows);
}

static sfu_status make_piece(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    job *self = context;
    sfu__row *rows = self->scratch[thread];
    for (int32_t row = (int32_t)(item * ROWS_PER_PIECE); status == SFU_OK && row < end_row(self, item); row++) {
        SFU_TRY(sfu__poll());
        self->make(self->context, rows, row);
        self->matrix->indptr[row + 1] = rows[0].count;
        status = keep_row(&self->pieces[item], &rows[0], self->matrix->cols);
        sfu__row_empty(&rows[0]);
    }
    SFU_TRY(status);
    SFU_TRY(fit(&self->pieces[item]));
done:
    return status;
}

static void piece_clear(piece *self) {
    sfu__free(self->indices);
    sfu__free(self->values);
    *self = (piece){0};
}

/* Within a memory limit: gives back what small blocks leave in the heap, every few MiB. */
static void trim_after(size_t *freed, size_t bytes) {
    enum { OFTEN = 8 << 20 };
    *freed += bytes;
    if (sfu__memory_limit() > 0 && *freed >= OFTEN) {
        sfu__memory_trim();
        *freed = 0;
    }
}

/* First the columns of all pieces, then the values, and each piece is freed once it is copied: two copies of everything
 * never exist. */
static sfu_status join(job *self, int64_t items) {
    sfu_status status = SFU_OK;
    sfu_matrix *matrix = self->matrix;
    size_t freed = 0;
    for (int32_t row = 0; row < matrix->rows; row++) {
        matrix->indptr[row + 1] += matrix->indptr[row];
    }
    const int64_t count = matrix->indptr[matrix->rows];
    SFU_ALLOC(matrix->indices, count);
    for (int64_t item = 0, at = 0; item < items; item++) {
        piece *from = &self->pieces[item];
        if (from->count > 0) {
            memcpy(matrix->indices + at, from->indices, from->count * sizeof *from->indices);
        }
        sfu__free(from->indices);
        from->indices = NULL;
        trim_after(&freed, from->count * sizeof *from->indices);
        at += (int64_t)from->count;
    }
    SFU_ALLOC(matrix->values, count);
    for (int64_t item = 0, at = 0; item < items; item++) {
        piece *from = &self->pieces[item];
        if (from->count > 0) {
            memcpy(matrix->values + at, from->values, from->count * sizeof *from->values);
        }
        at += (int64_t)from->count;
        const size_t bytes = from->count * sizeof *from->values;
        piece_clear(from);
        trim_after(&freed, bytes);
    }
done:
    return status;
}

static sfu_status make_scratch(job *self, int threads, int32_t cols) {
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(self->scratch, threads);
    for (int t = 0; t < threads; t++) {
        for (int i = 0; i < ROWS; i++) {
            sfu__row *row = &self->scratch[t][i];
            SFU_ALLOC_ZERO(row->sums, cols);
            SFU_ALLOC_ZERO(row->present, (int64_t)cols / 64 + 1);
            SFU_ALLOC(row->columns, cols);
        }
    }
done:
    return status;
}

static void free_scratch(job *self, int threads) {
    for (int t = 0; self->scratch != NULL && t < threads; t++) {
        for (int i = 0; i < ROWS; i++) {
            sfu__free(self->scratch[t][i].sums);
            sfu__free(self->scratch[t][i].present);
            sfu__free(self->scratch[t][i].columns);
        }
    }
    sfu__free(self->scratch);
}

sfu_status sfu__build_rows(sfu_matrix *matrix, int32_t rows, int32_t cols, sfu__row_fn make, void *context,
                           int threads) {
    sfu_status status = SFU_OK;
    const int64_t items = ((int64_t)rows + ROWS_PER_PIECE - 1) / ROWS_PER_PIECE;
    const int executors = items < threads ? (int)items + (items == 0) : threads;
    job self = {.matrix = matrix, .make = make, .context = context};
    *matrix = (sfu_matrix){.rows = rows, .cols = cols};
    SFU_ALLOC_ZERO(matrix->indptr, (int64_t)rows + 1);
    SFU_ALLOC_ZERO(self.pieces, items);
    SFU_TRY(make_scratch(&self, executors, cols));
    SFU_TRY(sfu__parallel(make_piece, &self, items, executors));
    SFU_TRY(join(&self, items));
done:
    for (int64_t item = 0; self.pieces != NULL && item < items; item++) {
        piece_clear(&self.pieces[item]);
    }
    sfu__free(self.pieces);
    free_scratch(&self, executors);
    if (status != SFU_OK) {
        sfu__matrix_clear(matrix);
    }
    return status;
}
