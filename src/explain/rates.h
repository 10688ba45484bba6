/* rates.h - the speed of this machine: measured by timing small networks, and stored in a file.
 *
 * The predicted time of a step is its nominal time (cost.h) times the slowdown of its class: the ratio of measured to
 * nominal time of the steps of that class when the machine was measured. Gathers from memory are scaled by its
 * bandwidth if that is slower.
 */
#ifndef SFU_RATES_H
#define SFU_RATES_H

#include "cost.h"
#include "machine.h"

/* Classes of steps. Products have three each, by the width of their rows: up to 4, up to 16, and more floats. */
typedef enum sfu__step_class {
    SFU__CLASS_SPMM,
    SFU__CLASS_GEMM = SFU__CLASS_SPMM + 3,
    SFU__CLASS_DROPOUT = SFU__CLASS_GEMM + 3, /* whatever draws random numbers */
    SFU__CLASS_ADAM,
    SFU__CLASS_ELEMENTWISE,
    SFU__CLASS_COUNT
} sfu__step_class;

sfu__step_class sfu__step_class_of(const sfu__work *work);

/* The measured rates; sfu__rate_names has what they are, and their units. */
enum {
    SFU__RATE_READ,                                      /* sequential reading from each memory level */
    SFU__RATE_ROW = SFU__RATE_READ + SFU__MEMORY_LEVELS, /* gathering rows of 16 and of 32 bytes out of L1 */
    SFU__RATE_GEMM = SFU__RATE_ROW + SFU__ROW_WIDTHS,    /* the fastest dense product */
    SFU__RATE_DRAW,                                      /* the fastest dropout */
    SFU__RATE_ADAM,
    SFU__RATE_SLOWDOWN, /* of each class */
    SFU__RATE_COUNT = SFU__RATE_SLOWDOWN + SFU__CLASS_COUNT
};
extern const char *const sfu__rate_names[SFU__RATE_COUNT][2];

/* A complete measurement, and what it belongs to. */
typedef struct sfu__measured {
    sfu__machine machine;
    char kernels[64]; /* name of the backend */
    double rates[SFU__RATE_COUNT];
} sfu__measured;

/* Runs the complete measurement. */
SFU_CHECKED sfu_status sfu__measure_machine(sfu__measured *measured, const char *kernels, sfu__ticker *ticker);

/* The predicted time of a step; at the nominal rates if `measured` is NULL. */
double sfu__predicted_seconds(const sfu__work *work, const sfu__measured *measured);

/* A plan with times predicted from `measured`, which is not kept; and the measurement of its epoch alone. */
SFU_CHECKED sfu_status sfu__plan_predict(sfu_plan **plan, const sfu_dataset *dataset, const sfu_net *net,
                                         const sfu_split *split, const sfu_plan_options *given,
                                         const sfu__measured *measured);
SFU_CHECKED sfu_status sfu__plan_measure_epoch(sfu_plan *plan);

/* The file of a machine and a kernel set in the user's cache folder: rates.MODEL.KERNELS.json. Loading returns false if
 * there is none that is complete and matches this machine, these kernels and this version; a broken file is logged. */
SFU_CHECKED sfu_status sfu__measured_save(const sfu__measured *measured);
bool sfu__measured_load(sfu__measured *measured, const sfu__machine *machine, const char *kernels);

/* Loads the file of this machine. */
bool sfu__measured_load_here(sfu__measured *measured);

#endif
