/* executor_int.h - the data structures of an executor: executor.c builds it, execute.c runs it. */
#ifndef SFU_EXECUTOR_INT_H
#define SFU_EXECUTOR_INT_H

#include "plan_int.h"

/* A step whose operands are pointers. */
typedef struct sfu__bound_step {
    const sfu__plan_step *step;
    sfu__dense c, a, b;
    sfu__sparse *sparse; /* NULL: none */
    const float *bias;
    const int64_t *bounds; /* [threads + 1], with space for the largest team; then the same per stage */
    const sfu__mask *mask;
} sfu__bound_step;

typedef struct sfu__bound_pass {
    sfu__bound_step *steps;
    size_t count;
    int64_t *bounds; /* [partitions, or steps of a rank][1 or 1 + stages][most threads + 1] */
    sfu__mask *masks;
    sfu__score *scores; /* [blocks of the output, or of the stage with the most] */
    int64_t score_count;
    int32_t *labels;              /* not pruned: target of every node; staged: target of every row in stage order */
    float *weights;               /* not pruned */
    int32_t *requested_index;     /* staged: index of each row among the requested nodes */
    double *seconds;              /* [count]: total time per step, if measured */
    struct sfu__rank_pass *ranks; /* NULL, or the part of this rank (rank_steps.h) */
} sfu__bound_pass;

struct sfu__executor {
    const sfu__plan *plan;
    const sfu__backend *backend;
    sfu__team *team;
    int threads;   /* of the current region; all bounds are for this many */
    float *memory; /* holds all arrays below */
    int64_t bytes; /* of `memory` */
    float *arena, *theta, *m, *v, *gradient, *values, *value_gradients;
    sfu__learned_work **learned;              /* [smoothers], NULL if not learned */
    struct sfu__rank_learned **learned_ranks; /* [smoothers], NULL if not learned, or not among ranks */
    sfu__bound_pass passes[SFU_PASSES];

    /* state of the current region */
    bool train;
    int after;      /* pass that follows training, or runs alone; -1: none */
    int64_t needed; /* staged evaluation: correct rows needed to continue; 0: run in one stage */
    bool ended;     /* the evaluation stopped early */
    sfu__target targets[SFU_PASSES];
    sfu__adam adam;
};

/* An operand as a matrix in the memory of an executor. */
sfu__dense sfu__executor_matrix(const sfu__executor *self, const sfu__operand *operand);

/* Runs a step for a range of the items of its partition. */
void sfu__run_range(sfu__executor *self, sfu_pass pass, const sfu__bound_step *at, sfu__range range, int thread);

/* Number of bounds reserved per step and stage. */
size_t sfu__executor_bounds(const sfu__executor *self);

/* Divides all steps among `threads` threads. */
void sfu__executor_partition(sfu__executor *self, int threads);

#endif
