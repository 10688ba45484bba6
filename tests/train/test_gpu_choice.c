/* The choice between the processor and a GPU, with the emulated driver. */
#include "support.h"

#include "emulated_gpu.h"
#include "gpu_choice.h"
#include "gpu_executor.h"
#include "gpu_times.h"

#include <math.h>

static const sfu__device automatic = {SFU__DEVICE_AUTO, -1}, cpu = {SFU__DEVICE_CPU, -1}, cuda = {SFU__DEVICE_CUDA, -1};

static bool chosen(sfu__device device, double cpu_seconds, double gpu_seconds) {
    sfu__gpu *gpu = NULL;
    assert_ok(sfu__gpu_choose(&gpu, device, cpu_seconds, gpu_seconds));
    sfu__gpu_close(gpu);
    return gpu != NULL;
}

/* Must run first: the driver is not loaded yet. */
static void short_work_leaves_the_driver_alone(void **state) {
    (void)state;
    emulated_set("");
    assert_false(chosen(automatic, 1.9, 0.1));
    assert_false(chosen(automatic, 10.0, 10.0));
    assert_false(chosen(automatic, NAN, 0.1));
    assert_false(chosen(automatic, 10.0, NAN));
    assert_false(chosen(cpu, 10.0, 0.1));
    assert_int_equal(emulated_left(), -1);
}

static void the_faster_one_is_chosen(void **state) {
    (void)state;
    emulated_set("");
    assert_true(chosen(automatic, 2.1, 1.0));
    assert_true(chosen(cuda, 0.0, 1.0));
    assert_int_equal(emulated_left(), 0);
}

static void without_a_useful_device(void **state) {
    (void)state;
    sfu__gpu *gpu = NULL;
    emulated_set("capability=30"); /* too old for the kernels */
    assert_false(chosen(automatic, 20.0, 1.0));
    assert_fails(SFU_ERR_UNSUPPORTED, sfu__gpu_choose(&gpu, cuda, 20.0, 1.0), "cuda:0");
    assert_null(gpu);
    emulated_set("");
    assert_fails(SFU_ERR_NOT_FOUND, sfu__gpu_choose(&gpu, (sfu__device){SFU__DEVICE_CUDA, 7}, 20.0, 1.0), "cuda:7");
    assert_null(gpu);
    assert_int_equal(emulated_left(), 0);
}

static void times_are_predicted(void **state) {
    (void)state;
    sfu__training_work work = {0};
    sfu__training_work_add(&work, 1e-3, 1000, 30);
    assert_true(sfu__training_work_cpu(&work, 1) == 16.0 * sfu__training_work_cpu(&work, 16));
    assert_true(sfu__training_work_gpu(&work, 1) < sfu__training_work_cpu(&work, 1));
    assert_true(sfu__training_work_gpu(&work, 1000) < sfu__training_work_gpu(&work, 1));
    work = (sfu__training_work){0};
    sfu__training_work_add(&work, 1e-3, 1, 1); /* one training alone is slower there */
    assert_true(sfu__training_work_gpu(&work, 1) > sfu__training_work_cpu(&work, 1));
}

static void bringing_a_plan_there_takes_time(void **state) {
    (void)state;
    sfu_make_options options;
    sfu_dataset *dataset = NULL;
    sfu_net *net = NULL;
    sfu__plan *plan = NULL;
    const int32_t node = 0;
    sfu__plan_request request = {.rewrites = SFU__ALL_REWRITES, .threads = 1};
    request.nodes[SFU_PASS_TRAIN] = &node;
    request.count[SFU_PASS_TRAIN] = 1;
    sfu_make_options_init(&options);
    options.nodes = 2000;
    assert_ok(sfu_dataset_make(&dataset, &options));
    assert_ok(sfu_net_parse(&net, "gcn", NULL));
    assert_ok(sfu__plan_make(&plan, dataset, net, &request));
    const sfu__device_seconds one = sfu__gpu_predicted_seconds(plan, 1, 1),
                              two = sfu__gpu_predicted_seconds(plan, 2, 1);
    assert_true(fabs(two.cpu - 2.0 * one.cpu) < 1e-12);
    assert_true(2.0 * one.gpu - two.gpu > 1e-6); /* what is left without the epochs */
    sfu__plan_release(plan);
    sfu_net_free(net);
    sfu_dataset_free(dataset);
}

int main(int count, char **argv) {
    (void)count;
    emulated_start(argv, "emulated_driver");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_work_leaves_the_driver_alone),
        cmocka_unit_test(the_faster_one_is_chosen),
        cmocka_unit_test(without_a_useful_device),
        cmocka_unit_test(times_are_predicted),
        cmocka_unit_test(bringing_a_plan_there_takes_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
