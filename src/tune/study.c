/* study.c - the public functions of a study: results, ranking, CSV export. */
#include "csv_write.h"
#include "importance.h"
#include "sized_struct.h"
#include "study_int.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- construction ------------------------------------------------------------------------------------------------ */

const sfu__trial *sfu__trials_best(const sfu__trials *trials) {
    const sfu__trial *best = NULL;
    for (int32_t i = 0; i < trials->count; i++) {
        const sfu__trial *trial = &trials->items[i];
        if (sfu__trial_is_trained(trial) && (best == NULL || sfu__trial_better(trial, best))) {
            best = trial;
        }
    }
    return best;
}

sfu_status sfu__trial_params(sfu__text *text, const sfu__space *space, const double *values) {
    sfu_status status = sfu__text_add(text, "", 0);
    for (int i = 0; i < space->count && status == SFU_OK; i++) {
        if (!isnan(values[i])) {
            SFU_TRY(sfu__text_format(text, "%s%s=", text->size > 0 ? " " : "", space->items[i].name));
            SFU_TRY(sfu__space_print(text, space, i, values[i]));
        }
    }
done:
    return status;
}

sfu_trial sfu__trial_show(const sfu__trial *trial, const char *params, sfu_metric metric) {
    const bool trained = sfu__trial_is_trained(trial), observed = sfu__trial_is_observed(trial);
    return (sfu_trial){.number = trial->number,
                       .state = (sfu_trial_state)trial->state,
                       .val_accuracy = observed && metric == SFU_METRIC_ACCURACY ? trial->outcome.val_score : NAN,
                       .val_score = observed ? trial->outcome.val_score : NAN,
                       .val_loss = trained ? trial->outcome.val_loss : NAN,
                       .epochs = trained ? trial->outcome.epochs : 0,
                       .best_epoch = trained ? trial->outcome.best_epoch : 0,
                       .seed = trial->seed,
                       .params = params,
                       .added = !sfu__trial_is_ours(trial) || trial->foreign_result};
}

/* Texts of the values of one trial. */
static sfu_status write_values(sfu_study *study, const sfu__trial *trial, sfu__text *text) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < study->space->count; i++) {
        text->size = 0;
        SFU_TRY(sfu__text_add(text, "", 0));
        if (!isnan(trial->values[i])) {
            SFU_TRY(sfu__space_print(text, study->space, i, trial->values[i]));
        }
        SFU_TRY(sfu__names_add(&study->values, text->bytes, text->size));
    }
    text->size = 0;
    SFU_TRY(sfu__trial_params(text, study->space, trial->values));
    SFU_TRY(sfu__names_add(&study->params, text->bytes, text->size));
done:
    return status;
}

static sfu_status show_trials(sfu_study *study) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    for (int32_t i = 0; i < study->trials.count; i++) {
        SFU_TRY(write_values(study, &study->trials.items[i], &text));
    }
    SFU_ALLOC(study->public_trials, study->trials.count); /* after all texts are added, because they are reallocated */
    for (int32_t i = 0; i < study->trials.count; i++) {
        size_t size = 0;
        study->public_trials[i] =
            sfu__trial_show(&study->trials.items[i], sfu__strings_get(&study->params, i, &size), study->metric);
    }
done:
    sfu__text_clear(&text);
    return status;
}

static int by_rank(const void *one, const void *other) {
    const sfu__trial *a = *(const sfu__trial *const *)one, *b = *(const sfu__trial *const *)other;
    return a == b ? 0 : sfu__trial_better(a, b) ? -1 : 1;
}

static sfu_status rank_trials(sfu_study *study) {
    sfu_status status = SFU_OK;
    const sfu__trial **order = NULL;
    SFU_ALLOC(order, study->trials.count);
    for (int32_t i = 0; i < study->trials.count; i++) {
        if (sfu__trial_is_trained(&study->trials.items[i])) {
            order[study->ranked_count++] = &study->trials.items[i];
        }
    }
    qsort(order, (size_t)study->ranked_count, sizeof *order, by_rank);
    SFU_ALLOC(study->ranked, study->ranked_count);
    for (int32_t i = 0; i < study->ranked_count; i++) {
        study->ranked[i] = order[i]->number;
    }
done:
    sfu__free(order);
    return status;
}

sfu_status sfu__study_finish(sfu_study *study) {
    sfu_status status = SFU_OK;
    SFU_TRY(show_trials(study));
    SFU_TRY(rank_trials(study));
    SFU_ALLOC_ZERO(study->importance, study->space->count);
    SFU_TRY(sfu__importance(study->importance, study->space, &study->trials));
done:
    return status;
}

void sfu_study_free(sfu_study *study) {
    if (study == NULL) {
        return;
    }
    sfu_model_free(study->model);
    sfu__free(study->importance);
    sfu__free(study->ranked);
    sfu__strings_clear(&study->values);
    sfu__strings_clear(&study->params);
    sfu__free(study->public_trials);
    sfu__trials_clear(&study->trials);
    sfu__space_free(study->space);
    sfu__free(study->why_skipped);
    sfu__free(study->location);
    sfu__free(study->name);
    sfu__free(study);
}

/* ---- access ------------------------------------------------------------------------------------------------------ */

const char *sfu_study_name(const sfu_study *study) { return study->name; }
const char *sfu_study_location(const sfu_study *study) { return study->location; }
const char *sfu_study_space(const sfu_study *study) { return study->space->text; }
int32_t sfu_study_trials(const sfu_study *study) { return study->trials.count; }

int32_t sfu_study_observed(const sfu_study *study) {
    int32_t count = 0;
    for (int32_t i = 0; i < study->trials.count; i++) {
        count += sfu__trial_is_observed(&study->trials.items[i]) && !sfu__trial_is_trained(&study->trials.items[i]);
    }
    return count;
}

int32_t sfu_study_skipped(const sfu_study *study, const char **why) {
    int32_t count = 0;
    for (int32_t i = 0; i < study->trials.count; i++) {
        count += study->trials.items[i].origin == SFU__TRIAL_SKIPPED;
    }
    if (why != NULL) {
        *why = study->why_skipped;
    }
    return count;
}

const sfu_trial *sfu_study_trial(const sfu_study *study, int32_t number) {
    return number >= 0 && number < study->trials.count ? &study->public_trials[number] : NULL;
}

const sfu_trial *sfu_study_ranked(const sfu_study *study, int32_t rank) {
    return rank >= 0 && rank < study->ranked_count ? &study->public_trials[study->ranked[rank]] : NULL;
}

const char *sfu_study_parameter(const sfu_study *study, int i) {
    return i >= 0 && i < study->space->count ? study->space->items[i].name : NULL;
}

double sfu_study_importance(const sfu_study *study, int i) {
    return i >= 0 && i < study->space->count ? study->importance[i] : 0.0;
}

const char *sfu_study_value(const sfu_study *study, int32_t number, int i) {
    if (number < 0 || number >= study->trials.count || i < 0 || i >= study->space->count) {
        return NULL;
    }
    size_t size = 0;
    const char *text = sfu__strings_get(&study->values, (int64_t)number * study->space->count + i, &size);
    return text[0] != '\0' ? text : NULL;
}

const sfu_model *sfu_study_model(const sfu_study *study) { return study->model; }

double sfu_study_value_number(const sfu_study *study, int32_t number, int i) {
    if (sfu_study_value(study, number, i) == NULL) {
        return NAN;
    }
    const sfu__domain *range = &study->space->items[i].range;
    const double value = study->trials.items[number].values[i];
    if (range->kind != SFU__RANGE_CHOICE) {
        return value;
    }
    const sfu__choice *choice = &range->choices[(int)value];
    return choice->is_number ? choice->number : NAN;
}

void sfu_study_winner_options(sfu_train_options *options, const sfu_study *study) {
    sfu__sized_init(options, options->size, &study->winner, sizeof study->winner);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static const char *state_name(sfu_trial_state state) {
    static const char *const names[] = {"RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING"};
    return names[state];
}

/* The scores and the seed of a trial as fields, empty if it has none. */
static sfu_status add_scores(sfu__text *line, const sfu_trial *trial) {
    sfu_status status = SFU_OK;
    if (isfinite(trial->val_score)) {
        SFU_TRY(sfu__text_number(line, trial->val_score));
    }
    SFU_TRY(sfu__text_format(line, ","));
    if (trial->state != SFU_TRIAL_COMPLETE || trial->added) {
        SFU_TRY(sfu__text_format(line, ",,,"));
    } else {
        SFU_TRY(sfu__text_number(line, trial->val_loss));
        SFU_TRY(sfu__text_format(line, ",%d,%d,", trial->epochs, trial->best_epoch));
    }
    if (!trial->added) {
        SFU_TRY(sfu__text_format(line, "%" PRIu64, trial->seed));
    }
done:
    return status;
}

static sfu_status write_trial(sfu__writer *writer, const sfu_study *study, const sfu_trial *trial) {
    sfu_status status = SFU_OK;
    sfu__text line = {0};
    SFU_TRY(sfu__text_format(&line, "%d,%s,", trial->number, state_name(trial->state)));
    SFU_TRY(add_scores(&line, trial));
    SFU_TRY(sfu__writer_add(writer, line.bytes, line.size));
    for (int i = 0; i < study->space->count; i++) {
        const char *value = sfu_study_value(study, trial->number, i);
        SFU_TRY(sfu__writer_format(writer, ","));
        if (value != NULL) {
            SFU_TRY(sfu__csv_put(writer, value, strlen(value)));
        }
    }
    SFU_TRY(sfu__writer_format(writer, "\n"));
done:
    sfu__text_clear(&line);
    return status;
}

static sfu_status write_trials(sfu__writer *writer, const sfu_study *study) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__writer_format(writer, "number,state,%s,val_loss,epochs,best_epoch,seed",
                               study->metric == SFU_METRIC_ACCURACY ? "val_accuracy" : "val_score"));
    for (int i = 0; i < study->space->count; i++) {
        SFU_TRY(sfu__writer_format(writer, ",%s", study->space->items[i].name));
    }
    SFU_TRY(sfu__writer_format(writer, "\n"));
    for (int32_t i = 0; i < study->trials.count; i++) {
        SFU_TRY(write_trial(writer, study, &study->public_trials[i]));
    }
    SFU_TRY(sfu__writer_commit(writer));
done:
    return status;
}

sfu_status sfu_study_export(const sfu_study *study, const char *path, const sfu_csv_options *given) {
    sfu_status status = SFU_OK;
    sfu_csv_options options;
    sfu__writer *writer = NULL;
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_csv_options));
    SFU_TRY(sfu__writer_open(&writer, path));
    sfu__writer_set_spreadsheet(writer, options.spreadsheet);
    SFU_TRY(write_trials(writer, study));
done:
    sfu__writer_close(writer);
    return status;
}

static bool take_nothing(void *user, const void *bytes, size_t size) {
    return (void)user, (void)bytes, (void)size, true;
}

sfu_status sfu__study_digest(char text[SFU__DIGEST_TEXT], const sfu_study *study) {
    sfu_status status = SFU_OK;
    sfu__writer *writer = NULL;
    sfu__digest *digest = NULL;
    SFU_TRY(sfu__digest_new(&digest));
    SFU_TRY(sfu__writer_open_sink(&writer, take_nothing, NULL));
    sfu__writer_watch(writer, digest, NULL, NULL);
    SFU_TRY(write_trials(writer, study));
    SFU_TRY(sfu__digest_end(digest, text));
done:
    sfu__writer_close(writer);
    sfu__digest_free(digest);
    return status;
}
