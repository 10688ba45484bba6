/* The vectorized kernels equal the plain ones bit for bit: every operation, every kernel set that this machine
 * supports, many shapes, ranges divided at odd places. The plain results are pinned by digests, so that all
 * architectures compute the same bytes. */
#include "kernel_operands.h"

#include "cpu/kernels.h"
#include "digest.h"
#include "cpu_matrix.h"
#include "text.h"

/* ---- a case: a shape, and a backend that runs it in several pieces ---- */

typedef struct run {
    const sfu__backend *backend;
    int32_t rows, cols, inner; /* their meaning depends on the operation */
    int variant;               /* enumerates further arguments of an operation */
    uint64_t seed;
    int cuts;        /* the range is divided into this many pieces plus one */
    sfu__text bytes; /* the results */
} run;

static void put(run *r, const void *bytes, size_t size) { assert_ok(sfu__text_add(&r->bytes, bytes, size)); }

static void put_dense(run *r, const sfu__dense *M) {
    put(r, M->data, (size_t)M->rows * (size_t)M->ld * sizeof *M->data);
}

/* The pieces of [0, count), one after the other. */
static bool next_piece(const run *r, int64_t count, sfu__range *piece, int *number) {
    if (*number > r->cuts) {
        return false;
    }
    piece->begin = *number == 0 ? 0 : piece->end;
    piece->end = *number == r->cuts ? count : piece->begin + (count - piece->begin) / 3;
    (*number)++;
    return true;
}
#define FOR_PIECES(r, count, piece)                                                                                    \
    for (sfu__range piece = {0, 0}, *once = &piece; once != NULL; once = NULL)                                         \
        for (int number = 0; next_piece((r), (count), &piece, &number);)

/* ---- one function per operation ---- */

/* Permutes the rows of S and returns row_perm: by ascending or descending length. */
static int32_t *permute_rows(operand_sparse *S, bool longest_first) {
    const int32_t rows = S->A.rows;
    operand_sparse from = *S;
    int32_t *row_perm = exact(rows, sizeof *row_perm), count = 0;
    for (int64_t terms = 0; terms <= 1000; terms++) {
        for (int32_t i = 0; i < rows; i++) {
            if (from.indptr[i + 1] - from.indptr[i] == (longest_first ? 1000 - terms : terms)) {
                row_perm[count++] = i;
            }
        }
    }
    assert_int_equal(count, rows);
    const int64_t nonzeros = from.indptr[rows];
    S->A.indptr = S->indptr = exact(rows + 1, sizeof *S->indptr);
    S->A.indices = S->indices = exact(nonzeros, sizeof *S->indices);
    if (from.value_perm != NULL) {
        S->A.value_perm = S->value_perm = exact(nonzeros, sizeof *S->value_perm);
    } else {
        S->A.values = S->values = exact(nonzeros, sizeof *S->values);
    }
    S->indptr[0] = 0;
    for (int32_t i = 0; i < rows; i++) {
        int64_t to = S->indptr[i];
        for (int64_t e = from.indptr[row_perm[i]]; e < from.indptr[row_perm[i] + 1]; e++, to++) {
            S->indices[to] = from.indices[e];
            if (from.value_perm != NULL) {
                S->value_perm[to] = from.value_perm[e];
            } else {
                S->values[to] = from.values[e];
            }
        }
        S->indptr[i + 1] = to;
    }
    free(from.indptr);
    free(from.indices);
    free(from.value_perm != NULL ? (void *)from.value_perm : (void *)from.values);
    return row_perm;
}

/* Gives all entries of a row the same value. */
static void make_even(operand_sparse *S) {
    for (int32_t i = 0; i < S->A.rows; i++) {
        for (int64_t e = S->indptr[i] + 1; e < S->indptr[i + 1]; e++) {
            S->values[e] = S->values[e - 1];
        }
    }
}

static uint16_t *short_indices_of(const operand_sparse *S) {
    const int64_t count = S->indptr[S->A.rows];
    uint16_t *made = exact(count, sizeof *made);
    for (int64_t e = 0; e < count; e++) {
        made[e] = (uint16_t)S->indices[e];
    }
    return made;
}

static float *row_values_of(const operand_sparse *S) {
    float *made = exact(S->A.rows, sizeof *made);
    for (int32_t i = 0; i < S->A.rows; i++) {
        made[i] = S->indptr[i] < S->indptr[i + 1] ? S->values[S->indptr[i]] : 0.0F;
    }
    return made;
}

static void multiply(run *r, bool permuted, bool even) {
    operand_sparse S = sparse_new(r->rows, r->inner, r->variant % 2 == 1, r->seed);
    sfu__dense B = dense_new(r->inner, r->cols, r->seed + 5), C = dense_new(r->rows, r->cols, r->seed + 6);
    const bool dropped = r->variant / 4 % 2 == 1 && C.ld > SFU__NARROW;
    if (even) {
        make_even(&S);
    }
    const sfu__mask mask = {.threshold = 16384};
    uint8_t *keep_mask = exact(S.indptr[r->rows], 1);
    for (int64_t e = 0; dropped && e < S.indptr[r->rows]; e++) { /* half of them, and all that refer to row 0 of B */
        keep_mask[S.value_perm != NULL ? S.value_perm[e] : e] =
            S.indices[e] != 0 && sfu__random_bits(r->seed, 9, (uint64_t)e) % 2 == 0;
    }
    for (int32_t j = 0; dropped && j < C.ld; j++) {
        B.data[j] = INFINITY; /* must not be read */
    }
    S.A.keep_mask = dropped ? keep_mask : NULL;
    S.A.mask = &mask;
    int32_t *row_perm = permuted && C.ld <= SFU__NARROW ? permute_rows(&S, r->seed % 3 == 1) : NULL;
    uint16_t *indices16 = row_perm != NULL ? short_indices_of(&S) : NULL;
    S.A.row_perm = row_perm;
    S.A.indices16 = indices16;
    float *row_value = even && row_perm != NULL && S.value_perm == NULL ? row_values_of(&S) : NULL;
    S.A.row_value = row_value;
    FOR_PIECES(r, r->rows, piece) { r->backend->spmm(&C, &S.A, &B, r->variant / 2 % 2 == 1, piece); }
    put_dense(r, &C);
    sparse_free(&S);
    free(row_perm);
    free(indices16);
    free(row_value);
    free(keep_mask);
    free(B.data);
    free(C.data);
}
static void run_spmm(run *r) { multiply(r, false, false); }
static void run_spmm_by_length(run *r) { multiply(r, true, false); }
static void run_spmm_even(run *r) { multiply(r, false, true); }
static void run_spmm_even_by_length(run *r) { multiply(r, true, true); }

/* The entries of each row of S from one share of them to another, as a matrix. */
static operand_sparse part_of(const operand_sparse *S, int part, int parts) {
    const int32_t rows = S->A.rows;
    operand_sparse to = {.A = S->A};
    to.A.indptr = to.indptr = exact(rows + 1, sizeof *to.indptr);
    to.A.indices = to.indices = exact(S->indptr[rows], sizeof *to.indices);
    to.A.values = to.values = exact(S->indptr[rows], sizeof *to.values);
    to.A.value_perm = NULL;
    to.indptr[0] = 0;
    for (int32_t i = 0; i < rows; i++) {
        const int64_t begin = S->indptr[i], count = S->indptr[i + 1] - begin;
        int64_t at = to.indptr[i];
        for (int64_t e = begin + count * part / parts; e < begin + count * (part + 1) / parts; e++, at++) {
            to.indices[at] = S->indices[e];
            to.values[at] = S->values[S->value_perm != NULL ? S->value_perm[e] : e];
        }
        to.indptr[i + 1] = at;
    }
    return to;
}

/* A product in parts is that of spmm, wherever its rows are divided. */
static void run_spmm_parts(run *r) {
    operand_sparse S = sparse_new(r->rows, r->inner, r->variant % 2 == 1, r->seed);
    sfu__dense B = dense_new(r->inner, r->cols, r->seed + 5), C = dense_new(r->rows, r->cols, r->seed + 6);
    const int64_t floats = r->rows * sfu__carry_ld(B.ld);
    float *carry = exact(floats, sizeof *carry);
    memset(carry, 0, (size_t)floats * sizeof *carry);
    const int parts = 1 + r->variant / 2 * 2;
    for (int i = 0; i < parts; i++) {
        operand_sparse part = part_of(&S, i, parts);
        FOR_PIECES(r, r->rows, piece) {
            r->backend->spmm_part(carry, i == 0 && parts == 1 ? &S.A : &part.A, &B, piece);
        }
        sparse_free(&part);
    }
    FOR_PIECES(r, r->rows, piece) { r->backend->spmm_finish(&C, carry, piece); }
    put_dense(r, &C);
    if (r->backend == sfu__backend_cpu_set(0)) { /* the other sets are compared with this one */
        sfu__dense whole = dense_new(r->rows, r->cols, r->seed + 7);
        r->backend->spmm(&whole, &S.A, &B, false, (sfu__range){0, r->rows});
        assert_memory_equal(whole.data, C.data, (size_t)C.rows * (size_t)C.ld * sizeof *C.data);
        free(whole.data);
    }
    free(carry);
    free(B.data);
    free(C.data);
    sparse_free(&S);
}

static void run_gemm(run *r) {
    sfu__dense A = dense_new(r->rows, r->inner, r->seed), B = dense_new(r->inner, r->cols, r->seed + 1);
    sfu__dense C = dense_new(r->rows, r->cols, r->seed + 2);
    FOR_PIECES(r, r->rows, piece) { r->backend->gemm(&C, &A, &B, piece); }
    put_dense(r, &C);
    free(A.data);
    free(B.data);
    free(C.data);
}

static void run_gemm_t(run *r) {
    sfu__dense A = dense_new(r->rows, r->inner, r->seed), G = dense_new(r->rows, r->cols, r->seed + 1);
    const bool ones = r->variant % 2 == 1;
    const int64_t count = sfu__block_count(r->rows), stride = (int64_t)(ones ? 1 : r->inner) * G.ld;
    float *parts = exact(count * stride, sizeof *parts), *to = exact(stride, sizeof *to);
    FOR_PIECES(r, count, piece) { r->backend->gemm_t(parts, ones ? NULL : &A, &G, piece); }
    FOR_PIECES(r, stride, piece) { r->backend->reduce_blocks(to, parts, count, stride, piece); }
    put(r, parts, (size_t)(count * stride) * sizeof *parts);
    put(r, to, (size_t)stride * sizeof *to);
    free(A.data);
    free(G.data);
    free(parts);
    free(to);
}

static void run_transpose(run *r) {
    sfu__dense B = dense_new(r->inner, r->rows, r->seed), T = dense_new(r->rows, r->inner, r->seed + 1);
    FOR_PIECES(r, r->rows, piece) { r->backend->transpose(&T, &B, piece); }
    put_dense(r, &T);
    free(B.data);
    free(T.data);
}

/* Masks: no dropout, common rates, and the extremes. */
static sfu__mask mask_of(const run *r) {
    static const uint32_t thresholds[] = {32768, 0, 6554, 65535, 1};
    return (sfu__mask){.seed = r->seed * 0x9e3779b97f4a7c15,
                       .epoch = (uint32_t)r->seed + 3,
                       .layer = (uint32_t)(r->variant % 3),
                       .threshold = thresholds[r->variant % 5]};
}

/* The Philox groups of S as in a plan; in separate arrays, so that reads beyond the end are detected. */
static sfu__cpu_matrix groups_new(operand_sparse *S, const int32_t *nodes) {
    sfu__cpu_matrix block = {.view = S->A};
    int64_t bytes;
    assert_ok(sfu__cpu_make_philox_groups(&block, nodes, &bytes));
    assert_true(bytes > 0);
    S->A.philox_groups = block.view.philox_groups;
    return block;
}

static void drop_values(run *r, bool grouped, bool even) {
    operand_sparse S = sparse_new(r->rows, r->inner, !even && r->variant % 4 == 3, r->seed);
    int32_t *nodes = r->variant % 2 == 1 ? nodes_new(r->rows, r->seed) : NULL;
    float *row_value = NULL;
    if (even) {
        make_even(&S);
        S.A.row_value = row_value = row_values_of(&S);
    }
    sfu__cpu_matrix philox_groups = grouped ? groups_new(&S, nodes) : (sfu__cpu_matrix){0};
    const sfu__mask mask = mask_of(r);
    float *values = vector_new(S.indptr[r->rows], 1);
    FOR_PIECES(r, r->rows, piece) { r->backend->dropout_sparse(values, &S.A, nodes, &mask, piece); }
    put(r, values, (size_t)S.indptr[r->rows] * sizeof *values);
    sparse_free(&S);
    sfu__cpu_matrix_clear(&philox_groups);
    free(row_value);
    free(nodes);
    free(values);
}
static void run_drop_sparse(run *r) { drop_values(r, false, false); }
static void run_drop_groups(run *r) { drop_values(r, true, false); }
static void run_drop_even(run *r) { drop_values(r, false, true); }
static void run_drop_even_groups(run *r) { drop_values(r, true, true); }

static void mark_kept(run *r, bool grouped) {
    operand_sparse S = sparse_new(r->rows, r->inner, false, r->seed);
    int32_t *nodes = r->variant % 2 == 1 ? nodes_new(r->rows, r->seed) : NULL;
    const int64_t count = S.indptr[r->rows];
    uint8_t *keep_mask = exact(count, 1);
    for (int64_t e = 0; e < count; e += 7) {
        S.values[e] = e % 2 == 0 ? 0.0F : -0.0F;
    }
    sfu__cpu_matrix philox_groups = grouped ? groups_new(&S, nodes) : (sfu__cpu_matrix){0};
    const sfu__mask mask = mask_of(r);
    FOR_PIECES(r, r->rows, piece) { r->backend->dropout_mask(keep_mask, &S.A, nodes, &mask, piece); }
    put(r, keep_mask, (size_t)count);
    sparse_free(&S);
    sfu__cpu_matrix_clear(&philox_groups);
    free(nodes);
    free(keep_mask);
}
static void run_dropout_mask(run *r) { mark_kept(r, false); }
static void run_dropout_mask_groups(run *r) { mark_kept(r, true); }

/* Every activation is combined with every mask: 6 and 5 are coprime. */
static void run_activate(run *r) {
    sfu__dense H = dense_new(r->rows, r->cols, r->seed), dH = dense_new(r->rows, r->cols, r->seed + 1);
    float *bias = r->variant % 4 == 3 ? NULL : bias_new(r->cols, r->seed + 2);
    int32_t *nodes = r->variant % 2 == 1 ? nodes_new(r->rows, r->seed) : NULL;
    const sfu__mask mask = mask_of(r);
    const sfu__activation act = (sfu__activation)(r->variant % 6);
    for (int64_t i = 0; i < (int64_t)r->rows * H.ld; i++) {
        H.data[i] *= i % 3 == 0 ? 1.0F : i % 3 == 1 ? 0.01F : 40.0F;
    }
    FOR_PIECES(r, r->rows, piece) { r->backend->activate(&H, bias, act, nodes, &mask, piece); }
    FOR_PIECES(r, r->rows, piece) { r->backend->activate_backward(&dH, &H, act, nodes, &mask, piece); }
    put_dense(r, &H);
    put_dense(r, &dH);
    free(H.data);
    free(dH.data);
    free(bias);
    free(nodes);
}

static void run_softmax(run *r) {
    sfu__dense P = dense_new(r->rows, r->cols, r->seed), dP = dense_new(r->rows, r->cols, r->seed + 1);
    float *bias = r->variant % 2 == 1 ? NULL : bias_new(r->cols, r->seed + 2);
    for (int64_t i = 0; i < (int64_t)r->rows * P.ld; i++) {
        P.data[i] *= i % 5 == 0 ? 90.0F : 3.0F;
    }
    FOR_PIECES(r, r->rows, piece) { r->backend->softmax(&P, bias, piece); }
    FOR_PIECES(r, r->rows, piece) { r->backend->softmax_backward(&dP, &P, piece); }
    put_dense(r, &P);
    put_dense(r, &dP);
    free(P.data);
    free(dP.data);
    free(bias);
}

static void run_cross_entropy(run *r) {
    sfu__dense P = dense_new(r->rows, r->cols, r->seed), dP = dense_new(r->rows, r->cols, r->seed + 1);
    const int64_t count = sfu__block_count(r->rows);
    sfu__score *scores = exact(count, sizeof *scores);
    int32_t *labels = exact(r->rows, sizeof *labels);
    float *weights = vector_new(r->rows, r->seed + 3);
    for (int32_t i = 0; i < r->rows; i++) {
        labels[i] = (int32_t)operand_below(r->seed, (uint64_t)i, r->cols + 1) - 1;
        for (int32_t j = 0; j < r->cols; j++) { /* with ties, zeros and tiny values */
            float *p = P.data + (int64_t)i * P.ld + j;
            *p = i % 4 == 0 ? truncf(fabsf(*p) * 4) / 4 : i % 4 == 1 ? fabsf(*p) * 1e-30F : fabsf(*p);
        }
    }
    const sfu__target target = {labels, r->variant % 2 == 1 ? weights : NULL};
    const bool gradient = r->variant % 3 != 2;
    FOR_PIECES(r, count, piece) {
        r->backend->cross_entropy(scores, gradient ? &dP : NULL, r->variant % 4 < 2, &P, &target, piece);
    }
    put(r, scores, (size_t)count * sizeof *scores);
    put_dense(r, &dP);
    free(P.data);
    free(dP.data);
    free(scores);
    free(labels);
    free(weights);
}

static void run_axpy_rows(run *r) {
    const int32_t many = r->rows * 6 + 1;
    sfu__dense C = dense_new(r->rows, r->cols, r->seed), D = dense_new(many, r->cols, r->seed + 1);
    int32_t *map = r->variant % 2 == 1 ? nodes_new(r->rows, r->seed) : NULL;
    FOR_PIECES(r, r->rows, piece) { r->backend->axpy_rows(&C, &D, map, 0.1F, piece); }
    FOR_PIECES(r, r->rows, piece) { r->backend->axpy_rows_backward(&D, &C, map, 0.3F, piece); }
    put_dense(r, &C);
    put_dense(r, &D);
    free(C.data);
    free(D.data);
    free(map);
}

static void run_sddmm(run *r) {
    operand_sparse S = sparse_new(r->rows, r->inner, r->variant == 1, r->seed);
    sfu__dense dC = dense_new(r->rows, r->cols, r->seed + 5), B = dense_new(r->inner, r->cols, r->seed + 6);
    float *dA = vector_new(S.indptr[r->rows], r->seed + 7);
    FOR_PIECES(r, r->rows, piece) { r->backend->sddmm(dA, &S.A, &dC, &B, piece); }
    put(r, dA, (size_t)S.indptr[r->rows] * sizeof *dA);
    sparse_free(&S);
    free(dC.data);
    free(B.data);
    free(dA);
}

static void run_adam(run *r) {
    const int64_t count = (int64_t)r->rows * sfu__ld(r->cols);
    float *theta = vector_new(count, r->seed), *grad = vector_new(count, r->seed + 1);
    float *m = vector_new(count, r->seed + 2), *v = vector_new(count, r->seed + 3);
    for (int64_t i = 0; i < count; i++) { /* v from 1 down to zero, sometimes all four zero */
        const float size = i % 7 == 0 ? 0.0F : i % 5 == 0 ? 1e-28F : 1.0F;
        theta[i] *= size;
        grad[i] *= size;
        m[i] *= size;
        v[i] = fabsf(v[i]) * size;
    }
    const bool bounded = r->variant % 2 == 1;
    for (int t = 1; t <= 3; t++) {
        const sfu__adam adam = {0.01F,
                                r->variant % 3 == 0 ? 0.0F : 5e-4F,
                                1.0F / (0.1F * (float)t),
                                1.0F / (0.001F * (float)t),
                                bounded ? 0.0F : -INFINITY,
                                bounded ? 0.5F : INFINITY};
        FOR_PIECES(r, count, piece) { r->backend->adam(theta, m, v, grad, &adam, piece); }
    }
    put(r, theta, (size_t)count * sizeof *theta);
    put(r, m, (size_t)count * sizeof *m);
    put(r, v, (size_t)count * sizeof *v);
    free(theta);
    free(grad);
    free(m);
    free(v);
}

/* The digest is of the plain results for the cases of `pinned_cases`. Update it by hand when a summation order changes:
 * the failing test prints the new one. */
static const struct {
    const char *name;
    void (*run)(run *r);
    int variants;
    const char *digest;
} operations[] = {
    {"spmm", run_spmm, 8, "5ea2c110ef15dd39803c182924107a63946a01e05f6d17dcab0a27502fc9776a"},
    {"spmm by row length", run_spmm_by_length, 8, "5ea2c110ef15dd39803c182924107a63946a01e05f6d17dcab0a27502fc9776a"},
    {"spmm of single-valued rows", run_spmm_even, 8,
     "3da52987b43d66dd1a88d8e27a14b9436b97d630930fc1dacce1faa9ae88e139"},
    {"spmm of single-valued rows by length", run_spmm_even_by_length, 8,
     "3da52987b43d66dd1a88d8e27a14b9436b97d630930fc1dacce1faa9ae88e139"},
    {"spmm_part and spmm_finish", run_spmm_parts, 4,
     "7240fb3c2f197bf7c6acdca044bb46dac42650d2ee5a7607598092224470e661"},
    {"gemm", run_gemm, 1, "a77593e64ce5f506eab2721003cd8a179a256f64fe807edef62beea6b62b3d2c"},
    {"gemm_t and reduce_blocks", run_gemm_t, 2, "a22841216ab4ad0041ccbee774d6e5f76ce6f7d6bb4c254d0962ea7e316f20aa"},
    {"transpose", run_transpose, 1, "50acf00117422da7d275d39b94d0bacde0f6aaf48eab027b4caf62a8f76f5316"},
    {"dropout_mask by groups", run_dropout_mask_groups, 10,
     "9bb189bcafe4d0ec75a62c3e25ca60e3259ad1c36cbe9ca0d42e622976323512"},
    {"dropout_sparse by groups", run_drop_groups, 20,
     "bf22ca1e4f8514b0325ade979598940b55acd8c3b572818d45f46639e03bf32a"},
    {"dropout_mask", run_dropout_mask, 10, "9bb189bcafe4d0ec75a62c3e25ca60e3259ad1c36cbe9ca0d42e622976323512"},
    {"dropout_sparse", run_drop_sparse, 20, "bf22ca1e4f8514b0325ade979598940b55acd8c3b572818d45f46639e03bf32a"},
    {"dropout_sparse of even rows", run_drop_even, 20,
     "8936df61df8b1cc8f7302151db56741ce5be91801bca1f1a065d4e8cfb01bb83"},
    {"dropout_sparse of even rows by groups", run_drop_even_groups, 20,
     "8936df61df8b1cc8f7302151db56741ce5be91801bca1f1a065d4e8cfb01bb83"},
    {"activate and activate_backward", run_activate, 60,
     "8bee647eb850908aa8d5d097c6d6dfe36c84df113e360dc0834368d4c2cc9a3a"},
    {"softmax and softmax_backward", run_softmax, 2,
     "4a4c8a2004f6b3660ea45aad7b35259027c3accfa82957fd1ddebbe9f4257b03"},
    {"cross_entropy", run_cross_entropy, 12, "2f69ca325786d856dc7ecb71fe5ba327029fc69ddcc2c9e2b125836309cb94e9"},
    {"axpy_rows and axpy_rows_backward", run_axpy_rows, 2,
     "7080873ebbaf594786133c4d5542995d31af212e7936272975e725786fa23773"},
    {"sddmm", run_sddmm, 2, "87ecdc0dfb16b693e024cb47e550727ce46e901270aea82e24b5bd06b6b3c1c9"},
    {"adam", run_adam, 6, "0361de9d69c7edb6816d6740cf4c5ceed569ac9a6b226b820716ccead66a6ab0"},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* ---- tests ---- */

static void fail_at_difference(const run *wanted, const run *got, const char *operation) {
    size_t at = 0;
    while (at < wanted->bytes.size && wanted->bytes.bytes[at] == got->bytes.bytes[at]) {
        at++;
    }
    fail_msg("%s of %s, rows %d cols %d inner %d variant %d cuts %d: differs from plain at byte %zu of %zu", operation,
             got->backend->name, (int)got->rows, (int)got->cols, (int)got->inner, got->variant, got->cuts, at,
             wanted->bytes.size);
}

/* One case on every kernel set, in one piece and in several. */
static void compare_sets(int operation, run r) {
    run plain = r;
    plain.backend = sfu__backend_cpu_set(0);
    operations[operation].run(&plain);
    for (int set = 0; sfu__backend_cpu_set(set) != NULL; set++) {
        for (int cuts = 0; cuts < 4; cuts += 3) {
            run other = r;
            other.backend = sfu__backend_cpu_set(set);
            other.cuts = cuts;
            operations[operation].run(&other);
            assert_int_equal(plain.bytes.size, other.bytes.size);
            if (plain.bytes.size > 0 && memcmp(plain.bytes.bytes, other.bytes.bytes, plain.bytes.size) != 0) {
                fail_at_difference(&plain, &other, operations[operation].name);
            }
            sfu__text_clear(&other.bytes);
        }
    }
    sfu__text_clear(&plain.bytes);
}

static void compare_all(int operation) {
    static const int32_t rows[] = {0, 1, 2, 7, 40, 300};
    static const int32_t widths[] = {1, 3, 4, 5, 7, 8, 9, 16, 17, 32, 33, 48, 64, 80, 96, 112, 128, 130};
    static const int32_t inners[] = {1, 4, 7, 8, 63, 64, 65, 130, 200};
    int row_perm = 0;
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++, row_perm++) {
            if (rows[i] == 300 && widths[w] > 17 && widths[w] != 64) {
                continue;
            }
            const int32_t inner = inners[(size_t)row_perm % (sizeof inners / sizeof inners[0])];
            compare_sets(operation, (run){.rows = rows[i],
                                          .cols = widths[w],
                                          .inner = inner,
                                          .variant = row_perm % operations[operation].variants,
                                          .seed = (uint64_t)row_perm});
        }
    }
    for (int variant = 0; variant < operations[operation].variants; variant++) {
        for (int32_t width = 5; width <= 70; width += 13) {
            compare_sets(operation, (run){.rows = 23, .cols = width, .inner = 31, .variant = variant, .seed = 9});
        }
    }
}

static void fast_equals_plain(void **state) {
    (void)state;
    const uint64_t before = sfu__float_guard();
    for (int operation = 0; operation < OPERATIONS; operation++) {
        compare_all(operation);
    }
    sfu__float_restore(before);
}

static void every_width(void **state) {
    (void)state;
    const uint64_t before = sfu__float_guard();
    for (int32_t width = 1; width <= 130; width++) {
        for (int operation = 0; operation < OPERATIONS; operation++) {
            compare_sets(operation, (run){.rows = 5 + width % 3,
                                          .cols = width,
                                          .inner = 1 + width % 37,
                                          .variant = width % operations[operation].variants,
                                          .seed = (uint64_t)width});
        }
    }
    sfu__float_restore(before);
}

/* Tall matrices: several blocks of rows, and ranges that divide them. */
static void many_rows(void **state) {
    (void)state;
    const uint64_t before = sfu__float_guard();
    for (int operation = 0; operation < OPERATIONS; operation++) {
        for (int variant = 0; variant < operations[operation].variants && variant < 6; variant++) {
            compare_sets(operation, (run){.rows = 1111, .cols = 7, .inner = 13, .variant = variant, .seed = 4});
        }
    }
    sfu__float_restore(before);
}

/* Products with an inner dimension so small that the kernel has an unrolled copy for it, and slightly larger ones: all
 * tile heights and remainders, in one panel and in two. */
static void few_terms(void **state) {
    (void)state;
    const uint64_t before = sfu__float_guard();
    static const int32_t rows[] = {1, 2, 5, 11, 29, 124}, widths[] = {1, 4, 6, 8, 15, 16, 23, 32, 64, 68};
    int gemm = 0;
    while (operations[gemm].run != run_gemm) {
        gemm++;
    }
    for (int32_t inner = 0; inner <= 9; inner++) {
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
            for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
                compare_sets(gemm, (run){.rows = rows[i], .cols = widths[w], .inner = inner, .seed = 64 * i + w});
            }
            /* The last of two chains can be as short. */
            compare_sets(gemm, (run){.rows = 29, .cols = widths[w], .inner = 64 + inner, .seed = w});
        }
    }
    sfu__float_restore(before);
}

/* Products with an inner dimension so large that the vectorized kernels copy, divide or prefetch; rows so wide that
 * masks are drawn in sections, and that softmax processes few of them at a time, one, or leaves them to the plain
 * kernel. */
static void large_products(void **state) {
    (void)state;
    const uint64_t before = sfu__float_guard();
    static const struct {
        void (*run)(run *r);
        int32_t rows, cols, inner;
    } shapes[] = {{run_spmm, 400, 64, 257},   {run_spmm, 420, 70, 300},      {run_spmm, 410, 128, 512},
                  {run_spmm, 400, 64, 513},   {run_spmm_parts, 30, 80, 513}, {run_gemm, 401, 3, 500},
                  {run_gemm, 300, 7, 513},    {run_gemm, 270, 16, 512},      {run_gemm, 70, 64, 2048},
                  {run_gemm_t, 130, 40, 256}, {run_gemm_t, 300, 64, 512},    {run_gemm_t, 60, 3, 512},
                  {run_gemm_t, 65, 70, 500},  {run_activate, 5, 2100, 1},    {run_softmax, 5, 700, 1},
                  {run_softmax, 3, 2048, 1},  {run_softmax, 3, 2049, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (int operation = 0; operation < OPERATIONS; operation++) {
            for (int variant = 0;
                 operations[operation].run == shapes[i].run && variant < operations[operation].variants; variant++) {
                compare_sets(operation, (run){.rows = shapes[i].rows,
                                              .cols = shapes[i].cols,
                                              .inner = shapes[i].inner,
                                              .variant = variant,
                                              .seed = (uint64_t)i});
            }
        }
    }
    sfu__float_restore(before);
}

static void pinned(void **state) {
    (void)state;
    const uint64_t before = sfu__float_guard();
    bool all = true;
    for (int operation = 0; operation < OPERATIONS; operation++) {
        run r = {.backend = sfu__backend_cpu_set(0)};
        static const int32_t shapes[][3] = {{300, 7, 64}, {77, 64, 130}, {33, 16, 7}, {19, 3, 200}};
        for (int i = 0; i < 4; i++) {
            for (r.variant = 0; r.variant < operations[operation].variants; r.variant++) {
                r.rows = shapes[i][0];
                r.cols = shapes[i][1];
                r.inner = shapes[i][2];
                r.seed = (uint64_t)(100 * i + r.variant);
                operations[operation].run(&r);
            }
        }
        char digest[SFU__DIGEST_TEXT];
        assert_ok(sfu__digest_of(digest, r.bytes.bytes, r.bytes.size));
        if (strcmp(digest, operations[operation].digest) != 0) {
            print_message("%s: %s\n", operations[operation].name, digest);
            all = false;
        }
        sfu__text_clear(&r.bytes);
    }
    assert_true(all);
    sfu__float_restore(before);
}

static void the_set_can_be_forced(void **state) {
    (void)state;
    const sfu__backend *backend = NULL, *last = NULL;
    for (int i = 0; sfu__backend_cpu_set(i) != NULL; i++) {
        last = sfu__backend_cpu_set(i);
        assert_int_equal(setenv("SFUMATO_ISA", strchr(last->name, ' ') + 1, 1), 0);
        assert_ok(sfu__backend_cpu(&backend));
        assert_ptr_equal(backend, last);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(setenv("SFUMATO_ISA", i == 0 ? "mmx" : "Plain", 1), 0);
        assert_fails(SFU_ERR_UNSUPPORTED, sfu__backend_cpu(&backend), "SFUMATO_ISA: this machine cannot run",
                     i == 0 ? "mmx" : "Plain", "it can run plain");
    }
    assert_int_equal(unsetenv("SFUMATO_ISA"), 0);
    assert_ok(sfu__backend_cpu(&backend));
    assert_ptr_equal(backend, last);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_equals_plain),
        cmocka_unit_test(every_width),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(few_terms),
        cmocka_unit_test(large_products),
        cmocka_unit_test(pinned),
        cmocka_unit_test(the_set_can_be_forced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
