/* run_progress.c - how far a run is: cells of the tables, studies, trials, remaining time. */
#include "clock.h"
#include "file.h"
#include "format_number.h"
#include "published.h"
#include "run_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 3 * SFU__NAME_MAX };

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static bool is_same_cell(const sfu__task *one, const sfu__task *other) {
    sfu__task copy = *one;
    memcpy(copy.split, other->split, sizeof copy.split);
    return sfu__task_same(&copy, other);
}

/* The last cell is the most likely one: tasks of a cell follow each other. */
static int find_cell(const sfu__running *run, const sfu__task *task) {
    int i = run->cell_count - 1;
    while (i >= 0 && !is_same_cell(run->cells[i].task, task)) {
        i--;
    }
    return i;
}

sfu_status sfu__run_list_cells(sfu__running *run) {
    sfu_status status = SFU_OK;
    const sfu__tasks *tasks = run->tasks;
    SFU_ALLOC(run->cell_of, tasks->count);
    SFU_ALLOC_ZERO(run->cells, tasks->count);
    for (int i = 0; i < tasks->count; i++) {
        run->cell_of[i] = -1;
        if (!run->mine[run->leaders[i]]) {
            continue;
        }
        int cell = find_cell(run, &tasks->items[i]);
        if (cell < 0) {
            cell = run->cell_count++;
            run->cells[cell].task = &tasks->items[i];
        }
        run->cell_of[i] = cell;
        run->cells[cell].total++;
    }
done:
    return status;
}

/* "set1 cora gcn", "layers cora gcn k=3", "cora gcn, size 1" */
static void name_cell(char name[NAME], const sfu__running *run, const sfu__task *task) {
    const char *kind = run->options->request->kind;
    const char *table = strcmp(kind, "compare") == 0 ? NULL : strcmp(kind, "all") == 0 ? sfu__task_table(task) : kind;
    const bool full = sfu__run_dataset(run, task)->has_namesake;
    int used = snprintf(name, NAME, "%s%s%s %s", table != NULL ? table : "", table != NULL ? " " : "",
                        full ? task->dataset : sfu__path_base(task->dataset), task->net);
    if (table == NULL) {
        used += snprintf(name + used, NAME - (size_t)used, ", %s%s", strcmp(task->size, "standard") == 0 ? "" : "size ",
                         task->size);
    }
    if (task->k > 0) {
        used += snprintf(name + used, NAME - (size_t)used, " k=%d", task->k);
    }
    if (!isnan(task->alpha)) {
        snprintf(name + used, NAME - (size_t)used, " alpha=%g beta=%g", task->alpha, task->beta);
    }
}

/* "set1 cora gcn: 81.6 (1.2), 10 splits" */
static void describe_result(char *text, size_t size, const sfu__running *run, const sfu__run_cell *cell) {
    char name[NAME], mean_text[SFU__FIXED_MAX], std_text[SFU__FIXED_MAX];
    const bool accuracy = run->entries->metric == SFU_METRIC_ACCURACY;
    double sum = 0.0, squares = 0.0;
    int count = 0;
    for (int i = 0; i < run->tasks->count; i++) {
        const bool in_cell = run->cell_of[i] == (int)(cell - run->cells);
        const sfu__entry *entry = in_cell ? sfu__entries_find(run->entries, &run->tasks->items[i]) : NULL;
        if (entry != NULL) {
            const double score = 100.0 * (accuracy ? entry->test_accuracy : entry->test_score);
            sum += score;
            squares += score * score;
            count++;
        }
    }
    const double mean = sum / count, variance = count > 1 ? (squares - count * mean * mean) / (count - 1) : 0.0;
    name_cell(name, run, cell->task);
    sfu__fixed(mean_text, mean, 1);
    sfu__fixed(std_text, sqrt(variance > 0.0 ? variance : 0.0), 1);
    if (count > 1) {
        snprintf(text, size, "%s: %s (%s), %d splits", name, mean_text, std_text, count);
    } else {
        snprintf(text, size, "%s: %s", name, mean_text);
    }
}

/* ---- the callback ------------------------------------------------------------------------------------------------ */

/* Remaining time, from the cost of this call's trials so far, weighted by the predicted epoch times of the networks. */
static double seconds_left(const sfu__running *run) {
    double done = 0.0, left = 0.0;
    for (int i = 0; i < run->count; i++) {
        const sfu__job *job = &run->jobs[i];
        const int32_t trials = atomic_load(&job->trials);
        const bool started = atomic_load(&job->started);
        done += started && trials > job->known ? job->weight * (trials - job->known) : 0.0;
        left += job->weight * (job->task->trials - (trials > job->known ? trials : job->known));
    }
    return done > 0.0 ? left * (sfu__now() - run->began) / done : NAN;
}

/* "set1 cora gcn, 3 of 10 splits": the cell of a study that runs. */
static void describe_cell(char *text, size_t size, const sfu__running *run, const sfu__task *task) {
    const int index = run->cell_of[task - run->tasks->items];
    const sfu__run_cell *cell = &run->cells[index];
    char name[NAME];
    name_cell(name, run, task);
    if (cell->total > 1) {
        snprintf(text, size, "%s, %d of %d splits", name, cell->done, cell->total);
    } else {
        snprintf(text, size, "%s", name);
    }
}

/* A wish to stop is remembered. */
static void call_back(sfu__running *run, const char *finished) {
    sfu_compare_progress progress = {.done = run->before + run->collected,
                                     .total = run->before + run->count,
                                     .trials = run->trials_before,
                                     .all = run->trials_before,
                                     .seconds_left = seconds_left(run),
                                     .cells = run->cell_count,
                                     .finished = finished};
    char what[NAME + 64] = "";
    const sfu__task *running = NULL;
    for (int i = 0; i < run->count; i++) {
        const sfu__job *job = &run->jobs[i];
        const int32_t trials = atomic_load(&job->trials);
        progress.trials += trials > job->known ? trials : job->known;
        progress.all += job->task->trials;
        if (atomic_load(&job->started) && trials < job->task->trials && running == NULL) {
            running = job->task; /* the first: its cell ends next */
        }
    }
    for (int i = 0; i < run->cell_count; i++) {
        progress.cells_done += run->cells[i].done == run->cells[i].total;
    }
    if (running != NULL) {
        describe_cell(what, sizeof what, run, running);
    }
    progress.what = what;
    if (run->options->on_progress != NULL && !run->cancelled) {
        run->cancelled = !run->options->on_progress(run->options->on_progress_user, &progress);
    }
}

sfu_status sfu__run_report_progress(sfu__running *run) {
    call_back(run, NULL);
    return !run->cancelled ? SFU_OK
                           : sfu__fail(SFU_ERR_CANCELLED, "the comparison was stopped after %d of %d studies",
                                       run->before + run->collected, run->before + run->count);
}

void sfu__run_count_done(sfu__running *run, int task, bool tell) {
    char text[NAME + 160];
    for (int i = task; i < run->tasks->count; i++) {
        if (run->leaders[i] != task || run->cell_of[i] < 0) {
            continue;
        }
        sfu__run_cell *cell = &run->cells[run->cell_of[i]];
        cell->done++;
        if (tell && cell->done == cell->total) {
            describe_result(text, sizeof text, run, cell);
            call_back(run, text);
        }
    }
}
