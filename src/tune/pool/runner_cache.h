/* runner_cache.h - cache of plans and runners for the trials of a study: plans are shared by all threads, runners
 * belong to one thread and are reused from trial to trial. Trials of one network differ only in their rates and share
 * one plan.
 *
 * The first trials also show which validation nodes are hard (validation_stages.h). Plans made afterwards evaluate
 * these first, so an epoch that cannot be the best one is abandoned early.
 */
#ifndef SFU_RUNNER_CACHE_H
#define SFU_RUNNER_CACHE_H

#include "runner.h"

typedef struct sfu__runner_cache sfu__runner_cache;

/* Dataset and split must outlive the cache. */
SFU_CHECKED sfu_status sfu__runner_cache_new(sfu__runner_cache **cache, const sfu_dataset *dataset,
                                             const sfu_split *split, int threads);
void sfu__runner_cache_free(sfu__runner_cache *cache);

/* The team that a thread's training runs use: the thread and its helpers. */
sfu__team *sfu__runner_cache_team(const sfu__runner_cache *cache, int thread);

/* Where a training run of this thread counts its misses, for sfu__runner_cache_learn; NULL once enough is known, and
 * for a runner whose validation has no stages. */
int32_t *sfu__runner_cache_misses(sfu__runner_cache *cache, int thread, const sfu__runner *runner);

/* Records the misses counted there by a training run of `epochs` epochs, with `right` correct validation nodes in the
 * best. */
SFU_CHECKED sfu_status sfu__runner_cache_learn(sfu__runner_cache *cache, int thread, int32_t epochs, int64_t right);

/* The runner of a network for a thread, valid until the thread asks for the next one. */
SFU_CHECKED sfu_status sfu__runner_cache_get(const sfu__runner **runner, sfu__runner_cache *cache, int thread,
                                             const sfu_net *net, double dropout);

#endif
