/* rates.h - the rates of this machine: measured by timing the backend's kernels, and stored in a file. */
#ifndef SFU_RATES_H
#define SFU_RATES_H

#include "backend.h"
#include "cost.h"
#include "machine.h"

/* A complete measurement, and what it belongs to. */
typedef struct sfu__measured {
    sfu__machine machine;
    char kernels[64]; /* name of the backend */
    sfu__memory_rates memory;
    sfu__rates rates;
} sfu__measured;

/* Runs the complete measurement. */
SFU_CHECKED sfu_status sfu__measure_machine(sfu__measured *measured, const sfu__backend *backend, sfu__ticker *ticker);

/* The file of a machine and a kernel set in the user's cache folder: rates.MODEL.KERNELS.json. Loading returns false if
 * there is none that is complete and matches this machine, these kernels and this version; a broken file is logged. */
SFU_CHECKED sfu_status sfu__measured_save(const sfu__measured *measured);
bool sfu__measured_load(sfu__measured *measured, const sfu__machine *machine, const char *kernels);

/* The rates of this machine: the stored ones if they exist, else the nominal ones; *measured says which. */
void sfu__rates_of_this_machine(sfu__rates *rates, bool *measured);

#endif
