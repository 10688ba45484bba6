/* Shchur's layout, and scipy's and numpy's files: valid, invalid, truncated and modified. */
#include "tiny.h"

#include "npz.h"
#include "random.h"

enum { PIECES_MAX = 16 };

/* The pieces of a seed file, up to `most`, except number `without`. */
static int take_pieces(piece *pieces, const sfu__bytes *seed, int without) {
    const uint8_t *bytes = seed->data;
    size_t size = seed->size;
    int count = 0;
    while (count < PIECES_MAX && next_piece(&pieces[count], &bytes, &size)) {
        count += (int)pieces[count].which != without;
    }
    return count;
}

static const char *write_zip(const char *name, const piece *pieces, int count, const char *const *names) {
    size_t size;
    uint8_t *zip = zip_pieces(&size, pieces, count, names);
    const char *path = test_file(name, zip, size);
    free(zip);
    return path;
}

/* A seed of the folder npz as a file. */
static const char *make_npz(const char *seed, int without) {
    piece pieces[PIECES_MAX] = {{0}};
    sfu__bytes bytes = tiny_seed("npz", seed);
    const char *path = write_zip("tiny.npz", pieces, take_pieces(pieces, &bytes, without), npz_names);
    sfu__bytes_close(&bytes);
    return path;
}

static sfu_status read_npz(const char *path) {
    sfu__raw raw = {0};
    const sfu_import_options options = {.source = path};
    const sfu_status status = sfu__read_npz(&raw, &options);
    sfu__raw_clear(&raw);
    return status;
}

static void shchur(void **state) {
    (void)state;
    static const char *const seeds[] = {"sparse", "dense"};
    for (int i = 0; i < 2; i++) {
        sfu__raw raw = {0};
        const sfu_import_options options = {.source = make_npz(seeds[i], -1)};
        assert_ok(sfu__read_npz(&raw, &options));
        assert_tiny_edges(&raw, false);
        assert_tiny_features(&raw);
        assert_tiny_labels(&raw);
        assert_name(&raw.class_names, 0, "red");
        assert_name(&raw.class_names, 2, "blue");
        assert_int_equal(raw.class_names.count, 3);
        assert_int_equal(raw.node_names.count, 10);
        assert_name(&raw.node_names, 9, "n9");
        assert_int_equal(raw.feature_names.count, i == 0 ? 4 : 0);
        assert_name(&raw.files, 0, "tiny.npz");
        assert_string_equal(raw.format, "npz");
        sfu__raw_clear(&raw);
    }
}

static void deflated(void **state) {
    (void)state;
    sfu__raw raw = {0};
    sfu__bytes seed = tiny_seed("npz", "deflated.npz");
    const sfu_import_options options = {.source = test_file("deflated.npz", seed.data, seed.size)};
    assert_ok(sfu__read_npz(&raw, &options));
    assert_tiny_edges(&raw, false);
    assert_tiny_labels(&raw);
    assert_false(raw.has_features);
    sfu__raw_clear(&raw);
    /* A truncated file has no directory; a modified one has a wrong checksum. */
    for (size_t cut = 0; cut < seed.size; cut += 7) {
        assert_clean_failure(read_npz(test_file("cut.npz", seed.data, cut)), "cut.npz");
    }
    sfu__random random = sfu__random_start(5, 0);
    uint8_t *copy = malloc(seed.size + 1);
    assert_non_null(copy);
    for (int i = 0; i < 300; i++) {
        memcpy(copy, seed.data, seed.size);
        copy[sfu__random_below(&random, seed.size)] ^= (uint8_t)(1 + sfu__random_below(&random, 255));
        const sfu_status status = read_npz(test_file("changed.npz", copy, seed.size));
        if (status != SFU_OK) {
            assert_clean_failure(status, "changed.npz");
        }
    }
    free(copy);
    sfu__bytes_close(&seed);
}

/* A member that claims to decompress to more than it can. */
static void a_bomb(void **state) {
    (void)state;
    sfu__bytes seed = tiny_seed("npz", "deflated.npz");
    uint8_t *copy = malloc(seed.size + 1);
    assert_non_null(copy);
    memcpy(copy, seed.data, seed.size);
    for (size_t i = 0; i + 30 < seed.size; i++) {
        if (memcmp(copy + i, "PK\1\2", 4) == 0) {
            memcpy(copy + i + 24, "\xff\xff\xff\x7f", 4);
        }
    }
    const char *path = test_file("bomb.npz", copy, seed.size);
    assert_clean_failure(read_npz(path), "bomb.npz");
    free(copy);
    sfu__bytes_close(&seed);
}

static void what_is_missing(void **state) {
    (void)state;
    assert_fails(SFU_ERR_FORMAT, read_npz(make_npz("sparse", 1)), "tiny.npz: adj_indices", "the file has: adj_data,");
    assert_fails(SFU_ERR_FORMAT, read_npz(make_npz("sparse", 0)), "tiny.npz: no graph", "adj_indices");
    assert_fails(SFU_ERR_FORMAT, read_npz(make_npz("sparse", 7)), "tiny.npz: attr_shape");
    assert_ok(read_npz(make_npz("sparse", 9)));
    assert_fails(SFU_ERR_NOT_FOUND, read_npz(test_path("none.npz")), "none.npz: no such file");
    assert_fails(SFU_ERR_FORMAT, read_npz(test_text_file("text.npz", "no zip")), "text.npz");
    assert_fails(SFU_ERR_FORMAT, read_npz(test_path("")), "a folder");
}

/* Each array of Shchur's layout truncated and modified, with a correct checksum. */
static void arrays_changed(void **state) {
    (void)state;
    sfu__bytes seed = tiny_seed("npz", "sparse");
    sfu__random random = sfu__random_start(6, 0);
    int failures = 0;
    for (int i = 0; i < 300; i++) {
        piece pieces[PIECES_MAX] = {{0}};
        const int count = take_pieces(pieces, &seed, -1);
        piece *one = &pieces[sfu__random_below(&random, (uint64_t)count)];
        uint8_t *copy = malloc(one->size + 1);
        assert_non_null(copy);
        memcpy(copy, one->bytes, one->size);
        one->bytes = copy;
        if (i % 2 == 0) {
            one->size = sfu__random_below(&random, one->size);
        } else {
            copy[sfu__random_below(&random, one->size)] ^= (uint8_t)(1 + sfu__random_below(&random, 255));
        }
        const sfu_status status = read_npz(write_zip("changed.npz", pieces, count, npz_names));
        if (status != SFU_OK) {
            failures++;
            assert_clean_failure(status, "changed.npz");
        }
        free(copy);
    }
    sfu__bytes_close(&seed);
    assert_true(failures > 100);
}

/* ---- scipy ---------------------------------------------------------------------------------------------------- */

/* A seed of the folder scipy as edges, and its labels. */
static void make_scipy(char edges[512], char labels[512], const char *seed) {
    piece pieces[PIECES_MAX] = {{0}};
    sfu__bytes bytes = tiny_seed("scipy", seed);
    const int count = take_pieces(pieces, &bytes, -1);
    assert_int_equal(pieces[count - 1].which, SCIPY_LABELS);
    snprintf(edges, 512, "%s", write_zip("edges.npz", pieces, count - 1, scipy_names));
    snprintf(labels, 512, "%s", test_file("labels.npy", pieces[count - 1].bytes, pieces[count - 1].size));
    sfu__bytes_close(&bytes);
}

static void scipy(void **state) {
    (void)state;
    static const char *const seeds[] = {"csr", "csc", "coo"};
    char edges[512];
    char labels[512];
    sfu__bytes features = tiny_seed("npy", "features-columns-first");
    for (int i = 0; i < 3; i++) {
        sfu__raw raw = {0};
        make_scipy(edges, labels, seeds[i]);
        const sfu_import_options options = {
            .edges = edges, .labels = labels, .features = test_file("x.npy", features.data, features.size)};
        assert_ok(sfu__read_scipy(&raw, &options));
        assert_tiny_edges(&raw, false);
        assert_tiny_features(&raw);
        assert_tiny_labels(&raw);
        assert_int_equal(raw.files.count, 3);
        assert_name(&raw.files, 2, "labels.npy");
        sfu__raw_clear(&raw);
    }
    sfu__bytes_close(&features);
}

static sfu_status read_scipy(const char *edges, const char *features, const char *labels) {
    sfu__raw raw = {0};
    const sfu_import_options options = {.edges = edges, .features = features, .labels = labels};
    const sfu_status status = sfu__read_scipy(&raw, &options);
    sfu__raw_clear(&raw);
    return status;
}

static void scipy_mistakes(void **state) {
    (void)state;
    char edges[512];
    char labels[512];
    make_scipy(edges, labels, "coo");
    sfu__bytes seed = tiny_seed("npy", "one-hot");
    char other[512];
    snprintf(other, sizeof other, "%s", test_file("other.npy", seed.data, seed.size));
    sfu__bytes_close(&seed);
    assert_fails(SFU_ERR_FORMAT, read_scipy(edges, NULL, other), "other.npy: 3 rows, but there are 10 nodes");
    assert_fails(SFU_ERR_FORMAT, read_scipy(labels, NULL, NULL), "labels.npy", "1 dimensions");
    assert_fails(SFU_ERR_ARGUMENT, read_scipy(NULL, NULL, NULL), "--edges");
    piece pieces[PIECES_MAX] = {{0}};
    sfu__bytes coo = tiny_seed("scipy", "coo");
    int count = take_pieces(pieces, &coo, 0);
    assert_fails(SFU_ERR_FORMAT, read_scipy(write_zip("a.npz", pieces, count - 1, scipy_names), NULL, NULL),
                 "a.npz: format", "the file has: shape, data, row, col");
    count = take_pieces(pieces, &coo, -1);
    uint8_t *format = malloc(pieces[0].size);
    assert_non_null(format);
    memcpy(format, pieces[0].bytes, pieces[0].size);
    memcpy(format + pieces[0].size - 3, "bsr", 3);
    pieces[0].bytes = format;
    assert_fails(SFU_ERR_FORMAT, read_scipy(write_zip("a.npz", pieces, count - 1, scipy_names), NULL, NULL), "a.npz",
                 "\"bsr\"", "tocsr");
    free(format);
    sfu__bytes_close(&coo);
}

/* ---- both ----------------------------------------------------------------------------------------------------- */

static sfu_status read_npz_once(void *path) { return read_npz(path); }

static sfu_status read_scipy_once(void *paths) {
    char(*both)[512] = paths;
    return read_scipy(both[0], both[0], both[1]);
}

static void memory_may_fail(void **state) {
    (void)state;
    char paths[2][512];
    snprintf(paths[0], sizeof paths[0], "%s", make_npz("sparse", -1));
    test_fail_each_allocation(read_npz_once, paths[0], 400);
    snprintf(paths[0], sizeof paths[0], "%s", make_npz("dense", -1));
    test_fail_each_allocation(read_npz_once, paths[0], 400);
    make_scipy(paths[0], paths[1], "csc");
    test_fail_each_allocation(read_scipy_once, paths, 400);
}

static int skip_without_libzip(void) {
    sfu__npz *npz = NULL;
    const bool missing = sfu__npz_open(&npz, test_path("none.npz")) == SFU_ERR_UNSUPPORTED;
    sfu__npz_free(npz);
    return missing ? 77 : 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shchur),         cmocka_unit_test(deflated),
                                       cmocka_unit_test(a_bomb),         cmocka_unit_test(what_is_missing),
                                       cmocka_unit_test(arrays_changed), cmocka_unit_test(scipy),
                                       cmocka_unit_test(scipy_mistakes), cmocka_unit_test(memory_may_fail)};
    const int skipped = skip_without_libzip();
    return skipped != 0 ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
