/* stream_sparse.h - leading smoothing of sparse features within a memory limit, row by row. */
#ifndef SFU_STREAM_SPARSE_H
#define SFU_STREAM_SPARSE_H

#include "fold_product.h"
#include "row_builder.h"
#include "scratch_file.h"
#include "stream.h"

/* The features after the first `last` ops, in double as fold.c: into `dense`, which holds zeros, or, if it is NULL,
 * into `sparse`. X is sparse, and no activation fills in zeros. */
SFU_CHECKED sfu_status sfu__stream_sparse(sfu_matrix *sparse, float *dense, const sfu__plan *plan, sfu__pass *pass,
                                          int last);

/* The same features times weights. Its row sets are those of `pass`, whose last is the rows of the product. */
SFU_CHECKED sfu_status sfu__stream_sparse_product(sfu__fold_product *product, sfu__pass *pass, int last);

/* The most bytes of one thread. Per node it takes up to SFU__ROWS_BYTES, and SFU__ROWS_START more with teleport. */
enum { SFU__ROWS_BYTES = 20, SFU__ROWS_START = 12 };
int64_t sfu__stream_sparse_bytes(const sfu_dataset *dataset);

/* The last smoothing among the first `last` ops, -1: none. */
int sfu__last_smoothing(const sfu__plan *plan, int last);

#endif
