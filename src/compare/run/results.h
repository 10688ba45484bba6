/* results.h - what a comparison leaves: one entry a network, dataset, label-set size and split, each the winner of a
 * study of its own; and the folder that keeps them.
 *
 *   FOLDER/results.csv    the entries, without times: the same run gives the same bytes
 *   FOLDER/timings.csv    what they took
 *   FOLDER/curves.csv     how the trainings of some winners went (curves.h)
 *   FOLDER/details.csv    datasets, winning hyperparameters and confusion matrices (details.h)
 *   FOLDER/manifest.json  what was asked, and everything that is needed to run it again
 *   FOLDER/studies/       a study an entry, so that an interrupted one goes on
 */
#ifndef SFU_RESULTS_H
#define SFU_RESULTS_H

#include "progress.h"
#include "request.h"

enum { SFU__NAME_MAX = 256 };

/* What is tuned and scored: one place in the tables, on one split. */
typedef struct sfu__task {
    char dataset[SFU__NAME_MAX]; /* as the request has it */
    char net[SFU__NAME_MAX];     /* what the tables call it: "gcn", or a composition */
    char size[16];               /* "1" to "5", a count, or "standard" */
    char split[32];              /* the protocol: "random:0", "standard" */
    int32_t k;                   /* of a sweep over layers, else 0 */
    double alpha, beta;          /* of a sweep over the label smoothing, else NaN */
    bool exponents;              /* alpha and beta are left= and right=, else self= and neighbour= */
    int32_t trials;
} sfu__task;

typedef struct sfu__entry {
    sfu__task task;
    char name[SFU__NAME_MAX];  /* of the dataset */
    char label[SFU__NAME_MAX]; /* what tables call the dataset; not kept, sfu__label_datasets makes it */
    char split_digest[65];
    int32_t best_trial, failed;
    double val_accuracy, val_loss, test_accuracy, test_macro_f1;
    /* of timings.csv */
    double seconds; /* of the whole study, by all calls that worked on it */
    double epoch_s; /* an epoch of the winner: training step and validation, as the planner predicts it */
    int64_t epochs; /* of all trials */
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
} sfu__entries;

SFU_CHECKED sfu_status sfu__tasks_add(sfu__tasks *tasks, const sfu__task *task);
void sfu__tasks_clear(sfu__tasks *tasks);
SFU_CHECKED sfu_status sfu__entries_add(sfu__entries *entries, const sfu__entry *entry);
void sfu__entries_clear(sfu__entries *entries);

/* The same place and split, whatever the trials. */
bool sfu__task_same(const sfu__task *one, const sfu__task *other);
sfu__entry *sfu__entries_find(const sfu__entries *entries, const sfu__task *task); /* NULL: there is none */

/* The two CSV files of a folder. Reading one without them gives none; a broken file gets a line with its place. Both
 * are written whole or not at all. */
SFU_CHECKED sfu_status sfu__entries_read(sfu__entries *entries, const char *folder);
SFU_CHECKED sfu_status sfu__entries_write(const sfu__entries *entries, const char *folder);

/* The tasks of a request, in the order of the tables: datasets, then sizes, then networks, then splits. Those of a
 * table of the paper are in paper_tasks.c. */
SFU_CHECKED sfu_status sfu__tasks_make(sfu__tasks *tasks, const sfu__request *request);
SFU_CHECKED sfu_status sfu__paper_tasks(sfu__tasks *tasks, const sfu__request *request);

/* The network of a task as sfu_tune takes it, hidden widths as $hidden where the space searches them, with the readings
 * of the request; and the options of named networks. */
SFU_CHECKED sfu_status sfu__task_net(sfu__text *net, const sfu__task *task, const sfu__request *request);

/* A task with what its sweep leaves as it is usually left out: tasks of one network are then one text. */
sfu__task sfu__task_usual(const sfu__task *task);

/* Runs the tasks that the entries lack, and writes the folder, which it makes, as it goes. Tasks that are the same
 * training are run once. */
typedef struct sfu__run_options {
    const char *folder;
    const sfu__request *request;
    int jobs;
    sfu_compare_fn on_progress;
    void *on_progress_user;
    sfu__log_filter *log_filter; /* what was said before the run, which does not say it again */
} sfu__run_options;
SFU_CHECKED sfu_status sfu__run_tasks(sfu__entries *entries, const sfu__tasks *tasks, const sfu__run_options *options);

#endif
