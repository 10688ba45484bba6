/* plan.h - from a network, a dataset and the nodes whose outputs are needed to lists of steps, and running them.
 *
 * A plan holds up to three passes: one training step (forward, loss, backward, Adam), one evaluation, one prediction.
 * It is made once, can be printed, and then only runs: everything that can fail or allocate happens here and in
 * sfu__executor_new. A plan never changes once it is made and may be shared by any number of workers.
 */
#ifndef SFU_PLAN_H
#define SFU_PLAN_H

#include "backend.h"
#include "dataset.h"
#include "net.h"
#include "team.h"

/* The rewrites, docs/internals/planner.md has their equations. Bits. */
enum {
    SFU__FOLD = 1,     /* smoothing before any weight is computed once */
    SFU__PRUNE = 2,    /* a layer computes only the rows that are needed */
    SFU__ORDER = 4,    /* (S H) W or S (H W) */
    SFU__COLLAPSE = 8, /* k smoothings as one matrix */
    SFU__SPARSE = 16,  /* features sparse where that is cheaper */
    SFU__ALL_REWRITES = 31
};

/* A pass has runs, each a number of smoothings and the weights behind them, and a run has ways to be computed. */
enum { SFU__SEGMENTS = 4 };

/* The nodes of an evaluation by when they are looked at: nodes[0] to nodes[ends[0] - 1] first, those before ends[1]
 * next, and so on, the others last. */
enum { SFU__STAGES = 6 };

typedef struct sfu__stages {
    int32_t *nodes;
    int32_t ends[SFU__STAGES - 1];
} sfu__stages;

typedef struct sfu__plan_request {
    const sfu__backend *backend;      /* that will run it, and prepares its matrices; NULL: the CPU */
    const int32_t *nodes[SFU_PASSES]; /* ascending; NULL with a count of all nodes: every node */
    int32_t count[SFU_PASSES];        /* 0: there is no such pass */
    const sfu__stages *stages;        /* of the evaluation; NULL: at all of it at once. Never changes what comes out */
    int32_t classes;                  /* 0: the dataset's; a model may know more of them than the data it predicts */
    bool dropout;                     /* training drops: some rate of the run or of a layer is not 0 */
    unsigned rewrites;                /* SFU__ALL_REWRITES, or fewer */
    int threads;                      /* for making the plan; never changes it */
    int strategies[SFU_PASSES][SFU__SEGMENTS]; /* 0: the one that the nominal rates say is the fastest; or, to compare
                                                * them, its number from 1 on. Later runs cannot be asked for */
} sfu__plan_request;

typedef struct sfu__plan sfu__plan;

/* The dataset must outlive the plan. Refuses a network that does not fit the data: a node column that is not there, a
 * softmax(linear=no) of the wrong width, LPNN (which train/ runs by itself). */
SFU_CHECKED sfu_status sfu__plan_make(sfu__plan **plan, const sfu_dataset *dataset, const sfu_net *net,
                                      const sfu__plan_request *request);
void sfu__plan_release(sfu__plan *plan);

const sfu__parameters *sfu__plan_parameters(const sfu__plan *plan);

/* The nodes of the rows that a pass puts out, NULL: all; those that were asked for, and all nodes without pruning. */
const int32_t *sfu__plan_rows(const sfu__plan *plan, sfu_pass pass, int32_t *count);

/* Width of the last hidden layer, 0 where there is none. */
int32_t sfu__plan_embedding_width(const sfu__plan *plan);

/* What step i of a public plan works on, headings not counted; NULL after the last. */
struct sfu__work;
const struct sfu__work *sfu__plan_work(const sfu_plan *plan, sfu_pass pass, int i);

/* ---- running it ---- */

/* A worker has the memory that one training in flight needs, and runs on the threads of a team, which must outlive it;
 * NULL: on the calling thread. */
typedef struct sfu__executor sfu__executor;

SFU_CHECKED sfu_status sfu__executor_new(sfu__executor **executor, const sfu__plan *plan, const sfu__backend *backend,
                                         sfu__team *team);
void sfu__executor_free(sfu__executor *executor);

/* Its memory, as far as it grows with the data and the network. */
int64_t sfu__executor_bytes(const sfu__executor *executor);

/* The parameters: theta is read by every pass and moved by training steps, which keep Adam's moments in m and v.
 * sfu__parameters.size floats each, borrowed; theta starts as the caller writes it, m and v as zeros. */
float *sfu__executor_theta(sfu__executor *executor);
float *sfu__executor_m(sfu__executor *executor);
float *sfu__executor_v(sfu__executor *executor);

/* A score that nobody needs to know: fewer were right than had to be. */
static const sfu__score sfu__unseen = {.loss = 0.0, .correct = -1};

typedef struct sfu__epoch {
    uint64_t seed;          /* of the dropout masks */
    uint32_t number;        /* from 1 on: Adam's t, and the epoch of the masks */
    double dropout;         /* the run's own rate */
    float lr, decay;        /* */
    sfu__target target;     /* of the rows of the training pass, in their order */
    sfu__target validation; /* of the rows of the evaluation pass */
    bool evaluate;          /* run the evaluation pass after the step */
    int64_t needed;         /* an evaluation in looks ends before the next one where fewer than these can be right */
} sfu__epoch;

/* One parallel region: a training step, then (if asked) the evaluation with the new parameters. Scores are sums. That
 * of an evaluation that has ended before it had seen all rows is sfu__unseen. */
void sfu__executor_epoch(sfu__executor *executor, const sfu__epoch *epoch, sfu__score *training,
                         sfu__score *validation);

/* The gradient of the last training step, without weight decay, laid out as theta. */
const float *sfu__executor_gradient(const sfu__executor *executor);

/* Runs the evaluation or the prediction pass with the parameters as they are. The probabilities of its rows are in
 * sfu__executor_output afterwards, the last hidden layer in sfu__executor_embedding, which fails where there is none.
 */
void sfu__executor_forward(sfu__executor *executor, sfu_pass pass);
sfu__dense sfu__executor_output(const sfu__executor *executor, sfu_pass pass);
SFU_CHECKED sfu_status sfu__executor_embedding(sfu__dense *embedding, const sfu__executor *executor, sfu_pass pass);

/* From here on (until off) each step is timed, and sfu__executor_seconds tells what a step took in all runs together.
 */
SFU_CHECKED sfu_status sfu__executor_measure(sfu__executor *executor, bool on);
double sfu__executor_seconds(const sfu__executor *executor, sfu_pass pass, size_t step);

#endif
