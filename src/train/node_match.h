/* node_match.h - which nodes of two datasets are the same, by name. */
#ifndef SFU_NODE_MATCH_H
#define SFU_NODE_MATCH_H

#include "dataset.h"

/* old_of[i] = the node of `since` with the name of node i of `dataset`, or -1. Unnamed nodes have their numbers as
 * names. Both datasets must have been checked. Usually most names are in the same order in both; these are compared,
 * and only the others are looked up. */
SFU_CHECKED sfu_status sfu__match_nodes(int32_t *old_of, const sfu_dataset *dataset, const sfu_dataset *since);

#endif
