/* runner_cache.c - LRU caches of plans (shared by all threads) and of runners (per thread). */
#include "runner_cache.h"
#include "process_memory.h"
#include "validation_stages.h"
#include "train.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* Number of entries, evicted least recently used first. If the structure of the network is searched, every trial has a
 * new plan. */
enum { PLANS_MAX = 16, RUNNERS_MAX = 8 };
/* Bytes of runners per thread before it makes a new one: memory is the cost of a runner. */
enum { RUNNER_BYTES_MAX = 16 << 20 };
enum { TEAM_MAX = 16 };                               /* threads per training run */
static const sfu__device cpu = {SFU__DEVICE_CPU, -1}; /* of the threads */

/* A plan used by any number of threads. One thread makes it while others that need it wait. */
struct sfu__shared_plan {
    char *key;
    sfu_net *net;    /* the plan's own copy, for the runners */
    sfu__plan *plan; /* NULL: the network needs none, or it was translated */
    bool for_gpu;    /* one of the next two is set */
    sfu__gpu_trainer *trainer;
    char *refusal; /* why a GPU cannot run it */
    int users;
    bool made;
    bool staged;                   /* made after the validation stages were known */
    struct sfu__shared_plan *next; /* most recently used first */
};

/* A runner that a thread keeps. */
typedef struct cached_runner {
    sfu__shared_plan *plan; /* NULL: the entry is free */
    sfu__runner runner;
    int64_t used; /* time of the last use, counted in trials */
} cached_runner;

typedef struct thread_runners {
    sfu__team *team;
    cached_runner kept[RUNNERS_MAX];
    int64_t clock;
} thread_runners;

struct sfu__runner_cache {
    const sfu_dataset *dataset;
    const sfu_split *split;
    sfu__cache_gpu gpu;       /* all zeros: none */
    int64_t memory;           /* 0: no limit */
    int64_t used_before;      /* memory of the process without plans */
    pthread_mutex_t planning; /* within a limit: held by the thread that makes a plan or a runner */
    pthread_mutex_t lock;
    pthread_cond_t made;
    sfu__shared_plan *plans;
    sfu__hardness hardness; /* protected by the lock, like the next two */
    bool learnt;            /* `hardness` has enough data */
    bool stages_known;      /* `stages` is set; it never changes afterwards */
    sfu__stages stages;
    int32_t *misses;         /* [threads][validation nodes]: misses of the current training runs */
    thread_runners *threads; /* [thread_count] */
    int thread_count;
    atomic_int trainers; /* threads that have not left */
};

static void plan_free(sfu__shared_plan *plan) {
    if (plan != NULL) {
        sfu__gpu_trainer_free(plan->trainer);
        sfu__free(plan->refusal);
        sfu__plan_release(plan->plan);
        sfu_net_free(plan->net);
        sfu__free(plan->key);
        sfu__free(plan);
    }
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

/* Evicts unused plans beyond a number. Needs the lock. */
static void evict_plans(sfu__runner_cache *cache, int most) {
    int count = 0;
    for (sfu__shared_plan **at = &cache->plans; *at != NULL;) {
        sfu__shared_plan *plan = *at;
        const bool current = ++count <= most && plan->staged == cache->stages_known;
        if (!current && plan->users == 0) {
            *at = plan->next;
            plan_free(plan);
        } else {
            at = &plan->next;
        }
    }
}

/* Finds a plan and moves it to the front. Needs the lock. */
static sfu__shared_plan *find(sfu__runner_cache *cache, const char *key, bool for_gpu) {
    for (sfu__shared_plan **at = &cache->plans; *at != NULL; at = &(*at)->next) {
        sfu__shared_plan *plan = *at;
        if (plan->staged == cache->stages_known && plan->for_gpu == for_gpu && strcmp(plan->key, key) == 0) {
            *at = plan->next;
            plan->next = cache->plans;
            cache->plans = plan;
            return plan;
        }
    }
    return NULL;
}

/* Adds an entry whose plan is not made yet, with the caller as its user. Needs the lock. */
static sfu__shared_plan *add(sfu__runner_cache *cache, const char *key, bool for_gpu) {
    sfu__shared_plan *plan = sfu__alloc_zero(1, sizeof *plan);
    if (plan == NULL) {
        return NULL;
    }
    plan->key = sfu__copy_string(key);
    if (plan->key == NULL) {
        plan_free(plan);
        return NULL;
    }
    plan->users = 1;
    plan->for_gpu = for_gpu;
    plan->staged = cache->stages_known;
    plan->next = cache->plans;
    cache->plans = plan;
    evict_plans(cache, PLANS_MAX);
    return plan;
}

static void remove_plan(sfu__runner_cache *cache, sfu__shared_plan *plan) {
    sfu__shared_plan **at = &cache->plans;
    while (*at != plan) {
        at = &(*at)->next;
    }
    *at = plan->next;
    plan_free(plan);
}

static sfu_status translate(sfu__gpu_trainer **trainer, const sfu__shared_plan *plan, const sfu__runner_cache *cache) {
    const sfu__cache_gpu *on = &cache->gpu;
    const sfu__parameters *parameters = sfu__plan_parameters(plan->plan);
    sfu_status status = SFU_OK;
    const float **columns = NULL;
    SFU_ALLOC(columns, parameters->count);
    for (int i = 0; i < parameters->count; i++) {
        columns[i] = sfu__parameter_column(&parameters->items[i], plan->net, cache->dataset);
    }
    SFU_TRY(sfu__gpu_trainer_new(trainer, on->gpu, plan->plan, plan->net, columns, on->objective, on->epochs));
done:
    sfu__free(columns);
    return status;
}

/* LPNN has no plan: its program is made from its executor. */
static sfu_status translate_lpnn(sfu__gpu_trainer **trainer, const sfu__shared_plan *plan,
                                 const sfu__runner_cache *cache, const sfu__plan_request *request) {
    const sfu__cache_gpu *on = &cache->gpu;
    sfu_status status = SFU_OK;
    sfu__runner runner = {0};
    SFU_TRY(sfu__runner_make_of(&runner, cache->dataset, plan->net, request, NULL, NULL));
    SFU_TRY(sfu__gpu_trainer_new_lpnn(trainer, on->gpu, runner.lpnn, on->objective, on->epochs));
done:
    sfu__runner_clear(&runner);
    return status;
}

/* The program replaces the plan. */
static sfu_status make_trainer(sfu__shared_plan *plan, const sfu__runner_cache *cache,
                               const sfu__plan_request *request) {
    const sfu_status status = plan->plan != NULL ? translate(&plan->trainer, plan, cache)
                                                 : translate_lpnn(&plan->trainer, plan, cache, request);
    sfu__plan_release(plan->plan);
    plan->plan = NULL;
    if (status == SFU_ERR_UNSUPPORTED) {
        plan->refusal = sfu__copy_string(sfu_message());
        return plan->refusal != NULL ? SFU_OK : SFU_ERR_MEMORY;
    }
    return status;
}

/* Called without the lock. Some networks need no plan: it is then NULL. */
static sfu_status make_plan(sfu__shared_plan *plan, const sfu__runner_cache *cache, const sfu_net *net,
                            double dropout) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__net_copy(&plan->net, net));
    sfu__plan_request request = sfu__train_request(plan->net, cache->split, dropout, 1, cpu);
    request.stages = plan->staged && cache->stages.nodes != NULL ? &cache->stages : NULL;
    if (cache->memory > 0) {
        request.memory = cache->memory;
        request.used_before = cache->used_before;
        request.threads = request.executors = atomic_load(&cache->trainers);
    }
    SFU_TRY(sfu__runner_plan(&plan->plan, cache->dataset, plan->net, &request));
    if (plan->plan != NULL) {
        sfu__plan_drop_factors(plan->plan);
    }
    SFU_TRY(plan->for_gpu ? make_trainer(plan, cache, &request) : SFU_OK);
done:
    return status;
}

void sfu__runner_cache_release(sfu__runner_cache *cache, sfu__shared_plan *plan) {
    pthread_mutex_lock(&cache->lock);
    plan->users--;
    pthread_mutex_unlock(&cache->lock);
}

/* If another thread fails to make the plan that this one waits for, this one tries. */
static sfu_status acquire_plan(sfu__shared_plan **found, sfu__runner_cache *cache, const char *key, const sfu_net *net,
                               double dropout, bool for_gpu) {
    sfu_status status = SFU_OK;
    pthread_mutex_lock(&cache->lock);
    sfu__shared_plan *plan = find(cache, key, for_gpu);
    while (plan != NULL && !plan->made) {
        pthread_cond_wait(&cache->made, &cache->lock);
        plan = find(cache, key, for_gpu);
    }
    if (plan != NULL) {
        plan->users++;
        goto done;
    }
    plan = add(cache, key, for_gpu);
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

/* On a GPU the weights of LPNN's objective belong to a training: a program serves all of them. */
static sfu_status write_key(sfu__text *key, const sfu__runner_cache *cache, const sfu_net *net, double dropout,
                            bool for_gpu) {
    const bool drops = sfu__train_request(net, cache->split, dropout, 1, cpu).dropout;
    const sfu__lpnn *lpnn = &net->lpnn;
    return for_gpu && net->is_lpnn
               ? sfu__text_format(key, "%d lpnn %d %d %d", drops, (int)lpnn->f, lpnn->input_f, lpnn->output_g)
               : sfu__text_format(key, "%d %s", drops, sfu_net_text(net));
}

/* ---- programs for a GPU ------------------------------------------------------------------------------------------ */

sfu_status sfu__runner_cache_acquire(sfu__shared_plan **plan, sfu__runner_cache *cache, const sfu_net *net,
                                     double dropout) {
    sfu_status status = SFU_OK;
    sfu__text key = {0};
    *plan = NULL;
    SFU_TRY(write_key(&key, cache, net, dropout, true));
    SFU_TRY(acquire_plan(plan, cache, key.bytes, net, dropout, true));
done:
    sfu__text_clear(&key);
    return status;
}

const sfu__gpu_trainer *sfu__shared_plan_trainer(const sfu__shared_plan *plan, const char **why) {
    *why = plan->refusal;
    return plan->trainer;
}

void sfu__runner_cache_shrink(sfu__runner_cache *cache) {
    pthread_mutex_lock(&cache->lock);
    evict_plans(cache, 0);
    pthread_mutex_unlock(&cache->lock);
}

/* ---- runners of a thread ----------------------------------------------------------------------------------------- */

static void drop_runner(sfu__runner_cache *cache, cached_runner *kept) {
    if (kept->plan != NULL) {
        sfu__runner_clear(&kept->runner);
        sfu__runner_cache_release(cache, kept->plan);
        kept->plan = NULL;
    }
}

/* The runner of this key, else a free or the least recently used entry. */
static cached_runner *find_runner(thread_runners *own, const char *key) {
    cached_runner *oldest = &own->kept[0];
    for (int i = 0; i < RUNNERS_MAX; i++) {
        cached_runner *kept = &own->kept[i];
        if (kept->plan != NULL && strcmp(kept->plan->key, key) == 0) {
            return kept;
        }
        if (kept->plan == NULL || (oldest->plan != NULL && kept->used < oldest->used)) {
            oldest = kept;
        }
    }
    return oldest;
}

/* Evicts the least recently used runners until the rest is small enough. */
static void evict_runners(sfu__runner_cache *cache, thread_runners *own) {
    for (;;) {
        cached_runner *oldest = NULL;
        int64_t bytes = 0;
        for (int i = 0; i < RUNNERS_MAX; i++) {
            cached_runner *kept = &own->kept[i];
            if (kept->plan != NULL) {
                bytes += kept->runner.bytes;
                oldest = oldest == NULL || kept->used < oldest->used ? kept : oldest;
            }
        }
        if (bytes <= (cache->memory > 0 ? 0 : RUNNER_BYTES_MAX)) {
            return;
        }
        drop_runner(cache, oldest);
    }
}

static sfu_status make_runner(cached_runner *kept, sfu__runner_cache *cache, const char *key, const sfu_net *net,
                              double dropout, sfu__team *team) {
    sfu_status status = SFU_OK;
    SFU_TRY(acquire_plan(&kept->plan, cache, key, net, dropout, false));
    sfu__plan_request request = sfu__train_request(kept->plan->net, cache->split, dropout, 1, cpu);
    request.memory = cache->memory; /* of LPNN, which has no plan */
    SFU_TRY(sfu__runner_make_of(&kept->runner, cache->dataset, kept->plan->net, &request, kept->plan->plan, team));
done:
    if (status != SFU_OK) {
        drop_runner(cache, kept);
    }
    return status;
}

/* Without enough memory: once again without the plans that nobody uses. */
static sfu_status make_runner_within(cached_runner *kept, sfu__runner_cache *cache, const char *key, const sfu_net *net,
                                     double dropout, sfu__team *team) {
    pthread_mutex_lock(&cache->planning);
    sfu_status status = make_runner(kept, cache, key, net, dropout, team);
    if (status == SFU_ERR_MEMORY) {
        sfu__runner_cache_shrink(cache);
        status = make_runner(kept, cache, key, net, dropout, team);
    }
    pthread_mutex_unlock(&cache->planning);
    return status;
}

/* Evicts runners whose plan has no validation stages, once these are known. */
static void evict_unstaged(sfu__runner_cache *cache, thread_runners *own) {
    pthread_mutex_lock(&cache->lock);
    const bool known = cache->stages_known;
    pthread_mutex_unlock(&cache->lock);
    for (int i = 0; known && i < RUNNERS_MAX; i++) {
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
    evict_unstaged(cache, own);
    SFU_TRY(write_key(&key, cache, net, dropout, false));
    cached_runner *kept = find_runner(own, key.bytes);
    if (kept->plan == NULL || strcmp(kept->plan->key, key.bytes) != 0) {
        drop_runner(cache, kept);
        evict_runners(cache, own);
        SFU_TRY(
            (cache->memory > 0 ? make_runner_within : make_runner)(kept, cache, key.bytes, net, dropout, own->team));
    }
    kept->used = ++own->clock;
    *runner = &kept->runner;
done:
    sfu__text_clear(&key);
    return status;
}

void sfu__runner_cache_leave(sfu__runner_cache *cache, int thread) {
    for (int i = 0; i < RUNNERS_MAX; i++) {
        drop_runner(cache, &cache->threads[thread].kept[i]);
    }
    atomic_fetch_sub(&cache->trainers, 1);
}

/* ---- hardness of validation nodes -------------------------------------------------------------------------------- */

static int32_t *misses_of(const sfu__runner_cache *cache, int thread) {
    return cache->misses + (int64_t)thread * cache->hardness.count;
}

bool sfu__runner_cache_learns(sfu__runner_cache *cache) {
    pthread_mutex_lock(&cache->lock);
    const bool learnt = cache->learnt;
    pthread_mutex_unlock(&cache->lock);
    return !learnt;
}

int32_t *sfu__runner_cache_misses(sfu__runner_cache *cache, int thread, const sfu__runner *runner) {
    int32_t *misses = misses_of(cache, thread);
    if (!sfu__runner_cache_learns(cache) || !runner->stages_validation) {
        return NULL;
    }
    memset(misses, 0, (size_t)cache->hardness.count * sizeof *misses);
    return misses;
}

sfu_status sfu__runner_cache_learn(sfu__runner_cache *cache, int thread, int32_t epochs, int64_t right) {
    return sfu__runner_cache_learn_from(cache, misses_of(cache, thread), epochs, right);
}

sfu_status sfu__runner_cache_learn_from(sfu__runner_cache *cache, const int32_t *misses, int32_t epochs,
                                        int64_t right) {
    sfu_status status = SFU_OK;
    int32_t count = 0;
    const int32_t *nodes = sfu_split_part(cache->split, SFU_VAL, &count);
    pthread_mutex_lock(&cache->lock);
    if (!cache->learnt) {
        sfu__hardness_add(&cache->hardness, misses, epochs, right);
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

/* ---- construction ------------------------------------------------------------------------------------------------ */

sfu_status sfu__runner_cache_new(sfu__runner_cache **cache, const sfu_dataset *dataset, const sfu_split *split,
                                 int threads, const sfu__cache_gpu *gpu, int64_t memory) {
    sfu_status status = SFU_OK;
    sfu__runner_cache *self = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->dataset = dataset;
    self->split = split;
    self->gpu = gpu != NULL ? *gpu : (sfu__cache_gpu){0};
    self->memory = memory;
    self->learnt = memory > 0; /* stages are not worth another plan of every network */
    pthread_mutex_init(&self->planning, NULL);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->made, NULL);
    *cache = self;
    int32_t count = 0;
    (void)sfu_split_part(split, SFU_VAL, &count);
    SFU_TRY(sfu__hardness_make(&self->hardness, count));
    SFU_ALLOC_ZERO(self->threads, threads);
    SFU_ALLOC(self->misses, (int64_t)threads * count);
    for (; self->thread_count < threads; self->thread_count++) {
        SFU_TRY(sfu__team_open(&self->threads[self->thread_count].team, threads < TEAM_MAX ? threads : TEAM_MAX));
    }
    atomic_store(&self->trainers, threads);
    self->used_before = sfu__process_memory();
done:
    return status;
}

sfu__team *sfu__runner_cache_team(const sfu__runner_cache *cache, int thread) { return cache->threads[thread].team; }

void sfu__runner_cache_free(sfu__runner_cache *cache) {
    if (cache == NULL) {
        return;
    }
    for (int i = 0; i < cache->thread_count * RUNNERS_MAX; i++) {
        drop_runner(cache, &cache->threads[i / RUNNERS_MAX].kept[i % RUNNERS_MAX]);
    }
    for (int i = 0; i < cache->thread_count; i++) {
        sfu__team_free(cache->threads[i].team);
    }
    while (cache->plans != NULL) {
        remove_plan(cache, cache->plans);
    }
    pthread_cond_destroy(&cache->made);
    pthread_mutex_destroy(&cache->lock);
    pthread_mutex_destroy(&cache->planning);
    sfu__hardness_clear(&cache->hardness);
    sfu__free(cache->stages.nodes);
    sfu__free(cache->misses);
    sfu__free(cache->threads);
    sfu__free(cache);
}
