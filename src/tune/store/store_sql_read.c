/* store_sql_read.c - reading the trials of a study from the database.
 *
 * Only what may have changed is read: from the first unfinished trial on. There are three statements, each of which
 * sees what was committed before it: the trials, their parameters, their attributes. A trial is stored together with
 * its parameters, and finished together with its attributes, so the later statements see everything that belongs to the
 * trials of the first one; rows of other trials are skipped until the next time.
 *
 * Whose trial it is, and whether it fits, is decided when all of it has been read (store_sql_origin.c).
 */
#include "store_sql_int.h"

#include <string.h>

typedef struct window {
    sfu__sql_store *self;
    int32_t first;        /* number of the first trial in it */
    sfu__trials trials;   /* trial i has the number first + i */
    sfu__trial_row *rows; /* [trials.count] */
    size_t rows_capacity;
} window;

static void window_clear(window *self) {
    for (int32_t i = 0; i < self->trials.count; i++) {
        sfu__free(self->rows[i].fixed);
        sfu__free(self->rows[i].problem);
    }
    sfu__trials_clear(&self->trials);
    sfu__free(self->rows);
}

/* The index of a trial by its id, -1: it was added later. */
static int32_t window_find(const window *self, int64_t id) {
    int32_t low = 0, high = self->trials.count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (self->rows[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < self->trials.count && self->rows[low].id == id ? low : -1;
}

int64_t sfu__sql_open_from(const sfu__sql_store *self) {
    if (self->first_open < self->known.count) {
        return self->ids[self->first_open];
    }
    return self->known.count > 0 ? self->ids[self->known.count - 1] + 1 : 0;
}

/* ---- trials ----------------------------------------------------------------------------------------------------- */

static bool state_of(sfu__trial_state *state, const sfu__sql *column) {
    static const struct {
        const char *name;
        sfu__trial_state state;
    } states[] = {{"WAITING", SFU__TRIAL_WAITING},
                  {"RUNNING", SFU__TRIAL_RUNNING},
                  {"COMPLETE", SFU__TRIAL_COMPLETE},
                  {"PRUNED", SFU__TRIAL_PRUNED},
                  {"FAIL", SFU__TRIAL_FAIL}};
    for (size_t i = 0; column->kind == SFU__SQL_TEXT && i < sizeof states / sizeof states[0]; i++) {
        if (strcmp(column->text, states[i].name) == 0) {
            *state = states[i].state;
            return true;
        }
    }
    return false;
}

static sfu_status window_add(window *self, int64_t id) {
    const size_t need = (size_t)self->trials.count + 1;
    sfu__trial_row *rows = sfu__grow(self->rows, &self->rows_capacity, need, sizeof *rows);
    if (rows == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->rows = rows;
    rows[need - 1] = (sfu__trial_row){.id = id};
    return sfu__trials_add(&self->trials) != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

/* A state that Optuna does not have: it counts as finished. */
static sfu_status unknown_state(sfu__trial *trial, sfu__trial_row *row, const sfu__sql *column) {
    const char *state = column->kind == SFU__SQL_TEXT ? column->text : "";
    char quoted[SFU__QUOTE_MAX];
    trial->state = SFU__TRIAL_PRUNED;
    return sfu__row_problem(row, "has the state %s, which does not exist", sfu__quote(quoted, state, strlen(state)));
}

/* What was enqueued: needed until the trial has its values. */
static sfu_status take_fixed(sfu__trial *trial, sfu__trial_row *row, const sfu__sql *column) {
    trial->enqueued = column->kind != SFU__SQL_NULL;
    if (trial->state == SFU__TRIAL_WAITING && column->kind == SFU__SQL_TEXT) {
        row->fixed = sfu__copy_string(column->text);
        return row->fixed != NULL ? SFU_OK : SFU_ERR_MEMORY;
    }
    return SFU_OK;
}

static sfu_status take_trial(void *user, const sfu__sql *columns, int count) {
    window *self = user;
    sfu_status status = SFU_OK;
    const int64_t number = (int64_t)self->first + self->trials.count;
    (void)count;
    if (columns[1].kind != SFU__SQL_INT || columns[1].integer != number || number >= INT32_MAX) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: trial %lld is missing: trial numbers must have no gaps",
                         self->self->label, (long long)number);
    }
    SFU_TRY(window_add(self, columns[0].integer));
    sfu__trial *trial = &self->trials.items[self->trials.count - 1];
    sfu__trial_row *row = &self->rows[self->trials.count - 1];
    trial->number = (int32_t)number;
    if (!state_of(&trial->state, &columns[2])) {
        SFU_TRY(unknown_state(trial, row, &columns[2]));
    }
    if (columns[3].kind == SFU__SQL_REAL && isfinite(columns[3].real)) {
        trial->outcome.val_score = columns[3].real;
        row->has |= SFU__HAS_VALUE;
    }
    SFU_TRY(take_fixed(trial, row, &columns[4]));
    trial->outcome.failed = trial->state == SFU__TRIAL_FAIL;
done:
    return status;
}

/* ---- parameters ------------------------------------------------------------------------------------------------- */

/* A value of one of our parameters. Another program may have suggested it from another range of the same kind. */
static sfu_status take_value(window *self, int32_t index, int i, const sfu__sql *value, const char *distribution) {
    const sfu__sql_store *store = self->self;
    const sfu__parameter_range *item = &store->space->items[i];
    sfu__trial_row *row = &self->rows[index];
    sfu_status status = SFU_OK;
    bool same = strcmp(distribution, store->distributions[i]) == 0;
    char quoted[SFU__QUOTE_MAX];
    if (!same) {
        SFU_TRY(sfu__space_compatible(&same, store->space, i, distribution));
    }
    if (!same) {
        return sfu__row_problem(row, "has another range for %s: %s", item->name,
                                sfu__quote(quoted, distribution, strlen(distribution)));
    }
    if (value->kind != SFU__SQL_REAL || !sfu__domain_holds(&item->range, value->real)) {
        return sfu__row_problem(row, "has a value outside the range of %s", item->name);
    }
    self->trials.items[index].values[i] = value->real;
done:
    return status;
}

static sfu_status take_parameter(void *user, const sfu__sql *columns, int count) {
    window *self = user;
    const int32_t index = columns[0].kind == SFU__SQL_INT ? window_find(self, columns[0].integer) : -1;
    (void)count;
    if (index < 0) {
        return SFU_OK;
    }
    const char *name = columns[1].kind == SFU__SQL_TEXT ? columns[1].text : "";
    const char *distribution = columns[3].kind == SFU__SQL_TEXT ? columns[3].text : "";
    const int i = sfu__space_find(self->self->space, name);
    char quoted[SFU__QUOTE_MAX];
    self->rows[index].has |= SFU__HAS_PARAMETERS;
    return i < 0 ? sfu__row_problem(&self->rows[index], "has a parameter %s, which is not searched",
                                    sfu__quote(quoted, name, strlen(name)))
                 : take_value(self, index, i, &columns[2], distribution);
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static bool number_of(double *number, const char *json) {
    static const struct {
        const char *name;
        double value;
    } words[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(json, words[i].name) == 0) {
            *number = words[i].value;
            return true;
        }
    }
    return sfu__parse_double(number, json, json + strlen(json));
}

static bool count_of(int64_t *count, const char *json, int64_t most) {
    return sfu__parse_int64_string(count, json) && *count >= 0 && *count <= most;
}

/* Attributes with other names are ignored. */
static unsigned read_attribute(sfu__trial *trial, const char *key, const char *json) {
    int64_t count;
    if (strcmp(key, "seed") == 0 && count_of(&count, json, INT64_MAX)) {
        trial->seed = (uint64_t)count;
        return SFU__HAS_SEED;
    }
    if (strcmp(key, "val_loss") == 0 && number_of(&trial->outcome.val_loss, json)) {
        return SFU__HAS_LOSS;
    }
    if (strcmp(key, "epochs") == 0 && count_of(&count, json, INT32_MAX)) {
        trial->outcome.epochs = (int32_t)count;
        return SFU__HAS_EPOCHS;
    }
    if (strcmp(key, "best_epoch") == 0 && count_of(&count, json, INT32_MAX)) {
        trial->outcome.best_epoch = (int32_t)count;
        return SFU__HAS_BEST_EPOCH;
    }
    return 0;
}

static sfu_status take_attribute(void *user, const sfu__sql *columns, int count) {
    window *self = user;
    const int32_t index = columns[0].kind == SFU__SQL_INT ? window_find(self, columns[0].integer) : -1;
    (void)count;
    if (index < 0 || columns[1].kind != SFU__SQL_TEXT) {
        return SFU_OK;
    }
    if (strcmp(columns[1].text, SFU__ADOPTED_KEY) == 0) {
        self->rows[index].has |= SFU__HAS_ADOPTION;
    } else if (columns[2].kind == SFU__SQL_TEXT) {
        self->rows[index].has |= read_attribute(&self->trials.items[index], columns[1].text, columns[2].text);
    }
    return SFU_OK;
}

/* ---- the window -------------------------------------------------------------------------------------------------- */

/* Makes room for one more trial in `known`. */
static sfu_status grow_known(sfu__sql_store *self) {
    const size_t need = (size_t)self->known.count + 1;
    int64_t *ids = sfu__grow(self->ids, &self->ids_capacity, need, sizeof *ids);
    self->ids = ids != NULL ? ids : self->ids;
    char **whys = sfu__grow(self->whys, &self->whys_capacity, need, sizeof *whys);
    self->whys = whys != NULL ? whys : self->whys;
    return ids != NULL && whys != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

/* Updates a known trial: parameters and seed stay, except those of an enqueued trial that was adopted. */
static sfu_status update_known(sfu__sql_store *self, const sfu__trial *trial) {
    sfu__trial *known = &self->known.items[trial->number];
    if (!sfu__trial_is_asked(known)) {
        return sfu__trials_put(&self->known, trial);
    }
    known->state = trial->state;
    known->outcome = trial->outcome;
    known->foreign_result = trial->foreign_result;
    return SFU_OK;
}

/* Updates or appends a trial, and takes over the reason why it is skipped. */
static sfu_status store_trial(sfu__sql_store *self, const window *window, int32_t i) {
    const sfu__trial *trial = &window->trials.items[i];
    sfu__trial_row *row = &window->rows[i];
    sfu_status status = SFU_OK;
    if (trial->number < self->known.count) {
        SFU_TRY(update_known(self, trial));
        sfu__free(self->whys[trial->number]);
    } else {
        SFU_TRY(grow_known(self));
        SFU_TRY(sfu__trials_put(&self->known, trial));
        self->ids[trial->number] = row->id;
        self->asked += trial->origin == SFU__TRIAL_OURS;
    }
    self->whys[trial->number] = row->problem;
    row->problem = NULL;
done:
    return status;
}

/* The first trial whose parameters must be read: a new one, or one that another program may have changed. */
static int64_t first_to_read(const sfu__sql_store *self) {
    for (int32_t i = self->first_open; i < self->known.count; i++) {
        const sfu__trial *trial = &self->known.items[i];
        if (sfu__sql_is_open(trial) && !sfu__trial_is_asked(trial)) {
            return self->ids[i];
        }
    }
    return self->known.count > 0 ? self->ids[self->known.count - 1] + 1 : 0;
}

static sfu_status fill(window *window) {
    sfu__sql_store *self = window->self;
    const int64_t first = sfu__sql_open_from(self);
    const sfu__sql open[] = {sfu__sql_int(self->study), sfu__sql_int(first)};
    const sfu__sql new[] = {sfu__sql_int(self->study), sfu__sql_int(first_to_read(self))};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__sql_ask(self,
                         "SELECT t.trial_id, t.number, t.state, v.value, s.value_json FROM trials t LEFT "
                         "JOIN trial_values v ON v.trial_id = t.trial_id AND v.objective = 0 LEFT JOIN "
                         "trial_system_attributes s ON s.trial_id = t.trial_id AND s.\"key\" = 'fixed_params' WHERE "
                         "t.study_id = $1 AND t.trial_id >= $2 ORDER BY t.trial_id",
                         open, 2, take_trial, window));
    if (window->trials.count > 0 && window->rows[window->trials.count - 1].id >= new[1].integer) {
        SFU_TRY(sfu__sql_ask(self,
                             "SELECT p.trial_id, p.param_name, p.param_value, p.distribution_json FROM trials t JOIN "
                             "trial_params p ON p.trial_id = t.trial_id WHERE t.study_id = $1 AND t.trial_id >= $2 "
                             "ORDER BY p.trial_id, p.param_id",
                             new, 2, take_parameter, window));
    }
    if (window->trials.count > 0) {
        SFU_TRY(sfu__sql_ask(self,
                             "SELECT a.trial_id, a.\"key\", a.value_json FROM trials t JOIN trial_user_attributes a ON "
                             "a.trial_id = t.trial_id WHERE t.study_id = $1 AND t.trial_id >= $2",
                             open, 2, take_attribute, window));
    }
done:
    return status;
}

/* Whether a trial is known and does not change any more. */
static bool is_settled(const sfu__sql_store *self, int32_t number) {
    return number < self->known.count && !sfu__sql_is_open(&self->known.items[number]);
}

/* Whose trials they are. Nothing is known of a study that is refused. */
static sfu_status find_origins(window *window) {
    sfu_status status = SFU_OK;
    int32_t asked = window->self->asked;
    for (int32_t i = 0; i < window->trials.count; i++) {
        sfu__trial *trial = &window->trials.items[i];
        if (is_settled(window->self, trial->number)) {
            continue;
        }
        SFU_TRY(sfu__sql_find_origin(window->self, trial, &window->rows[i], asked));
        asked += trial->number >= window->self->known.count && trial->origin == SFU__TRIAL_OURS;
    }
done:
    return status;
}

sfu_status sfu__sql_sync(sfu__sql_store *self) {
    window window = {.self = self, .first = self->first_open, .trials = {.parameters = self->space->count}};
    sfu_status status = SFU_OK;
    SFU_TRY(fill(&window));
    SFU_TRY(find_origins(&window));
    for (int32_t i = 0; i < window.trials.count; i++) {
        SFU_TRY(is_settled(self, window.trials.items[i].number) ? SFU_OK : store_trial(self, &window, i));
    }
    while (self->first_open < self->known.count && !sfu__sql_is_open(&self->known.items[self->first_open])) {
        self->first_open++;
    }
done:
    window_clear(&window);
    return status;
}
