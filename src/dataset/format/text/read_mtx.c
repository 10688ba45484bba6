/* read_mtx.c - reads Matrix Market files: a graph as a square coordinate matrix, features as a coordinate or array
 * matrix.
 *
 * Entry (i, j) is an edge from i to j. Nodes are numbered from 0, so row 1 is node 0. Labels are a Matrix Market
 * vector, one per line, or a CSV file of node,label; columns and splits are CSV files. Complex, skew-symmetric and
 * Hermitian matrices are rejected: none of them is a graph. */
#include "edges_fast.h"
#include "progress.h"
#include "mtx.h"
#include "parallel.h"

/* ---- graph ------------------------------------------------------------------------------------------------------ */

typedef struct numbering {
    uint32_t nodes;
} numbering;

/* Converts 1-based to 0-based numbers. */
static sfu_status shift_block(void *context, sfu__pair_block *block, int thread) {
    (void)thread;
    const numbering *self = context;
    uint32_t largest = 0;
    for (int64_t i = 0; i < 2 * block->count; i++) {
        const uint32_t end = --block->ends[i]; /* 0 wraps around to the largest number */
        largest = end > largest ? end : largest;
    }
    return largest < self->nodes ? SFU_OK : SFU_ERR_UNSUPPORTED;
}

/* The fast path of edges_fast.h; *done is false if the general path must read the file. */
static sfu_status read_edges_fast(sfu__tables *tables, const sfu__mtx *self, bool *done) {
    const sfu_import_options *options = tables->options;
    sfu__pairs *pairs = &tables->raw->pairs;
    numbering numbers = {(uint32_t)self->rows};
    sfu__edge_file file = {.path = self->lines.path,
                           .offset = sfu__csv_offset(&self->lines),
                           .style = {.separator = ' ', .weighted = !self->pattern},
                           .threads = sfu__thread_count(options->threads),
                           .progress = options->progress,
                           .progress_user = options->progress_user,
                           .what = self->lines.what.bytes};
    sfu_status status = sfu__edges_fast(pairs, &file);
    if (status == SFU_OK && file.fits) {
        status = pairs->count == self->entries ? sfu__pairs_each(pairs, shift_block, &numbers, file.threads, true)
                                               : SFU_ERR_UNSUPPORTED;
    }
    *done = status == SFU_OK && file.fits;
    if (status == SFU_ERR_UNSUPPORTED) {
        sfu__pairs_clear(pairs);
        status = SFU_OK;
    }
    return status;
}

static sfu_status read_edges(sfu__tables *tables, sfu__mtx *self) {
    sfu_status status = SFU_OK;
    sfu__pair_buffer buffer = {0};
    int64_t at[2] = {0};
    float weight = 0;
    bool more;
    int64_t read = 0;
    for (;; read++) {
        SFU_TRY(sfu__mtx_next(self, at, &weight, &more));
        if (!more) {
            break;
        }
        if (weight < 0) {
            status = sfu__csv_fail_row(&self->lines, "%g is negative; a weight is 0 or more", (double)weight);
            goto done;
        }
        SFU_TRY(sfu__pair_buffer_add(&buffer, &tables->raw->pairs, at[0], at[1], self->pattern ? NULL : &weight));
    }
    SFU_TRY(sfu__mtx_check(self, read));
    SFU_TRY(sfu__pair_buffer_flush(&buffer, &tables->raw->pairs));
done:
    sfu__pair_buffer_clear(&buffer);
    return status;
}

/* Adds the reverse edges: a directed graph needs the half that a symmetric file omits. */
static sfu_status add_reverse_edges(sfu__pairs *pairs) {
    sfu_status status = SFU_OK;
    sfu__pair_buffer buffer = {0};
    const size_t blocks = pairs->block_count;
    for (size_t b = 0; b < blocks; b++) {
        SFU_TRY(sfu__pairs_load(pairs, b));
        for (int64_t i = 0; i < pairs->blocks[b].count; i++) {
            const sfu__pair_block *block = &pairs->blocks[b];
            const float *weight = block->weights != NULL ? &block->weights[i] : NULL;
            if (block->ends[2 * i] != block->ends[2 * i + 1]) {
                SFU_TRY(sfu__pair_buffer_add(&buffer, pairs, block->ends[2 * i + 1], block->ends[2 * i], weight));
            }
        }
        sfu__pairs_unload(pairs, b);
    }
    SFU_TRY(sfu__pair_buffer_flush(&buffer, pairs));
done:
    sfu__pair_buffer_clear(&buffer);
    return status;
}

static sfu_status read_graph(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__mtx self = {0};
    bool done = false;
    SFU_TRY(sfu__mtx_open(&self, path, tables));
    if (self.array || self.rows != self.cols) {
        status = sfu__mtx_fail_size(
            &self,
            self.array ? "expected a coordinate matrix as the graph, found an array"
                       : "expected a square matrix as the graph, found %lld rows and another number of columns",
            self.rows);
        goto done;
    }
    const int64_t small = 1 << 20;
    if (self.rows <= small + self.entries) {
        SFU_TRY(read_edges_fast(tables, &self, &done));
    }
    if (!done) {
        SFU_TRY(read_edges(tables, &self));
    }
    if (self.symmetric && tables->options->directed) {
        SFU_TRY(add_reverse_edges(&tables->raw->pairs));
    }
    sfu__node_index_numbers(&tables->nodes, self.rows);
    tables->raw->has_graph = true;
    tables->fixed = tables->named = true;
done:
    sfu__csv_close(&self.lines);
    return status;
}

/* ---- features --------------------------------------------------------------------------------------------------- */

static sfu_status read_sparse(sfu__tables *tables, sfu__mtx *self) {
    sfu_status status = SFU_OK;
    int64_t at[2] = {0};
    float value = 0;
    bool more;
    int64_t read = 0;
    for (;; read++) {
        SFU_TRY(sfu__mtx_next(self, at, &value, &more));
        if (!more) {
            break;
        }
        SFU_TRY(sfu__triples_add(&tables->triples, at[0], at[1], value));
        if (self->symmetric && at[0] != at[1]) {
            SFU_TRY(sfu__triples_add(&tables->triples, at[1], at[0], value));
        }
    }
    SFU_TRY(sfu__mtx_check(self, read));
    tables->has_triples = true;
    tables->raw->features = self->cols;
done:
    return status;
}

/* Converts the values of an array from column order to row order. */
static sfu_status transpose(sfu__rows *rows, const float *columns, const sfu__mtx *self) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(rows->values, self->entries);
    SFU_ALLOC(rows->nodes, self->rows);
    for (int64_t i = 0; i < self->rows; i++) {
        SFU_TRY(sfu__poll());
        rows->nodes[i] = (int32_t)i;
        for (int64_t j = 0; j < self->cols; j++) {
            rows->values[i * self->cols + j] = columns[j * self->rows + i];
        }
    }
    rows->count = self->rows;
    rows->width = self->cols;
done:
    return status;
}

static sfu_status read_features(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__mtx self = {0};
    float *columns = NULL;
    SFU_TRY(sfu__mtx_open(&self, path, tables));
    if (tables->fixed && self.rows != tables->nodes.count) {
        status = sfu__mtx_fail_size(&self, "the number of rows is not the graph's number of nodes, %lld",
                                    tables->nodes.count);
        goto done;
    }
    if (self.array) {
        SFU_TRY(sfu__mtx_values(&self, &columns));
        SFU_TRY(transpose(&tables->dense, columns, &self));
    } else {
        SFU_TRY(read_sparse(tables, &self));
    }
    sfu__node_index_numbers(&tables->nodes, self.rows);
    tables->fixed = tables->named = true;
    if (!tables->features_fixed) {
        sfu__node_index_numbers(&tables->features, self.cols);
    } else if (tables->features.count != self.cols) {
        status = sfu__mtx_fail_size(&self, "the number of columns is not the number of feature names, %lld",
                                    tables->features.count);
    }
    tables->features_from = path;
done:
    sfu__free(columns);
    sfu__csv_close(&self.lines);
    return status;
}

/* ---- labels ----------------------------------------------------------------------------------------------------- */

static sfu_status fail_label_count(const char *path, int64_t have, int64_t want) {
    return sfu__fail(SFU_ERR_FORMAT, "%s: %lld labels for %lld nodes", path, (long long)have, (long long)want);
}

/* Reads a vector of integers; negative values mean no label. */
static sfu_status read_label_vector(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__mtx self = {0};
    float *values = NULL;
    char digits[SFU__DIGITS_MAX];
    int64_t class_number;
    SFU_TRY(sfu__mtx_open(&self, path, tables));
    if (!self.array || (self.rows != 1 && self.cols != 1) || self.entries != tables->nodes.count) {
        status = sfu__mtx_fail_size(&self, "expected an array of one column with a label for each of the %lld nodes",
                                    tables->nodes.count);
        goto done;
    }
    SFU_TRY(sfu__mtx_values(&self, &values));
    for (int64_t i = 0; i < self.entries; i++) {
        if (values[i] >= 0 && values[i] < (float)INT32_MAX && values[i] == (float)(int64_t)values[i]) {
            const size_t size = sfu__write_integer(digits, (uint64_t)values[i]);
            SFU_TRY(sfu__node_index_add(&tables->classes, digits, size, &class_number));
            SFU_TRY(sfu__triples_add(&tables->labels, i, class_number, 0));
        } else if (values[i] >= 0) {
            status = sfu__fail(SFU_ERR_FORMAT, "%s: the label of node %lld, %g, is not a whole number", path,
                               (long long)i, (double)values[i]);
            goto done;
        }
    }
    tables->labels_from = path;
done:
    sfu__free(values);
    sfu__csv_close(&self.lines);
    return status;
}

static sfu_status read_label_lines(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    int64_t read = 0;
    bool more = true;
    SFU_TRY(sfu__tables_open(tables, &csv, path, (sfu__csv_rules){.lines = true}));
    if (tables->options->header == SFU_HEADER_YES) {
        SFU_TRY(sfu__csv_next(&csv, &more));
    }
    for (;; read++) {
        SFU_TRY(sfu__csv_next(&csv, &more));
        if (!more) {
            break;
        }
        if (read < tables->nodes.count) {
            SFU_TRY(sfu__tables_label(tables, &csv, read, 0));
        }
    }
    if (read != tables->nodes.count) {
        status = fail_label_count(path, read, tables->nodes.count);
    }
    tables->labels_from = path;
done:
    sfu__csv_close(&csv);
    return status;
}

static sfu_status read_labels(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    bool vector;
    SFU_TRY(sfu__mtx_begins(path, &vector));
    if (vector) {
        return read_label_vector(tables, path);
    }
    SFU_TRY(sfu__csv_open(&csv, path, &(sfu__csv_rules){.header = tables->options->header}));
    const bool lines = csv.width == 1;
    sfu__csv_close(&csv);
    status = lines ? read_label_lines(tables, path) : sfu__csv_labels(tables, path);
done:
    sfu__csv_close(&csv);
    return status;
}

/* ---- read all files --------------------------------------------------------------------------------------------- */

sfu_status sfu__read_mtx(sfu__raw *raw, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    sfu__tables tables = {.raw = raw, .options = options};
    const char *edges = options->edges != NULL ? options->edges : options->source;
    bool market = false;
    raw->format = "mtx";
    if (edges == NULL && options->features == NULL) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "nothing to read: a graph or features as a Matrix Market file");
        goto done;
    }
    if (options->nodes != NULL) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "%s: a nodes file goes with CSV edges, not with a matrix", options->nodes);
        goto done;
    }
    SFU_TRY(sfu__tables_start(&tables));
    if (edges != NULL) {
        SFU_TRY(read_graph(&tables, edges));
    }
    if (options->feature_names != NULL) {
        SFU_TRY(sfu__csv_feature_names(&tables, options->feature_names));
    }
    if (options->features != NULL) {
        SFU_TRY(sfu__mtx_begins(options->features, &market));
        SFU_TRY(market ? read_features(&tables, options->features) : sfu__csv_features(&tables, options->features));
    }
    if (options->labels != NULL) {
        SFU_TRY(read_labels(&tables, options->labels));
    }
    if (options->columns != NULL) {
        SFU_TRY(sfu__csv_columns(&tables, options->columns));
    }
    if (options->split != NULL) {
        SFU_TRY(sfu__csv_split(&tables, options->split));
    }
    SFU_TRY(sfu__tables_finish(&tables));
done:
    sfu__tables_clear(&tables);
    return status;
}
