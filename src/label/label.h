/* label.h - labelling: predicts the labels of all nodes from a few. docs/reference/label.md has the procedure.
 *
 * The labelled nodes are dealt into parts. The last problem uses all of them and gives the model; each of the others
 * holds out one part, goes through the same procedure, and so estimates its accuracy (nested cross-validation). Within
 * a problem a trial, a network with hyperparameters, is scored by cross-validation over the problem's parts; the best
 * trial of each network is then trained again on all labels of the problem. A step makes a number of trials of one
 * network in every problem, so the result depends only on the data, the seed and the number of steps.
 */
#ifndef SFU_LABEL_H
#define SFU_LABEL_H

#include "dense.h"
#include "format_number.h"
#include "space.h"
#include "status.h"

enum { SFU__LABEL_NETS = 9, SFU__LABEL_FOLDS = 5, SFU__LABEL_PROBLEMS = SFU__LABEL_FOLDS + 1 };

/* Names of the networks, in the order in which they are usually tried; and which of them do not use the graph. */
extern const char *const sfu__label_net_names[SFU__LABEL_NETS];
bool sfu__label_ignores_graph(int net);

/* The candidates of a labelling. */
typedef struct sfu__label_nets {
    int net[SFU__LABEL_NETS]; /* in the order of their first trials */
    int count;
    int64_t needs[SFU__LABEL_NETS]; /* bytes of those that exceed the memory limit and were left out; else 0 */
} sfu__label_nets;

/* Names separated by commas; NULL: all networks. */
SFU_CHECKED sfu_status sfu__label_nets_read(sfu__label_nets *nets, const char *names);

/* ---- problems ---------------------------------------------------------------------------------------------------- */

/* A network with hyperparameters, its cross-validation and its model. Starts as {0}. */
typedef struct sfu__label_trial {
    char *params;        /* "lr=0.01 hidden=64" */
    bool unweighted;     /* the weights of edges are ignored */
    int32_t epochs;      /* with the lowest cross-entropy over all folds; 0: diverged */
    double accuracy;     /* of the out-of-fold predictions after so many epochs */
    double score, error; /* their metric, and the difference that decides: label_score.c */
    double loss;         /* their cross-entropy, calibrated */
    double temperature;  /* */
    sfu_model *model;    /* trained on all labels of the problem; NULL: none */
} sfu__label_trial;

void sfu__label_trial_clear(sfu__label_trial *trial);

/* label_score.c has the rule. One that diverged is never better. */
bool sfu__label_is_better(const sfu__label_trial *one, const sfu__label_trial *other);

/* The search of one network in a problem. Starts as {0}. */
typedef struct sfu__label_search {
    sfu__space *space;
    struct sfu__sampler *sampler;
    sfu__label_trial best;
    int32_t trials;
    double trial_s; /* seconds per trial in the last step; 0: unknown */
} sfu__label_search;

/* Starts as {0}. */
typedef struct sfu__label_problem {
    int number;                         /* selects its random streams */
    sfu_split *inner[SFU__LABEL_FOLDS]; /* folds of the cross-validation: training and validation nodes */
    int folds;                          /* */
    sfu_split *all;  /* all labels of the problem as training nodes; the held-out nodes as test nodes */
    int32_t *labels; /* [count]: those of the validation nodes of all folds, in order */
    int32_t count;   /* */
    int32_t *counts; /* [classes]: how many of them are of each class */
    sfu__label_search nets[SFU__LABEL_NETS];
    int order[SFU__LABEL_NETS]; /* the candidates by rank at the beginning of the round */
    bool unweighted;            /* the weights of edges are ignored, as in the best trial of the first step */
    int64_t trainings;          /* of all steps */
} sfu__label_problem;

/* Checks that there are enough labels, and makes the problems: `folds` of them, and the one of all labels. */
SFU_CHECKED sfu_status sfu__label_problems(sfu__label_problem problems[SFU__LABEL_PROBLEMS], int *folds,
                                           const sfu_dataset *dataset, uint64_t seed);
void sfu__label_problem_clear(sfu__label_problem *problem);

/* The network that this problem selects: of all candidates, or of those that do not use the graph (-1: none). */
int sfu__label_choice(const sfu__label_problem *problem);
int sfu__label_choice_without_graph(const sfu__label_problem *problem);

/* ---- steps ------------------------------------------------------------------------------------------------------- */

typedef struct sfu__label_step {
    int round, slot;
    int32_t trials; /* per problem */
} sfu__label_step;

/* The number of steps of this many candidates, for this many labels; and the step with a number. */
int sfu__label_steps(int nets, int32_t labelled);
sfu__label_step sfu__label_step_at(int nets, int number);

/* Context of a step, and its cancellation. */
typedef struct sfu__label_work {
    const sfu_dataset *dataset;
    sfu__label_nets nets;
    uint64_t seed;
    int jobs; /* threads per problem */
    sfu_metric metric;
    int32_t positive; /* the class of AUC and average precision (scorer.h) */
    bool balanced;
    double coverage;    /* of label sets; 0: none */
    const char *device; /* of trainings and predictions, as in sfu_label_options */
    uint64_t memory;    /* likewise */
    bool shared;        /* other machines use the results, whatever their limit */
    char *exceeded;     /* [SFU__MESSAGE_MAX]: why the first trial that exceeded the limit did so; "": none */
    bool (*should_continue)(void *user);
    void *user;
} sfu__label_work;

/* Ranks the candidates, before the first step of a round. */
void sfu__label_rank(sfu__label_problem *problem, const sfu__label_nets *nets, int round);

/* A step in one problem. Items of one round are independent, except that the first item of a problem comes first. */
typedef struct sfu__label_item {
    sfu__label_problem *problem;
    sfu__label_step step;
    int number;             /* of the step */
    sfu__label_trial best;  /* its best trial, if it is better than those of earlier steps */
    double trial_s;         /* seconds per trial, of all that trained it */
    int64_t trainings;      /* */
    sfu__label_trial *made; /* [made_count]: its trials in order, without params and model */
    int made_count;         /* */
    bool known;             /* `made` is given: only models are trained */
} sfu__label_item;

/* The item of a step; its trials, which include one without the weights of edges in the first step; and its end. */
SFU_CHECKED sfu_status sfu__label_item_start(sfu__label_item *item, sfu__label_problem *problem, int number,
                                             const sfu__label_work *work);
void sfu__label_item_clear(sfu__label_item *item);

/* Makes the trials of the item. SFU_ERR_CANCELLED if cancelled. Labels of held-out nodes are used only for the test
 * scores of a model. */
SFU_CHECKED sfu_status sfu__label_train(sfu__label_item *item, const sfu__label_work *work);

/* Adopts the result of the item in its problem. */
void sfu__label_take(sfu__label_item *item);

/* ---- several machines -------------------------------------------------------------------------------------------- */

enum { SFU__LABEL_ITEMS = SFU__LABEL_NETS * SFU__LABEL_PROBLEMS }; /* of one round at most */

/* Appends what the results of steps depend on. */
SFU_CHECKED sfu_status sfu__label_identity(sfu__text *text, const sfu__label_work *work);

typedef struct sfu__label_share sfu__label_share;

/* Machines share the items of the first `steps` steps through a PostgreSQL database. Everything is borrowed. */
SFU_CHECKED sfu_status sfu__label_share_open(sfu__label_share **share, const char *url, sfu__label_problem *problems,
                                             int problem_count, int steps, const sfu__label_work *work);
void sfu__label_share_close(sfu__label_share *self); /* NULL is fine */

/* Items that can be run now, with the results that other machines have, and at most `own` that are this machine's to
 * train. None: other machines train them. To be cleared by the caller. */
SFU_CHECKED sfu_status sfu__label_share_next(sfu__label_share *self, int own, sfu__label_item items[SFU__LABEL_ITEMS],
                                             int *count);

/* Publishes an item that was run, if it was this machine's, and counts it as done. */
SFU_CHECKED sfu_status sfu__label_share_done(sfu__label_share *self, const sfu__label_item *item);
int sfu__label_share_left(const sfu__label_share *self);

/* To be called several times per second, by the thread that opened it. */
SFU_CHECKED sfu_status sfu__label_share_beat(sfu__label_share *self);

/* ---- several ranks ----------------------------------------------------------------------------------------------- */

/* The ranks (rank_group.h) of a group train together. Groups have different items of a step, and tell one another the
 * results. Without ranks there is one group, which has all items. */

/* Fails unless all ranks label the same data, in the same way. */
SFU_CHECKED sfu_status sfu__label_ranks_agree(const sfu__label_work *work, int steps);

/* Lets each rank train its own trials where an epoch is so short that ranks would mostly wait for one another, unless
 * the caller chose the size of groups. To be undone with sfu__ranks_unite. */
SFU_CHECKED sfu_status sfu__label_separate(const sfu_dataset *dataset);

/* The rule: the predicted time of an epoch of GCN on one core is less than 50 ms. */
SFU_CHECKED sfu_status sfu__label_is_short(bool *is_short, const sfu_dataset *dataset);

int sfu__label_groups(void);
bool sfu__label_group_has(int item);

/* Gets the trials of the items that other groups have trained, which are known then. */
void sfu__label_groups_tell(sfu__label_item *items, int count);

/* SFU_ERR_CANCELLED for all groups if it is the status of one. */
SFU_CHECKED sfu_status sfu__label_groups_end(sfu_status status);

/* ---- trials ------------------------------------------------------------------------------------------------------ */

/* Trains in all folds of the problem at the same time, and sets everything of the trial but params and model. */
SFU_CHECKED sfu_status sfu__label_cross_validate(sfu__label_trial *trial, const sfu__label_problem *problem,
                                                 const sfu__candidate *candidate, uint64_t seed,
                                                 const sfu__label_work *work);

/* The cross-entropy of out-of-fold probabilities, [problem->count][classes]; and all scores of them. */
double sfu__label_loss(const sfu__dense *probabilities, const sfu__label_problem *problem, const sfu__label_work *work);
SFU_CHECKED sfu_status sfu__label_score(sfu__label_trial *trial, const sfu__dense *probabilities,
                                        const sfu__label_problem *problem, const sfu__label_work *work);

/* Trains the model on all labels of the problem for trial->epochs, with trial->temperature. */
SFU_CHECKED sfu_status sfu__label_refit(sfu__label_trial *trial, const sfu__label_problem *problem,
                                        const sfu__candidate *candidate, uint64_t seed, const sfu__label_work *work);

/* Plans a cross-validation without training, unless it streams the graph, which takes as long as a trial. Fails if it
 * does not fit the memory limit, and sets *refused to the bytes that it needs. */
SFU_CHECKED sfu_status sfu__label_cross_plan(int64_t *refused, const sfu__label_problem *problem,
                                             const sfu__candidate *candidate, const sfu__label_work *work);

/* The first trial of a network in a problem. Call sfu__candidate_clear also after a failure. */
SFU_CHECKED sfu_status sfu__label_first_candidate(sfu__candidate *candidate, sfu__label_problem *problem, int net,
                                                  const sfu__label_work *work);

/* Leaves out candidates whose first trial in this problem does not fit the memory limit, or fails if the caller `named`
 * them, or none is left. */
SFU_CHECKED sfu_status sfu__label_nets_fit(sfu__label_nets *nets, sfu__label_problem *problem,
                                           const sfu__label_work *work, bool named);

/* Puts linear+lp first, and networks that smooth the features last, if sgcn would take long and linear+lp would not. */
SFU_CHECKED sfu_status sfu__label_nets_order(sfu__label_nets *nets, sfu__label_problem *problems, int folds,
                                             const sfu__label_work *work);

/* Whether a trial with this status does not fit the limit, and is counted as one that diverged. */
bool sfu__label_exceeds(sfu_status status, const sfu__label_work *work);

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

/* The held-out nodes of all folds, in the order of the folds. Starts as {0}. */
typedef struct sfu__label_held_out {
    const sfu__label_work *work;
    const sfu_dataset *dataset;
    const sfu__label_problem *problems;
    int folds;
    int32_t classes, count;
    int32_t first[SFU__LABEL_FOLDS + 1]; /* fold f has the rows first[f] to first[f + 1] - 1 */
    int32_t *nodes, *labels;             /* [count] */
} sfu__label_held_out;

/* Call sfu__label_held_out_clear also after a failure. */
SFU_CHECKED sfu_status sfu__label_held_out_make(sfu__label_held_out *held, const sfu__label_problem *problems,
                                                int folds, const sfu__label_work *work);
void sfu__label_held_out_clear(sfu__label_held_out *held);

/* The calibrated probabilities of these nodes, [count][classes]; nodes NULL: of all nodes. */
SFU_CHECKED sfu_status sfu__label_predict(float *probabilities, const int32_t *nodes, int32_t count,
                                          const sfu_model *model, const sfu__label_work *work);

/* The predictions, [count][classes], of the models of one network per fold. Every fold must have its model. */
SFU_CHECKED sfu_status sfu__label_held_out_predict(float *probabilities, const sfu__label_held_out *held,
                                                   const int nets[SFU__LABEL_FOLDS]);

/* 95 % interval of a metric by the bootstrap: the held-out nodes are drawn with replacement. */
SFU_CHECKED sfu_status sfu__label_bootstrap(double *low, double *high, const sfu__label_held_out *held,
                                            const float *probabilities, const sfu__label_work *work);

/* Held-out nodes with similar probabilities of their predicted labels. */
typedef struct sfu__label_bin {
    int32_t count;
    double probability, accuracy; /* means */
} sfu__label_bin;

enum { SFU__LABEL_BINS = 15 };

/* Bins of equal size, in ascending order of probability (those that are not used have no nodes), and the expected
 * calibration error: label_reliability.c. */
SFU_CHECKED sfu_status sfu__label_reliability(sfu__label_bin bins[SFU__LABEL_BINS], double *error,
                                              const sfu__label_held_out *held, const float *probabilities);

/* Sets coverage, set_coverage and set_threshold: label_sets.c. And the mean size of the sets. */
SFU_CHECKED sfu_status sfu__label_make_sets(sfu_label_summary *summary, const sfu__label_held_out *held,
                                            const float *probabilities, double coverage);
double sfu__label_set_size(const sfu_labelling *labelling, const int32_t *labels, int32_t nodes);

enum { SFU__LABEL_RANGES = 5 };

struct sfu_labelling {
    sfu_label_summary summary;
    sfu_label_candidate candidates[SFU__LABEL_NETS];
    int candidate_count;
    char needs[SFU__LABEL_NETS][SFU__SIZE_MAX]; /* texts of the candidates */
    sfu_label_calibration calibration[SFU__LABEL_RANGES];
    sfu__label_bin bins[SFU__LABEL_BINS];
    int32_t classes;
    int32_t *confusion;     /* [classes][classes] */
    float *probabilities;   /* [nodes][classes] */
    sfu__label_trial final; /* the final model */
};

/* Computes everything that follows from the problems, the last of which is that of all labels, and takes over its
 * model. */
SFU_CHECKED sfu_status sfu__label_measure(sfu_labelling *labelling, sfu__label_problem *problems, int folds,
                                          const sfu__label_work *work);

/* The figures of the page: the reliability diagram, and the accuracy of the most certain nodes: label_figures.c. */
SFU_CHECKED sfu_status sfu__label_figures(sfu__text *html, const sfu_labelling *labelling);

#endif
