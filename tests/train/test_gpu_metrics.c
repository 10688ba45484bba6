/* Trainings by metrics other than accuracy, by device code on the host: the scores, the best epoch and the parameters
 * of the CPU, for many and for two classes, few and one-sided validation nodes, ties. */
#include "gpu_on_host.h"

#include <stdlib.h>

enum { EPOCHS = 10 };

static sfu_status translate_any(sfu__gpu_translation *translation, const sfu__runner *runner,
                                const sfu__objective *objective, int32_t epochs) {
    return runner->lpnn != NULL ? sfu__gpu_translate_lpnn(translation, runner->lpnn, objective, epochs)
                                : gpu_translate_plan(translation, runner, objective, epochs);
}

static sfu_dataset *made_dataset(int32_t nodes, int32_t classes) {
    sfu_dataset *dataset = NULL;
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = nodes;
    options.classes = classes;
    options.vocabulary = 60;
    options.seed = 8;
    assert_ok(sfu_dataset_make(&dataset, &options));
    return dataset;
}

typedef struct training_case {
    const char *net;
    sfu_metric metric;
    sfu_keep keep;
    double lr;
} training_case;

static void check(const sfu_dataset *dataset, const sfu_split *split, const training_case *it) {
    sfu_net *net = NULL;
    sfu__runner runner = {0};
    sfu__objective objective = {0};
    sfu__scorer scorer = {0};
    assert_ok(sfu__objective_make(&objective, dataset, split, &(sfu__objective_options){.metric = it->metric}));
    assert_ok(sfu__objective_scorer(&scorer, &objective, dataset));
    assert_ok(sfu_net_parse(&net, it->net, NULL));
    const sfu__plan_request request = sfu__train_request(net, split, 0.5, 1, (sfu__device){.kind = SFU__DEVICE_CPU});
    assert_ok(sfu__runner_make(&runner, dataset, net, &request));
    sfu__training training = {.seed = 5,
                              .lr = it->lr,
                              .weight_decay = 5e-4,
                              .dropout = 0.5,
                              .epochs = test_is_slow() ? 3 : EPOCHS,
                              .patience = it->keep == SFU_KEEP_BEST ? 3 : 0,
                              .keep = it->keep,
                              .objective = &objective,
                              .scorer = it->metric != SFU_METRIC_ACCURACY ? &scorer : NULL,
                              .outcome_only = true};
    gpu_assert_same_training(it->net, &runner, &training, translate_any, 1 << 12);
    sfu__runner_clear(&runner);
    sfu__scorer_clear(&scorer);
    sfu__objective_clear(&objective);
    sfu_net_free(net);
}

static void check_metrics(const sfu_dataset *dataset, const sfu_split *split, const char *net) {
    for (int metric = SFU_METRIC_ACCURACY; metric <= SFU_METRIC_AVERAGE_PRECISION; metric++) {
        for (int keep = SFU_KEEP_BEST; keep <= (test_is_slow() ? SFU_KEEP_BEST : SFU_KEEP_LAST); keep++) {
            check(dataset, split, &(training_case){net, (sfu_metric)metric, (sfu_keep)keep, 0.05});
        }
    }
}

static void every_metric(void **state) {
    (void)state;
    static const char *const nets[] = {"gcn", "lpnn", "linear+lp", "smooth(learn=left) | dense 8 relu | softmax"};
    for (int32_t classes = 2; classes <= 5; classes += 3) {
        sfu_dataset *dataset = made_dataset(240, classes);
        sfu_split *split = NULL;
        assert_ok(sfu_split_new(&split, dataset, "random:0", NULL));
        for (size_t i = 0; i < (test_is_slow() ? 2 : sizeof nets / sizeof nets[0]); i++) {
            check_metrics(dataset, split, nets[i]);
        }
        sfu_split_free(split);
        sfu_dataset_free(dataset);
    }
}

/* Validation nodes of one class, of two, and one of them: metrics that are not defined, classes without nodes. */
static void few_validation_nodes(void **state) {
    (void)state;
    enum { TRAIN = 40, VAL = 9 };
    sfu_dataset *dataset = made_dataset(200, 4);
    const int32_t *labels = sfu_dataset_labels(dataset);
    int32_t train[TRAIN], val[VAL], test = 199;
    for (int32_t i = 0; i < TRAIN; i++) {
        train[i] = i;
    }
    for (int32_t wanted = 1; wanted <= 4; wanted++) {
        sfu_split *split = NULL;
        int32_t count = 0;
        for (int32_t i = TRAIN; i < test && count < (wanted == 4 ? 1 : VAL); i++) {
            if (labels[i] < wanted) {
                val[count++] = i;
            }
        }
        const int32_t *parts[] = {train, val, &test};
        const int32_t counts[] = {TRAIN, count, 1};
        assert_ok(sfu_split_from_nodes(&split, dataset, parts, counts));
        check_metrics(dataset, split, "gcn");
        sfu_split_free(split);
    }
    sfu_dataset_free(dataset);
}

/* Probabilities that are equal for many nodes, and a training that diverges. */
static void ties_and_divergence(void **state) {
    (void)state;
    sfu_dataset *dataset = made_dataset(240, 3);
    sfu_split *split = NULL;
    assert_ok(sfu_split_new(&split, dataset, "random:1", NULL));
    for (int metric = SFU_METRIC_MACRO_F1; metric <= SFU_METRIC_AVERAGE_PRECISION; metric++) {
        const double rates[] = {1e-12, 20.0, 1e30};
        for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
            check(dataset, split, &(training_case){"mlp", (sfu_metric)metric, SFU_KEEP_BEST, rates[i]});
        }
    }
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_metric),
        cmocka_unit_test(few_validation_nodes),
        cmocka_unit_test(ties_and_divergence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
