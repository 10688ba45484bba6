/* rates.c - stores measured rates as JSON in the user's cache folder. There is one file per machine model and kernel
 * set, so that machines that share a home folder do not mix them up. */
#include "rates.h"

#include "backend.h"
#include "dataset.h"
#include "file.h"
#include "json.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define FORMAT "sfumato.rates.6"

#define SLOWDOWN "x nominal time"
const char *const sfu__rate_names[SFU__RATE_COUNT][2] = {
    {"read L1", "GB/s"},
    {"read L2", "GB/s"},
    {"read L3", "GB/s"},
    {"read memory", "GB/s"},
    {"gather a row of 16 bytes, L1", "ns"},
    {"gather a row of 32 bytes, L1", "ns"},
    {"gemm, fastest", "GFLOP/s"},
    {"dropout, per value", "ns"},
    {"adam, per parameter", "ns"},
    {"spmm, up to 4 wide", SLOWDOWN},
    {"spmm, up to 16 wide", SLOWDOWN},
    {"spmm, wider", SLOWDOWN},
    {"gemm, up to 4 wide", SLOWDOWN},
    {"gemm, up to 16 wide", SLOWDOWN},
    {"gemm, wider", SLOWDOWN},
    {"dropout", SLOWDOWN},
    {"adam", SLOWDOWN},
    {"elementwise", SLOWDOWN},
};

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

static json_t *to_json(const sfu__measured *measured) {
    json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "format", FORMAT, "version", SFU_VERSION, "machine",
                               measured->machine.model, "kernels", measured->kernels);
    for (int i = 0; i < SFU__RATE_COUNT; i++) {
        sfu__json_set(&object, sfu__rate_names[i][0], json_real(measured->rates[i]));
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
    const double most = 1e15; /* beyond any plausible rate */
    for (int i = 0; i < SFU__RATE_COUNT; i++) {
        const sfu__json *item = sfu__json_get(object, sfu__rate_names[i][0]);
        if (!sfu__json_is_number(item) || !(sfu__json_number(item) > 0.0 && sfu__json_number(item) <= most)) {
            return "numbers are missing or wrong";
        }
        measured->rates[i] = sfu__json_number(item);
    }
    return NULL;
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

bool sfu__measured_load_here(sfu__measured *measured) {
    const sfu__backend *backend;
    sfu__machine machine;
    if (sfu__backend_cpu(&backend) != SFU_OK) {
        return false;
    }
    sfu__machine_detect(&machine);
    return sfu__measured_load(measured, &machine, backend->name);
}
