/* The estimator against recorded numbers of Optuna 4.9.0 and 5.0.0rc1: widths and densities, and whole runs replayed
 * with the same random numbers. */
#include "support.h"

#include "hand_made_space.h"
#include "mersenne.h"
#include "parzen.h"
#include "sampler.h"

#include <math.h>
#include <stdio.h>

/* ---- densities -------------------------------------------------------------------------------------------------- */

enum { MOST = 6 };

typedef struct golden {
    sfu__parameter_range item;
    int trials;
    double values[MOST];
    double sigma[MOST]; /* the prior last; 0: not recorded */
    int points;
    double x[MOST], log_density[MOST];
} golden;

static void test_densities(void **state) {
    (void)state;
    const golden all[] = {
        {float_range("x", 0, 1),
         4,
         {.1, .4, .45, .9},
         {.3, .3, .45, .45, 1},
         4,
         {0, .42, .7, 1},
         {-0.108918723462634, 0.153833422034126, -0.0664344960994547, -0.430364826548817}},
        {log_range("x", 1e-5, 1e-1),
         4,
         {1e-4, 1e-3, 2e-3, 5e-2},
         {2.30258509299, 2.30258509299, 3.21887582487, 3.21887582487, 9.21034037198},
         3,
         {1e-5, 1e-3, 3e-2},
         {-2.83330582501889, -2.01569100914168, -2.32150878491325}},
        {step_range("x", 0, 1, .25),
         3,
         {0, .5, 1},
         {.5, .5, .5, 1.25},
         3,
         {0, .25, 1},
         {-1.70164814964515, -1.56657911472113, -1.70164814964515}},
        {int_range("x", 1, 8),
         4,
         {1, 3, 4, 8},
         {2, 2, 4, 4, 8},
         3,
         {1, 5, 8},
         {-1.91555637764534, -2.12202793404658, -2.50076068922581}},
        {log_int_range("x", 1, 1024),
         4,
         {1, 16, 100, 1000},
         {2.77258872224, 2.77258872224, 2.30258509299, 2.30258509299, 7.62510714824},
         3,
         {1, 32, 1024},
         {-2.21947498501514, -5.4137790168097, -8.96178675376575}},
        {choice_range("x", 3),
         5,
         {0, 1, 1, 2, 1},
         {0},
         3,
         {0, 1, 2},
         {-1.34992671694902, -0.730887508542792, -1.34992671694902}},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const golden *g = &all[i];
        const sfu__axis axis = sfu__axis_of(&g->item.range), *axes[] = {&axis};
        sfu__parzen *parzen;
        assert_ok(sfu__parzen_new(&parzen, axes, 1));
        assert_ok(sfu__parzen_reserve(parzen, g->trials));
        for (int k = 0; k < g->trials; k++) {
            sfu__parzen_insert(parzen, k, &g->values[k]);
        }
        for (int k = 0; k <= g->trials && g->sigma[0] > 0; k++) {
            double sigma;
            assert_ok(sfu__parzen_width(&sigma, parzen, 0, k));
            assert_float_equal(sigma, g->sigma[k], 1e-11);
        }
        double log_density[MOST];
        assert_ok(sfu__parzen_log_density(log_density, parzen, g->x, g->points));
        for (int k = 0; k < g->points; k++) {
            if (!(fabs(log_density[k] - g->log_density[k]) < 1e-10)) {
                fail_msg("golden %zu at %g: %.15g, not %.15g", i, g->x[k], log_density[k], g->log_density[k]);
            }
        }
        sfu__parzen_free(parzen);
    }
}

/* ---- replay ----------------------------------------------------------------------------------------------------- */

typedef struct generators {
    mersenne stream[2];
} generators;

static double draw_mersenne(void *user, int stream) { return mersenne_unit(&((generators *)user)->stream[stream]); }

/* Branin's function and a valley of the learning rate. */
static double replay_loss(const double *v) {
    const double pi = 3.14159265358979323846, x = v[0], y = v[1], a = log10(v[2]) + 2.7;
    const double b = y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;
    return b * b + 10 * (1 - 1 / (8 * pi)) * cos(x) + 10 + a * a;
}

static const struct {
    int trial;
    double independent[3], joint[3]; /* x, y, lr */
} replayed[] = {
    {0, {3.26196853862, 10.6222173393, 0.000145753487689}, {3.26196853862, 10.6222173393, 0.000145753487689}},
    {1, {2.66241407796, 13.3942043152, 0.038474444287}, {2.66241407796, 13.3942043152, 0.038474444287}},
    {9, {-1.67063174102, 5.81956886333, 0.0556588974911}, {-1.67063174102, 5.81956886333, 0.0556588974911}},
    {10, {9.60149643352, 9.31129138378, 0.00382182584339}, {9.52983310239, 11.9588519624, 0.00084766668369}},
    {11, {7.3603410586, 0.0121605760559, 0.0040282046125}, {7.01980683991, 5.46674842341, 0.00597674885785}},
    {12, {8.27566527653, 0.0616448680853, 0.00418294099514}, {9.73918684678, 0.767545749555, 0.0107512609216}},
    {20, {8.6106886504, 1.83557457471, 0.0137151892482}, {9.34030654336, 5.4935132627, 0.000231990101149}},
    {50, {1.34643784397, 3.18951288165, 0.000146604896589}, {7.02363072108, 1.91205583376, 6.02267351813e-05}},
    {100, {2.78982210873, 0.693544399094, 0.00350400835555}, {9.4370235577, 4.28719443242, 0.0152247123044}},
};

static void compare_with_record(int trial, bool joint, const double *values) {
    for (size_t i = 0; i < sizeof replayed / sizeof replayed[0]; i++) {
        const double *want = joint ? replayed[i].joint : replayed[i].independent;
        for (int j = 0; j < 3 && replayed[i].trial == trial; j++) {
            if (!(fabs(values[j] - want[j]) <= 1e-11 * fabs(want[j]))) {
                fail_msg("trial %d, parameter %d: %.12g, not %.12g", trial, j, values[j], want[j]);
            }
        }
    }
}

static void replay(sfu__sampler_kind kind) {
    sfu__parameter_range items[] = {float_range("x", -5, 10), float_range("y", 0, 15), log_range("lr", 1e-5, 1e-1)};
    const sfu__space space = hand_made_space(items, 3);
    const sfu__sampler_rules rules = sfu__sampler_rules_default();
    generators both = {{mersenne_start(3), mersenne_start(3)}};
    sfu__sampler *sampler;
    assert_ok(sfu__sampler_new(&sampler, &space, kind, &rules));
    for (int trial = 0; trial <= 100; trial++) {
        double values[3];
        assert_ok(sfu__sampler_ask(values, sampler, draw_mersenne, &both));
        compare_with_record(trial, kind == SFU__SAMPLER_TPE, values);
        assert_ok(sfu__sampler_tell(sampler, values, replay_loss(values)));
    }
    sfu__sampler_free(sampler);
}

static void test_replay_joint(void **state) {
    (void)state;
    replay(SFU__SAMPLER_TPE);
}

static void test_replay_independent(void **state) {
    (void)state;
    replay(SFU__SAMPLER_TPE_INDEPENDENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_densities),
        cmocka_unit_test(test_replay_joint),
        cmocka_unit_test(test_replay_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
