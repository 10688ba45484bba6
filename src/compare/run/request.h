/* request.h - what a comparison was asked for: kept with its results, so that they can be run again and gone on with.
 */
#ifndef SFU_REQUEST_H
#define SFU_REQUEST_H

#include "json.h"
#include "string_list.h"

/* Starts as {0}; sfu__request_clear also after a failure. */
typedef struct sfu__request {
    char *kind;                /* "compare", or the table of the paper: "set1", ... */
    sfu__string_list datasets; /* as they were given: names or paths */
    sfu__string_list nets;     /* names or compositions, in the order of the tables */
    sfu__string_list sizes;    /* "1" to "5", counts, "standard" */
    int32_t splits, trials, lpnn_trials;
    char *space;
    uint64_t seed;
    char *feature_norm, *lpnn; /* lpnn: "" for its defaults */
    sfu_loss loss;
    bool keep_loops;
    char *version;   /* of the program that it was kept by; NULL: it was not kept yet */
    double protocol; /* of that program, protocol.h */
} sfu__request;

/* Copies the options, defaults filled in; `kind` as above. Refuses what cannot be: a size of 0, a network that cannot
 * be read, splits below 1. */
SFU_CHECKED sfu_status sfu__request_make(sfu__request *request, const char *kind, const sfu_compare_options *options);
void sfu__request_clear(sfu__request *request);

/* As JSON for the manifest, and back. */
SFU_CHECKED sfu_status sfu__request_print(sfu__text *json, const sfu__request *request);
SFU_CHECKED sfu_status sfu__request_read(sfu__request *request, const sfu__json *json, const char *path);

#endif
