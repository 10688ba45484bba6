/* components.c - who can be reached from whom: union-find with path halving, the smaller node as root.
 *
 * Most graphs have one component that holds almost everything. So two edges a node are looked at first; the component
 * that has grown largest by then is taken for it, and its nodes need no further look: in a symmetric graph an edge that
 * leaves it is seen from its other end (the idea is Afforest's: Sutton, Ben-Nun, Barak, IPDPS 2018).
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

static bool together(int32_t *parent, int32_t a, int32_t b) { return root_of(parent, a) == root_of(parent, b); }

/* Points every node at its root and counts the nodes of each; returns the root of the largest, the smallest among
 * equals. */
static int32_t settle(int32_t *parent, int32_t *sizes, int32_t nodes) {
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
    const int32_t giant = settle(component, sizes, graph->rows);
    for (int32_t node = 0; node < graph->rows; node++) {
        SFU_TRY(sfu__poll_at(node));
        for (int64_t i = indptr[node]; i < indptr[node + 1] && !(symmetric && together(component, node, giant)); i++) {
            join(component, node, graph->indices[i]);
        }
    }
    *largest_root = settle(component, sizes, graph->rows);
    *largest = graph->rows > 0 ? sizes[*largest_root] : 0;
    *count = 0;
    for (int32_t node = 0; node < graph->rows; node++) {
        *count += component[node] == node;
    }
done:
    sfu__free(sizes);
    return status;
}
