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
#include "smoothing.h"
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

/* ---- a row of A~ ------------------------------------------------------------------------------------------------ */

typedef struct job {
    const sfu_csr *graph;
    const sfu_smoothing_options *options;
    sfu__normalization normalization;
    sfu_matrix *matrix;
    double *row_sums;    /* r, then r^-left */
    double *column_sums; /* c, then c^-right; NULL if right is 0 */
    const uint8_t *rows; /* whether to fill in each row; NULL: all of them */
} job;

/* Iterates over the entries of one row of A~ in ascending columns, including the diagonal, without zeros. */
typedef struct row_iterator {
    int64_t next, end; /* entries of the graph */
    int32_t row;
    double self, neighbour;
    bool diagonal_due;
    int32_t column; /* of the current entry */
    double value;
} row_iterator;

static row_iterator start_row(const job *self, int64_t row) {
    const sfu_smoothing_options *options = self->options;
    return (row_iterator){.next = self->graph->indptr[row],
                          .end = self->graph->indptr[row + 1],
                          .row = (int32_t)row,
                          .self = options->self_column != NULL ? (double)options->self_column[row] : options->self,
                          .neighbour = options->neighbour_column != NULL ? (double)options->neighbour_column[row]
                                                                         : options->neighbour,
                          .diagonal_due = true};
}

/* The next entry, zero or not: one of the graph, the diagonal, or their sum. */
static bool step(row_iterator *at, const sfu_csr *graph) {
    const bool more = at->next < at->end;
    if (!more && !at->diagonal_due) {
        return false;
    }
    const int32_t column = more ? graph->indices[at->next] : at->row;
    const bool diagonal = at->diagonal_due && column >= at->row;
    at->column = diagonal ? at->row : column;
    at->value = diagonal ? at->self : 0.0;
    if (more && column == at->column) {
        at->value += at->neighbour * (graph->values != NULL ? (double)graph->values[at->next] : 1.0);
        at->next++;
    }
    at->diagonal_due = at->diagonal_due && !diagonal;
    return true;
}

static bool next_entry(row_iterator *at, const sfu_csr *graph) {
    while (step(at, graph)) {
        if (at->value != 0.0) {
            return true;
        }
    }
    return false;
}

/* ---- the passes ------------------------------------------------------------------------------------------------- */

static int64_t first_row(int64_t item) { return item * ROWS_PER_ITEM; }

static int64_t end_row(const job *self, int64_t item) {
    const int64_t end = (item + 1) * ROWS_PER_ITEM;
    return end < self->graph->rows ? end : self->graph->rows;
}

static sfu_status check_columns_at(const job *self, int64_t row) {
    const struct {
        const char *name;
        const float *values;
    } columns[] = {{"self", self->options->self_column}, {"neighbour", self->options->neighbour_column}};
    for (int i = 0; i < 2; i++) {
        if (columns[i].values != NULL && !in_range((double)columns[i].values[row])) {
            return sfu__fail(SFU_ERR_ARGUMENT,
                             "smoothing: %s of node %lld is %g; it must be a finite number, 0 or more", columns[i].name,
                             (long long)row, (double)columns[i].values[row]);
        }
    }
    return SFU_OK;
}

/* Counts the entries and sums each row of A~; the counts are stored in indptr. */
static sfu_status measure(void *context, int64_t item, int thread) {
    (void)thread;
    const job *self = context;
    for (int64_t row = first_row(item); row < end_row(self, item); row++) {
        const sfu_status status = check_columns_at(self, row);
        if (status != SFU_OK) {
            return status;
        }
        int64_t entries = 0;
        double sum = 0.0;
        for (row_iterator at = start_row(self, row); next_entry(&at, self->graph);) {
            entries++;
            sum += at.value;
        }
        self->matrix->indptr[row + 1] = entries > 0 ? entries : 1;
        self->row_sums[row] = sum;
    }
    return SFU_OK;
}

/* Column sums. If A~ is symmetric they add the same numbers in the same order as the row sums, so the bits agree. */
static void sum_columns(const job *self) {
    for (int64_t row = 0; row < self->graph->rows; row++) {
        for (row_iterator at = start_row(self, row); next_entry(&at, self->graph);) {
            self->column_sums[at.column] += at.value;
        }
    }
}

static sfu_status make_factors(void *context, int64_t item, int thread) {
    (void)thread;
    const job *self = context;
    for (int64_t row = first_row(item); row < end_row(self, item); row++) {
        if (!isfinite(self->row_sums[row]) || (self->column_sums != NULL && !isfinite(self->column_sums[row]))) {
            return sfu__fail(
                SFU_ERR_ARGUMENT,
                "smoothing: the row or column sum of node %lld is too large for a double; use smaller weights, "
                "self or neighbour",
                (long long)row);
        }
        self->row_sums[row] = sfu__normalization_factor(self->row_sums[row], self->normalization.left);
        if (self->column_sums != NULL) {
            self->column_sums[row] = sfu__normalization_factor(self->column_sums[row], self->normalization.right);
        }
    }
    return SFU_OK;
}

/* The divisor of the values of a row. */
static double divisor(const job *self, int64_t row) {
    if (!self->normalization.scale_rows) {
        return 1.0;
    }
    double sum = 0.0;
    for (row_iterator at = start_row(self, row); next_entry(&at, self->graph);) {
        sum += self->column_sums != NULL ? self->column_sums[at.column] * at.value : at.value;
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
static sfu_status check_row_sum(const job *self, int64_t row) {
    double sum = 0.0;
    for (int64_t i = self->matrix->indptr[row]; i < self->matrix->indptr[row + 1]; i++) {
        sum += (double)self->matrix->values[i];
    }
    return fabs(sum - 1.0) <= 0x1p-22
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT,
                           "smoothing: row %lld sums to %.9g instead of 1; use weights, self, neighbour or exponents "
                           "of more similar sizes",
                           (long long)row, sum);
}

static sfu_status fill_row(const job *self, int64_t row) {
    sfu_matrix *matrix = self->matrix;
    int64_t position = matrix->indptr[row];
    const double scale = divisor(self, row);
    for (row_iterator at = start_row(self, row); next_entry(&at, self->graph); position++) {
        /* Multiply the factors first: their product is the same for (i, j) and (j, i), so S is as symmetric as A~. */
        const double right = self->column_sums != NULL ? self->column_sums[at.column] : 1.0;
        const double value =
            self->normalization.scale_rows ? right * at.value / scale : self->row_sums[row] * right * at.value;
        matrix->indices[position] = at.column;
        matrix->values[position] = (float)value;
        if (!isfinite(matrix->values[position])) {
            return fail_value(row, at.column, value);
        }
    }
    if (position == matrix->indptr[row]) {
        matrix->indices[position] = (int32_t)row;
        matrix->values[position] = 1.0F;
        position++;
    }
    assert(position == matrix->indptr[row + 1]);
    return self->normalization.scale_rows ? check_row_sum(self, row) : SFU_OK;
}

static sfu_status fill(void *context, int64_t item, int thread) {
    (void)thread;
    const job *self = context;
    sfu_status status = SFU_OK;
    for (int64_t row = first_row(item); row < end_row(self, item) && status == SFU_OK; row++) {
        status = self->rows == NULL || self->rows[row] != 0 ? fill_row(self, row) : SFU_OK;
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

static sfu_status make_column_sums(job *self, bool symmetric) {
    sfu_status status = SFU_OK;
    if (self->normalization.right == 0.0) {
        return SFU_OK;
    }
    SFU_ALLOC_ZERO(self->column_sums, self->graph->rows);
    if (symmetric && self->options->neighbour_column == NULL) {
        for (int64_t row = 0; row < self->graph->rows; row++) {
            self->column_sums[row] = self->row_sums[row];
        }
    } else {
        sum_columns(self);
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
    job self = {.graph = &edges, .options = options, .matrix = matrix, .rows = rows};
    const int64_t items = ((int64_t)graph->rows + ROWS_PER_ITEM - 1) / ROWS_PER_ITEM;
    *matrix = (sfu_matrix){.rows = graph->rows, .cols = graph->cols};
    SFU_TRY(sfu__normalization_of(&self.normalization, options));
    SFU_TRY(check_number(options->self, "self"));
    SFU_TRY(check_number(options->neighbour, "neighbour"));

    SFU_ALLOC(matrix->indptr, (size_t)graph->rows + 1);
    SFU_ALLOC(self.row_sums, graph->rows);
    SFU_TRY(sfu__parallel(measure, &self, items, threads));
    prefix_sum_offsets(matrix);
    SFU_TRY(make_column_sums(&self, symmetric));
    SFU_TRY(sfu__parallel(make_factors, &self, items, threads));

    SFU_TRY(alloc_entries(matrix, rows != NULL));
    SFU_TRY(sfu__parallel(fill, &self, items, threads));
done:
    sfu__free(self.row_sums);
    sfu__free(self.column_sums);
    if (status != SFU_OK) {
        sfu__matrix_clear(matrix);
    }
    return status;
}
