/* store_sql_origin.c - whose trial it is: trials that other programs (Optuna) have added to a study.
 *
 * A trial is ours if it has the seed that the study gives it; it must then have the parameters of its network, with
 * values in our ranges. Of the others, an enqueued one is trained if its values fit the space, a finished one with all
 * parameters of its network is an observation for the sampler, and the rest are skipped, with the reason.
 */
#include "store_sql_int.h"

#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

sfu_status sfu__row_problem(sfu__trial_row *row, const char *format, ...) {
    char text[2 * SFU__QUOTE_MAX + 100];
    va_list arguments;
    if (row->problem != NULL) {
        return SFU_OK;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    row->problem = sfu__copy_string(text);
    return row->problem != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

bool sfu__sql_is_open(const sfu__trial *trial) {
    return trial->state == SFU__TRIAL_RUNNING || (trial->state == SFU__TRIAL_WAITING && sfu__trial_is_ours(trial));
}

/* The parameters must be those of the network. */
static sfu_status check_parameters(const sfu__space *space, const sfu__trial *trial, sfu__trial_row *row) {
    const int net = sfu__space_net(space, trial->values);
    for (int i = 0; i < space->count; i++) {
        const bool has = !isnan(trial->values[i]);
        if (net < 0 || has != sfu__space_has(space, net, i)) {
            return sfu__row_problem(row, "has %s %s, which its network %s", has ? "a value of" : "no value of",
                                    space->items[i].name, has ? "does not use" : "uses");
        }
    }
    return SFU_OK;
}

/* ---- our trials -------------------------------------------------------------------------------------------------- */

/* A trial that another program has finished in our place has none of our attributes. */
static sfu_status check_result(sfu__trial *trial, sfu__trial_row *row) {
    const unsigned scores = row->has & SFU__HAS_SCORES;
    if (trial->state != SFU__TRIAL_COMPLETE) {
        return SFU_OK;
    }
    trial->foreign_result = scores == 0;
    if (trial->foreign_result) {
        trial->outcome.val_score = (row->has & SFU__HAS_VALUE) != 0 ? trial->outcome.val_score : (double)NAN;
        trial->outcome.val_loss = (double)NAN;
        return SFU_OK;
    }
    return scores == SFU__HAS_SCORES && (row->has & SFU__HAS_VALUE) != 0
               ? SFU_OK
               : sfu__row_problem(row, "is COMPLETE, but its result is missing");
}

/* The values of such a trial are not read again. */
static bool has_known_values(const sfu__sql_store *self, const sfu__trial *trial) {
    return trial->number < self->known.count && sfu__trial_is_asked(&self->known.items[trial->number]);
}

static sfu_status check_ours(const sfu__sql_store *self, sfu__trial *trial, sfu__trial_row *row) {
    sfu_status status = SFU_OK;
    if (!has_known_values(self, trial)) {
        SFU_TRY(check_parameters(self->space, trial, row));
    }
    SFU_TRY(check_result(trial, row));
    if (row->problem != NULL) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: trial %d %s", self->label, (int)trial->number, row->problem);
    }
done:
    return status;
}

/* ---- enqueued trials --------------------------------------------------------------------------------------------- */

static sfu_status take_fixed(const sfu__space *space, sfu__trial *trial, sfu__trial_row *row, const sfu__json *value) {
    const int i = sfu__space_find(space, value->key);
    char quoted[SFU__QUOTE_MAX];
    if (i < 0) {
        return sfu__row_problem(row, "has a value of %s, which is not searched",
                                sfu__quote(quoted, value->key, strlen(value->key)));
    }
    trial->values[i] = sfu__space_value(space, i, value);
    return isnan(trial->values[i]) ? sfu__row_problem(row, "has a value outside the range of %s", space->items[i].name)
                                   : SFU_OK;
}

/* If the network is given, it must use all that is given. */
static sfu_status check_given(const sfu__space *space, const sfu__trial *trial, sfu__trial_row *row) {
    const int net = sfu__space_net(space, trial->values);
    sfu_status status = SFU_OK;
    for (int i = 0; i < space->count && net >= 0; i++) {
        if (!isnan(trial->values[i]) && !sfu__space_has(space, net, i)) {
            SFU_TRY(sfu__row_problem(row, "has a value of %s, which its network does not use", space->items[i].name));
        }
    }
done:
    return status;
}

static sfu_status read_fixed(const sfu__space *space, sfu__trial *trial, sfu__trial_row *row) {
    sfu__json_text json = {0};
    sfu_status status = sfu__json_read(&json, row->fixed, strlen(row->fixed), "fixed_params");
    if (status == SFU_ERR_FORMAT || (status == SFU_OK && !sfu__json_is(json.root, SFU__JSON_OBJECT))) {
        status = sfu__row_problem(row, "has enqueued values (fixed_params) that are not a JSON object");
        goto done;
    }
    SFU_TRY(status);
    for (const sfu__json *value = sfu__json_items(json.root); value != NULL; value = value->next) {
        SFU_TRY(take_fixed(space, trial, row, value));
    }
    SFU_TRY(check_given(space, trial, row));
done:
    sfu__json_clear(&json);
    return status;
}

static sfu_status check_waiting(const sfu__sql_store *self, sfu__trial *trial, sfu__trial_row *row) {
    sfu_status status = SFU_OK;
    if (row->fixed == NULL || (row->has & (SFU__HAS_PARAMETERS | SFU__HAS_ADOPTION)) != 0) {
        return sfu__row_problem(row, "waits in another program");
    }
    SFU_TRY(read_fixed(self->space, trial, row));
    trial->origin = SFU__TRIAL_QUEUED;
done:
    return status;
}

/* ---- finished trials --------------------------------------------------------------------------------------------- */

static sfu_status check_complete(const sfu__sql_store *self, sfu__trial *trial, sfu__trial_row *row) {
    sfu_status status = SFU_OK;
    SFU_TRY(check_parameters(self->space, trial, row));
    if ((row->has & SFU__HAS_VALUE) == 0) {
        SFU_TRY(sfu__row_problem(row, "has no finite value"));
    }
    trial->origin = SFU__TRIAL_OBSERVED;
    trial->foreign_result = true;
    trial->outcome.val_loss = (double)NAN;
    trial->outcome.epochs = trial->outcome.best_epoch = 0;
done:
    return status;
}

static sfu_status check_foreign(const sfu__sql_store *self, sfu__trial *trial, sfu__trial_row *row) {
    trial->seed = 0;
    switch (trial->state) {
    case SFU__TRIAL_WAITING:
        return check_waiting(self, trial, row);
    case SFU__TRIAL_COMPLETE:
        return check_complete(self, trial, row);
    case SFU__TRIAL_RUNNING:
        return sfu__row_problem(row, "runs in another program");
    case SFU__TRIAL_PRUNED:
        return sfu__row_problem(row, "was pruned by another program");
    default:
        return sfu__row_problem(row, "failed in another program");
    }
}

/* ---- the decision ------------------------------------------------------------------------------------------------ */

/* Whether the trial is known as ours, or has the seed that the study gives it. */
static bool is_asked(const sfu__sql_store *self, const sfu__trial *trial, const sfu__trial_row *row, int32_t asked) {
    if (trial->number < self->known.count) {
        return self->known.items[trial->number].origin == SFU__TRIAL_OURS;
    }
    return (row->has & (SFU__HAS_SEED | SFU__HAS_ADOPTION)) == SFU__HAS_SEED &&
           (!self->check_seeds || trial->seed == sfu__asked_seed(self->seed, asked));
}

static bool is_adopted(const sfu__sql_store *self, const sfu__trial *trial, const sfu__trial_row *row) {
    const unsigned both = SFU__HAS_SEED | SFU__HAS_ADOPTION;
    return (row->has & both) == both &&
           (!self->check_seeds || trial->seed == sfu__queued_seed(self->seed, trial->number));
}

sfu_status sfu__sql_find_origin(const sfu__sql_store *self, sfu__trial *trial, sfu__trial_row *row, int32_t asked) {
    sfu_status status = SFU_OK;
    trial->adopted = is_adopted(self, trial, row);
    if (trial->adopted || is_asked(self, trial, row, asked)) {
        trial->origin = trial->adopted ? SFU__TRIAL_QUEUED : SFU__TRIAL_OURS;
        return check_ours(self, trial, row);
    }
    SFU_TRY(check_foreign(self, trial, row));
    if (row->problem != NULL) {
        trial->origin = SFU__TRIAL_SKIPPED;
        for (int i = 0; i < self->space->count; i++) {
            trial->values[i] = (double)NAN;
        }
    }
done:
    return status;
}
