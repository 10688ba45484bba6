/* label_ask.c - the nodes whose labels would help most (active learning).
 *
 * A node is worth H log2(2 + d): H is the entropy of its calibrated probabilities in bits, d the number of its
 * neighbours, to which its label spreads. The node that is worth most is taken, and its neighbours are worth half from
 * then on, so that the nodes are not all in one place. Ties go to the lower node.
 */
#include "label.h"

#include "dataset.h"
#include "memory.h"
#include "special.h"

static double log2_of(double x) { return sfu__ln(x) / sfu__ln(2); }

static double entropy(const float *row, int32_t classes) {
    double sum = 0;
    for (int32_t c = 0; c < classes; c++) {
        const double p = (double)row[c];
        sum -= p > 1e-30 ? p * log2_of(p) : 0;
    }
    return sum;
}

static void take(double *worth, int32_t node, const sfu_csr *graph) {
    for (int64_t e = graph->indptr[node]; e < graph->indptr[node + 1]; e++) {
        worth[graph->indices[e]] /= 2;
    }
    worth[node] = -1;
}

sfu_status sfu_labelling_ask(int32_t *nodes, int32_t *count, const sfu_labelling *labelling,
                             const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    double *worth = NULL;
    const sfu_csr graph = sfu_dataset_graph(dataset);
    int32_t found = 0;
    SFU_ALLOC(worth, dataset->nodes);
    for (int32_t node = 0; node < dataset->nodes; node++) {
        const double degree = (double)(graph.indptr[node + 1] - graph.indptr[node]);
        const float *row = labelling->probabilities + (size_t)node * (size_t)labelling->classes;
        worth[node] =
            dataset->labels[node] == SFU_NO_LABEL ? entropy(row, labelling->classes) * log2_of(2 + degree) : -1;
    }
    for (; found < *count; found++) {
        int32_t best = 0;
        for (int32_t node = 1; node < dataset->nodes; node++) {
            best = worth[node] > worth[best] ? node : best;
        }
        if (worth[best] < 0) {
            break;
        }
        nodes[found] = best;
        take(worth, best, &graph);
    }
done:
    *count = found;
    sfu__free(worth);
    return status;
}
