/* MATLAB's files: versions 5 (as scipy writes them) and 7.3 (data/mat/tiny73.mat, made with libmatio: A is a path of
 * four nodes, X sparse with entries 1 to 4, y the classes 1 2 2 1). */
#include "tiny.h"

#include "random.h"

static const char *make_mat(const char *seed) {
    sfu__bytes bytes = tiny_seed("mat", seed);
    const char *path = test_file("tiny.mat", bytes.data, bytes.size);
    sfu__bytes_close(&bytes);
    return path;
}

static sfu_status read_mat(const char *path, const char *edges, const char *features, const char *labels) {
    sfu__raw raw = {0};
    const sfu_import_options options = {.source = path, .edges = edges, .features = features, .labels = labels};
    const sfu_status status = sfu__read_mat(&raw, &options);
    sfu__raw_clear(&raw);
    return status;
}

static void dense(void **state) {
    (void)state;
    sfu__raw raw = {0};
    const sfu_import_options options = {.source = make_mat("dense"), .edges = "A", .features = "X", .labels = "y"};
    assert_ok(sfu__read_mat(&raw, &options));
    assert_tiny_edges(&raw, false);
    assert_tiny_features(&raw);
    assert_tiny_labels(&raw);
    assert_false(raw.has_standard);
    assert_name(&raw.files, 0, "tiny.mat");
    assert_string_equal(raw.format, "mat");
    sfu__raw_clear(&raw);
}

/* Packed; the labels are a vector in which 0 is a class of its own, and the split counts from 0. */
static void sparse(void **state) {
    (void)state;
    sfu__raw raw = {0};
    const sfu_import_options options = {.source = make_mat("sparse"), .edges = "A", .features = "X", .labels = "y"};
    assert_ok(sfu__read_mat(&raw, &options));
    assert_tiny_edges(&raw, false);
    assert_tiny_features(&raw);
    assert_int_equal(raw.classes, 4);
    for (int i = 0; i < TINY_NODES; i++) {
        assert_int_equal(raw.labels[i], tiny_labels[i] + 1);
    }
    assert_true(raw.has_standard);
    assert_int_equal(raw.standard_count[SFU_TEST], 3);
    assert_memory_equal(raw.standard[SFU_TEST], ((const int32_t[]){9, 6, 8}), 12);
    sfu__raw_clear(&raw);
}

static void logical(void **state) {
    (void)state;
    sfu__raw raw = {0};
    const sfu_import_options options = {.source = make_mat("logical"), .edges = "A", .features = "X", .labels = "y"};
    assert_ok(sfu__read_mat(&raw, &options));
    assert_tiny_edges(&raw, false);
    assert_tiny_labels(&raw);
    assert_int_equal(raw.features, TINY_FEATURES);
    sfu__raw_clear(&raw);
}

static void version_73(void **state) {
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/data/mat/tiny73.mat", getenv("SOURCE") != NULL ? getenv("SOURCE") : "..");
    sfu__raw raw = {0};
    const sfu_import_options options = {.source = path, .edges = "A", .features = "X", .labels = "y"};
    const sfu_status status = sfu__read_mat(&raw, &options);
    if (status == SFU_ERR_UNSUPPORTED) {
        print_message("skipped: %s\n", sfu_message());
        skip();
    }
    assert_int_equal(status, SFU_OK);
    assert_int_equal(raw.nodes, 4);
    assert_int_equal(raw.pairs.count, 6);
    assert_int_equal(raw.features, 3);
    assert_int_equal(raw.sparse.indptr[4], 4);
    assert_int_equal(raw.sparse.indices[raw.sparse.indptr[3]], 0);
    assert_true(raw.sparse.values[raw.sparse.indptr[3]] == 2);
    assert_memory_equal(raw.labels, ((const int32_t[]){0, 1, 1, 0}), 16);
    assert_name(&raw.class_names, 0, "1");
    sfu__raw_clear(&raw);
    assert_fails(SFU_ERR_FORMAT, read_mat(path, "B", NULL, NULL), "tiny73.mat: B", "A 4x4, X 4x3, y 4x1");
    sfu__bytes bytes;
    assert_ok(sfu__bytes_open(&bytes, path));
    for (size_t cut = 128; cut < bytes.size; cut += 512) {
        assert_clean_failure(read_mat(test_file("cut.mat", bytes.data, cut), "A", "X", "y"), "cut.mat");
    }
    sfu__bytes_close(&bytes);
}

static void mistakes(void **state) {
    (void)state;
    assert_fails(SFU_ERR_ARGUMENT, read_mat(make_mat("dense"), NULL, NULL, NULL), "tiny.mat",
                 "A 10x10, X 10x4, y 10x3");
    assert_fails(SFU_ERR_FORMAT, read_mat(make_mat("dense"), "B", NULL, NULL), "tiny.mat: B",
                 "A 10x10, X 10x4, y 10x3");
    assert_fails(SFU_ERR_FORMAT, read_mat(make_mat("dense"), "X", NULL, NULL), "tiny.mat: X", "square");
    assert_fails(SFU_ERR_FORMAT, read_mat(make_mat("sparse"), "A", "train_idx", NULL), "tiny.mat: train_idx: 1 rows",
                 "10 nodes");
    assert_fails(SFU_ERR_NOT_FOUND, read_mat(test_path("none.mat"), "A", NULL, NULL), "none.mat: no such file");
    assert_fails(SFU_ERR_FORMAT, read_mat(test_text_file("text.mat", "text"), "A", NULL, NULL), "text.mat: byte 124",
                 "version 5 or 7.3");
}

/* Writes a .mat file of version 5 with A, train_idx, val_idx and test_idx, nine bytes of numbers each at most. */
static const char *make_split(const char *train, const char *val, const char *test) {
    static const char *const names[] = {"A", "train_idx", "val_idx", "test_idx"};
    const char *numbers[] = {"\1\1\1\1\1\1\1\1\1", train, val, test};
    uint8_t bytes[1024];
    size_t size = 128;
    memset(bytes, ' ', size);
    memcpy(bytes + 124, "\0\1IM", 4);
    for (int i = 0; i < 4; i++) {
        const uint32_t rows = i == 0 ? 3 : 1;
        const uint32_t cols = i == 0 ? 3 : (uint32_t)(numbers[i][0] - '0');
        const char *data = i == 0 ? numbers[0] : numbers[i] + 1;
        uint8_t *at = bytes + size;
        at = put_number(at, 14, 4);
        at = put_number(at, 16 + 16 + 24 + 24, 4);
        at = put_number(at, 6, 4);
        at = put_number(at, 8, 4);
        at = put_number(at, 9, 4); /* uint8 */
        at = put_number(at, 0, 4);
        at = put_number(at, 5, 4);
        at = put_number(at, 8, 4);
        at = put_number(at, rows, 4);
        at = put_number(at, cols, 4);
        at = put_number(at, 1, 4);
        at = put_number(at, (uint32_t)strlen(names[i]), 4);
        memset(at, 0, 16);
        memcpy(at, names[i], strlen(names[i]));
        at += strlen(names[i]) > 8 ? 16 : 8;
        at = put_number(at, 2, 4);
        at = put_number(at, rows * cols, 4);
        memset(at, 0, 16);
        memcpy(at, data, rows * cols);
        at += rows * cols > 8 ? 16 : 8;
        put_number(bytes + size + 4, (uint32_t)(at - (bytes + size)) - 8, 4);
        size = (size_t)(at - bytes);
    }
    return test_file("split.mat", bytes, size);
}

/* The index base of a split, and splits where it is ambiguous. */
static void splits(void **state) {
    (void)state;
    static const struct {
        const char *train, *val, *test; /* count, then the nodes */
        int32_t first;                  /* the first training node, -1: no split */
    } known[] = {{"1\1", "1\2", "1\0", 1}, {"1\1", "1\2", "1\3", 0}, {"1\1", "1\2", "1\1", -1}};
    for (int i = 0; i < 3; i++) {
        sfu__raw raw = {0};
        const sfu_import_options options = {.source = make_split(known[i].train, known[i].val, known[i].test),
                                            .edges = "A"};
        assert_ok(sfu__read_mat(&raw, &options));
        assert_int_equal(raw.has_standard, known[i].first >= 0);
        if (known[i].first >= 0) {
            assert_int_equal(raw.standard[SFU_TRAIN][0], known[i].first);
        } else {
            assert_null(raw.standard[SFU_TRAIN]);
        }
        sfu__raw_clear(&raw);
    }
    assert_fails(SFU_ERR_FORMAT, read_mat(make_split("1\0", "1\1", "1\3"), "A", NULL, NULL), "split.mat",
                 "both node 0 and node 3");
    assert_fails(SFU_ERR_FORMAT, read_mat(make_split("1\0", "1\1", "1\4"), "A", NULL, NULL), "split.mat: test_idx",
                 "entry 0 is 4");
}

static void cut_and_changed(void **state) {
    (void)state;
    static const char *const seeds[] = {"dense", "sparse", "logical"};
    sfu__random random = sfu__random_start(7, 0);
    int failures = 0;
    for (int i = 0; i < 3; i++) {
        sfu__bytes seed = tiny_seed("mat", seeds[i]);
        for (size_t cut = 0; cut < seed.size; cut += 3) {
            const sfu_status status = read_mat(test_file("cut.mat", seed.data, cut), "A", "X", "y");
            if (status != SFU_OK) { /* the last element's padding, or one that is not needed, may be missing */
                assert_clean_failure(status, "cut.mat");
            }
            failures += status != SFU_OK;
        }
        uint8_t *copy = malloc(seed.size + 1);
        assert_non_null(copy);
        for (int k = 0; k < 300; k++) {
            memcpy(copy, seed.data, seed.size);
            copy[124 + sfu__random_below(&random, seed.size - 124)] = (uint8_t)sfu__random_next(&random);
            const sfu_status status = read_mat(test_file("changed.mat", copy, seed.size), "A", "X", "y");
            /* A changed version may ask for libmatio. */
            if (status != SFU_OK && status != SFU_ERR_UNSUPPORTED) {
                failures++;
                assert_clean_failure(status, "changed.mat");
            }
        }
        free(copy);
        sfu__bytes_close(&seed);
    }
    assert_true(failures > 600);
}

static sfu_status read_once(void *path) { return read_mat(path, "A", "X", "y"); }

static void memory_may_fail(void **state) {
    (void)state;
    static const char *const seeds[] = {"dense", "sparse", "logical"};
    for (int i = 0; i < 3; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s", make_mat(seeds[i]));
        test_fail_each_allocation(read_once, path, 400);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(dense),      cmocka_unit_test(sparse),
                                       cmocka_unit_test(logical),    cmocka_unit_test(mistakes),
                                       cmocka_unit_test(splits),     cmocka_unit_test(cut_and_changed),
                                       cmocka_unit_test(version_73), cmocka_unit_test(memory_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
