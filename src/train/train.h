/* train.h - a training run as a plain value, and the function that runs it.
 *
 * A training run holds its hyperparameters, its stopping rule and its outcome. The result depends only on the plan and
 * this value, not on the number of threads or on what else runs. docs/reference/training.md has the rules.
 */
#ifndef SFU_TRAIN_H
#define SFU_TRAIN_H

#include "early_stopping.h"
#include "runner.h"
#include "scorer.h"

/* The training objective: labels of the rows of the training and the evaluation pass, and the weights of the loss.
 * Shared by all training runs of one plan. Starts as {0}. */
typedef struct sfu__objective {
    int32_t *train_labels; /* [train_count] */
    float *train_weights;  /* [train_count]: the loss is the sum of weight * -ln p; NULL: all are 1 */
    float *sum_weights;    /* the same with SFU_LOSS_SUM, for runners with sums_loss */
    int32_t *val_labels;   /* [val_count] */
    int32_t train_count, val_count;
    double train_weight; /* sum of train_weights: 1, or train_count */
    double val_scale;    /* factor of the sum of the validation losses: 1, or 1 / val_count */
    sfu_metric metric;   /* what early stopping maximises on the validation nodes */
    int32_t positive;    /* its class, as in sfu__scorer */
} sfu__objective;

/* SFU_LOSS_MEAN divides the sum of w l by the sum of w; w is 1 or, if `balanced`, N / (C N_c) for the N_c of N training
 * nodes in class c, where C is the number of classes among them. The validation loss is never weighted. */
typedef struct sfu__objective_options {
    sfu_loss loss;
    bool balanced;
    sfu_metric metric;
} sfu__objective_options;

/* Collects the labels of the nodes of the split, each of which must have one. Call sfu__objective_clear also after a
 * failure. */
SFU_CHECKED sfu_status sfu__objective_make(sfu__objective *objective, const sfu_dataset *dataset,
                                           const sfu_split *split, const sfu__objective_options *rules);
void sfu__objective_clear(sfu__objective *objective);

/* A scorer of the objective's validation nodes by its metric. It borrows their labels; each thread needs its own. */
SFU_CHECKED sfu_status sfu__objective_scorer(sfu__scorer *scorer, const sfu__objective *objective,
                                             const sfu_dataset *dataset);

/* The planner's request of a training run: the rows of its passes, and whether any layer uses dropout. */
sfu__plan_request sfu__train_request(const sfu_net *net, const sfu_split *split, double dropout, int threads,
                                     sfu__device device);

typedef struct sfu__training {
    /* hyperparameters */
    uint64_t seed;
    double lr, weight_decay, dropout;
    int32_t epochs, patience; /* patience 0: no early stopping */
    sfu_keep keep;
    const float *start; /* initial parameters; NULL: from the seed */
    const sfu__objective *objective;
    const sfu__scorer *scorer; /* of the validation nodes; NULL: the score of an epoch is its number of correct nodes */
    const sfu_net *lpnn; /* on a GPU: takes the weights of LPNN's objective from here; NULL: from the network of the
                            trainer */
    bool outcome_only; /* the outcome alone matters: validation of an epoch that cannot be the best may exit early, and
                          on_epoch then gets NaN for its validation scores */

    /* outcome */
    float *best;                  /* the parameters kept: caller's memory of sfu__parameters.size floats, or NULL */
    sfu__early_stopping stopping; /* the epoch kept and its validation score; best_epoch 0: none kept */
    int64_t best_val_correct;     /* correct validation nodes of that epoch */
    int32_t ran;                  /* epochs */
    bool diverged, stopped;       /* the loss is not finite; the callback asked to stop */
    int32_t *misses; /* [val_count], caller's memory or NULL: adds the number of epochs in which each validation node
                        was misclassified */
} sfu__training;

/* Runs to the end, or until the runner fails (sfu__runner_check), which only a GPU does. A run that diverged before its
 * first valid epoch keeps none. on_epoch may be NULL. */
void sfu__training_run(sfu__training *training, const sfu__runner *runner, sfu_epoch_fn on_epoch, void *user);

/* Checks the options, but not the device, which sfu__device_parse reads: SFU_ERR_ARGUMENT. */
SFU_CHECKED sfu_status sfu__train_options_check(const sfu_train_options *options);

#endif
