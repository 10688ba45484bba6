/* csv_tables.c - collects the rows of the CSV files of a dataset and converts them to features, labels and columns. */
#include "csv_tables.h"
#include "parallel.h"
#include "progress.h"

#include <string.h>

static void rows_clear(sfu__rows *rows) {
    sfu__free(rows->values);
    sfu__free(rows->nodes);
    *rows = (sfu__rows){0};
}

static void triples_clear(sfu__triples *triples) {
    sfu__free(triples->nodes);
    sfu__free(triples->features);
    sfu__free(triples->values);
    *triples = (sfu__triples){0};
}

void sfu__tables_clear(sfu__tables *tables) {
    sfu__node_index_clear(&tables->nodes);
    sfu__node_index_clear(&tables->features);
    sfu__node_index_clear(&tables->classes);
    sfu__node_index_clear(&tables->column_names);
    sfu__node_index_clear(&tables->like);
    sfu__cells_clear(&tables->cells);
    sfu__free(tables->cell_nodes);
    sfu__free(tables->cell_source);
    sfu__transform_clear(&tables->transform);
    sfu__strings_clear(&tables->rules.missing);
    rows_clear(&tables->dense);
    rows_clear(&tables->columns);
    triples_clear(&tables->triples);
    triples_clear(&tables->labels);
}

/* ---- rows of a file --------------------------------------------------------------------------------------------- */

sfu_status sfu__tables_open(sfu__tables *tables, sfu__csv *csv, const char *path, sfu__csv_rules rules) {
    sfu_status status = SFU_OK;
    const char *base = sfu__path_base(path);
    rules.header = rules.header == SFU_HEADER_AUTO ? tables->options->header : rules.header;
    rules.decimal = tables->options->decimal;
    rules.progress = tables->options->progress;
    rules.progress_user = tables->options->progress_user;
    SFU_TRY(sfu__csv_open(csv, path, &rules));
    SFU_TRY(sfu__strings_add(&tables->raw->files, base, strlen(base)));
done:
    return status;
}

sfu_status sfu__tables_node(sfu__tables *tables, const sfu__csv *csv, size_t column, int64_t *node) {
    sfu_status status = SFU_OK;
    const sfu__csv_field *field = &csv->fields[column];
    if (field->size == 0) {
        return sfu__csv_fail_row(csv, "field %zu, the node, is empty", column + 1);
    }
    if (!tables->fixed) {
        return sfu__node_index_add(&tables->nodes, field->bytes, field->size, node);
    }
    SFU_TRY(sfu__node_index_find(&tables->nodes, field->bytes, field->size, node));
    if (*node < 0) {
        status = tables->nodes.spelled ? sfu__csv_fail(csv, column, "is not a node of this graph")
                                       : sfu__csv_fail(csv, column, "is not a node; they are numbered from 0 on");
    }
done:
    return status;
}

/* The size of a name such as 12.0 without its decimals, or 0. */
static size_t size_without_decimals(const char *name, size_t size) {
    int64_t value;
    size_t end = size;
    while (end > 0 && name[end - 1] == '0') {
        end--;
    }
    return end < size && end > 1 && name[end - 1] == '.' && sfu__plain_integer(&value, name, end - 1) ? end - 1 : 0;
}

sfu_status sfu__tables_check_ids(sfu__tables *tables) {
    sfu_status status = SFU_OK;
    for (int64_t i = 0; tables->nodes.spelled && i < tables->nodes.count; i++) {
        size_t size;
        int64_t other = -1;
        const char *name = sfu__strings_get(&tables->nodes.names, i, &size);
        const size_t whole = size_without_decimals(name, size);
        SFU_TRY(sfu__poll_at(i));
        if (whole > 0) {
            SFU_TRY(sfu__node_index_find(&tables->nodes, name, whole, &other));
        }
        if (other >= 0) {
            char quoted[2][SFU__QUOTE_MAX];
            status = sfu__fail(SFU_ERR_FORMAT,
                               "a node is called %s in one place and %s in another; write its id alike in all files",
                               sfu__quote(quoted[0], name, size), sfu__quote(quoted[1], name, whole));
            goto done;
        }
    }
done:
    return status;
}

sfu_status sfu__seen_add(sfu__seen *seen, const sfu__csv *csv, int64_t node, const char *hint) {
    if ((size_t)node >= seen->count) {
        int64_t *grown = sfu__grow(seen->lines, &seen->capacity, (size_t)node + 1, sizeof *seen->lines);
        if (grown == NULL) {
            return SFU_ERR_MEMORY;
        }
        seen->lines = grown;
        memset(grown + seen->count, 0, (seen->capacity - seen->count) * sizeof *grown);
        seen->count = seen->capacity;
    }
    if (seen->lines[node] != 0) {
        char name[SFU__QUOTE_MAX];
        return sfu__csv_fail_row(csv, "node %s is on line %lld already%s",
                                 sfu__quote(name, csv->fields[seen->column].bytes, csv->fields[seen->column].size),
                                 (long long)seen->lines[node], hint);
    }
    seen->lines[node] = csv->line;
    return SFU_OK;
}

sfu_status sfu__rows_add(sfu__rows *rows, const sfu__csv *csv, int64_t node, size_t from, size_t skip,
                         const int32_t *order) {
    sfu_status status = SFU_OK;
    const size_t width = (size_t)rows->width;
    const size_t used = (size_t)rows->count * width;
    float *values = sfu__grow(rows->values, &rows->value_capacity, used + width, sizeof *values);
    if (values == NULL) {
        return SFU_ERR_MEMORY;
    }
    rows->values = values;
    int32_t *nodes = sfu__grow(rows->nodes, &rows->node_capacity, (size_t)rows->count + 1, sizeof *nodes);
    if (nodes == NULL) {
        return SFU_ERR_MEMORY;
    }
    rows->nodes = nodes;
    for (size_t column = from, i = 0; i < width; column++) {
        if (column != skip) {
            SFU_TRY(sfu__csv_number(csv, column, &values[used + (order != NULL ? (size_t)order[i] : i)]));
            i++;
        }
    }
    nodes[rows->count++] = (int32_t)node;
done:
    return status;
}

sfu_status sfu__triples_add(sfu__triples *triples, int64_t node, int64_t feature, float value) {
    const size_t need = (size_t)triples->count + 1;
    int32_t *nodes = sfu__grow(triples->nodes, &triples->node_capacity, need, sizeof *nodes);
    triples->nodes = nodes != NULL ? nodes : triples->nodes;
    int32_t *features = sfu__grow(triples->features, &triples->feature_capacity, need, sizeof *features);
    triples->features = features != NULL ? features : triples->features;
    float *values = sfu__grow(triples->values, &triples->value_capacity, need, sizeof *values);
    triples->values = values != NULL ? values : triples->values;
    if (nodes == NULL || features == NULL || values == NULL) {
        return SFU_ERR_MEMORY;
    }
    nodes[triples->count] = (int32_t)node;
    features[triples->count] = (int32_t)feature;
    values[triples->count] = value;
    triples->count++;
    return SFU_OK;
}

sfu_status sfu__tables_name(sfu__node_index *names, const sfu__csv *csv, const char *bytes, size_t size,
                            const char *what, int64_t *number) {
    char quoted[SFU__QUOTE_MAX];
    if (size == 0) {
        return sfu__csv_fail_row(csv, "the name of a %s is empty", what);
    }
    if (!sfu__utf8_valid(bytes, size)) {
        return sfu__csv_fail_row(csv,
                                 "the name of a %s, %s, is not UTF-8; convert the file with iconv -f LATIN1 -t UTF-8, "
                                 "or from whatever it is in",
                                 what, sfu__quote(quoted, bytes, size));
    }
    return sfu__node_index_add(names, bytes, size, number);
}

/* ---- pair buffer ------------------------------------------------------------------------------------------------ */

enum { PAIR_BUFFER_SIZE = 1 << 16 };

sfu_status sfu__pair_buffer_flush(sfu__pair_buffer *buffer, sfu__pairs *pairs) {
    const int64_t count = buffer->count;
    buffer->count = 0;
    return count > 0 ? sfu__pairs_take(pairs, &buffer->ends, &buffer->weights, count) : SFU_OK;
}

sfu_status sfu__pair_buffer_add(sfu__pair_buffer *buffer, sfu__pairs *pairs, int64_t from, int64_t to,
                                const float *weight) {
    sfu_status status = SFU_OK;
    if (buffer->count == PAIR_BUFFER_SIZE) {
        SFU_TRY(sfu__pair_buffer_flush(buffer, pairs));
    }
    if (buffer->ends == NULL) {
        SFU_ALLOC(buffer->ends, 2 * PAIR_BUFFER_SIZE);
    }
    if (weight != NULL) {
        if (buffer->weights == NULL) {
            SFU_ALLOC(buffer->weights, PAIR_BUFFER_SIZE);
        }
        buffer->weights[buffer->count] = *weight;
    }
    buffer->ends[2 * buffer->count] = (uint32_t)from;
    buffer->ends[2 * buffer->count + 1] = (uint32_t)to;
    buffer->count++;
done:
    return status;
}

void sfu__pair_buffer_clear(sfu__pair_buffer *buffer) {
    sfu__free(buffer->ends);
    sfu__free(buffer->weights);
    *buffer = (sfu__pair_buffer){0};
}

/* ---- finishing -------------------------------------------------------------------------------------------------- */

/* A matrix with one row per node, in their order. */
static void finish_dense(sfu__tables *tables) {
    tables->raw->features = tables->dense.width;
    tables->raw->has_features = true;
    tables->raw->dense = tables->dense.values;
    tables->dense.values = NULL;
}

/* The features of a table with typed columns. */
static sfu_status finish_table(sfu__tables *tables) {
    sfu_status status = SFU_OK;
    sfu__raw *raw = tables->raw;
    const sfu__transform *transform = &tables->transform;
    const sfu__transform_input input = {.cells = &tables->cells,
                                        .source = tables->cell_source,
                                        .path = tables->features_from,
                                        .threads = sfu__thread_count(tables->options->threads)};
    sfu__transform_output output = {.nodes = raw->nodes, .node_of = tables->cell_nodes};
    SFU_TRY(sfu__transform_print(&raw->transform, transform));
    raw->row_scale = transform->rows;
    raw->value_scale = (int)transform->values;
    if (transform->features == 0) {
        goto done;
    }
    SFU_TRY(sfu__transform_apply(&output, transform, &input));
    raw->has_features = true;
    raw->features = transform->features;
    raw->dense = output.dense;
    raw->dense_nonzeros = output.dense != NULL ? output.nonzeros : 0;
    if (output.dense == NULL) {
        raw->sparse = (sfu_matrix){.rows = (int32_t)raw->nodes,
                                   .cols = (int32_t)raw->features,
                                   .indptr = output.indptr,
                                   .indices = output.indices,
                                   .values = output.values};
    }
    sfu__cells_clear(&tables->cells);
    SFU_TRY(sfu__transform_feature_names(&raw->feature_names, transform));
done:
    return status;
}

/* Converts triples in any order to CSR by a counting sort. */
static sfu_status finish_triples(sfu__tables *tables) {
    sfu_status status = SFU_OK;
    sfu__raw *raw = tables->raw;
    const sfu__triples *triples = &tables->triples;
    sfu_matrix *sparse = &raw->sparse;
    raw->has_features = true;
    sparse->rows = (int32_t)raw->nodes;
    sparse->cols = (int32_t)raw->features;
    SFU_ALLOC_ZERO(sparse->indptr, raw->nodes + 2);
    SFU_ALLOC(sparse->indices, triples->count);
    SFU_ALLOC(sparse->values, triples->count);
    for (int64_t t = 0; t < triples->count; t++) {
        sparse->indptr[triples->nodes[t] + 2]++;
    }
    for (int64_t i = 0; i < raw->nodes; i++) {
        sparse->indptr[i + 2] += sparse->indptr[i + 1];
    }
    /* indptr[i + 1] is the next free entry of row i, and its end when the loop is done. */
    for (int64_t t = 0; t < triples->count; t++) {
        const int64_t at = sparse->indptr[triples->nodes[t] + 1]++;
        SFU_TRY(sfu__poll_at(t));
        sparse->indices[at] = triples->features[t];
        sparse->values[at] = triples->values[t];
    }
done:
    return status;
}

/* Node columns: every node needs a value. */
static sfu_status finish_columns(sfu__tables *tables) {
    sfu_status status = SFU_OK;
    sfu__raw *raw = tables->raw;
    const sfu__rows *rows = &tables->columns;
    bool *given = NULL;
    float *values = NULL;
    char *name = NULL;
    SFU_ALLOC_ZERO(given, raw->nodes);
    for (int64_t r = 0; r < rows->count; r++) {
        given[rows->nodes[r]] = true;
    }
    for (int64_t i = 0; i < raw->nodes; i++) {
        if (!given[i]) {
            char digits[SFU__DIGITS_MAX];
            char quoted[SFU__QUOTE_MAX];
            size_t size;
            const char *node = sfu__node_index_name(&tables->nodes, i, digits, &size);
            status = sfu__fail(SFU_ERR_FORMAT, "%s: node %s has no row; a node column has a number for every node",
                               tables->options->columns, sfu__quote(quoted, node, size));
            goto done;
        }
    }
    SFU_ALLOC(values, raw->nodes);
    for (int64_t c = 0; c < rows->width; c++) {
        size_t size;
        char digits[SFU__DIGITS_MAX];
        const char *bytes = sfu__node_index_name(&tables->column_names, c, digits, &size);
        for (int64_t r = 0; r < rows->count; r++) {
            values[rows->nodes[r]] = rows->values[r * rows->width + c];
        }
        sfu__free(name);
        name = sfu__copy_bytes(bytes, size);
        if (name == NULL) {
            status = SFU_ERR_MEMORY;
            goto done;
        }
        SFU_TRY(sfu__raw_add_column(raw, name, values, raw->nodes));
    }
done:
    sfu__free(name);
    sfu__free(values);
    sfu__free(given);
    return status;
}

sfu_status sfu__tables_finish(sfu__tables *tables) {
    sfu_status status = SFU_OK;
    sfu__raw *raw = tables->raw;
    raw->nodes = tables->nodes.count;
    if (tables->cell_source != NULL) {
        SFU_TRY(finish_table(tables));
    } else if (tables->dense.width > 0) {
        finish_dense(tables);
    } else if (tables->has_triples && raw->features > 0) {
        SFU_TRY(finish_triples(tables));
    }
    if (tables->labels_from != NULL) {
        SFU_TRY(sfu__tables_finish_labels(tables));
    }
    if (tables->column_names.count > 0) {
        SFU_TRY(finish_columns(tables));
    }
    if (raw->has_features && raw->transform == NULL) {
        sfu__node_index_release(&tables->features, &raw->feature_names);
    }
    if (!tables->fixed) {
        sfu__node_index_release(&tables->nodes, &raw->node_names);
    }
done:
    return status;
}
