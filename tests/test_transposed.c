/* The gradient of weights behind many sparse features, which is computed in blocks of their rows: against double, and
 * the same bytes for every number of threads. */
#include "support.h"

#include "plan_int.h"
#include "random_networks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct shape {
    int32_t nodes, vocabulary;
    double words;
    int blocks; /* that it takes */
} shape;

static sfu_dataset *dataset_of(const shape *it) {
    sfu_dataset *dataset = NULL;
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = it->nodes;
    options.classes = 3;
    options.vocabulary = it->vocabulary;
    options.words = it->words;
    options.seed = 11;
    assert_ok(sfu_dataset_make(&dataset, &options));
    return dataset;
}

/* dW = sum over nodes of x (softmax(x W) - label), in double. */
static double *gradient_of(const sfu_dataset *dataset, const float *W, int32_t ld) {
    double *gradient = calloc((size_t)dataset->features * (size_t)ld, sizeof *gradient);
    assert_non_null(gradient);
    const sfu_csr *X = &dataset->sparse;
    for (int32_t i = 0; i < dataset->nodes; i++) {
        double z[3] = {0}, sum = 0;
        for (int64_t e = X->indptr[i]; e < X->indptr[i + 1]; e++) {
            for (int c = 0; c < 3; c++) {
                z[c] += (double)X->values[e] * (double)W[(int64_t)X->indices[e] * ld + c];
            }
        }
        for (int c = 0; c < 3; c++) {
            sum += z[c] = exp(z[c]);
        }
        for (int64_t e = X->indptr[i]; e < X->indptr[i + 1]; e++) {
            for (int c = 0; c < 3; c++) {
                const double d = z[c] / sum - (c == dataset->labels[i] ? 1.0 : 0.0);
                gradient[(int64_t)X->indices[e] * ld + c] += (double)X->values[e] * d;
            }
        }
    }
    return gradient;
}

static int transposed_blocks(const sfu__plan *plan) {
    int count = 0;
    const sfu__pass *pass = &plan->passes[SFU_PASS_TRAIN];
    for (size_t i = 0; i < pass->step_count; i++) {
        count += pass->steps[i].op == SFU__OP_SPMM && pass->steps[i].back;
    }
    return count;
}

/* One training step on all nodes; a copy of the gradient, all of it. */
static float *step_of(const sfu__plan *plan, const sfu_dataset *dataset, const float *theta, int threads) {
    const sfu__backend *backend = NULL;
    sfu__worker *worker = NULL;
    sfu__team *team = NULL;
    sfu__score score;
    const size_t bytes = sizeof(float) * (size_t)sfu__plan_parameters(plan)->size;
    float *gradient = malloc(bytes);
    assert_non_null(gradient);
    assert_ok(sfu__backend_cpu(&backend));
    assert_ok(sfu__team_new(&team, threads));
    assert_ok(sfu__worker_new(&worker, plan, backend, team));
    memcpy(sfu__worker_theta(worker), theta, bytes);
    const sfu__epoch epoch = {.number = 1, .lr = 0.01F, .target = {dataset->labels, NULL}};
    sfu__worker_epoch(worker, &epoch, &score, NULL);
    memcpy(gradient, sfu__worker_gradient(worker), bytes);
    sfu__worker_free(worker);
    sfu__team_free(team);
    return gradient;
}

static void assert_gradient(const shape *it) {
    sfu_dataset *dataset = dataset_of(it);
    sfu_net *net = NULL;
    sfu__plan *plan = NULL;
    sfu__plan_request request = {.rewrites = SFU__ALL_REWRITES, .threads = 3};
    request.count[SFU_PASS_TRAIN] = it->nodes;
    assert_ok(sfu_net_parse(&net, "softmax", NULL));
    assert_ok(sfu__plan_new(&plan, dataset, net, &request));
    assert_int_equal(transposed_blocks(plan), it->blocks);

    const sfu__parameters *parameters = sfu__plan_parameters(plan);
    const sfu__parameter *weight = &parameters->items[0];
    assert_string_equal(weight->name, "weight");
    float *theta = calloc((size_t)parameters->size, sizeof *theta);
    assert_non_null(theta);
    sfu__parameters_start(theta, parameters, net, NULL, 3);
    double *expected = gradient_of(dataset, theta + weight->offset, weight->ld);
    float *one = step_of(plan, dataset, theta, 1), *three = step_of(plan, dataset, theta, 3);
    assert_memory_equal(one, three, sizeof *one * (size_t)parameters->size);
    double most = 0, error = 0;
    for (int64_t i = 0; i < (int64_t)weight->rows * weight->ld; i++) {
        most = fmax(most, fabs(expected[i]));
        error = fmax(error, fabs((double)one[weight->offset + i] - expected[i]));
    }
    assert_true(most > 0 && error < 2e-5 * most);
    free(one);
    free(three);
    free(expected);
    free(theta);
    sfu__plan_free(plan);
    sfu_net_free(net);
    sfu_dataset_free(dataset);
}

static void by_rows(void **state) {
    (void)state;
    assert_gradient(&(shape){2048, 90, 4, 1});
    assert_gradient(&(shape){2500, 90, 4, 2});
}

/* More values than are let lie far apart. */
static void by_values(void **state) {
    (void)state;
    assert_gradient(&(shape){1500, 2500, 600, 8});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_rows), cmocka_unit_test(by_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
