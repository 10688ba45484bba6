/* parzen_int.h - internals of the Parzen estimate. */
#ifndef SFU_PARZEN_INT_H
#define SFU_PARZEN_INT_H

#include "mixture.h"
#include "parzen.h"

/* Cached columns per grid or choice. */
enum { SFU__PARZEN_COLUMNS = 512 };

/* log p_k(x) of every kernel k at one grid point or choice x. */
typedef struct sfu__parzen_densities {
    double *cells; /* [capacity]; NULL: not allocated */
    double prior;  /* value of the prior */
    int64_t index;
    double from, to;  /* on a grid: the inner bounds of the cell */
    uint64_t version; /* version of the coordinate at the last update */
} sfu__parzen_densities;

/* One axis of all kernels. */
typedef struct sfu__coordinate {
    const sfu__axis *axis;
    double *centre, *sigma;         /* [capacity] inner units, or the index of the choice; sigma 0: not computed */
    double *scale;                  /* [capacity] sqrt(1/2)/sigma */
    double *left, *right;           /* [capacity] the kernel's mass below L and above H, before truncation */
    double *log_share;              /* [capacity] log of the mass within [L, H] */
    uint64_t *changed;              /* [capacity] version in which sigma last changed */
    double *sorted;                 /* [capacity] centres in ascending order, on ties the earlier trial first */
    int32_t *order;                 /* [capacity] slots of the sorted centres */
    char *stale;                    /* [capacity] a neighbour has changed since the width was computed */
    double least;                   /* minimum width used for the widths; 0: not computed */
    double prior;                   /* on an interval: log of the prior's normalization, sigma times its mass */
    double prior_tail;              /* the prior's mass below L, equal to that above H */
    double miss, hit;               /* on choices: log p_k of another choice and of the kernel's own */
    uint64_t version;               /* incremented with every change */
    sfu__parzen_densities *columns; /* index i is cached at i mod column_count */
    int column_count;
} sfu__coordinate;

struct sfu__parzen {
    int axes, count, capacity; /* capacity: a multiple of SFU__MIXTURE_LANES */
    sfu__coordinate *at;       /* [axes] */
    int64_t *number;           /* [capacity] number of the trial, ascending */
    double *weight, *base;     /* [capacity] as in mixture.h */
    bool *touched;             /* [capacity] base must be recomputed */
    double total;              /* sum of the weights, including the prior's */
    int weighted;              /* count for which the weights were computed; -1: none */
    bool settled;              /* widths, weights and base are up to date */
    const sfu__mixture_set *set;
};

/* Updates widths, weights and base. */
void sfu__parzen_update(sfu__parzen *parzen);

/* The column of a grid index or choice, up to date. */
SFU_CHECKED sfu_status sfu__parzen_column(const sfu__parzen_densities **column, const sfu__parzen *parzen,
                                          sfu__coordinate *coordinate, int64_t index);

#endif
