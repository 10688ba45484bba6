/* store_sql_trial.c - a trial as rows of Optuna's tables: values and seed when it is asked, the result when it is
 * finished. */
#include "store_sql_int.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

void sfu__sql_time(char text[32]) {
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    const size_t size = strftime(text, 24, "%Y-%m-%d %H:%M:%S", &utc);
    snprintf(text + size, 32 - size, ".%06ld", now.tv_nsec / 1000);
}

/* "INTO VALUES ($1, $2), ($3, $4)" for `rows` rows of `columns` values. */
static sfu_status write_insert(sfu__text *text, const char *into, int rows, int columns) {
    sfu_status status = SFU_OK;
    text->size = 0;
    SFU_TRY(sfu__text_format(text, "%s VALUES", into));
    for (int i = 0; i < rows * columns; i++) {
        const char *before = i == 0 ? " (" : i % columns == 0 ? "), (" : ", ";
        SFU_TRY(sfu__text_format(text, "%s$%d", before, i + 1));
    }
    SFU_TRY(sfu__text_add(text, ")", 1));
done:
    return status;
}

/* Inserts the rows in self->row_values. */
static sfu_status insert_rows(sfu__sql_store *self, const char *into, int rows, int columns) {
    sfu_status status = SFU_OK;
    if (rows > 0) {
        SFU_TRY(write_insert(&self->text, into, rows, columns));
        status = sfu__sql_do(self, self->text.bytes, self->row_values, rows * columns, NULL);
    }
done:
    return status;
}

/* ---- asked trials ------------------------------------------------------------------------------------------------ */

static sfu_status add_parameters(sfu__sql_store *self, int64_t id, const sfu__trial *trial) {
    int rows = 0;
    for (int i = 0; i < self->space->count; i++) {
        if (!isnan(trial->values[i])) {
            sfu__sql *row = &self->row_values[(size_t)4 * (size_t)rows++];
            row[0] = sfu__sql_int(id);
            row[1] = sfu__sql_text(self->space->items[i].name);
            row[2] = sfu__sql_real(trial->values[i]);
            row[3] = sfu__sql_text(self->distributions[i]);
        }
    }
    return insert_rows(self, "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json)", rows,
                       4);
}

/* A value as JSON: 0.01, 64, "gcn". */
static sfu_status add_external(sfu__text *text, const sfu__domain *domain, double value) {
    if (domain->kind != SFU__RANGE_CHOICE) {
        return sfu__text_number(text, value);
    }
    const sfu__choice *choice = &domain->choices[(int)value];
    return choice->is_number ? sfu__text_number(text, choice->number) : sfu__text_json(text, choice->text);
}

static sfu_status add_fixed_params(sfu__sql_store *self, int64_t id, const sfu__trial *trial) {
    sfu_status status = SFU_OK;
    const char *before = "{";
    self->text.size = 0;
    for (int i = 0; i < self->space->count; i++) {
        if (!isnan(trial->values[i])) {
            SFU_TRY(sfu__text_format(&self->text, "%s", before));
            SFU_TRY(sfu__text_json(&self->text, self->space->items[i].name));
            SFU_TRY(sfu__text_add(&self->text, ": ", 2));
            SFU_TRY(add_external(&self->text, &self->space->items[i].range, trial->values[i]));
            before = ", ";
        }
    }
    SFU_TRY(sfu__text_format(&self->text, "%s}", before[0] == '{' ? "{" : ""));
    const sfu__sql values[] = {sfu__sql_int(id), sfu__sql_text(self->text.bytes)};
    status = sfu__sql_do(self,
                         "INSERT INTO trial_system_attributes (trial_id, \"key\", value_json) VALUES ($1, "
                         "'fixed_params', $2)",
                         values, 2, NULL);
done:
    return status;
}

/* An enqueued trial may have an attribute with that name already. */
static sfu_status put_attribute(sfu__sql_store *self, int64_t id, const char *key, const char *json) {
    const sfu__sql values[] = {sfu__sql_int(id), sfu__sql_text(key), sfu__sql_text(json)};
    return sfu__sql_do(self,
                       "INSERT INTO trial_user_attributes (trial_id, \"key\", value_json) VALUES ($1, $2, $3) ON "
                       "CONFLICT (trial_id, \"key\") DO UPDATE SET value_json = excluded.value_json",
                       values, 3, NULL);
}

/* Values and seed. */
static sfu_status add_values(sfu__sql_store *self, int64_t id, const sfu__trial *trial) {
    char seed[24];
    sfu_status status = SFU_OK;
    SFU_TRY(add_parameters(self, id, trial));
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)trial->seed);
    SFU_TRY(put_attribute(self, id, "seed", seed));
done:
    return status;
}

sfu_status sfu__sql_add_trial(sfu__sql_store *self, const sfu__trial *trial) {
    const sfu__sql values[] = {sfu__sql_int(trial->number), sfu__sql_int(self->study)};
    sfu_status status = SFU_OK;
    int64_t id = -1;
    SFU_TRY(sfu__sql_number(
        self, "INSERT INTO trials (number, study_id, state) VALUES ($1, $2, 'WAITING') RETURNING trial_id", values, 2,
        &id));
    SFU_TRY(add_values(self, id, trial));
    if (trial->enqueued) {
        status = add_fixed_params(self, id, trial);
    }
done:
    return status;
}

sfu_status sfu__sql_adopt_trial(sfu__sql_store *self, int64_t id, const sfu__trial *trial) {
    const sfu__sql key = sfu__sql_int(id);
    sfu_status status = SFU_OK;
    int64_t free_id = -1;
    SFU_TRY(sfu__sql_lock(self, self->db->driver->lock_trial, id));
    SFU_TRY(sfu__sql_number(self,
                            "SELECT t.trial_id FROM trials t WHERE t.trial_id = $1 AND t.state = 'WAITING' AND NOT "
                            "EXISTS (SELECT 1 FROM trial_params p WHERE p.trial_id = t.trial_id) AND NOT EXISTS "
                            "(SELECT 1 FROM trial_user_attributes a WHERE a.trial_id = t.trial_id AND a.\"key\" = "
                            "'" SFU__ADOPTED_KEY "')",
                            &key, 1, &free_id));
    if (free_id != id) {
        return SFU_OK; /* another worker or program was faster */
    }
    SFU_TRY(add_values(self, id, trial));
    SFU_TRY(put_attribute(self, id, SFU__ADOPTED_KEY, "true"));
done:
    return status;
}

/* ---- finished trials --------------------------------------------------------------------------------------------- */

/* Python's JSON writes non-finite numbers as words. */
static sfu_status write_number(sfu__text *text, double number) {
    if (isfinite(number)) {
        return sfu__text_number(text, number);
    }
    return sfu__text_format(text, "%s", isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity");
}

sfu_status sfu__sql_add_outcome(sfu__sql_store *self, int64_t id, const sfu__outcome *outcome) {
    sfu_status status = SFU_OK;
    sfu__text loss = {0};
    char epochs[16], best_epoch[16];
    const sfu__sql value[] = {sfu__sql_int(id), sfu__sql_real(outcome->val_score)};
    SFU_TRY(sfu__sql_do(
        self, "INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES ($1, 0, $2, 'FINITE')", value,
        2, NULL));
    SFU_TRY(write_number(&loss, outcome->val_loss));
    snprintf(epochs, sizeof epochs, "%d", (int)outcome->epochs);
    snprintf(best_epoch, sizeof best_epoch, "%d", (int)outcome->best_epoch);
    const sfu__sql attributes[] = {sfu__sql_int(id), sfu__sql_text(loss.bytes), sfu__sql_text(epochs),
                                   sfu__sql_text(best_epoch)};
    status =
        sfu__sql_do(self,
                    "INSERT INTO trial_user_attributes (trial_id, \"key\", value_json) VALUES ($1, 'val_loss', $2), "
                    "($1, 'epochs', $3), ($1, 'best_epoch', $4)",
                    attributes, 4, NULL);
done:
    sfu__text_clear(&loss);
    return status;
}
