/* trained.h - a dataset, a network and its plan, ready to run epochs: what measurements of plans share. They end the
 * program with the message where something fails. */
#ifndef SFU_BENCH_TRAINED_H
#define SFU_BENCH_TRAINED_H

#include "plan_int.h"

/* A dataset with a split. */
typedef struct setting {
    sfu_dataset *dataset;
    sfu_split *split;
    int32_t *labels[2]; /* of training and of validation nodes */
} setting;

/* NULL: the usual split, and its usual label set. */
void setting_open(setting *self, const char *dataset, const char *split, const char *size);
void setting_close(setting *self);

/* One training on one core, or on one core of each rank. */
typedef struct trained {
    const setting *of;
    sfu__plan *plan;
    sfu__executor *worker;
    uint32_t epochs; /* run so far */
} trained;

/* With the weights that seed 1 starts from; dropout 0.5. `ways`: those of one pass, as in a request; NULL: those that
 * the planner chooses. */
void trained_start(trained *self, const setting *of, const char *net, int32_t hidden, sfu_pass pass, const int *ways);
void trained_stop(trained *self);

/* An epoch, and its halves: the training step, and the validation but for its score. */
void trained_epoch(void *self);
void trained_step(void *self);
void trained_validate(void *self);

/* Ends the program where a status is an error. */
void must(sfu_status status);

#endif
