/* lower_int.h - what the files of lowering share: a value on its way along the chain, the tape, and the pieces that
 * steps are put together from.
 *
 * A value is a matrix in the arena, or one of the plan's own. A pass that only goes there reuses the memory of values
 * that are no longer needed; training needs them all, and so does a pass in looks, whose steps run again for more rows.
 */
#ifndef SFU_LOWER_INT_H
#define SFU_LOWER_INT_H

#include "plan_int.h"

enum { SFU__VALUE_NAME = 24, SFU__HOLES = 8 };

/* A matrix on its way along the chain. */
typedef struct sfu__value {
    sfu__operand at;
    int row_set;   /* index into pass->fields */
    int partition; /* that shared its rows among threads when it was written; -1: some other way */
    char name[SFU__VALUE_NAME];
} sfu__value;

typedef enum sfu__record_kind {
    SFU__DID_FEATURES,
    SFU__DID_WEIGHTS,
    SFU__DID_SMOOTH,
    SFU__DID_TELEPORT,
    SFU__DID_ACTIVATE,
    SFU__DID_SOFTMAX
} sfu__record_kind;

/* One thing that was done on the way there. */
typedef struct sfu__record {
    sfu__record_kind kind;
    int op;             /* its link: of the weights, the (last) smoothing, ... */
    sfu__value in, out; /* the same value where it was done in place */
    int block;          /* of the sparse matrix, -1 */
    int32_t *map;       /* SFU__DID_TELEPORT: rows of H0; borrowed from the pass */
    int start;          /* SFU__DID_TELEPORT: the record whose `in` is H0 */
    int mask;
} sfu__record;

/* Memory that a forward pass may use again. */
typedef struct sfu__hole {
    int64_t offset, size;
} sfu__hole;

/* The block that the last smoothing was given, for the next that needs the same. */
typedef struct sfu__last_block {
    bool there;
    const char *form; /* of the backend */
    int op, block;
} sfu__last_block;

typedef struct sfu__lowering {
    sfu__plan *plan;
    sfu__pass *pass;
    sfu_pass kind;
    bool train, backward;
    bool reused; /* the next step writes where others may still read: it waits for them */
    int layer, made;
    int start_record; /* whose `in` is H0 of the smoothing layer at hand; an activation in between does not end it */
    sfu__record *tape;
    size_t tape_count, tape_capacity;
    sfu__hole holes[SFU__HOLES];
    sfu__last_block last_block;      /* forward: by its link */
    sfu__last_block last_transposed; /* backward: `link` is the block that was transposed */
} sfu__lowering;

/* ---- lower_steps.c ---- */

SFU_CHECKED sfu_status sfu__add_block(int *index, sfu__lowering *self, sfu__block *block); /* takes it over */
/* The cut of so many things, those of a block where one is given, else even. Of the rows of a field, -1: of none. */
SFU_CHECKED sfu_status sfu__partition_of(int *index, sfu__pass *pass, int64_t count, int block, int row_set);
SFU_CHECKED sfu_status sfu__add_record(sfu__lowering *self, sfu__record entry);

int64_t sfu__reserve(sfu__lowering *self, int64_t size);
void sfu__release(sfu__lowering *self, const sfu__value *dead);
sfu__operand sfu__arena_matrix(sfu__lowering *self, int64_t rows, int32_t cols);
sfu__value sfu__new_value(sfu__lowering *self, int row_set, int32_t cols);
sfu__value sfu__gradient_of(sfu__lowering *self, const sfu__value *of);
const sfu__parameter *sfu__op_parameter(const sfu__lowering *self, int op, const char *name);
sfu__operand sfu__parameter_at(const sfu__parameter *parameter,
                               sfu__memory_space space); /* NULL: an operand that is none */

sfu__plan_step sfu__step_of(const sfu__lowering *self, sfu__kernel kernel, const char *format, ...) SFU_PRINTF(3, 4);
void sfu__set_work(sfu__plan_step *step, int64_t rows, int32_t width, int64_t inner);
SFU_CHECKED sfu_status sfu__add_step(sfu__lowering *self, sfu__plan_step step);
SFU_CHECKED sfu_status sfu__stay_with(sfu__lowering *self, sfu__plan_step *step, sfu__value *rows);
SFU_CHECKED sfu_status sfu__add_spmm(sfu__lowering *self, sfu__value *C, int block, const sfu__operand *B, bool add,
                                     sfu__plan_step step);
SFU_CHECKED sfu_status sfu__add_gemm(sfu__lowering *self, sfu__value *C, sfu__value *A, const sfu__operand *B,
                                     sfu__plan_step step);
SFU_CHECKED sfu_status sfu__add_gemm_t(sfu__lowering *self, const sfu__operand *to, const sfu__value *A,
                                       const sfu__value *G, const char *name);

/* What the pass does with a matrix of this role, whose rows are those of a row set (-1: of none). */
/* The form that the backend gives a matrix of so many columns for that use. */
const char *sfu__form_of(const sfu__lowering *self, const sfu__matrix_use *use, int32_t cols, bool fixed_values);
sfu__matrix_use sfu__use_of(const sfu__lowering *self, sfu__matrix_role role, int32_t width, int row_set);

/* ---- lower_features.c ---- */

SFU_CHECKED sfu_status sfu__mask_of(int *index, sfu__lowering *self, const sfu__op *op);
SFU_CHECKED sfu_status sfu__dense_features(sfu__value *features, sfu__lowering *self, int fold, bool by_columns);
SFU_CHECKED sfu_status sfu__dropped_dense(sfu__value *features, sfu__lowering *self, int mask);
SFU_CHECKED sfu_status sfu__sparse_product(sfu__value *now, sfu__lowering *self, const sfu__strategy *strategy,
                                           int weights, int mask);
SFU_CHECKED sfu_status sfu__dense_product(sfu__value *now, sfu__lowering *self, const sfu__strategy *strategy,
                                          int weights, int mask);

/* ---- lower.c ---- */

SFU_CHECKED sfu_status sfu__add_weights(sfu__value *now, sfu__lowering *self, sfu__value *in, int weights,
                                        const char *why);

/* ---- lower_backward.c ---- */

SFU_CHECKED sfu_status sfu__add_score(sfu__lowering *self, const sfu__value *P, sfu__value *dP, bool through_softmax);
SFU_CHECKED sfu_status sfu__lower_backward(sfu__lowering *self, sfu__value d, bool from_probabilities);
SFU_CHECKED sfu_status sfu__add_smoothing_steps(sfu__lowering *self, sfu__kernel kernel);
SFU_CHECKED sfu_status sfu__add_adam(sfu__lowering *self);

#endif
