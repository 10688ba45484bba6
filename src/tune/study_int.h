/* study_int.h - a study as the loop fills it and as the public functions show it. */
#ifndef SFU_STUDY_INT_H
#define SFU_STUDY_INT_H

#include "names.h"
#include "store.h"

struct sfu_study {
    char *name, *place; /* place: NULL in memory */
    sfu__space *space;
    sfu__trials trials;

    /* Made when all trials are done. */
    sfu_trial *shown;     /* [trials.count] */
    sfu__strings params;  /* a trial each: "lr=0.01 hidden=64" */
    sfu__strings values;  /* trials.count x space->count, "" where there is none */
    int32_t *ranked;      /* numbers of the complete trials, the best first */
    int32_t ranked_count; /* */
    double *importance;   /* [space->count] */
    sfu_model *model;     /* the winner's, or NULL */
    sfu_train_options winner;
};

/* The best complete trial, or NULL. */
const sfu__trial *sfu__trials_best(const sfu__trials *trials);

/* The parameters of a trial as people write them, "lr=0.01 hidden=64". */
SFU_CHECKED sfu_status sfu__trial_params(sfu__text *text, const sfu__space *space, const double *values);

/* A trial as the API has it; `params` is borrowed. */
sfu_trial sfu__trial_show(const sfu__trial *trial, const char *params);

/* Fills in what is made when all trials are done, but for the winner's model. */
SFU_CHECKED sfu_status sfu__study_finish(sfu_study *study);

#endif
