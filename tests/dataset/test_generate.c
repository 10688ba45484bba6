/* The generator: the dataset has the requested properties, and the same bytes on every machine and for any number of
 * threads. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sfu_make_options defaults(void) {
    sfu_make_options options;
    sfu_make_options_init(&options);
    return options;
}

/* Measured properties of a generated dataset. */
typedef struct statistics {
    double degree, homophily, words, on_topic;
    int32_t isolated, most;
    char digest[65];
} statistics;

static statistics facts_of(const sfu_dataset *dataset) {
    const sfu_csr graph = sfu_dataset_graph(dataset), x = sfu_dataset_sparse(dataset);
    const int32_t *labels = sfu_dataset_labels(dataset);
    const int32_t nodes = graph.rows, classes = sfu_dataset_classes(dataset);
    double same = 0, on_topic = 0;
    statistics seen = {0};
    for (int32_t node = 0; node < nodes; node++) {
        const int32_t degree = (int32_t)(graph.indptr[node + 1] - graph.indptr[node]);
        seen.isolated += degree == 0;
        seen.most = degree > seen.most ? degree : seen.most;
        for (int64_t i = graph.indptr[node]; i < graph.indptr[node + 1]; i++) {
            assert_int_not_equal(graph.indices[i], node);
            same += labels[graph.indices[i]] == labels[node];
        }
        for (int64_t i = x.indptr[node]; i < x.indptr[node + 1]; i++) {
            on_topic += x.indices[i] % classes == labels[node];
        }
    }
    seen.degree = (double)graph.indptr[nodes] / nodes;
    seen.homophily = same / (double)graph.indptr[nodes];
    seen.words = (double)x.indptr[nodes] / nodes;
    seen.on_topic = on_topic / (double)x.indptr[nodes];
    assert_ok(sfu_dataset_digest(seen.digest, dataset));
    return seen;
}

static statistics make(const sfu_make_options *options) {
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_make(&dataset, options));
    const statistics seen = facts_of(dataset);
    sfu_dataset_free(dataset);
    return seen;
}

static void assert_near(double value, double wanted, double tolerance) {
    if (!(fabs(value - wanted) <= tolerance)) {
        print_error("%g is not within %g of %g\n", value, tolerance, wanted);
        fail();
    }
}

/* ---- the same bytes --------------------------------------------------------------------------------------------- */

static void digests_are_pinned(void **state) {
    (void)state;
    sfu_make_options options = defaults();
    assert_string_equal(make(&options).digest, "b410a03c4a0e971e08d8895803674d030026372ab59f4f3e1254d8e5d8dbb3c1");
    options.seed = 0xfedcba9876543210;
    assert_string_equal(make(&options).digest, "c07f5c03b016c9fbacff809035b83a8e8fe85017783c670e22c85cd614eb7da4");
    options = defaults();
    options.nodes = 500;
    options.classes = 40;
    options.vocabulary = 30;
    options.words = 25;
    options.degree = 30;
    options.power = 0;
    options.homophily = 0.3;
    options.noise = 0.1;
    assert_string_equal(make(&options).digest, "69cdc8923d1cc52a45257e04f89014926f49311c126f32046484d9a4cc9d8fc0");
    options.power = 2.05;
    options.words = 2.5;
    assert_string_equal(make(&options).digest, "e144ab50459f86f54972b978a0111c4079c0fe8fd30f34d0171dcf7eb428b0bd");
}

/* Dense features: pinned, unit vectors, and closer to the mean of their own class than to those of the others. */
static void dense_features(void **state) {
    (void)state;
    enum { DENSE = 128, CLASSES = 7 };
    static double means[CLASSES][DENSE];
    sfu_make_options options = defaults();
    sfu_dataset *dataset = NULL;
    char digest[65];
    options.dense = DENSE;
    options.noise = 0;
    assert_ok(sfu_dataset_make(&dataset, &options));
    const float *x = sfu_dataset_dense(dataset);
    const int32_t *labels = sfu_dataset_labels(dataset);
    for (int32_t i = 0; i < options.nodes; i++) {
        double norm = 0;
        for (int j = 0; j < DENSE; j++) {
            norm += (double)x[i * DENSE + j] * (double)x[i * DENSE + j];
            means[labels[i]][j] += (double)x[i * DENSE + j];
        }
        assert_near(norm, 1, 1e-5);
    }
    int32_t nearest = 0;
    for (int32_t i = 0; i < options.nodes; i++) {
        double best = -1e9;
        int32_t found = 0;
        for (int32_t c = 0; c < CLASSES; c++) {
            double product = 0, norm = 0;
            for (int j = 0; j < DENSE; j++) {
                product += means[c][j] * (double)x[i * DENSE + j];
                norm += means[c][j] * means[c][j];
            }
            found = product / sqrt(norm) > best ? c : found;
            best = product / sqrt(norm) > best ? product / sqrt(norm) : best;
        }
        nearest += found == labels[i];
    }
    assert_near((double)nearest / options.nodes, 0.8, 0.03); /* a fifth are outsiders */
    sfu_dataset_free(dataset);
    options.noise = 0.56;
    assert_ok(sfu_dataset_make(&dataset, &options));
    assert_ok(sfu_dataset_digest(digest, dataset));
    assert_string_equal(digest, "24b961fd945f0da895bcdcdef0ac13ee146b3100601d86d4c552cb4580ae277d");
    sfu_dataset_free(dataset);
    options.dense = -1;
    assert_fails(SFU_ERR_ARGUMENT, sfu_dataset_make(&dataset, &options), "dense is -1");
}

static void threads_change_nothing(void **state) {
    (void)state;
    sfu_make_options options = defaults();
    options.nodes = 40000;
    options.degree = 60; /* more edges than one thread takes at once */
    options.words = 3;
    options.threads = 1;
    const statistics one = make(&options);
    options.threads = 3;
    const statistics three = make(&options);
    assert_string_equal(one.digest, three.digest);
    assert_near(one.degree, 60, 0.6);
}

static void seeds_change_everything(void **state) {
    (void)state;
    sfu_make_options options = defaults();
    const statistics first = make(&options);
    options.seed = 1;
    const statistics second = make(&options);
    assert_string_not_equal(first.digest, second.digest);
}

/* ---- requested properties ---------------------------------------------------------------------------------------- */

static void the_default_is_like_cora(void **state) {
    (void)state;
    const sfu_make_options options = defaults();
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_make(&dataset, &options));
    assert_string_equal(sfu_dataset_name(dataset), "citation");
    assert_int_equal(sfu_dataset_nodes(dataset), 2708);
    assert_int_equal(sfu_dataset_features(dataset), 1433);
    assert_int_equal(sfu_dataset_classes(dataset), 7);
    assert_string_equal(sfu_dataset_class_name(dataset, 0), "Optics");
    const statistics seen = facts_of(dataset);
    assert_near(seen.degree, 3.9, 0.05);
    assert_near(seen.homophily, 0.8, 0.01);
    assert_near(seen.words, 18, 0.3);
    assert_in_range(seen.isolated, 0, 10);
    assert_in_range(seen.most, 40, 200);

    /* One seventh of the common words are on topic by chance, and an outsider's never more than that. */
    const double common = options.noise / 7;
    assert_near(seen.on_topic, common + (1 - options.noise) * 0.8, 0.02);

    /* Unit vectors. */
    const sfu_csr x = sfu_dataset_sparse(dataset);
    for (int32_t node = 0; node < x.rows; node++) {
        double square = 0;
        for (int64_t i = x.indptr[node]; i < x.indptr[node + 1]; i++) {
            square += x.values != NULL ? (double)x.values[i] * (double)x.values[i] : 1;
        }
        assert_near(square, 1, 1e-5);
    }
    const sfu_info *found = NULL;
    assert_ok(sfu_dataset_info(&found, dataset));
    const sfu_info info = *found;
    assert_non_null(strstr(info.source, "\"recipe\":{\"seed\":\"0\",\"nodes\":2708,\"classes\":7,\"vocabulary\":1433,"
                                        "\"degree\":3.9,\"power\":2.7,\"homophily\":0.8,\"words\":18.0,"
                                        "\"noise\":0.56}"));
    sfu_dataset_free(dataset);
}

static void the_split_is_as_planetoids(void **state) {
    (void)state;
    const sfu_make_options options = defaults();
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_make(&dataset, &options));
    const int32_t *labels = sfu_dataset_labels(dataset);
    static const int32_t wanted[SFU_PARTS] = {140, 500, 1000};
    int train[7] = {0};
    char *taken = calloc(2708, 1);
    for (int part = 0; part < SFU_PARTS; part++) {
        int32_t count;
        const int32_t *nodes = sfu_dataset_standard(dataset, (sfu_part)part, &count);
        assert_int_equal(count, wanted[part]);
        for (int32_t i = 0; i < count; i++) {
            assert_int_equal(taken[nodes[i]], 0);
            taken[nodes[i]] = 1;
            train[labels[nodes[i]]] += part == SFU_TRAIN;
        }
    }
    for (int c = 0; c < 7; c++) {
        assert_int_equal(train[c], 20);
    }
    free(taken);
    sfu_dataset_free(dataset);
}

/* The fraction of nodes with at least k neighbours falls as k^-(power - 1). */
static void degrees_follow_the_power_law(void **state) {
    (void)state;
    sfu_make_options options = defaults();
    options.nodes = 60000;
    options.classes = 3;
    options.words = 1;
    options.degree = 10;
    static const double powers[] = {2.3, 2.7, 3.5};
    for (size_t i = 0; i < sizeof powers / sizeof powers[0]; i++) {
        options.power = powers[i];
        sfu_dataset *dataset = NULL;
        assert_ok(sfu_dataset_make(&dataset, &options));
        const sfu_csr graph = sfu_dataset_graph(dataset);
        double some = 0, many = 0;
        for (int32_t node = 0; node < graph.rows; node++) {
            /* About 5 of the edges are the node's own citations. */
            const int64_t citations = graph.indptr[node + 1] - graph.indptr[node] - 5;
            some += citations >= 20;
            many += citations >= 60;
        }
        assert_near(log(some / many) / log(3), powers[i] - 1, 0.25);
        sfu_dataset_free(dataset);
    }
}

static void shares_are_met(void **state) {
    (void)state;
    sfu_make_options options = defaults();
    static const double shares[] = {0, 0.25, 0.6, 0.9, 1};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        options.homophily = shares[i];
        options.noise = shares[i];
        const statistics seen = make(&options);
        const double outsiders = 1 - shares[i] < 0.2 ? 1 - shares[i] : 0.2;
        assert_near(seen.homophily, shares[i], shares[i] == 0 || shares[i] == 1 ? 0 : 0.02);
        assert_near(seen.degree, 3.9, 0.05);
        assert_near(seen.on_topic, shares[i] / 7 + (1 - shares[i]) * (1 - outsiders), 0.02);
    }
}

/* Dense graphs lose many draws to duplicates, and still have about the requested degree. */
static void crowded_graphs_have_their_degree(void **state) {
    (void)state;
    sfu_make_options options = defaults();
    options.nodes = 400;
    options.degree = 60;
    options.power = 3;
    options.homophily = 0.4;
    const statistics seen = make(&options);
    assert_near(seen.degree, 60, 3);
    assert_near(seen.homophily, 0.4, 0.04);
}

static void corners(void **state) {
    (void)state;
    sfu_make_options options = defaults();
    sfu_dataset *dataset = NULL;
    options.nodes = options.classes = options.vocabulary = 1;
    options.degree = options.words = 0;
    options.name = NULL;
    assert_ok(sfu_dataset_make(&dataset, &options));
    assert_int_equal(sfu_dataset_graph(dataset).indptr[1], 0);
    assert_int_equal(sfu_dataset_labels(dataset)[0], 0);
    int32_t count = -1;
    assert_null(sfu_dataset_standard(dataset, SFU_TRAIN, &count)); /* nothing would be left to test on */
    assert_int_equal(count, 0);
    sfu_dataset_free(dataset);

    options = defaults();
    options.words = options.vocabulary; /* everyone uses every word */
    options.nodes = 50;
    options.degree = 49 - 1e-9;
    assert_near(make(&options).words, options.vocabulary, 0);

    options = defaults();
    options.nodes = options.classes = 100; /* no two of a class */
    options.degree = 5;
    assert_near(make(&options).homophily, 0, 0);

    options = defaults();
    options.classes = 1;
    options.homophily = 0.5;
    assert_near(make(&options).homophily, 1, 0);

    options = defaults();
    options.classes = 20; /* more than there are names */
    assert_ok(sfu_dataset_make(&dataset, &options));
    assert_string_equal(sfu_dataset_class_name(dataset, 19), "19");
    sfu_dataset_free(dataset);
}

/* ---- refused options --------------------------------------------------------------------------------------------- */

#define REFUSED(field, value, ...)                                                                                     \
    do {                                                                                                               \
        sfu_make_options options = defaults();                                                                         \
        sfu_dataset *dataset = NULL;                                                                                   \
        options.field = (value);                                                                                       \
        assert_fails(SFU_ERR_ARGUMENT, sfu_dataset_make(&dataset, &options), #field, __VA_ARGS__);                     \
        assert_null(dataset);                                                                                          \
    } while (0)

static void wrong_options_are_quoted(void **state) {
    (void)state;
    REFUSED(nodes, 0, "is 0", "between 1 and");
    REFUSED(nodes, -5, "is -5");
    REFUSED(nodes, INT32_MAX, "is 2147483647");
    REFUSED(classes, 0, "is 0", "at least 1");
    REFUSED(classes, 2709, "is 2709", "number of nodes");
    REFUSED(vocabulary, 0, "is 0", "at least 1");
    REFUSED(degree, -0.5, "is -0.5", "at least 0");
    REFUSED(degree, 2708, "is 2708", "less than the number of nodes");
    REFUSED(degree, NAN, "is nan");
    REFUSED(power, 2, "is 2", "more than 2");
    REFUSED(power, -1, "is -1");
    REFUSED(power, INFINITY, "is inf");
    REFUSED(homophily, 1.5, "is 1.5", "between 0 and 1");
    REFUSED(homophily, NAN, "is nan");
    REFUSED(words, 1434, "is 1434", "vocabulary");
    REFUSED(words, -1, "is -1");
    REFUSED(noise, -0.1, "is -0.1", "between 0 and 1");
    sfu_make_options options = defaults();
    sfu_dataset *dataset = NULL;
    options.nodes = 100000000;
    options.degree = 1000;
    assert_fails(SFU_ERR_ARGUMENT, sfu_dataset_make(&dataset, &options), "degree is 1000", "4294967296 edges");
}

static bool stop_at(void *user, const sfu_progress *progress) { return strcmp(progress->what, user) != 0; }

static void it_can_be_cancelled(void **state) {
    (void)state;
    static const char *const phases[] = {"drawing edges", "drawing words", "sorting edges"};
    for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        sfu_make_options options = defaults();
        sfu_dataset *dataset = NULL;
        options.threads = 1;
        options.progress = stop_at;
        options.progress_user = (void *)(uintptr_t)phases[i];
        assert_fails(SFU_ERR_CANCELLED, sfu_dataset_make(&dataset, &options), phases[i]);
        assert_null(dataset);
    }
}

static sfu_status make_small(void *context) {
    (void)context;
    sfu_make_options options = defaults();
    sfu_dataset *dataset = NULL;
    options.nodes = 200;
    options.threads = 1;
    const sfu_status status = sfu_dataset_make(&dataset, &options);
    sfu_dataset_free(dataset);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    test_fail_each_allocation(make_small, NULL, 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_pinned),
        cmocka_unit_test(dense_features),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(seeds_change_everything),
        cmocka_unit_test(the_default_is_like_cora),
        cmocka_unit_test(the_split_is_as_planetoids),
        cmocka_unit_test(degrees_follow_the_power_law),
        cmocka_unit_test(shares_are_met),
        cmocka_unit_test(crowded_graphs_have_their_degree),
        cmocka_unit_test(corners),
        cmocka_unit_test(wrong_options_are_quoted),
        cmocka_unit_test(it_can_be_cancelled),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
