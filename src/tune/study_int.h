/* study_int.h - internals of a study: filled by the loop (tune_loop.c), read by the public functions (study.c). */
#ifndef SFU_STUDY_INT_H
#define SFU_STUDY_INT_H

#include "digest.h"
#include "names.h"
#include "store.h"

struct sfu_study {
    char *name, *location; /* location: NULL in memory */
    sfu__space *space;
    sfu_metric metric;
    sfu__trials trials;
    char *why_skipped; /* "trial 12 failed in another program": of the first trial that is skipped; or NULL */

    /* Set when all trials are finished. */
    sfu_trial *public_trials; /* [trials.count] */
    sfu__strings params;      /* one per trial: "lr=0.01 hidden=64" */
    sfu__strings values;      /* trials.count x space->count, "" if the trial does not have the parameter */
    int32_t *ranked;          /* numbers of the complete trials, the best first */
    int32_t ranked_count;     /* length of `ranked` */
    double *importance;       /* [space->count] */
    sfu_model *model;         /* the winner's model, or NULL */
    sfu_train_options winner;
};

/* The best complete trial, or NULL. */
const sfu__trial *sfu__trials_best(const sfu__trials *trials);

/* The parameters of a trial as text, "lr=0.01 hidden=64". */
SFU_CHECKED sfu_status sfu__trial_params(sfu__text *text, const sfu__space *space, const double *values);

/* A trial in the form of the public interface; `params` is borrowed. */
sfu_trial sfu__trial_show(const sfu__trial *trial, const char *params, sfu_metric metric);

/* Sets everything that is derived from the finished trials, except the winner's model. */
SFU_CHECKED sfu_status sfu__study_finish(sfu_study *study);

/* SHA-256 of the CSV that sfu_study_export writes: equal for studies with the same trials. */
SFU_CHECKED sfu_status sfu__study_digest(char text[SFU__DIGEST_TEXT], const sfu_study *study);

#endif
