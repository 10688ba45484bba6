/* rank_scale.c - a training over ranks: what each computes, waits for and receives per epoch, and a model of more
 * ranks.
 *
 *   usage: mpirun -n RANKS scale DATASET [NET [HIDDEN [EPOCHS]]]
 *
 * The model: of p ranks each computes 1/p of what all of them computed here, and receives its halo at $NETWORK GB/s (10
 * unless set). Halos are counted in the graph. The bytes of a row of the halo per epoch are those of this run (with one
 * rank: as if each smoothing, forward and backward, had 1 KiB).
 */
#define _POSIX_C_SOURCE 200809L
#include "clock.h"
#include "rank_steps.h"
#include "trained.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 128 };

typedef struct division {
    double cut;   /* share of the edges between ranges */
    int64_t halo; /* most nodes of other ranges that are neighbours of one range */
} division;

/* Ranges of the nodes for so many ranks, as a training has them. */
static division divide(const sfu_dataset *dataset, int ranks) {
    const sfu_csr *graph = &dataset->graph;
    division found = {0, 0};
    int64_t cut = 0;
    int32_t *seen = sfu__alloc_zero((size_t)dataset->nodes, sizeof *seen);
    if (seen == NULL) {
        must(SFU_ERR_MEMORY);
        return found;
    }
    for (int r = 0; r < ranks; r++) {
        const int64_t begin = sfu__row_at(graph->indptr, dataset->nodes, (double)r / ranks);
        const int64_t end =
            r + 1 < ranks ? sfu__row_at(graph->indptr, dataset->nodes, (double)(r + 1) / ranks) : dataset->nodes;
        int64_t halo = 0;
        for (int64_t e = graph->indptr[begin]; e < graph->indptr[end]; e++) {
            const int32_t node = graph->indices[e];
            if (node < begin || node >= end) {
                cut++;
                halo += seen[node] != r + 1;
                seen[node] = r + 1;
            }
        }
        found.halo = halo > found.halo ? halo : found.halo;
    }
    sfu__free(seen);
    found.cut = (double)cut / (double)graph->indptr[dataset->nodes];
    return found;
}

/* Per epoch. */
typedef struct measured {
    float computing, waiting, received; /* seconds, seconds, MB; of the rank with most of each */
    float all;                          /* seconds of computing, of all ranks */
} measured;

static measured largest(const sfu__rank_group *ranks, float computing, float waiting, float received) {
    measured most = {computing, waiting, received, computing};
    if (ranks != NULL) {
        float all[MOST_RANKS][3];
        int64_t bounds[MOST_RANKS + 1];
        for (int r = 0; r <= ranks->count; r++) {
            bounds[r] = r;
        }
        memcpy(all[ranks->rank], (float[]){computing, waiting, received}, sizeof all[0]);
        ranks->mpi->gather(all[0], 3, bounds);
        most = (measured){0};
        for (int r = 0; r < ranks->count; r++) {
            most.computing = fmaxf(most.computing, all[r][0]);
            most.waiting = fmaxf(most.waiting, all[r][1]);
            most.received = fmaxf(most.received, all[r][2]);
            most.all += all[r][0];
        }
    }
    return most;
}

static measured run(trained *it, int epochs, const sfu__rank_group *ranks, double *seconds) {
    trained_step(it); /* the first is not measured */
    const sfu__rank_pass *pass = it->worker->passes[SFU_PASS_TRAIN].ranks;
    const double waited = pass != NULL ? pass->traffic.seconds : 0;
    const int64_t received = pass != NULL ? pass->traffic.received : 0;
    const double began = sfu__now();
    for (int i = 0; i < epochs; i++) {
        trained_step(it);
    }
    *seconds = (sfu__now() - began) / epochs;
    const double waiting = pass != NULL ? (pass->traffic.seconds - waited) / epochs : 0;
    const double bytes = pass != NULL ? (double)(pass->traffic.received - received) / epochs : 0;
    return largest(ranks, (float)(*seconds - waiting), (float)waiting, (float)(1e-6 * bytes));
}

static void print_model(const sfu_dataset *dataset, const measured *most, double bytes_per_row) {
    const char *given = getenv("NETWORK");
    const double network = given != NULL ? strtod(given, NULL) : 10;
    printf("model, %g GB/s: ranks  edge cut  rows of a halo  MB received  s per epoch  efficiency\n", network);
    for (int ranks = 2; ranks <= MOST_RANKS; ranks *= 2) {
        const division at = divide(dataset, ranks);
        const double bytes = bytes_per_row * (double)at.halo, computing = (double)most->all / ranks;
        const double seconds = computing + 1e-9 * bytes / network;
        printf("%22d %8.1f%% %15lld %12.1f %12.4f %10.0f%%\n", ranks, 100 * at.cut, (long long)at.halo, 1e-6 * bytes,
               seconds, 100 * computing / seconds);
    }
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: mpirun -n RANKS scale DATASET [NET [HIDDEN [EPOCHS]]]\n");
        return 2;
    }
    int rank = 0;
    const int count = sfu_ranks_launched() > 1 ? sfu_ranks_launched() : 1;
    if (count > 1) {
        must(sfu_ranks_join(0, &rank));
    }
    setting of;
    trained it;
    double seconds;
    setting_open(&of, argv[1], "holdout:0", NULL); /* 80 % of the nodes are trained on */
    trained_start(&it, &of, argc > 2 ? argv[2] : "gcn", argc > 3 ? (int)strtol(argv[3], NULL, 10) : 64, SFU_PASS_TRAIN,
                  NULL);
    const int epochs = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 5;
    const measured most = run(&it, epochs, sfu__ranks_here(), &seconds);
    const division at = divide(of.dataset, count);
    if (rank == 0) {
        printf("ranks %d: %d nodes, %lld entries, edge cut %.1f %%, halo %lld rows; s per epoch %.4f, computing %.4f, "
               "waiting %.4f, MB received %.1f, core-seconds %.3f\n",
               count, of.dataset->nodes, (long long)of.dataset->graph.indptr[of.dataset->nodes], 100 * at.cut,
               (long long)at.halo, seconds, most.computing, most.waiting, most.received, count * seconds);
        print_model(of.dataset, &most, at.halo > 0 ? 1e6 * most.received / (double)at.halo : 4096);
    }
    trained_stop(&it);
    setting_close(&of);
    int code = 0;
    return sfu_ranks_leave(&code, 60) ? code : 1;
}
