/* Statistics and warnings of a dataset: each count by hand, each warning with a dataset that triggers it and one that
 * does not. */
#include "support.h"

#include "dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400 };

/* A dataset without warnings, to be modified in one respect at a time: two classes of 100 nodes on two connected rings,
 * unit features, a standard split. */
typedef struct draft {
    int32_t from[4 * MOST], to[4 * MOST], labels[MOST];
    float weight[4 * MOST];
    float x[MOST * 3];
    int32_t train[1], val[1], test[1];
    const char *class_names[3];
    sfu_arrays arrays;
    sfu_import_options options;
} draft;

static void join(draft *d, int32_t from, int32_t to) {
    d->from[d->arrays.edges] = from;
    d->to[d->arrays.edges++] = to;
}

static draft *sound(void) {
    static draft d;
    memset(&d, 0, sizeof d);
    sfu_import_options_init(&d.options);
    d.options.name = "made";
    for (int i = 0; i < 200; i++) {
        d.labels[i] = i < 100 ? 0 : 1;
        d.x[3 * i + d.labels[i]] = 0.6F;
        d.x[3 * i + 2] = 0.8F;
        join(&d, i, (i + 1) % 200);
    }
    d.train[0] = 0;
    d.val[0] = 1;
    d.test[0] = 2;
    d.class_names[0] = "left";
    d.class_names[1] = "right";
    d.class_names[2] = "none";
    d.arrays.size = sizeof d.arrays;
    d.arrays.nodes = 200;
    d.arrays.edge_from = d.from;
    d.arrays.edge_to = d.to;
    d.arrays.features = 3;
    d.arrays.dense = d.x;
    d.arrays.labels = d.labels;
    d.arrays.classes = 2;
    d.arrays.class_names = d.class_names;
    d.arrays.standard[SFU_TRAIN] = d.train;
    d.arrays.standard[SFU_VAL] = d.val;
    d.arrays.standard[SFU_TEST] = d.test;
    for (int part = 0; part < SFU_PARTS; part++) {
        d.arrays.standard_count[part] = 1;
    }
    return &d;
}

static sfu_dataset *made(const draft *d) {
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_from_arrays(&dataset, &d->arrays, &d->options));
    return dataset;
}

static int count_warnings(const sfu_dataset *dataset) {
    char text[1024];
    int i = 0;
    while (sfu_dataset_warning(text, sizeof text, dataset, i) == SFU_OK) {
        i++;
    }
    return i;
}

static bool warns(const sfu_dataset *dataset, const char *part) {
    char text[1024];
    for (int i = 0; sfu_dataset_warning(text, sizeof text, dataset, i) == SFU_OK; i++) {
        assert_true(text[strlen(text) - 1] == '.');
        if (strstr(text, part) != NULL) {
            return true;
        }
    }
    return false;
}

/* Exactly these warnings, each recognized by a part of it. */
#define assert_warns(draft, ...) assert_exactly((draft), (const char *[]){__VA_ARGS__, NULL}, __LINE__)
static void assert_exactly(const draft *d, const char *const *parts, int line) {
    sfu_dataset *dataset = made(d);
    int wanted = 0;
    for (; parts[wanted] != NULL; wanted++) {
        if (!warns(dataset, parts[wanted])) {
            print_error("line %d: no warning has \"%s\"\n", line, parts[wanted]);
        }
        assert_true(warns(dataset, parts[wanted]));
    }
    char text[1024];
    for (int i = 0; count_warnings(dataset) != wanted && sfu_dataset_warning(text, sizeof text, dataset, i) == SFU_OK;
         i++) {
        print_error("line %d: %s\n", line, text);
    }
    assert_int_equal(count_warnings(dataset), wanted);
    sfu_dataset_free(dataset);
}

/* ---- counts ----------------------------------------------------------------------------------------------------- */

static sfu_info info_of(const sfu_dataset *dataset) {
    const sfu_info *info = NULL;
    assert_ok(sfu_dataset_info(&info, dataset));
    return *info;
}

/* 0 - 1 - 2, 2 - 3 twice, a loop on 3, 4 alone. Labels 0 0 1 - 1. */
static const int32_t small_from[] = {0, 1, 2, 3, 2, 3}, small_to[] = {1, 2, 3, 3, 3, 2},
                     small_labels[] = {0, 0, 1, SFU_NO_LABEL, 1};

static sfu_dataset *small(bool keep_loops, bool directed, const float *weights) {
    static const int64_t indptr[] = {0, 2, 2, 3, 4, 4};
    static const int32_t indices[] = {0, 1, 1, 2}, own[] = {0}, other[] = {1, 2};
    static const char *const class_names[] = {"a", "b", "c"};
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.keep_loops = keep_loops;
    options.directed = directed;
    const sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                               .nodes = 5,
                               .edges = 6,
                               .edge_from = small_from,
                               .edge_to = small_to,
                               .edge_weight = weights,
                               .features = 3,
                               .indptr = indptr,
                               .indices = indices,
                               .labels = small_labels,
                               .classes = 3,
                               .class_names = class_names,
                               .standard = {own, NULL, other},
                               .standard_count = {1, 0, 2}};
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_from_arrays(&dataset, &arrays, &options));
    return dataset;
}

static void counts_by_hand(void **state) {
    (void)state;
    sfu_dataset *dataset = small(false, false, NULL);
    const sfu_info info = info_of(dataset);
    assert_int_equal(info.nodes, 5);
    assert_int_equal(info.features, 3);
    assert_int_equal(info.classes, 3);
    assert_int_equal(info.edges, 3);
    assert_int_equal(info.self_loops, 0);
    assert_int_equal(info.self_loops_dropped, 1);
    assert_int_equal(info.duplicates_dropped, 1); /* 2 to 3 again; 3 to 2 is the same edge's other direction */
    assert_int_equal(info.feature_nonzeros, 4);
    assert_int_equal(info.unlabelled, 1);
    assert_int_equal(info.isolated, 1);
    assert_int_equal(info.featureless, 2);
    assert_int_equal(info.components, 2);
    assert_int_equal(info.largest_component, 4);
    assert_true(info.homophily == 0.5); /* 0-1 joins equals, 1-2 does not, 2-3 has an end without label */
    assert_true(info.mean_degree == 6.0 / 5);
    assert_int_equal(info.max_degree, 2);
    assert_false(info.directed);
    assert_false(info.weighted);
    assert_true(info.has_standard);
    assert_int_equal(info.standard[SFU_TRAIN], 1);
    assert_int_equal(info.standard[SFU_VAL], 0);
    assert_int_equal(info.standard[SFU_TEST], 2);
    assert_non_null(strstr(info.source, "\"format\":\"arrays\""));
    int32_t counts[3] = {-1, -1, -1};
    assert_ok(sfu_dataset_class_counts(counts, dataset));
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 2);
    assert_int_equal(counts[2], 0);
    sfu_dataset_free(dataset);
}

static void counts_of_other_kinds(void **state) {
    (void)state;
    sfu_dataset *dataset = small(true, false, NULL);
    sfu_info info = info_of(dataset);
    assert_int_equal(info.edges, 4); /* the loop counts one */
    assert_int_equal(info.self_loops, 1);
    assert_int_equal(info.self_loops_dropped, 0);
    assert_int_equal(info.isolated, 1);
    assert_true(info.mean_degree == 6.0 / 5);
    assert_true(info.homophily == 0.5);
    sfu_dataset_free(dataset);

    dataset = small(true, true, NULL); /* 0>1 1>2 2>3 3>2 and the loop */
    info = info_of(dataset);
    assert_true(info.directed);
    assert_int_equal(info.edges, 5);
    assert_int_equal(info.self_loops, 1);
    assert_int_equal(info.max_degree, 1);
    assert_int_equal(info.components, 2);
    assert_true(info.mean_degree == 4.0 / 5);
    sfu_dataset_free(dataset);

    static const float weights[] = {1, 2, 3, 4, 5, 6};
    dataset = small(false, false, weights);
    info = info_of(dataset);
    assert_true(info.weighted);
    assert_int_equal(info.edges, 3);
    sfu_dataset_free(dataset);
}

static void homophily_of_nothing(void **state) {
    (void)state;
    draft *d = sound();
    d->arrays.labels = NULL;
    d->arrays.classes = 0;
    d->arrays.class_names = NULL;
    sfu_dataset *dataset = made(d);
    const sfu_info info = info_of(dataset);
    assert_true(isnan(info.homophily));
    assert_int_equal(info.unlabelled, 200);
    assert_int_equal(info.classes, 0);
    sfu_dataset_free(dataset);
}

/* ---- warnings --------------------------------------------------------------------------------------------------- */

static void nothing_to_warn_of(void **state) {
    (void)state;
    sfu_dataset *dataset = made(sound());
    char text[8] = "kept";
    assert_fails(SFU_ERR_NOT_FOUND, sfu_dataset_warning(text, sizeof text, dataset, 0), "made: there are 0 warnings");
    assert_string_equal(text, "kept");
    sfu_dataset_free(dataset);
}

static void of_labels(void **state) {
    (void)state;
    draft *d = sound();
    for (int i = 10; i < 25; i++) {
        d->labels[i] = SFU_NO_LABEL;
    }
    assert_warns(d, "15 of 200 nodes have no label");
    d = sound();
    d->arrays.labels = NULL;
    d->arrays.standard[0] = d->arrays.standard[1] = d->arrays.standard[2] = NULL;
    assert_warns(d, "No node has a label");
    d = sound();
    for (int i = 0; i < 200; i++) {
        d->labels[i] = 1;
    }
    assert_warns(d, "All labels are of one class (\"right\")", "1 of 2 classes have no labelled node (\"left\")");
    d = sound();
    d->arrays.classes = 3;
    assert_warns(d, "1 of 3 classes have no labelled node (\"none\")");
    d = sound();
    for (int i = 10; i < 93; i++) { /* 17 stay left */
        d->labels[i] = 1;
    }
    assert_warns(d, "1 of 2 classes have fewer than 20 labelled nodes (the smallest, \"left\", has 17)",
                 "(\"right\", 183 nodes) has 10 times the nodes of the smallest (\"left\", 17)");
    d = sound();
    d->labels[1] = SFU_NO_LABEL;
    assert_warns(d, "1 of 200 nodes have no label", "1 nodes of the standard split have no label");
    d = sound(); /* by number where there are no names */
    for (int i = 100; i < 200; i++) {
        d->labels[i] = 2;
    }
    d->arrays.classes = 0;
    d->arrays.class_names = NULL;
    assert_warns(d, "1 of 3 classes have no labelled node (\"1\")");
}

static void of_the_graph(void **state) {
    (void)state;
    draft *d = sound();
    d->arrays.edges = 0;
    assert_warns(d, "No two nodes are joined");
    d = sound();
    d->arrays.edges -= 3; /* node 198 and 199 are left alone */
    assert_warns(d, "2 of 200 nodes have no neighbour");
    d = sound();
    d->to[60] = d->from[60]; /* cut at 60 and 130 and 199: pieces of 61, 70 and 69 */
    d->to[130] = d->from[130];
    d->to[199] = d->from[199];
    assert_warns(d, "has 3 connected components and the largest holds 70 of 200 nodes");
    d = sound();
    for (int i = 0; i < 200; i++) { /* 0 0 1 0 1: one edge in five joins equals */
        d->labels[i] = i % 5 == 2 || i % 5 == 4;
    }
    assert_warns(d, "Only 20 % of the edges between labelled nodes");
    d = sound();
    d->options.keep_loops = true;
    join(d, 5, 5);
    assert_warns(d, "1 self-loops were kept");
    d = sound();
    d->options.directed = true;
    assert_warns(d, "The graph is directed");
}

static void of_features_and_split(void **state) {
    (void)state;
    draft *d = sound();
    d->arrays.dense = NULL;
    assert_warns(d, "The features are one-hot node ids");
    d = sound();
    memset(d->x + 30, 0, 6 * sizeof *d->x);
    assert_warns(d, "2 of 200 nodes have no features");
    d = sound();
    d->options.scale = SFU_SCALE_NONE;
    d->x[0] = 30;
    assert_warns(d, "Features are not scaled: the L2 norms of the feature vectors range from 1 to 30");
    d->options.scale = SFU_SCALE_SUM;
    sfu_dataset *dataset = made(d);
    assert_int_equal(count_warnings(dataset), 0);
    sfu_dataset_free(dataset);
    d = sound();
    d->arrays.standard[0] = d->arrays.standard[1] = d->arrays.standard[2] = NULL;
    assert_warns(d, "There is no standard split: holdout:0 is drawn");
}

/* An import makes such features sparse; a container written elsewhere may have them dense. */
static void of_dense_zeros(void **state) {
    (void)state;
    enum { NODES = 1000, FEATURES = 1000 };
    const int64_t offsets[] = {NODES + 1}, none[] = {0}, shape[] = {NODES, FEATURES};
    int64_t *indptr = sfu__alloc_zero(NODES + 1, sizeof *indptr);
    float *x = sfu__alloc_zero((size_t)NODES * FEATURES, sizeof *x);
    for (int i = 0; i < NODES; i++) {
        x[i * FEATURES + i / 2] = 1;
    }
    sfu_dataset *dataset = NULL;
    assert_ok(sfu__dataset_new(&dataset, "elsewhere"));
    assert_ok(sfu__dataset_take(dataset, "adj.indptr", SFU__I64, 1, offsets, indptr));
    assert_ok(sfu__dataset_take(dataset, "adj.indices", SFU__I32, 1, none, sfu__alloc(0, 1)));
    assert_ok(sfu__dataset_take(dataset, "x", SFU__F32, 2, shape, x));
    assert_ok(sfu__dataset_bind(dataset, "elsewhere", -1));
    assert_true(warns(dataset, "stored dense, 4 MB, although only 0.1 %"));
    const sfu_info info = info_of(dataset);
    assert_int_equal(info.feature_nonzeros, NODES);
    assert_int_equal(info.featureless, 0);
    assert_null(info.source);
    sfu_dataset_free(dataset);
}

/* A label in a foreign file that would require memory for two billion classes. */
static void a_label_out_of_proportion(void **state) {
    (void)state;
    static const int32_t labels[] = {0, INT32_MAX - 1};
    const sfu_arrays arrays = {.size = sizeof(sfu_arrays), .nodes = 2, .labels = labels};
    sfu_import_options options;
    sfu_import_options_init(&options);
    sfu_dataset *dataset = NULL;
    assert_fails(SFU_ERR_FORMAT, sfu_dataset_from_arrays(&dataset, &arrays, &options), "a label is 2147483646",
                 "below 65536");
}

/* ---- real datasets ----------------------------------------------------------------------------------------------- */

static void assert_counts(const char *source, const char *edges, const char *features, const char *labels,
                          const int32_t *want, const int32_t *class_counts, double homophily, const char *digest) {
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.source = source;
    options.edges = edges;
    options.features = features;
    options.labels = labels;
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_import(&dataset, &options));
    const sfu_info info = info_of(dataset);
    const int32_t got[] = {info.nodes,   (int32_t)info.edges, info.features, (int32_t)info.feature_nonzeros,
                           info.classes, info.unlabelled};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(got[i], want[i]);
    }
    int32_t counts[16];
    assert_ok(sfu_dataset_class_counts(counts, dataset));
    for (int i = 0; i < info.classes; i++) {
        assert_int_equal(counts[i], class_counts[i]);
    }
    assert_true(fabs(info.homophily - homophily) < 5e-5);
    assert_true(warns(dataset, "15 of 3327 nodes have no label") == (info.nodes == 3327));
    if (info.nodes == 3327) {
        assert_int_equal(info.isolated, 48);
        assert_true(warns(dataset, "48 of 3327 nodes have no neighbour"));
    }
    /* The sizes of the paper's tables, for every seed. */
    for (int set = 1; set <= 5; set++) {
        char size[2] = {(char)('0' + set), 0};
        sfu_split *split = NULL;
        assert_ok(sfu_split_new(&split, dataset, "random:7", size));
        int32_t count = 0;
        sfu_split_part(split, SFU_TRAIN, &count);
        assert_int_equal(count, want[5 + set]);
        sfu_split_part(split, SFU_VAL, &count);
        assert_int_equal(count, 500);
        sfu_split_part(split, SFU_TEST, &count);
        assert_int_equal(count, 1000);
        sfu_split_free(split);
    }
    sfu_split *pinned = NULL;
    assert_ok(sfu_split_new(&pinned, dataset, "random:0", NULL));
    assert_string_equal(sfu_split_digest(pinned), digest);
    sfu_split_free(pinned);
    sfu_dataset_free(dataset);
}

static void skip_without(const char *part) {
    const char *line;
    for (int i = 0; (line = sfu_version_part(i)) != NULL; i++) {
        const size_t size = strlen(part);
        if (strncmp(line, part, size) == 0 && strncmp(line + size, " 0", 2) == 0) {
            print_message("skipped: not part of this build: %s\n", line);
            skip();
        }
    }
}

static void cora(void **state) {
    (void)state;
    assert_counts(test_data("planetoid/ind.cora"), NULL, NULL, NULL,
                  (const int32_t[]){2708, 5278, 1433, 49216, 7, 0, 140, 407, 674, 941, 1208},
                  (const int32_t[]){351, 217, 418, 818, 426, 298, 180}, 0.8100,
                  "24fe197c8a49e243382e3aaa1230a713ebcd8a401c63f54a6b1cb2863932bbb4");
}

static void citeseer(void **state) {
    (void)state;
    assert_counts(test_data("planetoid/ind.citeseer"), NULL, NULL, NULL,
                  (const int32_t[]){3327, 4552, 3703, 105165, 6, 15, 120, 547, 974, 1401, 1812},
                  (const int32_t[]){249, 590, 668, 701, 596, 508}, 0.7377,
                  "3aa2cc5c4f94aad151bccf47c5f509bf907c07f29509a7e654357d4681dc71e6");
}

static void pubmed(void **state) {
    (void)state;
    assert_counts(test_data("planetoid/ind.pubmed"), NULL, NULL, NULL,
                  (const int32_t[]){19717, 44324, 500, 988031, 3, 0, 60, 4600, 9139, 13678, 18217},
                  (const int32_t[]){4103, 7739, 7875}, 0.8024,
                  "3865bf5a2e078442e6712e460eb7fee2637ab8b20782b0034a6839fbd9300074");
}

static void acm(void **state) {
    (void)state;
    skip_without("mat");
    assert_counts(test_data("acm/ACM3025.mat"), "PAP", "feature", "label",
                  (const int32_t[]){3025, 13128, 1870, 253300, 3, 0, 60, 426, 792, 1158, 1525},
                  (const int32_t[]){1061, 965, 999}, 0.8208,
                  "4822f6e6373ad0bed00206c2440bdb59d74fa932584655be0fe6802cf29ea85f");
}

static void dblp(void **state) {
    (void)state;
    skip_without("npz");
    char edges[4096], features[4096], labels[4096];
    snprintf(edges, sizeof edges, "%s", test_data("dblp/apa.npz"));
    snprintf(features, sizeof features, "%s", test_data("dblp/a_feat.npz"));
    snprintf(labels, sizeof labels, "%s", test_data("dblp/labels.npy"));
    assert_counts(NULL, edges, features, labels,
                  (const int32_t[]){4057, 3528, 334, 48810, 4, 0, 80, 699, 1318, 1937, 2557},
                  (const int32_t[]){1197, 745, 1109, 1006}, 0.7988,
                  "e90af90793ac7441fa66a1ec8d4c0f9db195a83d6afac55cbcde25cc03320d2c");
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static sfu_status tell_everything(void *context) {
    const draft *d = context;
    sfu_dataset *dataset = NULL;
    sfu_matrix *smoothing = NULL;
    const sfu_info *info = NULL;
    char text[1024];
    sfu_smoothing_options options;
    sfu_smoothing_options_init(&options);
    sfu_status status = sfu_dataset_from_arrays(&dataset, &d->arrays, &d->options);
    if (status == SFU_OK) {
        status = sfu_dataset_info(&info, dataset);
    }
    if (status == SFU_OK) {
        status = sfu_dataset_warning(text, sizeof text, dataset, 0);
    }
    if (status == SFU_OK) {
        status = sfu_smoothing_new(&smoothing, dataset, &options);
    }
    sfu_matrix_free(smoothing);
    sfu_dataset_free(dataset);
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    draft *d = sound();
    d->options.directed = true;
    d->options.threads = 1;
    test_fail_each_allocation(tell_everything, d, 400);
}

/* The smoothing matrix through the public interface: a directed graph is not treated as symmetric. */
static void smoothing_of_a_dataset(void **state) {
    (void)state;
    sfu_dataset *dataset = small(false, true, NULL); /* 0>1 1>2 2>3 3>2 */
    sfu_smoothing_options options;
    sfu_smoothing_options_init(&options);
    options.norm = SFU_NORM_COL;
    sfu_matrix *matrix = NULL;
    assert_ok(sfu_smoothing_new(&matrix, dataset, &options));
    const sfu_csr s = sfu_matrix_csr(matrix);
    assert_int_equal(s.rows, 5);
    static const float want[] = {1, 0.5F, 0.5F, 1.0F / 3, 1.0F / 3, 0.5F, 1.0F / 3, 0.5F, 1};
    assert_int_equal(s.indptr[5], 9);
    for (int i = 0; i < 9; i++) {
        assert_true(fabsf(s.values[i] - want[i]) < 1e-7F);
    }
    sfu_matrix_free(matrix);
    options.self = -2;
    assert_fails(SFU_ERR_ARGUMENT, sfu_smoothing_new(&matrix, dataset, &options), "self is -2");
    assert_null(matrix);
    sfu_matrix_free(NULL);
    sfu_dataset_free(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_by_hand),
                                       cmocka_unit_test(counts_of_other_kinds),
                                       cmocka_unit_test(homophily_of_nothing),
                                       cmocka_unit_test(nothing_to_warn_of),
                                       cmocka_unit_test(of_labels),
                                       cmocka_unit_test(of_the_graph),
                                       cmocka_unit_test(of_features_and_split),
                                       cmocka_unit_test(of_dense_zeros),
                                       cmocka_unit_test(a_label_out_of_proportion),
                                       cmocka_unit_test(cora),
                                       cmocka_unit_test(citeseer),
                                       cmocka_unit_test(pubmed),
                                       cmocka_unit_test(acm),
                                       cmocka_unit_test(dblp),
                                       cmocka_unit_test(smoothing_of_a_dataset),
                                       cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
