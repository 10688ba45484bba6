/* smoothing_learned.c - forward and backward pass of smoothing matrices with trained parameters.
 *
 *   v_ij = self_i [i = j] + neighbour_i a_ij      r_i = sum_j v_ij       c_j = sum_i v_ij      R_j = c_j^-right
 *
 *   S_ij = L_i R_j v_ij,  L_i = r_i^-left         or, with rows scaled,
 *   S_ij = R_j v_ij / q_i,  q_i = sum_k R_k v_ik
 *
 * Backward, with t_i = sum_j dS_ij S_ij and w_j = dln R_j:
 *
 *   unscaled:  dv_ij = dS_ij L_i R_j - left t_i / r_i - right w_j / c_j           w_j = sum_i dS_ij S_ij
 *   scaled:    dv_ij = (dS_ij - t_i) R_j / q_i        - right w_j / c_j           w_j = sum_i (dS_ij - t_i) S_ij
 *
 *   dleft = -sum_i t_i ln r_i    dright = -sum_j w_j ln c_j    dself_i = dv_ii    dneighbour_i = sum_j a_ij dv_ij
 *
 * All arithmetic is double, in the order of sfu__smoothing: sums run over ascending columns, or rows for c. The
 * gradient of a scalar is summed per block of rows, then over the blocks in order.
 */
#include "smoothing_learned.h"
#include "special.h"

#include <assert.h>
#include <math.h>

enum { ROWS_PER_BLOCK = 512, SUMS = 4 };
enum { SUM_SELF, SUM_NEIGHBOUR, SUM_LEFT, SUM_RIGHT };

struct sfu__learned {
    sfu_matrix pattern;               /* values: those of the options */
    float *edges;                     /* [entries]: a_ij, 0 on the diagonal of a node without a self-loop */
    sfu_matrix transpose;             /* no values */
    int32_t *value_perm;              /* [entries]: index in the pattern of each entry of the transpose */
    sfu__normalization normalization; /* of the options; exponents that are learned only start there */
    sfu__learn learn;
    bool same_sums; /* A~ is symmetric for all parameters: c is r */
    bool has_right; /* c is needed */
    double self, neighbour;
    const float *self_column, *neighbour_column; /* borrowed from the options */
};

struct sfu__learned_work {
    const sfu__learned *learned;
    double *memory;       /* backs the arrays below */
    double *r, *c;        /* [n]; c is r if A~ is symmetric */
    double *L, *R;        /* [n]: r^-left, or q if rows are scaled; c^-right */
    double *t, *dc;       /* [n]: t_j; -right w_j / c_j */
    double *w;            /* [n] */
    double (*sums)[SUMS]; /* [blocks] */
};

/* ---- the pattern ------------------------------------------------------------------------------------------------ */

void sfu__learned_exponents(double *left, double *right, const sfu_smoothing_options *options) {
    static const double of_norms[][2] = {
        [SFU_NORM_SYM] = {0.5, 0.5}, [SFU_NORM_ROW] = {1.0, 0.0},     [SFU_NORM_COL] = {0.0, 1.0},
        [SFU_NORM_NONE] = {0, 0},    [SFU_NORM_SYM_ROW] = {0.5, 0.5},
    };
    *left = options->exponents ? options->left : of_norms[options->norm][0];
    *right = options->exponents ? options->right : of_norms[options->norm][1];
}

/* The number of entries of a row of the pattern: those of A and the diagonal. */
static int64_t row_entries(const sfu_csr *graph, int32_t row) {
    const int64_t begin = graph->indptr[row], end = graph->indptr[row + 1];
    for (int64_t i = begin; i < end && graph->indices[i] <= row; i++) {
        if (graph->indices[i] == row) {
            return end - begin;
        }
    }
    return end - begin + 1;
}

static void fill_row(sfu__learned *self, const sfu_csr *graph, int32_t row) {
    int64_t position = self->pattern.indptr[row];
    bool diagonal_due = true;
    for (int64_t i = graph->indptr[row]; i < graph->indptr[row + 1] || diagonal_due;) {
        const bool more = i < graph->indptr[row + 1];
        const bool diagonal = diagonal_due && (!more || graph->indices[i] >= row);
        const bool edge = more && (!diagonal || graph->indices[i] == row);
        self->pattern.indices[position] = diagonal ? row : graph->indices[i];
        self->edges[position] = !edge ? 0.0F : graph->values != NULL ? graph->values[i] : 1.0F;
        diagonal_due = diagonal_due && !diagonal;
        i += edge;
        position++;
    }
    assert(position == self->pattern.indptr[row + 1]);
}

static sfu_status make_pattern(sfu__learned *self, const sfu_csr *graph) {
    sfu_status status = SFU_OK;
    const int32_t n = graph->rows;
    self->pattern.rows = self->pattern.cols = n;
    SFU_ALLOC_ZERO(self->pattern.indptr, (size_t)n + 1);
    for (int32_t row = 0; row < n; row++) {
        self->pattern.indptr[row + 1] = self->pattern.indptr[row] + row_entries(graph, row);
    }
    const int64_t entries = self->pattern.indptr[n];
    if (entries > INT32_MAX) {
        status = sfu__fail(SFU_ERR_UNSUPPORTED,
                           "smoothing: learn= with %lld entries in the smoothing matrix; up to %d can be learned from",
                           (long long)entries, INT32_MAX);
        goto done;
    }
    SFU_ALLOC(self->pattern.indices, entries);
    SFU_ALLOC(self->pattern.values, entries);
    SFU_ALLOC(self->edges, entries);
    for (int32_t row = 0; row < n; row++) {
        fill_row(self, graph, row);
    }
done:
    return status;
}

static sfu_status make_transpose(sfu__learned *self) {
    sfu_status status = SFU_OK;
    const sfu_matrix *to = &self->transpose, *from = &self->pattern;
    const int32_t n = from->rows;
    self->transpose.rows = self->transpose.cols = n;
    SFU_ALLOC_ZERO(self->transpose.indptr, (size_t)n + 2);
    SFU_ALLOC(self->transpose.indices, from->indptr[n]);
    SFU_ALLOC(self->value_perm, from->indptr[n]);
    /* indptr[j + 1] is the next free entry of column j, and its end when the loop is done. */
    for (int64_t i = 0; i < from->indptr[n]; i++) {
        to->indptr[from->indices[i] + 2]++;
    }
    for (int32_t j = 0; j < n; j++) {
        to->indptr[j + 1] += to->indptr[j];
    }
    for (int32_t row = 0; row < n; row++) {
        for (int64_t i = from->indptr[row]; i < from->indptr[row + 1]; i++) {
            const int64_t position = to->indptr[from->indices[i] + 1]++;
            to->indices[position] = row;
            self->value_perm[position] = (int32_t)i;
        }
    }
done:
    return status;
}

/* ---- current parameters ----------------------------------------------------------------------------------------- */

typedef struct current_parameters {
    double self, neighbour, left, right;
    const float *selves, *neighbours; /* one value per node, if not NULL */
} current_parameters;

static current_parameters read_parameters(const sfu__learned *S, const sfu__learned_parameters *at) {
    current_parameters now = {S->self,        S->neighbour,       S->normalization.left, S->normalization.right,
                              S->self_column, S->neighbour_column};
    if (S->learn.self) {
        now.selves = S->self_column != NULL ? at->self : NULL;
        now.self = S->self_column != NULL ? 0.0 : (double)*at->self;
    }
    if (S->learn.neighbour) {
        now.neighbours = S->neighbour_column != NULL ? at->neighbour : NULL;
        now.neighbour = S->neighbour_column != NULL ? 0.0 : (double)*at->neighbour;
    }
    now.left = S->learn.left && !S->normalization.scale_rows ? (double)*at->left : now.left;
    now.right = S->learn.right ? (double)*at->right : now.right;
    return now;
}

/* v of entry e of a row. */
static double entry(const sfu__learned *S, const current_parameters *now, int32_t row, int64_t e) {
    const double neighbour = now->neighbours != NULL ? (double)now->neighbours[row] : now->neighbour;
    const double of_edge = neighbour * (double)S->edges[e];
    if (S->pattern.indices[e] != row) {
        return of_edge;
    }
    return (now->selves != NULL ? (double)now->selves[row] : now->self) + of_edge;
}

/* S of entry e before rounding. Must not be called for an empty row. */
static double value(const sfu__learned_work *work, const current_parameters *now, int32_t row, int64_t e) {
    const sfu__learned *S = work->learned;
    const double right = S->has_right ? work->R[S->pattern.indices[e]] : 1.0, v = entry(S, now, row, e);
    return S->normalization.scale_rows ? right * v / work->L[row] : work->L[row] * right * v;
}

/* The first row of a thread's range, which consists of whole blocks. */
static int32_t first_row(const sfu__learned *S, int thread, int threads) {
    const int64_t n = S->pattern.rows, blocks = (n + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
    const int64_t row = blocks * thread / threads * ROWS_PER_BLOCK;
    return (int32_t)(row < n ? row : n);
}

/* ---- forward ---------------------------------------------------------------------------------------------------- */

static double column_sum(const sfu__learned *S, const current_parameters *now, int32_t column) {
    double sum = 0.0;
    for (int64_t i = S->transpose.indptr[column]; i < S->transpose.indptr[column + 1]; i++) {
        sum += entry(S, now, S->transpose.indices[i], S->value_perm[i]);
    }
    return sum;
}

static void make_sums(sfu__learned_work *work, const current_parameters *now, int32_t row) {
    const sfu__learned *S = work->learned;
    double sum = 0.0;
    for (int64_t e = S->pattern.indptr[row]; e < S->pattern.indptr[row + 1]; e++) {
        sum += entry(S, now, row, e);
    }
    work->r[row] = sum;
    work->L[row] = sfu__normalization_factor(sum, now->left);
    if (S->has_right) {
        work->c[row] = S->same_sums ? sum : column_sum(S, now, row);
        work->R[row] = sfu__normalization_factor(work->c[row], now->right);
    }
}

static float flush_to_zero(double value) { return fabs(value) < 0x1p-100 ? 0.0F : (float)value; }

static void make_values(float *values, sfu__learned_work *work, const current_parameters *now, int32_t row) {
    const sfu__learned *S = work->learned;
    const int64_t begin = S->pattern.indptr[row], end = S->pattern.indptr[row + 1];
    if (work->r[row] == 0.0) {
        for (int64_t e = begin; e < end; e++) {
            values[e] = S->pattern.indices[e] == row ? 1.0F : 0.0F;
        }
        return;
    }
    if (S->normalization.scale_rows) {
        double q = 0.0;
        for (int64_t e = begin; e < end; e++) {
            q += (S->has_right ? work->R[S->pattern.indices[e]] : 1.0) * entry(S, now, row, e);
        }
        work->L[row] = q;
    }
    for (int64_t e = begin; e < end; e++) {
        values[e] = flush_to_zero(value(work, now, row, e));
    }
}

void sfu__learned_forward(float *values, sfu__learned_work *work, const sfu__learned_parameters *at, int phase,
                          int thread, int threads) {
    const current_parameters now = read_parameters(work->learned, at);
    const int32_t end = first_row(work->learned, thread + 1, threads);
    for (int32_t row = first_row(work->learned, thread, threads); row < end; row++) {
        if (phase == 0) {
            make_sums(work, &now, row);
        } else {
            make_values(values, work, &now, row);
        }
    }
}

/* ---- backward --------------------------------------------------------------------------------------------------- */

/* t_i. */
static void row_backward(sfu__learned_work *work, const current_parameters *now, const float *dS, int32_t row) {
    const sfu__learned *S = work->learned;
    double t = 0.0;
    for (int64_t e = S->pattern.indptr[row]; e < S->pattern.indptr[row + 1] && work->r[row] != 0.0; e++) {
        t += (double)dS[e] * value(work, now, row, e);
    }
    work->t[row] = t;
}

/* w_j and -right w_j / c_j. */
static void column_backward(sfu__learned_work *work, const current_parameters *now, const float *dS, int32_t column) {
    const sfu__learned *S = work->learned;
    double w = 0.0;
    for (int64_t i = S->transpose.indptr[column]; i < S->transpose.indptr[column + 1]; i++) {
        const int32_t row = S->transpose.indices[i], e = S->value_perm[i];
        if (work->r[row] != 0.0) {
            w += ((double)dS[e] - (S->normalization.scale_rows ? work->t[row] : 0.0)) * value(work, now, row, e);
        }
    }
    const bool empty = work->c[column] == 0.0;
    work->w[column] = empty ? 0.0 : w;
    work->dc[column] = empty ? 0.0 : -now->right * w / work->c[column];
}

/* dv of entry e of a row that is not empty. */
static double entry_backward(const sfu__learned_work *work, const current_parameters *now, const float *dS, int32_t row,
                             int64_t e) {
    const sfu__learned *S = work->learned;
    const int32_t column = S->pattern.indices[e];
    const bool jumps = S->has_right && work->c[column] == 0.0 && now->right != 0.0;
    const double right = jumps ? 0.0 : S->has_right ? work->R[column] : 1.0;
    const double through_column = S->has_right ? work->dc[column] : 0.0;
    if (S->normalization.scale_rows) {
        return ((double)dS[e] - work->t[row]) * right / work->L[row] + through_column;
    }
    return (double)dS[e] * work->L[row] * right - now->left * work->t[row] / work->r[row] + through_column;
}

/* The contribution of one row to the gradients: to the sums of its block, or to the values of its node. */
static void parameters_backward(const sfu__learned_gradient *to, sfu__learned_work *work, const current_parameters *now,
                                const float *dS, int32_t row) {
    const sfu__learned *S = work->learned;
    double *sums = work->sums[row / ROWS_PER_BLOCK], dself = 0.0, dneighbour = 0.0;
    for (int64_t e = S->pattern.indptr[row]; e < S->pattern.indptr[row + 1] && work->r[row] != 0.0; e++) {
        const double dv = entry_backward(work, now, dS, row, e);
        dself += S->pattern.indices[e] == row ? dv : 0.0;
        dneighbour += (double)S->edges[e] * dv;
    }
    if (S->learn.self && S->self_column != NULL) {
        to->self[row] = flush_to_zero(dself);
    }
    if (S->learn.neighbour && S->neighbour_column != NULL) {
        to->neighbour[row] = flush_to_zero(dneighbour);
    }
    sums[SUM_SELF] += dself;
    sums[SUM_NEIGHBOUR] += dneighbour;
    if (S->learn.left && !S->normalization.scale_rows && work->r[row] != 0.0) {
        sums[SUM_LEFT] -= work->t[row] * sfu__ln(work->r[row]);
    }
    if (S->learn.right && work->c[row] != 0.0) {
        sums[SUM_RIGHT] -= work->w[row] * sfu__ln(work->c[row]);
    }
}

static void add_blocks(const sfu__learned_gradient *to, const sfu__learned_work *work) {
    const sfu__learned *S = work->learned;
    float *const targets[SUMS] = {[SUM_SELF] = S->learn.self && S->self_column == NULL ? to->self : NULL,
                                  [SUM_NEIGHBOUR] =
                                      S->learn.neighbour && S->neighbour_column == NULL ? to->neighbour : NULL,
                                  [SUM_LEFT] = S->learn.left ? to->left : NULL,
                                  [SUM_RIGHT] = S->learn.right ? to->right : NULL};
    for (int i = 0; i < SUMS; i++) {
        double sum = 0.0;
        for (int64_t block = 0; block * ROWS_PER_BLOCK < S->pattern.rows; block++) {
            sum += work->sums[block][i];
        }
        if (targets[i] != NULL) {
            *targets[i] = flush_to_zero(sum);
        }
    }
}

static void backward_row(const sfu__learned_gradient *to, sfu__learned_work *work, const current_parameters *now,
                         const float *dS, int phase, int32_t row) {
    if (phase == 0) {
        row_backward(work, now, dS, row);
    } else if (phase == 1 && work->learned->has_right) {
        column_backward(work, now, dS, row);
    } else if (phase == 2) {
        if (row % ROWS_PER_BLOCK == 0) {
            for (int i = 0; i < SUMS; i++) {
                work->sums[row / ROWS_PER_BLOCK][i] = 0.0;
            }
        }
        parameters_backward(to, work, now, dS, row);
    }
}

void sfu__learned_backward(const sfu__learned_gradient *to, sfu__learned_work *work, const sfu__learned_parameters *at,
                           const float *dS, int phase, int thread, int threads) {
    if (phase == SFU__LEARNED_BACKWARD - 1) {
        if (thread == 0) {
            add_blocks(to, work);
        }
        return;
    }
    const current_parameters now = read_parameters(work->learned, at);
    const int32_t end = first_row(work->learned, thread + 1, threads);
    for (int32_t row = first_row(work->learned, thread, threads); row < end; row++) {
        backward_row(to, work, &now, dS, phase, row);
    }
}

/* ---- creation and destruction ------------------------------------------------------------------------------------ */

/* The initial values, from sfu__smoothing, which also rejects invalid options. */
static sfu_status start_values(sfu__learned *self, const sfu_csr *graph, bool symmetric,
                               const sfu_smoothing_options *options, int threads) {
    sfu_status status = SFU_OK;
    sfu_matrix fixed = {0};
    SFU_TRY(sfu__smoothing(&fixed, graph, symmetric, options, threads));
    const sfu_matrix *pattern = &self->pattern;
    for (int32_t row = 0; row < pattern->rows; row++) {
        int64_t next = fixed.indptr[row];
        for (int64_t e = pattern->indptr[row]; e < pattern->indptr[row + 1]; e++) {
            const bool there = next < fixed.indptr[row + 1] && fixed.indices[next] == pattern->indices[e];
            pattern->values[e] = there ? fixed.values[next++] : 0.0F;
        }
    }
done:
    sfu__matrix_clear(&fixed);
    return status;
}

sfu_status sfu__learned_new(sfu__learned **learned, const sfu_csr *graph, bool symmetric,
                            const sfu_smoothing_options *options, sfu__learn learn, int threads) {
    sfu_status status = SFU_OK;
    sfu__learned *self = NULL;
    *learned = NULL;
    SFU_ALLOC_ZERO(self, 1);
    SFU_TRY(sfu__normalization_of(&self->normalization, options));
    if ((learn.left || learn.right) && !options->probabilities &&
        (options->exponents || options->norm != SFU_NORM_SYM_ROW)) {
        self->normalization.scale_rows = false;
        sfu__learned_exponents(&self->normalization.left, &self->normalization.right, options);
    }
    self->learn = learn;
    self->same_sums = symmetric && options->neighbour_column == NULL;
    self->has_right = learn.right || self->normalization.right != 0.0;
    self->self = options->self;
    self->neighbour = options->neighbour;
    self->self_column = options->self_column;
    self->neighbour_column = options->neighbour_column;
    const sfu_csr edges = sfu__smoothing_edges(graph, options);
    SFU_TRY(make_pattern(self, &edges));
    SFU_TRY(start_values(self, &edges, symmetric, options, threads));
    SFU_TRY(make_transpose(self));
    *learned = self;
    self = NULL;
done:
    sfu__learned_free(self);
    return status;
}

void sfu__learned_free(sfu__learned *learned) {
    if (learned != NULL) {
        sfu__matrix_clear(&learned->pattern);
        sfu__matrix_clear(&learned->transpose);
        sfu__free(learned->edges);
        sfu__free(learned->value_perm);
        sfu__free(learned);
    }
}

sfu_csr sfu__learned_pattern(const sfu__learned *learned) { return sfu__matrix_view(&learned->pattern); }

sfu_csr sfu__learned_transpose(const sfu__learned *learned, const int32_t **value_perm) {
    *value_perm = learned->value_perm;
    return sfu__matrix_view(&learned->transpose);
}

sfu_status sfu__learned_work_new(sfu__learned_work **work, const sfu__learned *learned) {
    sfu_status status = SFU_OK;
    sfu__learned_work *self = NULL;
    const size_t n = (size_t)learned->pattern.rows;
    *work = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->learned = learned;
    SFU_ALLOC_ZERO(self->memory, 7 * n);
    SFU_ALLOC_ZERO(self->sums, (n + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK);
    double **const parts[] = {&self->r, &self->c, &self->L, &self->R, &self->t, &self->dc, &self->w};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        *parts[i] = self->memory + i * n;
    }
    *work = self;
    self = NULL;
done:
    sfu__learned_work_free(self);
    return status;
}

void sfu__learned_work_free(sfu__learned_work *work) {
    if (work != NULL) {
        sfu__free(work->memory);
        sfu__free(work->sums);
        sfu__free(work);
    }
}
