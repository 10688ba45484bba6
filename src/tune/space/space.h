/* space.h - search spaces: named ranges of hyperparameters, and the networks that use them.
 *
 *   lr=(0,1) a float, lr=log(1e-4,0.1) a logarithmic one, k=[1..5:2] an integer with a step, hidden={8,16,32} a choice
 *
 * A parameter value is a double in natural units, as Optuna stores it: an integer as 6.0, a choice as its index. NaN:
 * the network of the trial does not use the parameter. docs/reference/space.md has the language.
 */
#ifndef SFU_SPACE_H
#define SFU_SPACE_H

#include "json.h"
#include "net.h"
#include "text.h"

typedef enum sfu__range_kind { SFU__RANGE_FLOAT, SFU__RANGE_INT, SFU__RANGE_CHOICE } sfu__range_kind;

typedef struct sfu__choice {
    char *text;     /* as written: "64", "gcn" */
    bool is_number; /* written as a JSON number if true (as an integer if it was given as one), else as a string */
    double number;
} sfu__choice;

typedef struct sfu__domain {
    sfu__range_kind kind;
    double low, high; /* natural units, inclusive; for a choice 0 and count - 1 */
    double step;      /* 0: none; at least 1 for an integer; high is low + a whole number of steps */
    bool log;         /* excludes a step other than 1 */
    sfu__choice *choices;
    int count;
} sfu__domain;

typedef struct sfu__parameter_range {
    char *name;
    sfu__domain range;
    int group; /* parameters used by the same networks have the same group, from 0, and are sampled jointly */
} sfu__parameter_range;

enum { SFU__SPACE_PARAMETERS = 64 };
#define SFU__SPACE_DEFAULT "practical"

/* Immutable once made. */
typedef struct sfu__space {
    sfu__parameter_range *items; /* in the order of the text; `net` first if it is searched */
    int count, groups;
    char **nets;   /* network templates: "gcn", "dense $h relu | softmax"; one, or one per choice of `net` */
    int net_count; /* */
    uint64_t *has; /* [net_count]: bit i is set if the network uses parameter i */
    char *text;    /* canonical: parsing it with the same network gives the same space */
    bool paper;    /* the preset of the paper, whose loss is a sum */
    sfu_net_options net_options; /* options of named networks if hidden and k are not searched */
} sfu__space;

/* `text`: a space, "paper" or "practical" (NULL: practical), or one of the two followed by ranges that replace those of
 * the preset: "practical k=[1..4]". `net`: a name, a composition with $names, or "any": every named network but lpnn
 * (in "paper" the seven of the paper), or those of net={...}. Refuses, with a caret, syntax errors, parameters that no
 * network uses, $names without a range, and invalid ranges (dropout above 1, hidden of 2.5). Every network is parsed
 * once with the endpoints of its ranges, so a trial can only fail if two values are incompatible. */
SFU_CHECKED sfu_status sfu__space_new(sfu__space **space, const char *text, const char *net,
                                      const sfu_net_options *options);

/* The same for a network that shares the text with others: parameters that it does not use are removed, and bit i of
 * `unused` is set for the i-th parameter of the text. The caller refuses a parameter that no network uses. */
SFU_CHECKED sfu_status sfu__space_new_among(sfu__space **space, const char *text, const char *net,
                                            const sfu_net_options *options, uint64_t *unused);
void sfu__space_free(sfu__space *space);

/* Whether a value is in the domain; NaN is not. */
bool sfu__domain_holds(const sfu__domain *range, double value);

/* Index of a parameter, or -1. */
int sfu__space_find(const sfu__space *space, const char *name);

/* The network for names of studies: as given, or "any" if it is searched. */
const char *sfu__space_net_text(const sfu__space *space);

/* Index of the network that these values choose, or -1; and whether a network uses parameter i. */
int sfu__space_net(const sfu__space *space, const double *values);
bool sfu__space_has(const sfu__space *space, int net, int i);

/* Prints a value as in a space: "0.01", "64", "gcn", or "'smooth | softmax'" with quotes if a point needs them. */
SFU_CHECKED sfu_status sfu__space_print(sfu__text *text, const sfu__space *space, int i, double value);

/* Parses a point, "lr=0.01 hidden=64", into values[count]; omitted parameters are NaN. Each value must be in its range
 * and valid for training: lr above 0, dropout below 1. */
SFU_CHECKED sfu_status sfu__space_point(double *values, const sfu__space *space, const char *text);

/* The distribution of a parameter in Optuna's JSON format. */
SFU_CHECKED sfu_status sfu__space_distribution(sfu__text *text, const sfu__space *space, int i);

/* Whether a distribution in that format is one of which our values may have been suggested: the same kind, both
 * logarithmic or not, or the same choices. Its ends may differ. Fails only with SFU_ERR_MEMORY. */
SFU_CHECKED sfu_status sfu__space_compatible(bool *compatible, const sfu__space *space, int i, const char *json);

/* A value as Optuna writes it outside of its tables: 0.01, 64, "gcn". NaN if it is not in the range or not valid for
 * training. */
double sfu__space_value(const sfu__space *space, int i, const sfu__json *value);

/* Network and hyperparameters of a trial. */
typedef struct sfu__candidate {
    sfu_net *net;
    double lr, weight_decay, dropout; /* those of the defaults where they are not searched */
} sfu__candidate;

/* Starts as {0}; call sfu__candidate_clear also after a failure. */
SFU_CHECKED sfu_status sfu__candidate_make(sfu__candidate *candidate, const sfu__space *space, const double *values,
                                           const sfu_train_options *usual);
void sfu__candidate_clear(sfu__candidate *candidate);

#endif
