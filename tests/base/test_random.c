/* Philox4x32-10 against the known answers of Random123, and against its code if the headers are installed. */
#include "support.h"

#include "random.h"

#include <string.h>

#ifndef SFU_HAVE_RANDOM123
#define SFU_HAVE_RANDOM123 0
#endif

/* One block from Random123; false if it is not available. */
static bool random123(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

#if SFU_HAVE_RANDOM123
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <Random123/philox.h>
static bool random123(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
    philox4x32_ctr_t c;
    philox4x32_key_t k;
    memcpy(c.v, counter, sizeof c.v);
    memcpy(k.v, key, sizeof k.v);
    c = philox4x32(c, k);
    memcpy(out, c.v, sizeof c.v);
    return true;
}
#pragma GCC diagnostic pop
#else
static bool random123(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
    (void)out, (void)counter, (void)key;
    return false;
}
#endif

static void known_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint32_t out[4];
        sfu__philox(out, known[i].counter, known[i].key);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

static void blocks_are_those_of_random123(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 10000; i++) {
        /* Counters and keys that use all bits. */
        uint32_t counter[4], key[2], ours[4], theirs[4];
        const uint64_t mixed[3] = {sfu__random_bits(1, 1, i), sfu__random_bits(2, 1, i), sfu__random_bits(3, 1, i)};
        memcpy(counter, mixed, sizeof counter);
        memcpy(key, &mixed[2], sizeof key);
        if (!random123(theirs, counter, key)) {
            print_message("skipped: built without the headers of Random123\n");
            skip();
        }
        sfu__philox(ours, counter, key);
        assert_memory_equal(ours, theirs, sizeof ours);
    }
}

/* docs/internals/numbers.md: the key is the seed, the counter is the position's block (low) and the stream (high). */
static void streams_are_laid_out_as_written(void **state) {
    (void)state;
    const uint64_t seed = 0x1122334455667788, stream = 0x99aabbccddeeff00, position = 0x0123456789abcdef;
    const uint64_t block = position >> 1;
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), 0xddeeff00, 0x99aabbcc};
    const uint32_t key[2] = {0x55667788, 0x11223344};
    uint32_t out[4];
    sfu__philox(out, counter, key);
    assert_true(sfu__random_bits(seed, stream, position) == ((uint64_t)out[3] << 32 | out[2]));
    assert_true(sfu__random_bits(seed, stream, position - 1) == ((uint64_t)out[1] << 32 | out[0]));
}

static void a_walk_is_the_stream(void **state) {
    (void)state;
    sfu__random walk = sfu__random_start(7, sfu__stream_of(SFU__STREAM_SPLIT, 3));
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(sfu__random_next(&walk), sfu__random_bits(7, sfu__stream_of(SFU__STREAM_SPLIT, 3), i));
    }
}

static void many_at_once_are_the_same(void **state) {
    (void)state;
    const uint64_t stream = sfu__stream_of(SFU__STREAM_WEIGHTS, 7);
    const uint64_t firsts[] = {0, 1, 2, 15, 1000001, (UINT64_C(1) << 33) - 9, UINT64_MAX - 99};
    for (size_t f = 0; f < sizeof firsts / sizeof firsts[0]; f++) {
        for (int64_t count = 0; count < 70; count++) {
            uint64_t bits[71] = {0};
            bits[count] = 77;
            sfu__random_fill(bits, 123456789012345, stream, firsts[f], count);
            for (int64_t i = 0; i < count; i++) {
                assert_true(bits[i] == sfu__random_bits(123456789012345, stream, firsts[f] + (uint64_t)i));
            }
            assert_true(bits[count] == 77);
        }
    }
}

static void below_is_even(void **state) {
    (void)state;
    enum { BOUND = 6, DRAWS = 60000 };
    int counts[BOUND] = {0};
    sfu__random walk = sfu__random_start(1, 1);
    for (int i = 0; i < DRAWS; i++) {
        counts[sfu__random_below(&walk, BOUND)]++;
    }
    for (int i = 0; i < BOUND; i++) {
        assert_in_range(counts[i], DRAWS / BOUND - 500, DRAWS / BOUND + 500);
    }
    for (int i = 0; i < 1000; i++) {
        const double unit = sfu__random_unit(&walk);
        assert_true(unit >= 0 && unit < 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(blocks_are_those_of_random123),
        cmocka_unit_test(streams_are_laid_out_as_written),
        cmocka_unit_test(a_walk_is_the_stream),
        cmocka_unit_test(many_at_once_are_the_same),
        cmocka_unit_test(below_is_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
