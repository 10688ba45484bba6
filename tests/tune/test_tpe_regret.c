/* Searches of five functions over 30 seeds are not worse than Optuna's (tpe_regret.txt): one-sided Mann-Whitney test
 * per function and budget, with Holm correction over the ten, failing at an adjusted p below 0.01. The same test must
 * detect worse searches: random ones, half of the trials taken for good, the bad taken for good. */
#include "support.h"

#include "search_problems.h"
#include "special.h"

#include <stdio.h>

enum { SEEDS = 30, BUDGETS = 2, CELLS = PROBLEMS * BUDGETS };
static const int budgets[BUDGETS] = {100, 300};

/* ---- the reference ---------------------------------------------------------------------------------------------- */

static void read_reference(double to[SEEDS], const char *problem, const char *sampler, int trials) {
    const char *source = getenv("SOURCE");
    char path[4096], wanted[64], line[4096];
    snprintf(path, sizeof path, "%s/tests/tune/tpe_regret.txt", source != NULL ? source : ".");
    const int size = snprintf(wanted, sizeof wanted, "%s %s %d:", problem, sampler, trials);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int found = 0;
    while (found == 0 && fgets(line, sizeof line, file) != NULL) {
        char *at = line + size;
        for (; strncmp(line, wanted, (size_t)size) == 0 && found < SEEDS; found++) {
            to[found] = strtod(at, &at);
        }
    }
    fclose(file);
    assert_int_equal(found, SEEDS);
}

/* ---- the test --------------------------------------------------------------------------------------------------- */

/* The probability that one of ours is larger than one of theirs, and the p-value of the hypothesis that it is at most
 * 1/2, by the normal approximation with correction for ties. */
static double mann_whitney(double *larger, const double *ours, int n, const double *theirs, int m) {
    double U = 0, ties = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            U += ours[i] > theirs[j] ? 1 : ours[i] == theirs[j] ? 0.5 : 0;
        }
    }
    for (int i = 0; i < n + m; i++) { /* the sum over tied groups of t^3 - t is that over their members of t^2 - 1 */
        const double x = i < n ? ours[i] : theirs[i - n];
        double t = 0;
        for (int j = 0; j < n + m; j++) {
            t += (j < n ? ours[j] : theirs[j - n]) == x;
        }
        ties += t * t - 1;
    }
    const double all = n + m, variance = (double)n * m / 12 * (all + 1 - ties / (all * (all - 1)));
    *larger = U / ((double)n * m);
    return 0.5 * sfu__erfc((U - 0.5 * n * m - 0.5) / sqrt(2 * variance));
}

/* The smallest p-value after Holm correction: the smallest p times ten, even if fewer tests are run. */
static double holm_smallest(const double *p, int count) {
    double least = 1;
    for (int i = 0; i < count; i++) {
        least = p[i] < least ? p[i] : least;
    }
    return least * CELLS < 1 ? least * CELLS : 1;
}

static void test_statistics(void **state) {
    (void)state;
    double larger;
    const double low[5] = {1, 2, 3, 4, 5}, high[5] = {6, 7, 8, 9, 10}, tied[5] = {1, 2, 2, 4, 5};
    /* z = (25 - 12.5 - 0.5)/sqrt(22.9167) = 2.506724 */
    assert_float_equal(mann_whitney(&larger, high, 5, low, 5), 0.006092890177672407, 1e-9);
    assert_float_equal(larger, 1, 0);
    assert_float_equal(mann_whitney(&larger, low, 5, low, 5) + 0, 0.5416, 1e-3);
    assert_float_equal(larger, 0.5, 0);
    assert_true(mann_whitney(&larger, tied, 5, high, 5) > 0.99);
    const double p[3] = {0.5, 0.004, 0.2};
    assert_float_equal(holm_smallest(p, 3), 0.04, 1e-15);
}

/* ---- searches --------------------------------------------------------------------------------------------------- */

/* The smallest adjusted p-value of a search against the reference of `sampler`. */
static double compare(const char *what, const search_way *way, const char *sampler, int problems) {
    const int seeds = test_is_slow() ? 12 : SEEDS;
    double p[CELLS];
    for (int i = 0; i < problems; i++) {
        const search_problem problem = problem_of((i + 1) % PROBLEMS);
        double regret[BUDGETS][SEEDS];
        for (int seed = 0; seed < seeds; seed++) {
            double one[BUDGETS];
            search(one, budgets, BUDGETS, &problem, way, (uint64_t)seed);
            for (int b = 0; b < BUDGETS; b++) {
                regret[b][seed] = one[b];
            }
        }
        for (int b = 0; b < BUDGETS; b++) {
            double reference[SEEDS], larger;
            read_reference(reference, problem.name, sampler, budgets[b]);
            p[i * BUDGETS + b] = mann_whitney(&larger, regret[b], seeds, reference, SEEDS);
            print_message("%-16s %-9s %3d trials: better %.2f, p %.2g\n", what, problem.name, budgets[b], 1 - larger,
                          p[i * BUDGETS + b]);
        }
    }
    return holm_smallest(p, problems * BUDGETS);
}

static search_way way_of(sfu__sampler_kind kind) {
    return (search_way){.kind = kind, .rules = sfu__sampler_rules_default(), .wave = 1, .liar = true};
}

/* One function, the first, is enough to detect an error. Slow builds use only that one. */
enum { ENOUGH = 1 };
static int problems(void) { return test_is_slow() ? 1 : PROBLEMS; }

static void test_joint(void **state) {
    (void)state;
    const search_way way = way_of(SFU__SAMPLER_TPE);
    assert_true(compare("tpe", &way, "tpe", problems()) >= 0.01);
}

static void test_independent(void **state) {
    (void)state;
    const search_way way = way_of(SFU__SAMPLER_TPE_INDEPENDENT);
    assert_true(compare("tpe-independent", &way, "tpe-independent", problems()) >= 0.01);
}

static void test_random_is_noticed(void **state) {
    (void)state;
    const search_way way = way_of(SFU__SAMPLER_RANDOM);
    assert_true(compare("random", &way, "tpe", problems()) < 0.01);
    assert_true(compare("random", &way, "tpe-independent", problems()) < 0.01);
}

static void test_wrong_gamma_is_noticed(void **state) {
    (void)state;
    search_way way = way_of(SFU__SAMPLER_TPE);
    way.rules.gamma = 0.5;
    way.rules.gamma_max = 1000000;
    assert_true(compare("gamma 1/2", &way, "tpe", ENOUGH) < 0.01);
}

static void test_swapped_is_noticed(void **state) {
    (void)state;
    search_way way = way_of(SFU__SAMPLER_TPE);
    way.rules.swapped = true;
    assert_true(compare("swapped", &way, "tpe", ENOUGH) < 0.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_joint),
        cmocka_unit_test(test_independent),
        cmocka_unit_test(test_random_is_noticed),
        cmocka_unit_test(test_wrong_gamma_is_noticed),
        cmocka_unit_test(test_swapped_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
