#include "cost.h"

const char *sfu__op_name(sfu__op op) {
    static const char *const names[SFU__OPS] = {
        [SFU__OP_SPMM] = "spmm",
        [SFU__OP_GEMM] = "gemm",
        [SFU__OP_GEMM_T] = "gemm_t",
        [SFU__OP_BLOCK_SUM] = "block_sum",
        [SFU__OP_TRANSPOSE] = "transpose",
        [SFU__OP_DROP_SPARSE] = "drop_sparse",
        [SFU__OP_FINISH] = "finish",
        [SFU__OP_FINISH_BACK] = "finish_back",
        [SFU__OP_SOFTMAX] = "softmax",
        [SFU__OP_SOFTMAX_BACK] = "softmax_back",
        [SFU__OP_SCORE] = "score",
        [SFU__OP_MIX] = "mix",
        [SFU__OP_MIX_BACK] = "mix_back",
        [SFU__OP_SDDMM] = "sddmm",
        [SFU__OP_ADAM] = "adam",
        [SFU__OP_SMOOTHING] = "smoothing",
        [SFU__OP_SMOOTHING_BACK] = "smoothing_back",
    };
    return names[op];
}

/* A core of a server of the twenties, from docs/measurements.md, rounded. Never to be changed lightly: plans, and with
 * them the last bits of results, depend on them. */
const sfu__rates sfu__nominal_rates = {
    .level_bytes = {48e3, 1e6, 32e6, 1e300},
    .gather_ns = {{0.8, 0.9, 1.4, 2.4, 4.2}, {0.9, 1.1, 1.6, 2.7, 4.9}, {1.6, 2.0, 2.7, 3.8, 7.0}, {9, 9, 10, 14, 22}},
    .row_ns = 4,
    .gemm_ns = {0.05, 0.032, 0.016},
    .gemm_t_ns = {0.05, 0.035, 0.02},
    .stream_ns = {0.05, 0.08, 0.1, 0.2},
    .draw_ns = 0.7,
    .exp_ns = 1.5,
    .adam_ns = 0.75,
    .order_ns = 0.5,
    .step_ns = 100,
};

double sfu__work_flops(const sfu__work *work) {
    const double rows = (double)work->rows, width = work->width;
    switch (work->op) {
    case SFU__OP_SPMM:
    case SFU__OP_SDDMM:
        return 2.0 * (double)work->nonzeros * width;
    case SFU__OP_GEMM:
    case SFU__OP_GEMM_T:
        return 2.0 * rows * (double)work->inner * width;
    case SFU__OP_ADAM:
        return 12.0 * rows;
    case SFU__OP_DROP_SPARSE:
        return (double)work->nonzeros;
    case SFU__OP_SMOOTHING:
    case SFU__OP_SMOOTHING_BACK:
        return 6.0 * (double)work->nonzeros;
    case SFU__OP_TRANSPOSE:
        return 0.0;
    default:
        return 2.0 * rows * width;
    }
}

double sfu__work_gathered(const sfu__work *work) {
    const bool gathers = work->op == SFU__OP_SPMM || work->op == SFU__OP_SDDMM;
    return gathers ? (double)work->nonzeros * (double)work->width * sizeof(float) : 0.0;
}

double sfu__work_bytes(const sfu__work *work) {
    const double rows = (double)work->rows, row = (double)work->width * sizeof(float);
    switch (work->op) {
    case SFU__OP_SPMM:
    case SFU__OP_SDDMM:
        return sfu__work_gathered(work) + rows * (row + 8.0) + 8.0 * (double)work->nonzeros;
    case SFU__OP_GEMM:
    case SFU__OP_GEMM_T:
        return rows * row + rows * (double)work->inner * 4.0 + (double)work->inner * row;
    case SFU__OP_ADAM:
        return 28.0 * rows;
    case SFU__OP_DROP_SPARSE:
        return 8.0 * (double)work->nonzeros;
    case SFU__OP_SMOOTHING:
    case SFU__OP_SMOOTHING_BACK:
        return 12.0 * (double)work->nonzeros;
    default:
        return 2.0 * rows * row;
    }
}

static int level_of(const sfu__rates *rates, double bytes) {
    int level = 0;
    while (level < SFU__LEVELS - 1 && bytes > rates->level_bytes[level]) {
        level++;
    }
    return level;
}

static double gather_seconds(const sfu__work *work, const sfu__rates *rates) {
    const double *at = rates->gather_ns[level_of(rates, (double)work->operand)];
    double ns = 0.0;
    int32_t left = work->width;
    for (; left >= 64; left -= 64) { /* wider rows are gathered in pieces */
        ns += at[4];
    }
    ns += left > 32   ? at[4] * left / 64.0
          : left > 16 ? at[3]
          : left > 8  ? at[2]
          : left > 4  ? at[1]
          : left > 0  ? at[0]
                      : 0.0;
    return 1e-9 * ((double)work->nonzeros * (ns + (work->ordered ? rates->order_ns : 0.0)) +
                   (double)work->rows * rates->row_ns);
}

double sfu__work_seconds(const sfu__work *work, const sfu__rates *rates) {
    const double rows = (double)work->rows, elements = rows * work->width;
    const int shape = work->width <= 4 ? 0 : work->width <= 8 ? 1 : 2;
    const double stream = rates->stream_ns[level_of(rates, elements * sizeof(float))];
    double ns = 0.0;
    switch (work->op) {
    case SFU__OP_SPMM:
    case SFU__OP_SDDMM:
        return gather_seconds(work, rates) + 1e-9 * rates->step_ns;
    case SFU__OP_GEMM:
        ns = elements * (double)work->inner * rates->gemm_ns[shape];
        break;
    case SFU__OP_GEMM_T:
        ns = elements * (double)work->inner * rates->gemm_t_ns[shape];
        break;
    case SFU__OP_ADAM:
        ns = rows * rates->adam_ns;
        break;
    case SFU__OP_DROP_SPARSE:
        ns = (double)work->nonzeros * (rates->draw_ns + 2.0 * stream);
        break;
    case SFU__OP_SOFTMAX:
    case SFU__OP_SCORE:
        ns = elements * rates->exp_ns;
        break;
    case SFU__OP_SMOOTHING:
    case SFU__OP_SMOOTHING_BACK:
        ns = (double)work->nonzeros * 10.0;
        break;
    default:
        ns = elements * (2.0 * stream + (work->draws ? rates->draw_ns : 0.0));
        break;
    }
    return 1e-9 * (ns + rates->step_ns);
}
