/* gpu_times.c - predicted times, from sizes and a few measured constants. */
#include "gpu_times.h"

#include <math.h>

/* Measured on an H200 beside a core of a Xeon, on Cora and Pubmed: a GPU full of trainings does the epochs of 70 to 100
 * cores; an epoch in one thread block takes twice the time of a core. */
static const double full_speedup = 80.0, lone_slowdown = 2.0;

/* Of trials with the default patience: the mean, and the longest of a batch, for which the next batch waits. */
static const double mean_epochs = 80.0, longest_epochs = 120.0;

/* Of a core, per non-zero of a sparse product and column, and how many of them the other steps of a node count as: GCN
 * on Cora. More than that where few rows are needed, as on Pubmed. */
static const double nonzero_seconds = 1e-10, node_nonzeros = 16.0;

/* Leading smoothing is computed once; the rest in every epoch. */
double sfu__epoch_seconds(const sfu_dataset *dataset, const sfu_net *net) {
    const sfu_csr words = sfu_dataset_sparse(dataset), graph = sfu_dataset_graph(dataset);
    const double nodes = dataset->nodes, edges = (double)graph.indptr[graph.rows];
    double nonzeros = words.rows > 0 ? (double)words.indptr[words.rows] : nodes * sfu_dataset_features(dataset);
    int32_t width = dataset->classes;
    bool leading = true;
    if (!sfu__plan_supports(net)) {
        return NAN;
    }
    for (int i = 0; i < net->count; i++) {
        const sfu__layer *layer = &net->layers[i];
        leading = leading && layer->kind == SFU__LAYER_SMOOTH;
        nonzeros += layer->kind == SFU__LAYER_SMOOTH && !leading ? edges * layer->times : 0.0;
        width = layer->width > width ? layer->width : width;
    }
    return nonzero_seconds * width * (nonzeros + node_nonzeros * nodes);
}

void sfu__training_work_add(sfu__training_work *work, double epoch_seconds, int64_t trainings, int64_t rounds) {
    work->core_seconds += mean_epochs * (double)trainings * epoch_seconds;
    work->round_seconds += longest_epochs * (double)rounds * lone_slowdown * epoch_seconds;
}

double sfu__training_work_cpu(const sfu__training_work *work, int threads) { return work->core_seconds / threads; }

double sfu__training_work_gpu(const sfu__training_work *work, int studies) {
    const double busy = work->core_seconds / full_speedup, waits = work->round_seconds / studies;
    return busy > waits ? busy : waits;
}
