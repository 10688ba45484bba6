/* blocks.h - blocks: the row groups of one dataset and size, whose networks are compared with each other. */
#ifndef SFU_BLOCKS_H
#define SFU_BLOCKS_H

#include "results_int.h"

/* The cell of the test score of a row group; and whether its network is compared with the others of its block. */
sfu_cell *sfu__cell_of(const sfu_results *results, int group);
bool sfu__is_compared(const sfu_results *results, int group);

/* The end of the block that starts at a row group; each row group that is not compared is a block of its own. */
int sfu__block_end(const sfu_results *results, int first);

/* Scores of two row groups on their common splits. Both arrays have room for all entries. */
int sfu__common_splits(const sfu_results *results, int one, int other, double *ours, double *theirs);

/* Wilcoxon p-value of two row groups; NaN with fewer than two splits, 1 if they are equal on all. `values` has room for
 * all entries twice. */
SFU_CHECKED sfu_status sfu__test_groups(double *p, const sfu_results *results, int one, int other, double *values);

/* Average ranks over the datasets of each size: average_ranks.c; and the intervals of ranks and their differences,
 * which it calls: rank_intervals.c. */
SFU_CHECKED sfu_status sfu__average_ranks(sfu_results *results);
SFU_CHECKED sfu_status sfu__rank_intervals(sfu_results *results);
/* Whether the block has a result for every network of its size. */
bool sfu__block_is_complete(const sfu_results *results, int first, int end);

#endif
