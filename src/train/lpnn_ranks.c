/* lpnn_ranks.c - LPNN on several ranks (rank_group.h).
 *
 * A rank computes a range of the blocks of rows, as a thread does. It then gets from the others f, of which S f needs
 * the rows of the neighbours, and the blocks' parts of the gradients, which every rank adds itself. The gradient of the
 * weights that multiply the features is one sum over all rows, whose accumulation chains cross the ranks: it goes from
 * rank to rank (rank_relay.h), unfinished (sfu__carry_ld). Adam's moments of f stay with the rank that has its rows.
 * Each number is computed as by one process.
 */
#include "lpnn_int.h"
#include "rank_relay.h"

#include "clock.h"

#include <string.h>

/* Items of `size` bytes; executor->bounds has those of each rank. */
static void gather(sfu__lpnn_executor *executor, void *items, int64_t size) {
    const sfu__rank_group *ranks = executor->ranks;
    const int64_t *bounds = executor->bounds;
    const double start = sfu__now();
    ranks->mpi->gather(items, (int32_t)(size / (int64_t)sizeof(float)), bounds);
    const int64_t own = bounds[ranks->rank + 1] - bounds[ranks->rank];
    executor->traffic.received += (bounds[ranks->count] - own) * size;
    executor->traffic.seconds += sfu__now() - start;
}

static void gather_rows(sfu__lpnn_executor *executor, const sfu__dense *A) {
    const int ranks = executor->ranks->count;
    for (int r = 0; r <= ranks; r++) {
        executor->bounds[r] = sfu__lpnn_first_row(A->rows, r, ranks);
    }
    gather(executor, A->data, A->ld * (int64_t)sizeof *A->data);
}

/* One item of `size` bytes for each block of `rows` rows. */
static void gather_blocks(sfu__lpnn_executor *executor, void *items, int64_t rows, int64_t size) {
    const int ranks = executor->ranks->count;
    for (int r = 0; r <= ranks; r++) {
        executor->bounds[r] = sfu__block_count(rows) * r / ranks;
    }
    if (items != NULL) {
        gather(executor, items, size);
    }
}

void sfu__lpnn_exchange_blocks(sfu__lpnn_executor *executor) {
    const sfu__lpnn_step *step = &executor->step;
    const int64_t nodes = executor->nodes, real = sizeof(float);
    if (executor->ranks == NULL) {
        return;
    }
    const sfu__dense f = sfu__lpnn_view(executor->theta, executor->f);
    gather_rows(executor, &f);
    gather_blocks(executor, step->losses, nodes, sizeof *step->losses);
    for (int i = 0; i < SFU__LPNN_LAYERS; i++) {
        const sfu__parameter *weight = executor->weight[i];
        const int64_t rows = i > 0 ? weight->rows : executor->classes;
        gather_blocks(executor, step->weight_parts[i], nodes, rows * weight->ld * real);
        if (executor->bias[i] != NULL) {
            gather_blocks(executor, step->bias_parts[i], nodes, executor->bias[i]->ld * real);
        }
    }
}

/* ---- the gradient of the weights that multiply the features ------------------------------------------------------ */

typedef struct terms {
    const sfu__lpnn_executor *executor;
    const sfu__sparse *xt;
    bool first; /* no rank before this one has terms */
} terms;

static void add_terms(void *context, sfu__range features, int thread) {
    const terms *own = context;
    const sfu__lpnn_executor *executor = own->executor;
    const sfu__dense *dh = &executor->step.dh[0];
    const int64_t ld = sfu__carry_ld(dh->ld);
    if (own->first) {
        memset(executor->carry + features.begin * ld, 0,
               (size_t)((features.end - features.begin) * ld) * sizeof *executor->carry);
    }
    executor->backend->spmm_part(executor->carry, own->xt, dh, features);
    if (thread == 0) {
        executor->ranks->mpi->send_poll();
    }
}

/* The nearest rank after this one (step 1) or before it (-1) that has rows; -1: there is none. */
static int neighbour_of(const sfu__lpnn_executor *executor, int step) {
    const sfu__rank_group *ranks = executor->ranks;
    int rank = ranks->rank + step;
    while (rank >= 0 && rank < ranks->count &&
           sfu__lpnn_first_row(executor->nodes, rank, ranks->count) ==
               sfu__lpnn_first_row(executor->nodes, rank + 1, ranks->count)) {
        rank += step;
    }
    return rank < ranks->count ? rank : -1;
}

void sfu__lpnn_relay_weights(sfu__lpnn_executor *executor, const sfu__sparse *xt, int thread) {
    const sfu__dense dw = sfu__lpnn_rows_of_x(executor, executor->gradient);
    const sfu__range own = sfu__lpnn_own_rows(executor, executor->nodes);
    const int threads = sfu__team_size(executor->team), before = neighbour_of(executor, -1);
    terms mine = {executor, xt, before < 0};
    const sfu__relay relay = {.ranks = executor->ranks,
                              .before = before,
                              .after = neighbour_of(executor, 1),
                              .adds = own.begin < own.end,
                              .sum = executor->carry,
                              .rows = executor->features,
                              .ld = sfu__carry_ld(dw.ld),
                              .indptr = executor->step.xt.prepared->indptr,
                              .add = add_terms,
                              .context = &mine};
    sfu__relay_run(&relay, executor->team, thread, threads, &executor->traffic);
    if (thread == 0) {
        if (relay.adds && relay.after < 0) {
            executor->backend->spmm_finish(&dw, executor->carry, (sfu__range){0, dw.rows});
        }
        const int last = executor->ranks->count - 1; /* the last block is in the last range */
        sfu__relay_share(executor->ranks, last, &dw, &executor->traffic);
    }
    sfu__team_barrier(executor->team);
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

void sfu__lpnn_exchange_pass(sfu__lpnn_executor *executor, sfu_pass which) {
    const sfu__lpnn_pass *pass = &executor->passes[which];
    if (executor->ranks == NULL) {
        return;
    }
    if (pass->pick.prepared != NULL) {
        gather_rows(executor, &pass->f);
    }
    for (int i = SFU__LPNN_LAYERS - 2; i < SFU__LPNN_LAYERS && pass->runs_g; i++) {
        gather_rows(executor, &pass->h[i]);
    }
    gather_blocks(executor, pass->scores, pass->count, sizeof *pass->scores);
}

sfu__rank_traffic sfu__lpnn_traffic(const sfu__lpnn_executor *executor) { return executor->traffic; }
