/* dataset_notes.c - what the import did with the columns and labels of a dataset, in sentences. */
#include "dataset.h"
#include "json.h"
#include "transform.h"

#include <stdio.h>

/* "597 labels taken as missing: 597 NA" */
static sfu_status label_note(sfu__text *text, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    sfu__json_text source = {0};
    int64_t total = 0;
    const char *json = dataset->source != NULL ? dataset->source : "{}";
    status = sfu__json_read(&source, json, strlen(json), dataset->name);
    if (status == SFU_ERR_FORMAT) {
        return SFU_OK;
    }
    SFU_TRY(status);
    const sfu__json *missing = sfu__json_get(source.root, "labels_missing");
    for (const sfu__json *item = sfu__json_items(missing); item != NULL; item = item->next) {
        total += sfu__json_whole(item);
    }
    if (total > 0) {
        SFU_TRY(sfu__text_format(text, "%lld label%s taken as missing:", (long long)total, total == 1 ? "" : "s"));
    }
    for (const sfu__json *item = sfu__json_items(missing); total > 0 && item != NULL; item = item->next) {
        SFU_TRY(
            sfu__text_format(text, "%s %lld %s%s", item == sfu__json_items(missing) ? "" : ",",
                             (long long)sfu__json_whole(item), item->key != NULL ? item->key : "?",
                             item->key != NULL && strcmp(item->key, "-1") == 0 ? " (beside other class numbers)" : ""));
    }
done:
    sfu__json_clear(&source);
    return status;
}

/* The i-th sentence, empty after the last. */
static sfu_status write_note(sfu__text *text, const sfu_dataset *dataset, int i) {
    sfu_status status = SFU_OK;
    sfu__transform transform = {0};
    int columns = 0;
    if (dataset->transform != NULL) {
        SFU_TRY(sfu__transform_read(&transform, dataset->transform, dataset->name));
        for (; columns <= i; columns++) {
            SFU_TRY(sfu__transform_note(text, &transform, columns));
            if (text->size == 0 || columns == i) {
                break;
            }
            text->size = 0;
        }
    }
    if (text->size == 0 && columns == i) {
        SFU_TRY(label_note(text, dataset));
    }
done:
    sfu__transform_clear(&transform);
    return status;
}

sfu_status sfu_dataset_import_note(char *text, size_t size, const sfu_dataset *dataset, int i) {
    sfu__text note = {0};
    sfu_status status = write_note(&note, dataset, i);
    if (status == SFU_OK && note.size > 0) {
        snprintf(text, size, "%s", note.bytes);
    } else if (status == SFU_OK) {
        status = sfu__fail(SFU_ERR_NOT_FOUND, "%s: there is no note %d about the import", dataset->name, i);
    }
    sfu__text_clear(&note);
    return status;
}
