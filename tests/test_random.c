/* Philox4x32-10 against the known answers of Random123. */
#include "support.h"

#include "random.h"

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

static void a_walk_is_the_stream(void **state) {
    (void)state;
    sfu__random walk = sfu__random_start(7, sfu__stream_of(SFU__STREAM_SPLIT, 3));
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(sfu__random_next(&walk), sfu__random_bits(7, sfu__stream_of(SFU__STREAM_SPLIT, 3), i));
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_answers), cmocka_unit_test(a_walk_is_the_stream),
                                       cmocka_unit_test(below_is_even)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
