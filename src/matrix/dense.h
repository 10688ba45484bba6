/* dense.h - dense matrices with padded rows, and activation functions. */
#ifndef SFU_DENSE_H
#define SFU_DENSE_H

#include <stdint.h>

/* Rounds up to whole cache lines of 16 floats, so that the next array starts at a cache line. */
static inline int64_t sfu__whole_lines(int64_t floats) { return (floats + 15) / 16 * 16; }

/* The leading dimension of a matrix with `cols` columns: 4, 8 or a multiple of 16, so that rows are aligned for vector
 * loads. The padding columns hold zeros. */
static inline int32_t sfu__ld(int32_t cols) { return cols <= 4 ? 4 : cols <= 8 ? 8 : (cols + 15) / 16 * 16; }

typedef struct sfu__dense {
    float *data; /* [rows][ld], aligned to 64 bytes */
    int32_t rows, cols, ld;
} sfu__dense;

typedef enum sfu__activation {
    SFU__IDENTITY,
    SFU__RELU,
    SFU__TANH,
    SFU__SIGMOID,
    SFU__ELU,       /* alpha 1 */
    SFU__LEAKY_RELU /* slope 0.01 */
} sfu__activation;

#endif
