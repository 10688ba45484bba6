#include "beyond.h"

#include "sfumato.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- networks ---------------------------------------------------------------------------------------------------- */

/* The space of "any" has the paper's networks with one to four smoothings, mixtures of feature and label smoothing,
 * label smoothing with other weights and exponents, and APPNP. */
static const struct {
    const char *name, *text, *ranges;
} nets[] = {
    {"appnp", "dense $hidden relu | dense classes | smooth^10(teleport=0.1) | softmax(linear=no)", ""},
    {"learned", "dense $hidden relu | softmax | smooth^2(learn=self+neighbour+right)", ""},
    {"any", "any",
     "net={gcn,sgcn,fp+mlp,sgcn+lp,gcn+lp,linear+lp,mlp+lp,"
     "\"smooth^$k | softmax | smooth^$l\","
     "\"smooth^$k | dense $hidden relu | softmax | smooth^$l\","
     "\"smooth^$k | dense $hidden relu | smooth | softmax | smooth^$l\","
     "\"dense $hidden relu | softmax | smooth^$l(self=$a, neighbour=1)\","
     "\"dense $hidden relu | softmax | smooth^$l(right=$b)\","
     "\"dense $hidden relu | dense classes | smooth^$p(teleport=$t) | softmax(linear=no)\"} "
     "k=[1..4] l=[1..4] a=(0,2) b=(0,1) p=[1..16] t=(0.05,0.5)"},
};
enum { NETS = sizeof nets / sizeof nets[0] };

const char *sfu__extra_net(int i) { return i >= 0 && i < NETS ? nets[i].name : NULL; }

static int index_of(const char *name) {
    int i = 0;
    while (i < NETS && strcasecmp(nets[i].name, name) != 0) {
        i++;
    }
    return i;
}

bool sfu__is_extra_net(const char *name) { return index_of(name) < NETS; }

const char *sfu__extra_net_text(const char *name) {
    const int i = index_of(name);
    return i < NETS ? nets[i].text : NULL;
}

const char *sfu__extra_net_ranges(const char *name) {
    const int i = index_of(name);
    return i < NETS ? nets[i].ranges : "";
}

const sfu__published_row *sfu__paper_best(const char *dataset, const char *size) {
    const char *known = sfu__paper_dataset_of(dataset);
    const sfu__published_row *row, *best = NULL;
    for (int i = 0; known != NULL && (row = sfu__published_at(i)) != NULL; i++) {
        const bool is_cell = strncmp(row->table, "set", 3) == 0 && strcmp(row->table + 3, size) == 0 &&
                             strcmp(row->dataset, known) == 0 && strcmp(row->measure, "test") == 0;
        best = is_cell && (best == NULL || row->mean > best->mean) ? row : best;
    }
    return best;
}

/* ---- noise ------------------------------------------------------------------------------------------------------- */

sfu__noise_level sfu__noise_level_at(int i) {
    const bool rewired = i > SFU__NOISE_STEPS;
    return (sfu__noise_level){10 * (rewired ? i - SFU__NOISE_STEPS : i), rewired};
}

static const char *const words[] = {":removed=", ":rewired="};

void sfu__noise_print(char name[SFU__NAME_MAX], const char *dataset, sfu__noise_level level) {
    enum { MOST = SFU__NAME_MAX - 16 };
    if (level.percent == 0) {
        snprintf(name, SFU__NAME_MAX, "%.*s", MOST, dataset);
    } else {
        snprintf(name, SFU__NAME_MAX, "%.*s%s%d%%", MOST, dataset, words[level.rewired], level.percent);
    }
}

sfu__noise_level sfu__noise_read(size_t *size, const char *name) {
    sfu__noise_level found = {0};
    *size = strlen(name);
    for (int i = 1; i < SFU__NOISE_LEVELS; i++) {
        const sfu__noise_level level = sfu__noise_level_at(i);
        char ending[SFU__NAME_MAX];
        sfu__noise_print(ending, "", level);
        const size_t tail = strlen(ending), whole = strlen(name);
        if (whole > tail && strcmp(name + whole - tail, ending) == 0) {
            found = level;
            *size = whole - tail;
        }
    }
    return found;
}

bool sfu__is_noisy(const char *dataset) {
    size_t size;
    return sfu__noise_read(&size, dataset).percent > 0;
}

bool sfu__is_beyond(const sfu__request *request, const sfu__task *task) {
    const char *kind = request->kind;
    return strcmp(kind, "extras") == 0 || strcmp(kind, "noise") == 0 ||
           (strcmp(kind, "all") == 0 && sfu__is_extra_net(task->net));
}

sfu_status sfu__task_open(sfu_dataset **dataset, const sfu__task *task, const sfu__request *request, uint64_t memory) {
    sfu_status status = SFU_OK;
    sfu_dataset *original = NULL;
    size_t size;
    const sfu__noise_level level = sfu__noise_read(&size, task->dataset);
    sfu_noise_options options;
    sfu_noise_options_init(&options);
    options.name = task->dataset;
    options.seed = request->seed;
    *(level.rewired ? &options.rewire : &options.remove) = level.percent / 100.0;
    SFU_TRY(sfu_dataset_open_within(&original, task->path[0] != '\0' ? task->path : task->dataset, memory));
    if (level.percent > 0) {
        SFU_TRY(sfu_dataset_noise(dataset, original, &options));
    } else {
        *dataset = original;
        original = NULL;
    }
done:
    sfu_dataset_free(original);
    return status;
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* The cell of a network in the paper's table of a size, as if the paper had it. */
static sfu__published_row row_of(const char *table, const char *net) {
    return (sfu__published_row){.table = table, .net = net, .alpha = NAN, .beta = NAN, .measure = "test"};
}

static bool has_cell(const sfu__tasks *tasks, const char *dataset, const char *net, const char *size) {
    bool found = false;
    for (int i = 0; i < tasks->count && !found; i++) {
        const sfu__task *task = &tasks->items[i];
        found = strcmp(task->dataset, dataset) == 0 && strcasecmp(task->net, net) == 0 && strcmp(task->size, size) == 0;
    }
    return found;
}

/* The networks on one dataset and size, and the paper's best one, with which they are compared. */
static sfu_status add_extras(sfu__tasks *tasks, const sfu__request *request, const sfu__paper_dataset_names *names,
                             const char *table) {
    sfu_status status = SFU_OK;
    const sfu__published_row *best = sfu__paper_best(names->name, table + 3);
    bool any = false;
    for (int i = 0; i < NETS; i++) {
        any = any || sfu__is_requested_net(request, nets[i].name);
    }
    if (any && best != NULL && !has_cell(tasks, names->name, best->net, table + 3)) {
        SFU_TRY(sfu__paper_add_cell(tasks, best, names, request));
    }
    for (int i = 0; i < NETS; i++) {
        const sfu__published_row row = row_of(table, nets[i].name);
        if (sfu__is_requested_net(request, nets[i].name)) {
            SFU_TRY(sfu__paper_add_cell(tasks, &row, names, request));
        }
    }
done:
    return status;
}

sfu_status sfu__extras_tasks(sfu__tasks *tasks, const sfu__request *request) {
    static const char *const tables[] = {"set1", "set2", "set3", "set4", "set5"};
    sfu_status status = SFU_OK;
    sfu__paper_dataset_names names;
    for (size_t table = 0; table < sizeof tables / sizeof tables[0]; table++) {
        for (int d = 0; sfu__paper_dataset(d) != NULL; d++) {
            if (sfu__paper_dataset_wanted(&names, d, request)) {
                SFU_TRY(add_extras(tasks, request, &names, tables[table]));
            }
        }
    }
done:
    return status;
}

/* The networks of "set1" on one graph, and learned smoothing. */
static sfu_status add_noise(sfu__tasks *tasks, const sfu__request *request, const sfu__paper_dataset_names *names) {
    sfu_status status = SFU_OK;
    const sfu__published_row learned = row_of("set1", "learned"), *row;
    for (int i = 0; (row = sfu__published_at(i)) != NULL; i++) {
        if (strcmp(row->table, "set1") == 0 && strcmp(row->dataset, sfu__paper_dataset(0)) == 0 &&
            sfu__is_requested_net(request, row->net)) {
            SFU_TRY(sfu__paper_add_cell(tasks, row, names, request));
        }
    }
    if (sfu__is_requested_net(request, learned.net)) {
        SFU_TRY(sfu__paper_add_cell(tasks, &learned, names, request));
    }
done:
    return status;
}

sfu_status sfu__noise_tasks(sfu__tasks *tasks, const sfu__request *request) {
    sfu_status status = SFU_OK;
    sfu__paper_dataset_names names, noisy;
    for (int d = 0; sfu__paper_dataset(d) != NULL; d++) {
        const bool wanted = sfu__paper_dataset_wanted(&names, d, request);
        for (int i = 0; wanted && i < SFU__NOISE_LEVELS; i++) {
            noisy = names;
            sfu__noise_print(noisy.name, names.name, sfu__noise_level_at(i));
            SFU_TRY(add_noise(tasks, request, &noisy));
        }
    }
done:
    return status;
}
