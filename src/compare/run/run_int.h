/* run_int.h - the state of running the studies of a comparison: prepared by run_prepare.c, run by run_studies.c. */
#ifndef SFU_RUN_INT_H
#define SFU_RUN_INT_H

#include "curves.h"
#include "details.h"
#include "gpu.h"
#include "results_int.h"

#include <stdatomic.h>

/* A dataset that stays open during the run: all studies on it share the matrices of their plans. */
typedef struct sfu__open_dataset {
    const char *given;
    sfu_dataset *dataset;
} sfu__open_dataset;

/* A split, shared by all networks. */
typedef struct sfu__open_split {
    const sfu__task *task; /* the first task with this dataset, size and split */
    sfu_split *split;
} sfu__open_split;

/* One study to run. */
typedef struct sfu__job {
    const sfu__task *task;
    const sfu_dataset *dataset;
    bool has_namesake; /* another dataset of the folder has a file with the same name */
    const sfu_split *split;
    sfu__entry entry;       /* the result */
    bool keeps_curve;       /* its learning curve is kept */
    bool lost_curve;        /* memory for the curve was exhausted */
    sfu__curve curve;       /* learning curve of the winner */
    sfu__details details;   /* of its winner, where they are kept */
    _Atomic int32_t trials; /* finished so far */
    atomic_bool started;    /* */
    int32_t known;          /* finished by earlier calls */
    double weight;          /* expected cost of a trial, relative to others */
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
    int *leaders;   /* [tasks->count]: index of the first task with the same training, possibly itself */
    sfu__job *jobs; /* studies of the leaders that have to run */
    int count;
    int32_t before;        /* studies finished before */
    int64_t trials_before; /* and their trials */

    pthread_mutex_t lock;
    pthread_cond_t job_finished;
    int taken;         /* number of started jobs */
    int finished;      /* number of finished jobs */
    int *finish_order; /* [count]: jobs in the order in which they finished */
    int written;       /* number of these that are in the entries */
    int threads;       /* studies at once */
    int job_threads;   /* threads of the processor for all studies together */
    sfu__gpu *gpu;     /* that the studies share; NULL: none */
    atomic_bool stop;
    sfu_status status;
    char message[SFU__MESSAGE_MAX];
    double began;
} sfu__running;

/* Finds all errors of the request before a file is written: opens the datasets, parses the space for every network,
 * draws the splits, lists the jobs. Copies entries from other tasks with the same training. */
SFU_CHECKED sfu_status sfu__run_prepare(sfu__running *run);
void sfu__run_clear(sfu__running *run);

/* Opens the GPU that the studies share, if they are to have one, and sets the number of studies at once. */
SFU_CHECKED sfu_status sfu__run_choose_device(sfu__running *run);

/* Copies the result of a task to the tasks with the same training. */
SFU_CHECKED sfu_status sfu__run_share(sfu__running *run, const sfu__entry *entry);

#endif
