/* smoothing.c - the smoothing matrix of a graph.
 *
 *   A~ = diag(self) + diag(neighbour) A          r_i = sum_j A~_ij        c_j = sum_i A~_ij
 *
 *   S_ij = r_i^-left A~_ij c_j^-right                                     or, with rows scaled to sum to 1,
 *   S_ij = A~_ij c_j^-right / sum_k A~_ik c_k^-right
 *
 * Every norm is one of these two with its exponents, so all use the same three passes over the rows: measure (entries
 * and sum of each row of A~), factors (the powers), fill. A pass divides the rows into independent work items. Sums run
 * over ascending columns (ascending rows for c) in double, and each value is rounded to float once. Zero entries of A~
 * are not stored. A row without entries gets a 1 on the diagonal of S, which is in neither sum.
 */
#include "smoothing_int.h"

#include "normalization_factor.h"
#include "parallel.h"
#include "sized_struct.h"

#include <assert.h>
#include <math.h>

enum { ROWS_PER_ITEM = 1 << 12 };

/* ---- the options ------------------------------------------------------------------------------------------------ */

void sfu_smoothing_options_init_sized(sfu_smoothing_options *options, size_t size) {
    const sfu_smoothing_options defaults = {
        .size = sizeof defaults, .norm = SFU_NORM_SYM, .self = 1.0, .neighbour = 1.0, .left = 0.5, .right = 0.5};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

static const struct {
    sfu_norm norm;
    const char *name;
    sfu__normalization normalization;
} norms[] = {
    {SFU_NORM_SYM, "sym", {0.5, 0.5, false}},        {SFU_NORM_ROW, "row", {0.0, 0.0, true}},
    {SFU_NORM_COL, "col", {0.0, 1.0, false}},        {SFU_NORM_NONE, "none", {0.0, 0.0, false}},
    {SFU_NORM_SYM_ROW, "sym+row", {0.0, 0.5, true}},
};

static bool in_range(double value) { return isfinite(value) && value >= 0.0; }

static sfu_status check_number(double value, const char *name) {
    return in_range(value)
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT, "smoothing: %s is %g; it must be a finite number, 0 or more", name, value);
}

sfu_status sfu__normalization_of(sfu__normalization *normalization, const sfu_smoothing_options *options) {
    if (options->exponents) {
        const bool scale = options->probabilities;
        *normalization = (sfu__normalization){scale ? 0.0 : options->left, options->right, scale};
        const sfu_status status = check_number(options->left, "left");
        return status != SFU_OK ? status : check_number(options->right, "right");
    }
    const sfu_norm usual = options->probabilities ? SFU_NORM_SYM_ROW : SFU_NORM_SYM;
    const sfu_norm norm = options->norm == SFU_NORM_AUTO ? usual : options->norm;
    for (size_t i = 0; i < sizeof norms / sizeof norms[0]; i++) {
        if (norms[i].norm == norm) {
            *normalization = norms[i].normalization;
            return normalization->scale_rows || !options->probabilities
                       ? SFU_OK
                       : sfu__fail(SFU_ERR_ARGUMENT,
                                   "smoothing: norm=%s does not keep the sum of class probabilities at 1; after the "
                                   "softmax the norm must be sym+row or row, or left and right in its place",
                                   norms[i].name);
        }
    }
    return sfu__fail(SFU_ERR_ARGUMENT, "smoothing: there is no norm number %d", (int)options->norm);
}

sfu_status sfu__smoothing_start(sfu__smoothing_factors *self, const sfu_smoothing_options *options) {
    sfu_status status = SFU_OK;
    self->options = options;
    SFU_TRY(sfu__normalization_of(&self->normalization, options));
    SFU_TRY(check_number(options->self, "self"));
    SFU_TRY(check_number(options->neighbour, "neighbour"));
done:
    return status;
}

/* ---- a row of A~ ------------------------------------------------------------------------------------------------ */

/* Iterates over the entries of one row of A~ in ascending columns, including the diagonal, without zeros. */
typedef struct row_iterator {
    const sfu_csr *graph;
    int64_t next, end; /* entries of the graph */
    int32_t row;
    double self, neighbour;
    bool diagonal_due;
    int32_t column; /* of the current entry */
    double value;
} row_iterator;

static row_iterator start_row(const sfu_smoothing_options *options, const sfu__edges *edges, int64_t row) {
    return (row_iterator){.graph = edges->csr,
                          .next = edges->csr->indptr[row - edges->first],
                          .end = edges->csr->indptr[row - edges->first + 1],
                          .row = (int32_t)row,
                          .self = options->self_column != NULL ? (double)options->self_column[row] : options->self,
                          .neighbour = options->neighbour_column != NULL ? (double)options->neighbour_column[row]
                                                                         : options->neighbour,
                          .diagonal_due = true};
}

/* The next entry, zero or not: one of the graph, the diagonal, or their sum. */
static bool step(row_iterator *at) {
    const bool more = at->next < at->end;
    if (!more && !at->diagonal_due) {
        return false;
    }
    const int32_t column = more ? at->graph->indices[at->next] : at->row;
    const bool diagonal = at->diagonal_due && column >= at->row;
    at->column = diagonal ? at->row : column;
    at->value = diagonal ? at->self : 0.0;
    if (more && column == at->column) {
        at->value += at->neighbour * (at->graph->values != NULL ? (double)at->graph->values[at->next] : 1.0);
        at->next++;
    }
    at->diagonal_due = at->diagonal_due && !diagonal;
    return true;
}

static bool next_entry(row_iterator *at) {
    while (step(at)) {
        if (at->value != 0.0) {
            return true;
        }
    }
    return false;
}

static sfu_status check_columns_at(const sfu_smoothing_options *options, int64_t row) {
    const struct {
        const char *name;
        const float *values;
    } columns[] = {{"self", options->self_column}, {"neighbour", options->neighbour_column}};
    for (int i = 0; i < 2; i++) {
        if (columns[i].values != NULL && !in_range((double)columns[i].values[row])) {
            return sfu__fail(SFU_ERR_ARGUMENT,
                             "smoothing: %s of node %lld is %g; it must be a finite number, 0 or more", columns[i].name,
                             (long long)row, (double)columns[i].values[row]);
        }
    }
    return SFU_OK;
}

sfu_status sfu__smoothing_measure(const sfu__smoothing_factors *self, const sfu__edges *edges, int64_t row,
                                  int64_t *entries, double *sum) {
    const sfu_status status = check_columns_at(self->options, row);
    *entries = 0;
    *sum = 0.0;
    for (row_iterator at = start_row(self->options, edges, row); status == SFU_OK && next_entry(&at);) {
        ++*entries;
        *sum += at.value;
    }
    return status;
}

void sfu__smoothing_add_columns(double *column_sums, const sfu__smoothing_factors *self, const sfu__edges *edges,
                                int64_t row) {
    for (row_iterator at = start_row(self->options, edges, row); next_entry(&at);) {
        column_sums[at.column] += at.value;
    }
}

sfu_status sfu__smoothing_factor(double *factor, int64_t row, double sum, double exponent) {
    if (!isfinite(sum)) {
        return sfu__fail(
            SFU_ERR_ARGUMENT,
            "smoothing: the row or column sum of node %lld is too large for a double; use smaller weights, "
            "self or neighbour",
            (long long)row);
    }
    *factor = sfu__normalization_factor(sum, exponent);
    return SFU_OK;
}

/* ---- a row of S ------------------------------------------------------------------------------------------------- */

/* The divisor of the values of a row. */
static double divisor(const sfu__smoothing_factors *self, const sfu__edges *edges, int64_t row) {
    if (!self->normalization.scale_rows) {
        return 1.0;
    }
    double sum = 0.0;
    for (row_iterator at = start_row(self->options, edges, row); next_entry(&at);) {
        sum += sfu__column_factor(self, at.column) * at.value;
    }
    return sum;
}

static sfu_status fail_value(int64_t row, int32_t column, double value) {
    return sfu__fail(SFU_ERR_ARGUMENT,
                     "smoothing: row %lld, column %d: %g does not fit a float; use smaller weights, self, neighbour or "
                     "exponents",
                     (long long)row, column, value);
}

/* Rounding a value has a relative error of at most 2^-24, so the row sum as well; denormals add less. */
static sfu_status check_row_sum(const float *values, int64_t count, int64_t row) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) {
        sum += (double)values[i];
    }
    return fabs(sum - 1.0) <= 0x1p-22
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT,
                           "smoothing: row %lld sums to %.9g instead of 1; use weights, self, neighbour or exponents "
                           "of more similar sizes",
                           (long long)row, sum);
}

/* The same for entries [begin, end) of a graph without weights, left or right of the diagonal: a short loop, because
 * streaming repeats it in every pass. Returns whether all values are finite. */
static bool fill_equal(int32_t *indices, float *values, const sfu__smoothing_factors *self, const int32_t *columns,
                       int64_t count, double left, double neighbour) {
    bool finite = true;
    for (int64_t e = 0; e < count; e++) {
        const double right = sfu__column_factor(self, columns[e]);
        indices[e] = columns[e];
        values[e] = (float)(left * right * neighbour);
        finite = finite && isfinite(values[e]);
    }
    return finite;
}

/* A row of a graph without weights, whose rows are not scaled; *count is 0 if it is not such a row, or if a value is
 * not finite. */
static void fill_unweighted(int32_t *indices, float *values, int64_t *count, const sfu__smoothing_factors *self,
                            const sfu__edges *edges, int64_t row) {
    const row_iterator at = start_row(self->options, edges, row);
    const double left = sfu__row_factor(self, row);
    const int32_t *columns = edges->csr->indices + at.next;
    const int64_t entries = at.end - at.next;
    int64_t before = 0;
    *count = 0;
    while (before < entries && columns[before] < at.row) {
        before++;
    }
    const bool has_diagonal = before < entries && columns[before] == at.row;
    if (edges->csr->values != NULL || self->normalization.scale_rows || at.neighbour == 0.0 || at.self == 0.0 ||
        has_diagonal) {
        return;
    }
    const int32_t diagonal = at.row;
    const bool finite = fill_equal(indices, values, self, columns, before, left, at.neighbour) &&
                        fill_equal(indices + before, values + before, self, &diagonal, 1, left, at.self) &&
                        fill_equal(indices + before + 1, values + before + 1, self, columns + before, entries - before,
                                   left, at.neighbour);
    *count = finite ? entries + 1 : 0;
}

sfu_status sfu__smoothing_fill(int32_t *indices, float *values, int64_t *count, const sfu__smoothing_factors *self,
                               const sfu__edges *edges, int64_t row) {
    const bool scaled = self->normalization.scale_rows;
    fill_unweighted(indices, values, count, self, edges, row);
    if (*count > 0) {
        return SFU_OK;
    }
    const double scale = divisor(self, edges, row), left = sfu__row_factor(self, row);
    int64_t at_entry = 0;
    for (row_iterator at = start_row(self->options, edges, row); next_entry(&at); at_entry++) {
        /* Multiply the factors first: their product is the same for (i, j) and (j, i), so S is as symmetric as A~. */
        const double right = sfu__column_factor(self, at.column);
        const double value = scaled ? right * at.value / scale : left * right * at.value;
        indices[at_entry] = at.column;
        values[at_entry] = (float)value;
        if (!isfinite(values[at_entry])) {
            return fail_value(row, at.column, value);
        }
    }
    if (at_entry == 0) {
        indices[at_entry] = (int32_t)row;
        values[at_entry++] = 1.0F;
    }
    *count = at_entry;
    return scaled ? check_row_sum(values, at_entry, row) : SFU_OK;
}

/* ---- the passes ------------------------------------------------------------------------------------------------- */

typedef struct job {
    sfu__smoothing_factors factors;
    sfu__edges edges;
    int64_t row_count;
    sfu_matrix *matrix;
    const uint8_t *rows; /* whether to fill in each row; NULL: all of them */
} job;

static int64_t first_row(int64_t item) { return item * ROWS_PER_ITEM; }

static int64_t end_row(const job *self, int64_t item) {
    const int64_t end = (item + 1) * ROWS_PER_ITEM;
    return end < self->row_count ? end : self->row_count;
}

/* Counts the entries and sums each row of A~; the counts are stored in indptr. */
static sfu_status measure(void *context, int64_t item, int thread) {
    (void)thread;
    sfu_status status = SFU_OK;
    const job *self = context;
    for (int64_t row = first_row(item); row < end_row(self, item) && status == SFU_OK; row++) {
        int64_t entries;
        status = sfu__smoothing_measure(&self->factors, &self->edges, row, &entries, &self->factors.row_sums[row]);
        self->matrix->indptr[row + 1] = entries > 0 ? entries : 1;
    }
    return status;
}

static sfu_status make_factors(void *context, int64_t item, int thread) {
    (void)thread;
    sfu_status status = SFU_OK;
    const job *self = context;
    const sfu__smoothing_factors *factors = &self->factors;
    for (int64_t row = first_row(item); row < end_row(self, item); row++) {
        double *sum = &factors->row_sums[row];
        SFU_TRY(sfu__smoothing_factor(sum, row, *sum, factors->normalization.left));
        if (factors->column_sums != NULL) {
            sum = &factors->column_sums[row];
            SFU_TRY(sfu__smoothing_factor(sum, row, *sum, factors->normalization.right));
        }
    }
done:
    return status;
}

static sfu_status fill(void *context, int64_t item, int thread) {
    (void)thread;
    const job *self = context;
    const sfu_matrix *S = self->matrix;
    sfu_status status = SFU_OK;
    for (int64_t row = first_row(item); row < end_row(self, item) && status == SFU_OK; row++) {
        const int64_t begin = S->indptr[row];
        int64_t count = S->indptr[row + 1] - begin;
        status =
            self->rows == NULL || self->rows[row] != 0
                ? sfu__smoothing_fill(S->indices + begin, S->values + begin, &count, &self->factors, &self->edges, row)
                : SFU_OK;
        assert(status != SFU_OK || count == S->indptr[row + 1] - begin);
    }
    return status;
}

/* ---- entry point ------------------------------------------------------------------------------------------------- */

static void prefix_sum_offsets(sfu_matrix *matrix) {
    matrix->indptr[0] = 0;
    for (int64_t row = 0; row < matrix->rows; row++) {
        matrix->indptr[row + 1] += matrix->indptr[row];
    }
}

/* Column sums. If A~ is symmetric they add the same numbers in the same order as the row sums, so the bits agree. */
static sfu_status make_column_sums(job *self, bool symmetric) {
    sfu_status status = SFU_OK;
    sfu__smoothing_factors *factors = &self->factors;
    if (factors->normalization.right == 0.0) {
        return SFU_OK;
    }
    SFU_ALLOC_ZERO(factors->column_sums, self->row_count);
    const bool same = symmetric && factors->options->neighbour_column == NULL;
    for (int64_t row = 0; row < self->row_count; row++) {
        if (same) {
            factors->column_sums[row] = factors->row_sums[row];
        } else {
            sfu__smoothing_add_columns(factors->column_sums, factors, &self->edges, row);
        }
    }
done:
    return status;
}

static sfu_status alloc_entries(sfu_matrix *matrix, bool zero) {
    sfu_status status = SFU_OK;
    const int64_t count = matrix->indptr[matrix->rows];
    if (zero) {
        SFU_ALLOC_ZERO(matrix->indices, count);
        SFU_ALLOC_ZERO(matrix->values, count);
    } else {
        SFU_ALLOC(matrix->indices, count);
        SFU_ALLOC(matrix->values, count);
    }
done:
    return status;
}

sfu_csr sfu__smoothing_edges(const sfu_csr *graph, const sfu_smoothing_options *options) {
    sfu_csr edges = *graph;
    edges.values = options->unweighted ? NULL : graph->values;
    return edges;
}

sfu_status sfu__smoothing(sfu_matrix *matrix, const sfu_csr *graph, bool symmetric,
                          const sfu_smoothing_options *options, int threads) {
    return sfu__smoothing_rows(matrix, graph, symmetric, options, NULL, threads);
}

sfu_status sfu__smoothing_rows(sfu_matrix *matrix, const sfu_csr *graph, bool symmetric,
                               const sfu_smoothing_options *options, const uint8_t *rows, int threads) {
    assert(graph->rows == graph->cols);
    sfu_status status = SFU_OK;
    const sfu_csr edges = sfu__smoothing_edges(graph, options);
    job self = {.edges = {&edges, 0}, .row_count = graph->rows, .matrix = matrix, .rows = rows};
    const int64_t items = ((int64_t)graph->rows + ROWS_PER_ITEM - 1) / ROWS_PER_ITEM;
    *matrix = (sfu_matrix){.rows = graph->rows, .cols = graph->cols};
    SFU_TRY(sfu__smoothing_start(&self.factors, options));

    SFU_ALLOC(matrix->indptr, (size_t)graph->rows + 1);
    SFU_ALLOC(self.factors.row_sums, graph->rows);
    SFU_TRY(sfu__parallel(measure, &self, items, threads));
    prefix_sum_offsets(matrix);
    SFU_TRY(make_column_sums(&self, symmetric));
    SFU_TRY(sfu__parallel(make_factors, &self, items, threads));

    SFU_TRY(alloc_entries(matrix, rows != NULL));
    SFU_TRY(sfu__parallel(fill, &self, items, threads));
done:
    sfu__free(self.factors.row_sums);
    sfu__free(self.factors.column_sums);
    if (status != SFU_OK) {
        sfu__matrix_clear(matrix);
    }
    return status;
}
