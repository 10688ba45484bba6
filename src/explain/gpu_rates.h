/* gpu_rates.h - the speed of a GPU: of its memory, and of single operations that are large enough to fill it. */
#ifndef SFU_GPU_RATES_H
#define SFU_GPU_RATES_H

#include "cost.h"
#include "device.h"
#include "progress.h"

/* Where gathered rows are, and how long they are. */
enum { SFU__GPU_L2, SFU__GPU_RAM, SFU__GPU_LEVELS };
enum { SFU__GPU_ROW_WIDTHS = 2 }; /* 64 and 256 bytes */

/* The measured rates; sfu__gpu_rate_names has what they are, and their units. */
enum {
    SFU__GPU_RATE_LAUNCH,
    SFU__GPU_RATE_UPLOAD,
    SFU__GPU_RATE_DOWNLOAD,
    SFU__GPU_RATE_WRITE,
    SFU__GPU_RATE_GATHER, /* of each level, and of each width */
    SFU__GPU_RATE_GEMM = SFU__GPU_RATE_GATHER + SFU__GPU_LEVELS * SFU__GPU_ROW_WIDTHS,
    SFU__GPU_RATE_DRAW,
    SFU__GPU_RATE_ADAM,
    SFU__GPU_RATE_COUNT
};
extern const char *const sfu__gpu_rate_names[SFU__GPU_RATE_COUNT][2];

typedef struct sfu__gpu_measured {
    char device[160]; /* "cuda:0 (NVIDIA H200)" */
    double l2_bytes;
    double rates[SFU__GPU_RATE_COUNT];
} sfu__gpu_measured;

/* Opens the device and runs the complete measurement. */
SFU_CHECKED sfu_status sfu__measure_gpu(sfu__gpu_measured *measured, sfu__device device, sfu__ticker *ticker);

/* The rate of gathered rows of this width, in floats, out of an array of this size: GB/s. */
double sfu__gpu_gather_rate(const sfu__gpu_measured *measured, int32_t width, double bytes);

#endif
