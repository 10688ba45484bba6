/* SHA-256 against the test vectors of its standard. */
#include "digest.h"
#include "file.h"
#include "support.h"

#include <string.h>

static const char of_abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
static const char of_nothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
static const char of_a_million[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

static void known_answers(void **state) {
    (void)state;
    char text[SFU__DIGEST_TEXT];
    assert_ok(sfu__digest_of(text, "abc", 3));
    assert_string_equal(text, of_abc);
    assert_ok(sfu__digest_of(text, "", 0));
    assert_string_equal(text, of_nothing);
}

static void pieces_make_one_digest(void **state) {
    (void)state;
    char text[SFU__DIGEST_TEXT], piece[1000];
    sfu__digest *digest = NULL;
    memset(piece, 'a', sizeof piece);
    assert_ok(sfu__digest_new(&digest));
    size_t left = 1000000;
    for (size_t size = 1; left > 0; size = size % sizeof piece + 1) {
        const size_t now = size < left ? size : left;
        assert_ok(sfu__digest_add(digest, piece, now));
        left -= now;
    }
    assert_ok(sfu__digest_end(digest, text));
    sfu__digest_free(digest);
    assert_string_equal(text, of_a_million);
}

static sfu_status digest_abc(void *data) {
    char text[SFU__DIGEST_TEXT];
    (void)data;
    return sfu__digest_of(text, "abc", 3);
}

static void fails_without_memory(void **state) {
    (void)state;
    test_fail_each_allocation(digest_abc, NULL, 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(pieces_make_one_digest),
        cmocka_unit_test(fails_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
