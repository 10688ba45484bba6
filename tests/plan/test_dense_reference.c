/* The dense reference itself: its gradient against finite differences of its loss, its dropout masks, and that its
 * error bounds are not empty. */
#include "support.h"

#include "dense_reference.h"
#include "random_networks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 12, MOST = 4096 };

typedef struct trial {
    char text[COMPOSITION_MAX];
    sfu_dataset *dataset;
    sfu_net *net;
    sfu__parameters parameters;
    dense_reference *reference;
    dense_settings settings;
    int32_t nodes[NODES], labels[NODES], count;
    float weights[NODES];
    sfu__target target;
    double theta[MOST], gradient[MOST], error[MOST];
} trial;

static void draw(trial *it, sfu__random *random) {
    memset(it, 0, sizeof *it);
    it->dataset = random_dataset(random);
    random_composition(it->text, random, it->dataset);
    assert_ok(sfu_net_parse(&it->net, it->text, NULL));
    assert_ok(sfu__parameters_make(&it->parameters, it->net, it->dataset->features, it->dataset->classes,
                                   it->dataset->nodes));
    assert_true(it->parameters.size <= MOST);
    it->reference = dense_reference_new(it->net, it->dataset, &it->parameters);
    it->settings = (dense_settings){.training = sfu__random_below(random, 2),
                                    .seed = sfu__random_next(random),
                                    .epoch = 1 + (uint32_t)sfu__random_below(random, 100),
                                    .dropout = 0.4,
                                    .features_sparse = sfu__random_below(random, 2)};
    it->count = random_nodes(it->nodes, random, it->dataset->nodes);
    for (int32_t i = 0; i < it->count; i++) {
        it->labels[i] = it->dataset->labels[it->nodes[i]];
        it->weights[i] = (float)sfu__random_unit(random);
    }
    it->target = (sfu__target){it->labels, sfu__random_below(random, 2) ? it->weights : NULL};
    random_parameters(it->theta, random, &it->parameters, true);
}

static void activate(trial *it) {
    dense_reference_free(it->reference);
    sfu__parameters_clear(&it->parameters);
    sfu_net_free(it->net);
    sfu_dataset_free(it->dataset);
}

static double loss_at(trial *it, int64_t term, double by) {
    const double before = it->theta[term];
    it->theta[term] = before + by;
    dense_forward(it->reference, it->theta, &it->settings);
    it->theta[term] = before;
    return dense_loss(it->reference, it->nodes, it->count, &it->target).loss;
}

static double difference(trial *it, int64_t term, double h) {
    return (8 * (loss_at(it, term, h) - loss_at(it, term, -h)) -
            (loss_at(it, term, 2 * h) - loss_at(it, term, -2 * h))) /
           (12 * h);
}

/* Two finite differences that disagree have a kink between them and are skipped. */
static void compare(trial *it, int64_t term, int *compared, int *skipped) {
    const double wide = difference(it, term, 1e-4), narrow = difference(it, term, 2.5e-5);
    const double size = 1 + fabs(wide);
    if (fabs(wide - narrow) > 1e-7 * size) {
        (*skipped)++;
        return;
    }
    (*compared)++;
    if (!(fabs(it->gradient[term] - narrow) <= 1e-6 * size)) {
        fail_msg("%s: at %lld the gradient is %.12g, differences say %.12g", it->text, (long long)term,
                 it->gradient[term], narrow);
    }
}

static void gradients_are_differences(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(11, 0);
    int compared = 0, skipped = 0;
    for (int round = 0; round < 200; round++) {
        trial it;
        draw(&it, &random);
        dense_forward(it.reference, it.theta, &it.settings);
        dense_backward(it.reference, it.gradient, it.error, it.nodes, it.count, &it.target);
        for (int p = 0; p < it.parameters.count; p++) {
            const sfu__parameter *item = &it.parameters.items[p];
            for (int some = 0; some < 4; some++) {
                const int64_t row = (int64_t)sfu__random_below(&random, (uint64_t)item->rows);
                const int64_t col = (int64_t)sfu__random_below(&random, (uint64_t)item->cols);
                compare(&it, item->offset + row * item->ld + col, &compared, &skipped);
            }
        }
        activate(&it);
    }
    print_message("%d compared, %d skipped at kinks\n", compared, skipped);
    assert_true(compared > 1000 && skipped < compared / 20);
}

/* Two classes, one node, one feature, computed by hand. */
static void a_network_by_hand(void **state) {
    (void)state;
    const float x = 2;
    const int32_t label = 1, node = 0;
    const sfu_arrays arrays = {
        .size = sizeof(sfu_arrays), .nodes = 1, .features = 1, .dense = &x, .labels = &label, .classes = 2};
    sfu_import_options options;
    sfu_dataset *dataset = NULL;
    sfu_net *net = NULL;
    sfu__parameters parameters = {0};
    sfu_import_options_init(&options);
    options.scale = SFU_SCALE_NONE;
    assert_ok(sfu_dataset_from_arrays(&dataset, &arrays, &options));
    assert_ok(sfu_net_parse(&net, "smooth | softmax", NULL));
    assert_ok(sfu__parameters_make(&parameters, net, 1, 2, 1));
    dense_reference *reference = dense_reference_new(net, dataset, &parameters);
    double theta[64] = {0}, gradient[64], error[64], m[64] = {0}, v[64] = {0};
    const int64_t weight = parameters.items[0].offset, bias = parameters.items[1].offset;
    const sfu__target target = {&label, NULL};
    theta[weight] = 0.25;
    theta[weight + 1] = -0.5;
    theta[bias + 1] = 1;
    const dense_matrix P = dense_forward(reference, theta, &(dense_settings){.training = false});
    const double p = 1 / (1 + exp(0.5)); /* of class 1; the logits are 0.5 and 0 */
    assert_true(fabs(P.value[1] - p) < 1e-15 && P.error[1] > 0 && P.error[1] < 20);
    const dense_score cross_entropy = dense_loss(reference, &node, 1, &target);
    assert_true(fabs(cross_entropy.loss + log(p)) < 1e-15 && cross_entropy.correct_least == 0 &&
                cross_entropy.correct_most == 0);
    dense_backward(reference, gradient, error, &node, 1, &target);
    assert_true(fabs(gradient[weight] - 2 * (1 - p)) < 1e-15 && fabs(gradient[bias + 1] - (p - 1)) < 1e-15);
    dense_adam(theta, m, v, gradient, &parameters, 0.01, 0.1, 1);
    assert_true(fabs(theta[weight] - (0.25 - 0.01)) < 1e-9 && fabs(theta[bias + 1] - 1.01) < 1e-9);
    dense_reference_free(reference);
    sfu__parameters_clear(&parameters);
    sfu_net_free(net);
    sfu_dataset_free(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_by_hand),
        cmocka_unit_test(gradients_are_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
