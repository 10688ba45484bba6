/* stream_slice.h - one slice of columns of streamed features; stream.c divides the columns into slices. */
#ifndef SFU_STREAM_SLICE_H
#define SFU_STREAM_SLICE_H

#include "scratch_file.h"
#include "stream.h"

enum { SFU__SLICE_LEAST = 4, SFU__SLICE_MOST = 16, SFU__SLICE_BUFFERS = 3 };

/* Memory of one thread. */
typedef struct sfu__slice_scratch {
    sfu__stream_rows S;
    sfu__row_block X;
    int32_t *nodes;                    /* [rows per item] */
    float *rows;                       /* [rows per item][16], aligned */
    float *memory;                     /* of `rows` */
    float *features, *features_memory; /* [rows per item][ld]: rows of a dense X, aligned, if X is not */
    float *ones;                       /* values of sparse rows without */
    size_t ones_capacity;
} sfu__slice_scratch;

typedef struct sfu__slice_job {
    const sfu__plan *plan;
    const sfu__row_set *out;
    int last, final;       /* ops before `last` are applied; `final` is the last smoothing among them, -1: none */
    bool in_double;        /* as fold.c, else with the kernels of the backend */
    bool wide;             /* kernels: as for rows of more than 16 floats, which are not flushed */
    bool bare;             /* S alone, for sfu__slice_multiply: no teleport, no activation */
    bool sparse_X;         /* X W with a sparse X */
    const uint8_t *needed; /* [nodes]: bit i: row of the result of op i; the last bit: of the features. NULL: all */
    int32_t width;         /* floats per row of a slice: 4, 8 or 16 */
    int32_t first, count;  /* columns of the current slice */
    sfu__dense weights;    /* [features][width]: those columns of W; data is NULL: X itself */
    float *buffers[SFU__SLICE_BUFFERS]; /* [nodes][width], aligned; NULL where it is not needed */
    float *memory[SFU__SLICE_BUFFERS];  /* of the buffers */
    int current, next, start;           /* buffers of the op: its input, its result, and H0 of its layer */
    int op;                             /* in work; -1: the features */
    float *result;                      /* [out->count][ld] at the first column */
    int64_t ld;
    int64_t piece_S, piece_X; /* the most entries that a thread holds: of rows of S, and of sparse features */
    sfu__scratch *file;       /* NULL, or: the result goes to this file, slice after slice as [out->count][width] */
    int64_t file_offset;
    bool spills;          /* the result of an op goes through the file, all rows from spill_offset on: one buffer */
    int64_t spill_offset; /* behind the result */
    sfu__slice_scratch *scratch; /* [threads] */
} sfu__slice_job;

enum { SFU__NEEDED_FEATURES = 7 }; /* bit of `needed`; ops from this one on compute all rows */

/* Computes columns [first, first + count) of the result. */
SFU_CHECKED sfu_status sfu__slice_run(sfu__slice_job *job);

/* Multiplies the current buffer by the matrix of smoothing op `op`, all rows, and swaps the buffers. */
SFU_CHECKED sfu_status sfu__slice_multiply(sfu__slice_job *job, int op);

/* stream_memory.c: the widest slices that fit into the limit, through the file if that makes them wider; memory for
 * them, and its end; floats from the start of a cache line on. */
SFU_CHECKED sfu_status sfu__slices_choose(sfu__slice_job *job, sfu__stream_work *work, int32_t columns, bool product);
SFU_CHECKED sfu_status sfu__slices_reserve(sfu__slice_job *job, bool product);
void sfu__slices_clear(sfu__slice_job *job);
SFU_CHECKED sfu_status sfu__alloc_lines(float **memory, float **lines, int64_t count);

/* stream_by_rows.c: as fold_panels.c by rows. Only for symmetric smoothing matrices. */
SFU_CHECKED sfu_status sfu__stream_by_rows(float **dense, const sfu__plan *plan, sfu__pass *pass, int last);
/* Bytes of a thread beside its scratch memory, for the narrowest slices. */
int64_t sfu__stream_by_rows_bytes(const sfu_dataset *dataset);

/* All memory that a thread needs, whichever rows it gets; its bytes; and the most entries of its sparse features. */
SFU_CHECKED sfu_status sfu__slice_scratch_make(sfu__slice_scratch *scratch, const sfu__slice_job *job, bool product);
void sfu__slice_scratch_clear(sfu__slice_scratch *scratch);
int64_t sfu__slice_scratch_bytes(const sfu_dataset *dataset, bool product, int64_t piece_S, int64_t piece_X);
int64_t sfu__slice_piece_X(const sfu_dataset *dataset);

#endif
