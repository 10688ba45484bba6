/* stream.h - leading smoothing of graphs larger than memory: in slices of a few columns, from the mapped file.
 *
 * A slice holds 4, 8 or 16 columns of the features, or of X W, for all nodes. Each smoothing op reads the graph once,
 * in blocks of rows that the threads share, and computes the values of S anew; the last op computes the needed rows
 * only. Memory grows with the nodes and the width of a slice, not with edges or features. A column is computed by the
 * same operations in the same order as without a limit, so the bits are the same. docs/internals/streaming.md has more.
 */
#ifndef SFU_PLAN_STREAM_H
#define SFU_PLAN_STREAM_H

#include "plan_int.h"

/* The most columns of a slice: 16; tests set it to 4 or 8. */
extern int32_t sfu__stream_widest;

/* Fails for a segment of a streaming plan that smooths after the weights in every epoch: its matrices are needed in
 * memory. Sets plan->needs_graph. */
SFU_CHECKED sfu_status sfu__stream_refuse_segment(sfu__plan *plan);

/* The result of sfu__fold. */
SFU_CHECKED sfu_status sfu__stream_fold(sfu_matrix *sparse, float **dense, const sfu__plan *plan, sfu__pass *pass,
                                        int last, bool as_dense, bool by_columns);

/* The dense result for some of the rows; the others are zeros. Not where sfu__panels_by_rows. */
SFU_CHECKED sfu_status sfu__stream_fold_rows(float **dense, const sfu__plan *plan, const sfu__pass *pass, int last,
                                             bool by_columns, sfu__range rows);

/* The sparse result for some of the rows; the others are empty. */
SFU_CHECKED sfu_status sfu__stream_sparse_rows(sfu_matrix *sparse, const sfu__plan *plan, const sfu__pass *pass,
                                               int last, sfu__range rows);

/* Full rows, of leading dimension sfu__ld(cols), as a sparse matrix with all entries. */
SFU_CHECKED sfu_status sfu__matrix_of_full_rows(sfu_matrix *matrix, const float *dense, int32_t rows, int32_t cols);

/* Reserves pass->streamed for S^k (X W), k smoothings being the first `last` ops, or for F W if the strategy folds
 * them; and computes it. */
SFU_CHECKED sfu_status sfu__stream_reserve(sfu__pass *pass, const sfu__plan *plan, int last,
                                           const sfu__strategy *strategy);
SFU_CHECKED sfu_status sfu__stream_product(const sfu__plan *plan, sfu__pass *pass, const float *theta);

/* Estimated bytes of a plan that holds everything in memory, beside what the process has; sparse features as if
 * smoothing did not fill them in. */
int64_t sfu__resident_bytes(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request);

/* The most entries of features that a plan holds as a sparse matrix: beyond this share dense ones are faster. */
#define SFU__SPARSE_SHARE 0.625

/* Sets sfu__plan_request.refused. */
static inline void sfu__tell_refused(int64_t *refused, int64_t bytes) {
    if (refused != NULL) {
        *refused = bytes;
    }
}

/* A limit that leaves these bytes for allocations: the more threads it allows, the larger; also if its text is rounded
 * up. */
int64_t sfu__with_overhead(int64_t bytes, const sfu__plan_request *request);

/* Bytes of the limit that no allocation of the library counts: the stacks of the threads, and holes in the heap. */
int64_t sfu__limit_overhead(const sfu__plan_request *request);

/* Bytes of anonymous memory that are enough to stream with one thread, or for a plan that holds everything in memory:
 * an upper bound, computed before the plan is made. With sparse features it is several times lower once the strategies
 * are chosen: `chosen` are the passes with these, or NULL. */
SFU_CHECKED sfu_status sfu__stream_needs(int64_t *bytes, const sfu_dataset *dataset, const sfu_net *net,
                                         const sfu__plan_request *request, const sfu__pass *chosen);
SFU_CHECKED sfu_status sfu__resident_needs(int64_t *bytes, const sfu_dataset *dataset, const sfu_net *net,
                                           const sfu__plan_request *request);

/* The most bytes of the features of a strategy, of at most `most` entries, which are counted, or extrapolated from a
 * sample of rows. */
double sfu__chosen_bytes(const sfu__strategy *strategy, sfu_pass pass, int32_t rows, int32_t features, double most,
                         int32_t executors);

/* Threads of a streaming plan that needs this much with one: fewer than requested if that is what fits. */
int sfu__stream_threads(const sfu_dataset *dataset, const sfu__plan_request *request, int64_t needs);

/* Whether all smoothing is before the first weights, and fixed. */
bool sfu__net_streams(const sfu_net *net);

/* Bytes of this process that the library has not allocated. */
int64_t sfu__memory_of_others(void);

/* Limits the allocations of this thread, and of those that it starts, to what request->memory leaves, of a plan in
 * memory beside what the caller will need (a bound covers that of one that streams); and whether that has ended what
 * failed with this status. */
void sfu__limit_allocations(const sfu__plan_request *request, bool streams);
bool sfu__lacks_memory(sfu_status status);

/* Fails if the limit is below plan->needs, less what allocations do not need. */
SFU_CHECKED sfu_status sfu__stream_enough(const sfu__plan *plan, const sfu__plan_request *request);

/* Fails if the limit is below the upper bound of what the later prediction allocates, so that no training is lost. */
SFU_CHECKED sfu_status sfu__stream_later(const sfu__plan *plan, const sfu_net *net, const sfu__plan_request *request);

/* Fails because the limit is too small; the message says what is enough: `bytes` that the process has, or plan->needs
 * if that is more. */
SFU_CHECKED sfu_status sfu__stream_refuse(const sfu__plan *plan, int64_t bytes);

/* Fails if the memory of the steps, for each executor, does not fit into what the limit leaves; of a plan in memory as
 * an allocation would, with what is allocated beside them. */
SFU_CHECKED sfu_status sfu__check_steps(const sfu__plan *plan, const sfu__plan_request *request);

#endif
