/* mixture.h - the sum that a suggestion's time goes into, over some kernels k of an estimate at one point x:
 *
 *   sum_k weight_k exp(base_k - offset + sum_t table_t[k] - sum_j ((x_j - centre_j[k]) scale_j[k])^2)
 *
 * The kernels are added up in SFU__MIXTURE_LANES lanes, k to lane k mod 8, the lanes at the end as ((0 + 1) + (2 + 3))
 * +
 * ((4 + 5) + (6 + 7)), and what is fused is fused everywhere: every implementation gives the same bits.
 */
#ifndef SFU_MIXTURE_H
#define SFU_MIXTURE_H

enum { SFU__MIXTURE_LANES = 8, SFU__MIXTURE_AXES = 64 };

/* All arrays have a whole number of lanes; what is beyond the kernels has weight 0 and finite numbers. */
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

/* One kernel after the other: what the fast ones are held to. */
double sfu__mixture_sum_plain(const sfu__mixture *mixture);

/* The fast ones, those that the build has (src/search/sampler/fast). */
double sfu__mixture_sum_neon(const sfu__mixture *mixture);
double sfu__mixture_sum_x86_64_v3(const sfu__mixture *mixture);
double sfu__mixture_sum_x86_64_v4(const sfu__mixture *mixture);

/* The fastest that this machine has; $SFUMATO_ISA as for the other kernels, where it names one. */
sfu__mixture_fn sfu__mixture_best(void);

/* All that this machine can run, the plain one first, with their names; NULL after the last. */
sfu__mixture_fn sfu__mixture_set(int i, const char **name);

#endif
