/* manifest.c - manifest.json: the request, the data, the version of the program and the machine. Besides timings.csv,
 * the only file of the results that may differ from run to run. */
#include "results_int.h"

#include "file.h"
#include "json.h"
#include "parallel.h"
#include "protocol.h"

#include <string.h>
#include <sys/utsname.h>
#include <time.h>

static const char format[] = "sfumato.results.1";

static sfu_status put_machine(sfu__text *json) {
    struct utsname name;
    char when[32] = "";
    const time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts) != NULL) {
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    const bool known = uname(&name) == 0;
    return sfu__text_format(json,
                            "\"machine\": {\"system\": \"%s\", \"processor\": \"%s\", \"cores\": %d}, "
                            "\"written\": \"%s\", ",
                            known ? name.sysname : "", known ? name.machine : "", sfu__thread_count(0), when);
}

/* The digests of the splits of the entries. */
static sfu_status put_splits(sfu__text *json, const sfu__entries *entries) {
    sfu_status status = SFU_OK;
    bool first = true;
    SFU_TRY(sfu__text_format(json, "\"splits\": {"));
    for (int i = 0; i < entries->count; i++) {
        const sfu__task *task = &entries->items[i].task;
        bool seen = false;
        for (int j = 0; j < i && !seen; j++) {
            const sfu__task *other = &entries->items[j].task;
            seen = strcmp(task->dataset, other->dataset) == 0 && strcmp(task->size, other->size) == 0 &&
                   strcmp(task->split, other->split) == 0;
        }
        if (!seen) {
            sfu__text key = {0};
            status = sfu__text_format(&key, "%s %s %s", task->dataset, task->size, task->split);
            status = status == SFU_OK ? sfu__text_format(json, "%s", first ? "\n    " : ",\n    ") : status;
            status = status == SFU_OK ? sfu__text_json(json, key.bytes) : status;
            status = status == SFU_OK ? sfu__text_format(json, ": \"%s\"", entries->items[i].split_digest) : status;
            sfu__text_clear(&key);
            SFU_TRY(status);
            first = false;
        }
    }
    SFU_TRY(sfu__text_format(json, "}"));
done:
    return status;
}

sfu_status sfu__manifest_write(const char *folder, const sfu__request *request, const sfu__entries *entries) {
    sfu_status status = SFU_OK;
    sfu__text json = {0};
    sfu__writer *writer = NULL;
    char *path = sfu__path_join(folder, "manifest.json");
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    SFU_TRY(sfu__text_format(
        &json, "{\n  \"format\": \"%s\",\n  \"version\": \"%s\",\n  \"protocol\": %d,\n  \"request\": ", format,
        sfu_version(), SFU__PROTOCOL));
    SFU_TRY(sfu__request_print(&json, request));
    SFU_TRY(sfu__text_format(&json, ",\n  "));
    SFU_TRY(put_machine(&json));
    SFU_TRY(put_splits(&json, entries));
    SFU_TRY(sfu__text_format(&json, "\n}\n"));
    SFU_TRY(sfu__writer_open(&writer, path));
    SFU_TRY(sfu__writer_add(writer, json.bytes, json.size));
    SFU_TRY(sfu__writer_commit(writer));
done:
    sfu__writer_close(writer);
    sfu__text_clear(&json);
    sfu__free(path);
    return status;
}

/* In another format the same keys may have other meanings. */
static sfu_status check_format(const sfu__json *json, const char *path) {
    const char *found = sfu__json_string(sfu__json_get(json, "format"));
    char quoted[SFU__QUOTE_MAX];
    return found == NULL || strcmp(found, format) == 0
               ? SFU_OK
               : sfu__fail(SFU_ERR_FORMAT, "%s: expected the format \"%s\", found %s", path, format,
                           sfu__quote(quoted, found, strlen(found)));
}

sfu_status sfu__manifest_read(sfu__request *request, const char *folder) {
    sfu_status status = SFU_OK;
    sfu__bytes bytes = {0};
    sfu__json_text json = {0};
    char *path = sfu__path_join(folder, "manifest.json");
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    if (!sfu__path_is_file(path)) {
        goto done;
    }
    SFU_TRY(sfu__bytes_open(&bytes, path));
    SFU_TRY(sfu__json_read(&json, (const char *)bytes.data, bytes.size, path));
    SFU_TRY(check_format(json.root, path));
    SFU_TRY(sfu__request_read(request, sfu__json_get(json.root, "request"), path));
    const char *version = sfu__json_string(sfu__json_get(json.root, "version"));
    const sfu__json *protocol = sfu__json_get(json.root, "protocol");
    request->version = sfu__copy_string(version != NULL ? version : "");
    request->protocol = sfu__json_is_number(protocol) ? sfu__json_number(protocol) : SFU__PROTOCOL_UNRECORDED;
    status = request->version != NULL ? SFU_OK : SFU_ERR_MEMORY;
done:
    sfu__bytes_close(&bytes);
    sfu__json_clear(&json);
    sfu__free(path);
    return status;
}
