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
typedef enum sfu__op {
    SFU__OP_SPMM,
    SFU__OP_GEMM,
    SFU__OP_GEMM_T,
    SFU__OP_BLOCK_SUM,
    SFU__OP_TRANSPOSE,
    SFU__OP_DROP_SPARSE,
    SFU__OP_FINISH,
    SFU__OP_FINISH_BACK,
    SFU__OP_SOFTMAX,
    SFU__OP_SOFTMAX_BACK,
    SFU__OP_SCORE,
    SFU__OP_MIX,
    SFU__OP_MIX_BACK,
    SFU__OP_SDDMM,
    SFU__OP_ADAM,
    SFU__OP_SMOOTHING,      /* the values of a learned smoothing matrix from its parameters */
    SFU__OP_SMOOTHING_BACK, /* and the gradient of the parameters from that of the values */
    SFU__OPS
} sfu__op;

const char *sfu__op_name(sfu__op op);

/* The shape of one step. */
typedef struct sfu__work {
    sfu__op op;
    int64_t rows;     /* of what is made; for gemm_t of what is summed over; elements for adam and block_sum */
    int32_t width;    /* floats of a row of what is made, padding included (ld) */
    int64_t inner;    /* gemm, gemm_t: the other dimension (columns of A) */
    int64_t nonzeros; /* spmm, sddmm, drop_sparse, smoothing */
    int64_t operand;  /* bytes of the matrix that spmm and sddmm gather rows from */
    bool draws;       /* a mask is drawn: finish, drop_sparse */
    bool ordered;     /* spmm through sfu__sparse.order */
} sfu__work;

double sfu__work_flops(const sfu__work *work);
double sfu__work_bytes(const sfu__work *work);    /* read and written */
double sfu__work_gathered(const sfu__work *work); /* of these, those that are gathered: nonzeros * width * 4 */

/* Rates of one core. Sizes are those of the matrix that is gathered from. */
enum { SFU__LEVELS = 4, SFU__WIDTHS = 5 };
typedef struct sfu__rates {
    double level_bytes[SFU__LEVELS];            /* a level ends here: L1, L2, L3; the last is memory */
    double gather_ns[SFU__LEVELS][SFU__WIDTHS]; /* a non-zero of spmm, at widths 4, 8, 16, 32, 64 */
    double row_ns;                              /* a row of spmm, on top */
    double gemm_ns[3];                          /* a fused multiply-add of gemm: width 4, 8, 16 and more */
    double gemm_t_ns[3];                        /* the same of gemm_t */
    double stream_ns[SFU__LEVELS];              /* a float that is read or written in passing */
    double draw_ns;                             /* a dropout value */
    double exp_ns;                              /* a value of softmax or of an activation that has an exp */
    double adam_ns;                             /* a parameter */
    double order_ns;                            /* a non-zero of spmm through an order, on top */
    double step_ns;                             /* a step, whatever it does */
} sfu__rates;

extern const sfu__rates sfu__nominal_rates;

double sfu__work_seconds(const sfu__work *work, const sfu__rates *rates);

/* This machine's rates: measured before and found in the user's cache folder, else the nominal ones; *measured says
 * which. */
void sfu__rates_of_this_machine(sfu__rates *rates, bool *measured);

#endif
