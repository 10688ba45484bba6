/* sampler.h - samplers of hyperparameters: the tree-structured Parzen estimator (docs/internals/tpe.md), and random
 * search.
 *
 * The sampler minimizes. It is told the finished trials in the order of their numbers, and is asked for one point at a
 * time. It draws random numbers through a callback, so a suggestion is a function of the results told and of the
 * numbers drawn. The split, the sorted order and the masses of the kernels are kept from one ask to the next, which
 * makes an ask cheap.
 */
#ifndef SFU_SAMPLER_H
#define SFU_SAMPLER_H

#include "space.h"

typedef enum sfu__sampler_kind {
    SFU__SAMPLER_TPE,             /* joint kernels per group, widths from the neighbours: as Optuna 5 */
    SFU__SAMPLER_TPE_INDEPENDENT, /* each parameter independently: as Optuna 4 */
    SFU__SAMPLER_RANDOM
} sfu__sampler_kind;

/* The sampler of a name, false if there is none; the i-th name, NULL after the last. */
bool sfu__sampler_kind_of(sfu__sampler_kind *kind, const char *name);
const char *sfu__sampler_name(int i);

/* Settings of the estimator; only tests change them. */
typedef struct sfu__sampler_rules {
    int startup;    /* random points before the first estimate */
    int candidates; /* points sampled per suggestion */
    double gamma;   /* fraction of the trials that are good ... */
    int gamma_max;  /* ... and their maximum number */
    bool swapped;   /* swaps good and bad trials */
} sfu__sampler_rules;
sfu__sampler_rules sfu__sampler_rules_default(void); /* 10, 24, 0.1, 25, false */

/* Uniform in [0, 1). `stream` 0: random points; 1: draws of the estimator. */
typedef double (*sfu__draw_fn)(void *user, int stream);

typedef struct sfu__sampler sfu__sampler;

/* The space must outlive the sampler. */
SFU_CHECKED sfu_status sfu__sampler_new(sfu__sampler **sampler, const sfu__space *space, sfu__sampler_kind kind,
                                        const sfu__sampler_rules *rules);
void sfu__sampler_free(sfu__sampler *sampler);

/* Adds the result of a finished trial. Call it in the order of the trials' numbers; failed trials are not told. */
SFU_CHECKED sfu_status sfu__sampler_tell(sfu__sampler *sampler, const double *values, double loss);

/* Sets the pending trials, `count` points of space->count values each, for later asks. They count as bad, so that the
 * next point keeps away from them. */
SFU_CHECKED sfu_status sfu__sampler_pending(sfu__sampler *sampler, const double *points, int count);

/* A random value, as for the first points. */
double sfu__sampler_random(const sfu__domain *domain, sfu__draw_fn draw, void *user);

/* Suggests the next point. Parameters that its network does not use are NaN. */
SFU_CHECKED sfu_status sfu__sampler_ask(double *values, sfu__sampler *sampler, sfu__draw_fn draw, void *user);

#endif
