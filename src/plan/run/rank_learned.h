/* rank_learned.h - a learned smoothing matrix among ranks.
 *
 * Each rank has the rows and columns of its nodes (smoothing_learned.h), and numbers of the nodes that these join: sums
 * of rows and columns, and their gradients. After each phase the ranks get those of the neighbours of their nodes.
 */
#ifndef SFU_RANK_LEARNED_H
#define SFU_RANK_LEARNED_H

#include "rank_steps.h"

typedef struct sfu__rank_learned sfu__rank_learned;

/* Called by all ranks with the same plan. */
SFU_CHECKED sfu_status sfu__rank_learned_new(sfu__rank_learned **learned, const sfu__plan *plan, int smoother);
void sfu__rank_learned_free(sfu__rank_learned *learned);

/* What a rank needs from others after a phase of sfu__learned_forward or sfu__learned_backward; called by one thread of
 * each. */
void sfu__rank_learned_share(sfu__rank_learned *self, const sfu__learned_step *step, bool backward, int phase,
                             sfu__rank_traffic *traffic);

#endif
