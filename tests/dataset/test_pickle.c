/* The restricted pickle interpreter, opcode by opcode. */
#include "support.h"

#include "pickle.h"

#include <string.h>

static sfu_status read_text(sfu__pickle **pickle, const char *bytes, size_t size) {
    return sfu__pickle_read(pickle, bytes, size, "a.pickle");
}
#define READ(pickle, literal) read_text((pickle), (literal), sizeof(literal) - 1)

static void assert_int(const char *bytes, size_t size, int64_t want) {
    sfu__pickle *pickle;
    assert_ok(read_text(&pickle, bytes, size));
    assert_int_equal(sfu__pickle_root(pickle)->kind, SFU__OBJECT_INT);
    assert_int_equal(sfu__pickle_root(pickle)->as.integer, want);
    sfu__pickle_free(pickle);
}
#define ASSERT_INT(literal, want) assert_int((literal), sizeof(literal) - 1, (want))

static void whole_numbers(void **state) {
    (void)state;
    ASSERT_INT("I42\n.", 42);
    ASSERT_INT("I-7\n.", -7);
    ASSERT_INT("I01\n.", 1);
    ASSERT_INT("L123456789012L\n.", 123456789012);
    ASSERT_INT("K\xff.", 255);
    ASSERT_INT("M\x01\x02.", 513);
    ASSERT_INT("J\xfe\xff\xff\xff.", -2);
    ASSERT_INT("\x80\x02\x8a\x05\x00\x5e\xd0\xb2\x00.", 3000000000);
    ASSERT_INT("\x8a\x01\xff.", -1);
    ASSERT_INT("\x8a\x00.", 0);
    ASSERT_INT("\x88.", 1);
    ASSERT_INT("\x89.", 0);
}

static void texts(void **state) {
    (void)state;
    static const struct {
        const char *pickle;
        const char *want;
    } known[] = {{"S'a\\x41\\n\\'\\\\'\n.", "aA\n'\\"},
                 {"S\"it's\"\n.", "it's"},
                 {"U\x03"
                  "abc.",
                  "abc"},
                 {"X\x02\x01\x01\x01xy.", NULL},
                 {"\x8c\x02hi.", "hi"},
                 {"S'no end\n.", NULL},
                 {"S'\\q'\n.", NULL},
                 {"S'\\x4'\n.", NULL},
                 {"U\x05"
                  "abc.",
                  NULL}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        sfu__pickle *pickle = NULL;
        const sfu_status status = read_text(&pickle, known[i].pickle, strlen(known[i].pickle));
        assert_int_equal(status, known[i].want != NULL ? SFU_OK : SFU_ERR_FORMAT);
        if (known[i].want != NULL) {
            const sfu__object *root = sfu__pickle_root(pickle);
            assert_int_equal(root->as.text.size, strlen(known[i].want));
            assert_memory_equal(root->as.text.bytes, known[i].want, strlen(known[i].want));
        }
        sfu__pickle_free(pickle);
    }
}

/* Sums the numbers of a list, tuple or dictionary. */
static int64_t sum_of(const sfu__pickle *pickle, const sfu__object *value) {
    int64_t sum = 0;
    const sfu__object *item;
    for (uint32_t cell = value->as.items.first; (item = sfu__pickle_next(pickle, &cell)) != NULL;) {
        sum += item->as.integer;
    }
    return sum;
}

static void containers(void **state) {
    (void)state;
    static const struct {
        const char *pickle;
        sfu__object_kind kind;
        uint32_t count;
        int64_t sum;
    } known[] = {{"(I1\nI2\nI3\nt.", SFU__OBJECT_TUPLE, 3, 6},
                 {"I1\nI2\n\x86.", SFU__OBJECT_TUPLE, 2, 3},
                 {"].", SFU__OBJECT_LIST, 0, 0},
                 {"(I1\nI2\nl.", SFU__OBJECT_LIST, 2, 3},
                 {"]I5\naI6\na.", SFU__OBJECT_LIST, 2, 11},
                 {"]q\x01(I5\nI6\ne.", SFU__OBJECT_LIST, 2, 11},
                 {"}I1\nI2\ns(I3\nI4\nI5\nI6\nu.", SFU__OBJECT_DICT, 6, 21},
                 {"(I1\nI2\nd.", SFU__OBJECT_DICT, 2, 3},
                 {"ccollections\ndefaultdict\n(c__builtin__\nlist\ntRI8\nI9\ns.", SFU__OBJECT_DICT, 2, 17}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        sfu__pickle *pickle = NULL;
        assert_ok(read_text(&pickle, known[i].pickle, strlen(known[i].pickle)));
        assert_int_equal(sfu__pickle_root(pickle)->kind, known[i].kind);
        assert_int_equal(sfu__pickle_root(pickle)->as.items.count, known[i].count);
        assert_int_equal(sum_of(pickle, sfu__pickle_root(pickle)), known[i].sum);
        sfu__pickle_free(pickle);
    }
}

/* The memo holds references: a list that is extended later is the same when it is recalled. */
static void the_memo_holds_the_thing_itself(void **state) {
    (void)state;
    sfu__pickle *pickle;
    assert_ok(READ(&pickle, "(]q\x01I5\nah\x01I6\nat."));
    uint32_t cell = sfu__pickle_root(pickle)->as.items.first;
    const sfu__object *first = sfu__pickle_next(pickle, &cell);
    const sfu__object *second = sfu__pickle_next(pickle, &cell);
    assert_ptr_equal(first, second);
    assert_int_equal(sum_of(pickle, first), 11);
    sfu__pickle_free(pickle);
}

static void what_is_refused(void **state) {
    (void)state;
    sfu__pickle *pickle;
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "cos\nsystem\n(S'true'\ntR."), "a.pickle: byte 0", "\"system\"",
                 "\"os\"");
    assert_fails(SFU_ERR_FORMAT,
                 READ(&pickle, "\x8c\x08"
                               "builtins\x8c\x04"
                               "eval\x93."),
                 "byte 16", "\"eval\"", "\"builtins\"");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "I1\nQ."), "byte 3", "opcode 0x51");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "I1\n"), "byte 3", "cut short");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, ""), "byte 0", "cut short");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "I1x\n."), "INT", "\"1x\"");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "I1\nI2\n."), "STOP", "exactly one");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "t."), "TUPLE", "no mark");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "I1\na."), "APPEND");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "I1\nI2\na."), "a whole number where a list is needed");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "}(I1\nu."), "key without a value");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "h\x01."), "BINGET", "memo");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "I1\nr\xff\xff\xff\x7f."), "LONG_BINPUT", "larger than the file");
    assert_fails(SFU_ERR_FORMAT,
                 READ(&pickle, "T\xff\xff\xff\xff"
                               "abc."),
                 "BINSTRING", "cut short");
    assert_fails(SFU_ERR_FORMAT,
                 READ(&pickle, "\x8e\xff\xff\xff\xff\xff\xff\xff\xff"
                               "abc."),
                 "BINBYTES8", "cut short");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "\x80\x09I1\n."), "PROTO");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "c__builtin__\nlist\n(tR."), "cannot be called");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "I1\n(tR."), "a global is needed");
    assert_fails(SFU_ERR_FORMAT, READ(&pickle, "]Nb."), "BUILD");
    assert_fails(SFU_ERR_FORMAT,
                 READ(&pickle, "c_codecs\nencode\n(X\x02\x00\x00\x00\xc4\x80X\x06\x00\x00\x00latin1tR."), "below 256");
}

/* Repeated encoding of a text must not exhaust the memory. */
static void encoding_is_bounded(void **state) {
    (void)state;
    char bytes[4096];
    size_t size = 24;
    memcpy(bytes, "(c_codecs\nencode\nq\x01X\xe8\x03\x00\x00", size);
    memset(bytes + size, 'a', 1000);
    size += 1000;
    memcpy(bytes + size, "q\x02", 2);
    size += 2;
    for (int i = 0; i < 100; i++) {
        memcpy(bytes + size, "h\x01h\x02\x85R", 6);
        size += 6;
    }
    memcpy(bytes + size, "t.", 2);
    size += 2;
    sfu__pickle *pickle = NULL;
    assert_fails(SFU_ERR_FORMAT, read_text(&pickle, bytes, size), "REDUCE", "more text than the file holds");
}

static sfu_status read_once(void *unused) {
    (void)unused;
    sfu__pickle *pickle = NULL;
    const sfu_status status = READ(&pickle, "(]q\x01I5\nap2\nS'a\\x41'\n}I1\nI2\nsc_codecs\nencode\n(X\x02\x00\x00\x00"
                                            "ab"
                                            "tRt.");
    sfu__pickle_free(pickle);
    return status;
}

static void memory_may_fail(void **state) {
    (void)state;
    test_fail_each_allocation(read_once, NULL, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_numbers),
                                       cmocka_unit_test(texts),
                                       cmocka_unit_test(containers),
                                       cmocka_unit_test(what_is_refused),
                                       cmocka_unit_test(encoding_is_bounded),
                                       cmocka_unit_test(memory_may_fail),
                                       cmocka_unit_test(the_memo_holds_the_thing_itself)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
