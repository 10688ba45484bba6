/* model_file.c - reads and writes models as safetensors files: one tensor per parameter, without padding; the network
 * and the training run as metadata. The contents do not depend on when or where the file was written.
 */
#include "model.h"
#include "safetensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "sfumato.model.1"
#define FITTED "fitted"

typedef char tensor_name[SFU__PARAMETER_NAME_MAX];

/* Weights and f are stored as matrices, all other parameters as vectors. */
static bool is_matrix(const sfu__parameter *parameter) {
    return parameter->layer < 0 || strcmp(parameter->name, "weight") == 0;
}

/* ---- reading: sizes from shapes --------------------------------------------------------------------------------- */

typedef struct source {
    const sfu__safetensors *file;
    const char *path;
} source;

static sfu_status fail_tensor(const source *from, const char *name, const char *what) {
    return sfu__fail(SFU_ERR_FORMAT, "%s: tensor \"%.80s\": %s", from->path, name, what);
}

static const sfu__tensor *find(const source *from, int layer, const char *name) {
    tensor_name text;
    return sfu__safetensors_find(from->file,
                                 sfu__parameter_name(text, &(sfu__parameter){.layer = layer, .name = name}));
}

/* Dimension `dimension` of a weight that the network requires. */
static sfu_status weight_dimension(int32_t *size, const source *from, int layer, int dimension) {
    tensor_name name;
    sfu__parameter_name(name, &(sfu__parameter){.layer = layer, .name = "weight"});
    const sfu__tensor *tensor = sfu__safetensors_find(from->file, name);
    if (tensor == NULL) {
        return fail_tensor(from, name, "it is missing");
    }
    if (tensor->dims != 2 || tensor->count < 1 || tensor->shape[dimension] > INT32_MAX / 2) {
        return fail_tensor(from, name, "expected the shape [in, out], two numbers above 0");
    }
    *size = (int32_t)tensor->shape[dimension];
    return SFU_OK;
}

/* Without weights before the softmax, its columns are the features, one per class; only the names tell their number. */
static sfu_status sizes_from_names(sfu_model *self, const source *from) {
    if (self->class_names.count < 1 || self->class_names.count > INT32_MAX / 2) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: the metadata \"classes\" is missing; a network without weights needs it",
                         from->path);
    }
    self->classes = self->features = (int32_t)self->class_names.count;
    return SFU_OK;
}

static sfu_status read_sizes(sfu_model *self, const source *from) {
    sfu_status status = SFU_OK;
    int first = -1;
    int last = -1;
    for (int i = 0; i < self->net->count; i++) {
        if (self->net->layers[i].linear) {
            first = first < 0 ? i : first;
            last = i;
        }
    }
    if (first < 0) {
        return sizes_from_names(self, from);
    }
    SFU_TRY(weight_dimension(&self->features, from, first, 0));
    SFU_TRY(weight_dimension(&self->classes, from, last, 1));
    if (self->net->is_lpnn && self->net->lpnn.input_f) {
        self->features -= self->classes;
    }
    if (self->features < 1) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: tensor \"layer.%d.weight\": expected at least one row for a feature",
                         from->path, first);
    }
    if (self->class_names.count > 0 && self->class_names.count != self->classes) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: the metadata \"classes\" names %lld classes, and the weights have %d",
                         from->path, (long long)self->class_names.count, self->classes);
    }
done:
    return status;
}

static sfu_status check_feature_names(const sfu_model *self, const source *from) {
    return self->feature_names.count == 0 || self->feature_names.count == self->features
               ? SFU_OK
               : sfu__fail(SFU_ERR_FORMAT,
                           "%s: the metadata \"feature_names\" names %lld features, and the weights have %d",
                           from->path, (long long)self->feature_names.count, self->features);
}

/* The number of nodes, from a parameter with one value per node. Contradictory tensors are found by check_tensors. */
static sfu_status read_nodes(sfu_model *self, const source *from) {
    const sfu__tensor *tensor = sfu__model_needs_f(self->net) ? find(from, -1, "f") : NULL;
    for (int i = 0; i < self->net->count && tensor == NULL; i++) {
        const char *name = sfu__layer_learns_nodes(&self->net->layers[i]);
        tensor = name != NULL ? find(from, i, name) : NULL;
    }
    if (tensor == NULL) {
        return sfu__model_needs_f(self->net) ? fail_tensor(from, "f", "it is missing") : SFU_OK;
    }
    if (tensor->dims < 1 || tensor->shape[0] < 1 || tensor->shape[0] > INT32_MAX / 2) {
        return fail_tensor(from, tensor->name, "expected one row per node");
    }
    self->nodes = (int32_t)tensor->shape[0];
    return SFU_OK;
}

/* ---- reading: the tensors --------------------------------------------------------------------------------------- */

static bool has_shape(const sfu__tensor *tensor, const sfu__parameter *parameter) {
    if (is_matrix(parameter)) {
        return tensor->dims == 2 && tensor->shape[0] == parameter->rows && tensor->shape[1] == parameter->cols;
    }
    return tensor->dims <= 1 && tensor->count == parameter->cols && (tensor->dims == 1 || parameter->cols == 1);
}

static sfu_status fail_shape(const source *from, const char *name, const sfu__parameter *parameter) {
    return is_matrix(parameter)
               ? sfu__fail(SFU_ERR_FORMAT, "%s: tensor \"%s\": expected the shape [%d, %d] for this network",
                           from->path, name, parameter->rows, parameter->cols)
               : sfu__fail(SFU_ERR_FORMAT, "%s: tensor \"%s\": expected the shape [%d] for this network", from->path,
                           name, parameter->cols);
}

/* Fails with the first tensor that is neither a parameter nor the digests of the fitted nodes. */
static sfu_status fail_unknown(const sfu_model *self, const source *from) {
    const sfu__tensor *tensor = NULL;
    bool known = true;
    for (int64_t i = 0; known && (tensor = sfu__safetensors_get(from->file, i)) != NULL; i++) {
        known = strcmp(tensor->name, FITTED) == 0;
        for (int j = 0; j < self->parameters.count && !known; j++) {
            tensor_name name;
            known = strcmp(tensor->name, sfu__parameter_name(name, &self->parameters.items[j])) == 0;
        }
    }
    char quoted[SFU__QUOTE_MAX];
    const char *name = tensor != NULL ? tensor->name : "";
    return sfu__fail(SFU_ERR_FORMAT, "%s: tensor %s: the network \"%.200s\" has no such parameter", from->path,
                     sfu__quote(quoted, name, strlen(name)), self->net->text);
}

/* Everything is checked before memory is allocated: allocations are then bounded by the size of the file. */
static sfu_status check_tensors(const sfu_model *self, const source *from) {
    for (int i = 0; i < self->parameters.count; i++) {
        const sfu__parameter *parameter = &self->parameters.items[i];
        tensor_name name;
        const sfu__tensor *tensor = sfu__safetensors_find(from->file, sfu__parameter_name(name, parameter));
        if (tensor == NULL) {
            return fail_tensor(from, name, "it is missing");
        }
        if (tensor->dtype != SFU__F32) {
            return fail_tensor(from, name, "its dtype is not F32");
        }
        if (!has_shape(tensor, parameter)) {
            return fail_shape(from, name, parameter);
        }
    }
    const int64_t count = self->parameters.count + (sfu__safetensors_find(from->file, FITTED) != NULL);
    return sfu__safetensors_get(from->file, count) == NULL ? SFU_OK : fail_unknown(self, from);
}

static sfu_status copy_tensor(float *theta, const sfu__parameter *parameter, const sfu__tensor *tensor,
                              const source *from) {
    const float *values = tensor->data;
    for (int64_t i = 0; i < tensor->count; i++) {
        if (!(isfinite(values[i]) && values[i] >= parameter->low && values[i] <= parameter->high)) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: tensor \"%.80s\": entry %lld is %g, which is out of range",
                             from->path, tensor->name, (long long)i, (double)values[i]);
        }
    }
    for (int32_t row = 0; row < parameter->rows; row++) {
        memcpy(theta + parameter->offset + (int64_t)row * parameter->ld, values + (int64_t)row * parameter->cols,
               (size_t)parameter->cols * sizeof *theta);
    }
    return SFU_OK;
}

static sfu_status read_tensors(sfu_model *self, const source *from) {
    sfu_status status = sfu__parameters_make(&self->parameters, self->net, self->features, self->classes, self->nodes);
    if (status == SFU_ERR_ARGUMENT) { /* widths that contradict the shapes in the file */
        return sfu__fail_prefix(SFU_ERR_FORMAT, from->path);
    }
    SFU_TRY(status);
    SFU_TRY(check_tensors(self, from));
    SFU_ALLOC_ZERO(self->theta, self->parameters.size);
    for (int i = 0; i < self->parameters.count; i++) {
        const sfu__parameter *parameter = &self->parameters.items[i];
        SFU_TRY(copy_tensor(self->theta, parameter, find(from, parameter->layer, parameter->name), from));
    }
done:
    return status;
}

/* The digests of the nodes that the model was fitted on, which a model need not have. */
static sfu_status read_fitted(sfu_model *self, const source *from) {
    sfu_status status = SFU_OK;
    const sfu__tensor *tensor = sfu__safetensors_find(from->file, FITTED);
    if (tensor == NULL) {
        return SFU_OK;
    }
    if (tensor->dtype != SFU__I64 || tensor->dims != 1) {
        return fail_tensor(from, FITTED, "expected I64 with one dimension");
    }
    SFU_ALLOC(self->fitted, tensor->count);
    memcpy(self->fitted, tensor->data, (size_t)tensor->count * sizeof *self->fitted);
    self->fitted_count = tensor->count;
    for (int64_t i = 1; i < self->fitted_count; i++) {
        if (self->fitted[i] < self->fitted[i - 1]) {
            return fail_tensor(from, FITTED, "expected ascending numbers");
        }
    }
done:
    return status;
}

/* ---- reading: the metadata -------------------------------------------------------------------------------------- */

static sfu_status check_format(const source *from) {
    char quoted[SFU__QUOTE_MAX];
    const char *format = sfu__safetensors_metadata(from->file, "format");
    return format != NULL && strcmp(format, FORMAT) == 0
               ? SFU_OK
               : sfu__fail(SFU_ERR_FORMAT, "%s: the metadata \"format\" is %s; a model's is \"" FORMAT "\"", from->path,
                           format == NULL ? "missing" : sfu__quote(quoted, format, strlen(format)));
}

/* Of an error in the composition, only the first line is reported. */
static sfu_status read_net(sfu_model *self, const source *from) {
    const char *text = sfu__safetensors_metadata(from->file, "net");
    if (text == NULL) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: the metadata \"net\" is missing; a model's is its composition",
                         from->path);
    }
    const sfu_status status = sfu__net_read(&self->net, text, NULL);
    if (status != SFU_ERR_ARGUMENT) {
        return status;
    }
    const char *message = sfu_message();
    return sfu__fail(SFU_ERR_FORMAT, "%s: the metadata \"net\": %.*s", from->path, (int)strcspn(message, "\n"),
                     message);
}

static sfu_status read_names(sfu__strings *names, const source *from, const char *key) {
    sfu_status status = SFU_OK;
    sfu__text location = {0};
    SFU_TRY(sfu__text_format(&location, "%s: the metadata \"%s\"", from->path, key));
    SFU_TRY(sfu__names_from_json(names, sfu__safetensors_metadata(from->file, key), location.bytes));
done:
    sfu__text_clear(&location);
    return status;
}

static sfu_status read_run(sfu_model *self, const source *from) {
    const char *dataset = sfu__safetensors_metadata(from->file, "dataset");
    const char *run = sfu__safetensors_metadata(from->file, "run");
    if (dataset != NULL && strspn(dataset, "0123456789abcdef") + 1 != sizeof self->dataset) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: the metadata \"dataset\" is not a digest of 64 hexadecimal digits",
                         from->path);
    }
    snprintf(self->dataset, sizeof self->dataset, "%s", dataset != NULL ? dataset : "");
    if (run == NULL) {
        return SFU_OK;
    }
    self->run = sfu__copy_string(run);
    return self->run == NULL ? SFU_ERR_MEMORY
                             : sfu__run_read(&self->scores, &self->confusion, self->classes, run, from->path);
}

static sfu_status read_transform(sfu_model *self, const source *from) {
    const char *transform = sfu__safetensors_metadata(from->file, "transform");
    self->transform = transform != NULL ? sfu__copy_string(transform) : NULL;
    return transform != NULL && self->transform == NULL ? SFU_ERR_MEMORY : SFU_OK;
}

static sfu_status read_model(sfu_model **model, sfu__safetensors *file, const char *path) {
    sfu_status status = SFU_OK;
    const source from = {file, path};
    sfu_model *self = NULL;
    SFU_ALLOC_ZERO(self, 1);
    SFU_TRY(check_format(&from));
    SFU_TRY(read_net(self, &from));
    SFU_TRY(read_names(&self->class_names, &from, "classes"));
    SFU_TRY(read_names(&self->feature_names, &from, "feature_names"));
    SFU_TRY(read_sizes(self, &from));
    SFU_TRY(check_feature_names(self, &from));
    SFU_TRY(read_nodes(self, &from));
    SFU_TRY(read_tensors(self, &from));
    SFU_TRY(read_fitted(self, &from));
    SFU_TRY(sfu__model_show_parameters(self));
    SFU_TRY(read_run(self, &from));
    SFU_TRY(read_transform(self, &from));
    *model = self;
    self = NULL;
done:
    sfu_model_free(self);
    sfu__safetensors_free(file);
    return status;
}

sfu_status sfu_model_open(sfu_model **model, const char *path) {
    sfu__safetensors *file = NULL;
    *model = NULL;
    const sfu_status status = sfu__safetensors_open(&file, path);
    return status != SFU_OK ? status : read_model(model, file, path);
}

sfu_status sfu__model_view(sfu_model **model, const void *bytes, size_t size, const char *path) {
    sfu__safetensors *file = NULL;
    *model = NULL;
    const sfu_status status = sfu__safetensors_view(&file, bytes, size, path);
    return status != SFU_OK ? status : read_model(model, file, path);
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* Copies the values of a parameter without padding to `to`. */
static sfu__tensor pack_tensor(float *to, const char *name, const float *theta, const sfu__parameter *parameter) {
    for (int32_t row = 0; row < parameter->rows; row++) {
        memcpy(to + (int64_t)row * parameter->cols, theta + parameter->offset + (int64_t)row * parameter->ld,
               (size_t)parameter->cols * sizeof *to);
    }
    sfu__tensor tensor = {.name = name, .dtype = SFU__F32, .dims = is_matrix(parameter) ? 2 : 1, .data = to};
    tensor.shape[0] = is_matrix(parameter) ? parameter->rows : parameter->cols;
    tensor.shape[1] = is_matrix(parameter) ? parameter->cols : 0;
    tensor.count = (int64_t)parameter->rows * parameter->cols;
    return tensor;
}

/* The widest type first, so that every tensor is aligned; then by name. */
static int compare_tensors(const void *a, const void *b) {
    const sfu__tensor *one = a, *other = b;
    const int wide = (other->dtype == SFU__I64) - (one->dtype == SFU__I64);
    return wide != 0 ? wide : strcmp(one->name, other->name);
}

static sfu__tensor fitted_tensor(const sfu_model *model) {
    return (sfu__tensor){.name = FITTED,
                         .dtype = SFU__I64,
                         .dims = 1,
                         .shape = {model->fitted_count},
                         .count = model->fitted_count,
                         .data = model->fitted};
}

static void list_metadata(const char **list, const sfu_model *model, const char *classes, const char *features) {
    const char *const pairs[][2] = {{"format", FORMAT},
                                    {"net", model->net->text},
                                    {"classes", classes},
                                    {"feature_names", features},
                                    {"dataset", model->dataset[0] != '\0' ? model->dataset : NULL},
                                    {"run", model->run},
                                    {"transform", model->transform}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (pairs[i][1] != NULL) {
            *list++ = pairs[i][0];
            *list++ = pairs[i][1];
        }
    }
    *list = NULL;
}

sfu_status sfu_model_save(const sfu_model *model, const char *path) {
    sfu_status status = SFU_OK;
    const int parameters = model->parameters.count, count = parameters + (model->fitted != NULL);
    int64_t used = 0;
    float *values = NULL;
    sfu__tensor *tensors = NULL;
    tensor_name *names = NULL;
    char *classes = NULL;
    char *features = NULL;
    const char *metadata[16];
    SFU_ALLOC(values, model->parameters.size);
    SFU_ALLOC(tensors, count);
    SFU_ALLOC(names, parameters);
    for (int i = 0; i < parameters; i++) {
        const sfu__parameter *parameter = &model->parameters.items[i];
        tensors[i] = pack_tensor(values + used, sfu__parameter_name(names[i], parameter), model->theta, parameter);
        used += tensors[i].count;
    }
    if (model->fitted != NULL) {
        tensors[parameters] = fitted_tensor(model);
    }
    qsort(tensors, (size_t)count, sizeof *tensors, compare_tensors);
    SFU_TRY(sfu__names_to_json(&classes, &model->class_names, path, "class"));
    SFU_TRY(sfu__names_to_json(&features, &model->feature_names, path, "feature"));
    list_metadata(metadata, model, classes, features);
    SFU_TRY(sfu__safetensors_write(path, tensors, count, metadata));
done:
    sfu__free(classes);
    sfu__free(features);
    sfu__free(names);
    sfu__free(tensors);
    sfu__free(values);
    return status;
}
