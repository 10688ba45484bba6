/* sampler.c - the tree-structured Parzen estimator (docs/internals/tpe.md).
 *
 * The finished trials are split into the good ones, the best min(ceil(gamma n), gamma_max) of them, and the bad ones.
 * Each set defines an estimate, l and g (parzen.h); of some points sampled from l, the one with the largest l(x)/g(x)
 * is suggested. With joint sampling there is one pair of estimates per group of parameters, otherwise one per
 * parameter; a trial without the parameters of a pair is not in it, but takes part in the split.
 *
 * Pending trials are the last kernels of g, and are removed before the next result is told.
 */
#include "sampler.h"

#include "memory.h"
#include "parzen.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { BELOW, ABOVE };

/* A pair of estimates over some parameters of the space. */
typedef struct model {
    int axes, first; /* first: the lowest index of its parameters */
    int item[SFU__SPACE_PARAMETERS];
    sfu__parzen *side[2];
} model;

struct sfu__sampler {
    const sfu__space *space;
    sfu__sampler_kind kind;
    sfu__sampler_rules rules;
    sfu__axis *axes; /* [space->count] */
    model *models;   /* in the order of sampling: the one with `net` first */
    int model_count;

    int told;       /* number of results told */
    double *values; /* [told][space->count] */
    double *losses; /* [told] */
    int32_t *order; /* [told] in ascending order of the loss, on ties the earlier first; the first `good` are in l */
    bool *is_good;  /* [told] */
    int good;
    size_t room_values, room_losses, room_order, room_good;

    double *pending; /* [pending_count][space->count] */
    size_t room_pending;
    int pending_count, pending_inserted; /* number of pending trials, and how many of them are in the estimates */

    double *points, *log_l; /* [axes][candidates], [candidates] */
};

/* ---- names and settings ------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    sfu__sampler_kind kind;
} kinds[] = {
    {"tpe", SFU__SAMPLER_TPE},
    {"tpe-independent", SFU__SAMPLER_TPE_INDEPENDENT},
    {"random", SFU__SAMPLER_RANDOM},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

bool sfu__sampler_kind_of(sfu__sampler_kind *kind, const char *name) {
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            *kind = kinds[i].kind;
            return true;
        }
    }
    return false;
}

const char *sfu__sampler_name(int i) { return i >= 0 && i < KINDS ? kinds[i].name : NULL; }

sfu__sampler_rules sfu__sampler_rules_default(void) {
    return (sfu__sampler_rules){.startup = 10, .candidates = 24, .gamma = 0.1, .gamma_max = 25};
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

/* Adds a parameter to a model, in the order of names. */
static void model_add(model *m, const sfu__space *space, int item) {
    int at = m->axes++;
    for (; at > 0 && strcmp(space->items[m->item[at - 1]].name, space->items[item].name) > 0; at--) {
        m->item[at] = m->item[at - 1];
    }
    m->item[at] = item;
}

/* Whether a parameter belongs to the same pair as `first`. */
static bool same_model(const sfu__sampler *sampler, int first, int item) {
    const sfu__parameter_range *items = sampler->space->items;
    return first == item || (sampler->kind == SFU__SAMPLER_TPE && items[first].group == items[item].group);
}

/* Models in the order of their first parameters; parameters with a single value are in none. */
static void make_models(sfu__sampler *sampler) {
    bool taken[SFU__SPACE_PARAMETERS] = {false};
    for (int first = 0; first < sampler->space->count; first++) {
        if (taken[first] || sampler->axes[first].is_single) {
            continue;
        }
        model *m = &sampler->models[sampler->model_count++];
        m->first = first;
        for (int i = first; i < sampler->space->count; i++) {
            if (!taken[i] && !sampler->axes[i].is_single && same_model(sampler, first, i)) {
                model_add(m, sampler->space, i);
                taken[i] = true;
            }
        }
    }
}

static sfu_status make_estimates(sfu__sampler *sampler, model *m) {
    const sfu__axis *axes[SFU__SPACE_PARAMETERS];
    for (int j = 0; j < m->axes; j++) {
        axes[j] = &sampler->axes[m->item[j]];
    }
    const sfu_status status = sfu__parzen_new(&m->side[BELOW], axes, m->axes);
    return status != SFU_OK ? status : sfu__parzen_new(&m->side[ABOVE], axes, m->axes);
}

sfu_status sfu__sampler_new(sfu__sampler **sampler, const sfu__space *space, sfu__sampler_kind kind,
                            const sfu__sampler_rules *rules) {
    sfu_status status = SFU_OK;
    sfu__sampler *made = NULL;
    assert(space->count <= SFU__SPACE_PARAMETERS && rules->candidates > 0);
    SFU_ALLOC_ZERO(made, 1);
    made->space = space;
    made->kind = kind;
    made->rules = *rules;
    SFU_ALLOC_ZERO(made->axes, space->count);
    SFU_ALLOC_ZERO(made->models, space->count);
    SFU_ALLOC(made->points, space->count * rules->candidates);
    SFU_ALLOC(made->log_l, rules->candidates);
    for (int i = 0; i < space->count; i++) {
        made->axes[i] = sfu__axis_of(&space->items[i].range);
    }
    if (kind != SFU__SAMPLER_RANDOM) {
        make_models(made);
    }
    for (int i = 0; i < made->model_count; i++) {
        SFU_TRY(make_estimates(made, &made->models[i]));
    }
    *sampler = made;
    made = NULL;
done:
    sfu__sampler_free(made);
    return status;
}

void sfu__sampler_free(sfu__sampler *sampler) {
    if (sampler == NULL) {
        return;
    }
    for (int i = 0; i < sampler->model_count; i++) {
        sfu__parzen_free(sampler->models[i].side[BELOW]);
        sfu__parzen_free(sampler->models[i].side[ABOVE]);
    }
    sfu__free(sampler->models);
    sfu__free(sampler->axes);
    sfu__free(sampler->values);
    sfu__free(sampler->losses);
    sfu__free(sampler->order);
    sfu__free(sampler->is_good);
    sfu__free(sampler->pending);
    sfu__free(sampler->points);
    sfu__free(sampler->log_l);
    sfu__free(sampler);
}

/* ---- membership of trials in the estimates ----------------------------------------------------------------------- */

/* The values of a model's parameters; false if the trial lacks one. */
static bool model_values(double *to, const model *m, const double *values) {
    for (int j = 0; j < m->axes; j++) {
        to[j] = values[m->item[j]];
        if (isnan(to[j])) {
            return false;
        }
    }
    return true;
}

static void estimates_insert(sfu__sampler *sampler, int side, int64_t number, const double *values) {
    double own[SFU__SPACE_PARAMETERS];
    for (int i = 0; i < sampler->model_count; i++) {
        if (model_values(own, &sampler->models[i], values)) {
            sfu__parzen_insert(sampler->models[i].side[side], number, own);
        }
    }
}

static void estimates_remove(sfu__sampler *sampler, int side, int64_t number, const double *values) {
    double own[SFU__SPACE_PARAMETERS];
    for (int i = 0; i < sampler->model_count; i++) {
        if (model_values(own, &sampler->models[i], values)) {
            sfu__parzen_remove(sampler->models[i].side[side], number);
        }
    }
}

static sfu_status estimates_reserve(sfu__sampler *sampler, int below, int above) {
    for (int i = 0; i < sampler->model_count; i++) {
        sfu_status status = sfu__parzen_reserve(sampler->models[i].side[BELOW], below);
        if (status == SFU_OK) {
            status = sfu__parzen_reserve(sampler->models[i].side[ABOVE], above);
        }
        if (status != SFU_OK) {
            return status;
        }
    }
    return SFU_OK;
}

static const double *values_of(const sfu__sampler *sampler, int trial) {
    return sampler->values + (size_t)trial * (size_t)sampler->space->count;
}

/* Numbers of pending trials: after all that can be told. */
static int64_t pending_number(int i) { return (int64_t)INT_MAX + i; }

static const double *pending_values(const sfu__sampler *sampler, int i) {
    return sampler->pending + (size_t)i * (size_t)sampler->space->count;
}

/* Removes all but the first `count` pending trials from the estimates. */
static void remove_pending(sfu__sampler *sampler, int count) {
    while (sampler->pending_inserted > count) {
        const int last = --sampler->pending_inserted;
        estimates_remove(sampler, ABOVE, pending_number(last), pending_values(sampler, last));
    }
}

static sfu_status insert_pending(sfu__sampler *sampler) {
    const sfu_status status = estimates_reserve(sampler, sampler->good + 2, sampler->told + sampler->pending_count);
    for (; status == SFU_OK && sampler->pending_inserted < sampler->pending_count; sampler->pending_inserted++) {
        estimates_insert(sampler, ABOVE, pending_number(sampler->pending_inserted),
                         pending_values(sampler, sampler->pending_inserted));
    }
    return status;
}

/* ---- tell -------------------------------------------------------------------------------------------------------- */

/* Grows each array of trials by one item. */
static sfu_status grow_trials(sfu__sampler *sampler) {
    const size_t need = (size_t)sampler->told + 1;
    const size_t width = sampler->space->count > 0 ? (size_t)sampler->space->count : 1;
    void *values = sfu__grow(sampler->values, &sampler->room_values, need, width * sizeof *sampler->values);
    sampler->values = values != NULL ? values : sampler->values;
    void *losses = sfu__grow(sampler->losses, &sampler->room_losses, need, sizeof *sampler->losses);
    sampler->losses = losses != NULL ? losses : sampler->losses;
    void *order = sfu__grow(sampler->order, &sampler->room_order, need, sizeof *sampler->order);
    sampler->order = order != NULL ? order : sampler->order;
    void *good = sfu__grow(sampler->is_good, &sampler->room_good, need, sizeof *sampler->is_good);
    sampler->is_good = good != NULL ? good : sampler->is_good;
    if (values == NULL || losses == NULL || order == NULL || good == NULL) {
        return SFU_ERR_MEMORY;
    }
    return estimates_reserve(sampler, sampler->good + 2, sampler->told + 1);
}

/* The rank of a loss, after all that are not larger. */
static int rank_of(const sfu__sampler *sampler, double loss) {
    int from = 0, to = sampler->told;
    while (from < to) {
        const int middle = from + (to - from) / 2;
        if (sampler->losses[sampler->order[middle]] <= loss) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

static void move_to(sfu__sampler *sampler, int trial, int side) {
    estimates_remove(sampler, side == BELOW ? ABOVE : BELOW, trial, values_of(sampler, trial));
    estimates_insert(sampler, side, trial, values_of(sampler, trial));
    sampler->is_good[trial] = side == BELOW;
}

/* Updates the split after `trial` was inserted at `rank`: besides it, at most one trial changes sides. */
static void split(sfu__sampler *sampler, int trial, int rank) {
    const double share = ceil(sampler->rules.gamma * sampler->told);
    const int good = share < sampler->rules.gamma_max ? (int)share : sampler->rules.gamma_max;
    assert(good >= sampler->good && good <= sampler->good + 1);
    sampler->is_good[trial] = rank < good;
    estimates_insert(sampler, rank < good ? BELOW : ABOVE, trial, values_of(sampler, trial));
    if (good > 0 && !sampler->is_good[sampler->order[good - 1]]) {
        move_to(sampler, sampler->order[good - 1], BELOW);
    }
    if (good < sampler->told && sampler->is_good[sampler->order[good]]) {
        move_to(sampler, sampler->order[good], ABOVE);
    }
    sampler->good = good;
}

sfu_status sfu__sampler_tell(sfu__sampler *sampler, const double *values, double loss) {
    if (sampler->told == INT_MAX - 1) {
        return sfu__fail(SFU_ERR_MEMORY, "a study has at most %d trials", INT_MAX - 1);
    }
    const sfu_status status = grow_trials(sampler);
    if (status != SFU_OK) {
        return status;
    }
    remove_pending(sampler, 0);
    loss = isnan(loss) ? INFINITY : loss;
    const int trial = sampler->told, rank = rank_of(sampler, loss), count = sampler->space->count;
    memcpy(sampler->values + (size_t)trial * (size_t)count, values, (size_t)count * sizeof *values);
    sampler->losses[trial] = loss;
    int32_t *at = sampler->order + rank;
    memmove(at + 1, at, (size_t)(trial - rank) * sizeof *at);
    *at = trial;
    sampler->told++;
    split(sampler, trial, rank);
    return SFU_OK;
}

sfu_status sfu__sampler_pending(sfu__sampler *sampler, const double *points, int count) {
    const size_t width = (size_t)sampler->space->count;
    void *pending =
        sfu__grow(sampler->pending, &sampler->room_pending, (size_t)count * width + 1, sizeof *sampler->pending);
    if (pending == NULL) {
        return SFU_ERR_MEMORY;
    }
    sampler->pending = pending;
    int same = 0; /* the usual case from one ask to the next */
    while (same < count && same < sampler->pending_count &&
           memcmp(points + (size_t)same * width, pending_values(sampler, same), width * sizeof *points) == 0) {
        same++;
    }
    remove_pending(sampler, same);
    if (count > same) {
        memcpy(sampler->pending + (size_t)same * width, points + (size_t)same * width,
               (size_t)(count - same) * width * sizeof *points);
    }
    sampler->pending_count = count;
    return SFU_OK;
}

/* ---- ask --------------------------------------------------------------------------------------------------------- */

/* Whether the network chosen so far uses a parameter. `net` is the first parameter if it is searched. */
static bool is_used(const sfu__sampler *sampler, const double *values, int item) {
    return item == 0 || sfu__space_has(sampler->space, sfu__space_net(sampler->space, values), item);
}

double sfu__sampler_random(const sfu__domain *domain, sfu__draw_fn draw, void *user) {
    const sfu__axis axis = sfu__axis_of(domain);
    return sfu__axis_random(&axis, draw, user);
}

static void ask_random(double *values, const sfu__sampler *sampler, sfu__draw_fn draw, void *user) {
    for (int i = 0; i < sampler->space->count; i++) {
        if (is_used(sampler, values, i)) {
            values[i] = sfu__axis_random(&sampler->axes[i], draw, user);
        }
    }
}

/* The best of the points sampled from l, on ties the first. */
static sfu_status ask_model(double *values, sfu__sampler *sampler, const model *m, sfu__draw_fn draw, void *user) {
    sfu_status status = SFU_OK;
    const int count = sampler->rules.candidates;
    int best;
    sfu__parzen *l = m->side[sampler->rules.swapped ? ABOVE : BELOW];
    sfu__parzen *g = m->side[sampler->rules.swapped ? BELOW : ABOVE];
    SFU_TRY(sfu__parzen_sample(sampler->points, l, count, draw, user));
    SFU_TRY(sfu__parzen_log_density(sampler->log_l, l, sampler->points, count));
    SFU_TRY(sfu__parzen_best(&best, g, sampler->points, count, sampler->log_l));
    for (int j = 0; j < m->axes; j++) {
        values[m->item[j]] = sampler->points[(size_t)j * (size_t)count + (size_t)best];
    }
done:
    return status;
}

sfu_status sfu__sampler_ask(double *values, sfu__sampler *sampler, sfu__draw_fn draw, void *user) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < sampler->space->count; i++) {
        values[i] = NAN;
    }
    if (sampler->kind == SFU__SAMPLER_RANDOM || sampler->told < sampler->rules.startup) {
        ask_random(values, sampler, draw, user);
        return SFU_OK;
    }
    SFU_TRY(insert_pending(sampler));
    for (int i = 0; i < sampler->space->count; i++) {
        values[i] = sampler->axes[i].is_single ? sampler->axes[i].low : NAN;
    }
    for (int i = 0; i < sampler->model_count; i++) {
        if (is_used(sampler, values, sampler->models[i].first)) {
            SFU_TRY(ask_model(values, sampler, &sampler->models[i], draw, user));
        }
    }
    for (int i = 0; i < sampler->space->count; i++) {
        values[i] = is_used(sampler, values, i) ? values[i] : NAN;
    }
done:
    return status;
}
