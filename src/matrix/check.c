/* check.c - validates a CSR matrix in parallel, at memory speed, before anything relies on it. */
#include "matrix.h"
#include "parallel.h"
#include "row_block.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { ROWS_PER_ITEM = 1 << 14, ROWS_PER_PIECE = 1 << 11 };

typedef struct job {
    const sfu_csr *csr;
    const sfu__csr_rules *rules;
    bool want_symmetry;
    sfu__row_block *blocks; /* [threads], or NULL: the arrays do not change */
    int64_t piece;          /* the most entries of a block */
    atomic_uint_least64_t imbalance;
} job;

/* Rows of a work item: `csr` is the matrix, or a copy of these rows. */
typedef struct view {
    const sfu_csr *csr;
    int64_t first, last; /* rows of the matrix */
    int64_t row, entry;  /* of the matrix: row 0 and entry 0 of `csr` */
} view;

static sfu_status check_offsets(void *context, int64_t item, int thread) {
    (void)thread;
    const job *self = context;
    const int64_t *indptr = self->csr->indptr;
    const int64_t first = item * ROWS_PER_ITEM;
    const int64_t last = first + ROWS_PER_ITEM < self->csr->rows ? first + ROWS_PER_ITEM : self->csr->rows;
    for (int64_t row = first; row < last; row++) {
        if (indptr[row] < 0 || indptr[row + 1] < indptr[row] || indptr[row + 1] > self->rules->nonzeros) {
            return sfu__fail(SFU_ERR_FORMAT,
                             "%s.indptr: row %lld goes from %lld to %lld; offsets must rise from 0 to the %lld entries",
                             self->rules->what, (long long)row, (long long)indptr[row], (long long)indptr[row + 1],
                             (long long)self->rules->nonzeros);
        }
    }
    return SFU_OK;
}

/* Hashes an entry into 64 bits (the finalizer of splitmix64). */
static uint64_t hash_entry(uint32_t row, uint32_t column, uint32_t value) {
    uint64_t x = ((uint64_t)row << 32 | column) + (uint64_t)value * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Symmetry test without extra memory: a matrix with distinct entries equals its transpose if and only if the entries
 * above the diagonal are the mirror images of those below. Then the sum of h(i, j, value) over the upper triangle minus
 * the sum of h(j, i, value) over the lower one is 0. A false positive has probability 2^-64. */
static uint64_t row_imbalance(const view *rows, int64_t row) {
    const sfu_csr *csr = rows->csr;
    uint64_t sum = 0;
    for (int64_t i = csr->indptr[row - rows->row]; i < csr->indptr[row - rows->row + 1]; i++) {
        const uint32_t here = (uint32_t)row;
        const uint32_t column = (uint32_t)csr->indices[i];
        const uint32_t value = csr->values != NULL ? bits_of(csr->values[i]) : 0;
        const uint64_t hash = hash_entry(here < column ? here : column, here < column ? column : here, value);
        sum += here < column ? hash : -hash;
        sum += here == column ? hash : 0;
    }
    return sum;
}

static sfu_status check_columns(const job *self, const view *rows, int64_t row) {
    const sfu_csr *csr = rows->csr;
    int32_t previous = -1;
    for (int64_t i = csr->indptr[row - rows->row]; i < csr->indptr[row - rows->row + 1]; i++) {
        const int32_t column = csr->indices[i];
        if (column <= previous || column >= csr->cols) {
            return sfu__fail(SFU_ERR_FORMAT,
                             "%s.indices: entry %lld, in row %lld, is %d; columns must ascend and lie in [0, %d)",
                             self->rules->what, (long long)(rows->entry + i), (long long)row, column, csr->cols);
        }
        previous = column;
    }
    return SFU_OK;
}

static sfu_status check_values(const job *self, const view *rows, int64_t row) {
    const sfu_csr *csr = rows->csr;
    const bool weights = self->rules->weights;
    for (int64_t i = csr->indptr[row - rows->row]; csr->values != NULL && i < csr->indptr[row - rows->row + 1]; i++) {
        if (!isfinite(csr->values[i]) || (weights && csr->values[i] < 0)) {
            return sfu__fail(SFU_ERR_FORMAT, "%s.%s: entry %lld, in row %lld, is %g; it must be finite%s",
                             self->rules->what, weights ? "weight" : "value", (long long)(rows->entry + i),
                             (long long)row, (double)csr->values[i], weights ? " and not negative" : "");
        }
    }
    return SFU_OK;
}

/* Rows from `first` to `last`; of a mapped matrix the first piece of them, as a copy whose columns are checked. */
static sfu_status view_rows(view *rows, const job *self, int64_t first, int64_t last, int thread) {
    sfu_status status = SFU_OK;
    rows->first = first;
    rows->last = last;
    rows->csr = self->csr;
    rows->row = rows->entry = 0;
    if (self->blocks != NULL) {
        sfu__row_block *block = &self->blocks[thread];
        const sfu__mapped_csr mapped = {*self->csr, self->rules->nonzeros, self->rules->what};
        const int64_t end = first + ROWS_PER_PIECE < last ? first + ROWS_PER_PIECE : last;
        rows->last = sfu__row_piece_end(&mapped, first, end, self->piece);
        SFU_TRY(sfu__row_block_read(block, &mapped, first, rows->last));
        rows->csr = &block->csr;
        rows->row = block->first;
        rows->entry = block->entry;
    }
done:
    return status;
}

static sfu_status check_entries(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    job *self = context;
    view rows;
    uint64_t imbalance = 0;
    const int64_t end = (item + 1) * ROWS_PER_ITEM;
    const int64_t last = end < self->csr->rows ? end : self->csr->rows;
    for (int64_t first = item * ROWS_PER_ITEM; first < last; first = rows.last) {
        SFU_TRY(view_rows(&rows, self, first, last, thread));
        for (int64_t row = first; row < rows.last; row++) {
            SFU_TRY(self->blocks != NULL ? SFU_OK : check_columns(self, &rows, row));
            SFU_TRY(check_values(self, &rows, row));
            imbalance += self->want_symmetry ? row_imbalance(&rows, row) : 0;
        }
    }
    atomic_fetch_add(&self->imbalance, imbalance);
done:
    return status;
}

sfu_status sfu__csr_check(const sfu_csr *csr, const sfu__csr_rules *rules, bool *asymmetric) {
    sfu_status status = SFU_OK;
    job self = {.csr = csr, .rules = rules, .want_symmetry = asymmetric != NULL};
    atomic_init(&self.imbalance, 0);
    const int64_t items = ((int64_t)csr->rows + ROWS_PER_ITEM - 1) / ROWS_PER_ITEM;
    const int64_t ends[2] = {csr->indptr[0], csr->indptr[csr->rows]};
    if (ends[0] != 0 || ends[1] != rules->nonzeros) {
        return sfu__fail(SFU_ERR_FORMAT, "%s.indptr: goes from %lld to %lld; it must go from 0 to the %lld entries",
                         rules->what, (long long)ends[0], (long long)ends[1], (long long)rules->nonzeros);
    }
    if (rules->mapped) {
        const sfu__mapped_csr mapped = {*csr, rules->nonzeros, rules->what};
        self.piece = sfu__row_piece(&mapped, ROWS_PER_PIECE);
        SFU_ALLOC_ZERO(self.blocks, rules->threads);
        for (int i = 0; i < rules->threads; i++) {
            SFU_TRY(sfu__row_block_reserve(&self.blocks[i], ROWS_PER_PIECE, self.piece));
        }
    } else {
        SFU_TRY(sfu__parallel(check_offsets, &self, items, rules->threads));
    }
    SFU_TRY(sfu__parallel(check_entries, &self, items, rules->threads));
    if (asymmetric != NULL) {
        *asymmetric = atomic_load(&self.imbalance) != 0;
    }
done:
    for (int i = 0; self.blocks != NULL && i < rules->threads; i++) {
        sfu__row_block_clear(&self.blocks[i]);
    }
    sfu__free(self.blocks);
    return status;
}
