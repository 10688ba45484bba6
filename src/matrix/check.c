/* check.c - validates a CSR matrix in parallel, at memory speed, before anything relies on it. */
#include "matrix.h"
#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { ROWS_PER_ITEM = 1 << 14 };

typedef struct job {
    const sfu_csr *csr;
    const sfu__csr_rules *rules;
    bool want_symmetry;
    atomic_uint_least64_t imbalance;
} job;

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
static uint64_t row_imbalance(const sfu_csr *csr, int64_t row) {
    uint64_t sum = 0;
    for (int64_t i = csr->indptr[row]; i < csr->indptr[row + 1]; i++) {
        const uint32_t here = (uint32_t)row;
        const uint32_t column = (uint32_t)csr->indices[i];
        const uint32_t value = csr->values != NULL ? bits_of(csr->values[i]) : 0;
        const uint64_t hash = hash_entry(here < column ? here : column, here < column ? column : here, value);
        sum += here < column ? hash : -hash;
        sum += here == column ? hash : 0;
    }
    return sum;
}

static sfu_status check_row(const job *self, int64_t row) {
    const sfu_csr *csr = self->csr;
    int32_t previous = -1;
    for (int64_t i = csr->indptr[row]; i < csr->indptr[row + 1]; i++) {
        const int32_t column = csr->indices[i];
        if (column <= previous || column >= csr->cols) {
            return sfu__fail(SFU_ERR_FORMAT,
                             "%s.indices: entry %lld, in row %lld, is %d; columns must ascend and lie in [0, %d)",
                             self->rules->what, (long long)i, (long long)row, column, csr->cols);
        }
        previous = column;
    }
    if (csr->values == NULL) {
        return SFU_OK;
    }
    for (int64_t i = csr->indptr[row]; i < csr->indptr[row + 1]; i++) {
        if (!isfinite(csr->values[i]) || (self->rules->weights && csr->values[i] < 0)) {
            return sfu__fail(SFU_ERR_FORMAT, "%s.%s: entry %lld, in row %lld, is %g; it must be finite%s",
                             self->rules->what, self->rules->weights ? "weight" : "value", (long long)i, (long long)row,
                             (double)csr->values[i], self->rules->weights ? " and not negative" : "");
        }
    }
    return SFU_OK;
}

static sfu_status check_entries(void *context, int64_t item, int thread) {
    (void)thread;
    job *self = context;
    uint64_t imbalance = 0;
    const int64_t first = item * ROWS_PER_ITEM;
    const int64_t last = first + ROWS_PER_ITEM < self->csr->rows ? first + ROWS_PER_ITEM : self->csr->rows;
    for (int64_t row = first; row < last; row++) {
        const sfu_status status = check_row(self, row);
        if (status != SFU_OK) {
            return status;
        }
        if (self->want_symmetry) {
            imbalance += row_imbalance(self->csr, row);
        }
    }
    atomic_fetch_add(&self->imbalance, imbalance);
    return SFU_OK;
}

sfu_status sfu__csr_check(const sfu_csr *csr, const sfu__csr_rules *rules, bool *asymmetric) {
    job self = {.csr = csr, .rules = rules, .want_symmetry = asymmetric != NULL};
    atomic_init(&self.imbalance, 0);
    const int64_t items = ((int64_t)csr->rows + ROWS_PER_ITEM - 1) / ROWS_PER_ITEM;
    if (csr->indptr[0] != 0 || csr->indptr[csr->rows] != rules->nonzeros) {
        return sfu__fail(SFU_ERR_FORMAT, "%s.indptr: goes from %lld to %lld; it must go from 0 to the %lld entries",
                         rules->what, (long long)csr->indptr[0], (long long)csr->indptr[csr->rows],
                         (long long)rules->nonzeros);
    }
    sfu_status status = sfu__parallel(check_offsets, &self, items, rules->threads);
    if (status == SFU_OK) {
        status = sfu__parallel(check_entries, &self, items, rules->threads);
    }
    if (status == SFU_OK && asymmetric != NULL) {
        *asymmetric = atomic_load(&self.imbalance) != 0;
    }
    return status;
}
