/* Products with the transpose of sparse features: in CSC form and by rows, bit for bit. And the gradient of the weights
 * of many features, which is computed in blocks of rows: against double, and the same bytes for every number of
 * threads. */
#include "support.h"

#include "memory.h"
#include "cpu_matrix.h"
#include "plan_int.h"
#include "random_networks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- products --------------------------------------------------------------------------------------------------- */

/* Random features: every third row is empty, some columns are nearly full. Half of the values are zero, as if
 * dropped. */
static void draw_features(sfu__cpu_matrix *F, int32_t rows, int32_t cols, sfu__random *random) {
    sfu_matrix made = {.rows = rows, .cols = cols};
    made.indptr = sfu__alloc_zero((size_t)rows + 1, sizeof *made.indptr);
    made.indices = sfu__alloc((size_t)rows * (size_t)cols, sizeof *made.indices);
    made.values = sfu__alloc((size_t)rows * (size_t)cols, sizeof *made.values);
    assert_true(made.indptr != NULL && made.indices != NULL && made.values != NULL);
    int64_t count = 0;
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < cols && i % 3 != 2; j++) {
            if (sfu__random_below(random, 10) < (j % 7 == 0 ? 9 : 1)) {
                const bool dropped = sfu__random_below(random, 2) == 0;
                made.indices[count] = j;
                made.values[count++] = dropped ? 0.0F : (float)sfu__random_unit(random) - 0.5F;
            }
        }
        made.indptr[i + 1] = count;
    }
    F->own = made;
    sfu__cpu_view_own(F);
}

/* C = A B or C += A B, at once or row by row. */
static void multiply(float *data, const sfu__backend *backend, const sfu__sparse *A, const sfu__dense *B, bool add,
                     bool at_once) {
    const sfu__dense C = {data, A->rows, B->cols, B->ld};
    for (int64_t i = 0; i < (int64_t)A->rows * C.ld; i++) {
        data[i] = (float)(i % 5);
    }
    for (int32_t i = 0; i < (at_once ? 1 : A->rows); i++) {
        backend->spmm(&C, A, B, add, at_once ? (sfu__range){0, A->rows} : (sfu__range){i, i + 1});
    }
}

static void assert_product(const sfu__cpu_matrix *F, int64_t begin, int64_t end, int32_t cols, sfu__random *random) {
    const int32_t ld = sfu__ld(cols);
    sfu__cpu_matrix transposed;
    assert_ok(sfu__cpu_transpose(&transposed, F, (sfu__range){begin, end}, 1));
    assert_null(transposed.view.csc);
    assert_ok(sfu__cpu_make_csc(&transposed, F, (sfu__range){begin, end}, ld));
    assert_non_null(transposed.view.csc);
    sfu__sparse A = transposed.view;
    const size_t size = (size_t)A.rows * (size_t)ld, sums = (size_t)transposed.csc->sum_count * (size_t)ld;
    float *one = calloc(size, sizeof *one), *other = calloc(size, sizeof *other),
          *scratch = calloc(sums, sizeof *scratch);
    float *data = calloc((size_t)A.cols * (size_t)ld, sizeof *data);
    assert_true(one != NULL && other != NULL && scratch != NULL && data != NULL);
    for (int64_t i = 0; i < (int64_t)A.cols * ld; i++) {
        data[i] = i % ld < cols ? (float)sfu__random_unit(random) - 0.5F : 0.0F;
    }
    const sfu__dense B = {data, A.cols, cols, ld};
    A.scratch = scratch;
    for (int add = 0; add < 2; add++) {
        const sfu__backend *backend;
        multiply(one, sfu__backend_cpu_set(0), &A, &B, add == 1, false);
        for (int set = 0; (backend = sfu__backend_cpu_set(set)) != NULL; set++) {
            multiply(other, backend, &A, &B, add == 1, true);
            assert_memory_equal(one, other, size * sizeof *one);
            memset(scratch, 0xFF, sums * sizeof *scratch); /* the kernel must clear it */
        }
    }
    free(one);
    free(other);
    free(scratch);
    free(data);
    sfu__cpu_matrix_clear(&transposed);
}

static void by_columns_as_by_rows(void **state) {
    (void)state;
    static const int32_t rows[] = {1, 2, 63, 64, 150, 700, 1300}, widths[] = {1, 3, 4, 5, 7, 8};
    sfu__random random = sfu__random_start(5, 1);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (int by_length = 0; by_length < 2; by_length++) {
            sfu__cpu_matrix F = {0};
            draw_features(&F, rows[r], 1 + (int32_t)sfu__random_below(&random, 90), &random);
            if (by_length == 1) {
                assert_ok(sfu__cpu_sort_rows(&F, NULL));
            }
            for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
                assert_product(&F, 0, rows[r], widths[w], &random);
                assert_product(&F, rows[r] / 3, rows[r] - rows[r] / 4, widths[w], &random);
            }
            if (rows[r] == 1300) { /* enough rows that the CSC form pays */
                assert_product(&F, 0, rows[r], 13, &random);
                assert_product(&F, 100, 1250, 16, &random);
            }
            sfu__cpu_matrix_clear(&F);
        }
    }
}

/* Where it would not be faster, or not be correct. */
static void not_by_columns(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(6, 1);
    sfu__cpu_matrix F = {0}, transposed;
    draw_features(&F, 300, 20, &random);
    assert_ok(sfu__cpu_transpose(&transposed, &F, (sfu__range){0, 300}, 1));
    assert_ok(sfu__cpu_make_csc(&transposed, &F, (sfu__range){0, 300}, 16)); /* in cache anyway */
    assert_null(transposed.csc);
    assert_ok(sfu__cpu_make_csc(&transposed, &F, (sfu__range){0, 300}, 64));
    assert_null(transposed.csc);
    sfu__cpu_matrix_clear(&transposed);
    assert_true(F.own.indptr[1] >= 2);
    F.own.indices[1] = F.own.indices[0]; /* a repeated column */
    assert_ok(sfu__cpu_transpose(&transposed, &F, (sfu__range){0, 300}, 1));
    assert_ok(sfu__cpu_make_csc(&transposed, &F, (sfu__range){0, 300}, 4));
    assert_null(transposed.csc);
    sfu__cpu_matrix_clear(&transposed);
    sfu__cpu_matrix_clear(&F);
}

static sfu_status make_by_columns(void *context) {
    sfu__cpu_matrix transposed = {0};
    sfu_status status = sfu__cpu_transpose(&transposed, context, (sfu__range){0, 150}, 1);
    if (status == SFU_OK) {
        status = sfu__cpu_make_csc(&transposed, context, (sfu__range){0, 150}, 8);
    }
    sfu__cpu_matrix_clear(&transposed);
    return status;
}

/* Ranges of columns, one for each thread, are the transpose of one thread. */
static void same_for_any_number_of_threads(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(8, 1);
    sfu__cpu_matrix F = {0}, one, several;
    const sfu__range rows = {17, 3990};
    draw_features(&F, 4000, 2000, &random);
    for (int by_length = 0; by_length < 2; by_length++) {
        if (by_length == 1) {
            assert_ok(sfu__cpu_sort_rows(&F, NULL));
        }
        assert_ok(sfu__cpu_transpose(&one, &F, rows, 1));
        const size_t count = (size_t)one.own.indptr[2000];
        assert_true(count > 1000000); /* enough for three threads */
        for (int threads = 2; threads <= 3; threads++) {
            assert_ok(sfu__cpu_transpose(&several, &F, rows, threads));
            assert_memory_equal(several.own.indptr, one.own.indptr, 2001 * sizeof *one.own.indptr);
            assert_memory_equal(several.own.indices, one.own.indices, count * sizeof *one.own.indices);
            assert_memory_equal(several.value_perm, one.value_perm, count * sizeof *one.value_perm);
            sfu__cpu_matrix_clear(&several);
        }
        sfu__cpu_matrix_clear(&one);
    }
    sfu__cpu_matrix_clear(&F);
}

static void allocations_that_fail(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(7, 1);
    sfu__cpu_matrix F = {0};
    draw_features(&F, 150, 30, &random);
    test_fail_each_allocation(make_by_columns, &F, 100);
    sfu__cpu_matrix_clear(&F);
}

/* ---- gradients -------------------------------------------------------------------------------------------------- */

typedef struct shape {
    int32_t nodes, vocabulary;
    double words;
    int blocks; /* expected number */
} shape;

static sfu_dataset *dataset_of(const shape *it) {
    sfu_dataset *dataset = NULL;
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = it->nodes;
    options.classes = 3;
    options.vocabulary = it->vocabulary;
    options.words = it->words;
    options.seed = 11;
    assert_ok(sfu_dataset_make(&dataset, &options));
    return dataset;
}

/* dW = sum over nodes of x (softmax(x W) - label), in double. */
static double *gradient_of(const sfu_dataset *dataset, const float *W, int32_t ld) {
    double *gradient = calloc((size_t)dataset->features * (size_t)ld, sizeof *gradient);
    assert_non_null(gradient);
    const sfu_csr *X = &dataset->sparse;
    for (int32_t i = 0; i < dataset->nodes; i++) {
        double z[3] = {0}, sum = 0;
        for (int64_t e = X->indptr[i]; e < X->indptr[i + 1]; e++) {
            for (int c = 0; c < 3; c++) {
                z[c] += (double)X->values[e] * (double)W[(int64_t)X->indices[e] * ld + c];
            }
        }
        for (int c = 0; c < 3; c++) {
            sum += z[c] = exp(z[c]);
        }
        for (int64_t e = X->indptr[i]; e < X->indptr[i + 1]; e++) {
            for (int c = 0; c < 3; c++) {
                const double d = z[c] / sum - (c == dataset->labels[i] ? 1.0 : 0.0);
                gradient[(int64_t)X->indices[e] * ld + c] += (double)X->values[e] * d;
            }
        }
    }
    return gradient;
}

static int transposed_blocks(const sfu__plan *plan) {
    int count = 0;
    const sfu__pass *pass = &plan->passes[SFU_PASS_TRAIN];
    for (size_t i = 0; i < pass->step_count; i++) {
        count += pass->steps[i].kernel == SFU__KERNEL_SPMM && pass->steps[i].backward;
    }
    return count;
}

/* One training step on all nodes; returns a copy of the whole gradient. */
static float *step_of(const sfu__plan *plan, const sfu_dataset *dataset, const float *theta, int threads) {
    const sfu__backend *backend = NULL;
    sfu__executor *worker = NULL;
    sfu__team *team = NULL;
    sfu__score cross_entropy;
    const size_t bytes = sizeof(float) * (size_t)sfu__plan_parameters(plan)->size;
    float *gradient = malloc(bytes);
    assert_non_null(gradient);
    assert_ok(sfu__backend_cpu(&backend));
    assert_ok(sfu__team_new(&team, threads));
    assert_ok(sfu__executor_new(&worker, plan, backend, team));
    memcpy(sfu__executor_theta(worker), theta, bytes);
    const sfu__epoch epoch = {.number = 1, .lr = 0.01F, .target = {dataset->labels, NULL}};
    sfu__executor_epoch(worker, &epoch, &cross_entropy, NULL);
    memcpy(gradient, sfu__executor_gradient(worker), bytes);
    sfu__executor_free(worker);
    sfu__team_free(team);
    return gradient;
}

static void assert_gradient(const shape *it) {
    sfu_dataset *dataset = dataset_of(it);
    sfu_net *net = NULL;
    sfu__plan *plan = NULL;
    sfu__plan_request request = {.rewrites = SFU__ALL_REWRITES, .threads = 3};
    request.count[SFU_PASS_TRAIN] = it->nodes;
    assert_ok(sfu_net_parse(&net, "softmax", NULL));
    assert_ok(sfu__plan_make(&plan, dataset, net, &request));
    assert_int_equal(transposed_blocks(plan), it->blocks);

    const sfu__parameters *parameters = sfu__plan_parameters(plan);
    const sfu__parameter *weight = &parameters->items[0];
    assert_string_equal(weight->name, "weight");
    float *theta = calloc((size_t)parameters->size, sizeof *theta);
    assert_non_null(theta);
    sfu__parameters_start(theta, parameters, net, NULL, 3);
    double *expected = gradient_of(dataset, theta + weight->offset, weight->ld);
    float *one = step_of(plan, dataset, theta, 1), *three = step_of(plan, dataset, theta, 3);
    assert_memory_equal(one, three, sizeof *one * (size_t)parameters->size);
    double most = 0, error = 0;
    for (int64_t i = 0; i < (int64_t)weight->rows * weight->ld; i++) {
        most = fmax(most, fabs(expected[i]));
        error = fmax(error, fabs((double)one[weight->offset + i] - expected[i]));
    }
    assert_true(most > 0 && error < 2e-5 * most);
    free(one);
    free(three);
    free(expected);
    free(theta);
    sfu__plan_release(plan);
    sfu_net_free(net);
    sfu_dataset_free(dataset);
}

static void by_rows(void **state) {
    (void)state;
    assert_gradient(&(shape){2048, 90, 4, 1});
    assert_gradient(&(shape){2500, 90, 4, 2});
}

/* So many values that the blocks of rows become smaller. */
static void by_values(void **state) {
    (void)state;
    assert_gradient(&(shape){1500, 2500, 600, 8});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_columns_as_by_rows),
                                       cmocka_unit_test(not_by_columns),
                                       cmocka_unit_test(same_for_any_number_of_threads),
                                       cmocka_unit_test(allocations_that_fail),
                                       cmocka_unit_test(by_rows),
                                       cmocka_unit_test(by_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
