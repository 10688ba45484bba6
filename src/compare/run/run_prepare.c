/* run_prepare.c - preparation and checks of a run, before the first training and before anything is written. */
#include "run_int.h"

#include "beyond.h"
#include "dataset.h"
#include "file.h"
#include "progress.h"
#include "space.h"

#include <math.h>
#include <string.h>

/* ---- datasets and splits ----------------------------------------------------------------------------------------- */

const sfu__open_dataset *sfu__run_dataset(const sfu__running *run, const sfu__task *task) {
    for (int i = 0; i < run->dataset_count; i++) {
        if (strcmp(run->datasets[i].given, task->dataset) == 0) {
            return &run->datasets[i];
        }
    }
    return NULL;
}

static bool is_namesake(const char *one, const char *other) {
    return strcmp(sfu__path_base(one), sfu__path_base(other)) == 0 && strcmp(one, other) != 0;
}

/* Whether a dataset of this call or of an earlier one is in a file with the same name in another folder. */
static bool has_namesake(const sfu__running *run, const char *given) {
    bool has = false;
    for (int i = 0; i < run->tasks->count; i++) {
        has = has || is_namesake(given, run->tasks->items[i].dataset);
    }
    for (int i = 0; i < run->entries->count; i++) {
        has = has || is_namesake(given, run->entries->items[i].task.dataset);
    }
    return has;
}

/* Missing datasets of the paper are reported together, so that one command downloads them. */
static sfu_status add_missing(const sfu__running *run, sfu__string_list *missing, const char *name) {
    const bool paper = strcmp(run->options->request->kind, "compare") != 0 && sfu__paper_dataset_of(name) != NULL &&
                       strpbrk(name, "/.") == NULL;
    if (!paper || sfu__string_list_has(missing, name)) {
        return paper ? SFU_OK : SFU_ERR_NOT_FOUND; /* its message is set */
    }
    return sfu__string_list_add(missing, name);
}

static sfu_status fail_missing(const sfu__string_list *missing) {
    sfu_status status = SFU_OK;
    sfu__text names = {0};
    for (int i = 0; i < missing->count; i++) {
        SFU_TRY(sfu__text_format(&names, " %s", missing->items[i]));
    }
    if (missing->count > 0) {
        status = sfu__fail(SFU_ERR_NOT_FOUND, "datasets not found:%s; download them with: sfumato data get%s",
                           names.bytes, names.bytes);
    }
done:
    sfu__text_clear(&names);
    return status;
}

static sfu_status open_datasets(sfu__running *run) {
    sfu_status status = SFU_OK;
    sfu__string_list missing = {0};
    SFU_ALLOC_ZERO(run->datasets, run->tasks->count);
    for (int i = 0; i < run->tasks->count; i++) {
        const sfu__task *task = &run->tasks->items[i];
        if (sfu__run_dataset(run, task) == NULL) {
            sfu__open_dataset *opened = &run->datasets[run->dataset_count];
            opened->given = task->dataset;
            opened->has_namesake = has_namesake(run, task->dataset);
            const char *path = task->path[0] != '\0' ? task->path : task->dataset;
            status = sfu__task_open(&opened->dataset, task, run->options->request, run->options->memory);
            if (status == SFU_ERR_NOT_FOUND) {
                SFU_TRY(add_missing(run, &missing, path));
                continue;
            }
            SFU_TRY(status);
            run->dataset_count++;
            SFU_TRY(run->options->memory > 0 ? sfu__dataset_check_streamed(opened->dataset)
                                             : sfu_dataset_check(opened->dataset));
        }
    }
    SFU_TRY(fail_missing(&missing));
done:
    sfu__string_list_clear(&missing);
    return status;
}

static const sfu_split *split_of(const sfu__running *run, const sfu__task *task) {
    for (int i = 0; i < run->split_count; i++) {
        const sfu__task *other = run->splits[i].task;
        if (strcmp(other->dataset, task->dataset) == 0 && strcmp(other->size, task->size) == 0 &&
            strcmp(other->split, task->split) == 0) {
            return run->splits[i].split;
        }
    }
    return NULL;
}

/* Messages about a split are logged here, once per dataset. */
static sfu_status open_split(sfu__running *run, sfu__job *job) {
    sfu_status status = SFU_OK;
    const bool standard = strcmp(job->task->size, "standard") == 0;
    job->split = split_of(run, job->task);
    if (job->split == NULL) {
        sfu__open_split *opened = &run->splits[run->split_count];
        opened->task = job->task;
        sfu__log_once(run->options->log_filter, sfu_dataset_name(job->dataset));
        status = sfu_split_new(&opened->split, job->dataset, job->task->split, standard ? NULL : job->task->size);
        sfu__log_once(run->options->log_filter, NULL);
        SFU_TRY(status);
        run->split_count++;
        job->split = opened->split;
    }
done:
    return status;
}

/* ---- networks ---------------------------------------------------------------------------------------------------- */

static bool same_row(const sfu__task *one, const sfu__task *other) {
    return strcmp(one->dataset, other->dataset) == 0 && strcmp(one->size, other->size) == 0 &&
           strcmp(one->split, other->split) == 0 && one->trials == other->trials;
}

/* Tasks with the same network text are the same training: cells of different tables, or equal by algebra. */
static sfu_status find_leaders(sfu__running *run) {
    const sfu__tasks *tasks = run->tasks;
    sfu_status status = SFU_OK;
    sfu__string_list texts = {0};
    sfu__text text = {0};
    SFU_ALLOC(run->leaders, tasks->count);
    for (int i = 0; i < tasks->count; i++) {
        const sfu__task plain = sfu__task_usual(&tasks->items[i], run->options->request);
        text.size = 0;
        SFU_TRY(sfu__task_net(&text, &plain, run->options->request));
        SFU_TRY(sfu__string_list_add(&texts, text.bytes));
        int leader = 0;
        while (leader < i && !(same_row(&tasks->items[leader], &tasks->items[i]) &&
                               strcmp(texts.items[leader], texts.items[i]) == 0)) {
            leader++;
        }
        run->leaders[i] = leader;
    }
done:
    sfu__string_list_clear(&texts);
    sfu__text_clear(&text);
    return status;
}

/* Study i of N parts belongs to part i mod N. */
static sfu_status find_part(sfu__running *run) {
    sfu_status status = SFU_OK;
    const int parts = run->options->parts > 1 ? run->options->parts : 1;
    int study = 0;
    SFU_ALLOC_ZERO(run->mine, run->tasks->count);
    for (int i = 0; i < run->tasks->count; i++) {
        if (run->leaders[i] == i) {
            run->mine[i] = parts == 1 || study % parts == run->options->part - 1;
            study++;
        }
    }
done:
    return status;
}

/* Refuses errors in the space, and parameters that no network uses. */
static sfu_status check_space(const sfu__running *run) {
    const sfu__request *request = run->options->request;
    sfu_status status = SFU_OK;
    sfu__string_list seen = {0};
    sfu__text net = {0}, ranges = {0};
    sfu__space *space = NULL;
    uint64_t useless = UINT64_MAX; /* of networks whose studies have the space of the request */
    bool any = false;
    for (int i = 0; i < run->tasks->count; i++) {
        uint64_t unused;
        net.size = ranges.size = 0;
        SFU_TRY(sfu__task_net(&net, &run->tasks->items[i], request));
        SFU_TRY(sfu__task_space(&ranges, &run->tasks->items[i], request));
        if (sfu__string_list_has(&seen, net.bytes)) {
            continue;
        }
        SFU_TRY(sfu__string_list_add(&seen, net.bytes));
        SFU_TRY(sfu__space_new_among(&space, ranges.bytes, net.bytes, NULL, &unused));
        sfu__space_free(space);
        if (strcmp(ranges.bytes, request->space) == 0) {
            useless &= unused;
            any = true;
        }
    }
    if (any && useless != 0) { /* report it for one network */
        SFU_TRY(sfu__space_new(&space, request->space, seen.items[0], NULL));
        sfu__space_free(space);
    }
done:
    sfu__string_list_clear(&seen);
    sfu__text_clear(&net);
    sfu__text_clear(&ranges);
    return status;
}

sfu_status sfu__run_space(sfu__space **space, const sfu__running *run, const sfu__task *task) {
    const sfu__request *request = run->options->request;
    sfu_status status = SFU_OK;
    sfu__text net = {0}, ranges = {0};
    uint64_t unused = 0;
    SFU_TRY(sfu__task_net(&net, task, request));
    SFU_TRY(sfu__task_space(&ranges, task, request));
    SFU_TRY(sfu__space_new_among(space, ranges.bytes, net.bytes, NULL, &unused));
done:
    sfu__text_clear(&net);
    sfu__text_clear(&ranges);
    return status;
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

/* Rough cost from the sizes alone: for the estimate of the remaining time before anything is measured. */
static double weight_of(const sfu_dataset *dataset, const sfu__task *task) {
    const sfu_csr words = sfu_dataset_sparse(dataset), graph = sfu_dataset_graph(dataset);
    const double nodes = sfu_dataset_nodes(dataset);
    const double nonzeros = words.rows > 0 ? (double)words.indptr[words.rows] : nodes * sfu_dataset_features(dataset);
    const bool linear = strstr(task->net, "linear") != NULL || strncmp(task->net, "sgcn", 4) == 0;
    const double width = sfu__is_lpnn(task->net) ? 400.0 : linear ? 8.0 : 64.0;
    return 1e-9 * width * (nonzeros + (double)graph.indptr[graph.rows] + 16.0 * nodes) + 1e-4;
}

/* The entry of a task, if it has enough trials. */
static const sfu__entry *known(const sfu__running *run, int task) {
    const sfu__entry *entry = sfu__entries_find(run->entries, &run->tasks->items[task]);
    return entry != NULL && entry->task.trials >= run->tasks->items[task].trials ? entry : NULL;
}

/* Copies the entry of a task with the same training; the time is counted only there. */
static sfu_status copy_entry(sfu__running *run, const sfu__entry *from, const sfu__task *task) {
    sfu__entry entry = *from;
    entry.task = *task;
    entry.task.trials = from->task.trials;
    entry.seconds = 0.0;
    sfu__entry *old = sfu__entries_find(run->entries, task);
    if (old == NULL) {
        return sfu__entries_add(run->entries, &entry);
    }
    *old = entry;
    return SFU_OK;
}

sfu_status sfu__run_share(sfu__running *run, const sfu__entry *entry) {
    const sfu__tasks *tasks = run->tasks;
    const sfu__entry shared = *entry; /* a copy, because the list of entries may be reallocated */
    sfu_status status = SFU_OK;
    for (int i = 0; i < tasks->count; i++) {
        if (run->leaders[i] != i && sfu__task_same(&tasks->items[run->leaders[i]], &shared.task) &&
            known(run, i) == NULL) {
            SFU_TRY(copy_entry(run, &shared, &tasks->items[i]));
        }
    }
done:
    return status;
}

/* A leader also takes the entry of a task that follows it: in an older folder each may have been run separately. */
static const sfu__entry *known_to_any(const sfu__running *run, int leader) {
    const sfu__entry *entry = NULL;
    for (int i = leader; i < run->tasks->count && entry == NULL; i++) {
        entry = run->leaders[i] == leader ? known(run, i) : NULL;
    }
    return entry;
}

static sfu_status add_job(sfu__running *run, const sfu__task *task) {
    const sfu__entry *old = sfu__entries_find(run->entries, task);
    sfu__job *job = &run->jobs[run->count++];
    job->task = task;
    job->table = strcmp(run->options->request->kind, "compare") == 0 ? NULL : sfu__task_table(task);
    job->dataset = sfu__run_dataset(run, task)->dataset;
    job->has_namesake = sfu__run_dataset(run, task)->has_namesake;
    job->keeps_curve = sfu__curve_wanted(task, run->tasks);
    job->known = old != NULL ? old->task.trials : 0;
    job->entry.seconds = old != NULL ? old->seconds : 0.0;
    job->weight = weight_of(job->dataset, task);
    return open_split(run, job);
}

static sfu_status list_jobs(sfu__running *run) {
    const sfu__tasks *tasks = run->tasks;
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(run->jobs, tasks->count);
    SFU_ALLOC(run->finish_order, tasks->count);
    SFU_ALLOC_ZERO(run->splits, tasks->count);
    for (int i = 0; i < tasks->count; i++) {
        if (run->leaders[i] != i) {
            continue;
        }
        const sfu__entry *entry = known_to_any(run, i);
        if (entry == NULL) {
            SFU_TRY(run->mine[i] ? add_job(run, &tasks->items[i]) : SFU_OK);
            continue;
        }
        if (run->mine[i]) {
            run->before++;
            run->trials_before += tasks->items[i].trials;
        }
        sfu__run_count_done(run, i, false);
        if (known(run, i) == NULL) {
            const sfu__entry from = *entry;
            SFU_TRY(copy_entry(run, &from, &tasks->items[i]));
        }
        SFU_TRY(sfu__run_share(run, known(run, i)));
    }
done:
    return status;
}

/* Results with more trials than were asked for are kept. Machines that share a run must agree on all of them. */
static sfu_status check_budgets(const sfu__running *run) {
    const sfu__tasks *tasks = run->tasks;
    const char *folder = run->options->folder;
    int more = 0;
    int32_t most = 0;
    for (int i = 0; i < tasks->count; i++) {
        const sfu__entry *entry = known(run, i);
        if (entry != NULL && entry->task.trials > tasks->items[i].trials) {
            most = entry->task.trials > most ? entry->task.trials : most;
            more++;
        }
    }
    if (more > 0 && run->options->share != NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "%s has %d studies with more trials than were asked for, up to %d; workers that share a run "
                         "need equal ones: give another folder (-o FOLDER), or all workers the same --trials",
                         folder, more, (int)most);
    }
    if (more > 0) {
        sfu__log(SFU_LOG_WARNING,
                 "%s has %d of %d studies with more trials than were asked for, up to %d, which are kept; give another "
                 "folder (-o FOLDER) for equal budgets",
                 folder, more, tasks->count, (int)most);
    }
    return SFU_OK;
}

/* Curves of earlier calls, which are rewritten with the new ones: so an unreadable file must be removed first. */
static sfu_status read_curves(sfu__running *run) {
    const sfu_status status = sfu__curves_read(&run->curves, run->options->folder);
    return status == SFU_ERR_FORMAT
               ? sfu__fail(status, "%s; remove the file to continue without its learning curves", sfu_message())
               : status;
}

/* Results of two datasets of the same name must not be mixed. */
static sfu_status check_dataset(const sfu__running *run, const char *given, const sfu__details *found) {
    const char *before = sfu__details_digest(&run->details, given), *now = sfu__details_digest(found, given);
    return before == NULL || now == NULL || strcmp(before, now) == 0
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT,
                           "%s has results of another dataset %s (digest %.12s, this one has %.12s); choose another "
                           "folder with -o FOLDER",
                           run->options->folder, given, before, now);
}

/* The details of earlier calls, and of the datasets of this one. */
static sfu_status start_details(sfu__running *run) {
    sfu_status status = sfu__details_read(&run->details, run->options->folder);
    if (status == SFU_ERR_FORMAT) {
        status = sfu__fail(status, "%s; remove the file to continue without the details in it", sfu_message());
    }
    for (int i = 0; i < run->dataset_count && run->count > 0 && status == SFU_OK; i++) {
        sfu__details found = {0};
        if (sfu__is_noisy(run->datasets[i].given)) {
            continue;
        }
        status = sfu__details_add_dataset(&found, run->datasets[i].given, run->datasets[i].dataset);
        status = status == SFU_OK ? check_dataset(run, run->datasets[i].given, &found) : status;
        status = status == SFU_OK ? sfu__details_put(&run->details, &found) : status;
        sfu__details_clear(&found);
    }
    return status;
}

sfu_status sfu__run_prepare(sfu__running *run) {
    sfu_status status = SFU_OK;
    SFU_TRY(open_datasets(run));
    SFU_TRY(check_space(run));
    SFU_TRY(find_leaders(run));
    SFU_TRY(find_part(run));
    SFU_TRY(sfu__run_list_cells(run));
    SFU_TRY(list_jobs(run));
    SFU_TRY(check_budgets(run));
    SFU_TRY(read_curves(run));
    SFU_TRY(start_details(run));
    SFU_TRY(sfu__run_leave_out(run));
done:
    return status;
}

void sfu__run_clear(sfu__running *run) {
    for (int i = 0; i < run->split_count; i++) {
        sfu_split_free(run->splits[i].split);
    }
    for (int i = 0; i < run->dataset_count; i++) {
        sfu_dataset_free(run->datasets[i].dataset);
    }
    for (int i = 0; i < run->count; i++) {
        sfu__curve_clear(&run->jobs[i].curve);
        sfu__details_clear(&run->jobs[i].details);
    }
    sfu__curves_clear(&run->curves);
    sfu__details_clear(&run->details);
    sfu__free(run->splits);
    sfu__free(run->datasets);
    sfu__free(run->leaders);
    sfu__free(run->mine);
    sfu__free(run->cell_of);
    sfu__free(run->cells);
    sfu__free(run->jobs);
    sfu__free(run->finish_order);
}
