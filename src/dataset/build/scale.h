/* scale.h - two things that dataset_build.c may do to a whole dataset: scale its features, keep a part of its nodes. */
#ifndef SFU_SCALE_H
#define SFU_SCALE_H

#include "raw.h"

/* "unit", "sum" or "none". */
const char *sfu__scale_name(sfu_scale scale);

/* Divides each node's features by their Euclidean norm, or by the sum of their sizes. A node without features keeps
 * none. */
SFU_CHECKED sfu_status sfu__scale(sfu__raw *raw, sfu_scale scale);

/* Keeps the nodes of the largest component in everything; *left_out gets how many went. */
SFU_CHECKED sfu_status sfu__keep_largest(sfu__raw *raw, sfu_matrix *graph, bool symmetric, int64_t *left_out);

#endif
