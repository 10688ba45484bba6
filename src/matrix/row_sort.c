/* row_sort.c - insertion, rank or radix sort by the width of the row: most rows are short, and a few are very long. */
#include "row_sort.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    INSERTION_MAX = 6, /* up to this width: insertion sort */
    RANK_MAX = 96,     /* up to this width: rank sort; beyond: radix sort */
};

static void sort_by_insertion(uint32_t *keys, float *weights, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        const uint32_t key = keys[i];
        const float weight = weights != NULL ? weights[i] : 0;
        int64_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--) {
            keys[j] = keys[j - 1];
            if (weights != NULL) {
                weights[j] = weights[j - 1];
            }
        }
        keys[j] = key;
        if (weights != NULL) {
            weights[j] = weight;
        }
    }
}

/* Four integers, compared at once; a true comparison is -1. */
typedef int32_t lanes __attribute__((vector_size(16)));

static lanes load_lanes(const int32_t *from) {
    lanes value;
    memcpy(&value, from, sizeof value);
    return value;
}

/* Rank sort: the position of a key is the number of smaller keys. All pairs are compared without branches, which at
 * these widths is several times as fast as insertion. With equal keys, which would get the same position, it changes
 * nothing and returns false. */
static bool sort_by_rank(uint32_t *keys, float *weights, int64_t count) {
    enum { GROUP = 8 };
    int32_t values[RANK_MAX + GROUP]; /* keys with the top bit flipped, for signed comparison */
    int32_t ranks[RANK_MAX + GROUP];
    float weights_in[RANK_MAX];
    const int64_t padded = (count + GROUP - 1) / GROUP * GROUP;
    for (int64_t i = 0; i < padded; i++) {
        values[i] = i < count ? (int32_t)(keys[i] ^ 0x80000000u) : INT32_MIN;
    }
    for (int64_t group = 0; group < padded; group += GROUP) {
        const lanes a = load_lanes(values + group), b = load_lanes(values + group + 4);
        lanes rank_a = {0}, rank_b = {0};
        for (int64_t i = 0; i < count; i++) {
            const lanes other = {values[i], values[i], values[i], values[i]};
            rank_a -= a > other;
            rank_b -= b > other;
        }
        memcpy(ranks + group, &rank_a, sizeof rank_a);
        memcpy(ranks + group + 4, &rank_b, sizeof rank_b);
    }
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += ranks[i]; /* NOLINT(clang-analyzer-core.*): all `padded` of them were written above */
    }
    if (sum != count * (count - 1) / 2) {
        return false;
    }
    if (weights != NULL) {
        memcpy(weights_in, weights, (size_t)count * sizeof *weights);
    }
    for (int64_t i = 0; i < count; i++) {
        keys[ranks[i]] = (uint32_t)values[i] ^ 0x80000000u;
        if (weights != NULL) {
            weights[ranks[i]] = weights_in[i];
        }
    }
    return true;
}

/* Radix sort, least significant byte first; bytes that are zero in all keys are skipped. */
static void sort_by_radix(uint32_t *keys, float *weights, uint32_t *other_keys, float *other_weights, int64_t count) {
    uint32_t all = 0;
    for (int64_t i = 0; i < count; i++) {
        all |= keys[i];
    }
    uint32_t *in = keys, *out = other_keys;
    float *weights_in = weights, *weights_out = other_weights;
    for (int shift = 0; shift < 32 && all >> shift != 0; shift += 8) {
        int64_t offsets[257] = {0};
        for (int64_t i = 0; i < count; i++) {
            offsets[(in[i] >> shift & 255) + 1]++;
        }
        for (int digit = 0; digit < 256; digit++) {
            offsets[digit + 1] += offsets[digit];
        }
        for (int64_t i = 0; i < count; i++) {
            const int64_t to = offsets[in[i] >> shift & 255]++;
            out[to] = in[i];
            if (weights != NULL) {
                weights_out[to] = weights_in[i];
            }
        }
        uint32_t *swap = in;
        in = out;
        out = swap;
        float *swap_weights = weights_in;
        weights_in = weights_out;
        weights_out = swap_weights;
    }
    if (in != keys) {
        memcpy(keys, in, (size_t)count * sizeof *keys);
        if (weights != NULL) {
            memcpy(weights, weights_in, (size_t)count * sizeof *weights);
        }
    }
}

void sfu__sort_row(uint32_t *keys, float *weights, uint32_t *other_keys, float *other_weights, int64_t count) {
    if (count > RANK_MAX) {
        sort_by_radix(keys, weights, other_keys, other_weights, count);
    } else if (count <= INSERTION_MAX || !sort_by_rank(keys, weights, count)) {
        sort_by_insertion(keys, weights, count);
    }
}
