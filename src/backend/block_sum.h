/* block_sum.h - the blocks into which a sum over many rows is divided, and the lengths that fix every other sum; for
 * CPUs and GPUs. */
#ifndef SFU_BLOCK_SUM_H
#define SFU_BLOCK_SUM_H

#include "device_code.h"

#include <stdint.h>

enum {
    SFU__CHAIN_TERMS = 64, /* terms of one accumulation chain */
    /* Floats of the widest rows of spmm that count as narrow. Narrow results are flushed to zero: smoothing of class
     * probabilities and its gradient may be repeated many times. The results of wider products soon pass through an
     * operation that flushes, and flushing in the product would cost a fifth of its time. */
    SFU__NARROW = 16
};

SFU__DEVICE_FN int64_t sfu__block_rows(int64_t rows) { /* at most 64 blocks, each of a multiple of 64 rows */
    const int64_t least = ((rows + 63) / 64 + 63) / 64 * 64;
    return least > 256 ? least : 256;
}
SFU__DEVICE_FN int64_t sfu__block_count(int64_t rows) {
    return rows == 0 ? 0 : (rows + sfu__block_rows(rows) - 1) / sfu__block_rows(rows);
}

#endif
