/* runner.h - what runs the passes of a network: a worker of its plan, or of LPNN, which has no plan. Behind this the
 * two look alike to everything that trains, scores or predicts.
 */
#ifndef SFU_RUNNER_H
#define SFU_RUNNER_H

#include "model.h"
#include "plan.h"

typedef struct sfu__runner {
    const sfu_net *net;
    const sfu__plan *plan;   /* or NULL and */
    sfu__executor *executor; /* */
    sfu__plan *own;          /* the plan where it is the runner's, or NULL */
    sfu__team *own_team;     /* the same */
    struct sfu__lpnn_executor *lpnn;
    const float **columns; /* [parameters]: where learned node columns start from */
} sfu__runner;

/* Starts as {0}; sfu__runner_clear also after a failure. The dataset must outlive it. */
SFU_CHECKED sfu_status sfu__runner_make(sfu__runner *runner, const sfu_dataset *dataset, const sfu_net *net,
                                        const sfu__plan_request *request);

/* The same on a team of the caller's (NULL: the calling thread) and with a plan of the caller's, made for this network;
 * NULL: LPNN, or one of its own. Both must outlive it. */
SFU_CHECKED sfu_status sfu__runner_make_of(sfu__runner *runner, const sfu_dataset *dataset, const sfu_net *net,
                                           const sfu__plan_request *request, const sfu__plan *plan, sfu__team *team);
void sfu__runner_clear(sfu__runner *runner);

/* Its own memory, without the plan's. */
int64_t sfu__runner_bytes(const sfu__runner *runner);

/* As the functions of a worker, plan.h. */
const sfu__parameters *sfu__runner_parameters(const sfu__runner *runner);
float *sfu__runner_theta(const sfu__runner *runner);
float *sfu__runner_m(const sfu__runner *runner);
float *sfu__runner_v(const sfu__runner *runner);
void sfu__runner_epoch(const sfu__runner *runner, const sfu__epoch *epoch, sfu__score *training,
                       sfu__score *validation);
void sfu__runner_forward(const sfu__runner *runner, sfu_pass pass);
sfu__dense sfu__runner_output(const sfu__runner *runner, sfu_pass pass);
SFU_CHECKED sfu_status sfu__runner_embedding(sfu__dense *embedding, const sfu__runner *runner, sfu_pass pass);

/* Adds 1 to the misses of every row of the evaluation, which has just run to its end, that is not of its label. LPNN's
 * are not counted. */
void sfu__runner_misses(const sfu__runner *runner, const int32_t *labels, int32_t *misses);

/* The node column that a parameter starts from, or NULL. */
const float *sfu__parameter_column(const sfu__parameter *parameter, const sfu_net *net, const sfu_dataset *dataset);

/* Theta as a training starts from a seed; `labels` are the classes of the training pass's rows. */
void sfu__runner_start(const sfu__runner *runner, const int32_t *labels, uint64_t seed);

/* Theta as a model has it, which must have every parameter in the same shape. f of LPNN may be missing: it stays. */
SFU_CHECKED sfu_status sfu__runner_load(const sfu__runner *runner, const sfu_model *model);

#endif
