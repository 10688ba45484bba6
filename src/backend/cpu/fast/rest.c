#include "kernels.h"
#include "vector.h"
void KERNEL(block_sum)(float *to, const float *parts, int64_t count, int64_t stride, sfu__range elements) {
    sfu__block_sum_plain(to, parts, count, stride, elements);
}
void KERNEL(transpose)(const sfu__dense *T, const sfu__dense *B, sfu__range rows) { sfu__transpose_plain(T, B, rows); }
void KERNEL(softmax)(const sfu__dense *P, const float *bias, sfu__range rows) { sfu__softmax_plain(P, bias, rows); }
void KERNEL(softmax_back)(const sfu__dense *dP, const sfu__dense *P, sfu__range rows) {
    sfu__softmax_back_plain(dP, P, rows);
}
void KERNEL(score)(sfu__score *scores, const sfu__dense *dP, bool through_softmax, const sfu__dense *P,
                   const sfu__target *target, sfu__range blocks) {
    sfu__score_plain(scores, dP, through_softmax, P, target, blocks);
}
void KERNEL(mix)(const sfu__dense *C, const sfu__dense *D, const int32_t *map, float t, sfu__range rows) {
    sfu__mix_plain(C, D, map, t, rows);
}
void KERNEL(mix_back)(const sfu__dense *dD, const sfu__dense *dC, const int32_t *map, float t, sfu__range rows) {
    sfu__mix_back_plain(dD, dC, map, t, rows);
}
void KERNEL(sddmm)(float *dA, const sfu__sparse *A, const sfu__dense *dC, const sfu__dense *B, sfu__range rows) {
    sfu__sddmm_plain(dA, A, dC, B, rows);
}
void KERNEL(adam)(float *theta, float *m, float *v, const float *grad, const sfu__adam *adam, sfu__range elements) {
    sfu__adam_plain(theta, m, v, grad, adam, elements);
}
