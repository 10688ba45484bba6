/* Streamed smoothing matrices: the bits of sfu__smoothing, from rows that are checked when they are read. */
#include "support.h"

#include "random.h"
#include "smoothing_stream.h"

#include <string.h>

enum { NODES = 300, MOST = NODES * NODES };

typedef struct graph {
    int64_t indptr[NODES + 1];
    int32_t indices[MOST];
    float values[MOST];
    float column[NODES];
} graph;

/* About `degree` entries per row; an undirected one equals its transpose, in the weights too. Some weights are 0. */
static sfu__mapped_csr make_graph(graph *g, bool directed, bool weighted, uint32_t degree) {
    static bool edge[NODES][NODES];
    uint32_t state = 7 + degree;
    for (int i = 0; i < NODES; i++) {
        g->column[i] = 0.25F * (float)(i % 5);
        for (int j = 0; j < NODES; j++) {
            state = state * 1664525U + 1013904223U;
            edge[i][j] = !directed && j < i ? edge[j][i] : (state >> 8) % NODES < degree && i % 17 != 3;
        }
    }
    int64_t count = 0;
    for (int i = 0; i < NODES; i++) {
        g->indptr[i] = count;
        for (int j = 0; j < NODES; j++) {
            if (edge[i][j]) {
                g->indices[count] = j;
                g->values[count++] = (float)((i + j) % 4) * 0.5F;
            }
        }
    }
    g->indptr[NODES] = count;
    return (sfu__mapped_csr){{NODES, NODES, g->indptr, g->indices, weighted ? g->values : NULL}, count, "test: adj"};
}

static void compare_rows(const sfu__smoothing_stream *stream, const sfu_matrix *S, int64_t first, int64_t end) {
    sfu__stream_rows rows = {0};
    assert_ok(sfu__stream_rows_add(&rows, stream, first, (first + end) / 2));
    assert_ok(sfu__stream_rows_add(&rows, stream, (first + end) / 2, end));
    assert_int_equal(rows.rows, end - first);
    for (int64_t row = first; row < end; row++) {
        const int64_t count = S->indptr[row + 1] - S->indptr[row], at = rows.indptr[row - first];
        assert_int_equal(rows.indptr[row - first + 1] - at, count);
        assert_memory_equal(rows.indices + at, S->indices + S->indptr[row], (size_t)count * sizeof(int32_t));
        assert_memory_equal(rows.values + at, S->values + S->indptr[row], (size_t)count * sizeof(float));
    }
    sfu__stream_rows_clear(&rows);
}

static void compare(const sfu__mapped_csr *mapped, bool directed, const sfu_smoothing_options *options) {
    sfu_matrix S = {0};
    sfu__smoothing_stream *stream = NULL;
    assert_ok(sfu__smoothing(&S, &mapped->csr, !directed, options, 2));
    assert_ok(sfu__smoothing_stream_new(&stream, mapped, !directed, options, 1.0, 2));
    assert_int_equal(stream->nonzeros, S.indptr[S.rows]);
    compare_rows(stream, &S, 0, NODES);
    compare_rows(stream, &S, 100, 103);
    sfu__smoothing_stream_free(stream);
    sfu__matrix_clear(&S);
}

static void test_same_bits(void **state) {
    (void)state;
    static graph g;
    const sfu_norm norms[] = {SFU_NORM_SYM, SFU_NORM_ROW, SFU_NORM_COL, SFU_NORM_NONE, SFU_NORM_SYM_ROW};
    for (int kind = 0; kind < 4; kind++) {
        const bool directed = kind % 2 == 1;
        const sfu__mapped_csr mapped = make_graph(&g, directed, kind > 1, 9);
        for (size_t i = 0; i < 4 * sizeof norms / sizeof norms[0]; i++) {
            sfu_smoothing_options options;
            sfu_smoothing_options_init(&options);
            options.norm = norms[i / 4];
            options.self = i % 2 == 0 ? 1.0 : 0.0;
            options.self_column = i % 4 == 2 ? g.column : NULL;
            options.neighbour_column = i % 4 == 3 ? g.column : NULL;
            compare(&mapped, directed, &options);
            options.exponents = true;
            const int quarters = (int)i / 4;
            options.left = 0.25 * quarters;
            options.right = 0.25;
            compare(&mapped, directed, &options);
        }
    }
}

static void test_symmetric(void **state) {
    (void)state;
    static graph g;
    sfu_smoothing_options options;
    sfu_smoothing_options_init(&options);
    for (int kind = 0; kind < 3; kind++) {
        sfu__smoothing_stream *stream = NULL;
        const sfu__mapped_csr mapped = make_graph(&g, kind == 1, false, 9);
        options.norm = kind == 2 ? SFU_NORM_ROW : SFU_NORM_SYM;
        assert_ok(sfu__smoothing_stream_new(&stream, &mapped, kind != 1, &options, 0.9, 1));
        assert_int_equal(stream->symmetric, kind == 0);
        sfu__smoothing_stream_free(stream);
    }
}

/* The file changes after the factors were made. */
static void test_changed_under_us(void **state) {
    (void)state;
    static graph g;
    sfu_smoothing_options options;
    sfu__smoothing_stream *stream = NULL;
    sfu__stream_rows rows = {0};
    const sfu__mapped_csr mapped = make_graph(&g, false, false, 9);
    sfu_smoothing_options_init(&options);
    assert_ok(sfu__smoothing_stream_new(&stream, &mapped, true, &options, 1.0, 1));
    const int32_t before = g.indices[g.indptr[51] - 1];
    g.indices[g.indptr[51] - 1] = NODES;
    assert_fails(SFU_ERR_FORMAT, sfu__stream_rows_add(&rows, stream, 40, 60), "test: adj.indices", "in row 50",
                 "[0, 300)");
    g.indices[g.indptr[51] - 1] = -1;
    assert_fails(SFU_ERR_FORMAT, sfu__stream_rows_add(&rows, stream, 50, 51), "in row 50, is -1");
    g.indices[g.indptr[51] - 1] = before;
    const int64_t offset = g.indptr[70];
    g.indptr[70] = INT64_MAX;
    assert_fails(SFU_ERR_FORMAT, sfu__stream_rows_add(&rows, stream, 60, 80), "test: adj.indptr: row 69");
    g.indptr[70] = -5;
    assert_fails(SFU_ERR_FORMAT, sfu__stream_rows_add(&rows, stream, 70, 71), "row 70 goes from -5");
    g.indptr[70] = offset;
    sfu__stream_rows_empty(&rows);
    assert_ok(sfu__stream_rows_add(&rows, stream, 40, 80));
    sfu__stream_rows_clear(&rows);
    sfu__smoothing_stream_free(stream);
}

static void test_mapped_check(void **state) {
    (void)state;
    static graph g;
    const sfu__mapped_csr mapped = make_graph(&g, true, true, 9);
    const sfu__csr_rules rules = {"test: adj", mapped.nonzeros, true, 2, true};
    bool asymmetric = false;
    assert_ok(sfu__csr_check(&mapped.csr, &rules, &asymmetric));
    assert_true(asymmetric);
    g.values[20] = -1.0F;
    assert_fails(SFU_ERR_FORMAT, sfu__csr_check(&mapped.csr, &rules, &asymmetric), "test: adj.weight: entry 20");
    g.values[20] = 1.0F;
    g.indices[20] = NODES + 3;
    assert_fails(SFU_ERR_FORMAT, sfu__csr_check(&mapped.csr, &rules, &asymmetric), "test: adj.indices: entry 20");
}

static sfu_status stream_once(void *context) {
    const sfu__mapped_csr *mapped = context;
    sfu_smoothing_options options;
    sfu__smoothing_stream *stream = NULL;
    sfu__stream_rows rows = {0};
    sfu_smoothing_options_init(&options);
    options.right = 0.25;
    options.exponents = true;
    sfu_status status = sfu__smoothing_stream_new(&stream, mapped, false, &options, 1.0, 1);
    if (status == SFU_OK) {
        status = sfu__stream_rows_add(&rows, stream, 0, NODES);
    }
    sfu__stream_rows_clear(&rows);
    sfu__smoothing_stream_free(stream);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    static graph g;
    sfu__mapped_csr mapped = make_graph(&g, true, true, 9);
    test_fail_each_allocation(stream_once, &mapped, 100);
}

/* Pieces cover all rows, and none has more entries than it may, nor more than one row if it is longer. */
static void test_pieces(void **state) {
    static const int64_t indptr[] = {0, 3, 3, 12, 13, 14, 20};
    const sfu__mapped_csr from = {{6, 20, indptr, NULL, NULL}, 20, "test: adj"};
    (void)state;
    assert_int_equal(sfu__row_piece(&from, 1), 10); /* the longest row, and a loop */
    assert_int_equal(sfu__row_piece(&from, 2), 17); /* twice the mean of two rows */
    assert_int_equal(sfu__row_piece(&from, 100), 26);
    static const int64_t ends[] = {2, 3, 5, 6};
    int64_t first = 0;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        first = sfu__row_piece_end(&from, first, 6, 10);
        assert_int_equal(first, ends[i]);
    }
    assert_int_equal(sfu__row_piece_end(&from, 2, 6, 3), 3);
    assert_true(sfu__row_piece_has(&from, 2, 10));
    assert_false(sfu__row_piece_has(&from, 2, 9));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),           cmocka_unit_test(test_symmetric),
        cmocka_unit_test(test_changed_under_us),    cmocka_unit_test(test_mapped_check),
        cmocka_unit_test(test_failing_allocations), cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
