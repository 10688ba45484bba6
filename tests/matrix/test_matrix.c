/* Connected components against a search from every node; row sorting against a dense sum. */
#include "support.h"

#include "assemble.h"
#include "random.h"
#include "row_block.h"

#include <stdlib.h>
#include <string.h>

/* A random graph of several components, as pairs. */
static void random_graph(sfu_matrix *graph, uint64_t seed, int32_t nodes, int64_t edges, bool directed) {
    sfu__random random = sfu__random_start(seed, 7);
    sfu__pairs pairs = {0};
    uint32_t *ends = sfu__alloc((size_t)(2 * edges), sizeof *ends);
    float *weights = NULL;
    for (int64_t i = 0; i < 2 * edges; i++) {
        ends[i] = (uint32_t)sfu__random_below(&random, (uint64_t)nodes);
    }
    assert_ok(sfu__pairs_take(&pairs, &ends, &weights, edges));
    sfu__assembly assembly = {.threads = 1, .directed = directed};
    assert_ok(sfu__assemble(graph, &pairs, nodes, &assembly));
}

/* Slow and correct: propagates the smallest node along edges in both directions until nothing changes. */
static void pass_along(int32_t *component, const sfu_csr *graph) {
    for (int32_t node = 0; node < graph->rows; node++) {
        component[node] = node;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t node = 0; node < graph->rows; node++) {
            for (int64_t i = graph->indptr[node]; i < graph->indptr[node + 1]; i++) {
                int32_t *a = &component[node];
                int32_t *b = &component[graph->indices[i]];
                if (*a != *b) {
                    *a = *b = *a < *b ? *a : *b;
                    changed = true;
                }
            }
        }
    }
}

static void components(void **state) {
    (void)state;
    enum { MOST = 300 };
    int32_t fast[MOST], slow[MOST];
    for (uint64_t seed = 0; seed < 200; seed++) {
        sfu_matrix graph;
        const bool directed = seed % 2 == 1;
        const int32_t nodes = 1 + (int32_t)(seed * 3 % MOST);
        random_graph(&graph, seed, nodes, (int64_t)(seed * 2), directed);
        const sfu_csr view = sfu__matrix_view(&graph);
        int32_t count, largest, root, wanted = 0, sizes[MOST] = {0}, wanted_root = 0;
        assert_ok(sfu__components(fast, &count, &largest, &root, &view, !directed));
        pass_along(slow, &view);
        assert_memory_equal(fast, slow, (size_t)nodes * sizeof *fast);
        const sfu__mapped_csr mapped = {view, view.indptr[nodes], "graph"};
        int32_t mapped_count, mapped_largest, mapped_root;
        assert_ok(sfu__components_mapped(fast, &mapped_count, &mapped_largest, &mapped_root, &mapped, !directed));
        assert_memory_equal(fast, slow, (size_t)nodes * sizeof *fast);
        assert_true(mapped_count == count && mapped_largest == largest && mapped_root == root);
        for (int32_t node = 0; node < nodes; node++) {
            wanted += slow[node] == node;
            sizes[slow[node]]++;
        }
        for (int32_t node = 0; node < nodes; node++) {
            wanted_root = sizes[node] > sizes[wanted_root] ? node : wanted_root;
        }
        assert_int_equal(count, wanted);
        assert_int_equal(root, wanted_root);
        assert_int_equal(largest, sizes[wanted_root]);
        sfu__matrix_clear(&graph);
    }
}

static void tidied(void **state) {
    (void)state;
    enum { ROWS = 5, COLS = 9, MOST = 40 };
    sfu__random random = sfu__random_start(4, 4);
    for (int turn = 0; turn < 300; turn++) {
        float dense[ROWS][COLS] = {{0}};
        sfu_matrix matrix = {.rows = ROWS, .cols = COLS};
        matrix.indptr = sfu__alloc(ROWS + 1, sizeof *matrix.indptr);
        matrix.indices = sfu__alloc(MOST, sizeof *matrix.indices);
        matrix.values = turn % 4 == 0 ? NULL : sfu__alloc(MOST, sizeof *matrix.values);
        int64_t n = 0;
        int64_t wanted_merged = 0;
        matrix.indptr[0] = 0;
        for (int row = 0; row < ROWS; row++) {
            int seen[COLS] = {0};
            for (int64_t left = (int64_t)sfu__random_below(&random, MOST / ROWS); left > 0; left--) {
                const int32_t column = (int32_t)sfu__random_below(&random, COLS);
                const float value = matrix.values == NULL ? 1 : (float)sfu__random_below(&random, 5) - 2;
                matrix.indices[n] = column;
                if (matrix.values != NULL) {
                    matrix.values[n] = value;
                }
                dense[row][column] += value;
                wanted_merged += seen[column]++ > 0;
                n++;
            }
            matrix.indptr[row + 1] = n;
        }
        int64_t merged = -1;
        assert_ok(sfu__matrix_canonicalize(&matrix, &merged));
        assert_int_equal(merged, wanted_merged);
        for (int row = 0; row < ROWS; row++) {
            int64_t i = matrix.indptr[row];
            for (int column = 0; column < COLS; column++) {
                if (dense[row][column] != 0) {
                    assert_true(i < matrix.indptr[row + 1]);
                    assert_int_equal(matrix.indices[i], column);
                    assert_true((matrix.values != NULL ? matrix.values[i] : 1) == dense[row][column]);
                    i++;
                }
            }
            assert_int_equal(i, matrix.indptr[row + 1]);
        }
        sfu__matrix_clear(&matrix);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(components), cmocka_unit_test(tidied)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
