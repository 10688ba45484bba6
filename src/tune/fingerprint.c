/* fingerprint.c - builds the fingerprint of a study and the JSON record of its winner. */
#include "fingerprint.h"
#include "protocol.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Adds one item; takes over the text as its value. */
static sfu_status add(sfu__fingerprint *fingerprint, const char *key, const char *text, sfu__text *json) {
    fingerprint->json[fingerprint->count] = json->bytes;
    fingerprint->items[fingerprint->count++] = (sfu__store_attribute){.key = key, .json = json->bytes, .text = text};
    *json = (sfu__text){0};
    return SFU_OK;
}

static sfu_status add_string(sfu__fingerprint *fingerprint, const char *key, const char *text, const char *value) {
    sfu__text json = {0};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_json(&json, value));
    SFU_TRY(add(fingerprint, key, text, &json));
done:
    sfu__text_clear(&json);
    return status;
}

static sfu_status add_integer(sfu__fingerprint *fingerprint, const char *key, const char *text, uint64_t value) {
    sfu__text json = {0};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(&json, "%" PRIu64, value));
    SFU_TRY(add(fingerprint, key, text, &json));
done:
    sfu__text_clear(&json);
    return status;
}

static sfu__store_attribute *last(sfu__fingerprint *fingerprint) { return &fingerprint->items[fingerprint->count - 1]; }

/* The version is recorded for people; it is the protocol that must be the same. */
static sfu_status add_program(sfu__fingerprint *fingerprint) {
    _Static_assert(SFU__PROTOCOL_UNRECORDED == 1, "the text below");
    sfu_status status = SFU_OK;
    SFU_TRY(add_string(fingerprint, "sfumato:version", "the version of the program", sfu_version()));
    last(fingerprint)->is_note = true;
    SFU_TRY(add_integer(fingerprint, "sfumato:protocol", "the protocol of the program", SFU__PROTOCOL));
    last(fingerprint)->missing = "1";
done:
    return status;
}

/* The networks as given: one, or the choices of `net`. */
static sfu_status add_nets(sfu__fingerprint *fingerprint, const sfu__space *space) {
    sfu__text json = {0};
    sfu_status status = SFU_OK;
    for (int i = 0; i < space->net_count; i++) {
        SFU_TRY(sfu__text_format(&json, i > 0 ? ", " : space->net_count > 1 ? "[" : ""));
        SFU_TRY(sfu__text_json(&json, space->nets[i]));
    }
    SFU_TRY(sfu__text_format(&json, space->net_count > 1 ? "]" : ""));
    SFU_TRY(add(fingerprint, "sfumato:net", "the network", &json));
done:
    sfu__text_clear(&json);
    return status;
}

static sfu_status add_points(sfu__fingerprint *fingerprint, const sfu_tune_options *options) {
    sfu__text json = {0};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(&json, "["));
    for (int i = 0; i < options->enqueue_count; i++) {
        SFU_TRY(sfu__text_format(&json, i > 0 ? ", " : ""));
        SFU_TRY(sfu__text_json(&json, options->enqueue[i]));
    }
    SFU_TRY(sfu__text_format(&json, "]"));
    SFU_TRY(add(fingerprint, "sfumato:enqueued", "the list of points to start with", &json));
done:
    sfu__text_clear(&json);
    return status;
}

static sfu_status add_number(sfu__fingerprint *fingerprint, const char *key, const char *text, double value) {
    sfu__text json = {0};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_number(&json, value));
    SFU_TRY(add(fingerprint, key, text, &json));
done:
    sfu__text_clear(&json);
    return status;
}

/* The hyperparameters that are not searched. */
static sfu_status add_settings(sfu__fingerprint *fingerprint, const sfu__fingerprint_input *of) {
    const sfu_train_options *train = of->train;
    const struct {
        const char *name; /* parameter of the space that replaces this setting, or NULL */
        const char *key, *text;
        double value;
    } settings[] = {
        {NULL, "sfumato:epochs", "--epochs", train->epochs},
        {NULL, "sfumato:patience", "--patience", train->patience},
        {NULL, "sfumato:keep_last", "keeping the last epoch", train->keep == SFU_KEEP_LAST},
        {NULL, "sfumato:balanced", "--class-weight balanced", train->balanced},
        {"lr", "sfumato:lr", "--lr", train->lr},
        {"weight_decay", "sfumato:weight_decay", "--weight-decay", train->weight_decay},
        {"dropout", "sfumato:dropout", "--dropout", train->dropout},
        {"hidden", "sfumato:hidden", "--hidden", of->space->net_options.hidden},
        {"k", "sfumato:k", "-k", of->space->net_options.k},
    };
    sfu_status status = SFU_OK;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (settings[i].name == NULL || sfu__space_find(of->space, settings[i].name) < 0) {
            SFU_TRY(add_number(fingerprint, settings[i].key, settings[i].text, settings[i].value));
        }
    }
done:
    return status;
}

/* "val_macro_f1, then val_loss, then number" */
static sfu_status add_selection(sfu__fingerprint *fingerprint, sfu_metric metric) {
    char *name = fingerprint->metric, selection[64];
    snprintf(name, sizeof fingerprint->metric, "val_%s", sfu_metric_name((int)metric, NULL));
    for (size_t i = 0; name[i] != '\0'; i++) {
        name[i] = name[i] == '-' ? '_' : name[i];
    }
    snprintf(selection, sizeof selection, "%s, then val_loss, then number", name);
    return add_string(fingerprint, "sfumato:selection", "the rule of choice", selection);
}

sfu_status sfu__study_name_make(char **name, const sfu_tune_options *options, const sfu_dataset *dataset,
                                const char *net, const sfu_split *split) {
    sfu__text text = {0};
    sfu_status status = SFU_OK;
    if (options->study_name != NULL) {
        SFU_TRY(sfu__text_format(&text, "%s", options->study_name));
    } else {
        SFU_TRY(sfu__text_format(&text, "%s %s %s", sfu_dataset_name(dataset), net, sfu_split_text(split)));
    }
    *name = text.bytes;
    text = (sfu__text){0};
done:
    sfu__text_clear(&text);
    return status;
}

sfu_status sfu__fingerprint_make(sfu__fingerprint *fingerprint, const sfu__fingerprint_input *of) {
    const sfu_tune_options *options = of->options;
    sfu_status status = SFU_OK;
    char digest[65];
    SFU_TRY(sfu_dataset_digest(digest, of->dataset));
    SFU_TRY(sfu__study_name_make(&fingerprint->name, options, of->dataset, sfu__space_net_text(of->space), of->split));
    SFU_TRY(add_program(fingerprint));
    SFU_TRY(add_string(fingerprint, "sfumato:dataset", "the dataset (its digest)", digest));
    SFU_TRY(add_string(fingerprint, "sfumato:split", "the split (its digest)", sfu_split_digest(of->split)));
    SFU_TRY(add_nets(fingerprint, of->space));
    SFU_TRY(add_string(fingerprint, SFU__SPACE_KEY, "the search space", of->space->text));
    SFU_TRY(add_string(fingerprint, "sfumato:loss", "the loss", of->train->loss == SFU_LOSS_SUM ? "sum" : "mean"));
    SFU_TRY(add_settings(fingerprint, of));
    SFU_TRY(add_string(fingerprint, "sfumato:sampler", "the sampler", options->sampler));
    SFU_TRY(add_integer(fingerprint, "sfumato:seed", "the seed", options->seed));
    SFU_TRY(add_integer(fingerprint, "sfumato:wave", "the wave", (uint64_t)options->wave));
    SFU_TRY(add_points(fingerprint, options));
    SFU_TRY(add_selection(fingerprint, of->train->metric));
done:
    return status;
}

void sfu__fingerprint_clear(sfu__fingerprint *fingerprint) {
    for (int i = 0; i < fingerprint->count; i++) {
        sfu__free(fingerprint->json[i]);
    }
    sfu__free(fingerprint->name);
    *fingerprint = (sfu__fingerprint){0};
}

static sfu_status put_score(sfu__text *json, const char *key, double value) {
    sfu_status status = sfu__text_format(json, ", \"%s\": ", key);
    if (status != SFU_OK) {
        return status;
    }
    return isfinite(value) ? sfu__text_number(json, value) : sfu__text_format(json, "null");
}

sfu_status sfu__winner_json(sfu__text *json, const sfu__trial *best, const sfu_scores *scores) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(json, "{\"number\": %d", best->number));
    SFU_TRY(put_score(json, "val_accuracy", scores->val_accuracy));
    SFU_TRY(put_score(json, "val_loss", scores->val_loss));
    SFU_TRY(put_score(json, "test_accuracy", scores->test_accuracy));
    SFU_TRY(put_score(json, "test_macro_f1", scores->test_macro_f1));
    SFU_TRY(sfu__text_format(json, "}"));
done:
    return status;
}
