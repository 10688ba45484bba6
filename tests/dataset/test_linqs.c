/* LINQS layout: Cora as published, and small files with one error each. */
#include "support.h"

#include "raw.h"

#include <stdio.h>
#include <string.h>

static sfu_status read_source(const char *source, bool strict, sfu__raw *raw) {
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.source = source;
    options.strict = strict;
    return sfu__read_linqs(raw, &options);
}

static void cora(void **state) {
    (void)state;
    static const char *const classes[] = {"Case_Based",
                                          "Genetic_Algorithms",
                                          "Neural_Networks",
                                          "Probabilistic_Methods",
                                          "Reinforcement_Learning",
                                          "Rule_Learning",
                                          "Theory"};
    static const int counts[] = {298, 418, 818, 426, 217, 180, 351};
    sfu__raw raw = {0};
    int seen[7] = {0};
    assert_ok(read_source(test_data("linqs/cora.content"), true, &raw));
    assert_int_equal(raw.nodes, 2708);
    assert_int_equal(raw.features, 1433);
    assert_int_equal(raw.sparse.indptr[raw.nodes], 49216);
    assert_int_equal(raw.pairs.count, 5429);
    assert_int_equal(raw.classes, 7);
    assert_int_equal(raw.nodes_only_in_edges, 0);
    for (int64_t i = 0; i < 7; i++) {
        size_t size;
        const char *name = sfu__strings_get(&raw.class_names, i, &size);
        assert_int_equal(size, strlen(classes[i]));
        assert_memory_equal(name, classes[i], size);
    }
    for (int64_t i = 0; i < raw.nodes; i++) {
        seen[raw.labels[i]]++;
    }
    assert_memory_equal(seen, counts, sizeof counts);
    size_t size;
    assert_memory_equal(sfu__strings_get(&raw.node_names, 0, &size), "31336", 5);
    assert_int_equal(size, 5);
    sfu__raw_clear(&raw);
}

static int lines_logged;
static char last_line[512];

static void note(void *user, sfu_log_level level, const char *line) {
    (void)user;
    assert_int_equal(level, SFU_LOG_WARNING);
    snprintf(last_line, sizeof last_line, "%s", line);
    lines_logged++;
}

static void unknown_papers(void **state) {
    (void)state;
    sfu__raw raw = {0};
    char source[512];
    test_text_file("s.cites", "a\tb\nb\tx\nx\ta\nb\ta\n");
    snprintf(source, sizeof source, "%s", test_text_file("s.content", "b\t1\t0\tT\na\t0\t0\tS\n"));
    sfu_set_log(note, NULL);
    assert_ok(read_source(source, false, &raw));
    sfu_set_log(NULL, NULL);
    assert_int_equal(lines_logged, 1);
    assert_non_null(strstr(last_line, "s.cites: skipped 2 citations of papers that are missing from the content file"));
    assert_int_equal(raw.nodes, 2);
    assert_int_equal(raw.pairs.count, 2);
    /* cited, citing: b cites a. */
    assert_memory_equal(raw.pairs.blocks[0].ends, ((uint32_t[]){0, 1, 1, 0}), sizeof(uint32_t[4]));
    assert_int_equal(raw.sparse.indptr[2], 1);
    assert_memory_equal(raw.labels, ((int32_t[]){1, 0}), sizeof(int32_t[2]));
    sfu__raw_clear(&raw);
    assert_fails(SFU_ERR_FORMAT, read_source(source, true, &raw),
                 "s.cites:2: column 2: \"x\" is a paper that is missing from the content file");
    sfu__raw_clear(&raw);
}

static void expect_failure(sfu_status wanted, const char *content, const char *cites, const char *message) {
    sfu__raw raw = {0};
    char source[512];
    if (cites != NULL) {
        test_text_file("f.cites", cites);
    }
    snprintf(source, sizeof source, "%s", test_text_file("f.content", content));
    assert_fails(wanted, read_source(source, false, &raw), message);
    sfu__raw_clear(&raw);
}

static void messages(void **state) {
    (void)state;
    expect_failure(SFU_ERR_NOT_FOUND, "a\t1\tT\n", NULL, "f.cites: no such file");
    expect_failure(SFU_ERR_FORMAT, "a\t1\tT\na\t1\tT\n", "a\ta\n", "f.content:2: node \"a\" is on line 1");
    expect_failure(SFU_ERR_FORMAT, "a\t1\tT\nb\tx\tT\n", "a\ta\n", "f.content:2: column 2: \"x\" is not a number");
    expect_failure(SFU_ERR_FORMAT, "a\t1\tT\nb\tT\n", "a\ta\n",
                   "f.content:2: expected 3 columns as on line 1, found 2");
    expect_failure(SFU_ERR_FORMAT, "a\tT\n", "a\ta\n",
                   "f.content:1: expected at least 3 columns (id, words, class), found 2");
    expect_failure(SFU_ERR_FORMAT, "", "a\ta\n",
                   "f.content:1: expected at least 3 columns (id, words, class), found 0");
    expect_failure(SFU_ERR_FORMAT, "a\t1\tT\n", "a\ta\ta\n",
                   "f.cites:1: expected 2 columns (cited and citing paper), found 3");
    sfu__raw raw = {0};
    assert_fails(SFU_ERR_ARGUMENT, read_source("x.csv", false, &raw), "x.csv: the source is the file NAME.content");
    assert_fails(SFU_ERR_ARGUMENT, read_source(NULL, false, &raw), "NAME.content");
    sfu__raw_clear(&raw);
}

/* Either file leads to the other. */
static void by_the_cites(void **state) {
    (void)state;
    sfu__raw raw = {0};
    test_text_file("g.content", "b 1 0 T\n");
    test_text_file("g.content", "b\t1\t0\tT\na\t0\t0\tS\n");
    assert_ok(read_source(test_text_file("g.cites", "a b\n"), false, &raw));
    assert_int_equal(raw.nodes, 2);
    assert_int_equal(raw.pairs.count, 1);
    sfu__raw_clear(&raw);
}

static sfu_status read_small(void *context) {
    sfu__raw raw = {0};
    const sfu_status status = read_source(context, false, &raw);
    sfu__raw_clear(&raw);
    return status;
}

static void every_allocation(void **state) {
    (void)state;
    char source[512];
    test_text_file("m.cites", "a\tb\nb\tx\n");
    snprintf(source, sizeof source, "%s", test_text_file("m.content", "b\t1\t0\tT\na\t0\t0\tS\n"));
    test_fail_each_allocation(read_small, source, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cora),         cmocka_unit_test(unknown_papers),   cmocka_unit_test(messages),
        cmocka_unit_test(by_the_cites), cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
