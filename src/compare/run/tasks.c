/* tasks.c - the tasks of a request. */
#include "results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static void copy(char *to, size_t size, const char *from) { snprintf(to, size, "%s", from); }

static bool has(const sfu__tasks *tasks, const sfu__task *task) {
    for (int i = 0; i < tasks->count; i++) {
        if (sfu__task_same(&tasks->items[i], task)) {
            return true;
        }
    }
    return false;
}

/* The splits of one network on one dataset and size. */
static sfu_status add_splits(sfu__tasks *tasks, const sfu__request *request, sfu__task *task) {
    sfu_status status = SFU_OK;
    const bool standard = strcmp(task->size, "standard") == 0;
    for (int32_t split = 0; split < (standard ? 1 : request->splits); split++) {
        if (standard) {
            copy(task->split, sizeof task->split, "standard");
        } else {
            snprintf(task->split, sizeof task->split, "random:%d", split);
        }
        if (!has(tasks, task)) { /* duplicates run once */
            SFU_TRY(sfu__tasks_add(tasks, task));
        }
    }
done:
    return status;
}

bool sfu__is_lpnn(const char *net) { return strncasecmp(net, "lpnn", 4) == 0; }

static sfu_status check_length(const char *text, size_t size) {
    char quoted[SFU__QUOTE_MAX];
    return strlen(text) < size ? SFU_OK
                               : sfu__fail(SFU_ERR_ARGUMENT, "%s is too long; expected at most %zu bytes",
                                           sfu__quote(quoted, text, strlen(text)), size - 1);
}

sfu_status sfu__tasks_make(sfu__tasks *tasks, const sfu__request *request) {
    sfu_status status = SFU_OK;
    sfu__task task = {.alpha = NAN, .beta = NAN};
    const int sizes = request->sizes.count, nets = request->nets.count;
    if (request->datasets.count == 0) {
        return sfu__fail(SFU_ERR_ARGUMENT, "a comparison needs at least one dataset");
    }
    for (int i = 0; i < request->datasets.count * sizes * nets; i++) {
        const char *dataset = request->datasets.items[i / (sizes * nets)],
                   *size = request->sizes.items[i / nets % sizes], *net = request->nets.items[i % nets];
        SFU_TRY(check_length(dataset, sizeof task.dataset));
        SFU_TRY(check_length(size, sizeof task.size));
        SFU_TRY(check_length(net, sizeof task.net));
        copy(task.dataset, sizeof task.dataset, dataset);
        copy(task.path, sizeof task.path, dataset);
        copy(task.size, sizeof task.size, size);
        copy(task.net, sizeof task.net, net);
        task.trials = sfu__is_lpnn(net) ? request->lpnn_trials : request->trials;
        SFU_TRY(add_splits(tasks, request, &task));
    }
done:
    return status;
}

sfu_status sfu__request_tasks(sfu__tasks *tasks, const sfu__request *request) {
    return strcmp(request->kind, "compare") == 0 ? sfu__tasks_make(tasks, request) : sfu__paper_tasks(tasks, request);
}
