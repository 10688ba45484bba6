/* cost.h - what a step costs: its flops, its bytes, and how long a machine of given rates takes for it.
 *
 * Two sets of rates are used. The nominal ones are constants of the program: every choice that changes rounding is made
 * from them, so that a plan is the same on every machine. This machine's own, where they were measured, serve the
 * predicted times that people read.
 */
#ifndef SFU_COST_H
#define SFU_COST_H

#include "status.h"

/* The operations of backend.h, and two that a learned smoothing needs. */
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
    SFU__KERNEL_SMOOTHING,          /* the values of a learned smoothing matrix from its parameters */
    SFU__KERNEL_SMOOTHING_BACKWARD, /* and the gradient of the parameters from that of the values */
    SFU__KERNEL_COUNT
} sfu__kernel;

const char *sfu__kernel_name(sfu__kernel kernel);

/* The shape of one step. */
typedef struct sfu__work {
    sfu__kernel kernel;
    int64_t rows;     /* of what is made; for gemm_t of what is summed over; elements for adam and reduce_blocks */
    int32_t width;    /* floats of a row of what is made, padding included (ld) */
    int64_t inner;    /* gemm, gemm_t: the other dimension (columns of A) */
    int64_t nonzeros; /* spmm, sddmm, dropout_sparse, dropout_mask, smoothing */
    int64_t operand;  /* bytes of the matrix that spmm and sddmm gather rows from */
    bool draws;       /* a mask is drawn: finish, dropout_sparse, dropout_mask */
    bool ordered;     /* spmm through sfu__sparse.order */
    bool gaps;        /* spmm over values that a mask has dropped from, as the planner counts it */
    bool columns;     /* spmm along sfu__sparse.columns */
    bool turned;      /* spmm of rows by length, with a sfu__sparse.turn */
    bool packed;      /* spmm over what a mask has left, sfu__sparse.kept, as a step takes */
} sfu__work;

double sfu__work_flops(const sfu__work *work);
double sfu__work_bytes(const sfu__work *work);    /* read and written */
double sfu__work_gathered(const sfu__work *work); /* of these, those that are gathered: nonzeros * width * 4 */
double sfu__work_draws(const sfu__work *work);    /* random values */

/* Rates of one core. What a step costs grows with the width of its rows and with where its operand lies, so both are
 * points of a table, and what lies between them is interpolated. The points of the sizes are a machine's own: half of
 * L1, twice L1, half of L2, twice L2, half of L3, memory. */
enum { SFU__SIZES = 6, SFU__SIZE_L2 = 2, SFU__WIDTHS = 5 };
extern const int32_t sfu__rate_widths[SFU__WIDTHS]; /* 4, 8, 16, 32, 64 floats; wider rows cost in proportion */

typedef struct sfu__rates {
    double size_bytes[SFU__SIZES];             /* ascending */
    double gather_ns[SFU__SIZES][SFU__WIDTHS]; /* a non-zero of spmm, its row gathered out of so many bytes */
    double gather_row_ns[SFU__WIDTHS];         /* a row of spmm, on top */
    double gaps_ns[SFU__SIZES];                /* a non-zero of spmm, every other of them dropped, 64 floats */
    double order_ns[SFU__SIZES];               /* a non-zero of spmm through sfu__sparse.order, on top: its value is
                                                * gathered out of so many bytes */
    double columns_ns[SFU__WIDTHS];            /* a non-zero of spmm along columns, all sums in L1; up to 16 floats */
    double permuted_ns[SFU__WIDTHS];           /* a non-zero of spmm by length with a B of the first size, */
    double permuted_row_ns[SFU__WIDTHS];       /* and a row of it; up to 16 floats */
    double unit_ns[SFU__KERNEL_COUNT]
                  [SFU__WIDTHS];     /* of the others: a row; of gemm and gemm_t: a row and a column of A; of
                                      * dropout_sparse, dropout_mask and the smoothings: a non-zero; of adam: a
                                      * parameter; of reduce_blocks: a float. Operands in L2 */
    double gemm_row_ns[SFU__WIDTHS]; /* a row of gemm, on top */
    double draw_ns;                  /* a dropout value of finish, on top */
    double stream_ns[SFU__SIZES];    /* a float that is read in passing, out of so many bytes */
    double step_ns;                  /* a step, whatever it does */
} sfu__rates;

extern const sfu__rates sfu__nominal_rates;

/* A rate at a width between or beyond its points. */
double sfu__at_width(const double points[SFU__WIDTHS], int32_t width);

double sfu__work_seconds(const sfu__work *work, const sfu__rates *rates);

#endif
