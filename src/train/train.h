/* train.h - a training as a plain value, and running it.
 *
 * A training is its settings, its stop rule and a place for the outcome. What it computes depends on nothing else than
 * the plan and this value: not on who runs it, on how many threads, or what runs beside it. docs/reference/training.md
 * has the rules.
 */
#ifndef SFU_TRAIN_H
#define SFU_TRAIN_H

#include "runner.h"

/* What is to be learned: the labels of the rows of the training and of the evaluation pass, and what the loss makes of
 * them. Shared by all trainings of one plan. Starts as {0}. */
typedef struct sfu__objective {
    int32_t *train_labels; /* [train_count] */
    float *train_weights;  /* [train_count], so that the loss is the sum of weight * -ln p; NULL: all are 1 */
    int32_t *val_labels;   /* [val_count] */
    int32_t train_count, val_count;
    double train_weight; /* the sum of the weights: 1, or train_count */
    double val_scale;    /* what the sum of the validation nodes' losses is multiplied by: 1, or 1 / val_count */
} sfu__objective;

/* `mean` divides the sum of w l by the sum of w, but for `sums`, an objective of its own; w is 1 or, `balanced`, N / (C
 * N_c) for the N_c of N training nodes that are of class c, C being the number of classes among them. The validation
 * loss is never weighted. */
typedef struct sfu__objective_options {
    sfu_loss loss;
    bool balanced;
    bool sums; /* LPNN: the objective is a sum, and `loss` is that of the validation alone */
} sfu__objective_options;

/* Takes the labels of these nodes, each of which must have one. sfu__objective_clear also after a failure. */
SFU_CHECKED sfu_status sfu__objective_make(sfu__objective *objective, const sfu_dataset *dataset,
                                           const sfu_split *split, const sfu__objective_options *rules);
void sfu__objective_clear(sfu__objective *objective);

/* What a training asks of the planner: the rows of its passes, and whether it drops, by its own rate or a layer's. */
sfu__plan_request sfu__train_request(const sfu_net *net, const sfu_split *split, double dropout, int threads);

typedef struct sfu__training {
    /* settings */
    uint64_t seed;
    double lr, weight_decay, dropout;
    int32_t epochs, patience; /* patience 0: never early */
    sfu_keep keep;
    const float *start; /* the parameters to start from, or NULL: from the seed */
    const sfu__objective *objective;
    bool outcome_only; /* nobody wants to know of epochs that cannot be the best: their validation may end early, and
                        * on_epoch then gets NaN for it */

    /* outcome */
    float *best;              /* the parameters kept; sfu__parameters.size floats of the caller's, or NULL: nobody
                               * wants them */
    int32_t ran, best_epoch;  /* best_epoch 0: none is kept */
    double best_val_loss;     /* NaN without validation nodes */
    int64_t best_val_correct; /* */
    bool diverged, stopped;   /* the loss was no number; the caller's callback said stop */
    int32_t *misses; /* [val_count], of the caller's: in how many epochs a validation node was not right is added
                      * to what is there; NULL: nobody wants to know, nor of LPNN */
} sfu__training;

/* Runs it to its end. Allocates nothing and cannot fail; a training that diverged before any epoch was fit to be kept
 * has best_epoch 0. on_epoch may be NULL. */
void sfu__training_run(sfu__training *training, const sfu__runner *runner, sfu_epoch_fn on_epoch, void *user);

/* Checks the options of a training: SFU_ERR_ARGUMENT, or SFU_ERR_UNSUPPORTED for a device that this build has not. */
SFU_CHECKED sfu_status sfu__train_options_check(const sfu_train_options *options);

#endif
