/* runners.h - what the trials of a study run on: plans that all threads share, and memory that a thread keeps from one
 * trial to the next. Trials of one network differ in their rates alone, and cost a plan once.
 *
 * The first trials also show which validation nodes are hard (looks.h). Plans that are made from then on look at those
 * first, and an epoch that cannot be the best one is known as such before all have been looked at.
 */
#ifndef SFU_RUNNERS_H
#define SFU_RUNNERS_H

#include "runner.h"

typedef struct sfu__runners sfu__runners;

/* Dataset and split must outlive it. */
SFU_CHECKED sfu_status sfu__runners_new(sfu__runners **runners, const sfu_dataset *dataset, const sfu_split *split,
                                        int threads);
void sfu__runners_free(sfu__runners *runners);

/* What a thread's trainings run on: the thread, and those that help it. */
sfu__team *sfu__runners_team(const sfu__runners *runners, int thread);

/* Where a training is to count what it misses, for sfu__runners_learn; NULL once enough is known. The thread's own. */
int32_t *sfu__runners_misses(sfu__runners *runners, int thread);

/* What was counted there in a training, of which so many epochs ran, with so many right in the best. */
SFU_CHECKED sfu_status sfu__runners_learn(sfu__runners *runners, int thread, int32_t epochs, int64_t right);

/* The runner of a network for a thread, the thread's until it asks for the next. */
SFU_CHECKED sfu_status sfu__runners_get(const sfu__runner **runner, sfu__runners *runners, int thread,
                                        const sfu_net *net, double dropout);

#endif
