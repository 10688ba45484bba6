/* lower_int.h - the state of lowering (values, tape, free memory) and the functions that append steps.
 *
 * A value is a matrix in the arena or a constant of the plan. A pass without backward reuses the memory of dead values.
 * Training keeps all of them for the backward pass, and so does a staged evaluation, whose steps run again for more
 * rows.
 */
#ifndef SFU_LOWER_INT_H
#define SFU_LOWER_INT_H

#include "plan_int.h"

enum { SFU__VALUE_NAME = 24, SFU__HOLES = 8 };

/* An intermediate matrix. */
typedef struct sfu__value {
    sfu__operand at;
    int row_set;   /* index into pass->row_sets */
    int partition; /* that divided its rows among threads when it was written; -1: none of the pass's */
    char name[SFU__VALUE_NAME];
} sfu__value;

typedef enum sfu__record_kind {
    SFU__RECORD_FEATURES,
    SFU__RECORD_WEIGHTS,
    SFU__RECORD_SMOOTH,
    SFU__RECORD_TELEPORT,
    SFU__RECORD_ACTIVATE,
    SFU__RECORD_SOFTMAX
} sfu__record_kind;

/* Tape entry: one operation of the forward pass. */
typedef struct sfu__record {
    sfu__record_kind kind;
    int op;             /* op index: of the weights, the (last) smoothing, ... */
    sfu__value in, out; /* equal if computed in place */
    int block;          /* sparse matrix, -1: none */
    int32_t *map;       /* SFU__RECORD_TELEPORT: row of H0 for each row; borrowed from the pass */
    int start;          /* SFU__RECORD_TELEPORT: record whose `in` is H0 */
    int mask;
} sfu__record;

/* Free memory in the arena. */
typedef struct sfu__hole {
    int64_t offset, size;
} sfu__hole;

/* The most recent smoothing block, reused by the next op if it needs the same rows. */
typedef struct sfu__last_block {
    bool valid;
    const char *form; /* name of the backend's layout */
    int op, block;
} sfu__last_block;

typedef struct sfu__lowering {
    sfu__plan *plan;
    sfu__pass *pass;
    sfu_pass kind;
    bool train, backward;
    bool reused; /* the next step overwrites reused memory that other threads may still read: barrier */
    int layer;
    int value_count;  /* names the next value: H1, H2, ... */
    int start_record; /* record whose `in` is H0 of the current smoothing layer, also across its activations */
    sfu__record *tape;
    size_t tape_count, tape_capacity;
    sfu__hole holes[SFU__HOLES];
    sfu__last_block last_block;      /* forward: `op` of the smoothing */
    sfu__last_block last_transposed; /* backward: `op` is the block that was transposed */
    sfu__last_block last_others;     /* likewise: its columns in rows of other ranks */
} sfu__lowering;

/* ---- lower_steps.c ---- */

SFU_CHECKED sfu_status sfu__add_block(int *index, sfu__lowering *self, sfu__block *block); /* takes ownership */
/* The partition of `count` items: balanced by a block's non-zeros, or in equal counts (block -1). row_set: the rows
 * being divided, -1: none. */
SFU_CHECKED sfu_status sfu__partition_of(int *index, sfu__pass *pass, int64_t count, int block, int row_set);
SFU_CHECKED sfu_status sfu__add_record(sfu__lowering *self, sfu__record entry);

int64_t sfu__reserve(sfu__lowering *self, int64_t size);
void sfu__release(sfu__lowering *self, const sfu__value *dead);
sfu__operand sfu__arena_matrix(sfu__lowering *self, int64_t rows, int32_t cols);
sfu__value sfu__new_value(sfu__lowering *self, int row_set, int32_t cols);
sfu__value sfu__gradient_of(sfu__lowering *self, const sfu__value *of);
const sfu__parameter *sfu__op_parameter(const sfu__lowering *self, int op, const char *name);
sfu__operand sfu__parameter_at(const sfu__parameter *parameter, sfu__memory_space space); /* NULL: no operand */

sfu__plan_step sfu__step_of(const sfu__lowering *self, sfu__kernel kernel, const char *format, ...) SFU_PRINTF(3, 4);
void sfu__set_work(sfu__plan_step *step, int64_t rows, int32_t width, int64_t inner);
SFU_CHECKED sfu_status sfu__add_step(sfu__lowering *self, sfu__plan_step step);
SFU_CHECKED sfu_status sfu__keep_partition(sfu__lowering *self, sfu__plan_step *step, sfu__value *rows);
SFU_CHECKED sfu_status sfu__add_spmm(sfu__lowering *self, sfu__value *C, int block, const sfu__operand *B, bool add,
                                     sfu__plan_step step);
SFU_CHECKED sfu_status sfu__add_gemm(sfu__lowering *self, sfu__value *C, sfu__value *A, const sfu__operand *B,
                                     sfu__plan_step step);
SFU_CHECKED sfu_status sfu__add_gemm_t(sfu__lowering *self, const sfu__operand *to, const sfu__value *A,
                                       const sfu__value *G, const char *name);

/* How the pass uses a matrix of this role; row_set: that of its rows, -1: none. */
sfu__matrix_use sfu__use_of(const sfu__lowering *self, sfu__matrix_role role, int32_t width, int row_set);

/* ---- lower_features.c ---- */

SFU_CHECKED sfu_status sfu__mask_of(int *index, sfu__lowering *self, const sfu__op *op);
SFU_CHECKED sfu_status sfu__dense_features(sfu__value *features, sfu__lowering *self, int fold, bool by_columns,
                                           bool part);
SFU_CHECKED sfu_status sfu__dropout_dense(sfu__value *features, sfu__lowering *self, int mask);
SFU_CHECKED sfu_status sfu__sparse_product(sfu__value *current, sfu__lowering *self, const sfu__strategy *strategy,
                                           int weights, int mask);
SFU_CHECKED sfu_status sfu__streamed_product(sfu__value *current, sfu__lowering *self, const sfu__strategy *strategy,
                                             int weights, int last);
SFU_CHECKED sfu_status sfu__dense_product(sfu__value *current, sfu__lowering *self, const sfu__strategy *strategy,
                                          int weights, int mask);

/* ---- lower.c ---- */

SFU_CHECKED sfu_status sfu__add_weights(sfu__value *current, sfu__lowering *self, sfu__value *in, int weights,
                                        const char *why);

/* ---- lower_backward.c ---- */

SFU_CHECKED sfu_status sfu__add_cross_entropy(sfu__lowering *self, const sfu__value *P, sfu__value *dP,
                                              bool through_softmax);
SFU_CHECKED sfu_status sfu__lower_backward(sfu__lowering *self, sfu__value d, bool from_probabilities);
SFU_CHECKED sfu_status sfu__add_smoothing_steps(sfu__lowering *self, sfu__kernel kernel);
SFU_CHECKED sfu_status sfu__add_adam(sfu__lowering *self);

#endif
