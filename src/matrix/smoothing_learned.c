/* smoothing_learned.c - smoothing matrices that are trained.
 *
 *   v_ij = self_i [i = j] + neighbour_i a_ij      r_i = sum_j v_ij       c_j = sum_i v_ij      R_j = c_j^-right
 *
 *   S_ij = L_i R_j v_ij,  L_i = r_i^-left         as it is, or
 *   S_ij = R_j v_ij / q_i,  q_i = sum_k R_k v_ik  with rows scaled
 *
 * Back, with t_i = sum_j dS_ij S_ij and w_j = dln R_j:
 *
 *   as it is:  dv_ij = dS_ij L_i R_j - left t_i / r_i - right w_j / c_j           w_j = sum_i dS_ij S_ij
 *   scaled:    dv_ij = (dS_ij - t_i) R_j / q_i        - right w_j / c_j           w_j = sum_i (dS_ij - t_i) S_ij
 *
 *   dleft = -sum_i t_i ln r_i    dright = -sum_j w_j ln c_j    dself_i = dv_ii    dneighbour_i = sum_j a_ij dv_ij
 *
 * Everything is double inside and in the order of sfu__smoothing: sums run over ascending columns, or rows for c. A
 * scalar's gradient is summed in blocks of rows, and the blocks in order.
 */
#include "smoothing_learned.h"
#include "special.h"

#include <assert.h>
#include <math.h>

enum { ROWS_A_BLOCK = 512, SUMS = 4 };
enum { SUM_SELF, SUM_NEIGHBOUR, SUM_LEFT, SUM_RIGHT };

struct sfu__learned {
    sfu_matrix pattern;               /* values: those of the options */
    float *edges;                     /* [entries]: a_ij, 0 on a diagonal without a loop */
    sfu_matrix across;                /* the transpose, no values */
    int32_t *order;                   /* [entries]: of the transpose in the pattern */
    sfu__normalization normalization; /* of the options: start, or for good where an exponent is not learned */
    sfu__learn learn;                 /* */
    bool same_sums;                   /* A~ is symmetric whatever the parameters: c is r */
    bool has_right;                   /* c is needed */
    double self, neighbour;
    const float *self_column, *neighbour_column; /* borrowed of the options */
};

struct sfu__learned_work {
    const sfu__learned *learned;
    double *memory;       /* all of the below */
    double *r, *c;        /* [n]; c is r where A~ is symmetric */
    double *L, *R;        /* [n]: r^-left, or 1 / q's q where rows are scaled; c^-right */
    double *t, *dc;       /* [n]: t_i, and w_j first, then -right w_j / c_j */
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

/* Entries of a row of A and the diagonal, in one. */
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
    int64_t place = self->pattern.indptr[row];
    bool due = true;
    for (int64_t i = graph->indptr[row]; i < graph->indptr[row + 1] || due;) {
        const bool more = i < graph->indptr[row + 1];
        const bool diagonal = due && (!more || graph->indices[i] >= row);
        const bool edge = more && (!diagonal || graph->indices[i] == row);
        self->pattern.indices[place] = diagonal ? row : graph->indices[i];
        self->edges[place] = !edge ? 0.0F : graph->values != NULL ? graph->values[i] : 1.0F;
        due = due && !diagonal;
        i += edge;
        place++;
    }
    assert(place == self->pattern.indptr[row + 1]);
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
    const sfu_matrix *to = &self->across, *from = &self->pattern;
    const int32_t n = from->rows;
    self->across.rows = self->across.cols = n;
    SFU_ALLOC_ZERO(self->across.indptr, (size_t)n + 2);
    SFU_ALLOC(self->across.indices, from->indptr[n]);
    SFU_ALLOC(self->order, from->indptr[n]);
    /* indptr[j + 1] is where the next entry of column j goes; when all are there it is where column j ends. */
    for (int64_t i = 0; i < from->indptr[n]; i++) {
        to->indptr[from->indices[i] + 2]++;
    }
    for (int32_t j = 0; j < n; j++) {
        to->indptr[j + 1] += to->indptr[j];
    }
    for (int32_t row = 0; row < n; row++) {
        for (int64_t i = from->indptr[row]; i < from->indptr[row + 1]; i++) {
            const int64_t place = to->indptr[from->indices[i] + 1]++;
            to->indices[place] = row;
            self->order[place] = (int32_t)i;
        }
    }
done:
    return status;
}

/* ---- parameters as they are now --------------------------------------------------------------------------------- */

typedef struct now {
    double self, neighbour, left, right;
    const float *selves, *neighbours; /* a value a node instead */
} now;

static now look(const sfu__learned *S, const sfu__learned_parameters *at) {
    now it = {S->self,        S->neighbour,       S->normalization.left, S->normalization.right,
              S->self_column, S->neighbour_column};
    if (S->learn.self) {
        it.selves = S->self_column != NULL ? at->self : NULL;
        it.self = S->self_column != NULL ? 0.0 : (double)*at->self;
    }
    if (S->learn.neighbour) {
        it.neighbours = S->neighbour_column != NULL ? at->neighbour : NULL;
        it.neighbour = S->neighbour_column != NULL ? 0.0 : (double)*at->neighbour;
    }
    it.left = S->learn.left && !S->normalization.scale_rows ? (double)*at->left : it.left;
    it.right = S->learn.right ? (double)*at->right : it.right;
    return it;
}

/* v of entry e, which stands in `row`. */
static double entry(const sfu__learned *S, const now *it, int32_t row, int64_t e) {
    const double neighbour = it->neighbours != NULL ? (double)it->neighbours[row] : it->neighbour;
    const double of_edge = neighbour * (double)S->edges[e];
    if (S->pattern.indices[e] != row) {
        return of_edge;
    }
    return (it->selves != NULL ? (double)it->selves[row] : it->self) + of_edge;
}

/* S of entry e before it is rounded. A row without entries is not asked for. */
static double value(const sfu__learned_work *work, const now *it, int32_t row, int64_t e) {
    const sfu__learned *S = work->learned;
    const double right = S->has_right ? work->R[S->pattern.indices[e]] : 1.0, v = entry(S, it, row, e);
    return S->normalization.scale_rows ? right * v / work->L[row] : work->L[row] * right * v;
}

/* The rows of a thread: whole blocks. */
static int32_t cut(const sfu__learned *S, int thread, int threads) {
    const int64_t n = S->pattern.rows, blocks = (n + ROWS_A_BLOCK - 1) / ROWS_A_BLOCK;
    const int64_t row = blocks * thread / threads * ROWS_A_BLOCK;
    return (int32_t)(row < n ? row : n);
}

/* ---- forward ---------------------------------------------------------------------------------------------------- */

static double column_sum(const sfu__learned *S, const now *it, int32_t column) {
    double sum = 0.0;
    for (int64_t i = S->across.indptr[column]; i < S->across.indptr[column + 1]; i++) {
        sum += entry(S, it, S->across.indices[i], S->order[i]);
    }
    return sum;
}

static void make_sums(sfu__learned_work *work, const now *it, int32_t row) {
    const sfu__learned *S = work->learned;
    double sum = 0.0;
    for (int64_t e = S->pattern.indptr[row]; e < S->pattern.indptr[row + 1]; e++) {
        sum += entry(S, it, row, e);
    }
    work->r[row] = sum;
    work->L[row] = sfu__normalization_factor(sum, it->left);
    if (S->has_right) {
        work->c[row] = S->same_sums ? sum : column_sum(S, it, row);
        work->R[row] = sfu__normalization_factor(work->c[row], it->right);
    }
}

static float flush_to_zero(double value) { return fabs(value) < 0x1p-100 ? 0.0F : (float)value; }

static void make_values(float *values, sfu__learned_work *work, const now *it, int32_t row) {
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
            q += (S->has_right ? work->R[S->pattern.indices[e]] : 1.0) * entry(S, it, row, e);
        }
        work->L[row] = q;
    }
    for (int64_t e = begin; e < end; e++) {
        values[e] = flush_to_zero(value(work, it, row, e));
    }
}

void sfu__learned_forward(float *values, sfu__learned_work *work, const sfu__learned_parameters *at, int phase,
                          int thread, int threads) {
    const now it = look(work->learned, at);
    const int32_t end = cut(work->learned, thread + 1, threads);
    for (int32_t row = cut(work->learned, thread, threads); row < end; row++) {
        if (phase == 0) {
            make_sums(work, &it, row);
        } else {
            make_values(values, work, &it, row);
        }
    }
}

/* ---- backward --------------------------------------------------------------------------------------------------- */

/* t_i. */
static void row_back(sfu__learned_work *work, const now *it, const float *dS, int32_t row) {
    const sfu__learned *S = work->learned;
    double t = 0.0;
    for (int64_t e = S->pattern.indptr[row]; e < S->pattern.indptr[row + 1] && work->r[row] != 0.0; e++) {
        t += (double)dS[e] * value(work, it, row, e);
    }
    work->t[row] = t;
}

/* w_j and -right w_j / c_j. */
static void column_back(sfu__learned_work *work, const now *it, const float *dS, int32_t column) {
    const sfu__learned *S = work->learned;
    double w = 0.0;
    for (int64_t i = S->across.indptr[column]; i < S->across.indptr[column + 1]; i++) {
        const int32_t row = S->across.indices[i], e = S->order[i];
        if (work->r[row] != 0.0) {
            w += ((double)dS[e] - (S->normalization.scale_rows ? work->t[row] : 0.0)) * value(work, it, row, e);
        }
    }
    const bool empty = work->c[column] == 0.0;
    work->w[column] = empty ? 0.0 : w;
    work->dc[column] = empty ? 0.0 : -it->right * w / work->c[column];
}

/* dv of entry e of a row that is not empty. */
static double entry_back(const sfu__learned_work *work, const now *it, const float *dS, int32_t row, int64_t e) {
    const sfu__learned *S = work->learned;
    const int32_t column = S->pattern.indices[e];
    const bool jumps = S->has_right && work->c[column] == 0.0 && it->right != 0.0;
    const double right = jumps ? 0.0 : S->has_right ? work->R[column] : 1.0;
    const double through_column = S->has_right ? work->dc[column] : 0.0;
    if (S->normalization.scale_rows) {
        return ((double)dS[e] - work->t[row]) * right / work->L[row] + through_column;
    }
    return (double)dS[e] * work->L[row] * right - it->left * work->t[row] / work->r[row] + through_column;
}

/* One row's share of the gradients: into the block's sums, or the node's own. */
static void parameters_back(const sfu__learned_gradient *to, sfu__learned_work *work, const now *it, const float *dS,
                            int32_t row) {
    const sfu__learned *S = work->learned;
    double *sums = work->sums[row / ROWS_A_BLOCK], dself = 0.0, dneighbour = 0.0;
    for (int64_t e = S->pattern.indptr[row]; e < S->pattern.indptr[row + 1] && work->r[row] != 0.0; e++) {
        const double dv = entry_back(work, it, dS, row, e);
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
    float *const places[SUMS] = {[SUM_SELF] = S->learn.self && S->self_column == NULL ? to->self : NULL,
                                 [SUM_NEIGHBOUR] =
                                     S->learn.neighbour && S->neighbour_column == NULL ? to->neighbour : NULL,
                                 [SUM_LEFT] = S->learn.left ? to->left : NULL,
                                 [SUM_RIGHT] = S->learn.right ? to->right : NULL};
    for (int i = 0; i < SUMS; i++) {
        double sum = 0.0;
        for (int64_t block = 0; block * ROWS_A_BLOCK < S->pattern.rows; block++) {
            sum += work->sums[block][i];
        }
        if (places[i] != NULL) {
            *places[i] = flush_to_zero(sum);
        }
    }
}

static void step_back(const sfu__learned_gradient *to, sfu__learned_work *work, const now *it, const float *dS,
                      int phase, int32_t row) {
    if (phase == 0) {
        row_back(work, it, dS, row);
    } else if (phase == 1 && work->learned->has_right) {
        column_back(work, it, dS, row);
    } else if (phase == 2) {
        if (row % ROWS_A_BLOCK == 0) {
            for (int i = 0; i < SUMS; i++) {
                work->sums[row / ROWS_A_BLOCK][i] = 0.0;
            }
        }
        parameters_back(to, work, it, dS, row);
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
    const now it = look(work->learned, at);
    const int32_t end = cut(work->learned, thread + 1, threads);
    for (int32_t row = cut(work->learned, thread, threads); row < end; row++) {
        step_back(to, work, &it, dS, phase, row);
    }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* The values of the options, where sfu__smoothing has them: it also refuses what cannot be. */
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
    SFU_TRY(make_pattern(self, graph));
    SFU_TRY(start_values(self, graph, symmetric, options, threads));
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
        sfu__matrix_clear(&learned->across);
        sfu__free(learned->edges);
        sfu__free(learned->order);
        sfu__free(learned);
    }
}

sfu_csr sfu__learned_pattern(const sfu__learned *learned) { return sfu__matrix_view(&learned->pattern); }

sfu_csr sfu__learned_transpose(const sfu__learned *learned, const int32_t **order) {
    *order = learned->order;
    return sfu__matrix_view(&learned->across);
}

sfu_status sfu__learned_work_new(sfu__learned_work **work, const sfu__learned *learned) {
    sfu_status status = SFU_OK;
    sfu__learned_work *self = NULL;
    const size_t n = (size_t)learned->pattern.rows;
    *work = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->learned = learned;
    SFU_ALLOC_ZERO(self->memory, 7 * n);
    SFU_ALLOC_ZERO(self->sums, (n + ROWS_A_BLOCK - 1) / ROWS_A_BLOCK);
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
