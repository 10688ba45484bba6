/* Splits: the rules of docs/reference/splits.md, one by one, on hand-made labels and on the public datasets. */
#include "support.h"

#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char said[4096]; /* log lines since the dataset was made */

/* ---- datasets --------------------------------------------------------------------------------------------------- */

/* `nodes` nodes without edges; the label of node i is labels[i]. */
static sfu_dataset *labelled(int32_t nodes, const int32_t *labels, int32_t classes) {
    static const int32_t none[1];
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.name = "made";
    const sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                               .nodes = nodes,
                               .edge_from = none,
                               .edge_to = none,
                               .labels = labels,
                               .classes = classes};
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_from_arrays(&dataset, &arrays, &options));
    said[0] = '\0';
    return dataset;
}

enum { MANY = 4000, CLASSES = 5 };
static int32_t many_labels[MANY];

/* Classes of very different sizes; every 50th node has no label, which leaves 3920. */
static sfu_dataset *many(void) {
    for (int i = 0; i < MANY; i++) {
        many_labels[i] = i % 50 == 7   ? SFU_NO_LABEL
                         : i % 10 < 5  ? 0
                         : i % 10 < 8  ? 1
                         : i % 10 == 8 ? 2
                                       : 3 + i / 10 % 2;
    }
    return labelled(MANY, many_labels, CLASSES);
}

/* Three classes of 30, 20 and 10 in turn. */
static sfu_dataset *few(void) {
    static int32_t labels[60];
    for (int i = 0; i < 60; i++) {
        labels[i] = i % 6 < 3 ? 0 : i % 6 < 5 ? 1 : 2;
    }
    return labelled(60, labels, 3);
}

static sfu_split *split_of(const sfu_dataset *dataset, const char *protocol, const char *size) {
    sfu_split *split = NULL;
    assert_ok(sfu_split_new(&split, dataset, protocol, size));
    return split;
}

static int32_t count_of(const sfu_split *split, sfu_part part) {
    int32_t count = -1;
    sfu_split_part(split, part, &count);
    return count;
}

static bool contains(const sfu_split *split, sfu_part part, int32_t node) {
    int32_t count = 0;
    const int32_t *nodes = sfu_split_part(split, part, &count);
    for (int32_t i = 0; i < count; i++) {
        if (nodes[i] == node) {
            return true;
        }
    }
    return false;
}

/* Each node is in at most one part, labelled, ascending. */
static void assert_sound(const sfu_split *split, const sfu_dataset *dataset) {
    char *seen = calloc((size_t)sfu_dataset_nodes(dataset), 1);
    assert_non_null(seen);
    for (int part = 0; part < SFU_PARTS; part++) {
        int32_t count = 0;
        const int32_t *nodes = sfu_split_part(split, (sfu_part)part, &count);
        assert_true(count > 0);
        for (int32_t i = 0; i < count; i++) {
            assert_true(i == 0 || nodes[i] > nodes[i - 1]);
            assert_in_range(nodes[i], 0, sfu_dataset_nodes(dataset) - 1);
            assert_int_equal(seen[nodes[i]], 0);
            assert_int_not_equal(sfu_dataset_labels(dataset)[nodes[i]], SFU_NO_LABEL);
            seen[nodes[i]] = 1;
        }
    }
    free(seen);
}

static void count_classes(int32_t *counts, int32_t classes, const sfu_split *split, sfu_part part,
                          const sfu_dataset *dataset) {
    int32_t count = 0;
    const int32_t *nodes = sfu_split_part(split, part, &count);
    memset(counts, 0, (size_t)classes * sizeof *counts);
    for (int32_t i = 0; i < count; i++) {
        counts[sfu_dataset_labels(dataset)[nodes[i]]]++;
    }
}

/* ---- log lines --------------------------------------------------------------------------------------------------- */

static void remember(void *user, sfu_log_level level, const char *line) {
    (void)user;
    const size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s%s\n", level == SFU_LOG_WARNING ? "warning: " : "", line);
}

static int listen(void **state) {
    (void)state;
    said[0] = '\0';
    sfu_set_log(remember, NULL);
    return 0;
}

static void assert_said(const char *part) {
    if (strstr(said, part) == NULL) {
        print_error("\"%s\" is not in what was said: %s\n", part, said);
        fail();
    }
}

/* ---- random ----------------------------------------------------------------------------------------------------- */

static void random_cuts_500_and_1000(void **state) {
    (void)state;
    sfu_dataset *dataset = many();
    sfu_split *split = split_of(dataset, "random:3", NULL);
    assert_sound(split, dataset);
    assert_int_equal(count_of(split, SFU_VAL), 500);
    assert_int_equal(count_of(split, SFU_TEST), 1000);
    assert_int_equal(count_of(split, SFU_TRAIN), 20 * CLASSES);
    int32_t counts[CLASSES];
    count_classes(counts, CLASSES, split, SFU_TRAIN, dataset);
    for (int c = 0; c < CLASSES; c++) {
        assert_int_equal(counts[c], 20);
    }
    assert_string_equal(sfu_split_text(split), "random:3 size 1");
    assert_string_equal(said, "");
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

static void sizes_grow_inside_each_other(void **state) {
    (void)state;
    static const char *const sizes[] = {"6", "33", "99", "1", "101", "150", "2", "3", "2000", "4", "5"};
    /* |T| = 3920 - 1500 = 2420, from 100 in steps of 580 */
    static const int32_t want[] = {6, 33, 99, 100, 101, 150, 680, 1260, 2000, 1840, 2420};
    sfu_dataset *dataset = many();
    sfu_split *all = split_of(dataset, "random:1", "5");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        sfu_split *split = split_of(dataset, "random:1", sizes[i]);
        assert_sound(split, dataset);
        assert_int_equal(count_of(split, SFU_TRAIN), want[i]);
        for (int part = SFU_VAL; part <= SFU_TEST; part++) { /* they do not depend on the size */
            int32_t count = 0;
            const int32_t *nodes = sfu_split_part(split, (sfu_part)part, &count);
            assert_memory_equal(nodes, sfu_split_part(all, (sfu_part)part, NULL), (size_t)count * sizeof *nodes);
        }
        for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
            if (want[j] < want[i]) {
                continue;
            }
            sfu_split *larger = split_of(dataset, "random:1", sizes[j]);
            int32_t count = 0;
            const int32_t *nodes = sfu_split_part(split, SFU_TRAIN, &count);
            for (int32_t k = 0; k < count; k += 7) {
                assert_true(contains(larger, SFU_TRAIN, nodes[k]));
            }
            sfu_split_free(larger);
        }
        sfu_split_free(split);
    }
    sfu_split_free(all);
    sfu_dataset_free(dataset);
}

static void small_counts_are_balanced(void **state) {
    (void)state;
    sfu_dataset *dataset = many();
    for (int want = 6; want <= 100; want += 13) {
        char size[16];
        snprintf(size, sizeof size, "%d", want);
        sfu_split *split = split_of(dataset, "random:1", size);
        int32_t counts[CLASSES];
        count_classes(counts, CLASSES, split, SFU_TRAIN, dataset);
        for (int c = 0; c < CLASSES; c++) {
            assert_int_equal(counts[c], want / CLASSES + (c < want % CLASSES));
        }
        sfu_split_free(split);
    }
    sfu_dataset_free(dataset);
}

/* Over many seeds each labelled node is about equally often in each part; in T the classes have their proportions. */
static void draws_are_uniform(void **state) {
    (void)state;
    enum { SEEDS = 400 };
    sfu_dataset *dataset = many();
    static int times[SFU_PARTS][MANY];
    for (int seed = 0; seed < SEEDS; seed++) {
        char protocol[32];
        snprintf(protocol, sizeof protocol, "random:%d", seed);
        sfu_split *split = split_of(dataset, protocol, "3");
        for (int part = 0; part < SFU_PARTS; part++) {
            int32_t count = 0;
            const int32_t *nodes = sfu_split_part(split, (sfu_part)part, &count);
            for (int32_t i = 0; i < count; i++) {
                times[part][nodes[i]]++;
            }
        }
        sfu_split_free(split);
    }
    /* Binomial(400, 500/3920) has mean 51 and deviation 6.7; (400, 1000/3920) has 102 and 8.7. Six of those. */
    int most_off = 0;
    for (int i = 0; i < MANY; i++) {
        if (many_labels[i] == SFU_NO_LABEL) {
            assert_int_equal(times[SFU_TRAIN][i] + times[SFU_VAL][i] + times[SFU_TEST][i], 0);
            continue;
        }
        assert_in_range(times[SFU_VAL][i], 51 - 40, 51 + 40);
        assert_in_range(times[SFU_TEST][i], 102 - 52, 102 + 52);
        most_off = abs(times[SFU_VAL][i] - 51) > most_off ? abs(times[SFU_VAL][i] - 51) : most_off;
    }
    assert_true(most_off > 10); /* random draws, not a quota */
    sfu_dataset_free(dataset);
}

static void few_labels_are_divided_by_class(void **state) {
    (void)state;
    sfu_dataset *dataset = few();
    sfu_split *split = split_of(dataset, "random:0", NULL);
    assert_sound(split, dataset);
    assert_string_equal(sfu_split_text(split), "random:0 size 5");
    assert_int_equal(count_of(split, SFU_TRAIN), 30);
    assert_int_equal(count_of(split, SFU_VAL), 15);
    assert_int_equal(count_of(split, SFU_TEST), 15);
    static const int32_t sizes[] = {30, 20, 10};
    for (int part = 0; part < SFU_PARTS; part++) {
        int32_t counts[3];
        count_classes(counts, 3, split, (sfu_part)part, dataset);
        for (int c = 0; c < 3; c++) {
            const double share = sizes[c] * (part == SFU_TRAIN ? 0.5 : 0.25);
            assert_true(counts[c] > share - 1 && counts[c] < share + 1);
        }
    }
    assert_said("split \"random:0\": 60 labelled nodes are too few");
    assert_said("50/25/25 %");
    sfu_split_free(split);

    said[0] = '\0'; /* 15, 10 and 5 of the classes are in T: less than 20, so size 1 is all of it */
    split = split_of(dataset, "random:0", "1");
    assert_int_equal(count_of(split, SFU_TRAIN), 30);
    sfu_split_free(split);
    split = split_of(dataset, "random:0", "7");
    assert_int_equal(count_of(split, SFU_TRAIN), 7);
    assert_said("3 of 3 classes have fewer than 20 nodes to train on (\"2\" has 5): all are taken");
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

/* The boundary between the two rules: 20 nodes per class plus 1500, or one less. */
static void where_few_begins(void **state) {
    (void)state;
    static int32_t labels[1540];
    for (int i = 0; i < 1540; i++) {
        labels[i] = i % 2;
    }
    sfu_dataset *enough = labelled(1540, labels, 2);
    sfu_split *split = split_of(enough, "random:0", NULL);
    assert_int_equal(count_of(split, SFU_VAL), 500);
    sfu_split_free(split);
    sfu_dataset_free(enough);
    sfu_dataset *short_of_one = labelled(1539, labels, 2);
    split = split_of(short_of_one, "random:0", NULL);
    assert_int_equal(count_of(split, SFU_VAL), 385);
    sfu_split_free(split);
    sfu_dataset_free(short_of_one);
}

static void untrained_classes_are_told(void **state) {
    (void)state;
    sfu_dataset *dataset = few();
    const char *path = test_text_file("narrow.csv", "node,part\n0,train\n6,train\n5,val\n3,test\n");
    char protocol[600];
    snprintf(protocol, sizeof protocol, "file:%s", path);
    sfu_split *split = split_of(dataset, protocol, NULL);
    assert_said("warning: split file:narrow.csv: 2 of 3 classes have no node to train on");
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

/* ---- holdout ---------------------------------------------------------------------------------------------------- */

enum { WORST_CLASSES = 60 };

/* The class of `holdout` is in all parts if it has three labels or more, and always trained on. */
static void assert_classes_are_covered(const sfu_split *split, const sfu_dataset *dataset, int32_t classes) {
    int32_t counts[SFU_PARTS][WORST_CLASSES], pairs = 0;
    for (int part = 0; part < SFU_PARTS; part++) {
        count_classes(counts[part], classes, split, (sfu_part)part, dataset);
    }
    for (int c = 0; c < classes; c++) {
        const int32_t train = counts[SFU_TRAIN][c], val = counts[SFU_VAL][c], test = counts[SFU_TEST][c];
        const int32_t all = train + val + test;
        if (all == 1) {
            assert_int_equal(train, 1);
        } else if (all == 2) {
            assert_int_equal(train, 1);
            assert_int_equal(val, pairs++ % 2 == 0);
        } else if (all >= 3) {
            assert_true(train > 0 && val > 0 && test > 0);
        }
        if (all >= 10) { /* up to one node, and the one that a part lacked */
            assert_in_range(val, all / 10, all / 10 + 1);
            assert_in_range(test, all / 10, all / 10 + 1);
        } else if (all >= 3) {
            assert_true(val == 1 && test == 1);
        }
    }
}

static void holdout_is_80_10_10(void **state) {
    (void)state;
    sfu_dataset *dataset = many();
    sfu_split *split = split_of(dataset, "holdout:3", NULL);
    assert_sound(split, dataset);
    assert_string_equal(sfu_split_text(split), "holdout:3 size 5");
    assert_int_equal(count_of(split, SFU_TRAIN), 3136);
    assert_int_equal(count_of(split, SFU_VAL), 392);
    assert_int_equal(count_of(split, SFU_TEST), 392);
    assert_classes_are_covered(split, dataset, CLASSES);
    assert_string_equal(said, "");
    sfu_split *other = split_of(dataset, "holdout:4", NULL), *unnamed = split_of(dataset, NULL, NULL),
              *zero = split_of(dataset, "holdout:0", NULL), *small = split_of(dataset, "holdout:3", "1");
    assert_string_not_equal(sfu_split_digest(other), sfu_split_digest(split));
    assert_string_equal(sfu_split_digest(unnamed), sfu_split_digest(zero)); /* the default */
    assert_int_equal(count_of(small, SFU_TRAIN), 20 * CLASSES);
    assert_int_equal(count_of(small, SFU_VAL), 392);
    sfu_split_free(small);
    sfu_split_free(zero);
    sfu_split_free(unnamed);
    sfu_split_free(other);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

/* Own data: 6,100 labels in 5 classes, of which the default used 100 to train on before there was a holdout. */
static void own_labels_are_trained_on(void **state) {
    (void)state;
    enum { LABELS = 6100 };
    static int32_t labels[LABELS];
    for (int i = 0; i < LABELS; i++) {
        labels[i] = i % 61 % 5;
    }
    sfu_dataset *dataset = labelled(LABELS, labels, 5);
    sfu_split *split = split_of(dataset, NULL, NULL);
    assert_int_equal(count_of(split, SFU_TRAIN), 4880);
    assert_int_equal(count_of(split, SFU_VAL), 610);
    assert_int_equal(count_of(split, SFU_TEST), 610);
    assert_string_equal(said, "");
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

/* Random class sizes from 0 to 40, most of them tiny, and unlabelled nodes between them. */
static void small_classes_are_in_all_parts(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(5, 0);
    for (int trial = 0; trial < (test_is_slow() ? 20 : 300); trial++) {
        static int32_t labels[WORST_CLASSES * 41 + 4];
        const int32_t classes = 1 + (int32_t)sfu__random_below(&random, WORST_CLASSES);
        int32_t nodes = 0;
        for (; nodes < 3; nodes++) {
            labels[nodes] = 0;
        }
        for (int32_t c = 0; c < classes; c++) {
            const int32_t size = (int32_t)sfu__random_below(&random, sfu__random_below(&random, 2) ? 5 : 40);
            for (int32_t i = 0; i < size; i++) {
                labels[nodes++] = c;
            }
        }
        labels[nodes++] = SFU_NO_LABEL;
        sfu__random_shuffle(&random, labels, nodes);
        sfu_dataset *dataset = labelled(nodes, labels, classes);
        char protocol[32];
        snprintf(protocol, sizeof protocol, "holdout:%d", trial);
        sfu_split *split = split_of(dataset, protocol, NULL);
        assert_sound(split, dataset);
        int32_t all = 0;
        for (int part = 0; part < SFU_PARTS; part++) {
            all += count_of(split, (sfu_part)part);
        }
        assert_int_equal(all, nodes - 1);
        assert_classes_are_covered(split, dataset, classes);
        assert_null(strstr(said, "no node to train on"));
        sfu_split_free(split);
        sfu_dataset_free(dataset);
    }
}

/* Two classes of two labels are the fewest that every part has a node of. */
static void the_fewest_labels_of_a_holdout(void **state) {
    (void)state;
    static const int32_t pairs[] = {0, 1, 1, 0}, pair[] = {0, 0, 1}, single[] = {0, 1, 2, 3}, one[] = {0, 0, 0};
    sfu_dataset *dataset = labelled(4, pairs, 2);
    sfu_split *split = split_of(dataset, NULL, NULL);
    assert_int_equal(count_of(split, SFU_TRAIN), 2);
    assert_true(sfu_dataset_labels(dataset)[sfu_split_part(split, SFU_VAL, NULL)[0]] == 0);
    assert_true(sfu_dataset_labels(dataset)[sfu_split_part(split, SFU_TEST, NULL)[0]] == 1);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
    dataset = labelled(3, one, 1);
    split = split_of(dataset, NULL, NULL);
    assert_sound(split, dataset);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
    dataset = labelled(3, pair, 2);
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_new(&split, dataset, NULL, NULL), "\"holdout:0\"", "left for test",
                 "label at least 3 nodes of a class");
    sfu_dataset_free(dataset);
    dataset = labelled(4, single, 4);
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_new(&split, dataset, NULL, NULL), "\"holdout:0\"", "left for val");
    sfu_dataset_free(dataset);
}

/* ---- cv --------------------------------------------------------------------------------------------------------- */

static void folds_cover_everything_once(void **state) {
    (void)state;
    enum { FOLDS = 7 };
    sfu_dataset *dataset = many();
    static int tested[MANY];
    int32_t whole[CLASSES] = {0};
    for (int i = 0; i < MANY; i++) {
        if (many_labels[i] != SFU_NO_LABEL) {
            whole[many_labels[i]]++;
        }
    }
    sfu_split *before = NULL;
    for (int fold = FOLDS - 1; fold >= 0; fold--) {
        char protocol[32];
        snprintf(protocol, sizeof protocol, "cv:%d:%d:11", FOLDS, fold);
        sfu_split *split = split_of(dataset, protocol, NULL);
        assert_sound(split, dataset);
        assert_int_equal(count_of(split, SFU_TRAIN) + count_of(split, SFU_VAL) + count_of(split, SFU_TEST), 3920);
        int32_t count = 0, counts[CLASSES];
        const int32_t *nodes = sfu_split_part(split, SFU_TEST, &count);
        for (int32_t i = 0; i < count; i++) {
            tested[nodes[i]]++;
        }
        count_classes(counts, CLASSES, split, SFU_TEST, dataset);
        for (int c = 0; c < CLASSES; c++) {
            assert_in_range(counts[c], whole[c] / FOLDS, whole[c] / FOLDS + 1);
        }
        if (before != NULL) { /* the fold above tests on what this one validates on */
            assert_int_equal(count_of(before, SFU_TEST), count_of(split, SFU_VAL));
            assert_memory_equal(sfu_split_part(before, SFU_TEST, NULL), sfu_split_part(split, SFU_VAL, NULL),
                                (size_t)count_of(split, SFU_VAL) * sizeof(int32_t));
        }
        sfu_split_free(before);
        before = split;
    }
    assert_string_equal(sfu_split_text(before), "cv:7:0:11 size 5");
    sfu_split_free(before);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(tested[i], many_labels[i] != SFU_NO_LABEL);
    }
    sfu_split *sized = split_of(dataset, "cv:7:0:11", "1");
    assert_int_equal(count_of(sized, SFU_TRAIN), 100);
    sfu_split_free(sized);
    sfu_dataset_free(dataset);
}

static void the_last_fold_validates_on_the_first(void **state) {
    (void)state;
    sfu_dataset *dataset = few();
    sfu_split *last = split_of(dataset, "cv:4:3:0", NULL);
    sfu_split *first = split_of(dataset, "cv:4:0:0", NULL);
    assert_int_equal(count_of(last, SFU_VAL), count_of(first, SFU_TEST));
    assert_memory_equal(sfu_split_part(last, SFU_VAL, NULL), sfu_split_part(first, SFU_TEST, NULL),
                        (size_t)count_of(first, SFU_TEST) * sizeof(int32_t));
    sfu_split_free(last);
    sfu_split_free(first);
    sfu_dataset_free(dataset);
}

/* ---- given ones ------------------------------------------------------------------------------------------------- */

static sfu_dataset *with_standard(const char *const *names, const int32_t *val, int32_t val_count) {
    static const int32_t edges[1], labels[] = {0, 1, 0, 1, SFU_NO_LABEL, 1}, train[] = {3, 0}, test[] = {1};
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.name = "own";
    const sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                               .nodes = 6,
                               .edge_from = edges,
                               .edge_to = edges,
                               .labels = labels,
                               .node_names = names,
                               .standard = {train, val, test},
                               .standard_count = {2, val_count, 1}};
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_from_arrays(&dataset, &arrays, &options));
    said[0] = '\0';
    return dataset;
}

static void standard_is_the_datasets_own(void **state) {
    (void)state;
    static const int32_t val[] = {2, 4, 5};
    sfu_dataset *dataset = with_standard(NULL, val, 3);
    static const char *const asked[] = {NULL, "standard"};
    for (int i = 0; i < 2; i++) {
        said[0] = '\0';
        sfu_split *split = split_of(dataset, asked[i], i == 0 ? NULL : "1");
        assert_sound(split, dataset);
        assert_string_equal(sfu_split_text(split), "standard");
        assert_int_equal(count_of(split, SFU_TRAIN), 2);
        assert_int_equal(count_of(split, SFU_VAL), 2);
        assert_true(contains(split, SFU_TRAIN, 0) && contains(split, SFU_TRAIN, 3) && contains(split, SFU_VAL, 5));
        assert_said("warning: split \"standard\": 1 nodes of it have no label and are left out");
        sfu_split_free(split);
    }
    sfu_split *split = NULL;
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_new(&split, dataset, "standard", "2"), "size \"2\"",
                 "\"standard\" has one size", "random:SEED");
    assert_null(split);
    sfu_dataset_free(dataset);
    dataset = with_standard(NULL, val + 1, 1); /* its only validation node has no label */
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_new(&split, dataset, "standard", NULL), "no node is left for val");
    sfu_dataset_free(dataset);
    dataset = few();
    assert_fails(SFU_ERR_NOT_FOUND, sfu_split_new(&split, dataset, "standard", NULL), "split \"standard\"",
                 "dataset \"made\"", "holdout:0");
    sfu_dataset_free(dataset);
}

static char *read_all(const char *path) {
    static char text[100000];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void names_are_quoted_where_needed(void **state) {
    (void)state;
    static const char *const names[] = {"a,b", "say \"hi\"", "plain", "two\nlines", " blank", "\xc3\xa4"};
    static const int32_t val[] = {2, 5};
    sfu_dataset *dataset = with_standard(names, val, 2);
    sfu_split *split = split_of(dataset, "standard", NULL);
    const char *path = test_path("quoted.csv");
    assert_ok(sfu_split_save(split, dataset, path, NULL));
    assert_string_equal(read_all(path), "node,part\n\"a,b\",train\n\"say \"\"hi\"\"\",test\nplain,val\n"
                                        "\"two\nlines\",train\n\xc3\xa4,val\n");
    char protocol[600];
    snprintf(protocol, sizeof protocol, "file:%s", path);
    sfu_split *again = split_of(dataset, protocol, NULL);
    assert_string_equal(sfu_split_text(again), "file:quoted.csv");
    assert_string_equal(sfu_split_digest(again), sfu_split_digest(split));
    sfu_split_free(again);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

/* Names with bytes that are special in CSV, around a digit that distinguishes them. */
static void any_name_comes_back(void **state) {
    (void)state;
    static const char touchy[] = ",;\t\r\n\"\" #%a\xc3\xa4'";
    static const int32_t val[] = {2, 5};
    sfu__random random = sfu__random_start(1, 2);
    for (int round = 0; round < 200; round++) {
        char names[6][16];
        const char *pointers[6];
        for (int i = 0; i < 6; i++) {
            const int size = 1 + (int)sfu__random_below(&random, 12);
            for (int k = 0; k < size; k++) {
                names[i][k] = touchy[sfu__random_below(&random, sizeof touchy - 1)];
            }
            names[i][sfu__random_below(&random, (uint64_t)size)] = (char)('0' + i);
            names[i][size] = '\0';
            pointers[i] = names[i];
        }
        sfu_dataset *dataset = with_standard(pointers, val, 2);
        sfu_split *split = split_of(dataset, "standard", NULL);
        const char *path = test_path("touchy.csv");
        assert_ok(sfu_split_save(split, dataset, path, NULL));
        char protocol[600];
        snprintf(protocol, sizeof protocol, "file:%s", path);
        sfu_split *again = split_of(dataset, protocol, NULL);
        assert_string_equal(sfu_split_digest(again), sfu_split_digest(split));
        sfu_split_free(again);
        sfu_split_free(split);
        sfu_dataset_free(dataset);
    }
}

static void saved_splits_come_back(void **state) {
    (void)state;
    sfu_dataset *dataset = many();
    static const char *const protocols[] = {"random:5", "cv:3:1:2", "holdout:1"};
    for (int i = 0; i < 3; i++) {
        sfu_split *split = split_of(dataset, protocols[i], "2");
        const char *path = test_path("saved.csv");
        assert_ok(sfu_split_save(split, dataset, path, NULL));
        char protocol[600];
        snprintf(protocol, sizeof protocol, "file:%s", path);
        sfu_split *again = split_of(dataset, protocol, NULL);
        assert_string_equal(sfu_split_digest(again), sfu_split_digest(split));
        sfu_split_free(again);
        sfu_dataset *other = few();
        assert_fails(SFU_ERR_ARGUMENT, sfu_split_save(split, other, test_path("other.csv"), NULL), "4000 nodes", "60");
        sfu_dataset_free(other);
        assert_fails(SFU_ERR_IO, sfu_split_save(split, dataset, "/nowhere/x.csv", NULL),
                     "/nowhere/x.csv: cannot write");
        sfu_split_free(split);
    }
    sfu_dataset_free(dataset);
}

/* Reads `text` as a split of six nodes, of which the fifth (4) has no label. */
static sfu_status read_split(const char *text, bool named) {
    static const char *const names[] = {"ann", "bob", "cyd", "dan", "eve", "fay"};
    static const int32_t val[] = {2};
    sfu_dataset *dataset = with_standard(named ? names : NULL, val, 1);
    char protocol[600];
    snprintf(protocol, sizeof protocol, "file:%s", test_text_file("s.csv", text));
    sfu_split *split = NULL;
    const sfu_status status = sfu_split_new(&split, dataset, protocol, NULL);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
    return status;
}

static void files_are_read(void **state) {
    (void)state;
    assert_ok(read_split("node,part\n0,train\n1,val\n2,test\n", false));
    assert_ok(read_split("0,train\r\n1,val\r\n2,test", false));
    assert_ok(read_split("node,part\nann,train\n\"bob\",val\n\ncyd,\"test\"\n", true));
}

static void files_that_are_wrong(void **state) {
    (void)state;
    assert_fails(SFU_ERR_FORMAT, read_split("0,train\n1,vla\n", false), "s.csv:2", "\"vla\"", "train, val or test");
    assert_fails(SFU_ERR_FORMAT, read_split("node,part\n0,train\nzed,val\n", true), "s.csv:2", "\"0\"");
    assert_fails(SFU_ERR_FORMAT, read_split("node,part\nann,train\nzed,val\n", true), "s.csv:3", "\"zed\"");
    assert_fails(SFU_ERR_FORMAT, read_split("0,train\n6,val\n", false), "s.csv:2", "\"6\"");
    assert_fails(SFU_ERR_FORMAT, read_split("0,train\n-1,val\n", false), "s.csv:2", "\"-1\"");
    assert_fails(SFU_ERR_FORMAT, read_split("0,train\n4,val\n", false), "s.csv:2", "\"4\"", "has no label");
    assert_fails(SFU_ERR_FORMAT, read_split("0,train\n1,val\n0,test\n", false), "s.csv:3", "\"0\"", "train");
    assert_fails(SFU_ERR_FORMAT, read_split("0,train\n1\n", false), "s.csv:2");
    assert_fails(SFU_ERR_FORMAT, read_split("0,train\n1,val,x\n", false), "s.csv:2");
    assert_fails(SFU_ERR_FORMAT, read_split("0,train\n\"1,val\n", false), "s.csv:2");
    assert_fails(SFU_ERR_ARGUMENT, read_split("0,train\n1,val\n", false), "no node is left for test");
    assert_fails(SFU_ERR_ARGUMENT, read_split("", false), "no node is left for train");
    sfu_dataset *dataset = few();
    sfu_split *split = NULL;
    assert_fails(SFU_ERR_NOT_FOUND, sfu_split_new(&split, dataset, "file:/nowhere/s.csv", NULL), "/nowhere/s.csv");
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_new(&split, dataset, "file:/nowhere/s.csv", "3"), "size \"3\"",
                 "one size");
    sfu_dataset_free(dataset);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static void texts_that_are_wrong(void **state) {
    (void)state;
    sfu_dataset *dataset = few();
    static const struct {
        const char *protocol, *size, *quoted, *right;
    } wrong[] = {
        {"", NULL, "split \"\"", "\"standard\", \"standard:NUMBER\", \"random:SEED\", \"holdout:SEED\""},
        {"randon:0", NULL, "split \"randon:0\"", "\"cv:FOLDS:FOLD:SEED\" or \"file:CSV\""},
        {"Random:0", NULL, "\"Random:0\"", "expected \"standard\""},
        {"random", NULL, "split \"random\"", "expected the form \"random:SEED\""},
        {"random:x", NULL, "split \"random:x\"", "SEED must be a whole number"},
        {"random:", NULL, "split \"random:\"", "SEED must be a whole number"},
        {"random:-1", NULL, "\"random:-1\"", "SEED must be a whole number from 0"},
        {"random:1.5", NULL, "\"random:1.5\"", "SEED must be a whole number"},
        {"random:1:2", NULL, "\"random:1:2\"", "expected the form \"random:SEED\""},
        {"random:9223372036854775808", NULL, "SEED", "9223372036854775807"},
        {"holdout", NULL, "split \"holdout\"", "expected the form \"holdout:SEED\""},
        {"holdout:-1", NULL, "\"holdout:-1\"", "SEED must be a whole number from 0"},
        {"holdout:1:2", NULL, "\"holdout:1:2\"", "expected the form \"holdout:SEED\""},
        {"holdout:0", "49", "size \"49\"", "\"holdout:0\" leaves only 48 nodes to train on"},
        {"cv", NULL, "\"cv\"", "expected the form \"cv:FOLDS:FOLD:SEED\""},
        {"cv:5:0", NULL, "\"cv:5:0\"", "expected the form \"cv:FOLDS:FOLD:SEED\""},
        {"cv:5:0:0:0", NULL, "\"cv:5:0:0:0\"", "expected the form"},
        {"cv:five:0:0", NULL, "\"cv:five:0:0\"", "FOLDS must be a whole number"},
        {"cv:5:a:0", NULL, "\"cv:5:a:0\"", "FOLD must be a whole number"},
        {"cv:5:0:", NULL, "\"cv:5:0:\"", "SEED must be a whole number"},
        {"cv:2:0:0", NULL, "\"cv:2:0:0\"", "FOLDS must be from 3 to the 60 labelled nodes"},
        {"cv:61:0:0", NULL, "\"cv:61:0:0\"", "FOLDS must be from 3"},
        {"cv:5:5:0", NULL, "\"cv:5:5:0\"", "FOLD must be from 0 to 4"},
        {"file:", NULL, "\"file:\"", "\"file:CSV\""},
        {"file", NULL, "\"file\"", "\"file:CSV\""},
        {"standard:x", NULL, "\"standard:x\"", "NUMBER must be a whole number"},
        {"random:0", "", "size \"\"", "1 to 5, or a number"},
        {"random:0", "0", "size \"0\"", "1 to 5, or a number"},
        {"random:0", "-3", "size \"-3\"", "1 to 5"},
        {"random:0", "two", "size \"two\"", "1 to 5"},
        {"random:0", "31", "size \"31\"", "\"random:0\" leaves only 30 nodes to train on"},
        {"cv:3:0:0", "21", "size \"21\"", "leaves only 20 nodes to train on"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sfu_split *split = (sfu_split *)dataset; /* must be set to NULL */
        assert_fails(SFU_ERR_ARGUMENT, sfu_split_new(&split, dataset, wrong[i].protocol, wrong[i].size),
                     wrong[i].quoted, wrong[i].right);
        assert_null(split);
    }
    sfu_dataset_free(dataset);
}

static void labels_that_are_missing(void **state) {
    (void)state;
    static const int32_t unlabelled[] = {-1, -1, -1}, three[] = {0, 1, 0};
    sfu_split *split = NULL;
    sfu_dataset *dataset = labelled(3, unlabelled, 2);
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_new(&split, dataset, NULL, NULL), "\"holdout:0\"", "dataset \"made\"",
                 "only labelled nodes");
    sfu_dataset_free(dataset);
    dataset = labelled(3, NULL, 0);
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_new(&split, dataset, "cv:3:0:0", NULL), "no node of the dataset");
    sfu_dataset_free(dataset);
    dataset = labelled(3, three, 2);
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_new(&split, dataset, NULL, NULL), "no node is left for test");
    sfu_dataset_free(dataset);
}

/* ---- digests ---------------------------------------------------------------------------------------------------- */

/* Node numbers in any order make the split that the file of them makes. */
static void node_numbers_make_a_split(void **state) {
    (void)state;
    sfu_dataset *dataset = many();
    sfu_split *drawn = split_of(dataset, "random:3", NULL), *given = NULL;
    int32_t *nodes[SFU_PARTS], counts[SFU_PARTS];
    for (int part = 0; part < SFU_PARTS; part++) {
        const int32_t *sorted = sfu_split_part(drawn, (sfu_part)part, &counts[part]);
        nodes[part] = calloc((size_t)counts[part], sizeof *nodes[part]);
        assert_non_null(nodes[part]);
        for (int32_t i = 0; i < counts[part]; i++) {
            nodes[part][i] = sorted[counts[part] - 1 - i];
        }
    }
    const int32_t *const all[SFU_PARTS] = {nodes[0], nodes[1], nodes[2]};
    assert_ok(sfu_split_from_nodes(&given, dataset, all, counts));
    assert_string_equal(sfu_split_digest(given), sfu_split_digest(drawn));
    assert_memory_equal(sfu_split_text(given), "nodes:", 6);
    assert_memory_equal(sfu_split_text(given) + 6, sfu_split_digest(drawn), 12);
    assert_int_equal(strlen(sfu_split_text(given)), 18);
    sfu_split_free(given);

    const int32_t kept = nodes[SFU_VAL][1];
    nodes[SFU_VAL][1] = nodes[SFU_TRAIN][0];
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_from_nodes(&given, dataset, all, counts), "val", "already in train");
    assert_null(given);
    nodes[SFU_VAL][1] = MANY;
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_from_nodes(&given, dataset, all, counts), "node 4000", "0 to 3999");
    nodes[SFU_VAL][1] = -1;
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_from_nodes(&given, dataset, all, counts), "node -1");
    nodes[SFU_VAL][1] = 57;
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_from_nodes(&given, dataset, all, counts), "node 57", "no label");
    nodes[SFU_VAL][1] = kept;
    counts[SFU_VAL] = counts[SFU_TEST] = 0;
    assert_ok(sfu_split_from_nodes(&given, dataset, all, counts));
    int32_t empty = 1;
    sfu_split_part(given, SFU_TEST, &empty);
    assert_int_equal(empty, 0);
    sfu_split_free(given);
    counts[SFU_TRAIN] = 0;
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_from_nodes(&given, dataset, all, counts), "no node is left for train");
    for (int part = 0; part < SFU_PARTS; part++) {
        free(nodes[part]);
    }
    sfu_split_free(drawn);
    sfu_dataset_free(dataset);
}

/* Pinned: a change makes all earlier results incomparable. */
static void digests_stay(void **state) {
    (void)state;
    static const struct {
        const char *protocol, *size, *digest;
    } pinned[] = {
        {"random:0", NULL, "82e1716fe6a225412894ee711b4bfa9af23c00ff5e5957b3bc2d371989f3cf76"},
        {"random:0", "5", "13c9aa8b24af2dca97c8330675d6ca4450de3ed11549aaefd65dec7e6d4f9ea3"},
        {"random:0", "37", "74b5dc35572c9e33ad601af64137078217d52ec65d159f3323dad6a067af2140"},
        {"random:1", NULL, "954f08883b5b2540023099c4ff6b4b635b7b30568d4d54a20aa86d7c33b5933d"},
        {"random:9223372036854775807", NULL, "c053c7d76af14d861e3b180ab7fd54ed42dcd9c7de329b9ca4c085bdc5606083"},
        {"cv:5:0:0", NULL, "e1f17651feefdf0a36fe62e2cc2906858130f1adb8fe744056ef05d6a75640ab"},
        {"holdout:0", NULL, "00d2b680b6cd01b13138d460e1890bbc8023ae3992e30e028ce932d718cf52ba"},
        {"holdout:7", "3", "5ee787064d5d5c0e46a4ef79043fa0bb48669e867768097ab1a27dbd0f849053"},
        {"cv:5:4:1", "1", "1f1cea8369772bba397dde26a2449e466d7e4ee78c12db92c8858fd278ff0e13"},
    };
    sfu_dataset *dataset = many();
    bool same = true;
    for (size_t i = 0; i < sizeof pinned / sizeof pinned[0]; i++) {
        sfu_split *split = split_of(dataset, pinned[i].protocol, pinned[i].size);
        if (strcmp(sfu_split_digest(split), pinned[i].digest) != 0) {
            print_error("%s: %s\n", sfu_split_text(split), sfu_split_digest(split));
            same = false;
        }
        sfu_split_free(split);
    }
    sfu_dataset_free(dataset);
    assert_true(same);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static sfu_status every_protocol(void *context) {
    const char *file = context;
    static const int32_t edges[1], val[] = {2}, train[] = {0, 3}, test[] = {1};
    static int32_t labels[40];
    for (int i = 0; i < 40; i++) {
        labels[i] = i % 3;
    }
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.name = "own";
    const sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                               .nodes = 40,
                               .edge_from = edges,
                               .edge_to = edges,
                               .labels = labels,
                               .standard = {train, val, test},
                               .standard_count = {2, 1, 1}};
    const char *const protocols[] = {"standard", "random:1", "cv:3:0:0", "holdout:0", file};
    sfu_dataset *dataset = NULL;
    sfu_status status = sfu_dataset_from_arrays(&dataset, &arrays, &options);
    for (int i = 0; i < 5 && status == SFU_OK; i++) {
        sfu_split *split = NULL;
        status = sfu_split_new(&split, dataset, protocols[i], i == 1 ? "9" : NULL);
        if (status == SFU_OK) {
            status = sfu_split_save(split, dataset, test_path("memory.csv"), NULL);
        }
        sfu_split_free(split);
    }
    if (status == SFU_OK) {
        sfu_split *split = NULL;
        status = sfu_split_from_nodes(&split, dataset, arrays.standard, arrays.standard_count);
        sfu_split_free(split);
    }
    sfu_dataset_free(dataset);
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    sfu_set_log(NULL, NULL);
    char protocol[600];
    snprintf(protocol, sizeof protocol, "file:%s", test_text_file("in.csv", "0,train\n1,val\n2,test\n"));
    test_fail_each_allocation(every_protocol, protocol, 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(random_cuts_500_and_1000, listen),
        cmocka_unit_test_setup(sizes_grow_inside_each_other, listen),
        cmocka_unit_test_setup(small_counts_are_balanced, listen),
        cmocka_unit_test_setup(draws_are_uniform, listen),
        cmocka_unit_test_setup(few_labels_are_divided_by_class, listen),
        cmocka_unit_test_setup(where_few_begins, listen),
        cmocka_unit_test_setup(untrained_classes_are_told, listen),
        cmocka_unit_test_setup(holdout_is_80_10_10, listen),
        cmocka_unit_test_setup(own_labels_are_trained_on, listen),
        cmocka_unit_test_setup(small_classes_are_in_all_parts, listen),
        cmocka_unit_test_setup(the_fewest_labels_of_a_holdout, listen),
        cmocka_unit_test_setup(folds_cover_everything_once, listen),
        cmocka_unit_test_setup(the_last_fold_validates_on_the_first, listen),
        cmocka_unit_test_setup(standard_is_the_datasets_own, listen),
        cmocka_unit_test_setup(names_are_quoted_where_needed, listen),
        cmocka_unit_test_setup(any_name_comes_back, listen),
        cmocka_unit_test_setup(saved_splits_come_back, listen),
        cmocka_unit_test_setup(files_are_read, listen),
        cmocka_unit_test_setup(files_that_are_wrong, listen),
        cmocka_unit_test_setup(texts_that_are_wrong, listen),
        cmocka_unit_test_setup(labels_that_are_missing, listen),
        cmocka_unit_test_setup(node_numbers_make_a_split, listen),
        cmocka_unit_test_setup(digests_stay, listen),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
