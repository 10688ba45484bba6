/* rank_division.h - a pass while it is divided among ranks: rank_steps.c follows its steps, rank_halo.c the rows.
 *
 * For every matrix that a step writes, a layout remembers which rank has which rows; a step that reads other rows than
 * its rank has gets a halo. Layouts are the same on all ranks, so that all of them agree on which steps need one
 * without a word; only lists of rows are sent around, once, when the pass is made.
 */
#ifndef SFU_RANK_DIVISION_H
#define SFU_RANK_DIVISION_H

#include "rank_steps.h"

/* The rows of a matrix that each rank has. Matrices of which every rank has all rows are not listed. */
typedef struct sfu__layout_of_ranks {
    sfu__memory_space space;
    int64_t offset;
    int64_t *bounds; /* [ranks + 1] */
} sfu__layout_of_ranks;

typedef struct sfu__division {
    const sfu__rank_group *ranks;
    const sfu__plan *plan;
    const sfu__pass *pass;
    sfu__rank_pass *to;
    sfu__rank_step *step; /* the current one */
    int64_t *bounds;      /* [ranks + 1]: items of the current step; of every rank all, if `repeated` */
    bool repeated;        /* every rank computes the whole step */
    sfu__layout_of_ranks *layouts;
    size_t layout_count, layout_capacity;
} sfu__division;

/* The rows of each rank; NULL: every rank has all. And a copy of such bounds. */
const int64_t *sfu__bounds_of(const sfu__division *self, const sfu__operand *at);
SFU_CHECKED sfu_status sfu__copy_bounds(int64_t **copy, const sfu__division *self, const int64_t *bounds);

/* The current step writes rows of `at`: `bounds` of each rank, NULL: all on every rank. */
SFU_CHECKED sfu_status sfu__set_layout(sfu__division *self, const sfu__operand *at, const int64_t *bounds);

/* What the current step reads of a matrix; adds a halo where a rank does not have it.
 *   all       every rank all rows
 *   rows      each rank the rows [want[r], want[r + 1])
 *   own       the rows that it computes, or all if every rank computes the whole step
 *   columns   the rows that a sparse matrix multiplies; if it is the step's only halo, rows that need none of it are
 *             computed while it is on its way
 *   mapped    row map[i] for each row i that it computes; NULL: row i
 *   blocks    the rows of the blocks that it computes */
SFU_CHECKED sfu_status sfu__need_all(sfu__division *self, const sfu__operand *at);
SFU_CHECKED sfu_status sfu__need_rows(sfu__division *self, const sfu__operand *at, const int64_t *want);
SFU_CHECKED sfu_status sfu__need_own(sfu__division *self, const sfu__operand *at);
SFU_CHECKED sfu_status sfu__need_columns(sfu__division *self, const sfu__operand *at, const sfu__prepared *matrix);
SFU_CHECKED sfu_status sfu__need_mapped(sfu__division *self, const sfu__operand *at, const int32_t *map);
SFU_CHECKED sfu_status sfu__need_blocks(sfu__division *self, const sfu__operand *at);

/* The rows of the blocks of each rank, of `count` rows. */
void sfu__rows_of_blocks(int64_t *rows, const sfu__division *self, int64_t count);

/* Of the rows that are marked, those that this rank does not have; called by all ranks. If none of them needs any,
 * halo->exchange is NULL. Cleared by the caller, also after a failure. */
SFU_CHECKED sfu_status sfu__halo_make(sfu__halo *halo, const sfu__rank_group *ranks, const sfu__operand *at,
                                      const uint8_t *marked, const int64_t *bounds);
void sfu__halo_clear(sfu__halo *halo, const sfu__rank_group *ranks);

#endif
