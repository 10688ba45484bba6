/* gpu_rates.c - measures a GPU: one program with a few large steps and matrices is uploaded, and each part is timed. */
#include "gpu_rates.h"

#include "gpu.h"
#include "gpu_layout.h"
#include "gpu_step.h"
#include "memory.h"
#include "plan_int.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const sfu__gpu_rate_names[SFU__GPU_RATE_COUNT][2] = {
    {"launch", "us"},
    {"copy to the device", "GB/s"},
    {"copy from the device", "GB/s"},
    {"write memory", "GB/s"},
    {"gather rows of 64 bytes, L2", "GB/s"},
    {"gather rows of 256 bytes, L2", "GB/s"},
    {"gather rows of 64 bytes, memory", "GB/s"},
    {"gather rows of 256 bytes, memory", "GB/s"},
    {"gemm", "GFLOP/s"},
    {"dropout, per value", "ns"},
    {"adam, per parameter", "ns"},
};

/* Sizes per multiprocessor, so that large devices are filled and small ones are done soon. */
enum {
    THREADS = 256,
    WAVES = 4,               /* blocks per block that runs at once, as the executor has them */
    ROW_ENTRIES = 64,        /* of a matrix that is gathered from: one chain */
    GATHERED_ROWS = 1 << 13, /* per multiprocessor */
    COPIED_BYTES = 1 << 17,  /* likewise, as the next four */
    OPERAND_BYTES = 1 << 22,
    GEMM_ROWS = 1 << 7,
    DRAWN_ROWS = 1 << 9,
    PARAMETERS = 1 << 15,
    GEMM_WIDTH = 256,
    DRAWN_WIDTH = 64
};
enum { STEP_GEMM, STEP_DROPOUT, STEP_ADAM, STEPS };
enum { MATRICES = SFU__GPU_LEVELS * SFU__GPU_ROW_WIDTHS };
static const int quads_of[SFU__GPU_ROW_WIDTHS] = {4, 16}; /* 16 bytes each */

typedef struct session {
    sfu__gpu *gpu;
    sfu__gpu_stream *stream;
    sfu__gpu_event *begin, *end;
    sfu__gpu_kernel step, gather, probe;
    int step_blocks, gather_blocks;
    int64_t units;                    /* multiprocessors */
    int64_t operand[SFU__GPU_LEVELS]; /* bytes that are gathered from */
    sfu__gpu_image image;
    size_t program_at;
    int64_t floats;                            /* of the steps */
    uint64_t program, memory, job, rows, sums; /* addresses; program: of the image */
    void *host;                                /* page-locked, to copy */
    int part;                                  /* number of the step or of the matrix that is timed */
} session;

/* ---- the program ------------------------------------------------------------------------------------------------- */

static int64_t reserve(session *self, int64_t floats) {
    const int64_t at = self->floats;
    self->floats += (floats + 31) / 32 * 32;
    return at;
}

static sfu__gpu_operand take(session *self, int64_t rows, int32_t cols) {
    return (sfu__gpu_operand){.offset = reserve(self, rows * cols), .rows = (int32_t)rows, .cols = cols, .ld = cols};
}

static void make_steps(sfu__gpu_step steps[STEPS], sfu__gpu_program *program, session *self) {
    const int64_t rows = self->units * GEMM_ROWS, drawn = self->units * DRAWN_ROWS, size = self->units * PARAMETERS;
    steps[STEP_GEMM] = sfu__gpu_step_of(SFU__GPU_GEMM, rows);
    steps[STEP_GEMM].c = take(self, rows, GEMM_WIDTH);
    steps[STEP_GEMM].a = take(self, rows, GEMM_WIDTH);
    steps[STEP_GEMM].b = take(self, GEMM_WIDTH, GEMM_WIDTH);
    steps[STEP_DROPOUT] = sfu__gpu_step_of(SFU__GPU_DROPOUT_DENSE, drawn);
    steps[STEP_DROPOUT].mask = 0;
    steps[STEP_DROPOUT].c = take(self, drawn, DRAWN_WIDTH);
    steps[STEP_DROPOUT].a = take(self, drawn, DRAWN_WIDTH);
    steps[STEP_ADAM] = sfu__gpu_step_of(SFU__GPU_ADAM, size);
    steps[STEP_ADAM].c.offset = 0;
    program->size = size;
    program->theta = reserve(self, size);
    program->m = reserve(self, size);
    program->v = reserve(self, size);
    program->gradient = reserve(self, size);
    program->passes[SFU_PASS_TRAIN].step_count = STEPS;
    program->memory = self->floats;
}

/* A matrix whose product gathers rows of this width at random from all of the operand. */
static sfu_status add_matrix(session *self, size_t at, int level, int width) {
    sfu_status status = SFU_OK;
    const int64_t rows = self->units * GATHERED_ROWS / ROW_ENTRIES, entries = rows * ROW_ENTRIES;
    const int64_t cols = self->operand[level] / (16 * (int64_t)quads_of[width]);
    sfu__random random = sfu__random_start(1, sfu__stream_of(SFU__STREAM_GENERATE, (uint32_t)(level * 2 + width)));
    sfu__gpu_layout layout = {0};
    int64_t *indptr = NULL;
    int32_t *indices = NULL;
    float *values = NULL;
    SFU_ALLOC(indptr, rows + 1);
    SFU_ALLOC(indices, entries);
    SFU_ALLOC_ZERO(values, entries);
    for (int64_t i = 0; i <= rows; i++) {
        indptr[i] = i * ROW_ENTRIES;
    }
    for (int64_t i = 0; i < entries; i++) {
        indices[i] = (int32_t)sfu__random_below(&random, (uint64_t)cols);
    }
    const sfu__sparse matrix = {
        .indptr = indptr, .indices = indices, .values = values, .rows = (int32_t)rows, .cols = (int32_t)cols};
    SFU_TRY(sfu__gpu_layout_make(&layout, &self->image, &(sfu__gpu_source){.matrix = &matrix}));
    SFU_TRY(sfu__gpu_layout_write(&layout, &self->image, at));
done:
    sfu__gpu_layout_clear(&layout);
    sfu__free(indptr);
    sfu__free(indices);
    sfu__free(values);
    return status;
}

static sfu_status make_image(session *self) {
    sfu_status status = SFU_OK;
    sfu__gpu_image *image = &self->image;
    sfu__gpu_program program = {0};
    sfu__gpu_step steps[STEPS];
    const float corrections[2][2] = {{1.0F, 1.0F}, {1.0F, 1.0F}}; /* of epochs 0 and 1 */
    size_t matrices_at;
    make_steps(steps, &program, self);
    SFU_TRY(sfu__gpu_image_add(&self->program_at, image, &program, sizeof program));
    const size_t pass_at = self->program_at + offsetof(sfu__gpu_program, passes);
    SFU_TRY(sfu__gpu_image_array(image, pass_at + offsetof(sfu__gpu_pass, steps), steps, sizeof steps));
    SFU_TRY(sfu__gpu_image_array(image, self->program_at + offsetof(sfu__gpu_program, corrections), corrections,
                                 sizeof corrections));
    SFU_TRY(sfu__gpu_image_add(&matrices_at, image, NULL, MATRICES * sizeof(sfu__gpu_matrix)));
    SFU_TRY(sfu__gpu_image_point(image, self->program_at + offsetof(sfu__gpu_program, matrices), matrices_at));
    for (int i = 0; i < MATRICES; i++) {
        SFU_TRY(add_matrix(self, matrices_at + (size_t)i * sizeof(sfu__gpu_matrix), i / SFU__GPU_ROW_WIDTHS,
                           i % SFU__GPU_ROW_WIDTHS));
    }
done:
    return status;
}

/* ---- on the device ----------------------------------------------------------------------------------------------- */

static sfu_status find_kernels(session *self) {
    sfu_status status = SFU_OK;
    const sfu__gpu_shape shape = {.threads = THREADS};
    SFU_TRY(sfu__gpu_find_kernel(self->gpu, &self->step, "sfu_run_step"));
    SFU_TRY(sfu__gpu_find_kernel(self->gpu, &self->gather, "sfu_gather_only"));
    SFU_TRY(sfu__gpu_find_kernel(self->gpu, &self->probe, "sfu_probe"));
    SFU_TRY(sfu__gpu_blocks_at_once(self->gpu, &self->step_blocks, &self->step, &shape));
    SFU_TRY(sfu__gpu_blocks_at_once(self->gpu, &self->gather_blocks, &self->gather, &shape));
done:
    return status;
}

static sfu_status allocate(session *self) {
    sfu_status status = SFU_OK;
    const int64_t chains = self->units * GATHERED_ROWS / ROW_ENTRIES;
    const int64_t bytes = self->floats * (int64_t)sizeof(float);
    SFU_TRY(sfu__gpu_alloc(self->gpu, &self->program, (int64_t)self->image.size));
    SFU_TRY(sfu__gpu_alloc(self->gpu, &self->memory, bytes));
    SFU_TRY(sfu__gpu_alloc(self->gpu, &self->job, sizeof(sfu__gpu_job)));
    SFU_TRY(sfu__gpu_alloc(self->gpu, &self->rows, self->operand[SFU__GPU_RAM]));
    SFU_TRY(sfu__gpu_alloc(self->gpu, &self->sums, chains * 16 * quads_of[SFU__GPU_ROW_WIDTHS - 1]));
    SFU_TRY(sfu__gpu_alloc_host(self->gpu, &self->host, self->units * COPIED_BYTES));
    memset(self->host, 0, (size_t)(self->units * COPIED_BYTES));
    SFU_TRY(sfu__gpu_clear(self->gpu, self->memory, bytes, self->stream));
    SFU_TRY(sfu__gpu_clear(self->gpu, self->rows, self->operand[SFU__GPU_RAM], self->stream));
    SFU_TRY(sfu__gpu_stream_wait(self->gpu, self->stream));
done:
    return status;
}

static sfu_status upload(session *self) {
    sfu_status status = SFU_OK;
    sfu__gpu_job job = {.lr = 0.01F, .memory = (float *)(uintptr_t)self->memory};
    job.thresholds[0] = sfu__dropout_threshold(0.5);
    sfu__gpu_image_place(&self->image, self->program);
    SFU_TRY(sfu__gpu_upload(self->gpu, self->program, self->image.bytes, (int64_t)self->image.size, NULL));
    SFU_TRY(sfu__gpu_upload(self->gpu, self->job, &job, sizeof job, NULL));
    sfu__gpu_image_clear(&self->image);
done:
    return status;
}

static sfu_status open_session(session *self, sfu__device device) {
    sfu_status status = SFU_OK;
    int64_t free_bytes = 0;
    SFU_TRY(sfu__gpu_open(&self->gpu, device.ordinal > 0 ? device.ordinal : 0));
    const sfu__gpu_facts *facts = sfu__gpu_facts_of(self->gpu);
    SFU_TRY(sfu__gpu_free_bytes(self->gpu, &free_bytes));
    self->units = facts->multiprocessors;
    const double most = fmin((double)self->units * OPERAND_BYTES, (double)free_bytes / 4);
    self->operand[SFU__GPU_RAM] = (int64_t)fmin(8.0 * (double)facts->l2_bytes, most) / 256 * 256;
    self->operand[SFU__GPU_L2] = (int64_t)fmin((double)facts->l2_bytes / 4, most) / 256 * 256;
    if (self->operand[SFU__GPU_L2] < 256) {
        status = sfu__fail(SFU_ERR_MEMORY, "cuda:%d (%s): %.3f GB of device memory are free, too few to measure it",
                           facts->ordinal, facts->name, 1e-9 * (double)free_bytes);
        goto done;
    }
    SFU_TRY(sfu__gpu_stream_new(self->gpu, &self->stream));
    SFU_TRY(sfu__gpu_event_new(self->gpu, &self->begin));
    SFU_TRY(sfu__gpu_event_new(self->gpu, &self->end));
    SFU_TRY(find_kernels(self));
    SFU_TRY(make_image(self));
    SFU_TRY(allocate(self));
    SFU_TRY(upload(self));
done:
    return status;
}

static void close_session(session *self) {
    if (self->gpu == NULL) {
        return;
    }
    const uint64_t addresses[] = {self->program, self->memory, self->job, self->rows, self->sums};
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        sfu__gpu_free(self->gpu, addresses[i]);
    }
    sfu__gpu_free_host(self->gpu, self->host);
    sfu__gpu_event_free(self->gpu, self->begin);
    sfu__gpu_event_free(self->gpu, self->end);
    sfu__gpu_stream_free(self->gpu, self->stream);
    sfu__gpu_image_clear(&self->image);
    sfu__gpu_close(self->gpu);
}

/* ---- what is timed ----------------------------------------------------------------------------------------------- */

static sfu_status run_probe(session *self) {
    uint64_t to = self->sums;
    int value = 1;
    return sfu__gpu_launch(self->gpu, &self->probe, &(sfu__gpu_shape){.blocks = 1, .threads = 1}, self->stream,
                           (void *[]){&to, &value});
}

static sfu_status run_upload(session *self) {
    return sfu__gpu_upload(self->gpu, self->memory, self->host, self->units * COPIED_BYTES, self->stream);
}

static sfu_status run_download(session *self) {
    return sfu__gpu_download(self->gpu, self->host, self->memory, self->units * COPIED_BYTES, self->stream);
}

static sfu_status run_write(session *self) {
    return sfu__gpu_clear(self->gpu, self->rows, self->operand[SFU__GPU_RAM], self->stream);
}

static sfu_status run_gather(session *self) {
    uint64_t program = self->program + self->program_at, from = self->rows, to = self->sums;
    int matrix = self->part, quads = quads_of[self->part % SFU__GPU_ROW_WIDTHS];
    const sfu__gpu_shape shape = {.blocks = WAVES * self->gather_blocks, .threads = THREADS};
    return sfu__gpu_launch(self->gpu, &self->gather, &shape, self->stream,
                           (void *[]){&program, &matrix, &from, &to, &quads});
}

static sfu_status run_step(session *self) {
    uint64_t program = self->program + self->program_at, job = self->job;
    int pass = SFU_PASS_TRAIN, step = self->part, phase = 0;
    unsigned epoch = 1;
    const sfu__gpu_shape shape = {.blocks = WAVES * self->step_blocks, .threads = THREADS};
    return sfu__gpu_launch(self->gpu, &self->step, &shape, self->stream,
                           (void *[]){&program, &job, &pass, &step, &phase, &epoch});
}

/* ---- timing ------------------------------------------------------------------------------------------------------ */

static sfu_status time_runs(double *seconds, session *self, sfu_status (*run)(session *), int runs) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__gpu_event_record(self->gpu, self->begin, self->stream));
    for (int i = 0; i < runs; i++) {
        SFU_TRY(run(self));
    }
    SFU_TRY(sfu__gpu_event_record(self->gpu, self->end, self->stream));
    SFU_TRY(sfu__gpu_event_wait(self->gpu, self->end));
    SFU_TRY(sfu__gpu_event_seconds(self->gpu, seconds, self->begin, self->end));
    *seconds /= runs;
done:
    return status;
}

/* The best of several rounds of many runs, so that the launches overlap. */
static sfu_status best_seconds(double *best, session *self, sfu_status (*run)(session *)) {
    enum { RUNS = 50, ROUNDS_LEAST = 2, ROUNDS = 10 };
    static const double round_seconds = 2e-3, all_seconds = 0.05;
    sfu_status status = SFU_OK;
    double one = 0;
    SFU_TRY(time_runs(&one, self, run, 1)); /* the first run may be slow */
    SFU_TRY(time_runs(&one, self, run, 1));
    const int runs = (int)fmax(1.0, fmin(RUNS, round_seconds / (one + 1e-9)));
    const int rounds = (int)fmax(ROUNDS_LEAST, fmin(ROUNDS, all_seconds / (runs * one + 1e-9)));
    *best = INFINITY;
    for (int i = 0; i < rounds; i++) {
        SFU_TRY(sfu__poll());
        SFU_TRY(time_runs(&one, self, run, runs));
        *best = fmin(*best, one);
    }
    *best = fmax(*best, 1e-9); /* below the resolution of the events */
done:
    return status;
}

/* Seconds of a run, and what it has processed, as a rate. */
static double rate_of(int rate, double seconds, const session *self) {
    const double units = (double)self->units;
    switch (rate) {
    case SFU__GPU_RATE_LAUNCH:
        return 1e6 * seconds;
    case SFU__GPU_RATE_UPLOAD:
    case SFU__GPU_RATE_DOWNLOAD:
        return 1e-9 * units * COPIED_BYTES / seconds;
    case SFU__GPU_RATE_WRITE:
        return 1e-9 * (double)self->operand[SFU__GPU_RAM] / seconds;
    case SFU__GPU_RATE_GEMM:
        return 2e-9 * units * GEMM_ROWS * GEMM_WIDTH * GEMM_WIDTH / seconds;
    case SFU__GPU_RATE_DRAW:
        return 1e9 * seconds / (units * DRAWN_ROWS * DRAWN_WIDTH);
    case SFU__GPU_RATE_ADAM:
        return 1e9 * seconds / (units * PARAMETERS);
    default:
        return 16e-9 * units * GATHERED_ROWS * quads_of[self->part % SFU__GPU_ROW_WIDTHS] / seconds;
    }
}

static sfu_status measure(sfu__gpu_measured *measured, session *self, int rate) {
    sfu_status status = SFU_OK;
    static sfu_status (*const copies[])(session *) = {run_probe, run_upload, run_download, run_write};
    const bool gathers = rate >= SFU__GPU_RATE_GATHER && rate < SFU__GPU_RATE_GEMM;
    double seconds = 0;
    self->part = gathers ? rate - SFU__GPU_RATE_GATHER : rate - SFU__GPU_RATE_GEMM;
    SFU_TRY(best_seconds(&seconds, self, rate < SFU__GPU_RATE_GATHER ? copies[rate] : gathers ? run_gather : run_step));
    measured->rates[rate] = rate_of(rate, seconds, self);
done:
    return status;
}

sfu_status sfu__measure_gpu(sfu__gpu_measured *measured, sfu__device device, sfu__ticker *ticker) {
    sfu_status status = SFU_OK;
    session self = {0};
    const sfu__watch before = sfu__watch_start(ticker->callback, ticker->user, ticker->what);
    *measured = (sfu__gpu_measured){0};
    ticker->total = SFU__GPU_RATE_COUNT;
    SFU_TRY(open_session(&self, device));
    const sfu__gpu_facts *facts = sfu__gpu_facts_of(self.gpu);
    snprintf(measured->device, sizeof measured->device, "cuda:%d (%s)", facts->ordinal, facts->name);
    measured->l2_bytes = (double)facts->l2_bytes;
    for (int i = 0; i < SFU__GPU_RATE_COUNT; i++) {
        SFU_TRY(sfu__tick(ticker, i));
        SFU_TRY(measure(measured, &self, i));
    }
    SFU_TRY(sfu__tick(ticker, ticker->total));
done:
    close_session(&self);
    sfu__watch_end(before);
    return status;
}

double sfu__gpu_gather_rate(const sfu__gpu_measured *measured, int32_t width, double bytes) {
    const int level = bytes <= measured->l2_bytes ? SFU__GPU_L2 : SFU__GPU_RAM, row = width <= SFU__NARROW ? 0 : 1;
    return measured->rates[SFU__GPU_RATE_GATHER + level * SFU__GPU_ROW_WIDTHS + row];
}
