/* runner_cache.h - what the trials of a study run on: plans that all threads share, and memory that a thread keeps from
 * one trial to the next. Trials of one network differ in their rates alone, and cost a plan once.
 *
 * The first trials also show which validation nodes are hard (validation_stages.h). Plans that are made from then on
 * look at those first, and an epoch that cannot be the best one is known as such before all have been looked at.
 */
#ifndef SFU_RUNNER_CACHE_H
#define SFU_RUNNER_CACHE_H

#include "runner.h"

typedef struct sfu__runner_cache sfu__runner_cache;

/* Dataset and split must outlive it. */
SFU_CHECKED sfu_status sfu__runner_cache_new(sfu__runner_cache **cache, const sfu_dataset *dataset,
                                             const sfu_split *split, int threads);
void sfu__runner_cache_free(sfu__runner_cache *cache);

/* What a thread's trainings run on: the thread, and those that help it. */
sfu__team *sfu__runner_cache_team(const sfu__runner_cache *cache, int thread);

/* Where a training is to count what it misses, for sfu__runner_cache_learn; NULL once enough is known. The thread's
 * own. */
int32_t *sfu__runner_cache_misses(sfu__runner_cache *cache, int thread);

/* What was counted there in a training, of which so many epochs ran, with so many right in the best. */
SFU_CHECKED sfu_status sfu__runner_cache_learn(sfu__runner_cache *cache, int thread, int32_t epochs, int64_t right);

/* The runner of a network for a thread, the thread's until it asks for the next. */
SFU_CHECKED sfu_status sfu__runner_cache_get(const sfu__runner **runner, sfu__runner_cache *cache, int thread,
                                             const sfu_net *net, double dropout);

#endif
