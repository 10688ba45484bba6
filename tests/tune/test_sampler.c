/* Samplers against the slow reference, incremental against fresh state, vector sums against the scalar one, samples
 * against the exact distribution, and a digest that must be the same on every machine. */
#include "support.h"

#include "digest.h"
#include "hand_made_space.h"
#include "mixture.h"
#include "parzen.h"
#include "random.h"
#include "tpe_reference.h"
#include "truncated_normal.h"

#include <stdio.h>

static double draw_philox(void *user, int stream) { return (void)stream, sfu__random_unit(user); }

static sfu__random walk(uint32_t n) { return sfu__random_start(7, sfu__stream_of(SFU__STREAM_SEARCH, n)); }

/* `net` chooses between two networks; `a` and `h` are of both, `b` and `k` of the second alone. */
enum { ITEMS = 7 };
static sfu__parameter_range tree_items[ITEMS];
static uint64_t tree_has[2] = {0x47, 0x7f};
static sfu__space tree_space(void) {
    const sfu__parameter_range items[ITEMS] = {
        choice_range("net", 2), log_range("lr", 1e-4, 1),    float_range("h", -1, 2),   int_range("k", 1, 6),
        float_range("b", 0, 1), step_range("d", 0, .5, .05), log_int_range("a", 1, 300)};
    memcpy(tree_items, items, sizeof items);
    for (int i = 0; i < ITEMS; i++) {
        tree_items[i].group = i >= 3 && i <= 5;
    }
    return (sfu__space){.items = tree_items, .count = ITEMS, .groups = 2, .net_count = 2, .has = tree_has};
}

static double tree_loss(const double *x) {
    double loss = (x[2] - 0.5) * (x[2] - 0.5) + 0.01 * fabs(x[6] - 40) + (x[1] - 0.1) * (x[1] - 0.1);
    loss += x[0] == 1 ? (x[4] - 0.2) * (x[4] - 0.2) + 0.1 * fabs(x[3] - 3) + x[5] - 0.45 : 0;
    return floor(loss * 50) / 50; /* with ties */
}

/* ---- against the reference -------------------------------------------------------------------------------------- */

static void suggest_slowly(double *values, const sfu__space *space, sfu__sampler_kind kind,
                           const reference_trials *trials, uint32_t n) {
    static const int joint[2][4] = {{6, 2, 1, 0}, {4, 5, 3}}; /* in the order of names: a h lr net, b d k */
    sfu__random random = walk(n);
    for (int i = 0; i < ITEMS; i++) {
        values[i] = NAN;
    }
    if (kind == SFU__SAMPLER_TPE) {
        reference_suggest(values, space, joint[0], 4, trials, draw_philox, &random);
        if (values[0] == 1) {
            reference_suggest(values, space, joint[1], 3, trials, draw_philox, &random);
        }
        return;
    }
    for (int i = 0; i < ITEMS; i++) {
        if (i == 0 || (tree_has[(int)values[0]] >> i & 1) != 0) {
            reference_suggest(values, space, &i, 1, trials, draw_philox, &random);
        }
    }
}

/* Three trials are always pending except at the start. Every seventh suggestion is compared: the reference is slow. */
static void compare_with_reference(sfu__sampler_kind kind, int last) {
    static double values[REFERENCE_MOST][ITEMS];
    const sfu__space space = tree_space();
    const sfu__sampler_rules rules = sfu__sampler_rules_default();
    sfu__sampler *sampler;
    assert_ok(sfu__sampler_new(&sampler, &space, kind, &rules));
    int both = 0;
    for (int n = 0; n < last; n++) {
        const int told = n < 3 ? 0 : n - 3;
        sfu__random random = walk((uint32_t)n);
        assert_ok(sfu__sampler_pending(sampler, values[told], n - told));
        assert_ok(sfu__sampler_ask(values[n], sampler, draw_philox, &random));
        if (told >= rules.startup && n % 7 == 0) {
            reference_trials trials = {.told = told, .outs = n - told};
            double want[ITEMS];
            for (int i = 0; i < n; i++) {
                trials.values[i] = values[i];
                trials.loss[i] = tree_loss(values[i]);
            }
            suggest_slowly(want, &space, kind, &trials, (uint32_t)n);
            for (int i = 0; i < ITEMS; i++) {
                if (isnan(want[i]) ? !isnan(values[n][i]) : !(fabs(values[n][i] - want[i]) <= 1e-9 * fabs(want[i]))) {
                    fail_msg("trial %d, %s: %.15g, not %.15g", n, tree_items[i].name, values[n][i], want[i]);
                }
            }
            both |= 1 << (int)want[0];
        }
        if (n >= 3) {
            assert_ok(sfu__sampler_tell(sampler, values[told], tree_loss(values[told])));
        }
    }
    assert_true(both == 3 || test_is_slow());
    sfu__sampler_free(sampler);
}

static void test_joint_reference(void **state) {
    (void)state;
    compare_with_reference(SFU__SAMPLER_TPE, test_is_slow() ? 100 : 280);
}

static void test_independent_reference(void **state) {
    (void)state;
    compare_with_reference(SFU__SAMPLER_TPE_INDEPENDENT, test_is_slow() ? 100 : 280);
}

/* ---- incremental state ------------------------------------------------------------------------------------------- */

/* A sampler that was asked all the time, with varying pending trials, and one that is told everything at once suggest
 * the same bits. */
static void test_kept_as_fresh(void **state) {
    (void)state;
    enum { TRIALS = 150 };
    static double values[TRIALS][ITEMS];
    const sfu__space space = tree_space();
    const sfu__sampler_rules rules = sfu__sampler_rules_default();
    for (int kind = SFU__SAMPLER_TPE; kind <= SFU__SAMPLER_TPE_INDEPENDENT; kind++) {
        sfu__sampler *kept;
        assert_ok(sfu__sampler_new(&kept, &space, (sfu__sampler_kind)kind, &rules));
        int told = 0;
        for (int n = 0; n < TRIALS; n++) {
            for (; told < n - n % 8 - 4; told++) {
                assert_ok(sfu__sampler_tell(kept, values[told], tree_loss(values[told])));
            }
            assert_ok(sfu__sampler_pending(kept, values[told], n - told));
            sfu__random random = walk((uint32_t)n);
            assert_ok(sfu__sampler_ask(values[n], kept, draw_philox, &random));
            if (n % 10 == 9) {
                double again[ITEMS];
                sfu__sampler *fresh;
                assert_ok(sfu__sampler_new(&fresh, &space, (sfu__sampler_kind)kind, &rules));
                for (int i = 0; i < told; i++) {
                    assert_ok(sfu__sampler_tell(fresh, values[i], tree_loss(values[i])));
                }
                assert_ok(sfu__sampler_pending(fresh, values[told], n - told));
                random = walk((uint32_t)n);
                assert_ok(sfu__sampler_ask(again, fresh, draw_philox, &random));
                for (int i = 0; i < ITEMS; i++) {
                    assert_true(isnan(again[i]) ? isnan(values[n][i]) : again[i] == values[n][i]);
                }
                sfu__sampler_free(fresh);
            }
        }
        sfu__sampler_free(kept);
    }
}

/* A pending point counts as bad at once, and no longer when it is not pending any more. */
static void test_out(void **state) {
    (void)state;
    sfu__parameter_range item = float_range("x", 0, 1);
    const sfu__space space = hand_made_space(&item, 1);
    const sfu__sampler_rules rules = sfu__sampler_rules_default();
    sfu__sampler *sampler;
    assert_ok(sfu__sampler_new(&sampler, &space, SFU__SAMPLER_TPE, &rules));
    for (int n = 0; n < 20; n++) {
        const double x = n / 20.0;
        assert_ok(sfu__sampler_tell(sampler, &x, fabs(x - 0.5)));
    }
    double alone, beside, again, outs[30];
    sfu__random random = walk(1);
    assert_ok(sfu__sampler_ask(&alone, sampler, draw_philox, &random));
    for (int i = 0; i < 30; i++) {
        outs[i] = alone;
    }
    assert_ok(sfu__sampler_pending(sampler, outs, 30));
    random = walk(1);
    assert_ok(sfu__sampler_ask(&beside, sampler, draw_philox, &random));
    assert_true(fabs(beside - alone) > 0.02);
    assert_ok(sfu__sampler_pending(sampler, outs, 0));
    random = walk(1);
    assert_ok(sfu__sampler_ask(&again, sampler, draw_philox, &random));
    assert_true(again == alone);
    sfu__sampler_free(sampler);
}

/* ---- mixture sums ------------------------------------------------------------------------------------------------ */

static void test_sums(void **state) {
    (void)state;
    enum { MOST = 80, ARRAYS = 12 };
    static double array[ARRAYS][MOST];
    sfu__random random = walk(0);
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < ARRAYS * MOST; i++) {
            array[i / MOST][i % MOST] = 20 * sfu__random_unit(&random) - 10;
        }
        sfu__mixture m = {.from = round % 13 == 0 ? 16 : 0,
                          .count = 8 * (round % 9),
                          .lines = round % 5,
                          .tables = round % 3,
                          .weight = array[0]};
        m.base = array[1];
        m.offset = round % 7 == 0 ? 900 : round % 5 == 0 ? -900 : array[0][0];
        for (int j = 0; j < m.lines; j++) {
            m.centre[j] = array[2 + j];
            m.scale[j] = array[6 + j];
            m.x[j] = 5 * sfu__random_unit(&random);
        }
        for (int t = 0; t < m.tables; t++) {
            m.table[t] = array[10 + t];
        }
        const double plain = sfu__mixture_sum_scalar(&m);
        const sfu__mixture_set *set;
        for (int i = 0; (set = sfu__mixture_set_at(i)) != NULL; i++) {
            const double fast = set->sum(&m);
            if (fast != plain) {
                fail_msg("%s: %a, plain: %a", set->name, fast, plain);
            }
        }
        double slow = 0, size = 0; /* and the scalar one is the sum it claims to be */
        for (int k = m.from; k < m.from + m.count; k++) {
            double e = m.base[k] - m.offset;
            for (int t = 0; t < m.tables; t++) {
                e += m.table[t][k];
            }
            for (int j = 0; j < m.lines; j++) {
                e -= pow((m.x[j] - m.centre[j][k]) * m.scale[j][k], 2);
            }
            const double term = m.weight[k] * exp(fmin(fmax(e, -708), 600));
            slow += term;
            size += fabs(term);
        }
        assert_true(fabs(slow - plain) <= 1e-12 * size);
    }
}

/* The best of many points with abandoned sums, and with full ones. `most` is the upper end of an integer, and
 * `first` the first trial's value of a float between 0 and 1. */
static void best_of_points(int most, double first) {
    enum { TRIALS = 700, POINTS = 24 };
    const sfu__parameter_range items[] = {float_range("x", 0, 1), int_range("k", 1, most)};
    const sfu__axis x = sfu__axis_of(&items[0].range), k = sfu__axis_of(&items[1].range), *axes[] = {&x, &k};
    sfu__parzen *parzen;
    sfu__random random = walk(21);
    assert_ok(sfu__parzen_new(&parzen, axes, 2));
    assert_ok(sfu__parzen_reserve(parzen, TRIALS));
    for (int n = 0; n < TRIALS; n++) {
        const double u = sfu__random_unit(&random);
        const double at = (double)sfu__random_below(&random, (uint32_t)most) + 1;
        sfu__parzen_insert(parzen, n, (double[]){n == 0 ? first : u * u, at});
    }
    for (int round = 0; round < (test_is_slow() ? 20 : 100); round++) {
        const double spread = round % 3 == 0 ? 1e-4 : 1; /* also points that are hard to distinguish */
        double points[2 * POINTS], log_l[POINTS], log_g[POINTS];
        for (int i = 0; i < POINTS; i++) {
            points[i] = 0.5 + spread * (sfu__random_unit(&random) - 0.5);
            points[POINTS + i] = (double)sfu__random_below(&random, (uint32_t)most) + 1;
            log_l[i] = (round % 4) * spread * sfu__random_unit(&random);
        }
        points[5] = points[1]; /* a duplicate */
        points[POINTS + 5] = points[POINTS + 1];
        log_l[5] = log_l[1];
        assert_ok(sfu__parzen_log_density(log_g, parzen, points, POINTS));
        int want = 0, best;
        for (int i = 1; i < POINTS; i++) {
            want = log_l[i] - log_g[i] > log_l[want] - log_g[want] ? i : want;
        }
        assert_ok(sfu__parzen_best(&best, parzen, points, POINTS, log_l));
        assert_int_equal(best, want);
    }
    sfu__parzen_free(parzen);
}

static void test_best(void **state) {
    (void)state;
    best_of_points(9, 0.25);
    best_of_points(2, 0.25);
    best_of_points(9, 7.5);
    best_of_points(5000, 0.25);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

enum { DRAWS = 100000 };

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static sfu__parzen *some_estimate(const sfu__axis *axis, const double *values, int count) {
    const sfu__axis *axes[] = {axis};
    sfu__parzen *parzen;
    assert_ok(sfu__parzen_new(&parzen, axes, 1));
    assert_ok(sfu__parzen_reserve(parzen, count));
    for (int k = 0; k < count; k++) {
        sfu__parzen_insert(parzen, k, &values[k]);
    }
    return parzen;
}

/* Kolmogorov-Smirnov test: the largest distance from the distribution function; 2.25/sqrt(n) is p = 1e-4. */
static void test_draws_of_a_float(void **state) {
    (void)state;
    static double x[DRAWS];
    const double values[] = {0.05, 0.1, 0.4, 0.45, 0.9};
    const sfu__parameter_range item = float_range("x", 0, 1);
    const sfu__axis axis = sfu__axis_of(&item.range);
    sfu__parzen *parzen = some_estimate(&axis, values, 5);
    sfu__random random = walk(11);
    const int count = test_is_slow() ? DRAWS / 10 : DRAWS;
    assert_ok(sfu__parzen_sample(x, parzen, count, draw_philox, &random));
    qsort(x, (size_t)count, sizeof *x, by_size);
    double most = 0;
    for (int i = 0; i < count; i++) {
        double cdf = 0;
        for (int k = 0; k <= 5; k++) {
            double sigma;
            assert_ok(sfu__parzen_width(&sigma, parzen, 0, k));
            const double mu = k < 5 ? values[k] : 0.5;
            cdf += reference_mass(-mu / sigma, (x[i] - mu) / sigma) / reference_mass(-mu / sigma, (1 - mu) / sigma) / 6;
        }
        most = fmax(most, fmax(fabs(cdf - (double)i / count), fabs(cdf - (i + 1.0) / count)));
    }
    assert_true(most < 2.25 / sqrt(count));
    assert_true(most > 0.1 / sqrt(count)); /* and it is not a grid */
    sfu__parzen_free(parzen);
}

/* Chi-squared test of the counts per value; `limit` is that of p = 1e-4. */
static void draws_of_a_grid(const sfu__parameter_range *item, const double *values, int trials, double limit) {
    static double x[DRAWS];
    const sfu__axis axis = sfu__axis_of(&item->range);
    sfu__parzen *parzen = some_estimate(&axis, values, trials);
    sfu__random random = walk(12);
    const int count = test_is_slow() ? DRAWS / 10 : DRAWS;
    assert_ok(sfu__parzen_sample(x, parzen, count, draw_philox, &random));
    double chi2 = 0, all = 0;
    for (int64_t place = 0; place < axis.grid; place++) {
        const double value = sfu__axis_at(&axis, place);
        double seen = 0, log_density;
        for (int i = 0; i < count; i++) {
            seen += x[i] == value;
        }
        assert_ok(sfu__parzen_log_density(&log_density, parzen, &value, 1));
        const double expected = count * exp(log_density);
        chi2 += (seen - expected) * (seen - expected) / expected;
        all += seen;
    }
    assert_true(all == count);
    assert_true(chi2 < limit);
    sfu__parzen_free(parzen);
}

static void test_draws_of_grids(void **state) {
    (void)state;
    const double values[] = {1, 3, 3, 8, 4};
    const sfu__parameter_range items[] = {int_range("k", 1, 8), log_int_range("k", 1, 8), choice_range("c", 9)};
    draws_of_a_grid(&items[0], values, 5, 29.9); /* 7 degrees of freedom */
    draws_of_a_grid(&items[1], values, 5, 29.9);
    draws_of_a_grid(&items[2], values, 5, 31.8); /* 8 */
}

/* ---- startup, names, odd spaces --------------------------------------------------------------------------------- */

static void test_names(void **state) {
    (void)state;
    sfu__sampler_kind kind;
    for (int i = 0; sfu__sampler_name(i) != NULL; i++) {
        assert_true(sfu__sampler_kind_of(&kind, sfu__sampler_name(i)) && (int)kind == i);
    }
    assert_false(sfu__sampler_kind_of(&kind, "grid"));
    assert_null(sfu__sampler_name(-1));
}

/* Random points are on their grids and in their ranges, have the expected mean, and only the parameters that their
 * network uses. */
static void test_random_points(void **state) {
    (void)state;
    enum { POINTS = 4000 };
    const sfu__space space = tree_space();
    const sfu__sampler_rules rules = sfu__sampler_rules_default();
    sfu__sampler *sampler;
    assert_ok(sfu__sampler_new(&sampler, &space, SFU__SAMPLER_RANDOM, &rules));
    double sum[ITEMS] = {0}, count[ITEMS] = {0};
    sfu__random random = walk(3);
    for (int n = 0; n < POINTS; n++) {
        double x[ITEMS];
        assert_ok(sfu__sampler_ask(x, sampler, draw_philox, &random));
        for (int i = 0; i < ITEMS; i++) {
            const sfu__domain *r = &tree_items[i].range;
            const bool has = (tree_has[(int)x[0]] >> i & 1) != 0;
            assert_true(has ? x[i] >= r->low && x[i] <= r->high : isnan(x[i]));
            assert_true(!has || r->step == 0 || x[i] == r->low + rint((x[i] - r->low) / r->step) * r->step);
            sum[i] += has ? reference_inner(r, x[i]) : 0;
            count[i] += has;
        }
        assert_ok(sfu__sampler_tell(sampler, x, 0));
    }
    for (int i = 0; i < ITEMS; i++) {
        const sfu__domain *r = &tree_items[i].range;
        double L, H;
        reference_bounds(&L, &H, r);
        const double spread = (H - L) / sqrt(12 * count[i]);
        assert_true(fabs(sum[i] / count[i] - 0.5 * (L + H)) < 5 * spread ||
                    i == 6); /* cells on a logarithmic scale are asymmetric */
    }
    assert_true(count[3] > 0.4 * POINTS && count[3] < 0.6 * POINTS);
    sfu__sampler_free(sampler);
}

/* A parameter with a single value has that value; a study of only such parameters can be asked. Told values may be out
 * of range, and losses may be NaN. */
static void test_odd_spaces(void **state) {
    (void)state;
    sfu__parameter_range items[] = {float_range("a", 2, 2), choice_range("b", 1), int_range("c", 5, 5),
                                    float_range("d", 0, 1)};
    const sfu__sampler_rules rules = sfu__sampler_rules_default();
    for (int count = 3; count <= 4; count++) {
        const sfu__space space = hand_made_space(items, count);
        for (int kind = SFU__SAMPLER_TPE; kind <= SFU__SAMPLER_RANDOM; kind++) {
            sfu__sampler *sampler;
            assert_ok(sfu__sampler_new(&sampler, &space, (sfu__sampler_kind)kind, &rules));
            sfu__random random = walk(4);
            for (int n = 0; n < 40; n++) {
                double x[4] = {0};
                assert_ok(sfu__sampler_ask(x, sampler, draw_philox, &random));
                assert_true(x[0] == 2 && x[1] == 0 && x[2] == 5 && x[3] >= 0 && x[3] <= 1);
                assert_ok(sfu__sampler_tell(sampler, x, n % 5 == 0 ? NAN : n % 7 == 0 ? INFINITY : 0.25));
            }
            sfu__sampler_free(sampler);
        }
    }
}

/* A grid with more values than cached columns. */
static void test_wide_grid(void **state) {
    (void)state;
    const sfu__parameter_range item = int_range("k", 1, 5000);
    const sfu__axis axis = sfu__axis_of(&item.range);
    const double values[] = {10, 522, 1034, 5000}, points[] = {10, 522, 1034, 11, 523, 10, 4999};
    sfu__parzen *parzen = some_estimate(&axis, values, 4);
    double log_density[7];
    assert_ok(sfu__parzen_log_density(log_density, parzen, points, 7));
    reference_kernels kernels = {.count = 4};
    for (int k = 0; k < 4; k++) {
        kernels.values[k] = &values[k];
    }
    reference_weights(&kernels);
    sfu__parameter_range copy = item;
    const sfu__space space = hand_made_space(&copy, 1);
    for (int i = 0; i < 7; i++) {
        const int only = 0;
        assert_float_equal(log_density[i], log(reference_density(&kernels, &space, &only, 1, &points[i])), 1e-9);
    }
    sfu__parzen_free(parzen);
}

/* ---- no memory -------------------------------------------------------------------------------------------------- */

static sfu_status short_search(void *context) {
    (void)context;
    sfu_status status = SFU_OK;
    const sfu__space space = tree_space();
    const sfu__sampler_rules rules = sfu__sampler_rules_default();
    sfu__sampler *sampler = NULL;
    double values[45][ITEMS];
    status = sfu__sampler_new(&sampler, &space, SFU__SAMPLER_TPE, &rules);
    for (int n = 0; status == SFU_OK && n < 45; n++) {
        sfu__random random = walk((uint32_t)n);
        status = sfu__sampler_pending(sampler, n > 0 ? values[n - 1] : NULL, n > 0);
        if (status == SFU_OK) {
            status = sfu__sampler_ask(values[n], sampler, draw_philox, &random);
        }
        if (status == SFU_OK && n > 0) {
            status = sfu__sampler_tell(sampler, values[n - 1], tree_loss(values[n - 1]));
        }
    }
    sfu__sampler_free(sampler);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    test_fail_each_allocation(short_search, NULL, 300);
}

/* ---- the same bits everywhere ----------------------------------------------------------------------------------- */

/* The losses use only + - * /, so that only the sampler can differ. */
static void test_digest(void **state) {
    (void)state;
    enum { TRIALS = 200 };
    static double values[2][TRIALS][5];
    sfu__parameter_range items[] = {float_range("a", 0, 1), log_range("b", 1e-4, 1), int_range("c", 1, 8),
                                    choice_range("d", 5), log_int_range("e", 8, 512)};
    const sfu__space space = hand_made_space(items, 5);
    const sfu__sampler_rules rules = sfu__sampler_rules_default();
    for (int kind = 0; kind < 2; kind++) {
        sfu__sampler *sampler;
        assert_ok(
            sfu__sampler_new(&sampler, &space, kind == 0 ? SFU__SAMPLER_TPE : SFU__SAMPLER_TPE_INDEPENDENT, &rules));
        for (int n = 0, told = 0; n < TRIALS; n++) {
            double *x = values[kind][n];
            sfu__random random = walk((uint32_t)n);
            for (; told < n - n % 4 - 4; told++) {
                const double *t = values[kind][told];
                const double a = t[0] - 0.3, b = t[1] - 0.05, c = t[2] - 4, e = t[4] - 64;
                assert_ok(sfu__sampler_tell(sampler, t, a * a + b * b + c * c / 50 + t[3] / 10 + e * e / 1e5));
            }
            assert_ok(sfu__sampler_pending(sampler, values[kind][told], n - told));
            assert_ok(sfu__sampler_ask(x, sampler, draw_philox, &random));
        }
        sfu__sampler_free(sampler);
    }
    char digest[SFU__DIGEST_TEXT];
    assert_ok(sfu__digest_of(digest, values, sizeof values));
    assert_string_equal(digest, "6d742e86e74e1ea01fe253c87e828df49c339d2774eaf4e931384de243cff2aa");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joint_reference),
        cmocka_unit_test(test_independent_reference),
        cmocka_unit_test(test_kept_as_fresh),
        cmocka_unit_test(test_out),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_best),
        cmocka_unit_test(test_draws_of_a_float),
        cmocka_unit_test(test_draws_of_grids),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_random_points),
        cmocka_unit_test(test_odd_spaces),
        cmocka_unit_test(test_wide_grid),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
