/* components.c - who can be reached from whom: union-find with path halving, the smaller node as root. */
#include "matrix.h"

#include <string.h>

static int32_t root_of(int32_t *parent, int32_t node) {
    while (parent[node] != node) {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    return node;
}

sfu_status sfu__components(int32_t *component, int32_t *count, int32_t *largest, int32_t *largest_root,
                           const sfu_csr *graph) {
    for (int32_t node = 0; node < graph->rows; node++) {
        component[node] = node;
    }
    for (int32_t node = 0; node < graph->rows; node++) {
        for (int64_t i = graph->indptr[node]; i < graph->indptr[node + 1]; i++) {
            const int32_t a = root_of(component, node);
            const int32_t b = root_of(component, graph->indices[i]);
            if (a < b) {
                component[b] = a;
            } else {
                component[a] = b;
            }
        }
    }
    int32_t *sizes = sfu__alloc_zero((size_t)graph->rows, sizeof *sizes);
    if (sizes == NULL) {
        return SFU_ERR_MEMORY;
    }
    *count = 0;
    *largest = 0;
    *largest_root = 0;
    for (int32_t node = 0; node < graph->rows; node++) {
        const int32_t root = root_of(component, node);
        component[node] = root;
        *count += root == node;
        sizes[root]++;
    }
    for (int32_t node = 0; node < graph->rows; node++) {
        if (sizes[node] > *largest) {
            *largest = sizes[node];
            *largest_root = node;
        }
    }
    sfu__free(sizes);
    return SFU_OK;
}
