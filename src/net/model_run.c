/* model_run.c - settings and scores of the training that made a model, as the JSON that its file carries:
 *
 *   {"settings": {"lr": 0.01, ...}, "scores": {"epochs": 87, ..., "confusion": [[9, 1], [0, 7]]}}
 *
 * A number that is none (NaN) is null. A seed above 2^63 is a text, for JSON readers have no such numbers.
 */
#include "model.h"

#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of the scores, one row each. */
static const struct {
    const char *key;
    size_t field;
} numbers[] = {{"train_accuracy", offsetof(sfu_scores, train_accuracy)},
               {"val_accuracy", offsetof(sfu_scores, val_accuracy)},
               {"val_loss", offsetof(sfu_scores, val_loss)},
               {"test_accuracy", offsetof(sfu_scores, test_accuracy)},
               {"test_macro_f1", offsetof(sfu_scores, test_macro_f1)}};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static sfu_status put_number(sfu__text *text, const char *key, double number) {
    sfu_status status = sfu__text_format(text, "\"%s\":", key);
    if (status == SFU_OK) {
        status = isfinite(number) ? sfu__text_number(text, number) : sfu__text_format(text, "null");
    }
    return status != SFU_OK ? status : sfu__text_format(text, ",");
}

static sfu_status put_seed(sfu__text *text, uint64_t seed) {
    return sfu__text_format(text, seed <= INT64_MAX ? "\"seed\":%" PRIu64 : "\"seed\":\"%" PRIu64 "\"", seed);
}

static sfu_status put_settings(sfu__text *text, const sfu_train_options *options) {
    sfu_status status = SFU_OK;
    SFU_TRY(put_number(text, "lr", options->lr));
    SFU_TRY(put_number(text, "weight_decay", options->weight_decay));
    SFU_TRY(put_number(text, "dropout", options->dropout));
    SFU_TRY(sfu__text_format(text,
                             "\"loss\":\"%s\",\"class_weight\":\"%s\",\"epochs\":%d,\"patience\":%d,\"keep\":\"%s\",",
                             options->loss == SFU_LOSS_SUM ? "sum" : "mean", options->balanced ? "balanced" : "none",
                             options->epochs, options->patience, options->keep == SFU_KEEP_LAST ? "last" : "best"));
    SFU_TRY(put_seed(text, options->seed));
done:
    return status;
}

static sfu_status put_confusion(sfu__text *text, const int32_t *confusion, int32_t classes) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, ",\"confusion\":["));
    for (int32_t i = 0; i < classes; i++) {
        for (int32_t j = 0; j < classes; j++) {
            const char *before = j > 0 ? "," : i > 0 ? ",[" : "[";
            SFU_TRY(sfu__text_format(text, "%s%d", before, confusion[(int64_t)i * classes + j]));
        }
        SFU_TRY(sfu__text_format(text, "]"));
    }
    SFU_TRY(sfu__text_format(text, "]"));
done:
    return status;
}

sfu_status sfu__run_print(sfu__text *text, const sfu_train_options *options, const sfu_scores *scores,
                          const int32_t *confusion, int32_t classes) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, "{\"settings\":{"));
    SFU_TRY(put_settings(text, options));
    SFU_TRY(
        sfu__text_format(text, "},\"scores\":{\"epochs\":%d,\"best_epoch\":%d,", scores->epochs, scores->best_epoch));
    for (int i = 0; i < NUMBERS; i++) {
        double number = 0.0;
        memcpy(&number, (const char *)scores + numbers[i].field, sizeof number);
        SFU_TRY(put_number(text, numbers[i].key, number));
    }
    SFU_TRY(sfu__text_format(text, "\"interrupted\":%s,", scores->interrupted ? "true" : "false"));
    SFU_TRY(put_seed(text, scores->seed));
    SFU_TRY(sfu__text_format(text, ",\"split\":\"%.64s\"", scores->split_digest));
    if (confusion != NULL) {
        SFU_TRY(put_confusion(text, confusion, classes));
    }
    SFU_TRY(sfu__text_format(text, "}}"));
done:
    return status;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static int32_t whole_number(const json_t *value) {
    const json_int_t number = json_integer_value(value);
    return number >= 0 && number <= INT32_MAX ? (int32_t)number : 0;
}

static uint64_t seed_of(const json_t *value) {
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : (uint64_t)json_integer_value(value);
}

static void read_scores(sfu_scores *scores, const json_t *json) {
    scores->epochs = whole_number(json_object_get(json, "epochs"));
    scores->best_epoch = whole_number(json_object_get(json, "best_epoch"));
    for (int i = 0; i < NUMBERS; i++) {
        const json_t *value = json_object_get(json, numbers[i].key);
        const double number = json_is_number(value) ? json_number_value(value) : (double)NAN;
        memcpy((char *)scores + numbers[i].field, &number, sizeof number);
    }
    scores->interrupted = json_is_true(json_object_get(json, "interrupted"));
    scores->seed = seed_of(json_object_get(json, "seed"));
    const char *split = json_string_value(json_object_get(json, "split"));
    snprintf(scores->split_digest, sizeof scores->split_digest, "%s", split != NULL ? split : "");
}

/* Looked through before there is room for it, so that a few bytes cannot ask for much memory. */
static bool is_square(const json_t *rows, int32_t classes) {
    bool good = json_is_array(rows) && json_array_size(rows) == (size_t)classes;
    for (int32_t i = 0; i < classes && good; i++) {
        const json_t *row = json_array_get(rows, (size_t)i);
        good = json_is_array(row) && json_array_size(row) == (size_t)classes;
    }
    return good;
}

static sfu_status read_confusion(int32_t **confusion, int32_t classes, const json_t *rows, const char *path) {
    if (rows == NULL) {
        return SFU_OK;
    }
    if (!is_square(rows, classes)) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: the metadata \"run\": \"confusion\" is not %d rows of %d numbers", path,
                         classes, classes);
    }
    *confusion = sfu__alloc((size_t)classes * (size_t)classes, sizeof **confusion);
    if (*confusion == NULL) {
        return SFU_ERR_MEMORY;
    }
    for (int32_t i = 0; i < classes; i++) {
        for (int32_t j = 0; j < classes; j++) {
            (*confusion)[(int64_t)i * classes + j] =
                whole_number(json_array_get(json_array_get(rows, (size_t)i), (size_t)j));
        }
    }
    return SFU_OK;
}

sfu_status sfu__run_read(sfu_scores *scores, int32_t **confusion, int32_t classes, const char *run, const char *path) {
    json_t *json = NULL;
    sfu_status status = sfu__json_read(&json, run, strlen(run), 0, path);
    if (status == SFU_ERR_MEMORY) {
        return status;
    }
    status = SFU_OK;
    if (!json_is_object(json)) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: the metadata \"run\" is not a JSON object", path);
    } else if (json_is_object(json_object_get(json, "scores"))) {
        const json_t *found = json_object_get(json, "scores");
        read_scores(scores, found);
        status = read_confusion(confusion, classes, json_object_get(found, "confusion"), path);
    }
    json_decref(json);
    return status;
}
