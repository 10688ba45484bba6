/* dense.h - dense matrices with padded rows, and the activations that are applied to them. */
#ifndef SFU_DENSE_H
#define SFU_DENSE_H

#include <stdint.h>

/* Rounded up to whole cache lines of 16 floats, so that what follows starts at one. */
static inline int64_t sfu__whole_lines(int64_t floats) { return (floats + 15) / 16 * 16; }

/* The floats between the starts of two rows of a matrix with `cols` columns: 4, 8 or a multiple of 16, so that a row
 * starts where vectors may be loaded. The columns beyond `cols` hold zeros. */
static inline int32_t sfu__ld(int32_t cols) { return cols <= 4 ? 4 : cols <= 8 ? 8 : (cols + 15) / 16 * 16; }

typedef struct sfu__dense {
    float *data; /* [rows][ld], starts at a multiple of 64 bytes */
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
