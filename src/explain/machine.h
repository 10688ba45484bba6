/* machine.h - identifies this machine, and measures the memory bandwidth of one core. */
#ifndef SFU_MACHINE_H
#define SFU_MACHINE_H

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

/* Bandwidth of sequential vector loads from each level, GB/s, and the time of a row of 16 and of 32 bytes out of L1,
 * with its index, in random order. */
enum { SFU__ROW_WIDTHS = 2 };
SFU_CHECKED sfu_status sfu__measure_memory(double read[SFU__MEMORY_LEVELS], double row_ns[SFU__ROW_WIDTHS],
                                           const sfu__machine *machine, sfu__ticker *ticker);

#endif
