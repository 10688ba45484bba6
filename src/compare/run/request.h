/* request.h - the request of a comparison, stored with its results so that they can be repeated and continued. */
#ifndef SFU_REQUEST_H
#define SFU_REQUEST_H

#include "json.h"
#include "string_list.h"

/* Starts as {0}; call sfu__request_clear also after a failure. */
typedef struct sfu__request {
    char *kind;                /* "compare", or a table of the paper: "set1", ... */
    sfu__string_list datasets; /* names in the results: as given; for a table of the paper without folder and suffix */
    sfu__string_list paths;    /* as given: names or paths; not stored: a folder may be continued on another machine */
    sfu__string_list nets;     /* names or compositions, in the order of the tables */
    sfu__string_list sizes;    /* "1" to "5", counts, "standard" */
    int32_t splits, trials, lpnn_trials;
    char *space;
    char *sampler; /* "auto": sfu__task_sampler chooses */
    uint64_t seed;
    char *feature_norm, *label_norm, *lpnn; /* lpnn: "" for the defaults */
    sfu_loss loss;
    bool keep_loops;
    sfu_metric metric; /* of early stopping, the choice of trials and the tables */
    bool balanced;     /* class weights */
    bool drop_studies; /* the file of a study is removed when its result is stored */
    char *version;     /* version of the program that stored it; NULL: not stored yet */
    double protocol;   /* of that program, protocol.h */
} sfu__request;

/* Copies the options and fills in defaults; `kind` as above. Refuses invalid values: a size of 0, a network with a
 * syntax error, fewer than 1 split. */
SFU_CHECKED sfu_status sfu__request_make(sfu__request *request, const char *kind, const sfu_compare_options *options);
void sfu__request_clear(sfu__request *request);

/* The loss of a space, unless another is asked for. */
sfu_loss sfu__space_loss(const char *space);

/* The norm of label smoothing of a request of this kind, unless it has another. The published accuracies are those of
 * "row" (docs/paper.md); named networks have "sym+row". */
const char *sfu__usual_label_norm(const char *kind);

/* Adds the first setting of a stored request that differs from another one: " with --loss sum"; "" if only the kind,
 * datasets, networks, splits and trials may differ. */
SFU_CHECKED sfu_status sfu__request_difference(sfu__text *text, const sfu__request *before, const sfu__request *now);

/* Prints to and reads from the JSON of the manifest. */
SFU_CHECKED sfu_status sfu__request_print(sfu__text *json, const sfu__request *request);
SFU_CHECKED sfu_status sfu__request_read(sfu__request *request, const sfu__json *json, const char *path);

#endif
