/* label_steps.c - the schedule of the networks, and one step in one problem.
 *
 *   round 0   every network with default hyperparameters, one training run
 *   round 1   every network, a study of 4 trials each, the best first
 *   round 2   the better half and the network without a graph, 8 trials, starting at the best point so far
 *   round 3+  the two best, 16 trials, then 32, 64, 128
 */
#include "label.h"

#include "clock.h"
#include "memory.h"
#include "random.h"

#include <math.h>
#include <string.h>

const char *const sfu__label_nets[SFU__LABEL_NETS] = {"sgcn",   "mlp", "linear+lp", "sgcn+lp",
                                                      "fp+mlp", "gcn", "mlp+lp",    "gcn+lp"};

enum { ROUNDS = 7, HALF = SFU__LABEL_NETS / 2 };

static const struct {
    int slots;
    int32_t trials;
    int32_t val; /* with fewer validation nodes, this many trials cannot be distinguished */
} rounds[ROUNDS] = {{SFU__LABEL_NETS, 1, 0},
                    {SFU__LABEL_NETS, 4, 0},
                    {HALF + 1, 8, 10},
                    {2, 16, 25},
                    {2, 32, 50},
                    {2, 64, 100},
                    {2, 128, 200}};

int sfu__label_steps(int32_t val) {
    int steps = 0;
    for (int round = 0; round < ROUNDS && val >= rounds[round].val; round++) {
        steps += rounds[round].slots;
    }
    return steps;
}

sfu__label_step sfu__label_step_at(int number) {
    int round = 0;
    while (round + 1 < ROUNDS && number >= rounds[round].slots) {
        number -= rounds[round++].slots;
    }
    return (sfu__label_step){round, number, rounds[round].trials};
}

/* ---- best models ------------------------------------------------------------------------------------------------- */

void sfu__label_best_clear(sfu__label_best *best) {
    sfu_study_free(best->study);
    sfu_model_free(best->trained);
    sfu__free(best->params);
    *best = (sfu__label_best){0};
}

void sfu__label_problem_clear(sfu__label_problem *problem) {
    for (int i = 0; i < SFU__LABEL_NETS; i++) {
        sfu__label_best_clear(&problem->best[i]);
    }
    sfu__label_best_clear(&problem->next);
    sfu_split_free(problem->split);
    problem->split = NULL;
}

bool sfu__label_is_better(const sfu__label_best *one, const sfu__label_best *other) {
    if (one->model == NULL || other->model == NULL) {
        return one->model != NULL;
    }
    return one->val_accuracy > other->val_accuracy ||
           (one->val_accuracy == other->val_accuracy && one->val_loss < other->val_loss);
}

int sfu__label_choice(const sfu__label_problem *problem) {
    int best = 0;
    for (int i = 1; i < SFU__LABEL_NETS; i++) {
        best = sfu__label_is_better(&problem->best[i], &problem->best[best]) ? i : best;
    }
    return best;
}

/* Insertion sort, which is stable; afterwards the network without a graph is moved to the better half. */
void sfu__label_rank(sfu__label_problem *problem, int round) {
    int *order = problem->order;
    int control = 0;
    for (int i = 0; i < SFU__LABEL_NETS; i++) {
        int at = i;
        while (round > 0 && at > 0 && sfu__label_is_better(&problem->best[i], &problem->best[order[at - 1]])) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    while (order[control] != SFU__LABEL_CONTROL) {
        control++;
    }
    if (round >= 2 && control > HALF) {
        order[control] = order[HALF];
        order[HALF] = SFU__LABEL_CONTROL;
    }
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

static uint64_t seed_of(const sfu__label_problem *problem, const sfu__label_step *step, int net, uint64_t seed) {
    const int index = (problem->number * ROUNDS + step->round) * SFU__LABEL_NETS + net;
    return sfu__random_bits(seed, sfu__stream_of(SFU__STREAM_LABEL, 0), (uint64_t)index) >> 33;
}

/* Cancellation of a step, in the form of a training's and a study's callback. */
typedef struct watch {
    const sfu__label_work *work;
    bool ended;
} watch;

static bool ask(watch *watching) {
    watching->ended = watching->ended || !watching->work->should_continue(watching->work->user);
    return !watching->ended;
}

static bool on_epoch(void *user, const sfu_epoch *epoch) {
    (void)epoch;
    return ask(user);
}

static bool on_trial(void *user, const sfu_tune_progress *progress) {
    (void)progress;
    return ask(user);
}

static sfu_status set_params(sfu__label_best *best, const char *params) {
    best->params = sfu__copy_string(params);
    return best->params != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

/* Hyperparameters that are rarely bad with a few labels: the defaults, but with a learning rate that is high enough for
 * the validation accuracy to change before patience ends the training. */
typedef struct default_settings {
    double lr, dropout, weight_decay;
    const char *params; /* the same, as a study prints them */
} default_settings;
static const default_settings linear = {0.1, 0.5, 0.0005, "lr=0.1 dropout=0.5 weight_decay=0.0005"};
static const default_settings hidden = {0.03, 0.5, 0.0005, "lr=0.03 dropout=0.5 weight_decay=0.0005 hidden=64"};

static sfu_train_options options_of(const default_settings *settings, uint64_t seed, watch *watching) {
    sfu_train_options options;
    sfu_train_options_init(&options);
    options.lr = settings->lr;
    options.dropout = settings->dropout;
    options.weight_decay = settings->weight_decay;
    options.seed = seed;
    options.threads = watching->work->jobs;
    options.on_epoch = on_epoch;
    options.on_epoch_user = watching;
    return options;
}

static sfu_status train_default(sfu__label_best *best, const sfu__label_problem *problem, int net, uint64_t seed,
                                const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    sfu_net *parsed = NULL;
    watch watching = {work, false};
    SFU_TRY(sfu_net_parse(&parsed, sfu__label_nets[net], NULL));
    const default_settings *settings = strstr(sfu_net_text(parsed), "dense") != NULL ? &hidden : &linear;
    const sfu_train_options options = options_of(settings, seed, &watching);
    status = sfu_train(&best->trained, work->dataset, parsed, problem->split, &options);
    if (watching.ended) {
        status = sfu__fail(SFU_ERR_CANCELLED, "the labelling was stopped");
    }
    if (status == SFU_ERR_DIVERGED) {
        status = SFU_OK; /* it has no model then */
        goto done;
    }
    SFU_TRY(status);
    SFU_TRY(set_params(best, settings->params));
    best->model = best->trained;
done:
    sfu_net_free(parsed);
    return status;
}

/* A study that starts at the best point so far. */
static sfu_status tune(sfu__label_best *best, const sfu__label_problem *problem, const sfu__label_step *step, int net,
                       uint64_t seed, const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    const char *before = problem->best[net].params;
    sfu_tune_options options;
    watch watching = {work, false};
    sfu_tune_options_init(&options);
    options.space = "practical";
    options.trials = step->trials;
    options.seed = seed;
    options.jobs = work->jobs;
    options.on_progress = on_trial;
    options.on_progress_user = &watching;
    if (step->round > 1 && before != NULL) {
        options.enqueue = &before;
        options.enqueue_count = 1;
    }
    SFU_TRY(sfu_tune(&best->study, work->dataset, sfu__label_nets[net], NULL, problem->split, &options));
    best->model = sfu_study_model(best->study);
    if (best->model != NULL) {
        SFU_TRY(set_params(best, sfu_study_ranked(best->study, 0)->params));
    }
done:
    return status;
}

sfu_status sfu__label_train(sfu__label_problem *problem, const sfu__label_step *step, const sfu__label_work *work) {
    const int net = problem->order[step->slot];
    const uint64_t seed = seed_of(problem, step, net, work->seed);
    const double start = sfu__now();
    sfu__label_best *best = &problem->next;
    sfu__label_best_clear(best);
    const sfu_status status =
        step->round == 0 ? train_default(best, problem, net, seed, work) : tune(best, problem, step, net, seed, work);
    if (status == SFU_OK && best->model != NULL) {
        const sfu_scores scores = *sfu_model_scores(best->model);
        best->val_accuracy = scores.val_accuracy;
        best->val_loss = scores.val_loss;
    }
    problem->next_s =
        (sfu__now() - start) / (step->trials + (step->round > 0)); /* a study trains its winner once more */
    return status;
}

void sfu__label_take(sfu__label_problem *problem, const sfu__label_step *step) {
    const int net = problem->order[step->slot];
    if (sfu__label_is_better(&problem->next, &problem->best[net])) {
        sfu__label_best_clear(&problem->best[net]);
        problem->best[net] = problem->next;
        problem->next = (sfu__label_best){0};
    }
    sfu__label_best_clear(&problem->next);
    problem->trials[net] += step->trials;
    problem->trial_s[net] = problem->next_s;
}
