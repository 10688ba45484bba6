/* learned_rows.h - what a smoothing matrix with trained parameters computes for one row or column, for CPUs and GPUs.
 *
 *   v_ij = self_i [i = j] + neighbour_i a_ij      r_i = sum_j v_ij       c_j = sum_i v_ij      R_j = c_j^-right
 *
 *   S_ij = L_i R_j v_ij,  L_i = r_i^-left         or, with rows scaled,
 *   S_ij = R_j v_ij / q_i,  q_i = sum_k R_k v_ik
 *
 * Backward, with t_i = sum_j dS_ij S_ij and w_j = dln R_j:
 *
 *   unscaled:  dv_ij = dS_ij L_i R_j - left t_i / r_i - right w_j / c_j           w_j = sum_i dS_ij S_ij
 *   scaled:    dv_ij = (dS_ij - t_i) R_j / q_i        - right w_j / c_j           w_j = sum_i (dS_ij - t_i) S_ij
 *
 *   dleft = -sum_i t_i ln r_i    dright = -sum_j w_j ln c_j    dself_i = dv_ii    dneighbour_i = sum_j a_ij dv_ij
 *
 * All arithmetic is double, in the order of sfu__smoothing: sums run over ascending columns, or rows for c. The
 * gradient of a scalar is summed per block of rows, then over the blocks in order. A function may be called for all
 * rows at once; those after it need the results of all rows.
 */
#ifndef SFU_LEARNED_ROWS_H
#define SFU_LEARNED_ROWS_H

#include "normalization_factor.h"

#include <stddef.h>
#include <stdint.h>

/* The sums over rows of a gradient, and the rows of one block of them. */
enum { SFU__LEARNED_SELF, SFU__LEARNED_NEIGHBOUR, SFU__LEARNED_LEFT, SFU__LEARNED_RIGHT, SFU__LEARNED_SUMS };
enum { SFU__LEARNED_BLOCK = 512 };

/* The constant part of a smoothing matrix. The flags are 0 or 1. */
typedef struct sfu__learned_form {
    int64_t entries;
    const int64_t *indptr, *transposed_indptr;   /* [nodes + 1] */
    const int32_t *indices, *transposed_indices; /* [entries] */
    const int32_t *value_perm;                   /* [entries]: entry of S of each entry of the transpose */
    const float *edges;                          /* [entries]: a_ij, 0 on the diagonal without a self-loop */
    const float *self_column, *neighbour_column; /* [nodes], or NULL: one number */
    double self, neighbour, left, right;         /* parameters that are not learned */
    int32_t learns[SFU__LEARNED_SUMS];           /* which parameters are learned */
    int32_t nodes;
    int32_t same_sums; /* A~ is symmetric for all parameters: c is r */
    int32_t has_right; /* c is needed */
    int32_t scale_rows;
} sfu__learned_form;

/* What is computed from the parameters, [nodes] each. */
typedef struct sfu__learned_sums {
    double *r, *c;
    double *L, *R;  /* r^-left, or q if rows are scaled; c^-right */
    double *t, *dc; /* t_j; -right w_j / c_j */
    double *w;
} sfu__learned_sums;
enum { SFU__LEARNED_ARRAYS = 7 }; /* of this struct */

/* The arrays one after the other. */
SFU__DEVICE_FN sfu__learned_sums sfu__learned_sums_at(double *memory, int64_t nodes) {
    sfu__learned_sums sums;
    sums.r = memory;
    sums.c = memory + nodes;
    sums.L = memory + 2 * nodes;
    sums.R = memory + 3 * nodes;
    sums.t = memory + 4 * nodes;
    sums.dc = memory + 5 * nodes;
    sums.w = memory + 6 * nodes;
    return sums;
}

/* ---- current parameters ----------------------------------------------------------------------------------------- */

typedef struct sfu__learned_now {
    double self, neighbour, left, right;
    const float *selves, *neighbours; /* one value per node, if not NULL */
} sfu__learned_now;

/* `at` are the learned parameters, in the order of the sums; the others are not read. */
SFU__DEVICE_FN sfu__learned_now sfu__learned_read(const sfu__learned_form *S,
                                                  const float *const at[SFU__LEARNED_SUMS]) {
    sfu__learned_now now = {S->self, S->neighbour, S->left, S->right, S->self_column, S->neighbour_column};
    if (S->learns[SFU__LEARNED_SELF]) {
        now.selves = S->self_column != NULL ? at[SFU__LEARNED_SELF] : NULL;
        now.self = S->self_column != NULL ? 0.0 : (double)*at[SFU__LEARNED_SELF];
    }
    if (S->learns[SFU__LEARNED_NEIGHBOUR]) {
        now.neighbours = S->neighbour_column != NULL ? at[SFU__LEARNED_NEIGHBOUR] : NULL;
        now.neighbour = S->neighbour_column != NULL ? 0.0 : (double)*at[SFU__LEARNED_NEIGHBOUR];
    }
    if (S->learns[SFU__LEARNED_LEFT] && !S->scale_rows) {
        now.left = (double)*at[SFU__LEARNED_LEFT];
    }
    if (S->learns[SFU__LEARNED_RIGHT]) {
        now.right = (double)*at[SFU__LEARNED_RIGHT];
    }
    return now;
}

/* v of entry e of a row. */
SFU__DEVICE_FN double sfu__learned_entry(const sfu__learned_form *S, const sfu__learned_now *now, int32_t row,
                                         int64_t e) {
    const double neighbour = now->neighbours != NULL ? (double)now->neighbours[row] : now->neighbour;
    const double of_edge = neighbour * (double)S->edges[e];
    if (S->indices[e] != row) {
        return of_edge;
    }
    return (now->selves != NULL ? (double)now->selves[row] : now->self) + of_edge;
}

/* S of entry e before rounding. Must not be called for an empty row. */
SFU__DEVICE_FN double sfu__learned_value(const sfu__learned_form *S, const sfu__learned_sums *at,
                                         const sfu__learned_now *now, int32_t row, int64_t e) {
    const double right = S->has_right ? at->R[S->indices[e]] : 1.0, v = sfu__learned_entry(S, now, row, e);
    return S->scale_rows ? right * v / at->L[row] : at->L[row] * right * v;
}

SFU__DEVICE_FN float sfu__learned_flush(double value) { return fabs(value) < 0x1p-100 ? 0.0F : (float)value; }

/* ---- forward ---------------------------------------------------------------------------------------------------- */

SFU__DEVICE_FN double sfu__learned_column_sum(const sfu__learned_form *S, const sfu__learned_now *now, int32_t column) {
    double sum = 0.0;
    for (int64_t i = S->transposed_indptr[column]; i < S->transposed_indptr[column + 1]; i++) {
        sum += sfu__learned_entry(S, now, S->transposed_indices[i], S->value_perm[i]);
    }
    return sum;
}

/* r, c, L and R of a node. */
SFU__DEVICE_FN void sfu__learned_make_sums(const sfu__learned_form *S, const sfu__learned_sums *at,
                                           const sfu__learned_now *now, int32_t row) {
    double sum = 0.0;
    for (int64_t e = S->indptr[row]; e < S->indptr[row + 1]; e++) {
        sum += sfu__learned_entry(S, now, row, e);
    }
    at->r[row] = sum;
    at->L[row] = sfu__normalization_factor(sum, now->left);
    if (S->has_right) {
        at->c[row] = S->same_sums ? sum : sfu__learned_column_sum(S, now, row);
        at->R[row] = sfu__normalization_factor(at->c[row], now->right);
    }
}

/* The values of a row; q, if rows are scaled. */
SFU__DEVICE_FN void sfu__learned_make_values(float *values, const sfu__learned_form *S, const sfu__learned_sums *at,
                                             const sfu__learned_now *now, int32_t row) {
    const int64_t begin = S->indptr[row], end = S->indptr[row + 1];
    if (at->r[row] == 0.0) {
        for (int64_t e = begin; e < end; e++) {
            values[e] = S->indices[e] == row ? 1.0F : 0.0F;
        }
        return;
    }
    if (S->scale_rows) {
        double q = 0.0;
        for (int64_t e = begin; e < end; e++) {
            q += (S->has_right ? at->R[S->indices[e]] : 1.0) * sfu__learned_entry(S, now, row, e);
        }
        at->L[row] = q;
    }
    for (int64_t e = begin; e < end; e++) {
        values[e] = sfu__learned_flush(sfu__learned_value(S, at, now, row, e));
    }
}

/* Those of a column of a part in rows that others have. The values of all rows must be made, with their q. */
SFU__DEVICE_FN void sfu__learned_make_column(float *values, const sfu__learned_form *S, const sfu__learned_sums *at,
                                             const sfu__learned_now *now, int32_t column) {
    const int64_t others = S->indptr[S->nodes];
    for (int64_t i = S->transposed_indptr[column]; i < S->transposed_indptr[column + 1]; i++) {
        const int32_t row = S->transposed_indices[i], e = S->value_perm[i];
        if (e >= others) {
            values[e] = at->r[row] == 0.0 ? 0.0F : sfu__learned_flush(sfu__learned_value(S, at, now, row, e));
        }
    }
}

/* ---- backward --------------------------------------------------------------------------------------------------- */

/* t_i. */
SFU__DEVICE_FN void sfu__learned_row_backward(const sfu__learned_form *S, const sfu__learned_sums *at,
                                              const sfu__learned_now *now, const float *dS, int32_t row) {
    double t = 0.0;
    for (int64_t e = S->indptr[row]; e < S->indptr[row + 1] && at->r[row] != 0.0; e++) {
        t += (double)dS[e] * sfu__learned_value(S, at, now, row, e);
    }
    at->t[row] = t;
}

/* w_j and -right w_j / c_j. */
SFU__DEVICE_FN void sfu__learned_column_backward(const sfu__learned_form *S, const sfu__learned_sums *at,
                                                 const sfu__learned_now *now, const float *dS, int32_t column) {
    double w = 0.0;
    for (int64_t i = S->transposed_indptr[column]; i < S->transposed_indptr[column + 1]; i++) {
        const int32_t row = S->transposed_indices[i], e = S->value_perm[i];
        if (at->r[row] != 0.0) {
            w += ((double)dS[e] - (S->scale_rows ? at->t[row] : 0.0)) * sfu__learned_value(S, at, now, row, e);
        }
    }
    const int empty = at->c[column] == 0.0;
    at->w[column] = empty ? 0.0 : w;
    at->dc[column] = empty ? 0.0 : -now->right * w / at->c[column];
}

/* dv of entry e of a row that is not empty. */
SFU__DEVICE_FN double sfu__learned_entry_backward(const sfu__learned_form *S, const sfu__learned_sums *at,
                                                  const sfu__learned_now *now, const float *dS, int32_t row,
                                                  int64_t e) {
    const int32_t column = S->indices[e];
    const int jumps = S->has_right && at->c[column] == 0.0 && now->right != 0.0;
    const double right = jumps ? 0.0 : S->has_right ? at->R[column] : 1.0;
    const double through_column = S->has_right ? at->dc[column] : 0.0;
    if (S->scale_rows) {
        return ((double)dS[e] - at->t[row]) * right / at->L[row] + through_column;
    }
    return (double)dS[e] * at->L[row] * right - now->left * at->t[row] / at->r[row] + through_column;
}

/* The contribution of a row to the gradients: its terms of the four sums, and the gradient of the values of its node in
 * `to`. A term that a sum does not have is 0: sums start at +0, so adding it changes nothing. */
SFU__DEVICE_FN void sfu__learned_terms(double terms[SFU__LEARNED_SUMS], float *const to[SFU__LEARNED_SUMS],
                                       const sfu__learned_form *S, const sfu__learned_sums *at,
                                       const sfu__learned_now *now, const float *dS, int32_t row) {
    double dself = 0.0, dneighbour = 0.0;
    for (int64_t e = S->indptr[row]; e < S->indptr[row + 1] && at->r[row] != 0.0; e++) {
        const double dv = sfu__learned_entry_backward(S, at, now, dS, row, e);
        dself += S->indices[e] == row ? dv : 0.0;
        dneighbour += (double)S->edges[e] * dv;
    }
    if (S->learns[SFU__LEARNED_SELF] && S->self_column != NULL) {
        to[SFU__LEARNED_SELF][row] = sfu__learned_flush(dself);
    }
    if (S->learns[SFU__LEARNED_NEIGHBOUR] && S->neighbour_column != NULL) {
        to[SFU__LEARNED_NEIGHBOUR][row] = sfu__learned_flush(dneighbour);
    }
    const int has_left = S->learns[SFU__LEARNED_LEFT] && !S->scale_rows && at->r[row] != 0.0;
    const int has_right = S->learns[SFU__LEARNED_RIGHT] && at->c[row] != 0.0;
    terms[SFU__LEARNED_SELF] = dself;
    terms[SFU__LEARNED_NEIGHBOUR] = dneighbour;
    terms[SFU__LEARNED_LEFT] = has_left ? -(at->t[row] * sfu__ln(at->r[row])) : 0.0;
    terms[SFU__LEARNED_RIGHT] = has_right ? -(at->w[row] * sfu__ln(at->c[row])) : 0.0;
}

/* The gradient of a learned number, number `sum`, from the sums of all blocks of rows. */
SFU__DEVICE_FN void sfu__learned_add_blocks(float *const to[SFU__LEARNED_SUMS], const sfu__learned_form *S,
                                            double (*blocks)[SFU__LEARNED_SUMS], int sum) {
    const int by_node = (sum == SFU__LEARNED_SELF && S->self_column != NULL) ||
                        (sum == SFU__LEARNED_NEIGHBOUR && S->neighbour_column != NULL);
    double total = 0.0;
    if (!S->learns[sum] || by_node) {
        return;
    }
    for (int64_t block = 0; block * SFU__LEARNED_BLOCK < S->nodes; block++) {
        total += blocks[block][sum];
    }
    *to[sum] = sfu__learned_flush(total);
}

#endif
