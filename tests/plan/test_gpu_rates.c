/* The measurement of a GPU, with the emulated driver: rates and lower bounds are positive numbers; failing calls,
 * failing allocations and little memory give one line and leave nothing. */
#include "support.h"

#include "emulated_gpu.h"
#include "gpu_rates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sfu_status measure(void *unused) {
    sfu_bench *bench = NULL;
    sfu_bench_options options;
    (void)unused;
    sfu_bench_options_init(&options);
    options.device = "cuda";
    const sfu_status status = sfu_bench_new_with(&bench, &options);
    sfu_bench_free(bench);
    return status;
}

static void rates(void **state) {
    (void)state;
    sfu_bench *bench = NULL;
    sfu_bench_options options;
    int count = 0;
    emulated_set("devices=2");
    sfu_bench_options_init(&options);
    options.device = "cuda:1";
    assert_ok(sfu_bench_new_with(&bench, &options));
    for (const sfu_rate *rate = sfu_bench_rate(bench, 0); rate != NULL; rate = sfu_bench_rate(bench, count)) {
        assert_true(isfinite(rate->value) && rate->value > 0.0);
        assert_non_null(rate->unit);
        count++;
    }
    assert_int_equal(count, SFU__GPU_RATE_COUNT);
    assert_string_equal(sfu_bench_device(bench), "cuda:1 (Emulated GPU)");
    sfu_bench_free(bench);
    options.device = "cuda:2";
    assert_fails(SFU_ERR_NOT_FOUND, sfu_bench_new_with(&bench, &options), "cuda:2");
    assert_null(bench);
    assert_int_equal(emulated_left(), 0);
}

/* Rows of more than 16 floats count as long, arrays of more than L2 as those of memory. */
static void gathered_rows(void **state) {
    (void)state;
    sfu__gpu_measured measured = {.l2_bytes = 1000.0};
    for (int i = 0; i < 4; i++) {
        measured.rates[SFU__GPU_RATE_GATHER + i] = i + 1;
    }
    assert_true(sfu__gpu_gather_rate(&measured, 16, 1000.0) == 1.0);
    assert_true(sfu__gpu_gather_rate(&measured, 20, 1000.0) == 2.0);
    assert_true(sfu__gpu_gather_rate(&measured, 4, 1001.0) == 3.0);
    assert_true(sfu__gpu_gather_rate(&measured, 64, 1001.0) == 4.0);
}

static void lower_bounds(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    sfu_split *split = NULL;
    sfu_net *net = NULL;
    sfu_plan *plan = NULL;
    sfu_bench *bench = NULL;
    sfu_bench_options options;
    sfu_plan_options plan_options;
    sfu_bench_options_init(&options);
    sfu_plan_options_init(&plan_options);
    options.device = plan_options.device = "cuda";
    emulated_set("");
    assert_ok(sfu_dataset_open(&dataset, "citation"));
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    assert_ok(sfu_net_parse(&net, "gcn", NULL));
    assert_ok(sfu_plan_new(&plan, dataset, net, split, &plan_options));
    assert_ok(sfu_bench_new_with(&bench, &options));
    for (int pass = 0; pass < SFU_PASSES; pass++) {
        const double floor_s = sfu_bench_floor(bench, plan, (sfu_pass)pass);
        assert_true(isfinite(floor_s) && floor_s > 0.0);
        assert_true(sfu_plan_cost(plan, (sfu_pass)pass)->predicted_s > 0.0);
    }
    assert_false(sfu_plan_is_nominal(plan));
    sfu_bench_free(bench);
    sfu_plan_free(plan);
    sfu_net_free(net);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

static void failures(void **state) {
    (void)state;
    static const char *const calls[] = {"cuLaunchKernelEx:719",  "cuMemAlloc_v2:2", "cuMemAllocHost_v2:2",
                                        "cuStreamCreate:2",      "cuEventCreate:2", "cuMemcpyHtoD_v2:700",
                                        "cuEventSynchronize:719"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        for (int nth = 1; nth <= 2; nth++) {
            char words[80];
            snprintf(words, sizeof words, "fail=%s:%d", calls[i], nth);
            emulated_set(words);
            const sfu_status status = measure(NULL);
            assert_true(status == SFU_OK ? nth == 2 : strstr(sfu_message(), "cuda:0") != NULL);
            assert_null(strchr(sfu_message(), '\n'));
            emulated_set("");
            assert_int_equal(emulated_left(), 0);
        }
    }
    emulated_set("memory=900");
    assert_fails(SFU_ERR_MEMORY, measure(NULL), "cuda:0 (Emulated GPU)", "too few to measure it");
    emulated_set("memory=3000000");
    assert_fails(SFU_ERR_MEMORY, measure(NULL), "of device memory");
    emulated_set("");
}

static void failing_allocations(void **state) {
    (void)state;
    emulated_set("");
    test_fail_each_allocation(measure, NULL, 8);
    assert_int_equal(emulated_left(), 0);
}

int main(int count, char **words) {
    (void)count;
    emulated_start(words, "emulated_driver");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates),    cmocka_unit_test(gathered_rows),       cmocka_unit_test(lower_bounds),
        cmocka_unit_test(failures), cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
