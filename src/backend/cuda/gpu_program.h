/* gpu_program.h - a plan as a GPU runs it: its steps, its matrices and the trainings, in structs that C and CUDA C++
 * share.
 *
 * A program is made from a plan of the CPU (train/gpu): the same steps on the same rows with the same sums, so a GPU
 * computes the same bytes. Addresses are those of the device. An operand is an offset, in floats, into the memory of
 * one training, or constant memory that all trainings of the program share.
 */
#ifndef SFU_GPU_PROGRAM_H
#define SFU_GPU_PROGRAM_H

#include "block_sum.h"
#include "dense.h"
#include "learned_rows.h"
#include "lpnn_terms.h"

#include <stdint.h>

enum {
    SFU__GPU_PASSES = 3,   /* as sfu_pass */
    SFU__GPU_STAGES = 6,   /* as SFU__STAGES */
    SFU__GPU_MASKS = 16,   /* dropout masks of a training step */
    SFU__GPU_GROUP = 8,    /* chains whose entries are interleaved */
    SFU__GPU_BANDS = 8,    /* most bands of a matrix */
    SFU__GPU_NO_MASK = -1, /* of a step */
    SFU__GPU_ALL_ROWS = -1 /* instead of a stage */
};

/* ---- sparse matrices -------------------------------------------------------------------------------------------- */

typedef struct sfu__gpu_entry {
    uint32_t column;
    uint32_t value; /* the bits of a float, or the index of a learned value */
} sfu__gpu_entry;

/* Up to 64 entries of a row that are summed in one accumulation chain. 16 bytes: one load. */
typedef struct sfu__gpu_chain {
    uint32_t first_pair;      /* of its entries, two of which are loaded at once; the next is SFU__GPU_GROUP later */
    int32_t row;              /* of the result */
    int32_t part;             /* where the sum is kept, if the row has several chains; -1: it is the whole row */
    uint32_t count_and_order; /* entries (0: the row is empty), SFU__GPU_CONTINUES, and 256 times the number of the
                                 chain in its row */
} sfu__gpu_chain;

/* A chain that is cut between bands goes on from the sum that its part has. */
enum { SFU__GPU_COUNT = 0x7f, SFU__GPU_CONTINUES = 0x80 };

/* A range of columns, whose chains lie together. A matrix with more columns than fit into the memory of a block has
 * several; products go through them in order. */
typedef struct sfu__gpu_band {
    int32_t first_column, column_count; /* of its entries: which rows of B a product needs */
    int32_t chain_end;
} sfu__gpu_band;

/* A row of several chains. */
typedef struct sfu__gpu_long_row {
    int32_t row, first_part, parts;
} sfu__gpu_long_row;

/* The chains are sorted by length within each stage (features with a mask: within blocks of rows, so that the keep
 * words of neighbouring rows lie together), so that neighbouring threads do the same amount of work. Each group of
 * SFU__GPU_GROUP chains has its entries together: the first pair of each chain, then the second and so on, so that
 * neighbouring threads load neighbouring entries. */
typedef struct sfu__gpu_matrix {
    const sfu__gpu_entry *entries;
    const sfu__gpu_chain *chains;
    const sfu__gpu_long_row *long_rows;
    const uint32_t *mask_bits; /* NULL, or of a transpose: bit of each entry in the keep words of the source */
    const uint64_t *nonzero;   /* NULL, or per chain: which of its entries are not zero */
    int32_t rows, cols;
    int32_t band_count;              /* several: only with one stage */
    int32_t first_word, word_count;  /* of a transpose with a mask: which keep words of its source it needs */
    int64_t entry_count, pair_count; /* pairs: with the padding of the groups */
    int32_t chain_count, long_count, part_count;
    int32_t chain_ends[SFU__GPU_STAGES], long_ends[SFU__GPU_STAGES];
    sfu__gpu_band bands[SFU__GPU_BANDS];
} sfu__gpu_matrix;

/* How the value of an entry is found. */
typedef enum sfu__gpu_values {
    SFU__GPU_VALUES_FIXED,
    SFU__GPU_VALUES_KEPT,   /* fixed, scaled; dropped entries are skipped */
    SFU__GPU_VALUES_ZEROED, /* fixed, scaled; dropped entries are zero */
    SFU__GPU_VALUES_LEARNED /* in the memory of the training */
} sfu__gpu_values;

/* ---- steps ------------------------------------------------------------------------------------------------------ */

/* The operations of backend.h. */
typedef enum sfu__gpu_op {
    SFU__GPU_SPMM,
    SFU__GPU_GEMM,
    SFU__GPU_GEMM_T,
    SFU__GPU_REDUCE_BLOCKS,
    SFU__GPU_TRANSPOSE,
    SFU__GPU_DROPOUT_DENSE, /* dropout_sparse of a matrix whose rows have every column */
    SFU__GPU_KEEP_WORDS,    /* dropout_sparse or dropout_mask of a sparse matrix: one bit per entry */
    SFU__GPU_ACTIVATE,
    SFU__GPU_ACTIVATE_BACKWARD,
    SFU__GPU_SOFTMAX,
    SFU__GPU_SOFTMAX_BACKWARD,
    SFU__GPU_CROSS_ENTROPY,
    SFU__GPU_AXPY_ROWS,
    SFU__GPU_AXPY_ROWS_BACKWARD,
    SFU__GPU_SDDMM,
    SFU__GPU_ADAM,
    SFU__GPU_SMOOTHING,
    SFU__GPU_SMOOTHING_BACKWARD,
    SFU__GPU_LPNN,
    SFU__GPU_NORMALISE,
    SFU__GPU_SCORE /* a metric of the validation nodes; the other operations are those of a plan or of LPNN */
} sfu__gpu_op;

/* As sfu_metric. */
typedef enum sfu__gpu_metric {
    SFU__GPU_ACCURACY,
    SFU__GPU_MACRO_F1,
    SFU__GPU_BALANCED_ACCURACY,
    SFU__GPU_AUC,
    SFU__GPU_AVERAGE_PRECISION
} sfu__gpu_metric;

/* Phases of a score that counts. */
enum { SFU__GPU_COUNT_PHASES = 3 };

typedef struct sfu__gpu_operand {
    const float *fixed; /* NULL: in the memory of the training */
    int64_t offset;     /* there; -1: no operand */
    int32_t rows, cols, ld;
    int32_t by_columns; /* fixed: element (i, k) is at k * ld + i */
} sfu__gpu_operand;

typedef struct sfu__gpu_step {
    int32_t kernel;
    int32_t phases; /* parts of the step with a barrier between them */
    int32_t matrix; /* -1: none */
    int32_t values; /* sfu__gpu_values of the matrix */
    int32_t mask;   /* number of the dropout mask, or SFU__GPU_NO_MASK */
    int32_t act;    /* sfu__activation; score: sfu__gpu_metric */
    int32_t add;    /* spmm */
    int32_t relu;   /* spmm: the activation of the result, after adding the bias */
    int32_t through_softmax;
    int32_t split;   /* gemm, gemm_t: chains of a sum are divided among threads, and added in a second phase */
    int32_t learned; /* smoothing: number of the learned smoothing */
    uint32_t mask_layer;
    float t;                             /* axpy_rows */
    float decays, low, high;             /* adam; decays: 1 or 0 */
    sfu__gpu_operand c, a, b;            /* as in backend.h; adam: c is the range of the parameters */
    int64_t bias;                        /* offset; -1: none */
    int64_t parts, stride;               /* reduce_blocks; score: classes whose nodes are sorted, and a power of two */
    int64_t keep;                        /* of a mask: offset of the keep words, one per chain; -1: none */
    int32_t source;                      /* spmm of a transpose with a mask: matrix of the source; score: the class
                                            whose nodes are sorted; -1: each of them */
    int64_t source_keep;                 /* and its keep words; -1: not a transpose */
    int64_t scratch;                     /* offset of the sums of long rows, or of the terms of a loss */
    int64_t learned_values;              /* offset of the values of a learned matrix; sddmm: of their gradient */
    int64_t logits;                      /* lpnn: offset of the gradient of g's logits */
    const int32_t *nodes;                /* node of each row of the result, for masks; NULL: the row number */
    const int32_t *map;                  /* axpy_rows */
    int32_t stage_ends[SFU__GPU_STAGES]; /* rows that exist after each stage */
} sfu__gpu_step;

typedef struct sfu__gpu_pass {
    const sfu__gpu_step *steps;
    int32_t step_count;
    int32_t staged;
    const int32_t *labels;               /* per row of the output; NULL: no targets */
    const float *weights;                /* NULL: 1 */
    const int32_t *stage_labels;         /* staged: per row in stage order */
    int64_t output, staged_output;       /* offsets of the probabilities */
    int32_t rows, cols, ld;              /* of the output */
    int32_t stage_ends[SFU__GPU_STAGES]; /* rows of the staged output after each stage */
    int64_t losses;                      /* offset of the scratch of its cross-entropy */
    const int32_t *asked;                /* row of each requested node; NULL: in order */
} sfu__gpu_pass;

/* The memory of a loss: a double per row, its term; then loss and correct rows of each block; then whether each row is
 * correct. In floats: all of it, and where the blocks start. */
SFU__DEVICE_FN int64_t sfu__gpu_losses_blocks(int64_t rows) { return 2 * (rows + rows % 2); }
SFU__DEVICE_FN int64_t sfu__gpu_losses_floats(int64_t rows) {
    return sfu__gpu_losses_blocks(rows) + 4 * sfu__block_count(rows) + rows;
}

/* The memory of a score, in floats: the score; then the counts of each class, or the score and the sorted nodes of each
 * of `ranked` classes. */
SFU__DEVICE_FN int64_t sfu__gpu_score_floats(int64_t classes, int64_t ranked, int64_t padded) {
    const int64_t counts = 6 * classes, order = 2 * ranked * (1 + padded);
    return 2 + (counts > order ? counts : order);
}

/* ---- parameters ------------------------------------------------------------------------------------------------- */

typedef enum sfu__gpu_start { SFU__GPU_START_ZERO, SFU__GPU_START_GLOROT, SFU__GPU_START_COPY } sfu__gpu_start;

typedef struct sfu__gpu_parameter {
    int64_t offset; /* in theta */
    int32_t rows, cols, ld;
    int32_t start;       /* sfu__gpu_start */
    double bound;        /* glorot */
    uint64_t stream;     /* glorot */
    const float *values; /* copy: rows * ld floats */
} sfu__gpu_parameter;

/* A smoothing matrix with trained parameters. */
typedef struct sfu__gpu_learned {
    sfu__learned_form form;
    int64_t parameters[SFU__LEARNED_SUMS]; /* offsets in theta, in the order of the sums; -1: not learned */
    int64_t values, value_gradients;       /* offsets in the memory of a training */
    int64_t work;                          /* of the doubles that gpu_learned.h needs */
    float scale;                           /* of the values */
} sfu__gpu_learned;

/* Parts of their steps. */
enum { SFU__GPU_SMOOTHING_PHASES = 2, SFU__GPU_SMOOTHING_BACKWARD_PHASES = 5 };

/* Floats of `work`: doubles for each node and each block of rows. */
static inline int64_t sfu__gpu_learned_floats(int64_t nodes) {
    const int64_t blocks = (nodes + SFU__LEARNED_BLOCK - 1) / SFU__LEARNED_BLOCK;
    return 2 * ((SFU__LEARNED_ARRAYS + SFU__LEARNED_SUMS) * nodes + SFU__LEARNED_SUMS * blocks);
}

/* ---- program ---------------------------------------------------------------------------------------------------- */

typedef struct sfu__gpu_program {
    sfu__gpu_pass passes[SFU__GPU_PASSES];
    const sfu__gpu_matrix *matrices;
    const sfu__gpu_parameter *parameters;
    const sfu__gpu_learned *learned; /* per smoothing matrix of the plan */
    const float (*corrections)[2];   /* [epochs + 1]: Adam's corrections of epoch t */
    int32_t parameter_count;
    int32_t metric;                /* sfu__gpu_metric that chooses the best epoch; other than accuracy: the last step of
                                      the evaluation computes it */
    int64_t memory;                /* floats of one training */
    int64_t theta, m, v, gradient; /* offsets */
    int64_t size;                  /* floats of theta */
    double train_weight;           /* sum of the weights of the training loss */
    double val_scale;              /* factor of the sum of the validation losses */
    int32_t val_count;
} sfu__gpu_program;

/* Counters of a training, in memory that all of its threads see: sums that take turns (gpu_count), and when it stops
 * (gpu_note_stop). */
enum { SFU__GPU_SUMS = 3, SFU__GPU_STOP = SFU__GPU_SUMS, SFU__GPU_COUNTERS };

/* One training. */
typedef struct sfu__gpu_job {
    uint64_t seed;
    float lr, decay;
    int32_t epochs, patience;
    int32_t keep_last;    /* keep the last epoch, not the best */
    int32_t outcome_only; /* validation of an epoch that cannot be the best may end early */
    uint32_t thresholds[SFU__GPU_MASKS];
    sfu__lpnn_terms lpnn;
    float *memory;        /* of this training */
    const float *start;   /* initial parameters; NULL: from the seed */
    float *best;          /* NULL, or where the parameters that are kept are copied to */
    int64_t *counters;    /* [SFU__GPU_COUNTERS], zeros */
    int32_t *misses;      /* NULL, or per validation node: epochs in which it was misclassified */
    const uint32_t *stop; /* NULL, or in memory of the host, which may write it at any time: not 0 stops the training */
} sfu__gpu_job;

/* What a training leaves. */
typedef struct sfu__gpu_outcome {
    int32_t ran, best_epoch, last_improved, diverged;
    int32_t stopped; /* before its end: the rest means nothing */
    int64_t best_val_correct;
    double best_val_loss;  /* NaN: none */
    double best_val_score; /* of the metric; accuracy: the number of correct nodes */
    double train_loss;     /* of the last epoch */
    double val_loss;       /* sum over rows, of the last epoch */
    int64_t val_correct;   /* of the last epoch; -1: its validation ended early */
    double val_score;      /* of the last epoch, as best_val_score */
} sfu__gpu_outcome;

#endif
