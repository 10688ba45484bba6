/* gpu_layout.h - the layout of a sparse matrix for a GPU: accumulation chains, sorted by length within each stage,
 * band of columns or block of rows. */
#ifndef SFU_GPU_LAYOUT_H
#define SFU_GPU_LAYOUT_H

#include "cpu_matrix.h"
#include "gpu_image.h"
#include "gpu_program.h"

/* What a layout is made from. */
typedef struct sfu__gpu_source {
    const sfu__sparse *matrix;            /* rows in the order of the CPU's layout; results go to row_perm */
    const int32_t *stage_ends;            /* NULL: one stage; else the rows of the result after each stage */
    bool in_blocks;                       /* chains are sorted within blocks of rows; only with one stage */
    bool in_bands;                        /* many columns are divided into bands; only with one stage, and for
                                           * products whose dropped entries are zeroed */
    bool learned;                         /* values are in the memory of a training */
    const struct sfu__gpu_layout *masked; /* NULL, or: the matrix is a transpose, and this its source with a mask */
} sfu__gpu_source;

/* A matrix in an image, and where its entries are. Starts as {0}. */
typedef struct sfu__gpu_layout {
    sfu__gpu_matrix head;                                                 /* without pointers */
    size_t entries_at, chains_at, long_rows_at, mask_bits_at, nonzero_at; /* in the image */
    bool has_mask_bits, has_nonzero;
    const sfu__sparse *matrix;
    int64_t *first_chain;  /* [rows + 1]: number of the first chain of each row, in the order of the source */
    int32_t *sorted_chain; /* [chains]: where it is after sorting */
} sfu__gpu_layout;

SFU_CHECKED sfu_status sfu__gpu_layout_make(sfu__gpu_layout *layout, sfu__gpu_image *image,
                                            const sfu__gpu_source *source);
void sfu__gpu_layout_clear(sfu__gpu_layout *layout);

/* Writes the struct of the matrix at a position of the image. */
SFU_CHECKED sfu_status sfu__gpu_layout_write(const sfu__gpu_layout *layout, sfu__gpu_image *image, size_t at);

#endif
