/* scale.h - feature scaling and restriction to the largest connected component, both used by dataset_build.c. */
#ifndef SFU_SCALE_H
#define SFU_SCALE_H

#include "raw.h"

/* "unit", "sum", "none", "auto" or "quantile". */
const char *sfu__scale_name(sfu_scale scale);

/* Divides each node's features by their L2 norm ("unit") or their L1 norm ("sum"). All-zero rows are unchanged. */
SFU_CHECKED sfu_status sfu__scale(sfu__raw *raw, sfu_scale scale);

/* Restricts the dataset to the nodes of the largest connected component; *left_out is the number of removed nodes. */
SFU_CHECKED sfu_status sfu__keep_largest(sfu__raw *raw, sfu_matrix *graph, bool symmetric, int64_t *left_out);

#endif
