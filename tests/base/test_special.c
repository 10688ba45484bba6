/* exp, log, pow, erfc: against the C library's long double functions (quad on arm64, 64 bits on x86_64), the special
 * cases of C's Annex F, and one digest of many results that must be the same on every machine. */
#include "support.h"

#include "digest.h"
#include "random.h"
#include "special.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 50000 };

/* ---- accuracy --------------------------------------------------------------------------------------------------- */

/* |got - want| in units of the last place of a double of want's size. */
static double ulps(double got, long double want) {
    int exponent;
    frexpl(want, &exponent);
    exponent = exponent < DBL_MIN_EXP ? DBL_MIN_EXP : exponent;
    return (double)(fabsl((long double)got - want) / ldexpl(1, exponent - DBL_MANT_DIG));
}

/* One function on one range: two arguments are drawn uniformly in their ranges, the first through 2^x if `binary`. */
typedef struct sweep {
    const char *what;
    double (*ours)(double x, double y);
    long double (*theirs)(long double x, long double y);
    double from, to;
    bool binary;
    double y_from, y_to;
    double most; /* measured error in ulps, rounded up */
} sweep;

static double our_exp(double x, double y) { return (void)y, sfu__exp(x); }
static double our_log(double x, double y) { return (void)y, sfu__ln(x); }
static double our_erfc(double x, double y) { return (void)y, sfu__erfc(x); }
static long double their_exp(long double x, long double y) { return (void)y, expl(x); }
static long double their_log(long double x, long double y) { return (void)y, logl(x); }
static long double their_erfc(long double x, long double y) { return (void)y, erfcl(x); }

static const sweep sweeps[] = {
    {"exp", our_exp, their_exp, -708, 709.7, false, 0, 0, 0.502},
    {"exp, near 0", our_exp, their_exp, -1, 1, false, 0, 0, 0.502},
    {"exp, tiny", our_exp, their_exp, -60, -20, true, 0, 0, 0.502},
    {"exp, subnormal", our_exp, their_exp, -745.2, -708, false, 0, 0, 0.502},
    {"log", our_log, their_log, -1074, 1024, true, 0, 0, 0.502},
    {"log, near 1", our_log, their_log, 0.5, 2, false, 0, 0, 0.502},
    {"log, nearer 1", our_log, their_log, 1 - 0x1p-20, 1 + 0x1p-20, false, 0, 0, 0.502},
    {"pow", sfu__pow, powl, -140, 140, true, -7, 7, 0.502},
    {"pow, below 1", sfu__pow, powl, 0, 1, false, 0, 4, 0.502},
    {"pow, steep", sfu__pow, powl, 1 - 0x1p-11, 1 + 0x1p-11, false, -1.4e6, 1.4e6, 0.502},
    {"pow, subnormal", sfu__pow, powl, -110, -102.5, true, 9.9, 10, 0.502},
    {"erfc", our_erfc, their_erfc, 0.5, 26.5, false, 0, 0, 0.6},
    {"erfc, small", our_erfc, their_erfc, 0, 0.5, false, 0, 0, 0.95},
    {"erfc, negative", our_erfc, their_erfc, -6.5, 0, false, 0, 0, 0.65},
    {"erfc, subnormal", our_erfc, their_erfc, 26.5, 27.3, false, 0, 0, 0.6},
};

enum { SWEEPS = sizeof sweeps / sizeof sweeps[0] };

/* The arguments of one draw. 2^x comes from the exponent and the significand, not from a function under test. */
static void draw(const sweep *range, sfu__random *walk, double *x, double *y) {
    *x = range->from + (range->to - range->from) * sfu__random_unit(walk);
    if (range->binary) {
        *x = ldexp(1 + sfu__random_unit(walk), (int)floor(*x));
    }
    *y = range->y_from + (range->y_to - range->y_from) * sfu__random_unit(walk);
}

static void errors_are_as_measured(void **state) {
    (void)state;
    for (uint32_t i = 0; i < SWEEPS; i++) {
        const sweep *range = &sweeps[i];
        sfu__random walk = sfu__random_start(0, i);
        double worst = 0, worst_x = 0, worst_y = 0;
        for (int n = 0; n < DRAWS; n++) {
            double x, y;
            draw(range, &walk, &x, &y);
            const double error = ulps(range->ours(x, y), range->theirs(x, y));
            if (!(error <= worst)) {
                worst = error;
                worst_x = x;
                worst_y = y;
            }
        }
        print_message("%-16s %.4f ulp at %.17g %.17g\n", range->what, worst, worst_x, worst_y);
        assert_true(worst <= range->most);
    }
}

/* ---- special cases ---------------------------------------------------------------------------------------------- */

/* Bitwise equal, apart from the bits of a NaN. */
static bool same(double a, double b) { return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b); }

static void edges_of_the_range(void **state) {
    (void)state;
    assert_true(same(sfu__exp(0), 1) && same(sfu__exp(-0.0), 1));
    assert_true(same(sfu__exp(INFINITY), INFINITY) && same(sfu__exp(-INFINITY), 0) && isnan(sfu__exp(NAN)));
    assert_true(isfinite(sfu__exp(0x1.62e42fefa39efp9)) && isinf(sfu__exp(0x1.62e42fefa39fp9)));
    assert_true(same(sfu__exp(-745.1332), 0x1p-1074) && same(sfu__exp(-745.1333), 0));
    assert_true(same(sfu__exp(1e308), INFINITY) && same(sfu__exp(-1e308), 0));

    assert_true(same(sfu__ln(1), 0) && same(sfu__ln(INFINITY), INFINITY) && isnan(sfu__ln(NAN)));
    assert_true(same(sfu__ln(0), -INFINITY) && same(sfu__ln(-0.0), -INFINITY));
    assert_true(isnan(sfu__ln(-1)) && isnan(sfu__ln(-INFINITY)) && isnan(sfu__ln(-0x1p-1074)));

    assert_true(same(sfu__erfc(0), 1) && same(sfu__erfc(-0.0), 1) && isnan(sfu__erfc(NAN)));
    assert_true(same(sfu__erfc(INFINITY), 0) && same(sfu__erfc(-INFINITY), 2));
    assert_true(same(sfu__erfc(0x1p-1074), 1) && same(sfu__erfc(-5.9), 2) && same(sfu__erfc(-1e300), 2));
    assert_true(sfu__erfc(27.226) > 0 && same(sfu__erfc(27.3), 0));
    assert_true(same(sfu__erfc(28.1), 0) && same(sfu__erfc(1e300), 0));
}

/* Annex F defines pow for all of these; the C library is checked as well. */
static void pow_of_everything_special(void **state) {
    (void)state;
    static const double values[] = {
        0.0,          1.0,
        0.5,          2.0,
        3.0,          2.5,
        INFINITY,     0x1p-1074,
        DBL_MIN,      DBL_MAX,
        0x1p53,       0x1p53 - 1,
        0x1p52 + 0.5, 0x1p64,
        1e-300,       1e300,
        NAN,          1 - DBL_EPSILON / 2,
        1.0 / 1024,   1 + DBL_EPSILON,
    };
    enum { VALUES = sizeof values / sizeof values[0] };
    for (int i = 0; i < 2 * VALUES; i++) {
        for (int j = 0; j < 2 * VALUES; j++) {
            const double x = i < VALUES ? values[i] : -values[i - VALUES];
            const double y = j < VALUES ? values[j] : -values[j - VALUES];
            const double ours = sfu__pow(x, y), theirs = pow(x, y);
            if (!same(ours, theirs) && !(isfinite(theirs) && fabs(ours - theirs) <= 1e-15 * fabs(theirs))) {
                print_error("pow(%a, %a) is %a, not %a\n", x, y, ours, theirs);
                fail();
            }
        }
    }
}

static void whole_powers_are_exact(void **state) {
    (void)state;
    for (int base = 2; base <= 10; base++) {
        double power = 1;
        for (int n = 0; power < 0x1p53; n++, power *= base) {
            assert_true(same(sfu__pow(base, n), power));
            assert_true(same(sfu__pow(-base, n), n % 2 == 0 ? power : -power));
        }
    }
    for (int k = -1074; k < 1024; k++) {
        assert_true(same(sfu__pow(2, k), ldexp(1, k)));
    }
}

/* ---- the same bits everywhere ----------------------------------------------------------------------------------- */

static void the_bits_are_pinned(void **state) {
    (void)state;
    sfu__digest *digest = NULL;
    char text[SFU__DIGEST_TEXT];
    assert_ok(sfu__digest_new(&digest));
    for (uint32_t i = 0; i < SWEEPS; i++) {
        sfu__random walk = sfu__random_start(1, i);
        for (int n = 0; n < DRAWS; n++) {
            double x, y;
            draw(&sweeps[i], &walk, &x, &y);
            const double result = sweeps[i].ours(x, y);
            uint64_t bits;
            unsigned char bytes[8];
            memcpy(&bits, &result, sizeof bits);
            for (int byte = 0; byte < 8; byte++) {
                bytes[byte] = (unsigned char)(bits >> 8 * byte);
            }
            assert_ok(sfu__digest_add(digest, bytes, sizeof bytes));
        }
    }
    assert_ok(sfu__digest_end(digest, text));
    sfu__digest_free(digest);
    assert_string_equal(text, "a0e689b9ed868391e8ffaf2b4eb974134d920b41d32a819e454d19ef4da28622");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_as_measured),    cmocka_unit_test(edges_of_the_range),
        cmocka_unit_test(pow_of_everything_special), cmocka_unit_test(whole_powers_are_exact),
        cmocka_unit_test(the_bits_are_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
