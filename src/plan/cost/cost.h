/* cost.h - the cost model: floating-point operations, memory traffic and predicted time of a step.
 *
 * The nominal rates are constants of the program: every choice that affects rounding uses them, so that a plan is the
 * same on every machine. Printed times are multiplied by measured factors (src/explain/rates.h).
 */
#ifndef SFU_COST_H
#define SFU_COST_H

#include "status.h"

/* The kernels of backend.h, including the two of a learned smoothing. */
typedef enum sfu__kernel {
    SFU__KERNEL_SPMM,
    SFU__KERNEL_GEMM,
    SFU__KERNEL_GEMM_T,
    SFU__KERNEL_REDUCE_BLOCKS,
    SFU__KERNEL_TRANSPOSE,
    SFU__KERNEL_DROPOUT_SPARSE,
    SFU__KERNEL_DROPOUT_MASK,
    SFU__KERNEL_ACTIVATE,
    SFU__KERNEL_ACTIVATE_BACKWARD,
    SFU__KERNEL_SOFTMAX,
    SFU__KERNEL_SOFTMAX_BACKWARD,
    SFU__KERNEL_CROSS_ENTROPY,
    SFU__KERNEL_AXPY_ROWS,
    SFU__KERNEL_AXPY_ROWS_BACKWARD,
    SFU__KERNEL_SDDMM,
    SFU__KERNEL_ADAM,
    SFU__KERNEL_SMOOTHING,          /* values of a learned smoothing matrix from its parameters */
    SFU__KERNEL_SMOOTHING_BACKWARD, /* gradient of its parameters from that of its values */
    SFU__KERNEL_COUNT
} sfu__kernel;

const char *sfu__kernel_name(sfu__kernel kernel);

/* The shape of one step. */
typedef struct sfu__work {
    sfu__kernel kernel;
    int64_t rows;        /* of the result; gemm_t: rows summed over; adam, reduce_blocks: elements */
    int32_t width;       /* leading dimension of the result, in floats */
    int64_t inner;       /* gemm, gemm_t: columns of A */
    int64_t nonzeros;    /* spmm, sddmm, dropout_sparse, dropout_mask, smoothing */
    int64_t operand;     /* spmm, sddmm: bytes of the dense matrix whose rows are gathered */
    bool draws;          /* generates dropout masks: activate, dropout_sparse, dropout_mask */
    bool value_permuted; /* spmm: reads values through a permutation (sfu__prepared.permuted_values) */
    bool after_dropout;  /* spmm after dropout, as the planner predicts it */
    bool csc;            /* spmm in CSC form */
    bool row_permuted;   /* spmm with rows sorted by length, through row_perm */
    bool packed;         /* spmm with a keep mask, as the steps execute it */
} sfu__work;

double sfu__work_flops(const sfu__work *work);
double sfu__work_bytes(const sfu__work *work);    /* read and written */
double sfu__work_gathered(const sfu__work *work); /* gathered part of them: nonzeros * width * 4 */
double sfu__work_draws(const sfu__work *work);    /* random numbers drawn */

/* Rates of one core. The time of a step depends on the width of its rows and on the cache level of its operands; both
 * are table axes with interpolation in between. The sizes are those of half of L1, twice L1, half of L2, twice L2, half
 * of L3, memory. */
enum { SFU__SIZES = 6, SFU__SIZE_L2 = 2, SFU__WIDTHS = 5 };
extern const int32_t sfu__rate_widths[SFU__WIDTHS]; /* 4, 8, 16, 32, 64 floats; proportional beyond */

typedef struct sfu__rates {
    double size_bytes[SFU__SIZES];             /* ascending */
    double gather_ns[SFU__SIZES][SFU__WIDTHS]; /* spmm, per non-zero, with a B of this size */
    double gather_row_ns[SFU__WIDTHS];         /* spmm, extra per row */
    double half_dropped_ns[SFU__SIZES];        /* spmm after dropout of every other entry, per non-zero, 64 floats */
    double value_perm_ns[SFU__SIZES];          /* spmm through value_perm, extra per non-zero, by size of the values */
    double csc_ns[SFU__WIDTHS];                /* spmm in CSC form with sums in L1, per non-zero; up to 16 floats */
    double unit_ns[SFU__KERNEL_COUNT][SFU__WIDTHS]; /* per row; gemm, gemm_t: per row and column of A; dropout_sparse,
                                                     * dropout_mask, smoothings: per non-zero; adam: per parameter;
                                                     * reduce_blocks: per float. Operands in L2 */
    double gemm_row_ns[SFU__WIDTHS];                /* gemm, extra per row */
    double draw_ns;                                 /* activate, extra per dropout value */
    double stream_ns[SFU__SIZES];                   /* streaming read, per float, out of this size */
    double step_ns;                                 /* per step, whatever it does */
} sfu__rates;

extern const sfu__rates sfu__nominal_rates;

double sfu__work_seconds(const sfu__work *work, const sfu__rates *rates);

#endif
