/* prepare.c - chooses and builds the layout of a matrix for the CPU kernels, and binds it to an executor's memory. */
#include "cpu_matrix.h"

enum { NEAR_FLOATS = 1 << 17 }; /* a dense matrix of this size stays in L2 */

static sfu__cpu_matrix *of_prepared(const sfu__prepared *prepared) {
    return (sfu__cpu_matrix *)(uintptr_t)prepared; /* its head is the first member */
}

void sfu__cpu_matrix_clear(sfu__cpu_matrix *matrix) {
    sfu__matrix_clear(&matrix->own);
    sfu__free(matrix->value_perm);
    sfu__free(matrix->row_perm);
    sfu__free(matrix->indices16);
    sfu__free(matrix->row_value);
    sfu__free(matrix->nodes);
    sfu__csc_free(matrix->csc);
    sfu__philox_groups_free(matrix->philox_groups);
    *matrix = (sfu__cpu_matrix){0};
}

void sfu__cpu_view_own(sfu__cpu_matrix *matrix) {
    matrix->view = (sfu__sparse){.rows = matrix->own.rows,
                                 .cols = matrix->own.cols,
                                 .indptr = matrix->own.indptr,
                                 .indices = matrix->own.indices,
                                 .values = matrix->own.values,
                                 .value_perm = matrix->value_perm};
}

/* Owned bytes, without the Philox groups. */
static int64_t bytes_of(const sfu__cpu_matrix *matrix) {
    if (matrix->own.indptr == NULL) {
        return 0;
    }
    const int64_t rows = matrix->own.rows, count = matrix->own.indptr[rows];
    const sfu__csc *csc = matrix->csc;
    return count * (matrix->own.values != NULL ? 8 : 4) + (matrix->value_perm != NULL ? count * 4 : 0) + 8 * rows +
           (matrix->row_perm != NULL ? 4 * rows + 2 * count : 0) + (matrix->row_value != NULL ? 4 * rows : 0) +
           (csc != NULL ? 2 * count + 4 * (csc->sum_count - rows) + 12 * (int64_t)(csc->end - csc->begin) : 0);
}

/* The part that plans see. */
static void set_head(sfu__cpu_matrix *matrix) {
    const sfu__sparse *view = &matrix->view;
    matrix->head = (sfu__prepared){.rows = view->rows,
                                   .cols = view->cols,
                                   .indptr = view->indptr,
                                   .in_order = view->row_perm == NULL,
                                   .permuted_values = view->value_perm != NULL,
                                   .scratch_rows = matrix->csc != NULL ? matrix->csc->sum_count : 0,
                                   .bytes = bytes_of(matrix)};
}

/* ---- preparing -------------------------------------------------------------------------------------------------- */

/* Sorting rows by length pays if the rows of the product are narrow and those it gathers stay in L2, so that no
 * prefetching is needed. It does not pay for a matrix that is used once. */
static bool wants_rows_by_length(const sfu__matrix_use *use, int64_t cols) {
    const int32_t ld = sfu__ld(use->width);
    return use->role != SFU__ROLE_OTHER && use->repeated && ld <= SFU__NARROW && cols * ld <= NEAR_FLOATS;
}

const char *sfu__cpu_form(int64_t cols, bool fixed_values, const sfu__matrix_use *use) {
    return fixed_values && wants_rows_by_length(use, cols) ? "by length" : NULL;
}

sfu_status sfu__cpu_prepare(sfu__prepared **prepared, const sfu__matrix_source *source, const sfu__matrix_use *use) {
    sfu_status status = SFU_OK;
    sfu__cpu_matrix *matrix = NULL;
    *prepared = NULL;
    SFU_ALLOC_ZERO(matrix, 1);
    matrix->view = (sfu__sparse){.rows = source->rows,
                                 .cols = source->cols,
                                 .indptr = source->indptr,
                                 .indices = source->indices,
                                 .values = source->values,
                                 .value_perm = source->value_perm};
    if (source->own != NULL) {
        matrix->own = *source->own;
        *source->own = (sfu_matrix){0};
    }
    if (source->own_perm != NULL) {
        matrix->value_perm = *source->own_perm;
        *source->own_perm = NULL;
    }
    const bool fixed_values = source->values != NULL && source->value_perm == NULL;
    if (sfu__cpu_form(source->cols, fixed_values, use) != NULL) {
        SFU_TRY(sfu__cpu_sort_rows(matrix, use));
    }
    set_head(matrix);
    *prepared = &matrix->head;
    matrix = NULL;
done:
    sfu__cpu_prepared_free(matrix != NULL ? &matrix->head : NULL);
    return status;
}

sfu_status sfu__cpu_prepare_transpose(sfu__prepared **prepared, const sfu__prepared *A, sfu__range rows, bool dropped,
                                      const sfu__matrix_use *use) {
    sfu_status status = SFU_OK;
    const sfu__cpu_matrix *of = of_prepared(A);
    sfu__cpu_matrix *matrix = NULL;
    *prepared = NULL;
    SFU_ALLOC_ZERO(matrix, 1);
    SFU_TRY(sfu__cpu_transpose(matrix, of, rows, use->threads));
    const bool fixed = of->view.values != NULL;
    if (dropped || (use->role == SFU__ROLE_SMOOTHING && fixed)) {
        SFU_TRY(sfu__cpu_own_values(matrix, dropped));
    } else if (use->role == SFU__ROLE_FEATURES) {
        SFU_TRY(sfu__cpu_make_csc(matrix, of, rows, sfu__ld(use->width)));
    }
    if (!dropped && use->role == SFU__ROLE_SMOOTHING && fixed && wants_rows_by_length(use, matrix->view.cols)) {
        SFU_TRY(sfu__cpu_sort_rows(matrix, use));
    }
    set_head(matrix);
    *prepared = &matrix->head;
    matrix = NULL;
done:
    sfu__cpu_prepared_free(matrix != NULL ? &matrix->head : NULL);
    return status;
}

sfu_status sfu__cpu_prepare_dropout(sfu__prepared **prepared, const sfu__prepared *A, const int32_t *nodes) {
    sfu_status status = SFU_OK;
    const sfu__sparse *view = &of_prepared(A)->view;
    sfu__cpu_matrix *matrix = NULL;
    int64_t bytes = 0;
    *prepared = NULL;
    SFU_ALLOC_ZERO(matrix, 1);
    matrix->view = *view;
    set_head(matrix);
    matrix->head.nodes = view->row_perm != NULL && nodes == NULL ? view->row_perm : nodes;
    if (view->row_perm != NULL && nodes != NULL) {
        SFU_ALLOC(matrix->nodes, view->rows);
        for (int32_t i = 0; i < view->rows; i++) {
            matrix->nodes[i] = nodes[view->row_perm[i]];
        }
        matrix->head.nodes = matrix->nodes;
    }
    if (view->indices != NULL) {
        SFU_TRY(sfu__cpu_make_philox_groups(matrix, matrix->head.nodes, &bytes));
    }
    matrix->head.bytes = bytes;
    *prepared = &matrix->head;
    matrix = NULL;
done:
    sfu__cpu_prepared_free(matrix != NULL ? &matrix->head : NULL);
    return status;
}

void sfu__cpu_prepared_free(sfu__prepared *prepared) {
    if (prepared != NULL) {
        sfu__cpu_matrix_clear(of_prepared(prepared));
        sfu__free(prepared);
    }
}

const int32_t *sfu__cpu_columns(const sfu__prepared *prepared) { return of_prepared(prepared)->view.indices; }

/* ---- binding ---------------------------------------------------------------------------------------------------- */

sfu_status sfu__cpu_bind(sfu__sparse **bound, const sfu__prepared *prepared, const sfu__binding *binding) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(*bound, 1);
    **bound = of_prepared(prepared)->view;
    if (binding->values != NULL) {
        (*bound)->values = binding->values;
        (*bound)->row_value = NULL;
    }
    (*bound)->keep_mask = binding->keep_mask;
    (*bound)->mask = binding->mask;
    (*bound)->wide = binding->wide;
    (*bound)->scratch = binding->scratch;
done:
    return status;
}

void sfu__cpu_unbind(sfu__sparse *bound) { sfu__free(bound); }
