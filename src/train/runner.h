/* runner.h - one interface to whatever runs the passes of a network: the executor of a plan, or that of LPNN, which has
 * no plan, on the CPU or on a GPU. Training, scoring and prediction need not know which one it is.
 *
 * theta is in host memory. A GPU has a copy: call sfu__runner_reset after writing theta and before the first epoch, and
 * sfu__runner_fetch after an epoch and before reading it. Only a GPU can fail while it runs: sfu__runner_check tells,
 * and after a failure epochs and passes do nothing. */
#ifndef SFU_RUNNER_H
#define SFU_RUNNER_H

#include "model.h"
#include "plan.h"

typedef struct sfu__runner {
    const sfu_net *net;
    const sfu__parameters *parameters;
    float *theta;           /* the parameters */
    float *m, *v;           /* Adam's moments, as those of an executor (plan.h); NULL: on a GPU */
    int64_t bytes;          /* of the runner without the plan */
    bool sums_loss;         /* the training loss is a sum over the nodes, whatever sfu_loss is chosen */
    bool stages_validation; /* validation may run in stages (sfu__stages) */

    /* one of the executors; the others are NULL. LPNN on a GPU also has the other of LPNN, which is not run */
    sfu__executor *executor;
    struct sfu__gpu_executor *gpu;
    struct sfu__lpnn_executor *lpnn;

    sfu__plan *own;        /* the plan if the runner owns it, else NULL */
    sfu__team *own_team;   /* the team if the runner owns it, else NULL */
    const float **columns; /* [parameters]: initial values of learned node columns, or NULL */
} sfu__runner;

/* The runner starts as {0}; call sfu__runner_clear also after a failure. The dataset must outlive it. */
SFU_CHECKED sfu_status sfu__runner_make(sfu__runner *runner, const sfu_dataset *dataset, const sfu_net *net,
                                        const sfu__plan_request *request);

/* Makes a plan that any number of runners of this network can share; NULL if runners of this network need none. */
SFU_CHECKED sfu_status sfu__runner_plan(sfu__plan **plan, const sfu_dataset *dataset, const sfu_net *net,
                                        const sfu__plan_request *request);

/* As sfu__runner_make with the caller's team (NULL: the calling thread) and a plan of sfu__runner_plan (NULL: the
 * runner makes and owns one if it needs one). Both must outlive the runner. */
SFU_CHECKED sfu_status sfu__runner_make_of(sfu__runner *runner, const sfu_dataset *dataset, const sfu_net *net,
                                           const sfu__plan_request *request, const sfu__plan *plan, sfu__team *team);
void sfu__runner_clear(sfu__runner *runner);

/* After theta was written: the parameters of the next epoch; Adam's moments become zero. */
void sfu__runner_reset(const sfu__runner *runner);

/* After an epoch: theta has its parameters. */
void sfu__runner_fetch(const sfu__runner *runner);

/* SFU_OK, or the first failure of an epoch, a pass, an output or one of the two above. */
SFU_CHECKED sfu_status sfu__runner_check(const sfu__runner *runner);

/* As the functions of sfu__executor (plan.h). An output is to be used after sfu__runner_check alone. */
void sfu__runner_epoch(const sfu__runner *runner, const sfu__epoch *epoch, sfu__score *training,
                       sfu__score *validation);
/* The streamed part of a prediction, before sfu__runner_forward; does nothing if the plan does not stream. */
SFU_CHECKED sfu_status sfu__runner_stream(const sfu__runner *runner);
void sfu__runner_forward(const sfu__runner *runner, sfu_pass pass);
sfu__dense sfu__runner_output(const sfu__runner *runner, sfu_pass pass);
SFU_CHECKED sfu_status sfu__runner_embedding(sfu__dense *embedding, const sfu__runner *runner, sfu_pass pass);

/* Not for LPNN. */
SFU_CHECKED sfu_status sfu__runner_measure(const sfu__runner *runner, bool on);
double sfu__runner_seconds(const sfu__runner *runner, sfu_pass pass, size_t step);

/* What a runner of several ranks has received from others so far, and how long it waited for it. */
sfu__rank_traffic sfu__runner_traffic(const sfu__runner *runner);

/* Adds 1 to misses[i] for every wrongly classified row i of the evaluation pass, which must just have run
 * completely. */
void sfu__runner_misses(const sfu__runner *runner, const int32_t *labels, int32_t *misses);

/* The node column that initializes a parameter, or NULL. */
const float *sfu__parameter_column(const sfu__parameter *parameter, const sfu_net *net, const sfu_dataset *dataset);

/* Initializes theta from a seed; `labels` are the classes of the rows of the training pass. */
void sfu__runner_start(const sfu__runner *runner, const int32_t *labels, uint64_t seed);

/* Copies theta from a model, which must have every parameter in the same shape. LPNN's f may be missing: it keeps its
 * value. */
SFU_CHECKED sfu_status sfu__runner_load(const sfu__runner *runner, const sfu_model *model);

#endif
