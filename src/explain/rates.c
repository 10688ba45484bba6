/* rates.c - stores measured rates as JSON in the user's cache folder. There is one file per machine model and kernel
 * set, so that machines that share a home folder do not mix them up. */
#include "rates.h"

#include "dataset.h"
#include "file.h"
#include "json.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define FORMAT "sfumato.rates.5"

/* An array of the file. The unit rates are one array per kernel, under its name. */
typedef struct field {
    const char *name;
    size_t offset; /* in sfu__measured */
    size_t count;
} field;

#define FIELD(name, member)                                                                                            \
    { name, offsetof(sfu__measured, member), sizeof(((sfu__measured *)NULL)->member) / sizeof(double) }
static const field fields[] = {
    FIELD("level_bytes", memory.bytes),          FIELD("read_GB_s", memory.read),
    FIELD("gather_GB_s", memory.gather),         FIELD("row_ns", memory.row_ns),
    FIELD("size_bytes", rates.size_bytes),       FIELD("spmm_ns", rates.gather_ns),
    FIELD("spmm_row_ns", rates.gather_row_ns),   FIELD("spmm_gaps_ns", rates.half_dropped_ns),
    FIELD("spmm_order_ns", rates.value_perm_ns), FIELD("spmm_columns_ns", rates.csc_ns),
    FIELD("spmm_turn_ns", rates.permuted_ns),    FIELD("spmm_turn_row_ns", rates.permuted_row_ns),
    FIELD("gemm_row_ns", rates.gemm_row_ns),     FIELD("draw_ns", rates.draw_ns),
    FIELD("stream_ns", rates.stream_ns),         FIELD("step_ns", rates.step_ns)};
enum { FIELDS = sizeof fields / sizeof fields[0] };

/* The i-th array: first those above, then the unit rates of each kernel. False beyond the last. */
static bool field_at(field *at, char name[32], int i) {
    if (i >= FIELDS + SFU__KERNEL_COUNT) {
        return false;
    }
    if (i < FIELDS) {
        *at = fields[i];
        return true;
    }
    snprintf(name, 32, "%s_unit_ns", sfu__kernel_name((sfu__kernel)(i - FIELDS)));
    *at = (field){name, offsetof(sfu__measured, rates.unit_ns) + (size_t)(i - FIELDS) * SFU__WIDTHS * sizeof(double),
                  SFU__WIDTHS};
    return true;
}

/* ---- path ------------------------------------------------------------------------------------------------------- */

/* FOLDER/rates.MODEL.KERNELS.json, with special characters replaced by '-'. *path is NULL if there is no cache
 * folder. */
static sfu_status path_of(char **path, const char *model, const char *kernels) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    *path = NULL;
    char *folder = sfu_cache_folder();
    if (folder == NULL) {
        return sfu__cache_folder_known() ? SFU_ERR_MEMORY : SFU_OK;
    }
    SFU_TRY(sfu__text_format(&text, "%s/rates.", folder));
    const size_t begin = text.size;
    SFU_TRY(sfu__text_format(&text, "%s.%s", model, kernels));
    for (size_t i = begin; i < text.size; i++) {
        const unsigned char c = (unsigned char)text.bytes[i];
        text.bytes[i] = (char)(isalnum(c) || c == '.' ? c : '-');
    }
    SFU_TRY(sfu__text_format(&text, ".json"));
    *path = text.bytes;
    text = (sfu__text){0};
done:
    sfu__text_clear(&text);
    sfu__free(folder);
    return status;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static json_t *numbers(const double *values, size_t count) {
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        sfu__json_append(&array, json_real(values[i]));
    }
    return array;
}

static json_t *to_json(const sfu__measured *measured) {
    json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "format", FORMAT, "version", SFU_VERSION, "machine",
                               measured->machine.model, "kernels", measured->kernels);
    field at;
    char name[32];
    for (int i = 0; field_at(&at, name, i); i++) {
        const double *values = (const double *)(const void *)((const char *)measured + at.offset);
        sfu__json_set(&object, at.name, numbers(values, at.count));
    }
    return object;
}

sfu_status sfu__measured_save(const sfu__measured *measured) {
    sfu_status status = SFU_OK;
    sfu__writer *writer = NULL;
    char *path = NULL, *folder = NULL, *text = NULL;
    json_t *object = NULL;
    SFU_TRY(path_of(&path, measured->machine.model, measured->kernels));
    if (path == NULL) {
        sfu__log(SFU_LOG_NOTE, "the rates are not kept: neither XDG_CACHE_HOME nor HOME is set");
        goto done;
    }
    folder = sfu_cache_folder();
    object = to_json(measured);
    SFU_TRY(sfu__json_print(&text, object, JSON_INDENT(1) | JSON_REAL_PRECISION(6), path));
    if (folder == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_TRY(sfu__make_folders(folder));
    SFU_TRY(sfu__writer_open(&writer, path));
    SFU_TRY(sfu__writer_add(writer, text, strlen(text)));
    SFU_TRY(sfu__writer_commit(writer));
done:
    sfu__writer_close(writer);
    sfu__free(text);
    json_decref(object);
    sfu__free(folder);
    sfu__free(path);
    return status;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* A rate is a non-negative number below any plausible limit. */
static bool read_numbers(double *values, size_t count, const sfu__json *array) {
    const double most = 1e15;
    if (!sfu__json_is(array, SFU__JSON_ARRAY) || array->count != count) {
        return false;
    }
    for (const sfu__json *item = sfu__json_items(array); item != NULL; item = item->next) {
        *values = sfu__json_number(item);
        if (!sfu__json_is_number(item) || !(*values >= 0.0 && *values <= most)) {
            return false;
        }
        values++;
    }
    return true;
}

static bool ascending(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!(values[i] > (i > 0 ? values[i - 1] : 0.0))) {
            return false;
        }
    }
    return true;
}

static bool text_is(const sfu__json *object, const char *key, const char *wanted) {
    const char *text = sfu__json_string(sfu__json_get(object, key));
    return text != NULL && strcmp(text, wanted) == 0;
}

/* A description of the error, or NULL. */
static const char *from_json(sfu__measured *measured, const sfu__json *object) {
    if (!text_is(object, "format", FORMAT)) {
        const char *format = sfu__json_string(sfu__json_get(object, "format"));
        const bool other = format != NULL && strncmp(format, FORMAT, strlen(FORMAT) - 1) == 0;
        return other ? "measured with another version" : "not a file of rates";
    }
    if (!text_is(object, "machine", measured->machine.model) || !text_is(object, "kernels", measured->kernels)) {
        return "measured on another machine";
    }
    field at;
    char name[32];
    for (int i = 0; field_at(&at, name, i); i++) {
        double *values = (double *)(void *)((char *)measured + at.offset);
        if (!read_numbers(values, at.count, sfu__json_get(object, at.name))) {
            return "numbers are missing or wrong";
        }
    }
    for (int level = 0; level < SFU__MEMORY_LEVELS; level++) {
        if (!(measured->memory.read[level] > 0.0)) {
            return "numbers are missing or wrong";
        }
    }
    return ascending(measured->rates.size_bytes, SFU__SIZES) ? NULL : "sizes do not ascend";
}

bool sfu__measured_load(sfu__measured *measured, const sfu__machine *machine, const char *kernels) {
    char *path = NULL;
    sfu__bytes bytes = {0};
    sfu__json_text object = {0};
    bool found = false;
    *measured = (sfu__measured){.machine = *machine};
    strncpy(measured->kernels, kernels, sizeof measured->kernels - 1);
    if (path_of(&path, machine->model, kernels) != SFU_OK || path == NULL || !sfu__path_is_file(path)) {
        goto done;
    }
    const char *wrong = "could not be read";
    if (sfu__bytes_open(&bytes, path) == SFU_OK) {
        const sfu_status status = sfu__json_read(&object, (const char *)bytes.data, bytes.size, path);
        wrong = status == SFU_OK           ? from_json(measured, object.root)
                : status == SFU_ERR_FORMAT ? "not JSON"
                                           : "out of memory";
    }
    found = wrong == NULL;
    if (!found) {
        sfu__log(SFU_LOG_NOTE, "%s: ignored: %s; sfumato bench measures again", path, wrong);
    }
done:
    sfu__json_clear(&object);
    sfu__bytes_close(&bytes);
    sfu__free(path);
    return found;
}

void sfu__rates_of_this_machine(sfu__rates *rates, bool *measured) {
    const sfu__backend *backend;
    sfu__machine machine;
    sfu__measured before;
    *rates = sfu__nominal_rates;
    *measured = false;
    if (sfu__backend_cpu(&backend) != SFU_OK) {
        return;
    }
    sfu__machine_detect(&machine);
    if (sfu__measured_load(&before, &machine, backend->name)) {
        *rates = before.rates;
        *measured = true;
    }
}
