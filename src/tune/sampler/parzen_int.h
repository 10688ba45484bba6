/* parzen_int.h - what the files of the Parzen estimate share. */
#ifndef SFU_PARZEN_INT_H
#define SFU_PARZEN_INT_H

#include "mixture.h"
#include "parzen.h"

/* The columns that are kept a grid or choice. */
enum { SFU__PARZEN_COLUMNS = 512 };

/* log p_k(x) of every kernel k at one place x of a grid, or one choice. */
typedef struct sfu__parzen_densities {
    double *cells; /* [capacity]; NULL: not made yet */
    float *rough;  /* [capacity] SFU__MIXTURE_BITS times them, for rough sums */
    double prior;  /* of the prior */
    int64_t place;
    double from, to;  /* of a grid: the inner bounds of its cell */
    uint64_t version; /* of the coordinate, when it was last brought up to date */
} sfu__parzen_densities;

/* One axis of all kernels. */
typedef struct sfu__coordinate {
    const sfu__axis *axis;
    double *centre, *sigma; /* [capacity] inner units; of a choice its place; sigma 0: not known yet */
    double *scale;          /* [capacity] sqrt(1/2)/sigma */
    double *left, *right;   /* [capacity] the kernel's mass below L and above H, before it is cut off ... */
    double *log_share;      /* [capacity] ... and the logarithm of what is left */
    uint64_t *changed;      /* [capacity] the version with which sigma last changed */
    double *sorted;         /* [capacity] the centres in order, of equal ones the earlier trial first ... */
    int32_t *order;         /* [capacity] ... whose they are ... */
    char *stale;            /* [capacity] ... and whether a neighbour has changed since the width was computed */
    double least;           /* the least width that they were computed with; 0: they were not */
    double prior;           /* of a line: log of what the prior is divided by, sigma and its share */
    double prior_tail;      /* its mass below L, as that above H */
    double miss, hit;       /* of a choice: log p_k of another one and of the kernel's own */
    uint64_t version;       /* counts the times that something changed */
    sfu__parzen_densities *columns; /* place p at p mod column_count */
    int column_count;
} sfu__coordinate;

struct sfu__parzen {
    int axes, count, capacity; /* capacity: a multiple of SFU__MIXTURE_ROOM */
    sfu__coordinate *at;       /* [axes] */
    int64_t *number;           /* [capacity] of the trial, rising */
    double *weight, *base;     /* [capacity] as in mixture.h */
    bool *touched;             /* [capacity] base must be made anew */
    double total;              /* of the weights, the prior's included */
    int weighted;              /* the count that the weights were made for, -1: none */
    bool settled;              /* widths, weights and base are those of the kernels that are there */
    const sfu__mixture_set *set;
    bool screens;        /* rough sums may be used: as mixture.h needs it, and every place has a column of its own */
    sfu__mixture *rough; /* [room_rough] the points that are looked at roughly */
    size_t room_rough;
};

/* Brings widths, weights and base up to date. */
void sfu__parzen_settle(sfu__parzen *parzen);

/* The column of a place, up to date. */
SFU_CHECKED sfu_status sfu__parzen_column(const sfu__parzen_densities **column, const sfu__parzen *parzen,
                                          sfu__coordinate *coordinate, int64_t place);

#endif
