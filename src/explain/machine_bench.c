/* machine_bench.c - the rates of this machine or of a GPU as a public list, and the lower bound (roofline) of a plan's
 * time. */
#include "gpu_rates.h"
#include "rates.h"

#include "backend.h"
#include "device.h"
#include "memory.h"
#include "plan_int.h"
#include "sized_struct.h"

#include <math.h>

enum { RATES_MOST = (int)SFU__RATE_COUNT > (int)SFU__GPU_RATE_COUNT ? SFU__RATE_COUNT : SFU__GPU_RATE_COUNT };

struct sfu_bench {
    bool on_gpu; /* which of the next two was measured */
    sfu__measured measured;
    sfu__gpu_measured gpu;
    sfu_rate rates[RATES_MOST];
    int count;
};

static void list_rates(sfu_bench *bench) {
    const char *const(*names)[2] = bench->on_gpu ? sfu__gpu_rate_names : sfu__rate_names;
    const double *values = bench->on_gpu ? bench->gpu.rates : bench->measured.rates;
    bench->count = bench->on_gpu ? (int)SFU__GPU_RATE_COUNT : (int)SFU__RATE_COUNT;
    for (int i = 0; i < bench->count; i++) {
        bench->rates[i] = (sfu_rate){names[i][0], names[i][1], values[i]};
    }
}

void sfu_bench_options_init_sized(sfu_bench_options *options, size_t size) {
    const sfu_bench_options defaults = {.size = sizeof defaults, .keep = true, .device = "auto"};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

static sfu_status measure_cpu(sfu_bench *bench, const sfu_bench_options *options, sfu__ticker *ticker) {
    sfu_status status = SFU_OK;
    const sfu__backend *backend;
    SFU_TRY(sfu__backend_cpu(&backend));
    SFU_TRY(sfu__measure_machine(&bench->measured, backend->name, ticker));
    if (options->keep) {
        SFU_TRY(sfu__measured_save(&bench->measured));
    }
done:
    return status;
}

sfu_status sfu_bench_new_with(sfu_bench **bench, const sfu_bench_options *given) {
    sfu_status status = SFU_OK;
    sfu_bench *made = NULL;
    sfu__device device;
    sfu_bench_options options;
    *bench = NULL;
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_bench_options));
    SFU_TRY(sfu__device_parse(&device, options.device, 0));
    sfu__ticker ticker = {
        .callback = options.progress, .user = options.progress_user, .what = "measuring this machine", .unit = "rates"};
    SFU_ALLOC_ZERO(made, 1);
    made->on_gpu = device.kind == SFU__DEVICE_CUDA;
    SFU_TRY(made->on_gpu ? sfu__measure_gpu(&made->gpu, device, &ticker) : measure_cpu(made, &options, &ticker));
    list_rates(made);
    *bench = made;
    made = NULL;
done:
    sfu_bench_free(made);
    return status;
}

sfu_status sfu_bench_new(sfu_bench **bench, bool keep, sfu_progress_fn progress, void *user) {
    sfu_bench_options options;
    sfu_bench_options_init(&options);
    options.keep = keep;
    options.progress = progress;
    options.progress_user = user;
    return sfu_bench_new_with(bench, &options);
}

sfu_status sfu_bench_kept(sfu_bench **bench) {
    sfu_status status = SFU_OK;
    sfu_bench *made = NULL;
    *bench = NULL;
    SFU_ALLOC_ZERO(made, 1);
    if (!sfu__measured_load_here(&made->measured)) {
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

const char *sfu_bench_device(const sfu_bench *bench) { return bench->on_gpu ? bench->gpu.device : "cpu"; }

/* Gathered rows at the read bandwidth of their memory level, but no row faster than one of 16 or 32 bytes out of L1. */
static double gather_ns(const sfu__measured *measured, const sfu__work *work) {
    const double *rates = measured->rates;
    const double bytes = sfu__work_gathered(work), rows = bytes > 0.0 ? (double)work->nonzeros : 0.0;
    const int row = work->width < 8 ? 0 : 1;
    const int level = sfu__machine_level(&measured->machine, (double)work->operand);
    return fmax(bytes / rates[SFU__RATE_READ + level], rows * rates[SFU__RATE_ROW + row]);
}

static double gather_ns_gpu(const sfu__gpu_measured *measured, const sfu__work *work) {
    return sfu__work_gathered(work) / sfu__gpu_gather_rate(measured, work->width, (double)work->operand);
}

/* Lower bound of a step: gathered rows; dense products at the best rate; random numbers; Adam. */
static double floor_of_work(const sfu_bench *bench, const sfu__work *work) {
    static const int on_cpu[] = {SFU__RATE_DRAW, SFU__RATE_GEMM, SFU__RATE_ADAM},
                     on_gpu[] = {SFU__GPU_RATE_DRAW, SFU__GPU_RATE_GEMM, SFU__GPU_RATE_ADAM};
    const int *at = bench->on_gpu ? on_gpu : on_cpu;
    double ns = bench->on_gpu ? gather_ns_gpu(&bench->gpu, work) : gather_ns(&bench->measured, work);
    ns += sfu__work_draws(work) * bench->rates[at[0]].value;
    if (work->kernel == SFU__KERNEL_GEMM || work->kernel == SFU__KERNEL_GEMM_T) {
        ns += sfu__work_flops(work) / bench->rates[at[1]].value;
    } else if (work->kernel == SFU__KERNEL_ADAM) {
        ns += (double)work->rows * bench->rates[at[2]].value;
    }
    return 1e-9 * ns;
}

double sfu_bench_floor(const sfu_bench *bench, const sfu_plan *plan, sfu_pass pass) {
    double seconds = 0.0;
    const sfu__work *work;
    for (int i = 0; (work = sfu__plan_work(plan, pass, i)) != NULL; i++) {
        seconds += floor_of_work(bench, work);
    }
    return seconds;
}
