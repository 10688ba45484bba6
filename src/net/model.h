/* model.h - the model structure: a network, its trained parameters, and what is known of the training.
 *
 * docs/reference/model.md describes the file format. Only sfu_model_set_parameter changes a model.
 */
#ifndef SFU_MODEL_H
#define SFU_MODEL_H

#include "names.h"
#include "net.h"

struct sfu_model {
    sfu_net *net;
    int32_t features, classes;
    int32_t nodes; /* of the training graph, if a parameter has one value per node; otherwise 0 */
    sfu__parameters parameters;
    float *theta;               /* [parameters.size], padding zero */
    sfu_parameter *shown;       /* [parameters.count]: the parameters as the API shows them */
    sfu__strings class_names;   /* each NUL-terminated; count 0: none */
    sfu__strings feature_names; /* each NUL-terminated; count 0: none */
    char dataset[65];           /* digest of the training dataset; "": unknown */
    char *run;                  /* JSON: settings and scores as stored in the file; NULL: unknown */
    char *transform;            /* JSON: the column transformation of the training dataset, or NULL */
    sfu_scores scores;          /* zeros if unknown */
    int32_t *confusion; /* [classes][classes], rows: true class, columns: predicted; test nodes; NULL: unknown */
    int64_t *fitted;    /* digests of the nodes that the weights were fitted on, ascending; NULL: unknown */
    int64_t fitted_count;
};

/* The results of a training; all of it is copied. */
typedef struct sfu__model_parts {
    const sfu_net *net;
    int32_t features, classes, nodes;
    const float *theta;                /* layout of sfu__parameters_make with these numbers */
    const sfu__strings *class_names;   /* or NULL */
    const sfu__strings *feature_names; /* or NULL */
    const char *dataset;               /* digest, or NULL */
    const char *transform;             /* JSON, or NULL */
    const int64_t *fitted;             /* ascending, or NULL */
    int64_t fitted_count;

    /* Of the training run; settings are stored in the file, but not threads, device and callbacks. */
    const sfu_train_options *options; /* NULL: there was no run, and there are no scores */
    const sfu_scores *scores;
    const int32_t *confusion; /* [classes][classes] or NULL */
} sfu__model_parts;

SFU_CHECKED sfu_status sfu__model_new(sfu_model **model, const sfu__model_parts *parts);

/* Fills in `shown` of a model that has its parameters. */
SFU_CHECKED sfu_status sfu__model_show_parameters(sfu_model *model);

/* Like sfu_model_open, from bytes in memory; `path` is used in messages. */
SFU_CHECKED sfu_status sfu__model_view(sfu_model **model, const void *bytes, size_t size, const char *path);

/* The temperature that calibrates its probabilities; 1: they stay as they are. */
double sfu__model_temperature(const sfu_model *model);

/* Whether a node with this digest (node_digest.h) is among those that the weights were fitted on. */
bool sfu__model_has_fitted(const sfu_model *model, int64_t digest);

/* Whether prediction needs f of lpnn: then it is stored, and the model can only be used with its training graph. */
bool sfu__model_needs_f(const sfu_net *net);

/* ---- the run, as JSON ---- */

/* Writes settings and scores without times, so that the same training gives the same bytes. */
SFU_CHECKED sfu_status sfu__run_print(sfu__text *text, const sfu_train_options *options, const sfu_scores *scores,
                                      const int32_t *confusion, int32_t classes);

/* Reads the scores. *confusion is allocated, or NULL if it is missing. `path` is the prefix of messages. */
SFU_CHECKED sfu_status sfu__run_read(sfu_scores *scores, int32_t **confusion, int32_t classes, const char *run,
                                     const char *path);

#endif
