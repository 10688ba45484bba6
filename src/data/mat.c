/* The reader, where libmatio was there when this was built; at the end, what stands in for it where it was not. */
#include "mat.h"
#include "file.h"

#include <stdio.h>
#include <string.h>

#if SFU_HAVE_MAT

#include "lazy.h"

#include <matio.h>
#include <pthread.h>

/* What is used of libmatio. */
static struct {
    int (*log_init)(const char *program, void (*log)(int level, char *message));
    mat_t *(*open)(const char *path, int mode);
    int (*close)(mat_t *mat);
    int (*rewind)(mat_t *mat);
    matvar_t *(*next_info)(mat_t *mat);
    matvar_t *(*info)(mat_t *mat, const char *name);
    int (*data)(mat_t *mat, matvar_t *variable);
    void (*release)(matvar_t *variable);
} matio;

/* matio keeps its log, and HDF5 below it nearly everything, in global variables: one file is read at a time. Held from
 * open to free. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;

struct sfu__mat {
    char *path;
    size_t size; /* of the file */
    mat_t *file;
    matvar_t *variable; /* whose data the last table borrows */
    sfu__strings names;
    sfu__text list;
};

/* matio would print to stderr. */
static void ignore_message(int level, char *message) { /* NOLINT(readability-non-const-parameter): matio's type */
    (void)level;
    (void)message;
}

static sfu_status load_matio(void) {
    static const sfu__symbol symbols[] = {{"Mat_LogInitFunc", &matio.log_init},
                                          {"Mat_Open", &matio.open},
                                          {"Mat_Close", &matio.close},
                                          {"Mat_Rewind", &matio.rewind},
                                          {"Mat_VarReadNextInfo", &matio.next_info},
                                          {"Mat_VarReadInfo", &matio.info},
                                          {"Mat_VarReadDataAll", &matio.data},
                                          {"Mat_VarFree", &matio.release},
                                          {NULL, NULL}};
    if (loaded) {
        return SFU_OK;
    }
    const sfu_status status = sfu__lazy_load(SFU_MAT_SONAME, "reading .mat", symbols);
    if (status == SFU_OK) {
        matio.log_init("", ignore_message);
        loaded = true;
    }
    return status;
}

/* HDF5, if this matio has it, prints the story of each error, unless told not to; it is told for each thread apart. */
static void silence_hdf5(void) {
    static int (*set_auto)(int64_t stack, void *print, void *data);
    static const sfu__symbol symbols[] = {{"H5Eset_auto2", &set_auto}, {NULL, NULL}};
    if (set_auto != NULL || sfu__lazy_load(SFU_MAT_SONAME, "reading .mat", symbols) == SFU_OK) {
        set_auto(0, NULL, NULL);
    }
}

/* ---- opening -------------------------------------------------------------------------------------------------- */

static sfu_status add_variable(sfu__mat *mat, const matvar_t *variable) {
    enum { LONG_ENOUGH = 400 };
    sfu_status status = SFU_OK;
    char quoted[SFU__QUOTE_MAX];
    const size_t size = strlen(variable->name);
    SFU_TRY(sfu__strings_add(&mat->names, variable->name, size));
    if (mat->list.size > LONG_ENOUGH) {
        return SFU_OK;
    }
    sfu__quote(quoted, variable->name, size);
    SFU_TRY(
        sfu__text_format(&mat->list, "%s%.*s", mat->names.count > 1 ? ", " : "", (int)strlen(quoted) - 2, quoted + 1));
    for (int i = 0; i < variable->rank && i < SFU__ARRAY_DIMS && variable->dims != NULL; i++) {
        SFU_TRY(sfu__text_format(&mat->list, "%s%zu", i > 0 ? "x" : " ", variable->dims[i]));
    }
    if (mat->list.size > LONG_ENOUGH) {
        SFU_TRY(sfu__text_format(&mat->list, ", ..."));
    }
done:
    return status;
}

static sfu_status list_variables(sfu__mat *mat) {
    enum { VARIABLES_MAX = 100000 };
    sfu_status status = sfu__text_add(&mat->list, "", 0);
    for (matvar_t *variable; status == SFU_OK && (variable = matio.next_info(mat->file)) != NULL;) {
        if (variable->name != NULL) {
            status = mat->names.count < VARIABLES_MAX
                         ? add_variable(mat, variable)
                         : sfu__fail(SFU_ERR_FORMAT, "%s: more than %d variables", mat->path, VARIABLES_MAX);
        }
        matio.release(variable);
    }
    if (status == SFU_OK && matio.rewind(mat->file) != 0) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: the file cannot be read a second time", mat->path);
    }
    return status;
}

/* matio tells a missing file from a broken one only in words. */
static sfu_status look_at_file(sfu__mat *mat) {
    sfu__bytes bytes;
    const sfu_status status = sfu__bytes_open(&bytes, mat->path);
    if (status == SFU_OK) {
        mat->size = bytes.size;
        sfu__bytes_close(&bytes);
    }
    return status;
}

sfu_status sfu__mat_open(sfu__mat **mat, const char *path) {
    *mat = NULL;
    sfu_status status = SFU_OK;
    pthread_mutex_lock(&one_at_a_time);
    sfu__mat *self = sfu__alloc_zero(1, sizeof *self);
    if (self == NULL) {
        pthread_mutex_unlock(&one_at_a_time);
        return SFU_ERR_MEMORY;
    }
    self->path = sfu__copy_string(path);
    if (self->path == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_TRY(look_at_file(self));
    SFU_TRY(load_matio());
    silence_hdf5();
    self->file = matio.open(path, MAT_ACC_RDONLY);
    if (self->file == NULL) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: byte 0: not a .mat file", path);
        goto done;
    }
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
    if (mat->variable != NULL) {
        matio.release(mat->variable);
    }
    if (mat->file != NULL) {
        matio.close(mat->file);
    }
    sfu__strings_clear(&mat->names);
    sfu__text_clear(&mat->list);
    sfu__free(mat->path);
    sfu__free(mat);
    pthread_mutex_unlock(&one_at_a_time);
}

const char *sfu__mat_list(const sfu__mat *mat) { return mat->list.bytes; }

bool sfu__mat_has(const sfu__mat *mat, const char *name) {
    for (int64_t i = 0; i < mat->names.count; i++) {
        size_t size;
        const char *bytes = sfu__strings_get(&mat->names, i, &size);
        if (size == strlen(name) && memcmp(bytes, name, size) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

/* numpy's names of matio's types of numbers. */
static const char *type_code(enum matio_types type) {
    static const struct {
        enum matio_types type;
        const char *code;
    } codes[] = {{MAT_T_INT8, "=i1"},   {MAT_T_UINT8, "=u1"},  {MAT_T_INT16, "=i2"}, {MAT_T_UINT16, "=u2"},
                 {MAT_T_INT32, "=i4"},  {MAT_T_UINT32, "=u4"}, {MAT_T_INT64, "=i8"}, {MAT_T_UINT64, "=u8"},
                 {MAT_T_SINGLE, "=f4"}, {MAT_T_DOUBLE, "=f8"}};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i].type == type) {
            return codes[i].code;
        }
    }
    return "?";
}

/* A view of `count` numbers that matio has read. */
static sfu_status view(sfu__array *array, const char *place, const char *code, int64_t count, const void *data) {
    sfu_status status = SFU_OK;
    *array = (sfu__array){0};
    snprintf(array->place, sizeof array->place, "%s", place);
    SFU_TRY(sfu__array_set_type(array, code, strlen(code)));
    SFU_TRY(sfu__array_set_shape(array, 1, &count));
    SFU_TRY(sfu__array_set_data(array, data, (size_t)count * array->item));
done:
    return status;
}

/* Two sides that can be multiplied, and a class of real numbers. */
static sfu_status check_info(const sfu__mat *mat, const matvar_t *variable, const char *place) {
    const bool numbers = variable->class_type >= MAT_C_SPARSE && variable->class_type <= MAT_C_UINT64;
    if (!numbers || variable->isComplex || variable->rank != 2 || variable->dims == NULL) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: it is not a matrix of real numbers", place);
    }
    if (variable->dims[0] > INT32_MAX || variable->dims[1] > INT32_MAX) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: a matrix of %zu x %zu is too large", place, variable->dims[0],
                         variable->dims[1]);
    }
    /* Version 5 and 7.3 pack with deflate, which makes at most 1032 bytes out of one. */
    enum { DEFLATE_MOST = 1032, SLACK = 65536 };
    const double bytes = (double)variable->dims[0] * (double)variable->dims[1];
    if (variable->class_type != MAT_C_SPARSE && bytes > (double)mat->size * DEFLATE_MOST + SLACK) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: a matrix of %zu x %zu cannot come out of a file of %zu bytes", place,
                         variable->dims[0], variable->dims[1], mat->size);
    }
    return SFU_OK;
}

static sfu_status set_dense(sfu__table *table, const matvar_t *variable) {
    sfu_status status = SFU_OK;
    sfu__array array;
    const int64_t shape[2] = {(int64_t)variable->dims[0], (int64_t)variable->dims[1]};
    SFU_TRY(view(&array, table->place, type_code(variable->data_type), shape[0] * shape[1], variable->data));
    if (variable->nbytes < array.size) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: %zu bytes of data, where %zu are announced", table->place,
                         variable->nbytes, array.size);
    }
    SFU_TRY(sfu__array_set_shape(&array, 2, shape));
    array.by_column = true;
    sfu__table_set_dense(table, &array);
done:
    return status;
}

/* jc has a column's offsets into ir and data, both of which may be longer than what is used of them. */
static sfu_status set_sparse(sfu__table *table, const matvar_t *variable) {
    sfu_status status = SFU_OK;
    const mat_sparse_t *sparse = variable->data;
    const int64_t rows = (int64_t)variable->dims[0];
    const int64_t cols = (int64_t)variable->dims[1];
    const bool whole = (int64_t)sparse->njc == cols + 1 && sparse->jc != NULL;
    const int64_t used = whole ? (int64_t)sparse->jc[cols] : 0;
    sfu__array offsets;
    sfu__array indices;
    sfu__array values;
    if (!whole || used > (int64_t)sparse->nir || used > (int64_t)sparse->ndata ||
        (used > 0 && (sparse->ir == NULL || sparse->data == NULL))) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: the parts of the sparse matrix of %lld x %lld do not fit each other",
                         table->place, (long long)rows, (long long)cols);
    }
    SFU_TRY(view(&offsets, table->place, "=u4", cols + 1, sparse->jc));
    SFU_TRY(view(&indices, table->place, "=u4", used, sparse->ir));
    SFU_TRY(view(&values, table->place, type_code(variable->data_type), used, sparse->data));
    table->is_sparse = true;
    SFU_TRY(sfu__triplets_compressed(&table->sparse, table->place, rows, cols, &offsets, &indices, &values, true));
done:
    return status;
}

sfu_status sfu__mat_get(sfu__table *table, sfu__mat *mat, const char *name) {
    sfu_status status = SFU_OK;
    snprintf(table->place, sizeof table->place, "%.400s: %.100s", mat->path, name);
    if (!sfu__mat_has(mat, name)) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: there is no such variable; the file has: %s", table->place,
                         mat->list.bytes);
    }
    if (mat->variable != NULL) {
        matio.release(mat->variable);
    }
    mat->variable = matio.info(mat->file, name);
    if (mat->variable == NULL) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: the variable cannot be read (is the file broken?)", table->place);
    }
    SFU_TRY(check_info(mat, mat->variable, table->place));
    if (matio.data(mat->file, mat->variable) != 0 || mat->variable->data == NULL) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: its data cannot be read (is the file cut short?)", table->place);
    }
    SFU_TRY(mat->variable->class_type == MAT_C_SPARSE ? set_sparse(table, mat->variable)
                                                      : set_dense(table, mat->variable));
done:
    return status;
}

#else

sfu_status sfu__mat_open(sfu__mat **mat, const char *path) {
    *mat = NULL;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "%s: this build reads no .mat files: it was made without libmatio", path);
}

/* No mat can be made, so none of these is ever given one. */
void sfu__mat_free(sfu__mat *mat) { (void)mat; }

const char *sfu__mat_list(const sfu__mat *mat) { return mat != NULL ? "" : NULL; }

bool sfu__mat_has(const sfu__mat *mat, const char *name) { return mat != NULL && name == NULL; }

sfu_status sfu__mat_get(sfu__table *table, sfu__mat *mat, const char *name) {
    (void)table;
    (void)mat;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "%s: this build reads no .mat files", name);
}

#endif
