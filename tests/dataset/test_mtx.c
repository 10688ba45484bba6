/* Matrix Market: graphs, features, labels; errors in headers and entries. */
#include "support.h"

#include "raw.h"

#include <stdio.h>
#include <string.h>

#define BANNER "%%MatrixMarket matrix "

typedef struct files {
    const char *graph, *features, *labels, *columns, *split;
    bool directed;
} files;

static char paths[5][512];

static sfu_import_options given(const files *f) {
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.scale = SFU_SCALE_NONE;
    const struct {
        const char *text, *name;
        const char **option;
    } all[] = {
        {f->graph, "g.mtx", &options.edges},        {f->features, "x.mtx", &options.features},
        {f->labels, "labels.txt", &options.labels}, {f->columns, "columns.csv", &options.columns},
        {f->split, "split.csv", &options.split},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].text != NULL) {
            snprintf(paths[i], sizeof paths[i], "%s", test_text_file(all[i].name, all[i].text));
            *all[i].option = paths[i];
        }
    }
    options.directed = f->directed;
    options.threads = 2;
    return options;
}

static sfu_status read_files(sfu__raw *raw, files f) {
    const sfu_import_options options = given(&f);
    return sfu__read_mtx(raw, &options);
}

static const char *show_pairs(const sfu__raw *raw) {
    static char out[1024];
    int used = snprintf(out, sizeof out, "%d:", (int)raw->nodes);
    for (size_t b = 0; b < raw->pairs.block_count; b++) {
        const sfu__pair_block *block = &raw->pairs.blocks[b];
        for (int64_t i = 0; i < block->count; i++) {
            used +=
                snprintf(out + used, sizeof out - (size_t)used, " %u-%u", block->ends[2 * i], block->ends[2 * i + 1]);
            if (block->weights != NULL) {
                used += snprintf(out + used, sizeof out - (size_t)used, "=%g", (double)block->weights[i]);
            }
        }
    }
    return out;
}

static void expect_pairs(const char *graph, bool directed, const char *wanted) {
    sfu__raw raw = {0};
    assert_ok(read_files(&raw, (files){.graph = graph, .directed = directed}));
    assert_string_equal(show_pairs(&raw), wanted);
    assert_true(raw.has_graph);
    sfu__raw_clear(&raw);
}

static void graphs(void **state) {
    (void)state;
    expect_pairs(BANNER "coordinate pattern general\n% c\n3 3 2\n1 2\n3 1\n", false, "3: 0-1 2-0");
    expect_pairs(BANNER "coordinate real general\n3 3 2\n1 2 0.5\n3 1 2e0\n", false, "3: 0-1=0.5 2-0=2");
    expect_pairs(BANNER "Coordinate INTEGER General\r\n\r\n3 3 2\r\n  1 2 4\r\n% late\r\n3 1 2\r\n", false,
                 "3: 0-1=4 2-0=2");
    expect_pairs(BANNER "coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n", false, "3: 1-0 2-2");
    expect_pairs(BANNER "coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n", true, "3: 1-0 2-2 0-1");
    expect_pairs(BANNER "coordinate real symmetric\n3 3 2\n2 1 5\n3 3 1\n", true, "3: 1-0=5 2-2=1 0-1=5");
    expect_pairs(BANNER "coordinate pattern general\n4 4 0\n", false, "4:");
}

static void wrong_graphs(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "g.mtx:1: not a Matrix Market file"},
        {"1 2\n", "g.mtx:1: not a Matrix Market file"},
        {BANNER "coordinate real\n", "g.mtx:1: not a Matrix Market file"},
        {BANNER "heap real general\n", "g.mtx:1: \"heap\" is not a supported layout"},
        {BANNER "coordinate complex general\n", "g.mtx:1: \"complex\" entries are not supported"},
        {BANNER "array pattern general\n", "g.mtx:1: \"pattern\" entries are not supported"},
        {BANNER "coordinate real skew-symmetric\n", "g.mtx:1: \"skew-symmetric\" matrices are not supported"},
        {BANNER "coordinate real hermitian\n", "g.mtx:1: \"hermitian\" matrices"},
        {BANNER "coordinate real general\n", "the sizes are missing: ROWS COLUMNS ENTRIES"},
        {BANNER "coordinate real general\n3 3\n", "g.mtx:2: the sizes are missing"},
        {BANNER "coordinate real general\n3 x 1\n", "g.mtx:2: \"x\" is not a whole number"},
        {BANNER "coordinate real general\n3 -3 1\n", "g.mtx:2: -3 is not between 0 and 2147483647"},
        {BANNER "coordinate real general\n3 9999999999 1\n", "g.mtx:2: 9999999999 is not between"},
        {BANNER "coordinate real general\n3 4 1\n1 1 1\n",
         "g.mtx:2: expected a square matrix as the graph, found 3 rows"},
        {BANNER "array real general\n2 2\n1\n1\n1\n1\n",
         "g.mtx:2: expected a coordinate matrix as the graph, found an array"},
        {BANNER "coordinate pattern general\n3 3 2\n1 2\n", "g.mtx:2: fewer entries than declared here: found 1"},
        {BANNER "coordinate pattern general\n3 3 1\n1 2\n2 1\n", "g.mtx:2: more entries than declared here: found 2"},
        {BANNER "coordinate pattern general\n3 3 2\n1 2\n4 1\n", "g.mtx:4: 4 is not between 1 and 3"},
        {BANNER "coordinate pattern general\n3 3 2\n1 2\n1 0\n", "g.mtx:4: 0 is not between 1 and 3"},
        {BANNER "coordinate pattern general\n3 3 2\n1 2\n1 2 3\n", "g.mtx:4: expected 2 numbers in an entry, found 3"},
        {BANNER "coordinate real general\n3 3 1\n1 2\n", "g.mtx:3: expected 3 numbers in an entry, found 2"},
        {BANNER "coordinate real general\n3 3 1\n1 2 -1\n", "g.mtx:3: -1 is negative"},
        {BANNER "coordinate real general\n3 3 1\n1 2 x\n", "g.mtx:3: \"x\" is not a number"},
        {BANNER "coordinate real general\n3 3 1\n1 2 1e99\n", "g.mtx:3: \"1e99\" is too large"},
        {BANNER "coordinate real general\n2147483647 2147483647 1\n1 2 1\n", "g.mtx:2: 2147483647 rows or columns"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sfu__raw raw = {0};
        assert_fails(SFU_ERR_FORMAT, read_files(&raw, (files){.graph = wrong[i].text}), wrong[i].message);
        sfu__raw_clear(&raw);
    }
}

static const char two[] = BANNER "coordinate pattern general\n2 2 1\n1 2\n";

static void features(void **state) {
    (void)state;
    sfu__raw raw = {0};
    assert_ok(read_files(
        &raw, (files){.graph = two, .features = BANNER "coordinate real general\n2 4 3\n1 1 1\n2 4 -2\n2 1 3\n"}));
    assert_int_equal(raw.features, 4);
    assert_memory_equal(raw.sparse.indptr, ((int64_t[]){0, 1, 3}), sizeof(int64_t[3]));
    assert_memory_equal(raw.sparse.indices, ((int32_t[]){0, 3, 0}), sizeof(int32_t[3]));
    assert_memory_equal(raw.sparse.values, ((float[]){1, -2, 3}), sizeof(float[3]));
    sfu__raw_clear(&raw);
    assert_ok(
        read_files(&raw, (files){.graph = two, .features = BANNER "array real general\n2 3\n1\n2\n3\n4\n5\n6\n"}));
    assert_int_equal(raw.features, 3);
    assert_memory_equal(raw.dense, ((float[]){1, 3, 5, 2, 4, 6}), sizeof(float[6]));
    sfu__raw_clear(&raw);
    assert_ok(read_files(&raw, (files){.graph = two, .features = "node,f\n1,5\n0,6\n"}));
    assert_memory_equal(raw.dense, ((float[]){6, 5}), sizeof(float[2]));
    sfu__raw_clear(&raw);
    assert_fails(SFU_ERR_FORMAT, read_files(&raw, (files){.graph = two, .features = "node,f\n1,5\n2,6\n"}),
                 "x.mtx:3: column \"node\": \"2\" is not a node; they are numbered from 0");
    sfu__raw_clear(&raw);
    assert_fails(SFU_ERR_FORMAT,
                 read_files(&raw, (files){.graph = two, .features = BANNER "array real general\n3 1\n1\n2\n3\n"}),
                 "x.mtx:2: the number of rows is not the graph's number of nodes, 2");
    sfu__raw_clear(&raw);
    assert_fails(SFU_ERR_FORMAT,
                 read_files(&raw, (files){.graph = two, .features = BANNER "array real general\n2 1\n1\n2\n3\n"}),
                 "x.mtx:2: more entries than declared here: found 3");
    sfu__raw_clear(&raw);
    assert_fails(SFU_ERR_FORMAT,
                 read_files(&raw, (files){.graph = two, .features = BANNER "array real general\n2 1\n1 2\n"}),
                 "x.mtx:3: expected one value per line, found 2");
    sfu__raw_clear(&raw);
    assert_fails(SFU_ERR_FORMAT,
                 read_files(&raw, (files){.graph = two, .features = BANNER "array real symmetric\n2 2\n1\n2\n3\n"}),
                 "x.mtx:2: a symmetric array is not supported");
    sfu__raw_clear(&raw);
}

static void labels(void **state) {
    (void)state;
    static const char *const texts[] = {"b\na\n", "1,a\n0,b\n", "node,label\n1,a\n0,b\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sfu__raw raw = {0};
        assert_ok(read_files(&raw, (files){.graph = two, .labels = texts[i]}));
        assert_int_equal(raw.classes, 2);
        assert_memory_equal(raw.labels, ((int32_t[]){1, 0}), sizeof(int32_t[2]));
        sfu__raw_clear(&raw);
    }
    sfu__raw raw = {0};
    assert_ok(read_files(&raw, (files){.graph = two, .labels = "\nx\n"}));
    assert_memory_equal(raw.labels, ((int32_t[]){SFU_NO_LABEL, 0}), sizeof(int32_t[2]));
    sfu__raw_clear(&raw);
    assert_ok(read_files(&raw, (files){.graph = two, .labels = BANNER "array integer general\n2 1\n-1\n0\n"}));
    assert_memory_equal(raw.labels, ((int32_t[]){SFU_NO_LABEL, 0}), sizeof(int32_t[2]));
    sfu__raw_clear(&raw);
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"a\n", "labels.txt: 1 labels for 2 nodes"},
        {"a\nb\nc\n", "labels.txt: 3 labels for 2 nodes"},
        {"0,a\n2,b\n", "labels.txt:2: column 1: \"2\" is not a node"},
        {BANNER "array real general\n2 1\n0.5\n1\n", "labels.txt: the label of node 0, 0.5, is not a whole number"},
        {BANNER "array real general\n3 1\n0\n1\n2\n", "labels.txt:2: expected an array of one column"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_fails(SFU_ERR_FORMAT, read_files(&raw, (files){.graph = two, .labels = wrong[i].text}),
                     wrong[i].message);
        sfu__raw_clear(&raw);
    }
}

static sfu_status read_all(void *context) {
    sfu__raw raw = {0};
    const sfu_status status = sfu__read_mtx(&raw, context);
    sfu__raw_clear(&raw);
    return status;
}

static void every_allocation(void **state) {
    (void)state;
    static const files all[] = {
        {.graph = BANNER "coordinate real symmetric\n2 2 1\n2 1 3\n",
         .directed = true,
         .features = BANNER "array real general\n2 2\n1\n2\n3\n4\n",
         .labels = BANNER "array integer general\n2 1\n1\n0\n",
         .columns = "node,c\n0,1\n1,2\n",
         .split = "0,train\n1,val\n"},
        {.graph = BANNER "coordinate real general\n2 2 1\n% x\n2 1 3\n",
         .features = BANNER "coordinate real general\n2 2 1\n1 1 5\n",
         .labels = "a\nb\n"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sfu_import_options options = given(&all[i]);
        test_fail_each_allocation(read_all, &options, 1000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs), cmocka_unit_test(wrong_graphs),     cmocka_unit_test(features),
        cmocka_unit_test(labels), cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
