/* kernels.h - declares the sets of CPU kernels: one plain reference set, and one vectorized set per instruction set.
 *
 * SFU__KERNELS(isa) declares the operations of backend.h as sfu__spmm_isa and so on; SFU__KERNEL_TABLE(isa, text) is
 * the table of them.
 */
#ifndef SFU_KERNELS_H
#define SFU_KERNELS_H

#include "cpu_matrix.h"

/* The node that a row's dropout mask is drawn for. */
static inline uint32_t sfu__node_of(const int32_t *nodes, int64_t row) {
    return nodes != NULL ? (uint32_t)nodes[row] : (uint32_t)row;
}

/* The factor of a kept value, and its exact inverse. */
static inline float sfu__mask_scale(const sfu__mask *mask) { return (float)(65536.0 / (65536 - mask->threshold)); }
static inline float sfu__mask_rate(const sfu__mask *mask) { return (float)(65536 - mask->threshold) / 65536.0F; }

/* Rows of one block of a sum over rows. */
static inline sfu__range sfu__rows_of_block(int64_t rows, int64_t block) {
    const int64_t size = sfu__block_rows(rows), begin = block * size;
    return (sfu__range){begin, begin + size < rows ? begin + size : rows};
}

#define SFU__KERNELS(isa)                                                                                              \
    void sfu__spmm_##isa(const sfu__dense *C, const sfu__sparse *A, const sfu__dense *B, bool add, sfu__range rows);   \
    void sfu__spmm_part_##isa(float *carry, const sfu__sparse *A, const sfu__dense *B, sfu__range rows);               \
    void sfu__gemm_##isa(const sfu__dense *C, const sfu__dense *A, const sfu__dense *B, sfu__range rows);              \
    void sfu__gemm_t_##isa(float *parts, const sfu__dense *A, const sfu__dense *G, sfu__range blocks);                 \
    void sfu__reduce_blocks_##isa(float *to, const float *parts, int64_t count, int64_t stride, sfu__range elements);  \
    void sfu__transpose_##isa(const sfu__dense *T, const sfu__dense *B, sfu__range rows);                              \
    void sfu__dropout_sparse_##isa(float *values, const sfu__sparse *A, const int32_t *nodes, const sfu__mask *mask,   \
                                   sfu__range rows);                                                                   \
    void sfu__dropout_mask_##isa(uint8_t *keep_mask, const sfu__sparse *A, const int32_t *nodes,                       \
                                 const sfu__mask *mask, sfu__range rows);                                              \
    void sfu__activate_##isa(const sfu__dense *H, const float *bias, sfu__activation act, const int32_t *nodes,        \
                             const sfu__mask *mask, sfu__range rows);                                                  \
    void sfu__activate_backward_##isa(const sfu__dense *dH, const sfu__dense *H, sfu__activation act,                  \
                                      const int32_t *nodes, const sfu__mask *mask, sfu__range rows);                   \
    void sfu__softmax_##isa(const sfu__dense *P, const float *bias, sfu__range rows);                                  \
    void sfu__softmax_backward_##isa(const sfu__dense *dP, const sfu__dense *P, sfu__range rows);                      \
    void sfu__cross_entropy_##isa(sfu__score *scores, const sfu__dense *dP, bool through_softmax, const sfu__dense *P, \
                                  const sfu__target *target, sfu__range blocks);                                       \
    void sfu__axpy_rows_##isa(const sfu__dense *C, const sfu__dense *D, const int32_t *map, float t, sfu__range rows); \
    void sfu__axpy_rows_backward_##isa(const sfu__dense *dD, const sfu__dense *dC, const int32_t *map, float t,        \
                                       sfu__range rows);                                                               \
    void sfu__sddmm_##isa(float *dA, const sfu__sparse *A, const sfu__dense *dC, const sfu__dense *B,                  \
                          sfu__range rows);                                                                            \
    void sfu__adam_##isa(float *theta, float *m, float *v, const float *grad, const sfu__adam *adam,                   \
                         sfu__range elements);                                                                         \
    extern const sfu__backend sfu__backend_##isa

#define SFU__KERNEL_TABLE(isa, text)                                                                                   \
    {                                                                                                                  \
        .name = (text), .form = sfu__cpu_form, .prepare = sfu__cpu_prepare,                                            \
        .prepare_transpose = sfu__cpu_prepare_transpose, .prepare_dropout = sfu__cpu_prepare_dropout,                  \
        .prepared_free = sfu__cpu_prepared_free, .columns = sfu__cpu_columns, .bind = sfu__cpu_bind,                   \
        .unbind = sfu__cpu_unbind, .spmm = sfu__spmm_##isa, .spmm_part = sfu__spmm_part_##isa,                         \
        .spmm_finish = sfu__spmm_finish_plain, .gemm = sfu__gemm_##isa, .gemm_t = sfu__gemm_t_##isa,                   \
        .reduce_blocks = sfu__reduce_blocks_##isa, .transpose = sfu__transpose_##isa,                                  \
        .dropout_sparse = sfu__dropout_sparse_##isa, .dropout_mask = sfu__dropout_mask_##isa,                          \
        .activate = sfu__activate_##isa, .activate_backward = sfu__activate_backward_##isa,                            \
        .softmax = sfu__softmax_##isa, .softmax_backward = sfu__softmax_backward_##isa,                                \
        .cross_entropy = sfu__cross_entropy_##isa, .axpy_rows = sfu__axpy_rows_##isa,                                  \
        .axpy_rows_backward = sfu__axpy_rows_backward_##isa, .sddmm = sfu__sddmm_##isa, .adam = sfu__adam_##isa,       \
        .smoothing = sfu__smoothing_plain, .smoothing_backward = sfu__smoothing_backward_plain,                        \
        .lpnn = sfu__lpnn_plain, .normalise = sfu__normalise_plain                                                     \
    }

SFU__KERNELS(plain);
#if defined(__aarch64__)
SFU__KERNELS(neon);
#elif defined(__x86_64__)
SFU__KERNELS(x86_64_v3);
SFU__KERNELS(x86_64_v4);
#endif

/* Shared by all sets. */
void sfu__spmm_finish_plain(const sfu__dense *C, const float *carry, sfu__range rows);
void sfu__smoothing_plain(const sfu__learned_step *step, int phase, int thread, int threads);
void sfu__smoothing_backward_plain(const sfu__learned_step *step, int phase, int thread, int threads);
void sfu__lpnn_plain(double *losses, const sfu__dense *D, const sfu__dense *dZ, const sfu__dense *F,
                     const sfu__dense *G, const sfu__target *target, const sfu__lpnn_terms *terms, sfu__range blocks);
void sfu__normalise_plain(const sfu__dense *P, sfu__range rows);

#endif
