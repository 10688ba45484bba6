/* machine.h - what kind of machine this is, and how fast one of its cores reads memory. */
#ifndef SFU_MACHINE_H
#define SFU_MACHINE_H

#include "cost.h"
#include "progress.h"

/* The caches, and behind them memory. */
enum { SFU__L1, SFU__L2, SFU__L3, SFU__RAM, SFU__MEMORY_LEVELS };

typedef struct sfu__machine {
    char model[128];                            /* "Intel(R) Xeon(R) ...", or what an arm64 says of itself */
    double cache_bytes[SFU__MEMORY_LEVELS - 1]; /* of one core's view: L1d, L2, L3; without an L3 twice L2 */
} sfu__machine;

void sfu__machine_detect(sfu__machine *machine);

/* The level that so many bytes fit into. */
int sfu__machine_level(const sfu__machine *machine, double bytes);

typedef struct sfu__memory_rates {
    double bytes[SFU__MEMORY_LEVELS];  /* what was read from */
    double read[SFU__MEMORY_LEVELS];   /* GB/s, one after the other, vector loads */
    double gather[SFU__MEMORY_LEVELS]; /* GB/s, rows of 256 bytes in random order, asked for in advance */
    double row_ns[SFU__WIDTHS];        /* rows of sfu__rate_widths in random order out of L1: a row, with its index */
} sfu__memory_rates;

SFU_CHECKED sfu_status sfu__memory_rates_measure(sfu__memory_rates *rates, const sfu__machine *machine,
                                                 sfu__ticker *ticker);

/* Seconds that a call of `job` takes: the best of several rounds, so that what else the machine does counts little. */
double sfu__best_seconds(void (*job)(void *context), void *context);

#endif
