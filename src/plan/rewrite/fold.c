/* fold.c - matrix products that are computed once: leading smoothing folded into the features, smoothings collapsed.
 *
 *   fold       F_{i+1} = act((1 - t) S F_i + t F_start), row by row, for the needed rows only
 *   collapse   row i of M: u = e_i, then from the last smoothing to the first u <- u (1 - t) S; a layer that teleports
 *              adds t u of each of its steps
 *
 * Both accumulate in double and round each value once.
 */
#include "parallel.h"
#include "plan_int.h"
#include "row_builder.h"
#include "special.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- features --------------------------------------------------------------------------------------------------- */

/* Folded features: the rows of a row set, sparse or dense with leading dimension `ld`. */
typedef struct features {
    sfu_matrix own_sparse;
    float *own_dense;
    sfu_csr sparse;     /* rows is 0 if dense */
    const float *dense; /* NULL if sparse */
    int64_t ld;
    const sfu__row_set *row_set; /* NULL: all nodes */
} features;

static void features_clear(features *self) {
    sfu__matrix_clear(&self->own_sparse);
    sfu__free(self->own_dense);
    *self = (features){0};
}

static features features_of(const sfu_dataset *dataset) {
    return (features){.sparse = dataset->sparse, .dense = dataset->dense, .ld = dataset->features};
}

/* One smoothing. position[node] is the row of a node in `from`, start_position in `start`. */
typedef struct fold_step {
    const sfu__smoother *smoother;
    const features *from, *start;
    const int32_t *position, *start_position; /* NULL: the node itself */
    const sfu__row_set *out;
    int32_t cols;
    float *dense; /* dense output */
    int64_t ld;
    double *sums; /* dense: a row for each thread */
} fold_step;

static void add_feature_row(sfu__row *row, const features *from, const int32_t *position, int32_t node, double scale,
                            int32_t cols) {
    const int64_t at = position != NULL ? position[node] : node;
    if (from->dense != NULL) {
        for (int32_t j = 0; j < cols; j++) {
            sfu__row_add(row, j, scale * (double)from->dense[at * from->ld + j]);
        }
        return;
    }
    for (int64_t e = from->sparse.indptr[at]; e < from->sparse.indptr[at + 1]; e++) {
        const double value = from->sparse.values != NULL ? (double)from->sparse.values[e] : 1.0;
        sfu__row_add(row, from->sparse.indices[e], scale * value);
    }
}

static void fold_row(void *context, sfu__row rows[3], int32_t index) {
    const fold_step *self = context;
    const sfu_csr *S = &self->smoother->csr;
    const int32_t node = sfu__row_set_node(self->out, index);
    for (int64_t e = S->indptr[node]; e < S->indptr[node + 1]; e++) {
        add_feature_row(&rows[0], self->from, self->position, S->indices[e], (double)S->values[e], self->cols);
    }
    if (self->smoother->teleport > 0.0) {
        add_feature_row(&rows[0], self->start, self->start_position, node, self->smoother->teleport, self->cols);
    }
}

double sfu__fold_activate(sfu__activation act, double x) {
    switch (act) {
    case SFU__RELU:
        return x > 0.0 ? x : 0.0;
    case SFU__TANH:
        return x > 20.0 ? 1.0 : x < -20.0 ? -1.0 : 1.0 - 2.0 / (sfu__exp(2.0 * x) + 1.0);
    case SFU__SIGMOID:
        return 1.0 / (1.0 + sfu__exp(-x));
    case SFU__ELU:
        return x > 0.0 ? x : sfu__exp(x) - 1.0;
    case SFU__LEAKY_RELU:
        return x > 0.0 ? x : 0.01 * x;
    case SFU__IDENTITY:
        break;
    }
    return x;
}

static void activate_all(features *self, sfu__activation act, int32_t rows, int32_t cols) {
    if (self->own_dense != NULL) {
        for (int64_t i = 0; i < rows; i++) {
            for (int32_t j = 0; j < cols; j++) {
                float *value = &self->own_dense[i * self->ld + j];
                *value = (float)sfu__fold_activate(act, (double)*value);
            }
        }
        return;
    }
    assert(self->own_sparse.indptr != NULL);
    for (int64_t e = 0; e < self->own_sparse.indptr[self->own_sparse.rows]; e++) {
        self->own_sparse.values[e] = (float)sfu__fold_activate(act, (double)self->own_sparse.values[e]);
    }
}

typedef struct select_job {
    const features *from;
    const int32_t *position;
    const sfu__row_set *row_set;
    int32_t cols;
} select_job;

static void select_row(void *context, sfu__row rows[3], int32_t index) {
    const select_job *self = context;
    add_feature_row(&rows[0], self->from, self->position, sfu__row_set_node(self->row_set, index), 1.0, self->cols);
}

static sfu_status own_dense(features *to, int32_t rows, int32_t cols) {
    sfu_status status = SFU_OK;
    to->ld = sfu__ld(cols);
    if ((int64_t)rows > INT64_MAX / 8 / to->ld) {
        return sfu__fail(SFU_ERR_MEMORY, "out of memory: %d x %d features", rows, cols);
    }
    SFU_ALLOC_ZERO(to->own_dense, (int64_t)rows * to->ld + 16);
    to->dense = to->own_dense;
done:
    return status;
}

static sfu_status make_dense(features *to, const features *from, const sfu__row_set *row_set, const int32_t *position,
                             int32_t cols) {
    sfu_status status = SFU_OK;
    assert(from->dense != NULL || from->sparse.indptr != NULL);
    SFU_TRY(own_dense(to, row_set->count, cols));
    for (int32_t row = 0; row < row_set->count; row++) {
        const int32_t node = sfu__row_set_node(row_set, row);
        const int64_t at = position != NULL ? position[node] : node;
        float *target = to->own_dense + row * to->ld;
        if (from->dense != NULL) {
            memcpy(target, from->dense + at * from->ld, (size_t)cols * sizeof *target);
            continue;
        }
        for (int64_t e = from->sparse.indptr[at]; e < from->sparse.indptr[at + 1]; e++) {
            target[from->sparse.indices[e]] = from->sparse.values != NULL ? from->sparse.values[e] : 1.0F;
        }
    }
done:
    return status;
}

static sfu_status copy_rows(sfu_matrix *to, const sfu_csr *from, const sfu__row_set *row_set, const int32_t *position) {
    sfu_status status = SFU_OK;
    assert(from->indptr != NULL);
    *to = (sfu_matrix){.rows = row_set->count, .cols = from->cols};
    SFU_ALLOC_ZERO(to->indptr, (int64_t)row_set->count + 1);
    for (int32_t row = 0; row < row_set->count; row++) {
        const int32_t node = sfu__row_set_node(row_set, row), at = position != NULL ? position[node] : node;
        to->indptr[row + 1] = to->indptr[row] + from->indptr[at + 1] - from->indptr[at];
    }
    SFU_ALLOC(to->indices, to->indptr[row_set->count]);
    SFU_ALLOC(to->values, to->indptr[row_set->count]);
    for (int32_t row = 0; row < row_set->count; row++) {
        const int32_t node = sfu__row_set_node(row_set, row), at = position != NULL ? position[node] : node;
        int64_t next = to->indptr[row];
        for (int64_t e = from->indptr[at]; e < from->indptr[at + 1]; e++, next++) {
            to->indices[next] = from->indices[e];
            to->values[next] = from->values != NULL ? from->values[e] : 1.0F;
        }
    }
done:
    if (status != SFU_OK) {
        sfu__matrix_clear(to);
    }
    return status;
}

/* The rows of a row set, copied. */
static sfu_status select_rows(features *to, const features *from, const sfu__row_set *row_set, const int32_t *position,
                              int32_t cols, bool as_dense) {
    if (as_dense) {
        return make_dense(to, from, row_set, position, cols);
    }
    sfu_status status = SFU_OK;
    select_job job = {from, position, row_set, cols};
    SFU_TRY(from->dense != NULL ? sfu__build_rows(&to->own_sparse, row_set->count, cols, select_row, &job, 1)
                                : copy_rows(&to->own_sparse, &from->sparse, row_set, position));
    to->sparse = sfu__matrix_view(&to->own_sparse);
done:
    return status;
}

/* As fold_row, for dense features. */
static void fold_dense_row(const fold_step *self, double *sums, int32_t index) {
    const sfu_csr *S = &self->smoother->csr;
    const int32_t node = sfu__row_set_node(self->out, index);
    memset(sums, 0, (size_t)self->cols * sizeof *sums);
    for (int64_t e = S->indptr[node]; e < S->indptr[node + 1]; e++) {
        const int64_t at = self->position != NULL ? self->position[S->indices[e]] : S->indices[e];
        const float *row = self->from->dense + at * self->from->ld;
        for (int32_t j = 0; j < self->cols; j++) {
            sums[j] += (double)S->values[e] * (double)row[j];
        }
    }
    if (self->smoother->teleport > 0.0) {
        const int64_t at = self->start_position != NULL ? self->start_position[node] : node;
        const float *row = self->start->dense + at * self->start->ld;
        for (int32_t j = 0; j < self->cols; j++) {
            sums[j] += self->smoother->teleport * (double)row[j];
        }
    }
    for (int32_t j = 0; j < self->cols; j++) {
        self->dense[index * self->ld + j] = (float)sums[j];
    }
}

/* Rows of dense features that a thread folds at a time. */
enum { DENSE_ROWS = 1024 };

static sfu_status fold_dense_rows(void *context, int64_t item, int thread) {
    const fold_step *self = context;
    const int64_t begin = item * DENSE_ROWS, count = self->out->count;
    const int64_t end = begin + DENSE_ROWS < count ? begin + DENSE_ROWS : count;
    for (int64_t row = begin; row < end; row++) {
        fold_dense_row(self, self->sums + (int64_t)thread * self->cols, (int32_t)row);
    }
    return SFU_OK;
}

static sfu_status fold_dense(features *to, fold_step *step, int threads) {
    sfu_status status = SFU_OK;
    const int64_t items = ((int64_t)step->out->count + DENSE_ROWS - 1) / DENSE_ROWS;
    SFU_TRY(own_dense(to, step->out->count, step->cols));
    SFU_ALLOC(step->sums, (int64_t)threads * step->cols);
    step->dense = to->own_dense;
    step->ld = to->ld;
    SFU_TRY(sfu__parallel(fold_dense_rows, step, items, threads));
done:
    sfu__free(step->sums);
    step->sums = NULL;
    return status;
}

/* The result of smoothing op i, from its input and that of its layer. */
static sfu_status fold_op(features *to, const features *from, const features *start, const sfu__plan *plan,
                          const sfu__pass *pass, int i) {
    sfu_status status = SFU_OK;
    int32_t *position = NULL, *start_position = NULL;
    const sfu__op *op = &plan->ops[i];
    SFU_TRY(sfu__row_set_index(&position, from->row_set, plan->nodes));
    SFU_TRY(sfu__row_set_index(&start_position, start->row_set, plan->nodes));
    fold_step step = {.smoother = &plan->smoothers[op->smoothing],
                      .from = from,
                      .start = start,
                      .position = position,
                      .start_position = start_position,
                      .out = &pass->row_sets[i + 1],
                      .cols = plan->features};
    if (from->dense != NULL && start->dense != NULL) {
        SFU_TRY(fold_dense(to, &step, plan->threads));
    } else {
        SFU_TRY(sfu__build_rows(&to->own_sparse, step.out->count, plan->features, fold_row, &step, plan->threads));
        to->sparse = sfu__matrix_view(&to->own_sparse);
    }
    to->row_set = &pass->row_sets[i + 1];
done:
    sfu__free(position);
    sfu__free(start_position);
    return status;
}

/* Applies one smoothing. Its input is freed, unless a later step of the layer teleports back to it. */
static sfu_status fold_smoothing(features *current, features *start, const sfu__plan *plan, const sfu__pass *pass,
                                 int i) {
    sfu_status status = SFU_OK;
    features next = {0};
    const sfu__op *op = &plan->ops[i];
    const bool teleports = plan->smoothers[op->smoothing].teleport > 0.0, first = op->start == i;
    SFU_TRY(fold_op(&next, current, teleports && !first ? start : current, plan, pass, i));
    if (teleports && first) {
        features_clear(start);
        *start = *current;
    } else {
        features_clear(current);
    }
    *current = next;
    next = (features){0};
done:
    features_clear(&next);
    return status;
}

/* The features after the first `last` ops. */
static sfu_status fold_ops(features *current, const sfu__plan *plan, const sfu__pass *pass, int last) {
    sfu_status status = SFU_OK;
    const features data = features_of(plan->dataset);
    features start = {0};
    *current = data;
    if (sfu__fold_fills(plan, last)) {
        *current = (features){0};
        SFU_TRY(select_rows(current, &data, &pass->row_sets[0], NULL, plan->features, true));
        current->row_set = &pass->row_sets[0];
    }
    for (int i = 0; i < last; i++) {
        if (plan->ops[i].kind == SFU__OP_ACTIVATE) { /* always after a smoothing: its input is owned */
            activate_all(current, plan->ops[i].act, pass->row_sets[i + 1].count, plan->features);
        } else {
            SFU_TRY(fold_smoothing(current, &start, plan, pass, i));
        }
    }
done:
    features_clear(&start);
    return status;
}

static sfu_status fold_by_columns(features *to, const sfu__plan *plan, const sfu__pass *pass, int last) {
    sfu_status status = SFU_OK;
    SFU_TRY(own_dense(to, pass->row_sets[last].count, plan->features));
    SFU_TRY(sfu__fold_panels(to->own_dense, plan, pass, last));
done:
    return status;
}

sfu_status sfu__fold(sfu_matrix *sparse, float **dense, const sfu__plan *plan, const sfu__pass *pass, int last,
                     bool as_dense, bool by_columns) {
    sfu_status status = SFU_OK;
    features folded = {0}, chosen = {0};
    int32_t *position = NULL;
    assert(as_dense || !by_columns);
    SFU_TRY(by_columns ? fold_by_columns(&folded, plan, pass, last) : fold_ops(&folded, plan, pass, last));
    if (as_dense ? folded.own_dense != NULL : folded.own_sparse.indptr != NULL) {
        chosen = folded;
        folded = (features){0};
    } else {
        SFU_TRY(sfu__row_set_index(&position, folded.row_set, plan->nodes));
        SFU_TRY(select_rows(&chosen, &folded, &pass->row_sets[last], position, plan->features, as_dense));
    }
    *sparse = chosen.own_sparse;
    *dense = chosen.own_dense;
    chosen = (features){0};
done:
    features_clear(&folded);
    features_clear(&chosen);
    sfu__free(position);
    return status;
}

/* ---- collapse --------------------------------------------------------------------------------------------------- */

typedef struct collapse_job {
    const sfu__plan *plan;
    const sfu__pass *pass;
    int first, last;
    const int32_t *position; /* in row_sets[first]; NULL: the node itself */
} collapse_job;

/* to += from S. */
static void times_smoothing(sfu__row *to, const sfu__row *from, const sfu_csr *S) {
    for (int32_t i = 0; i < from->count; i++) {
        const int32_t node = from->columns[i];
        for (int64_t e = S->indptr[node]; e < S->indptr[node + 1]; e++) {
            sfu__row_add(to, S->indices[e], from->sums[node] * (double)S->values[e]);
        }
    }
}

/* rows[0]: u; rows[1]: next u; rows[2]: teleport terms of the layer so far. */
static void collapse_row(void *context, sfu__row rows[3], int32_t index) {
    const collapse_job *self = context;
    const sfu__plan *plan = self->plan;
    sfu__row_add(&rows[0], sfu__row_set_node(&self->pass->row_sets[self->last], index), 1.0);
    for (int i = self->last - 1; i >= self->first; i--) {
        const sfu__smoother *smoother = &plan->smoothers[plan->ops[i].smoothing];
        for (int32_t j = 0; smoother->teleport > 0.0 && j < rows[0].count; j++) {
            const int32_t node = rows[0].columns[j];
            sfu__row_add(&rows[2], node, smoother->teleport * rows[0].sums[node]);
        }
        times_smoothing(&rows[1], &rows[0], &smoother->csr);
        sfu__row_empty(&rows[0]);
        sfu__row_move(&rows[0], &rows[1]);
        if (plan->ops[i].start == i) {
            sfu__row_move(&rows[0], &rows[2]);
        }
    }
}

sfu_status sfu__collapse(sfu_matrix *matrix, const sfu__plan *plan, const sfu__pass *pass, int first, int last) {
    sfu_status status = SFU_OK;
    int32_t *position = NULL;
    const sfu__row_set *in = &pass->row_sets[first];
    collapse_job job = {.plan = plan, .pass = pass, .first = first, .last = last};
    SFU_TRY(sfu__build_rows(matrix, pass->row_sets[last].count, plan->nodes, collapse_row, &job, plan->threads));
    SFU_TRY(sfu__row_set_index(&position, in, plan->nodes));
    for (int64_t e = 0; position != NULL && e < matrix->indptr[matrix->rows]; e++) {
        matrix->indices[e] = position[matrix->indices[e]];
    }
    matrix->cols = in->count;
done:
    sfu__free(position);
    return status;
}
