/* node_parts.h - divides the nodes of a graph into parts with few edges between them, by METIS. */
#ifndef SFU_NODE_PARTS_H
#define SFU_NODE_PARTS_H

#include "matrix.h"

/* part_of[i] is the part of node i, below `parts`. Parts have about equal work: neighbours of their nodes, and two for
 * each node. The first half of the parts is one side of the best division into two found, and so on within each half.
 * `graph` is symmetric; its diagonal is ignored. `name` is used in messages. */
SFU_CHECKED sfu_status sfu__node_parts(int32_t *part_of, const sfu_csr *graph, int32_t parts, const char *name);

/* The share of the edges between different parts. */
double sfu__edge_cut(const sfu_csr *graph, const int32_t *part_of);

#endif
