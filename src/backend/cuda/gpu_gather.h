/* gpu_gather.h - the ceiling of a sparse product on a GPU, for benchmarks: gathers the rows of B that C = A B needs,
 * and only adds them up. No product of these rows takes less time than reading them. */
#ifndef SFU_GPU_GATHER_H
#define SFU_GPU_GATHER_H

#include "gpu_lanes.h"

/* The sum of the gathered rows of each chain, at its number in C; four columns per thread, eight rows at once. */
SFU__DEVICE_STEP void gpu_gather_only(const sfu__gpu_matrix *A, const sfu__f4 *B, sfu__f4 *C, int64_t quads,
                                      int64_t lane, int64_t lanes) {
    enum { AT_ONCE = 8 };
    for (int64_t i = lane; i < A->chain_count * quads; i += lanes) {
        const int64_t at = i / quads, quad = i % quads;
        const sfu__gpu_chain chain = gpu_chain_at(A->chains, at);
        const sfu__u4 *pairs = gpu_chain_pairs(A, &chain);
        const int count = gpu_chain_count(&chain);
        sfu__f4 sum = gpu_zero();
        int k = 0;
        for (; k + AT_ONCE <= count; k += AT_ONCE) {
            sfu__f4 row[AT_ONCE];
            SFU__UNROLL for (int j = 0; j < AT_ONCE; j += 2) {
                const sfu__u4 two = SFU__READ_ONLY(&pairs[(k + j) / 2 * SFU__GPU_GROUP]);
                row[j] = SFU__READ_ONLY(&B[(int64_t)two.x * quads + quad]);
                row[j + 1] = SFU__READ_ONLY(&B[(int64_t)two.z * quads + quad]);
            }
            SFU__UNROLL for (int j = 0; j < AT_ONCE; j++) { sum = gpu_add(sum, row[j]); }
        }
        for (; k < count; k++) {
            sum = gpu_add(sum, SFU__READ_ONLY(&B[(int64_t)gpu_chain_entry(pairs, k).column * quads + quad]));
        }
        C[i] = sum;
    }
}

#endif
