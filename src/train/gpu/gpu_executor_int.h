/* gpu_executor_int.h - what the files of the GPU's executor share: gpu_executor.c makes it, gpu_execute.c runs it. */
#ifndef SFU_GPU_EXECUTOR_INT_H
#define SFU_GPU_EXECUTOR_INT_H

#include "gpu_executor.h"
#include "gpu_translate.h"
#include "plan_int.h"

/* One launch of sfu_run_step. */
typedef struct sfu__gpu_call {
    int step, phase, blocks;
} sfu__gpu_call;

/* A matrix of the device on the host, downloaded when it is asked for. */
typedef struct sfu__gpu_mirror {
    float *data;  /* NULL: never asked for */
    bool current; /* since the last run */
} sfu__gpu_mirror;

typedef struct sfu__gpu_executor_pass {
    bool exists;
    sfu__operand output_at, embedding_at; /* in the memory of a training, or constant */
    sfu__rows_of targets;                 /* rows that have targets; nodes NULL: all of them, in order */
    sfu__gpu_call *calls;
    size_t call_count;
    uint64_t labels, weights; /* addresses of the targets, per row of the pass; 0: it has none */
    int32_t *row_labels;      /* targets per row on the host, if not all rows have one, with ... */
    float *row_weights;       /* ... their weights */
    sfu__target target;       /* what was uploaded last */
    int64_t block_count;      /* blocks of its loss */
    double *losses;           /* [block_count], page-locked, followed by the correct rows of each block as int64_t */
    sfu__gpu_mirror output, embedding;
    double *seconds; /* [steps] while measuring, else NULL */
} sfu__gpu_executor_pass;

struct sfu__gpu_executor {
    sfu__gpu *gpu;
    int32_t nodes; /* of the graph */
    sfu__gpu_stream *stream;
    sfu__gpu_event *begin, *end; /* of a measured step */
    sfu__gpu_kernel kernel;
    sfu__gpu_translation made;            /* its image is on the device; here without bytes */
    uint64_t image, memory, job, targets; /* addresses */
    int64_t bytes;                        /* of the device, in all */
    float *theta;                         /* [size], page-locked */
    bool device_newer;                    /* theta of the device was trained since it was copied */
    sfu__gpu_job sent;                    /* the job of the last epoch or pass */

    /* Adam's corrections of the epochs below `correction_count`: on the host, and their address */
    float (*corrections)[2];
    uint64_t device_corrections;
    uint32_t correction_count;

    sfu__gpu_executor_pass passes[SFU_PASSES];
    sfu_status failure; /* the first, and its message */
    char message[SFU__MESSAGE_MAX];
};

enum { SFU__GPU_GRID_THREADS = 256 };

#endif
