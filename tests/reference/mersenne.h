/* mersenne.h - the Mersenne twister MT19937 (Matsumoto and Nishimura 1998) with doubles of 53 bits, as in numpy's
 * RandomState: the generator of the recorded suggestions. */
#ifndef SFU_MERSENNE_H
#define SFU_MERSENNE_H

#include <stdint.h>

enum { MERSENNE_WORDS = 624 };

typedef struct mersenne {
    uint32_t word[MERSENNE_WORDS];
    int next;
} mersenne;

static inline mersenne mersenne_start(uint32_t seed) {
    mersenne m = {.next = MERSENNE_WORDS};
    m.word[0] = seed;
    for (uint32_t i = 1; i < MERSENNE_WORDS; i++) {
        m.word[i] = 1812433253U * (m.word[i - 1] ^ (m.word[i - 1] >> 30)) + i;
    }
    return m;
}

static inline uint32_t mersenne_next(mersenne *m) {
    if (m->next == MERSENNE_WORDS) {
        for (int i = 0; i < MERSENNE_WORDS; i++) {
            const uint32_t y = (m->word[i] & 0x80000000U) | (m->word[(i + 1) % MERSENNE_WORDS] & 0x7fffffffU);
            m->word[i] = m->word[(i + 397) % MERSENNE_WORDS] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfU : 0);
        }
        m->next = 0;
    }
    uint32_t y = m->word[m->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    return y ^ (y >> 18);
}

static inline double mersenne_unit(mersenne *m) {
    const uint32_t a = mersenne_next(m) >> 5, b = mersenne_next(m) >> 6;
    return (a * 67108864.0 + b) / 9007199254740992.0;
}

#endif
