/* run_fit.c - which networks of a comparison fit its memory limit.
 *
 * Before the first study the largest trial of each cell is planned on its first split. A cell that does not fit has no
 * studies: the others have the results of a comparison without a limit, and a later call with a larger limit computes
 * what is missing.
 */
#include "run_int.h"

#include "tune_fit.h"

#include <string.h>

static int cell_of(const sfu__running *run, const sfu__job *job) { return run->cell_of[job->task - run->tasks->items]; }

/* *needs: 0 if the network fits. */
static sfu_status measure(int64_t *needs, const sfu__running *run, const sfu__job *job) {
    sfu_status status = SFU_OK;
    sfu__space *space = NULL;
    sfu_train_options train;
    sfu_train_options_init(&train);
    train.memory = run->options->memory;
    train.threads = run->job_threads;
    SFU_TRY(sfu__run_space(&space, run, job->task));
    status = sfu__tune_fits(needs, job->dataset, job->split, space, &train);
    status = *needs > 0 ? SFU_OK : status;
done:
    sfu__space_free(space);
    return status;
}

static sfu_status measure_all(int64_t *needs, const sfu__running *run) {
    sfu_status status = SFU_OK;
    int last = -1;
    for (int i = 0; i < run->count; i++) {
        const int cell = cell_of(run, &run->jobs[i]);
        if (cell != last && needs[cell] == 0) { /* jobs of a cell follow each other */
            SFU_TRY(measure(&needs[cell], run, &run->jobs[i]));
        }
        last = cell;
    }
done:
    return status;
}

static void list_cell(sfu__left_outs *list, const sfu__task *task, int64_t needs) {
    sfu__left_out *item = &list->items[list->count++];
    item->task = *task;
    item->shown = (sfu_left_out){.dataset = item->task.dataset,
                                 .net = item->task.net,
                                 .size = item->task.size,
                                 .needs = sfu__size_text(item->needs, (double)needs)};
}

/* A job takes the tasks with the same training with it. */
static void drop_job(sfu__running *run, const sfu__job *job) {
    const int leader = (int)(job->task - run->tasks->items);
    for (int i = leader; i < run->tasks->count; i++) {
        if (run->leaders[i] == leader && run->cell_of[i] >= 0) {
            run->cells[run->cell_of[i]].total--;
        }
    }
}

static void drop_jobs(sfu__running *run, int64_t *needs) {
    int kept = 0;
    for (int i = 0; i < run->count; i++) {
        const int cell = cell_of(run, &run->jobs[i]);
        if (needs[cell] == 0) {
            memmove(&run->jobs[kept++], &run->jobs[i], sizeof *run->jobs);
            continue;
        }
        drop_job(run, &run->jobs[i]);
        if (needs[cell] > 0) {
            list_cell(run->options->left_out, run->jobs[i].task, needs[cell]);
            needs[cell] = -1; /* listed */
        }
    }
    run->count = kept;
}

static sfu_status refuse_all(const sfu__running *run, const int64_t *needs) {
    char text[SFU__SIZE_MAX], limit[SFU__SIZE_MAX];
    const sfu__job *smallest = &run->jobs[0];
    for (int i = 0; i < run->count; i++) {
        const int64_t needed = needs[cell_of(run, &run->jobs[i])];
        smallest = needed < needs[cell_of(run, smallest)] ? &run->jobs[i] : smallest;
    }
    return sfu__fail(SFU_ERR_MEMORY,
                     "no network fits the memory limit of %s; the smallest, %s on %s, needs up to %s; use a larger "
                     "limit",
                     sfu__size_text(limit, (double)run->options->memory), smallest->task->net, smallest->task->dataset,
                     sfu__size_text(text, (double)needs[cell_of(run, smallest)]));
}

static bool fits_none(const sfu__running *run, const int64_t *needs) {
    bool none = run->count > 0 && run->entries->count == 0;
    for (int i = 0; i < run->count; i++) {
        none = none && needs[cell_of(run, &run->jobs[i])] > 0;
    }
    return none;
}

sfu_status sfu__run_leave_out(sfu__running *run) {
    sfu_status status = SFU_OK;
    int64_t *needs = NULL; /* per cell; 0: it fits */
    if (run->options->memory == 0) {
        return SFU_OK;
    }
    SFU_ALLOC_ZERO(needs, run->cell_count);
    SFU_ALLOC_ZERO(run->options->left_out->items, run->cell_count);
    SFU_TRY(measure_all(needs, run));
    if (run->dataset_count > 1) { /* a plan in memory keeps the indices of its dataset, which the others must bear */
        SFU_TRY(measure_all(needs, run));
    }
    if (fits_none(run, needs)) {
        status = refuse_all(run, needs);
        goto done;
    }
    drop_jobs(run, needs);
done:
    sfu__free(needs);
    return status;
}
