/* smoothing_learned.c - smoothing matrices with trained parameters: their pattern, and the division of both passes
 * among threads. The equations are in learned_rows.h. */
#include "smoothing_learned.h"

#include <assert.h>

struct sfu__learned {
    sfu_matrix pattern;     /* values: those of the options */
    float *edges;           /* [entries]: a_ij, 0 on the diagonal of a node without a self-loop */
    sfu_matrix transpose;   /* no values */
    int32_t *value_perm;    /* [entries]: index in the pattern of each entry of the transpose */
    sfu__learned_form form; /* views of the above; node columns are borrowed from the options */
};

struct sfu__learned_work {
    const sfu__learned *learned;
    double *memory; /* backs the arrays of `sums` */
    sfu__learned_sums sums;
    double (*blocks)[SFU__LEARNED_SUMS]; /* [blocks of rows]: sums of the gradients of numbers */
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

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static sfu__learned_now read_parameters(const sfu__learned *self, const sfu__learned_parameters *at) {
    const float *const all[SFU__LEARNED_SUMS] = {at->self, at->neighbour, at->left, at->right};
    return sfu__learned_read(&self->form, all);
}

/* The first row of a thread's range, which consists of whole blocks. */
static int32_t first_row(const sfu__learned *self, int thread, int threads) {
    const int64_t n = self->form.nodes, blocks = (n + SFU__LEARNED_BLOCK - 1) / SFU__LEARNED_BLOCK;
    const int64_t row = blocks * thread / threads * SFU__LEARNED_BLOCK;
    return (int32_t)(row < n ? row : n);
}

void sfu__learned_forward(float *values, sfu__learned_work *work, const sfu__learned_parameters *at, int phase,
                          int thread, int threads) {
    const sfu__learned_form *S = &work->learned->form;
    const sfu__learned_now now = read_parameters(work->learned, at);
    const int32_t end = first_row(work->learned, thread + 1, threads);
    for (int32_t row = first_row(work->learned, thread, threads); row < end; row++) {
        if (phase == 0) {
            sfu__learned_make_sums(S, &work->sums, &now, row);
        } else {
            sfu__learned_make_values(values, S, &work->sums, &now, row);
        }
    }
}

/* Adds the terms of a row to the sums of its block. */
static void add_terms(sfu__learned_work *work, float *const to[SFU__LEARNED_SUMS], const sfu__learned_now *now,
                      const float *dS, int32_t row) {
    double *sums = work->blocks[row / SFU__LEARNED_BLOCK], terms[SFU__LEARNED_SUMS];
    sfu__learned_terms(terms, to, &work->learned->form, &work->sums, now, dS, row);
    for (int i = 0; i < SFU__LEARNED_SUMS; i++) {
        sums[i] = (row % SFU__LEARNED_BLOCK == 0 ? 0.0 : sums[i]) + terms[i];
    }
}

void sfu__learned_backward(const sfu__learned_gradient *gradient, sfu__learned_work *work,
                           const sfu__learned_parameters *at, const float *dS, int phase, int thread, int threads) {
    const sfu__learned_form *S = &work->learned->form;
    const sfu__learned_now now = read_parameters(work->learned, at);
    float *const to[SFU__LEARNED_SUMS] = {gradient->self, gradient->neighbour, gradient->left, gradient->right};
    const int32_t end = first_row(work->learned, thread + 1, threads);
    if (phase == SFU__LEARNED_BACKWARD - 1) {
        for (int sum = 0; sum < SFU__LEARNED_SUMS && thread == 0; sum++) {
            sfu__learned_add_blocks(to, S, work->blocks, sum);
        }
        return;
    }
    for (int32_t row = first_row(work->learned, thread, threads); row < end; row++) {
        if (phase == 0) {
            sfu__learned_row_backward(S, &work->sums, &now, dS, row);
        } else if (phase == 1 && S->has_right) {
            sfu__learned_column_backward(S, &work->sums, &now, dS, row);
        } else if (phase == 2) {
            add_terms(work, to, &now, dS, row);
        }
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

/* That of the options; exponents that are learned only start there. */
static sfu_status start_normalization(sfu__normalization *normalization, const sfu_smoothing_options *options,
                                      sfu__learn learn) {
    const sfu_status status = sfu__normalization_of(normalization, options);
    if (status != SFU_OK) {
        return status;
    }
    if ((learn.left || learn.right) && !options->probabilities &&
        (options->exponents || options->norm != SFU_NORM_SYM_ROW)) {
        normalization->scale_rows = false;
        sfu__learned_exponents(&normalization->left, &normalization->right, options);
    }
    return SFU_OK;
}

/* The options, and views of the arrays. */
static void make_form(sfu__learned *self, bool symmetric, const sfu_smoothing_options *options,
                      const sfu__normalization *normalization, sfu__learn learn) {
    self->form = (sfu__learned_form){.entries = self->pattern.indptr[self->pattern.rows],
                                     .indptr = self->pattern.indptr,
                                     .transposed_indptr = self->transpose.indptr,
                                     .indices = self->pattern.indices,
                                     .transposed_indices = self->transpose.indices,
                                     .value_perm = self->value_perm,
                                     .edges = self->edges,
                                     .self_column = options->self_column,
                                     .neighbour_column = options->neighbour_column,
                                     .self = options->self,
                                     .neighbour = options->neighbour,
                                     .left = normalization->left,
                                     .right = normalization->right,
                                     .learns = {learn.self, learn.neighbour, learn.left, learn.right},
                                     .nodes = self->pattern.rows,
                                     .same_sums = symmetric && options->neighbour_column == NULL,
                                     .has_right = learn.right || normalization->right != 0.0,
                                     .scale_rows = normalization->scale_rows};
}

sfu_status sfu__learned_new(sfu__learned **learned, const sfu_csr *graph, bool symmetric,
                            const sfu_smoothing_options *options, sfu__learn learn, int threads) {
    sfu_status status = SFU_OK;
    sfu__learned *self = NULL;
    sfu__normalization normalization;
    *learned = NULL;
    SFU_ALLOC_ZERO(self, 1);
    SFU_TRY(start_normalization(&normalization, options, learn));
    const sfu_csr edges = sfu__smoothing_edges(graph, options);
    SFU_TRY(make_pattern(self, &edges));
    SFU_TRY(start_values(self, &edges, symmetric, options, threads));
    SFU_TRY(make_transpose(self));
    make_form(self, symmetric, options, &normalization, learn);
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

const sfu__learned_form *sfu__learned_form_of(const sfu__learned *learned) { return &learned->form; }

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
    SFU_ALLOC_ZERO(self->memory, SFU__LEARNED_ARRAYS * n);
    SFU_ALLOC_ZERO(self->blocks, (n + SFU__LEARNED_BLOCK - 1) / SFU__LEARNED_BLOCK);
    self->sums = sfu__learned_sums_at(self->memory, (int64_t)n);
    *work = self;
    self = NULL;
done:
    sfu__learned_work_free(self);
    return status;
}

void sfu__learned_work_free(sfu__learned_work *work) {
    if (work != NULL) {
        sfu__free(work->memory);
        sfu__free(work->blocks);
        sfu__free(work);
    }
}
