/* Statistics of comparisons: against scipy 1.17, statsmodels and mpmath (tables below), textbooks, and, for the
 * signed-rank test, an enumeration of all signs. */
#include "support.h"

#include "random.h"
#include "slow_wilcoxon.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>

static void assert_near(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance * fmax(1, fabs(want)))) {
        print_error("%.17g is not %.17g\n", got, want);
        fail();
    }
}

/* ---- Student ----------------------------------------------------------------------------------------------------- */

static void student_quantiles(void **state) {
    (void)state;
    static const struct {
        double p, freedom, quantile;
    } table[] = {
        {0.975, 0.7, 36.611415031588685},
        {0.975, 1, 12.706204736174705},
        {0.975, 2, 4.302652729749464},
        {0.975, 3.37, 2.993626519609904},
        {0.975, 9, 2.2621571627982053},
        {0.975, 17.61, 2.104262119560799},
        {0.975, 100, 1.9839715185235522},
        {0.975, 1e4, 1.9602012398906263},
        {0.975, 1e7, 1.9599642217672055},
        {0.95, 0.7, 13.587121347511173},
        {0.95, 1, 6.313751514675043},
        {0.95, 2, 2.9199855803537256},
        {0.95, 3.37, 2.251673869476516},
        {0.95, 9, 1.8331129326562372},
        {0.95, 17.61, 1.7361465346487153},
        {0.95, 100, 1.6602343260853396},
        {0.95, 1e4, 1.645006018069243},
        {0.95, 1e7, 1.6448537793284017},
        {0.6, 0.7, 0.3560313652346804},
        {0.6, 1, 0.32491969623290634},
        {0.6, 2, 0.28867513459481287},
        {0.6, 3.37, 0.274052253812285},
        {0.6, 9, 0.260955336473911},
        {0.6, 17.61, 0.2572073398736004},
        {0.6, 100, 0.25402218245822783},
        {0.6, 1e4, 0.25335384344572687},
        {0.6, 1e7, 0.253347109876003},
        {0.25, 0.7, -1.2003307434574066},
        {0.25, 1, -1.0},
        {0.25, 2, -0.816496580927726},
        {0.25, 3.37, -0.7541362965804197},
        {0.25, 9, -0.7027221467513264},
        {0.25, 17.61, -0.6886765747183927},
        {0.25, 100, -0.6769510430114715},
        {0.25, 1e4, -0.6745142844835924},
        {0.25, 1e7, -0.6744897747295752},
        {0.0005, 0.7, -9790.117523121431},
        {0.0005, 1, -636.6192487687197},
        {0.0005, 2, -31.59905457644362},
        {0.0005, 3.37, -10.768204387460019},
        {0.0005, 9, -4.780912585931139},
        {0.0005, 17.61, -3.9379231495480242},
        {0.0005, 100, -3.39049131116423},
        {0.0005, 1e4, -3.291499965941605},
        {0.0005, 1e7, -3.2905277044652226},
        {0.99999, 0.7, 2617507.3653890756},
        {0.99999, 1, 31830.988607907093},
        {0.99999, 2, 223.6034436340372},
        {0.99999, 3.37, 34.742590249008046},
        {0.99999, 9, 8.102057879394822},
        {0.99999, 17.61, 5.763286404174111},
        {0.99999, 100, 4.478426902992736},
        {0.99999, 1e4, 4.266937665766662},
        {0.99999, 1e7, 4.264892839929718},

    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const double got = sfu__student_quantile(table[i].p, table[i].freedom);
        if (!(fabs(got / table[i].quantile - 1) < 1e-10)) {
            print_error("p %g, freedom %g: %.17g is not %.17g\n", table[i].p, table[i].freedom, got, table[i].quantile);
            fail();
        }
    }
    assert_true(sfu__student_quantile(0.5, 3) == 0);
    assert_true(isnan(sfu__student_quantile(0, 3)) && isnan(sfu__student_quantile(1, 3)));
    assert_true(isnan(sfu__student_quantile(0.9, 0)) && isnan(sfu__student_quantile(NAN, 3)));
    assert_true(isnan(sfu__student_quantile(0.9, NAN)));
}

/* ---- means and intervals ----------------------------------------------------------------------------------------- */

static const double ours[] = {0.822, 0.811, 0.836, 0.807, 0.829, 0.815, 0.842, 0.803, 0.818, 0.826};
static const double theirs[] = {0.816, 0.814, 0.821, 0.809, 0.802, 0.815, 0.831, 0.798, 0.822, 0.811};
static const double fewer[] = {0.79, 0.81, 0.83, 0.80};

static void means(void **state) {
    (void)state;
    assert_near(sfu__mean(ours, 10), 0.8209, 1e-14);
    assert_near(sfu__deviation(ours, 10), 0.01256494241044411, 1e-14);
    assert_true(isnan(sfu__mean(ours, 0)) && sfu__mean(ours, 1) == 0.822);
    assert_true(isnan(sfu__deviation(ours, 0)) && isnan(sfu__deviation(ours, 1)));
    const double equal[] = {0.5, 0.5, 0.5};
    assert_true(sfu__deviation(equal, 3) == 0);
}

static void assert_interval(sfu__interval got, double low, double high) {
    assert_near(got.low, low, 1e-10);
    assert_near(got.high, high, 1e-10);
}

static bool is_unknown(sfu__interval interval) { return isnan(interval.low) && isnan(interval.high); }

static void intervals(void **state) {
    (void)state;
    const double mean = sfu__mean(ours, 10), deviation = sfu__deviation(ours, 10);
    const double other = sfu__mean(fewer, 4), spread = sfu__deviation(fewer, 4);
    assert_interval(sfu__mean_interval(mean, deviation, 10), 0.811911581673565, 0.8298884183264349);
    assert_interval(sfu__welch_interval(mean, deviation, 10, other, spread, 4), -0.011896014380506161,
                    0.03869601438050588);
    /* The same with exchanged arguments. */
    assert_interval(sfu__welch_interval(other, spread, 4, mean, deviation, 10), -0.03869601438050588,
                    0.011896014380506161);
    /* Zero variance gives a degenerate interval; a single value gives NaN. */
    assert_interval(sfu__welch_interval(0.75, 0, 3, 0.5, 0, 2), 0.25, 0.25);
    assert_interval(sfu__mean_interval(0.5, 0, 2), 0.5, 0.5);
    assert_true(is_unknown(sfu__mean_interval(0.5, NAN, 1)));
    assert_true(is_unknown(sfu__welch_interval(mean, deviation, 10, 0.8, NAN, 1)));
    assert_true(is_unknown(sfu__welch_interval(0.8, NAN, 1, mean, deviation, 10)));
    assert_true(is_unknown(sfu__welch_interval(NAN, deviation, 10, mean, deviation, 10)));
}

static void shares(void **state) {
    (void)state;
    static const struct {
        int64_t right, count;
        double low, high;
    } table[] = {
        {0, 10, 0.0, 0.27753279986288926},
        {10, 10, 0.7224672001371109, 1.0},
        {7, 10, 0.39677814746114526, 0.892208732593699},
        {812, 1000, 0.7866068125887821, 0.8350052901162314},
        {1, 3, 0.06149194472039626, 0.7923403991979523},
        {500000, 1000000, 0.4990200198900048, 0.5009799801099952},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_interval(sfu__share_interval(table[i].right, table[i].count), table[i].low, table[i].high);
    }
    assert_true(is_unknown(sfu__share_interval(0, 0)) && is_unknown(sfu__share_interval(3, 2)));
    assert_true(is_unknown(sfu__share_interval(-1, 2)));
}

/* ---- Wilcoxon ---------------------------------------------------------------------------------------------------- */

static double wilcoxon(const double *one, const double *other, int count) {
    double p = -1;
    assert_ok(sfu__wilcoxon(&p, one, other, count));
    return p;
}

static void wilcoxon_by_hand(void **state) {
    (void)state;
    /* Hollander and Wolfe's depression scores: 5 is the lesser sum of ranks of nine. */
    static const double before[] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
    static const double after[] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
    assert_near(wilcoxon(before, after, 9), 0.0390625, 1e-15);
    assert_near(wilcoxon(ours, theirs, 10), 0.0546875, 1e-15); /* a zero and ties: scipy's permutations */
    assert_near(wilcoxon(theirs, ours, 10), 0.0546875, 1e-15);
    assert_true(isnan(wilcoxon(ours, ours, 10)) && isnan(wilcoxon(ours, theirs, 0)));
    assert_true(wilcoxon(ours, theirs, 1) == 1);
}

static void wilcoxon_with_every_sign(void **state) {
    (void)state;
    sfu__random walk = sfu__random_start(3, 0);
    for (int round = 0; round < 300; round++) {
        const int count = 1 + (int)sfu__random_below(&walk, 12);
        const uint64_t grid = 1 + sfu__random_below(&walk, 30); /* coarse grids give ties and zeros */
        double one[12], other[12];
        for (int i = 0; i < count; i++) {
            one[i] = (700 + (double)sfu__random_below(&walk, grid)) / 1000;
            other[i] = (700 + (double)sfu__random_below(&walk, grid + (uint64_t)(round % 7))) / 1000;
        }
        const double want = slow_wilcoxon(one, other, count), got = wilcoxon(one, other, count);
        assert_true(isnan(want) ? isnan(got) : fabs(got - want) < 1e-12);
    }
}

static void wilcoxon_of_many(void **state) {
    (void)state;
    double one[40], other[40], coarse[40], coarse_other[40];
    for (int i = 0; i < 40; i++) {
        one[i] = (i * 37 % 41) / 50.0;
        other[i] = ((i * i * 11 + 3) % 43) / 52.0;
        coarse[i] = (i * 37 % 41) / 100.0;
        coarse_other[i] = ((i * i * 11 + 3) % 43) / 100.0;
    }
    assert_near(wilcoxon(one, other, 40), 0.6573550759418421, 1e-12);
    assert_near(wilcoxon(coarse, coarse_other, 40), 0.9410464322721768, 1e-12);
    double by_rank[25], zero[26] = {0};
    for (int i = 0; i < 25; i++) {
        by_rank[i] = i * 7 % 5 != 0 ? i + 1 : -(i + 1);
    }
    assert_near(wilcoxon(by_rank, zero, 25), 0.0027848482131958008, 1e-15); /* the largest exact case */
    double all_up[26];
    for (int i = 0; i < 26; i++) {
        all_up[i] = i + 1;
    }
    assert_near(wilcoxon(all_up, zero, 25), 0x1p-24, 1e-15);
    assert_true(wilcoxon(all_up, zero, 26) > 0x1p-25 && wilcoxon(all_up, zero, 26) < 1e-4);
}

static void the_least_p(void **state) {
    (void)state;
    assert_true(sfu__wilcoxon_least(0) == 1 && sfu__wilcoxon_least(1) == 1 && sfu__wilcoxon_least(2) == 0.5);
    assert_true(sfu__wilcoxon_least(5) > 0.05 && sfu__wilcoxon_least(6) < 0.05);
    for (int count = 1; count <= 10; count++) {
        double up[10], zero[10] = {0};
        for (int i = 0; i < count; i++) {
            up[i] = 1 + i;
        }
        assert_true(wilcoxon(up, zero, count) == sfu__wilcoxon_least(count));
    }
}

/* ---- Holm, ranks, Nemenyi ---------------------------------------------------------------------------------------- */

static void holm(void **state) {
    (void)state;
    double p[] = {0.01, 0.04, NAN, 0.03, 0.005, 0.2, 0.9, NAN};
    static const double want[] = {0.05, 0.12, NAN, 0.12, 0.03, 0.4, 0.9, NAN};
    assert_ok(sfu__holm(p, 8));
    for (int i = 0; i < 8; i++) {
        assert_true(isnan(want[i]) ? isnan(p[i]) : fabs(p[i] - want[i]) < 1e-15);
    }
    double large[] = {0.9, 0.6, 0.7};
    assert_ok(sfu__holm(large, 3));
    assert_true(large[0] == 1 && large[1] == 1 && large[2] == 1);
    assert_ok(sfu__holm(large, 0));
}

static void assert_ranks(const double *values, int count, const double *want) {
    double ranks[8];
    assert_ok(sfu__ranks(ranks, values, count));
    for (int i = 0; i < count; i++) {
        assert_true(isnan(want[i]) ? isnan(ranks[i]) : ranks[i] == want[i]);
    }
}

static void ranks(void **state) {
    (void)state;
    assert_ranks((const double[]){0.7, 0.9, 0.8}, 3, (const double[]){3, 1, 2});
    assert_ranks((const double[]){0.8, 0.9, 0.8, 0.7}, 4, (const double[]){2.5, 1, 2.5, 4});
    assert_ranks((const double[]){0.5, NAN, 0.5, 0.5}, 4, (const double[]){2, NAN, 2, 2});
    assert_ranks((const double[]){0.3, 0.1 + 0.2, 0.25}, 3, (const double[]){1.5, 1.5, 3});
    assert_ranks((const double[]){NAN, NAN}, 2, (const double[]){NAN, NAN});
}

static void critical_differences(void **state) {
    (void)state;
    assert_near(sfu__critical_difference(2, 10), 0.6197950323045613, 1e-7);
    assert_near(sfu__critical_difference(8, 5), 4.695416703894232, 1e-7);
    assert_near(sfu__critical_difference(10, 14), 3.620343175210931, 1e-7);
    assert_near(sfu__critical_difference(20, 30), 5.413242589299667, 1e-7);
    assert_near(sfu__critical_difference(4, 14) / sqrt(4 * 5 / (6.0 * 14)), 2.569, 1e-3); /* Demsar's table 5 */
    assert_true(isnan(sfu__critical_difference(1, 5)) && isnan(sfu__critical_difference(21, 5)));
    assert_true(isnan(sfu__critical_difference(3, 0)));
}

/* ---- bootstrap --------------------------------------------------------------------------------------------------- */

enum { METHODS = 3, CASES = 2 };
static const double scores[CASES][METHODS][6] = {
    {{0.80, 0.82, 0.78, 0.81}, {0.79, 0.83, 0.77, 0.80}, {0.60, 0.61, 0.62, 0.6}},
    {{0.50, 0.51, 0.52, 0.53, 0.54, 0.55}, {0.52, 0.50, 0.53, 0.52, 0.56, 0.54}, {0.50, 0.51, 0.52, 0.53, 0.54, 0.55}}};
static const int splits[CASES] = {4, 6};

/* Sequential draws of one case, and ranks by counting. */
static double slow_rank(int which, int method, int sample) {
    sfu__random random = sfu__random_start(5, sfu__stream_of(SFU__STREAM_RANKS, (uint32_t)which));
    double sums[METHODS] = {0}, rank = 1;
    for (int i = 0; i < (sample + 1) * splits[which]; i++) {
        const int split = (int)sfu__random_below(&random, (uint64_t)splits[which]);
        for (int m = 0; m < METHODS && i >= sample * splits[which]; m++) {
            sums[m] += scores[which][m][split];
        }
    }
    for (int other = 0; other < METHODS; other++) {
        const double ahead = sums[other] - sums[method];
        rank += other == method ? 0 : ahead > 1e-9 ? 1 : ahead > -1e-9 ? 0.5 : 0;
    }
    return rank;
}

static void bootstrap_of_ranks(void **state) {
    (void)state;
    double flat[CASES][METHODS * 6];
    sfu__rank_case cases[CASES];
    double *samples = calloc((size_t)SFU__RESAMPLES * METHODS, sizeof *samples);
    assert_non_null(samples);
    for (int c = 0; c < CASES; c++) {
        for (int m = 0; m < METHODS; m++) {
            for (int i = 0; i < splits[c]; i++) {
                flat[c][m * splits[c] + i] = scores[c][m][i];
            }
        }
        cases[c] = (sfu__rank_case){flat[c], splits[c]};
    }
    assert_ok(sfu__rank_bootstrap(samples, cases, CASES, METHODS, 5));
    for (int sample = 0; sample < SFU__RESAMPLES; sample += sample < 50 ? 1 : 150) {
        for (int m = 0; m < METHODS; m++) {
            assert_near(samples[sample * METHODS + m], (slow_rank(0, m, sample) + slow_rank(1, m, sample)) / 2, 1e-12);
        }
    }
    /* In the first case alone the third method is always last, so that its rank has no width. */
    double third[SFU__RESAMPLES];
    assert_ok(sfu__rank_bootstrap(samples, cases, 1, METHODS, 0));
    for (int i = 0; i < SFU__RESAMPLES; i++) {
        third[i] = samples[i * METHODS + 2];
    }
    const sfu__interval interval = sfu__percentile_interval(third, SFU__RESAMPLES);
    assert_true(interval.low == 3 && interval.high == 3);
    free(samples);
}

static void percentiles(void **state) {
    (void)state;
    double values[1000], one[] = {7};
    for (int i = 0; i < 1000; i++) {
        values[i] = (i * 617) % 1000; /* a permutation */
    }
    sfu__interval interval = sfu__percentile_interval(values, 1000);
    assert_true(interval.low == 25 && interval.high == 974);
    interval = sfu__percentile_interval(one, 1);
    assert_true(interval.low == 7 && interval.high == 7);
    assert_true(isnan(sfu__percentile_interval(one, 0).low));
}

static sfu_status all_that_allocate(void *context) {
    (void)context;
    double p = 0, holms[] = {0.1, 0.2}, order[10];
    sfu_status status = sfu__wilcoxon(&p, ours, theirs, 10);
    status = status == SFU_OK ? sfu__holm(holms, 2) : status;
    status = status == SFU_OK ? sfu__ranks(order, ours, 10) : status;
    static double samples[SFU__RESAMPLES * 2];
    const sfu__rank_case one = {ours, 5};
    return status == SFU_OK ? sfu__rank_bootstrap(samples, &one, 1, 2, 0) : status;
}

static void memory_runs_out(void **state) {
    (void)state;
    test_fail_each_allocation(all_that_allocate, NULL, 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student_quantiles),
        cmocka_unit_test(means),
        cmocka_unit_test(intervals),
        cmocka_unit_test(shares),
        cmocka_unit_test(wilcoxon_by_hand),
        cmocka_unit_test(wilcoxon_with_every_sign),
        cmocka_unit_test(wilcoxon_of_many),
        cmocka_unit_test(the_least_p),
        cmocka_unit_test(holm),
        cmocka_unit_test(ranks),
        cmocka_unit_test(critical_differences),
        cmocka_unit_test(bootstrap_of_ranks),
        cmocka_unit_test(percentiles),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
