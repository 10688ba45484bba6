/* rank_relay.h - a sum over rows that goes from rank to rank.
 *
 * The rows of a sum belong to ranks in their order, and its terms have to be added in that order. So the first rank
 * adds its terms and sends the sum on, the next one adds its own, and so on. The sum is an array of rows that goes in
 * slices: while a rank adds to a slice, those before it work on the next ones.
 */
#ifndef SFU_RANK_RELAY_H
#define SFU_RANK_RELAY_H

#include "plan.h"
#include "rank_group.h"

typedef struct sfu__relay {
    const sfu__rank_group *ranks;
    int before, after; /* the ranks with terms before and after those of this one; -1: none */
    bool adds;         /* this one has some */
    float *sum;        /* [rows][ld] */
    int64_t rows, ld;
    const int64_t *indptr; /* [rows + 1]: the terms of this rank in each row, by which its threads divide a slice */
    void (*add)(void *context, sfu__range rows, int thread); /* adds them */
    void *context;
} sfu__relay;

/* Called by all threads of each rank. Afterwards the last rank has the sum; thread 0 comes back last, and the caller
 * has a barrier. */
void sfu__relay_run(const sfu__relay *relay, sfu__team *team, int thread, int threads, sfu__rank_traffic *traffic);

/* All ranks get a matrix from one of them. Called by one thread of each. */
void sfu__relay_share(const sfu__rank_group *ranks, int from, const sfu__dense *matrix, sfu__rank_traffic *traffic);

#endif
