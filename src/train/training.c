/* training.c - the training loop: runs epochs and keeps the parameters of the best one.
 *
 * After every epoch the validation nodes are scored with the new parameters; early_stopping.h decides which epoch is
 * the best and when to stop. Without validation nodes all epochs run and the last is kept. The validation loss of an
 * epoch that cannot be the best has no effect, so its validation may exit early.
 */
#include "train.h"
#include "clock.h"

#include <math.h>
#include <string.h>

/* State of the loop beyond the outcome. */
typedef struct state {
    sfu__training *training;
    const sfu__runner *runner;
    int64_t size;                 /* floats per parameter vector */
    sfu__score train, validation; /* scores of the current epoch */
    double score;                 /* what early stopping maximises, of the current epoch */
} state;

/* Tests the bits, two values at a time: the exponent of infinities and NaN is all ones and overflows into the sign bit
 * when 1 is added. */
static bool all_finite(const float *values, int64_t count) {
    uint64_t over = 0;
    for (int64_t i = 0; i + 2 <= count; i += 2) {
        uint64_t bits;
        memcpy(&bits, values + i, sizeof bits);
        over |= (bits & UINT64_C(0x7f8000007f800000)) + UINT64_C(0x0080000000800000);
    }
    return (over & UINT64_C(0x8000000080000000)) == 0 && (count % 2 == 0 || isfinite(values[count - 1]));
}

/* A cross-entropy of nodes with this total weight is finite and, apart from rounding, not negative. */
static bool is_loss(double loss, double weight) { return isfinite(loss) && loss > -0.01 * weight; }

/* Sum of the weights of the training loss. */
static double train_weight(const state *at) {
    const sfu__objective *objective = at->training->objective;
    return at->runner->sums_loss ? objective->train_count : objective->train_weight;
}

static bool is_validated(const state *at) {
    return at->training->objective->val_count > 0 && at->validation.correct >= 0;
}

static double val_loss(const state *at) {
    return is_validated(at) ? at->validation.loss * at->training->objective->val_scale : NAN;
}

static bool has_failed(const state *at) { return sfu__runner_check(at->runner) != SFU_OK; }

static void initialize(state *at) {
    const sfu__training *training = at->training;
    float *theta = at->runner->theta;
    if (training->start != NULL) {
        memcpy(theta, training->start, (size_t)at->size * sizeof *theta);
    } else {
        sfu__runner_start(at->runner, training->objective->train_labels, training->seed);
    }
    sfu__runner_reset(at->runner);
}

static void count_misses(const state *at) {
    const sfu__training *training = at->training;
    if (training->misses != NULL && is_validated(at)) {
        sfu__runner_misses(at->runner, training->objective->val_labels, training->misses);
    }
}

static void run_epoch(state *at, int32_t number) {
    const sfu__training *training = at->training;
    const sfu__objective *objective = training->objective;
    const float *weights = at->runner->sums_loss ? objective->sum_weights : objective->train_weights;
    const bool best_alone = training->outcome_only && training->keep == SFU_KEEP_BEST && training->scorer == NULL;
    const sfu__epoch epoch = {.seed = training->seed,
                              .number = (uint32_t)number,
                              .dropout = training->dropout,
                              .lr = (float)training->lr,
                              .decay = (float)training->weight_decay,
                              .target = {objective->train_labels, weights},
                              .validation = {objective->val_labels, NULL},
                              .evaluate = objective->val_count > 0,
                              .needed = best_alone ? training->best_val_correct : 0};
    sfu__runner_epoch(at->runner, &epoch, &at->train, &at->validation);
    count_misses(at);
}

/* Keeps the current parameters, unless they are not finite. */
static void keep_parameters(state *at, int32_t epoch) {
    sfu__training *training = at->training;
    const float *theta = at->runner->theta;
    sfu__runner_fetch(at->runner);
    if (!all_finite(theta, at->size)) {
        training->diverged = true;
        return;
    }
    if (training->best != NULL) {
        memcpy(training->best, theta, (size_t)at->size * sizeof *theta);
    }
    training->best_val_correct = at->validation.correct;
    sfu__early_stopping_keep(&training->stopping, epoch, at->score, val_loss(at));
}

/* A metric that is not defined, such as the AUC of nodes of one class, leaves the choice to the loss. */
static double score_of(const state *at) {
    const sfu__scorer *scorer = at->training->scorer;
    if (scorer == NULL) {
        return (double)at->validation.correct;
    }
    const sfu__dense probabilities = sfu__runner_output(at->runner, SFU_PASS_EVALUATE);
    const double score = has_failed(at) ? 0 : sfu__scorer_score(scorer, &probabilities);
    return isnan(score) ? 0 : score;
}

/* Keeps the epoch if its validation score is the best so far. */
static void update_best(state *at, int32_t epoch) {
    sfu__training *training = at->training;
    const sfu__early_stopping *stopping = &training->stopping;
    at->score = score_of(at);
    if (training->scorer == NULL && at->validation.correct < training->best_val_correct) {
        return; /* its loss may be incomplete */
    }
    if (!is_loss(at->validation.loss, training->objective->val_count)) {
        training->diverged = true;
    } else if (sfu__early_stopping_is_best(stopping, at->score, val_loss(at))) {
        keep_parameters(at, epoch);
    }
}

static bool report_epoch(state *at, sfu_epoch_fn on_epoch, void *user, int64_t started) {
    const sfu__training *training = at->training;
    const double count = training->objective->val_count;
    const bool scored = training->objective->val_count > 0;
    const sfu_epoch epoch = {
        .epoch = training->ran,
        .train_loss = at->train.loss,
        .val_loss = val_loss(at),
        .val_accuracy = is_validated(at) ? (double)at->validation.correct / count : NAN,
        .best_val_accuracy = scored ? (double)training->best_val_correct / count : NAN,
        .best_epoch = scored ? training->stopping.best_epoch : training->ran,
        .seconds = 1e-9 * (double)(sfu__now_ns() - started),
    };
    return on_epoch(user, &epoch);
}

/* Whether another epoch follows. */
static bool should_continue(const sfu__training *training) {
    const bool ends =
        training->objective->val_count > 0 && sfu__early_stopping_ends(&training->stopping, training->ran);
    return !training->diverged && !training->stopped && training->ran < training->epochs && !ends;
}

/* One epoch, its divergence check, its score and its callback. */
static void step(state *at, sfu_epoch_fn on_epoch, void *user, int64_t started) {
    sfu__training *training = at->training;
    const bool scored = training->objective->val_count > 0;
    const int32_t number = training->ran + 1;
    run_epoch(at, number);
    if (has_failed(at)) {
        return;
    }
    training->ran = number;
    if (!is_loss(at->train.loss, train_weight(at))) {
        training->diverged = true;
    } else if (scored) {
        update_best(at, number);
    }
    if (!training->diverged && !has_failed(at) && on_epoch != NULL) {
        training->stopped = sfu__ranks_any(!report_epoch(at, on_epoch, user, started));
    }
}

void sfu__training_run(sfu__training *training, const sfu__runner *runner, sfu_epoch_fn on_epoch, void *user) {
    state at = {.training = training, .runner = runner, .size = runner->parameters->size};
    const int64_t started = sfu__now_ns();
    training->ran = 0;
    training->best_val_correct = 0;
    training->stopping = sfu__early_stopping_start(training->patience);
    training->diverged = training->stopped = false;
    initialize(&at);
    do {
        step(&at, on_epoch, user, started);
    } while (!has_failed(&at) && should_continue(training));
    if (!training->diverged && !has_failed(&at) &&
        (training->keep == SFU_KEEP_LAST || training->objective->val_count == 0)) {
        keep_parameters(&at, training->ran);
    }
}
