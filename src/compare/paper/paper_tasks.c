/* paper_tasks.c - the cells of the paper's tables as tasks: the published cells, restricted to the datasets and
 * networks of the request. */
#include "beyond.h"

#include "file.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static void copy_lower(char *to, size_t size, const char *from) {
    size_t i = 0;
    for (; from[i] != '\0' && i + 1 < size; i++) {
        to[i] = (char)tolower((unsigned char)from[i]);
    }
    to[i] = '\0';
}

/* ---- restrictions of the request --------------------------------------------------------------------------------- */

static bool is_path(const char *text) { return strchr(text, '/') != NULL || strchr(text, '.') != NULL; }

/* A stored request has the names alone. */
static const sfu__string_list *given_datasets(const sfu__request *request) {
    return request->paths.count > 0 ? &request->paths : &request->datasets;
}

bool sfu__is_requested_net(const sfu__request *request, const char *name) {
    bool wanted = request->nets.count == 0;
    for (int i = 0; i < request->nets.count; i++) {
        wanted = wanted || strcasecmp(request->nets.items[i], name) == 0;
    }
    return wanted;
}

static bool is_paper_net(const char *name) {
    const sfu__published_row *row;
    bool known = false;
    for (int i = 0; (row = sfu__published_at(i)) != NULL; i++) {
        known = known || strcasecmp(row->net, name) == 0;
    }
    return known;
}

/* Names that the paper does not have are errors; a name that is only missing from one table is left out there. */
sfu_status sfu__paper_check(const sfu__request *request) {
    char quoted[SFU__QUOTE_MAX];
    const sfu__string_list *given = given_datasets(request);
    for (int i = 0; i < given->count; i++) {
        const char *name = given->items[i];
        if (sfu__paper_dataset_of(name) == NULL) {
            return sfu__fail(SFU_ERR_ARGUMENT,
                             "%s is not a dataset of the paper; expected cora, citeseer, pubmed, acm or dblp",
                             sfu__quote(quoted, name, strlen(name)));
        }
        if (strlen(name) >= SFU__NAME_MAX - strlen("+loops")) {
            return sfu__fail(SFU_ERR_ARGUMENT, "%s: the path is too long; expected at most %d bytes",
                             sfu__quote(quoted, name, strlen(name)), SFU__NAME_MAX - 10);
        }
    }
    for (int i = 0; i < request->nets.count; i++) {
        const char *name = request->nets.items[i];
        if (!is_paper_net(name) && !sfu__is_extra_net(name)) {
            return sfu__fail(
                SFU_ERR_ARGUMENT,
                "%s is not a network of the paper's tables; expected gcn, sgcn, fp+mlp, sgcn+lp, gcn+lp, linear+lp, "
                "mlp+lp or lpnn, and in extras and noise appnp, learned or any",
                sfu__quote(quoted, name, strlen(name)));
        }
    }
    return SFU_OK;
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* What the request gives for a dataset of the paper, or NULL if it omits it. A request without datasets means all. */
static const char *requested_dataset(const sfu__request *request, const char *name) {
    const sfu__string_list *given = given_datasets(request);
    for (int i = 0; i < given->count; i++) {
        const char *known = sfu__paper_dataset_of(given->items[i]);
        if (known != NULL && strcmp(known, name) == 0) {
            return given->items[i];
        }
    }
    return given->count == 0 ? name : NULL;
}

/* Results have the name of a dataset, not its path, so that a folder can be continued on another machine. */
bool sfu__paper_dataset_wanted(sfu__paper_dataset_names *names, int i, const sfu__request *request) {
    const char *known = sfu__paper_dataset(i);
    const char *asked = requested_dataset(request, known);
    if (asked == NULL) {
        return false;
    }
    copy_lower(names->name, SFU__NAME_MAX, sfu__path_base(asked));
    if (is_path(asked)) {
        names->name[strcspn(names->name, ".")] = '\0';
        snprintf(names->path, SFU__NAME_MAX, "%s", asked);
        return true;
    }
    const bool loops = request->keep_loops && (strcmp(known, "ACM") == 0 || strcmp(known, "DBLP") == 0);
    if (loops && strchr(asked, '+') == NULL) {
        strncat(names->name, "+loops", SFU__NAME_MAX - strlen(names->name) - 1);
    }
    memcpy(names->path, names->name, sizeof names->path);
    return true;
}

/* The task of a published cell, on its first split. */
static sfu__task task_of(const sfu__published_row *row, const sfu__paper_dataset_names *dataset,
                         const sfu__request *request) {
    sfu__task task = {.k = row->k,
                      .alpha = row->alpha,
                      .beta = row->beta,
                      .exponents = strcmp(row->table, "degree-exponents") == 0,
                      .trials = sfu__is_lpnn(row->net) ? request->lpnn_trials : request->trials};
    const bool is_set = strncmp(row->table, "set", 3) == 0;
    copy_lower(task.net, sizeof task.net, row->net);
    memcpy(task.dataset, dataset->name, sizeof task.dataset);
    memcpy(task.path, dataset->path, sizeof task.path);
    snprintf(task.size, sizeof task.size, "%s", is_set ? row->table + 3 : "standard");
    snprintf(task.split, sizeof task.split, "%s", is_set ? "random:0" : "standard");
    return task;
}

sfu_status sfu__paper_add_cell(sfu__tasks *tasks, const sfu__published_row *row,
                               const sfu__paper_dataset_names *dataset, const sfu__request *request) {
    sfu_status status = SFU_OK;
    sfu__task task = task_of(row, dataset, request);
    const bool is_random = strcmp(task.split, "standard") != 0;
    for (int32_t i = 0; i < (is_random ? request->splits : 1); i++) {
        if (is_random) {
            snprintf(task.split, sizeof task.split, "random:%d", i);
        }
        SFU_TRY(sfu__tasks_add(tasks, &task));
    }
done:
    return status;
}

/* Datasets in the paper's order, and for each the networks in the order of the table. A test accuracy comes with its
 * validation accuracy. */
static sfu_status add_table(sfu__tasks *tasks, const char *table, const sfu__request *request) {
    sfu_status status = SFU_OK;
    sfu__paper_dataset_names dataset;
    for (int d = 0; sfu__paper_dataset(d) != NULL; d++) {
        const bool wanted = sfu__paper_dataset_wanted(&dataset, d, request);
        const sfu__published_row *row;
        for (int i = 0; wanted && (row = sfu__published_at(i)) != NULL; i++) {
            if (strcmp(row->table, table) == 0 && strcmp(row->dataset, sfu__paper_dataset(d)) == 0 &&
                strcmp(row->measure, "test") == 0 && sfu__is_requested_net(request, row->net)) {
                SFU_TRY(sfu__paper_add_cell(tasks, row, &dataset, request));
            }
        }
    }
done:
    return status;
}

/* Datasets with self-loops must be downloaded with --self-loops keep; they are not available by name alone. */
sfu_status sfu__paper_check_loops(const sfu__tasks *tasks) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < tasks->count && status == SFU_OK; i++) {
        const char *name = tasks->items[i].path;
        sfu_dataset *dataset = NULL;
        const bool again = i > 0 && strcmp(name, tasks->items[i - 1].path) == 0;
        if (again || is_path(name) || strchr(name, '+') == NULL) {
            continue;
        }
        status = sfu_dataset_open(&dataset, name);
        sfu_dataset_free(dataset);
        if (status == SFU_ERR_NOT_FOUND) {
            status = sfu__fail(
                SFU_ERR_NOT_FOUND,
                "%s, with its self-loops, was not found; download it with sfumato data get %.*s --self-loops keep",
                name, (int)strcspn(name, "+"), name);
        }
    }
    return status;
}

sfu_status sfu__paper_tasks(sfu__tasks *tasks, const sfu__request *request) {
    sfu_status status = SFU_OK;
    const bool all = strcmp(request->kind, "all") == 0;
    const sfu__paper_table *table;
    SFU_TRY(sfu__paper_check(request));
    for (int turn = 1; (table = sfu__paper_table_at_turn(turn)) != NULL; turn++) {
        if (all || strcmp(table->name, request->kind) == 0) {
            SFU_TRY(strcmp(table->name, "extras") == 0 ? sfu__extras_tasks(tasks, request)
                                                       : add_table(tasks, table->name, request));
        }
    }
    if (strcmp(request->kind, "noise") == 0) {
        SFU_TRY(sfu__noise_tasks(tasks, request));
    }
    if (tasks->count == 0) {
        status =
            sfu__fail(SFU_ERR_ARGUMENT, "the table %s has none of these networks on these datasets", request->kind);
    }
done:
    return status;
}
