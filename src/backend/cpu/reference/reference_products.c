/* reference_products.c - reference implementation of the matrix products: one loop per element.
 *
 *   spmm   C[i][j] = sum_e A.value[e] B[A.column[e]][j]   over the entries e of row i
 *   gemm   C[i][j] = sum_p A[i][p] B[p][j]
 *   gemm_t part[p][j] = sum_i A[i][p] G[i][j]             over the rows i of a block
 *   sddmm  dA[v] += sum_j dC[i][j] B[column[e]][j]        v the index of the value of e
 *
 * The first three follow the product pattern: every 64 terms form one accumulation chain c = fma(a, b, c) from +0; the
 * sum is the first chain, plus the second, and so on (+0 without terms).
 */
#include "kernels.h"
#include "scalar.h"
#include "elementary.h"

#include <string.h>

/* A partial product. */
typedef struct product {
    float sum, chain;
    int64_t terms;
} product;

static void count_term(product *p) {
    if (p->terms % SFU__CHAIN_TERMS == 0) {
        p->sum = p->terms <= SFU__CHAIN_TERMS ? p->chain : p->sum + p->chain;
        p->chain = 0;
    }
    p->terms++;
}

static void add_term(product *p, float a, float b) {
    count_term(p);
    p->chain = fmaf(a, b, p->chain);
}

static float whole(const product *p) { return p->terms <= SFU__CHAIN_TERMS ? p->chain : p->sum + p->chain; }

static int64_t value_index(const sfu__sparse *A, int64_t e) { return A->value_perm != NULL ? A->value_perm[e] : e; }
static bool is_kept(const sfu__sparse *A, int64_t e) {
    return A->keep_mask == NULL || A->keep_mask[value_index(A, e)] != 0;
}
static float value_of(const sfu__sparse *A, int64_t e) {
    return A->keep_mask != NULL ? A->values[e] * sfu__mask_scale(A->mask) : A->values[value_index(A, e)];
}

static float *row_of(const sfu__dense *M, int64_t row) { return M->data + row * M->ld; }

void sfu__spmm_plain(const sfu__dense *C, const sfu__sparse *A, const sfu__dense *B, bool add, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        for (int32_t j = 0; j < C->ld; j++) {
            product p = {0, 0, 0};
            for (int64_t e = A->indptr[i]; e < A->indptr[i + 1]; e++) {
                if (is_kept(A, e)) {
                    add_term(&p, value_of(A, e), row_of(B, A->indices[e])[j]);
                } else {
                    count_term(&p);
                }
            }
            float *c = row_of(C, A->row_perm != NULL ? A->row_perm[i] : i) + j;
            const float result = add ? *c + whole(&p) : whole(&p);
            *c = C->ld <= SFU__NARROW && !A->wide ? v_flush(result) : result;
        }
    }
}

/* A partial product in a row of `carry`: those of all columns, then the number of terms. */
static product carried(const float *row, int32_t ld, int32_t j) {
    int32_t terms;
    memcpy(&terms, row + 2 * (int64_t)ld, sizeof terms);
    return (product){row[j], row[ld + j], terms};
}

static void carry_on(float *row, int32_t ld, int32_t j, const product *p) {
    row[j] = p->sum;
    row[ld + j] = p->chain;
}

void sfu__spmm_part_plain(float *carry, const sfu__sparse *A, const sfu__dense *B, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        float *row = carry + i * sfu__carry_ld(B->ld);
        int32_t terms = 0;
        for (int32_t j = 0; j < B->ld; j++) {
            product p = carried(row, B->ld, j);
            for (int64_t e = A->indptr[i]; e < A->indptr[i + 1]; e++) {
                add_term(&p, value_of(A, e), row_of(B, A->indices[e])[j]);
            }
            carry_on(row, B->ld, j, &p);
            terms = (int32_t)p.terms;
        }
        memcpy(row + 2 * (int64_t)B->ld, &terms, sizeof terms);
    }
}

/* Serves all sets of kernels. */
void sfu__spmm_finish_plain(const sfu__dense *C, const float *carry, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        for (int32_t j = 0; j < C->ld; j++) {
            const product p = carried(carry + i * sfu__carry_ld(C->ld), C->ld, j);
            row_of(C, i)[j] = C->ld <= SFU__NARROW ? v_flush(whole(&p)) : whole(&p);
        }
    }
}

void sfu__gemm_plain(const sfu__dense *C, const sfu__dense *A, const sfu__dense *B, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        for (int32_t j = 0; j < C->ld; j++) {
            product p = {0, 0, 0};
            for (int32_t k = 0; k < A->cols; k++) {
                add_term(&p, row_of(A, i)[k], row_of(B, k)[j]);
            }
            row_of(C, i)[j] = whole(&p);
        }
    }
}

void sfu__gemm_t_plain(float *parts, const sfu__dense *A, const sfu__dense *G, sfu__range blocks) {
    const int32_t cols = A != NULL ? A->cols : 1;
    for (int64_t block = blocks.begin; block < blocks.end; block++) {
        const sfu__range rows = sfu__rows_of_block(G->rows, block);
        for (int32_t k = 0; k < cols; k++) {
            for (int32_t j = 0; j < G->ld; j++) {
                product p = {0, 0, 0};
                for (int64_t i = rows.begin; i < rows.end; i++) {
                    add_term(&p, A != NULL ? row_of(A, i)[k] : 1.0F, row_of(G, i)[j]);
                }
                parts[(block * cols + k) * G->ld + j] = whole(&p);
            }
        }
    }
}

void sfu__reduce_blocks_plain(float *to, const float *parts, int64_t count, int64_t stride, sfu__range elements) {
    for (int64_t i = elements.begin; i < elements.end; i++) {
        float sum = count > 0 ? parts[i] : 0;
        for (int64_t part = 1; part < count; part++) {
            sum += parts[part * stride + i];
        }
        to[i] = v_flush(sum);
    }
}

void sfu__transpose_plain(const sfu__dense *T, const sfu__dense *B, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        for (int32_t j = 0; j < T->ld; j++) {
            row_of(T, i)[j] = j < T->cols ? row_of(B, j)[i] : 0;
        }
    }
}

void sfu__axpy_rows_plain(const sfu__dense *C, const sfu__dense *D, const int32_t *map, float t, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        const float *d = row_of(D, map != NULL ? map[i] : i);
        for (int32_t j = 0; j < C->ld; j++) {
            row_of(C, i)[j] = v_flush(fmaf(t, d[j], row_of(C, i)[j]));
        }
    }
}

void sfu__axpy_rows_backward_plain(const sfu__dense *dD, const sfu__dense *dC, const int32_t *map, float t,
                                   sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        float *d = row_of(dD, map != NULL ? map[i] : i);
        for (int32_t j = 0; j < dC->ld; j++) {
            d[j] = v_flush(fmaf(t, row_of(dC, i)[j], d[j]));
        }
    }
}

void sfu__sddmm_plain(float *dA, const sfu__sparse *A, const sfu__dense *dC, const sfu__dense *B, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        for (int64_t e = A->indptr[i]; e < A->indptr[i + 1]; e++) {
            float lane[4] = {0, 0, 0, 0};
            for (int32_t j = 0; j < dC->ld; j++) {
                lane[j % 4] = fmaf(row_of(dC, i)[j], row_of(B, A->indices[e])[j], lane[j % 4]);
            }
            float *to = &dA[A->value_perm != NULL ? A->value_perm[e] : e];
            *to = v_flush(*to + ((lane[0] + lane[1]) + (lane[2] + lane[3])));
        }
    }
}
