/* machine_bench.c - the rates of this machine as a public list, and the lower bound (roofline) of a plan's time. */
#include "rates.h"

#include "memory.h"
#include "plan_int.h"

#include <math.h>
#include <stdio.h>

enum { RATES = 64, RATE_TEXT = 64 };

struct sfu_bench {
    sfu__measured measured;
    sfu_rate rates[RATES];
    char texts[RATES][RATE_TEXT];
    int count;
};

static void add_rate(sfu_bench *bench, const char *unit, double value, const char *what, const char *detail) {
    if (bench->count < RATES) {
        char *text = bench->texts[bench->count];
        snprintf(text, RATE_TEXT, "%s%s%s", what, detail[0] != '\0' ? " " : "", detail);
        bench->rates[bench->count++] = (sfu_rate){text, unit, value};
    }
}

static void add_width(sfu_bench *bench, const char *unit, double value, const char *what, int32_t width) {
    char detail[32];
    snprintf(detail, sizeof detail, "%d wide", width);
    add_rate(bench, unit, value, what, detail);
}

/* The public list: memory, then the kernels in customary units. */
static void list_rates(sfu_bench *bench) {
    static const char *const levels[SFU__MEMORY_LEVELS] = {"L1", "L2", "L3", "memory"};
    static const char *const operands[SFU__SIZES] = {"from L1", "from L2, near", "from L2",
                                                     "from L3", "from L3, far",  "from memory"};
    const sfu__memory_rates *memory = &bench->measured.memory;
    const sfu__rates *rates = &bench->measured.rates;
    for (int i = 0; i < SFU__MEMORY_LEVELS; i++) {
        add_rate(bench, "GB/s", memory->read[i], "read", levels[i]);
    }
    for (int i = 0; i < SFU__MEMORY_LEVELS; i++) {
        add_rate(bench, "GB/s", memory->gather[i], "gather rows of 256 bytes,", levels[i]);
    }
    for (int w = 0; w < SFU__WIDTHS - 1; w++) {
        static const char *const widths[SFU__WIDTHS - 1] = {"16 bytes", "32 bytes", "64 bytes", "128 bytes"};
        const double row_bytes = 4.0 * sfu__rate_widths[w];
        add_rate(bench, "GB/s", row_bytes / memory->row_ns[w], "gather rows out of L1,", widths[w]);
    }
    add_rate(bench, "ns", rates->unit_ns[SFU__KERNEL_DROPOUT_SPARSE][0], "dropout, a value", "");
    add_rate(bench, "ns", rates->unit_ns[SFU__KERNEL_ADAM][0], "adam, a parameter", "");
    for (int i = 0; i < SFU__SIZES; i++) {
        add_rate(bench, "ns", rates->gather_ns[i][SFU__WIDTHS - 1], "spmm, a non-zero, 64 wide,", operands[i]);
    }
    for (int w = 0; w < SFU__WIDTHS - 1; w++) {
        add_width(bench, "ns", rates->gather_ns[SFU__SIZE_L2][w], "spmm, a non-zero from L2,", sfu__rate_widths[w]);
    }
    for (int w = 0; w < SFU__WIDTHS; w++) {
        const double flops = 2.0 * sfu__rate_widths[w];
        add_width(bench, "GFLOP/s", flops / rates->unit_ns[SFU__KERNEL_GEMM][w], "gemm,", sfu__rate_widths[w]);
    }
    for (int w = 0; w < SFU__WIDTHS; w++) {
        const double flops = 2.0 * sfu__rate_widths[w];
        add_width(bench, "GFLOP/s", flops / rates->unit_ns[SFU__KERNEL_GEMM_T][w], "gemm_t,", sfu__rate_widths[w]);
    }
    add_width(bench, "ns", rates->unit_ns[SFU__KERNEL_SOFTMAX][1], "softmax, a row,", sfu__rate_widths[1]);
    add_width(bench, "ns", rates->unit_ns[SFU__KERNEL_CROSS_ENTROPY][1], "score, a row,", sfu__rate_widths[1]);
}

sfu_status sfu_bench_new(sfu_bench **bench, bool keep, sfu_progress_fn progress, void *user) {
    sfu_status status = SFU_OK;
    sfu_bench *made = NULL;
    const sfu__backend *backend;
    sfu__ticker ticker = {.callback = progress, .user = user, .what = "measuring this machine", .unit = "rates"};
    *bench = NULL;
    SFU_TRY(sfu__backend_cpu(&backend));
    SFU_ALLOC_ZERO(made, 1);
    SFU_TRY(sfu__measure_machine(&made->measured, backend, &ticker));
    if (keep) {
        SFU_TRY(sfu__measured_save(&made->measured));
    }
    list_rates(made);
    *bench = made;
    made = NULL;
done:
    sfu_bench_free(made);
    return status;
}

sfu_status sfu_bench_kept(sfu_bench **bench) {
    sfu_status status = SFU_OK;
    sfu_bench *made = NULL;
    const sfu__backend *backend;
    sfu__machine machine;
    *bench = NULL;
    SFU_TRY(sfu__backend_cpu(&backend));
    SFU_ALLOC_ZERO(made, 1);
    sfu__machine_detect(&machine);
    if (!sfu__measured_load(&made->measured, &machine, backend->name)) {
        status = sfu__fail(SFU_ERR_NOT_FOUND, "no rates of this machine are kept; sfumato bench measures them");
        goto done;
    }
    list_rates(made);
    *bench = made;
    made = NULL;
done:
    sfu_bench_free(made);
    return status;
}

void sfu_bench_free(sfu_bench *bench) { sfu__free(bench); }

const sfu_rate *sfu_bench_rate(const sfu_bench *bench, int i) {
    return i >= 0 && i < bench->count ? &bench->rates[i] : NULL;
}

/* Nanoseconds per flop of the fastest dense product. */
static double flop_ns(const sfu__rates *rates) {
    double least = INFINITY;
    for (int w = 0; w < SFU__WIDTHS; w++) {
        const double ns = rates->unit_ns[SFU__KERNEL_GEMM][w] / (2.0 * sfu__rate_widths[w]);
        least = ns < least ? ns : least;
    }
    return least;
}

/* Lower bound of gathering rows: their bytes at the read bandwidth of their memory level, but no row faster than rows
 * of its width can be gathered from L1. */
static double gathered_ns(const sfu__measured *measured, const sfu__work *work) {
    const int level = sfu__machine_level(&measured->machine, (double)work->operand);
    const double bytes = sfu__work_gathered(work), rows = bytes / (4.0 * work->width);
    return bytes > 0.0
               ? fmax(bytes / measured->memory.read[level], rows * sfu__at_width(measured->memory.row_ns, work->width))
               : 0.0;
}

/* Lower bound of a step: gathered rows, dense products at the best rate, random numbers, Adam. */
static double floor_of_work(const sfu__measured *measured, const sfu__work *work) {
    const sfu__rates *rates = &measured->rates;
    double ns = gathered_ns(measured, work) + sfu__work_draws(work) * rates->draw_ns;
    if (work->kernel == SFU__KERNEL_GEMM || work->kernel == SFU__KERNEL_GEMM_T) {
        ns += sfu__work_flops(work) * flop_ns(rates);
    } else if (work->kernel == SFU__KERNEL_ADAM) {
        ns += (double)work->rows * rates->unit_ns[SFU__KERNEL_ADAM][0];
    }
    return 1e-9 * ns;
}

double sfu_bench_floor(const sfu_bench *bench, const sfu_plan *plan, sfu_pass pass) {
    double seconds = 0.0;
    const sfu__work *work;
    for (int i = 0; (work = sfu__plan_work(plan, pass, i)) != NULL; i++) {
        seconds += floor_of_work(&bench->measured, work);
    }
    return seconds;
}
