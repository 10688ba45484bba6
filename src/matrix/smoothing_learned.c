/* smoothing_learned.c - smoothing matrices with trained parameters: the division of both passes among threads and
 * parts. The equations are in learned_rows.h. */
#include "smoothing_learned.h"

#include "learned_entries.h"
#include "smoothing_stream.h"

struct sfu__learned {
    sfu__learned_entries entries; /* values of the rows: those of the options, or NULL of a part */
    sfu__learned_form form;       /* views of the above; node columns are borrowed from the options */
};

struct sfu__learned_work {
    const sfu__learned *learned;
    double *memory; /* backs the arrays of `sums` */
    sfu__learned_sums sums;
    double (*blocks)[SFU__LEARNED_SUMS]; /* [blocks of rows]: sums of the gradients of numbers */
    double (*heads)[SFU__LEARNED_SUMS];  /* terms of the rows of a part that belong to a block of an earlier one */
};

void sfu__learned_exponents(double *left, double *right, const sfu_smoothing_options *options) {
    static const double of_norms[][2] = {
        [SFU_NORM_SYM] = {0.5, 0.5}, [SFU_NORM_ROW] = {1.0, 0.0},     [SFU_NORM_COL] = {0.0, 1.0},
        [SFU_NORM_NONE] = {0, 0},    [SFU_NORM_SYM_ROW] = {0.5, 0.5},
    };
    *left = options->exponents ? options->left : of_norms[options->norm][0];
    *right = options->exponents ? options->right : of_norms[options->norm][1];
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static sfu__learned_now read_parameters(const sfu__learned *self, const sfu__learned_parameters *at) {
    const float *const all[SFU__LEARNED_SUMS] = {at->self, at->neighbour, at->left, at->right};
    return sfu__learned_read(&self->form, all);
}

/* The first block of 512 rows that begins at or after a row. */
static int64_t block_from(int64_t row) { return (row + SFU__LEARNED_BLOCK - 1) / SFU__LEARNED_BLOCK; }

/* The first row of a thread's range, which consists of whole blocks but for the ends of a part. */
static int32_t first_row(const sfu__learned *self, int thread, int threads) {
    const int64_t begin = self->entries.first, end = self->entries.end, from = begin / SFU__LEARNED_BLOCK;
    const int64_t row = (from + (block_from(end) - from) * thread / threads) * SFU__LEARNED_BLOCK;
    return (int32_t)(row < begin ? begin : row < end ? row : end);
}

void sfu__learned_forward(float *values, sfu__learned_work *work, const sfu__learned_parameters *at, int phase,
                          int thread, int threads) {
    const sfu__learned_form *S = &work->learned->form;
    const sfu__learned_now now = read_parameters(work->learned, at);
    const int32_t end = first_row(work->learned, thread + 1, threads);
    for (int32_t row = first_row(work->learned, thread, threads); row < end; row++) {
        if (phase == 0) {
            sfu__learned_make_sums(S, &work->sums, &now, row);
        } else if (phase == 1) {
            sfu__learned_make_values(values, S, &work->sums, &now, row);
        } else if (work->learned->entries.part) {
            sfu__learned_make_column(values, S, &work->sums, &now, row);
        }
    }
}

/* Adds the terms of a row to the sums of its block, or stores them for the part that has its first row. */
static void add_terms(sfu__learned_work *work, float *const to[SFU__LEARNED_SUMS], const sfu__learned_now *now,
                      const float *dS, int32_t row) {
    const sfu__learned_entries *entries = &work->learned->entries;
    const bool head = row / SFU__LEARNED_BLOCK < block_from(entries->first);
    double *sums = head ? work->heads[row - entries->first] : work->blocks[row / SFU__LEARNED_BLOCK];
    double terms[SFU__LEARNED_SUMS];
    sfu__learned_terms(terms, to, &work->learned->form, &work->sums, now, dS, row);
    for (int i = 0; i < SFU__LEARNED_SUMS; i++) {
        sums[i] = (head || row % SFU__LEARNED_BLOCK == 0 ? 0.0 : sums[i]) + terms[i];
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

/* ---- parts ------------------------------------------------------------------------------------------------------- */

int sfu__learned_shared(double *arrays[SFU__LEARNED_ARRAYS], const sfu__learned_work *work, bool backward, int phase) {
    const sfu__learned_form *S = &work->learned->form;
    const sfu__learned_sums *sums = &work->sums;
    const struct {
        double *array;
        bool backward;
        int phase;
        bool needed;
    } all[SFU__LEARNED_ARRAYS] = {
        {sums->r, false, 0, true},
        {sums->c, false, 0, S->has_right},
        {sums->R, false, 0, S->has_right},
        {sums->L, false, S->scale_rows ? 1 : 0, true},
        {sums->t, true, 0, S->has_right && S->scale_rows},
        {sums->dc, true, 1, S->has_right},
    };
    int count = 0;
    for (int i = 0; i < SFU__LEARNED_ARRAYS; i++) {
        if (all[i].needed && all[i].backward == backward && all[i].phase == phase) {
            arrays[count++] = all[i].array;
        }
    }
    return count;
}

int32_t sfu__learned_head(int32_t first, int32_t end) {
    const int64_t head = block_from(first) * SFU__LEARNED_BLOCK;
    return (int32_t)(head < end ? head : end) - first;
}

int64_t sfu__learned_first_block(int32_t first) { return block_from(first); }

sfu__learned_row_terms *sfu__learned_heads(const sfu__learned_work *work) { return work->heads; }

sfu__learned_row_terms *sfu__learned_blocks(const sfu__learned_work *work) { return work->blocks; }

void sfu__learned_add_heads(sfu__learned_work *work, sfu__learned_row_terms *following, int64_t count) {
    const int64_t end = work->learned->entries.end, block = end / SFU__LEARNED_BLOCK;
    if (block < block_from(work->learned->entries.first)) {
        return; /* no block begins here */
    }
    for (int64_t row = end; row % SFU__LEARNED_BLOCK != 0 && row < end + count; row++) {
        for (int i = 0; i < SFU__LEARNED_SUMS; i++) {
            work->blocks[block][i] += following[row - end][i];
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
    sfu_matrix *rows = &self->entries.rows;
    SFU_ALLOC(rows->values, self->entries.count);
    for (int32_t row = 0; row < rows->rows; row++) {
        int64_t next = fixed.indptr[row];
        for (int64_t e = rows->indptr[row]; e < rows->indptr[row + 1]; e++) {
            const bool there = next < fixed.indptr[row + 1] && fixed.indices[next] == rows->indices[e];
            rows->values[e] = there ? fixed.values[next++] : 0.0F;
        }
    }
done:
    sfu__matrix_clear(&fixed);
    return status;
}

/* Rejects invalid options, as the initial values of these rows show. */
static sfu_status check_part(const sfu__learned_entries *part, const sfu__mapped_csr *graph, bool symmetric,
                             const sfu_smoothing_options *options, int threads) {
    sfu_status status = SFU_OK;
    sfu__smoothing_stream *stream = NULL;
    sfu__stream_rows rows = {0};
    SFU_TRY(sfu__smoothing_stream_new(&stream, graph, symmetric, options, 1.0, threads));
    for (int64_t first = part->first, next; first < part->end; first = next) {
        next = sfu__row_piece_end(graph, first, part->end, stream->piece);
        sfu__stream_rows_empty(&rows);
        SFU_TRY(sfu__stream_rows_add(&rows, stream, first, next));
    }
done:
    sfu__stream_rows_clear(&rows);
    sfu__smoothing_stream_free(stream);
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
    const sfu__learned_entries *entries = &self->entries;
    self->form = (sfu__learned_form){.entries = entries->count,
                                     .indptr = entries->rows.indptr,
                                     .transposed_indptr = entries->transpose.indptr,
                                     .indices = entries->rows.indices,
                                     .transposed_indices = entries->transpose.indices,
                                     .value_perm = entries->value_perm,
                                     .edges = entries->edges,
                                     .self_column = options->self_column,
                                     .neighbour_column = options->neighbour_column,
                                     .self = options->self,
                                     .neighbour = options->neighbour,
                                     .left = normalization->left,
                                     .right = normalization->right,
                                     .learns = {learn.self, learn.neighbour, learn.left, learn.right},
                                     .nodes = entries->rows.rows,
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
    SFU_TRY(sfu__learned_entries_all(&self->entries, &edges));
    SFU_TRY(start_values(self, &edges, symmetric, options, threads));
    make_form(self, symmetric, options, &normalization, learn);
    *learned = self;
    self = NULL;
done:
    sfu__learned_free(self);
    return status;
}

sfu_status sfu__learned_new_part(sfu__learned **learned, const sfu__mapped_csr *graph, bool symmetric,
                                 const sfu_smoothing_options *options, sfu__learn learn, int32_t first, int32_t end,
                                 int threads) {
    sfu_status status = SFU_OK;
    sfu__learned *self = NULL;
    sfu__normalization normalization;
    sfu__mapped_csr edges = *graph;
    *learned = NULL;
    SFU_ALLOC_ZERO(self, 1);
    SFU_TRY(start_normalization(&normalization, options, learn));
    edges.csr = sfu__smoothing_edges(&graph->csr, options);
    SFU_TRY(sfu__learned_entries_part(&self->entries, &edges, symmetric, first, end));
    SFU_TRY(check_part(&self->entries, graph, symmetric, options, threads));
    make_form(self, symmetric, options, &normalization, learn);
    *learned = self;
    self = NULL;
done:
    sfu__learned_free(self);
    return status;
}

void sfu__learned_free(sfu__learned *learned) {
    if (learned != NULL) {
        sfu__learned_entries_clear(&learned->entries);
        sfu__free(learned);
    }
}

const sfu__learned_form *sfu__learned_form_of(const sfu__learned *learned) { return &learned->form; }

sfu_csr sfu__learned_pattern(const sfu__learned *learned) { return sfu__matrix_view(&learned->entries.rows); }

sfu_csr sfu__learned_transpose(const sfu__learned *learned, const int32_t **value_perm) {
    *value_perm = learned->entries.value_perm;
    return sfu__matrix_view(&learned->entries.transpose);
}

/* A part reads and writes the arrays at its nodes and at their neighbours. */
sfu_status sfu__learned_work_new(sfu__learned_work **work, const sfu__learned *learned) {
    sfu_status status = SFU_OK;
    sfu__learned_work *self = NULL;
    const size_t n = (size_t)learned->form.nodes;
    *work = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->learned = learned;
    if (learned->entries.part) {
        SFU_ALLOC_LAZY(self->memory, SFU__LEARNED_ARRAYS * n);
    } else {
        SFU_ALLOC_ZERO(self->memory, SFU__LEARNED_ARRAYS * n);
    }
    SFU_ALLOC_ZERO(self->blocks, block_from((int64_t)n));
    SFU_ALLOC_ZERO(self->heads, sfu__learned_head(learned->entries.first, learned->entries.end));
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
        sfu__free(work->heads);
        sfu__free(work);
    }
}
