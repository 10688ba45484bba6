/* suggestions.c - what a suggestion costs, and what asking in waves costs.
 *
 *   suggestions          ms a suggestion (telling and asking) at 100, 500 and 2000 trials, and a digest of all of
 *                        them, which is the same on every machine
 *   suggestions waves    median regret over 30 seeds of five functions by the size of the wave
 */
#include "digest.h"
#include "mixture.h"
#include "search_problems.h"

#include <stdio.h>
#include <time.h>

typedef struct bench_space {
    const char *name;
    sfu__parameter_range items[5];
} bench_space;

/* Of this processor: others use the machine too. */
static double seconds(void) {
    struct timespec t = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int count) {
    qsort(x, (size_t)count, sizeof *x, by_size);
    return count % 2 != 0 ? x[count / 2] : 0.5 * (x[count / 2 - 1] + x[count / 2]);
}

static double mean(const double *x, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += x[i];
    }
    return sum / count;
}

static double far_from_middle(const double *x, const sfu__space *space) {
    double sum = 0;
    for (int j = 0; j < space->count; j++) {
        const double t = (x[j] - space->items[j].range.low) / (space->items[j].range.high - space->items[j].range.low);
        sum += (t - 0.3) * (t - 0.3);
    }
    return sum;
}

/* The mean of asking, and of telling what was learnt since, around a number of trials. */
static void suggest(const bench_space *b, sfu__sampler_kind kind, int wave) {
    enum { LAST = 2025, WINDOW = 48 };
    static const int at[] = {100, 500, 2000};
    static double ms[LAST + 1], points[LAST + 1][5];
    const int G = (wave + 1) / 2;
    sfu__parameter_range items[5];
    memcpy(items, b->items, sizeof items);
    const sfu__space space = hand_made_space(items, 5);
    const sfu__sampler_rules rules = sfu__sampler_rules_default();
    sfu__sampler *sampler = NULL;
    bool good = sfu__sampler_new(&sampler, &space, kind, &rules) == SFU_OK;
    for (int n = 0, told = 0; good && n <= LAST; n++) {
        sfu__random random = sfu__random_start(1, sfu__stream_of(SFU__STREAM_SEARCH, (uint32_t)n));
        double *x = points[n];
        const double start = seconds();
        for (; told < n - n % G - (wave - G); told++) {
            good = good && sfu__sampler_tell(sampler, points[told], far_from_middle(points[told], &space)) == SFU_OK;
        }
        good = good && sfu__sampler_pending(sampler, points[told], n - told) == SFU_OK;
        good = good && sfu__sampler_ask(x, sampler, problem_draw, &random) == SFU_OK;
        ms[n] = 1e3 * (seconds() - start);
    }
    printf("%-30s %-16s wave %2d ", b->name, sfu__sampler_name((int)kind), wave);
    for (int i = 0; i < 3; i++) {
        printf(" %9.3f", good ? mean(ms + at[i] - WINDOW / 2, WINDOW) : NAN);
    }
    char digest[SFU__DIGEST_TEXT] = "";
    printf("   %.12s\n", good && sfu__digest_of(digest, points, sizeof points) == SFU_OK ? digest : "failed");
    sfu__sampler_free(sampler);
}

static void suggestions(void) {
    const bench_space spaces[] = {
        {"4 floats, 1 choice",
         {float_range("a", 0, 1), float_range("b", 0, 1), log_range("c", 1e-4, 1), float_range("d", 0, 1),
          choice_range("e", 5)}},
        {"3 floats, 1 integer, 1 choice",
         {float_range("a", 0, 1), float_range("b", 0, 1), log_range("c", 1e-4, 1), int_range("d", 1, 8),
          choice_range("e", 5)}},
        {"4 floats, 1 wide integer",
         {float_range("a", 0, 1), float_range("b", 0, 1), log_range("c", 1e-4, 1), float_range("d", 0, 1),
          log_int_range("e", 8, 1024)}},
    };
    printf("%s\n", sfu__mixture_best()->name);
    printf("%-30s %-16s %-8s %9s %9s %9s   ms a suggestion at this many trials, digest\n", "", "", "", "100", "500",
           "2000");
    for (int i = 0; i < 3; i++) {
        suggest(&spaces[i], SFU__SAMPLER_TPE, 1);
        suggest(&spaces[i], SFU__SAMPLER_TPE, 32);
        suggest(&spaces[i], SFU__SAMPLER_TPE_INDEPENDENT, 1);
    }
}

enum { SEEDS = 30, BUDGETS = 3 };

/* One line: the median regrets of a way of searching. */
static void wave_line(const search_problem *problem, const search_way *way) {
    static const int budgets[BUDGETS] = {100, 300, 1000};
    double regret[BUDGETS][SEEDS];
    for (int seed = 0; seed < SEEDS; seed++) {
        double one[BUDGETS] = {0};
        search(one, budgets, BUDGETS, problem, way, (uint64_t)seed);
        for (int b = 0; b < BUDGETS; b++) {
            regret[b][seed] = one[b];
        }
    }
    printf("%-10s wave %3d ramp %d %-8s", problem->name, way->wave, way->ramp, way->liar ? "" : "no liar");
    for (int b = 0; b < BUDGETS; b++) {
        printf(" %10.4g", median(regret[b], SEEDS));
    }
    printf("\n");
    fflush(stdout);
}

static void waves(void) {
    static const int sizes[] = {1, 2, 8, 16, 32, 64, 128}, ramps[] = {0, 4, 8};
    for (int i = 0; i < PROBLEMS * 3; i++) {
        const search_problem problem = problem_of(i / 3);
        const int ramp = ramps[i % 3];
        for (size_t w = ramp > 0 ? 3 : 0; w < sizeof sizes / sizeof sizes[0]; w++) {
            for (int liar = sizes[w] > 1 ? 0 : 1; liar < 2; liar++) {
                const search_way way = {SFU__SAMPLER_TPE, sfu__sampler_rules_default(), sizes[w], ramp, liar != 0};
                wave_line(&problem, &way);
            }
        }
    }
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "waves") == 0) {
        waves();
    } else {
        suggestions();
    }
    return 0;
}
