/* JSON parsing: valid, invalid and hostile input, and failing allocations. Writing is tested with the modules that
 * write. */
#include "support.h"

#include "json.h"

#include <string.h>

static sfu_status read(sfu__json_text *json, const char *text) {
    return sfu__json_read(json, text, strlen(text), "here");
}

static void every_kind(void **state) {
    (void)state;
    sfu__json_text json = {0};
    assert_ok(read(
        &json, " {\"a\": [1, -2.5e3, true, false, null, {}, []],\r\n\t\"b\" : \"x\", \"a\": 9223372036854775807}\n"));
    const sfu__json *a = sfu__json_get(json.root, "a");
    assert_int_equal(json.root->count, 3);
    assert_int_equal(a->count, 7);
    const sfu__json *item = sfu__json_items(a);
    assert_int_equal(sfu__json_whole(item), 1);
    item = item->next;
    assert_true(sfu__json_number(item) == -2500 && sfu__json_is_number(item) && sfu__json_whole(item) == 0);
    static const sfu__json_kind kinds[] = {SFU__JSON_TRUE, SFU__JSON_FALSE, SFU__JSON_NULL, SFU__JSON_OBJECT,
                                           SFU__JSON_ARRAY};
    for (int i = 0; i < 5; i++) {
        item = item->next;
        assert_true(sfu__json_is(item, kinds[i]));
        assert_null(sfu__json_items(item));
        assert_null(sfu__json_string(item));
    }
    assert_null(item->next);
    assert_string_equal(sfu__json_string(sfu__json_get(json.root, "b")), "x");
    assert_null(sfu__json_get(json.root, "c"));
    assert_null(sfu__json_get(NULL, "c"));
    assert_null(sfu__json_get(a, "c"));
    const char *twice = NULL;
    assert_ok(sfu__json_twice(&twice, json.root));
    assert_string_equal(twice, "a");
    assert_ok(sfu__json_twice(&twice, sfu__json_items(a)));
    assert_null(twice);
    sfu__json_clear(&json);
    assert_ok(read(&json, "9223372036854775807"));
    assert_true(sfu__json_whole(json.root) == INT64_MAX);
    sfu__json_clear(&json);
}

static void texts(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"\"\"", ""},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20AC\\ud83d\\ude42\"", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82"},
        {"\"caf\xc3\xa9 \x7f\"", "caf\xc3\xa9 \x7f"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        sfu__json_text json = {0};
        assert_ok(read(&json, pairs[i][0]));
        assert_string_equal(sfu__json_string(json.root), pairs[i][1]);
        sfu__json_clear(&json);
    }
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } wrong[] = {{"", "byte 0: invalid JSON: it ends too early"},
                 {"[1", "byte 2: invalid JSON: a comma or ] is missing"},
                 {"{\"a\":1", "byte 6: invalid JSON: a comma or } is missing"},
                 {"[1,]", "byte 3: invalid JSON: an invalid number"},
                 {"{\"a\":1,}", "byte 7: invalid JSON: a key is missing"},
                 {"{a:1}", "byte 1: invalid JSON: a key is missing"},
                 {"{\"a\" 1}", "byte 5: invalid JSON: a colon is missing"},
                 {"{} x", "byte 3: invalid JSON: something after its end"},
                 {"\"a", "byte 2: invalid JSON: a string that does not end"},
                 {"\"\xe9\"", "byte 1: invalid JSON: a string that is not UTF-8"},
                 {"\"a\nb\"", "byte 2: invalid JSON: a control character"},
                 {"\"\\x\"", "an invalid escape sequence"},
                 {"\"\\u12\"", "an invalid escape sequence"},
                 {"\"\\u0000\"", "an invalid escape sequence"},
                 {"\"\\ud83d\"", "an invalid escape sequence"},
                 {"\"\\ud83d\\u0041\"", "an invalid escape sequence"},
                 {"\"\\ude42\"", "an invalid escape sequence"},
                 {"\"\\", "an invalid escape sequence"},
                 {"01", "an invalid number"},
                 {"+1", "an invalid number"},
                 {"-", "an invalid number"},
                 {".5", "an invalid number"},
                 {"5.", "an invalid number"},
                 {"1.e5", "an invalid number"},
                 {"1e", "an invalid number"},
                 {"1e999", "an invalid number"},
                 {"9223372036854775808", "an invalid number, or one that is too large"},
                 {"nul", "an invalid number"},
                 {"NaN", "an invalid number"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sfu__json_text json = {0};
        assert_fails(SFU_ERR_FORMAT, read(&json, wrong[i].text), "here: byte ", wrong[i].says);
        assert_null(json.root);
    }
    char deep[200];
    memset(deep, '[', sizeof deep);
    sfu__json_text json = {0};
    assert_fails(SFU_ERR_FORMAT, sfu__json_read(&json, deep, sizeof deep, "here"), "64 deep");
}

static sfu_status read_once(void *text) {
    sfu__json_text json = {0};
    const char *twice = NULL;
    sfu_status status = read(&json, text);
    if (status == SFU_OK) {
        status = sfu__json_twice(&twice, json.root);
    }
    if (status == SFU_OK) { /* nothing was lost */
        assert_string_equal(sfu__json_string(sfu__json_get(json.root, "a text that is long enough")),
                            "and another one, which no buffer holds from the start on");
    }
    sfu__json_clear(&json);
    return status;
}

static void memory_may_fail(void **state) {
    (void)state;
    char text[] =
        "{\"list\": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33],"
        "\"a text that is long enough\": \"and another one, which no buffer holds from the start on\"}";
    test_fail_each_allocation(read_once, text, 100);
}

/* A string that is appended has the bytes that jansson prints. */
static void strings_are_written_alike(void **state) {
    (void)state;
    char every[160];
    for (int i = 1; i < 128; i++) {
        every[i - 1] = (char)i;
    }
    strcpy(every + 127, "\xc2\x80 \xe2\x82\xac \xf0\x9f\x99\x82/");
    const char *const strings[] = {"", "plain", "\"", "ends with \\", every};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        sfu__text text = {0};
        char *printed = NULL;
        json_t *value = json_string(strings[i]);
        assert_ok(sfu__json_print(&printed, value, JSON_COMPACT | JSON_ENCODE_ANY, "a string"));
        assert_ok(sfu__json_add_string(&text, strings[i]));
        assert_string_equal(text.bytes, printed);
        json_decref(value);
        sfu_text_free(printed);
        sfu__text_clear(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind), cmocka_unit_test(texts),
                                       cmocka_unit_test(mistakes), cmocka_unit_test(memory_may_fail),
                                       cmocka_unit_test(strings_are_written_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
