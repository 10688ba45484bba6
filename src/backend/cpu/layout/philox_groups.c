/* philox_groups.c - lists the Philox groups of a sparse matrix once, so that drawing a mask only runs the generator. */
#include "cpu_matrix.h"
#include "random.h"

void sfu__philox_groups_free(sfu__philox_groups *groups) {
    if (groups != NULL) {
        sfu__free((void *)(uintptr_t)groups->first);
        sfu__free((void *)(uintptr_t)groups->high); /* and low, node, entry, in the same allocation */
        sfu__free((void *)(uintptr_t)groups->value);
        sfu__free(groups);
    }
}

/* Prefix sums of the number of groups per row. */
static void count_groups(int64_t *first, const sfu__sparse *A) {
    first[0] = 0;
    for (int32_t row = 0; row < A->rows; row++) {
        first[row + 1] = first[row] + (A->indptr[row + 1] - A->indptr[row] + 7) / 8;
    }
}

static void list_groups(uint32_t *lists, int64_t stride, const sfu__sparse *A, const int32_t *nodes) {
    uint32_t *high = lists, *low = high + stride, *node = low + stride, *entry = node + stride;
    int64_t at = 0;
    for (int32_t row = 0; row < A->rows; row++) {
        const int64_t begin = A->indptr[row], terms = A->indptr[row + 1] - begin;
        for (int64_t k = 0; k < terms; k += 8, at++) {
            const uint64_t product = (uint64_t)(k / 8) * SFU__PHILOX_FACTOR0;
            high[at] = (uint32_t)(product >> 32);
            low[at] = (uint32_t)product;
            node[at] = (uint32_t)(nodes != NULL ? nodes[row] : row);
            entry[at] = (uint32_t)(begin + k);
        }
    }
}

/* The value of each group's row. */
static void list_values(float *value, const int64_t *first, const sfu__sparse *A) {
    for (int32_t row = 0; row < A->rows; row++) {
        for (int64_t at = first[row]; at < first[row + 1]; at++) {
            value[at] = A->row_value[row];
        }
    }
}

sfu_status sfu__cpu_make_philox_groups(sfu__cpu_matrix *matrix, const int32_t *nodes, int64_t *bytes) {
    sfu_status status = SFU_OK;
    const sfu__sparse *A = &matrix->view;
    sfu__philox_groups *groups = NULL;
    int64_t *first = NULL;
    uint32_t *lists = NULL;
    float *value = NULL;
    *bytes = 0;
    if (A->indptr[A->rows] > UINT32_MAX - 8) {
        return SFU_OK; /* entry numbers would overflow; dropout then computes the groups as it goes */
    }
    SFU_ALLOC(first, (int64_t)A->rows + 1);
    count_groups(first, A);
    const int64_t stride = first[A->rows] + SFU__PHILOX_PADDING;
    SFU_ALLOC_ZERO(lists, 4 * stride);
    list_groups(lists, stride, A, nodes);
    if (A->row_value != NULL) {
        SFU_ALLOC(value, first[A->rows]);
        list_values(value, first, A);
    }
    SFU_ALLOC(groups, 1);
    *groups = (sfu__philox_groups){.first = first,
                                   .high = lists,
                                   .low = lists + stride,
                                   .node = lists + 2 * stride,
                                   .entry = lists + 3 * stride,
                                   .value = value};
    *bytes = 8 * ((int64_t)A->rows + 1) + 16 * stride + (value != NULL ? 4 * first[A->rows] : 0);
    matrix->view.philox_groups = matrix->philox_groups = groups;
    first = NULL;
    lists = NULL;
    value = NULL;
done:
    sfu__free(first);
    sfu__free(lists);
    sfu__free(value);
    return status;
}
