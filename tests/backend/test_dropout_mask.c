/* spmm with a keep mask: every kernel set skips the dropped entries and equals the plain one bit for bit, which equals
 * a product with zeros in their places. */
#include "support.h"

#include "cpu_matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 97, COLS = 60, MOST = 300 };

static uint32_t state_of_draws = 1;
static uint32_t draw(void) { return state_of_draws = state_of_draws * 1664525U + 1013904223U; }
static float draw_float(void) { return (float)(draw() >> 8) / 8388608.0F - 1.0F; }

typedef struct problem {
    int64_t indptr[ROWS + 1];
    int32_t *indices, *value_perm;
    float *values, *dropped; /* original values; and scaled ones, with zeros where dropped */
    uint8_t *keep_mask;
    sfu__mask mask;
    sfu__sparse A;
    sfu__dense B, C, start;
} problem;

static sfu__dense dense_new(int32_t rows, int32_t cols) {
    const int32_t ld = sfu__ld(cols);
    sfu__dense made = {aligned_alloc(64, (size_t)(rows * ld + 16) / 16 * 64), rows, cols, ld};
    assert_non_null(made.data);
    for (int64_t i = 0; i < (int64_t)rows * ld; i++) {
        made.data[i] = i % ld < cols ? draw_float() : 0.0F;
    }
    return made;
}

/* Rows of no, few, 64, 65 and hundreds of entries, `kept` of 16 kept. */
static void problem_make(problem *p, int32_t width, uint32_t keep_mask, bool value_permuted) {
    static const int64_t lengths[] = {0, 1, 5, 64, 65, 200, 128, 17, MOST};
    p->indptr[0] = 0;
    for (int i = 0; i < ROWS; i++) {
        p->indptr[i + 1] = p->indptr[i] + lengths[i % 9];
    }
    const int64_t count = p->indptr[ROWS];
    p->indices = calloc((size_t)count, sizeof *p->indices);
    p->value_perm = calloc((size_t)count, sizeof *p->value_perm);
    p->values = calloc((size_t)count, sizeof *p->values);
    p->dropped = calloc((size_t)count, sizeof *p->dropped);
    p->keep_mask = calloc((size_t)count, sizeof *p->keep_mask);
    assert_true(p->indices != NULL && p->value_perm != NULL && p->values != NULL && p->dropped != NULL &&
                p->keep_mask != NULL);
    p->mask = (sfu__mask){.threshold = 20000};
    for (int64_t e = 0; e < count; e++) {
        p->indices[e] = (int32_t)(draw() >> 8) % COLS;
        p->values[e] = draw_float();
        p->value_perm[e] = (int32_t)(count - 1 - e);
        const bool left = (draw() >> 8) % 16 < keep_mask;
        p->keep_mask[value_permuted ? p->value_perm[e] : e] = left;
        p->dropped[e] = left ? p->values[e] * (float)(65536.0 / (65536 - 20000)) : 0.0F;
    }
    p->A = (sfu__sparse){.rows = ROWS,
                         .cols = COLS,
                         .indptr = p->indptr,
                         .indices = p->indices,
                         .values = p->values,
                         .value_perm = value_permuted ? p->value_perm : NULL,
                         .keep_mask = p->keep_mask,
                         .mask = &p->mask};
    p->B = dense_new(COLS, width);
    p->C = dense_new(ROWS, width);
    p->start = dense_new(ROWS, width);
}

static void problem_clear(problem *p) {
    free(p->indices);
    free(p->value_perm);
    free(p->values);
    free(p->dropped);
    free(p->keep_mask);
    free(p->B.data);
    free(p->C.data);
    free(p->start.data);
}

/* In three ranges, as three threads would. */
static void multiply(const sfu__backend *backend, problem *p, bool add) {
    const int64_t cuts[] = {0, 10, 11, ROWS};
    memcpy(p->C.data, p->start.data, sizeof(float) * ROWS * (size_t)p->C.ld);
    for (int i = 0; i < 3; i++) {
        backend->spmm(&p->C, &p->A, &p->B, add, (sfu__range){cuts[i], cuts[i + 1]});
    }
}

static void compare_sets(problem *p, bool add) {
    const size_t bytes = sizeof(float) * ROWS * (size_t)p->C.ld;
    float *plain = malloc(bytes);
    assert_non_null(plain);
    const sfu__backend *backend = sfu__backend_cpu_set(0);
    const sfu__sparse A = p->A;
    p->A.keep_mask = NULL;
    p->A.value_perm = NULL;
    p->A.values = p->dropped;
    multiply(backend, p, add);
    memcpy(plain, p->C.data, bytes);
    p->A = A;
    multiply(backend, p, add);
    for (size_t i = 0; i < bytes / sizeof(float); i++) {
        assert_true(p->C.data[i] == plain[i]); /* a zero may have another sign */
    }
    memcpy(plain, p->C.data, bytes);
    for (int i = 1; (backend = sfu__backend_cpu_set(i)) != NULL; i++) {
        multiply(backend, p, add);
        assert_memory_equal(p->C.data, plain, bytes);
    }
    free(plain);
}

static void test_sets(void **state) {
    (void)state;
    static const int32_t widths[] = {17, 32, 48, 64, 80, 96, 112, 128, 150, 300};
    static const uint32_t shares[] = {0, 1, 8, 16};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        for (size_t s = 0; s < sizeof shares / sizeof shares[0]; s++) {
            for (int variant = 0; variant < 4; variant++) {
                problem p;
                problem_make(&p, widths[w], shares[s], variant % 2 == 1);
                compare_sets(&p, variant / 2 == 1);
                problem_clear(&p);
            }
        }
    }
}

/* Dropped entries are skipped, not multiplied by zero: the rows of B they refer to need not be finite. */
static void test_not_finite(void **state) {
    (void)state;
    problem p;
    problem_make(&p, 64, 16, false);
    for (int64_t e = 0; e < p.indptr[ROWS]; e++) {
        p.keep_mask[e] = p.indices[e] != 7;
    }
    for (int32_t j = 0; j < 64; j++) {
        p.B.data[7 * p.B.ld + j] = NAN;
    }
    const sfu__backend *backend;
    for (int i = 0; (backend = sfu__backend_cpu_set(i)) != NULL; i++) {
        multiply(backend, &p, false);
        for (int64_t k = 0; k < (int64_t)ROWS * 64; k++) {
            assert_true(p.C.data[k] == p.C.data[k]); /* not NaN */
        }
    }
    problem_clear(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sets), cmocka_unit_test(test_not_finite)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
