/* fold_product.h - Z = F W for folded features F that are in a file: a few rows at a time.
 *
 * A prediction of a network with an activation between its smoothings has no product S^k (X W). Its F is computed once,
 * for all nodes, and Z goes where such a product goes: to memory, or to the file that pieces of a prediction are read
 * from. The kernels are those of a plan that holds F, so the bits are the same.
 */
#ifndef SFU_PLAN_FOLD_PRODUCT_H
#define SFU_PLAN_FOLD_PRODUCT_H

#include "scratch_file.h"
#include "stream.h"

enum { SFU__FOLD_PRODUCT_ROWS = 256 }; /* the most that a thread computes at once */

typedef struct sfu__fold_product {
    const sfu__plan *plan;
    sfu__dense W;
    bool sparse;        /* F as a sparse matrix */
    int32_t rows;       /* of F and Z */
    float *result;      /* [rows][ld], or NULL: */
    sfu__scratch *file; /* slices of SFU__SLICE_MOST columns, one after the other, as [rows][width] */
    float **memory;     /* [threads]: space for rows of F and Z */
} sfu__fold_product;

/* The most bytes of a thread, with at most 256 columns of W. */
int64_t sfu__fold_product_bytes(int32_t features);

SFU_CHECKED sfu_status sfu__fold_product_reserve(sfu__fold_product *self);
void sfu__fold_product_clear(sfu__fold_product *self);

/* The rows are divided into items, which threads compute one after the other. */
int64_t sfu__fold_product_items(const sfu__fold_product *self);
sfu__range sfu__fold_product_item(const sfu__fold_product *self, int64_t item);

/* The space of a thread for rows of F, leading dimension sfu__ld(features); and the product with the rows that are
 * there, as rows `rows` of F. */
float *sfu__fold_product_features(const sfu__fold_product *self, int thread);
SFU_CHECKED sfu_status sfu__fold_product_dense(const sfu__fold_product *self, int thread, sfu__range rows);
/* The product with rows that are sparse. */
SFU_CHECKED sfu_status sfu__fold_product_sparse(const sfu__fold_product *self, int thread, sfu__range rows,
                                                const sfu_matrix *F);

#endif
