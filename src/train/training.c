/* training.c - the loop over the epochs, and when it ends.
 *
 * After every epoch the validation nodes are scored with the new parameters. Those of the epoch with the most of them
 * right are kept, of equals the one with the lower loss; `patience` epochs without more of them right end it. Without
 * validation nodes all epochs are run and the last is kept. The loss of an epoch that cannot be the one to keep plays
 * no part, so that its validation may end as soon as that is clear.
 */
#include "train.h"
#include "clock.h"

#include <math.h>
#include <string.h>

/* What the loop knows beyond the outcome. */
typedef struct state {
    sfu__training *training;
    const sfu__runner *runner;
    int64_t size;                 /* floats of the parameters */
    int32_t last_better;          /* the epoch of the last rise of the validation accuracy */
    sfu__score train, validation; /* of the current epoch */
} state;

/* By their bits: an exponent of ones, which the infinite and NaN have, overflows into the sign when 1 is added. Two
 * values at a time. */
static bool all_finite(const float *values, int64_t count) {
    uint64_t over = 0;
    for (int64_t i = 0; i + 2 <= count; i += 2) {
        uint64_t bits;
        memcpy(&bits, values + i, sizeof bits);
        over |= (bits & UINT64_C(0x7f8000007f800000)) + UINT64_C(0x0080000000800000);
    }
    return (over & UINT64_C(0x8000000080000000)) == 0 && (count % 2 == 0 || isfinite(values[count - 1]));
}

/* A cross-entropy of nodes of this weight is a number, and never below 0 but for rounding. */
static bool is_loss(double loss, double weight) { return isfinite(loss) && loss > -0.01 * weight; }

static bool seen(const state *at) { return at->training->objective->val_count > 0 && at->validation.correct >= 0; }

static double val_loss(const state *at) {
    return seen(at) ? at->validation.loss * at->training->objective->val_scale : NAN;
}

static void start(state *at) {
    const sfu__training *training = at->training;
    float *theta = sfu__runner_theta(at->runner);
    if (training->start != NULL) {
        memcpy(theta, training->start, (size_t)at->size * sizeof *theta);
    } else {
        sfu__runner_start(at->runner, training->objective->train_labels, training->seed);
    }
    memset(sfu__runner_m(at->runner), 0, (size_t)at->size * sizeof(float));
    memset(sfu__runner_v(at->runner), 0, (size_t)at->size * sizeof(float));
}

static void note_misses(const state *at) {
    const sfu__training *training = at->training;
    if (training->misses != NULL && seen(at)) {
        sfu__runner_misses(at->runner, training->objective->val_labels, training->misses);
    }
}

static void run_epoch(state *at, int32_t number) {
    const sfu__training *training = at->training;
    const sfu__objective *objective = training->objective;
    const bool best_alone = training->outcome_only && training->keep == SFU_KEEP_BEST;
    const sfu__epoch epoch = {.seed = training->seed,
                              .number = (uint32_t)number,
                              .dropout = training->dropout,
                              .lr = (float)training->lr,
                              .decay = (float)training->weight_decay,
                              .target = {objective->train_labels, objective->train_weights},
                              .validation = {objective->val_labels, NULL},
                              .evaluate = objective->val_count > 0,
                              .needed = best_alone ? training->best_val_correct : 0};
    sfu__runner_epoch(at->runner, &epoch, &at->train, &at->validation);
    note_misses(at);
}

/* Keeps the parameters as they are now; false where they are no numbers. */
static bool keep(state *at, int32_t epoch) {
    sfu__training *training = at->training;
    const float *theta = sfu__runner_theta(at->runner);
    if (!all_finite(theta, at->size)) {
        training->diverged = true;
        return false;
    }
    if (training->best != NULL) {
        memcpy(training->best, theta, (size_t)at->size * sizeof *theta);
    }
    training->best_epoch = epoch;
    training->best_val_loss = val_loss(at);
    training->best_val_correct = at->validation.correct;
    return true;
}

/* Whether the epoch is one to keep, by its validation score. */
static void consider(state *at, int32_t epoch) {
    sfu__training *training = at->training;
    const bool first = training->best_epoch == 0;
    const int64_t more = at->validation.correct - training->best_val_correct;
    if (more < 0) {
        return;
    }
    if (!is_loss(at->validation.loss, training->objective->val_count)) {
        training->diverged = true;
    } else if (first || more > 0 || val_loss(at) < training->best_val_loss) {
        if (keep(at, epoch) && (first || more > 0)) {
            at->last_better = epoch;
        }
    }
}

static bool tell(state *at, sfu_epoch_fn on_epoch, void *user, int64_t started) {
    const sfu__training *training = at->training;
    const double count = training->objective->val_count;
    const bool scored = training->objective->val_count > 0;
    const sfu_epoch epoch = {
        .epoch = training->ran,
        .train_loss = at->train.loss,
        .val_loss = val_loss(at),
        .val_accuracy = seen(at) ? (double)at->validation.correct / count : NAN,
        .best_val_accuracy = scored ? (double)training->best_val_correct / count : NAN,
        .best_epoch = scored ? training->best_epoch : training->ran,
        .seconds = 1e-9 * (double)(sfu__now_ns() - started),
    };
    return on_epoch(user, &epoch);
}

/* After an epoch: whether there is to be another one. */
static bool goes_on(state *at) {
    const sfu__training *training = at->training;
    const bool patient = training->objective->val_count == 0 || training->patience == 0 ||
                         training->ran - at->last_better < training->patience;
    return !training->diverged && !training->stopped && training->ran < training->epochs && patient;
}

/* One epoch and what follows from it. */
static void step(state *at, sfu_epoch_fn on_epoch, void *user, int64_t started) {
    sfu__training *training = at->training;
    const bool scored = training->objective->val_count > 0;
    const int32_t number = training->ran + 1;
    run_epoch(at, number);
    training->ran = number;
    if (!is_loss(at->train.loss, training->objective->train_weight)) {
        training->diverged = true;
    } else if (scored) {
        consider(at, number);
    }
    if (!training->diverged && on_epoch != NULL) {
        training->stopped = !tell(at, on_epoch, user, started);
    }
}

void sfu__training_run(sfu__training *training, const sfu__runner *runner, sfu_epoch_fn on_epoch, void *user) {
    state at = {.training = training, .runner = runner, .size = sfu__runner_parameters(runner)->size};
    const int64_t started = sfu__now_ns();
    training->ran = training->best_epoch = 0;
    training->best_val_correct = 0;
    training->best_val_loss = NAN;
    training->diverged = training->stopped = false;
    start(&at);
    do {
        step(&at, on_epoch, user, started);
    } while (goes_on(&at));
    if (!training->diverged && (training->keep == SFU_KEEP_LAST || training->objective->val_count == 0)) {
        (void)keep(&at, training->ran); /* false is noted: it diverged */
    }
}
