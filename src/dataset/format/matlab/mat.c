/* mat.c - opens .mat files of any version and reads variables by name. */
#include "mat_int.h"

#include <stdio.h>
#include <string.h>

/* ---- list of variables ---------------------------------------------------------------------------------------- */

sfu_status sfu__mat_add(sfu__mat *mat, const char *name, size_t name_size, const int64_t *shape, int dims) {
    enum { LIST_MAX = 400 };
    sfu_status status = SFU_OK;
    char quoted[SFU__QUOTE_MAX];
    SFU_TRY(sfu__strings_add(&mat->names, name, name_size));
    if (mat->list.size > LIST_MAX) {
        return SFU_OK;
    }
    sfu__quote(quoted, name, name_size);
    SFU_TRY(sfu__text_format(&mat->list, "%s%.*s", mat->names.count > 1 ? ", " : "", (int)strlen(quoted) - 2,
                             quoted + 1)); /* without the quotes */
    for (int i = 0; i < dims; i++) {
        SFU_TRY(sfu__text_format(&mat->list, "%s%lld", i > 0 ? "x" : " ", (long long)shape[i]));
    }
    if (mat->list.size > LIST_MAX) {
        SFU_TRY(sfu__text_format(&mat->list, ", ..."));
    }
done:
    return status;
}

const char *sfu__mat_list(const sfu__mat *mat) { return mat->list.bytes; }

/* The index of a variable, or -1. */
static int64_t find(const sfu__mat *mat, const char *name) {
    for (int64_t i = 0; i < mat->names.count; i++) {
        size_t size;
        const char *bytes = sfu__strings_get(&mat->names, i, &size);
        if (size == strlen(name) && memcmp(bytes, name, size) == 0) {
            return i;
        }
    }
    return -1;
}

bool sfu__mat_has(const sfu__mat *mat, const char *name) { return find(mat, name) >= 0; }

/* ---- opening -------------------------------------------------------------------------------------------------- */

/* Both versions begin with 116 bytes of text, 8 bytes of offsets, the version, and "MI" in the file's byte order. */
static sfu_status list_variables(sfu__mat *mat) {
    enum { HEADER = 128, VERSION = 124, ORDER = 126 };
    const unsigned char *bytes = mat->bytes.data;
    const bool little = mat->bytes.size >= HEADER && bytes[ORDER] == 'I' && bytes[ORDER + 1] == 'M';
    mat->big_endian = mat->bytes.size >= HEADER && bytes[ORDER] == 'M' && bytes[ORDER + 1] == 'I';
    const int version = little || mat->big_endian ? bytes[VERSION + little] : 0;
    if (version == 1) {
        return sfu__mat5_list(mat);
    }
    if (version == 2) {
        return sfu__mat_matio_open(mat);
    }
    return sfu__fail(SFU_ERR_FORMAT, "%s: byte %d: not a .mat file of version 5 or 7.3", mat->path, VERSION);
}

sfu_status sfu__mat_open(sfu__mat **mat, const char *path) {
    *mat = NULL;
    sfu_status status = SFU_OK;
    sfu__mat *self = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->path = sfu__copy_string(path);
    if (self->path == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_TRY(sfu__text_add(&self->list, "", 0));
    SFU_TRY(sfu__bytes_open(&self->bytes, path));
    SFU_TRY(list_variables(self));
    *mat = self;
    self = NULL;
done:
    sfu__mat_free(self);
    return status;
}

void sfu__mat_free(sfu__mat *mat) {
    if (mat == NULL) {
        return;
    }
    sfu__mat_matio_close(mat);
    sfu__bytes_close(&mat->bytes);
    sfu__strings_clear(&mat->names);
    sfu__text_clear(&mat->list);
    sfu__free(mat->offsets);
    sfu__free(mat->unpacked);
    sfu__free(mat->path);
    sfu__free(mat);
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

static sfu_status truncate_array(sfu__array *array, int64_t used) {
    if (used > array->count) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: a sparse matrix of %lld entries has only %lld of them", array->location,
                         (long long)used, (long long)array->count);
    }
    array->size = (size_t)used * array->item;
    return sfu__array_set_shape(array, 1, &used);
}

sfu_status sfu__mat_sparse(sfu__table *table, int64_t rows, int64_t cols, const sfu__array *offsets,
                           sfu__array *indices, sfu__array *values) {
    sfu_status status = SFU_OK;
    int64_t used;
    SFU_TRY(sfu__array_need_numbers(offsets));
    if (cols < 0 || offsets->count != cols + 1) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: a sparse matrix of %lld columns with %lld offsets", table->location,
                         (long long)cols, (long long)offsets->count);
    }
    SFU_TRY(sfu__array_whole(&used, offsets, cols));
    SFU_TRY(truncate_array(indices, used));
    SFU_TRY(truncate_array(values, used));
    table->is_sparse = true;
    SFU_TRY(sfu__triplets_compressed(&table->sparse, table->location, rows, cols, offsets, indices, values, true));
done:
    return status;
}

sfu_status sfu__mat_get(sfu__table *table, sfu__mat *mat, const char *name) {
    snprintf(table->location, sizeof table->location, "%.400s: %.100s", mat->path, name);
    const int64_t i = find(mat, name);
    if (i < 0) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: there is no such variable; the file has: %s", table->location,
                         mat->names.count > 0 ? mat->list.bytes : "none (is it cut short?)");
    }
    return mat->offsets != NULL ? sfu__mat5_get(table, mat, i) : sfu__mat_matio_get(table, mat, name);
}
