/* container.c - reads and writes datasets as safetensors files: memory-mapped on reading, written atomically. */
#include "dataset.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "sfumato.dataset.1"

/* ---- reading -------------------------------------------------------------------------------------------------- */

static sfu_status read_metadata(sfu_dataset *dataset, const char *path, int64_t *features) {
    sfu_status status = SFU_OK;
    sfu__text location = {0};
    const char *format = sfu__safetensors_metadata(dataset->file, "format");
    const char *count = sfu__safetensors_metadata(dataset->file, "features");
    const char *source = sfu__safetensors_metadata(dataset->file, "source");
    if (format == NULL || strcmp(format, FORMAT) != 0) {
        char quoted[SFU__QUOTE_MAX];
        status = sfu__fail(SFU_ERR_FORMAT, "%s: the metadata \"format\" is %s; a dataset's is \"" FORMAT "\"", path,
                           format == NULL ? "missing" : sfu__quote(quoted, format, strlen(format)));
        goto done;
    }
    *features = -1;
    if (count != NULL && !sfu__parse_int64_string(features, count)) {
        char quoted[SFU__QUOTE_MAX];
        status = sfu__fail(SFU_ERR_FORMAT, "%s: the metadata \"features\" is %s; it must be a whole number", path,
                           sfu__quote(quoted, count, strlen(count)));
        goto done;
    }
    SFU_TRY(sfu__text_format(&location, "%s: the metadata \"classes\"", path));
    SFU_TRY(sfu__names_from_json(&dataset->class_names, sfu__safetensors_metadata(dataset->file, "classes"),
                                 location.bytes));
    sfu__text_clear(&location);
    SFU_TRY(sfu__text_format(&location, "%s: the metadata \"feature_names\"", path));
    SFU_TRY(sfu__names_from_json(&dataset->feature_names, sfu__safetensors_metadata(dataset->file, "feature_names"),
                                 location.bytes));
    const char *transform = sfu__safetensors_metadata(dataset->file, "transform");
    dataset->source = source != NULL ? sfu__copy_string(source) : NULL;
    dataset->transform = transform != NULL ? sfu__copy_string(transform) : NULL;
    if ((source != NULL && dataset->source == NULL) || (transform != NULL && dataset->transform == NULL)) {
        status = SFU_ERR_MEMORY;
    }
done:
    sfu__text_clear(&location);
    return status;
}

/* Copies the table of tensors; tensors of unknown types are ignored. */
static sfu_status copy_tensor_table(sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    int64_t count = 0;
    while (sfu__safetensors_get(dataset->file, count) != NULL) {
        count++;
    }
    SFU_ALLOC(dataset->tensors, count);
    for (int64_t i = 0; i < count; i++) {
        const sfu__tensor *tensor = sfu__safetensors_get(dataset->file, i);
        if (tensor->dtype != SFU__OTHER) {
            dataset->tensors[dataset->tensor_count++] = *tensor;
        }
    }
done:
    return status;
}

static sfu_status bind_file(sfu_dataset **dataset, sfu__safetensors *file, const char *path) {
    sfu_status status = SFU_OK;
    sfu_dataset *self = NULL;
    char *name = sfu__path_stem(path);
    int64_t features = -1;
    if (name == NULL) {
        sfu__safetensors_free(file);
        return SFU_ERR_MEMORY;
    }
    status = sfu__dataset_new(&self, name);
    if (status != SFU_OK) {
        sfu__safetensors_free(file);
        goto done;
    }
    self->file = file;
    SFU_TRY(read_metadata(self, path, &features));
    SFU_TRY(copy_tensor_table(self));
    SFU_TRY(sfu__dataset_bind(self, path, features));
    *dataset = self;
    self = NULL;
done:
    sfu_dataset_free(self);
    sfu__free(name);
    return status;
}

sfu_status sfu__container_open(sfu_dataset **dataset, const char *path, uint64_t memory) {
    *dataset = NULL;
    sfu__safetensors *file = NULL;
    const sfu_status status = memory > 0 ? sfu__safetensors_map(&file, path) : sfu__safetensors_open(&file, path);
    return status != SFU_OK ? status : bind_file(dataset, file, path);
}

sfu_status sfu__container_view(sfu_dataset **dataset, const void *bytes, size_t size, const char *path) {
    *dataset = NULL;
    sfu__safetensors *file = NULL;
    const sfu_status status = sfu__safetensors_view(&file, bytes, size, path);
    return status != SFU_OK ? status : bind_file(dataset, file, path);
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

static int bytes_per_value(sfu__dtype dtype) { return dtype == SFU__I64 ? 8 : dtype == SFU__U8 ? 1 : 4; }

/* Widest type first, then by name: every tensor is aligned, and equal datasets give identical files. */
static int compare_tensors(const void *a, const void *b) {
    const sfu__tensor *x = a;
    const sfu__tensor *y = b;
    const int widths = bytes_per_value(y->dtype) - bytes_per_value(x->dtype);
    return widths != 0 ? widths : strcmp(x->name, y->name);
}

sfu_status sfu_dataset_save(const sfu_dataset *dataset, const char *path) {
    sfu_status status = SFU_OK;
    sfu__tensor *tensors = NULL;
    char *classes = NULL;
    char *feature_names = NULL;
    char features[16];
    SFU_TRY(sfu_dataset_check(dataset));
    SFU_ALLOC(tensors, dataset->tensor_count);
    memcpy(tensors, dataset->tensors, (size_t)dataset->tensor_count * sizeof *tensors);
    qsort(tensors, (size_t)dataset->tensor_count, sizeof *tensors, compare_tensors);

    const char *metadata[16];
    int n = 0;
    snprintf(features, sizeof features, "%" PRId32, dataset->features);
    SFU_TRY(sfu__names_to_json(&classes, &dataset->class_names, dataset->name, "class"));
    SFU_TRY(sfu__names_to_json(&feature_names, &dataset->feature_names, dataset->name, "feature"));
    metadata[n++] = "format", metadata[n++] = FORMAT;
    metadata[n++] = "features", metadata[n++] = features;
    if (classes != NULL) {
        metadata[n++] = "classes", metadata[n++] = classes;
    }
    if (feature_names != NULL) {
        metadata[n++] = "feature_names", metadata[n++] = feature_names;
    }
    if (dataset->source != NULL) {
        metadata[n++] = "source", metadata[n++] = dataset->source;
    }
    if (dataset->transform != NULL) {
        metadata[n++] = "transform", metadata[n++] = dataset->transform;
    }
    metadata[n] = NULL;
    SFU_TRY(sfu__safetensors_write(path, tensors, dataset->tensor_count, metadata));
done:
    sfu__free(classes);
    sfu__free(feature_names);
    sfu__free(tensors);
    return status;
}
