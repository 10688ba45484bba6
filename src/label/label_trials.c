/* label_trials.c - a step in one problem: the trials of a network. The first has default hyperparameters; the others
 * are suggested by the sampler of a study, which is told all results of the network in this problem. */
#include "label.h"

#include "clock.h"
#include "dataset.h"
#include "memory.h"
#include "random.h"
#include "sampler.h"

#include <assert.h>
#include <string.h>

enum { SEEDS = 3, TRIALS_MAX = 1024, FEW_FEATURES = 50, LAYERS_MAX = 8 };

/* The seeds of a trial. */
typedef struct seeds {
    uint64_t draws, folds, model;
} seeds;

static seeds seeds_of(const sfu__label_problem *problem, int net, int32_t number, uint64_t seed) {
    const uint64_t index =
        ((uint64_t)problem->number * SFU__LABEL_NETS + (uint64_t)net) * TRIALS_MAX + (uint64_t)number;
    const uint64_t stream = sfu__stream_of(SFU__STREAM_LABEL, 0);
    return (seeds){sfu__random_bits(seed, stream, SEEDS * index) >> 33,
                   sfu__random_bits(seed, stream, SEEDS * index + 1) >> 33,
                   sfu__random_bits(seed, stream, SEEDS * index + 2) >> 33};
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

static double draw(void *user, int stream) { return sfu__random_unit(&((sfu__random *)user)[stream]); }

static sfu_status open_search(sfu__label_search *search, int net) {
    sfu_status status = SFU_OK;
    if (search->sampler == NULL) {
        const sfu__sampler_rules rules = sfu__sampler_rules_default();
        SFU_TRY(sfu__space_new(&search->space, "practical", sfu__label_net_names[net], NULL));
        SFU_TRY(sfu__sampler_new(&search->sampler, search->space, SFU__SAMPLER_TPE, &rules));
    }
done:
    return status;
}

/* Hyperparameters that are rarely bad with a few labels: the defaults, but with a learning rate that is high enough for
 * the validation score to change before patience ends the training. A few features cannot replace one another, so that
 * none of them is dropped. */
static const char *default_point(const sfu__space *space, int32_t features) {
    static const char *const points[2][2] = {
        {"lr=0.1 dropout=0.5 weight_decay=0.0005", "lr=0.03 dropout=0.5 weight_decay=0.0005 hidden=64"},
        {"lr=0.1 dropout=0 weight_decay=0.0005", "lr=0.03 dropout=0 weight_decay=0.0005 hidden=64"}};
    return points[features < FEW_FEATURES][sfu__space_find(space, "hidden") >= 0];
}

static sfu_status suggest(double *values, const sfu__label_search *search, int32_t number, uint64_t seed,
                          int32_t features) {
    sfu__random streams[2];
    for (uint32_t i = 0; i < 2; i++) {
        streams[i] = sfu__random_start(seed, sfu__stream_of(SFU__STREAM_SEARCH, i));
    }
    return number == 0 ? sfu__space_point(values, search->space, default_point(search->space, features))
                       : sfu__sampler_ask(values, search->sampler, draw, streams);
}

static sfu_status print_point(char **params, const sfu__space *space, const double *values) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    for (int i = 0; i < space->count; i++) {
        SFU_TRY(sfu__text_format(&text, "%s%s=", i > 0 ? " " : "", space->items[i].name));
        SFU_TRY(sfu__space_print(&text, space, i, values[i]));
    }
    *params = sfu__copy_string(text.bytes);
    status = *params != NULL ? SFU_OK : SFU_ERR_MEMORY;
done:
    sfu__text_clear(&text);
    return status;
}

sfu_status sfu__label_first_candidate(sfu__candidate *candidate, sfu__label_problem *problem, int net,
                                      const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    sfu__label_search *search = &problem->nets[net];
    sfu_train_options usual;
    double *values = NULL;
    sfu_train_options_init(&usual);
    SFU_TRY(open_search(search, net));
    SFU_ALLOC(values, search->space->count);
    SFU_TRY(suggest(values, search, 0, 0, sfu_dataset_features(work->dataset)));
    SFU_TRY(sfu__candidate_make(candidate, search->space, values, &usual));
done:
    sfu__free(values);
    return status;
}

/* ---- a trial ----------------------------------------------------------------------------------------------------- */

/* The network with all edges of equal weight. */
static sfu_status ignore_weights(sfu_net **net) {
    sfu_status status = SFU_OK;
    sfu_net *other = NULL;
    sfu_layer layers[LAYERS_MAX];
    int count = 0;
    for (sfu_layer_init(&layers[0], SFU_LAYER_SMOOTH); sfu_net_layer(&layers[count], *net, count);) {
        layers[count++].unweighted = true;
        assert(count < LAYERS_MAX);
        sfu_layer_init(&layers[count], SFU_LAYER_SMOOTH);
    }
    SFU_TRY(sfu_net_from_layers(&other, layers, count));
    sfu_net_free(*net);
    *net = other;
done:
    return status;
}

/* The numbers of a cross-validation. */
static void copy_numbers(sfu__label_trial *to, const sfu__label_trial *from) {
    to->epochs = from->epochs;
    to->accuracy = from->accuracy;
    to->score = from->score;
    to->error = from->error;
    to->loss = from->loss;
    to->temperature = from->temperature;
}

static sfu_status cross_validate(sfu__label_trial *trial, sfu__label_item *item, int i, const sfu__candidate *candidate,
                                 uint64_t seed, const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    if (item->known) {
        copy_numbers(trial, &item->made[i]);
        return SFU_OK;
    }
    status = sfu__label_cross_validate(trial, item->problem, candidate, seed, work);
    SFU_TRY(sfu__label_exceeds(status, work) ? SFU_OK : status);
    copy_numbers(&item->made[i], trial);
done:
    return status;
}

/* Trial i of the item. The model is trained only if the trial may become the best of its network. */
static sfu_status run_trial(sfu__label_trial *trial, sfu__label_item *item, int i, int32_t number,
                            const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    const sfu__label_problem *problem = item->problem;
    const int net = problem->order[item->step.slot];
    const sfu__label_search *search = &problem->nets[net];
    const seeds own = seeds_of(problem, net, number, work->seed);
    sfu_train_options usual;
    sfu__candidate candidate = {0};
    double *values = NULL;
    sfu_train_options_init(&usual);
    SFU_ALLOC(values, search->space->count);
    SFU_TRY(suggest(values, search, number, own.draws, sfu_dataset_features(work->dataset)));
    SFU_TRY(sfu__candidate_make(&candidate, search->space, values, &usual));
    SFU_TRY(trial->unweighted ? ignore_weights(&candidate.net) : SFU_OK);
    SFU_TRY(print_point(&trial->params, search->space, values));
    SFU_TRY(cross_validate(trial, item, i, &candidate, own.folds, work));
    if (trial->epochs > 0) {
        SFU_TRY(sfu__sampler_tell(search->sampler, values, trial->loss));
        const bool wanted = sfu__label_is_better(trial, &search->best) && sfu__label_is_better(trial, &item->best);
        SFU_TRY(wanted ? sfu__label_refit(trial, problem, &candidate, own.model, work) : SFU_OK);
        item->trainings += wanted;
    }
    item->trainings += problem->folds;
done:
    sfu__candidate_clear(&candidate);
    sfu__free(values);
    return status;
}

static bool has_weights(const sfu_dataset *dataset) { return dataset->graph.values != NULL; }

/* The only trial of the first step is repeated without the weights of edges, if there are any; the better of both
 * decides whether the other networks use them. */
sfu_status sfu__label_item_start(sfu__label_item *item, sfu__label_problem *problem, int number,
                                 const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    *item =
        (sfu__label_item){.problem = problem, .step = sfu__label_step_at(work->nets.count, number), .number = number};
    item->made_count = item->step.trials + (number == 0 && has_weights(work->dataset));
    SFU_ALLOC_ZERO(item->made, item->made_count);
done:
    return status;
}

sfu_status sfu__label_train(sfu__label_item *item, const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    sfu__label_problem *problem = item->problem;
    const int net = problem->order[item->step.slot];
    const double start = sfu__now();
    sfu__label_trial trial = {0};
    SFU_TRY(open_search(&problem->nets[net], net));
    for (int i = 0; i < item->made_count; i++) {
        const bool again = i == item->step.trials;
        trial.unweighted = problem->unweighted || again;
        SFU_TRY(run_trial(&trial, item, i, problem->nets[net].trials + (again ? 0 : i), work));
        if (trial.model != NULL) {
            sfu__label_trial_clear(&item->best);
            item->best = trial;
            trial = (sfu__label_trial){0};
        }
        sfu__label_trial_clear(&trial);
    }
    item->trial_s += (sfu__now() - start) / item->made_count;
done:
    sfu__label_trial_clear(&trial);
    return status;
}
