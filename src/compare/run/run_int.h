/* run_int.h - the state of running the studies of a comparison: prepared by run_prepare.c; run_studies.c has the
 * threads, run_study.c one study, run_folder.c the results, run_progress.c the report of progress. */
#ifndef SFU_RUN_INT_H
#define SFU_RUN_INT_H

#include "curves.h"
#include "details.h"
#include "gpu.h"
#include "results_int.h"
#include "space.h"

#include <stdatomic.h>

/* A dataset that stays open during the run: all studies on it share the matrices of their plans. */
typedef struct sfu__open_dataset {
    const char *given;
    sfu_dataset *dataset;
    bool has_namesake; /* another dataset of the folder has a file with the same name */
} sfu__open_dataset;

/* A split, shared by all networks. */
typedef struct sfu__open_split {
    const sfu__task *task; /* the first task with this dataset, size and split */
    sfu_split *split;
} sfu__open_split;

/* One study to run. */
typedef struct sfu__job {
    const sfu__task *task;
    const char *table; /* of the paper; NULL: none */
    const sfu_dataset *dataset;
    bool has_namesake; /* as in sfu__open_dataset */
    const sfu_split *split;
    sfu__entry entry;       /* the result */
    bool keeps_curve;       /* its learning curve is kept */
    bool lost_curve;        /* memory for the curve was exhausted */
    sfu__curve curve;       /* learning curve of the winner */
    sfu__details details;   /* of its winner, where they are kept */
    _Atomic int32_t trials; /* finished so far */
    atomic_bool started;    /* */
    bool ready;             /* a thread may take it */
    bool fetched;           /* another machine has run it */
    bool stored;            /* its result is in the entries */
    int32_t known;          /* finished by earlier calls */
    double weight;          /* expected cost of a trial, relative to others */
} sfu__job;

/* A cell of the tables: the tasks that differ only in their split. */
typedef struct sfu__run_cell {
    const sfu__task *task; /* the first of them */
    int total, done;
} sfu__run_cell;

typedef struct sfu__shared sfu__shared; /* run_shared.h */

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
    int *leaders; /* [tasks->count]: index of the first task with the same training, possibly itself */
    bool *mine;   /* [tasks->count]: of a leader, whether its study belongs to the part of this call */
    int *cell_of; /* [tasks->count]: its cell; -1: in another part */
    sfu__run_cell *cells;
    int cell_count;
    sfu__job *jobs; /* studies of the leaders that have to run */
    int count;
    int32_t before;        /* studies finished before */
    int64_t trials_before; /* and their trials */

    pthread_mutex_t lock;
    pthread_cond_t job_finished, job_ready;
    int running;       /* number of jobs that threads have taken and not finished */
    int finished;      /* number of finished jobs */
    int *finish_order; /* [count]: jobs in the order in which they finished */
    int published;     /* number of these that a shared database has */
    int collected;     /* number of these that are in the entries */
    int saved;         /* and in the folder */
    double saved_at;   /* when the folder was last written, and how long that took */
    double save_s;
    double reported_at;  /* when its tables and plots were */
    bool table_ended;    /* since then */
    bool cancelled;      /* the callback asked to stop */
    sfu__shared *shared; /* the machines that share the run; NULL: this one alone */
    int threads;         /* studies at once */
    int job_threads;     /* threads of the processor for all studies together */
    sfu__gpu *gpu;       /* that the studies share; NULL: none */
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

/* run_fit.c: removes jobs whose network does not fit the memory limit, if there is one, and lists them. Fails if there
 * is nothing else. */
SFU_CHECKED sfu_status sfu__run_leave_out(sfu__running *run);

/* The search space of a task's study. */
SFU_CHECKED sfu_status sfu__run_space(sfu__space **space, const sfu__running *run, const sfu__task *task);

/* Runs a study with this number of threads; and removes its file. */
SFU_CHECKED sfu_status sfu__run_job(sfu__running *run, sfu__job *job, int threads);
SFU_CHECKED sfu_status sfu__run_remove_study(const sfu__running *run, const sfu__job *job);

/* Copies the result of a task to the tasks with the same training. */
SFU_CHECKED sfu_status sfu__run_share(sfu__running *run, const sfu__entry *entry);

/* Lets a thread take a job. */
void sfu__run_make_ready(sfu__running *run, sfu__job *job);

/* run_folder.c: makes the folder; adds finished jobs to the entries; writes these to the folder if the last time is
 * long enough ago, or `now`; and sorts them and removes what is not needed after the last. */
SFU_CHECKED sfu_status sfu__run_make_folder(const sfu__running *run);
SFU_CHECKED sfu_status sfu__run_collect(sfu__running *run);
SFU_CHECKED sfu_status sfu__run_save(sfu__running *run, bool now);
SFU_CHECKED sfu_status sfu__run_end(sfu__running *run);

/* run_progress.c: lists the cells; counts a task and those with the same training as done, and if `tell` reports the
 * cells that are complete; calls the callback of the options. */
SFU_CHECKED sfu_status sfu__run_list_cells(sfu__running *run);
void sfu__run_count_done(sfu__running *run, int task, bool tell);
SFU_CHECKED sfu_status sfu__run_report_progress(sfu__running *run);

/* The dataset of a task. */
const sfu__open_dataset *sfu__run_dataset(const sfu__running *run, const sfu__task *task);

#endif
