/* The batches of trials and the results that they know, against a slow version of the rule, and properties of the
 * rule. */
#include "support.h"

#include "batches.h"

enum { TRIALS = 3000 };
static const int32_t waves[] = {1, 2, 3, 8, 31, 32, 128, 1024};

/* The rule of batches.h, from the first batch on. */
static void batches_follow_the_rule(void **state) {
    (void)state;
    for (size_t w = 0; w < sizeof waves / sizeof waves[0]; w++) {
        const int32_t most = waves[w];
        int32_t begin = 0;
        while (begin < TRIALS) {
            int32_t batch_limit = begin / 4 < 2 ? 2 : begin / 4, end, seen;
            batch_limit = batch_limit > most ? most : batch_limit;
            end = begin + batch_limit / 2 + batch_limit % 2;
            seen = begin - batch_limit / 2;
            if (most > 1 && begin == 0) {
                end = 10;
                seen = 0;
            }
            for (int32_t n = begin; n < end; n++) {
                const sfu__batch batch = sfu__batch_of(n, most);
                assert_int_equal(batch.begin, begin);
                assert_int_equal(batch.end, end);
                assert_int_equal(batch.seen, seen);
            }
            begin = end;
        }
    }
}

static void promises_are_kept(void **state) {
    (void)state;
    for (size_t w = 0; w < sizeof waves / sizeof waves[0]; w++) {
        int32_t before = 0;
        for (int32_t n = 0; n < TRIALS; n++) {
            const sfu__batch batch = sfu__batch_of(n, waves[w]);
            assert_true(batch.seen >= before && batch.seen <= batch.begin); /* never less, never the future */
            before = batch.seen;
            assert_true(batch.end - batch.seen <= sfu__batches_in_flight(waves[w]));
            assert_true(waves[w] > 1 || batch.seen == n);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_follow_the_rule),
        cmocka_unit_test(promises_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
