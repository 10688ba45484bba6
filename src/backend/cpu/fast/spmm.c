/* spmm.c - sparse times dense, in blocks of 64, 32, 16, 8 or 4 columns. */
#include "kernels.h"
#include "vector.h"
#include "elementary.h"

enum { AHEAD = 16 };
#define OF(vec, operation) SFU__JOIN(vec, operation)

typedef struct operands {
    const int32_t *indices, *order;
    const float *values;
    const char *B;  /* at the first column of the block */
    int64_t stride; /* bytes between its rows */
    int64_t last;   /* an entry below this has another one AHEAD later in the range */
    float tiny;     /* smaller results become +0; 0 in wide rows, which keep all */
    bool add;
} operands;

SFU__INLINE const float *row_at(const operands *o, int32_t row) {
    return (const float *)(const void *)(o->B + row * o->stride);
}

/* A chunk of a row without its zeros: entries [begin, end) of the gathered ones. */
typedef struct piece {
    int64_t row;
    int32_t begin, end;
    bool add; /* to what stands in C */
} piece;

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

/* ---- rows with many zeros ---- */

/* Entries that are not zero are copied together for many rows at a time, in their order, so that the others cost no row
 * of B. A piece is a chunk of a row, which keeps the pattern: the first is put, the others are added to it. */
enum { GATHERED = 2048, PIECES = 512 };
typedef struct gathered {
    int32_t indices[GATHERED + AHEAD];
    float values[GATHERED + AHEAD];
    piece pieces[PIECES];
    int32_t count, piece_count;
} gathered;

SFU__INLINE void gather_chunk(gathered *to, const sfu__sparse *A, int64_t begin, int64_t end, bool ordered) {
    int32_t count = to->count;
    for (int64_t e = begin; e < end; e++) {
        const float value = A->values[ordered ? A->order[e] : e];
        to->indices[count] = A->indices[e];
        to->values[count] = value;
        count += value != 0.0F;
    }
    to->count = count;
}

static void add_piece(gathered *to, const sfu__sparse *A, int64_t row, int64_t begin, int64_t end, bool add) {
    piece *made = &to->pieces[to->piece_count++];
    *made = (piece){.row = row, .begin = to->count, .add = add};
    if (A->order != NULL) {
        gather_chunk(to, A, begin, end, true);
    } else {
        gather_chunk(to, A, begin, end, false);
    }
    made->end = to->count;
}

/* Multiplies what was gathered, each piece by itself or, with `whole`, all of them as one row that is added to C. */
static void flush(gathered *from, const sfu__dense *C, const sfu__dense *B, bool whole) {
    static const struct {
        int32_t width;
        void (*pieces)(float *c, int64_t ld, const operands *o, const piece *pieces, int32_t count);
        void (*whole)(float *c, int64_t ld, const operands *o, const piece *pieces, int32_t count);
    } blocks[] = {
        {64, spmm64_pieces, spmm64_whole}, {32, spmm32_pieces, spmm32_whole}, {16, spmm16_pieces, spmm16_whole}};
    operands o = {.indices = from->indices, .values = from->values, .stride = (int64_t)B->ld * (int64_t)sizeof(float)};
    for (int i = 0; i < AHEAD; i++) { /* what is asked for in advance is there */
        from->indices[from->count + i] = from->count > 0 ? from->indices[from->count - 1] : 0;
    }
    int32_t column = 0;
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        for (; C->ld - column >= blocks[i].width; column += blocks[i].width) {
            o.B = (const char *)(B->data + column);
            (whole ? blocks[i].whole : blocks[i].pieces)(C->data + column, C->ld, &o, from->pieces, from->piece_count);
        }
    }
    from->count = 0;
    from->piece_count = 0;
}

/* A row of several chunks that is added to C: the chunks are added up before. */
static void add_long_row(gathered *empty, const sfu__dense *C, const sfu__sparse *A, const sfu__dense *B, int64_t row) {
    const int64_t end = A->indptr[row + 1];
    if (end - A->indptr[row] > GATHERED) {
        sfu__spmm_plain(C, A, B, true, (sfu__range){row, row + 1});
        return;
    }
    for (int64_t begin = A->indptr[row]; begin < end; begin += SFU__CHUNK) {
        add_piece(empty, A, row, begin, end - begin < SFU__CHUNK ? end : begin + SFU__CHUNK, true);
    }
    flush(empty, C, B, true);
}

static void multiply_dropped(const sfu__dense *C, const sfu__sparse *A, const sfu__dense *B, bool add,
                             sfu__range rows) {
    gathered now;
    now.count = 0;
    now.piece_count = 0;
    for (int64_t row = rows.begin; row < rows.end; row++) {
        const int64_t first = A->indptr[row], end = A->indptr[row + 1];
        if (add && end - first > SFU__CHUNK) {
            flush(&now, C, B, false);
            add_long_row(&now, C, A, B, row);
            continue;
        }
        int64_t begin = first;
        do { /* a row without places has one piece without any */
            const int64_t stop = end - begin < SFU__CHUNK ? end : begin + SFU__CHUNK;
            if (now.count + SFU__CHUNK > GATHERED || now.piece_count == PIECES) {
                flush(&now, C, B, false);
            }
            add_piece(&now, A, row, begin, stop, add || begin > first);
            begin = stop;
        } while (begin < end);
    }
    flush(&now, C, B, false);
}

static void multiply_rows(const sfu__dense *C, const sfu__sparse *A, const sfu__dense *B, bool add, sfu__range rows);

/* ---- any rows ---- */

void KERNEL(spmm)(const sfu__dense *C, const sfu__sparse *A, const sfu__dense *B, bool add, sfu__range rows) {
    if (A->dropped && C->ld >= SFU__PASS_OVER) {
        multiply_dropped(C, A, B, add, rows);
    } else {
        multiply_rows(C, A, B, add, rows);
    }
}

static void multiply_rows(const sfu__dense *C, const sfu__sparse *A, const sfu__dense *B, bool add, sfu__range rows) {
    static const struct {
        int32_t width;
        void (*block)(float *c, int64_t ld, const operands *o, const int64_t *indptr, sfu__range rows);
    } blocks[] = {
        {64, spmm64_block}, {32, spmm32_block}, {16, spmm16_block}, {8, spmm8_block}, {4, spmm4_block},
    };
    operands o = {.indices = A->indices, .order = A->order, .values = A->values, .add = add};
    o.stride = (int64_t)B->ld * (int64_t)sizeof(float);
    o.last = A->indptr[rows.end] - AHEAD;
    o.tiny = C->ld <= SFU__NARROW ? SFU__TINY : 0.0F;
    int32_t column = 0;
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        for (; C->ld - column >= blocks[i].width; column += blocks[i].width) {
            o.B = (const char *)(B->data + column);
            blocks[i].block(C->data + column, C->ld, &o, A->indptr, rows);
        }
    }
}
