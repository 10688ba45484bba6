/* components.c - connected components by union-find with path halving; the smaller node becomes the root.
 *
 * Most graphs have one giant component. So two edges per node are processed first, and the largest component at that
 * point is assumed to be the giant one. Its nodes need no further work: in a symmetric graph an edge that leaves the
 * component is also seen from its other end (Afforest: Sutton, Ben-Nun, Barak, IPDPS 2018).
 */
#include "row_block.h"

#include "progress.h"

enum { FIRST_EDGES = 2, ROWS_AT_ONCE = 1 << 11 };

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

typedef struct component_job {
    int32_t *parent, *sizes; /* [nodes] */
    const sfu__mapped_csr *graph;
    bool mapped; /* rows are copied and checked before they are used */
    sfu__row_block block;
    int32_t giant; /* a node whose component needs no further work; -1: none */
} component_job;

/* The first edges of each row; -1: all. */
static void join_rows(component_job *self, int64_t most) {
    const sfu_csr *rows = &self->block.csr;
    for (int32_t row = 0; row < rows->rows; row++) {
        const int32_t node = (int32_t)self->block.first + row;
        const int64_t end = rows->indptr[row + 1];
        for (int64_t i = rows->indptr[row]; i < end && (most < 0 || i < rows->indptr[row] + most); i++) {
            if (self->giant >= 0 && connected(self->parent, node, self->giant)) {
                break;
            }
            join(self->parent, node, rows->indices[i]);
        }
    }
}

static sfu_status join_all(component_job *self, int64_t most) {
    sfu_status status = SFU_OK;
    const int64_t nodes = self->graph->csr.rows;
    for (int64_t first = 0; first < nodes; first += ROWS_AT_ONCE) {
        const int64_t end = first + ROWS_AT_ONCE < nodes ? first + ROWS_AT_ONCE : nodes;
        SFU_TRY(sfu__poll());
        if (self->mapped) {
            SFU_TRY(sfu__row_block_read(&self->block, self->graph, first, end));
        } else {
            sfu__row_block_view(&self->block, self->graph, first, end);
        }
        join_rows(self, most);
    }
done:
    return status;
}

static sfu_status find_components(component_job *self, bool symmetric) {
    sfu_status status = SFU_OK;
    const int32_t nodes = self->graph->csr.rows;
    SFU_ALLOC(self->sizes, nodes);
    for (int32_t node = 0; node < nodes; node++) {
        self->parent[node] = node;
    }
    self->giant = -1;
    SFU_TRY(join_all(self, FIRST_EDGES));
    const int32_t giant = compress_and_count(self->parent, self->sizes, nodes);
    self->giant = symmetric && nodes > 0 ? giant : -1;
    SFU_TRY(join_all(self, -1));
done:
    return status;
}

static sfu_status components(int32_t *component, int32_t *count, int32_t *largest, int32_t *largest_root,
                             const sfu__mapped_csr *graph, bool mapped, bool symmetric) {
    sfu_status status = SFU_OK;
    component_job self = {.parent = component, .graph = graph, .mapped = mapped};
    const int32_t nodes = graph->csr.rows;
    SFU_TRY(find_components(&self, symmetric));
    *largest_root = compress_and_count(component, self.sizes, nodes);
    *largest = nodes > 0 ? self.sizes[*largest_root] : 0;
    *count = 0;
    for (int32_t node = 0; node < nodes; node++) {
        *count += component[node] == node;
    }
done:
    sfu__row_block_clear(&self.block);
    sfu__free(self.sizes);
    return status;
}

sfu_status sfu__components(int32_t *component, int32_t *count, int32_t *largest, int32_t *largest_root,
                           const sfu_csr *graph, bool symmetric) {
    const sfu__mapped_csr from = {.csr = *graph};
    return components(component, count, largest, largest_root, &from, false, symmetric);
}

sfu_status sfu__components_mapped(int32_t *component, int32_t *count, int32_t *largest, int32_t *largest_root,
                                  const sfu__mapped_csr *graph, bool symmetric) {
    return components(component, count, largest, largest_root, graph, true, symmetric);
}
