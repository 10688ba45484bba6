/* run_int.h - a run of studies, as run_prepare.c makes it ready and run_studies.c runs it. */
#ifndef SFU_RUN_INT_H
#define SFU_RUN_INT_H

#include "curves.h"
#include "details.h"
#include "results_int.h"

#include <stdatomic.h>

/* A dataset that is open as long as the run lasts: what its plans share is shared by all studies on it. */
typedef struct sfu__open_dataset {
    const char *given;
    sfu_dataset *dataset;
} sfu__open_dataset;

/* A split, shared by all networks. */
typedef struct sfu__open_split {
    const sfu__task *task; /* the first that has it: dataset, size and split */
    sfu_split *split;
} sfu__open_split;

/* A study on its way. */
typedef struct sfu__job {
    const sfu__task *task;
    const sfu_dataset *dataset;
    bool has_namesake; /* another dataset of the folder has a file of the same name */
    const sfu_split *split;
    sfu__entry entry;       /* what it comes to */
    bool keeps_curve;       /* its curve is wanted */
    bool lost_curve;        /* and there was no memory for it */
    sfu__curve curve;       /* the training of its winner */
    sfu__details details;   /* of its winner, where they are kept */
    _Atomic int32_t trials; /* done so far */
    atomic_bool started;    /* */
    int32_t known;          /* done by earlier calls */
    double weight;          /* what a trial is expected to cost, relative to others */
} sfu__job;

typedef struct sfu__running {
    const sfu__run_options *options;
    const sfu__tasks *tasks;
    sfu__entries *entries;
    sfu__curves curves;
    sfu__details details;

    sfu__open_dataset *datasets;
    int dataset_count;
    sfu__open_split *splits;
    int split_count;
    int *leaders;   /* [tasks->count]: the first task that is the same training; itself where it is that */
    sfu__job *jobs; /* of the leaders that are to be run */
    int count;
    int32_t before;        /* studies that were done before */
    int64_t trials_before; /* and their trials */

    pthread_mutex_t lock;
    pthread_cond_t came;
    int next;        /* the job that starts next */
    int finished;    /* jobs that ended */
    int *came_order; /* [count]: jobs in the order in which they ended */
    int written;     /* of these, how many are in the entries */
    int threads;
    atomic_bool stop;
    sfu_status status;
    char message[SFU__MESSAGE_MAX];
    double began;
} sfu__running;

/* Everything that can be wrong with what was asked is found here, before a file is written: opens the datasets, reads
 * the space for every network, draws the splits, lists the jobs. Entries that another task of the same training has are
 * copied. */
SFU_CHECKED sfu_status sfu__run_prepare(sfu__running *run);
void sfu__run_clear(sfu__running *run);

/* Gives what a task came to also to those that are the same training. */
SFU_CHECKED sfu_status sfu__run_share(sfu__running *run, const sfu__entry *entry);

#endif
