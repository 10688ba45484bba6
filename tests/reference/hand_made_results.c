#include "hand_made_results.h"

#include "random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NETS = 8, DATASETS = 5, SIZES = 5, SPLITS = 10 };

static const char *const nets[NETS] = {"gcn", "sgcn", "fp+mlp", "sgcn+lp", "gcn+lp", "linear+lp", "mlp+lp", "lpnn"};
static const char *const datasets[DATASETS] = {"cora", "citeseer", "pubmed", "acm", "dblp"};
static const char *const sizes[SIZES] = {"1", "2", "3", "4", "5"};
static const char hostile_dataset[] = "<script>alert(\"x\")</script>&'%s%n\n\x01\xff";
static const char hostile_net[] =
    "smooth^2(norm=row, self=0.5) | dense 64 relu | softmax</td><img src=x onerror=alert(1)>";

/* A number in [0, 1) that depends on all of its arguments. */
static double noise(int a, int b, int c, int d) {
    const uint64_t place = (((uint64_t)a * 64 + (uint64_t)b) * 64 + (uint64_t)c) * 64 + (uint64_t)d;
    return (double)(sfu__random_bits(17, 3, place) >> 11) * 0x1p-53;
}

typedef struct maker {
    sfu_results *results;
    bool hostile;
    size_t cells, ranks, pairs; /* capacities */
    int published;              /* figures of the paper */
} maker;

static const char *dataset_name(const maker *self, int i) {
    return self->hostile && i == 1 ? hostile_dataset : datasets[i];
}
static const char *net_name(const maker *self, int i) { return self->hostile && i == 2 ? hostile_net : nets[i]; }

static double accuracy(int dataset, int net, int size, int split) {
    static const double base[DATASETS] = {0.815, 0.69, 0.785, 0.9, 0.88};
    const double less = net == 7 ? 0.09 : 0.012 * noise(dataset, net, 60, 0);
    return base[dataset] - less + 0.014 * size - 0.0012 * size * size + 0.02 * (noise(dataset, net, size, split) - 0.5);
}

/* ---- entries and cells ------------------------------------------------------------------------------------------- */

static sfu_status add_entry(maker *self, int dataset, const sfu__task *task, double val, double test, double epoch_s) {
    sfu__entry entry = {.task = *task, .val_accuracy = val, .test_accuracy = test, .val_loss = 0.6, .epoch_s = epoch_s};
    snprintf(entry.name, sizeof entry.name, "%s", dataset_name(self, dataset));
    snprintf(entry.split_digest, sizeof entry.split_digest, "%064d", dataset);
    entry.test_macro_f1 = test - 0.01;
    entry.seconds = 3;
    entry.epochs = 1000;
    return sfu__entries_add(&self->results->entries, &entry);
}

/* The published figures lie in one array, which is as long as it may get from the start: cells and ranks point to it.
 */
enum { PUBLISHED = 4096 };
static const sfu_published *add_published(maker *self, const sfu_published *published) {
    sfu_published *all = self->results->published;
    all = all != NULL ? all : sfu__alloc_zero(PUBLISHED, sizeof *all);
    self->results->published = all;
    if (all == NULL || self->published == PUBLISHED) {
        return NULL;
    }
    all[self->published] = *published;
    return &all[self->published++];
}

static sfu_status add_cell(maker *self, sfu_cell *cell, const sfu_published *published) {
    sfu_results *results = self->results;
    cell->published = add_published(self, published);
    if (cell->published == NULL) {
        return SFU_ERR_MEMORY;
    }
    sfu_cell *grown = sfu__grow(results->cells, &self->cells, (size_t)results->cell_count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    results->cells = grown;
    results->cells[results->cell_count++] = *cell;
    return SFU_OK;
}

static sfu__task make_task(const maker *self, int dataset, int net, const char *size, int split) {
    sfu__task task = {.alpha = NAN, .beta = NAN, .trials = 100};
    snprintf(task.dataset, sizeof task.dataset, "%s", dataset_name(self, dataset));
    snprintf(task.net, sizeof task.net, "%s", net_name(self, net));
    snprintf(task.size, sizeof task.size, "%s", size);
    snprintf(task.split, sizeof task.split, split >= 0 ? "random:%d" : "standard", split);
    return task;
}

/* The learning curve of the winner on the first split: of varying length, rising and noisy. */
static sfu_status add_curve(maker *self, const sfu__task *task, int dataset, int net, double val) {
    sfu_status status = SFU_OK;
    sfu__curve curve = {.task = *task};
    const int epochs = 40 + 23 * net;
    for (int i = 1; i <= epochs; i++) {
        const double left = 1.0 / (1 + 0.4 * i), wobble = 0.02 * (noise(dataset, net, i % 64, 62) - 0.5);
        SFU_TRY(sfu__curve_add(&curve, &(sfu_epoch){.epoch = i,
                                                    .train_loss = 270 * (left + 0.05 + wobble) * (1 + net),
                                                    .val_loss = 900 * (left + 0.5),
                                                    .val_accuracy = val - 0.6 * left + wobble}));
    }
    SFU_TRY(sfu__curves_put(&self->results->curves, &curve));
done:
    sfu__curve_clear(&curve);
    return status;
}

/* A dataset with a warning, and two hyperparameters and two classes of every winner, with the hostile name among them.
 */
static sfu_status add_details(maker *self, int dataset, const sfu__task *task) {
    static const char *const rows[][4] = {{"property", "nodes", "", "2708"},    {"warning", "1", "", "few labels"},
                                          {"hyperparameter", "lr", "", "0.01"}, {"hyperparameter", "k", "", "2"},
                                          {"confusion", "a", "a", "30"},        {"confusion", "a", NULL, "10"},
                                          {"confusion", NULL, "a", "5"},        {"confusion", NULL, NULL, "15"}};
    sfu_status status = SFU_OK;
    sfu__details details = {0};
    for (size_t i = task == NULL ? 0 : 2; i < (task == NULL ? 2 : 8); i++) {
        sfu__detail *grown = sfu__grow(details.items, &details.capacity, (size_t)details.count + 1, sizeof *grown);
        status = grown != NULL ? SFU_OK : SFU_ERR_MEMORY;
        SFU_TRY(status);
        details.items = grown;
        grown[details.count] = (sfu__detail){0};
        sfu__detail *detail = &grown[details.count++];
        if (task != NULL) {
            detail->task = *task;
        } else {
            snprintf(detail->task.dataset, sizeof detail->task.dataset, "%s", dataset_name(self, dataset));
        }
        const char *other = dataset_name(self, 1);
        snprintf(detail->section, sizeof detail->section, "%s", rows[i][0]);
        snprintf(detail->row, sizeof detail->row, "%s", rows[i][1] != NULL ? rows[i][1] : other);
        snprintf(detail->column, sizeof detail->column, "%s", rows[i][2] != NULL ? rows[i][2] : other);
        snprintf(detail->value, sizeof detail->value, "%s", rows[i][3]);
    }
    SFU_TRY(sfu__details_put(&self->results->details, &details));
done:
    sfu__details_clear(&details);
    return status;
}

/* One row group of a table: its splits, and their cell. */
static sfu_status add_row_group(maker *self, int dataset, int net, int size) {
    sfu_status status = SFU_OK;
    double sum = 0;
    for (int split = 0; split < SPLITS; split++) {
        const sfu__task task = make_task(self, dataset, net, sizes[size], split);
        const double test = accuracy(dataset, net, size, split);
        SFU_TRY(add_entry(self, dataset, &task, test + 0.01, test, 1e-4 * (1 + net * net) * (1 + dataset)));
        sum += test;
        if (size == 0 && split == 0) {
            SFU_TRY(add_curve(self, &task, dataset, net, test + 0.01));
        }
        if (size == 0 && split == 0 && dataset < 2) {
            SFU_TRY(net == 0 ? add_details(self, dataset, NULL) : SFU_OK);
            SFU_TRY(add_details(self, dataset, &task));
        }
    }
    const double mean = sum / SPLITS, paper = mean + 0.02 * (noise(dataset, net, size, 61) - 0.5);
    SFU_TRY(add_cell(self,
                     &(sfu_cell){dataset_name(self, dataset), net_name(self, net), sizes[size], 0, NAN, NAN, "test",
                                 SPLITS, 100, mean, 0.008, mean - 0.006, mean + 0.006, 1 + net,
                                 net == 3 ? NAN : 0.0004 + 0.02 * net, NULL, false, NULL, false},
                     &(sfu_published){paper, 0.011,
                                      paper > mean + 0.006   ? "lower"
                                      : paper < mean - 0.006 ? "higher"
                                                             : "agrees"}));
done:
    return status;
}

static sfu_status add_sweep_cell(maker *self, int dataset, const sfu__task *task, int net, const char *measure,
                                 double mean, const char *same) {
    return add_cell(self,
                    &(sfu_cell){.dataset = dataset_name(self, dataset),
                                .net = net_name(self, net),
                                .size = "standard",
                                .k = task->k,
                                .alpha = task->alpha,
                                .beta = task->beta,
                                .measure = measure,
                                .splits = 1,
                                .trials = 100,
                                .mean = mean,
                                .std = NAN,
                                .ci_low = NAN,
                                .ci_high = NAN,
                                .rank = NAN,
                                .p = NAN,
                                .same_as = same,
                                .exponents = task->exponents},
                    &(sfu_published){mean + 0.004, NAN, ""});
}

static sfu_status add_layers(maker *self, int dataset) {
    static const int swept[] = {0, 1, 5, 6};
    sfu_status status = SFU_OK;
    for (int i = 0; i < 4; i++) {
        for (int k = 1; k <= 4; k++) {
            sfu__task task = make_task(self, dataset, swept[i], "standard", -1);
            task.k = k;
            const double test = accuracy(dataset, swept[i], k, 30);
            SFU_TRY(add_entry(self, dataset, &task, test + 0.01, test, 1e-4 * k));
            SFU_TRY(add_sweep_cell(self, dataset, &task, swept[i], "test", test, NULL));
        }
    }
done:
    return status;
}

static sfu_status add_smoothing(maker *self, int dataset, bool exponents) {
    static const double pairs[][2] = {{0, 1}, {0.25, 0.75}, {0.5, 0.5}, {0.75, 0.25}, {1, 0}, {1, 1}};
    sfu_status status = SFU_OK;
    for (int i = 0; i < 6; i++) {
        sfu__task task = make_task(self, dataset, 6, "standard", -1);
        task.alpha = pairs[i][0];
        task.beta = pairs[i][1];
        task.exponents = exponents;
        const double test = accuracy(dataset, 6, i, 40 + exponents);
        SFU_TRY(add_entry(self, dataset, &task, test + 0.012, test, 1e-4));
        SFU_TRY(add_sweep_cell(self, dataset, &task, 6, "test", test, exponents && i == 5 ? "alpha 0, beta 1" : NULL));
        SFU_TRY(add_sweep_cell(self, dataset, &task, 6, "val", test + 0.012, NULL));
    }
done:
    return status;
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static sfu_status add_rank(maker *self, const char *size, int net, int place) {
    sfu_results *results = self->results;
    sfu_rank *grown = sfu__grow(results->ranks, &self->ranks, (size_t)results->rank_count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    results->ranks = grown;
    const sfu_published *published = add_published(self, &(sfu_published){4.5, NAN, ""});
    if (published == NULL) {
        return SFU_ERR_MEMORY;
    }
    const double rank = 1.4 + 0.83 * ((net * 3 + place) % NETS) + 0.3 * noise(net, place, 1, 1);
    results->ranks[results->rank_count++] = (sfu_rank){
        .size = size, .net = net_name(self, net), .rank = rank, .critical = 2.8, .datasets = 5, .published = published};
    return SFU_OK;
}

static sfu_status add_pair(maker *self, const char *title, int one, int other, int dataset) {
    sfu_results *results = self->results;
    sfu__pair_row *grown = sfu__grow(results->pairs, &self->pairs, (size_t)results->pair_count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    results->pairs = grown;
    results->pairs[results->pair_count++] = (sfu__pair_row){.title = title,
                                                            .one = net_name(self, one),
                                                            .other = net_name(self, other),
                                                            .dataset = dataset_name(self, dataset),
                                                            .size = "1",
                                                            .one_mean = 0.81,
                                                            .other_mean = 0.80 + 0.003 * dataset,
                                                            .difference = 0.01 - 0.003 * dataset,
                                                            .p = 0.002 * (1 + 13 * dataset)};
    return SFU_OK;
}

static sfu_status make_request(maker *self, const char *folder) {
    sfu_status status = SFU_OK;
    sfu_results *results = self->results;
    sfu__request *request = &results->request;
    for (int i = 0; i < DATASETS; i++) {
        SFU_TRY(sfu__string_list_add(&request->datasets, dataset_name(self, i)));
        SFU_TRY(sfu__string_list_add(&request->sizes, sizes[i]));
    }
    for (int i = 0; i < NETS; i++) {
        SFU_TRY(sfu__string_list_add(&request->nets, net_name(self, i)));
    }
    request->splits = SPLITS;
    request->trials = 100;
    request->lpnn_trials = 30;
    results->folder = sfu__copy_string(folder);
    request->kind = sfu__copy_string("compare");
    request->space = sfu__copy_string("paper");
    request->sampler = sfu__copy_string("auto");
    request->feature_norm = sfu__copy_string("sym");
    request->label_norm = sfu__copy_string("sym+row");
    request->lpnn = sfu__copy_string("");
    results->text = sfu__copy_string(
        "# Comparison\n\n## Accuracy\n\n| network | cora |\n|---|---:|\n| gcn | 81.0 |\n\n## Advice\n\n"
        "On cora use **sgcn+lp**: 82.1 %, and `gcn` is 0.4 points behind\n(p = 0.43, so that this may be chance). "
        "It <b>costs</b> 0.4 ms an epoch.\n\n- fewer than 6 splits cannot reach 5 %\n- splits overlap\n- cost: 1 ms an "
        "epoch; a study took 17 s\n\n```\n"
        "sfumato train cora sgcn+lp --lr 0.01 > log\n```\n");
    const bool whole = results->folder && request->kind && request->space && request->sampler &&
                       request->feature_norm && request->label_norm && request->lpnn;
    status = whole && results->text ? SFU_OK : SFU_ERR_MEMORY;
done:
    return status;
}

static sfu_status make(maker *self, const char *folder) {
    sfu_status status = SFU_OK;
    SFU_TRY(make_request(self, folder));
    for (int size = 0; size < SIZES; size++) {
        for (int dataset = 0; dataset < DATASETS; dataset++) {
            for (int net = 0; net < NETS; net++) {
                SFU_TRY(add_row_group(self, dataset, net, size));
            }
        }
        for (int net = 0; net < NETS; net++) {
            SFU_TRY(add_rank(self, sizes[size], net, size));
        }
    }
    for (int dataset = 0; dataset < 2; dataset++) {
        SFU_TRY(add_layers(self, dataset));
        SFU_TRY(add_smoothing(self, dataset, false));
        SFU_TRY(add_smoothing(self, dataset, true));
    }
    for (int i = 0; i < 4; i++) { /* comparison after comparison */
        SFU_TRY(i < 2 ? add_pair(self, "features or labels", 1, 5, i) : add_pair(self, "linear or not", 0, 1, i - 2));
    }
done:
    return status;
}

sfu_results *hand_made_results(const char *folder, bool hostile) {
    maker self = {.results = sfu__alloc_zero(1, sizeof(sfu_results)), .hostile = hostile};
    if (self.results == NULL || make(&self, folder) != SFU_OK) {
        sfu_results_free(self.results);
        return NULL;
    }
    sfu__label_datasets(&self.results->entries);
    return self.results;
}
