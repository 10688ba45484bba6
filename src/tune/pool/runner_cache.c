#include "runner_cache.h"
#include "validation_stages.h"
#include "train.h"

#include <pthread.h>
#include <string.h>

/* Beyond so many, what was used longest ago goes. A network whose structure is searched has a new plan every trial. */
enum { PLANS_KEPT = 16, RUNNERS_KEPT = 8 };
/* And beyond so many bytes a thread before it makes a new one: memory is what a worker costs. */
enum { BYTES_KEPT = 16 << 20 };
enum { TEAM_MOST = 16 }; /* threads on one training */

/* A plan that any number of threads use. One thread makes it while the others that want it wait. */
typedef struct shared_plan {
    char *key;
    sfu_net *net; /* its own, for the runners */
    sfu__plan *plan;
    int users;
    bool made;
    bool staged;              /* or made before it was known what to look at first */
    struct shared_plan *next; /* the list has the last used first */
} shared_plan;

/* A runner that a thread keeps. */
typedef struct kept_runner {
    shared_plan *plan; /* NULL: the place is free */
    sfu__runner runner;
    int64_t used; /* when, counted in trials */
} kept_runner;

typedef struct thread_runners {
    sfu__team *team;
    kept_runner kept[RUNNERS_KEPT];
    int64_t clock;
} thread_runners;

struct sfu__runner_cache {
    const sfu_dataset *dataset;
    const sfu_split *split;
    pthread_mutex_t lock;
    pthread_cond_t made;
    shared_plan *plans;
    sfu__hardness hardness; /* under the lock, like these two: */
    bool learnt;            /* enough is known of it */
    bool stages_known;      /* and something follows from that: `looks`, which then never changes */
    sfu__stages stages;
    int32_t *misses;         /* [threads][validation nodes]: of the trainings at hand */
    thread_runners *threads; /* [thread_count] */
    int thread_count;
};

static void plan_free(shared_plan *plan) {
    if (plan != NULL) {
        sfu__plan_release(plan->plan);
        sfu_net_free(plan->net);
        sfu__free(plan->key);
        sfu__free(plan);
    }
}

/* ---- the plans ----------------------------------------------------------------------------------------------------
 */

/* Lets the plans go that nobody uses, beyond those worth keeping. Under the lock. */
static void forget_old(sfu__runner_cache *cache) {
    int count = 0;
    for (shared_plan **at = &cache->plans; *at != NULL;) {
        shared_plan *plan = *at;
        const bool worth_it = ++count <= PLANS_KEPT && plan->staged == cache->stages_known;
        if (!worth_it && plan->users == 0) {
            *at = plan->next;
            plan_free(plan);
        } else {
            at = &plan->next;
        }
    }
}

/* Finds a plan and moves it to the front. Under the lock. */
static shared_plan *find(sfu__runner_cache *cache, const char *key) {
    for (shared_plan **at = &cache->plans; *at != NULL; at = &(*at)->next) {
        shared_plan *plan = *at;
        if (plan->staged == cache->stages_known && strcmp(plan->key, key) == 0) {
            *at = plan->next;
            plan->next = cache->plans;
            cache->plans = plan;
            return plan;
        }
    }
    return NULL;
}

/* An entry that is still to be made, used by the caller. Under the lock. */
static shared_plan *add(sfu__runner_cache *cache, const char *key) {
    shared_plan *plan = sfu__alloc_zero(1, sizeof *plan);
    if (plan == NULL) {
        return NULL;
    }
    plan->key = sfu__copy_string(key);
    if (plan->key == NULL) {
        plan_free(plan);
        return NULL;
    }
    plan->users = 1;
    plan->staged = cache->stages_known;
    plan->next = cache->plans;
    cache->plans = plan;
    forget_old(cache);
    return plan;
}

static void remove_plan(sfu__runner_cache *cache, shared_plan *plan) {
    shared_plan **at = &cache->plans;
    while (*at != plan) {
        at = &(*at)->next;
    }
    *at = plan->next;
    plan_free(plan);
}

/* Outside the lock. LPNN has no plan. */
static sfu_status make_plan(shared_plan *plan, const sfu__runner_cache *cache, const sfu_net *net, double dropout) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__net_copy(&plan->net, net));
    if (!net->is_lpnn) {
        sfu__plan_request request = sfu__train_request(plan->net, cache->split, dropout, 1);
        request.stages = plan->staged && cache->stages.nodes != NULL ? &cache->stages : NULL;
        SFU_TRY(sfu__plan_make(&plan->plan, cache->dataset, plan->net, &request));
    }
done:
    return status;
}

static void let_go(sfu__runner_cache *cache, shared_plan *plan) {
    pthread_mutex_lock(&cache->lock);
    plan->users--;
    pthread_mutex_unlock(&cache->lock);
}

/* A plan that is made by somebody else while this thread waits may fail to be: then this one tries. */
static sfu_status use_plan(shared_plan **found, sfu__runner_cache *cache, const char *key, const sfu_net *net,
                           double dropout) {
    sfu_status status = SFU_OK;
    pthread_mutex_lock(&cache->lock);
    shared_plan *plan = find(cache, key);
    while (plan != NULL && !plan->made) {
        pthread_cond_wait(&cache->made, &cache->lock);
        plan = find(cache, key);
    }
    if (plan != NULL) {
        plan->users++;
        goto done;
    }
    plan = add(cache, key);
    if (plan == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    pthread_mutex_unlock(&cache->lock);
    status = make_plan(plan, cache, net, dropout);
    pthread_mutex_lock(&cache->lock);
    plan->made = true;
    pthread_cond_broadcast(&cache->made);
    if (status != SFU_OK) {
        remove_plan(cache, plan);
        plan = NULL;
    }
done:
    pthread_mutex_unlock(&cache->lock);
    *found = plan;
    return status;
}

/* ---- the runners of a thread --------------------------------------------------------------------------------------
 */

static void drop_runner(sfu__runner_cache *cache, kept_runner *kept) {
    if (kept->plan != NULL) {
        sfu__runner_clear(&kept->runner);
        let_go(cache, kept->plan);
        kept->plan = NULL;
    }
}

/* The one of this key, else the place that was used longest ago. */
static kept_runner *find_runner(thread_runners *own, const char *key) {
    kept_runner *oldest = &own->kept[0];
    for (int i = 0; i < RUNNERS_KEPT; i++) {
        kept_runner *kept = &own->kept[i];
        if (kept->plan != NULL && strcmp(kept->plan->key, key) == 0) {
            return kept;
        }
        if (kept->plan == NULL || (oldest->plan != NULL && kept->used < oldest->used)) {
            oldest = kept;
        }
    }
    return oldest;
}

/* Lets go what was used longest ago until what is left is small. */
static void make_room(sfu__runner_cache *cache, thread_runners *own) {
    for (;;) {
        kept_runner *oldest = NULL;
        int64_t bytes = 0;
        for (int i = 0; i < RUNNERS_KEPT; i++) {
            kept_runner *kept = &own->kept[i];
            if (kept->plan != NULL) {
                bytes += sfu__runner_bytes(&kept->runner);
                oldest = oldest == NULL || kept->used < oldest->used ? kept : oldest;
            }
        }
        if (bytes <= BYTES_KEPT) {
            return;
        }
        drop_runner(cache, oldest);
    }
}

static sfu_status make_runner(kept_runner *kept, sfu__runner_cache *cache, const char *key, const sfu_net *net,
                              double dropout, sfu__team *team) {
    sfu_status status = SFU_OK;
    SFU_TRY(use_plan(&kept->plan, cache, key, net, dropout));
    const sfu__plan_request request = sfu__train_request(kept->plan->net, cache->split, dropout, 1);
    SFU_TRY(sfu__runner_make_of(&kept->runner, cache->dataset, kept->plan->net, &request, kept->plan->plan, team));
done:
    if (status != SFU_OK) {
        drop_runner(cache, kept);
    }
    return status;
}

/* Lets go what does not look at the hard nodes first, once these are known. */
static void drop_unlearnt(sfu__runner_cache *cache, thread_runners *own) {
    pthread_mutex_lock(&cache->lock);
    const bool known = cache->stages_known;
    pthread_mutex_unlock(&cache->lock);
    for (int i = 0; known && i < RUNNERS_KEPT; i++) {
        if (own->kept[i].plan != NULL && !own->kept[i].plan->staged) {
            drop_runner(cache, &own->kept[i]);
        }
    }
}

sfu_status sfu__runner_cache_get(const sfu__runner **runner, sfu__runner_cache *cache, int thread, const sfu_net *net,
                                 double dropout) {
    sfu_status status = SFU_OK;
    thread_runners *own = &cache->threads[thread];
    sfu__text key = {0};
    drop_unlearnt(cache, own);
    SFU_TRY(
        sfu__text_format(&key, "%d %s", sfu__train_request(net, cache->split, dropout, 1).dropout, sfu_net_text(net)));
    kept_runner *kept = find_runner(own, key.bytes);
    if (kept->plan == NULL || strcmp(kept->plan->key, key.bytes) != 0) {
        drop_runner(cache, kept);
        make_room(cache, own);
        SFU_TRY(make_runner(kept, cache, key.bytes, net, dropout, own->team));
    }
    kept->used = ++own->clock;
    *runner = &kept->runner;
done:
    sfu__text_clear(&key);
    return status;
}

/* ---- which nodes are hard -----------------------------------------------------------------------------------------
 */

static int32_t *misses_of(const sfu__runner_cache *cache, int thread) {
    return cache->misses + (int64_t)thread * cache->hardness.count;
}

int32_t *sfu__runner_cache_misses(sfu__runner_cache *cache, int thread) {
    int32_t *misses = misses_of(cache, thread);
    pthread_mutex_lock(&cache->lock);
    const bool learnt = cache->learnt;
    pthread_mutex_unlock(&cache->lock);
    if (learnt) {
        return NULL;
    }
    memset(misses, 0, (size_t)cache->hardness.count * sizeof *misses);
    return misses;
}

sfu_status sfu__runner_cache_learn(sfu__runner_cache *cache, int thread, int32_t epochs, int64_t right) {
    sfu_status status = SFU_OK;
    int32_t count = 0;
    const int32_t *nodes = sfu_split_part(cache->split, SFU_VAL, &count);
    pthread_mutex_lock(&cache->lock);
    if (!cache->learnt) {
        sfu__hardness_add(&cache->hardness, misses_of(cache, thread), epochs, right);
        cache->learnt = sfu__hardness_known(&cache->hardness);
        if (cache->learnt) {
            SFU_TRY(sfu__stages_make(&cache->stages, &cache->hardness, nodes));
            cache->stages_known = cache->stages.nodes != NULL;
        }
    }
done:
    pthread_mutex_unlock(&cache->lock);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------
 */

sfu_status sfu__runner_cache_new(sfu__runner_cache **cache, const sfu_dataset *dataset, const sfu_split *split,
                                 int threads) {
    sfu_status status = SFU_OK;
    sfu__runner_cache *self = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->dataset = dataset;
    self->split = split;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->made, NULL);
    *cache = self;
    int32_t count = 0;
    (void)sfu_split_part(split, SFU_VAL, &count);
    SFU_TRY(sfu__hardness_make(&self->hardness, count));
    SFU_ALLOC_ZERO(self->threads, threads);
    SFU_ALLOC(self->misses, (int64_t)threads * count);
    for (; self->thread_count < threads; self->thread_count++) {
        SFU_TRY(sfu__team_open(&self->threads[self->thread_count].team, threads < TEAM_MOST ? threads : TEAM_MOST));
    }
done:
    return status;
}

sfu__team *sfu__runner_cache_team(const sfu__runner_cache *cache, int thread) { return cache->threads[thread].team; }

void sfu__runner_cache_free(sfu__runner_cache *cache) {
    if (cache == NULL) {
        return;
    }
    for (int i = 0; i < cache->thread_count * RUNNERS_KEPT; i++) {
        drop_runner(cache, &cache->threads[i / RUNNERS_KEPT].kept[i % RUNNERS_KEPT]);
    }
    for (int i = 0; i < cache->thread_count; i++) {
        sfu__team_free(cache->threads[i].team);
    }
    while (cache->plans != NULL) {
        remove_plan(cache, cache->plans);
    }
    pthread_cond_destroy(&cache->made);
    pthread_mutex_destroy(&cache->lock);
    sfu__hardness_clear(&cache->hardness);
    sfu__free(cache->stages.nodes);
    sfu__free(cache->misses);
    sfu__free(cache->threads);
    sfu__free(cache);
}
