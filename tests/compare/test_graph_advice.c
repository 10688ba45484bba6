/* The sentence about the graph: which networks count as without it, each verdict, and the edge homophily. */
#include "support.h"

#include "graph_advice.h"
#include "result_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A network and its test accuracy on each split. */
typedef struct row {
    const char *net;
    double accuracies[8];
} row;

static void add_row(sfu_results *results, const row *one, int splits) {
    for (int split = 0; split < splits; split++) {
        sfu__entry entry = {.task = {.dataset = "mini", .size = "1", .alpha = NAN, .beta = NAN, .trials = 2},
                            .name = "mini",
                            .test_accuracy = one->accuracies[split],
                            .test_macro_f1 = 1 - one->accuracies[split],
                            .val_score = 0.5,
                            .test_score = 1 - one->accuracies[split]};
        snprintf(entry.task.net, sizeof entry.task.net, "%s", one->net);
        snprintf(entry.task.split, sizeof entry.task.split, "random:%d", split);
        assert_ok(sfu__entries_add(&results->entries, &entry));
    }
}

static void add_homophily(sfu_results *results, const char *value) {
    static sfu__detail details[1];
    details[0] = (sfu__detail){.task = {.dataset = "mini"}, .section = "property", .row = "edge homophily"};
    snprintf(details[0].value, sizeof details[0].value, "%s", value);
    results->details = (sfu__details){.items = details, .count = 1};
}

static sfu_results *results_of(const row *rows, int count, int splits, sfu_metric metric) {
    static const char *const datasets[] = {"mini"};
    const char *nets[4];
    for (int i = 0; i < count; i++) {
        nets[i] = rows[i].net;
    }
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.datasets = datasets;
    options.dataset_count = 1;
    options.nets = nets;
    options.net_count = count;
    options.splits = splits;
    options.trials = 2;
    options.metric = metric;
    sfu_results *results = sfu__alloc_zero(1, sizeof *results);
    assert_non_null(results);
    results->folder = sfu__copy_string("results");
    assert_ok(sfu__request_make(&results->request, "compare", &options));
    for (int i = 0; i < count; i++) {
        add_row(results, &rows[i], splits);
    }
    return results;
}

static void assert_advice(const row *rows, int count, int splits, const char *homophily, const char *wanted) {
    sfu_results *results = results_of(rows, count, splits, SFU_METRIC_ACCURACY);
    sfu__text notes = {0};
    if (homophily != NULL) {
        add_homophily(results, homophily);
    }
    assert_ok(sfu__results_finish(results));
    assert_ok(sfu__text_add(&notes, "", 0));
    assert_ok(sfu__graph_notes(&notes, results));
    assert_string_equal(notes.bytes, wanted);
    assert_true(*wanted == '\0' || strstr(sfu_results_text(results), wanted) != NULL);
    sfu__text_clear(&notes);
    results->details = (sfu__details){0};
    sfu_results_free(results);
}

#define HIGH                                                                                                           \
    { .81, .82, .83, .84, .85, .86, .87, .88 }
#define LOW                                                                                                            \
    { .61, .62, .63, .64, .65, .66, .67, .68 }
#define LIKE_HIGH                                                                                                      \
    { .83, .80, .85, .82, .87, .84, .89, .86 }
#define BELOW_HIGH                                                                                                     \
    { .83, .70, .85, .72, .87, .74, .89, .76 }

static void every_verdict(void **state) {
    (void)state;
    const row helps[] = {{"gcn", HIGH}, {"mlp", LOW}, {"linear", LOW}};
    assert_advice(helps, 3, 8, "0.81",
                  "- mini, size 1: the graph helps: the best network with it is gcn, 84.5 %; the best without it is "
                  "mlp, 64.5 %, significantly worse; edge homophily 0.81\n");
    const row hurts[] = {{"gcn", LOW}, {"mlp+lp", LOW}, {"linear", HIGH}};
    assert_advice(hurts, 3, 8, "0.10",
                  "- mini, size 1: the graph does not help: the best network with it is gcn, 64.5 %; the best without "
                  "it is linear, 84.5 %, significantly better; edge homophily 0.10\n");
    const row close[] = {{"sgcn", LIKE_HIGH}, {"mlp", HIGH}};
    assert_advice(close, 2, 8, NULL,
                  "- mini, size 1: the graph does not help: the best network with it is sgcn, 84.5 %; the best without "
                  "it is mlp, 84.5 %, not worse\n");
    const row unsure[] = {{"sgcn", HIGH}, {"mlp", BELOW_HIGH}};
    assert_advice(
        unsure, 2, 8, "nan", /* no edge between labelled nodes */
        "- mini, size 1: the splits do not show that the graph helps: the best network with it is sgcn, 84.5 %; "
        "the best without it is mlp, 79.5 %, not significantly worse\n");
    assert_advice(helps, 2, 1, NULL,
                  "- mini, size 1: one split does not show whether the graph helps: the best network with it is gcn, "
                  "81.0 %; the best without it is mlp, 61.0 %, not tested\n");
    assert_advice(hurts, 3, 1, NULL,
                  "- mini, size 1: the graph does not help: the best network with it is gcn, 61.0 %; the best without "
                  "it is linear, 81.0 %, not tested\n");
}

/* By their layers, not their names; lpnn uses the graph. */
static void compositions_count(void **state) {
    (void)state;
    const row both[] = {{"lpnn", HIGH}, {"dense 8 relu | softmax", LOW}};
    assert_advice(both, 2, 8, NULL,
                  "- mini, size 1: the graph helps: the best network with it is lpnn, 84.5 %; the best without it is "
                  "net 1, 64.5 %, significantly worse\n");
    const row with[] = {{"gcn", HIGH}, {"softmax | smooth", LOW}}, without[] = {{"mlp", HIGH}, {"linear", LOW}};
    assert_advice(with, 2, 8, "0.5", "");
    assert_advice(without, 2, 8, "0.5", "");
}

/* Another metric reverses the order here. */
static void the_metric_decides(void **state) {
    (void)state;
    const row rows[] = {{"gcn", HIGH}, {"mlp", LOW}};
    sfu_results *results = results_of(rows, 2, 8, SFU_METRIC_MACRO_F1);
    assert_ok(sfu__results_finish(results));
    const char *text = sfu_results_text(results);
    assert_non_null(strstr(text, "Test macro-F1 in percent"));
    assert_non_null(strstr(text,
                           "the graph does not help: the best network with it is gcn, 15.5 %; the best without it "
                           "is mlp, 35.5 %, significantly better"));
    assert_non_null(strstr(text, " --metric macro-f1 "));
    assert_null(strstr(text, "accuracy"));
    assert_true(fabs(sfu_results_cell(results, 0)->mean - 0.155) < 1e-12);
    assert_int_equal(sfu_results_metric(results), SFU_METRIC_MACRO_F1);
    sfu_results_free(results);
}

/* A damaged folder: a text that is no network is in neither group. */
static void broken_networks_are_left_out(void **state) {
    (void)state;
    const row rows[] = {{"gcn", HIGH}, {"mlp", LOW}};
    sfu_results *results = results_of(rows, 2, 8, SFU_METRIC_ACCURACY);
    const row broken = {"smooth^^ | so", HIGH};
    add_row(results, &broken, 8);
    assert_ok(sfu__results_finish(results));
    assert_non_null(strstr(sfu_results_text(results), "with it is gcn"));
    sfu_results_free(results);
}

static sfu_status finish_again(void *context) {
    const sfu_results *made = context;
    sfu_status status = SFU_OK;
    sfu__text notes = {0};
    SFU_TRY(sfu__graph_notes(&notes, made));
done:
    sfu__text_clear(&notes);
    return status;
}

static void memory_runs_out(void **state) {
    (void)state;
    const row rows[] = {{"gcn", HIGH}, {"mlp", LOW}};
    sfu_results *results = results_of(rows, 2, 8, SFU_METRIC_ACCURACY);
    assert_ok(sfu__results_finish(results));
    test_fail_each_allocation(finish_again, results, 200);
    sfu_results_free(results);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verdict),      cmocka_unit_test(compositions_count),
        cmocka_unit_test(the_metric_decides), cmocka_unit_test(broken_networks_are_left_out),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
