/* noise_edges.c - draws the edges that are removed or rewired, and their new ends.
 *
 * The edges are put into a random order of the seed, of which a larger share takes a longer beginning. Rewiring goes
 * through that beginning edge by edge, so that the graph of a larger share continues that of a smaller one.
 */
#include "noise.h"

#include <string.h>

enum { ORDER = 0, ENDS = 1 }; /* streams */
#define EMPTY UINT64_MAX      /* no edge has this key: nodes are below 2^31 */

void sfu__noise_clear(sfu__noise *noise) {
    sfu__free(noise->edges);
    sfu__free(noise->gone);
    sfu__free(noise->ends);
    sfu__free(noise->table);
    sfu__free(noise->used_by[0]);
    if (noise->used_by[1] != noise->used_by[0]) {
        sfu__free(noise->used_by[1]);
    }
    *noise = (sfu__noise){0};
}

/* ---- which edges ------------------------------------------------------------------------------------------------- */

static bool is_edge(const sfu__noise *self, int32_t from, int32_t to) {
    return self->directed ? from != to : from < to;
}

static int64_t list_edges(const sfu__noise *self, int64_t *edges) {
    int64_t count = 0;
    for (int32_t row = 0; row < self->graph.rows; row++) {
        for (int64_t i = self->graph.indptr[row]; i < self->graph.indptr[row + 1]; i++) {
            if (is_edge(self, row, self->graph.indices[i])) {
                edges[count++] = i;
            }
        }
    }
    return count;
}

/* The first steps of a Fisher-Yates shuffle: each item of the beginning is drawn from those that are left. */
static sfu_status shuffle_beginning(int64_t *items, int64_t count, int64_t beginning, uint64_t seed) {
    sfu_status status = SFU_OK;
    sfu__random random = sfu__random_start(seed, sfu__stream_of(SFU__STREAM_NOISE, ORDER));
    for (int64_t i = 0; i < beginning; i++) {
        const int64_t j = i + (int64_t)sfu__random_below(&random, (uint64_t)(count - i));
        const int64_t swap = items[i];
        SFU_TRY(sfu__poll_at(i));
        items[i] = items[j];
        items[j] = swap;
    }
done:
    return status;
}

sfu_status sfu__noise_draw(sfu__noise *noise, const sfu_csr *graph, bool directed, double share, uint64_t seed) {
    sfu_status status = SFU_OK;
    const int64_t nonzeros = graph->indptr[graph->rows];
    noise->graph = *graph;
    noise->directed = directed;
    SFU_ALLOC(noise->edges, nonzeros);
    SFU_ALLOC_ZERO(noise->gone, nonzeros);
    noise->count = list_edges(noise, noise->edges);
    noise->changed = (int64_t)(share * (double)noise->count + 0.5);
    SFU_TRY(shuffle_beginning(noise->edges, noise->count, noise->changed, seed));
    for (int64_t i = 0; i < noise->changed; i++) {
        noise->gone[noise->edges[i]] = true;
    }
done:
    return status;
}

/* ---- the edges of the graph so far ------------------------------------------------------------------------------- */

static int32_t row_of(const sfu_csr *graph, int64_t position) {
    int32_t low = 0, high = graph->rows; /* indptr[low] <= position < indptr[high] */
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (graph->indptr[middle] <= position) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint64_t key_of(const sfu__noise *self, int32_t from, int32_t to) {
    const bool swap = !self->directed && from > to;
    return (uint64_t)(uint32_t)(swap ? to : from) << 32 | (uint32_t)(swap ? from : to);
}

/* The slot of a key, or the free one where it belongs. */
static uint64_t *slot_of(const sfu__noise *self, uint64_t key) {
    uint64_t slot = (key * 0x9e3779b97f4a7c15u) >> 32;
    while (self->table[slot & self->mask] != EMPTY && self->table[slot & self->mask] != key) {
        slot++;
    }
    return &self->table[slot & self->mask];
}

/* The original edges that are still there, and the new ones. */
static bool has_edge(const sfu__noise *self, int32_t from, int32_t to) {
    const sfu_csr *graph = &self->graph;
    const uint64_t key = key_of(self, from, to);
    const int32_t row = (int32_t)(key >> 32), column = (int32_t)(uint32_t)key;
    int64_t low = graph->indptr[row], high = graph->indptr[row + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (graph->indices[middle] < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool original = low < graph->indptr[row + 1] && graph->indices[low] == column && !self->gone[low];
    return original || *slot_of(self, key) == key;
}

/* ---- rewiring ---------------------------------------------------------------------------------------------------- */

static sfu_status start_rewiring(sfu__noise *self) {
    sfu_status status = SFU_OK;
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)self->changed) {
        slots *= 2;
    }
    SFU_ALLOC(self->ends, 2 * self->changed);
    SFU_ALLOC(self->table, slots);
    memset(self->table, 0xff, slots * sizeof *self->table); /* EMPTY */
    self->mask = slots - 1;
    SFU_ALLOC_ZERO(self->used_by[0], self->graph.rows);
    self->used_by[1] = self->used_by[0];
    if (self->directed) {
        SFU_ALLOC_ZERO(self->used_by[1], self->graph.rows);
    }
    for (int64_t i = 0; i < self->count; i++) {
        const int64_t edge = self->edges[i];
        self->used_by[0][row_of(&self->graph, edge)]++;
        self->used_by[1][self->graph.indices[edge]]++;
        self->gone[edge] = false; /* until it has its new end */
    }
done:
    return status;
}

/* A node that is no neighbour of `kept` yet; there must be one. The edge itself is still in the graph, so the node is
 * never its old end. */
static sfu_status draw_end(int32_t *drawn, const sfu__noise *self, int32_t kept, int kept_end, sfu__random *random) {
    sfu_status status = SFU_OK;
    for (int64_t tries = 1;; tries++) {
        const int32_t node = (int32_t)sfu__random_below(random, (uint64_t)self->graph.rows);
        if (node != kept && !(kept_end == 0 ? has_edge(self, kept, node) : has_edge(self, node, kept))) {
            *drawn = node;
            break;
        }
        SFU_TRY(sfu__poll_at(tries));
    }
done:
    return status;
}

/* Keeps one end of the edge, drawn at random, unless it has edges to all nodes: then the other end. */
static sfu_status rewire_edge(sfu__noise *self, int64_t i, sfu__random *random, const char *name) {
    sfu_status status = SFU_OK;
    const int64_t edge = self->edges[i];
    int32_t ends[2] = {row_of(&self->graph, edge), self->graph.indices[edge]};
    int kept = (int)sfu__random_below(random, 2);
    if (self->used_by[kept][ends[kept]] >= self->graph.rows - 1) {
        kept = 1 - kept;
    }
    if (self->used_by[kept][ends[kept]] >= self->graph.rows - 1) {
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "%s: the graph is too dense: the edge of nodes %d and %d cannot be rewired, because both have "
                         "edges to all other nodes; rewire fewer edges",
                         name, ends[0], ends[1]);
    }
    int32_t drawn = 0;
    SFU_TRY(draw_end(&drawn, self, ends[kept], kept, random));
    self->used_by[1 - kept][ends[1 - kept]]--;
    self->used_by[1 - kept][drawn]++;
    self->gone[edge] = true;
    ends[1 - kept] = drawn;
    const uint64_t key = key_of(self, ends[0], ends[1]);
    *slot_of(self, key) = key;
    self->ends[2 * i] = (uint32_t)ends[0];
    self->ends[2 * i + 1] = (uint32_t)ends[1];
done:
    return status;
}

sfu_status sfu__noise_rewire(sfu__noise *noise, uint64_t seed, const char *name) {
    sfu_status status = SFU_OK;
    sfu__random random = sfu__random_start(seed, sfu__stream_of(SFU__STREAM_NOISE, ENDS));
    SFU_TRY(start_rewiring(noise));
    for (int64_t i = 0; i < noise->changed; i++) {
        SFU_TRY(sfu__poll_at(i));
        SFU_TRY(rewire_edge(noise, i, &random, name));
    }
done:
    return status;
}
