/* lpnn_ranks.c - LPNN on several ranks (rank_group.h).
 *
 * A rank computes a range of the blocks of rows, as a thread does, and a range of the features in the gradient of the
 * weights that multiply them. It then gets the rows of the others: dh0, of which every feature needs all rows; f, of
 * which S f needs those of the neighbours; and the blocks' parts of the other gradients, which every rank adds itself.
 * Adam's moments stay with the rank that computed the gradient. Each number is computed as by one process.
 */
#include "lpnn_int.h"

#include "clock.h"

static int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }

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
        const int64_t block = sfu__block_count(A->rows) * r / ranks;
        executor->bounds[r] = min_of(block * sfu__block_rows(A->rows), A->rows);
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
    gather_rows(executor, &step->dh[0]);
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

void sfu__lpnn_exchange_weights(sfu__lpnn_executor *executor) {
    const sfu__rank_group *ranks = executor->ranks;
    if (ranks == NULL) {
        return;
    }
    const sfu__dense w = sfu__lpnn_rows_of_x(executor, executor->theta);
    const sfu__prepared *xt = executor->step.xt.prepared;
    for (int r = 0; r <= ranks->count; r++) {
        executor->bounds[r] = sfu__row_at(xt->indptr, xt->rows, (double)r / ranks->count);
    }
    gather(executor, w.data, w.ld * (int64_t)sizeof *w.data);
}

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
