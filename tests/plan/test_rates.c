/* The predicted times of steps, the file of measured rates, and that plans do not depend on measured rates. */
#include "support.h"

#include "backend.h"
#include "rates.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- formulas --------------------------------------------------------------------------------------------------- */

static double seconds(sfu__kernel kernel, int64_t rows, int32_t width, int64_t inner, int64_t nonzeros,
                      double operand) {
    const sfu__work work = {.kernel = kernel,
                            .rows = rows,
                            .width = width,
                            .inner = inner,
                            .nonzeros = nonzeros,
                            .operand = (int64_t)operand};
    return sfu__work_seconds(&work, &sfu__nominal_rates);
}

static void assert_near(double value, double wanted) {
    if (!(fabs(value - wanted) <= 1e-9 * fabs(wanted))) {
        fail_msg("%.17g instead of %.17g", value, wanted);
    }
}

/* At the points of the tables a product costs exactly the entry. */
static void test_points(void **state) {
    (void)state;
    const sfu__rates *rates = &sfu__nominal_rates;
    for (int s = 0; s < SFU__SIZES; s++) {
        for (int w = 0; w < SFU__WIDTHS; w++) {
            const double got = seconds(SFU__KERNEL_SPMM, 10, sfu__rate_widths[w], 0, 1000, rates->size_bytes[s]);
            assert_near(1e9 * got, 1000 * rates->gather_ns[s][w] + 10 * rates->gather_row_ns[w] + rates->step_ns);
        }
    }
    /* After dropout, as the planner predicts it: blocks of 64 columns have their own rate. */
    const sfu__work after_dropout = {.kernel = SFU__KERNEL_SPMM,
                                     .width = 128 + 16,
                                     .nonzeros = 1000,
                                     .operand = (int64_t)rates->size_bytes[1],
                                     .value_permuted = true,
                                     .after_dropout = true};
    assert_near(1e9 * sfu__work_seconds(&after_dropout, rates),
                1000 * (2 * (rates->half_dropped_ns[1] + rates->value_perm_ns[0]) + rates->gather_ns[1][2]) +
                    rates->step_ns);
    /* With a keep mask, as the steps execute it: half of the gathers, and packing once for any width. */
    sfu__work left = {
        .kernel = SFU__KERNEL_SPMM, .width = 128, .nonzeros = 1000, .value_permuted = true, .packed = true};
    left.operand = (int64_t)rates->size_bytes[1];
    const double packed = rates->half_dropped_ns[1] - rates->gather_ns[1][4] / 2 + rates->value_perm_ns[0];
    assert_near(1e9 * sfu__work_seconds(&left, rates), 1000 * (rates->gather_ns[1][4] + packed) + rates->step_ns);
    left.width = 32;
    assert_near(1e9 * sfu__work_seconds(&left, rates), 1000 * (rates->gather_ns[1][3] / 2 + packed) + rates->step_ns);
    const sfu__work csc = {.kernel = SFU__KERNEL_SPMM, .rows = 10, .width = 8, .nonzeros = 1000, .csc = true};
    assert_near(1e9 * sfu__work_seconds(&csc, rates),
                1000 * rates->csc_ns[1] + 10 * rates->gather_row_ns[1] + rates->step_ns);
    /* Rows sorted by length: like others, while the values fit into L2. */
    const sfu__work row_perm = {.kernel = SFU__KERNEL_SPMM,
                                .rows = 10,
                                .width = 8,
                                .nonzeros = 1000,
                                .operand = (int64_t)rates->size_bytes[1],
                                .row_permuted = true};
    assert_near(1e9 * sfu__work_seconds(&row_perm, rates),
                1000 * rates->gather_ns[1][1] + 10 * rates->gather_row_ns[1] + rates->step_ns);
    assert_near(1e9 * seconds(SFU__KERNEL_ADAM, 1000, 1, 0, 0, 0),
                1000 * rates->unit_ns[SFU__KERNEL_ADAM][0] + rates->step_ns);
    assert_near(1e9 * seconds(SFU__KERNEL_GEMM, 100, 8, 10, 0, 0),
                100 * (10 * rates->unit_ns[SFU__KERNEL_GEMM][1] + rates->gemm_row_ns[1]) + rates->step_ns);
}

/* Between and beyond the points it grows with every dimension. */
static void test_growth(void **state) {
    (void)state;
    double before = 0;
    for (double bytes = 1000; bytes < 1e11; bytes *= 1.3) {
        const double now = seconds(SFU__KERNEL_SPMM, 10, 24, 0, 1000, bytes);
        assert_true(now >= before);
        before = now;
    }
    for (int kernel = 0; kernel < SFU__KERNEL_COUNT; kernel++) {
        before = 0;
        for (int32_t width = 4; width <= 1024; width += width < 16 ? 4 : 16) {
            const sfu__work work = {.kernel = (sfu__kernel)kernel,
                                    .rows = 1000,
                                    .width = width,
                                    .inner = 30,
                                    .nonzeros = 5000,
                                    .operand = 1000000,
                                    .draws = true,
                                    .value_permuted = true};
            const double now = sfu__work_seconds(&work, &sfu__nominal_rates);
            assert_true(now >= before || kernel == SFU__KERNEL_REDUCE_BLOCKS); /* per float, whatever the width */
            assert_true(now > 0 && sfu__work_bytes(&work) > 0 && sfu__work_flops(&work) >= 0);
            before = kernel == SFU__KERNEL_REDUCE_BLOCKS ? 0 : now;
        }
    }
    assert_near(seconds(SFU__KERNEL_SPMM, 0, 256, 0, 1000, 1e6) - 1e-9 * sfu__nominal_rates.step_ns,
                4 * (seconds(SFU__KERNEL_SPMM, 0, 64, 0, 1000, 1e6) - 1e-9 * sfu__nominal_rates.step_ns));
}

static void test_counts(void **state) {
    (void)state;
    const sfu__work spmm = {.kernel = SFU__KERNEL_SPMM, .rows = 10, .width = 8, .nonzeros = 100, .operand = 1000};
    assert_near(sfu__work_flops(&spmm), 2 * 100 * 8);
    assert_near(sfu__work_gathered(&spmm), 100 * 8 * 4);
    assert_near(sfu__work_draws(&spmm) + 1, 1);
    sfu__work drop = {.kernel = SFU__KERNEL_DROPOUT_SPARSE, .rows = 10, .width = 8, .nonzeros = 100, .draws = true};
    assert_near(sfu__work_draws(&drop), 100);
    drop.kernel = SFU__KERNEL_DROPOUT_MASK;
    assert_near(sfu__work_draws(&drop), 100);
    const sfu__work activate = {.kernel = SFU__KERNEL_ACTIVATE, .rows = 10, .width = 16, .draws = true};
    assert_near(sfu__work_draws(&activate), 160);
    assert_near(sfu__work_gathered(&activate) + 1, 1);
    for (int kernel = 0; kernel < SFU__KERNEL_COUNT; kernel++) {
        assert_true(strlen(sfu__kernel_name((sfu__kernel)kernel)) > 2);
    }
}

static void test_machine(void **state) {
    (void)state;
    sfu__machine machine;
    sfu__machine_detect(&machine);
    assert_true(machine.model[0] != '\0');
    assert_true(machine.cache_bytes[SFU__L1] >= 4096);
    assert_true(machine.cache_bytes[SFU__L2] > machine.cache_bytes[SFU__L1]);
    assert_true(machine.cache_bytes[SFU__L3] > machine.cache_bytes[SFU__L2]);
    assert_int_equal(sfu__machine_level(&machine, 100), SFU__L1);
    assert_int_equal(sfu__machine_level(&machine, machine.cache_bytes[SFU__L1] + 1), SFU__L2);
    assert_int_equal(sfu__machine_level(&machine, machine.cache_bytes[SFU__L3]), SFU__L3);
    assert_int_equal(sfu__machine_level(&machine, 1e15), SFU__RAM);
}

/* Each class of steps has its own factor, and every kernel and width belongs to one. */
static void test_slowdowns(void **state) {
    (void)state;
    static const int32_t widths[] = {1, 4, 8, 16, 32, 128};
    sfu__measured measured = {.kernels = "cpu: made up"};
    sfu__machine_detect(&measured.machine);
    bool met[SFU__CLASS_COUNT] = {false};
    for (int kind = 0; kind < SFU__CLASS_COUNT; kind++) {
        measured.rates[SFU__RATE_SLOWDOWN + kind] = kind + 0.5;
    }
    for (int kernel = 0; kernel < SFU__KERNEL_COUNT; kernel++) {
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
            const sfu__work work = {.kernel = (sfu__kernel)kernel,
                                    .rows = 1000,
                                    .width = widths[w],
                                    .inner = 30,
                                    .nonzeros = 5000,
                                    .operand = 10000,
                                    .draws = kernel == SFU__KERNEL_DROPOUT_MASK};
            const sfu__step_class kind = sfu__step_class_of(&work);
            const double nominal = sfu__work_seconds(&work, &sfu__nominal_rates);
            assert_near(sfu__predicted_seconds(&work, NULL), nominal);
            assert_near(sfu__predicted_seconds(&work, &measured), ((int)kind + 0.5) * nominal);
            met[kind] = true;
        }
    }
    for (int kind = 0; kind < SFU__CLASS_COUNT; kind++) {
        assert_true(met[kind]);
    }
    /* Gathers from memory are as much slower as memory is, if their class is not. */
    const sfu__work far = {.kernel = SFU__KERNEL_SPMM, .width = 4, .nonzeros = 5000, .operand = INT64_C(1) << 50};
    const double nominal = sfu__work_seconds(&far, &sfu__nominal_rates);
    measured.rates[SFU__RATE_READ + SFU__RAM] = 1.0;
    assert_near(sfu__predicted_seconds(&far, &measured),
                nominal * sizeof(float) / sfu__nominal_rates.stream_ns[SFU__SIZES - 1]);
    measured.rates[SFU__RATE_READ + SFU__RAM] = 1e6;
    assert_near(sfu__predicted_seconds(&far, &measured), 0.5 * nominal);
    const sfu__work narrow = {.kernel = SFU__KERNEL_GEMM, .width = 4}, wide = {.kernel = SFU__KERNEL_GEMM, .width = 64};
    assert_int_equal(sfu__step_class_of(&narrow), SFU__CLASS_GEMM);
    assert_int_equal(sfu__step_class_of(&wide), SFU__CLASS_GEMM + 2);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static char logged[1024];
static void keep_log(void *user, sfu_log_level level, const char *line) {
    (void)user;
    (void)level;
    snprintf(logged, sizeof logged, "%s", line);
}

/* A synthetic measurement. */
static sfu__measured made_up(void) {
    sfu__measured measured = {.kernels = "cpu: made up"};
    sfu__machine_detect(&measured.machine);
    for (int i = 0; i < SFU__RATE_COUNT; i++) {
        measured.rates[i] = i < SFU__RATE_SLOWDOWN ? 100 - i : 1;
    }
    measured.rates[SFU__RATE_DRAW] = 0.123456;
    return measured;
}

/* The path of the file: the only one in the folder. */
static void file_path(char path[512]) {
    FILE *list = popen("ls \"$XDG_CACHE_HOME\"/sfumato/rates.*", "r");
    assert_non_null(list);
    assert_non_null(fgets(path, 512, list));
    assert_int_equal(pclose(list), 0);
    path[strcspn(path, "\n")] = '\0';
}

static char *whole_file(const char *path, size_t *size) {
    char *bytes = malloc(65536);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 65535, file);
    bytes[*size] = '\0';
    (void)fclose(file);
    return bytes;
}

static void write_file(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    (void)fclose(file);
}

static bool loads(const sfu__measured *written) {
    sfu__measured read;
    logged[0] = '\0';
    return sfu__measured_load(&read, &written->machine, written->kernels);
}

static void test_kept(void **state) {
    (void)state;
    const sfu__measured measured = made_up();
    sfu__measured read;
    assert_false(sfu__measured_load(&read, &measured.machine, measured.kernels));
    assert_ok(sfu__measured_save(&measured));
    assert_true(sfu__measured_load(&read, &measured.machine, measured.kernels));
    assert_memory_equal(read.rates, measured.rates, sizeof read.rates);
    /* Another kernel set or another machine has its own file. */
    assert_false(sfu__measured_load(&read, &measured.machine, "cpu: other"));
    sfu__machine other = measured.machine;
    snprintf(other.model, sizeof other.model, "an abacus");
    assert_false(sfu__measured_load(&read, &other, measured.kernels));
}

/* Writes the text into the file, its first `from` replaced. */
static void write_changed(const char *path, const char *text, const char *from, const char *to) {
    char *changed = malloc(strlen(text) + strlen(to) + 1);
    const char *at = strstr(text, from);
    assert_non_null(changed);
    assert_non_null(at);
    const int before = (int)(at - text);
    const int size = sprintf(changed, "%.*s%s%s", before, text, to, at + strlen(from));
    write_file(path, changed, (size_t)size);
    free(changed);
}

/* Whether the file that results is ignored, and said to be. */
static void assert_ignored(const char *path, const char *text, const char *from, const char *to, const char *said) {
    const sfu__measured measured = made_up();
    write_changed(path, text, from, to);
    assert_false(loads(&measured));
    if (strstr(logged, said) == NULL || strstr(logged, path) == NULL) {
        fail_msg("said: %s", logged);
    }
}

static void test_broken(void **state) {
    (void)state;
    const sfu__measured measured = made_up();
    char path[512];
    size_t size;
    assert_ok(sfu__measured_save(&measured));
    file_path(path);
    char *text = whole_file(path, &size);
    for (size_t partition = 0; partition < size; partition += 1 + size / 50) {
        write_file(path, text, partition);
        assert_false(loads(&measured));
        assert_non_null(strstr(logged, "ignored: not JSON"));
    }
    assert_ignored(path, text, "sfumato.rates.6", "sfumato.rates.5", "another version");
    assert_ignored(path, text, "sfumato.rates.6", "sfumato.rices.6", "not a file of rates");
    assert_ignored(path, text, measured.machine.model, "an abacus", "another machine");
    assert_ignored(path, text, "0.123456", "-1", "numbers are missing");
    assert_ignored(path, text, "0.123456", "1e300", "numbers are missing");
    assert_ignored(path, text, "0.123456", "\"x\"", "numbers are missing");
    assert_ignored(path, text, "0.123456", "[1, 2]", "numbers are missing");
    assert_ignored(path, text, "\"dropout, per value\"", "\"drawn\"", "numbers are missing");
    assert_ignored(path, text, "100.0", "0", "numbers are missing"); /* 0 GB/s is invalid */
    assert_ignored(path, text, "1.0", "0", "numbers are missing");   /* nor does any step take no time */
    assert_ignored(path, text, "\"elementwise\"", "\"exp\"", "numbers are missing");
    write_changed(path, text, SFU_VERSION, "0.1.0"); /* the version of the program does not matter */
    assert_true(loads(&measured));
    write_file(path, text, size);
    assert_true(loads(&measured));
    free(text);
}

static sfu_status save_and_load(void *context) {
    const sfu__measured *written = context;
    sfu__measured read;
    const sfu_status status = sfu__measured_save(written);
    if (status == SFU_OK && !sfu__measured_load(&read, &written->machine, written->kernels)) {
        return SFU_ERR_MEMORY; /* loading does not report this: the file is optional */
    }
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    sfu__measured measured = made_up();
    test_fail_each_allocation(save_and_load, &measured, 100);
}

/* ---- measuring -------------------------------------------------------------------------------------------------- */

static bool count_calls(void *user, const sfu_progress *progress) {
    (void)progress;
    return ++*(int *)user < 1000;
}

static bool cancel(void *user, const sfu_progress *progress) {
    (void)user;
    return progress->done < 1;
}

static void test_bench(void **state) {
    (void)state;
    sfu_bench *bench = NULL;
    sfu__measured measured;
    int calls = 0;
    assert_fails(SFU_ERR_CANCELLED, sfu_bench_new(&bench, true, cancel, NULL), "cancelled");
    assert_null(bench);
    assert_fails(SFU_ERR_NOT_FOUND, sfu_bench_kept(&bench), "sfumato bench measures them");
    assert_null(bench);
    assert_false(sfu__measured_load_here(&measured));
    assert_ok(sfu_bench_new(&bench, true, count_calls, &calls));
    assert_true(calls > 1);
    const sfu_rate *rate;
    int count = 0;
    for (; (rate = sfu_bench_rate(bench, count)) != NULL; count++) {
        assert_true(rate->what[0] != '\0' && rate->unit[0] != '\0');
        assert_true(rate->value > 0 && rate->value < 1e6);
    }
    assert_true(count > 10);
    assert_null(sfu_bench_rate(bench, -1));
    sfu_bench *kept = NULL;
    assert_ok(sfu_bench_kept(&kept));
    for (int i = 0; i < count; i++) {
        assert_string_equal(sfu_bench_rate(kept, i)->what, sfu_bench_rate(bench, i)->what);
        const double now = sfu_bench_rate(bench, i)->value; /* the file has six digits */
        assert_true(fabs(sfu_bench_rate(kept, i)->value - now) <= 1e-4 * now);
    }
    assert_true(sfu__measured_load_here(&measured));
    assert_string_equal(sfu_bench_rate(kept, SFU__RATE_SLOWDOWN)->what, "spmm, up to 4 wide");
    for (int i = 0; i < SFU__RATE_COUNT; i++) {
        assert_near(measured.rates[i], sfu_bench_rate(kept, i)->value);
    }
    assert_int_equal(count, SFU__RATE_COUNT);
    sfu_bench_free(kept);
    sfu_bench_free(bench);
    sfu_bench_free(NULL);
}

/* Measuring takes a few seconds of one core. The limit is a guard: the speed of a machine decides no test. */
static void test_bench_is_quick(void **state) {
    (void)state;
    const double limit = 60.0;
    sfu_bench *bench = NULL;
    if (test_is_slow()) {
        print_message("skipped: only a release build has to be quick\n");
        skip();
    }
    const clock_t begin = clock();
    assert_ok(sfu_bench_new(&bench, false, NULL, NULL));
    const double took = (double)(clock() - begin) / CLOCKS_PER_SEC;
    sfu_bench_free(bench);
    if (took >= limit) {
        fail_msg("%.1f s of a core", took);
    }
}

/* ---- plans do not depend on measured rates ---------------------------------------------------------------------- */

/* Stores rates for this machine at which sparse products cost `sparse` times and dense ones `dense` times the
 * nominal. */
static void keep_strange_rates(double sparse, double dense) {
    const sfu__backend *backend = NULL;
    sfu__measured measured = made_up();
    assert_ok(sfu__backend_cpu(&backend));
    snprintf(measured.kernels, sizeof measured.kernels, "%s", backend->name);
    for (int wide = 0; wide < 3; wide++) {
        measured.rates[SFU__RATE_SLOWDOWN + SFU__CLASS_SPMM + wide] = sparse;
        measured.rates[SFU__RATE_SLOWDOWN + SFU__CLASS_GEMM + wide] = dense;
    }
    assert_ok(sfu__measured_save(&measured));
}

/* A plan as text without times, and the predicted seconds of an epoch. */
static void describe(sfu__text *text, double *predicted, const sfu_dataset *dataset, const sfu_split *split,
                     const char *name, bool nominal) {
    sfu_net *net = NULL;
    sfu_plan *plan = NULL;
    sfu_plan_options options;
    const sfu_step *step;
    sfu_plan_options_init(&options);
    *text = (sfu__text){0};
    *predicted = 0.0;
    assert_ok(sfu_net_parse(&net, name, NULL));
    assert_ok(sfu_plan_new(&plan, dataset, net, split, &options));
    assert_true(sfu_plan_is_nominal(plan) == nominal);
    for (int pass = 0; pass < SFU_PASSES; pass++) {
        for (int i = 0; (step = sfu_plan_step(plan, (sfu_pass)pass, i)) != NULL; i++) {
            assert_ok(sfu__text_format(text, "%d %s %s [%d, %d] %.17g %.17g %s\n", pass, step->op, step->text,
                                       step->rows, step->cols, step->flops, step->bytes, step->why));
            *predicted += step->predicted_s;
        }
    }
    sfu_plan_free(plan);
    sfu_net_free(net);
}

/* The plan of a network on one thread, with its inputs. */
typedef struct planned {
    sfu_dataset *dataset;
    sfu_split *split;
    sfu_net *net;
    sfu_plan *plan;
} planned;

static planned plan_of(const char *name) {
    planned it = {0};
    sfu_plan_options options;
    sfu_plan_options_init(&options);
    options.threads = 1;
    assert_ok(sfu_dataset_open(&it.dataset, "citation"));
    assert_ok(sfu_split_new(&it.split, it.dataset, NULL, NULL));
    assert_ok(sfu_net_parse(&it.net, name, NULL));
    assert_ok(sfu_plan_new(&it.plan, it.dataset, it.net, it.split, &options));
    return it;
}

static void forget(planned *it) {
    sfu_plan_free(it->plan);
    sfu_net_free(it->net);
    sfu_split_free(it->split);
    sfu_dataset_free(it->dataset);
}

/* A measured plan has a best round and ordered quartiles; an unmeasured one has neither. */
static void test_spread(void **state) {
    (void)state;
    planned it = plan_of("sgcn");
    sfu_plan *plan = it.plan;
    assert_true(isnan(sfu_plan_spread(plan, SFU_PASS_TRAIN).median_s));
    assert_true(isnan(sfu_plan_spread(plan, SFU_PASS_PREDICT).low_s));
    assert_ok(sfu_plan_measure(plan));
    const sfu_spread epoch = sfu_plan_spread(plan, SFU_PASS_TRAIN), predict = sfu_plan_spread(plan, SFU_PASS_PREDICT);
    const sfu_spread validation = sfu_plan_spread(plan, SFU_PASS_EVALUATE);
    assert_memory_equal(&epoch, &validation, sizeof epoch);
    const double best =
        sfu_plan_cost(plan, SFU_PASS_TRAIN)->measured_s + sfu_plan_cost(plan, SFU_PASS_EVALUATE)->measured_s;
    assert_true(best < 1.0001 * epoch.low_s && epoch.low_s <= epoch.median_s && epoch.median_s <= epoch.high_s);
    assert_true(sfu_plan_cost(plan, SFU_PASS_PREDICT)->measured_s < 1.0001 * predict.low_s);
    assert_true(predict.low_s <= predict.median_s && predict.median_s <= predict.high_s);
    forget(&it);
}

/* The lower bound of a network of narrow sparse products, at stored rates of `row_ns` per row and `read` GB/s, and its
 * expected value. */
static void assert_floor(const sfu_plan *plan, double row_ns, double read) {
    const sfu__backend *backend = NULL;
    sfu__measured measured = made_up();
    sfu_bench *bench = NULL;
    const sfu_step *step;
    double expected = 0.0;
    assert_ok(sfu__backend_cpu(&backend));
    snprintf(measured.kernels, sizeof measured.kernels, "%s", backend->name);
    for (int i = 0; i < SFU__MEMORY_LEVELS; i++) {
        measured.rates[SFU__RATE_READ + i] = read;
    }
    for (int w = 0; w < SFU__ROW_WIDTHS; w++) {
        measured.rates[SFU__RATE_ROW + w] = w == 1 ? row_ns : 1e6; /* rows of 8 floats: seven classes */
    }
    assert_ok(sfu__measured_save(&measured));
    assert_ok(sfu_bench_kept(&bench));
    for (int i = 0; (step = sfu_plan_step(plan, SFU_PASS_EVALUATE, i)) != NULL; i++) {
        if (strcmp(step->op, "spmm") == 0) { /* 2 flops per float of a gathered row */
            const double bytes = 2 * step->flops, rows = bytes / (4.0 * sfu__ld(step->cols));
            expected += 1e-9 * fmax(bytes / read, rows * row_ns);
        }
    }
    assert_true(expected > 0.0);
    assert_near(sfu_bench_floor(bench, plan, SFU_PASS_EVALUATE) / expected, 1.0);
    sfu_bench_free(bench);
}

/* Bound by bytes if bandwidth is low, by rows if rows are slow. */
static void test_floor(void **state) {
    (void)state;
    planned it = plan_of("linear+lp");
    assert_floor(it.plan, 0.5, 1e-3);
    assert_floor(it.plan, 100.0, 50.0);
    forget(&it);
}

static void assert_same_plan(const sfu_dataset *dataset, const sfu_split *split, const char *name) {
    static const double strange[][2] = {{1000, 1e-3}, {1e-3, 1000}};
    sfu__text nominal, here;
    double seconds_nominal, seconds_here;
    assert_int_equal(setenv("XDG_CACHE_HOME", test_path("no-rates"), 1), 0);
    describe(&nominal, &seconds_nominal, dataset, split, name, true);
    assert_int_equal(setenv("XDG_CACHE_HOME", test_path("strange-rates"), 1), 0);
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        keep_strange_rates(strange[i][0], strange[i][1]);
        describe(&here, &seconds_here, dataset, split, name, false);
        assert_string_equal(nominal.bytes, here.bytes);
        assert_true(seconds_here > 10 * seconds_nominal || strange[i][0] < 1); /* the stored rates were used */
        sfu__text_clear(&here);
    }
    sfu__text_clear(&nominal);
}

static void test_same_plans(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    sfu_split *split = NULL;
    assert_ok(sfu_dataset_open(&dataset, "citation"));
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    for (int i = 0; sfu_net_name(i, NULL) != NULL; i++) {
        if (strcmp(sfu_net_name(i, NULL), "lpnn") != 0) { /* has no plan */
            assert_same_plan(dataset, split, sfu_net_name(i, NULL));
        }
    }
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

static int use_a_fresh_folder(void **state) {
    (void)state;
    static int number;
    char name[32];
    snprintf(name, sizeof name, "cache%d", number++);
    sfu_set_log(keep_log, NULL);
    return setenv("XDG_CACHE_HOME", test_path(name), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_points),
                                       cmocka_unit_test(test_growth),
                                       cmocka_unit_test(test_counts),
                                       cmocka_unit_test(test_machine),
                                       cmocka_unit_test(test_slowdowns),
                                       cmocka_unit_test_setup(test_kept, use_a_fresh_folder),
                                       cmocka_unit_test_setup(test_broken, use_a_fresh_folder),
                                       cmocka_unit_test_setup(test_no_memory, use_a_fresh_folder),
                                       cmocka_unit_test_setup(test_bench, use_a_fresh_folder),
                                       cmocka_unit_test_setup(test_bench_is_quick, use_a_fresh_folder),
                                       cmocka_unit_test_setup(test_spread, use_a_fresh_folder),
                                       cmocka_unit_test_setup(test_floor, use_a_fresh_folder),
                                       cmocka_unit_test_setup(test_same_plans, use_a_fresh_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
