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

static void start(const sfu__halo *halo, const sfu__rank_group *ranks, const sfu__dense *matrix, float *send,
                  float *receive, sfu__rank_traffic *traffic) {
    pack(send, matrix, halo->send, halo->send_count);
    ranks->mpi->exchange_start(halo->exchange, send, receive);
    traffic->received += halo->receive_count * matrix->ld * (int64_t)sizeof *receive;
}

static void finish(const sfu__halo *halo, const sfu__rank_group *ranks, const sfu__dense *matrix,
                   const float *receive) {
    ranks->mpi->exchange_wait(halo->exchange);
    unpack(matrix, receive, halo->receive, halo->receive_count);
}

void sfu__halo_fetch(const sfu__halo *halo, const sfu__rank_group *ranks, const sfu__dense *matrix, float *send,
                     float *receive, sfu__rank_traffic *traffic) {
    if (halo->exchange != NULL) {
        start(halo, ranks, matrix, send, receive, traffic);
        finish(halo, ranks, matrix, receive);
    }
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
    const sfu__dense matrix = sfu__executor_matrix(executor, &halo->at);
    sfu__halo_fetch(halo, ranks, &matrix, pass->send, pass->receive, &pass->traffic);
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
    const sfu__halo *halo = &pass->steps[step].halos[0];
    const sfu__dense matrix = sfu__executor_matrix(executor, &halo->at);
    start(halo, executor->plan->ranks, &matrix, pass->send, pass->receive, &pass->traffic);
    pass->traffic.seconds += sfu__now() - began;
}

void sfu__rank_poll(const sfu__rank_pass *pass, size_t step) {
    sfu__ranks_here()->mpi->exchange_poll(pass->steps[step].halos[0].exchange);
}

void sfu__rank_finish(sfu__rank_pass *pass, const sfu__executor *executor, size_t step) {
    const double began = sfu__now();
    const sfu__halo *halo = &pass->steps[step].halos[0];
    const sfu__dense matrix = sfu__executor_matrix(executor, &halo->at);
    finish(halo, executor->plan->ranks, &matrix, pass->receive);
    pass->traffic.seconds += sfu__now() - began;
}
