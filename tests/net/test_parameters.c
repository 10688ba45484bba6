/* The parameters of a network: shapes, offsets, and initial values. */
#include "support.h"

#include "net.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sfu_net *parse(const char *text) {
    sfu_net *net = NULL;
    assert_ok(sfu_net_parse(&net, text, NULL));
    return net;
}

/* "layer.name rows x cols at offset", for all of them. */
static void assert_parameters(const char *text, const char *expected) {
    sfu_net *net = parse(text);
    sfu__parameters parameters = {0};
    char list[1000] = "";
    size_t used = 0;
    assert_ok(sfu__parameters_make(&parameters, net, 10, 3, 25));
    for (int i = 0; i < parameters.count; i++) {
        const sfu__parameter *p = &parameters.items[i];
        used += (size_t)snprintf(list + used, sizeof list - used, "%d.%s %dx%d at %d%s\n", p->layer, p->name, p->rows,
                                 p->cols, (int)p->offset, p->decays ? "" : " free");
        assert_int_equal(p->ld, sfu__ld(p->cols));
        assert_int_equal(p->offset % 16, 0);
        assert_ptr_equal(sfu__parameter_of(&parameters, p->layer, p->name), p);
    }
    snprintf(list + used, sizeof list - used, "%d", (int)parameters.size);
    assert_string_equal(list, expected);
    assert_null(sfu__parameter_of(&parameters, 99, "weight"));
    sfu__parameters_clear(&parameters);
    sfu_net_free(net);
}

static void shapes_follow_from_the_network(void **state) {
    (void)state;
    assert_parameters("softmax", "0.weight 10x3 at 0\n0.bias 1x3 at 48\n64");
    assert_parameters("smooth | dense 20 relu | smooth | softmax(bias=no)",
                      "1.weight 10x20 at 0\n1.bias 1x20 at 320\n3.weight 20x3 at 352\n432");
    assert_parameters("dense classes | softmax(linear=no)", "0.weight 10x3 at 0\n0.bias 1x3 at 48\n64");
    assert_parameters("smooth(self=col, learn=self+neighbour) | softmax(bias=no) | smooth(learn=right)",
                      "0.self 1x25 at 0 free\n0.neighbour 1x1 at 32 free\n1.weight 10x3 at 48\n2.right 1x1 at 96 "
                      "free\n112");
    assert_parameters("lpnn(input=fx, output=f)",
                      "0.weight 13x128 at 0\n0.bias 1x128 at 1664\n1.weight 128x64 at 1792\n1.bias 1x64 at 9984\n"
                      "2.weight 64x3 at 10048\n2.bias 1x3 at 10304\n-1.f 25x3 at 10320 free\n10432");
}

static void learned_ones_are_kept_in_range(void **state) {
    (void)state;
    sfu_net *net = parse("smooth(learn=self+neighbour+left+right) | softmax");
    sfu__parameters parameters = {0};
    assert_ok(sfu__parameters_make(&parameters, net, 4, 2, 9));
    for (int i = 0; i < 4; i++) {
        assert_true(parameters.items[i].low == 0.0F);
        assert_true(i < 2 ? isinf(parameters.items[i].high) : parameters.items[i].high == 1.0F);
    }
    assert_true(isinf(parameters.items[4].low) && isinf(parameters.items[4].high));
    sfu__parameters_clear(&parameters);
    sfu_net_free(net);
}

static void impossible_widths_are_refused(void **state) {
    (void)state;
    sfu_net *net = parse("dense 5 | softmax(linear=no)");
    sfu__parameters parameters = {0};
    assert_fails(SFU_ERR_ARGUMENT, sfu__parameters_make(&parameters, net, 4, 7, 9),
                 "softmax(linear=no) has 5 input columns for 7 classes; put dense classes before it");
    sfu__parameters_clear(&parameters);
    assert_fails(SFU_ERR_ARGUMENT, sfu__parameters_make(&parameters, net, 4, 0, 9), "0 classes");
    sfu__parameters_clear(&parameters);
    assert_fails(SFU_ERR_ARGUMENT, sfu__parameters_make(&parameters, net, 4, 5, INT32_MAX), "2147483647 nodes");
    sfu__parameters_clear(&parameters);
    assert_fails(SFU_ERR_ARGUMENT, sfu__parameters_make(&parameters, net, INT32_MAX, 5, 9), "2147483647 features");
    sfu__parameters_clear(&parameters);
    sfu_net_free(net);
}

/* Each weight from its definition. */
static void weights_start_as_they_are_defined(void **state) {
    (void)state;
    sfu_net *net = parse("dense 20 relu | smooth(self=col, neighbour=0.25, learn=self+neighbour) | softmax");
    sfu__parameters parameters = {0};
    assert_ok(sfu__parameters_make(&parameters, net, 11, 3, 6));
    float *theta = malloc((size_t)parameters.size * sizeof *theta);
    assert_non_null(theta);
    memset(theta, 0x7f, (size_t)parameters.size * sizeof *theta);
    const float column[6] = {1, 2, 3, 4, 5, 6};
    const float *columns[8] = {NULL};
    columns[2] = column;
    assert_string_equal(parameters.items[2].name, "self");
    sfu__parameters_start(theta, &parameters, net, columns, 42);
    const double bounds[] = {sqrt(6.0 / 31.0), 0, sqrt(6.0 / 23.0)};
    double seen = 0.0;
    int64_t used = 0;
    for (int i = 0; i < parameters.count; i++) {
        const sfu__parameter *p = &parameters.items[i];
        for (int32_t r = 0; r < p->rows; r++) {
            for (int32_t c = 0; c < p->ld; c++) {
                float expected = 0.0F;
                if (c < p->cols && strcmp(p->name, "weight") == 0) {
                    const uint64_t bits = sfu__random_bits(42, sfu__stream_of(SFU__STREAM_WEIGHTS, (uint32_t)p->layer),
                                                           (uint64_t)(r * p->cols + c));
                    const double u = (double)(bits >> 40) / 16777216.0;
                    expected = (float)((2 * u - 1) * bounds[p->layer]);
                    seen += expected != 0.0F;
                } else if (c < p->cols && strcmp(p->name, "self") == 0) {
                    expected = column[c];
                } else if (c < p->cols && strcmp(p->name, "neighbour") == 0) {
                    expected = 0.25F;
                }
                assert_true(theta[p->offset + (int64_t)r * p->ld + c] == expected);
                used++;
            }
        }
    }
    assert_true(seen >= 11 * 20 + 20 * 3 - 1);
    double zeros = 0.0; /* the gaps between parameters too */
    for (int64_t i = 0; i < parameters.size; i++) {
        zeros += theta[i] == 0.0F;
    }
    assert_true(zeros == (double)(parameters.size - 11 * 20 - 20 * 3 - 7) && used <= parameters.size);
    free(theta);
    sfu__parameters_clear(&parameters);
    sfu_net_free(net);
}

/* A few values that must never change. */
static void weights_have_known_values(void **state) {
    (void)state;
    sfu_net *net = parse("softmax");
    sfu__parameters parameters = {0};
    float theta[64];
    assert_ok(sfu__parameters_make(&parameters, net, 3, 3, 0));
    assert_int_equal(parameters.size, 32);
    sfu__parameters_start(theta, &parameters, net, NULL, 0);
    const float known[3] = {0x1.c957bc0000000p-1F, -0x1.fd2ee40000000p-1F, 0x1.3f620c0000000p-1F};
    assert_memory_equal(theta, known, sizeof known);
    sfu__parameters_clear(&parameters);
    sfu_net_free(net);
}

static sfu_status make_and_clear(void *context) {
    sfu__parameters parameters = {0};
    const sfu_status status = sfu__parameters_make(&parameters, context, 4, 3, 5);
    sfu__parameters_clear(&parameters);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sfu_net *net = parse("gcn");
    test_fail_each_allocation(make_and_clear, net, 100);
    sfu_net_free(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_follow_from_the_network), cmocka_unit_test(learned_ones_are_kept_in_range),
        cmocka_unit_test(impossible_widths_are_refused),  cmocka_unit_test(weights_start_as_they_are_defined),
        cmocka_unit_test(weights_have_known_values),      cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
