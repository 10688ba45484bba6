/* machine_bench.c - the rates of this machine as a public list, and the lower bound (roofline) of a plan's time. */
#include "rates.h"

#include "backend.h"
#include "device.h"
#include "memory.h"
#include "plan_int.h"
#include "sized_struct.h"

#include <math.h>

struct sfu_bench {
    sfu__measured measured;
    sfu_rate rates[SFU__RATE_COUNT];
};

static void list_rates(sfu_bench *bench) {
    for (int i = 0; i < SFU__RATE_COUNT; i++) {
        bench->rates[i] = (sfu_rate){sfu__rate_names[i][0], sfu__rate_names[i][1], bench->measured.rates[i]};
    }
}

void sfu_bench_options_init_sized(sfu_bench_options *options, size_t size) {
    const sfu_bench_options defaults = {.size = sizeof defaults, .keep = true, .device = "auto"};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

sfu_status sfu_bench_new_with(sfu_bench **bench, const sfu_bench_options *given) {
    sfu_status status = SFU_OK;
    sfu_bench *made = NULL;
    const sfu__backend *backend;
    sfu__device device;
    sfu_bench_options options;
    *bench = NULL;
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_bench_options));
    SFU_TRY(sfu__device_parse(&device, options.device));
    SFU_TRY(device.kind == SFU__DEVICE_CUDA ? sfu__device_unavailable(&device) : SFU_OK);
    sfu__ticker ticker = {
        .callback = options.progress, .user = options.progress_user, .what = "measuring this machine", .unit = "rates"};
    SFU_TRY(sfu__backend_cpu(&backend));
    SFU_ALLOC_ZERO(made, 1);
    SFU_TRY(sfu__measure_machine(&made->measured, backend->name, &ticker));
    if (options.keep) {
        SFU_TRY(sfu__measured_save(&made->measured));
    }
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
    return i >= 0 && i < SFU__RATE_COUNT ? &bench->rates[i] : NULL;
}

/* Lower bound of a step: gathered rows at the read bandwidth of their memory level, but no row faster than one of 16
 * or 32 bytes out of L1; dense products at the best rate; random numbers; Adam. */
static double floor_of_work(const sfu__measured *measured, const sfu__work *work) {
    const double *rates = measured->rates;
    const double bytes = sfu__work_gathered(work), rows = bytes > 0.0 ? (double)work->nonzeros : 0.0;
    const int row = work->width < 8 ? 0 : 1;
    const int level = sfu__machine_level(&measured->machine, (double)work->operand);
    double ns = fmax(bytes / rates[SFU__RATE_READ + level], rows * rates[SFU__RATE_ROW + row]);
    ns += sfu__work_draws(work) * rates[SFU__RATE_DRAW];
    if (work->kernel == SFU__KERNEL_GEMM || work->kernel == SFU__KERNEL_GEMM_T) {
        ns += sfu__work_flops(work) / rates[SFU__RATE_GEMM];
    } else if (work->kernel == SFU__KERNEL_ADAM) {
        ns += (double)work->rows * rates[SFU__RATE_ADAM];
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
