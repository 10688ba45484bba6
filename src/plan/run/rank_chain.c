/* rank_chain.c - the gradient of the weights of sparse features, F^T dZ, among ranks.
 *
 * It is a sum over blocks of rows in their order (lower_backward.c), and a rank has only its rows of F. So the sum goes
 * from rank to rank (rank_relay.h). Additions are those of one process, and no rank needs the columns of F or all of
 * dZ.
 */
#include "rank_relay.h"
#include "rank_steps.h"

typedef struct parts {
    sfu__executor *executor;
    sfu_pass kind;
    const sfu__rank_chain *chain;
} parts;

/* The same features in each step, which add to what the steps before have written. */
static void add_own(void *context, sfu__range features, int thread) {
    const parts *own = context;
    const sfu__bound_pass *at = &own->executor->passes[own->kind];
    for (size_t i = own->chain->first; i < own->chain->end; i++) {
        sfu__run_range(own->executor, own->kind, &at->steps[i], features, thread);
        if (thread == 0) {
            own->executor->plan->ranks->mpi->send_poll();
        }
    }
}

/* Threads divide the features by the entries of the first step. */
void sfu__rank_chain_run(sfu__executor *self, sfu_pass kind, size_t step, int thread) {
    const sfu__bound_pass *at = &self->passes[kind];
    const sfu__rank_chain *chain = at->ranks->steps[step].chain;
    const sfu__dense dW = sfu__executor_matrix(self, &chain->at);
    const sfu__block *blocks = self->plan->passes[kind].blocks;
    const bool adds = chain->end > 0;
    parts own = {self, kind, chain};
    const sfu__relay relay = {.ranks = self->plan->ranks,
                              .before = chain->before,
                              .after = chain->after,
                              .adds = adds,
                              .sum = dW.data,
                              .rows = dW.rows,
                              .ld = dW.ld,
                              .indptr = adds ? blocks[at->steps[chain->first].step->block].matrix->indptr : NULL,
                              .add = add_own,
                              .context = &own};
    sfu__team_barrier(self->team); /* dZ is written */
    if (thread == 0) {
        sfu__rank_fetch(at->ranks, self, step);
    }
    sfu__relay_run(&relay, self->team, thread, self->threads, &at->ranks->traffic);
    if (thread == 0) {
        sfu__relay_share(self->plan->ranks, chain->last, &dW, &at->ranks->traffic);
    }
    sfu__team_barrier(self->team);
}
