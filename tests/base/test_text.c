/* Numbers and JSON strings: printing and parsing. */
#include "support.h"

#include "parse_error.h"
#include "names.h"
#include "random.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void assert_number(double number, const char *expected) {
    sfu__text text = {0};
    assert_ok(sfu__text_number(&text, number));
    assert_string_equal(text.bytes, expected);
    sfu__text_clear(&text);
}

static void numbers_are_short(void **state) {
    (void)state;
    assert_number(0.0, "0");
    assert_number(1.0, "1");
    assert_number(-2.5, "-2.5");
    assert_number(0.1, "0.1");
    assert_number(100.0, "100");
    assert_number(0.0005, "0.0005");
    assert_number(0.00005, "5e-5");
    assert_number(1e15, "1000000000000000");
    assert_number(1e16, "1e16");
    assert_number(1.5e300, "1.5e300");
    assert_number(1.0 / 3.0, "0.3333333333333333");
    assert_number(0.1 + 0.2, "0.30000000000000004");
    assert_number(5e-324, "5e-324");
    assert_number(1.7976931348623157e308, "1.7976931348623157e308");
}

/* The text is the shortest of its kind that parses to the same number. */
static void assert_shortest(double number) {
    sfu__text text = {0};
    double back = 0.0;
    assert_ok(sfu__text_number(&text, number));
    assert_true(sfu__parse_double(&back, text.bytes, text.bytes + text.size));
    assert_true(back == number);
    int digits = 0;
    bool leading = true;
    int zeros = 0;
    for (const char *p = text.bytes; *p != '\0' && *p != 'e'; p++) {
        if (*p >= '0' && *p <= '9') {
            leading = leading && *p == '0';
            zeros = *p == '0' ? zeros + 1 : 0;
            digits += !leading;
        }
    }
    digits -= strchr(text.bytes, '.') == NULL ? zeros : 0; /* trailing zeros of an integer are not significant */
    if (digits > 1) {
        char fewer[64];
        snprintf(fewer, sizeof fewer, "%.*e", digits - 2, number);
        assert_true(!sfu__parse_double(&back, fewer, fewer + strlen(fewer)) || back != number);
    }
    sfu__text_clear(&text);
}

static void numbers_come_back(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(5, 0);
    for (int i = 0; i < 20000; i++) {
        const uint64_t bits = sfu__random_next(&random);
        double number = 0.0;
        memcpy(&number, &bits, sizeof number);
        if (isfinite(number)) {
            assert_shortest(number);
        }
        assert_shortest((double)sfu__random_below(&random, 100000) / 1000.0);
        assert_shortest(sfu__random_unit(&random));
    }
}

/* A locale with a decimal comma has no effect. */
static void locales_do_not_matter(void **state) {
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "ps_AF"};
    const char *set = NULL;
    for (size_t i = 0; i < sizeof locales / sizeof locales[0] && set == NULL; i++) {
        set = setlocale(LC_ALL, locales[i]);
    }
    if (set == NULL) {
        print_message("skipped: no locale with another decimal point is installed\n");
        skip();
    }
    assert_number(0.5, "0.5");
    assert_number(1.5e-20, "1.5e-20");
    setlocale(LC_ALL, "C");
}

static void json_is_ascii(void **state) {
    (void)state;
    sfu__text text = {0};
    assert_int_equal(sfu__text_json(&text, "a \"b\" \\ \n\x7f \xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82 \xff."), SFU_OK);
    assert_string_equal(text.bytes, "\"a \\\"b\\\" \\\\ \\u000a\\u007f \\u00e9 \\u20ac \\ud83d\\ude42 \\ufffd.\"");
    sfu__text_clear(&text);
}

static void shells_read_words_back(void **state) {
    (void)state;
    sfu__text text = {0};
    assert_int_equal(sfu__text_shell(&text, "data/cora-2.csv"), SFU_OK);
    assert_int_equal(sfu__text_shell(&text, ""), SFU_OK);
    assert_int_equal(sfu__text_shell(&text, "it's $x\xc3\xa9"), SFU_OK);
    assert_int_equal(sfu__text_shell(&text, "it's \\\n\xe9"), SFU_OK); /* one line, whatever is in it */
    assert_string_equal(text.bytes, "data/cora-2.csv'''it'\\''s $x\xc3\xa9'$'it\\'s \\\\\\x0a\\xe9'");
    sfu__text_clear(&text);
}

/* Terminal control sequences, line ends, changes of the writing direction, and invalid UTF-8. */
static void terminals_obey_nothing(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *shown;
    } texts[] = {{"caf\xc3\xa9 \xe6\x9d\xb1 \xf0\x9f\x99\x82 \\x1b", "caf\xc3\xa9 \xe6\x9d\xb1 \xf0\x9f\x99\x82 \\x1b"},
                 {"\033]0;owned\007", "\\x1b]0;owned\\x07"},
                 {"a\nb\rc\td\177", "a\\x0ab\\x0dc\\x09d\\x7f"},
                 {"\xc2\x9b"
                  "2J\xc2\xa0",
                  "\\xc2\\x9b"
                  "2J\xc2\xa0"},
                 /* Closed again, as the linter requires. */
                 {"\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\xac\xe2\x80\xaf",
                  "\\xe2\\x80\\xa8\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x81\\xa9\\xe2\\x80\\xac\xe2\x80\xaf"},
                 {"caf\xe9\xff\xc3", "caf\\xe9\\xff\\xc3"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char shown[128];
        const size_t size = strlen(texts[i].bytes);
        assert_int_equal(sfu_escape(NULL, 0, texts[i].bytes, size), strlen(texts[i].shown));
        assert_int_equal(sfu_escape(shown, sizeof shown, texts[i].bytes, size), strlen(texts[i].shown));
        assert_string_equal(shown, texts[i].shown);
        for (size_t room = 1; room < sizeof shown; room++) { /* truncated between characters */
            char cut[128];
            sfu_escape(cut, room, texts[i].bytes, size);
            assert_true(strlen(cut) < room && strncmp(cut, shown, strlen(cut)) == 0);
            assert_true(sfu__utf8_valid(cut, strlen(cut)));
        }
    }
    assert_fails(SFU_ERR_FORMAT, sfu__fail(SFU_ERR_FORMAT, "%s: %s", "a\nb", "\033[31m"), "a\\x0ab: \\x1b[31m");
    assert_fails(SFU_ERR_FORMAT, sfu__fail_prefix(SFU_ERR_FORMAT, "c\rd"), "c\\x0dd: a\\x0ab: \\x1b[31m");
    /* The three lines of a parse error stay three, with the caret below its position. */
    const char *text = "smo\033th | x";
    assert_int_equal(sfu__fail_parse(text, text + 9, "no \"%s\"", "x\n"), SFU_ERR_ARGUMENT);
    assert_string_equal(sfu_message(), "no \"x\\x0a\"\n  smo th | x\n           ^");
}

static void names_come_back(void **state) {
    (void)state;
    static const char *const given[] = {"theory", "", "\"quoted\" \\ and\nmore", "\xc3\xa9t\xc3\xa9"};
    sfu__strings names = {0};
    sfu__strings again = {0};
    char *text = NULL;
    for (int i = 0; i < 4; i++) {
        assert_ok(sfu__names_add(&names, given[i], strlen(given[i])));
    }
    assert_ok(sfu__names_to_json(&text, &names, "here", "class"));
    assert_ok(sfu__names_from_json(&again, text, "here"));
    assert_int_equal(again.count, 4);
    for (int i = 0; i < 4; i++) {
        size_t size = 0;
        const char *name = sfu__strings_get(&again, i, &size);
        assert_int_equal(size, strlen(given[i]) + 1);
        assert_string_equal(name, given[i]);
    }
    sfu_text_free(text);
    sfu__strings_clear(&again);
    assert_ok(sfu__names_from_json(&again, NULL, "here"));
    assert_ok(sfu__names_to_json(&text, &again, "here", "class"));
    assert_null(text);
    assert_fails(SFU_ERR_FORMAT, sfu__names_from_json(&again, "[1]", "here"), "here: entry 0 is not a string");
    assert_fails(SFU_ERR_FORMAT, sfu__names_from_json(&again, "{", "here"), "here is not a JSON array of strings");
    assert_ok(sfu__names_add(&names, "\xff", 1));
    assert_fails(SFU_ERR_FORMAT, sfu__names_to_json(&text, &names, "here", "class"),
                 "here: the class \"\\xff\" has a name that is not UTF-8");
    sfu__strings_clear(&again);
    sfu__strings_clear(&names);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_short),      cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(locales_do_not_matter),  cmocka_unit_test(names_come_back),
        cmocka_unit_test(json_is_ascii),          cmocka_unit_test(shells_read_words_back),
        cmocka_unit_test(terminals_obey_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
