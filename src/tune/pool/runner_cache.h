/* runner_cache.h - cache of plans and runners for the trials of a study: plans are shared by all threads, runners
 * belong to one thread and are reused from trial to trial. Trials of one network differ only in their rates and share
 * one plan.
 *
 * The first trials also show which validation nodes are hard (validation_stages.h). Plans made afterwards evaluate
 * these first, so an epoch that cannot be the best one is abandoned early.
 */
#ifndef SFU_RUNNER_CACHE_H
#define SFU_RUNNER_CACHE_H

#include "gpu_population.h"
#include "runner.h"

typedef struct sfu__runner_cache sfu__runner_cache;

/* For a cache that also makes programs for a GPU. */
typedef struct sfu__cache_gpu {
    sfu__gpu *gpu;
    const sfu__objective *objective; /* of all trainings */
    int32_t epochs;                  /* of a training, at most */
} sfu__cache_gpu;

/* Dataset, split and what `gpu` refers to must outlive the cache. `gpu` may be NULL. Within a memory limit (not 0) one
 * plan is made at a time, on all threads, and a thread keeps one runner. */
SFU_CHECKED sfu_status sfu__runner_cache_new(sfu__runner_cache **cache, const sfu_dataset *dataset,
                                             const sfu_split *split, int threads, const sfu__cache_gpu *gpu,
                                             int64_t memory);
void sfu__runner_cache_free(sfu__runner_cache *cache);

/* The team that a thread's training runs use: the thread and its helpers. */
sfu__team *sfu__runner_cache_team(const sfu__runner_cache *cache, int thread);

/* Where a training run of this thread counts its misses, for sfu__runner_cache_learn; NULL once enough is known, and
 * for a runner whose validation has no stages. */
int32_t *sfu__runner_cache_misses(sfu__runner_cache *cache, int thread, const sfu__runner *runner);

/* Records the misses counted there by a training run of `epochs` epochs, with `right` correct validation nodes in the
 * best. */
SFU_CHECKED sfu_status sfu__runner_cache_learn(sfu__runner_cache *cache, int thread, int32_t epochs, int64_t right);

/* Whether misses are still of use; and the misses of a training run that has counted them in memory of its own. */
bool sfu__runner_cache_learns(sfu__runner_cache *cache);
SFU_CHECKED sfu_status sfu__runner_cache_learn_from(sfu__runner_cache *cache, const int32_t *misses, int32_t epochs,
                                                    int64_t right);

/* The runner of a network for a thread, valid until the thread asks for the next one. */
SFU_CHECKED sfu_status sfu__runner_cache_get(const sfu__runner **runner, sfu__runner_cache *cache, int thread,
                                             const sfu_net *net, double dropout);

/* Frees the runner of a thread that trains no more: within a limit, the plans of the others may have its memory. */
void sfu__runner_cache_leave(sfu__runner_cache *cache, int thread);

/* ---- programs for a GPU, shared by all threads ---- */

typedef struct sfu__shared_plan sfu__shared_plan;

/* The plan of a network, in use by the caller until sfu__runner_cache_release. SFU_ERR_MEMORY also if the memory of the
 * device is exhausted. */
SFU_CHECKED sfu_status sfu__runner_cache_acquire(sfu__shared_plan **plan, sfu__runner_cache *cache, const sfu_net *net,
                                                 double dropout);
void sfu__runner_cache_release(sfu__runner_cache *cache, sfu__shared_plan *plan);

/* Its program; NULL if a GPU cannot run it, which *why then explains. Both are borrowed. */
const sfu__gpu_trainer *sfu__shared_plan_trainer(const sfu__shared_plan *plan, const char **why);

/* Frees all plans that are not in use. */
void sfu__runner_cache_shrink(sfu__runner_cache *cache);

#endif
