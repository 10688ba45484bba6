/* mixture.h - the kernel mixture sum, where a suggestion spends its time: over some kernels k of an estimate, at a
 * point x,
 *
 *     sum_k weight_k exp(base_k - offset + sum_t table_t[k] - sum_j ((x_j - centre_j[k]) scale_j[k])^2)
 *
 * The kernels are added in SFU__MIXTURE_LANES lanes, kernel k to lane k mod 8, and the lanes at the end as ((0 + 1) +
 * (2 + 3)) + ((4 + 5) + (6 + 7)). Fused operations are the same everywhere, so every implementation gives the same
 * bits.
 *
 * Rough sums in float, which are much cheaper, exclude most points that cannot have the smallest sum. Their error is
 * bounded, so the choice among points depends neither on their bits nor on their use.
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
    double middle[SFU__MIXTURE_AXES],
        reach[SFU__MIXTURE_AXES];           /* [lines]: centre and width of the range, for rough sums */
    const double *table[SFU__MIXTURE_AXES]; /* [tables] */
    const float *rough[SFU__MIXTURE_AXES];  /* [tables]: `table` times SFU__MIXTURE_BITS, for rough sums */
    double offset;
} sfu__mixture;

typedef double (*sfu__mixture_fn)(const sfu__mixture *mixture);

/* Scalar version: the reference of the vector versions. */
double sfu__mixture_sum_scalar(const sfu__mixture *mixture);

/* Vector versions, as far as the build has them (src/tune/sampler/simd). */
double sfu__mixture_sum_neon(const sfu__mixture *mixture);
double sfu__mixture_sum_x86_64_v3(const sfu__mixture *mixture);
double sfu__mixture_sum_x86_64_v4(const sfu__mixture *mixture);

#define SFU__MIXTURE_BITS 0x1.71547652b82fep0 /* log2 e */

/* ---- rough sums ------------------------------------------------------------------------------------------------- */

/* The sums over the same kernels at several points, whose mixtures differ only in x, table and offset. Requirements:
 *
 *   - arrays of a whole number of SFU__MIXTURE_ROOM, and at most SFU__MIXTURE_ROUGH_AXES lines and as many tables
 *   - centres and points within middle -+ reach/2, and scale reach at most 75
 *   - exponents of at most SFU__MIXTURE_ROUGH_BITS log 2
 *
 * A sum of 2^-24 or more then has a relative error of at most SFU__MIXTURE_ROUGHLY(lines).
 */
enum { SFU__MIXTURE_ROOM = 32, SFU__MIXTURE_ROUGH_AXES = 12, SFU__MIXTURE_ROUGH_BITS = 90 };
typedef void (*sfu__mixture_rough_fn)(double *sums, const sfu__mixture *points, int count);

#define SFU__MIXTURE_ROUGHLY(lines) (5e-5 * (1 + (lines)))

void sfu__mixture_rough_neon(double *sums, const sfu__mixture *points, int count);
void sfu__mixture_rough_x86_64_v3(double *sums, const sfu__mixture *points, int count);
void sfu__mixture_rough_x86_64_v4(double *sums, const sfu__mixture *points, int count);

/* ---- choice of the implementation -------------------------------------------------------------------------------- */

typedef struct sfu__mixture_set {
    const char *name; /* that of the backend's kernels for the same instructions */
    sfu__mixture_fn sum;
    sfu__mixture_rough_fn rough; /* NULL: not available */
} sfu__mixture_set;

/* The fastest set that this machine supports; $SFUMATO_ISA selects one, as for the backend. */
const sfu__mixture_set *sfu__mixture_best(void);

/* All sets that this machine supports, the scalar one first; NULL after the last. */
const sfu__mixture_set *sfu__mixture_set_at(int i);

#endif
