/* training_options.h - options that the commands that train, or run a network, have in common. */
#ifndef CLI_TRAINING_OPTIONS_H
#define CLI_TRAINING_OPTIONS_H

#include "offers.h"
#include "options.h"

/* Ends with NULL; an index is a value of sfu_metric. */
extern const char *const metric_choices[];
/* An index of 1: balanced. */
extern const char *const class_weight_choices[];

#define OPTION_METRIC(place)                                                                                           \
    OPTION_CHOICE("metric", place, metric_choices,                                                                     \
                  "what is maximised on the validation nodes: decides early stopping and the best training")
#define OPTION_CLASS_WEIGHT(place)                                                                                     \
    OPTION_CHOICE("class-weight", place, class_weight_choices,                                                         \
                  "balanced: weight classes inversely to their number of labels")
#define OPTION_DEVICE(place)                                                                                           \
    OPTION_OFFER("device", VALUE_TEXT, "NAME", place, NULL, offer_devices, false,                                      \
                 "where to compute: auto, cpu, cuda or cuda:N; does not affect the result")
#define OPTION_MEMORY(place, effect)                                                                                   \
    OPTION_SIZE("memory", place, "no limit",                                                                           \
                "most memory to use, such as 8G; a larger dataset is read from its file; " effect)
#define OPTION_DEVICE_MEASURED(place)                                                                                  \
    OPTION_OFFER("device", VALUE_TEXT, "NAME", place, NULL, offer_devices, false,                                      \
                 "where to measure: cpu, cuda or cuda:N; auto is the CPU")
#define OPTION_SHARE(place, what)                                                                                      \
    OPTION_TEXT("share", VALUE_TEXT, "URL", place, "this machine alone",                                               \
                "PostgreSQL database through which machines that run the same command share " what                     \
                ": each takes what no other has, and all get the same result")

#endif
