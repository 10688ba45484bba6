/* philox.h - one block of Philox4x32-10 (Salmon et al., SC 2011), for CPUs and GPUs. random.h says how it is used. */
#ifndef SFU_PHILOX_H
#define SFU_PHILOX_H

#include "device_code.h"

#include <stdint.h>

/* The multipliers of the first and third word of the counter in a Philox round. */
#define SFU__PHILOX_FACTOR0 0xD2511F53u
#define SFU__PHILOX_FACTOR1 0xCD9E8D57u
/* The key increments per round (Weyl sequence): the golden ratio and sqrt(3) - 1. */
#define SFU__PHILOX_STEP0 0x9E3779B9u
#define SFU__PHILOX_STEP1 0xBB67AE85u
enum { SFU__PHILOX_ROUNDS = 10 };

/* Replaces the counter by the block of random bits at it. */
SFU__DEVICE_FN void sfu__philox_block(uint32_t c[4], uint32_t k0, uint32_t k1) {
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int round = 0; round < SFU__PHILOX_ROUNDS; round++) {
        const uint64_t p0 = (uint64_t)SFU__PHILOX_FACTOR0 * c[0];
        const uint64_t p1 = (uint64_t)SFU__PHILOX_FACTOR1 * c[2];
        c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
        c[1] = (uint32_t)p1;
        c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
        c[3] = (uint32_t)p0;
        k0 += SFU__PHILOX_STEP0;
        k1 += SFU__PHILOX_STEP1;
    }
}

#endif
