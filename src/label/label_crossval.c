/* label_crossval.c - the cross-validation of a trial: one training per fold, all of them epoch by epoch together.
 *
 * After every epoch the validation nodes of all folds, each predicted by the network that has not seen its label, are
 * scored as one set. Early stopping works on their cross-entropy, so the number of epochs is chosen by all labels and
 * not by the few of one fold, and holds for a training on all of them. A metric would be a noisy criterion: on the few
 * labels that there are, many epochs have the same.
 */
#include "label.h"

#include "memory.h"
#include "process_memory.h"
#include "team.h"
#include "train.h"

#include <math.h>
#include <string.h>

enum { EPOCHS = 500, PATIENCE = 50 };
static const double least_gain = 1e-3; /* relative: a smaller one does not delay the end */

typedef struct fold {
    sfu__objective objective;
    sfu__runner runner;
    uint64_t seed;
    int32_t first; /* its first row among the validation nodes of all folds */
} fold;

typedef struct crossval {
    const sfu__label_problem *problem;
    const sfu__candidate *candidate;
    const sfu__label_work *work;
    sfu__team *team;
    sfu__device device;
    fold folds[SFU__LABEL_FOLDS];
    sfu__dense now;      /* [count][classes]: probabilities after the current epoch */
    sfu__dense found;    /* and after the best epoch */
    int64_t used_before; /* for the message about a limit that is too small */
    int64_t *refused;    /* as in sfu__plan_request */
    int64_t memory;      /* likewise */
    bool streams;        /* the plans of all folds, if the limit is large enough */
    int32_t *later;      /* [nodes], or NULL: all nodes, whose prediction must fit into the limit, too */
    double mark;         /* the loss at the last clear gain, and its epoch */
    int32_t gained;      /* */
} crossval;

/* ---- preparation ------------------------------------------------------------------------------------------------- */

static sfu__plan_request request_of(const crossval *self, int fold) {
    sfu__plan_request request = sfu__train_request(self->candidate->net, self->problem->inner[fold],
                                                   self->candidate->dropout, self->work->jobs, self->device);
    request.epochs = EPOCHS;
    request.memory = self->memory;
    request.streams = self->streams;
    request.used_before = self->used_before;
    request.plans = self->problem->folds - fold;
    request.refused = self->refused;
    request.later_nodes = fold == 0 ? self->later : NULL;
    request.later = request.later_nodes != NULL ? self->work->dataset->nodes : 0;
    return request;
}

static sfu_status prepare_fold(crossval *self, int i, uint64_t seed) {
    sfu_status status = SFU_OK;
    const sfu_split *split = self->problem->inner[i];
    const sfu__candidate *candidate = self->candidate;
    fold *one = &self->folds[i];
    const sfu__plan_request request = request_of(self, i);
    one->seed = seed + (uint64_t)i;
    one->first = i > 0 ? self->folds[i - 1].first + self->folds[i - 1].objective.val_count : 0;
    SFU_TRY(sfu__objective_make(&one->objective, self->work->dataset, split,
                                &(sfu__objective_options){.loss = SFU_LOSS_MEAN, .balanced = self->work->balanced}));
    SFU_TRY(sfu__runner_make_of(&one->runner, self->work->dataset, candidate->net, &request, NULL, self->team));
    if (one->runner.own != NULL) {
        sfu__plan_drop_factors(one->runner.own);
    }
    sfu__runner_start(&one->runner, one->objective.train_labels, one->seed);
    sfu__runner_reset(&one->runner);
    SFU_TRY(sfu__runner_check(&one->runner));
done:
    return status;
}

/* Later steps hold the probabilities of all nodes twice, with lists of nodes. */
static int64_t used_later(const crossval *self) {
    const sfu_dataset *dataset = self->work->dataset;
    return sfu__process_memory() + (int64_t)dataset->nodes * (8 * (int64_t)dataset->classes + 16);
}

static sfu_status prepare(crossval *self, uint64_t seed) {
    sfu_status status = SFU_OK;
    const sfu__label_problem *problem = self->problem;
    const int32_t classes = self->work->dataset->classes;
    SFU_TRY(sfu__device_parse(&self->device, self->work->device, self->work->memory));
    SFU_TRY(sfu__team_new(&self->team, self->work->jobs));
    self->used_before = used_later(self);
    self->now = (sfu__dense){.rows = problem->count, .cols = classes, .ld = classes};
    self->found = self->now;
    SFU_ALLOC(self->now.data, (size_t)problem->count * (size_t)classes);
    SFU_ALLOC(self->found.data, (size_t)problem->count * (size_t)classes);
    for (int i = 0; i < problem->folds; i++) {
        SFU_TRY(prepare_fold(self, i, seed));
    }
done:
    return status;
}

/* ---- epochs ------------------------------------------------------------------------------------------------------ */

static void copy_output(const crossval *self, const fold *one) {
    const sfu__dense output = sfu__runner_output(&one->runner, SFU_PASS_EVALUATE);
    float *to = self->now.data + (size_t)one->first * (size_t)output.cols;
    for (int32_t row = 0; row < output.rows; row++, to += output.cols) {
        memcpy(to, output.data + (int64_t)row * output.ld, (size_t)output.cols * sizeof *to);
    }
}

/* False if a loss is not finite. */
static bool run_fold(const crossval *self, const fold *one, int32_t number) {
    const sfu__candidate *candidate = self->candidate;
    const sfu__epoch epoch = {.seed = one->seed,
                              .number = (uint32_t)number,
                              .dropout = candidate->dropout,
                              .lr = (float)candidate->lr,
                              .decay = (float)candidate->weight_decay,
                              .target = {one->objective.train_labels, one->objective.train_weights},
                              .validation = {one->objective.val_labels, NULL},
                              .evaluate = true};
    sfu__score training, validation;
    sfu__runner_epoch(&one->runner, &epoch, &training, &validation);
    copy_output(self, one);
    return isfinite(training.loss) && isfinite(validation.loss);
}

static bool run_epoch(const crossval *self, int32_t number) {
    bool finite = true;
    for (int i = 0; i < self->problem->folds && finite; i++) {
        finite = run_fold(self, &self->folds[i], number);
    }
    return finite;
}

static void update_best(sfu__label_trial *trial, crossval *self, int32_t number) {
    const double loss = sfu__label_loss(&self->now, self->problem, self->work);
    if (number == 1 || loss < (1 - least_gain) * self->mark) {
        self->mark = loss;
        self->gained = number;
    }
    if (trial->epochs == 0 || loss < trial->loss) {
        trial->loss = loss;
        trial->epochs = number;
        memcpy(self->found.data, self->now.data,
               (size_t)self->now.rows * (size_t)self->now.cols * sizeof *self->now.data);
    }
}

static sfu_status check_folds(const crossval *self) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < self->problem->folds && status == SFU_OK; i++) {
        status = sfu__runner_check(&self->folds[i].runner);
    }
    return status;
}

static sfu_status run_epochs(sfu__label_trial *trial, crossval *self) {
    sfu_status status = SFU_OK;
    for (int32_t number = 1; number <= EPOCHS && number - self->gained <= PATIENCE; number++) {
        if (!self->work->should_continue(self->work->user)) {
            return sfu__fail(SFU_ERR_CANCELLED, "the labelling was stopped");
        }
        const bool finite = run_epoch(self, number);
        SFU_TRY(check_folds(self));
        if (!finite) {
            break;
        }
        update_best(trial, self, number);
    }
done:
    return status;
}

static void clear(crossval *self) {
    for (int i = 0; i < self->problem->folds; i++) {
        sfu__runner_clear(&self->folds[i].runner);
        sfu__objective_clear(&self->folds[i].objective);
    }
    sfu__free(self->now.data);
    sfu__free(self->found.data);
    sfu__team_free(self->team);
    self->now.data = self->found.data = NULL;
    self->team = NULL;
}

/* ---- the limit --------------------------------------------------------------------------------------------------- */

static sfu_status make_folds(void *context, const sfu__plan_request *request) {
    crossval *self = context;
    self->memory = request->memory;
    return prepare(self, 0);
}

static void drop_folds(void *context) { clear(context); }

/* The plans of ranks are made together: one that fails alone would leave the others waiting. */
static bool is_alone(void) { return sfu__processes_here() == NULL; }

static sfu_status list_later(crossval *self) {
    sfu_status status = SFU_OK;
    const int32_t nodes = self->work->dataset->nodes;
    SFU_ALLOC(self->later, nodes);
    for (int32_t node = 0; node < nodes; node++) {
        self->later[node] = node;
    }
done:
    return status;
}

/* Whether the estimate is that the plans do not fit in memory, and the network can stream. */
static bool decide(const crossval *self) {
    const sfu__plan_request request = request_of(self, 0);
    return sfu__plan_decide(self->work->dataset, self->candidate->net, &request);
}

/* Smoothing fills in sparse features, which the estimate leaves out: plans that turn out not to fit in memory are
 * dropped, and all folds stream, if they can. */
static bool turn_to_streams(crossval *self) {
    clear(self);
    sfu__free(self->later);
    self->later = NULL;
    self->streams = true;
    self->streams = is_alone() && decide(self);
    return self->streams;
}

static sfu_status enough(bool *in_memory, const crossval *self, int fold) {
    sfu__plan_request request = request_of(self, fold);
    request.plans = self->problem->folds;
    request.in_memory = in_memory;
    *self->refused = 0;
    return sfu__plan_enough(self->work->dataset, self->candidate->net, &request);
}

/* Fails if the limit is too small for plans that stream, or for the predictions of the models, with the most that a
 * fold needs. Each fold has its own fastest plan: self->streams is reset if that of one needs the graph in memory. */
static sfu_status check_streams(crossval *self) {
    sfu_status status = SFU_OK;
    bool in_memory = false;
    int64_t most = 0;
    int largest = 0;
    self->used_before = used_later(self);
    for (int i = 0; i < self->problem->folds && self->streams; i++) {
        status = enough(&in_memory, self, i);
        self->streams = !in_memory;
        if (*self->refused > most) {
            most = *self->refused;
            largest = i;
        }
        SFU_TRY(in_memory || *self->refused > 0 ? SFU_OK : status);
    }
    *self->refused = 0;
    SFU_TRY(self->streams && most > 0 ? enough(&in_memory, self, largest) : SFU_OK);
done:
    return status;
}

/* Fails with what is enough to hold everything in memory. */
static sfu_status refuse_in_memory(crossval *self) {
    sfu_status status = SFU_OK;
    const sfu__resident folds = {make_folds, drop_folds, self};
    SFU_TRY(list_later(self));
    const sfu__plan_request request = request_of(self, 0);
    status = sfu__resident_refuse(&folds, self->work->dataset, self->candidate->net, &request);
done:
    return status;
}

/* Makes the plans of all folds in memory, after that of a prediction of all nodes. If they do not fit, the folds are to
 * stream: it fails with what is enough for that, or, if they cannot, with what is enough in memory. */
static sfu_status plan_in_memory(crossval *self) {
    sfu_status status = SFU_OK;
    self->used_before = used_later(self);
    SFU_TRY(list_later(self));
    status = prepare(self, 0);
    if (status == SFU_ERR_MEMORY && *self->refused > 0) { /* one of them does not fit */
        status = turn_to_streams(self) ? check_streams(self) : status;
        status = self->streams ? status : refuse_in_memory(self);
    }
done:
    return status;
}

/* Ranks estimate only. */
static sfu_status check_estimate(const crossval *self) {
    const sfu__plan_request request = request_of(self, 0);
    return sfu__resident_enough(self->work->dataset, self->candidate->net, &request);
}

sfu_status sfu__label_cross_plan(int64_t *refused, const sfu__label_problem *problem, const sfu__candidate *candidate,
                                 const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    crossval self = {.problem = problem, .candidate = candidate, .work = work};
    self.refused = refused;
    self.memory = sfu__limit_of(work->memory);
    self.used_before = used_later(&self);
    self.streams = decide(&self);
    SFU_TRY(check_streams(&self));
    if (!self.streams) {
        status = is_alone() ? plan_in_memory(&self) : check_estimate(&self);
    }
done:
    clear(&self);
    sfu__free(self.later);
    return status;
}

sfu_status sfu__label_cross_validate(sfu__label_trial *trial, const sfu__label_problem *problem,
                                     const sfu__candidate *candidate, uint64_t seed, const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    crossval self = {.problem = problem, .candidate = candidate, .work = work};
    self.memory = sfu__limit_of(work->memory);
    SFU_TRY(self.memory > 0 && is_alone() && !decide(&self) ? list_later(&self) : SFU_OK);
    status = prepare(&self, seed);
    if (status == SFU_ERR_MEMORY && self.memory > 0 && turn_to_streams(&self)) {
        status = prepare(&self, seed);
    }
    SFU_TRY(status);
    SFU_TRY(run_epochs(trial, &self));
    SFU_TRY(trial->epochs > 0 ? sfu__label_score(trial, &self.found, problem, work) : SFU_OK);
done:
    clear(&self);
    sfu__free(self.later);
    return status;
}
