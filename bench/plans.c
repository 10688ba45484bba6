/* plans.c - what it costs that plans are chosen by fixed rates: for each network and dataset every way that the planner
 * can choose among, timed whole on this machine, and the one that it chose beside the fastest.
 *
 *   usage: plans [--all] [DATASET...]
 *
 * --all prints every way, with what the nominal rates and this machine's (sfumato bench) predict.
 */
#define _POSIX_C_SOURCE 200809L
#include "rates.h"
#include "timing.h"
#include "trained.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CLOSE = 8, ROUNDS = 40 };
#define HOPELESS 1.25 /* what takes so many times as long as the chosen one is not looked at again */

/* One way through a pass. */
typedef struct entry {
    trained it;
    int64_t calls; /* of a try */
    double seconds;
    int strategies[SFU__SEGMENTS];
    char text[160];
} entry;

static void (*const passes[])(void *) = {trained_step, trained_validate};

/* ---- strategies as text ---- */

/* The run from the features, or one further on. */
static void describe_run(char *text, size_t size, const sfu__strategy *way, bool features) {
    if (features) {
        snprintf(text, size, "S^%d X %s%s", way->fold, way->sparse ? "sparse" : "dense",
                 way->collapse ? ", the rest one matrix" : "");
    } else {
        const bool ordered = way->why_product[0] != '\0', smooths = way->why_smooth[0] != '\0';
        snprintf(text, size, "%s%s%s",
                 !ordered             ? ""
                 : way->weights_first ? "S (H W)"
                                      : "(S H) W",
                 ordered && smooths ? ", " : "",
                 !smooths        ? ""
                 : way->collapse ? "one matrix"
                                 : "one after the other");
    }
}

static void describe(char text[160], const sfu__pass *pass) {
    size_t used = 0;
    text[0] = '\0';
    for (int run = 0; run < pass->segment_count && run < SFU__SEGMENTS; run++) {
        const sfu__strategy *way = &pass->segments[run];
        if (way->strategies > 1) {
            char one[64];
            describe_run(one, sizeof one, way, run == 0);
            used += (size_t)snprintf(text + used, 160 - used, "%s%s", used > 0 ? "; " : "", one);
        }
    }
}

/* ---- one pass ---- */

/* The next combination of the strategies of all runs; false after the last. */
static bool next_ways(int *strategies, const sfu__pass *pass) {
    for (int run = 0; run < pass->segment_count && run < SFU__SEGMENTS; run++) {
        if (++strategies[run] <= pass->segments[run].strategies) {
            return true;
        }
        strategies[run] = 1;
    }
    return false;
}

static double predicted(const sfu__pass *pass, const sfu__measured *measured) {
    double sum = 0.0;
    for (size_t i = 0; i < pass->step_count; i++) {
        sum += pass->steps[i].kernel != SFU__KERNEL_CROSS_ENTROPY
                   ? sfu__predicted_seconds(&pass->steps[i].work, measured)
                   : 0.0;
    }
    return sum;
}

static bool show_all;

static void show(const entry *at, int pass, bool chosen) {
    sfu__measured here;
    const bool measured = sfu__measured_load_here(&here);
    const sfu__pass *of = &at->it.plan->passes[pass];
    printf("  %s %-10s %8.1f us, nominal %8.1f, here %8.1f  %s\n", chosen ? "*" : " ",
           pass == 0 ? "training" : "validation", 1e6 * at->seconds, 1e6 * predicted(of, NULL),
           1e6 * predicted(of, measured ? &here : NULL), at->text);
}

static void time_entry(entry *at, int pass, int tries) {
    for (int i = 0; i < tries; i++) {
        const double took = seconds_for(passes[pass], &at->it, at->calls) / (double)at->calls;
        at->seconds = took < at->seconds ? took : at->seconds;
    }
}

static void start_entry(entry *at, const setting *of, const char *net, int32_t hidden, int pass) {
    trained_start(&at->it, of, net, hidden, (sfu_pass)pass, at->strategies);
    describe(at->text, &at->it.plan->passes[pass]);
    at->calls = calls_of_a_try(passes[pass], &at->it);
    at->seconds = INFINITY;
    time_entry(at, pass, show_all ? 20 : 3);
    if (show_all) {
        show(at, pass, at->strategies[0] == 0);
    }
}

/* The chosen one is entries[0]; those that come near it follow. Returns how many. */
static int start_entries(entry entries[CLOSE], const setting *of, const char *net, int32_t hidden, int pass) {
    int count = 1;
    entries[0] = (entry){0};
    start_entry(&entries[0], of, net, hidden, pass);
    const sfu__pass *chosen = &entries[0].it.plan->passes[pass];
    int strategies[SFU__SEGMENTS] = {1, 1, 1, 1};
    do {
        entry *at = &entries[count];
        bool same = true;
        *at = (entry){0};
        for (int run = 0; run < chosen->segment_count && run < SFU__SEGMENTS; run++) {
            at->strategies[run] = strategies[run];
            same = same && strategies[run] == chosen->segments[run].number;
        }
        if (!same) {
            start_entry(at, of, net, hidden, pass);
            if (at->seconds < HOPELESS * entries[0].seconds && count < CLOSE - 1) {
                count++;
            } else {
                trained_stop(&at->it);
            }
        }
    } while (next_ways(strategies, chosen));
    return count;
}

/* Seconds of the chosen way and of the fastest, and what that is. */
static void time_pass(double seconds[2], char fastest[160], const setting *of, const char *net, int32_t hidden,
                      int pass) {
    entry entries[CLOSE];
    const int count = start_entries(entries, of, net, hidden, pass);
    int best = 0;
    for (int round = 0; round < ROUNDS; round++) { /* in turns, so that all see the same machine */
        for (int i = 0; i < count; i++) {
            time_entry(&entries[i], pass, 1);
        }
    }
    for (int i = 0; i < count; i++) {
        best = entries[i].seconds < entries[best].seconds ? i : best;
    }
    seconds[0] = entries[0].seconds;
    seconds[1] = entries[best].seconds;
    if (best == 0) {
        snprintf(fastest, 160, "-");
    } else {
        snprintf(fastest, 160, "%.70s, not %.70s", entries[best].text, entries[0].text);
    }
    for (int i = 0; i < count; i++) {
        trained_stop(&entries[i].it);
    }
}

/* ---- all of them ---- */

static void time_net(const setting *of, const char *dataset, const char *net, int32_t hidden, bool shown) {
    double seconds[2][2];
    char fastest[2][160];
    for (int pass = 0; pass < 2; pass++) {
        time_pass(seconds[pass], fastest[pass], of, net, hidden, pass);
    }
    char width[16] = "";
    if (shown) {
        snprintf(width, sizeof width, "%d", (int)hidden);
    }
    const double chosen = seconds[0][0] + seconds[1][0], best = seconds[0][1] + seconds[1][1];
    printf("| %s | %s | %s | %.1f | %.1f | %.2f | %.2f | %.2f | %s | %s |\n", dataset, net, width, 1e6 * seconds[0][0],
           1e6 * seconds[1][0], seconds[0][0] / seconds[0][1], seconds[1][0] / seconds[1][1], chosen / best, fastest[0],
           fastest[1]);
    (void)fflush(stdout);
}

int main(int argc, char **argv) {
    static const char *const usual[] = {"cora", "citeseer", "pubmed", "acm", "dblp"};
    static const struct {
        const char *name;
        bool hidden;
    } nets[] = {{"gcn", true},    {"sgcn", false},      {"fp+mlp", true}, {"sgcn+lp", false},
                {"gcn+lp", true}, {"linear+lp", false}, {"mlp+lp", true}};
    static const int32_t widths[] = {16, 64, 128};
    show_all = argc > 1 && strcmp(argv[1], "--all") == 0;
    argc -= show_all ? 1 : 0;
    argv += show_all ? 1 : 0;
    const int count = argc > 1 ? argc - 1 : 5;
    const uint64_t before = sfu__float_guard();
    printf("| dataset | network | hidden | training us | validation us | / fastest | / fastest | epoch / fastest "
           "| fastest training | fastest validation |\n"
           "|---|---|---:|---:|---:|---:|---:|---:|---|---|\n");
    for (int i = 0; i < count; i++) {
        const char *dataset = argc > 1 ? argv[i + 1] : usual[i];
        setting of;
        setting_open(&of, dataset, NULL, NULL);
        for (size_t n = 0; n < sizeof nets / sizeof nets[0]; n++) {
            for (int w = 0; w < (nets[n].hidden ? 3 : 1); w++) {
                time_net(&of, dataset, nets[n].name, nets[n].hidden ? widths[w] : 64, nets[n].hidden);
            }
        }
        setting_close(&of);
    }
    sfu__float_restore(before);
    return 0;
}
