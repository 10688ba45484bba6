/* model.h - a model from the inside: a network, the parameters that a training left, and what it is for.
 *
 * docs/model.md has the file. A model changes by sfu_model_set_parameter alone.
 */
#ifndef SFU_MODEL_H
#define SFU_MODEL_H

#include "names.h"
#include "net.h"

struct sfu_model {
    sfu_net *net;
    int32_t features, classes;
    int32_t nodes; /* of the graph it was trained on, where a parameter has a value a node; else 0 */
    sfu__parameters parameters;
    float *theta;               /* [parameters.size], padding zero */
    sfu_parameter *shown;       /* [parameters.count]: the parameters as the API has them */
    sfu__strings class_names;   /* each with a 0 behind it inside its extent; count 0: none */
    sfu__strings feature_names; /* the same */
    char dataset[65];           /* digest of what it was trained on, "": not known */
    char *run;                  /* JSON: settings and scores as the file has them; NULL: not known */
    sfu_scores scores;          /* zeros where not known */
    int32_t *confusion;         /* [classes][classes], truth and guess, of the test nodes; NULL: not known */
};

/* What a training knows; all of it is copied. */
typedef struct sfu__model_parts {
    const sfu_net *net;
    int32_t features, classes, nodes;
    const float *theta;                /* laid out as sfu__parameters_make with these numbers says */
    const sfu__strings *class_names;   /* or NULL */
    const sfu__strings *feature_names; /* or NULL */
    const char *dataset;               /* digest, or NULL */

    /* Of the run; the settings are written into the file, threads, device and callbacks are not. */
    const sfu_train_options *options; /* NULL: there was no run, and there are no scores */
    const sfu_scores *scores;
    const int32_t *confusion; /* [classes][classes] or NULL */
} sfu__model_parts;

SFU_CHECKED sfu_status sfu__model_new(sfu_model **model, const sfu__model_parts *parts);

/* Fills in `shown` of a model that has its parameters. */
SFU_CHECKED sfu_status sfu__model_show_parameters(sfu_model *model);

/* The same as sfu_model_open from bytes in memory; `path` is for messages. */
SFU_CHECKED sfu_status sfu__model_view(sfu_model **model, const void *bytes, size_t size, const char *path);

/* Whether f of lpnn is needed to predict: then it is in the file, and the model is for its own graph alone. */
bool sfu__model_needs_f(const sfu_net *net);

/* ---- the run, as JSON ---- */

/* Writes settings and scores; seconds are left out, so that the same training gives the same bytes. */
SFU_CHECKED sfu_status sfu__run_print(sfu__text *text, const sfu_train_options *options, const sfu_scores *scores,
                                      const int32_t *confusion, int32_t classes);

/* Reads the scores out of it. *confusion is allocated, NULL where it is not there. `path` starts messages. */
SFU_CHECKED sfu_status sfu__run_read(sfu_scores *scores, int32_t **confusion, int32_t classes, const char *run,
                                     const char *path);

#endif
