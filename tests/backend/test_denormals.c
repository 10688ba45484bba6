/* No denormals arise in a training. Flush-to-zero mode would hide them, and differently at the edge on different
 * processors, so the test is stricter: probabilities, gradients and moments are zero or at least 2^-100 in
 * magnitude. */
#include "support.h"

#include "plan.h"
#include "random_networks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NODES = 12 };

typedef struct tally {
    int64_t seen, flushed, zeros;
} tally;

static void count(tally *to, const float *values, int64_t size, double least) {
    for (int64_t i = 0; i < size; i++) {
        const double value = fabs((double)values[i]);
        to->seen++;
        to->zeros += value == 0;
        to->flushed += value != 0 && value < least;
    }
}

typedef struct seen {
    tally moments, gradients, outputs, theta;
} seen;

typedef struct long_run {
    const char *net;
    double scale; /* of the initial weights: large ones give confident and mostly wrong predictions */
    double dropout, decay;
    uint32_t epochs;
} long_run;

static void look(seen *all, sfu__executor *worker, const sfu__plan *plan) {
    const sfu__dense output = sfu__executor_output(worker, SFU_PASS_EVALUATE);
    const sfu__parameters *parameters = sfu__plan_parameters(plan);
    for (int32_t i = 0; i < output.rows; i++) {
        count(&all->outputs, output.data + (int64_t)i * output.ld, output.cols, 0x1p-126);
    }
    for (int p = 0; p < parameters->count; p++) {
        const sfu__parameter *item = &parameters->items[p];
        for (int32_t row = 0; row < item->rows; row++) {
            const int64_t at = item->offset + (int64_t)row * item->ld;
            count(&all->moments, sfu__executor_m(worker) + at, item->cols, 0x1p-100);
            count(&all->moments, sfu__executor_v(worker) + at, item->cols, 0x1p-100);
            count(&all->gradients, sfu__executor_gradient(worker) + at, item->cols, 0x1p-126);
            count(&all->theta, sfu__executor_theta(worker) + at, item->cols, 0x1p-126);
        }
    }
}

static void start(sfu__executor *worker, const sfu__plan *plan, const sfu_net *net, double scale) {
    const sfu__parameters *parameters = sfu__plan_parameters(plan);
    float *theta = sfu__executor_theta(worker);
    sfu__parameters_start(theta, parameters, net, NULL, 3);
    for (int p = 0; p < parameters->count; p++) {
        const sfu__parameter *item = &parameters->items[p];
        for (int64_t i = item->offset; item->decays && i < item->offset + (int64_t)item->rows * item->ld; i++) {
            theta[i] *= (float)scale;
        }
    }
}

static void run(seen *all, const long_run *what, sfu_dataset *dataset, const sfu__backend *backend) {
    sfu_net *net = NULL;
    sfu__plan *plan = NULL;
    sfu__executor *worker = NULL;
    const int32_t nodes = dataset->nodes;
    const sfu__plan_request request = {
        .count = {nodes, nodes, 0}, .dropout = what->dropout > 0, .rewrites = SFU__ALL_REWRITES, .threads = 1};
    assert_ok(sfu_net_parse(&net, what->net, NULL));
    assert_ok(sfu__plan_make(&plan, dataset, net, &request));
    assert_ok(sfu__executor_new(&worker, plan, backend, NULL));
    start(worker, plan, net, what->scale);
    const sfu__target target = {dataset->labels, NULL};
    sfu__epoch epoch = {.seed = 1,
                        .dropout = what->dropout,
                        .lr = 0.05F,
                        .decay = (float)what->decay,
                        .target = target,
                        .validation = target,
                        .evaluate = true};
    for (epoch.number = 1; epoch.number <= what->epochs; epoch.number++) {
        sfu__score training, validation;
        sfu__executor_epoch(worker, &epoch, &training, &validation);
        look(all, worker, plan);
    }
    sfu__executor_free(worker);
    sfu__plan_release(plan);
    sfu_net_free(net);
}

static void nothing_is_denormal(void **state) {
    (void)state;
    static const long_run runs[] = {
        {"softmax | smooth^2", 200, 0, 0, 300},
        {"softmax | smooth^2", 1, 0, 0, 3000},
        {"softmax | smooth^20(self=0.01)", 60, 0, 0, 200},
        {"dense 6 relu | softmax | smooth", 30, 0.5, 0, 1500},
        {"smooth | dense 6 relu | smooth | softmax", 1, 0.9, 0.01, 3000},
        {"smooth | dense 6 sigmoid | softmax", 40, 0.5, 0, 1000},
        {"smooth(learn=self+neighbour+left+right) | softmax | smooth(learn=self+right)", 1, 0.3, 0.3, 1500},
    };
    sfu__random random = sfu__random_start(31, 0);
    seen all = {0};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        for (int set = 0; sfu__backend_cpu_set(set) != NULL; set++) {
            sfu_dataset *dataset = random_dataset(&random);
            run(&all, &runs[i], dataset, sfu__backend_cpu_set(set));
            sfu_dataset_free(dataset);
        }
    }
    print_message("%lld moments, %lld gradients, %lld probabilities, %lld weights\n", (long long)all.moments.seen,
                  (long long)all.gradients.seen, (long long)all.outputs.seen, (long long)all.theta.seen);
    assert_int_equal(all.moments.flushed, 0);
    assert_int_equal(all.gradients.flushed, 0);
    assert_int_equal(all.outputs.flushed, 0);
    assert_int_equal(all.theta.flushed, 0);
    /* The runs do reach the edge: probabilities and moments that would be denormal are zero. */
    assert_true(all.outputs.zeros > 0 && all.moments.zeros > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_denormal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
