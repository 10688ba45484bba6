/* Assembly of the adjacency matrix from random edges, against a slow and obviously correct table of all pairs. */
#include "support.h"

#include "assemble.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 64 };

typedef struct made {
    int64_t nodes, count;
    uint32_t *ends;
    float *weights;
} made;

static made make_edges(uint64_t seed, int64_t nodes, int64_t count, bool weighted) {
    made made = {nodes, count, malloc((size_t)(2 * count + 1) * sizeof(uint32_t)), NULL};
    sfu__random random = sfu__random_start(seed, 99);
    for (int64_t i = 0; i < 2 * count; i++) {
        made.ends[i] = (uint32_t)sfu__random_below(&random, (uint64_t)nodes);
    }
    if (weighted) {
        made.weights = malloc((size_t)(count + 1) * sizeof(float));
        for (int64_t i = 0; i < count; i++) {
            made.weights[i] = (float)sfu__random_below(&random, 16) / 4;
        }
    }
    return made;
}

static void free_edges(made *made) {
    free(made->ends);
    free(made->weights);
}

/* The same edges as pairs, in blocks of uneven size, some of them empty. */
static sfu_status to_pairs(sfu__pairs *pairs, const made *made, int64_t block) {
    int64_t from = 0;
    for (int64_t turn = 0; from < made->count || turn == 0; turn++) {
        const int64_t want = turn % 3 == 1 ? 0 : block + turn % 2;
        const int64_t count = from + want < made->count ? want : made->count - from;
        uint32_t *ends = sfu__alloc((size_t)(2 * count), sizeof *ends);
        float *weights = made->weights != NULL ? sfu__alloc((size_t)count, sizeof *weights) : NULL;
        if (ends == NULL || (made->weights != NULL && weights == NULL)) {
            sfu__free(ends);
            sfu__free(weights);
            return SFU_ERR_MEMORY;
        }
        memcpy(ends, made->ends + 2 * from, (size_t)(2 * count) * sizeof *ends);
        if (weights != NULL) {
            memcpy(weights, made->weights + from, (size_t)count * sizeof *weights);
        }
        const sfu_status status = sfu__pairs_take(pairs, &ends, &weights, count);
        if (status != SFU_OK) {
            return status;
        }
        from += count;
    }
    return SFU_OK;
}

/* One cell of the table: how often the ordered pair occurs, and its weight. */
typedef struct cell {
    int count;
    float weight;
} cell;

static cell table[NODES_MAX][NODES_MAX];

static void fill_table(const made *made, sfu_duplicates rule) {
    memset(table, 0, sizeof table);
    for (int64_t i = 0; i < made->count; i++) {
        cell *cell = &table[made->ends[2 * i]][made->ends[2 * i + 1]];
        const float weight = made->weights != NULL ? made->weights[i] : 1;
        if (cell->count == 0 || (rule == SFU_DUPLICATES_MAX && weight > cell->weight)) {
            cell->weight = weight;
        } else if (rule == SFU_DUPLICATES_SUM) {
            cell->weight += weight;
        }
        cell->count++;
    }
}

/* With `memory`, in runs on disk. Returns the number of runs. */
static int64_t compare(const made *made, const sfu__assembly *how, int64_t block) {
    sfu__pairs pairs = {.folder = how->memory > 0 ? "." : NULL};
    sfu_matrix graph;
    sfu__assembly assembly = *how;
    assert_ok(to_pairs(&pairs, made, block));
    assert_ok(sfu__assemble(&graph, &pairs, made->nodes, &assembly));
    fill_table(made, how->duplicates);

    int64_t loops = 0;
    int64_t duplicates = 0;
    int64_t at = 0;
    for (int i = 0; i < made->nodes; i++) {
        assert_int_equal(graph.indptr[i], at);
        for (int j = 0; j < made->nodes; j++) {
            const cell there = table[i][j];
            const cell back = how->directed ? (cell){0} : table[j][i];
            duplicates += there.count > 1 ? there.count - 1 : 0;
            if (there.count + back.count == 0) {
                continue;
            }
            if (i == j && !how->keep_loops) {
                loops++;
                continue;
            }
            assert_int_equal(graph.indices[at], j);
            if (made->weights != NULL) {
                const float weight =
                    there.count > 0 && (back.count == 0 || there.weight > back.weight) ? there.weight : back.weight;
                assert_true(graph.values[at] == weight);
            }
            at++;
        }
    }
    assert_int_equal(graph.indptr[made->nodes], at);
    assert_int_equal(assembly.loops_dropped, loops);
    assert_int_equal(assembly.duplicates_dropped, duplicates);
    assert_true((graph.values != NULL) == (made->weights != NULL && made->count > 0));
    assert_true((graph.scratch != NULL) == (how->memory > 0));
    sfu__matrix_clear(&graph);
    return assembly.runs;
}

static void against_the_table(void **state) {
    (void)state;
    int64_t most_runs = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        const int64_t nodes = 1 + (int64_t)(seed * 7 % NODES_MAX);
        made made = make_edges(seed, nodes, (int64_t)(seed * seed), seed % 2 == 1);
        for (int directed = 0; directed < 2; directed++) {
            for (int keep = 0; keep < 2; keep++) {
                sfu__assembly how = {.directed = directed != 0,
                                     .keep_loops = keep != 0,
                                     .duplicates = (sfu_duplicates)(seed % 3),
                                     .threads = 1 + (int)(seed % 3)};
                assert_int_equal(compare(&made, &how, 1 + (int64_t)(seed % 50)), 0);
                how.memory = nodes > 30 ? 24000 : 200000; /* the largest row must fit */
                const int64_t runs = compare(&made, &how, 1 + (int64_t)(seed % 50));
                most_runs = runs > most_runs ? runs : most_runs;
            }
        }
        free_edges(&made);
    }
    assert_in_range(most_runs, 6, 1000);
}

/* Large enough for many slices and buckets and for rows that use the radix sort: any number of threads and any blocks
 * give the same bytes as a comparison sort. */
static int compare_u64(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void large_and_threaded(void **state) {
    (void)state;
    enum { COUNT = 1200000, NODES = 20000 };
    made made = make_edges(5, NODES, COUNT, true);
    for (int64_t i = 0; i < COUNT; i += 3) {
        made.ends[2 * i] %= 5; /* hubs */
    }
    uint64_t *all = malloc(2 * (size_t)COUNT * sizeof *all);
    int64_t n = 0;
    for (int64_t i = 0; i < COUNT; i++) {
        const uint64_t from = made.ends[2 * i], to = made.ends[2 * i + 1];
        if (from != to) {
            all[n++] = from << 32 | to;
            all[n++] = to << 32 | from;
        }
    }
    qsort(all, (size_t)n, sizeof *all, compare_u64);
    sfu_matrix first = {0};
    for (int turn = 0; turn < 8; turn++) { /* from the fourth on, on disk, with less and less memory */
        const int threads = 1 + turn % 4;
        sfu__pairs pairs = {.folder = turn < 4 ? NULL : "."};
        sfu_matrix graph;
        sfu__assembly assembly = {
            .duplicates = SFU_DUPLICATES_SUM, .threads = threads, .memory = 100000000 >> turn / 2};
        assert_ok(to_pairs(&pairs, &made, turn < 4 ? 77777 * threads : 10000));
        assert_ok(sfu__assemble(&graph, &pairs, NODES, &assembly));
        assert_true(turn < 6 || assembly.runs > 3);
        if (turn > 0) {
            assert_memory_equal(graph.indptr, first.indptr, (NODES + 1) * sizeof *first.indptr);
            assert_memory_equal(graph.indices, first.indices, (size_t)first.indptr[NODES] * sizeof *first.indices);
            assert_memory_equal(graph.values, first.values, (size_t)first.indptr[NODES] * sizeof *first.values);
            sfu__matrix_clear(&graph);
            continue;
        }
        first = graph;
        int64_t at = 0;
        for (int64_t i = 0; i < n; i++) {
            if (i > 0 && all[i] == all[i - 1]) {
                continue;
            }
            assert_int_equal(first.indices[at], (int32_t)(uint32_t)all[i]);
            assert_in_range(at, first.indptr[all[i] >> 32], first.indptr[(all[i] >> 32) + 1] - 1);
            at++;
        }
        assert_int_equal(first.indptr[NODES], at);
    }
    sfu__matrix_clear(&first);
    free(all);
    free_edges(&made);
}

/* More rows than a bucket can number: there are several buckets although the edges would fit one. */
static void many_nodes_few_edges(void **state) {
    (void)state;
    enum { NODES = 300000 };
    uint32_t ends[] = {0, 65536, 65535, NODES - 1, 131072, 65536, NODES - 1, 65535};
    const made few = {NODES, 4, ends, NULL};
    sfu__pairs pairs = {0};
    sfu_matrix graph;
    sfu__assembly assembly = {.threads = 2};
    assert_ok(to_pairs(&pairs, &few, 3));
    assert_ok(sfu__assemble(&graph, &pairs, NODES, &assembly));
    static const int32_t rows[] = {0, 65535, 65536, 65536, 131072, NODES - 1};
    static const int32_t columns[] = {65536, NODES - 1, 0, 131072, 65536, 65535};
    assert_int_equal(graph.indptr[NODES], 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(graph.indices[i], columns[i]);
        assert_in_range(i, graph.indptr[rows[i]], graph.indptr[rows[i] + 1] - 1);
    }
    assert_int_equal(assembly.duplicates_dropped, 0);
    sfu__matrix_clear(&graph);
}

static void bad_edges(void **state) {
    (void)state;
    sfu_matrix graph;
    sfu__assembly assembly = {.threads = 1};
    sfu__pairs pairs = {0};
    uint32_t far_ends[] = {0, 1, 1, 3};
    const made outside = {3, 2, far_ends, NULL};
    assert_ok(to_pairs(&pairs, &outside, 10));
    assert_fails(SFU_ERR_FORMAT, sfu__assemble(&graph, &pairs, 3, &assembly), "edge 1", "node 3");
    float weights[] = {1, -2};
    uint32_t ends[] = {0, 1, 1, 2};
    const made negative = {3, 2, ends, weights};
    assert_ok(to_pairs(&pairs, &negative, 1));
    assert_fails(SFU_ERR_FORMAT, sfu__assemble(&graph, &pairs, 3, &assembly), "edge 1", "weight -2");
    assert_null(pairs.blocks);
}

/* Too little memory: it says how much is missing, and that much more is enough. */
static void little_memory(void **state) {
    (void)state;
    made made = make_edges(8, 60, 5000, true);
    sfu_matrix graph;
    sfu__assembly assembly = {.threads = 1, .memory = 1};
    sfu_status status = SFU_ERR_MEMORY;
    for (int turn = 0; turn < 5 && status == SFU_ERR_MEMORY; turn++) { /* runs first, then the largest bucket */
        sfu__pairs pairs = {.folder = "."};
        assert_ok(to_pairs(&pairs, &made, 20));
        status = sfu__assemble(&graph, &pairs, 60, &assembly);
        assert_true((status == SFU_ERR_MEMORY) == (assembly.lacking > 0));
        assembly.memory += assembly.lacking;
        assembly.lacking = 0;
    }
    assert_ok(status);
    assert_in_range(assembly.memory, 5000, 500000);
    sfu__matrix_clear(&graph);
    sfu__pairs nowhere = {.folder = "no/such/folder"};
    assert_fails(SFU_ERR_IO, to_pairs(&nowhere, &made, 20), "no/such/folder: cannot create a temporary file");
    sfu__pairs_clear(&nowhere);
    free_edges(&made);
}

static const char *folder_of_pairs;

static sfu_status assemble_once(void *context) {
    sfu__pairs pairs = {.folder = folder_of_pairs};
    sfu_matrix graph = {0};
    sfu__assembly assembly = {.threads = 2, .memory = 24000};
    sfu_status status = to_pairs(&pairs, context, 20);
    if (status == SFU_OK) {
        status = sfu__assemble(&graph, &pairs, 50, &assembly);
    }
    sfu__pairs_clear(&pairs);
    sfu__matrix_clear(&graph);
    return status;
}

static void no_memory(void **state) {
    (void)state;
    made made = make_edges(3, 50, 200, true);
    test_fail_each_allocation(assemble_once, &made, 200);
    folder_of_pairs = ".";
    test_fail_each_allocation(assemble_once, &made, 500);
    folder_of_pairs = NULL;
    free_edges(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_the_table),    cmocka_unit_test(large_and_threaded),
                                       cmocka_unit_test(many_nodes_few_edges), cmocka_unit_test(bad_edges),
                                       cmocka_unit_test(little_memory),        cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
