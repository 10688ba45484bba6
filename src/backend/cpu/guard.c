/* guard.c - sets flush-to-zero mode in the calling thread. x86 and arm differ at the edge of the denormals, so kernels
 * avoid them altogether; this only keeps a missed case from costing a hundredfold. */
#include "backend.h"

#if defined(__x86_64__)
#include <immintrin.h>
uint64_t sfu__float_guard(void) {
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040U); /* FTZ and DAZ */
    return before;
}
void sfu__float_restore(uint64_t before) { _mm_setcsr((unsigned)before); }
#elif defined(__aarch64__)
uint64_t sfu__float_guard(void) {
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    const uint64_t after = before | (UINT64_C(1) << 24);
    __asm__ volatile("msr fpcr, %0" : : "r"(after));
    return before;
}
void sfu__float_restore(uint64_t before) { __asm__ volatile("msr fpcr, %0" : : "r"(before)); }
#else
uint64_t sfu__float_guard(void) { return 0; }
void sfu__float_restore(uint64_t before) { (void)before; }
#endif
