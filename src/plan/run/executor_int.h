/* executor_int.h - a worker from the inside: executor.c makes it, execute.c runs it. */
#ifndef SFU_EXECUTOR_INT_H
#define SFU_EXECUTOR_INT_H

#include "plan_int.h"

/* A step with its operands in place. */
typedef struct sfu__bound_step {
    const sfu__plan_step *step;
    sfu__dense c, a, b;
    sfu__sparse *sparse; /* NULL: none */
    const float *bias;
    const int64_t *bounds; /* [threads + 1], in room for all that the team may get; then the same for each look */
    const sfu__mask *mask;
} sfu__bound_step;

typedef struct sfu__bound_pass {
    sfu__bound_step *steps;
    size_t count;
    int64_t *bounds; /* [cuts][1 or 1 + looks][most threads + 1] */
    sfu__mask *masks;
    sfu__score *scores; /* [blocks of the output, or of the look that has the most] */
    int64_t score_count;
    int32_t *labels; /* not pruned: the target of every node; in looks: of every row that is looked at */
    float *weights;  /* not pruned */
    int32_t *places; /* in looks: where a row stands among those that were asked for */
    double *seconds; /* [count]: what each step took, where that is measured */
} sfu__bound_pass;

struct sfu__executor {
    const sfu__plan *plan;
    const sfu__backend *backend;
    sfu__team *team;
    int threads;   /* in the region at hand; the bounds of all steps are for so many */
    float *memory; /* all of the arrays below */
    int64_t bytes; /* of it */
    float *arena, *theta, *m, *v, *gradient, *values, *value_gradients;
    sfu__learned_work **learned; /* [smoothers], NULL where not learned */
    sfu__bound_pass passes[SFU_PASSES];

    /* the region at hand */
    bool train;
    int after;      /* the pass that follows training, or runs alone; -1: none */
    int64_t needed; /* of the evaluation: how many must be right for it to go on; 0: it does */
    bool ended;     /* the evaluation, early */
    sfu__target target[SFU_PASSES];
    sfu__adam adam;
};

/* An operand in the memory of a worker. */
sfu__dense sfu__executor_matrix(const sfu__executor *self, const sfu__operand *operand);

/* How many bounds there is room for, of all of a step or of a look. */
size_t sfu__executor_bounds(const sfu__executor *self);

/* Shares all steps among so many threads. */
void sfu__executor_partition(sfu__executor *self, int threads);

#endif
