/* plan.h - compiles a network, a dataset and a set of output nodes into lists of kernel calls (steps), and runs them.
 *
 * A plan holds up to three passes: one training step (forward, loss, backward, Adam), one evaluation, one prediction.
 * Everything that can fail or allocate happens in sfu__plan_make and sfu__executor_new; running a plan does neither. A
 * finished plan is immutable, so any number of executors may share it.
 */
#ifndef SFU_PLAN_H
#define SFU_PLAN_H

#include "backend.h"
#include "dataset.h"
#include "device.h"
#include "net.h"
#include "rank_group.h"
#include "scratch_file.h"
#include "team.h"

/* Rewrites of the planner, as bits; docs/internals/planner.md has their equations. */
enum {
    SFU__FOLD = 1,     /* leading smoothing is computed once, into the features */
    SFU__PRUNE = 2,    /* each op computes only the rows that are needed */
    SFU__ORDER = 4,    /* (S H) W or S (H W) */
    SFU__COLLAPSE = 8, /* k smoothings as one matrix S^k */
    SFU__SPARSE = 16,  /* sparse features where that is faster */
    SFU__ALL_REWRITES = 31
};

/* A segment of a pass is a number of smoothings and the weights that follow them; each has several candidate
 * strategies. */
enum { SFU__SEGMENTS = 4 };

/* Staged evaluation: stage 0 computes nodes[0 .. ends[0]), stage 1 nodes[ends[0] .. ends[1]) and so on; the last stage
 * computes the remaining nodes of the pass. */
enum { SFU__STAGES = 6 };

typedef struct sfu__stages {
    int32_t *nodes;
    int32_t ends[SFU__STAGES - 1];
} sfu__stages;

typedef struct sfu__plan_request {
    const sfu__backend *backend;      /* prepares the matrices and runs the plan; NULL: the CPU */
    sfu__device device;               /* where the passes run; never changes the plan */
    int32_t epochs;                   /* of a training, to predict its time; never changes the plan. 0: 1 */
    const int32_t *nodes[SFU_PASSES]; /* output nodes, ascending; NULL with a count of all nodes: every node */
    int32_t count[SFU_PASSES];        /* 0: no such pass */
    const sfu__rank_group *ranks;     /* processes that divide the passes; NULL: this one. Never changes results */
    const sfu__stages *stages;        /* of the evaluation; NULL: one stage. Never changes results */
    int32_t classes;                  /* 0: the dataset's; a model may know more classes than the data it predicts */
    bool as_all;                      /* prediction: with the strategies of all nodes, so that rows of `nodes` are the
                                       * same bytes as in a prediction of all of them */
    bool to_file;                     /* prediction: what is streamed goes to a file (sfu__plan_stream_to) */
    bool dropout;                     /* training uses dropout: some rate of the run or of a layer is not 0 */
    unsigned rewrites;                /* SFU__ALL_REWRITES, or fewer */
    int threads;                      /* for building the plan; never changes it */
    int32_t executors;                /* that will run the plan at once, for the limit; 0: 1 */
    int32_t plans;                    /* like this one, which will be held at once, likewise */
    int64_t used_before;              /* memory of the process without other plans, for the same; 0: as it is now */
    int32_t later; /* number of nodes of a later prediction within the same limit, which must fit, too; 0: none */
    const int32_t *later_nodes; /* these nodes, ascending; NULL: not listed, for a message alone */
    int64_t memory;             /* most bytes of anonymous memory, 0: no limit; never changes results */
    bool streams;               /* with a limit: the plan streams if it can, whatever the estimate is */
    int64_t *refused;           /* out, or NULL: the bytes that a plan needs for which the limit is too small */
    bool *in_memory;   /* out, or NULL: a plan that was to stream fails, and sets it, if the strategies chosen for it
                        * need the graph in memory; else it is then made in memory */
    bool *others_lack; /* out, or NULL: with ranks and a limit, another rank lacks memory for its plan */
    int strategies[SFU_PASSES][SFU__SEGMENTS]; /* strategy per segment, numbered from 1; 0: the fastest at the nominal
                                                * rates. Segments beyond these are always chosen by the planner */
} sfu__plan_request;

typedef struct sfu__plan sfu__plan;

/* Whether the planner handles this network: false for LPNN, which train/ runs without a plan. */
bool sfu__plan_supports(const sfu_net *net);

/* The number of threads for an option of that name: with a limit of memory one per 16 MiB of it, since each takes some,
 * and results never depend on it. */
int sfu__limit_threads(int threads, int64_t memory);

/* sfu__plan_request.memory from the option of that name. */
static inline int64_t sfu__limit_of(uint64_t memory) { return memory < INT64_MAX ? (int64_t)memory : INT64_MAX; }

/* Checks what a caller reads before it makes a plan, which checks what it reads itself: with a limit, or in a rank, the
 * nodes alone; else the whole dataset. */
SFU_CHECKED sfu_status sfu__plan_check_data(const sfu_dataset *dataset, uint64_t memory);

/* Whether a plan with a limit (request->memory > 0) is to stream the leading smoothing: if the network can, and it is
 * estimated not to fit into memory otherwise, or request->streams. */
bool sfu__plan_decide(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request);

/* What holds everything in memory. `make` allocates all of it, and may run several times, with `clear` in between. */
typedef struct sfu__resident {
    sfu_status (*make)(void *context, const sfu__plan_request *request);
    void (*clear)(void *context);
    void *context;
} sfu__resident;

/* Makes it within request->memory, 0: no limit. *lacks: it failed because that is too small, here or on another rank.
 */
SFU_CHECKED sfu_status sfu__resident_make(bool *lacks, const sfu__resident *self, const sfu__plan_request *request);
/* Fails, and says what is enough. All ranks call it. */
SFU_CHECKED sfu_status sfu__resident_refuse(const sfu__resident *self, const sfu_dataset *dataset, const sfu_net *net,
                                            const sfu__plan_request *request);
/* Fails if the limit is below an estimate, which may be several times too high; makes nothing. */
SFU_CHECKED sfu_status sfu__resident_enough(const sfu_dataset *dataset, const sfu_net *net,
                                            const sfu__plan_request *request);

/* Fails, and says what is enough, if the limit is below the upper bound of what streaming allocates. Computes nothing,
 * but chooses the strategies of sparse features, on which the bound depends: request->in_memory is given. */
SFU_CHECKED sfu_status sfu__plan_enough(const sfu_dataset *dataset, const sfu_net *net,
                                        const sfu__plan_request *request);

/* The dataset must outlive the plan. Fails for a network that the planner does not support, and for one that does not
 * fit the data: an unknown node column, a softmax(linear=no) of the wrong width. */
SFU_CHECKED sfu_status sfu__plan_make(sfu__plan **plan, const sfu_dataset *dataset, const sfu_net *net,
                                      const sfu__plan_request *request);
void sfu__plan_release(sfu__plan *plan);

const sfu__parameters *sfu__plan_parameters(const sfu__plan *plan);

/* Nodes of a pass's output rows, NULL: all nodes. They are the requested nodes, or all nodes where nothing is
 * pruned. */
const int32_t *sfu__plan_rows(const sfu__plan *plan, sfu_pass pass, int32_t *count);

/* Whether the leading smoothing is streamed; and the part of a prediction that is streamed, with the given parameters:
 * before sfu__executor_forward, unless it does nothing because the plan does not stream. */
bool sfu__plan_streams(const sfu__plan *plan);
SFU_CHECKED sfu_status sfu__plan_stream(const sfu__plan *plan, const float *theta);

/* Predictions of more nodes than fit into the limit, in pieces: if sfu__plan_streams_products, sfu__plan_stream_to
 * computes the streamed part of these nodes (NULL: all) into a file, and sfu__plan_stream_from takes the rows
 * [first, first + count) of `all` as those of the prediction pass, which must have as many. */
bool sfu__plan_streams_products(const sfu__plan *plan);
SFU_CHECKED sfu_status sfu__plan_stream_to(sfu__scratch *file, const sfu__plan *plan, const float *theta,
                                           const int32_t *nodes, int32_t count);
SFU_CHECKED sfu_status sfu__plan_stream_from(sfu__scratch *file, const sfu__plan *plan, int32_t all, int32_t first,
                                             int32_t count);

/* Frees what a streaming plan without a prediction needs no more once it is made: the factors of S. */
void sfu__plan_drop_factors(sfu__plan *plan);

/* Width of the last hidden layer, 0 if there is none. */
int32_t sfu__plan_embedding_width(const sfu__plan *plan);

/* Shape of step i of a public plan, headings not counted; NULL beyond the last step. */
struct sfu__work;
const struct sfu__work *sfu__plan_work(const sfu_plan *plan, sfu_pass pass, int i);

/* ---- execution ---- */

/* An executor owns the memory of one training run and runs on the threads of a team, which must outlive it; NULL: on
 * the calling thread. */
typedef struct sfu__executor sfu__executor;

SFU_CHECKED sfu_status sfu__executor_new(sfu__executor **executor, const sfu__plan *plan, const sfu__backend *backend,
                                         sfu__team *team);
void sfu__executor_free(sfu__executor *executor);

/* Bytes of its memory that grow with the data and the network. */
int64_t sfu__executor_bytes(const sfu__executor *executor);

/* Parameters and Adam state, sfu__parameters.size floats each, borrowed. Every pass reads theta; training steps update
 * theta and Adam's moments m and v. The caller initializes theta; m and v start as zeros. */
float *sfu__executor_theta(sfu__executor *executor);
float *sfu__executor_m(sfu__executor *executor);
float *sfu__executor_v(sfu__executor *executor);

/* Score of an evaluation that stopped early: fewer rows can be correct than were needed. */
static const sfu__score sfu__unseen = {.loss = 0.0, .correct = -1};

typedef struct sfu__epoch {
    uint64_t seed;          /* seed of the dropout masks */
    uint32_t number;        /* from 1: Adam's t, and the epoch of the dropout masks */
    double dropout;         /* rate of the masks whose layer sets none */
    float lr, decay;        /* learning rate and weight decay */
    sfu__target target;     /* per row of the training pass */
    sfu__target validation; /* per row of the evaluation pass */
    bool evaluate;          /* run the evaluation pass after the training step */
    int64_t needed;         /* staged evaluation stops after a stage once fewer rows than this can be correct */
} sfu__epoch;

/* Runs one epoch in one parallel region: a training step, then (if requested) the evaluation with the new parameters.
 * Scores are sums over rows; an evaluation that stopped early has the score sfu__unseen. */
void sfu__executor_epoch(sfu__executor *executor, const sfu__epoch *epoch, sfu__score *training,
                         sfu__score *validation);

/* Gradient of the last training step, without weight decay, laid out like theta. */
const float *sfu__executor_gradient(const sfu__executor *executor);

/* Runs the evaluation or the prediction pass with the current parameters. Afterwards sfu__executor_output returns the
 * probabilities of its rows, and sfu__executor_embedding the last hidden layer; the latter fails if there is none. */
void sfu__executor_forward(sfu__executor *executor, sfu_pass pass);
sfu__dense sfu__executor_output(const sfu__executor *executor, sfu_pass pass);
SFU_CHECKED sfu_status sfu__executor_embedding(sfu__dense *embedding, const sfu__executor *executor, sfu_pass pass);

/* What an executor of several ranks has received from others so far, and how long it waited for it. */
typedef struct sfu__rank_traffic {
    int64_t received; /* bytes */
    double seconds;
} sfu__rank_traffic;
sfu__rank_traffic sfu__executor_traffic(const sfu__executor *executor);

/* Switches the timing of steps on or off; sfu__executor_seconds returns the total time of one step since it was
 * switched on. */
SFU_CHECKED sfu_status sfu__executor_measure(sfu__executor *executor, bool on);
double sfu__executor_seconds(const sfu__executor *executor, sfu_pass pass, size_t step);

#endif
