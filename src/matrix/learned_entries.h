/* learned_entries.h - the entries of a smoothing matrix with trained parameters: those of A and the whole diagonal.
 *
 * They are those of all rows; or of the rows and of the columns of some nodes, the part of a rank. Then the entries of
 * the rows come first, and after them those of the columns in the rows of other nodes.
 */
#ifndef SFU_LEARNED_ENTRIES_H
#define SFU_LEARNED_ENTRIES_H

#include "row_block.h"

typedef struct sfu__learned_entries {
    bool part;            /* of some nodes */
    int32_t first, end;   /* the nodes of the rows and columns */
    int64_t count;        /* of all entries */
    sfu_matrix rows;      /* those of other nodes are empty; indices has [count]. values: the caller's, or NULL */
    float *edges;         /* [count]: a_ij, 0 on the diagonal of a node without a self-loop */
    sfu_matrix transpose; /* the columns, as rows without values */
    int32_t *value_perm;  /* the entry of each entry of the transpose */
} sfu__learned_entries;

/* All entries of a graph; `entries` starts as {0} and is cleared by the caller, also after a failure. */
SFU_CHECKED sfu_status sfu__learned_entries_all(sfu__learned_entries *entries, const sfu_csr *graph);

/* Those of the nodes [first, end), of a graph in a mapped file, which is read once; if it is not `symmetric`, all of it
 * is read twice more. */
SFU_CHECKED sfu_status sfu__learned_entries_part(sfu__learned_entries *entries, const sfu__mapped_csr *graph,
                                                 bool symmetric, int32_t first, int32_t end);
void sfu__learned_entries_clear(sfu__learned_entries *entries);

#endif
