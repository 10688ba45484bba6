/* gpu_executor.h - one training or prediction on a whole GPU, driven by the host: the interface of sfu__executor
 * (plan.h) for a plan, or LPNN, on a device.
 *
 * 1. Every phase of every step is a launch over all blocks of a grid, in one stream. An epoch waits once, for its
 *    scores. All rows are always evaluated: a staged evaluation that would end early is completed.
 * 2. theta is a copy on the host. Call sfu__gpu_executor_reset after writing it and before the first epoch, and
 *    sfu__gpu_executor_fetch after an epoch and before reading it. A pass without training uses what was written.
 * 3. Calls that cannot return a status remember the first failure, and later ones do nothing: sfu__gpu_executor_check
 *    returns it.
 */
#ifndef SFU_GPU_EXECUTOR_H
#define SFU_GPU_EXECUTOR_H

#include "cost.h"
#include "gpu.h"
#include "plan.h"

typedef struct sfu__gpu_executor sfu__gpu_executor;
struct sfu__lpnn_executor;

/* Takes the open device, also if it fails. Plan and network must outlive the executor. `columns` as in sfu__runner.
 * SFU_ERR_MEMORY: the device has not enough memory. SFU_ERR_UNSUPPORTED: a step that GPUs do not have. */
SFU_CHECKED sfu_status sfu__gpu_executor_new(sfu__gpu_executor **executor, sfu__gpu *gpu, const sfu__plan *plan,
                                             const sfu_net *net, const float *const *columns);

/* The same for LPNN, whose executor on the CPU is read, not run, and must outlive this one. */
SFU_CHECKED sfu_status sfu__gpu_executor_new_lpnn(sfu__gpu_executor **executor, sfu__gpu *gpu,
                                                  const struct sfu__lpnn_executor *lpnn);
void sfu__gpu_executor_free(sfu__gpu_executor *executor);
int64_t sfu__gpu_executor_bytes(const sfu__gpu_executor *executor); /* of device memory */

/* The first failure of the functions below, with its message; or SFU_OK. */
SFU_CHECKED sfu_status sfu__gpu_executor_check(const sfu__gpu_executor *executor);

/* As the functions of sfu__executor. */
float *sfu__gpu_executor_theta(sfu__gpu_executor *executor);
void sfu__gpu_executor_reset(sfu__gpu_executor *executor); /* copies theta to the device, clears Adam's moments */
void sfu__gpu_executor_fetch(sfu__gpu_executor *executor); /* copies theta from the device */
void sfu__gpu_executor_epoch(sfu__gpu_executor *executor, const sfu__epoch *epoch, sfu__score *training,
                             sfu__score *validation);
void sfu__gpu_executor_forward(sfu__gpu_executor *executor, sfu_pass pass);
sfu__dense sfu__gpu_executor_output(sfu__gpu_executor *executor, sfu_pass pass);
SFU_CHECKED sfu_status sfu__gpu_executor_embedding(sfu__dense *embedding, sfu__gpu_executor *executor, sfu_pass pass);
SFU_CHECKED sfu_status sfu__gpu_executor_measure(sfu__gpu_executor *executor, bool on);
double sfu__gpu_executor_seconds(const sfu__gpu_executor *executor, sfu_pass pass, size_t step);

/* Predicted seconds of a step on a GPU. */
double sfu__gpu_step_seconds(const sfu__work *work);

/* Predicted seconds of `epochs` training steps (at most 200) with their evaluations, or of one prediction: on the
 * threads of the CPU, and on a GPU, with what it takes to bring the plan there. */
typedef struct sfu__device_seconds {
    double cpu, gpu;
} sfu__device_seconds;
sfu__device_seconds sfu__gpu_predicted_seconds(const sfu__plan *plan, int32_t epochs, int threads);
sfu__device_seconds sfu__gpu_predicted_lpnn(const struct sfu__lpnn_executor *lpnn, int32_t epochs, int threads);

#endif
