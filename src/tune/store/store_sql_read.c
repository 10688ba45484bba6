/* store_sql_read.c - reading the trials of a study from the database.
 *
 * Only what may have changed is read: from the first unfinished trial on. There are three statements, each of which
 * sees what was committed before it: the trials, their parameters, their attributes. A trial is stored together with
 * its parameters, and finished together with its attributes, so the later statements see everything that belongs to the
 * trials of the first one; rows of other trials are skipped until the next time.
 *
 * Every trial must be one of ours: it has a seed, the parameters of its network with our distributions, and values in
 * their ranges. Others (of a Python program that joined in) are refused, because later trials would depend on them.
 */
#include "store_sql_int.h"

#include <math.h>
#include <string.h>

/* Which columns and attributes of a trial have been read. */
enum { HAS_SEED = 1, HAS_LOSS = 2, HAS_EPOCHS = 4, HAS_BEST_EPOCH = 8, HAS_VALUE = 16 };
enum { HAS_OUTCOME = HAS_LOSS | HAS_EPOCHS | HAS_BEST_EPOCH | HAS_VALUE };

typedef struct window {
    sfu__sql_store *self;
    int32_t first;      /* number of the first trial in it */
    sfu__trials trials; /* trial i has the number first + i */
    int64_t *ids;
    unsigned *has;
    size_t ids_capacity, has_capacity;
} window;

static void window_clear(window *self) {
    sfu__trials_clear(&self->trials);
    sfu__free(self->ids);
    sfu__free(self->has);
}

/* The index of a trial by its id, -1: it was added later. */
static int32_t window_find(const window *self, int64_t id) {
    int32_t low = 0, high = self->trials.count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (self->ids[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < self->trials.count && self->ids[low] == id ? low : -1;
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
    int64_t *ids = sfu__grow(self->ids, &self->ids_capacity, need, sizeof *ids);
    if (ids == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->ids = ids;
    unsigned *has = sfu__grow(self->has, &self->has_capacity, need, sizeof *has);
    if (has == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->has = has;
    ids[need - 1] = id;
    has[need - 1] = 0;
    return sfu__trials_add(&self->trials) != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

static sfu_status take_trial(void *user, const sfu__sql *columns, int count) {
    window *self = user;
    const char *label = self->self->label;
    sfu_status status = SFU_OK;
    const int64_t number = (int64_t)self->first + self->trials.count;
    (void)count;
    if (columns[1].kind != SFU__SQL_INT || columns[1].integer != number || number >= INT32_MAX) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: trial %lld is missing: trial numbers must have no gaps", label,
                         (long long)number);
    }
    SFU_TRY(window_add(self, columns[0].integer));
    sfu__trial *trial = &self->trials.items[self->trials.count - 1];
    trial->number = (int32_t)number;
    if (!state_of(&trial->state, &columns[2])) {
        const char *state = columns[2].kind == SFU__SQL_TEXT ? columns[2].text : "";
        char quoted[SFU__QUOTE_MAX];
        return sfu__fail(SFU_ERR_FORMAT, "%s: trial %lld has the state %s, which sfumato does not use", label,
                         (long long)number, sfu__quote(quoted, state, strlen(state)));
    }
    if (columns[3].kind == SFU__SQL_REAL && isfinite(columns[3].real)) {
        trial->outcome.val_score = columns[3].real;
        self->has[self->trials.count - 1] |= HAS_VALUE;
    }
    trial->enqueued = columns[4].kind != SFU__SQL_NULL;
    trial->outcome.failed = trial->state == SFU__TRIAL_FAIL;
done:
    return status;
}

/* ---- parameters ------------------------------------------------------------------------------------------------- */

static sfu_status take_parameter(void *user, const sfu__sql *columns, int count) {
    window *self = user;
    const sfu__sql_store *store = self->self;
    const int32_t index = columns[0].kind == SFU__SQL_INT ? window_find(self, columns[0].integer) : -1;
    (void)count;
    if (index < 0) {
        return SFU_OK;
    }
    const long long number = self->trials.items[index].number;
    const char *name = columns[1].kind == SFU__SQL_TEXT ? columns[1].text : "";
    const char *distribution = columns[3].kind == SFU__SQL_TEXT ? columns[3].text : "";
    const int i = sfu__space_find(store->space, name);
    char quoted[SFU__QUOTE_MAX];
    if (i < 0) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: trial %lld has a parameter %s, which is not searched", store->label,
                         number, sfu__quote(quoted, name, strlen(name)));
    }
    if (strcmp(distribution, store->distributions[i]) != 0) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: trial %lld has another range for %s: %s", store->label, number, name,
                         sfu__quote(quoted, distribution, strlen(distribution)));
    }
    if (columns[2].kind != SFU__SQL_REAL || !sfu__domain_holds(&store->space->items[i].range, columns[2].real)) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: trial %lld has a value outside the range of %s", store->label, number,
                         name);
    }
    self->trials.items[index].values[i] = columns[2].real;
    return SFU_OK;
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
        return HAS_SEED;
    }
    if (strcmp(key, "val_loss") == 0 && number_of(&trial->outcome.val_loss, json)) {
        return HAS_LOSS;
    }
    if (strcmp(key, "epochs") == 0 && count_of(&count, json, INT32_MAX)) {
        trial->outcome.epochs = (int32_t)count;
        return HAS_EPOCHS;
    }
    if (strcmp(key, "best_epoch") == 0 && count_of(&count, json, INT32_MAX)) {
        trial->outcome.best_epoch = (int32_t)count;
        return HAS_BEST_EPOCH;
    }
    return 0;
}

static sfu_status take_attribute(void *user, const sfu__sql *columns, int count) {
    window *self = user;
    const int32_t index = columns[0].kind == SFU__SQL_INT ? window_find(self, columns[0].integer) : -1;
    (void)count;
    if (index >= 0 && columns[1].kind == SFU__SQL_TEXT && columns[2].kind == SFU__SQL_TEXT) {
        self->has[index] |= read_attribute(&self->trials.items[index], columns[1].text, columns[2].text);
    }
    return SFU_OK;
}

/* ---- the window -------------------------------------------------------------------------------------------------- */

static sfu_status check_parameters(const sfu__sql_store *store, const sfu__trial *trial) {
    const int net = sfu__space_net(store->space, trial->values);
    for (int i = 0; i < store->space->count; i++) {
        const bool has = !isnan(trial->values[i]);
        if (net < 0 || has != sfu__space_has(store->space, net, i)) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: trial %d has %s %s, which its network %s", store->label,
                             (int)trial->number, has ? "a value of" : "no value of", store->space->items[i].name,
                             has ? "does not use" : "uses");
        }
    }
    return SFU_OK;
}

static sfu_status check_trial(const window *self, int32_t i) {
    const sfu__trial *trial = &self->trials.items[i];
    const char *label = self->self->label;
    if (trial->number >= self->self->known.count && (self->has[i] & HAS_SEED) == 0) {
        return sfu__fail(SFU_ERR_FORMAT,
                         "%s: trial %d was not made by sfumato (it has no seed): other programs may read a study, but "
                         "not add trials to it",
                         label, (int)trial->number);
    }
    if (trial->state == SFU__TRIAL_COMPLETE && (self->has[i] & HAS_OUTCOME) != HAS_OUTCOME) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: trial %d is COMPLETE, but its result is missing", label,
                         (int)trial->number);
    }
    return trial->number >= self->self->known.count ? check_parameters(self->self, trial) : SFU_OK;
}

/* Updates or appends a trial; parameters and seed of a known trial stay. */
static sfu_status store_trial(sfu__sql_store *self, const window *window, int32_t i) {
    const sfu__trial *trial = &window->trials.items[i];
    sfu_status status = SFU_OK;
    if (trial->number < self->known.count) {
        sfu__trial *known = &self->known.items[trial->number];
        known->state = trial->state;
        known->outcome = trial->outcome;
        return SFU_OK;
    }
    int64_t *ids = sfu__grow(self->ids, &self->ids_capacity, (size_t)self->known.count + 1, sizeof *ids);
    if (ids == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->ids = ids;
    ids[self->known.count] = window->ids[i];
    SFU_TRY(sfu__trials_put(&self->known, trial));
done:
    return status;
}

static sfu_status fill(window *window) {
    sfu__sql_store *self = window->self;
    const int64_t first = sfu__sql_open_from(self);
    const int64_t first_new = self->known.count > 0 ? self->ids[self->known.count - 1] + 1 : 0;
    const sfu__sql open[] = {sfu__sql_int(self->study), sfu__sql_int(first)};
    const sfu__sql new[] = {sfu__sql_int(self->study), sfu__sql_int(first_new)};
    sfu_status status = SFU_OK;
    SFU_TRY(
        sfu__sql_ask(self,
                     "SELECT t.trial_id, t.number, t.state, v.value, s.trial_system_attribute_id FROM trials t LEFT "
                     "JOIN trial_values v ON v.trial_id = t.trial_id AND v.objective = 0 LEFT JOIN "
                     "trial_system_attributes s ON s.trial_id = t.trial_id AND s.\"key\" = 'fixed_params' WHERE "
                     "t.study_id = $1 AND t.trial_id >= $2 ORDER BY t.trial_id",
                     open, 2, take_trial, window));
    if (window->first + window->trials.count > self->known.count) {
        SFU_TRY(sfu__sql_ask(self,
                             "SELECT p.trial_id, p.param_name, p.param_value, p.distribution_json FROM trials t JOIN "
                             "trial_params p ON p.trial_id = t.trial_id WHERE t.study_id = $1 AND t.trial_id >= $2",
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

sfu_status sfu__sql_sync(sfu__sql_store *self) {
    window window = {.self = self, .first = self->first_open, .trials = {.parameters = self->space->count}};
    sfu_status status = SFU_OK;
    SFU_TRY(fill(&window));
    for (int32_t i = 0; i < window.trials.count; i++) {
        SFU_TRY(check_trial(&window, i));
    }
    for (int32_t i = 0; i < window.trials.count; i++) {
        SFU_TRY(store_trial(self, &window, i));
    }
    while (self->first_open < self->known.count && sfu__trial_finished(self->known.items[self->first_open].state)) {
        self->first_open++;
    }
done:
    window_clear(&window);
    return status;
}
