/* search_problems.h - five functions of known minimum on which samplers are compared, and a search of one of them in
 * waves, as a study asks: of w points that are out, half are asked for at a time.
 *
 * The trials [b, b + G), G = ceil(w/2), see the results of those before b - (w - G); those between are out. w is W, or
 * grows with the study up to W: b/ramp, at least 2; the first trials are random, and need no results.
 */
#ifndef SFU_SEARCH_PROBLEMS_H
#define SFU_SEARCH_PROBLEMS_H

#include "hand_made_space.h"
#include "random.h"
#include "sampler.h"
#include "truncated_normal.h"

#include <math.h>
#include <stdlib.h>

enum { PROBLEM_AXES = 6 };

typedef struct search_problem {
    const char *name;
    sfu__parameter_range items[PROBLEM_AXES];
    int count;
    double (*value)(const double *x); /* the true value minus the minimum */
    double noise;                     /* standard deviation of the observations */
} search_problem;

static inline double branin(const double *x) {
    const double pi = 3.14159265358979323846;
    const double b = x[1] - 5.1 / (4 * pi * pi) * x[0] * x[0] + 5 / pi * x[0] - 6;
    return b * b + 10 * (1 - 1 / (8 * pi)) * cos(x[0]) + 10 - 0.39788735772973816;
}

static inline double hartmann6(const double *x) {
    static const double alpha[4] = {1, 1.2, 3, 3.2};
    static const double A[4][6] = {
        {10, 3, 17, 3.5, 1.7, 8}, {.05, 10, 17, .1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, .05, 10, .1, 14}};
    static const double P[4][6] = {{.1312, .1696, .5569, .0124, .8283, .5886},
                                   {.2329, .4135, .8307, .3736, .1004, .9991},
                                   {.2348, .1451, .3522, .2883, .3047, .6650},
                                   {.4047, .8828, .8732, .5743, .1091, .0381}};
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double q = 0;
        for (int j = 0; j < 6; j++) {
            q += A[i][j] * (x[j] - P[i][j]) * (x[j] - P[i][j]);
        }
        sum += alpha[i] * exp(-q);
    }
    return 3.3223680114155 - sum;
}

/* Shifted from the centre of the box, where the prior is. */
static inline double ackley5(const double *x) {
    static const double at[5] = {3.1, -7.4, 11.2, -1.9, 5.5};
    const double pi = 3.14159265358979323846;
    double squares = 0, waves = 0;
    for (int j = 0; j < 5; j++) {
        squares += (x[j] - at[j]) * (x[j] - at[j]) / 5;
        waves += cos(2 * pi * (x[j] - at[j])) / 5;
    }
    return -20 * exp(-0.2 * sqrt(squares)) - exp(waves) + 20 + exp(1);
}

static inline double rosenbrock4(const double *x) {
    double sum = 0;
    for (int j = 0; j < 3; j++) {
        const double a = x[j + 1] - x[j] * x[j], b = 1 - x[j];
        sum += 100 * a * a + b * b;
    }
    return sum;
}

/* act, lr, width, layers, dropout */
static inline double mixed(const double *x) {
    static const double penalty[4] = {.10, .25, 0, .05};
    const double a = log10(x[1]) + 2.7, w = log2(x[2]) - 6.3, l = x[3] - 4, d = x[4] - .15;
    return .08 * a * a + .02 * w * w + .03 * a * w + .01 * l * l + 1.5 * d * d + penalty[(int)x[0]];
}

enum { PROBLEMS = 5 };

static inline search_problem problem_of(int i) {
    switch (i) {
    case 0:
        return (search_problem){"branin", {float_range("x1", -5, 10), float_range("x2", 0, 15)}, 2, branin, 0};
    case 1: {
        search_problem p = {.name = "hartmann6", .count = 6, .value = hartmann6};
        static const char *const names[] = {"x0", "x1", "x2", "x3", "x4", "x5"};
        for (int j = 0; j < 6; j++) {
            p.items[j] = float_range(names[j], 0, 1);
        }
        return p;
    }
    case 2:
    case 3: {
        search_problem p = {.name = i == 2 ? "ackley5" : "rosen4", .count = i == 2 ? 5 : 4};
        p.value = i == 2 ? ackley5 : rosenbrock4;
        static const char *const names[] = {"x0", "x1", "x2", "x3", "x4"};
        for (int j = 0; j < p.count; j++) {
            p.items[j] = i == 2 ? float_range(names[j], -32.768, 32.768) : float_range(names[j], -5, 10);
        }
        return p;
    }
    default:
        return (search_problem){"mixed",
                                {choice_range("act", 4), log_range("lr", 1e-5, 1e-1), log_int_range("width", 8, 512),
                                 int_range("layers", 1, 8), step_range("dropout", 0, .5, .05)},
                                5,
                                mixed,
                                .02};
    }
}

static inline double problem_draw(void *user, int stream) { return (void)stream, sfu__random_unit(user); }

/* Normal noise of trial n: the quantile of a uniform number. */
static inline double problem_noise(uint64_t seed, uint32_t n) {
    sfu__random random = sfu__random_start(seed, sfu__stream_of(SFU__STREAM_TRIAL, n));
    return sfu__truncated_normal_quantile(sfu__random_unit(&random), -10, 10);
}

/* Settings of a search. */
typedef struct search_way {
    sfu__sampler_kind kind;
    sfu__sampler_rules rules;
    int wave, ramp; /* ramp 0: all batches have the same size */
    bool liar;      /* the sampler is told the pending trials */
} search_way;

static inline int wave_size(const search_way *way, int b) {
    if (way->ramp == 0) {
        return way->wave;
    }
    const int w = b < way->rules.startup ? way->rules.startup : b / way->ramp > 2 ? b / way->ramp : 2;
    return w < way->wave ? w : way->wave;
}

/* The regret of the best (by its observation) of the first budgets[i] trials, budgets ascending; NaN if memory ran
 * out. */
static inline void search(double *regret, const int *budgets, int count, const search_problem *problem,
                          const search_way *way, uint64_t seed) {
    const int trials = budgets[count - 1], axes = problem->count;
    sfu__parameter_range items[PROBLEM_AXES];
    memcpy(items, problem->items, sizeof items);
    const sfu__space space = hand_made_space(items, axes);
    double *x = calloc((size_t)trials * (size_t)axes, sizeof *x), *seen = calloc((size_t)trials, sizeof *seen);
    double best = INFINITY, best_true = NAN;
    sfu__sampler *sampler = NULL;
    bool good = x != NULL && seen != NULL && sfu__sampler_new(&sampler, &space, way->kind, &way->rules) == SFU_OK;
    for (int n = 0, told = 0, i = 0, seen_before = 0, end = 0; good && n < trials; n++) {
        if (n == end) {
            const int w = wave_size(way, n), G = (w + 1) / 2;
            end = n + G;
            seen_before = n - (w - G);
        }
        for (; told < seen_before; told++) {
            good = good && sfu__sampler_tell(sampler, x + (size_t)told * (size_t)axes, seen[told]) == SFU_OK;
        }
        if (way->liar) {
            good = good && sfu__sampler_pending(sampler, x + (size_t)told * (size_t)axes, n - told) == SFU_OK;
        }
        sfu__random random = sfu__random_start(seed, sfu__stream_of(SFU__STREAM_SEARCH, (uint32_t)n));
        double *at = x + (size_t)n * (size_t)axes;
        good = good && sfu__sampler_ask(at, sampler, problem_draw, &random) == SFU_OK;
        const double value = problem->value(at);
        seen[n] = value + (problem->noise > 0 ? problem->noise * problem_noise(seed, (uint32_t)n) : 0);
        if (seen[n] < best) {
            best = seen[n];
            best_true = value;
        }
        if (n + 1 == budgets[i]) {
            regret[i++] = good ? best_true : NAN;
        }
    }
    sfu__sampler_free(sampler);
    free(seen);
    free(x);
}

#endif
