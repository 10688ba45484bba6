/* knn.c - k-nearest-neighbour graph for data without edges, by cosine similarity of the features.
 *
 *   cos(i, j) = <x_i, x_j> / (|x_i| |x_j|)
 *
 * Only neighbours with a positive cosine count; a node without features has none. Ties go to the lower node number. For
 * a fixed i the nodes are ranked by <x_i, x_j>^2 / |x_j|^2, which has the same order as the cosine and needs no square
 * root: features that are small integers are compared without rounding, so exact ties are detected. Every inner product
 * is one accumulation chain in double, in column order. Zeros add nothing, so the dense and the sparse algorithm give
 * the same bits, for any number of threads. */
#include "raw.h"
#include "parallel.h"

#include <stdlib.h>
#include <string.h>

/* ---- the k best candidates -------------------------------------------------------------------------------------- */

typedef struct neighbour {
    double key;
    int32_t node;
} neighbour;

/* At most k candidates, the best first. */
typedef struct neighbour_list {
    neighbour *items;
    int count;
} neighbour_list;

static bool is_nearer(neighbour a, neighbour b) { return a.key > b.key || (a.key == b.key && a.node < b.node); }

static void offer(neighbour_list *best, int k, neighbour candidate) {
    if (best->count == k && !is_nearer(candidate, best->items[k - 1])) {
        return;
    }
    int at = best->count < k ? best->count++ : k - 1;
    for (; at > 0 && is_nearer(candidate, best->items[at - 1]); at--) {
        best->items[at] = best->items[at - 1];
    }
    best->items[at] = candidate;
}

/* ---- shared state ----------------------------------------------------------------------------------------------- */

enum {
    ROWS = 64, /* nodes per work item */
    TILE_ROWS = 4,
    TILE_COLUMNS = 8,
};

typedef struct search {
    const sfu__raw *raw;
    int64_t n;
    int k;
    double *squares;    /* [n]: |x_i|^2 */
    sfu_matrix rows;    /* sparse: the features in canonical form; empty if dense */
    sfu_matrix columns; /* its transpose */
    uint32_t **found;   /* [items]: pairs of nodes */
    int64_t *found_counts;
    neighbour *lists;  /* [threads][ROWS][k] */
    double **scratch;  /* [threads] */
    int32_t **touched; /* [threads][2 * n]: columns with a product, last row to visit a column; sparse only */
    sfu__ticker ticker;
} search;

static neighbour_list list_of(const search *self, int thread, int64_t row) {
    return (neighbour_list){self->lists + ((int64_t)thread * ROWS + row) * self->k, 0};
}

/* Stores the pairs of the rows [from, from + rows) of a work item. */
static sfu_status store_pairs(search *self, int64_t item, const neighbour_list *best, int64_t from, int64_t rows) {
    sfu_status status = SFU_OK;
    int64_t count = 0;
    for (int64_t r = 0; r < rows; r++) {
        count += best[r].count;
    }
    uint32_t *ends = NULL;
    SFU_ALLOC(ends, 2 * count);
    self->found[item] = ends;
    self->found_counts[item] = count;
    for (int64_t r = 0; r < rows; r++) {
        for (int i = 0; i < best[r].count; i++) {
            *ends++ = (uint32_t)(from + r);
            *ends++ = (uint32_t)best[r].items[i].node;
        }
    }
done:
    return status;
}

/* ---- sparse: row times transpose -------------------------------------------------------------------------------- */

/* The transpose; the entries of a row keep their order. */
static sfu_status transpose(sfu_matrix *out, const sfu_matrix *in) {
    sfu_status status = SFU_OK;
    const int64_t nonzeros = in->indptr[in->rows];
    SFU_ALLOC_ZERO(out->indptr, (int64_t)in->cols + 2);
    SFU_ALLOC(out->indices, nonzeros);
    SFU_ALLOC(out->values, nonzeros);
    for (int64_t e = 0; e < nonzeros; e++) {
        out->indptr[in->indices[e] + 2]++;
    }
    for (int64_t c = 0; c < in->cols; c++) {
        out->indptr[c + 2] += out->indptr[c + 1];
    }
    for (int32_t r = 0; r < in->rows; r++) {
        for (int64_t e = in->indptr[r]; e < in->indptr[r + 1]; e++) {
            const int64_t at = out->indptr[in->indices[e] + 1]++;
            out->indices[at] = r;
            out->values[at] = in->values != NULL ? in->values[e] : 1.0f;
        }
    }
    out->rows = in->cols;
    out->cols = in->rows;
done:
    return status;
}

static int compare_columns(const void *left, const void *right) {
    const int32_t a = *(const int32_t *)left;
    const int32_t b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/* Removes empty columns: feature numbers may be far apart, and empty columns cost memory in the transpose. */
static sfu_status compact_columns(sfu_matrix *matrix) {
    sfu_status status = SFU_OK;
    int32_t *order = NULL;
    const int64_t nonzeros = matrix->indptr[matrix->rows];
    const int64_t small = 1 << 20;
    if (matrix->cols <= small + 4 * nonzeros) {
        goto done;
    }
    SFU_ALLOC(order, nonzeros);
    memcpy(order, matrix->indices, (size_t)nonzeros * sizeof *order);
    qsort(order, (size_t)nonzeros, sizeof *order, compare_columns);
    int64_t distinct = 0;
    for (int64_t e = 0; e < nonzeros; e++) {
        if (distinct == 0 || order[e] != order[distinct - 1]) {
            order[distinct++] = order[e];
        }
    }
    for (int64_t e = 0; e < nonzeros; e++) {
        const int32_t *at = bsearch(&matrix->indices[e], order, (size_t)distinct, sizeof *order, compare_columns);
        matrix->indices[e] = (int32_t)(at - order);
    }
    matrix->cols = (int32_t)distinct;
done:
    sfu__free(order);
    return status;
}

/* Copies the features to canonical form; duplicate entries are merged. */
static sfu_status prepare_sparse(search *self, const sfu_matrix *features) {
    sfu_status status = SFU_OK;
    sfu_matrix copy = {.rows = features->rows, .cols = features->cols};
    const int64_t nonzeros = features->indptr[features->rows];
    SFU_ALLOC(copy.indptr, self->n + 1);
    SFU_ALLOC(copy.indices, nonzeros);
    SFU_ALLOC(copy.values, nonzeros);
    memcpy(copy.indptr, features->indptr, (size_t)(self->n + 1) * sizeof *copy.indptr);
    memcpy(copy.indices, features->indices, (size_t)nonzeros * sizeof *copy.indices);
    for (int64_t e = 0; e < nonzeros; e++) {
        copy.values[e] = features->values != NULL ? features->values[e] : 1.0f;
    }
    SFU_TRY(compact_columns(&copy));
    SFU_TRY(sfu__matrix_canonicalize(&copy, NULL));
    self->rows = copy;
    copy = (sfu_matrix){0};
    SFU_TRY(transpose(&self->columns, &self->rows));
done:
    sfu__matrix_clear(&copy);
    return status;
}

static double value_of(const sfu_matrix *matrix, int64_t entry) {
    return matrix->values != NULL ? (double)matrix->values[entry] : 1.0;
}

/* Inner products of row i with every row that shares a column with it: sums[j] for the j in `touched`. */
static int64_t sparse_products(const search *self, int64_t i, double *sums, int32_t *touched) {
    int32_t *visited = touched + self->n; /* visited[j]: the last i with a product */
    int64_t count = 0;
    for (int64_t e = self->rows.indptr[i]; e < self->rows.indptr[i + 1]; e++) {
        const int32_t column = self->rows.indices[e];
        const double x = value_of(&self->rows, e);
        for (int64_t f = self->columns.indptr[column]; f < self->columns.indptr[column + 1]; f++) {
            const int32_t j = self->columns.indices[f];
            if (visited[j] != i) {
                visited[j] = (int32_t)i;
                touched[count++] = j;
                sums[j] = 0;
            }
            sums[j] += x * (double)self->columns.values[f];
        }
    }
    return count;
}

static sfu_status sparse_item(void *context, int64_t item, int thread) {
    search *self = context;
    sfu_status status = SFU_OK;
    neighbour_list best[ROWS] = {{0}};
    double *sums = self->scratch[thread];
    int32_t *touched = self->touched[thread];
    const int64_t from = item * ROWS;
    const int64_t rows = self->n - from < ROWS ? self->n - from : ROWS;
    for (int64_t r = 0; r < rows; r++) {
        best[r] = list_of(self, thread, r);
        const int64_t count = sparse_products(self, from + r, sums, touched);
        for (int64_t t = 0; t < count; t++) {
            const int32_t j = touched[t];
            const double product = sums[j];
            if (product > 0 && j != from + r && self->squares[j] > 0) {
                offer(&best[r], self->k, (neighbour){product * product / self->squares[j], j});
            }
        }
    }
    SFU_TRY(store_pairs(self, item, best, from, rows));
    if (thread == 0) {
        SFU_TRY(sfu__tick(&self->ticker, (double)(from + rows)));
    }
done:
    return status;
}

/* ---- dense: tiled ----------------------------------------------------------------------------------------------- */

/* Packs eight rows feature by feature: panel[f][c] = x_{from + c, f}. */
static void pack(const search *self, double *panel, int64_t from) {
    const int64_t d = self->raw->features;
    for (int64_t c = 0; c < TILE_COLUMNS; c++) {
        const float *row = from + c < self->n ? self->raw->dense + (from + c) * d : NULL;
        for (int64_t f = 0; f < d; f++) {
            panel[f * TILE_COLUMNS + c] = row != NULL ? (double)row[f] : 0.0;
        }
    }
}

/* Two doubles, a width that every target has in registers; some compilers spill wider vectors to memory. */
typedef double lanes __attribute__((vector_size(16)));
enum { LANES = TILE_COLUMNS / 2 };

typedef struct tile {
    lanes products[TILE_ROWS][LANES];
} tile;

/* products[r][c] = <x_{from + r}, panel_c>, each one accumulation chain over f. Lanes are different c, so the vector
 * width does not change the result. */
static void multiply(tile *out, const float *const rows[TILE_ROWS], const double *panel, int64_t d) {
    tile sums = {{{{0}}}};
    for (int64_t f = 0; f < d; f++) {
        lanes y[LANES];
        memcpy(y, panel + f * TILE_COLUMNS, sizeof y);
#pragma GCC unroll 4
        for (int r = 0; r < TILE_ROWS; r++) {
            const double x = (double)rows[r][f];
#pragma GCC unroll 4
            for (int l = 0; l < LANES; l++) {
                sums.products[r][l] += x * y[l];
            }
        }
    }
    *out = sums;
}

static void offer_tile(const search *self, neighbour_list *best, int64_t row, int64_t rows, int64_t column,
                       const tile *found) {
    for (int64_t r = 0; r < TILE_ROWS && r < rows; r++) {
        for (int64_t c = 0; c < TILE_COLUMNS && column + c < self->n; c++) {
            const int64_t j = column + c;
            const double product = found->products[r][c / 2][c % 2];
            if (product > 0 && j != row + r && self->squares[j] > 0) {
                offer(&best[r], self->k, (neighbour){product * product / self->squares[j], (int32_t)j});
            }
        }
    }
}

static sfu_status dense_item(void *context, int64_t item, int thread) {
    search *self = context;
    sfu_status status = SFU_OK;
    neighbour_list best[ROWS] = {{0}};
    tile found;
    const int64_t d = self->raw->features;
    const int64_t from = item * ROWS;
    const int64_t rows = self->n - from < ROWS ? self->n - from : ROWS;
    for (int64_t r = 0; r < rows; r++) {
        best[r] = list_of(self, thread, r);
    }
    for (int64_t column = 0; column < self->n; column += TILE_COLUMNS) {
        pack(self, self->scratch[thread], column);
        for (int64_t r = 0; r < rows; r += TILE_ROWS) {
            const float *x[TILE_ROWS];
            for (int64_t i = 0; i < TILE_ROWS; i++) {
                x[i] = self->raw->dense + (from + (r + i < rows ? r + i : r)) * d;
            }
            multiply(&found, x, self->scratch[thread], d);
            offer_tile(self, best + r, from + r, rows - r, column, &found);
        }
        if (thread == 0) {
            SFU_TRY(sfu__tick(&self->ticker, (double)from + (double)rows * (double)column / (double)self->n));
        }
    }
    SFU_TRY(store_pairs(self, item, best, from, rows));
done:
    return status;
}

/* ---- dense or sparse -------------------------------------------------------------------------------------------- */

/* Converts a dense matrix that is mostly zeros to a sparse one, which is faster. */
static sfu_status maybe_sparse(search *self, bool *sparse) {
    enum { FEW = 8 };
    sfu_status status = SFU_OK;
    const sfu__raw *raw = self->raw;
    const int64_t d = raw->features;
    sfu_matrix *rows = &self->rows;
    int64_t nonzeros = 0;
    for (int64_t i = 0; i < self->n * d; i++) {
        nonzeros += raw->dense[i] != 0;
    }
    *sparse = nonzeros <= self->n * d / FEW;
    if (!*sparse) {
        goto done;
    }
    *rows = (sfu_matrix){.rows = (int32_t)self->n, .cols = (int32_t)d};
    SFU_ALLOC_ZERO(rows->indptr, self->n + 1);
    SFU_ALLOC(rows->indices, nonzeros);
    SFU_ALLOC(rows->values, nonzeros);
    nonzeros = 0;
    for (int64_t i = 0; i < self->n; i++) {
        for (int64_t f = 0; f < d; f++) {
            if (raw->dense[i * d + f] != 0) {
                rows->indices[nonzeros] = (int32_t)f;
                rows->values[nonzeros++] = raw->dense[i * d + f];
            }
        }
        rows->indptr[i + 1] = nonzeros;
    }
    SFU_TRY(transpose(&self->columns, rows));
done:
    return status;
}

static void fill_squares(search *self, bool sparse) {
    for (int64_t i = 0; i < self->n; i++) {
        double sum = 0;
        if (sparse) {
            for (int64_t e = self->rows.indptr[i]; e < self->rows.indptr[i + 1]; e++) {
                sum += value_of(&self->rows, e) * value_of(&self->rows, e);
            }
        } else {
            for (int64_t f = 0; f < self->raw->features; f++) {
                const double x = (double)self->raw->dense[i * self->raw->features + f];
                sum += x * x;
            }
        }
        self->squares[i] = sum;
    }
}

static sfu_status allocate(search *self, int64_t items, int threads, bool sparse) {
    sfu_status status = SFU_OK;
    const int64_t scratch = sparse ? self->n : self->raw->features * TILE_COLUMNS;
    SFU_ALLOC_ZERO(self->found, items);
    SFU_ALLOC_ZERO(self->found_counts, items);
    SFU_ALLOC(self->lists, (int64_t)threads * ROWS * self->k);
    SFU_ALLOC_ZERO(self->scratch, threads);
    SFU_ALLOC_ZERO(self->touched, threads);
    for (int t = 0; t < threads; t++) {
        SFU_ALLOC_ZERO(self->scratch[t], scratch);
        if (sparse) {
            SFU_ALLOC(self->touched[t], 2 * self->n);
            memset(self->touched[t] + self->n, 0xff, (size_t)self->n * sizeof(int32_t));
        }
    }
done:
    return status;
}

static void release(search *self, int64_t items, int threads) {
    for (int64_t i = 0; self->found != NULL && i < items; i++) {
        sfu__free(self->found[i]);
    }
    for (int t = 0; t < threads; t++) {
        sfu__free(self->scratch != NULL ? self->scratch[t] : NULL);
        sfu__free(self->touched != NULL ? self->touched[t] : NULL);
    }
    sfu__free(self->found);
    sfu__free(self->found_counts);
    sfu__free(self->lists);
    sfu__free(self->scratch);
    sfu__free(self->touched);
    sfu__free(self->squares);
    sfu__matrix_clear(&self->rows);
    sfu__matrix_clear(&self->columns);
}

static sfu_status check(const sfu__raw *raw, int k) {
    if (!raw->has_features || raw->features == 0) {
        return sfu__fail(SFU_ERR_ARGUMENT, "knn needs features, and there are none");
    }
    if (k < 1 || k >= raw->nodes) {
        return sfu__fail(SFU_ERR_ARGUMENT, "knn is %d with %lld nodes; expected 1 to %lld", k, (long long)raw->nodes,
                         (long long)raw->nodes - 1);
    }
    return SFU_OK;
}

sfu_status sfu__knn(sfu__raw *raw, int k, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    const int64_t items = (raw->nodes + ROWS - 1) / ROWS;
    const int wanted = sfu__thread_count(options->threads);
    const int threads = items < wanted ? (int)items : wanted;
    search self = {.raw = raw, .n = raw->nodes, .k = k};
    bool sparse = raw->dense == NULL;
    int64_t found = 0;
    self.ticker =
        (sfu__ticker){options->progress, options->progress_user, "finding neighbours", "nodes", (double)raw->nodes, 0};
    SFU_TRY(check(raw, k));
    SFU_ALLOC(self.squares, self.n);
    SFU_TRY(sparse ? prepare_sparse(&self, &raw->sparse) : maybe_sparse(&self, &sparse));
    fill_squares(&self, sparse);
    SFU_TRY(allocate(&self, items, threads, sparse));
    SFU_TRY(sfu__parallel(sparse ? sparse_item : dense_item, &self, items, threads));
    for (int64_t i = 0; i < items; i++) {
        found += self.found_counts[i];
        SFU_TRY(sfu__pairs_take(&raw->pairs, &self.found[i], NULL, self.found_counts[i]));
    }
    raw->has_graph = true;
    if (found < (int64_t)k * raw->nodes) {
        sfu__log(SFU_LOG_NOTE,
                 "%lld of %lld neighbours found: a node is not joined with those it shares no feature with",
                 (long long)found, (long long)k * raw->nodes);
    }
done:
    release(&self, items, threads);
    return status;
}
