/* gpu_smoothing.c - the smoothing step S H of a large random graph on a GPU: seconds and gathered GB/s, beside a kernel
 * that only gathers the same rows, which is the ceiling.
 *
 *   usage: gpu_smoothing [--nodes N] [--edges N] [--width N] [--blocks N] [--runs N]
 *
 * The graph has N nodes (4 M) and as many entries as N undirected edges have (100 M), in random columns; the width (64)
 * is a multiple of 4;
 * --blocks: blocks per multiprocessor (default: as the executor has them); --runs 0 makes and uploads the layout alone.
 * A sample of rows is checked against the host. Also prints how long the layout took, and the peak memory.
 */
#define _GNU_SOURCE
#include "clock.h"
#include "gpu.h"
#include "gpu_layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct options {
    int64_t nodes, edges, width, blocks, runs;
} options;

static void must(sfu_status status) {
    if (status != SFU_OK) {
        fprintf(stderr, "gpu_smoothing: %s\n", sfu_message());
        exit(1);
    }
}

static void *filled(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "gpu_smoothing: no memory for %zu items\n", count);
        exit(1);
    }
    return memory;
}

static double peak_gb(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1e-9 * 1024 * (double)usage.ru_maxrss;
}

/* ---- the graph --------------------------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t x) { /* splitmix64 */
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
static int32_t neighbour_of(int64_t entry, int64_t nodes) {
    return (int32_t)((mixed((uint64_t)entry) >> 32) * (uint64_t)nodes >> 32);
}

/* The weight of the degree of a node: between 0.25 and 1.75, and twenty times that for one in a thousand. */
static double weight_of(int64_t node) {
    const uint64_t random = mixed(~(uint64_t)node);
    return (0.25 + 1.5 * (double)(random >> 40) * 0x1p-24) * (random % 1000 == 0 ? 20 : 1);
}

/* Random neighbours, written in order: a symmetric graph would gather the same, and take minutes to make. The values
 * are 1 / degree. */
static sfu__sparse graph_of(const options *options) {
    const int64_t nodes = options->nodes, entries = 2 * options->edges;
    int64_t *indptr = filled((size_t)nodes + 1, sizeof *indptr);
    int32_t *indices = filled((size_t)entries, sizeof *indices);
    float *values = filled((size_t)entries, sizeof *values);
    double all = 0, sum = 0;
    for (int64_t i = 0; i < nodes; i++) {
        all += weight_of(i);
    }
    for (int64_t i = 0; i < nodes; i++) {
        sum += weight_of(i);
        indptr[i + 1] = i + 1 < nodes ? (int64_t)(sum / all * (double)entries) : entries;
        for (int64_t e = indptr[i]; e < indptr[i + 1]; e++) {
            indices[e] = neighbour_of(e, nodes);
            values[e] = 1.0F / (float)(indptr[i + 1] - indptr[i]);
        }
    }
    return (sfu__sparse){
        .indptr = indptr, .indices = indices, .values = values, .rows = (int32_t)nodes, .cols = (int32_t)nodes};
}

/* ---- the program: one step --------------------------------------------------------------------------------------- */

typedef struct on_device {
    sfu__gpu *gpu;
    sfu__gpu_stream *stream;
    sfu__gpu_event *begin, *end;
    uint64_t image, memory, job, program, sums;
    int32_t chains;
    int64_t c; /* offset of the result, in floats */
    int phases;
} on_device;

static int64_t lines(int64_t floats) { return (floats + 31) / 32 * 32; }

static void load(on_device *to, const sfu__sparse *S, int64_t width) {
    sfu__gpu_image image = {0};
    sfu__gpu_layout layout = {0};
    size_t program_at, step_at, matrix_at;
    const double started = sfu__now();
    must(sfu__gpu_layout_make(&layout, &image, &(sfu__gpu_source){.matrix = S}));
    printf("layout: %.2f s, image %.2f GB, peak memory %.2f GB\n", sfu__now() - started, 1e-9 * (double)image.size,
           peak_gb());
    const int64_t c = lines(S->cols * width), scratch = c + lines(S->rows * width);
    const int32_t ld = (int32_t)width;
    const sfu__gpu_step step = {.kernel = SFU__GPU_SPMM,
                                .phases = 1 + (layout.head.long_count > 0),
                                .mask = SFU__GPU_NO_MASK,
                                .c = {.offset = c, .rows = S->rows, .cols = ld, .ld = ld},
                                .a = {.offset = -1},
                                .b = {.offset = 0, .rows = S->cols, .cols = ld, .ld = ld},
                                .bias = -1,
                                .keep = -1,
                                .source_keep = -1,
                                .learned_values = -1,
                                .scratch = scratch};
    sfu__gpu_program program = {.memory = scratch + lines(layout.head.part_count * width)};
    program.passes[0].step_count = 1;
    must(sfu__gpu_image_add(&program_at, &image, &program, sizeof program));
    must(sfu__gpu_image_add(&step_at, &image, &step, sizeof step));
    must(sfu__gpu_image_add(&matrix_at, &image, NULL, sizeof(sfu__gpu_matrix)));
    must(sfu__gpu_image_point(&image, program_at + offsetof(sfu__gpu_program, passes[0].steps), step_at));
    must(sfu__gpu_image_point(&image, program_at + offsetof(sfu__gpu_program, matrices), matrix_at));
    must(sfu__gpu_layout_write(&layout, &image, matrix_at));
    must(sfu__gpu_alloc(to->gpu, &to->image, (int64_t)image.size));
    must(sfu__gpu_alloc(to->gpu, &to->memory, program.memory * 4));
    must(sfu__gpu_alloc(to->gpu, &to->job, sizeof(sfu__gpu_job)));
    must(sfu__gpu_alloc(to->gpu, &to->sums, layout.head.chain_count * width * 4));
    sfu__gpu_image_place(&image, to->image);
    must(sfu__gpu_upload(to->gpu, to->image, image.bytes, (int64_t)image.size, NULL));
    const sfu__gpu_job job = {.memory = (float *)(uintptr_t)to->memory};
    must(sfu__gpu_upload(to->gpu, to->job, &job, sizeof job, NULL));
    to->program = to->image + program_at;
    to->chains = layout.head.chain_count;
    to->c = c;
    to->phases = step.phases;
    sfu__gpu_layout_clear(&layout);
    sfu__gpu_image_clear(&image);
}

/* ---- measurements ------------------------------------------------------------------------------------------------ */

static void smooth(const on_device *on, const sfu__gpu_kernel *kernel, const sfu__gpu_shape *shape) {
    uint64_t program = on->program, job = on->job;
    int zero = 0;
    unsigned epoch = 1;
    for (int phase = 0; phase < on->phases; phase++) {
        must(sfu__gpu_launch(on->gpu, kernel, shape, on->stream,
                             (void *[]){&program, &job, &zero, &zero, &phase, &epoch}));
    }
}

static void gather(const on_device *on, const sfu__gpu_kernel *kernel, const sfu__gpu_shape *shape, int quads) {
    uint64_t program = on->program, b = on->memory, c = on->sums;
    int matrix = 0;
    must(sfu__gpu_launch(on->gpu, kernel, shape, on->stream, (void *[]){&program, &matrix, &b, &c, &quads}));
}

static void measure(on_device *on, const options *options, bool product) {
    sfu__gpu_kernel kernel;
    sfu__gpu_shape shape = {.threads = 256};
    const double gathered = 2e-9 * (double)options->edges * (double)options->width * 4;
    double best = INFINITY, all = 0;
    must(sfu__gpu_find_kernel(on->gpu, &kernel, product ? "sfu_run_step" : "sfu_gather_only"));
    must(sfu__gpu_blocks_at_once(on->gpu, &shape.blocks, &kernel, &shape));
    const int at_once = shape.blocks, processors = sfu__gpu_facts_of(on->gpu)->multiprocessors;
    shape.blocks = options->blocks > 0 ? (int)options->blocks * processors : 4 * at_once;
    for (int64_t run = -1; run < options->runs; run++) {
        double seconds;
        must(sfu__gpu_event_record(on->gpu, on->begin, on->stream));
        if (product) {
            smooth(on, &kernel, &shape);
        } else {
            gather(on, &kernel, &shape, (int)(options->width / 4));
        }
        must(sfu__gpu_event_record(on->gpu, on->end, on->stream));
        must(sfu__gpu_event_wait(on->gpu, on->end));
        must(sfu__gpu_event_seconds(on->gpu, &seconds, on->begin, on->end));
        all += run >= 0 ? seconds / (double)options->runs : 0;
        best = run >= 0 && seconds < best ? seconds : best;
    }
    printf("%-8s %9.3f ms (mean %.3f), %8.1f GB/s of gathered rows; %d blocks, %d at once\n",
           product ? "smooth" : "gather", 1e3 * best, 1e3 * all, gathered / best, shape.blocks, at_once);
}

/* Some rows, with sums in double. */
static void check(const on_device *on, const sfu__sparse *S, const float *H, int64_t width) {
    enum { ROWS = 100 };
    float *row = filled((size_t)width, sizeof *row);
    double worst = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        const int64_t at = i * (S->rows - 1) / (ROWS - 1);
        must(sfu__gpu_download(on->gpu, row, on->memory + (uint64_t)(on->c + at * width) * 4, width * 4, NULL));
        for (int64_t k = 0; k < width; k++) {
            double sum = 0;
            for (int64_t e = S->indptr[at]; e < S->indptr[at + 1]; e++) {
                sum += (double)S->values[e] * (double)H[S->indices[e] * width + k];
            }
            worst = fabs(sum - (double)row[k]) > worst ? fabs(sum - (double)row[k]) : worst;
        }
    }
    printf("check: %d rows, largest difference %.2g\n", ROWS, worst);
    free(row);
    if (!(worst < 1e-4)) {
        exit(1);
    }
}

int main(int count, char **words) {
    options options = {.nodes = 4000000, .edges = 100000000, .width = 64, .runs = 20};
    on_device on = {0};
    for (int i = 1; i + 1 < count; i += 2) {
        int64_t *to = strcmp(words[i], "--nodes") == 0    ? &options.nodes
                      : strcmp(words[i], "--edges") == 0  ? &options.edges
                      : strcmp(words[i], "--width") == 0  ? &options.width
                      : strcmp(words[i], "--blocks") == 0 ? &options.blocks
                      : strcmp(words[i], "--runs") == 0   ? &options.runs
                                                          : NULL;
        if (to == NULL) {
            fprintf(stderr, "gpu_smoothing: unknown option %s\n", words[i]);
            return 2;
        }
        *to = strtoll(words[i + 1], NULL, 10);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    const double started = sfu__now();
    const sfu__sparse S = graph_of(&options);
    printf("graph: %lld nodes, %lld entries, %.2f GB, made in %.2f s\n", (long long)options.nodes,
           (long long)(2 * options.edges), 1.6e-8 * (double)options.edges, sfu__now() - started);
    must(sfu__gpu_open(&on.gpu, 0));
    must(sfu__gpu_stream_new(on.gpu, &on.stream));
    must(sfu__gpu_event_new(on.gpu, &on.begin));
    must(sfu__gpu_event_new(on.gpu, &on.end));
    load(&on, &S, options.width);
    float *H = filled((size_t)(options.nodes * options.width), sizeof *H);
    for (int64_t i = 0; i < options.nodes * options.width; i++) {
        H[i] = (float)(mixed((uint64_t)i) >> 40) * 0x1p-24F;
    }
    must(sfu__gpu_upload(on.gpu, on.memory, H, options.nodes * options.width * 4, NULL));
    if (options.runs > 0) {
        measure(&on, &options, true);
        measure(&on, &options, false);
        check(&on, &S, H, options.width);
    }
    sfu__gpu_free(on.gpu, on.image);
    sfu__gpu_free(on.gpu, on.memory);
    sfu__gpu_free(on.gpu, on.job);
    sfu__gpu_free(on.gpu, on.sums);
    sfu__gpu_event_free(on.gpu, on.begin);
    sfu__gpu_event_free(on.gpu, on.end);
    sfu__gpu_stream_free(on.gpu, on.stream);
    sfu__gpu_close(on.gpu);
    free(H);
    free((void *)(uintptr_t)S.indptr);
    free((void *)(uintptr_t)S.indices);
    free((void *)(uintptr_t)S.values);
    return 0;
}
