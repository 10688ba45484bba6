/* cpu_matrix.h - the layout of a sparse matrix for the CPU kernels: CSR with optional accelerating structures.
 *
 * Narrow products are faster on rows sorted by length with 16-bit indices (rows_by_length.c), the transpose of the
 * features in CSC form (csc.c), and dropout with a precomputed list of Philox counters (philox_groups.c).
 */
#ifndef SFU_CPU_MATRIX_H
#define SFU_CPU_MATRIX_H

#include "backend.h"

/* A transpose in CSC form: for each column, where its values are stored contiguously and which sums they are added to.
 * There is one sum per accumulation chain of a row: first those of the first chains of all rows, in order, also of
 * empty rows; then those of the second chains, and so on. No column has two entries in a row. */
typedef struct sfu__csc {
    int32_t begin, end;    /* range of non-empty columns */
    const int64_t *values; /* [c - begin]: first value of column c */
    const int32_t *counts; /* [c - begin]: number of values */
    const uint16_t *sums;  /* sum of each value, column by column */
    const int32_t *rows;   /* row of each sum after the first `rows` ones */
    int32_t sum_count;
} sfu__csc;

/* The groups of eight entries that share one Philox counter, for all rows of a sparse matrix in order. The index of a
 * group in its row (position / 8) is stored as its product in the first Philox round. */
typedef struct sfu__philox_groups {
    const int64_t *first;       /* [rows + 1]: first group of each row */
    const uint32_t *high, *low; /* index times SFU__PHILOX_FACTOR0, upper and lower half */
    const uint32_t *node;       /* node of the row */
    const uint32_t *entry;      /* first entry. All four arrays are followed by SFU__PHILOX_PADDING zeros */
    const float *value;         /* NULL, or the single value of the row, if the values are fixed */
} sfu__philox_groups;
enum { SFU__PHILOX_PADDING = 64 };

/* CSR. The value of entry e is values[value_perm != NULL ? value_perm[e] : e]: a transpose has its own indices and
 * shares the values of its source. Nothing is read beyond the last entry. */
struct sfu__sparse {
    int32_t rows, cols;
    const int64_t *indptr;
    const int32_t *indices;
    const float *values; /* never NULL */
    const int32_t *value_perm;
    const uint8_t *keep_mask; /* NULL, or: entry e is dropped unless byte value_perm[e] (or e) is 1; its value is then
                               * values[e], even with value_perm, times the scale of `mask`. spmm only, if rows of C are
                               * not narrow */
    const sfu__mask *mask;    /* that keep_mask was drawn with */
    const sfu__philox_groups *philox_groups; /* NULL, or for the nodes given to dropout_sparse and dropout_mask */
    const int32_t *row_perm;   /* NULL, or: spmm writes row i of the result to C[row_perm[i]]. Rows of similar length
                                * should be neighbours. spmm only, if rows of C are narrow */
    const uint16_t *indices16; /* with row_perm: the indices in 16 bits; else ignored */
    const float *row_value;    /* with row_perm: NULL, or the value of all entries of row i, if they are equal */
    const sfu__csc *csc;       /* NULL, or the same entries in CSC form: used, with `scratch`, by products of all rows
                                * if rows of C are narrow */
    bool wide;                 /* rows of C are not flushed, even if they are narrow */
    float *scratch;            /* one row of C per sum; used by one product at a time */
};

/* A prepared matrix. */
typedef struct sfu__cpu_matrix {
    sfu__prepared head;
    sfu_matrix own; /* owned arrays; {0} if all are borrowed */
    int32_t *value_perm, *row_perm;
    uint16_t *indices16;
    float *row_value;
    sfu__csc *csc;
    sfu__philox_groups *philox_groups;
    int32_t *nodes;
    sfu__sparse view; /* values NULL if set when it is bound */
} sfu__cpu_matrix;

void sfu__cpu_matrix_clear(sfu__cpu_matrix *matrix);
void sfu__cpu_view_own(sfu__cpu_matrix *matrix); /* sets the view to the owned arrays */

/* rows_by_length.c: sorts the rows by length within each stage (`use` NULL or without stages: all rows). The values
 * must be fixed. */
SFU_CHECKED sfu_status sfu__cpu_sort_rows(sfu__cpu_matrix *matrix, const sfu__matrix_use *use);

/* transpose.c: rows [begin, end) of the source of `of` become columns; the values are those of `of`, through
 * value_perm. */
SFU_CHECKED sfu_status sfu__cpu_transpose(sfu__cpu_matrix *matrix, const sfu__cpu_matrix *of, sfu__range rows,
                                          int threads);
/* Gives a transpose with fixed values its own copy in its own order; value_perm then only serves the keep mask of the
 * source (`dropped`). */
SFU_CHECKED sfu_status sfu__cpu_own_values(sfu__cpu_matrix *matrix, bool dropped);
/* Position of each row of the source in prepared order; NULL: unchanged. */
SFU_CHECKED sfu_status sfu__cpu_row_positions(int32_t **position, const sfu__sparse *of);

/* csc.c: adds the CSC form to a transpose of these rows of `of`, unless that would not make a product with rows of `ld`
 * floats faster. */
SFU_CHECKED sfu_status sfu__cpu_make_csc(sfu__cpu_matrix *matrix, const sfu__cpu_matrix *of, sfu__range columns,
                                         int32_t ld);
void sfu__csc_free(sfu__csc *csc);

/* philox_groups.c: lists the Philox groups for masks of these nodes (NULL: the row numbers). */
SFU_CHECKED sfu_status sfu__cpu_make_philox_groups(sfu__cpu_matrix *matrix, const int32_t *nodes, int64_t *bytes);
void sfu__philox_groups_free(sfu__philox_groups *groups);

/* prepare.c: the functions of the backend interface. */
const char *sfu__cpu_form(int64_t cols, bool fixed_values, const sfu__matrix_use *use);
sfu_status sfu__cpu_prepare(sfu__prepared **prepared, const sfu__matrix_source *source, const sfu__matrix_use *use);
sfu_status sfu__cpu_prepare_transpose(sfu__prepared **prepared, const sfu__prepared *A, sfu__range rows, bool dropped,
                                      const sfu__matrix_use *use);
sfu_status sfu__cpu_prepare_dropout(sfu__prepared **prepared, const sfu__prepared *A, const int32_t *nodes);
void sfu__cpu_prepared_free(sfu__prepared *prepared);
const int32_t *sfu__cpu_columns(const sfu__prepared *prepared);
sfu_status sfu__cpu_bind(sfu__sparse **bound, const sfu__prepared *prepared, const sfu__binding *binding);
void sfu__cpu_unbind(sfu__sparse *bound);

#endif
