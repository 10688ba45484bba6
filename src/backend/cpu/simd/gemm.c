/* gemm.c - dense matrix products with register tiles: C = A B, and A^T G per block of rows.
 *
 * Rows are processed in panels and the inner dimension in chains of 64 terms, so that a panel of A, 64 rows of B and
 * their results stay in L1 while all tiles of the panel are computed.
 */
#include "kernels.h"
#include "vector.h"

#define OF(vec, operation) SFU__JOIN(vec, operation)

/* Rows of one panel: approximately a multiple of every tile height. */
enum { PANEL = 120 };

/* Columns of A per pass of gemm_t, and the leading dimension whose multiples map 64 rows to too few cache sets. */
enum { COLUMNS = 64, APART = 256 };

/* A tile: its first result, its operands, and its number of terms. */
typedef struct tile {
    float *C;
    const float *A, *B;
    int64_t ldc, lda, ldb, terms;
    bool first;
} tile;

/* The kernels for tiles of one width. Both panel functions compute all tiles below one another, from the top. */
typedef struct shape {
    int32_t width;
    void (*panel)(const tile *upper, int64_t rows);        /* rows of A and C */
    void (*panel_across)(const tile *upper, int64_t cols); /* transposed A: its columns are rows of C */
    void (*sums)(const tile *t);                           /* one row, as if A were ones */
} shape;

#define WIDTH 4
#define VEC f4
#define TALL 10
#define TALL_T 16
#define NAME(x) tile4_##x
#include "gemm_tile.h"
#define WIDTH 8
#define VEC SFU__VECTOR_OF_8
#define TALL 8
#define TALL_T 8
#define NAME(x) tile8_##x
#include "gemm_tile.h"
#define WIDTH 16
#define VEC SFU__WIDEST()
#define TALL SFU__TALL_16
#define TALL_T 4
#define NAME(x) tile16_##x
#include "gemm_tile.h"
#if SFU__LANES == 16
#define WIDTH 64
#define VEC f16
#define TALL 6
#define TALL_T 4
#define NAME(x) tile64_##x
#include "gemm_tile.h"
#endif

/* The widest tile that fits into the remaining columns. */
static const shape *shape_of(int32_t columns) {
#if SFU__LANES == 16
    if (columns >= 64) {
        return &tile64_shape;
    }
#endif
    return columns >= 16 ? &tile16_shape : columns >= 8 ? &tile8_shape : &tile4_shape;
}

static void gemm_panels(const sfu__dense *C, const sfu__dense *A, const sfu__dense *B, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i += PANEL) {
        const int64_t tall = rows.end - i < PANEL ? rows.end - i : PANEL;
        int64_t k = 0;
        do { /* at least once: without terms the result is zero */
            const int64_t terms = A->cols - k < SFU__CHAIN_TERMS ? A->cols - k : SFU__CHAIN_TERMS;
            for (int32_t j = 0; j < C->ld; j += shape_of(C->ld - j)->width) {
                const tile t = {C->data + i * C->ld + j,
                                A->data + i * A->ld + k,
                                B->data + k * B->ld + j,
                                C->ld,
                                A->ld,
                                B->ld,
                                terms,
                                k == 0};
                shape_of(C->ld - j)->panel(&t, tall);
            }
            k += SFU__CHAIN_TERMS;
        } while (k < A->cols);
    }
}

void KERNEL(gemm)(const sfu__dense *C, const sfu__dense *A, const sfu__dense *B, sfu__range rows) {
    if (SFU__NARROW_ELSEWHERE && C->ld <= 4) {
        NARROW_KERNEL(gemm)(C, A, B, rows);
    } else {
        gemm_panels(C, A, B, rows);
    }
}

/* One block of rows and one chain: A^T (`cols` rows) times all columns of G, a few columns of A at a time. They are
 * copied if the rows of A would conflict in L1. */
static void gemm_t_chain(tile t, int64_t cols, int64_t width) {
    float copy[SFU__CHAIN_TERMS * COLUMNS];
    const bool apart = t.lda % APART == 0 && width > 16; /* narrow results read A only once */
    for (int64_t p = 0; p < cols; p += COLUMNS) {
        const int64_t count = cols - p < COLUMNS ? cols - p : COLUMNS;
        tile at = t;
        at.A += p;
        at.C += p * t.ldc;
        if (apart) {
            for (int64_t k = 0; k < t.terms; k++) {
                memcpy(copy + k * COLUMNS, at.A + k * t.lda, (size_t)count * sizeof *copy);
            }
            at.A = copy;
            at.lda = COLUMNS;
        }
        for (int64_t j = 0, step; j < width; j += step, at.C += step, at.B += step) {
            const shape *s = shape_of((int32_t)(width - j));
            step = s->width;
            s->panel_across(&at, count);
        }
    }
}

enum { SUMMED = 64, SUMMED_VECTORS = SUMMED / LANES };

/* The sums of SUMMED columns over the rows of one chain. */
static void sum_columns(const tile *t) {
    vf sum[SUMMED_VECTORS];
    SFU__UNROLL for (int64_t v = 0; v < SUMMED_VECTORS; v++) { sum[v] = v_set(0.0F); }
    for (int64_t k = 0; k < t->terms; k++) {
        const float *b = t->B + k * t->ldb;
        SFU__UNROLL for (int64_t v = 0; v < SUMMED_VECTORS; v++) { sum[v] += v_load(b + v * LANES); }
    }
    SFU__UNROLL for (int64_t v = 0; v < SUMMED_VECTORS; v++) {
        float *c = t->C + v * LANES;
        v_store(c, t->first ? sum[v] : v_load(c) + sum[v]);
    }
}

/* The sums of all `ld` columns of G over the rows of one chain. */
static void sum_chain(float *part, const float *G, int64_t ld, int64_t terms, bool first) {
    int64_t j = 0;
    for (; j + SUMMED <= ld; j += SUMMED) {
        sum_columns(&(tile){part + j, NULL, G + j, ld, 0, ld, terms, first});
    }
    for (const shape *s; j < ld; j += s->width) {
        s = shape_of((int32_t)(ld - j));
        s->sums(&(tile){part + j, NULL, G + j, ld, 0, ld, terms, first});
    }
}

void KERNEL(gemm_t)(float *parts, const sfu__dense *A, const sfu__dense *G, sfu__range blocks) {
    const int32_t cols = A != NULL ? A->cols : 1;
    for (int64_t block = blocks.begin; block < blocks.end; block++) {
        const sfu__range rows = sfu__rows_of_block(G->rows, block);
        float *part = parts + block * cols * G->ld;
        for (int64_t i = rows.begin; i < rows.end; i += SFU__CHAIN_TERMS) {
            const int64_t terms = rows.end - i < SFU__CHAIN_TERMS ? rows.end - i : SFU__CHAIN_TERMS;
            const float *g = G->data + i * G->ld;
            const bool first = i == rows.begin;
            if (A == NULL) {
                sum_chain(part, g, G->ld, terms, first);
            } else {
                gemm_t_chain((tile){part, A->data + i * A->ld, g, G->ld, A->ld, G->ld, terms, first}, cols, G->ld);
            }
        }
    }
}
