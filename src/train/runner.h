/* runner.h - one interface to whatever runs the passes of a network: the executor of a plan, or that of LPNN, which has
 * no plan. Training, scoring and prediction need not know which one it is. */
#ifndef SFU_RUNNER_H
#define SFU_RUNNER_H

#include "model.h"
#include "plan.h"

typedef struct sfu__runner {
    const sfu_net *net;
    const sfu__plan *plan;   /* NULL for LPNN */
    sfu__executor *executor; /* */
    sfu__plan *own;          /* the plan if the runner owns it, else NULL */
    sfu__team *own_team;     /* the team if the runner owns it, else NULL */
    struct sfu__lpnn_executor *lpnn;
    const float **columns; /* [parameters]: initial values of learned node columns, or NULL */
} sfu__runner;

/* The runner starts as {0}; call sfu__runner_clear also after a failure. The dataset must outlive it. */
SFU_CHECKED sfu_status sfu__runner_make(sfu__runner *runner, const sfu_dataset *dataset, const sfu_net *net,
                                        const sfu__plan_request *request);

/* The same with the caller's team (NULL: the calling thread) and the caller's plan for this network (NULL: LPNN, or a
 * plan that the runner makes and owns). Both must outlive the runner. */
SFU_CHECKED sfu_status sfu__runner_make_of(sfu__runner *runner, const sfu_dataset *dataset, const sfu_net *net,
                                           const sfu__plan_request *request, const sfu__plan *plan, sfu__team *team);
void sfu__runner_clear(sfu__runner *runner);

/* Bytes of the runner without the plan. */
int64_t sfu__runner_bytes(const sfu__runner *runner);

/* As the functions of sfu__executor (plan.h). */
const sfu__parameters *sfu__runner_parameters(const sfu__runner *runner);
float *sfu__runner_theta(const sfu__runner *runner);
float *sfu__runner_m(const sfu__runner *runner);
float *sfu__runner_v(const sfu__runner *runner);
void sfu__runner_epoch(const sfu__runner *runner, const sfu__epoch *epoch, sfu__score *training,
                       sfu__score *validation);
void sfu__runner_forward(const sfu__runner *runner, sfu_pass pass);
sfu__dense sfu__runner_output(const sfu__runner *runner, sfu_pass pass);
SFU_CHECKED sfu_status sfu__runner_embedding(sfu__dense *embedding, const sfu__runner *runner, sfu_pass pass);

/* Adds 1 to misses[i] for every wrongly classified row i of the evaluation pass, which must just have run completely.
 * Does nothing for LPNN. */
void sfu__runner_misses(const sfu__runner *runner, const int32_t *labels, int32_t *misses);

/* The node column that initializes a parameter, or NULL. */
const float *sfu__parameter_column(const sfu__parameter *parameter, const sfu_net *net, const sfu_dataset *dataset);

/* Initializes theta from a seed; `labels` are the classes of the rows of the training pass. */
void sfu__runner_start(const sfu__runner *runner, const int32_t *labels, uint64_t seed);

/* Copies theta from a model, which must have every parameter in the same shape. LPNN's f may be missing: it keeps its
 * value. */
SFU_CHECKED sfu_status sfu__runner_load(const sfu__runner *runner, const sfu_model *model);

#endif
