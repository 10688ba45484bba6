/* mat_matio.c - reads .mat files of version 7.3 through libmatio; stubs if built without it. */
#include "mat_int.h"
#include "progress.h"

#include <stdio.h>
#include <string.h>

#if SFU_HAVE_MAT

#include "lazy.h"

#include <matio.h>
#include <pthread.h>

/* The functions of libmatio that are used. */
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

/* libmatio keeps its log, and HDF5 below it most of its state, in global variables, so only one file is read at a time.
 * Held from open to free. */
static pthread_mutex_t matio_lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;

/* By default libmatio prints to stderr. */
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

/* HDF5, if this libmatio has it, prints a trace of each error unless it is disabled, per thread. */
static void silence_hdf5(void) {
    static int (*set_auto)(int64_t stack, void *print, void *data);
    static const sfu__symbol symbols[] = {{"H5Eset_auto2", &set_auto}, {NULL, NULL}};
    if (set_auto != NULL || sfu__lazy_load(SFU_MAT_SONAME, "reading .mat", symbols) == SFU_OK) {
        set_auto(0, NULL, NULL);
    }
}

/* ---- opening -------------------------------------------------------------------------------------------------- */

static sfu_status add_variable(sfu__mat *mat, const matvar_t *variable) {
    int64_t shape[SFU__ARRAY_DIMS];
    int dims = 0;
    while (variable->dims != NULL && dims < variable->rank && dims < SFU__ARRAY_DIMS) {
        shape[dims] = variable->dims[dims] < INT64_MAX ? (int64_t)variable->dims[dims] : INT64_MAX;
        dims++;
    }
    return sfu__mat_add(mat, variable->name, strlen(variable->name), shape, dims);
}

static sfu_status list_variables(sfu__mat *mat) {
    enum { VARIABLES_MAX = 100000 };
    sfu_status status = SFU_OK;
    for (matvar_t *variable; status == SFU_OK && (variable = matio.next_info(mat->hdf5)) != NULL;) {
        if (variable->name != NULL) {
            status = mat->names.count < VARIABLES_MAX
                         ? add_variable(mat, variable)
                         : sfu__fail(SFU_ERR_FORMAT, "%s: more than %d variables", mat->path, VARIABLES_MAX);
        }
        matio.release(variable);
    }
    if (status == SFU_OK && matio.rewind(mat->hdf5) != 0) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: the file cannot be read a second time", mat->path);
    }
    return status;
}

sfu_status sfu__mat_matio_open(sfu__mat *mat) {
    sfu_status status = SFU_OK;
    pthread_mutex_lock(&matio_lock);
    mat->holds_matio = true;
    if (sfu__path_is_pipe(mat->path)) {
        return sfu__fail(SFU_ERR_FORMAT,
                         "%s: expected a file, found a pipe, which .mat of version 7.3 cannot be read from", mat->path);
    }
    SFU_TRY(load_matio());
    SFU_TRY(sfu__poll());
    silence_hdf5();
    mat->hdf5 = matio.open(mat->path, MAT_ACC_RDONLY);
    if (mat->hdf5 == NULL) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: byte 512: not a whole .mat file of version 7.3 (is it cut short?)",
                         mat->path);
    }
    SFU_TRY(list_variables(mat));
done:
    return status;
}

void sfu__mat_matio_close(sfu__mat *mat) {
    if (mat->variable != NULL) {
        matio.release(mat->variable);
    }
    if (mat->hdf5 != NULL) {
        matio.close(mat->hdf5);
    }
    if (mat->holds_matio) {
        pthread_mutex_unlock(&matio_lock);
    }
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

/* The numpy type code of a number type of libmatio. */
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

/* A view of `count` numbers read by libmatio. */
static sfu_status view(sfu__array *array, const char *location, const char *code, int64_t count, const void *data) {
    sfu_status status = SFU_OK;
    *array = (sfu__array){0};
    snprintf(array->location, sizeof array->location, "%s", location);
    SFU_TRY(sfu__array_set_type(array, code, strlen(code)));
    SFU_TRY(sfu__array_set_shape(array, 1, &count));
    SFU_TRY(sfu__array_set_data(array, data, (size_t)count * array->item));
done:
    return status;
}

/* Requires a two-dimensional variable of real numbers whose sizes are in range. */
static sfu_status check_info(const sfu__mat *mat, const matvar_t *variable, const char *location) {
    const bool numbers = variable->class_type >= MAT_C_SPARSE && variable->class_type <= MAT_C_UINT64;
    if (!numbers || variable->isComplex || variable->rank != 2 || variable->dims == NULL) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: it is not a matrix of real numbers", location);
    }
    if (variable->dims[0] > INT32_MAX || variable->dims[1] > INT32_MAX) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: a matrix of %zu x %zu is too large", location, variable->dims[0],
                         variable->dims[1]);
    }
    /* HDF5 compresses, and need not store data that was never written. */
    if (variable->class_type != MAT_C_SPARSE) {
        const int64_t entries = (int64_t)variable->dims[0] * (int64_t)variable->dims[1];
        return sfu__check_unpacked(location, sfu__memory_of(0, entries), mat->bytes.size);
    }
    return SFU_OK;
}

static sfu_status set_dense(sfu__table *table, const matvar_t *variable) {
    sfu_status status = SFU_OK;
    sfu__array array;
    const int64_t shape[2] = {(int64_t)variable->dims[0], (int64_t)variable->dims[1]};
    SFU_TRY(view(&array, table->location, type_code(variable->data_type), shape[0] * shape[1], variable->data));
    if (variable->nbytes < array.size) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: %zu bytes of data, where %zu are declared", table->location,
                         variable->nbytes, array.size);
    }
    SFU_TRY(sfu__array_set_shape(&array, 2, shape));
    array.by_column = true;
    sfu__table_set_dense(table, &array);
done:
    return status;
}

/* jc holds the column offsets into ir and data, both of which may be longer than needed. */
static sfu_status set_sparse(sfu__table *table, const matvar_t *variable) {
    sfu_status status = SFU_OK;
    const mat_sparse_t *sparse = variable->data;
    sfu__array offsets;
    sfu__array indices;
    sfu__array values;
    if (sparse->jc == NULL || (sparse->ir == NULL && sparse->nir > 0) || (sparse->data == NULL && sparse->ndata > 0)) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: the sparse matrix is incomplete", table->location);
    }
    SFU_TRY(view(&offsets, table->location, "=u4", (int64_t)sparse->njc, sparse->jc));
    SFU_TRY(view(&indices, table->location, "=u4", (int64_t)sparse->nir, sparse->ir));
    SFU_TRY(view(&values, table->location, type_code(variable->data_type), (int64_t)sparse->ndata, sparse->data));
    SFU_TRY(
        sfu__mat_sparse(table, (int64_t)variable->dims[0], (int64_t)variable->dims[1], &offsets, &indices, &values));
done:
    return status;
}

sfu_status sfu__mat_matio_get(sfu__table *table, sfu__mat *mat, const char *name) {
    sfu_status status = SFU_OK;
    if (mat->variable != NULL) {
        matio.release(mat->variable);
    }
    matvar_t *variable = matio.info(mat->hdf5, name);
    mat->variable = variable;
    if (variable == NULL) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: the variable cannot be read (is the file broken?)", table->location);
    }
    SFU_TRY(check_info(mat, variable, table->location));
    if (matio.data(mat->hdf5, variable) != 0 || variable->data == NULL) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: its data cannot be read (is the file cut short?)", table->location);
    }
    SFU_TRY(variable->class_type == MAT_C_SPARSE ? set_sparse(table, variable) : set_dense(table, variable));
done:
    return status;
}

#else

sfu_status sfu__mat_matio_open(sfu__mat *mat) {
    return sfu__fail(
        SFU_ERR_UNSUPPORTED,
        "%s: a .mat file of version 7.3, which this build cannot read: it was made without libmatio (save it "
        "with -v7)",
        mat->path);
}

/* Nothing is ever open. */
void sfu__mat_matio_close(sfu__mat *mat) { (void)mat; }

sfu_status sfu__mat_matio_get(sfu__table *table, sfu__mat *mat, const char *name) {
    (void)table;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "%s: %s: .mat files of version 7.3 cannot be read", mat->path, name);
}

#endif
