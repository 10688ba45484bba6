/* space.h - what a study searches: named ranges, and the networks that have use for them.
 *
 *   lr=(0,1) a float, lr=log(1e-4,0.1) a logarithmic one, k=[1..5:2] an integer with a step, hidden={8,16,32} a choice
 *
 * A value of a parameter is a double in natural units as Optuna stores it: an integer as 6.0, a choice as its place
 * among the choices. NaN: the trial has no such parameter, its network having no use for it. docs/reference/space.md
 * has the language.
 */
#ifndef SFU_SPACE_H
#define SFU_SPACE_H

#include "net.h"
#include "text.h"

typedef enum sfu__range_kind { SFU__RANGE_FLOAT, SFU__RANGE_INT, SFU__RANGE_CHOICE } sfu__range_kind;

typedef struct sfu__choice {
    char *text;     /* as it was written: "64", "gcn" */
    bool is_number; /* then it is one in JSON too, an integer where it was written as one */
    double number;
} sfu__choice;

typedef struct sfu__domain {
    sfu__range_kind kind;
    double low, high; /* natural units, both ends included; of a choice 0 and count - 1 */
    double step;      /* 0: none; of an integer at least 1; high is low + a whole number of steps */
    bool log;         /* excludes a step other than 1 */
    sfu__choice *choices;
    int count;
} sfu__domain;

typedef struct sfu__parameter_range {
    char *name;
    sfu__domain range;
    int group; /* parameters that the same networks have, and so are sampled jointly, counted from 0 */
} sfu__parameter_range;

enum { SFU__SPACE_PARAMETERS = 64 };

/* Never changes once it is made. */
typedef struct sfu__space {
    sfu__parameter_range *items; /* in the order of the text; `net` first where it is searched */
    int count, groups;
    char **nets;   /* what is tuned, as templates: "gcn", "dense $h relu | softmax"; one, or a choice each of `net` */
    int net_count; /* */
    uint64_t *has; /* [net_count]: bit i set: the network has use for parameter i */
    char *text;    /* canonical: parsing it with the same network gives the same space */
    bool paper;    /* it is the paper's own, whose loss is a sum */
    sfu_net_options net_options; /* of named networks, where hidden and k are not searched */
} sfu__space;

/* `text`: a space, "paper" or "practical" (NULL: paper), or one of the two and more after it: "practical k=[1..4]",
 * what comes later replacing what came before. `net`: a name, a composition with $names, or "any": the seven networks
 * of the paper, or those of net={...}. Refuses, with a caret, what cannot be read, a parameter that no network has use
 * for, a $name without a range, a range that cannot be (dropout above 1, hidden of 2.5). Every network is parsed once
 * with the ends of its ranges, so that a trial can only fail where two values do not go together. */
SFU_CHECKED sfu_status sfu__space_new(sfu__space **space, const char *text, const char *net,
                                      const sfu_net_options *options);

/* The same for a network that shares the text with others: what it has no use for is left out, and bit i of `unused` is
 * set for the i-th parameter of the text. One that no network has use for is for the caller to refuse. */
SFU_CHECKED sfu_status sfu__space_new_among(sfu__space **space, const char *text, const char *net,
                                            const sfu_net_options *options, uint64_t *unused);
void sfu__space_free(sfu__space *space);

/* Whether a value is one of the range; NaN is none. */
bool sfu__domain_holds(const sfu__domain *range, double value);

/* The place of a parameter, -1: there is none. */
int sfu__space_find(const sfu__space *space, const char *name);

/* The network that these values choose, -1: none that there is; and whether a network has use for parameter i. */
int sfu__space_net(const sfu__space *space, const double *values);
bool sfu__space_has(const sfu__space *space, int net, int i);

/* A value as people write it, "0.01", "64", "gcn", or "'smooth | softmax'" with quotes where a point needs them. */
SFU_CHECKED sfu_status sfu__space_print(sfu__text *text, const sfu__space *space, int i, double value);

/* Reads a point, "lr=0.01 hidden=64", into values[count]; what it does not name is NaN. Each value must lie in its
 * range, and training must take it: lr above 0, dropout below 1. */
SFU_CHECKED sfu_status sfu__space_point(double *values, const sfu__space *space, const char *text);

/* The distribution of a parameter as Optuna writes it in JSON. */
SFU_CHECKED sfu_status sfu__space_distribution(sfu__text *text, const sfu__space *space, int i);

/* What a trial trains. */
typedef struct sfu__candidate {
    sfu_net *net;
    double lr, weight_decay, dropout; /* as `usual` has them where they are not searched */
} sfu__candidate;

/* Starts as {0}; sfu__candidate_clear also after a failure. */
SFU_CHECKED sfu_status sfu__candidate_make(sfu__candidate *candidate, const sfu__space *space, const double *values,
                                           const sfu_train_options *usual);
void sfu__candidate_clear(sfu__candidate *candidate);

#endif
