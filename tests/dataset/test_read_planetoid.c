/* Planetoid's files, as Python 2 and 3 write them: valid, invalid, truncated and modified. */
#include "tiny.h"

#include "random.h"

#include <sys/stat.h>

static const char *const variants[] = {"python2-protocol0", "python2-protocol2", "python3-protocol2",
                                       "python3-protocol3", "python3-protocol4"};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

/* Writes the eight files of a variant as ind.tiny.*, and returns their prefix. */
static const char *unpack(const char *variant) {
    sfu__bytes seed = tiny_seed("planetoid", variant);
    const uint8_t *bytes = seed.data;
    size_t size = seed.size;
    piece one;
    while (next_piece(&one, &bytes, &size)) {
        char name[64];
        snprintf(name, sizeof name, "ind.tiny%s", planetoid_endings[one.which]);
        test_file(name, one.bytes, one.size);
    }
    sfu__bytes_close(&seed);
    return test_path("ind.tiny");
}

static sfu_status read_tiny(const char *source) {
    sfu__raw raw = {0};
    const sfu_import_options options = {.source = source};
    const sfu_status status = sfu__read_planetoid(&raw, &options);
    sfu__raw_clear(&raw);
    return status;
}

static void assert_part(const sfu__raw *raw, sfu_part part, int64_t count, const int32_t *nodes) {
    assert_int_equal(raw->standard_count[part], count);
    assert_memory_equal(raw->standard[part], nodes, (size_t)count * sizeof *nodes);
}

static void every_protocol(void **state) {
    (void)state;
    for (int i = 0; i < VARIANTS; i++) {
        sfu__raw raw = {0};
        const sfu_import_options options = {.source = unpack(variants[i])};
        assert_ok(sfu__read_planetoid(&raw, &options));
        assert_tiny_edges(&raw, true);
        assert_tiny_features(&raw);
        assert_tiny_labels(&raw);
        assert_true(raw.has_standard);
        assert_part(&raw, SFU_TRAIN, 2, (const int32_t[]){0, 1});
        assert_part(&raw, SFU_VAL, 4, (const int32_t[]){2, 3, 4, 5});
        assert_part(&raw, SFU_TEST, 3, (const int32_t[]){9, 6, 8});
        assert_string_equal(raw.format, "planetoid");
        assert_int_equal(raw.files.count, 8);
        assert_name(&raw.files, 7, "ind.tiny.test.index");
        sfu__raw_clear(&raw);
    }
}

static void ways_to_name_it(void **state) {
    (void)state;
    unpack(variants[1]);
    assert_ok(read_tiny(test_path("ind.tiny.x")));
    assert_ok(read_tiny(test_path("ind.tiny.test.index")));
    assert_ok(read_tiny(test_path("")));
    test_text_file("ind.other.graph", "");
    assert_fails(SFU_ERR_ARGUMENT, read_tiny(test_path("")), "several");
    remove(test_path("ind.other.graph"));
    mkdir(test_path("empty"), 0777);
    assert_fails(SFU_ERR_NOT_FOUND, read_tiny(test_path("empty")), "ind.NAME.graph");
    assert_fails(SFU_ERR_NOT_FOUND, read_tiny(test_path("ind.none")), "ind.none.x: no such file");
}

/* Rewrites one of the files and expects the message. */
static void assert_wrong(const char *name, const char *bytes, size_t size, const char *first, const char *second) {
    unpack(variants[1]);
    test_file(name, bytes, size);
    assert_fails(SFU_ERR_FORMAT, read_tiny(test_path("ind.tiny")), first, second);
}
#define ASSERT_WRONG(name, literal, first, second)                                                                     \
    assert_wrong((name), (literal), sizeof(literal) - 1, (first), (second))

static void mistakes(void **state) {
    (void)state;
    ASSERT_WRONG("ind.tiny.test.index", "9\nsix\n8\n", "ind.tiny.test.index:2", "\"six\"");
    ASSERT_WRONG("ind.tiny.test.index", "9\n6\n", "ind.tiny.test.index: 2 lines", "tx has 3 rows");
    ASSERT_WRONG("ind.tiny.test.index", "9\n6\n6\n", "ind.tiny.test.index:3: node 6", "twice");
    ASSERT_WRONG("ind.tiny.test.index", "9\n6\n5\n", "ind.tiny.test.index:3: node 5", "allx");
    ASSERT_WRONG("ind.tiny.test.index", "9\n6\n2000000000\n", "ind.tiny", "node 2000000000 is named");
    ASSERT_WRONG("ind.tiny.graph", "].", "ind.tiny.graph: byte 0", "a list where a dictionary is needed");
    ASSERT_WRONG("ind.tiny.graph", "}I0\nNs.", "ind.tiny.graph: byte 4", "None where a list is needed");
    ASSERT_WRONG("ind.tiny.graph", "}S'a'\n]s.", "ind.tiny.graph: byte 1", "where a whole number is needed");
    ASSERT_WRONG("ind.tiny.graph", "}I-1\n]s.", "ind.tiny.graph: byte 1", "negative");
    ASSERT_WRONG("ind.tiny.graph", "}I0\n]sI0\n]s.", "ind.tiny.graph: byte 6", "duplicate node");
    ASSERT_WRONG("ind.tiny.graph", "}I0\n]I77\nas.", "ind.tiny.graph: byte 5", "node 77 is a neighbour");
    ASSERT_WRONG("ind.tiny.y", "N.", "ind.tiny.y: byte 0", "None where an array is needed");
    ASSERT_WRONG("ind.tiny.allx", "cscipy.sparse.csr\ncsr_matrix\n)\x81.", "ind.tiny.allx: byte", "never filled in");
    ASSERT_WRONG("ind.tiny.allx", "cscipy.sparse.csr\ncsr_matrix\n)\x81}b.", "ind.tiny.allx: byte", "_shape");
    ASSERT_WRONG("ind.tiny.allx", "cos\nsystem\n.", "ind.tiny.allx: byte 0", "refused");
}

/* One list with a thousand references to it. */
static void a_small_file_of_endless_edges(void **state) {
    (void)state;
    static char bytes[20000];
    size_t size = 0;
    size += (size_t)sprintf(bytes, "(I0\n(l");
    for (int i = 0; i < 500; i++) {
        size += (size_t)sprintf(bytes + size, "I1\na");
    }
    size += (size_t)sprintf(bytes + size, "p1\n");
    for (int i = 1; i < 1000; i++) {
        size += (size_t)sprintf(bytes + size, "I%d\ng1\n", i);
    }
    size += (size_t)sprintf(bytes + size, "d.");
    assert_wrong("ind.tiny.graph", bytes, size, "ind.tiny.graph: byte", "more edges than the file has bytes");
}

static void rows_that_do_not_fit(void **state) {
    (void)state;
    /* x is allx, with more columns than y has rows: the files of another dataset. */
    unpack(variants[1]);
    sfu__bytes other;
    assert_ok(sfu__bytes_open(&other, test_path("ind.tiny.tx")));
    test_file("ind.tiny.x", other.data, other.size);
    sfu__bytes_close(&other);
    assert_fails(SFU_ERR_FORMAT, read_tiny(test_path("ind.tiny")), "ind.tiny.x: a matrix of 3 rows",
                 "ind.tiny.y has 2");
}

/* Every file truncated at many positions. */
static void cut_short(void **state) {
    (void)state;
    for (int variant = 0; variant < 2; variant++) {
        for (int i = 0; i < PLANETOID_FILES; i++) {
            char name[64];
            snprintf(name, sizeof name, "ind.tiny%s", planetoid_endings[i]);
            unpack(variants[variant]);
            sfu__bytes whole;
            assert_ok(sfu__bytes_open(&whole, test_path(name)));
            uint8_t *copy = malloc(whole.size);
            assert_non_null(copy);
            memcpy(copy, whole.data, whole.size);
            const size_t size = whole.size;
            sfu__bytes_close(&whole);
            for (size_t cut = 0; cut < size; cut += 1 + size / 60) {
                test_file(name, copy, cut);
                const sfu_status status = read_tiny(test_path("ind.tiny"));
                /* The last newline of test.index may be missing. */
                if (i != PLANETOID_FILES - 1 || cut < size - 1) {
                    assert_clean_failure(status, "ind.tiny");
                }
            }
            free(copy);
        }
    }
}

/* Modifies one byte of one file, repeatedly. */
static void changed(void **state) {
    (void)state;
    enum { CHANGES = 400 };
    sfu__random random = sfu__random_start(3, 0);
    sfu__bytes seed = tiny_seed("planetoid", variants[1]);
    int failures = 0;
    unpack(variants[1]);
    for (int i = 0; i < CHANGES; i++) {
        const uint64_t which = sfu__random_below(&random, PLANETOID_FILES);
        const uint8_t *bytes = seed.data;
        size_t size = seed.size;
        piece one = {0};
        while (next_piece(&one, &bytes, &size) && one.which != which) {
        }
        char name[64];
        uint8_t copy[2048];
        assert_true(one.size > 0 && one.size <= sizeof copy);
        snprintf(name, sizeof name, "ind.tiny%s", planetoid_endings[which]);
        memcpy(copy, one.bytes, one.size);
        copy[sfu__random_below(&random, one.size)] = (uint8_t)sfu__random_next(&random);
        test_file(name, copy, one.size);
        const sfu_status status = read_tiny(test_path("ind.tiny"));
        if (status != SFU_OK) {
            failures++;
            assert_clean_failure(status, "ind.tiny");
        }
        test_file(name, one.bytes, one.size);
    }
    sfu__bytes_close(&seed);
    assert_true(failures > CHANGES / 4);
}

static sfu_status read_once(void *source) { return read_tiny(source); }

static void memory_may_fail(void **state) {
    (void)state;
    char source[512];
    snprintf(source, sizeof source, "%s", unpack(variants[4]));
    test_fail_each_allocation(read_once, source, 400);
    snprintf(source, sizeof source, "%s", unpack(variants[0]));
    test_fail_each_allocation(read_once, source, 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_protocol),
                                       cmocka_unit_test(ways_to_name_it),
                                       cmocka_unit_test(mistakes),
                                       cmocka_unit_test(a_small_file_of_endless_edges),
                                       cmocka_unit_test(rows_that_do_not_fit),
                                       cmocka_unit_test(cut_short),
                                       cmocka_unit_test(changed),
                                       cmocka_unit_test(memory_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
