/* CSV: rows and fields, separators, quotes, headers, messages; and the index of names. */
#include "support.h"

#include "csv.h"
#include "csv_write.h"
#include "node_index.h"
#include "random.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* ---- rows as text ----------------------------------------------------------------------------------------------- */

/* "LINE:field|field;" per row, "H:" before the names of a header. */
static sfu_status dump(sfu__text *out, const char *path, sfu__csv_rules rules) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    bool more;
    SFU_TRY(sfu__csv_open(&csv, path, &rules));
    for (int64_t i = 0; i < csv.header.count; i++) {
        size_t size;
        const char *name = sfu__strings_get(&csv.header, i, &size);
        SFU_TRY(sfu__text_format(out, "%s%.*s", i == 0 ? "H:" : "|", (int)size, name));
    }
    SFU_TRY(sfu__text_format(out, "%s", csv.has_header ? ";" : ""));
    for (;;) {
        SFU_TRY(sfu__csv_next(&csv, &more));
        if (!more) {
            break;
        }
        SFU_TRY(sfu__text_format(out, "%lld:", (long long)csv.line));
        for (size_t i = 0; i < csv.width; i++) {
            SFU_TRY(sfu__text_add(out, i == 0 ? "" : "|", i == 0 ? 0 : 1));
            SFU_TRY(sfu__text_add(out, csv.fields[i].bytes, csv.fields[i].size));
        }
        SFU_TRY(sfu__text_add(out, ";", 1));
    }
done:
    sfu__csv_close(&csv);
    return status;
}

static void expect(const char *text, sfu__csv_rules rules, const char *wanted) {
    sfu__text out = {0};
    assert_ok(sfu__text_add(&out, "", 0));
    assert_ok(dump(&out, test_text_file("t.csv", text), rules));
    assert_string_equal(out.bytes, wanted);
    sfu__text_clear(&out);
}

static sfu_status dump_only(const char *path, sfu__csv_rules rules) {
    sfu__text out = {0};
    const sfu_status status = dump(&out, path, rules);
    sfu__text_clear(&out);
    return status;
}

static const sfu__csv_rules plain = {.header = SFU_HEADER_NO};
static const sfu__csv_rules edges = {.header = SFU_HEADER_NO, .edges = true};
static const sfu__csv_rules automatic = {0};

static void fields_and_quotes(void **state) {
    (void)state;
    expect("", plain, "");
    expect("\n\n  \n", plain, "");
    expect("a,b\nc,d\n", plain, "1:a|b;2:c|d;");
    expect("a,b\r\nc,d", plain, "1:a|b;2:c|d;");
    expect("a,b\r\n\r\n\nc,d\r", plain, "1:a|b;4:c|d;");
    expect("\xef\xbb\xbf"
           "a,b\n",
           plain, "1:a|b;");
    expect("a,\n,\n", plain, "1:a|;2:|;");
    expect(" a , b c \n", plain, "1:a|b c;");
    expect("\" a \" ,\t\"b\"\n", plain, "1: a |b;");
    expect("\"a,b\",\"c\"\"d\"\"\",\"e\nf\"\ng,h,i\n", plain, "1:a,b|c\"d\"|e\nf;3:g|h|i;");
    expect("\"\",\"\"\"\"\n", plain, "1:|\";");
    expect("5\" disk,a\"b\n", plain, "1:5\" disk|a\"b;");
    expect("a\n\"b,c\"\n", plain, "1:a;2:b,c;");
    expect("\"x\"", plain, "1:x;");
    expect("\"a\r\nb\",c\r\n", plain, "1:a\r\nb|c;");
}

static void separators(void **state) {
    (void)state;
    expect("a\tb c\td\n", plain, "1:a|b c|d;");
    expect("a;b,c;d\n", plain, "1:a|b,c|d;");
    expect("\"a;;;;b\",c\n", plain, "1:a;;;;b|c;");
    expect("a,b;c\n", plain, "1:a|b;c;");
    expect("a b\n", plain, "1:a b;");
    expect("a b\nc\td\n", edges, "1:a|b;2:c|d;");
    expect("  a   b  \n\tc \t d\t\n", edges, "1:a|b;2:c|d;");
    expect("\"a b\" c\n", edges, "1:a b|c;");
    expect("\t1\t2\n", plain, "1:|1|2;");
}

static void comments(void **state) {
    (void)state;
    expect("# a \" quote\n% and\n\n#\n1 2\n#3 4\n", edges, "5:1|2;6:#3|4;");
    expect("# only", edges, "");
    expect("# only\n", edges, "");
    expect("#a,b\n", plain, "1:#a|b;");
    expect("\xef\xbb\xbf# x\n1,2\n", edges, "2:1|2;");
}

static void lines(void **state) {
    (void)state;
    const sfu__csv_rules rules = {.lines = true};
    expect("a,b c\n\n\"d\ne\"\n f \r\n", rules, "1:a,b c;2:;3:d\ne;5:f;");
}

static void headers(void **state) {
    (void)state;
    expect("a,b\n1,x\n", automatic, "H:a|b;2:1|x;");
    expect("a,b\nc,x\n", automatic, "1:a|b;2:c|x;");
    expect("a,1\n2,3\n", automatic, "1:a|1;2:2|3;");
    expect("a,b,1\n2,x,y\n", automatic, "H:a|b|1;2:2|x|y;");
    expect("1,b\n2,3\n", automatic, "1:1|b;2:2|3;");
    expect("a,b\n\n\n,3\n", automatic, "H:a|b;4:|3;");
    expect("node,label\na,b\n", automatic, "H:node|label;2:a|b;");
    expect("ID,0,1\na,0,1\n", automatic, "H:ID|0|1;2:a|0|1;");
    expect("node,label\n", automatic, "H:node|label;");
    expect("x,y\n", automatic, "1:x|y;");
    expect("x,y\na,b\n", (sfu__csv_rules){.header = SFU_HEADER_YES}, "H:x|y;2:a|b;");
    expect("node,b\n1,2\n", (sfu__csv_rules){.header = SFU_HEADER_NO}, "1:node|b;2:1|2;");
    expect("source,target\na,b\n", (sfu__csv_rules){.edges = true}, "H:source|target;2:a|b;");
    expect("From To\na b\n", (sfu__csv_rules){.edges = true}, "H:From|To;2:a|b;");
    expect("node,label\na,b\n", (sfu__csv_rules){.edges = true}, "1:node|label;2:a|b;");
    expect("paper,topic\na,b\n", (sfu__csv_rules){.label = "topic"}, "H:paper|topic;2:a|b;");
    expect("\"a\"\"\",\"b\nc\"\n1,2\n", automatic, "H:a\"|b\nc;3:1|2;");
}

static void messages(void **state) {
    (void)state;
    assert_fails(SFU_ERR_FORMAT, dump_only(test_text_file("w.csv", "a,b\n\nc\n"), plain),
                 "w.csv:3: expected 2 columns as on line 1, found 1");
    assert_fails(SFU_ERR_FORMAT, dump_only(test_text_file("w.csv", "a,b\nc,d,e\n"), plain),
                 "w.csv:2: expected 2 columns as on line 1, found 3");
    assert_fails(SFU_ERR_FORMAT, dump_only(test_text_file("q.csv", "a,b\nc,\"d\n\n"), plain),
                 "q.csv:2: a quote is never closed");
    assert_fails(SFU_ERR_FORMAT, dump_only(test_text_file("q.csv", "a,b\n\"c\"x,d\n"), plain),
                 "q.csv:2: field 1 continues after its closing quote");
    assert_fails(SFU_ERR_FORMAT, dump_only(test_text_file("q.csv", "\"c\"x d\n"), edges), "q.csv:1: field 1");
    assert_fails(SFU_ERR_FORMAT, dump_only(test_file("z.csv", "a,b\nc,\0d\n", 9), plain), "z.csv:2: found a zero byte");
    assert_fails(SFU_ERR_NOT_FOUND, dump_only(test_path("none.csv"), plain), "none.csv: no such file");
    assert_fails(SFU_ERR_FORMAT, dump_only("/tmp", plain), "/tmp: is a folder");
}

static void numbers(void **state) {
    (void)state;
    sfu__csv csv = {0};
    bool more;
    float value;
    assert_ok(sfu__csv_open(&csv, test_text_file("n.csv", "id,f\n1,2.5\n2,x\n3,1e39\n4,inf\n5,\n"), &automatic));
    assert_ok(sfu__csv_next(&csv, &more));
    assert_ok(sfu__csv_number(&csv, 1, &value));
    assert_true(value == 2.5f);
    assert_ok(sfu__csv_next(&csv, &more));
    assert_fails(SFU_ERR_FORMAT, sfu__csv_number(&csv, 1, &value), "n.csv:3: column \"f\": \"x\" is not a number");
    assert_ok(sfu__csv_next(&csv, &more));
    assert_fails(SFU_ERR_FORMAT, sfu__csv_number(&csv, 1, &value), "n.csv:4: column \"f\": \"1e39\" is too large");
    assert_ok(sfu__csv_next(&csv, &more));
    assert_fails(SFU_ERR_FORMAT, sfu__csv_number(&csv, 1, &value), "\"inf\" is not a number");
    assert_ok(sfu__csv_next(&csv, &more));
    assert_fails(SFU_ERR_FORMAT, sfu__csv_number(&csv, 1, &value), "\"\" is not a number");
    sfu__csv_close(&csv);
}

/* ---- round trip -------------------------------------------------------------------------------------------------- */

/* A file of random fields from the relevant bytes, and its expected dump. The first row determines the separator. */
static void random_rows(sfu__writer *file, sfu__text *wanted, uint64_t seed, int rows, const char *end) {
    static const char alphabet[] = "ab1,;\t\n\r\" #%\xc3\xa4";
    sfu__random random = sfu__random_start(seed, 1);
    int64_t line = 2;
    assert_ok(sfu__writer_format(file, "x,x,x%s", end));
    assert_ok(sfu__text_format(wanted, "1:x|x|x;"));
    for (int r = 0; r < rows; r++) {
        assert_ok(sfu__text_format(wanted, "%lld:", (long long)line++));
        for (int c = 0; c < 3; c++) {
            char field[4096];
            const uint64_t most = sfu__random_below(&random, 50) == 0 ? sizeof field : 6;
            const size_t size = 1 + (size_t)sfu__random_below(&random, most);
            for (size_t i = 0; i < size; i++) {
                field[i] = alphabet[sfu__random_below(&random, sizeof alphabet - 1)];
                line += field[i] == '\n';
            }
            assert_ok(sfu__writer_add(file, ",", c > 0));
            assert_ok(sfu__csv_put(file, field, size));
            assert_ok(sfu__text_add(wanted, "|", c > 0));
            assert_ok(sfu__text_add(wanted, field, size));
        }
        assert_ok(sfu__text_add(wanted, ";", 1));
        assert_ok(sfu__writer_add(file, end, strlen(end)));
    }
}

/* Writes such a file and returns its path. */
static const char *write_rows(sfu__text *wanted, uint64_t seed, int rows, const char *end) {
    const char *path = test_path("r.csv");
    sfu__writer *file = NULL;
    assert_ok(sfu__writer_open(&file, path));
    random_rows(file, wanted, seed, rows, end);
    assert_ok(sfu__writer_commit(file));
    sfu__writer_close(file);
    return path;
}

static void written_fields_are_read_back(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        sfu__text wanted = {0};
        sfu__text out = {0};
        const char *path = write_rows(&wanted, seed, seed < 50 ? 5 : 3000, seed % 2 == 0 ? "\n" : "\r\n");
        assert_ok(dump(&out, path, plain));
        assert_int_equal(out.size, wanted.size);
        assert_memory_equal(out.bytes, wanted.bytes, wanted.size);
        sfu__text_clear(&wanted);
        sfu__text_clear(&out);
    }
}

static void gzip_reads_the_same(void **state) {
    (void)state;
    sfu__bytes file = {0};
    sfu__text wanted = {0};
    sfu__text out = {0};
    assert_ok(sfu__bytes_open(&file, write_rows(&wanted, 1, 3000, "\n")));
    const char *path = test_path("r.csv.gz");
    gzFile gzip = gzopen(path, "wb");
    assert_int_equal(gzwrite(gzip, file.data, (unsigned)file.size), file.size);
    assert_int_equal(gzclose(gzip), Z_OK);
    assert_ok(dump(&out, path, plain));
    assert_string_equal(out.bytes, wanted.bytes);
    sfu__bytes_close(&file);
    sfu__text_clear(&wanted);
    sfu__text_clear(&out);
}

static sfu_status read_some(void *context) { return dump_only(context, automatic); }

static void every_allocation(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", test_text_file("m.csv", "a,b\n1,\"x\"\"y\"\n2,z\n"));
    test_fail_each_allocation(read_some, path, 1000);
}

/* ---- the index of names ----------------------------------------------------------------------------------------- */

static int64_t add(sfu__node_index *index, const char *name) {
    int64_t number = -2;
    assert_ok(sfu__node_index_add(index, name, strlen(name), &number));
    return number;
}

static int64_t find(sfu__node_index *index, const char *name) {
    int64_t number = -2;
    assert_ok(sfu__node_index_find(index, name, strlen(name), &number));
    return number;
}

static void numbers_cost_nothing(void **state) {
    (void)state;
    sfu__node_index index = {0};
    for (int64_t i = 0; i < 1000; i++) {
        char digits[SFU__DIGITS_MAX];
        sfu__write_integer(digits, (uint64_t)i);
        assert_int_equal(add(&index, digits), i);
    }
    assert_false(index.spelled);
    assert_int_equal(add(&index, "17"), 17);
    assert_int_equal(find(&index, "1000"), -1);
    assert_int_equal(find(&index, "017"), -1);
    assert_int_equal(add(&index, "017"), 1000);
    assert_true(index.spelled);
    assert_int_equal(add(&index, "17"), 17);
    assert_int_equal(find(&index, "999"), 999);
    assert_int_equal(find(&index, ""), -1);
    assert_int_equal(add(&index, "1001"), 1001);
    sfu__node_index_clear(&index);
}

/* Against a linear search. */
static void names_are_found(void **state) {
    (void)state;
    enum { NAMES = 2000 };
    static char names[NAMES][16];
    sfu__node_index index = {0};
    sfu__random random = sfu__random_start(3, 3);
    int64_t count = 0;
    for (int i = 0; i < 3 * NAMES && count < NAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%llu", (unsigned long long)sfu__random_below(&random, 3000));
        int64_t wanted = 0;
        while (wanted < count && strcmp(names[wanted], name) != 0) {
            wanted++;
        }
        if (wanted == count) {
            assert_int_equal(find(&index, name), -1);
            strcpy(names[count++], name);
        }
        assert_int_equal(add(&index, name), wanted);
        assert_int_equal(index.count, count);
    }
    for (int64_t i = 0; i < count; i++) {
        size_t size;
        const char *name = sfu__node_index_name(&index, i, NULL, &size);
        assert_int_equal(size, strlen(names[i]));
        assert_memory_equal(name, names[i], size);
    }
    sfu__node_index_clear(&index);
}

/* An unkeyed hash, and names of 16 bytes that all collide under it: the second half cancels the first. Anyone who knows
 * such a hash can write such a file. */
static uint64_t keyless_step(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 32;
}

static const uint64_t keyless_start = 16 * UINT64_C(0x9e3779b97f4a7c15);

static void hostile_name(uint64_t name[2], uint64_t i) {
    name[0] = i * UINT64_C(0x9e3779b97f4a7c15);
    name[1] = keyless_step(keyless_start, name[0]) ^ UINT64_C(0x0123456789abcdef);
}

/* Total and maximum probe distance of the names. */
static int64_t steps_away(const sfu__node_index *index, int64_t *most) {
    const size_t mask = ((size_t)1 << index->slot_bits) - 1;
    int64_t sum = 0;
    for (size_t at = 0; at <= mask; at++) {
        const uint64_t slot = index->slots[at];
        const size_t home = (size_t)(slot >> 32) >> (32 - index->slot_bits);
        const int64_t steps = slot != 0 ? (int64_t)((at - home) & mask) : 0;
        sum += steps;
        *most = steps > *most ? steps : *most;
    }
    return sum;
}

/* A table that is at most half full needs about half a probe per name; with all names in one slot it would be n / 2. */
static void hostile_names_are_spread(void **state) {
    (void)state;
    enum { NAMES = 20000 };
    sfu__node_index index = {0};
    uint64_t name[2];
    int64_t most = 0, number;
    for (int i = 0; i < NAMES; i++) {
        hostile_name(name, (uint64_t)i);
        assert_true(keyless_step(keyless_step(keyless_start, name[0]), name[1]) ==
                    keyless_step(0, UINT64_C(0x0123456789abcdef)));
        assert_ok(sfu__node_index_add(&index, (const char *)name, sizeof name, &number));
        assert_int_equal(number, i);
    }
    for (int i = 0; i < NAMES; i++) {
        hostile_name(name, (uint64_t)i);
        assert_ok(sfu__node_index_find(&index, (const char *)name, sizeof name, &number));
        assert_int_equal(number, i);
    }
    assert_true(steps_away(&index, &most) < 2 * NAMES);
    assert_true(most < 200);
    sfu__node_index_clear(&index);
}

static void plain_integers(void **state) {
    (void)state;
    int64_t value;
    assert_true(sfu__plain_integer(&value, "0", 1) && value == 0);
    assert_true(sfu__plain_integer(&value, "999999999999999999", 18) && value == 999999999999999999);
    assert_false(sfu__plain_integer(&value, "1000000000000000000", 19));
    assert_false(sfu__plain_integer(&value, "", 0));
    assert_false(sfu__plain_integer(&value, "01", 2));
    assert_false(sfu__plain_integer(&value, "-1", 2));
    assert_false(sfu__plain_integer(&value, "1a", 2));
}

static void sorting(void **state) {
    (void)state;
    sfu__node_index index = {0};
    int32_t *order = NULL;
    int64_t largest;
    static const char *const names[] = {"10", "9", "100", "1"};
    for (int i = 0; i < 4; i++) {
        add(&index, names[i]);
    }
    assert_true(sfu__node_index_all_plain(&index, &largest));
    assert_int_equal(largest, 100);
    assert_ok(sfu__node_index_sort(&index, true, &order));
    assert_memory_equal(order, ((int32_t[]){3, 1, 0, 2}), sizeof(int32_t[4]));
    sfu__free(order);
    add(&index, "b");
    assert_false(sfu__node_index_all_plain(&index, &largest));
    assert_ok(sfu__node_index_sort(&index, false, &order));
    assert_memory_equal(order, ((int32_t[]){3, 0, 2, 1, 4}), sizeof(int32_t[5]));
    sfu__free(order);
    sfu__node_index_clear(&index);
}

static void utf8(void **state) {
    (void)state;
    static const char *const good[] = {"", "a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "a\xc3\xa4z"};
    static const char *const bad[] = {"\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                      "a\x80"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(sfu__utf8_valid(good[i], strlen(good[i])));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(sfu__utf8_valid(bad[i], strlen(bad[i])));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_and_quotes),
        cmocka_unit_test(separators),
        cmocka_unit_test(comments),
        cmocka_unit_test(lines),
        cmocka_unit_test(headers),
        cmocka_unit_test(messages),
        cmocka_unit_test(numbers),
        cmocka_unit_test(written_fields_are_read_back),
        cmocka_unit_test(gzip_reads_the_same),
        cmocka_unit_test(every_allocation),
        cmocka_unit_test(numbers_cost_nothing),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(hostile_names_are_spread),
        cmocka_unit_test(plain_integers),
        cmocka_unit_test(sorting),
        cmocka_unit_test(utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
