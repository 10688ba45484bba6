/* calibrate.c - measures this machine: a few small networks are planned and timed like any other, and the times of
 * their steps are compared with the nominal ones. */
#include "rates.h"

#include "memory.h"
#include "plan_int.h"

#include <math.h>
#include <string.h>

sfu__step_class sfu__step_class_of(const sfu__work *work) {
    const int wide = work->width <= 4 ? 0 : work->width <= 16 ? 1 : 2;
    switch (work->kernel) {
    case SFU__KERNEL_SPMM:
    case SFU__KERNEL_SDDMM:
        return (sfu__step_class)(SFU__CLASS_SPMM + wide);
    case SFU__KERNEL_GEMM:
    case SFU__KERNEL_GEMM_T:
        return (sfu__step_class)(SFU__CLASS_GEMM + wide);
    case SFU__KERNEL_ADAM:
        return SFU__CLASS_ADAM;
    default:
        return work->draws ? SFU__CLASS_DROPOUT : SFU__CLASS_ELEMENTWISE;
    }
}

double sfu__predicted_seconds(const sfu__work *work, const sfu__measured *measured) {
    const double seconds = sfu__work_seconds(work, &sfu__nominal_rates);
    if (measured == NULL) {
        return seconds;
    }
    double slowdown = measured->rates[SFU__RATE_SLOWDOWN + sfu__step_class_of(work)];
    if (sfu__machine_level(&measured->machine, (double)work->operand) == SFU__RAM) { /* rows are gathered from memory */
        const double nominal_GB_s = sizeof(float) / sfu__nominal_rates.stream_ns[SFU__SIZES - 1];
        slowdown = fmax(slowdown, nominal_GB_s / measured->rates[SFU__RATE_READ + SFU__RAM]);
    }
    return slowdown * seconds;
}

/* ---- networks --------------------------------------------------------------------------------------------------- */

/* The networks have products of all widths. The words of the second dataset are many for its vocabulary, so that its
 * smoothed features are a dense matrix. */
static const struct {
    bool dense;
    int32_t hidden;
    const char *net;
} networks[] = {
    {false, 16, "gcn+lp"}, {false, 64, "gcn"}, {true, 16, "fp+mlp"}, {true, 64, "fp+mlp"}, {true, 16, "sgcn+lp"}};
enum { NETWORKS = sizeof networks / sizeof networks[0] };

static sfu_status make_dataset(sfu_dataset **dataset, bool dense) {
    sfu_make_options options;
    sfu_make_options_init(&options);
    if (dense) {
        options.nodes = 3000;
        options.classes = 3;
        options.vocabulary = 500;
        options.words = 60;
    }
    options.threads = 1;
    return sfu_dataset_make(dataset, &options);
}

/* Measured and nominal seconds of each class, and the least time of single operations. */
typedef struct sums {
    double measured[SFU__CLASS_COUNT], nominal[SFU__CLASS_COUNT];
    double flop_s, draw_s, adam_s;
} sums;

static void take_least(double *least, double seconds, double count) {
    *least = count > 0.0 ? fmin(*least, seconds / count) : *least;
}

static void add_steps(sums *to, const sfu_plan *plan, sfu_pass pass) {
    const sfu_step *step;
    int works = 0;
    for (int i = 0; (step = sfu_plan_step(plan, pass, i)) != NULL; i++) {
        if (step->depth == 0) { /* a heading */
            continue;
        }
        const sfu__work *work = sfu__plan_work(plan, pass, works++);
        const sfu__step_class kind = sfu__step_class_of(work);
        to->measured[kind] += step->measured_s;
        to->nominal[kind] += sfu__predicted_seconds(work, NULL);
        const bool gemm = kind >= SFU__CLASS_GEMM && kind < SFU__CLASS_DROPOUT;
        take_least(&to->flop_s, step->measured_s, gemm ? sfu__work_flops(work) : 0.0);
        take_least(&to->draw_s, step->measured_s, sfu__work_draws(work));
        take_least(&to->adam_s, step->measured_s, kind == SFU__CLASS_ADAM ? (double)work->rows : 0.0);
    }
}

static sfu_status measure_network(sums *to, int number) {
    sfu_status status = SFU_OK;
    sfu_dataset *dataset = NULL;
    sfu_split *split = NULL;
    sfu_net *net = NULL;
    sfu_plan *plan = NULL;
    sfu_net_options net_options;
    sfu_plan_options plan_options;
    sfu_net_options_init(&net_options);
    sfu_plan_options_init(&plan_options);
    net_options.hidden = networks[number].hidden;
    plan_options.threads = 1;
    SFU_TRY(make_dataset(&dataset, networks[number].dense));
    SFU_TRY(sfu_split_new(&split, dataset, NULL, NULL));
    SFU_TRY(sfu_net_parse(&net, networks[number].net, &net_options));
    SFU_TRY(sfu__plan_predict(&plan, dataset, net, split, &plan_options, NULL));
    SFU_TRY(sfu__plan_measure_epoch(plan));
    add_steps(to, plan, SFU_PASS_TRAIN);
    add_steps(to, plan, SFU_PASS_EVALUATE);
done:
    sfu_plan_free(plan);
    sfu_net_free(net);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
    return status;
}

sfu_status sfu__measure_machine(sfu__measured *measured, const char *kernels, sfu__ticker *ticker) {
    sfu_status status = SFU_OK;
    sums all = {.flop_s = INFINITY, .draw_s = INFINITY, .adam_s = INFINITY};
    const sfu__watch before = sfu__watch_start(ticker->callback, ticker->user, ticker->what);
    double *rates = measured->rates;
    *measured = (sfu__measured){0};
    sfu__machine_detect(&measured->machine);
    strncpy(measured->kernels, kernels, sizeof measured->kernels - 1);
    ticker->total = SFU__MEMORY_LEVELS + NETWORKS;
    SFU_TRY(sfu__measure_memory(rates + SFU__RATE_READ, rates + SFU__RATE_ROW, &measured->machine, ticker));
    for (int i = 0; i < NETWORKS; i++) {
        SFU_TRY(sfu__tick(ticker, SFU__MEMORY_LEVELS + i));
        SFU_TRY(measure_network(&all, i));
    }
    rates[SFU__RATE_GEMM] = 1e-9 / all.flop_s;
    rates[SFU__RATE_DRAW] = 1e9 * all.draw_s;
    rates[SFU__RATE_ADAM] = 1e9 * all.adam_s;
    for (int kind = 0; kind < SFU__CLASS_COUNT; kind++) {
        rates[SFU__RATE_SLOWDOWN + kind] = all.measured[kind] / all.nominal[kind];
    }
    SFU_TRY(sfu__tick(ticker, ticker->total));
done:
    sfu__watch_end(before);
    return status;
}
