/* label.h - labelling: predicts the labels of all nodes from a few. docs/reference/label.md has the procedure.
 *
 * A problem is a split of the labelled nodes: the last problem trains on all but the validation nodes and gives the
 * model; the others are folds, each with some nodes held out, which go through the same procedure and estimate its
 * accuracy. A step gives one network a number of training runs in every problem. All problems make the same steps, so
 * the result depends only on the data, the seed and the number of steps.
 */
#ifndef SFU_LABEL_H
#define SFU_LABEL_H

#include "status.h"

#include <pthread.h>

enum { SFU__LABEL_NETS = 8, SFU__LABEL_FOLDS = 5, SFU__LABEL_PROBLEMS = SFU__LABEL_FOLDS + 1 };

/* Names of the candidate networks, the cheapest first; and the index of the one that does not use the graph. */
extern const char *const sfu__label_nets[SFU__LABEL_NETS];
enum { SFU__LABEL_CONTROL = 1 };

/* The best model of a network in a problem. Starts as {0}. */
typedef struct sfu__label_best {
    sfu_study *study;       /* owns the model, or NULL */
    sfu_model *trained;     /* */
    const sfu_model *model; /* NULL: none */
    char *params;           /* "lr=0.01 hidden=64" */
    double val_accuracy, val_loss;
} sfu__label_best;

void sfu__label_best_clear(sfu__label_best *best);

/* Higher accuracy first, ties by the lower loss; no model ranks last. */
bool sfu__label_is_better(const sfu__label_best *one, const sfu__label_best *other);

/* Starts as {.split}. */
typedef struct sfu__label_problem {
    sfu_split *split;
    int number;                            /* selects its random streams */
    sfu__label_best best[SFU__LABEL_NETS]; /* per network */
    int32_t trials[SFU__LABEL_NETS];       /* */
    double trial_s[SFU__LABEL_NETS];       /* seconds per trial in the last step; 0: unknown */
    int order[SFU__LABEL_NETS];            /* networks by rank at the beginning of the round */
    sfu__label_best next;                  /* result of the step in progress */
    double next_s;                         /* */
} sfu__label_problem;

void sfu__label_problem_clear(sfu__label_problem *problem);

/* The network that this problem selects. */
int sfu__label_choice(const sfu__label_problem *problem);

/* ---- steps ---- */

typedef struct sfu__label_step {
    int round, slot;
    int32_t trials; /* per problem */
} sfu__label_step;

/* The number of steps for `val` validation nodes; and the step with a number. */
int sfu__label_steps(int32_t val);
sfu__label_step sfu__label_step_at(int number);

/* Context of a step, and its cancellation. */
typedef struct sfu__label_work {
    const sfu_dataset *dataset;
    uint64_t seed;
    int jobs; /* threads per problem */
    bool (*should_continue)(void *user);
    void *user;
} sfu__label_work;

/* Ranks the networks, before the first step of a round. */
void sfu__label_rank(sfu__label_problem *problem, int round);

/* Trains into problem->next; SFU_ERR_CANCELLED if cancelled. Test labels are used only for the scores of the result. */
SFU_CHECKED sfu_status sfu__label_train(sfu__label_problem *problem, const sfu__label_step *step,
                                        const sfu__label_work *work);

/* Adopts the result of the step. */
void sfu__label_take(sfu__label_problem *problem, const sfu__label_step *step);

/* ---- splits ---- */

/* Checks that there are enough labels, and makes the folds and the problem of all labels. */
SFU_CHECKED sfu_status sfu__label_problems(sfu__label_problem problems[SFU__LABEL_PROBLEMS], int *folds,
                                           const sfu_dataset *dataset, uint64_t seed);

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

enum { SFU__LABEL_RANGES = 5 };

struct sfu_labelling {
    sfu_label_summary summary;
    sfu_label_candidate candidates[SFU__LABEL_NETS];
    int candidate_count;
    sfu_label_calibration calibration[SFU__LABEL_RANGES];
    int32_t classes;
    int32_t *confusion;    /* [classes][classes] */
    float *probabilities;  /* [nodes][classes] */
    sfu__label_best final; /* the final model */
};

/* Computes everything that follows from the problems, the last of which is that of all labels, and takes over its
 * model. */
SFU_CHECKED sfu_status sfu__label_measure(sfu_labelling *labelling, sfu__label_problem *problems, int folds,
                                          const sfu_dataset *dataset, int jobs);

#endif
