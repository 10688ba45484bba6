/* rank_chain.c - the gradient of the weights of sparse features, F^T dZ, among ranks.
 *
 * It is a sum over blocks of rows in their order (lower_backward.c), and a rank has only its rows of F. So the sum goes
 * from rank to rank, a slice of the features at a time: while a rank adds its blocks to a slice, those before it work
 * on the next ones. Additions are those of one process, and no rank needs the columns of F or all of dZ.
 */
#include "rank_steps.h"
#include "clock.h"

static sfu__range slice_of(const sfu__rank_chain *chain, int32_t slice) {
    const int64_t features = chain->at.rows;
    return (sfu__range){features * slice / chain->slices, features * (slice + 1) / chain->slices};
}

static int64_t bytes_of(const sfu__dense *dW, sfu__range features) {
    return (features.end - features.begin) * dW->ld * (int64_t)sizeof(float);
}

/* What this thread has of a slice: the same features in each step, which add to what the steps before have written.
 * They are divided by the work of the first one. */
static sfu__range share_of(const sfu__executor *self, const sfu__plan_step *step, const sfu__pass *pass,
                           sfu__range slice, int thread) {
    const int64_t *indptr = pass->blocks[step->block].matrix->indptr + slice.begin, count = slice.end - slice.begin;
    const int threads = self->threads;
    const int64_t begin = sfu__row_at(indptr, count, (double)thread / threads);
    const int64_t end = thread + 1 == threads ? count : sfu__row_at(indptr, count, (double)(thread + 1) / threads);
    return (sfu__range){slice.begin + begin, slice.begin + end};
}

static void add_own(sfu__executor *self, sfu_pass kind, const sfu__rank_chain *chain, sfu__range slice, int thread) {
    const sfu__bound_pass *at = &self->passes[kind];
    const sfu__range share = share_of(self, at->steps[chain->first].step, &self->plan->passes[kind], slice, thread);
    for (size_t i = chain->first; i < chain->end; i++) {
        sfu__run_range(self, kind, &at->steps[i], share, thread);
        if (thread == 0) {
            self->plan->ranks->mpi->send_poll();
        }
    }
}

void sfu__rank_chain_run(sfu__executor *self, sfu_pass kind, size_t step, int thread) {
    sfu__rank_pass *pass = self->passes[kind].ranks;
    const sfu__rank_chain *chain = pass->steps[step].chain;
    const sfu__mpi *mpi = self->plan->ranks->mpi;
    const sfu__dense dW = sfu__executor_matrix(self, &chain->at);
    sfu__team_barrier(self->team); /* dZ is written */
    if (thread == 0) {
        sfu__rank_fetch(pass, self, step);
    }
    for (int32_t i = 0; chain->end > 0 && i < chain->slices; i++) {
        const sfu__range slice = slice_of(chain, i);
        float *rows = dW.data + slice.begin * dW.ld;
        if (thread == 0 && chain->before >= 0) {
            const double began = sfu__now();
            mpi->receive(chain->before, rows, bytes_of(&dW, slice));
            pass->seconds += sfu__now() - began;
            pass->received += bytes_of(&dW, slice);
        }
        sfu__team_barrier(self->team);
        add_own(self, kind, chain, slice, thread);
        sfu__team_barrier(self->team);
        if (thread == 0 && chain->after >= 0) {
            mpi->send(chain->after, rows, bytes_of(&dW, slice));
        }
    }
    if (thread == 0) {
        const double began = sfu__now();
        mpi->sent();
        mpi->broadcast(chain->last, dW.data, bytes_of(&dW, (sfu__range){0, dW.rows}));
        pass->seconds += sfu__now() - began;
        pass->received += self->plan->ranks->rank != chain->last ? bytes_of(&dW, (sfu__range){0, dW.rows}) : 0;
    }
    sfu__team_barrier(self->team);
}
