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

/* ---- Platonov's layout, arrays by name, lists of edges ----------------------------------------------------------- */

static const char *make_platonov(const char *seed, int without) {
    piece pieces[PIECES_MAX] = {{0}};
    sfu__bytes bytes = tiny_seed("platonov", seed);
    const char *path = write_zip("tiny.npz", pieces, take_pieces(pieces, &bytes, without), platonov_names);
    sfu__bytes_close(&bytes);
    return path;
}

static sfu_status read_platonov(sfu__raw *raw, const char *path) {
    const sfu_import_options options = {.source = path};
    return sfu__read_platonov(raw, &options);
}

static void platonov(void **state) {
    (void)state;
    sfu__raw raw = {0};
    const char *path = make_platonov("tiny", -1);
    assert_true(sfu__npz_is_platonov(path));
    assert_ok(read_platonov(&raw, path));
    assert_tiny_edges(&raw, false);
    assert_tiny_features(&raw);
    assert_tiny_labels(&raw);
    assert_int_equal(raw.more_count, 1);
    assert_int_equal(raw.standard_count[SFU_TRAIN], 3);
    assert_memory_equal(raw.standard[SFU_TRAIN], ((const int32_t[]){0, 3, 8}), 12);
    assert_memory_equal(raw.more_splits[0].nodes[SFU_TEST], ((const int32_t[]){0, 6}), 8);
    sfu__raw_clear(&raw);
    assert_ok(read_platonov(&raw, make_platonov("columns", -1))); /* 2 x m, without features and masks */
    assert_tiny_edges(&raw, false);
    assert_false(raw.has_features || raw.has_standard);
    sfu__raw_clear(&raw);
    assert_false(sfu__npz_is_platonov(make_npz("sparse", -1)));
    assert_false(sfu__npz_is_platonov(test_path("none.npz")));
}

static sfu_status read_platonov_once(void *context) {
    sfu__raw raw = {0};
    const sfu_status status = read_platonov(&raw, context);
    sfu__raw_clear(&raw);
    return status;
}

static void platonov_wrong(void **state) {
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s", make_platonov("tiny", 0));
    assert_fails(SFU_ERR_FORMAT, read_platonov_once(path), "no graph", "node_features");
    snprintf(path, sizeof path, "%s", make_platonov("tiny", 4)); /* without val_masks there is no split */
    sfu__raw raw = {0};
    assert_ok(read_platonov(&raw, path));
    assert_false(raw.has_standard);
    sfu__raw_clear(&raw);
    snprintf(path, sizeof path, "%s", make_platonov("tiny", -1));
    test_fail_each_allocation(read_platonov_once, path, 1000);
}

/* A .npy file with these bytes of int32 entries. */
static const char *make_npy(const char *name, const char *shape, const int32_t *entries, size_t count) {
    enum { START = 10, DATA = 128 };
    char bytes[1024] = "\x93NUMPY\x01\x00\x76\x00", header[DATA];
    const int size = snprintf(header, sizeof header, "{'descr': '<i4', 'fortran_order': False, 'shape': %s, }", shape);
    memset(bytes + START, ' ', DATA - START);
    memcpy(bytes + START, header, (size_t)size);
    bytes[DATA - 1] = '\n';
    memcpy(bytes + DATA, entries, count * sizeof *entries);
    return test_file(name, bytes, DATA + count * sizeof *entries);
}

static sfu_status read_arrays(sfu__raw *raw, const char *edges, const char *features, const char *labels) {
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.edges = edges;
    options.features = features;
    options.labels = labels;
    options.threads = 1;
    return sfu__read_scipy(raw, &options);
}

static void assert_pairs(const sfu__raw *raw, const uint32_t *ends, int64_t count) {
    assert_int_equal(raw->pairs.count, count);
    assert_memory_equal(raw->pairs.blocks[0].ends, ends, (size_t)count * 8);
}

static void lists_of_edges(void **state) {
    (void)state;
    static const int32_t rows[] = {0, 1, 1, 2, 4, 0}, columns[] = {0, 1, 4, 1, 2, 0}, x[] = {1, 2, 3, 4};
    static const uint32_t ends[] = {0, 1, 1, 2, 4, 0};
    sfu__raw raw = {0};
    assert_ok(read_arrays(&raw, make_npy("e.npy", "(3, 2)", rows, 6), NULL, NULL));
    assert_int_equal(raw.nodes, 5);
    assert_pairs(&raw, ends, 3);
    sfu__raw_clear(&raw);
    assert_ok(read_arrays(&raw, make_npy("e.npy", "(2, 3)", columns, 6), NULL, NULL));
    assert_pairs(&raw, ends, 3);
    sfu__raw_clear(&raw);
    assert_fails(SFU_ERR_FORMAT,
                 read_arrays(&raw, make_npy("e.npy", "(3, 2)", rows, 6), make_npy("x.npy", "(4, 1)", x, 4), NULL),
                 "e.npy: entry 4 is 4", "0 to 3");
    sfu__raw_clear(&raw);
    static const int32_t negative[] = {0, 1, -1, 2, 4, 0}, huge[] = {0, 1, 1, 2, 2000000000, 0};
    assert_fails(SFU_ERR_FORMAT, read_arrays(&raw, make_npy("e.npy", "(3, 2)", negative, 6), NULL, NULL),
                 "entry 2 is -1");
    sfu__raw_clear(&raw);
    assert_fails(SFU_ERR_FORMAT, read_arrays(&raw, make_npy("e.npy", "(3, 2)", huge, 6), NULL, NULL), "implausible");
    sfu__raw_clear(&raw);
    assert_fails(SFU_ERR_FORMAT, read_arrays(&raw, make_npy("e.npy", "(1, 6)", rows, 6), NULL, NULL), "square");
    sfu__raw_clear(&raw);
}

/* CSV files and arrays of one dataset. */
typedef struct mixed {
    const char *edges, *nodes, *features, *labels;
} mixed;

static sfu_status read_mixed(sfu__raw *raw, const mixed *m) {
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.edges = m->edges;
    options.nodes = m->nodes;
    options.label = m->nodes != NULL ? "topic" : NULL;
    options.features = m->features;
    options.labels = m->labels;
    options.threads = 1;
    return sfu__read_csv(raw, &options);
}

static sfu_status read_mixed_once(void *context) {
    sfu__raw raw = {0};
    const sfu_status status = read_mixed(&raw, context);
    sfu__raw_clear(&raw);
    return status;
}

static void csv_and_arrays(void **state) {
    (void)state;
    static const int32_t pairs[] = {0, 1, 2, 1, 2, 0}, x[] = {1, 2, 3, 4, 5, 6}, y[] = {1, 0, 1};
    char e[512], f[512], l[512];
    snprintf(e, sizeof e, "%s", make_npy("e.npy", "(3, 2)", pairs, 6));
    snprintf(f, sizeof f, "%s", make_npy("x.npy", "(3, 2)", x, 6));
    snprintf(l, sizeof l, "%s", make_npy("y.npy", "(3,)", y, 3));
    sfu__raw raw = {0};
    /* The numbers are names of nodes, whose order is that of the nodes file. */
    mixed m = {.edges = e, .nodes = test_text_file("nodes.csv", "node,a,topic\n2,1,x\n0,2,y\n1,3,x\n")};
    assert_ok(read_mixed(&raw, &m));
    assert_pairs(&raw, ((const uint32_t[]){1, 2, 0, 2, 0, 1}), 3);
    sfu__raw_clear(&raw);
    test_fail_each_allocation(read_mixed_once, &m, 1000);
    m = (mixed){.features = f, .labels = test_text_file("labels.csv", "node,label\n2,b\n0,a\n")};
    assert_ok(read_mixed(&raw, &m));
    assert_int_equal(raw.nodes, 3);
    assert_memory_equal(raw.labels, ((const int32_t[]){0, -1, 1}), 12);
    sfu__raw_clear(&raw);
    m = (mixed){.edges = test_text_file("edges.csv", "from,to\n2,0\n"), .features = f, .labels = l};
    assert_ok(read_mixed(&raw, &m));
    assert_pairs(&raw, ((const uint32_t[]){2, 0}), 1);
    assert_int_equal(raw.features, 2);
    sfu__raw_clear(&raw);
    m.edges = test_text_file("edges.csv", "from,to\n3,0\n");
    assert_fails(SFU_ERR_FORMAT, read_mixed_once(&m), "edges.csv:2", "\"3\" is not a node; they are numbered from 0");
    m = (mixed){.features = f, .labels = test_text_file("labels.csv", "node,label\nann,b\n")};
    assert_fails(SFU_ERR_FORMAT, read_mixed_once(&m), "\"ann\" is not a node");
    m = (mixed){.features = f, .nodes = test_text_file("nodes.csv", "node,a,topic\n2,1,x\n")};
    assert_fails(SFU_ERR_ARGUMENT, read_mixed_once(&m), "x.npy and ", "both give features");
    m = (mixed){.labels = l, .nodes = test_text_file("nodes.csv", "node,topic\n2,x\n")};
    assert_fails(SFU_ERR_ARGUMENT, read_mixed_once(&m), "y.npy and ", "both give labels");
}

static void arrays_by_name(void **state) {
    (void)state;
    sfu__raw raw = {0};
    const char *path = make_platonov("tiny", -1);
    const sfu_import_options options = {
        .source = path, .edges = "edges", .features = "node_features", .labels = "node_labels"};
    assert_ok(sfu__read_npz(&raw, &options));
    assert_tiny_edges(&raw, false);
    assert_tiny_features(&raw);
    assert_tiny_labels(&raw);
    assert_int_equal(raw.more_count, 1);
    sfu__raw_clear(&raw);
    const sfu_import_options wrong = {.source = path, .edges = "edges", .features = "words"};
    assert_fails(SFU_ERR_FORMAT, sfu__read_npz(&raw, &wrong), "tiny.npz: words: there is no such array",
                 "the file has: edges, node_features");
    sfu__raw_clear(&raw);
    const sfu_import_options more = {.source = path, .split = "split.csv"};
    assert_fails(SFU_ERR_ARGUMENT, sfu__read_platonov(&raw, &more), "--split", "do not go with the arrays of one file");
    sfu__raw_clear(&raw);
    const sfu_import_options sparse = {.source = make_npz("sparse", -1), .edges = "adj", .features = "attr"};
    assert_ok(sfu__read_npz(&raw, &sparse));
    assert_tiny_features(&raw);
    sfu__raw_clear(&raw);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(platonov),       cmocka_unit_test(platonov_wrong), cmocka_unit_test(lists_of_edges),
        cmocka_unit_test(csv_and_arrays), cmocka_unit_test(arrays_by_name), cmocka_unit_test(shchur),
        cmocka_unit_test(deflated),       cmocka_unit_test(a_bomb),         cmocka_unit_test(what_is_missing),
        cmocka_unit_test(arrays_changed), cmocka_unit_test(scipy),          cmocka_unit_test(scipy_mistakes),
        cmocka_unit_test(memory_may_fail)};
    const int skipped = skip_without_libzip();
    return skipped != 0 ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
