/* trial.c - lists of trials, and their order by merit. */
#include "trial.h"

#include "random.h"
#include "train.h"

#include <string.h>

sfu__trial *sfu__trials_add(sfu__trials *trials) {
    sfu__trial *grown = sfu__grow(trials->items, &trials->capacity, (size_t)trials->count + 1, sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    trials->items = grown;
    sfu__trial *trial = &grown[trials->count];
    *trial = (sfu__trial){.number = trials->count, .state = SFU__TRIAL_WAITING};
    trial->values = sfu__alloc((size_t)trials->parameters, sizeof *trial->values);
    if (trial->values == NULL) {
        return NULL;
    }
    for (int i = 0; i < trials->parameters; i++) {
        trial->values[i] = NAN;
    }
    trials->count++;
    return trial;
}

void sfu__trials_clear(sfu__trials *trials) {
    for (int32_t i = 0; i < trials->count; i++) {
        sfu__free(trials->items[i].values);
    }
    sfu__free(trials->items);
    *trials = (sfu__trials){.parameters = trials->parameters};
}

sfu_status sfu__trials_put(sfu__trials *trials, const sfu__trial *trial) {
    sfu__trial *entry = trial->number < trials->count ? &trials->items[trial->number] : sfu__trials_add(trials);
    if (entry == NULL) {
        return SFU_ERR_MEMORY;
    }
    double *values = entry->values;
    memcpy(values, trial->values, (size_t)trials->parameters * sizeof *values);
    *entry = *trial;
    entry->values = values;
    return SFU_OK;
}

sfu_status sfu__trials_follow(sfu__trials *trials, const sfu__trials *source) {
    sfu_status status = SFU_OK;
    for (int32_t i = 0; i < source->count; i++) {
        if (i >= trials->count || !sfu__trial_finished(trials->items[i].state)) {
            SFU_TRY(sfu__trials_put(trials, &source->items[i]));
        }
    }
done:
    return status;
}

static uint64_t seed_at(uint64_t study_seed, uint32_t stream, int32_t position) {
    return sfu__random_bits(study_seed, sfu__stream_of(SFU__STREAM_TRIAL, stream), (uint64_t)position) >> 33;
}

uint64_t sfu__asked_seed(uint64_t study_seed, int32_t n) { return seed_at(study_seed, 0, n); }
uint64_t sfu__queued_seed(uint64_t study_seed, int32_t number) { return seed_at(study_seed, 1, number); }

sfu__outcome sfu__outcome_of(const sfu__training *training) {
    const double count = training->objective->val_count;
    return (sfu__outcome){.failed = training->diverged || training->stopping.best_epoch == 0,
                          .val_score = training->objective->metric != SFU_METRIC_ACCURACY
                                           ? training->stopping.best_val_score
                                           : (double)training->best_val_correct / count,
                          .val_loss = training->stopping.best_val_loss,
                          .epochs = training->ran,
                          .best_epoch = training->stopping.best_epoch};
}

bool sfu__trial_better(const sfu__trial *one, const sfu__trial *other) {
    const sfu__outcome *a = &one->outcome, *b = &other->outcome;
    if (a->val_score != b->val_score) {
        return a->val_score > b->val_score;
    }
    return a->val_loss != b->val_loss ? a->val_loss < b->val_loss : one->number < other->number;
}
