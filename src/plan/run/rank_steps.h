/* rank_steps.h - a pass divided among ranks (rank_group.h).
 *
 * A rank owns a range of nodes. Of a step it computes the rows of its nodes, or a range of blocks or features; small
 * steps (Adam, sums of blocks) are computed by every rank. Each rank has the arrays of the whole pass and fills in its
 * rows; before a step it gets the rows that the step reads and that others computed: its halo. Sums have the orders of
 * one process, so results have the same bytes for any number of ranks.
 */
#ifndef SFU_RANK_STEPS_H
#define SFU_RANK_STEPS_H

#include "executor_int.h"
#include "rank_group.h"

enum { SFU__EARLY_ROWS = 32 }; /* fewer in a row are not worth a call */

/* Rows of a matrix that are exchanged before a step. */
typedef struct sfu__halo {
    sfu__operand at;
    int64_t *bounds;         /* every rank gets all rows: [ranks + 1], those of each rank. NULL: listed rows */
    sfu__exchange *exchange; /* of the rows that this rank sends and receives */
    int32_t *send, *receive;
    int64_t send_count, receive_count;
} sfu__halo;

/* The gradient of the weights of sparse features, a sum over all rows whose parts belong to ranks in their order. It
 * goes from rank to rank (rank_relay.h), and all get it from the last one. */
typedef struct sfu__rank_chain {
    sfu__operand at;
    size_t first, end; /* the steps of this rank */
    int before, after; /* the ranks with the parts before and after those of this one; -1: none */
    int last;          /* the rank with the last part */
} sfu__rank_chain;

typedef struct sfu__rank_step {
    sfu__rank_chain *chain; /* NULL, or this step and those after it that are parts of the same sum */
    sfu__range range;       /* of the items of its partition that this rank computes */
    sfu__range *early;      /* those of its rows that need no other rank, computed while the halo is on its way; */
    sfu__range *late;       /* and the others. Both NULL: all rows wait */
    size_t early_count, early_capacity, late_count, late_capacity;
    sfu__halo *halos;
    size_t halo_count, halo_capacity;
} sfu__rank_step;

typedef struct sfu__rank_pass {
    sfu__rank_step *steps;
    size_t count;
    int64_t *score_bounds;     /* blocks of each rank; NULL: every rank has all scores */
    int64_t *output_bounds;    /* rows of each rank; NULL: every rank has all */
    int64_t *embedding_bounds; /* likewise */
    float *send, *receive;     /* buffers of the largest exchange */
    sfu__rank_traffic traffic; /* so far */
} sfu__rank_pass;

/* Called by all ranks with the same plan. */
SFU_CHECKED sfu_status sfu__rank_pass_new(sfu__rank_pass **pass, const sfu__plan *plan, sfu_pass kind);
void sfu__rank_pass_free(sfu__rank_pass *pass);

/* Gets what a step reads; called by one thread of each rank. */
void sfu__rank_fetch(sfu__rank_pass *pass, const sfu__executor *executor, size_t step);

/* The same in two parts, for a step with early rows: start, then any number of polls, then finish. */
void sfu__rank_start(sfu__rank_pass *pass, const sfu__executor *executor, size_t step);
void sfu__rank_poll(const sfu__rank_pass *pass, size_t step);
void sfu__rank_finish(sfu__rank_pass *pass, const sfu__executor *executor, size_t step);

/* Gets the rows of a halo; send and receive are buffers for them. */
void sfu__halo_fetch(const sfu__halo *halo, const sfu__rank_group *ranks, const sfu__dense *matrix, float *send,
                     float *receive, sfu__rank_traffic *traffic);

/* Runs the steps of a chain; called by all threads of each rank. */
void sfu__rank_chain_run(sfu__executor *self, sfu_pass kind, size_t step, int thread);

/* After a pass: all ranks get its scores, or all rows of an operand. */
void sfu__rank_scores(const sfu__rank_pass *pass, sfu__score *scores);
void sfu__rank_gather(const sfu__executor *executor, const sfu__operand *at, const int64_t *bounds);

#endif
