/* node_digest.h - 64-bit digests that recognise a node in another dataset: of its name and of its features.
 *
 * The features count as a set of (name, value), without zeros: their order and form (sparse or dense) do not matter.
 * docs/reference/model.md defines the digest, which model files contain.
 */
#ifndef SFU_NODE_DIGEST_H
#define SFU_NODE_DIGEST_H

#include "dataset.h"

/* For the nodes of one dataset, which must have been checked. Starts as {0}. */
typedef struct sfu__node_digests {
    const sfu_dataset *dataset;
    uint64_t *features; /* [features]: digests of the names, or of the numbers of unnamed features */
} sfu__node_digests;

SFU_CHECKED sfu_status sfu__node_digests_make(sfu__node_digests *digests, const sfu_dataset *dataset);
void sfu__node_digests_clear(sfu__node_digests *digests);

/* The digest of a node, and that of its features alone. */
int64_t sfu__node_digest(const sfu__node_digests *digests, int32_t node);
uint64_t sfu__features_digest(const sfu__node_digests *digests, int32_t node);

/* Sorts digests in ascending order. */
void sfu__sort_digests(int64_t *digests, int64_t count);

#endif
