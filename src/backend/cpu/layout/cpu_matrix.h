/* cpu_matrix.h - a sparse matrix in the form that the CPU's kernels read.
 *
 * Narrow products are fast on rows in the order of their length with 16-bit indices (rows_by_length.c), a transpose of
 * the features along its columns (csc.c), and dropout on a list of its Philox counters (philox_groups.c).
 */
#ifndef SFU_CPU_MATRIX_H
#define SFU_CPU_MATRIX_H

#include "backend.h"

/* The columns of a transpose one after the other: with each, where its values lie together and to which sums they
 * belong. There is a sum for every chunk of a row: first those of all rows' first chunks, in their order, also where a
 * row has no entry; then those of the second chunks, and so on. No column has two entries in a row. */
typedef struct sfu__csc {
    int32_t begin, end;    /* the columns that have entries */
    const int64_t *values; /* [c - begin]: the first value of column c */
    const int32_t *counts; /* [c - begin]: how many there are, one behind the other */
    const uint16_t *sums;  /* of each value, column after column */
    const int32_t *rows;   /* of each sum behind those of the first chunks */
    int32_t sum_count;
} sfu__csc;

/* The groups of eight places that masks are drawn for, of all rows of a sparse matrix one after the other. A group's
 * number in its row, first place / 8, is kept as what the first round of drawing makes of it. */
typedef struct sfu__philox_groups {
    const int64_t *first;       /* [rows + 1]: of each row */
    const uint32_t *high, *low; /* its number times SFU__PHILOX_FACTOR0, the upper and the lower half */
    const uint32_t *node;       /* of its row */
    const uint32_t *entry;      /* of its first place. All four have SFU__PHILOX_PADDING zeros behind the last */
    const float *value;         /* NULL, or the one value that its row has, in fixed values */
    bool none_zero;             /* no value of the matrix is zero, in fixed values */
} sfu__philox_groups;
enum { SFU__PHILOX_PADDING = 64 };

/* Compressed rows. The value of entry e is values[order != NULL ? order[e] : e]: a transpose has its own indices and
 * shares the values of the matrix it was made from. Nothing is read behind the last entry. */
struct sfu__sparse {
    int32_t rows, cols;
    const int64_t *indptr;
    const int32_t *indices;
    const float *values; /* never NULL */
    const int32_t *value_perm;
    const uint8_t *keep_mask; /* NULL, or: dropout_mask has left nothing of entry e unless byte order[e] (e without an
                               * order) is 1; its value is then values[e], whatever the order, times the scale of
                               * `mask`. Only in spmm, where rows of C are not narrow */
    const sfu__mask *mask;    /* that dropped */
    const sfu__philox_groups
        *philox_groups; /* NULL, or its groups, for the nodes that dropout_sparse and dropout_mask are given */
    const int32_t
        *row_perm; /* NULL, or: row i stands for row turn[i], and spmm, which alone looks at it, writes that one
                    * of C. Rows of about one length should be neighbours. Only where rows of C are narrow */
    const uint16_t *indices16; /* with a turn: the indices again, in half as many bytes; else not looked at */
    const float *row_value;    /* with a turn: NULL, or the value of all entries of row i, where there is only one */
    const sfu__csc *csc;       /* NULL, or the same entries by columns: what multiplies all rows with narrow ones may
                                * go along them instead, and then uses `room` */
    float *scratch;            /* floats of so many rows of C as there are sums; for one product at a time */
};

/* A prepared matrix. */
typedef struct sfu__cpu_matrix {
    sfu__prepared head;
    sfu_matrix own; /* what is owned of it; {0} where all is borrowed */
    int32_t *value_perm, *row_perm;
    uint16_t *indices16;
    float *row_value;
    sfu__csc *csc;
    sfu__philox_groups *philox_groups;
    int32_t *nodes;
    sfu__sparse view; /* values NULL where they are given when it is bound */
} sfu__cpu_matrix;

void sfu__cpu_matrix_clear(sfu__cpu_matrix *matrix);
void sfu__cpu_view_own(sfu__cpu_matrix *matrix); /* makes the view of what is owned */

/* rows_by_length.c: puts rows into the order of their length, those of each stage for themselves (`use` NULL or without
 * stages: all at once). The values must be fixed. */
SFU_CHECKED sfu_status sfu__cpu_sort_rows(sfu__cpu_matrix *matrix, const sfu__matrix_use *use);

/* transpose.c: rows [begin, end) of the source of `of` become columns; the values are those of `of`, through a
 * permutation. */
SFU_CHECKED sfu_status sfu__cpu_transpose(sfu__cpu_matrix *matrix, const sfu__cpu_matrix *of, sfu__range rows);
/* A transpose whose values are fixed gets a copy of them in its own order; it needs the permutation only for the keep
 * mask of what it was made from (`dropped`). */
SFU_CHECKED sfu_status sfu__cpu_own_values(sfu__cpu_matrix *matrix, bool dropped);
/* Where the kernels have each row of the source; NULL: where it was. */
SFU_CHECKED sfu_status sfu__cpu_row_positions(int32_t **position, const sfu__sparse *of);

/* csc.c: a transpose of these rows of `of` gets its entries by columns as well, unless a product with rows of `ld`
 * floats would not be faster for it. */
SFU_CHECKED sfu_status sfu__cpu_make_csc(sfu__cpu_matrix *matrix, const sfu__cpu_matrix *of, sfu__range columns,
                                         int32_t ld);
void sfu__csc_free(sfu__csc *csc);

/* philox_groups.c: lists the groups of eight entries that masks of these nodes (NULL: each row's own number) are drawn
 * for. */
SFU_CHECKED sfu_status sfu__cpu_make_philox_groups(sfu__cpu_matrix *matrix, const int32_t *nodes, int64_t *bytes);
void sfu__philox_groups_free(sfu__philox_groups *groups);

/* prepare.c: the functions of the seam. */
const char *sfu__cpu_form(const sfu__matrix_source *source, const sfu__matrix_use *use);
sfu_status sfu__cpu_prepare(sfu__prepared **prepared, const sfu__matrix_source *source, const sfu__matrix_use *use);
sfu_status sfu__cpu_prepare_transpose(sfu__prepared **prepared, const sfu__prepared *A, sfu__range rows, bool dropped,
                                      const sfu__matrix_use *use);
sfu_status sfu__cpu_prepare_dropout(sfu__prepared **prepared, const sfu__prepared *A, const int32_t *nodes);
void sfu__cpu_prepared_free(sfu__prepared *prepared);
sfu_status sfu__cpu_bind(sfu__sparse **bound, const sfu__prepared *prepared, const sfu__binding *binding);
void sfu__cpu_unbind(sfu__sparse *bound);

#endif
