/* spmm.c - sparse-dense product (SpMM), in blocks of 64, 32, 16, 8 or 4 columns. */
#include "kernels.h"
#include "vector.h"
#include "elementary.h"

/* AHEAD: prefetch distance in entries. Nothing is prefetched if B (in bytes) is small enough: narrow rows come fast
 * enough from L2, because many loads overlap; wide ones, which take longer than a prefetch, only from L1. */
enum { AHEAD = 16 };

static int64_t prefetch_from(int32_t ld) { return ld <= 8 ? 512 << 10 : ld <= 32 ? 128 << 10 : 32 << 10; }
#define OF(vec, operation) SFU__JOIN(vec, operation)

typedef struct operands {
    const int32_t *indices, *value_perm, *row_perm;
    const uint16_t *indices16;
    const float *values, *row_value;
    const char *B;  /* at the first column of the block */
    int64_t stride; /* bytes between its rows */
    int64_t last;   /* entries before this one have another AHEAD entries after them in the range */
    float flushed;  /* results below it are flushed to zero; 0 for wide rows: none */
    bool prefetch, add;
    int32_t column; /* spmm_part: the first one of the block */
} operands;

SFU__INLINE const float *row_at(const operands *o, int32_t row) {
    return (const float *)(const void *)(o->B + row * o->stride);
}

#include "spmm_pack.h"

#define WIDTH 4
#define VEC f4
#define NAME(x) spmm4_##x
#include "spmm_block.h"
#define WIDTH 8
#define VEC SFU__VECTOR_OF_8
#define NAME(x) spmm8_##x
#include "spmm_block.h"
#define WIDTH 16
#define VEC SFU__WIDEST()
#define NAME(x) spmm16_##x
#include "spmm_block.h"
#define WIDTH 32
#define VEC SFU__WIDEST()
#define NAME(x) spmm32_##x
#include "spmm_block.h"
#define WIDTH 64
#define VEC SFU__WIDEST()
#define NAME(x) spmm64_##x
#include "spmm_block.h"

/* For a B of at most HALVED rows, half a block of 64 columns fits into L1 where a whole one does not: as a contiguous
 * copy, so that the other half takes no cache lines. The copy pays from HALVED_PAYS entries per row of B on. Not on
 * x86, whose L1 is mostly half as large. */
enum { HALVED = SFU__LANES == 4 ? 512 : 0, HALVED_PAYS = 64 };

static bool pays_in_halves(const sfu__sparse *A, const sfu__dense *B, sfu__range rows) {
    const int64_t entries = A->indptr[rows.end] - A->indptr[rows.begin];
    return B->rows <= HALVED && B->rows > HALVED / 2 && A->value_perm == NULL &&
           entries >= HALVED_PAYS * (int64_t)B->rows;
}

/* Columns [column, column + 64). */
__attribute__((noinline)) static void spmm64_halves(const sfu__dense *C, operands o, const sfu__dense *B,
                                                    const int64_t *indptr, sfu__range rows, int32_t column) {
    enum { HALF = 32 };
    float copy[(HALVED + 1) * HALF] __attribute__((aligned(64)));
    o.B = (const char *)copy;
    o.stride = HALF * (int64_t)sizeof *copy;
    o.prefetch = false;
    for (const int32_t end = column + 2 * HALF; column < end; column += HALF) {
        for (int64_t i = 0; i < B->rows; i++) {
            memcpy(copy + i * HALF, B->data + i * B->ld + column, HALF * sizeof *copy);
        }
        spmm32_block(C->data + column, C->ld, &o, indptr, rows);
    }
}

/* Number of blocks of 64 columns that share one packing: several, as long as that much of B stays in cache. */
static int32_t blocks_at_once(int32_t columns, const sfu__dense *B) {
    enum { NEAR = 768 << 10 };
    const int64_t block_bytes = (int64_t)B->rows * KEPT_BLOCK * (int64_t)sizeof(float);
    const int32_t most = columns / KEPT_BLOCK < KEPT_BLOCKS ? columns / KEPT_BLOCK : KEPT_BLOCKS;
    const int64_t near = block_bytes > 0 ? NEAR / block_bytes : most;
    return near < 1 ? 1 : near < most ? (int32_t)near : most;
}

typedef bool packed_block(float *c, int64_t ld, const operands *o, const packed *entries, float *sum, bool first);

/* `count` adjacent blocks of `width` columns, with entries that are packed once. */
static void packed_columns(float *c, int64_t ld, const operands *o, const sfu__sparse *A, sfu__range rows, int width,
                           int count, packed_block *run) {
    packed entries;
    packing at = {rows.begin, A->indptr[rows.begin]};
    float sums[KEPT_BLOCKS][KEPT_BLOCK];
    bool first = true;
    while (at.row < rows.end) {
        if (A->value_perm != NULL) {
            pack(&entries, &at, A, rows.end, true);
        } else {
            pack(&entries, &at, A, rows.end, false);
        }
        bool next = first;
        for (int b = 0; b < count; b++) {
            operands block = *o;
            block.B += (int64_t)b * width * (int64_t)sizeof(float);
            next = run(c + (int64_t)b * width, ld, &block, &entries, sums[b], first);
        }
        first = next;
    }
}

static void spmm_packed(const sfu__dense *C, const sfu__sparse *A, const sfu__dense *B, operands *o, sfu__range rows) {
    static const struct {
        int32_t width;
        packed_block *run;
    } blocks[] = {{64, spmm64_packed}, {32, spmm32_packed}, {16, spmm16_packed}};
    int32_t column = 0, count;
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        const int32_t width = blocks[i].width;
        for (; C->ld - column >= width; column += count * width) {
            count = width == KEPT_BLOCK ? blocks_at_once(C->ld - column, B) : 1;
            o->B = (const char *)(B->data + column);
            packed_columns(C->data + column, C->ld, o, A, rows, width, count, blocks[i].run);
        }
    }
}

static void by_columns(const sfu__dense *C, const sfu__sparse *A, const sfu__dense *B, operands *o) {
    o->B = (const char *)B->data;
    switch (C->ld) {
    case 4:
        spmm4_by_columns(C, A, o);
        break;
    case 8:
        spmm8_by_columns(C, A, o);
        break;
    default:
        spmm16_by_columns(C, A, o);
    }
}

void KERNEL(spmm)(const sfu__dense *C, const sfu__sparse *A, const sfu__dense *B, bool add, sfu__range rows) {
    if (SFU__NARROW_ELSEWHERE && C->ld <= 8) {
        NARROW_KERNEL(spmm)(C, A, B, add, rows);
        return;
    }
    typedef void block(float *c, int64_t ld, const operands *o, const int64_t *indptr, sfu__range rows);
    static const struct {
        int32_t width;
        block *in_order, *permuted;
    } blocks[] = {
        {64, spmm64_block, NULL},
        {32, spmm32_block, NULL},
        {16, spmm16_block, spmm16_rows_by_length},
        {8, spmm8_block, spmm8_rows_by_length},
        {4, spmm4_block, spmm4_rows_by_length},
    };
    operands o = {.indices = A->indices, .value_perm = A->value_perm, .values = A->values, .add = add};
    o.stride = (int64_t)B->ld * (int64_t)sizeof(float);
    o.row_perm = A->row_perm;
    o.indices16 = A->indices16;
    o.row_value = A->row_value;
    o.last = A->indptr[rows.end] - AHEAD;
    o.flushed = C->ld <= SFU__NARROW && !A->wide ? SFU__FLUSH_BELOW : 0.0F;
    o.prefetch = B->rows * o.stride > prefetch_from(B->ld);
    int32_t column = 0;
    if (A->csc != NULL && C->ld <= SFU__NARROW && rows.begin == 0 && rows.end == A->rows) {
        by_columns(C, A, B, &o);
        return;
    }
    if (A->keep_mask != NULL) {
        spmm_packed(C, A, B, &o, rows);
        return;
    }
    for (; pays_in_halves(A, B, rows) && C->ld - column >= 64; column += 64) {
        spmm64_halves(C, o, B, A->indptr, rows, column);
    }
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        for (; C->ld - column >= blocks[i].width; column += blocks[i].width) {
            o.B = (const char *)(B->data + column);
            block *const run =
                o.row_perm != NULL && blocks[i].permuted != NULL ? blocks[i].permuted : blocks[i].in_order;
            run(C->data + column, C->ld, &o, A->indptr, rows);
        }
    }
}

void KERNEL(spmm_part)(float *carry, const sfu__sparse *A, const sfu__dense *B, sfu__range rows) {
    typedef void part(float *carry, int32_t ld, const operands *o, const int64_t *indptr, sfu__range rows);
    static const struct {
        int32_t width;
        part *run;
    } blocks[] = {{64, spmm64_part}, {32, spmm32_part}, {16, spmm16_part}, {8, spmm8_part}, {4, spmm4_part}};
    operands o = {.indices = A->indices, .value_perm = A->value_perm, .values = A->values};
    o.stride = (int64_t)B->ld * (int64_t)sizeof(float);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        for (; B->ld - o.column >= blocks[i].width; o.column += blocks[i].width) {
            o.B = (const char *)(B->data + o.column);
            blocks[i].run(carry, B->ld, &o, A->indptr, rows);
        }
    }
    for (int64_t row = rows.begin; row < rows.end; row++) { /* after all columns have read it */
        float *count = carry + row * sfu__carry_ld(B->ld) + 2 * (int64_t)B->ld;
        int32_t terms;
        memcpy(&terms, count, sizeof terms);
        terms += (int32_t)(A->indptr[row + 1] - A->indptr[row]);
        memcpy(count, &terms, sizeof terms);
    }
}
