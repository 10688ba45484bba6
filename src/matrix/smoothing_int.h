/* smoothing_int.h - how a row of S is computed from a row of the graph, shared by smoothing.c and
 * smoothing_stream.c. */
#ifndef SFU_SMOOTHING_INT_H
#define SFU_SMOOTHING_INT_H

#include "smoothing.h"

/* Rows of the graph: row i of `csr` is row first + i. */
typedef struct sfu__edges {
    const sfu_csr *csr;
    int64_t first;
} sfu__edges;

/* The sums of the rows and columns of A~, and then their factors. */
typedef struct sfu__smoothing_factors {
    const sfu_smoothing_options *options;
    sfu__normalization normalization;
    double *row_sums;    /* r, then r^-left; NULL if left is 0 */
    double *column_sums; /* c, then c^-right; NULL if right is 0. May be row_sums */
    /* Instead of column_sums, if few factors differ: that of column j is table[codes[j]], and that of row j if coded.
     */
    uint16_t *codes;
    double *table;
    bool rows_coded;
} sfu__smoothing_factors;

static inline double sfu__row_factor(const sfu__smoothing_factors *self, int64_t row) {
    return self->row_sums != NULL ? self->row_sums[row] : self->rows_coded ? self->table[self->codes[row]] : 1.0;
}

static inline double sfu__column_factor(const sfu__smoothing_factors *self, int32_t column) {
    return self->codes != NULL         ? self->table[self->codes[column]]
           : self->column_sums != NULL ? self->column_sums[column]
                                       : 1.0;
}

/* Checks the options and finds the normalization. */
SFU_CHECKED sfu_status sfu__smoothing_start(sfu__smoothing_factors *self, const sfu_smoothing_options *options);
/* Number of entries in a row of A~ and their sum; checks the node columns. */
SFU_CHECKED sfu_status sfu__smoothing_measure(const sfu__smoothing_factors *self, const sfu__edges *edges, int64_t row,
                                              int64_t *entries, double *sum);
/* Adds a row of A~ to the column sums. */
void sfu__smoothing_add_columns(double *column_sums, const sfu__smoothing_factors *self, const sfu__edges *edges,
                                int64_t row);
/* From the sums of a row and a column to their factors. */
SFU_CHECKED sfu_status sfu__smoothing_factor(double *factor, int64_t row, double sum, double exponent);
/* Writes a row of S: at most as many entries as the row of the graph has, and one. */
SFU_CHECKED sfu_status sfu__smoothing_fill(int32_t *indices, float *values, int64_t *count,
                                           const sfu__smoothing_factors *self, const sfu__edges *edges, int64_t row);

#endif
