/* transpose.c - transposes a prepared matrix by counting sort; the transpose shares the values through value_perm. */
#include "cpu_matrix.h"
#include "parallel.h"

sfu_status sfu__cpu_row_positions(int32_t **position, const sfu__sparse *of) {
    sfu_status status = SFU_OK;
    *position = NULL;
    if (of->row_perm != NULL) {
        SFU_ALLOC(*position, of->rows);
        for (int32_t i = 0; i < of->rows; i++) {
            (*position)[of->row_perm[i]] = i;
        }
    }
done:
    return status;
}

/* A transpose in parts: each thread reads all entries, and counts and scatters those of its range of columns. */
typedef struct transposing {
    const sfu__sparse *of;
    const int32_t *position; /* NULL: rows are in the order of the source */
    sfu__range rows;
    int64_t parts;
    sfu__cpu_matrix *to;
} transposing;

/* Entries of a part, at least: less is not worth a thread. */
enum { PART_ENTRIES = 1 << 18 };

static sfu__range columns_of(const transposing *self, int64_t part) {
    return (sfu__range){self->of->cols * part / self->parts, self->of->cols * (part + 1) / self->parts};
}

/* indptr[c + 2] = number of entries of column c in these rows. */
static sfu_status count_columns(void *context, int64_t part, int thread) {
    (void)thread;
    const transposing *self = context;
    const sfu__sparse *of = self->of;
    const sfu__range columns = columns_of(self, part);
    int64_t *indptr = self->to->own.indptr;
    for (int64_t row = self->rows.begin; row < self->rows.end; row++) {
        const int64_t at = self->position != NULL ? self->position[row] : row;
        for (int64_t e = of->indptr[at]; e < of->indptr[at + 1]; e++) {
            if (of->indices[e] >= columns.begin && of->indices[e] < columns.end) {
                indptr[of->indices[e] + 2]++;
            }
        }
    }
    return SFU_OK;
}

/* Scatters the entries in the row order of the source, so that each row of the transpose is ascending. */
static sfu_status scatter(void *context, int64_t part, int thread) {
    (void)thread;
    const transposing *self = context;
    const sfu__sparse *of = self->of;
    const sfu__range columns = columns_of(self, part);
    sfu__cpu_matrix *matrix = self->to;
    int64_t *next = matrix->own.indptr; /* [c + 1] is the next free entry of row c, and finally its end */
    for (int64_t row = self->rows.begin; row < self->rows.end; row++) {
        const int64_t at = self->position != NULL ? self->position[row] : row;
        for (int64_t e = of->indptr[at]; e < of->indptr[at + 1]; e++) {
            if (of->indices[e] >= columns.begin && of->indices[e] < columns.end) {
                const int64_t to = next[of->indices[e] + 1]++;
                matrix->own.indices[to] = (int32_t)row;
                matrix->value_perm[to] = of->value_perm != NULL ? of->value_perm[e] : (int32_t)e;
            }
        }
    }
    return SFU_OK;
}

static int64_t entries_in(const sfu__sparse *of, const int32_t *position, sfu__range rows) {
    int64_t count = 0;
    for (int64_t row = rows.begin; row < rows.end; row++) {
        const int64_t at = position != NULL ? position[row] : row;
        count += of->indptr[at + 1] - of->indptr[at];
    }
    return count;
}

sfu_status sfu__cpu_transpose(sfu__cpu_matrix *matrix, const sfu__cpu_matrix *of, sfu__range rows, int threads) {
    sfu_status status = SFU_OK;
    const sfu__sparse *view = &of->view;
    const int64_t last = view->indptr[view->row_perm != NULL ? view->rows : rows.end];
    int32_t *position = NULL;
    *matrix = (sfu__cpu_matrix){.own = {.rows = view->cols, .cols = view->rows}};
    if (last > INT32_MAX && view->value_perm == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "a training pass over %lld non-zeros is too large; train with fewer labels",
                         (long long)last);
    }
    SFU_TRY(sfu__cpu_row_positions(&position, view));
    SFU_ALLOC_ZERO(matrix->own.indptr, (int64_t)view->cols + 2);
    int64_t *indptr = matrix->own.indptr;
    const int64_t count = entries_in(view, position, rows), most = count / PART_ENTRIES;
    SFU_ALLOC(matrix->own.indices, count);
    SFU_ALLOC(matrix->value_perm, count);
    transposing self = {view, position, rows, most < threads ? most : threads, matrix};
    self.parts = self.parts > 1 ? self.parts : 1;
    SFU_TRY(sfu__parallel(count_columns, &self, self.parts, (int)self.parts));
    for (int64_t c = 0; c <= view->cols; c++) { /* shifted by one: scatter advances the starts to the ends */
        indptr[c + 1] += indptr[c];
    }
    SFU_TRY(sfu__parallel(scatter, &self, self.parts, (int)self.parts));
    sfu__cpu_view_own(matrix);
    matrix->view.values = view->values;
done:
    sfu__free(position);
    return status;
}

sfu_status sfu__cpu_own_values(sfu__cpu_matrix *matrix, bool dropped) {
    sfu_status status = SFU_OK;
    const sfu__sparse *view = &matrix->view;
    const int64_t count = view->indptr[view->rows];
    SFU_ALLOC(matrix->own.values, count);
    for (int64_t e = 0; e < count; e++) {
        matrix->own.values[e] = view->values[matrix->value_perm[e]];
    }
    if (!dropped) {
        sfu__free(matrix->value_perm);
        matrix->value_perm = NULL;
    }
    sfu__cpu_view_own(matrix);
done:
    return status;
}
