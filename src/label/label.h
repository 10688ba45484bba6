/* label.h - the way from a few labels to all of them. docs/reference/label.md has the procedure.
 *
 * A problem is a split of the labelled nodes: the last one trains on all but the validation nodes and makes the model;
 * the ones before it are folds, each with a part of the nodes held out, which go through the very same procedure and
 * show what it is worth. A step gives one network a number of trainings in every problem. All problems make the same
 * steps, so that the number of steps is all that a result depends on beside data and seed.
 */
#ifndef SFU_LABEL_H
#define SFU_LABEL_H

#include "status.h"

#include <pthread.h>

enum { SFU__LABEL_NETS = 8, SFU__LABEL_FOLDS = 5, SFU__LABEL_PROBLEMS = SFU__LABEL_FOLDS + 1 };

/* Their names, the cheapest first; and the place of the one without a graph. */
extern const char *const sfu__label_nets[SFU__LABEL_NETS];
enum { SFU__LABEL_CONTROL = 1 };

/* The best training that a network came to in a problem. Starts as {0}. */
typedef struct sfu__label_best {
    sfu_study *study;       /* owns the model, or NULL and */
    sfu_model *trained;     /* */
    const sfu_model *model; /* NULL: there is none */
    char *params;           /* "lr=0.01 hidden=64" */
    double val_accuracy, val_loss;
} sfu__label_best;

void sfu__label_best_clear(sfu__label_best *best);

/* Higher accuracy, ties to the lower loss; no model at all is the least. */
bool sfu__label_is_better(const sfu__label_best *one, const sfu__label_best *other);

/* Starts as {.split}. */
typedef struct sfu__label_problem {
    sfu_split *split;
    int number;                            /* its random numbers are its own */
    sfu__label_best best[SFU__LABEL_NETS]; /* by network */
    int32_t trials[SFU__LABEL_NETS];       /* */
    double trial_s[SFU__LABEL_NETS];       /* what one took, of the last step; 0: not known */
    int order[SFU__LABEL_NETS];            /* networks by merit, as it was when the round began */
    sfu__label_best next;                  /* what the step in progress has come to, */
    double next_s;                         /* */
} sfu__label_problem;

void sfu__label_problem_clear(sfu__label_problem *problem);

/* The network that this problem chooses. */
int sfu__label_choice(const sfu__label_problem *problem);

/* ---- steps ---- */

typedef struct sfu__label_step {
    int round, slot;
    int32_t trials; /* for each problem */
} sfu__label_step;

/* How many steps there are where each choice is made by `val` nodes; and the one of a number. */
int sfu__label_steps(int32_t val);
sfu__label_step sfu__label_step_at(int number);

/* What a step needs to know, and who may end it. */
typedef struct sfu__label_work {
    const sfu_dataset *dataset;
    uint64_t seed;
    int jobs; /* of one problem */
    bool (*go_on)(void *user);
    void *user;
} sfu__label_work;

/* Before the first slot of a round: puts the networks in order. */
void sfu__label_rank(sfu__label_problem *problem, int round);

/* Trains into problem->next; SFU_ERR_CANCELLED where go_on said so. The labels of the split's test nodes are read for
 * the scores of what came out alone. */
SFU_CHECKED sfu_status sfu__label_train(sfu__label_problem *problem, const sfu__label_step *step,
                                        const sfu__label_work *work);

/* Takes over what the step came to. */
void sfu__label_take(sfu__label_problem *problem, const sfu__label_step *step);

/* ---- splits ---- */

/* Checks that there are labels enough, and makes the folds and the problem of all labels. */
SFU_CHECKED sfu_status sfu__label_problems(sfu__label_problem problems[SFU__LABEL_PROBLEMS], int *folds,
                                           const sfu_dataset *dataset, uint64_t seed);

/* ---- what it is worth ---- */

enum { SFU__LABEL_RANGES = 5 };

struct sfu_labelling {
    sfu_label_summary summary;
    sfu_label_candidate candidates[SFU__LABEL_NETS];
    int candidate_count;
    sfu_label_calibration calibration[SFU__LABEL_RANGES];
    int32_t classes;
    int32_t *confusion;    /* [classes][classes] */
    float *probabilities;  /* [nodes][classes] */
    sfu__label_best final; /* the model */
};

/* Fills in all that follows from the problems, the last of which is that of all labels; takes its model over. */
SFU_CHECKED sfu_status sfu__label_measure(sfu_labelling *labelling, sfu__label_problem *problems, int folds,
                                          const sfu_dataset *dataset, int jobs);

#endif
