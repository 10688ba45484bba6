/* fold_product.c - rows of folded features times the first weights. */
#include "fold_product.h"
#include "stream_slice.h"

#include <string.h>

/* Rows that a thread computes at once. */
static int32_t rows_at_once(int32_t features) {
    enum { FLOATS = 1 << 13 };
    const int32_t fit = FLOATS / sfu__ld(features);
    return fit < 1 ? 1 : fit < SFU__FOLD_PRODUCT_ROWS ? fit : SFU__FOLD_PRODUCT_ROWS;
}

static int64_t floats_of(int32_t features, int32_t width) {
    return (int64_t)rows_at_once(features) * (sfu__ld(features) + sfu__ld(width)) + 32;
}

int64_t sfu__fold_product_bytes(int32_t features) {
    enum { ENTRY = 24, WIDTH = 256 }; /* of a sparse matrix, with a prepared copy */
    return 4 * floats_of(features, WIDTH) + (int64_t)rows_at_once(features) * features * ENTRY;
}

sfu_status sfu__fold_product_reserve(sfu__fold_product *self) {
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(self->memory, self->plan->threads);
    for (int i = 0; i < self->plan->threads; i++) {
        SFU_ALLOC_ZERO(self->memory[i], floats_of(self->plan->features, self->W.cols));
    }
done:
    return status;
}

void sfu__fold_product_clear(sfu__fold_product *self) {
    for (int i = 0; self->memory != NULL && i < self->plan->threads; i++) {
        sfu__free(self->memory[i]);
    }
    sfu__free(self->memory);
    self->memory = NULL;
}

int64_t sfu__fold_product_items(const sfu__fold_product *self) {
    const int64_t at_once = rows_at_once(self->plan->features);
    return (self->rows + at_once - 1) / at_once;
}

sfu__range sfu__fold_product_item(const sfu__fold_product *self, int64_t item) {
    const int64_t at_once = rows_at_once(self->plan->features), end = (item + 1) * at_once;
    return (sfu__range){item * at_once, end < self->rows ? end : self->rows};
}

float *sfu__fold_product_features(const sfu__fold_product *self, int thread) {
    float *memory = self->memory[thread];
    return memory + (64 - (uintptr_t)memory % 64) % 64 / sizeof *memory;
}

/* Space for rows of Z, behind those of F. */
static sfu__dense rows_of_product(const sfu__fold_product *self, int thread, sfu__range rows) {
    const int32_t features = self->plan->features;
    float *F = sfu__fold_product_features(self, thread);
    return (sfu__dense){.data = F + (int64_t)rows_at_once(features) * sfu__ld(features),
                        .rows = (int32_t)(rows.end - rows.begin),
                        .cols = self->W.cols,
                        .ld = self->W.ld};
}

/* Moves rows of Z to where they belong. */
static sfu_status put(const sfu__fold_product *self, const sfu__dense *Z, sfu__range rows) {
    sfu_status status = SFU_OK;
    float slice[SFU__FOLD_PRODUCT_ROWS * SFU__SLICE_MOST];
    if (self->result != NULL) {
        memcpy(self->result + rows.begin * Z->ld, Z->data, (size_t)Z->rows * (size_t)Z->ld * sizeof *Z->data);
        return SFU_OK;
    }
    for (int32_t first = 0; first < Z->cols; first += SFU__SLICE_MOST) {
        const int32_t count = Z->cols - first < SFU__SLICE_MOST ? Z->cols - first : SFU__SLICE_MOST;
        const int64_t slice_row = (int64_t)(first / SFU__SLICE_MOST) * self->rows + rows.begin;
        memset(slice, 0, sizeof slice);
        for (int64_t row = 0; row < Z->rows; row++) {
            memcpy(slice + row * SFU__SLICE_MOST, Z->data + row * Z->ld + first, (size_t)count * sizeof *slice);
        }
        const int64_t row_bytes = SFU__SLICE_MOST * (int64_t)sizeof *slice;
        SFU_TRY(sfu__scratch_write(self->file, slice_row * row_bytes, slice, Z->rows * row_bytes));
    }
done:
    return status;
}

static sfu_status multiply_sparse(const sfu__fold_product *self, const sfu__dense *Z, const sfu_matrix *F) {
    sfu_status status = SFU_OK;
    const sfu__backend *backend = self->plan->backend;
    const sfu__matrix_use use = {.width = Z->cols};
    const sfu__binding binding = {0};
    const sfu__matrix_source source = {
        .rows = F->rows, .cols = F->cols, .indptr = F->indptr, .indices = F->indices, .values = F->values};
    sfu__prepared *prepared = NULL;
    sfu__sparse *bound = NULL;
    SFU_TRY(backend->prepare(&prepared, &source, &use));
    SFU_TRY(backend->bind(&bound, prepared, &binding));
    backend->spmm(Z, bound, &self->W, false, (sfu__range){0, Z->rows});
done:
    backend->unbind(bound);
    backend->prepared_free(prepared);
    return status;
}

sfu_status sfu__fold_product_dense(const sfu__fold_product *self, int thread, sfu__range rows) {
    sfu_status status = SFU_OK;
    const int32_t features = self->plan->features;
    const sfu__dense Z = rows_of_product(self, thread, rows);
    const sfu__dense F = {sfu__fold_product_features(self, thread), Z.rows, features, sfu__ld(features)};
    const uint64_t before = sfu__float_guard();
    sfu_matrix full = {0};
    if (self->sparse) {
        SFU_TRY(sfu__matrix_of_full_rows(&full, F.data, Z.rows, features));
        SFU_TRY(multiply_sparse(self, &Z, &full));
    } else {
        self->plan->backend->gemm(&Z, &F, &self->W, (sfu__range){0, Z.rows});
    }
    SFU_TRY(put(self, &Z, rows));
done:
    sfu__float_restore(before);
    sfu__matrix_clear(&full);
    return status;
}

sfu_status sfu__fold_product_sparse(const sfu__fold_product *self, int thread, sfu__range rows, const sfu_matrix *F) {
    sfu_status status = SFU_OK;
    if (!self->sparse) {
        const int64_t ld = sfu__ld(self->plan->features);
        float *dense = sfu__fold_product_features(self, thread);
        memset(dense, 0, (size_t)F->rows * (size_t)ld * sizeof *dense);
        for (int64_t row = 0; row < F->rows; row++) {
            for (int64_t e = F->indptr[row]; e < F->indptr[row + 1]; e++) {
                dense[row * ld + F->indices[e]] = F->values[e];
            }
        }
        return sfu__fold_product_dense(self, thread, rows);
    }
    const sfu__dense Z = rows_of_product(self, thread, rows);
    const uint64_t before = sfu__float_guard();
    SFU_TRY(multiply_sparse(self, &Z, F));
    SFU_TRY(put(self, &Z, rows));
done:
    sfu__float_restore(before);
    return status;
}
