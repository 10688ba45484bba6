/* Models on other datasets: features and classes by name, scores of whatever labels there are. */
#include "support.h"

#include "file.h"
#include "metrics.h"
#include "model.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 90, WORDS = 12, CLASSES = 3 };

/* ---- data -------------------------------------------------------------------------------------------------------- */

/* Node i has class i % 3 and mostly words of it. */
static bool has_word(int node, int word) {
    return word % CLASSES == node % CLASSES ? (node + word) % 2 == 0 : (node * word) % 7 == 1;
}

/* How a dataset is written: the order of the words, which of them, the form. */
typedef struct form {
    int turn;              /* word w is at (w + turn) % WORDS */
    int without;           /* this word is left out, -1: none */
    const char *extra;     /* a word that only this dataset has, or NULL */
    bool dense, backwards; /* backwards: the classes are named in the opposite order */
    const char *renamed;   /* name of class c, or NULL */
} form;

static const char *write_features(const form *as) {
    static char text[NODES * WORDS * 24 + 400];
    size_t used = 0;
    if (as->dense) {
        used += (size_t)sprintf(text + used, "node");
        for (int i = 0; i < WORDS; i++) {
            const int word = (i + as->turn) % WORDS;
            used += word != as->without ? (size_t)sprintf(text + used, ",word%d", word) : 0;
        }
        used += (size_t)sprintf(text + used, "%s%s\n", as->extra ? "," : "", as->extra ? as->extra : "");
    } else {
        used += (size_t)sprintf(text + used, "node,feature,value\n");
    }
    for (int node = 0; node < NODES; node++) {
        used += as->dense ? (size_t)sprintf(text + used, "n%d", node) : 0;
        for (int i = 0; i < WORDS; i++) {
            const int word = (i + as->turn) % WORDS;
            if (word == as->without) {
                continue;
            }
            if (as->dense) {
                used += (size_t)sprintf(text + used, ",%.2f", has_word(node, word) + 0.25);
            } else if (has_word(node, word)) {
                used += (size_t)sprintf(text + used, "n%d,word%d,1\n", node, word);
            }
        }
        if (as->extra) {
            used += as->dense ? (size_t)sprintf(text + used, ",1")
                              : (size_t)sprintf(text + used, "n%d,%s,1\n", node, as->extra);
        }
        used += as->dense ? (size_t)sprintf(text + used, "\n") : 0;
    }
    return test_text_file(as->dense ? "dense.csv" : "sparse.csv", text);
}

static sfu_dataset *make(const form *as, int labelled) {
    static char edges[NODES * 24], labels[NODES * 24];
    static const char *const names[2][CLASSES] = {{"art", "bio", "chem"}, {"chem", "bio", "art"}};
    size_t used = 0, said = 0;
    for (int node = 0; node < NODES; node++) {
        used += (size_t)sprintf(edges + used, "n%d,n%d\n", node, (node + 3) % NODES);
        if (node < labelled) {
            const char *name = names[0][node % CLASSES];
            said += (size_t)sprintf(labels + said, "n%d,%s\n", node,
                                    as->renamed && node % CLASSES == 2 ? as->renamed : name);
        }
    }
    edges[used] = labels[said] = '\0';
    sfu_dataset *made = NULL;
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.name = "here";
    options.edges = test_text_file("edges.csv", edges);
    options.features = write_features(as);
    options.labels = test_text_file("labels.csv", labels);
    options.class_names = as->renamed ? NULL : names[as->backwards];
    options.class_name_count = as->renamed ? 0 : CLASSES;
    options.scale = SFU_SCALE_NONE;
    options.threads = 1;
    assert_ok(sfu_dataset_import(&made, &options));
    return made;
}

static const form plain = {.without = -1}, turned = {.turn = 5, .without = -1, .backwards = true};

/* Trained on the first nodes: 0 to 29 train, 30 to 44 validate, 45 to 59 test. */
static sfu_model *train(const sfu_dataset *dataset) {
    sfu_model *model = NULL;
    sfu_net *net = NULL;
    sfu_split *split = NULL;
    sfu_train_options options;
    int32_t nodes[60];
    sfu_train_options_init(&options);
    options.epochs = 20;
    options.threads = 1;
    for (int32_t i = 0; i < 60; i++) {
        nodes[i] = i;
    }
    const int32_t *const parts[SFU_PARTS] = {nodes, nodes + 30, nodes + 45};
    const int32_t counts[SFU_PARTS] = {30, 15, 15};
    assert_ok(sfu_net_parse(&net, "smooth | dense 8 relu | smooth | softmax", NULL));
    assert_ok(sfu_split_from_nodes(&split, dataset, parts, counts));
    assert_ok(sfu_train(&model, dataset, net, split, &options));
    sfu_split_free(split);
    sfu_net_free(net);
    return model;
}

static sfu_dataset *dataset;
static sfu_model *model;

static int set_up(void **state) {
    (void)state;
    dataset = make(&plain, NODES);
    model = train(dataset);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    sfu_model_free(model);
    sfu_dataset_free(dataset);
    return 0;
}

/* Rows by the names of the nodes: importing sorts nodes as they first occur. */
static void predict(float rows[NODES][CLASSES], const sfu_dataset *on, bool ignore) {
    float found[NODES][CLASSES];
    sfu_predict_options options;
    sfu_predict_options_init(&options);
    options.ignore_unknown_features = ignore;
    options.threads = 1;
    assert_ok(sfu_predict_with(found[0], NULL, on, model, &options));
    for (int32_t i = 0; i < NODES; i++) {
        char name[8] = "";
        size_t size = 0;
        const char *bytes = sfu_dataset_node_name(on, i, &size);
        memcpy(name, bytes, size < 7 ? size : 7);
        memcpy(rows[atoi(name + 1)], found[i], sizeof found[i]);
    }
}

/* ---- features ---------------------------------------------------------------------------------------------------- */

static void the_order_of_features_does_not_matter(void **state) {
    (void)state;
    float here[NODES][CLASSES], there[NODES][CLASSES];
    predict(here, dataset, false);
    sfu_dataset *other = make(&turned, NODES);
    assert_string_not_equal(sfu_dataset_feature_name(dataset, 0), sfu_dataset_feature_name(other, 0));
    predict(there, other, false);
    assert_memory_equal(here, there, sizeof here);
    sfu_dataset_free(other);
    for (int turn = 0; turn < 4; turn += 3) {
        other = make(&(form){.turn = turn, .without = -1, .dense = true}, NODES);
        assert_non_null(sfu_dataset_dense(other));
        predict(turn == 0 ? here : there, other, false);
        sfu_dataset_free(other);
    }
    assert_memory_equal(here, there, sizeof here);
}

static void features_that_one_side_lacks(void **state) {
    (void)state;
    float here[NODES][CLASSES], there[NODES][CLASSES];
    predict(here, dataset, false);
    sfu_dataset *more = make(&(form){.turn = 2, .without = -1, .extra = "novel"}, NODES);
    sfu_dataset *fewer = make(&(form){.without = 4}, NODES);
    sfu_dataset *full = make(&(form){.without = 4, .dense = true}, NODES);
    assert_fails(SFU_ERR_ARGUMENT, sfu_predict(there[0], NULL, more, model, 1),
                 "here: the model does not know the feature \"novel\"; --unknown-features ignore");
    predict(there, more, true);
    assert_memory_equal(here, there, sizeof here);
    assert_fails(SFU_ERR_ARGUMENT, sfu_predict(there[0], NULL, fewer, model, 1),
                 "here: the feature \"word4\" of the model is missing; --unknown-features ignore takes it as 0");
    predict(there, fewer, true);
    assert_memory_not_equal(here, there, sizeof here);
    sfu_predict_options options;
    sfu_predict_options_init(&options);
    options.ignore_unknown_features = true;
    assert_fails(SFU_ERR_ARGUMENT, sfu_predict_with(there[0], NULL, full, model, &options),
                 "the feature \"word4\" of the model is missing");
    assert_null(strstr(sfu_message(), "--unknown"));
    sfu_dataset_free(more);
    sfu_dataset_free(fewer);
    sfu_dataset_free(full);
}

static void some_nodes_only(void **state) {
    (void)state;
    static const int32_t nodes[] = {0, 7, 8, NODES - 1}, wrong[] = {3, 3}, far[] = {1, NODES};
    float all[NODES][CLASSES], some[4][CLASSES];
    int32_t labels[4];
    sfu_predict_options options;
    sfu_predict_options_init(&options);
    assert_ok(sfu_predict(all[0], NULL, dataset, model, 1));
    options.nodes = nodes;
    options.node_count = 4;
    assert_ok(sfu_predict_with(some[0], labels, dataset, model, &options));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(labels[i], sfu__largest(all[nodes[i]], CLASSES));
        assert_memory_equal(some[i], all[nodes[i]], sizeof some[i]);
    }
    options.node_count = 2;
    options.nodes = wrong;
    assert_fails(SFU_ERR_ARGUMENT, sfu_predict_with(some[0], labels, dataset, model, &options), "node 1 of the list");
    options.nodes = far;
    assert_fails(SFU_ERR_ARGUMENT, sfu_predict_with(some[0], labels, dataset, model, &options), "is 90");
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

static void scores_are_those_of_the_predictions(void **state) {
    (void)state;
    float probabilities[NODES][CLASSES];
    int32_t right = 0, confusion[CLASSES][CLASSES] = {{0}};
    const int32_t *labels = sfu_dataset_labels(dataset);
    sfu_evaluation *evaluation = NULL;
    assert_ok(sfu_predict(probabilities[0], NULL, dataset, model, 1));
    double loss = 0;
    for (int i = 0; i < NODES; i++) {
        const int32_t guess = sfu__largest(probabilities[i], CLASSES);
        right += guess == labels[i];
        confusion[labels[i]][guess]++;
        loss -= log((double)probabilities[i][labels[i]]) / NODES;
    }
    assert_ok(sfu_evaluate(&evaluation, dataset, model, NULL));
    const sfu_evaluation_summary *found = sfu_evaluation_scores(evaluation);
    assert_int_equal(found->nodes, NODES);
    assert_int_equal(found->correct, right);
    assert_int_equal(found->unlabelled, 0);
    assert_true(found->fitted_known);
    assert_int_equal(found->fitted, 45);
    assert_true(fabs(found->accuracy - (double)right / NODES) < 1e-12);
    assert_true(found->low < found->accuracy && found->accuracy <= found->high);
    assert_true(fabs(found->log_loss - loss) < 1e-5);
    assert_true(found->auc > 0.5 && found->auc <= 1 && found->average_precision > 0.3);
    assert_true(found->calibration_error >= 0 && found->calibration_error < 1);
    for (int32_t truth = 0; truth < CLASSES; truth++) {
        for (int32_t guess = 0; guess < CLASSES; guess++) {
            assert_int_equal(sfu_evaluation_confusion(evaluation, truth, guess), confusion[truth][guess]);
        }
        assert_int_equal(sfu_evaluation_class_score(evaluation, truth).support, NODES / CLASSES);
    }
    assert_int_equal(sfu_evaluation_confusion(evaluation, -1, CLASSES), 0);
    sfu_evaluation_free(evaluation);
}

/* Classes in another order, only some labels, nodes that the model has not seen. */
static void classes_are_matched_by_name(void **state) {
    (void)state;
    sfu_evaluation *one = NULL, *other = NULL;
    sfu_dataset *there = make(&turned, NODES);
    assert_string_equal(sfu_dataset_class_name(there, 0), "chem");
    assert_ok(sfu_evaluate(&one, dataset, model, NULL));
    assert_ok(sfu_evaluate(&other, there, model, NULL));
    assert_int_equal(sfu_evaluation_scores(one)->correct, sfu_evaluation_scores(other)->correct);
    assert_int_equal(sfu_evaluation_scores(other)->fitted, 45);
    for (int32_t c = 0; c < CLASSES; c++) {
        assert_int_equal(sfu_evaluation_confusion(one, c, c), sfu_evaluation_confusion(other, c, c));
    }
    sfu_evaluation_free(one);
    sfu_evaluation_free(other);
    sfu_dataset_free(there);
}

static void labels_of_unknown_classes(void **state) {
    (void)state;
    sfu_evaluation *evaluation = NULL;
    sfu_dataset *other = make(&(form){.without = -1, .renamed = "zoology"}, 60);
    float probabilities[NODES][CLASSES];
    assert_fails(SFU_ERR_ARGUMENT, sfu_predict(probabilities[0], NULL, other, model, 1), "\"zoology\"");
    assert_ok(sfu_evaluate(&evaluation, other, model, NULL));
    const sfu_evaluation_summary *found = sfu_evaluation_scores(evaluation);
    assert_int_equal(found->nodes, 60);
    assert_int_equal(found->unlabelled, NODES - 60);
    assert_int_equal(found->unknown_class, 20);
    assert_true(found->correct <= 40);
    sfu_evaluation_free(evaluation);
    sfu_dataset_free(other);
}

static void lists_of_nodes(void **state) {
    (void)state;
    int32_t nodes[NODES], count = -1;
    sfu_evaluation *evaluation = NULL;
    sfu_evaluate_options options;
    const char *path = test_text_file("nodes.csv", "node,label\nn80,art\nn70,bio\nn80,art\n");
    assert_ok(sfu_nodes_read(nodes, &count, dataset, path));
    assert_int_equal(count, 2);
    sfu_evaluate_options_init(&options);
    options.nodes = nodes;
    options.node_count = count;
    assert_ok(sfu_evaluate(&evaluation, dataset, model, &options));
    assert_int_equal(sfu_evaluation_scores(evaluation)->nodes, 2);
    assert_int_equal(sfu_evaluation_scores(evaluation)->fitted, 0);
    sfu_evaluation_free(evaluation);
    assert_ok(sfu_nodes_read(nodes, &count, dataset, test_text_file("one.csv", "n3\n")));
    assert_int_equal(count, 1);
    assert_fails(SFU_ERR_FORMAT, sfu_nodes_read(nodes, &count, dataset, test_text_file("bad.csv", "n3\nnobody\n")),
                 "bad.csv:2", "\"nobody\" is not a node of the dataset");
    assert_fails(SFU_ERR_NOT_FOUND, sfu_nodes_read(nodes, &count, dataset, test_path("nothing.csv")), "nothing.csv");
}

static void nothing_to_score(void **state) {
    (void)state;
    sfu_evaluation *evaluation = NULL;
    sfu_dataset *few = make(&plain, 10);
    static const int32_t nodes[] = {40, 50}, wrong[] = {5, 4};
    sfu_evaluate_options options;
    sfu_evaluate_options_init(&options);
    options.nodes = nodes;
    options.node_count = 2;
    assert_fails(SFU_ERR_ARGUMENT, sfu_evaluate(&evaluation, few, model, &options), "none of the 2 nodes has a label");
    options.nodes = wrong;
    assert_fails(SFU_ERR_ARGUMENT, sfu_evaluate(&evaluation, few, model, &options), "node 1 of the list is 4");
    assert_null(evaluation);
    sfu_dataset_free(few);
}

static sfu_status evaluate_other(void *context) {
    sfu_evaluation *evaluation = NULL;
    int32_t nodes[NODES], count = 0;
    sfu_status status = sfu_nodes_read(nodes, &count, context, test_path("nodes.csv"));
    if (status == SFU_OK) {
        status = sfu_evaluate(&evaluation, context, model, NULL);
    }
    sfu_evaluation_free(evaluation);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sfu_dataset *other = make(&turned, NODES);
    test_text_file("nodes.csv", "n1\nn2\n");
    assert_ok(evaluate_other(other));
    test_fail_each_allocation(evaluate_other, other, test_is_slow() ? 50 : 400);
    sfu_dataset_free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_features_does_not_matter),
        cmocka_unit_test(features_that_one_side_lacks),
        cmocka_unit_test(some_nodes_only),
        cmocka_unit_test(scores_are_those_of_the_predictions),
        cmocka_unit_test(classes_are_matched_by_name),
        cmocka_unit_test(labels_of_unknown_classes),
        cmocka_unit_test(lists_of_nodes),
        cmocka_unit_test(nothing_to_score),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
