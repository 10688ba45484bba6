/* gpu_population.c - launches whole trainings on a GPU and collects their outcomes. */
#include "gpu_population.h"
#include "lpnn.h"

#include <math.h>
#include <string.h>

struct sfu__gpu_trainer {
    sfu__gpu *gpu;
    sfu__gpu_translation made;       /* its image is on the device; here without bytes */
    uint64_t image;                  /* address */
    int64_t image_bytes, image_size; /* used, and of the block */
};

/* What travels to the device and back, in this order; offsets in bytes. */
typedef struct parcel {
    int64_t jobs, counters, outcomes, misses, parameters, starts, bytes;
    int64_t misses_each, parameters_each;
} parcel;

struct sfu__gpu_worker {
    sfu__gpu *gpu;
    sfu__gpu_stream *stream;
    sfu__gpu_event *begin, *end;
    sfu__gpu_kernel wide, narrow;
    const uint32_t *stop; /* borrowed */
    uint64_t memory;      /* of the trainings */
    int64_t memory_bytes;
    uint64_t device; /* jobs, outcomes, counters, misses and parameters */
    char *host;      /* the same, page-locked */
    int64_t shared_bytes, host_bytes;
    const sfu__gpu_trainer *trainer; /* of the trainings that run now */
    sfu__training *trainings;        /* [count] */
    int count;
    parcel at;
};

/* ---- trainer ----------------------------------------------------------------------------------------------------- */

/* Moves the image of a translation to the device. */
static sfu_status place(sfu__gpu_trainer *self) {
    sfu_status status = SFU_OK;
    self->image_bytes = (int64_t)self->made.image.size;
    SFU_TRY(sfu__gpu_take(self->gpu, &self->image, &self->image_size, self->image_bytes));
    sfu__gpu_image_place(&self->made.image, self->image);
    SFU_TRY(sfu__gpu_upload(self->gpu, self->image, self->made.image.bytes, self->image_bytes, NULL));
    sfu__gpu_image_clear(&self->made.image);
done:
    return status;
}

sfu_status sfu__gpu_trainer_new(sfu__gpu_trainer **trainer, sfu__gpu *gpu, const sfu__plan *plan, const sfu_net *net,
                                const float *const *columns, const sfu__objective *objective, int32_t epochs) {
    sfu_status status = SFU_OK;
    sfu__gpu_trainer *self = NULL;
    *trainer = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->gpu = gpu;
    SFU_TRY(sfu__gpu_translate(&self->made, plan, net, columns, objective, epochs));
    SFU_TRY(place(self));
    *trainer = self;
    self = NULL;
done:
    sfu__gpu_trainer_free(self);
    return status;
}

sfu_status sfu__gpu_trainer_new_lpnn(sfu__gpu_trainer **trainer, sfu__gpu *gpu,
                                     const struct sfu__lpnn_executor *executor, const sfu__objective *objective,
                                     int32_t epochs) {
    sfu_status status = SFU_OK;
    sfu__gpu_trainer *self = NULL;
    *trainer = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->gpu = gpu;
    SFU_TRY(sfu__gpu_translate_lpnn(&self->made, executor, objective, epochs));
    SFU_TRY(place(self));
    *trainer = self;
    self = NULL;
done:
    sfu__gpu_trainer_free(self);
    return status;
}

void sfu__gpu_trainer_free(sfu__gpu_trainer *trainer) {
    if (trainer != NULL) {
        sfu__gpu_put(trainer->gpu, trainer->image, trainer->image_size);
        sfu__gpu_translation_clear(&trainer->made);
        sfu__free(trainer);
    }
}

int64_t sfu__gpu_trainer_each(const sfu__gpu_trainer *trainer) {
    return trainer->made.program.memory * (int64_t)sizeof(float);
}

/* ---- worker ------------------------------------------------------------------------------------------------------ */

static void free_memory(sfu__gpu_worker *worker) {
    sfu__gpu_put(worker->gpu, worker->memory, worker->memory_bytes);
    worker->memory = 0;
    worker->memory_bytes = 0;
}

static void free_shared(sfu__gpu_worker *worker) {
    sfu__gpu_put(worker->gpu, worker->device, worker->shared_bytes);
    sfu__gpu_put_host(worker->gpu, worker->host, worker->host_bytes);
    worker->device = 0;
    worker->host = NULL;
    worker->shared_bytes = worker->host_bytes = 0;
}

sfu_status sfu__gpu_worker_new(sfu__gpu_worker **worker, sfu__gpu *gpu, const uint32_t *stop) {
    sfu_status status = SFU_OK;
    sfu__gpu_worker *self = NULL;
    *worker = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->gpu = gpu;
    self->stop = stop;
    SFU_TRY(sfu__gpu_stream_new(gpu, &self->stream));
    SFU_TRY(sfu__gpu_event_new(gpu, &self->begin));
    SFU_TRY(sfu__gpu_event_new(gpu, &self->end));
    SFU_TRY(sfu__gpu_find_kernel(gpu, &self->wide, "sfu_train_many"));
    SFU_TRY(sfu__gpu_find_kernel(gpu, &self->narrow, "sfu_train_narrow"));
    *worker = self;
    self = NULL;
done:
    sfu__gpu_worker_free(self);
    return status;
}

void sfu__gpu_worker_free(sfu__gpu_worker *worker) {
    if (worker == NULL) {
        return;
    }
    free_memory(worker);
    free_shared(worker);
    sfu__gpu_event_free(worker->gpu, worker->begin);
    sfu__gpu_event_free(worker->gpu, worker->end);
    sfu__gpu_stream_free(worker->gpu, worker->stream);
    sfu__free(worker);
}

/* Enough memory for the trainings; it only grows. */
static sfu_status reserve_memory(sfu__gpu_worker *worker, int64_t bytes) {
    if (bytes <= worker->memory_bytes) {
        return SFU_OK;
    }
    free_memory(worker);
    return sfu__gpu_take(worker->gpu, &worker->memory, &worker->memory_bytes, bytes);
}

static sfu_status reserve_shared(sfu__gpu_worker *worker, int64_t bytes) {
    sfu_status status = SFU_OK;
    if (bytes <= worker->shared_bytes && bytes <= worker->host_bytes) {
        return SFU_OK;
    }
    free_shared(worker);
    SFU_TRY(sfu__gpu_take(worker->gpu, &worker->device, &worker->shared_bytes, bytes));
    SFU_TRY(sfu__gpu_take_host(worker->gpu, (void **)&worker->host, &worker->host_bytes, bytes));
done:
    return status;
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

enum { COUNTER_BYTES = SFU__GPU_COUNTERS * sizeof(int64_t) }; /* of one training */

static int64_t after(int64_t offset, int64_t bytes) { return offset + (bytes + 255) / 256 * 256; }

static parcel parcel_of(const sfu__gpu_trainer *trainer, const sfu__training *trainings, int count) {
    const sfu__gpu_program *program = &trainer->made.program;
    parcel at = {.misses_each = after(0, program->val_count * (int64_t)sizeof(int32_t)),
                 .parameters_each = after(0, program->size * (int64_t)sizeof(float))};
    bool misses = false, parameters = false, starts = false;
    for (int i = 0; i < count; i++) {
        misses = misses || trainings[i].misses != NULL;
        parameters = parameters || trainings[i].best != NULL;
        starts = starts || trainings[i].start != NULL;
    }
    at.counters = after(at.jobs, count * (int64_t)sizeof(sfu__gpu_job));
    at.outcomes = after(at.counters, count * (int64_t)COUNTER_BYTES);
    at.misses = after(at.outcomes, count * (int64_t)sizeof(sfu__gpu_outcome));
    at.parameters = after(at.misses, misses ? count * at.misses_each : 0);
    at.starts = after(at.parameters, parameters ? count * at.parameters_each : 0);
    at.bytes = after(at.starts, starts ? count * at.parameters_each : 0);
    return at;
}

static sfu__gpu_job job_of(const sfu__gpu_worker *worker, const sfu__gpu_trainer *trainer, const parcel *at,
                           const sfu__training *training, int i) {
    const sfu__gpu_translation *made = &trainer->made;
    const uint64_t device = worker->device;
    sfu__gpu_job job = {.seed = training->seed,
                        .lr = (float)training->lr,
                        .decay = (float)training->weight_decay,
                        .epochs = training->epochs,
                        .patience = training->patience,
                        .keep_last = training->keep == SFU_KEEP_LAST,
                        .outcome_only = training->outcome_only,
                        .lpnn = training->lpnn != NULL ? sfu__lpnn_terms_of(training->lpnn) : made->lpnn,
                        .memory = (float *)(uintptr_t)(worker->memory + (uint64_t)(i * sfu__gpu_trainer_each(trainer))),
                        .counters =
                            (int64_t *)(uintptr_t)(device + (uint64_t)(at->counters + (int64_t)i * COUNTER_BYTES)),
                        .stop = worker->stop};
    for (uint32_t k = 0; k < made->mask_count; k++) {
        job.thresholds[k] =
            sfu__dropout_threshold(made->mask_rates[k] >= 0.0 ? made->mask_rates[k] : training->dropout);
    }
    if (training->misses != NULL) {
        job.misses = (int32_t *)(uintptr_t)(device + (uint64_t)(at->misses + i * at->misses_each));
    }
    if (training->best != NULL) {
        job.best = (float *)(uintptr_t)(device + (uint64_t)(at->parameters + i * at->parameters_each));
    }
    if (training->start != NULL) {
        job.start = (const float *)(uintptr_t)(device + (uint64_t)(at->starts + i * at->parameters_each));
    }
    return job;
}

static sfu_status send_jobs(sfu__gpu_worker *worker, const sfu__gpu_trainer *trainer, const parcel *at,
                            const sfu__training *trainings, int count) {
    sfu_status status = SFU_OK;
    const size_t size = (size_t)trainer->made.program.size * sizeof(float);
    const size_t misses = (size_t)trainer->made.program.val_count * sizeof(int32_t);
    memset(worker->host + at->counters, 0, (size_t)(at->outcomes - at->counters));
    for (int i = 0; i < count; i++) {
        const sfu__gpu_job job = job_of(worker, trainer, at, &trainings[i], i);
        memcpy(worker->host + at->jobs + (size_t)i * sizeof job, &job, sizeof job);
        if (trainings[i].misses != NULL) {
            memcpy(worker->host + at->misses + i * at->misses_each, trainings[i].misses, misses);
        }
        if (trainings[i].start != NULL) {
            memcpy(worker->host + at->starts + i * at->parameters_each, trainings[i].start, size);
        }
    }
    SFU_TRY(sfu__gpu_upload(worker->gpu, worker->device, worker->host, at->parameters, worker->stream));
    if (at->bytes > at->starts) {
        SFU_TRY(sfu__gpu_upload(worker->gpu, worker->device + (uint64_t)at->starts, worker->host + at->starts,
                                at->bytes - at->starts, worker->stream));
    }
done:
    return status;
}

static void take_outcome(sfu__training *training, const sfu__gpu_outcome *from, const sfu__gpu_program *program) {
    training->ran = from->ran;
    training->diverged = from->diverged != 0;
    training->stopped = from->stopped != 0;
    training->best_val_correct = from->best_val_correct;
    training->stopping = (sfu__early_stopping){.patience = training->patience,
                                               .best_epoch = from->best_epoch,
                                               .last_improved = from->last_improved,
                                               .best_val_score = from->best_val_score,
                                               .best_val_loss = program->val_count > 0 ? from->best_val_loss : NAN};
}

/* Queues the download behind the trainings. */
static sfu_status fetch_outcomes(sfu__gpu_worker *worker) {
    sfu_status status = SFU_OK;
    const parcel *at = &worker->at;
    SFU_TRY(sfu__gpu_download(worker->gpu, worker->host + at->outcomes, worker->device + (uint64_t)at->outcomes,
                              at->starts - at->outcomes, worker->stream));
    SFU_TRY(sfu__gpu_event_record(worker->gpu, worker->end, worker->stream));
done:
    return status;
}

static void take_outcomes(const sfu__gpu_worker *worker) {
    const sfu__gpu_program *program = &worker->trainer->made.program;
    const parcel *at = &worker->at;
    for (int i = 0; i < worker->count; i++) {
        sfu__training *training = &worker->trainings[i];
        sfu__gpu_outcome outcome;
        memcpy(&outcome, worker->host + at->outcomes + (size_t)i * sizeof outcome, sizeof outcome);
        take_outcome(training, &outcome, program);
        if (training->stopped) {
            continue;
        }
        if (training->misses != NULL) {
            memcpy(training->misses, worker->host + at->misses + i * at->misses_each,
                   (size_t)program->val_count * sizeof(int32_t));
        }
        if (training->best != NULL && outcome.best_epoch > 0) {
            memcpy(training->best, worker->host + at->parameters + i * at->parameters_each,
                   (size_t)program->size * sizeof(float));
        }
    }
}

/* ---- launch ------------------------------------------------------------------------------------------------------ */

/* Wide products want the whole memory of a multiprocessor for a slice of their operand. Narrow ones want several blocks
 * on it, so that one computes while another waits. Measured on an H200. */
enum { THREADS_WIDE = 512, THREADS_NARROW = 256, OPERANDS_NARROW = 24 << 10 };

static const sfu__gpu_kernel *kernel_of(const sfu__gpu_worker *worker, const sfu__gpu_trainer *trainer) {
    return trainer->made.wide ? &worker->wide : &worker->narrow;
}

static sfu__gpu_shape shape_of(const sfu__gpu_worker *worker, const sfu__gpu_trainer *trainer,
                               const sfu__gpu_tuning *tuning, int count) {
    const sfu__gpu_kernel *kernel = kernel_of(worker, trainer);
    const int64_t narrow = (int64_t)trainer->made.step_bytes + OPERANDS_NARROW;
    sfu__gpu_shape shape = {.cluster = 1,
                            .threads = trainer->made.wide ? THREADS_WIDE : THREADS_NARROW,
                            .shared_bytes = kernel->shared_bytes};
    if (!trainer->made.wide && narrow < shape.shared_bytes) {
        shape.shared_bytes = (int)narrow;
    }
    if (tuning != NULL && tuning->threads > 0) {
        shape.threads = tuning->threads;
    }
    if (tuning != NULL && tuning->shared > 0) {
        shape.shared_bytes = tuning->shared;
    }
    if (tuning != NULL && tuning->cluster > 0) {
        shape.cluster = tuning->cluster;
    }
    shape.blocks = count * shape.cluster;
    return shape;
}

sfu_status sfu__gpu_worker_start(sfu__gpu_worker *worker, const sfu__gpu_trainer *trainer, sfu__training *trainings,
                                 int count, const sfu__gpu_tuning *tuning) {
    sfu_status status = SFU_OK;
    const parcel at = parcel_of(trainer, trainings, count);
    const sfu__gpu_shape shape = shape_of(worker, trainer, tuning, count);
    worker->count = 0;
    if (count == 0) {
        return SFU_OK;
    }
    SFU_TRY(reserve_memory(worker, count * sfu__gpu_trainer_each(trainer)));
    SFU_TRY(reserve_shared(worker, at.bytes));
    SFU_TRY(sfu__gpu_event_record(worker->gpu, worker->begin, worker->stream));
    SFU_TRY(send_jobs(worker, trainer, &at, trainings, count));
    uint64_t program = trainer->image + trainer->made.program_at, jobs = worker->device + (uint64_t)at.jobs;
    uint64_t outcomes = worker->device + (uint64_t)at.outcomes;
    int shared_bytes = shape.shared_bytes;
    SFU_TRY(sfu__gpu_launch(worker->gpu, kernel_of(worker, trainer), &shape, worker->stream,
                            (void *[]){&program, &jobs, &outcomes, &shared_bytes}));
    worker->trainer = trainer;
    worker->trainings = trainings;
    worker->count = count;
    worker->at = at;
    SFU_TRY(fetch_outcomes(worker));
done:
    return status;
}

sfu_status sfu__gpu_worker_wait(sfu__gpu_worker *worker, double *seconds) {
    sfu_status status = SFU_OK;
    if (seconds != NULL) {
        *seconds = 0.0;
    }
    if (worker->count == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__gpu_event_wait(worker->gpu, worker->end));
    take_outcomes(worker);
    if (seconds != NULL) {
        SFU_TRY(sfu__gpu_event_seconds(worker->gpu, seconds, worker->begin, worker->end));
    }
done:
    worker->count = 0;
    return status;
}

sfu_status sfu__gpu_worker_run(sfu__gpu_worker *worker, const sfu__gpu_trainer *trainer, sfu__training *trainings,
                               int count, const sfu__gpu_tuning *tuning, double *seconds) {
    const sfu_status status = sfu__gpu_worker_start(worker, trainer, trainings, count, tuning);
    return status == SFU_OK ? sfu__gpu_worker_wait(worker, seconds) : status;
}

void sfu__gpu_worker_release(sfu__gpu_worker *worker) { free_memory(worker); }
