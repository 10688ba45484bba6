/* SipHash-1-3 against another implementation, CPython's hash of bytes, with a known key; and the key of the process. */
#include "support.h"

#include "keyed_hash.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* PYTHONHASHSEED=1 python3 -c 'for n in range(1, 20): print(hex(hash(bytes(range(n))) & (2**64 - 1)))'
 * CPython 3.11, whose key for that seed is `key`. */
static const sfu__hash_key key = {{UINT64_C(0xaed66ce184be2329), UINT64_C(0xebe9bbf1f1499052)}};
static const uint64_t answers[] = {
    UINT64_C(0xecd3e5afcecda4b9), UINT64_C(0xbf360f1ea1745965), UINT64_C(0x8d5b20ab227ba858),
    UINT64_C(0x968a3280faeeb716), UINT64_C(0xbbda3b5f513c3d69), UINT64_C(0xa77f099d6ffed90e),
    UINT64_C(0xfd15e78052a69ddf), UINT64_C(0xc0b5739e7e28dd01), UINT64_C(0x208a1a5a0cbbf778),
    UINT64_C(0xb99907ab3e3e597c), UINT64_C(0x4d9ec6e9c5127521), UINT64_C(0x9b07906e87e344ad),
    UINT64_C(0x75973ed5708eb192), UINT64_C(0x3a6b5d52e1c90862), UINT64_C(0xfa87985f39e97a53),
    UINT64_C(0x12e9d283f9f37002), UINT64_C(0x9f5bb4237f61907f), UINT64_C(0xc8481dd155697ab5),
    UINT64_C(0xea61ba56131a6619),
};

static void known_answers(void **state) {
    (void)state;
    for (size_t size = 1; size <= sizeof answers / sizeof answers[0]; size++) {
        unsigned char *bytes = malloc(size); /* exact size: a sanitizer detects a read beyond the end */
        assert_non_null(bytes);
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (unsigned char)i;
        }
        assert_true(sfu__keyed_hash(&key, bytes, size) == answers[size - 1]);
        free(bytes);
    }
}

static void every_byte_and_the_size_count(void **state) {
    (void)state;
    const unsigned char zeros[20] = {0};
    for (size_t size = 0; size < sizeof zeros; size++) {
        const uint64_t hash = sfu__keyed_hash(&key, zeros, size);
        assert_true(hash != sfu__keyed_hash(&key, zeros, size + 1));
        for (size_t i = 0; i < size; i++) {
            unsigned char other[20] = {0};
            other[i] = 1;
            assert_true(hash != sfu__keyed_hash(&key, other, size));
        }
    }
    assert_true(sfu__keyed_hash(&(sfu__hash_key){{0, 1}}, "a", 1) != sfu__keyed_hash(&(sfu__hash_key){{1, 0}}, "a", 1));
}

/* A child process that asks first gets its own key. */
static sfu__hash_key key_of_child(void) {
    int ends[2];
    sfu__hash_key drawn = {{0}};
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        drawn = sfu__hash_key_of_process();
        _exit(write(ends[1], &drawn, sizeof drawn) == (ssize_t)sizeof drawn ? 0 : 1);
    }
    assert_int_equal(read(ends[0], &drawn, sizeof drawn), sizeof drawn);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ends[0]);
    close(ends[1]);
    return drawn;
}

static void each_process_has_its_own_key(void **state) {
    (void)state;
    const sfu__hash_key first = key_of_child(), second = key_of_child(), here = sfu__hash_key_of_process();
    const sfu__hash_key again = sfu__hash_key_of_process();
    assert_memory_equal(&here, &again, sizeof here);
    assert_memory_not_equal(&first, &second, sizeof first);
    assert_memory_not_equal(&first, &here, sizeof first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(every_byte_and_the_size_count),
        cmocka_unit_test(each_process_has_its_own_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
