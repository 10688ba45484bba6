/* dataset.c - creates and frees datasets, binds tensors to the fields of the structure, and accesses them. */
#include "dataset.h"

#include "csv_write.h"
#include "dataset_statistics.h"
#include "json.h"
#include "parallel.h"
#include "raw.h"
#include "scratch_file.h"

#include <stdio.h>
#include <string.h>

/* ---- creating and freeing ------------------------------------------------------------------------------------- */

sfu_status sfu__dataset_new(sfu_dataset **dataset, const char *name) {
    sfu_status status = SFU_OK;
    sfu_dataset *self = NULL;
    *dataset = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->name = sfu__copy_string(name);
    if (self->name == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    if (pthread_mutex_init(&self->lock, NULL) != 0) {
        status = sfu__fail(SFU_ERR_MEMORY, "out of memory: cannot create a mutex");
        goto done;
    }
    self->lock_made = true;
    snprintf(self->graph_name, sizeof self->graph_name, "%.200s: adj", name);
    snprintf(self->features_name, sizeof self->features_name, "%.200s: x", name);
    *dataset = self;
    self = NULL;
done:
    sfu_dataset_free(self);
    return status;
}

void sfu_dataset_free(sfu_dataset *dataset) {
    if (dataset == NULL) {
        return;
    }
    if (dataset->lock_made) {
        pthread_mutex_destroy(&dataset->lock);
    }
    for (size_t i = 0; i < dataset->owned_count; i++) {
        sfu__free(dataset->owned[i]);
    }
    sfu__free(dataset->owned);
    for (int i = 0; i < dataset->scratch_count; i++) {
        sfu__scratch_free(dataset->scratches[i]);
    }
    sfu__free(dataset->tensors);
    sfu__free(dataset->more_splits);
    sfu__strings_clear(&dataset->class_names);
    sfu__strings_clear(&dataset->feature_names);
    sfu__safetensors_free(dataset->file);
    sfu__statistics_free(dataset->statistics);
    sfu__free(dataset->source);
    sfu__free(dataset->transform);
    sfu__free(dataset->name);
    sfu__free(dataset);
}

/* Registers a block to be freed with the dataset; frees it at once on failure. */
static sfu_status own(sfu_dataset *dataset, void *block) {
    void **owned = sfu__grow(dataset->owned, &dataset->owned_capacity, dataset->owned_count + 1, sizeof *owned);
    if (owned == NULL) {
        sfu__free(block);
        return SFU_ERR_MEMORY;
    }
    dataset->owned = owned;
    owned[dataset->owned_count++] = block;
    return SFU_OK;
}

void sfu__dataset_take_scratch(sfu_dataset *dataset, sfu__scratch **scratch) {
    dataset->scratches[dataset->scratch_count++] = *scratch;
    *scratch = NULL;
}

sfu_status sfu__dataset_take(sfu_dataset *dataset, const char *name, sfu__dtype dtype, int dims, const int64_t *shape,
                             void *data) {
    const sfu_status status = own(dataset, data);
    return status == SFU_OK ? sfu__dataset_add(dataset, name, dtype, dims, shape, data) : status;
}

sfu_status sfu__dataset_add(sfu_dataset *dataset, const char *name, sfu__dtype dtype, int dims, const int64_t *shape,
                            const void *data) {
    sfu_status status = SFU_OK;
    char *copy = sfu__copy_string(name);
    if (copy == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_TRY(own(dataset, copy));
    sfu__tensor *tensors = sfu__resize(dataset->tensors, (size_t)dataset->tensor_count + 1, sizeof *dataset->tensors);
    if (tensors == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    dataset->tensors = tensors;
    sfu__tensor *tensor = &tensors[dataset->tensor_count++];
    *tensor = (sfu__tensor){.name = copy, .dtype = dtype, .dims = dims, .count = 1, .data = data};
    for (int i = 0; i < dims; i++) {
        tensor->shape[i] = shape[i];
        tensor->count *= shape[i];
    }
done:
    return status;
}

/* ---- binding tensors to fields -------------------------------------------------------------------------------- */

static const sfu__tensor *find(const sfu_dataset *dataset, const char *name) {
    for (int64_t i = 0; i < dataset->tensor_count; i++) {
        if (strcmp(dataset->tensors[i].name, name) == 0) {
            return &dataset->tensors[i];
        }
    }
    return NULL;
}

/* The expected type and shape of a tensor. rows < 0: any number; columns < 0: one dimension. */
typedef struct tensor_spec {
    const char *name;
    sfu__dtype dtype;
    int64_t rows, columns;
    bool required;
} tensor_spec;

static const char *type_name(sfu__dtype dtype) {
    static const char *const names[] = {"F32", "I32", "I64", "U8", "another type"};
    return names[dtype];
}

static sfu_status find_checked(const sfu__tensor **found, const sfu_dataset *dataset, const char *location,
                               const tensor_spec *spec) {
    const sfu__tensor *tensor = find(dataset, spec->name);
    *found = tensor;
    if (tensor == NULL) {
        return spec->required ? sfu__fail(SFU_ERR_FORMAT, "%s: the tensor %s is missing", location, spec->name)
                              : SFU_OK;
    }
    const int dims = spec->columns < 0 ? 1 : 2;
    if (tensor->dtype != spec->dtype || tensor->dims != dims || (spec->rows >= 0 && tensor->shape[0] != spec->rows)) {
        char rows[32] = "any number";
        if (spec->rows >= 0) {
            snprintf(rows, sizeof rows, "%lld", (long long)spec->rows);
        }
        return sfu__fail(SFU_ERR_FORMAT,
                         "%s: the tensor %s must be %s with %d dimension%s and %s rows; it is %s, %d-dimensional, with "
                         "%lld",
                         location, spec->name, type_name(spec->dtype), dims, dims == 1 ? "" : "s", rows,
                         type_name(tensor->dtype), tensor->dims, (long long)(tensor->dims > 0 ? tensor->shape[0] : 1));
    }
    return SFU_OK;
}

static sfu_status bind_graph(sfu_dataset *dataset, const char *location) {
    sfu_status status = SFU_OK;
    const sfu__tensor *indptr;
    const sfu__tensor *indices;
    const sfu__tensor *weight;
    SFU_TRY(find_checked(&indptr, dataset, location, &(tensor_spec){"adj.indptr", SFU__I64, -1, -1, true}));
    SFU_TRY(find_checked(&indices, dataset, location, &(tensor_spec){"adj.indices", SFU__I32, -1, -1, true}));
    SFU_TRY(
        find_checked(&weight, dataset, location, &(tensor_spec){"adj.weight", SFU__F32, indices->count, -1, false}));
    if (indptr->count < 2 || indptr->count > INT32_MAX) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: adj.indptr has %lld entries; between 2 and %d nodes + 1 are possible",
                           location, (long long)indptr->count, INT32_MAX);
        goto done;
    }
    dataset->nodes = (int32_t)(indptr->count - 1);
    dataset->graph =
        (sfu_csr){dataset->nodes, dataset->nodes, indptr->data, indices->data, weight != NULL ? weight->data : NULL};
done:
    return status;
}

/* `features` is the number in the metadata, or negative. */
static sfu_status bind_features(sfu_dataset *dataset, const char *location, int64_t features) {
    sfu_status status = SFU_OK;
    const int64_t n = dataset->nodes;
    const sfu__tensor *x;
    SFU_TRY(find_checked(&x, dataset, location, &(tensor_spec){"x", SFU__F32, n, 0, false}));
    if (x != NULL) {
        dataset->dense = x->data;
        features = x->shape[1];
    } else {
        const sfu__tensor *indptr;
        const sfu__tensor *indices;
        const sfu__tensor *value;
        SFU_TRY(find_checked(&indptr, dataset, location, &(tensor_spec){"x.indptr", SFU__I64, n + 1, -1, true}));
        SFU_TRY(find_checked(&indices, dataset, location, &(tensor_spec){"x.indices", SFU__I32, -1, -1, true}));
        SFU_TRY(
            find_checked(&value, dataset, location, &(tensor_spec){"x.value", SFU__F32, indices->count, -1, false}));
        if (features < 0) {
            status = sfu__fail(SFU_ERR_FORMAT, "%s: sparse features need their number as the metadata \"features\"",
                               location);
            goto done;
        }
        dataset->sparse = (sfu_csr){dataset->nodes, 0, indptr->data, indices->data, value != NULL ? value->data : NULL};
    }
    if (features < 1 || features > INT32_MAX) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: %lld features; there must be between 1 and %d", location,
                           (long long)features, INT32_MAX);
        goto done;
    }
    dataset->features = (int32_t)features;
    dataset->sparse.cols = dataset->dense != NULL ? 0 : (int32_t)features;
done:
    return status;
}

/* *found: the dataset has a tensor of standard split number `split`. */
static sfu_status bind_split(sfu__standard_split *bound, bool *found, const sfu_dataset *dataset, const char *location,
                             int32_t split) {
    *found = false;
    *bound = (sfu__standard_split){0};
    for (int part = 0; part < SFU_PARTS; part++) {
        char buffer[SFU__SPLIT_TENSOR_MAX];
        const char *name = sfu__split_tensor(buffer, split, part);
        const sfu__tensor *tensor;
        const sfu_status status =
            find_checked(&tensor, dataset, location, &(tensor_spec){name, SFU__I32, -1, -1, false});
        if (status != SFU_OK) {
            return status;
        }
        if (tensor != NULL && tensor->count > dataset->nodes) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: %s has %lld nodes, the graph only %d", location, name,
                             (long long)tensor->count, dataset->nodes);
        }
        if (tensor != NULL) {
            *found = true;
            bound->nodes[part] = tensor->data;
            bound->count[part] = (int32_t)tensor->count;
        }
    }
    return SFU_OK;
}

static sfu_status bind_splits(sfu_dataset *dataset, const char *location) {
    sfu_status status = SFU_OK;
    sfu__standard_split bound;
    bool found;
    dataset->more_count = 0; /* the second call, after the tensors were copied, binds anew */
    SFU_TRY(bind_split(&bound, &found, dataset, location, 0));
    if (!found) {
        goto done;
    }
    dataset->has_standard = true;
    memcpy(dataset->standard, bound.nodes, sizeof dataset->standard);
    memcpy(dataset->standard_count, bound.count, sizeof dataset->standard_count);
    while (dataset->more_count + 1 < SFU__STANDARD_SPLITS_MAX) {
        SFU_TRY(bind_split(&bound, &found, dataset, location, dataset->more_count + 1));
        if (!found) {
            break;
        }
        sfu__standard_split *grown =
            sfu__resize(dataset->more_splits, (size_t)dataset->more_count + 1, sizeof *dataset->more_splits);
        if (grown == NULL) {
            status = SFU_ERR_MEMORY;
            goto done;
        }
        dataset->more_splits = grown;
        grown[dataset->more_count++] = bound;
    }
done:
    return status;
}

static sfu_status bind_names(sfu_dataset *dataset, const char *location) {
    sfu_status status = SFU_OK;
    const sfu__tensor *offsets;
    const sfu__tensor *bytes;
    SFU_TRY(find_checked(&offsets, dataset, location,
                         &(tensor_spec){"nodes.offsets", SFU__I64, (int64_t)dataset->nodes + 1, -1, false}));
    SFU_TRY(find_checked(&bytes, dataset, location, &(tensor_spec){"nodes.bytes", SFU__U8, -1, -1, offsets != NULL}));
    if (offsets != NULL) {
        dataset->node_bytes = bytes->data;
        dataset->node_offsets = offsets->data;
        dataset->node_bytes_size = bytes->count;
    }
done:
    return status;
}

/* The number of classes if they have no names: one more than the largest label. */
static int64_t count_classes(const int32_t *labels, int64_t nodes) {
    int64_t classes = 0;
    for (int64_t i = 0; labels != NULL && i < nodes; i++) {
        classes = labels[i] >= classes ? (int64_t)labels[i] + 1 : classes;
    }
    return classes;
}

int64_t sfu__classes_most(int64_t nodes) {
    enum { ALWAYS = 1 << 16 };
    return nodes > ALWAYS ? nodes : ALWAYS;
}

static sfu_status bind_labels(sfu_dataset *dataset, const char *location) {
    const sfu__tensor *labels;
    const sfu_status status =
        find_checked(&labels, dataset, location, &(tensor_spec){"y", SFU__I32, dataset->nodes, -1, false});
    if (status != SFU_OK) {
        return status;
    }
    dataset->labels = labels != NULL ? labels->data : NULL;
    const int64_t classes =
        dataset->class_names.count > 0 ? dataset->class_names.count : count_classes(dataset->labels, dataset->nodes);
    /* Memory is allocated per class: one large label must not cause an allocation of gigabytes. */
    const int64_t most = sfu__classes_most(dataset->nodes);
    if (dataset->class_names.count == 0 && classes > most) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: y: a label is %lld; without names of classes it must be below %lld",
                         location, (long long)classes - 1, (long long)most);
    }
    dataset->classes = (int32_t)classes;
    return SFU_OK;
}

static sfu_status bind_columns(const sfu_dataset *dataset, const char *location) {
    for (int64_t i = 0; i < dataset->tensor_count; i++) {
        if (strncmp(dataset->tensors[i].name, "node.", 5) == 0) {
            const sfu__tensor *column;
            const sfu_status status =
                find_checked(&column, dataset, location,
                             &(tensor_spec){dataset->tensors[i].name, SFU__F32, dataset->nodes, -1, true});
            if (status != SFU_OK) {
                return status;
            }
        }
    }
    return SFU_OK;
}

sfu_status sfu__dataset_bind(sfu_dataset *dataset, const char *location, int64_t features) {
    sfu_status status = SFU_OK;
    SFU_TRY(bind_graph(dataset, location));
    SFU_TRY(bind_features(dataset, location, features));
    SFU_TRY(bind_labels(dataset, location));
    SFU_TRY(bind_splits(dataset, location));
    SFU_TRY(bind_names(dataset, location));
    SFU_TRY(bind_columns(dataset, location));
    if (dataset->feature_names.count > 0 && dataset->feature_names.count != dataset->features) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: %lld feature names for %d features", location,
                           (long long)dataset->feature_names.count, dataset->features);
    }
done:
    return status;
}

/* ---- copying out of a mapped file ------------------------------------------------------------------------------- */

/* A tensor that is copied in parallel. */
typedef struct copy_job {
    char *to;
    const char *from;
    size_t size;
} copy_job;

enum { COPY_PIECE = 1 << 22 };

static sfu_status copy_piece(void *context, int64_t piece, int thread) {
    (void)thread;
    const copy_job *self = context;
    const size_t begin = (size_t)piece * COPY_PIECE;
    const size_t left = self->size - begin;
    memcpy(self->to + begin, self->from + begin, left < COPY_PIECE ? left : COPY_PIECE);
    return SFU_OK;
}

static sfu_status copy_tensor(sfu_dataset *dataset, sfu__tensor *tensor) {
    sfu_status status = SFU_OK;
    copy_job job = {NULL, tensor->data, (size_t)tensor->count * (tensor->dtype == SFU__I64 ? 8 : 4)};
    SFU_ALLOC(job.to, job.size);
    SFU_TRY(sfu__parallel(copy_piece, &job, (int64_t)((job.size + COPY_PIECE - 1) / COPY_PIECE), sfu__thread_count(0)));
    void *taken = job.to;
    job.to = NULL;
    SFU_TRY(own(dataset, taken));
    tensor->data = taken;
    sfu__bytes_drop(sfu__safetensors_bytes(dataset->file), job.from, job.size);
done:
    sfu__free(job.to);
    return status;
}

/* Whether a tensor belongs to the graph or the features. */
static bool is_of_matrix(const sfu__tensor *tensor) {
    return strncmp(tensor->name, "adj.", 4) == 0 || strncmp(tensor->name, "x.", 2) == 0 ||
           strcmp(tensor->name, "x") == 0;
}

static bool is_integer(const sfu__tensor *tensor) { return tensor->dtype == SFU__I32 || tensor->dtype == SFU__I64; }

int64_t sfu__dataset_bytes(const sfu_dataset *dataset, bool indices_only) {
    int64_t sum = 0;
    for (int64_t i = 0; i < dataset->tensor_count; i++) {
        const sfu__tensor *tensor = &dataset->tensors[i];
        if (is_of_matrix(tensor) && (is_integer(tensor) || !indices_only)) {
            sum += tensor->count * (tensor->dtype == SFU__I64 ? 8 : 4);
        }
    }
    return sum;
}

static bool is_still_mapped(const sfu_dataset *dataset, const sfu__tensor *tensor) {
    return dataset->file != NULL && sfu__bytes_is_mapped(sfu__safetensors_bytes(dataset->file), tensor->data);
}

/* Bytes of the integers that are still mapped: those of the matrices, or the others. */
static int64_t mapped_bytes(const sfu_dataset *dataset, bool matrices) {
    int64_t sum = 0;
    for (int64_t i = 0; i < dataset->tensor_count; i++) {
        const sfu__tensor *tensor = &dataset->tensors[i];
        if (is_of_matrix(tensor) == matrices && is_integer(tensor) && is_still_mapped(dataset, tensor)) {
            sum += tensor->count * (tensor->dtype == SFU__I64 ? 8 : 4);
        }
    }
    return sum;
}

int64_t sfu__dataset_node_bytes(const sfu_dataset *dataset) { return mapped_bytes(dataset, false); }
int64_t sfu__dataset_index_bytes(const sfu_dataset *dataset) { return mapped_bytes(dataset, true); }

sfu_status sfu__dataset_copy_indices(sfu_dataset *dataset, bool matrices) {
    sfu_status status = SFU_OK;
    bool copied = false;
    for (int64_t i = 0; i < dataset->tensor_count; i++) {
        sfu__tensor *tensor = &dataset->tensors[i];
        if (is_integer(tensor) && (matrices || !is_of_matrix(tensor)) && is_still_mapped(dataset, tensor)) {
            SFU_TRY(copy_tensor(dataset, tensor));
            copied = true;
        }
    }
    if (copied) {
        SFU_TRY(sfu__dataset_bind(dataset, dataset->name, dataset->features));
    }
done:
    return status;
}

/* ---- accessors ------------------------------------------------------------------------------------------------ */

const char *sfu_dataset_name(const sfu_dataset *dataset) { return dataset->name; }
int32_t sfu_dataset_nodes(const sfu_dataset *dataset) { return dataset->nodes; }
int32_t sfu_dataset_features(const sfu_dataset *dataset) { return dataset->features; }
int32_t sfu_dataset_classes(const sfu_dataset *dataset) { return dataset->classes; }
sfu_csr sfu_dataset_graph(const sfu_dataset *dataset) { return dataset->graph; }
sfu_csr sfu_dataset_sparse(const sfu_dataset *dataset) { return dataset->sparse; }
const float *sfu_dataset_dense(const sfu_dataset *dataset) { return dataset->dense; }
const int32_t *sfu_dataset_labels(const sfu_dataset *dataset) { return dataset->labels; }

const int32_t *sfu_dataset_standard(const sfu_dataset *dataset, sfu_part part, int32_t *count) {
    const bool known = (int)part >= 0 && part < SFU_PARTS;
    *count = known ? dataset->standard_count[part] : 0;
    return known ? dataset->standard[part] : NULL;
}

int32_t sfu_dataset_standard_splits(const sfu_dataset *dataset) {
    return dataset->has_standard ? 1 + dataset->more_count : 0;
}

const int32_t *sfu_dataset_standard_split(const sfu_dataset *dataset, int32_t split, sfu_part part, int32_t *count) {
    const bool known = (int)part >= 0 && part < SFU_PARTS && split > 0 && split <= dataset->more_count;
    if (split == 0) {
        return sfu_dataset_standard(dataset, part, count);
    }
    *count = known ? dataset->more_splits[split - 1].count[part] : 0;
    return known ? dataset->more_splits[split - 1].nodes[part] : NULL;
}

static const char *name_of(const sfu__strings *names, int64_t i) {
    return i >= 0 && i < names->count ? names->bytes + names->offsets[i] : NULL;
}

const char *sfu_dataset_class_name(const sfu_dataset *dataset, int32_t class_index) {
    return name_of(&dataset->class_names, class_index);
}

const char *sfu_dataset_feature_name(const sfu_dataset *dataset, int32_t feature) {
    return name_of(&dataset->feature_names, feature);
}

const char *sfu_dataset_node_name(const sfu_dataset *dataset, int32_t node, size_t *size) {
    if (dataset->node_offsets == NULL || node < 0 || node >= dataset->nodes) {
        return NULL;
    }
    if (size != NULL) {
        *size = (size_t)(dataset->node_offsets[node + 1] - dataset->node_offsets[node]);
    }
    return dataset->node_bytes + dataset->node_offsets[node];
}

const char *sfu_dataset_column_name(const sfu_dataset *dataset, int i) {
    for (int64_t t = 0; i >= 0 && t < dataset->tensor_count; t++) {
        if (strncmp(dataset->tensors[t].name, "node.", 5) == 0 && i-- == 0) {
            return dataset->tensors[t].name + 5;
        }
    }
    return NULL;
}

const float *sfu_dataset_column(const sfu_dataset *dataset, const char *name) {
    for (int64_t t = 0; t < dataset->tensor_count; t++) {
        const sfu__tensor *tensor = &dataset->tensors[t];
        if (strncmp(tensor->name, "node.", 5) == 0 && strcmp(tensor->name + 5, name) == 0) {
            return tensor->data;
        }
    }
    return NULL;
}

sfu_status sfu_dataset_digest(char digest[65], const sfu_dataset *dataset) {
    sfu_dataset *self = (sfu_dataset *)(uintptr_t)dataset;
    sfu_status status = SFU_OK;
    pthread_mutex_lock(&self->lock);
    if (self->digest[0] == '\0') {
        status = sfu__tensors_digest(self->digest, self->tensors, self->tensor_count);
    }
    if (status == SFU_OK) {
        memcpy(digest, self->digest, sizeof self->digest);
    }
    pthread_mutex_unlock(&self->lock);
    return status;
}

sfu_status sfu__dataset_source_number(int64_t *number, const sfu_dataset *dataset, const char *key) {
    sfu__json_text source = {0};
    const char *text = dataset->source != NULL ? dataset->source : "{}";
    const sfu_status status = sfu__json_read(&source, text, strlen(text), dataset->name);
    *number = sfu__json_whole(sfu__json_get(source.root, key));
    sfu__json_clear(&source);
    return status == SFU_ERR_MEMORY ? status : SFU_OK;
}

sfu_status sfu__csv_put_node(sfu__writer *writer, const sfu_dataset *dataset, int32_t node) {
    size_t size = 0;
    const char *name = sfu_dataset_node_name(dataset, node, &size);
    return name != NULL ? sfu__csv_put(writer, name, size) : sfu__writer_format(writer, "%d", node);
}
