/* kernel_operands.h - matrices and vectors for the tests of kernels, the same for the same seed on every machine. */
#ifndef SFU_KERNEL_OPERANDS_H
#define SFU_KERNEL_OPERANDS_H

#include "support.h"

#include "cpu_matrix.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPERAND_STREAM = 77 };

/* A number from a position: uniform in [-1, 1). */
static inline float operand(uint64_t seed, uint64_t position) {
    return (float)(sfu__random_bits(seed, OPERAND_STREAM, position) >> 40) * 0x1p-23F - 1.0F;
}

static inline int64_t operand_below(uint64_t seed, uint64_t position, int64_t bound) {
    return (int64_t)(sfu__random_bits(seed, OPERAND_STREAM + 1, position) % (uint64_t)bound);
}

/* A block of exact size, so that a sanitizer detects a read beyond the end; 64-byte aligned. */
static inline void *exact(int64_t count, size_t size) {
    void *block = NULL;
    assert_int_equal(posix_memalign(&block, 64, count > 0 ? (size_t)count * size : 1), 0);
    return block;
}

static inline float *vector_new(int64_t count, uint64_t seed) {
    float *v = exact(count, sizeof *v);
    for (int64_t i = 0; i < count; i++) {
        v[i] = operand(seed, (uint64_t)i);
    }
    return v;
}

/* Padding is zero. */
static inline sfu__dense dense_new(int32_t rows, int32_t cols, uint64_t seed) {
    sfu__dense M = {.rows = rows, .cols = cols, .ld = sfu__ld(cols)};
    M.data = exact((int64_t)rows * M.ld, sizeof(float));
    for (int64_t i = 0; i < (int64_t)rows * M.ld; i++) {
        M.data[i] = i % M.ld < cols ? operand(seed, (uint64_t)i) : 0;
    }
    return M;
}

static inline float *bias_new(int32_t cols, uint64_t seed) { return dense_new(1, cols, seed).data; }

/* Numbers of entries per row, repeated. */
static const int64_t row_lengths[] = {3, 0, 1, 5, 17, 2, 63, 4, 64, 0, 65, 7, 128, 8, 129, 31, 1000, 16, 9};

typedef struct operand_sparse {
    sfu__sparse A;
    int64_t *indptr;
    int32_t *indices, *value_perm;
    float *values;
} operand_sparse;

static inline operand_sparse sparse_new(int32_t rows, int32_t cols, bool ordered, uint64_t seed) {
    operand_sparse S = {.A = {.rows = rows, .cols = cols}};
    S.indptr = exact(rows + 1, sizeof *S.indptr);
    S.indptr[0] = 0;
    for (int32_t i = 0; i < rows; i++) {
        const uint64_t which = (uint64_t)i + seed;
        S.indptr[i + 1] = S.indptr[i] + row_lengths[which % (sizeof row_lengths / sizeof row_lengths[0])];
    }
    const int64_t nonzeros = S.indptr[rows];
    S.indices = exact(nonzeros, sizeof *S.indices);
    S.values = vector_new(nonzeros, seed + 1);
    S.value_perm = ordered ? exact(nonzeros, sizeof *S.value_perm) : NULL;
    for (int64_t e = 0; e < nonzeros; e++) {
        S.indices[e] = (int32_t)operand_below(seed, (uint64_t)e, cols);
    }
    for (int64_t e = 0; ordered && e < nonzeros; e++) { /* a permutation, as in a transpose */
        const int64_t other = operand_below(seed + 2, (uint64_t)e, e + 1);
        S.value_perm[e] = S.value_perm[other];
        S.value_perm[other] = (int32_t)e;
    }
    S.A.indptr = S.indptr;
    S.A.indices = S.indices;
    S.A.values = S.values;
    S.A.value_perm = S.value_perm;
    return S;
}

static inline void sparse_free(operand_sparse *S) {
    free(S->indptr);
    free(S->indices);
    free(S->values);
    free(S->value_perm);
}

/* Ascending node ids with gaps, as in a pruned matrix. */
static inline int32_t *nodes_new(int32_t rows, uint64_t seed) {
    int32_t *nodes = exact(rows, sizeof *nodes);
    int32_t node = 0;
    for (int32_t i = 0; i < rows; i++) {
        node += 1 + (int32_t)operand_below(seed, (uint64_t)i, 5);
        nodes[i] = node;
    }
    return nodes;
}

#endif
