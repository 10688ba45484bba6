/* noise.h - which edges of a noisy graph change, and how. docs/reference/noise.md has the rules. */
#ifndef SFU_NOISE_H
#define SFU_NOISE_H

#include "assemble.h"
#include "random.h"

/* The edges of a graph between different nodes, an undirected one once; some of them are removed or rewired. */
typedef struct sfu__noise {
    sfu_csr graph;
    bool directed;
    int64_t *edges; /* [count]: positions in graph.indices; the first `changed` change, in this order */
    int64_t count, changed;
    bool *gone; /* [non-zeros of the graph]: the edge at a position was removed or rewired */

    /* Of rewiring. The new edges, and a hash table of them: keys of edges, EMPTY in free slots. */
    uint32_t *ends; /* [2 changed]: from, to */
    uint64_t *table;
    uint64_t mask;       /* the size of the table - 1 */
    int32_t *used_by[2]; /* [nodes]: edges from a node, and to it; an undirected graph has one array for both */
} sfu__noise;

/* Lists the edges, and draws which of them change. Starts as {0}; call sfu__noise_clear also after a failure. */
SFU_CHECKED sfu_status sfu__noise_draw(sfu__noise *noise, const sfu_csr *graph, bool directed, double share,
                                       uint64_t seed);
void sfu__noise_clear(sfu__noise *noise);

/* Replaces one end of each of these edges; `name` is that of the dataset, for messages. */
SFU_CHECKED sfu_status sfu__noise_rewire(sfu__noise *noise, uint64_t seed, const char *name);

#endif
