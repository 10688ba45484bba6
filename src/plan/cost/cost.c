/* cost.c - the cost model: counts of operations and bytes, and times interpolated from tables of rates. */
#include "cost.h"

#include <math.h>

const char *sfu__kernel_name(sfu__kernel kernel) {
    static const char *const names[SFU__KERNEL_COUNT] = {
        [SFU__KERNEL_SPMM] = "spmm",
        [SFU__KERNEL_GEMM] = "gemm",
        [SFU__KERNEL_GEMM_T] = "gemm_t",
        [SFU__KERNEL_REDUCE_BLOCKS] = "reduce_blocks",
        [SFU__KERNEL_TRANSPOSE] = "transpose",
        [SFU__KERNEL_DROPOUT_SPARSE] = "dropout_sparse",
        [SFU__KERNEL_DROPOUT_MASK] = "dropout_mask",
        [SFU__KERNEL_ACTIVATE] = "activate",
        [SFU__KERNEL_ACTIVATE_BACKWARD] = "activate_backward",
        [SFU__KERNEL_SOFTMAX] = "softmax",
        [SFU__KERNEL_SOFTMAX_BACKWARD] = "softmax_backward",
        [SFU__KERNEL_CROSS_ENTROPY] = "cross_entropy",
        [SFU__KERNEL_AXPY_ROWS] = "axpy_rows",
        [SFU__KERNEL_AXPY_ROWS_BACKWARD] = "axpy_rows_backward",
        [SFU__KERNEL_SDDMM] = "sddmm",
        [SFU__KERNEL_ADAM] = "adam",
        [SFU__KERNEL_SMOOTHING] = "smoothing",
        [SFU__KERNEL_SMOOTHING_BACKWARD] = "smoothing_backward",
    };
    return names[kernel];
}

enum { LAST_WIDTH = 64 };
const int32_t sfu__rate_widths[SFU__WIDTHS] = {4, 8, 16, 32, LAST_WIDTH};

/* A core of a server of the 2020s, rounded from docs/reference/measurements.md. Changing these changes plans, and with
 * them the last bits of results. */
#define NS_PER_FLOAT(ns)                                                                                               \
    { 4 * (ns), 8 * (ns), 16 * (ns), 32 * (ns), 64 * (ns) }
const sfu__rates sfu__nominal_rates = {
    .size_bytes = {32e3, 128e3, 512e3, 2e6, 16e6, 256e6},
    .gather_ns = {{0.45, 0.75, 1.1, 1.9, 3.5},
                  {0.725, 1.025, 1.3, 2.25, 4.2},
                  {1.0, 1.3, 1.5, 2.6, 4.9},
                  {1.3, 1.6, 1.9, 3.2, 6.0},
                  {2.4, 2.5, 2.8, 5.0, 9.5},
                  {7.0, 7.5, 8.5, 14.0, 26.0}},
    .half_dropped_ns = {3.0, 3.2, 3.4, 4.0, 5.8, 14.0},
    .gather_row_ns = {1.5, 1.5, 2.5, 2.5, 3.5},
    .value_perm_ns = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
    .csc_ns = {0.65, 0.95, 1.6, 3.2, 6.4},
    .unit_ns = {[SFU__KERNEL_GEMM] = {0.16, 0.26, 0.49, 0.97, 1.93},
                [SFU__KERNEL_GEMM_T] = {0.17, 0.28, 0.5, 0.97, 1.93},
                [SFU__KERNEL_REDUCE_BLOCKS] = NS_PER_FLOAT(0.1),
                [SFU__KERNEL_TRANSPOSE] = NS_PER_FLOAT(0.5),
                [SFU__KERNEL_DROPOUT_SPARSE] = {1.1},
                [SFU__KERNEL_DROPOUT_MASK] = {1.0},
                [SFU__KERNEL_ACTIVATE] = NS_PER_FLOAT(0.3),
                [SFU__KERNEL_ACTIVATE_BACKWARD] = NS_PER_FLOAT(0.3),
                [SFU__KERNEL_SOFTMAX] = NS_PER_FLOAT(2),
                [SFU__KERNEL_SOFTMAX_BACKWARD] = NS_PER_FLOAT(0.5),
                [SFU__KERNEL_CROSS_ENTROPY] = {9, 10, 12, 16, 25},
                [SFU__KERNEL_AXPY_ROWS] = NS_PER_FLOAT(0.25),
                [SFU__KERNEL_AXPY_ROWS_BACKWARD] = NS_PER_FLOAT(0.25),
                [SFU__KERNEL_ADAM] = {0.9},
                [SFU__KERNEL_SMOOTHING] = {10},
                [SFU__KERNEL_SMOOTHING_BACKWARD] = {10}},
    .gemm_row_ns = {1, 1.5, 2.5, 5, 10},
    .draw_ns = 0.9,
    .stream_ns = {0.04, 0.05, 0.06, 0.08, 0.08, 0.15},
    .step_ns = 50,
};

double sfu__work_flops(const sfu__work *work) {
    const double rows = (double)work->rows, width = work->width;
    switch (work->kernel) {
    case SFU__KERNEL_SPMM:
    case SFU__KERNEL_SDDMM:
        return 2.0 * (double)work->nonzeros * width;
    case SFU__KERNEL_GEMM:
    case SFU__KERNEL_GEMM_T:
        return 2.0 * rows * (double)work->inner * width;
    case SFU__KERNEL_ADAM:
        return 12.0 * rows;
    case SFU__KERNEL_DROPOUT_SPARSE:
    case SFU__KERNEL_DROPOUT_MASK:
        return (double)work->nonzeros;
    case SFU__KERNEL_SMOOTHING:
    case SFU__KERNEL_SMOOTHING_BACKWARD:
        return 6.0 * (double)work->nonzeros;
    case SFU__KERNEL_TRANSPOSE:
        return 0.0;
    default:
        return 2.0 * rows * width;
    }
}

double sfu__work_gathered(const sfu__work *work) {
    const bool gathers = work->kernel == SFU__KERNEL_SPMM || work->kernel == SFU__KERNEL_SDDMM;
    return gathers ? (double)work->nonzeros * (double)work->width * sizeof(float) : 0.0;
}

double sfu__work_bytes(const sfu__work *work) {
    const double rows = (double)work->rows, row = (double)work->width * sizeof(float);
    switch (work->kernel) {
    case SFU__KERNEL_SPMM:
    case SFU__KERNEL_SDDMM:
        return sfu__work_gathered(work) + rows * (row + 8.0) + 8.0 * (double)work->nonzeros;
    case SFU__KERNEL_GEMM:
    case SFU__KERNEL_GEMM_T:
        return rows * row + rows * (double)work->inner * 4.0 + (double)work->inner * row;
    case SFU__KERNEL_ADAM:
        return 28.0 * rows;
    case SFU__KERNEL_DROPOUT_SPARSE:
        return 8.0 * (double)work->nonzeros;
    case SFU__KERNEL_DROPOUT_MASK:
        return 5.0 * (double)work->nonzeros;
    case SFU__KERNEL_SMOOTHING:
    case SFU__KERNEL_SMOOTHING_BACKWARD:
        return 12.0 * (double)work->nonzeros;
    default:
        return 2.0 * rows * row;
    }
}

double sfu__work_draws(const sfu__work *work) {
    if (!work->draws) {
        return 0.0;
    }
    const bool sparse = work->kernel == SFU__KERNEL_DROPOUT_SPARSE || work->kernel == SFU__KERNEL_DROPOUT_MASK;
    return sparse ? (double)work->nonzeros : (double)work->rows * work->width;
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

/* Piecewise linear log2: exact at powers of two, and identical on every machine. */
static double octaves(double x) {
    int exponent;
    const double mantissa = frexp(x, &exponent);
    return exponent + 2.0 * mantissa;
}

/* Interpolates a table over the sizes at `bytes`; points are `stride` doubles apart, constant beyond the ends. */
static double at_size(const double *points, size_t stride, double bytes, const sfu__rates *rates) {
    if (bytes <= rates->size_bytes[0]) {
        return points[0];
    }
    for (int i = 1; i < SFU__SIZES; i++) {
        const double below = rates->size_bytes[i - 1], above = rates->size_bytes[i];
        if (bytes < above) {
            const double fraction = (octaves(bytes) - octaves(below)) / (octaves(above) - octaves(below));
            const double from = points[(size_t)(i - 1) * stride], to = points[(size_t)i * stride];
            return from + fraction * (to - from);
        }
    }
    return points[(SFU__SIZES - 1) * stride];
}

/* Interpolates over the widths; proportional to the width beyond the last. */
static double at_width(const double points[SFU__WIDTHS], int32_t width) {
    if (width <= sfu__rate_widths[0]) {
        return points[0];
    }
    for (int i = 1; i < SFU__WIDTHS; i++) {
        const int32_t below = sfu__rate_widths[i - 1], above = sfu__rate_widths[i];
        if (width <= above) {
            return points[i - 1] + (points[i] - points[i - 1]) * (width - below) / (above - below);
        }
    }
    return points[SFU__WIDTHS - 1] * width / sfu__rate_widths[SFU__WIDTHS - 1];
}

/* Time per non-zero of spmm with a keep mask: half of the entries are gathered, and all are packed once for all
 * columns. half_dropped_ns minus half a gather is the time of packing. Through value_perm, the keep mask is gathered:
 * one byte each. */
static double packed_ns(const sfu__work *work, const double points[SFU__WIDTHS], const sfu__rates *rates) {
    const double dropped = at_size(rates->half_dropped_ns, 1, (double)work->operand, rates),
                 half = points[SFU__WIDTHS - 1] / 2;
    const double through_perm =
        work->value_permuted ? at_size(rates->value_perm_ns, 1, (double)work->nonzeros, rates) : 0.0;
    return at_width(points, work->width) / 2 + (dropped > half ? dropped - half : 0.0) + through_perm;
}

/* Extra time of streaming `floats` beyond L2; the unit rates were measured with operands in L2. */
static double stream_ns(double floats, const sfu__rates *rates) {
    const double each = at_size(rates->stream_ns, 1, floats * sizeof(float), rates) - rates->stream_ns[SFU__SIZE_L2];
    return each > 0.0 ? floats * each : 0.0;
}

static double gather_ns(const sfu__work *work, const sfu__rates *rates) {
    const double rows = (double)work->rows * at_width(rates->gather_row_ns, work->width);
    double points[SFU__WIDTHS];
    if (work->csc) {
        return (double)work->nonzeros * at_width(rates->csc_ns, work->width) + rows;
    }
    for (int i = 0; i < SFU__WIDTHS; i++) {
        points[i] = at_size(&rates->gather_ns[0][i], SFU__WIDTHS, (double)work->operand, rates);
    }
    if (work->row_permuted) { /* streams a value per non-zero, and half as much for its 16-bit index */
        return (double)work->nonzeros * at_width(points, work->width) + rows +
               stream_ns(1.5 * (double)work->nonzeros, rates);
    }
    const int32_t blocks = work->width / LAST_WIDTH;
    int32_t width = work->width;
    double each = 0.0;
    if (work->packed) {
        return (double)work->nonzeros * packed_ns(work, points, rates) + rows;
    }
    if (work->value_permuted) { /* once per block of columns */
        each =
            (blocks > 1 ? blocks : 1) * at_size(rates->value_perm_ns, 1, (double)work->nonzeros * sizeof(float), rates);
    }
    if (work->after_dropout && blocks > 0) {
        each += blocks * at_size(rates->half_dropped_ns, 1, (double)work->operand, rates);
        width -= blocks * LAST_WIDTH;
    }
    each += width > 0 ? at_width(points, width) : 0.0;
    return (double)work->nonzeros * each + rows;
}

/* Row overhead of gemm, in units of gemm_row_ns: 1, and 2 for every further chain of 64 terms, whose sums are added to
 * the previous ones. */
static double gemm_starts(double inner) {
    const double chunks = ceil(inner / 64.0);
    return chunks > 1.0 ? 2.0 * chunks - 1.0 : 1.0;
}

double sfu__work_seconds(const sfu__work *work, const sfu__rates *rates) {
    const double rows = (double)work->rows, inner = (double)work->inner, width = work->width;
    const double unit = at_width(rates->unit_ns[work->kernel], work->width);
    double ns = rates->step_ns;
    switch (work->kernel) {
    case SFU__KERNEL_SPMM:
    case SFU__KERNEL_SDDMM:
        ns += gather_ns(work, rates);
        break;
    case SFU__KERNEL_GEMM:
        ns += rows * (inner * unit + gemm_starts(inner) * at_width(rates->gemm_row_ns, work->width)) +
              stream_ns(rows * inner, rates);
        break;
    case SFU__KERNEL_GEMM_T:
        ns += rows * inner * unit + stream_ns(rows * (inner + width), rates);
        break;
    case SFU__KERNEL_ADAM:
        ns += rows * rates->unit_ns[SFU__KERNEL_ADAM][0] + 4.0 * stream_ns(rows, rates);
        break;
    case SFU__KERNEL_REDUCE_BLOCKS:
        ns += rows * unit / width;
        break;
    case SFU__KERNEL_DROPOUT_SPARSE:
    case SFU__KERNEL_DROPOUT_MASK:
    case SFU__KERNEL_SMOOTHING:
    case SFU__KERNEL_SMOOTHING_BACKWARD:
        ns += (double)work->nonzeros * rates->unit_ns[work->kernel][0] + stream_ns((double)work->nonzeros, rates);
        break;
    default:
        ns += rows * unit + stream_ns(rows * width, rates);
        break;
    }
    if (work->kernel == SFU__KERNEL_ACTIVATE) {
        ns += sfu__work_draws(work) * rates->draw_ns;
    }
    return 1e-9 * ns;
}
