/* rank_trials.h - trials that the ranks of a group (rank_group.h) train together.
 *
 * Rank 0 runs the study. It announces each trial; the others train it with it, and know no more of the study until its
 * end, when they get all trials. */
#ifndef SFU_RANK_TRIALS_H
#define SFU_RANK_TRIALS_H

#include "trial_pool.h"

/* Called by rank 0 in the thread that trains the trial. No effect without ranks. */
void sfu__announce_trial(uint64_t seed, const double *values, int width);

/* Called by rank 0 at the end of a study that has trained all trials, or with NULL if it failed. The pool is idle. */
void sfu__announce_end(const sfu__trials *trials);

/* Called by the others: trains what is announced until the end, and gets the trials. goes_on(user), called now and then
 * while a trial is trained, returns false to stop the study of all ranks. */
SFU_CHECKED sfu_status sfu__follow_trials(sfu__trials *trials, sfu__trial_pool *pool, bool (*goes_on)(void *user),
                                          void *user);

#endif
