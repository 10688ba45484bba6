/* tiny.h - the dataset of fuzz/make_seeds.py in every binary format: ten nodes, of which 7 occurs only in the graph,
 * four features, three classes. */
#ifndef SFU_TEST_TINY_H
#define SFU_TEST_TINY_H

#include "support.h"

#include "file.h"
#include "../fuzz/pieces.h"
#include "raw.h"

#include <stdlib.h>

enum { TINY_NODES = 10, TINY_FEATURES = 4, TINY_CLASSES = 3 };

static const float tiny_features[TINY_NODES][TINY_FEATURES] = {
    {1, 0, 0, 2}, {0, 1, 0, 0}, {0, 0, 0.5F, 0}, {1, 1, 0, 0}, {0, 0, 0, 0},
    {0, 0, 1, 1}, {4, 0, 0, 0}, {0, 0, 0, 0},    {0, 5, 5, 0}, {0, 0, 0, 3}};
static const int32_t tiny_labels[TINY_NODES] = {0, 1, 2, 0, -1, 2, 0, -1, 1, 2};

/* How often each edge occurs in Planetoid's graph. */
static const int tiny_graph[TINY_NODES][TINY_NODES] = {
    [0] = {[1] = 1, [2] = 2}, [1] = {[0] = 1}, [2] = {[0] = 2, [9] = 1}, [3] = {[3] = 1}, [5] = {[6] = 1},
    [6] = {[5] = 1, [8] = 1}, [7] = {[8] = 1}, [8] = {[6] = 1, [7] = 1}, [9] = {[2] = 1}};

/* The bytes of a seed. */
static inline sfu__bytes tiny_seed(const char *folder, const char *name) {
    char path[4096];
    sfu__bytes bytes;
    const char *source = getenv("SOURCE");
    snprintf(path, sizeof path, "%s/tests/fuzz/seeds/%s/%s", source != NULL ? source : "..", folder, name);
    assert_ok(sfu__bytes_open(&bytes, path));
    return bytes;
}

/* Matrices have an edge once. */
static inline void assert_tiny_edges(const sfu__raw *raw, bool repeated) {
    int found[TINY_NODES][TINY_NODES] = {{0}};
    assert_true(raw->has_graph);
    assert_int_equal(raw->nodes, TINY_NODES);
    for (size_t b = 0; b < raw->pairs.block_count; b++) {
        assert_null(raw->pairs.blocks[b].weights);
        for (int64_t i = 0; i < raw->pairs.blocks[b].count; i++) {
            found[raw->pairs.blocks[b].ends[2 * i]][raw->pairs.blocks[b].ends[2 * i + 1]]++;
        }
    }
    for (int i = 0; i < TINY_NODES; i++) {
        for (int j = 0; j < TINY_NODES; j++) {
            assert_int_equal(found[i][j], repeated || tiny_graph[i][j] == 0 ? tiny_graph[i][j] : 1);
        }
    }
}

static inline void assert_tiny_features(const sfu__raw *raw) {
    float found[TINY_NODES][TINY_FEATURES] = {{0}};
    assert_true(raw->has_features);
    assert_int_equal(raw->features, TINY_FEATURES);
    for (int i = 0; raw->dense == NULL && i < TINY_NODES; i++) {
        for (int64_t k = raw->sparse.indptr[i]; k < raw->sparse.indptr[i + 1]; k++) {
            found[i][raw->sparse.indices[k]] += raw->sparse.values[k];
        }
    }
    assert_memory_equal(raw->dense != NULL ? raw->dense : found[0], tiny_features, sizeof found);
}

static inline void assert_tiny_labels(const sfu__raw *raw) {
    assert_int_equal(raw->classes, TINY_CLASSES);
    assert_memory_equal(raw->labels, tiny_labels, sizeof tiny_labels);
}

/* A string of a list. */
static inline void assert_name(const sfu__strings *strings, int64_t i, const char *want) {
    size_t size;
    assert_true(i < strings->count);
    const char *bytes = sfu__strings_get(strings, i, &size);
    assert_int_equal(size, strlen(want));
    assert_memory_equal(bytes, want, size);
}

/* The failure has one of these statuses, and one line that begins with the name of the file. */
static inline void assert_clean_failure(sfu_status status, const char *path) {
    assert_true(status == SFU_ERR_FORMAT || status == SFU_ERR_NOT_FOUND);
    assert_non_null(strstr(sfu_message(), path));
    assert_null(strchr(sfu_message(), '\n'));
}

#endif
