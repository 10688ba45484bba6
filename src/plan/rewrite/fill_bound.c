/* fill_bound.c - bounds the entries of smoothed sparse features by sums over neighbours. */
#include "fill_bound.h"
#include "progress.h"
#include "row_block.h"

enum { ROWS_AT_ONCE = 1 << 11 };

typedef struct bound_job {
    const sfu_dataset *dataset;
    int32_t *current, *next; /* [nodes]: the most entries of each row */
    sfu__row_block block;
    int64_t piece;           /* the most entries of the block, of the graph and of the features */
    double operations, most; /* multiply-adds of all smoothings; entries of all rows after one of them */
} bound_job;

/* Reads the rows from `first` on that fit; *end: of them. */
static sfu_status read_rows(int64_t *end, bound_job *self, const sfu__mapped_csr *from, int64_t first) {
    const int64_t last = first + ROWS_AT_ONCE < self->dataset->nodes ? first + ROWS_AT_ONCE : self->dataset->nodes;
    *end = sfu__row_piece_end(from, first, last, self->piece);
    return sfu__row_block_read(&self->block, from, first, *end);
}

static sfu_status count_features(bound_job *self) {
    sfu_status status = SFU_OK;
    const sfu__mapped_csr X = sfu__dataset_mapped_features(self->dataset);
    for (int64_t first = 0, end; first < self->dataset->nodes; first = end) {
        SFU_TRY(sfu__poll());
        SFU_TRY(read_rows(&end, self, &X, first));
        for (int64_t row = 0; row < end - first; row++) {
            self->current[first + row] = (int32_t)(self->block.indptr[row + 1] - self->block.indptr[row]);
        }
    }
done:
    return status;
}

static sfu_status smooth(bound_job *self) {
    sfu_status status = SFU_OK;
    const sfu__mapped_csr graph = sfu__dataset_mapped_graph(self->dataset);
    const int64_t features = self->dataset->features;
    double entries = 0.0;
    for (int64_t first = 0, end; first < self->dataset->nodes; first = end) {
        SFU_TRY(sfu__poll());
        SFU_TRY(read_rows(&end, self, &graph, first));
        for (int64_t row = 0; row < end - first; row++) {
            int64_t sum = self->current[first + row];
            for (int64_t e = self->block.indptr[row]; e < self->block.indptr[row + 1]; e++) {
                sum += self->current[self->block.indices[e]];
            }
            self->next[first + row] = (int32_t)(sum < features ? sum : features);
            self->operations += (double)sum;
            entries += self->next[first + row];
        }
    }
    self->most = entries > self->most ? entries : self->most;
    int32_t *swapped = self->current;
    self->current = self->next;
    self->next = swapped;
done:
    return status;
}

static sfu_status smooth_all(bound_job *self, const sfu_net *net) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__row_block_reserve(&self->block, ROWS_AT_ONCE, self->piece));
    SFU_ALLOC(self->current, self->dataset->nodes);
    SFU_ALLOC(self->next, self->dataset->nodes);
    SFU_TRY(count_features(self));
    for (int i = 0; i < net->count && net->layers[i].kind == SFU__LAYER_SMOOTH; i++) {
        for (int time = 0; time < net->layers[i].times; time++) {
            SFU_TRY(smooth(self));
        }
    }
done:
    return status;
}

static int64_t larger_piece(const sfu_dataset *dataset) {
    const sfu__mapped_csr X = sfu__dataset_mapped_features(dataset), graph = sfu__dataset_mapped_graph(dataset);
    const int64_t of_X = sfu__row_piece(&X, ROWS_AT_ONCE), of_graph = sfu__row_piece(&graph, ROWS_AT_ONCE);
    return of_X > of_graph ? of_X : of_graph;
}

/* sigmoid(0) != 0 */
static bool fills(const sfu_net *net) {
    bool sigmoid = false;
    for (int i = 0; i < net->count && net->layers[i].kind == SFU__LAYER_SMOOTH; i++) {
        sigmoid = sigmoid || net->layers[i].act == SFU__SIGMOID;
    }
    return sigmoid;
}

sfu_status sfu__fill_bound_of(sfu__fill_bound *bound, const sfu_dataset *dataset, const sfu_net *net,
                              const sfu__plan_request *request, int64_t room) {
    sfu_status status = SFU_OK;
    bound_job self = {.dataset = dataset};
    self.piece = larger_piece(dataset);
    const int64_t bytes = (int64_t)dataset->nodes * (int64_t)(2 * sizeof *self.current) +
                          self.piece * (int64_t)sizeof *self.block.indices;
    const bool counts = dataset->sparse.rows > 0 && !fills(net) && bytes <= room;
    *bound = (sfu__fill_bound){.beyond = true};
    SFU_TRY(counts ? smooth_all(&self, net) : SFU_OK);
    for (int i = 0; i < SFU_PASSES; i++) {
        const int32_t *nodes = request->nodes[i];
        bound->entries[i] = counts ? 0.0 : (double)request->count[i] * dataset->features;
        for (int32_t row = 0; counts && row < request->count[i]; row++) {
            bound->entries[i] += self.current[nodes != NULL ? nodes[row] : row];
        }
    }
    bound->beyond = !counts || self.operations > sfu__operations_most || self.most > sfu__nonzeros_most;
done:
    sfu__row_block_clear(&self.block);
    sfu__free(self.current);
    sfu__free(self.next);
    return status;
}
