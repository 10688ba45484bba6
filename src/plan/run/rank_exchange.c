/* rank_exchange.c - gets the rows of other ranks while a pass runs. */
#include "rank_steps.h"
#include "clock.h"

#include <string.h>

static void pack(float *buffer, const sfu__dense *from, const int32_t *rows, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        memcpy(buffer + i * from->ld, from->data + (int64_t)rows[i] * from->ld, (size_t)from->ld * sizeof *buffer);
    }
}

static void unpack(const sfu__dense *to, const float *buffer, const int32_t *rows, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        memcpy(to->data + (int64_t)rows[i] * to->ld, buffer + i * to->ld, (size_t)to->ld * sizeof *buffer);
    }
}

void sfu__rank_gather(const sfu__executor *executor, const sfu__operand *at, const int64_t *bounds) {
    if (bounds != NULL) {
        const sfu__dense matrix = sfu__executor_matrix(executor, at);
        executor->plan->ranks->mpi->gather(matrix.data, matrix.ld, bounds);
    }
}

void sfu__rank_scores(const sfu__rank_pass *pass, sfu__score *scores) {
    _Static_assert(sizeof *scores % sizeof(float) == 0, "a score is sent as floats");
    if (pass->score_bounds != NULL) {
        const sfu__rank_group *ranks = sfu__ranks_here();
        ranks->mpi->gather((float *)(void *)scores, (int32_t)(sizeof *scores / sizeof(float)), pass->score_bounds);
    }
}

static void start(sfu__rank_pass *pass, const sfu__executor *executor, const sfu__halo *halo) {
    const sfu__dense matrix = sfu__executor_matrix(executor, &halo->at);
    const int64_t row = (int64_t)sizeof(float) * halo->at.ld;
    pack(pass->send, &matrix, halo->send, halo->send_count);
    executor->plan->ranks->mpi->exchange_start(halo->exchange, pass->send, pass->receive);
    pass->traffic.received += halo->receive_count * row;
}

static void finish(const sfu__rank_pass *pass, const sfu__executor *executor, const sfu__halo *halo) {
    const sfu__dense matrix = sfu__executor_matrix(executor, &halo->at);
    executor->plan->ranks->mpi->exchange_wait(halo->exchange);
    unpack(&matrix, pass->receive, halo->receive, halo->receive_count);
}

static void fetch(sfu__rank_pass *pass, const sfu__executor *executor, const sfu__halo *halo) {
    const sfu__rank_group *ranks = executor->plan->ranks;
    const int64_t row = (int64_t)sizeof(float) * halo->at.ld;
    if (halo->bounds != NULL) {
        const int64_t own = halo->bounds[ranks->rank + 1] - halo->bounds[ranks->rank];
        sfu__rank_gather(executor, &halo->at, halo->bounds);
        pass->traffic.received += (halo->bounds[ranks->count] - own) * row;
        return;
    }
    start(pass, executor, halo);
    finish(pass, executor, halo);
}

void sfu__rank_fetch(sfu__rank_pass *pass, const sfu__executor *executor, size_t step) {
    const double began = sfu__now();
    for (size_t i = 0; i < pass->steps[step].halo_count; i++) {
        fetch(pass, executor, &pass->steps[step].halos[i]);
    }
    pass->traffic.seconds += sfu__now() - began;
}

void sfu__rank_start(sfu__rank_pass *pass, const sfu__executor *executor, size_t step) {
    const double began = sfu__now();
    start(pass, executor, &pass->steps[step].halos[0]);
    pass->traffic.seconds += sfu__now() - began;
}

void sfu__rank_poll(const sfu__rank_pass *pass, size_t step) {
    sfu__ranks_here()->mpi->exchange_poll(pass->steps[step].halos[0].exchange);
}

void sfu__rank_finish(sfu__rank_pass *pass, const sfu__executor *executor, size_t step) {
    const double began = sfu__now();
    finish(pass, executor, &pass->steps[step].halos[0]);
    pass->traffic.seconds += sfu__now() - began;
}
