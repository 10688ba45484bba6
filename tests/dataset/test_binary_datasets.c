/* The readers of binary formats on the public datasets. The expected numbers were computed with numpy and scipy from
 * the same files: counts, and checksums that detect permuted rows. */
#include "support.h"

#include "raw.h"

#include <string.h>
#include <stdio.h>

typedef struct figures {
    const char *name;
    sfu_status (*read)(sfu__raw *raw, const sfu_import_options *options);
    const char *source, *edges, *features_name, *labels;
    int64_t nodes, features, nonzeros, pairs, classes;
    int64_t class_counts[7];
    int64_t unlabelled, standard[SFU_PARTS];
    uint64_t pair_sum;    /* of from * 1000003 + to * 7 + from * to */
    uint64_t feature_sum; /* of row * (col + 1) over the non-zeros */
    double value_sum;
    int64_t label_sum; /* of (node + 1) * label */
} figures;

static const figures known[] = {
    {"cora",
     sfu__read_planetoid,
     "planetoid/ind.cora",
     NULL,
     NULL,
     NULL,
     2708,
     1433,
     49216,
     10858,
     7,
     {351, 217, 418, 818, 426, 298, 180},
     0,
     {140, 500, 1000},
     14241903033230u,
     52498446523u,
     49216,
     10514174},
    {"citeseer",
     sfu__read_planetoid,
     "planetoid/ind.citeseer",
     NULL,
     NULL,
     NULL,
     3327,
     3703,
     105165,
     9464,
     6,
     {249, 590, 668, 701, 596, 508},
     15,
     {120, 500, 1000},
     15460659115446u,
     317626340755u,
     105165,
     14854682},
    {"pubmed",
     sfu__read_planetoid,
     "planetoid/ind.pubmed",
     NULL,
     NULL,
     NULL,
     19717,
     500,
     988031,
     88676,
     3,
     {4103, 7739, 7875},
     0,
     {60, 500, 1000},
     873166541751798u,
     1825062035613u,
     38716.295094509376,
     231043241},
    {"shchur",
     sfu__read_npz,
     "npz/cora.npz",
     NULL,
     NULL,
     NULL,
     2708,
     1433,
     49216,
     5429,
     7,
     {298, 418, 818, 426, 217, 180, 351},
     0,
     {0, 0, 0},
     9052966315331u,
     52991492058u,
     49216,
     9751217},
    {"dblp",
     sfu__read_scipy,
     NULL,
     "dblp/apa.npz",
     "dblp/a_feat.npz",
     "dblp/labels.npy",
     4057,
     334,
     48810,
     11113,
     4,
     {1197, 745, 1109, 1006},
     0,
     {0, 0, 0},
     20502638729534u,
     13398169194u,
     48810,
     11534297},
    {"acm",
     sfu__read_mat,
     "acm/ACM3025.mat",
     "PAP",
     "feature",
     "label",
     3025,
     1870,
     253300,
     29281,
     3,
     {1061, 965, 999},
     0,
     {600, 300, 2125},
     43928547812176u,
     198809487749u,
     253300,
     6536908},
};

/* A path of a dataset, kept; a name that is none stays as it is. */
static const char *place(char *buffer, size_t size, const char *name) {
    if (name == NULL || strchr(name, '/') == NULL) {
        return name;
    }
    snprintf(buffer, size, "%s", test_data(name));
    return buffer;
}

static void check_pairs(const figures *want, const sfu__raw *raw) {
    uint64_t sum = 0;
    for (size_t b = 0; b < raw->pairs.block_count; b++) {
        assert_null(raw->pairs.blocks[b].weights);
        for (int64_t i = 0; i < raw->pairs.blocks[b].count; i++) {
            const uint64_t from = raw->pairs.blocks[b].ends[2 * i];
            const uint64_t to = raw->pairs.blocks[b].ends[2 * i + 1];
            sum += from * 1000003 + to * 7 + from * to;
        }
    }
    assert_true(raw->has_graph);
    assert_int_equal(raw->pairs.count, want->pairs);
    assert_int_equal(sum, want->pair_sum);
}

/* Counts and sums one non-zero. */
static void add_feature(int64_t *count, uint64_t *sum, double *values, int64_t row, int64_t col, float value) {
    ++*count;
    *sum += (uint64_t)row * ((uint64_t)col + 1);
    *values += (double)value;
}

static void check_features(const figures *want, const sfu__raw *raw) {
    int64_t count = 0;
    uint64_t sum = 0;
    double values = 0;
    assert_true(raw->has_features);
    assert_int_equal(raw->features, want->features);
    for (int64_t row = 0; row < want->nodes; row++) {
        for (int64_t col = 0; raw->dense != NULL && col < raw->features; col++) {
            const float value = raw->dense[row * raw->features + col];
            if (value != 0) {
                add_feature(&count, &sum, &values, row, col, value);
            }
        }
        for (int64_t i = raw->dense == NULL ? raw->sparse.indptr[row] : 0;
             raw->dense == NULL && i < raw->sparse.indptr[row + 1]; i++) {
            add_feature(&count, &sum, &values, row, raw->sparse.indices[i], raw->sparse.values[i]);
        }
    }
    assert_int_equal(count, want->nonzeros);
    assert_int_equal(sum, want->feature_sum);
    assert_true(values > want->value_sum - 1e-6 && values < want->value_sum + 1e-6);
}

static void check_labels(const figures *want, const sfu__raw *raw) {
    int64_t counts[7] = {0};
    int64_t unlabelled = 0;
    int64_t sum = 0;
    assert_int_equal(raw->classes, want->classes);
    for (int64_t i = 0; i < raw->nodes; i++) {
        sum += (i + 1) * raw->labels[i];
        if (raw->labels[i] == SFU_NO_LABEL) {
            unlabelled++;
        } else {
            counts[raw->labels[i]]++;
        }
    }
    assert_memory_equal(counts, want->class_counts, sizeof counts);
    assert_int_equal(unlabelled, want->unlabelled);
    assert_int_equal(sum, want->label_sum);
}

/* Skips formats whose library this build does not have. */
static void read_or_skip(sfu_status (*read)(sfu__raw *raw, const sfu_import_options *options), sfu__raw *raw,
                         const sfu_import_options *options) {
    const sfu_status status = read(raw, options);
    if (status == SFU_ERR_UNSUPPORTED) {
        print_message("skipped: %s\n", sfu_message());
        sfu__raw_clear(raw);
        skip();
    }
    assert_ok(status);
}

static void check_one(const figures *want) {
    char paths[4][4096];
    sfu__raw raw = {0};
    sfu_import_options options = {.size = sizeof(sfu_import_options),
                                  .source = place(paths[0], sizeof paths[0], want->source),
                                  .edges = place(paths[1], sizeof paths[1], want->edges),
                                  .features = place(paths[2], sizeof paths[2], want->features_name),
                                  .labels = place(paths[3], sizeof paths[3], want->labels)};
    read_or_skip(want->read, &raw, &options);
    assert_int_equal(raw.nodes, want->nodes);
    check_pairs(want, &raw);
    check_features(want, &raw);
    check_labels(want, &raw);
    for (int part = 0; part < SFU_PARTS; part++) {
        assert_int_equal(raw.standard_count[part], want->standard[part]);
    }
    assert_int_equal(raw.has_standard, want->standard[SFU_TRAIN] > 0);
    sfu__raw_clear(&raw);
}

static void each_is_as_numpy_has_it(void **state) { check_one(*state); }

static void shchur_has_names(void **state) {
    (void)state;
    sfu__raw raw = {0};
    const sfu_import_options options = {.size = sizeof(sfu_import_options), .source = test_data("npz/cora.npz")};
    size_t size;
    read_or_skip(sfu__read_npz, &raw, &options);
    assert_int_equal(raw.node_names.count, 2708);
    assert_int_equal(raw.class_names.count, 7);
    assert_memory_equal(sfu__strings_get(&raw.node_names, 0, &size), "1000012", 7);
    assert_int_equal(size, 7);
    assert_memory_equal(sfu__strings_get(&raw.class_names, 6, &size), "Theory", 6);
    assert_int_equal(size, 6);
    sfu__raw_clear(&raw);
}

int main(void) {
    enum { KNOWN = sizeof known / sizeof known[0] };
    struct CMUnitTest tests[KNOWN + 1];
    for (int i = 0; i < KNOWN; i++) {
        static figures copies[KNOWN];
        copies[i] = known[i];
        tests[i] = (struct CMUnitTest){known[i].name, each_is_as_numpy_has_it, NULL, NULL, &copies[i]};
    }
    tests[KNOWN] = (struct CMUnitTest){"shchur_has_names", shchur_has_names, NULL, NULL, NULL};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
