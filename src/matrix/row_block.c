/* row_block.c - copies and checks a block of rows of a mapped CSR matrix. */
#include "row_block.h"

#include "status.h"

#include <string.h>

void sfu__row_block_clear(sfu__row_block *block) {
    sfu__free(block->indptr);
    sfu__free(block->indices);
    *block = (sfu__row_block){0};
}

static sfu_status fail_offset(const sfu__mapped_csr *from, int64_t row, int64_t begin, int64_t end) {
    return sfu__fail(SFU_ERR_FORMAT,
                     "%s.indptr: row %lld goes from %lld to %lld; offsets must rise from 0 to the %lld entries",
                     from->what, (long long)row, (long long)begin, (long long)end, (long long)from->nonzeros);
}

static sfu_status fail_index(const sfu__mapped_csr *from, const sfu__row_block *block, int64_t row, int64_t e) {
    return sfu__fail(SFU_ERR_FORMAT,
                     "%s.indices: entry %lld, in row %lld, is %d; columns must ascend and lie in [0, %d)", from->what,
                     (long long)(block->entry + e), (long long)(block->first + row), block->indices[e], from->csr.cols);
}

/* Copies the offsets, checks them and makes them relative to the first. */
static sfu_status read_offsets(sfu__row_block *block, const sfu__mapped_csr *from, int64_t rows) {
    int64_t *indptr = sfu__grow(block->indptr, &block->indptr_capacity, (size_t)rows + 1, sizeof *indptr);
    if (indptr == NULL) {
        return SFU_ERR_MEMORY;
    }
    block->indptr = indptr;
    memcpy(indptr, from->csr.indptr + block->first, (size_t)(rows + 1) * sizeof *indptr);
    for (int64_t row = 0; row < rows; row++) {
        if (indptr[row] < 0 || indptr[row + 1] < indptr[row] || indptr[row + 1] > from->nonzeros) {
            return fail_offset(from, block->first + row, indptr[row], indptr[row + 1]);
        }
    }
    block->entry = indptr[0];
    for (int64_t row = 0; row <= rows; row++) {
        indptr[row] -= block->entry;
    }
    return SFU_OK;
}

static sfu_status read_indices(sfu__row_block *block, const sfu__mapped_csr *from, int64_t rows) {
    const int64_t count = block->indptr[rows];
    int32_t *indices = sfu__grow(block->indices, &block->indices_capacity, (size_t)count, sizeof *indices);
    if (indices == NULL) {
        return SFU_ERR_MEMORY;
    }
    block->indices = indices;
    memcpy(indices, from->csr.indices + block->entry, (size_t)count * sizeof *indices);
    for (int64_t row = 0; row < rows; row++) {
        int32_t previous = -1;
        bool ascends = true;
        for (int64_t e = block->indptr[row]; e < block->indptr[row + 1]; e++) {
            ascends = ascends && indices[e] > previous;
            previous = indices[e];
        }
        if (ascends && previous < from->csr.cols) {
            continue;
        }
        int64_t e = block->indptr[row];
        for (previous = -1; indices[e] > previous && indices[e] < from->csr.cols; e++) {
            previous = indices[e];
        }
        return fail_index(from, block, row, e);
    }
    return SFU_OK;
}

sfu_status sfu__row_block_read(sfu__row_block *block, const sfu__mapped_csr *from, int64_t first, int64_t end) {
    sfu_status status = SFU_OK;
    const int64_t rows = end - first;
    block->first = first;
    SFU_TRY(read_offsets(block, from, rows));
    SFU_TRY(read_indices(block, from, rows));
    block->csr = (sfu_csr){.rows = (int32_t)rows,
                           .cols = from->csr.cols,
                           .indptr = block->indptr,
                           .indices = block->indices,
                           .values = from->csr.values != NULL ? from->csr.values + block->entry : NULL};
done:
    return status;
}

/* Modulo 2^64: the offsets are not checked. */
static uint64_t length_of(const sfu__mapped_csr *from, int64_t first, int64_t end) {
    return (uint64_t)from->csr.indptr[end] - (uint64_t)from->csr.indptr[first] + (uint64_t)(end - first);
}

int64_t sfu__row_piece(const sfu__mapped_csr *from, int64_t rows) {
    const int64_t all = from->nonzeros + from->csr.rows;
    const double mean = from->csr.rows > 0 ? (double)all / from->csr.rows : 0.0;
    uint64_t longest = 0;
    for (int64_t row = 0; row < from->csr.rows; row++) {
        const uint64_t length = length_of(from, row, row + 1);
        longest = length > longest && length <= (uint64_t)from->csr.cols + 1 ? length : longest;
    }
    const double piece = 2.0 * mean * (double)rows;
    const int64_t usual = piece < (double)all ? (int64_t)piece : all;
    return usual > (int64_t)longest ? usual : (int64_t)longest;
}

bool sfu__row_piece_has(const sfu__mapped_csr *from, int64_t row, int64_t piece) {
    return piece > 0 && length_of(from, row, row + 1) <= (uint64_t)piece;
}

int64_t sfu__row_piece_end(const sfu__mapped_csr *from, int64_t first, int64_t end, int64_t piece) {
    int64_t at = first + 1;
    while (at < end && length_of(from, first, at + 1) <= (uint64_t)piece) {
        at++;
    }
    return at;
}

sfu_status sfu__row_block_reserve(sfu__row_block *block, int64_t rows, int64_t piece) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(block->indptr, rows + 1);
    block->indptr_capacity = (size_t)rows + 1;
    SFU_ALLOC(block->indices, piece);
    block->indices_capacity = (size_t)piece;
done:
    return status;
}

void sfu__row_block_view(sfu__row_block *block, const sfu__mapped_csr *from, int64_t first, int64_t end) {
    block->first = first;
    block->csr = from->csr;
    block->csr.rows = (int32_t)(end - first);
    block->csr.indptr = from->csr.indptr + first;
}

sfu_status sfu__check_filled(const int64_t *next, const int64_t *indptr, int64_t count, const char *what) {
    for (int64_t i = 0; i < count; i++) {
        if (next[i] != indptr[i + 1]) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: another process changed the file while it was read", what);
        }
    }
    return SFU_OK;
}
