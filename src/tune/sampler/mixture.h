/* mixture.h - the sum that a suggestion's time goes into, over some kernels k of an estimate at one point x:
 *
 *   sum_k weight_k exp(base_k - offset + sum_t table_t[k] - sum_j ((x_j - centre_j[k]) scale_j[k])^2)
 *
 * The kernels are added up in SFU__MIXTURE_LANES lanes, k to lane k mod 8, the lanes at the end as
 * ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)), and what is fused is fused everywhere: every implementation gives the same
 * bits.
 *
 * Most points of many can be told not to have the least sum by much less work: rough sums, in float. How rough they are
 * is known, so that a choice between points does not depend on their bits, nor on whether they are there.
 */
#ifndef SFU_MIXTURE_H
#define SFU_MIXTURE_H

#include "truncated_normal.h"

enum { SFU__MIXTURE_LANES = 8, SFU__MIXTURE_AXES = 64 };

/* All arrays have a whole number of lanes; what is beyond the kernels has weight 0 and finite numbers. */
typedef struct sfu__mixture {
    int from, count; /* the kernels [from, from + count), multiples of SFU__MIXTURE_LANES */
    int lines, tables;
    const double *weight, *base;
    const double *centre[SFU__MIXTURE_AXES], *scale[SFU__MIXTURE_AXES]; /* [lines] */
    double x[SFU__MIXTURE_AXES];
    double middle[SFU__MIXTURE_AXES], reach[SFU__MIXTURE_AXES]; /* [lines] of the range; for rough sums */
    const double *table[SFU__MIXTURE_AXES];                     /* [tables] */
    const float *rough[SFU__MIXTURE_AXES];                      /* [tables] SFU__MIXTURE_BITS times them; likewise */
    double offset;
} sfu__mixture;

typedef double (*sfu__mixture_fn)(const sfu__mixture *mixture);

/* One kernel after the other: what the fast ones are held to. */
double sfu__mixture_sum_plain(const sfu__mixture *mixture);

/* The fast ones, those that the build has (src/search/sampler/fast). */
double sfu__mixture_sum_neon(const sfu__mixture *mixture);
double sfu__mixture_sum_x86_64_v3(const sfu__mixture *mixture);
double sfu__mixture_sum_x86_64_v4(const sfu__mixture *mixture);

#define SFU__MIXTURE_BITS 0x1.71547652b82fep0 /* log2 e */

/* ---- rough sums ------------------------------------------------------------------------------------------------- */

/* The sums over the same kernels at several points, whose mixtures differ in x, table and offset alone. Needed:
 *
 *   - arrays of a whole number of SFU__MIXTURE_ROOM, and at most SFU__MIXTURE_ROUGH_AXES lines and as many tables
 *   - centres and points within middle -+ reach/2, and scale reach at most 75
 *   - exponents of at most SFU__MIXTURE_ROUGH_BITS log 2
 *
 * A sum of 2^-24 or more is then off by SFU__MIXTURE_ROUGHLY(lines) of itself at most. */
enum { SFU__MIXTURE_ROOM = 32, SFU__MIXTURE_ROUGH_AXES = 12, SFU__MIXTURE_ROUGH_BITS = 90 };
typedef void (*sfu__mixture_rough_fn)(double *sums, const sfu__mixture *points, int count);

#define SFU__MIXTURE_ROUGHLY(lines) (5e-5 * (1 + (lines)))

void sfu__mixture_rough_neon(double *sums, const sfu__mixture *points, int count);
void sfu__mixture_rough_x86_64_v3(double *sums, const sfu__mixture *points, int count);
void sfu__mixture_rough_x86_64_v4(double *sums, const sfu__mixture *points, int count);

/* ---- which ones ------------------------------------------------------------------------------------------------- */

typedef struct sfu__mixture_set {
    const char *name; /* of the backend's kernels for the same instructions */
    sfu__mixture_fn sum;
    sfu__mixture_rough_fn rough; /* NULL: there is none */
    sfu__normal_quantiles_fn quantiles;
} sfu__mixture_set;

/* The fastest that this machine has; $SFUMATO_ISA as for the other kernels, where it names one. */
const sfu__mixture_set *sfu__mixture_best(void);

/* All that this machine can run, the plain one first; NULL after the last. */
const sfu__mixture_set *sfu__mixture_set_at(int i);

#endif
