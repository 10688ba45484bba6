/* Nearest neighbours against all cosines, sorted. */
#include "support.h"

#include "random.h"
#include "raw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A dataset of n nodes and d features, of which about one in `every` is not zero: dense, or sparse with unsorted rows.
 * Small whole numbers, so that cosines tie often and nothing is rounded. */
static void random_features(sfu__raw *raw, int n, int d, int every, bool sparse, uint64_t seed) {
    sfu__random random = sfu__random_start(seed, 5);
    float *x = sfu__alloc_zero((size_t)(n * d), sizeof *x);
    for (int i = 0; i < n * d; i++) {
        if (sfu__random_below(&random, (uint64_t)every) == 0) {
            x[i] = (float)sfu__random_below(&random, 5) - 1;
        }
    }
    raw->nodes = n;
    raw->features = d;
    raw->has_features = true;
    if (!sparse) {
        raw->dense = x;
        return;
    }
    sfu_matrix *m = &raw->sparse;
    m->rows = n;
    m->cols = d;
    m->indptr = sfu__alloc_zero((size_t)n + 1, sizeof *m->indptr);
    m->indices = sfu__alloc((size_t)(n * d), sizeof *m->indices);
    m->values = sfu__alloc((size_t)(n * d), sizeof *m->values);
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        for (int f = d - 1; f >= 0; f--) {
            if (x[i * d + f] != 0) {
                m->indices[at] = f;
                m->values[at++] = x[i * d + f];
            }
        }
        m->indptr[i + 1] = at;
    }
    sfu__free(x);
}

static double value(const sfu__raw *raw, int64_t i, int64_t f) {
    if (raw->dense != NULL) {
        return (double)raw->dense[i * raw->features + f];
    }
    double sum = 0;
    for (int64_t e = raw->sparse.indptr[i]; e < raw->sparse.indptr[i + 1]; e++) {
        sum += raw->sparse.indices[e] == f ? (double)raw->sparse.values[e] : 0;
    }
    return sum;
}

typedef struct other {
    double
        key; /* the square of the cosine, with its sign, times |x_i|^2: exact for whole numbers but for one division */
    uint32_t node;
} other;

static int nearest_first(const void *left, const void *right) {
    const other *a = left;
    const other *b = right;
    return a->key != b->key ? (a->key < b->key) - (a->key > b->key) : (a->node > b->node) - (a->node < b->node);
}

/* All of them, slowly. */
static int64_t slow_neighbours(const sfu__raw *raw, int k, uint32_t *ends) {
    int64_t count = 0;
    other *all = malloc((size_t)raw->nodes * sizeof *all);
    assert_non_null(all);
    for (int64_t i = 0; i < raw->nodes; i++) {
        int64_t candidates = 0;
        for (int64_t j = 0; j < raw->nodes; j++) {
            double product = 0;
            double square = 0;
            for (int64_t f = 0; f < raw->features; f++) {
                product += value(raw, i, f) * value(raw, j, f);
                square += value(raw, j, f) * value(raw, j, f);
            }
            if (j != i && product > 0) {
                all[candidates++] = (other){product * product / square, (uint32_t)j};
            }
        }
        qsort(all, (size_t)candidates, sizeof *all, nearest_first);
        for (int64_t c = 0; c < candidates && c < k; c++) {
            ends[2 * count] = (uint32_t)i;
            ends[2 * count + 1] = all[c].node;
            count++;
        }
    }
    free(all);
    return count;
}

static void check_neighbours(int n, int d, int every, bool sparse, int k, uint64_t seed) {
    sfu__raw raw = {0};
    sfu_import_options options;
    sfu_import_options_init(&options);
    random_features(&raw, n, d, every, sparse, seed);
    uint32_t *wanted = malloc((size_t)(2 * n * k) * sizeof *wanted);
    const int64_t count = slow_neighbours(&raw, k, wanted);
    for (int threads = 1; threads <= 3; threads++) {
        options.threads = threads;
        sfu__pairs_clear(&raw.pairs);
        assert_ok(sfu__knn(&raw, k, &options));
        assert_int_equal(raw.pairs.count, count);
        int64_t at = 0;
        for (size_t b = 0; b < raw.pairs.block_count; b++) {
            const sfu__pair_block *block = &raw.pairs.blocks[b];
            assert_memory_equal(block->ends, wanted + 2 * at, (size_t)block->count * 2 * sizeof *wanted);
            at += block->count;
        }
        assert_true(raw.has_graph);
    }
    free(wanted);
    sfu__raw_clear(&raw);
}

static void all_shapes(void **state) {
    (void)state;
    static const int sizes[] = {2, 3, 7, 63, 64, 65, 130};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int every = 1; every <= 20; every += 19) {
            check_neighbours(sizes[i], 12, every, false, sizes[i] < 5 ? 1 : 4, i);
            check_neighbours(sizes[i], 12, every, true, sizes[i] < 5 ? 1 : 4, i);
            check_neighbours(sizes[i], 1, every, i % 2 == 0, sizes[i] - 1, i);
        }
    }
}

/* Real numbers: the dense and the sparse version give the same bits, hence the same pairs. */
static void dense_is_sparse(void **state) {
    (void)state;
    enum { N = 150, D = 40 };
    sfu__raw dense = {0};
    sfu__raw sparse = {0};
    sfu__raw *raws[2] = {&dense, &sparse};
    sfu_import_options options;
    sfu_import_options_init(&options);
    random_features(raws[0], N, D, 2, false, 11);
    sfu__random random = sfu__random_start(1, 1);
    for (int i = 0; i < N * D; i++) {
        raws[0]->dense[i] *= (float)sfu__random_unit(&random);
    }
    raws[1]->nodes = N;
    raws[1]->features = D;
    raws[1]->has_features = true;
    sfu_matrix *m = &raws[1]->sparse;
    m->rows = N;
    m->cols = D;
    m->indptr = sfu__alloc_zero(N + 1, sizeof *m->indptr);
    m->indices = sfu__alloc(2 * N * D, sizeof *m->indices);
    m->values = sfu__alloc(2 * N * D, sizeof *m->values);
    int64_t at = 0;
    for (int i = 0; i < N; i++) {
        for (int f = 0; f < D; f++) {
            const float x = raws[0]->dense[i * D + f];
            /* In two halves, which add up to it exactly. */
            for (int half = 0; half < 2 && x != 0; half++, at++) {
                m->indices[at] = f;
                m->values[at] = x / 2;
            }
        }
        m->indptr[i + 1] = at;
    }
    for (int i = 0; i < 2; i++) {
        assert_ok(sfu__knn(raws[i], 10, &options));
    }
    assert_int_equal(raws[0]->pairs.count, raws[1]->pairs.count);
    assert_int_equal(raws[0]->pairs.block_count, raws[1]->pairs.block_count);
    for (size_t b = 0; b < raws[0]->pairs.block_count; b++) {
        assert_memory_equal(raws[0]->pairs.blocks[b].ends, raws[1]->pairs.blocks[b].ends,
                            (size_t)raws[0]->pairs.blocks[b].count * 8);
    }
    sfu__raw_clear(raws[0]);
    sfu__raw_clear(raws[1]);
}

/* Feature numbers far apart cost nothing. */
static void far_features(void **state) {
    (void)state;
    sfu__raw raw = {.nodes = 3, .features = INT32_MAX, .has_features = true};
    sfu_import_options options;
    sfu_import_options_init(&options);
    raw.sparse = (sfu_matrix){.rows = 3, .cols = INT32_MAX};
    raw.sparse.indptr = sfu__alloc_zero(4, sizeof(int64_t));
    raw.sparse.indices = sfu__alloc(3, sizeof(int32_t));
    for (int i = 0; i < 3; i++) {
        raw.sparse.indptr[i + 1] = i + 1;
        raw.sparse.indices[i] = i == 1 ? 5 : INT32_MAX - 1;
    }
    assert_ok(sfu__knn(&raw, 1, &options));
    assert_int_equal(raw.pairs.count, 2);
    assert_memory_equal(raw.pairs.blocks[0].ends, ((uint32_t[]){0, 2, 2, 0}), sizeof(uint32_t[4]));
    sfu__raw_clear(&raw);
}

static bool refuse(void *user, const sfu_progress *progress) {
    (void)user;
    (void)progress;
    return false;
}

static void messages(void **state) {
    (void)state;
    sfu__raw raw = {0};
    sfu_import_options options;
    sfu_import_options_init(&options);
    assert_fails(SFU_ERR_ARGUMENT, sfu__knn(&raw, 2, &options), "knn needs features");
    random_features(&raw, 5, 3, 1, false, 1);
    assert_fails(SFU_ERR_ARGUMENT, sfu__knn(&raw, 5, &options), "knn is 5 with 5 nodes", "expected 1 to 4");
    assert_fails(SFU_ERR_ARGUMENT, sfu__knn(&raw, 0, &options), "knn is 0 with 5 nodes");
    options.progress = refuse;
    assert_fails(SFU_ERR_CANCELLED, sfu__knn(&raw, 2, &options), "cancelled while finding neighbours");
    assert_int_equal(raw.pairs.count, 0);
    sfu__raw_clear(&raw);
}

static sfu_status run(void *context) {
    sfu__raw raw = {0};
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.threads = 1;
    raw = *(const sfu__raw *)context;
    sfu_status status = sfu__knn(&raw, 3, &options);
    sfu__pairs_clear(&raw.pairs);
    return status;
}

static void every_allocation(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        sfu__raw raw = {0};
        random_features(&raw, 100, 20, kind == 0 ? 1 : 20, kind == 2, 3);
        test_fail_each_allocation(run, &raw, 1000);
        sfu__raw_clear(&raw);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shapes), cmocka_unit_test(dense_is_sparse),  cmocka_unit_test(far_features),
        cmocka_unit_test(messages),   cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
