/* rates.h - the rates of this machine: measured by timing the backend's own kernels, kept in a file. */
#ifndef SFU_RATES_H
#define SFU_RATES_H

#include "backend.h"
#include "cost.h"
#include "machine.h"

/* Everything that was measured here, and for what. */
typedef struct sfu__measured {
    sfu__machine machine;
    char kernels[64]; /* the backend's name */
    sfu__memory_rates memory;
    sfu__rates rates;
} sfu__measured;

/* The whole measurement. */
SFU_CHECKED sfu_status sfu__measure_machine(sfu__measured *measured, const sfu__backend *backend, sfu__ticker *ticker);

/* The file of a machine and a set of kernels in the user's cache folder: rates.MACHINE.json. Reading says false where
 * there is none, or none that is whole and of this machine, these kernels and this version; a broken one is logged. */
SFU_CHECKED sfu_status sfu__measured_save(const sfu__measured *measured);
bool sfu__measured_load(sfu__measured *measured, const sfu__machine *machine, const char *kernels);

/* This machine's rates: measured before and found in the user's cache folder, else the nominal ones; *measured says
 * which. */
void sfu__rates_of_this_machine(sfu__rates *rates, bool *measured);

#endif
