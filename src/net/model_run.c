/* model_run.c - settings and scores of the training of a model, as JSON in the metadata of its file:
 *
 *   {"settings": {"lr": 0.01, ...}, "scores": {"epochs": 87, ..., "confusion": [[9, 1], [0, 7]]}}
 *
 * NaN is written as null. A seed above 2^63 is a string, because JSON readers do not support such integers.
 */
#include "model.h"

#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The floating-point scores, one row each. */
static const struct {
    const char *key;
    size_t field;
} numbers[] = {{"train_accuracy", offsetof(sfu_scores, train_accuracy)},
               {"val_accuracy", offsetof(sfu_scores, val_accuracy)},
               {"val_loss", offsetof(sfu_scores, val_loss)},
               {"test_accuracy", offsetof(sfu_scores, test_accuracy)},
               {"test_macro_f1", offsetof(sfu_scores, test_macro_f1)},
               {"val_score", offsetof(sfu_scores, val_score)},
               {"test_score", offsetof(sfu_scores, test_score)},
               {"temperature", offsetof(sfu_scores, temperature)},
               {"test_log_loss", offsetof(sfu_scores, test_log_loss)},
               {"test_calibration_error", offsetof(sfu_scores, test_calibration_error)},
               {"raw_test_log_loss", offsetof(sfu_scores, raw_test_log_loss)},
               {"raw_test_calibration_error", offsetof(sfu_scores, raw_test_calibration_error)}};
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
                             "\"loss\":\"%s\",\"class_weight\":\"%s\",\"epochs\":%d,\"patience\":%d,\"keep\":\"%s\","
                             "\"metric\":\"%s\",",
                             options->loss == SFU_LOSS_SUM ? "sum" : "mean", options->balanced ? "balanced" : "none",
                             options->epochs, options->patience, options->keep == SFU_KEEP_LAST ? "last" : "best",
                             sfu_metric_name((int)options->metric, NULL)));
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
    if (scores->leaked > 0) {
        SFU_TRY(sfu__text_format(text, ",\"leaked\":%d", scores->leaked));
    }
    SFU_TRY(sfu__text_format(text, ",\"split\":\"%.64s\"", scores->split_digest));
    if (confusion != NULL) {
        SFU_TRY(put_confusion(text, confusion, classes));
    }
    SFU_TRY(sfu__text_format(text, "}}"));
done:
    return status;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static int32_t whole_number(const sfu__json *value) {
    const int64_t number = sfu__json_whole(value);
    return number >= 0 && number <= INT32_MAX ? (int32_t)number : 0;
}

static uint64_t seed_of(const sfu__json *value) {
    const char *text = sfu__json_string(value);
    return text != NULL ? strtoull(text, NULL, 10) : (uint64_t)sfu__json_whole(value);
}

/* Version 0.1.0 knew accuracy alone, and did not calibrate. */
static void read_older(sfu_scores *scores, const sfu__json *json) {
    if (sfu__json_get(json, "temperature") == NULL) {
        scores->temperature = 1;
        scores->val_score = scores->val_accuracy;
        scores->test_score = scores->test_accuracy;
    }
}

static sfu_status check_temperature(const sfu_scores *scores, const char *path) {
    return scores->temperature >= 1e-6 && scores->temperature <= 1e6
               ? SFU_OK
               : sfu__fail(SFU_ERR_FORMAT,
                           "%s: the metadata \"run\": \"temperature\" is %g; expected a number from 1e-6 to 1e6", path,
                           scores->temperature);
}

static void read_scores(sfu_scores *scores, const sfu__json *json) {
    scores->epochs = whole_number(sfu__json_get(json, "epochs"));
    scores->best_epoch = whole_number(sfu__json_get(json, "best_epoch"));
    for (int i = 0; i < NUMBERS; i++) {
        const sfu__json *value = sfu__json_get(json, numbers[i].key);
        const double number = sfu__json_is_number(value) ? sfu__json_number(value) : (double)NAN;
        memcpy((char *)scores + numbers[i].field, &number, sizeof number);
    }
    read_older(scores, json);
    scores->interrupted = sfu__json_is(sfu__json_get(json, "interrupted"), SFU__JSON_TRUE);
    scores->seed = seed_of(sfu__json_get(json, "seed"));
    scores->leaked = whole_number(sfu__json_get(json, "leaked"));
    const char *split = sfu__json_string(sfu__json_get(json, "split"));
    snprintf(scores->split_digest, sizeof scores->split_digest, "%s", split != NULL ? split : "");
}

/* Checked before the allocation, so that a few bytes cannot request much memory. */
static bool is_square(const sfu__json *rows, int32_t classes) {
    bool good = sfu__json_is(rows, SFU__JSON_ARRAY) && rows->count == (uint32_t)classes;
    for (const sfu__json *row = sfu__json_items(rows); row != NULL && good; row = row->next) {
        good = row->kind == SFU__JSON_ARRAY && row->count == (uint32_t)classes;
    }
    return good;
}

static sfu_status read_confusion(int32_t **confusion, int32_t classes, const sfu__json *rows, const char *path) {
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
    int32_t *out = *confusion;
    for (const sfu__json *row = sfu__json_items(rows); row != NULL; row = row->next) {
        for (const sfu__json *cell = sfu__json_items(row); cell != NULL; cell = cell->next) {
            *out++ = whole_number(cell);
        }
    }
    return SFU_OK;
}

sfu_status sfu__run_read(sfu_scores *scores, int32_t **confusion, int32_t classes, const char *run, const char *path) {
    sfu__json_text json = {0};
    sfu_status status = sfu__json_read(&json, run, strlen(run), path);
    if (status == SFU_ERR_MEMORY) {
        return status;
    }
    const sfu__json *found = sfu__json_get(json.root, "scores");
    if (!sfu__json_is(json.root, SFU__JSON_OBJECT)) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: the metadata \"run\" is not a JSON object", path);
    } else if (sfu__json_is(found, SFU__JSON_OBJECT)) {
        read_scores(scores, found);
        status = check_temperature(scores, path);
        status =
            status != SFU_OK ? status : read_confusion(confusion, classes, sfu__json_get(found, "confusion"), path);
    }
    sfu__json_clear(&json);
    return status;
}
