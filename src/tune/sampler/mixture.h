/* mixture.h - the kernel mixture sum, where a suggestion spends its time: over some kernels k of an estimate, at a
 * point x,
 *
 *     sum_k weight_k exp(base_k - offset + sum_t table_t[k] - sum_j ((x_j - centre_j[k]) scale_j[k])^2)
 *
 * The kernels are added in SFU__MIXTURE_LANES lanes, kernel k to lane k mod 8, and the lanes at the end as ((0 + 1) +
 * (2 + 3)) + ((4 + 5) + (6 + 7)). Fused operations are the same everywhere, so every implementation gives the same
 * bits.
 */
#ifndef SFU_MIXTURE_H
#define SFU_MIXTURE_H

enum { SFU__MIXTURE_LANES = 8, SFU__MIXTURE_AXES = 64 };

/* All arrays have a whole number of lanes; entries beyond the kernels have weight 0 and finite numbers. */
typedef struct sfu__mixture {
    int from, count; /* the kernels [from, from + count), multiples of SFU__MIXTURE_LANES */
    int lines, tables;
    const double *weight, *base;
    const double *centre[SFU__MIXTURE_AXES], *scale[SFU__MIXTURE_AXES]; /* [lines] */
    double x[SFU__MIXTURE_AXES];
    const double *table[SFU__MIXTURE_AXES]; /* [tables] */
    double offset;
} sfu__mixture;

typedef double (*sfu__mixture_fn)(const sfu__mixture *mixture);

/* Scalar version: the reference of the vector versions. */
double sfu__mixture_sum_scalar(const sfu__mixture *mixture);

/* Vector versions, as far as the build has them (src/tune/sampler/simd). */
double sfu__mixture_sum_neon(const sfu__mixture *mixture);
double sfu__mixture_sum_x86_64_v3(const sfu__mixture *mixture);
double sfu__mixture_sum_x86_64_v4(const sfu__mixture *mixture);

/* ---- choice of the implementation -------------------------------------------------------------------------------- */

typedef struct sfu__mixture_set {
    const char *name; /* that of the backend's kernels for the same instructions */
    sfu__mixture_fn sum;
} sfu__mixture_set;

/* The fastest set that this machine supports; $SFUMATO_ISA selects one, as for the backend. */
const sfu__mixture_set *sfu__mixture_best(void);

/* All sets that this machine supports, the scalar one first; NULL after the last. */
const sfu__mixture_set *sfu__mixture_set_at(int i);

#endif
