/* dataset_build.c - builds a dataset from the output of a reader; only here is data dropped, scaled or reordered. */
#include "raw.h"
#include "progress.h"
#include "dataset.h"
#include "dense_rows.h"
#include "json.h"
#include "scale.h"
#include "transform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const duplicate_names[] = {"max", "sum", "first"};

/* What was done, for the `source` record. */
typedef struct build_record {
    sfu__assembly assembly;
    int64_t features_merged;
    int64_t nodes_left_out; /* outside the largest connected component */
    bool one_hot;
} build_record;

/* ---- checks --------------------------------------------------------------------------------------------------- */

static sfu_status check_counts(const sfu__raw *raw) {
    if (raw->nodes < 1 || raw->nodes >= INT32_MAX) {
        return sfu__fail(SFU_ERR_FORMAT, "%lld nodes; there must be between 1 and %d", (long long)raw->nodes,
                         INT32_MAX - 1);
    }
    if (raw->has_features && (raw->features < 1 || raw->features > INT32_MAX)) {
        return sfu__fail(SFU_ERR_FORMAT, "%lld features; there must be between 1 and %d", (long long)raw->features,
                         INT32_MAX);
    }
    const int64_t most = raw->class_names.count > 0 ? INT32_MAX : sfu__classes_most(raw->nodes);
    if (raw->classes < 0 || raw->classes > most) {
        return sfu__fail(SFU_ERR_FORMAT, "a label is %lld; without names of classes it must be below %lld",
                         (long long)raw->classes - 1, (long long)most);
    }
    return SFU_OK;
}

static sfu_status check_labels(const sfu__raw *raw) {
    for (int64_t node = 0; raw->labels != NULL && node < raw->nodes; node++) {
        if (raw->labels[node] < SFU_NO_LABEL || raw->labels[node] >= raw->classes) {
            return sfu__fail(SFU_ERR_FORMAT, "node %lld has label %d; it must lie in [0, %lld) or be -1 for none",
                             (long long)node, raw->labels[node], (long long)raw->classes);
        }
    }
    return SFU_OK;
}

/* ---- features ------------------------------------------------------------------------------------------------- */

/* No features: one-hot node ids distinguish the nodes, so that a network can still learn from the graph. */
static sfu_status set_one_hot(sfu__raw *raw) {
    sfu_status status = SFU_OK;
    sfu_matrix *x = &raw->sparse;
    *x = (sfu_matrix){.rows = (int32_t)raw->nodes, .cols = (int32_t)raw->nodes};
    raw->features = raw->nodes;
    SFU_ALLOC(x->indptr, raw->nodes + 1);
    SFU_ALLOC(x->indices, raw->nodes);
    for (int64_t node = 0; node < raw->nodes; node++) {
        x->indptr[node] = node;
        x->indices[node] = (int32_t)node;
    }
    x->indptr[raw->nodes] = raw->nodes;
done:
    return status;
}

static sfu_status check_finite(const float *values, int64_t count, int64_t columns, const char *what) {
    for (int64_t i = 0; i < count; i++) {
        const sfu_status status = sfu__poll_at(i);
        if (status != SFU_OK) {
            return status;
        }
        if (!isfinite(values[i])) {
            return columns > 0 ? sfu__fail(SFU_ERR_FORMAT, "%s of node %lld, column %lld, is %g; it must be finite",
                                           what, (long long)(i / columns), (long long)(i % columns), (double)values[i])
                               : sfu__fail(SFU_ERR_FORMAT, "%s, entry %lld, is %g; it must be finite", what,
                                           (long long)i, (double)values[i]);
        }
    }
    return SFU_OK;
}

/* Converts dense features to sparse ones if that takes fewer bytes. */
static sfu_status compress_dense(sfu__raw *raw) {
    sfu_status status = SFU_OK;
    const int64_t cells = raw->nodes * raw->features;
    int64_t nonzeros = raw->dense_nonzeros;
    for (int64_t i = 0; raw->dense_nonzeros == 0 && i < cells; i++) {
        nonzeros += raw->dense[i] != 0;
    }
    if (8 * nonzeros + 8 * (raw->nodes + 1) >= 4 * cells) {
        return SFU_OK;
    }
    sfu_matrix *x = &raw->sparse;
    *x = (sfu_matrix){.rows = (int32_t)raw->nodes, .cols = (int32_t)raw->features};
    SFU_ALLOC(x->indptr, raw->nodes + 1);
    SFU_ALLOC(x->indices, nonzeros);
    SFU_ALLOC(x->values, nonzeros);
    int64_t out = 0;
    for (int64_t node = 0; node < raw->nodes; node++) {
        SFU_TRY(sfu__poll_at(node));
        x->indptr[node] = out;
        for (int64_t j = 0; j < raw->features; j++) {
            const float value = raw->dense[node * raw->features + j];
            if (value != 0) {
                x->indices[out] = (int32_t)j;
                x->values[out++] = value;
            }
        }
    }
    x->indptr[raw->nodes] = out;
    sfu__raw_free_dense(raw);
done:
    return status;
}

static sfu_status finish_features(sfu__raw *raw, build_record *record) {
    sfu_status status = SFU_OK;
    record->one_hot = !raw->has_features;
    if (!raw->has_features) {
        SFU_TRY(set_one_hot(raw));
        sfu__log(SFU_LOG_NOTE, "no features were given: one-hot node ids are used as features");
    } else if (raw->dense != NULL) {
        if (raw->dense_nonzeros == 0) {
            SFU_TRY(check_finite(raw->dense, raw->nodes * raw->features, raw->features, "the feature"));
        }
        SFU_TRY(compress_dense(raw));
    } else {
        if (raw->sparse.values != NULL) {
            SFU_TRY(check_finite(raw->sparse.values, raw->sparse.indptr[raw->sparse.rows], 0, "a feature"));
        }
        SFU_TRY(sfu__matrix_canonicalize(&raw->sparse, &record->features_merged));
    }
done:
    return status;
}

/* The scaling of feature vectors that is left to do. */
static sfu_status row_scale(sfu_scale *scale, const sfu__raw *raw, const sfu_import_options *options) {
    *scale = raw->transform != NULL ? raw->row_scale : options->scale;
    *scale = *scale == SFU_SCALE_AUTO ? SFU_SCALE_UNIT : *scale;
    return *scale != SFU_SCALE_QUANTILE
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT, "only the columns of a CSV table can be scaled to quantiles");
}

/* What was done, as a value of --scale. */
static sfu_scale recorded_scale(const sfu__raw *raw, const sfu_import_options *options) {
    if (raw->transform != NULL && raw->value_scale != SFU__VALUES_RAW) {
        return raw->value_scale == SFU__VALUES_STANDARD ? SFU_SCALE_AUTO : SFU_SCALE_QUANTILE;
    }
    const sfu_scale scale = raw->transform != NULL ? raw->row_scale : options->scale;
    return scale == SFU_SCALE_AUTO ? SFU_SCALE_UNIT : scale;
}

/* ---- the source record ---------------------------------------------------------------------------------------- */

/* {"NA": 597} */
static json_t *missing_labels_json(const sfu__raw *raw) {
    json_t *object = json_object();
    for (int64_t i = 0; i < raw->missing_labels.count; i++) {
        size_t size;
        char spelling[SFU__QUOTE_MAX];
        const char *bytes = sfu__strings_get(&raw->missing_labels, i, &size);
        snprintf(spelling, sizeof spelling, "%.*s", (int)size, bytes);
        sfu__json_set(&object, spelling, json_integer((json_int_t)raw->missing_counts[i]));
    }
    return object;
}

/* Writes the record as JSON, without path, time or machine, so that the same input gives the same bytes. */
static sfu_status write_source(sfu_dataset *dataset, const sfu__raw *raw, const sfu_import_options *options,
                               const build_record *record) {
    json_t *files = json_array();
    for (int64_t i = 0; i < raw->files.count; i++) {
        size_t size;
        const char *name = sfu__strings_get(&raw->files, i, &size);
        /* A file name may contain invalid UTF-8 or a NUL byte. */
        const bool is_text = sfu__utf8_valid(name, size) && memchr(name, '\0', size) == NULL;
        sfu__json_append(&files, is_text ? json_stringn(name, size) : json_string("?"));
    }
    json_t *source = json_pack(
        "{s:s, s:o, s:s, s:b, s:s, s:I, s:I, s:s, s:b, s:I, s:I, s:I, s:b, s:i}", "format",
        raw->format != NULL ? raw->format : "arrays", "files", files, "scale",
        sfu__scale_name(recorded_scale(raw, options)), "directed", (int)options->directed, "self_loops",
        options->keep_loops ? "keep" : "drop", "self_loops_dropped", (json_int_t)record->assembly.loops_dropped,
        "duplicates_dropped", (json_int_t)record->assembly.duplicates_dropped, "duplicates",
        duplicate_names[options->duplicates], "largest_component", (int)options->largest, "nodes_left_out",
        (json_int_t)record->nodes_left_out, "nodes_only_in_edges", (json_int_t)raw->nodes_only_in_edges,
        "features_merged", (json_int_t)record->features_merged, "one_hot", (int)record->one_hot, "knn", options->knn);
    if (raw->missing_labels.count > 0) {
        sfu__json_set(&source, "labels_missing", missing_labels_json(raw));
    }
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    char *printed = NULL;
    SFU_TRY(sfu__json_print(&printed, source, JSON_COMPACT | JSON_REAL_PRECISION(15), "the record of what was done"));
    if (raw->generator != NULL) { /* already JSON: inserted before the closing brace */
        SFU_TRY(sfu__text_format(&text, "%.*s,\"recipe\":%s}", (int)strlen(printed) - 1, printed, raw->generator));
        dataset->source = text.bytes;
    } else {
        dataset->source = printed;
        printed = NULL;
    }
    text = (sfu__text){0};
done:
    sfu__text_clear(&text);
    sfu__free(printed);
    json_decref(source);
    return status;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* Node names may be any bytes; names of classes, features and columns are stored as JSON, which requires UTF-8. */
static sfu_status check_name(const char *what, const char *name, size_t size) {
    char quoted[SFU__QUOTE_MAX];
    return sfu__utf8_valid(name, size) ? SFU_OK
                                       : sfu__fail(SFU_ERR_FORMAT,
                                                   "the name of %s %s is not UTF-8; convert the file with iconv -f "
                                                   "LATIN1 -t UTF-8, or from whatever it is in",
                                                   what, sfu__quote(quoted, name, size));
}

static sfu_status check_strings(const char *what, const sfu__strings *names) {
    sfu_status status = SFU_OK;
    for (int64_t i = 0; i < names->count && status == SFU_OK; i++) {
        size_t size;
        const char *name = sfu__strings_get(names, i, &size);
        status = check_name(what, name, size);
    }
    return status;
}

static sfu_status check_names(const sfu__raw *raw, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    SFU_TRY(check_strings("class", &raw->class_names));
    SFU_TRY(check_strings("feature", &raw->feature_names));
    for (size_t i = 0; i < raw->column_count; i++) {
        SFU_TRY(check_name("column", raw->columns[i].name, strlen(raw->columns[i].name)));
    }
    for (int32_t i = 0; options->class_names != NULL && i < options->class_name_count; i++) {
        SFU_TRY(check_name("class", options->class_names[i], strlen(options->class_names[i])));
    }
done:
    return status;
}

/* ---- into the dataset ----------------------------------------------------------------------------------------- */

static sfu_status take_vector(sfu_dataset *dataset, const char *name, sfu__dtype dtype, int64_t count, void *data) {
    return sfu__dataset_take(dataset, name, dtype, 1, &count, data);
}

/* Moves the array out of the variable `owner` and sets it to NULL. */
#define TAKE_VECTOR(dataset, name, dtype, count, owner)                                                                \
    do {                                                                                                               \
        void *taken_ = (owner);                                                                                        \
        (owner) = NULL;                                                                                                \
        SFU_TRY(take_vector((dataset), (name), (dtype), (count), taken_));                                             \
    } while (0)

/* Moves an array of a matrix to the dataset; a mapped one belongs to a scratch file. */
static sfu_status take_array(sfu_dataset *dataset, const char *name, sfu__dtype dtype, int64_t count, void *data,
                             bool mapped) {
    return mapped ? sfu__dataset_add(dataset, name, dtype, 1, &count, data)
                  : sfu__dataset_take(dataset, name, dtype, 1, &count, data);
}

sfu_status sfu__dataset_take_matrix(sfu_dataset *dataset, const char *prefix, const char *values_name,
                                    sfu_matrix *matrix) {
    sfu_status status = SFU_OK;
    char name[32];
    const int64_t nonzeros = matrix->indptr[matrix->rows];
    snprintf(name, sizeof name, "%s.indptr", prefix);
    TAKE_VECTOR(dataset, name, SFU__I64, (int64_t)matrix->rows + 1, matrix->indptr);
    const bool mapped = matrix->scratch != NULL;
    snprintf(name, sizeof name, "%s.indices", prefix);
    int32_t *indices = matrix->indices;
    matrix->indices = NULL;
    SFU_TRY(take_array(dataset, name, SFU__I32, nonzeros, indices, mapped));
    if (matrix->values != NULL) {
        snprintf(name, sizeof name, "%s.%s", prefix, values_name);
        float *values = matrix->values;
        matrix->values = NULL;
        SFU_TRY(take_array(dataset, name, SFU__F32, nonzeros, values, mapped));
    }
    if (mapped) {
        sfu__dataset_take_scratch(dataset, &matrix->scratch);
    }
done:
    return status;
}

static sfu_status take_features(sfu_dataset *dataset, sfu__raw *raw) {
    if (raw->dense == NULL) {
        return sfu__dataset_take_matrix(dataset, "x", "value", &raw->sparse);
    }
    const int64_t shape[2] = {raw->nodes, raw->features};
    float *dense = raw->dense;
    raw->dense = NULL;
    if (raw->dense_scratch == NULL) {
        return sfu__dataset_take(dataset, "x", SFU__F32, 2, shape, dense);
    }
    sfu__dataset_take_scratch(dataset, &raw->dense_scratch);
    dataset->finite = true; /* checked before they were scaled */
    return sfu__dataset_add(dataset, "x", SFU__F32, 2, shape, dense);
}

static int compare_nodes(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a;
    const int32_t y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Standard split number `split`, whose nodes are taken. */
static sfu_status take_split(sfu_dataset *dataset, int32_t split, int32_t *nodes[SFU_PARTS],
                             const int64_t count[SFU_PARTS]) {
    sfu_status status = SFU_OK;
    char name[SFU__SPLIT_TENSOR_MAX];
    for (int part = 0; part < SFU_PARTS; part++) {
        if (nodes[part] == NULL) {
            SFU_ALLOC(nodes[part], 0);
        }
        qsort(nodes[part], (size_t)count[part], sizeof *nodes[part], compare_nodes);
        TAKE_VECTOR(dataset, sfu__split_tensor(name, split, part), SFU__I32, count[part], nodes[part]);
    }
done:
    return status;
}

static sfu_status take_splits(sfu_dataset *dataset, sfu__raw *raw) {
    sfu_status status = SFU_OK;
    if (!raw->has_standard) {
        goto done;
    }
    SFU_TRY(take_split(dataset, 0, raw->standard, raw->standard_count));
    for (size_t i = 0; i < raw->more_count; i++) {
        SFU_TRY(take_split(dataset, (int32_t)i + 1, raw->more_splits[i].nodes, raw->more_splits[i].count));
    }
done:
    return status;
}

static sfu_status take_columns(sfu_dataset *dataset, sfu__raw *raw) {
    sfu_status status = SFU_OK;
    sfu__text name = {0};
    for (size_t i = 0; i < raw->column_count; i++) {
        sfu__text_clear(&name);
        SFU_TRY(sfu__text_format(&name, "node.%s", raw->columns[i].name));
        TAKE_VECTOR(dataset, name.bytes, SFU__F32, raw->nodes, raw->columns[i].values);
    }
done:
    sfu__text_clear(&name);
    return status;
}

static sfu_status take_names(sfu_dataset *dataset, sfu__raw *raw) {
    sfu_status status = SFU_OK;
    if (raw->node_names.count > 0) {
        const int64_t bytes = raw->node_names.offsets[raw->node_names.count];
        raw->node_names.count = 0;
        TAKE_VECTOR(dataset, "nodes.offsets", SFU__I64, raw->nodes + 1, raw->node_names.offsets);
        TAKE_VECTOR(dataset, "nodes.bytes", SFU__U8, bytes, raw->node_names.bytes);
    }
done:
    return status;
}

/* Copies names and terminates each with a NUL byte. */
static sfu_status copy_names(sfu__strings *names, const sfu__strings *from) {
    for (int64_t i = 0; i < from->count; i++) {
        size_t size;
        const char *name = sfu__strings_get(from, i, &size);
        const sfu_status status = sfu__names_add(names, name, size);
        if (status != SFU_OK) {
            return status;
        }
    }
    return SFU_OK;
}

/* The index of a name in options->class_names, or -1. */
static int32_t class_index_of(const sfu_import_options *options, const char *name, size_t size) {
    for (int32_t i = 0; i < options->class_name_count; i++) {
        if (strlen(options->class_names[i]) == size && memcmp(options->class_names[i], name, size) == 0) {
            return i;
        }
    }
    return -1;
}

/* If the options list every class name of the file, they only reorder the classes. */
static sfu_status reorder_classes(sfu__raw *raw, const sfu_import_options *options, bool *reordered) {
    sfu_status status = SFU_OK;
    int32_t *new_index = NULL;
    *reordered = raw->class_names.count > 0;
    SFU_ALLOC(new_index, raw->class_names.count);
    for (int64_t i = 0; i < raw->class_names.count; i++) {
        size_t size;
        const char *name = sfu__strings_get(&raw->class_names, i, &size);
        new_index[i] = class_index_of(options, name, size);
        *reordered = *reordered && new_index[i] >= 0;
    }
    for (int64_t node = 0; *reordered && raw->labels != NULL && node < raw->nodes; node++) {
        raw->labels[node] = raw->labels[node] >= 0 ? new_index[raw->labels[node]] : SFU_NO_LABEL;
    }
done:
    sfu__free(new_index);
    return status;
}

/* Unnamed classes are named by their numbers, so that a container records how many there are. */
static sfu_status number_classes(sfu_dataset *dataset, int64_t classes) {
    sfu_status status = SFU_OK;
    for (int64_t i = 0; i < classes; i++) {
        char decimal[24];
        const int size = snprintf(decimal, sizeof decimal, "%lld", (long long)i);
        SFU_TRY(sfu__names_add(&dataset->class_names, decimal, (size_t)size));
    }
done:
    return status;
}

static sfu_status name_classes(sfu_dataset *dataset, sfu__raw *raw, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    bool reordered = false;
    if (options->class_names == NULL) {
        return raw->class_names.count > 0 || raw->labels == NULL ? copy_names(&dataset->class_names, &raw->class_names)
                                                                 : number_classes(dataset, raw->classes);
    }
    SFU_TRY(reorder_classes(raw, options, &reordered));
    if (!reordered && options->class_name_count != raw->classes) {
        status =
            sfu__fail(SFU_ERR_ARGUMENT,
                      "%d class names were given for %lld classes; give one for each, in the order of their numbers",
                      options->class_name_count, (long long)raw->classes);
        goto done;
    }
    for (int32_t i = 0; i < options->class_name_count; i++) {
        SFU_TRY(sfu__names_add(&dataset->class_names, options->class_names[i], strlen(options->class_names[i])));
    }
done:
    return status;
}

static sfu_status fill(sfu_dataset *dataset, sfu__raw *raw, sfu_matrix *graph, const sfu_import_options *options,
                       const build_record *record) {
    sfu_status status = SFU_OK;
    SFU_TRY(name_classes(dataset, raw, options));
    SFU_TRY(copy_names(&dataset->feature_names, &raw->feature_names));
    SFU_TRY(write_source(dataset, raw, options, record));
    dataset->transform = raw->transform;
    raw->transform = NULL;
    SFU_TRY(sfu__dataset_take_matrix(dataset, "adj", "weight", graph));
    SFU_TRY(take_features(dataset, raw));
    if (raw->labels != NULL) {
        TAKE_VECTOR(dataset, "y", SFU__I32, raw->nodes, raw->labels);
    }
    SFU_TRY(take_splits(dataset, raw));
    SFU_TRY(take_columns(dataset, raw));
    SFU_TRY(take_names(dataset, raw));
    dataset->assembled = !options->directed;
    SFU_TRY(sfu__dataset_bind(dataset, dataset->name, raw->features));
    SFU_TRY(sfu_dataset_check(dataset));
done:
    return status;
}

sfu_status sfu__build(sfu_dataset **dataset, sfu__raw *raw, const sfu_import_options *options, int64_t *lacking) {
    sfu_status status = SFU_OK;
    sfu_matrix graph = {0};
    sfu_dataset *self = NULL;
    build_record record = {0};
    sfu_scale scale = SFU_SCALE_NONE;
    *dataset = NULL;
    SFU_TRY(sfu__poll());
    SFU_TRY(row_scale(&scale, raw, options));
    SFU_TRY(check_counts(raw));
    SFU_TRY(check_labels(raw));
    SFU_TRY(check_names(raw, options));
    SFU_TRY(finish_features(raw, &record));
    SFU_TRY(sfu__build_graph(&graph, raw, options, &record.assembly));
    if (options->largest) {
        SFU_TRY(sfu__keep_largest(raw, &graph, !options->directed, &record.nodes_left_out));
    }
    if (!record.one_hot) { /* one-hot rows have norm 1 already */
        SFU_TRY(sfu__scale(raw, scale));
    }
    SFU_TRY(sfu__dataset_new(&self, options->name != NULL ? options->name : "dataset"));
    SFU_TRY(fill(self, raw, &graph, options, &record));
    *dataset = self;
    self = NULL;
done:
    if (lacking != NULL) {
        *lacking = record.assembly.lacking;
    }
    sfu_dataset_free(self);
    sfu__matrix_clear(&graph);
    return status;
}
