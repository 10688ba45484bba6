/* machine.h - identifies this machine, and measures the memory bandwidth of one core. */
#ifndef SFU_MACHINE_H
#define SFU_MACHINE_H

#include "cost.h"
#include "progress.h"

/* The caches and main memory. */
enum { SFU__L1, SFU__L2, SFU__L3, SFU__RAM, SFU__MEMORY_LEVELS };

typedef struct sfu__machine {
    char model[128];                            /* "Intel(R) Xeon(R) ...", or the identification numbers of an arm64 */
    double cache_bytes[SFU__MEMORY_LEVELS - 1]; /* as seen by one core: L1d, L2, L3; without an L3 twice L2 */
} sfu__machine;

void sfu__machine_detect(sfu__machine *machine);

/* The level that an array of this size fits into. */
int sfu__machine_level(const sfu__machine *machine, double bytes);

typedef struct sfu__memory_rates {
    double bytes[SFU__MEMORY_LEVELS];  /* size of the array that was read */
    double read[SFU__MEMORY_LEVELS];   /* GB/s, sequential vector loads */
    double gather[SFU__MEMORY_LEVELS]; /* GB/s, rows of 256 bytes in random order, prefetched */
    double row_ns[SFU__WIDTHS];        /* rows of sfu__rate_widths in random order out of L1, with their indices */
} sfu__memory_rates;

SFU_CHECKED sfu_status sfu__memory_rates_measure(sfu__memory_rates *rates, const sfu__machine *machine,
                                                 sfu__ticker *ticker);

/* Seconds per call of `job`: the best of several rounds, which is least affected by other load. */
double sfu__best_seconds(void (*job)(void *context), void *context);

#endif
