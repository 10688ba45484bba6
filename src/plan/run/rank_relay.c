/* rank_relay.c - hands a sum from rank to rank, slice by slice. */
#include "rank_relay.h"
#include "clock.h"

/* With more slices ranks wait less for the first one, and send more. */
static int64_t slices_of(const sfu__relay *relay) {
    enum { PER_RANK = 8, MOST = 128 };
    const int64_t slices = relay->ranks->count < MOST / PER_RANK ? relay->ranks->count * PER_RANK : MOST;
    return slices < relay->rows ? slices : relay->rows;
}

/* This thread's rows of a slice. */
static sfu__range share_of(const sfu__relay *relay, sfu__range slice, int thread, int threads) {
    const int64_t *indptr = relay->indptr + slice.begin, count = slice.end - slice.begin;
    const int64_t begin = sfu__row_at(indptr, count, (double)thread / threads);
    const int64_t end = thread + 1 == threads ? count : sfu__row_at(indptr, count, (double)(thread + 1) / threads);
    return (sfu__range){slice.begin + begin, slice.begin + end};
}

static void receive(const sfu__relay *relay, float *rows, int64_t bytes, sfu__rank_traffic *traffic) {
    const double began = sfu__now();
    relay->ranks->mpi->receive(relay->before, rows, bytes);
    traffic->seconds += sfu__now() - began;
    traffic->received += bytes;
}

void sfu__relay_run(const sfu__relay *relay, sfu__team *team, int thread, int threads, sfu__rank_traffic *traffic) {
    const int64_t slices = relay->adds ? slices_of(relay) : 0;
    for (int64_t i = 0; i < slices; i++) {
        const sfu__range slice = {relay->rows * i / slices, relay->rows * (i + 1) / slices};
        float *rows = relay->sum + slice.begin * relay->ld;
        const int64_t bytes = (slice.end - slice.begin) * relay->ld * (int64_t)sizeof *rows;
        if (thread == 0 && relay->before >= 0) {
            receive(relay, rows, bytes, traffic);
        }
        sfu__team_barrier(team);
        relay->add(relay->context, share_of(relay, slice, thread, threads), thread);
        sfu__team_barrier(team);
        if (thread == 0 && relay->after >= 0) {
            relay->ranks->mpi->send(relay->after, rows, bytes);
        }
    }
    if (thread == 0) {
        relay->ranks->mpi->sent();
    }
}

void sfu__relay_share(const sfu__rank_group *ranks, int from, const sfu__dense *matrix, sfu__rank_traffic *traffic) {
    const int64_t bytes = (int64_t)matrix->rows * matrix->ld * (int64_t)sizeof *matrix->data;
    const double began = sfu__now();
    ranks->mpi->broadcast(from, matrix->data, bytes);
    traffic->seconds += sfu__now() - began;
    traffic->received += ranks->rank != from ? bytes : 0;
}
