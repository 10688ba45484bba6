/* Noise in the edges: the counts are exact, larger shares contain smaller ones, nothing else changes, and the bytes are
 * the same on every machine. The edges are compared in a dense matrix. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = 60, PAIRS = 180 };

/* A random graph with self-loops and weights, and everything else that a dataset can have. */
typedef struct kind {
    bool directed, weighted;
} kind;

static sfu_dataset *make_dataset(kind of) {
    static int32_t from[PAIRS], to[PAIRS], labels[NODES], train[] = {1, 3, 5}, test[] = {2, 40};
    static float weights[PAIRS], dense[NODES][2], column[NODES];
    static const char *const classes[] = {"a", "b"}, *const features[] = {"x", "y"}, *const columns[] = {"trust"};
    const float *const values[] = {column};
    uint32_t state = 7;
    for (int i = 0; i < PAIRS; i++) {
        state = state * 1664525 + 1013904223;
        from[i] = (int32_t)((state >> 8) % NODES);
        state = state * 1664525 + 1013904223;
        to[i] = (int32_t)(i < 4 ? from[i] : (int32_t)((state >> 8) % NODES));
        weights[i] = 1 + (float)i;
    }
    for (int i = 0; i < NODES; i++) {
        labels[i] = i % 2;
        dense[i][0] = dense[i][1] = column[i] = (float)(i + 1);
    }
    sfu_arrays arrays = {.size = sizeof arrays,
                         .nodes = NODES,
                         .edges = PAIRS,
                         .edge_from = from,
                         .edge_to = to,
                         .edge_weight = of.weighted ? weights : NULL,
                         .features = 2,
                         .dense = &dense[0][0],
                         .labels = labels,
                         .classes = 2,
                         .class_names = classes,
                         .feature_names = features,
                         .standard = {train, test, NULL},
                         .standard_count = {3, 2, 0},
                         .column_count = 1,
                         .column_names = columns,
                         .columns = values};
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.directed = of.directed;
    options.keep_loops = true;
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_from_arrays(&dataset, &arrays, &options));
    return dataset;
}

static sfu_dataset *change(const sfu_dataset *dataset, bool rewire, double share, uint64_t seed) {
    sfu_noise_options options;
    sfu_noise_options_init(&options);
    *(rewire ? &options.rewire : &options.remove) = share;
    options.seed = seed;
    sfu_dataset *noisy = NULL;
    assert_ok(sfu_dataset_noise(&noisy, dataset, &options));
    return noisy;
}

/* The weight of each pair, 0: no edge. */
typedef struct matrix {
    float at[NODES][NODES];
} matrix;

static matrix matrix_of(const sfu_dataset *dataset) {
    matrix it = {0};
    const sfu_csr graph = sfu_dataset_graph(dataset);
    for (int32_t row = 0; row < graph.rows; row++) {
        for (int64_t i = graph.indptr[row]; i < graph.indptr[row + 1]; i++) {
            it.at[row][graph.indices[i]] = graph.values != NULL ? graph.values[i] : 1;
        }
    }
    return it;
}

/* Edges between different nodes that the first has and the second does not; the sum of their weights. */
static int count_lost(const matrix *one, const matrix *other, bool directed, double *weights) {
    int count = 0;
    *weights = 0;
    for (int i = 0; i < NODES; i++) {
        for (int j = directed ? 0 : i + 1; j < NODES; j++) {
            if (i != j && one->at[i][j] > 0 && other->at[i][j] == 0) {
                count++;
                *weights += one->at[i][j];
            }
        }
    }
    return count;
}

static const kind kinds[] = {{false, false}, {false, true}, {true, false}, {true, true}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void counts_are_exact(void **state) {
    (void)state;
    static const double shares[] = {0, 0.1, 0.25, 0.5, 1};
    const matrix none = {0};
    for (int k = 0; k < KINDS; k++) {
        sfu_dataset *dataset = make_dataset(kinds[k]);
        const matrix before = matrix_of(dataset);
        const bool directed = kinds[k].directed;
        double all, lost_weight, new_weight;
        const int edges = count_lost(&before, &none, directed, &all);
        for (size_t s = 0; s < 2 * sizeof shares / sizeof shares[0]; s++) {
            const double share = shares[s / 2];
            const bool rewire = s % 2 == 1;
            sfu_dataset *noisy = change(dataset, rewire, share, 3);
            const matrix after = matrix_of(noisy);
            const int changed = (int)(share * edges + 0.5);
            const int lost = count_lost(&before, &after, directed, &lost_weight);
            const int found = count_lost(&after, &before, directed, &new_weight);
            double left;
            assert_int_equal(count_lost(&after, &none, directed, &left), edges - (rewire ? 0 : changed));
            if (!rewire) {
                assert_int_equal(lost, changed);
                assert_int_equal(found, 0);
            } else { /* an edge may take the place of one that was rewired before it */
                assert_int_equal(lost, found);
                assert_in_range(lost, changed - changed / 4, changed);
                assert_true(left == all); /* weights stay, whichever edge has them */
            }
            for (int i = 0; i < NODES; i++) {
                assert_true(after.at[i][i] == before.at[i][i]);
                for (int j = 0; j < NODES && !directed; j++) {
                    assert_true(after.at[i][j] == after.at[j][i]);
                }
            }
            sfu_dataset_free(noisy);
        }
        sfu_dataset_free(dataset);
    }
}

/* With the same seed the edges that a share removes, and the ends that it rewires, are those of any larger share. */
static void shares_are_nested(void **state) {
    (void)state;
    for (int k = 0; k < 2 * KINDS; k++) {
        sfu_dataset *dataset = make_dataset(kinds[k / 2]);
        const matrix before = matrix_of(dataset);
        const bool rewire = k % 2 == 1, directed = kinds[k / 2].directed;
        matrix last = before;
        for (int percent = 5; percent <= 100; percent += 5) {
            sfu_dataset *noisy = change(dataset, rewire, percent / 100.0, 11);
            const matrix now = matrix_of(noisy);
            double weights;
            for (int i = 0; i < NODES && !rewire; i++) {
                for (int j = 0; j < NODES; j++) {
                    assert_true(now.at[i][j] == 0 || last.at[i][j] > 0); /* nothing comes back */
                }
            }
            /* New edges stay: only original ones are rewired, so every step loses at most its own share of edges. */
            const int step = count_lost(&last, &now, directed, &weights);
            assert_in_range(step, 0, PAIRS / 20 + 1);
            for (int i = 0; i < NODES && rewire; i++) {
                for (int j = 0; j < NODES; j++) {
                    assert_false(last.at[i][j] > 0 && before.at[i][j] == 0 && now.at[i][j] == 0);
                }
            }
            last = now;
            sfu_dataset_free(noisy);
        }
        sfu_dataset_free(dataset);
    }
}

static void the_rest_is_copied(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        sfu_dataset *dataset = make_dataset(kinds[k]);
        sfu_dataset *noisy = change(dataset, true, 0.5, 0), *same = change(dataset, true, 0, 0);
        char digest[65], other[65];
        int32_t count;
        const sfu_info *info = NULL;
        assert_ok(sfu_dataset_digest(digest, dataset));
        assert_ok(sfu_dataset_digest(other, same));
        assert_string_equal(digest, other);
        assert_ok(sfu_dataset_digest(other, noisy));
        assert_string_not_equal(digest, other);
        assert_memory_equal(sfu_dataset_dense(noisy), sfu_dataset_dense(dataset), NODES * 2 * sizeof(float));
        assert_memory_equal(sfu_dataset_labels(noisy), sfu_dataset_labels(dataset), NODES * sizeof(int32_t));
        assert_memory_equal(sfu_dataset_column(noisy, "trust"), sfu_dataset_column(dataset, "trust"),
                            NODES * sizeof(float));
        assert_string_equal(sfu_dataset_class_name(noisy, 1), "b");
        assert_string_equal(sfu_dataset_feature_name(noisy, 1), "y");
        assert_int_equal(sfu_dataset_standard(noisy, SFU_TRAIN, &count)[2], 5);
        assert_ok(sfu_dataset_info(&info, noisy));
        assert_int_equal(info->directed, kinds[k].directed);
        assert_int_equal(info->weighted, kinds[k].weighted);
        assert_non_null(strstr(info->source, "\"rewired\":{\"edges\":"));
        assert_non_null(strstr(info->source, "\"format\":\"arrays\""));
        sfu_dataset_free(same);
        sfu_dataset_free(noisy);
        sfu_dataset_free(dataset);
    }
}

static void digests_are_pinned(void **state) {
    (void)state;
    static const struct {
        bool rewire;
        uint64_t seed;
        const char *digest;
    } pins[] = {{false, 0, "6ac0efcfbb624f5a17aabad8a3419c7b4e3c4a5a9d9dfece1f00493e72851563"},
                {true, 0, "eddca3861aae5314ea178e950dccb7eddaf39dcdf987f3a47c8108a6b4dbf3df"},
                {true, 0xfedcba9876543210, "58f8815a0b85427616dbf3b8b8f0700ab3b8b9b3f487e928e10b2bd1c1776a77"}};
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_open(&dataset, "citation"));
    for (size_t i = 0; i < sizeof pins / sizeof pins[0]; i++) {
        char digest[65];
        sfu_dataset *noisy = change(dataset, pins[i].rewire, 0.3, pins[i].seed);
        assert_ok(sfu_dataset_digest(digest, noisy));
        assert_string_equal(digest, pins[i].digest);
        sfu_dataset_free(noisy);
    }
    sfu_dataset_free(dataset);
}

/* Every node is the new end equally often, and either end is kept equally often. */
static void ends_are_uniform(void **state) {
    (void)state;
    const int seeds = test_is_slow() ? 40 : 400;
    sfu_dataset *dataset = make_dataset((kind){true, true});
    const matrix before = matrix_of(dataset);
    int gained[NODES] = {0}, from_kept = 0, total = 0;
    for (int seed = 0; seed < seeds; seed++) {
        sfu_dataset *noisy = change(dataset, true, 0.3, (uint64_t)seed);
        const matrix after = matrix_of(noisy);
        for (int i = 0; i < NODES; i++) {
            for (int j = 0; j < NODES; j++) {
                if (i != j && after.at[i][j] > 0 && before.at[i][j] == 0) {
                    bool row_has = false; /* weights are unique: the edge was in this row if its weight was */
                    for (int old = 0; old < NODES; old++) {
                        row_has = row_has || before.at[i][old] == after.at[i][j];
                    }
                    gained[row_has ? j : i]++;
                    from_kept += row_has;
                    total++;
                }
            }
        }
        sfu_dataset_free(noisy);
    }
    assert_in_range(from_kept * 100 / total, 45, 55);
    for (int i = 0; i < NODES; i++) {
        assert_in_range(gained[i] * NODES * 100 / total, test_is_slow() ? 50 : 80, test_is_slow() ? 150 : 120);
    }
    sfu_dataset_free(dataset);
}

/* A complete graph has no place for another edge; without one of its edges it has. */
static void dense_graphs(void **state) {
    (void)state;
    int32_t from[10], to[10];
    int count = 0;
    for (int i = 0; i < 5; i++) {
        for (int j = i + 1; j < 5; j++, count++) {
            from[count] = i;
            to[count] = j;
        }
    }
    sfu_noise_options options;
    sfu_noise_options_init(&options);
    options.rewire = 0.1;
    for (int missing = 0; missing < 2; missing++) {
        sfu_arrays arrays = {
            .size = sizeof arrays, .nodes = 5, .edges = count - missing, .edge_from = from, .edge_to = to};
        sfu_dataset *dataset = NULL, *noisy = NULL;
        assert_ok(sfu_dataset_from_arrays(&dataset, &arrays, NULL));
        if (missing == 0) {
            assert_fails(SFU_ERR_ARGUMENT, sfu_dataset_noise(&noisy, dataset, &options), "too dense",
                         "rewire fewer edges");
            assert_null(noisy);
        } else {
            for (options.seed = 0; options.seed < 20; options.seed++) {
                const sfu_status status = sfu_dataset_noise(&noisy, dataset, &options);
                assert_true(status == SFU_OK || status == SFU_ERR_ARGUMENT);
                sfu_dataset_free(noisy);
            }
        }
        sfu_dataset_free(dataset);
    }
}

static void wrong_options(void **state) {
    (void)state;
    sfu_dataset *dataset = make_dataset((kind){false, false}), *noisy = NULL, *again = NULL;
    sfu_noise_options options;
    sfu_noise_options_init(&options);
    options.remove = 1.5;
    assert_fails(SFU_ERR_ARGUMENT, sfu_dataset_noise(&noisy, dataset, &options), "remove is 1.5", "from 0 to 1");
    options.remove = 0;
    options.rewire = -0.1;
    assert_fails(SFU_ERR_ARGUMENT, sfu_dataset_noise(&noisy, dataset, &options), "rewire is -0.1");
    options.remove = options.rewire = 0.1;
    assert_fails(SFU_ERR_ARGUMENT, sfu_dataset_noise(&noisy, dataset, &options), "both given");
    options.remove = 0;
    assert_ok(sfu_dataset_noise(&noisy, dataset, &options));
    assert_fails(SFU_ERR_ARGUMENT, sfu_dataset_noise(&again, noisy, &options), "rewired before",
                 "start from the original");
    options.remove = 0.1;
    options.rewire = 0;
    assert_ok(sfu_dataset_noise(&again, noisy, &options));
    sfu_dataset_free(again);
    sfu_dataset_free(noisy);
    sfu_dataset_free(dataset);
}

static sfu_status change_once(void *context) {
    sfu_noise_options options;
    sfu_noise_options_init(&options);
    options.rewire = 0.5;
    sfu_dataset *noisy = NULL;
    const sfu_status status = sfu_dataset_noise(&noisy, context, &options);
    sfu_dataset_free(noisy);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sfu_dataset *dataset = make_dataset((kind){true, true});
    test_fail_each_allocation(change_once, dataset, 200);
    sfu_dataset_free(dataset);
}

static bool stop(void *user, const sfu_progress *progress) {
    (void)user;
    (void)progress;
    return false;
}

static void it_can_be_cancelled(void **state) {
    (void)state;
    sfu_dataset *dataset = make_dataset((kind){false, false}), *noisy = NULL;
    sfu_noise_options options;
    sfu_noise_options_init(&options);
    options.remove = 0.5;
    options.progress = stop;
    assert_int_equal(sfu_dataset_noise(&noisy, dataset, &options), SFU_ERR_CANCELLED);
    assert_null(noisy);
    sfu_dataset_free(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_exact),    cmocka_unit_test(shares_are_nested),
        cmocka_unit_test(the_rest_is_copied),  cmocka_unit_test(digests_are_pinned),
        cmocka_unit_test(ends_are_uniform),    cmocka_unit_test(dense_graphs),
        cmocka_unit_test(wrong_options),       cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(it_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
