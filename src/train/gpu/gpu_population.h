/* gpu_population.h - whole trainings on a GPU, many at once: a training per thread block, or per cluster of blocks.
 *
 * A program is shared by any number of workers; a worker belongs to one thread and has a stream and memory of its own.
 * The blocks of all workers share the device: a block that ends makes room for the next that waits.
 */
#ifndef SFU_GPU_POPULATION_H
#define SFU_GPU_POPULATION_H

#include "gpu.h"
#include "gpu_translate.h"

/* A program on a device. */
typedef struct sfu__gpu_trainer sfu__gpu_trainer;

/* As sfu__gpu_translate. The device must outlive the trainer; plan, network and objective need not. */
SFU_CHECKED sfu_status sfu__gpu_trainer_new(sfu__gpu_trainer **trainer, sfu__gpu *gpu, const sfu__plan *plan,
                                            const sfu_net *net, const float *const *columns,
                                            const sfu__objective *objective, int32_t epochs);
/* As sfu__gpu_translate_lpnn; the executor need not outlive the trainer either. */
SFU_CHECKED sfu_status sfu__gpu_trainer_new_lpnn(sfu__gpu_trainer **trainer, sfu__gpu *gpu,
                                                 const struct sfu__lpnn_executor *executor,
                                                 const sfu__objective *objective, int32_t epochs);
void sfu__gpu_trainer_free(sfu__gpu_trainer *trainer);
int64_t sfu__gpu_trainer_each(const sfu__gpu_trainer *trainer); /* of one training */

/* How a launch is shaped; zeros: by the rules of this file. */
typedef struct sfu__gpu_tuning {
    int threads; /* of a block */
    int shared;  /* bytes */
    int cluster; /* blocks of one training */
} sfu__gpu_tuning;

typedef struct sfu__gpu_worker sfu__gpu_worker;

/* `stop`: NULL, or a word of page-locked memory that outlives the worker. When it is not 0, trainings stop after their
 * current epoch, and those that have not begun do not begin: any thread may set it while they run. */
SFU_CHECKED sfu_status sfu__gpu_worker_new(sfu__gpu_worker **worker, sfu__gpu *gpu, const uint32_t *stop);
void sfu__gpu_worker_free(sfu__gpu_worker *worker);

/* Puts the memory of its trainings back, which have ended. */
void sfu__gpu_worker_release(sfu__gpu_worker *worker);

/* Starts trainings of one program, which run to their ends as with sfu__training_run. The program has the metric of its
 * objective, so they need no scorer. They and the trainer belong to the worker until sfu__gpu_worker_wait has
 * returned. */
SFU_CHECKED sfu_status sfu__gpu_worker_start(sfu__gpu_worker *worker, const sfu__gpu_trainer *trainer,
                                             sfu__training *trainings, int count, const sfu__gpu_tuning *tuning);

/* Waits for the trainings that were started and sets their outcomes; one with `stopped` has none. *seconds, if not
 * NULL: the time on the device. */
SFU_CHECKED sfu_status sfu__gpu_worker_wait(sfu__gpu_worker *worker, double *seconds);

/* Starts trainings and waits for them. */
SFU_CHECKED sfu_status sfu__gpu_worker_run(sfu__gpu_worker *worker, const sfu__gpu_trainer *trainer,
                                           sfu__training *trainings, int count, const sfu__gpu_tuning *tuning,
                                           double *seconds);

#endif
