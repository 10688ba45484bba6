/* keyed_hash.c - SipHash-1-3 with a key per process. */
#define _DEFAULT_SOURCE /* getentropy */
#include "keyed_hash.h"
#include "clock.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- the hash ---------------------------------------------------------------------------------------------------- */

typedef struct state {
    uint64_t v0, v1, v2, v3;
} state;

static inline uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static inline void sip_round(state *s) {
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 = rotate(s->v2, 32);
}

static inline void absorb(state *s, uint64_t word) {
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

static inline uint64_t four_bytes(const unsigned char *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Up to seven bytes as an integer. The parts may overlap, where they agree. */
static inline uint64_t last_bytes(const unsigned char *bytes, size_t size) {
    if (size >= 4) {
        return four_bytes(bytes) | four_bytes(bytes + size - 4) << (8 * (size - 4));
    }
    return size == 0 ? 0
                     : (uint64_t)bytes[0] | (uint64_t)bytes[size / 2] << (8 * (size / 2)) |
                           (uint64_t)bytes[size - 1] << (8 * (size - 1));
}

uint64_t sfu__keyed_hash(const sfu__hash_key *key, const void *bytes, size_t size) {
    const uint64_t k0 = key->words[0], k1 = key->words[1];
    state s = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d), k0 ^ UINT64_C(0x6c7967656e657261),
               k1 ^ UINT64_C(0x7465646279746573)};
    const unsigned char *at = bytes;
    size_t left = size;
    for (; left >= 8; at += 8, left -= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        absorb(&s, word);
    }
    absorb(&s, (uint64_t)size << 56 | last_bytes(at, left));
    s.v2 ^= 0xff;
    sip_round(&s);
    sip_round(&s);
    sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

/* ---- the key ----------------------------------------------------------------------------------------------------- */

static sfu__hash_key process_key;
static pthread_once_t process_key_once = PTHREAD_ONCE_INIT;

/* If the system has no random bytes, uses data that differs between processes: weaker, but unknown to a file. */
static void draw_key(void) {
    if (getentropy(&process_key, sizeof process_key) != 0) {
        const uint64_t entropy[] = {(uint64_t)(sfu__now() * 1e9), (uint64_t)getpid(), (uint64_t)(uintptr_t)&entropy};
        process_key = (sfu__hash_key){{1, 2}};
        process_key.words[0] = sfu__keyed_hash(&process_key, entropy, sizeof entropy);
        process_key.words[1] = sfu__keyed_hash(&process_key, entropy, sizeof entropy);
    }
}

sfu__hash_key sfu__hash_key_of_process(void) {
    pthread_once(&process_key_once, draw_key);
    return process_key;
}
