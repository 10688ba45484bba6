/* results.h - results of a comparison: one entry per network, dataset, label-set size and split, each the winner of a
 * separate study; and the folder that stores them.
 *
 *   FOLDER/results.csv    the entries, without times: the same run gives the same bytes
 *   FOLDER/timings.csv    their times
 *   FOLDER/curves.csv     learning curves of some winners (curves.h)
 *   FOLDER/details.csv    datasets, winning hyperparameters and confusion matrices (details.h)
 *   FOLDER/manifest.json  the request, and everything needed to run it again
 *   FOLDER/studies/       one study per entry, so that an interrupted run can be continued; for a table of the paper
 *                         only while it runs, unless they are kept
 */
#ifndef SFU_RESULTS_H
#define SFU_RESULTS_H

#include "format_number.h"
#include "progress.h"
#include "request.h"

enum { SFU__NAME_MAX = 256 };

/* One study: a row of the tables, on one split. */
typedef struct sfu__task {
    char dataset[SFU__NAME_MAX]; /* as given in the request; a table of the paper has its name */
    char path[SFU__NAME_MAX];    /* where it is opened; "": `dataset`; not stored, and not compared */
    char net[SFU__NAME_MAX];     /* as shown in the tables: "gcn", or a composition */
    char size[16];               /* "1" to "5", a count, or "standard" */
    char split[32];              /* the protocol: "random:0", "standard" */
    int32_t k;                   /* in a sweep over layers, else 0 */
    double alpha, beta;          /* in a sweep over the label smoothing, else NaN */
    bool exponents;              /* alpha and beta are left= and right=, else self= and neighbour= */
    int32_t trials;
} sfu__task;

typedef struct sfu__entry {
    sfu__task task;
    char name[SFU__NAME_MAX];  /* name of the dataset */
    char label[SFU__NAME_MAX]; /* name of the dataset in tables; not stored, sfu__label_datasets makes it */
    char split_digest[65];
    int32_t best_trial, failed;
    double val_accuracy, val_loss, test_accuracy, test_macro_f1;
    double val_score, test_score; /* the metric of the comparison */
    char configuration[1024];     /* of the winner: "lr=0.01 hidden=64"; "" if it is longer */
    char trials_digest[65];       /* SHA-256 of all trials as CSV, as tune --export writes them */
    /* stored in timings.csv */
    double seconds; /* of the whole study, over all calls that worked on it */
    double epoch_s; /* predicted time of an epoch of the winner: training step and validation */
    int64_t epochs; /* sum over all trials */
} sfu__entry;

/* Growing lists. Start as {0}. */
typedef struct sfu__tasks {
    sfu__task *items;
    int count;
    size_t capacity;
} sfu__tasks;
typedef struct sfu__entries {
    sfu__entry *items;
    int count;
    size_t capacity;
    sfu_metric metric; /* scores of another metric than the accuracy have columns in results.csv */
} sfu__entries;

SFU_CHECKED sfu_status sfu__tasks_add(sfu__tasks *tasks, const sfu__task *task);
void sfu__tasks_clear(sfu__tasks *tasks);
SFU_CHECKED sfu_status sfu__entries_add(sfu__entries *entries, const sfu__entry *entry);
void sfu__entries_clear(sfu__entries *entries);

/* The same row and split, whatever the number of trials. */
bool sfu__task_same(const sfu__task *one, const sfu__task *other);
sfu__entry *sfu__entries_find(const sfu__entries *entries, const sfu__task *task); /* NULL: none */

/* Sorts the entries in the order of the tasks; others keep their order, after them. */
SFU_CHECKED sfu_status sfu__entries_sort(sfu__entries *entries, const sfu__tasks *tasks);

/* The first column of results.csv in which two entries of these entries' metric differ; NULL: none. What an earlier
 * version did not store counts as equal. */
const char *sfu__entry_difference(const sfu__entries *entries, const sfu__entry *one, const sfu__entry *other);

/* The two CSV files of a folder. A folder without them has no entries; a malformed file is an error with its line. Both
 * are written atomically. */
SFU_CHECKED sfu_status sfu__entries_read(sfu__entries *entries, const char *folder);
SFU_CHECKED sfu_status sfu__entries_write(const sfu__entries *entries, const char *folder);

/* An entry as members of a JSON object: "result" and "timing", its rows of the two files. */
SFU_CHECKED sfu_status sfu__entry_print(sfu__text *json, const sfu__entries *entries, const sfu__entry *entry);
SFU_CHECKED sfu_status sfu__entry_read(sfu__entry *entry, const sfu__entries *entries, const sfu__json *json,
                                       const char *place);

/* The tasks of a request, in the order of the tables: datasets, then sizes, then networks, then splits. Tables of the
 * paper are in paper_tasks.c. The first calls one of the others. */
SFU_CHECKED sfu_status sfu__request_tasks(sfu__tasks *tasks, const sfu__request *request);
bool sfu__is_lpnn(const char *net); /* of a task or request */
SFU_CHECKED sfu_status sfu__tasks_make(sfu__tasks *tasks, const sfu__request *request);
SFU_CHECKED sfu_status sfu__paper_tasks(sfu__tasks *tasks, const sfu__request *request);

/* Refuses tasks of the paper on datasets with self-loops that are not there. */
SFU_CHECKED sfu_status sfu__paper_check_loops(const sfu__tasks *tasks);

/* The network of a task as text for sfu_tune, with $hidden for hidden widths that the space searches, under the
 * settings of the request; and the options of named networks. */
SFU_CHECKED sfu_status sfu__task_net(sfu__text *net, const sfu__task *task, const sfu__request *request);

/* The search space of its study. */
SFU_CHECKED sfu_status sfu__task_space(sfu__text *space, const sfu__task *task, const sfu__request *request);

/* Its sampler. The joint estimate of "tpe" seldom leaves the region of its first good trials; in the eight dimensions
 * of lpnn that is often a poor one. */
const char *sfu__task_sampler(const sfu__task *task, const sfu__request *request);

/* Its dataset, with the noise in its edges that the name of the dataset says (beyond.h). */
SFU_CHECKED sfu_status sfu__task_open(sfu_dataset **dataset, const sfu__task *task, const sfu__request *request,
                                      uint64_t memory);

/* Whether a dataset of a task has noise. */
bool sfu__is_noisy(const char *dataset);

/* A task without sweep parameters that have their default values, so that tasks with the same network have the same
 * text. */
sfu__task sfu__task_usual(const sfu__task *task, const sfu__request *request);

/* Cells that were left out because of a memory limit. Starts as {0}. */
typedef struct sfu__left_out {
    sfu__task task;
    char needs[SFU__SIZE_MAX];
    sfu_left_out shown; /* in the types of the API */
} sfu__left_out;
typedef struct sfu__left_outs {
    sfu__left_out *items;
    int count;
} sfu__left_outs;

/* Runs the tasks that have no entry yet, and updates the folder, which is created if necessary. Tasks with the same
 * training run only once. */
typedef struct sfu__run_options {
    const char *folder;
    const sfu__request *request;
    int jobs;
    const char *device; /* as in sfu_compare_options */
    sfu_compare_fn on_progress;
    void *on_progress_user;
    sfu__log_filter *log_filter;              /* messages before the run, which are not repeated */
    const char *share;                        /* URL of the database through which machines share the run; NULL: none */
    uint64_t memory;                          /* as in sfu_compare_options */
    sfu__left_outs *left_out;                 /* out: what does not fit */
    int part, parts;                          /* of the studies, only those of this part, from 1 to `parts`; 0: all */
    sfu_status (*report)(const char *folder); /* writes tables, plots and page of a folder; NULL: not before the end */
} sfu__run_options;
SFU_CHECKED sfu_status sfu__run_tasks(sfu__entries *entries, const sfu__tasks *tasks, const sfu__run_options *options);

#endif
