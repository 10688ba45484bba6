/* Hyperparameter importance against Optuna's own evaluator, whose numbers importance_golden.py prints. */
#include "support.h"

#include "importance.h"

#include <math.h>
#include <string.h>

enum { PARAMETERS = 8, ACT = 5 };

/* ---- studies, made as in importance_golden.py ------------------------------------------------------------------- */

static sfu__parameter_range parameters[PARAMETERS] = {
    {(char[]){"x"}, {.kind = SFU__RANGE_FLOAT, .low = -5, .high = 10}, 0},
    {(char[]){"lr"}, {.kind = SFU__RANGE_FLOAT, .low = 1e-5, .high = 0.1, .log = true}, 0},
    {(char[]){"layers"}, {.kind = SFU__RANGE_INT, .low = 1, .high = 9, .step = 1}, 0},
    {(char[]){"units"}, {.kind = SFU__RANGE_INT, .low = 8, .high = 64, .step = 8}, 0},
    {(char[]){"width"}, {.kind = SFU__RANGE_INT, .low = 8, .high = 512, .step = 1, .log = true}, 0},
    {(char[]){"act"}, {.kind = SFU__RANGE_CHOICE, .low = 0, .high = 2, .count = 3}, 0},
    {(char[]){"fixed"}, {.kind = SFU__RANGE_INT, .low = 3, .high = 3, .step = 1}, 0},
    {(char[]){"many"}, {.kind = SFU__RANGE_INT, .low = 0, .high = 1000, .step = 1}, 0},
};
static const sfu__space space = {.items = parameters, .count = PARAMETERS};

/* Which parameters each choice of act uses in a conditional study, as bits. */
static const unsigned has[] = {0xff, 0x63, 0xad};

static double unit(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double value_of(const sfu__domain *range, double u) {
    if (range->kind == SFU__RANGE_CHOICE) {
        return floor(u * range->count);
    }
    u = range->log ? u * u * u * u : u;
    return range->kind == SFU__RANGE_INT
               ? range->low + range->step * floor(u * (floor((range->high - range->low) / range->step) + 1))
               : range->low + (range->high - range->low) * u;
}

static sfu_status add_trial(sfu__trials *trials, uint64_t *state, int levels, bool conditional) {
    sfu__trial *trial = sfu__trials_add(trials);
    if (trial == NULL) {
        return SFU_ERR_MEMORY;
    }
    double units[PARAMETERS], loss = 0;
    for (int i = 0; i < PARAMETERS; i++) {
        units[i] = unit(state);
    }
    const int act = (int)value_of(&parameters[ACT].range, units[ACT]);
    for (int i = 0; i < PARAMETERS; i++) {
        if (!conditional || (has[act] >> i & 1)) {
            trial->values[i] = value_of(&parameters[i].range, units[i]);
            loss += (units[i] - 0.3) * (units[i] - 0.3) * (i % 4 + 1);
        }
    }
    const double accuracy = (20 - loss + unit(state)) / 32;
    trial->state = SFU__TRIAL_COMPLETE;
    trial->outcome.val_score = levels > 0 ? floor(accuracy * levels) / levels : accuracy;
    return SFU_OK;
}

static sfu_status make_study(sfu__trials *trials, uint64_t seed, int count, int levels, bool conditional) {
    sfu_status status = SFU_OK;
    uint64_t state = seed;
    for (int i = 0; i < count && status == SFU_OK; i++) {
        status = add_trial(trials, &state, levels, conditional);
    }
    return status;
}

/* ---- right results ----------------------------------------------------------------------------------------------- */

/* seed, trials, levels (maximum number of different accuracies; 0: any), conditional. */
static const struct golden {
    uint64_t seed;
    int trials, levels;
    bool conditional;
    double importance[PARAMETERS];
} golden[] = {
    {1,
     7,
     0,
     false,
     {0.196764891024, 0.318015987298, 0.0480825602039, 0.0370583132551, 0.0502632992931, 0.00416901175498, 0,
      0.345645937171}},
    {2,
     60,
     0,
     false,
     {0.0814935335558, 0.177820566704, 0.131375511331, 0.0940095969591, 0.0311764552489, 0.094804932391, 0,
      0.389319403811}},
    {3,
     300,
     0,
     false,
     {0.0200315196748, 0.179442620299, 0.202578806843, 0.164740571099, 0.0631370760774, 0.0570312531025, 0,
      0.313038152904}},
    {4,
     400,
     64,
     false,
     {0.0158849503192, 0.171236940589, 0.12847130751, 0.24982441474, 0.0452884898998, 0.0586539400189, 0,
      0.330639956923}},
    {5,
     500,
     0,
     true,
     {0.182229464032, 0.36216153005, 0.00422334289688, 0.0258613813684, 0.00640177932993, 0.403165242132, 0,
      0.015957260191}},
    {6,
     40,
     32,
     true,
     {0.0944166083379, 0.146131990287, 0.0590025544992, 0.0697260898864, 0.098108435877, 0.112268078136, 0,
      0.420346242976}},
    {7,
     2000,
     0,
     true,
     {0.0761954494093, 0.446790519256, 0.0123729978359, 0.0147044333651, 0.00646078932828, 0.421683233887, 0,
      0.0217925769184}},
    {8,
     2,
     0,
     false,
     {0.423268499595, 0.00932732350049, 0.00690407657918, 0.0294772620108, 0.00799641965355, 0.00509633822965, 0,
      0.517930080431}},
};

static void as_optuna_has_it(void **state) {
    (void)state;
    for (size_t g = 0; g < sizeof golden / sizeof golden[0]; g++) {
        const struct golden *want = &golden[g];
        sfu__trials trials = {.parameters = PARAMETERS};
        double got[PARAMETERS], sum = 0;
        assert_ok(make_study(&trials, want->seed, want->trials, want->levels, want->conditional));
        assert_ok(sfu__importance(got, &space, &trials));
        for (int i = 0; i < PARAMETERS; i++) {
            if (!(fabs(got[i] - want->importance[i]) <= 1e-10)) {
                fail_msg("study %d: %s has %.12g, Optuna %.12g", (int)want->seed, parameters[i].name, got[i],
                         want->importance[i]);
            }
            sum += got[i];
        }
        assert_true(fabs(sum - 1) < 1e-12);
        sfu__trials_clear(&trials);
    }
}

/* ---- undefined importance ---------------------------------------------------------------------------------------- */

static void assert_nothing_told(const sfu__trials *trials) {
    double got[PARAMETERS];
    assert_ok(sfu__importance(got, &space, trials));
    for (int i = 0; i < PARAMETERS; i++) {
        assert_true(got[i] == 0);
    }
}

static void too_few_or_all_alike(void **state) {
    (void)state;
    sfu__trials trials = {.parameters = PARAMETERS};
    assert_nothing_told(&trials);
    assert_ok(make_study(&trials, 1, 1, 0, false));
    assert_nothing_told(&trials);
    assert_ok(make_study(&trials, 2, 30, 0, false));
    for (int32_t i = 0; i < trials.count; i++) {
        trials.items[i].outcome.val_score = 0.5;
    }
    assert_nothing_told(&trials);
    sfu__trials_clear(&trials);
}

/* Failed, waiting and running trials and those without accuracy are ignored. */
static void only_complete_trials_count(void **state) {
    (void)state;
    static const sfu__trial_state others[] = {SFU__TRIAL_FAIL, SFU__TRIAL_WAITING, SFU__TRIAL_RUNNING,
                                              SFU__TRIAL_PRUNED};
    sfu__trials trials = {.parameters = PARAMETERS};
    double alone[PARAMETERS], among[PARAMETERS];
    assert_ok(make_study(&trials, 3, 100, 0, false));
    assert_ok(sfu__importance(alone, &space, &trials));
    assert_ok(make_study(&trials, 9, 40, 0, true));
    for (int32_t i = 100; i < trials.count; i++) {
        trials.items[i].state = others[i % 4];
        if (i % 4 == 0) {
            trials.items[i].state = SFU__TRIAL_COMPLETE;
            trials.items[i].outcome.val_score = NAN;
        }
    }
    assert_ok(sfu__importance(among, &space, &trials));
    assert_memory_equal(alone, among, sizeof alone);
    sfu__trials_clear(&trials);
}

/* One trial gives no information about a parameter that only it has. */
static void a_parameter_that_one_trial_has(void **state) {
    (void)state;
    sfu__trials trials = {.parameters = PARAMETERS};
    double got[PARAMETERS];
    assert_ok(make_study(&trials, 4, 50, 0, false));
    for (int32_t i = 1; i < trials.count; i++) {
        trials.items[i].values[0] = NAN;
    }
    assert_ok(sfu__importance(got, &space, &trials));
    assert_true(got[0] == 0 && got[1] > 0);
    sfu__trials_clear(&trials);
}

static sfu_status whole(void *context) {
    (void)context;
    sfu__trials trials = {.parameters = PARAMETERS};
    double got[PARAMETERS];
    sfu_status status = make_study(&trials, 5, 20, 0, true);
    if (status == SFU_OK) {
        status = sfu__importance(got, &space, &trials);
    }
    sfu__trials_clear(&trials);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    test_fail_each_allocation(whole, NULL, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_optuna_has_it),           cmocka_unit_test(too_few_or_all_alike),
        cmocka_unit_test(only_complete_trials_count), cmocka_unit_test(a_parameter_that_one_trial_has),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
