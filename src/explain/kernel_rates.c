/* kernel_rates.c - measures the rates of sfu__rates by timing the backend's kernels.
 *
 * Each kernel runs on synthetic operands with the widths and sizes of the table axes. The time of a kernel depends on
 * shapes and indices, not on values, so all values are equal.
 */
#include "memory.h"
#include "cpu_matrix.h"
#include "random.h"
#include "rates.h"

#include <math.h>
#include <string.h>

enum { ALIGN = 64, ENTRIES = 1 << 15, ENTRIES_FAR = 1 << 20, ROW_ENTRIES = 16, SHORT_ROW_ENTRIES = 4 };
enum { ROWS = 512, INNER = 64, INNER_SHORT = 8, LABELS = 1 << 15 };
enum { HALF = 32768 }; /* threshold of a mask that drops half of the values */

/* Operands of the kernels. */
typedef struct bench_scratch {
    const sfu__backend *backend;
    float *memory;       /* holds the dense matrices */
    float *a, *b, *c;    /* a and c: space for the widest result, b: for the largest operand */
    int64_t b_floats;    /* floats of b */
    int64_t *indptr;     /* of A, with rows of ROW_ENTRIES or SHORT_ROW_ENTRIES entries */
    int32_t *indices;    /* [ENTRIES_FAR + 16] */
    int32_t *value_perm; /* [ENTRIES] */
    float *values;       /* [ENTRIES_FAR] */
    int32_t *labels;     /* [LABELS] */
    sfu__score scores[64];
    sfu__sparse A; /* operands of the current job */
    sfu__dense left, right, to;
    sfu__mask mask;
    sfu__adam adam;
} bench_scratch;

static void scratch_clear(bench_scratch *scratch) {
    sfu__free(scratch->memory);
    sfu__free(scratch->indptr);
    sfu__free(scratch->indices);
    sfu__free(scratch->value_perm);
    sfu__free(scratch->values);
    sfu__free(scratch->labels);
}

static sfu_status scratch_make(bench_scratch *scratch, const sfu__backend *backend, double largest_operand) {
    sfu_status status = SFU_OK;
    const int64_t side = (int64_t)ENTRIES_FAR / ROW_ENTRIES * 64; /* result of the spmm that exceeds the caches */
    *scratch = (bench_scratch){.backend = backend, .b_floats = (int64_t)(largest_operand / sizeof(float))};
    const int64_t floats = 2 * side + scratch->b_floats + ALIGN;
    SFU_ALLOC(scratch->memory, floats);
    SFU_ALLOC(scratch->indptr, ENTRIES_FAR / SHORT_ROW_ENTRIES + 1);
    SFU_ALLOC_ZERO(scratch->indices, ENTRIES_FAR + 16);
    SFU_ALLOC(scratch->value_perm, ENTRIES);
    SFU_ALLOC(scratch->values, ENTRIES_FAR);
    SFU_ALLOC(scratch->labels, LABELS);
    scratch->a = scratch->memory + (ALIGN - (uintptr_t)scratch->memory % ALIGN) % ALIGN / sizeof(float);
    scratch->c = scratch->a + side;
    scratch->b = scratch->c + side;
    for (int64_t i = 0; i < floats; i++) {
        scratch->memory[i] = 0.125F;
    }
    for (int64_t e = 0; e < ENTRIES_FAR; e++) {
        scratch->values[e] = 0.125F;
    }
    for (int32_t i = 0; i < LABELS; i++) {
        scratch->labels[i] = i % 3;
    }
    scratch->adam = (sfu__adam){0.01F, 5e-4F, 1.0F, 1.0F, -INFINITY, INFINITY}; /* as for weights */
done:
    if (status != SFU_OK) {
        scratch_clear(scratch);
        *scratch = (bench_scratch){0};
    }
    return status;
}

static sfu__dense dense_at(float *data, int64_t rows, int32_t width) {
    return (sfu__dense){data, (int32_t)rows, width, sfu__ld(width)};
}

/* A sparse matrix with `per_row` entries in each row. The columns are skewed like words and graph neighbours: the
 * fraction of entries below column x grows as sqrt(x). */
static void make_sparse(bench_scratch *scratch, int64_t entries, int64_t per_row, int64_t cols) {
    const int64_t rows = entries / per_row;
    sfu__random random = sfu__random_start(2, sfu__stream_of(SFU__STREAM_GENERATE, 0));
    for (int64_t i = 0; i <= rows; i++) {
        scratch->indptr[i] = i * per_row;
    }
    for (int64_t e = 0; e < entries; e++) {
        const double unit = sfu__random_unit(&random);
        scratch->indices[e] = (int32_t)((double)cols * unit * unit);
    }
    scratch->A = (sfu__sparse){.rows = (int32_t)rows,
                               .cols = (int32_t)cols,
                               .indptr = scratch->indptr,
                               .indices = scratch->indices,
                               .values = scratch->values};
}

/* ---- jobs ------------------------------------------------------------------------------------------------------- */

static sfu__range all_rows(const sfu__dense *matrix) { return (sfu__range){0, matrix->rows}; }

static void job_spmm(void *context) {
    bench_scratch *scratch = context;
    scratch->backend->spmm(&scratch->to, &scratch->A, &scratch->right, false, (sfu__range){0, scratch->A.rows});
}

static void job_gemm(void *context) {
    bench_scratch *scratch = context;
    scratch->backend->gemm(&scratch->to, &scratch->left, &scratch->right, all_rows(&scratch->left));
}

static void job_gemm_t(void *context) {
    bench_scratch *scratch = context;
    scratch->backend->gemm_t(scratch->c, &scratch->left, &scratch->right,
                             (sfu__range){0, sfu__block_count(scratch->left.rows)});
}

static void job_reduce_blocks(void *context) {
    bench_scratch *scratch = context;
    const int64_t count = (int64_t)scratch->to.rows * scratch->to.ld;
    scratch->backend->reduce_blocks(scratch->c, scratch->a, 4, count, (sfu__range){0, count});
}

static void job_transpose(void *context) {
    bench_scratch *scratch = context;
    const sfu__dense transposed = dense_at(scratch->a, scratch->to.cols, scratch->to.rows);
    scratch->backend->transpose(&transposed, &scratch->to, all_rows(&transposed));
}

static void job_dropout_sparse(void *context) {
    bench_scratch *scratch = context;
    scratch->backend->dropout_sparse(scratch->c, &scratch->A, NULL, &scratch->mask, (sfu__range){0, scratch->A.rows});
}

static void job_dropout_mask(void *context) {
    bench_scratch *scratch = context;
    scratch->backend->dropout_mask((uint8_t *)scratch->c, &scratch->A, NULL, &scratch->mask,
                                   (sfu__range){0, scratch->A.rows});
}

static void job_activate(void *context) {
    bench_scratch *scratch = context;
    scratch->backend->activate(&scratch->to, scratch->b, SFU__RELU, NULL, &scratch->mask, all_rows(&scratch->to));
}

static void job_activate_backward(void *context) {
    bench_scratch *scratch = context;
    scratch->backend->activate_backward(&scratch->to, &scratch->left, SFU__RELU, NULL, &scratch->mask,
                                        all_rows(&scratch->to));
}

static void job_softmax(void *context) {
    bench_scratch *scratch = context;
    scratch->backend->softmax(&scratch->to, scratch->b, all_rows(&scratch->to));
}

static void job_softmax_backward(void *context) {
    bench_scratch *scratch = context;
    scratch->backend->softmax_backward(&scratch->to, &scratch->left, all_rows(&scratch->to));
}

static void job_cross_entropy(void *context) {
    bench_scratch *scratch = context;
    const sfu__target target = {scratch->labels, NULL};
    scratch->backend->cross_entropy(scratch->scores, &scratch->to, false, &scratch->left, &target,
                                    (sfu__range){0, sfu__block_count(scratch->left.rows)});
}

static void job_axpy_rows(void *context) {
    bench_scratch *scratch = context;
    scratch->backend->axpy_rows(&scratch->to, &scratch->left, NULL, 0.1F, all_rows(&scratch->to));
}

static void job_adam(void *context) {
    bench_scratch *scratch = context;
    float *m = scratch->c + ENTRIES, *v = m + ENTRIES;
    scratch->backend->adam(scratch->c, m, v, scratch->a, &scratch->adam, (sfu__range){0, ENTRIES});
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

/* Nanoseconds per non-zero of spmm with these operands. */
static double spmm_ns(bench_scratch *scratch, int64_t entries, int64_t per_row, double operand, int32_t width) {
    make_sparse(scratch, entries, per_row, (int64_t)(operand / sizeof(float)) / width);
    scratch->right = dense_at(scratch->b, scratch->A.cols, width);
    scratch->to = dense_at(scratch->c, scratch->A.rows, width);
    return 1e9 * sfu__best_seconds(job_spmm, scratch) / (double)entries;
}

/* Time per non-zero without the overhead per row. On a busy machine the row overhead may seem to be everything, but a
 * non-zero is never free. */
static double without_row(double all, double row, double per_row) {
    const double each = all - row / per_row;
    return each > all / 4 ? each : all / 4;
}

/* spmm with a keep mask that drops every other value. */
static void measure_half_dropped(sfu__rates *rates, bench_scratch *scratch) {
    const int32_t width = sfu__rate_widths[SFU__WIDTHS - 1];
    scratch->mask = (sfu__mask){.seed = 2, .epoch = 1, .threshold = HALF};
    for (int s = 0; s < SFU__SIZES; s++) {
        const int64_t entries = s == SFU__SIZES - 1 ? ENTRIES_FAR : ENTRIES;
        make_sparse(scratch, entries, ROW_ENTRIES, (int64_t)(rates->size_bytes[s] / sizeof(float)) / width);
        scratch->backend->dropout_mask((uint8_t *)scratch->a, &scratch->A, NULL, &scratch->mask,
                                       (sfu__range){0, scratch->A.rows});
        scratch->A.keep_mask = (const uint8_t *)scratch->a;
        scratch->A.mask = &scratch->mask;
        scratch->right = dense_at(scratch->b, scratch->A.cols, width);
        scratch->to = dense_at(scratch->c, scratch->A.rows, width);
        const double all = 1e9 * sfu__best_seconds(job_spmm, scratch) / (double)entries;
        rates->half_dropped_ns[s] = without_row(all, rates->gather_row_ns[SFU__WIDTHS - 1], ROW_ENTRIES);
    }
}

/* spmm through value_perm, with values scattered over an array of each size, against values in order. Beyond L2 the L2
 * rate is used: neighbouring columns of a transpose share the cache lines of long rows. */
static void measure_value_perm(sfu__rates *rates, bench_scratch *scratch) {
    enum { WIDTH = 16, MEASURED = SFU__SIZE_L2 + 1 };
    sfu__random random = sfu__random_start(3, sfu__stream_of(SFU__STREAM_GENERATE, 0));
    make_sparse(scratch, ENTRIES, ROW_ENTRIES, ROWS);
    scratch->right = dense_at(scratch->a, ROWS, WIDTH);
    scratch->to = dense_at(scratch->c, scratch->A.rows, WIDTH);
    const double plain = sfu__best_seconds(job_spmm, scratch);
    scratch->A.values = scratch->b;
    scratch->A.value_perm = scratch->value_perm;
    for (int s = 0; s < SFU__SIZES; s++) {
        if (s < MEASURED) {
            const double values = rates->size_bytes[s] / sizeof(float);
            for (int64_t e = 0; e < ENTRIES; e++) {
                scratch->value_perm[e] = (int32_t)(values * sfu__random_unit(&random));
            }
            const double permuted = sfu__best_seconds(job_spmm, scratch);
            rates->value_perm_ns[s] = permuted > plain ? 1e9 * (permuted - plain) / ENTRIES : 0.0;
        } else {
            rates->value_perm_ns[s] = rates->value_perm_ns[MEASURED - 1];
        }
    }
}

/* spmm in CSC form: the rows of the matrix serve as the columns of a transpose, with one sum per row. There is no such
 * kernel for wider rows. */
static void measure_csc(sfu__rates *rates, bench_scratch *scratch) {
    enum { COLUMNS = ENTRIES / ROW_ENTRIES };
    for (int w = 0; w < SFU__WIDTHS; w++) {
        const int32_t width = sfu__rate_widths[w], near = (int32_t)(rates->size_bytes[0] / sizeof(float)) / width;
        const int32_t sums = near < COLUMNS ? near : COLUMNS;
        make_sparse(scratch, ENTRIES, ROW_ENTRIES, sums);
        for (int32_t i = 0; i < COLUMNS; i++) {
            scratch->value_perm[i] = ROW_ENTRIES;
        }
        uint16_t *numbers = (uint16_t *)(scratch->value_perm + COLUMNS); /* after the counts */
        for (int64_t e = 0; e < ENTRIES; e++) {
            numbers[e] = (uint16_t)scratch->indices[e];
        }
        const sfu__csc csc = {.end = COLUMNS,
                              .values = scratch->indptr,
                              .counts = scratch->value_perm,
                              .sums = numbers,
                              .sum_count = sums};
        scratch->A.rows = sums;
        scratch->A.cols = COLUMNS;
        scratch->A.csc = &csc;
        scratch->A.scratch = scratch->c + (int64_t)sums * width;
        scratch->right = dense_at(scratch->b, COLUMNS, width);
        scratch->to = dense_at(scratch->c, sums, width);
        if (width <= SFU__NARROW) {
            const double all = 1e9 * sfu__best_seconds(job_spmm, scratch) / ENTRIES;
            rates->csc_ns[w] = without_row(all, rates->gather_row_ns[w], (double)ENTRIES / sums);
        } else {
            rates->csc_ns[w] = 2.0 * rates->csc_ns[w - 1];
        }
    }
}

/* spmm with rows sorted by length: all have the same, so the order does not matter. As for a matrix without
 * single-valued rows. */
static double permuted_ns(bench_scratch *scratch, int64_t per_row, double operand, int32_t width) {
    uint16_t *indices16 = (uint16_t *)(scratch->value_perm + ENTRIES / SHORT_ROW_ENTRIES); /* after row_perm */
    make_sparse(scratch, ENTRIES, per_row, (int64_t)(operand / sizeof(float)) / width);
    for (int32_t i = 0; i < scratch->A.rows; i++) {
        scratch->value_perm[i] = i;
    }
    for (int64_t e = 0; e < ENTRIES; e++) {
        indices16[e] = (uint16_t)scratch->indices[e];
    }
    scratch->A.row_perm = scratch->value_perm;
    scratch->A.indices16 = indices16;
    scratch->right = dense_at(scratch->b, scratch->A.cols, width);
    scratch->to = dense_at(scratch->c, scratch->A.rows, width);
    return 1e9 * sfu__best_seconds(job_spmm, scratch) / ENTRIES;
}

static void measure_row_perm(sfu__rates *rates, bench_scratch *scratch) {
    for (int w = 0; w < SFU__WIDTHS; w++) {
        const int32_t width = sfu__rate_widths[w];
        rates->permuted_ns[w] = rates->gather_ns[0][w];
        rates->permuted_row_ns[w] = rates->gather_row_ns[w];
        if (width <= SFU__NARROW) {
            const double long_rows = permuted_ns(scratch, ROW_ENTRIES, rates->size_bytes[0], width);
            const double short_rows = permuted_ns(scratch, SHORT_ROW_ENTRIES, rates->size_bytes[0], width);
            const double row = (short_rows - long_rows) / (1.0 / SHORT_ROW_ENTRIES - 1.0 / ROW_ENTRIES);
            rates->permuted_row_ns[w] = row > 0.0 ? row : 0.0;
            rates->permuted_ns[w] = without_row(long_rows, rates->permuted_row_ns[w], ROW_ENTRIES);
        }
    }
}

/* The time of spmm per non-zero and per row, from two row lengths. */
static sfu_status measure_gathers(sfu__rates *rates, bench_scratch *scratch, sfu__ticker *ticker) {
    sfu_status status = SFU_OK;
    for (int w = 0; w < SFU__WIDTHS; w++) {
        const int32_t width = sfu__rate_widths[w];
        SFU_TRY(sfu__tick(ticker, SFU__MEMORY_LEVELS + w));
        const double middle = rates->size_bytes[SFU__SIZE_L2];
        const double long_rows = spmm_ns(scratch, ENTRIES, ROW_ENTRIES, middle, width);
        const double short_rows = spmm_ns(scratch, ENTRIES, SHORT_ROW_ENTRIES, middle, width);
        const double row = (short_rows - long_rows) / (1.0 / SHORT_ROW_ENTRIES - 1.0 / ROW_ENTRIES);
        rates->gather_row_ns[w] = row > 0.0 ? row : 0.0;
        for (int s = 0; s < SFU__SIZES; s++) {
            const int64_t entries = s == SFU__SIZES - 1 ? ENTRIES_FAR : ENTRIES;
            const double all =
                s == SFU__SIZE_L2 ? long_rows : spmm_ns(scratch, entries, ROW_ENTRIES, rates->size_bytes[s], width);
            rates->gather_ns[s][w] = without_row(all, rates->gather_row_ns[w], ROW_ENTRIES);
        }
    }
    measure_half_dropped(rates, scratch);
    measure_value_perm(rates, scratch);
    measure_csc(rates, scratch);
    measure_row_perm(rates, scratch);
done:
    return status;
}

/* The time of gemm per row and per inner index, from two inner dimensions. */
static void measure_products(sfu__rates *rates, bench_scratch *scratch, int w) {
    const int32_t width = sfu__rate_widths[w];
    scratch->to = dense_at(scratch->c, ROWS, width);
    scratch->left = dense_at(scratch->a, ROWS, INNER);
    scratch->right = dense_at(scratch->b, INNER, width);
    const double deep = 1e9 * sfu__best_seconds(job_gemm, scratch) / ROWS;
    scratch->left = dense_at(scratch->a, ROWS, INNER_SHORT);
    scratch->right = dense_at(scratch->b, INNER_SHORT, width);
    const double shallow = 1e9 * sfu__best_seconds(job_gemm, scratch) / ROWS;
    const double each = (deep - shallow) / (INNER - INNER_SHORT);
    rates->unit_ns[SFU__KERNEL_GEMM][w] = each > 0.0 ? each : deep / INNER;
    const double row = deep - INNER * rates->unit_ns[SFU__KERNEL_GEMM][w];
    rates->gemm_row_ns[w] = row > 0.0 ? row : 0.0;
    scratch->left = dense_at(scratch->a, ROWS, INNER);
    scratch->right = dense_at(scratch->b, ROWS, width);
    rates->unit_ns[SFU__KERNEL_GEMM_T][w] = 1e9 * sfu__best_seconds(job_gemm_t, scratch) / (ROWS * (double)INNER);
}

/* Kernels whose unit is a row. */
static void measure_rows(sfu__rates *rates, bench_scratch *scratch, int w) {
    static const struct {
        sfu__kernel kernel;
        void (*job)(void *context);
        double units; /* rows of one job */
    } jobs[] = {{SFU__KERNEL_REDUCE_BLOCKS, job_reduce_blocks, 4},
                {SFU__KERNEL_TRANSPOSE, job_transpose, 1},
                {SFU__KERNEL_ACTIVATE, job_activate, 1},
                {SFU__KERNEL_SOFTMAX, job_softmax, 1},
                {SFU__KERNEL_SOFTMAX_BACKWARD, job_softmax_backward, 1},
                {SFU__KERNEL_CROSS_ENTROPY, job_cross_entropy, 1},
                {SFU__KERNEL_AXPY_ROWS, job_axpy_rows, 1}};
    const int32_t width = sfu__rate_widths[w];
    const int64_t rows = ENTRIES / width;
    scratch->mask = (sfu__mask){.seed = 1, .epoch = 1};
    scratch->to = dense_at(scratch->c, rows, width);
    scratch->left = dense_at(scratch->a, rows, width);
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        const double seconds = sfu__best_seconds(jobs[i].job, scratch);
        rates->unit_ns[jobs[i].kernel][w] = 1e9 * seconds / ((double)rows * jobs[i].units);
    }
    rates->unit_ns[SFU__KERNEL_AXPY_ROWS_BACKWARD][w] = rates->unit_ns[SFU__KERNEL_AXPY_ROWS][w];
    scratch->mask.threshold = HALF; /* backward of a layer with dropout, the usual case */
    rates->unit_ns[SFU__KERNEL_ACTIVATE_BACKWARD][w] =
        1e9 * sfu__best_seconds(job_activate_backward, scratch) / (double)rows;
}

/* Rates that do not depend on the width of rows. The Philox groups are listed, as in a plan. */
static sfu_status measure_singles(sfu__rates *rates, bench_scratch *scratch) {
    sfu_status status = SFU_OK;
    sfu__cpu_matrix listed = {0};
    int64_t bytes;
    scratch->mask = (sfu__mask){.seed = 1, .epoch = 1};
    scratch->to = dense_at(scratch->c, ROWS, INNER);
    const double plain = sfu__best_seconds(job_activate, scratch);
    scratch->mask.threshold = HALF;
    const double drawn = sfu__best_seconds(job_activate, scratch);
    rates->draw_ns = drawn > plain ? 1e9 * (drawn - plain) / (ROWS * INNER) : 0.0;
    make_sparse(scratch, ENTRIES, ROW_ENTRIES, ROWS);
    listed.view = scratch->A;
    SFU_TRY(sfu__cpu_make_philox_groups(&listed, NULL, &bytes));
    scratch->A.philox_groups = listed.view.philox_groups;
    rates->unit_ns[SFU__KERNEL_DROPOUT_SPARSE][0] = 1e9 * sfu__best_seconds(job_dropout_sparse, scratch) / ENTRIES;
    rates->unit_ns[SFU__KERNEL_DROPOUT_MASK][0] = 1e9 * sfu__best_seconds(job_dropout_mask, scratch) / ENTRIES;
    for (int64_t i = 0; i < 3 * (int64_t)ENTRIES; i++) {
        scratch->c[i] = 0.125F;
    }
    rates->unit_ns[SFU__KERNEL_ADAM][0] = 1e9 * sfu__best_seconds(job_adam, scratch) / ENTRIES;
done:
    sfu__cpu_matrix_clear(&listed);
    scratch->A = (sfu__sparse){0};
    return status;
}

static void choose_sizes(sfu__rates *rates, const sfu__machine *machine, const sfu__memory_rates *memory) {
    const double *cache = machine->cache_bytes;
    double *size = rates->size_bytes;
    size[0] = cache[SFU__L1] / 2;
    size[2] = cache[SFU__L2] / 2;
    size[1] = cache[SFU__L1] * 2 < size[2] ? cache[SFU__L1] * 2 : sqrt(size[0] * size[2]);
    size[3] = cache[SFU__L2] * 2 < cache[SFU__L3] / 2 ? cache[SFU__L2] * 2 : cache[SFU__L2];
    size[4] = cache[SFU__L3] / 2 > size[3] ? cache[SFU__L3] / 2 : 1.5 * size[3];
    size[5] = memory->bytes[SFU__RAM] > size[4] ? memory->bytes[SFU__RAM] : 2 * size[4];
    static const int level[SFU__SIZES] = {SFU__L1, SFU__L2, SFU__L2, SFU__L3, SFU__L3, SFU__RAM};
    for (int i = 0; i < SFU__SIZES; i++) {
        rates->stream_ns[i] = sizeof(float) / memory->read[level[i]];
    }
}

/* `memory` has been measured before. */
static sfu_status measure_kernels(sfu__rates *rates, const sfu__backend *backend, const sfu__machine *machine,
                                  const sfu__memory_rates *memory, sfu__ticker *ticker) {
    sfu_status status = SFU_OK;
    bench_scratch scratch = {0};
    *rates = sfu__nominal_rates; /* defaults of what is not measured: learned smoothing, overhead per step */
    choose_sizes(rates, machine, memory);
    SFU_TRY(scratch_make(&scratch, backend, rates->size_bytes[SFU__SIZES - 1]));
    SFU_TRY(measure_gathers(rates, &scratch, ticker));
    for (int w = 0; w < SFU__WIDTHS; w++) {
        SFU_TRY(sfu__tick(ticker, SFU__MEMORY_LEVELS + SFU__WIDTHS + w));
        measure_products(rates, &scratch, w);
        measure_rows(rates, &scratch, w);
    }
    SFU_TRY(measure_singles(rates, &scratch));
done:
    scratch_clear(&scratch);
    return status;
}

sfu_status sfu__measure_machine(sfu__measured *measured, const sfu__backend *backend, sfu__ticker *ticker) {
    sfu_status status = SFU_OK;
    *measured = (sfu__measured){0};
    sfu__machine_detect(&measured->machine);
    strncpy(measured->kernels, backend->name, sizeof measured->kernels - 1);
    ticker->total = SFU__MEMORY_LEVELS + 2 * SFU__WIDTHS;
    const uint64_t before = sfu__float_guard();
    SFU_TRY(sfu__memory_rates_measure(&measured->memory, &measured->machine, ticker));
    SFU_TRY(measure_kernels(&measured->rates, backend, &measured->machine, &measured->memory, ticker));
    SFU_TRY(sfu__tick(ticker, ticker->total));
done:
    sfu__float_restore(before);
    return status;
}
