#include "dense_int.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void *dense_room(block **list, size_t count) {
    block *made = calloc(1, sizeof *made + count * sizeof made->numbers[0]);
    assert_true(made != NULL);
    made->next = *list;
    *list = made;
    return made->numbers;
}

void dense_drop(block **list) {
    while (*list != NULL) {
        block *next = (*list)->next;
        free(*list);
        *list = next;
    }
}

dense_matrix dense_zeros(dense_reference *self, int rows, int cols) {
    double *both = dense_room(&self->passing, 2 * (size_t)rows * (size_t)cols);
    return (dense_matrix){rows, cols, both, both + (size_t)rows * (size_t)cols};
}

dense_matrix dense_product(dense_reference *self, dense_matrix A, bool ta, dense_matrix B, bool tb) {
    const int rows = ta ? A.cols : A.rows, inner = ta ? A.rows : A.cols, cols = tb ? B.rows : B.cols;
    dense_matrix C = dense_zeros(self, rows, cols);
    assert_true(inner == (tb ? B.cols : B.rows));
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) {
            for (int k = 0; k < inner; k++) {
                const int a = ta ? k * A.cols + i : i * A.cols + k, b = tb ? j * B.cols + k : k * B.cols + j;
                const double size_a = fabs(A.value[a]), size_b = fabs(B.value[b]);
                C.value[i * cols + j] += A.value[a] * B.value[b];
                C.error[i * cols + j] += size_a * size_b + A.error[a] * size_b + size_a * B.error[b];
            }
        }
    }
    return C;
}

void dense_mix(dense_matrix *A, double a, const dense_matrix *B, double b) {
    for (int i = 0; i < dense_cells(A); i++) {
        A->error[i] = a * A->error[i] + b * B->error[i] + fabs(a * A->value[i]) + fabs(b * B->value[i]);
        A->value[i] = a * A->value[i] + b * B->value[i];
    }
}

dense_matrix dense_copy(dense_reference *self, dense_matrix M) {
    dense_matrix made = dense_zeros(self, M.rows, M.cols);
    memcpy(made.value, M.value, sizeof *M.value * (size_t)dense_cells(&M));
    memcpy(made.error, M.error, sizeof *M.error * (size_t)dense_cells(&M));
    return made;
}

void dense_apply_mask(dense_matrix *H, const dense_matrix *mask) {
    for (int i = 0; mask->value != NULL && i < dense_cells(H); i++) {
        H->error[i] = (H->error[i] + fabs(H->value[i])) * mask->value[i];
        H->value[i] *= mask->value[i];
    }
}

const sfu__parameter *dense_find(const dense_reference *self, int layer, const char *name) {
    for (int i = 0; i < self->parameters->count; i++) {
        const sfu__parameter *item = &self->parameters->items[i];
        if (item->layer == layer && strcmp(item->name, name) == 0) {
            return item;
        }
    }
    return NULL;
}

dense_matrix dense_load(dense_reference *self, const sfu__parameter *item) {
    dense_matrix M = dense_zeros(self, item->rows, item->cols);
    for (int i = 0; i < item->rows; i++) {
        for (int j = 0; j < item->cols; j++) {
            M.value[i * item->cols + j] = self->theta[item->offset + (int64_t)i * item->ld + j];
        }
    }
    return M;
}
