/* read_mtx.c - Matrix Market: a graph as a square coordinate matrix, features as a coordinate or array matrix.
 *
 *   %%MatrixMarket matrix coordinate real general      or array; integer, pattern; symmetric
 *   % comments
 *   ROWS COLUMNS ENTRIES                                (array: ROWS COLUMNS)
 *   i j value                                           from 1 on; pattern: no value; array: a value a line, by columns
 *
 * Entry (i, j) is an edge from i to j. Nodes are numbered from 0, so row 1 is node 0. Labels come as a Matrix Market
 * vector, one a line, or as node,label; columns and splits as CSV. Complex, skew-symmetric and Hermitian matrices are
 * refused: none of them is a graph. */
#include "csv_tables.h"
#include "edges_fast.h"
#include "parallel.h"

#include <float.h>
#include <string.h>

typedef struct token {
    const char *bytes;
    size_t size;
} token;

/* An open file, behind its sizes. */
typedef struct mtx {
    sfu__csv lines;
    bool array, pattern, symmetric;
    int64_t rows, cols, entries;
    int64_t size_line;
} mtx;

/* ---- lines ------------------------------------------------------------------------------------------------------ */

/* Cuts the current line into words; returns how many there are, of which `most` are kept. */
static size_t words_of(const sfu__csv *lines, token *words, size_t most) {
    const char *p = lines->fields[0].bytes;
    const char *end = p + lines->fields[0].size;
    size_t count = 0;
    for (;;) {
        while (p < end && (*p == ' ' || *p == '\t')) {
            p++;
        }
        if (p == end) {
            return count;
        }
        const char *begin = p;
        while (p < end && *p != ' ' && *p != '\t') {
            p++;
        }
        if (count < most) {
            words[count] = (token){begin, (size_t)(p - begin)};
        }
        count++;
    }
}

/* The next line that holds something other than a comment; *count is 0 after the last. */
static sfu_status next_words(sfu__csv *lines, token *words, size_t most, size_t *count) {
    bool more = true;
    for (*count = 0; *count == 0 && more;) {
        const sfu_status status = sfu__csv_next(lines, &more);
        if (status != SFU_OK) {
            return status;
        }
        if (more && (lines->fields[0].size == 0 || lines->fields[0].bytes[0] != '%')) {
            *count = words_of(lines, words, most);
        }
    }
    return SFU_OK;
}

static sfu_status fail_word(const sfu__csv *lines, token word, const char *wrong) {
    char quoted[SFU__QUOTE_MAX];
    return sfu__csv_fail_row(lines, "%s %s", sfu__quote(quoted, word.bytes, word.size), wrong);
}

/* A number in [low, high]. */
static sfu_status whole_number(const sfu__csv *lines, token word, int64_t low, int64_t high, int64_t *value) {
    if (!sfu__parse_int64(value, word.bytes, word.bytes + word.size)) {
        return fail_word(lines, word, "is not a whole number");
    }
    if (*value < low || *value > high) {
        return sfu__csv_fail_row(lines, "%lld is not between %lld and %lld", (long long)*value, (long long)low,
                                 (long long)high);
    }
    return SFU_OK;
}

static sfu_status number(const sfu__csv *lines, token word, float *value) {
    double parsed;
    if (!sfu__parse_double(&parsed, word.bytes, word.bytes + word.size)) {
        return fail_word(lines, word, "is not a number");
    }
    if (parsed > FLT_MAX || parsed < -FLT_MAX) {
        return fail_word(lines, word, "is too large for a 32-bit float");
    }
    *value = (float)parsed;
    return SFU_OK;
}

/* ---- header ----------------------------------------------------------------------------------------------------- */

static bool is(token word, const char *text) { return sfu__csv_is(word.bytes, word.size, text); }

static sfu_status read_banner(mtx *self) {
    token words[5];
    bool more;
    sfu_status status = sfu__csv_next(&self->lines, &more);
    if (status != SFU_OK) {
        return status;
    }
    if (!more || words_of(&self->lines, words, 5) != 5 || !is(words[0], "%%MatrixMarket") || !is(words[1], "matrix")) {
        self->lines.line = 1;
        return sfu__csv_fail_row(&self->lines, "no Matrix Market file: it starts with "
                                               "\"%%%%MatrixMarket matrix coordinate real general\" or the like");
    }
    self->array = is(words[2], "array");
    self->pattern = is(words[3], "pattern");
    self->symmetric = is(words[4], "symmetric");
    if (!self->array && !is(words[2], "coordinate")) {
        return fail_word(&self->lines, words[2], "is no layout; coordinate and array are read");
    }
    if (!is(words[3], "real") && !is(words[3], "double") && !is(words[3], "integer") &&
        (!self->pattern || self->array)) {
        return fail_word(&self->lines, words[3], "entries are not read; real, integer and (coordinate) pattern are");
    }
    if (!self->symmetric && !is(words[4], "general")) {
        return fail_word(&self->lines, words[4], "matrices are not read; general and symmetric ones are");
    }
    return SFU_OK;
}

static sfu_status open_mtx(mtx *self, const char *path, sfu__tables *tables) {
    sfu_status status = SFU_OK;
    token words[3];
    size_t count;
    SFU_TRY(sfu__tables_open(tables, &self->lines, path, (sfu__csv_rules){.lines = true}));
    SFU_TRY(read_banner(self));
    SFU_TRY(next_words(&self->lines, words, 3, &count));
    if (count != (self->array ? 2 : 3)) {
        status = sfu__csv_fail_row(&self->lines, self->array ? "the sizes are missing: ROWS COLUMNS"
                                                             : "the sizes are missing: ROWS COLUMNS ENTRIES");
        goto done;
    }
    self->size_line = self->lines.line;
    SFU_TRY(whole_number(&self->lines, words[0], 0, INT32_MAX, &self->rows));
    SFU_TRY(whole_number(&self->lines, words[1], 0, INT32_MAX, &self->cols));
    if (self->array) {
        self->entries = self->rows * self->cols;
    } else {
        SFU_TRY(whole_number(&self->lines, words[2], 0, INT64_MAX, &self->entries));
    }
    if (self->symmetric && (self->rows != self->cols || self->array)) {
        status = sfu__csv_fail_row(&self->lines, self->array ? "a symmetric array is not read; a general one is"
                                                             : "a symmetric matrix that is not square");
    }
done:
    return status;
}

static sfu_status fail_size(const mtx *self, const char *format, int64_t value) {
    sfu__csv place = self->lines;
    place.line = self->size_line;
    return sfu__csv_fail_row(&place, format, (long long)value);
}

/* The sizes are only believed as far as the file speaks for them: arrays are made as long as they say. */
static sfu_status check_sizes(const mtx *self, int64_t read) {
    enum { SMALL = 1 << 20, PER_BYTE = 64 };
    if (read != self->entries) {
        return fail_size(self,
                         read < self->entries ? "fewer entries than promised here; there are %lld"
                                              : "more entries than promised here; there are %lld",
                         read);
    }
    const int64_t most = SMALL + PER_BYTE * sfu__csv_offset(&self->lines);
    if (self->rows > most || self->cols > most) {
        return fail_size(self, "%lld rows or columns, nearly all of them empty, are not believed",
                         self->rows > self->cols ? self->rows : self->cols);
    }
    return SFU_OK;
}

/* One entry of a coordinate matrix, from 0; *more is false after the last. */
static sfu_status next_entry(mtx *self, int64_t at[2], float *value, bool *more) {
    sfu_status status = SFU_OK;
    token words[3];
    size_t count;
    const size_t want = self->pattern ? 2 : 3;
    SFU_TRY(next_words(&self->lines, words, 3, &count));
    *more = count > 0;
    if (!*more) {
        goto done;
    }
    if (count != want) {
        status =
            sfu__csv_fail_row(&self->lines, "%zu word%s, where an entry has %zu", count, count == 1 ? "" : "s", want);
        goto done;
    }
    SFU_TRY(whole_number(&self->lines, words[0], 1, self->rows, &at[0]));
    SFU_TRY(whole_number(&self->lines, words[1], 1, self->cols, &at[1]));
    at[0]--;
    at[1]--;
    *value = 1;
    if (!self->pattern) {
        SFU_TRY(number(&self->lines, words[2], value));
    }
done:
    return status;
}

/* ---- graph ------------------------------------------------------------------------------------------------------ */

typedef struct numbering {
    uint32_t nodes;
} numbering;

/* From 1 ... n to 0 ... n-1. */
static sfu_status shift_block(void *context, sfu__pair_block *block, int thread) {
    (void)thread;
    const numbering *self = context;
    uint32_t largest = 0;
    for (int64_t i = 0; i < 2 * block->count; i++) {
        const uint32_t end = --block->ends[i]; /* 0 becomes the largest number */
        largest = end > largest ? end : largest;
    }
    return largest < self->nodes ? SFU_OK : SFU_ERR_UNSUPPORTED;
}

/* The quick way of edges_fast.h; *done is false where the file needs another look. */
static sfu_status read_edges_quickly(sfu__tables *tables, const mtx *self, bool *done) {
    const sfu_import_options *options = tables->options;
    sfu__pairs *pairs = &tables->raw->pairs;
    numbering numbers = {(uint32_t)self->rows};
    sfu__edge_file file = {.path = self->lines.path,
                           .offset = sfu__csv_offset(&self->lines),
                           .separator = ' ',
                           .weighted = !self->pattern,
                           .threads = sfu__thread_count(options->threads),
                           .progress = options->progress,
                           .progress_user = options->progress_user,
                           .what = self->lines.what.bytes};
    sfu_status status = sfu__edges_fast(pairs, &file);
    if (status == SFU_OK && file.fits) {
        status = pairs->count == self->entries ? sfu__pairs_each(pairs, shift_block, &numbers, file.threads)
                                               : SFU_ERR_UNSUPPORTED;
    }
    *done = status == SFU_OK && file.fits;
    if (status == SFU_ERR_UNSUPPORTED) {
        sfu__pairs_clear(pairs);
        status = SFU_OK;
    }
    return status;
}

static sfu_status read_edges(sfu__tables *tables, mtx *self) {
    sfu_status status = SFU_OK;
    sfu__gathering gathered = {0};
    int64_t at[2] = {0, 0};
    float weight = 0;
    bool more;
    int64_t read = 0;
    for (;; read++) {
        SFU_TRY(next_entry(self, at, &weight, &more));
        if (!more) {
            break;
        }
        if (weight < 0) {
            status = sfu__csv_fail_row(&self->lines, "%g is negative; a weight is 0 or more", (double)weight);
            goto done;
        }
        SFU_TRY(sfu__gather(&gathered, &tables->raw->pairs, at[0], at[1], self->pattern ? NULL : &weight));
    }
    SFU_TRY(check_sizes(self, read));
    SFU_TRY(sfu__gather_end(&gathered, &tables->raw->pairs));
done:
    sfu__gather_clear(&gathered);
    return status;
}

/* A directed graph needs the half that a symmetric file leaves out. */
static sfu_status add_mirrored(sfu__pairs *pairs) {
    sfu_status status = SFU_OK;
    sfu__gathering gathered = {0};
    const size_t blocks = pairs->block_count;
    for (size_t b = 0; b < blocks; b++) {
        for (int64_t i = 0; i < pairs->blocks[b].count; i++) {
            const sfu__pair_block *block = &pairs->blocks[b];
            const float *weight = block->weights != NULL ? &block->weights[i] : NULL;
            if (block->ends[2 * i] != block->ends[2 * i + 1]) {
                SFU_TRY(sfu__gather(&gathered, pairs, block->ends[2 * i + 1], block->ends[2 * i], weight));
            }
        }
    }
    SFU_TRY(sfu__gather_end(&gathered, pairs));
done:
    sfu__gather_clear(&gathered);
    return status;
}

static sfu_status read_graph(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    mtx self = {0};
    bool done = false;
    SFU_TRY(open_mtx(&self, path, tables));
    if (self.array || self.rows != self.cols) {
        status = fail_size(&self,
                           self.array ? "an array; a graph is a coordinate matrix"
                                      : "%lld rows and another number of columns; a graph is a square matrix",
                           self.rows);
        goto done;
    }
    const int64_t small = 1 << 20;
    if (self.rows <= small + self.entries) {
        SFU_TRY(read_edges_quickly(tables, &self, &done));
    }
    if (!done) {
        SFU_TRY(read_edges(tables, &self));
    }
    if (self.symmetric && tables->options->directed) {
        SFU_TRY(add_mirrored(&tables->raw->pairs));
    }
    sfu__node_index_numbers(&tables->nodes, self.rows);
    tables->raw->has_graph = true;
    tables->fixed = tables->named = true;
done:
    sfu__csv_close(&self.lines);
    return status;
}

/* ---- features --------------------------------------------------------------------------------------------------- */

static sfu_status read_sparse(sfu__tables *tables, mtx *self) {
    sfu_status status = SFU_OK;
    int64_t at[2] = {0, 0};
    float value = 0;
    bool more;
    int64_t read = 0;
    for (;; read++) {
        SFU_TRY(next_entry(self, at, &value, &more));
        if (!more) {
            break;
        }
        SFU_TRY(sfu__triples_add(&tables->triples, at[0], at[1], value));
        if (self->symmetric && at[0] != at[1]) {
            SFU_TRY(sfu__triples_add(&tables->triples, at[1], at[0], value));
        }
    }
    SFU_TRY(check_sizes(self, read));
    tables->has_triples = true;
    tables->raw->features = self->cols;
done:
    return status;
}

/* The values of an array, column by column, to rows. */
static sfu_status transpose(sfu__rows *rows, const float *columns, const mtx *self) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(rows->values, self->entries);
    SFU_ALLOC(rows->nodes, self->rows);
    for (int64_t i = 0; i < self->rows; i++) {
        rows->nodes[i] = (int32_t)i;
        for (int64_t j = 0; j < self->cols; j++) {
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are rows * cols of them */
            rows->values[i * self->cols + j] = columns[j * self->rows + i];
        }
    }
    rows->count = self->rows;
    rows->width = self->cols;
done:
    return status;
}

/* All values of an array, in the file's order, as many as it promises. */
static sfu_status read_values(mtx *self, float **values) {
    sfu_status status = SFU_OK;
    size_t capacity = 0;
    int64_t read = 0;
    token word;
    size_t count;
    for (;; read++) {
        SFU_TRY(next_words(&self->lines, &word, 1, &count));
        if (count == 0) {
            break;
        }
        if (count != 1) {
            status = sfu__csv_fail_row(&self->lines, "%zu words, where an array has one value a line", count);
            goto done;
        }
        float *grown = sfu__grow(*values, &capacity, (size_t)read + 1, sizeof *grown);
        if (grown == NULL) {
            status = SFU_ERR_MEMORY;
            goto done;
        }
        *values = grown;
        SFU_TRY(number(&self->lines, word, &grown[read]));
    }
    SFU_TRY(check_sizes(self, read));
done:
    return status;
}

static sfu_status read_features(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    mtx self = {0};
    float *columns = NULL;
    SFU_TRY(open_mtx(&self, path, tables));
    if (tables->fixed && self.rows != tables->nodes.count) {
        status =
            fail_size(&self, "another number of rows than the graph has nodes, which is %lld", tables->nodes.count);
        goto done;
    }
    if (self.array) {
        SFU_TRY(read_values(&self, &columns));
        SFU_TRY(transpose(&tables->dense, columns, &self));
    } else {
        SFU_TRY(read_sparse(tables, &self));
    }
    sfu__node_index_numbers(&tables->nodes, self.rows);
    tables->fixed = tables->named = true;
    if (!tables->features_fixed) {
        sfu__node_index_numbers(&tables->features, self.cols);
    } else if (tables->features.count != self.cols) {
        status = fail_size(&self, "another number of columns than the names of features, which are %lld",
                           tables->features.count);
    }
    tables->features_from = path;
done:
    sfu__free(columns);
    sfu__csv_close(&self.lines);
    return status;
}

/* ---- labels ----------------------------------------------------------------------------------------------------- */

static sfu_status begins_like_mtx(const char *path, bool *does) {
    sfu_status status = SFU_OK;
    sfu__stream_file *stream = NULL;
    char start[16];
    size_t got;
    SFU_TRY(sfu__stream_open(&stream, path));
    SFU_TRY(sfu__stream_read(stream, start, 14, &got));
    *does = got == 14 && sfu__csv_is(start, 14, "%%MatrixMarket");
done:
    sfu__stream_close(stream);
    return status;
}

static sfu_status fail_label_count(const char *path, int64_t have, int64_t want) {
    return sfu__fail(SFU_ERR_FORMAT, "%s: %lld labels for %lld nodes", path, (long long)have, (long long)want);
}

/* A vector of whole numbers; a negative one is no label. */
static sfu_status read_label_vector(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    mtx self = {0};
    float *values = NULL;
    char digits[SFU__DIGITS_MAX];
    int64_t class_number;
    SFU_TRY(open_mtx(&self, path, tables));
    if (!self.array || (self.rows != 1 && self.cols != 1) || self.entries != tables->nodes.count) {
        status =
            fail_size(&self, "no array of one column with a label for each of the %lld nodes", tables->nodes.count);
        goto done;
    }
    SFU_TRY(read_values(&self, &values));
    for (int64_t i = 0; i < self.entries; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are self.entries of them */
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
    SFU_TRY(begins_like_mtx(path, &vector));
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

/* ---- all of it -------------------------------------------------------------------------------------------------- */

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
    if (edges != NULL) {
        SFU_TRY(read_graph(&tables, edges));
    }
    if (options->feature_names != NULL) {
        SFU_TRY(sfu__csv_feature_names(&tables, options->feature_names));
    }
    if (options->features != NULL) {
        SFU_TRY(begins_like_mtx(options->features, &market));
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
