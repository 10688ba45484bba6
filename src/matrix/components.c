/* components.c - connected components by union-find with path halving; the smaller node becomes the root.
 *
 * Most graphs have one giant component. So two edges per node are processed first, and the largest component at that
 * point is assumed to be the giant one. Its nodes need no further work: in a symmetric graph an edge that leaves the
 * component is also seen from its other end (Afforest: Sutton, Ben-Nun, Barak, IPDPS 2018).
 */
#include "matrix.h"
#include "progress.h"

enum { FIRST_EDGES = 2 };

static int32_t root_of(int32_t *parent, int32_t node) {
    while (parent[node] != node) {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    return node;
}

static void join(int32_t *parent, int32_t a, int32_t b) {
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b) {
        parent[b] = a;
    } else {
        parent[a] = b;
    }
}

static bool connected(int32_t *parent, int32_t a, int32_t b) { return root_of(parent, a) == root_of(parent, b); }

/* Points every node at its root and computes the component sizes; returns the root of the largest component (ties: the
 * smallest root). */
static int32_t compress_and_count(int32_t *parent, int32_t *sizes, int32_t nodes) {
    int32_t largest = 0;
    for (int32_t node = 0; node < nodes; node++) {
        sizes[node] = 0;
    }
    for (int32_t node = 0; node < nodes; node++) {
        parent[node] = root_of(parent, node);
        sizes[parent[node]]++;
    }
    for (int32_t node = 0; node < nodes; node++) {
        largest = sizes[node] > sizes[largest] ? node : largest;
    }
    return largest;
}

sfu_status sfu__components(int32_t *component, int32_t *count, int32_t *largest, int32_t *largest_root,
                           const sfu_csr *graph, bool symmetric) {
    sfu_status status = SFU_OK;
    int32_t *sizes = NULL;
    SFU_ALLOC(sizes, graph->rows);
    for (int32_t node = 0; node < graph->rows; node++) {
        component[node] = node;
    }
    const int64_t *indptr = graph->indptr;
    for (int32_t node = 0; node < graph->rows; node++) {
        SFU_TRY(sfu__poll_at(node));
        for (int64_t i = indptr[node]; i < indptr[node + 1] && i < indptr[node] + FIRST_EDGES; i++) {
            join(component, node, graph->indices[i]);
        }
    }
    const int32_t giant = compress_and_count(component, sizes, graph->rows);
    for (int32_t node = 0; node < graph->rows; node++) {
        SFU_TRY(sfu__poll_at(node));
        for (int64_t i = indptr[node]; i < indptr[node + 1] && !(symmetric && connected(component, node, giant)); i++) {
            join(component, node, graph->indices[i]);
        }
    }
    *largest_root = compress_and_count(component, sizes, graph->rows);
    *largest = graph->rows > 0 ? sizes[*largest_root] : 0;
    *count = 0;
    for (int32_t node = 0; node < graph->rows; node++) {
        *count += component[node] == node;
    }
done:
    sfu__free(sizes);
    return status;
}
