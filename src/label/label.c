/* label.c - sfu_label: runs the steps of a labelling until the budget, the number of steps or the caller ends it.
 *
 * Time decides only how many steps are made: a step that is interrupted has no effect. A step begins only if it is
 * expected to end within the budget, and is interrupted if it exceeds the budget by more than a tenth; the first step
 * always runs to its end, so that there is a result.
 */
#include "label.h"
#include "progress.h"
#include "sized_struct.h"

#include "clock.h"
#include "dataset.h"
#include "gpu_choice.h"
#include "memory.h"
#include "parallel.h"
#include "plan.h"
#include "rank_group.h"
#include "scorer.h"
#include "shared_work.h"

#include <stdio.h>
#include <time.h>

static const double usual_seconds = 60, grace = 1.1, tick_s = 0.1;

/* Safety factor of the cost of a network that was not trained yet, relative to the most expensive one so far. */
static const double unknown_factor = 1.5;

void sfu_label_options_init_sized(sfu_label_options *options, size_t size) {
    const sfu_label_options defaults = {.size = sizeof defaults, .seconds = usual_seconds, .device = "auto"};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

/* One call of sfu_label. */
typedef struct run {
    const sfu_dataset *dataset;
    const sfu_label_options *options;
    sfu__gpu *gpu; /* or NULL */
    sfu__label_problem problems[SFU__LABEL_PROBLEMS];
    int folds;   /* problem number `folds` uses all labels */
    int threads; /* problems trained concurrently */
    sfu__label_work work;
    sfu__label_share *share; /* with other machines; NULL: none */
    pthread_t caller;        /* the thread that talks to them */
    sfu_status share_status; /* of their database, and its message */
    char share_message[SFU__MESSAGE_MAX];
    char exceeded[SFU__MESSAGE_MAX]; /* of sfu__label_work */
    int step, steps, wanted;
    sfu__label_item items[SFU__LABEL_ITEMS]; /* in progress */
    int item_count;
    sfu__label_item *queue[SFU__LABEL_ITEMS]; /* those of them that are trained next */
    int queued;
    sfu__label_step now; /* of the first of them */
    double start, reported;
    double longest;       /* seconds of the longest step of round 0 */
    bool complete;        /* every problem has a model */
    pthread_mutex_t lock; /* protects the next two fields, `reported` and `share_status` */
    bool cancelled, late;
} run;

/* ---- budget and cancellation ------------------------------------------------------------------------------------- */

static bool has_budget(const run *all) { return all->options->steps == 0 && all->options->seconds > 0; }

static void report_progress(run *all, double now) {
    const sfu_label_options *options = all->options;
    if (options->on_progress == NULL || now - all->reported < tick_s) {
        return;
    }
    all->reported = now;
    const sfu_label_progress progress = {
        .step = all->step,
        .steps = all->wanted,
        .seconds = now - all->start,
        .budget = has_budget(all) ? options->seconds : 0,
        .net = sfu__label_net_names[all->problems[all->folds].order[all->now.slot]],
    };
    all->cancelled = !options->on_progress(options->on_progress_user, &progress);
}

/* Renews the claims of this machine; only the calling thread does. */
static void keep_claims(run *all) {
    if (all->share == NULL || !pthread_equal(all->caller, pthread_self()) || all->share_status != SFU_OK) {
        return;
    }
    const sfu_status status = sfu__label_share_beat(all->share);
    pthread_mutex_lock(&all->lock);
    all->share_status = status;
    snprintf(all->share_message, sizeof all->share_message, "%s", sfu_message());
    pthread_mutex_unlock(&all->lock);
}

/* What this process wants; called from any thread. With ranks the clock of rank 0 of the group decides. */
static bool wants_to_continue(run *all) {
    const double now = sfu__now();
    keep_claims(all);
    pthread_mutex_lock(&all->lock);
    if (!all->cancelled) {
        report_progress(all, now);
    }
    all->late =
        all->complete && has_budget(all) && !sfu__ranks_obeys() && now - all->start > grace * all->options->seconds;
    const bool on = !all->cancelled && !all->late && all->share_status == SFU_OK;
    pthread_mutex_unlock(&all->lock);
    return on;
}

/* Once per epoch; ranks, which all call it, end together. */
static bool should_continue(void *user) { return !sfu__ranks_any(!wants_to_continue(user)); }

/* Callback while this thread plans or waits for the others. A rank would be the only one to end here: it ends with the
 * next epoch. */
static bool poll_should_continue(void *user, const sfu_progress *progress) {
    (void)progress;
    return wants_to_continue(user) || sfu__ranks_here() != NULL;
}

/* Expected time of the next step: its trials at their last duration, on the available threads. */
static double expected(const run *all) {
    double sum = 0, longest = 0;
    if (all->now.round == 0) {
        return unknown_factor * all->longest;
    }
    for (int i = 0; i <= all->folds; i++) {
        const sfu__label_problem *problem = &all->problems[i];
        const double one = problem->nets[problem->order[all->now.slot]].trial_s * all->now.trials;
        sum += one;
        longest = one > longest ? one : longest;
    }
    sum /= all->threads * sfu__label_groups();
    return sum > longest ? sum : longest;
}

/* With ranks, rank 0 decides. */
static bool fits(const run *all) {
    const bool exceeds = all->complete && has_budget(all) && !sfu__ranks_follows() &&
                         sfu__now() - all->start + expected(all) > all->options->seconds;
    return !sfu__processes_any(exceeds);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static sfu_status train_item(void *context, int64_t item, int thread) {
    run *all = context;
    (void)thread;
    return sfu__label_train(all->queue[item], &all->work);
}

/* Trains the items in the queue. */
static sfu_status train_queue(run *all) {
    const sfu_status status = sfu__parallel(train_item, all, all->queued, all->threads);
    all->queued = 0;
    return status;
}

static void clear_items(run *all) {
    for (int i = 0; i < all->item_count; i++) {
        sfu__label_item_clear(&all->items[i]);
    }
    all->item_count = 0;
}

static bool is_complete(const run *all) {
    bool complete = true;
    for (int i = 0; i <= all->folds; i++) {
        complete = complete && all->problems[i].nets[sfu__label_choice(&all->problems[i])].best.model != NULL;
    }
    return complete;
}

/* With several groups of ranks: those of this one, and then the models of the others. */
static sfu_status train_items(run *all) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < all->item_count; i++) {
        if (sfu__label_group_has(i)) {
            all->queue[all->queued++] = &all->items[i];
        }
    }
    SFU_TRY(sfu__label_groups_end(train_queue(all)));
    sfu__label_groups_tell(all->items, all->item_count);
    for (int i = 0; i < all->item_count; i++) {
        if (!sfu__label_group_has(i)) {
            all->queue[all->queued++] = &all->items[i];
        }
    }
    SFU_TRY(sfu__label_groups_end(train_queue(all)));
done:
    return status;
}

static sfu_status make_step(run *all) {
    sfu_status status = SFU_OK;
    const double start = sfu__now();
    for (; all->item_count <= all->folds; all->item_count++) {
        SFU_TRY(sfu__label_item_start(&all->items[all->item_count], &all->problems[all->item_count], all->step,
                                      &all->work));
    }
    SFU_TRY(train_items(all));
    const double took = sfu__now() - start;
    all->longest = all->now.round == 0 && took > all->longest ? took : all->longest;
    for (int i = 0; i < all->item_count; i++) {
        sfu__label_take(&all->items[i]);
    }
    all->complete = is_complete(all);
    all->step++;
done:
    clear_items(all);
    return status;
}

/* An interruption after the first result is a normal end. */
static sfu_status make_steps(run *all) {
    sfu_status status = SFU_OK;
    while (all->step < all->wanted) {
        all->now = sfu__label_step_at(all->work.nets.count, all->step);
        for (int i = 0; i <= all->folds && all->now.slot == 0; i++) {
            sfu__label_rank(&all->problems[i], &all->work.nets, all->now.round);
        }
        if (!fits(all)) {
            break;
        }
        status = make_step(all);
        if (status == SFU_ERR_CANCELLED && all->complete) {
            status = SFU_OK;
            break;
        }
        SFU_TRY(status);
    }
done:
    return status;
}

/* Other machines train what is left. */
static sfu_status wait_for_others(void) {
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    return sfu__poll();
}

static sfu_status make_shared_items(run *all) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__label_share_next(all->share, all->threads, all->items, &all->item_count));
    SFU_TRY(all->item_count == 0 ? wait_for_others() : SFU_OK);
    all->now = all->item_count > 0 ? all->items[0].step : all->now;
    SFU_TRY(train_items(all));
    for (int i = 0; i < all->item_count; i++) {
        SFU_TRY(sfu__label_share_done(all->share, &all->items[i]));
        sfu__label_take(&all->items[i]);
    }
done:
    clear_items(all);
    return status;
}

/* An interruption ends without a result: the machines would have different ones. */
static sfu_status make_shared_steps(run *all) {
    sfu_status status = SFU_OK;
    while (sfu__label_share_left(all->share) > 0) {
        status = make_shared_items(all);
        if (all->share_status != SFU_OK) {
            sfu__set_message(all->share_message);
            status = all->share_status;
        }
        SFU_TRY(status);
        all->step = all->wanted - (sfu__label_share_left(all->share) + all->folds) / (all->folds + 1);
    }
    all->complete = is_complete(all);
done:
    return status;
}

static sfu_status make_all_steps(run *all) {
    sfu_status status = SFU_OK;
    const sfu__watch before = sfu__watch_start(poll_should_continue, all, "labelling");
    if (all->options->share != NULL) {
        SFU_TRY(sfu__label_share_open(&all->share, all->options->share, all->problems, all->folds + 1, all->wanted,
                                      &all->work));
    }
    SFU_TRY(all->share != NULL ? make_shared_steps(all) : make_steps(all));
    if (!all->complete && all->exceeded[0] != '\0') {
        sfu__set_message(all->exceeded);
        status = SFU_ERR_MEMORY;
    } else if (!all->complete) {
        status = sfu__fail(SFU_ERR_DIVERGED, "no network could be trained: all training runs diverged");
    }
done:
    sfu__watch_end(before);
    return status;
}

/* ---- start and end ----------------------------------------------------------------------------------------------- */

static sfu_status check_options(const sfu_label_options *options) {
    if (!(options->seconds >= 0) || options->steps < 0) {
        return sfu__fail(SFU_ERR_ARGUMENT, "the budget must be a number of seconds or steps of at least 0");
    }
    if (options->share != NULL && options->steps == 0) {
        return sfu__fail(SFU_ERR_ARGUMENT, "share: expected a budget in steps; how many steps a time allows depends on "
                                           "the machine");
    }
    if (options->share != NULL && sfu__processes_here() != NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "share: processes that have joined their ranks share no database");
    }
    if (!(options->coverage >= 0 && options->coverage < 1)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "coverage %g: it must be at least 0 (0: no label sets) and below 1",
                         options->coverage);
    }
    if (sfu_metric_name((int)options->metric, NULL) == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "metric %d: unknown value", (int)options->metric);
    }
    return SFU_OK;
}

/* Each training reads the device again; one that was asked for stays open from one to the next. */
static sfu_status open_device(run *all) {
    sfu_status status = SFU_OK;
    sfu__device device;
    SFU_TRY(sfu__device_parse(&device, all->options->device, all->options->memory));
    SFU_TRY(sfu__gpu_choose(&all->gpu, device, 0, 0));
done:
    return status;
}

static sfu_status prepare(run *all) {
    sfu_status status = SFU_OK;
    const sfu_dataset *dataset = all->dataset;
    const sfu_label_options *options = all->options;
    int32_t labelled = 0;
    SFU_TRY(check_options(options));
    SFU_TRY(sfu__shared_work_check(options->share));
    SFU_TRY(sfu__label_separate(dataset));
    SFU_TRY(open_device(all));
    SFU_TRY(sfu__plan_check_data(dataset, options->memory));
    SFU_TRY(sfu__label_problems(all->problems, &all->folds, dataset, options->seed));
    sfu_split_part(all->problems[all->folds].all, SFU_TRAIN, &labelled);
    const int jobs = sfu__thread_count(options->jobs), cores = sfu__thread_count(0);
    const int groups = sfu__label_groups(), own = (all->folds + groups) / groups;
    const bool one = sfu__ranks_here() != NULL || options->memory > 0; /* one training after the other */
    const int at_once = one ? 1 : own;
    all->threads = jobs < at_once ? jobs : at_once;
    all->work = (sfu__label_work){.dataset = dataset,
                                  .seed = options->seed,
                                  .jobs = (jobs < cores ? jobs : cores) / all->threads,
                                  .metric = options->metric,
                                  .positive = sfu__positive_class(dataset->labels, dataset->nodes, dataset->classes),
                                  .balanced = options->balanced,
                                  .coverage = options->coverage,
                                  .device = options->device,
                                  .memory = options->memory,
                                  .shared = options->share != NULL,
                                  .exceeded = all->exceeded,
                                  .should_continue = should_continue,
                                  .user = all};
    all->work.jobs = all->work.jobs > 0 ? all->work.jobs : 1;
    SFU_TRY(sfu__label_nets_read(&all->work.nets, options->nets));
    if (options->memory > 0) {
        SFU_TRY(sfu__label_nets_fit(&all->work.nets, &all->problems[all->folds], &all->work, options->nets != NULL));
    }
    SFU_TRY(sfu__label_nets_order(&all->work.nets, all->problems, all->folds, &all->work));
    all->steps = sfu__label_steps(all->work.nets.count, labelled);
    all->wanted = all->options->steps > 0 && all->options->steps < all->steps ? all->options->steps : all->steps;
    SFU_TRY(sfu__label_ranks_agree(&all->work, all->wanted));
done:
    return status;
}

static void fill_summary(sfu_label_summary *summary, const run *all) {
    summary->steps = all->step;
    summary->all_steps = all->steps;
    summary->interrupted = sfu__processes_any(all->cancelled);
    summary->ranks_per_trial = sfu__ranks_here() != NULL ? sfu__ranks_here()->count : 1;
    summary->cut = all->step < all->work.nets.count;
    summary->seconds = sfu__now() - all->start;
    for (int i = 0; i <= all->folds; i++) {
        summary->trainings += all->problems[i].trainings;
    }
}

static sfu_status finish(sfu_labelling **labelling, run *all) {
    sfu_status status = SFU_OK;
    sfu_labelling *made = NULL;
    const sfu__watch before = sfu__watch_flag(NULL); /* there is a result: do not cancel */
    all->work.jobs *= all->threads;                  /* one prediction after the other */
    SFU_ALLOC_ZERO(made, 1);
    SFU_TRY(sfu__label_measure(made, all->problems, all->folds, &all->work));
    fill_summary(&made->summary, all);
    *labelling = made;
    made = NULL;
done:
    sfu__watch_end(before);
    sfu_labelling_free(made);
    return status;
}

sfu_status sfu_label(sfu_labelling **labelling, const sfu_dataset *dataset, const sfu_label_options *given) {
    sfu_status status = SFU_OK;
    sfu_label_options options;
    run all = {.dataset = dataset, .options = &options, .start = sfu__now(), .caller = pthread_self()};
    *labelling = NULL;
    pthread_mutex_init(&all.lock, NULL);
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_label_options));
    SFU_TRY(prepare(&all));
    SFU_TRY(make_all_steps(&all));
    SFU_TRY(finish(labelling, &all));
done:
    sfu__label_share_close(all.share);
    for (int i = 0; i < SFU__LABEL_PROBLEMS; i++) {
        sfu__label_problem_clear(&all.problems[i]);
    }
    sfu__gpu_close(all.gpu);
    sfu__ranks_unite();
    pthread_mutex_destroy(&all.lock);
    return status;
}
