/* fill_bound.c - bounds the entries of smoothed sparse features by sums over neighbours. */
#include "fill_bound.h"
#include "progress.h"
#include "row_block.h"

enum { ROWS_AT_ONCE = 1 << 11 };

typedef struct bound_job {
    const sfu_dataset *dataset;
    int32_t *current, *next; /* [nodes]: the most entries of each row */
    sfu__row_block block;
    double operations, most; /* multiply-adds of all smoothings; entries of all rows after one of them */
} bound_job;

static int64_t rows_end(const bound_job *self, int64_t first) {
    return first + ROWS_AT_ONCE < self->dataset->nodes ? first + ROWS_AT_ONCE : self->dataset->nodes;
}

static sfu_status count_features(bound_job *self) {
    sfu_status status = SFU_OK;
    const sfu__mapped_csr X = sfu__dataset_mapped_features(self->dataset);
    for (int64_t first = 0; first < self->dataset->nodes; first += ROWS_AT_ONCE) {
        const int64_t end = rows_end(self, first);
        SFU_TRY(sfu__poll());
        SFU_TRY(sfu__row_block_read(&self->block, &X, first, end));
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
    for (int64_t first = 0; first < self->dataset->nodes; first += ROWS_AT_ONCE) {
        const int64_t end = rows_end(self, first);
        SFU_TRY(sfu__poll());
        SFU_TRY(sfu__row_block_read(&self->block, &graph, first, end));
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
    const int64_t bytes = (int64_t)dataset->nodes * (int64_t)(2 * sizeof *self.current);
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
