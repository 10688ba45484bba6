/* lanes.h - native vector types of the instruction set that a file is compiled for, and loop pragmas. */
#ifndef SFU_LANES_H
#define SFU_LANES_H

#if defined(__aarch64__)
#include <arm_neon.h>
enum { VECTOR_BYTES = 16 };
#else
#include <immintrin.h>
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#else
enum { VECTOR_BYTES = 32 };
#endif
#endif

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#endif
