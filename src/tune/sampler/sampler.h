/* sampler.h - where to look next: the tree-structured Parzen estimator, from its formulas (docs/internals/tpe.md), and
 * plain random search.
 *
 * The sampler minimises. It is told the trials that are finished, in the order of their numbers, and is asked for one
 * point at a time; it draws through a callback, so that what it suggests is a function of what it was told and of the
 * numbers drawn. What an ask costs is kept low by keeping the split, the sorted order and the masses of the kernels
 * from one ask to the next.
 */
#ifndef SFU_SAMPLER_H
#define SFU_SAMPLER_H

#include "space.h"

typedef enum sfu__sampler_kind {
    SFU__SAMPLER_TPE,             /* joint kernels a group, widths from the neighbours: as Optuna 5 */
    SFU__SAMPLER_TPE_INDEPENDENT, /* each parameter by itself: as Optuna 4 */
    SFU__SAMPLER_RANDOM
} sfu__sampler_kind;

/* By its name; false where there is none such. NULL after the last. */
bool sfu__sampler_kind_of(sfu__sampler_kind *kind, const char *name);
const char *sfu__sampler_name(int i);

/* What is not for users, but for tests that must be able to fail. */
typedef struct sfu__sampler_rules {
    int startup;    /* random points before the first estimate */
    int candidates; /* points drawn of which the best is taken */
    double gamma;   /* share of the trials that are good ... */
    int gamma_most; /* ... and the most of them */
    bool swapped;   /* takes the bad for the good */
} sfu__sampler_rules;
sfu__sampler_rules sfu__sampler_rules_usual(void); /* 10, 24, 0.1, 25, false */

/* Uniform in [0, 1). `stream` 0: random points; 1: the estimator's own draws. */
typedef double (*sfu__draw_fn)(void *user, int stream);

typedef struct sfu__sampler sfu__sampler;

/* The space must outlive it. */
SFU_CHECKED sfu_status sfu__sampler_new(sfu__sampler **sampler, const sfu__space *space, sfu__sampler_kind kind,
                                        const sfu__sampler_rules *rules);
void sfu__sampler_free(sfu__sampler *sampler);

/* A finished trial. Trials are told in the order of their numbers; those that failed are not told. */
SFU_CHECKED sfu_status sfu__sampler_tell(sfu__sampler *sampler, const double *values, double loss);

/* The trials that are out, `count` points of space->count values one after another, for the asks from now on: counted
 * as bad, so that the next point keeps away from them. */
SFU_CHECKED sfu_status sfu__sampler_out(sfu__sampler *sampler, const double *points, int count);

/* A value drawn at random, as the first points are. */
double sfu__sampler_random(const sfu__domain *domain, sfu__draw_fn draw, void *user);

/* The next point. Parameters that the network which it chooses has no use for are NaN. */
SFU_CHECKED sfu_status sfu__sampler_ask(double *values, sfu__sampler *sampler, sfu__draw_fn draw, void *user);

#endif
