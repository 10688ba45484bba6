/* dataset_info.c - statistics of a dataset: graph, components, labels and features. */
#include "dataset_statistics.h"
#include "matrix.h"
#include "parallel.h"
#include "progress.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* ---- the graph -------------------------------------------------------------------------------------------------- */

enum { ROWS_PER_ITEM = 1 << 11 };

/* Rows of the graph or of x: within a memory limit these stay in the mapped file (sfu__dataset_check_streamed). */
static sfu_status read_rows(sfu__row_block *block, const sfu_dataset *dataset, const sfu__mapped_csr *from,
                            int64_t item) {
    const int64_t first = item * ROWS_PER_ITEM;
    const int64_t end = first + ROWS_PER_ITEM < dataset->nodes ? first + ROWS_PER_ITEM : dataset->nodes;
    if (!dataset->checked) {
        return sfu__row_block_read(block, from, first, end);
    }
    sfu__row_block_view(block, from, first, end);
    return SFU_OK;
}

static int64_t item_count(const sfu_dataset *dataset) {
    return ((int64_t)dataset->nodes + ROWS_PER_ITEM - 1) / ROWS_PER_ITEM;
}

/* Counts over the edges, accumulated over the work items. */
typedef struct edge_counts {
    const sfu_dataset *dataset;
    atomic_int_least64_t loops, joined, equal; /* self-loops; entries between labelled nodes; between equal labels */
    atomic_int_least64_t max_degree;
} edge_counts;

static void atomic_max(atomic_int_least64_t *most, int64_t value) {
    int_least64_t seen = atomic_load(most);
    while (value > seen && !atomic_compare_exchange_weak(most, &seen, value)) {
    }
}

/* The degree counts neighbours other than the node itself; in a directed graph, out-neighbours. */
static sfu_status count_edges_of_item(void *context, int64_t item, int thread) {
    (void)thread;
    edge_counts *self = context;
    sfu_status status = SFU_OK;
    sfu__row_block block = {0};
    const sfu__mapped_csr from = sfu__dataset_mapped_graph(self->dataset);
    const int32_t *labels = self->dataset->labels;
    int64_t loops = 0, joined = 0, equal = 0, max_degree = 0;
    SFU_TRY(read_rows(&block, self->dataset, &from, item));
    const sfu_csr *rows = &block.csr;
    for (int32_t row = 0; row < rows->rows; row++) {
        const int64_t node = block.first + row;
        int64_t own = 0;
        for (int64_t i = rows->indptr[row]; i < rows->indptr[row + 1]; i++) {
            const int32_t other = rows->indices[i];
            if (other == node) {
                own++;
            } else if (labels != NULL && labels[node] >= 0 && labels[other] >= 0) {
                joined++;
                equal += labels[node] == labels[other];
            }
        }
        const int64_t degree = rows->indptr[row + 1] - rows->indptr[row] - own;
        max_degree = degree > max_degree ? degree : max_degree;
        loops += own;
    }
    atomic_fetch_add(&self->loops, loops);
    atomic_fetch_add(&self->joined, joined);
    atomic_fetch_add(&self->equal, equal);
    atomic_max(&self->max_degree, max_degree);
done:
    sfu__row_block_clear(&block);
    return status;
}

static sfu_status count_edges(sfu_info *info, const sfu_dataset *dataset) {
    const sfu_csr *graph = &dataset->graph;
    edge_counts self = {.dataset = dataset};
    const sfu_status status = sfu__parallel(count_edges_of_item, &self, item_count(dataset), sfu__thread_count(0));
    info->self_loops = atomic_load(&self.loops);
    info->max_degree = (int32_t)atomic_load(&self.max_degree);
    /* An undirected edge is stored twice, and counted twice in `joined` and in `equal`: the ratio is unaffected. */
    const int64_t entries = graph->indptr[graph->rows] - info->self_loops;
    const int64_t joined = atomic_load(&self.joined);
    info->edges = (dataset->directed ? entries : entries / 2) + info->self_loops;
    info->mean_degree = (double)entries / graph->rows;
    info->homophily = joined > 0 ? (double)atomic_load(&self.equal) / (double)joined : (double)NAN;
    return status;
}

static sfu_status count_components(sfu_info *info, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    int32_t *component = NULL;
    int32_t *sizes = NULL;
    int32_t root = 0;
    SFU_ALLOC(component, dataset->nodes);
    SFU_ALLOC_ZERO(sizes, dataset->nodes);
    const sfu__mapped_csr from = sfu__dataset_mapped_graph(dataset);
    SFU_TRY(dataset->checked ? sfu__components(component, &info->components, &info->largest_component, &root,
                                               &dataset->graph, !dataset->directed)
                             : sfu__components_mapped(component, &info->components, &info->largest_component, &root,
                                                      &from, !dataset->directed));
    for (int32_t node = 0; node < dataset->nodes; node++) {
        sizes[component[node]]++;
    }
    for (int32_t node = 0; node < dataset->nodes; node++) {
        info->isolated += sizes[component[node]] == 1;
    }
done:
    sfu__free(component);
    sfu__free(sizes);
    return status;
}

/* ---- labels and features ---------------------------------------------------------------------------------------- */

static int32_t add_labels(int32_t *class_counts, const sfu_dataset *dataset) {
    int32_t labelled = 0;
    for (int32_t node = 0; dataset->labels != NULL && node < dataset->nodes; node++) {
        if (dataset->labels[node] != SFU_NO_LABEL) {
            class_counts[dataset->labels[node]]++;
            labelled++;
        }
    }
    return labelled;
}

static sfu_status count_labels(sfu__statistics *statistics, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(statistics->class_counts, dataset->classes);
    statistics->info.unlabelled = dataset->nodes - add_labels(statistics->class_counts, dataset);
    for (int32_t class = 0; class < dataset->classes; class ++) {
        const int32_t count = statistics->class_counts[class];
        if (count == 0) {
            continue;
        }
        const bool first = statistics->labelled_classes++ == 0;
        if (first || count > statistics->class_counts[statistics->largest_class]) {
            statistics->largest_class = class;
        }
        if (first || count < statistics->class_counts[statistics->smallest_class]) {
            statistics->smallest_class = class;
        }
    }
done:
    return status;
}

static void count_standard_split(sfu__statistics *statistics, const sfu_dataset *dataset) {
    statistics->info.has_standard = dataset->has_standard;
    statistics->info.standard_splits = sfu_dataset_standard_splits(dataset);
    for (int part = 0; part < SFU_PARTS; part++) {
        statistics->info.standard[part] = dataset->standard_count[part];
        for (int32_t i = 0; i < dataset->standard_count[part]; i++) {
            const int32_t node = dataset->standard[part][i];
            statistics->standard_unlabelled += dataset->labels == NULL || dataset->labels[node] == SFU_NO_LABEL;
        }
    }
}

/* Accumulates one row of x; values == NULL: all ones. */
static void add_feature_row(sfu__statistics *statistics, const float *values, int64_t count) {
    int64_t nonzeros = 0;
    double sum = 0.0, squares = 0.0;
    bool negative = false;
    for (int64_t i = 0; i < count; i++) {
        const double value = values != NULL ? (double)values[i] : 1.0;
        nonzeros += value != 0.0;
        sum += value;
        squares += value * value;
        negative = negative || value < 0.0;
    }
    statistics->info.feature_nonzeros += nonzeros;
    if (nonzeros == 0) {
        statistics->info.featureless++;
        return;
    }
    const double norm = sqrt(squares);
    statistics->smallest_norm =
        statistics->largest_norm == 0.0 || norm < statistics->smallest_norm ? norm : statistics->smallest_norm;
    statistics->largest_norm = norm > statistics->largest_norm ? norm : statistics->largest_norm;
    statistics->rows_sum_to_one = statistics->rows_sum_to_one && !negative && fabs(sum - 1.0) < 1e-3;
}

/* One row of a sparse x. */
static void add_sparse_row(sfu__statistics *statistics, const sfu_csr *rows, int32_t row, int64_t node) {
    const int64_t begin = rows->indptr[row], count = rows->indptr[row + 1] - begin;
    const float *values = rows->values != NULL ? rows->values + begin : NULL;
    add_feature_row(statistics, values, count);
    statistics->one_hot =
        statistics->one_hot && count == 1 && rows->indices[begin] == node && (values == NULL || values[0] == 1.0F);
}

static sfu_status summarize_features(sfu__statistics *statistics, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    sfu__row_block block = {0};
    const sfu__mapped_csr from = sfu__dataset_mapped_features(dataset);
    const int64_t columns = dataset->features;
    statistics->rows_sum_to_one = true;
    statistics->one_hot = dataset->dense == NULL && dataset->features == dataset->nodes;
    for (int64_t node = 0; dataset->dense != NULL && node < dataset->nodes; node++) {
        add_feature_row(statistics, dataset->dense + node * columns, columns);
    }
    for (int64_t item = 0; dataset->dense == NULL && item < item_count(dataset); item++) {
        SFU_TRY(sfu__poll());
        SFU_TRY(read_rows(&block, dataset, &from, item));
        for (int32_t row = 0; row < block.csr.rows; row++) {
            add_sparse_row(statistics, &block.csr, row, block.first + row);
        }
    }
done:
    sfu__row_block_clear(&block);
    return status;
}

/* ---- computed once ---------------------------------------------------------------------------------------------- */

void sfu__statistics_free(sfu__statistics *statistics) {
    if (statistics != NULL) {
        sfu__free(statistics->class_counts);
        sfu__free(statistics);
    }
}

static sfu_status compute_statistics(sfu__statistics **statistics, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    sfu__statistics *self = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->info = (sfu_info){.nodes = dataset->nodes,
                            .features = dataset->features,
                            .classes = dataset->classes,
                            .directed = dataset->directed,
                            .weighted = dataset->graph.values != NULL,
                            .source = dataset->source};
    SFU_TRY(sfu__dataset_source_number(&self->info.self_loops_dropped, dataset, "self_loops_dropped"));
    SFU_TRY(sfu__dataset_source_number(&self->info.duplicates_dropped, dataset, "duplicates_dropped"));
    SFU_TRY(count_edges(&self->info, dataset));
    SFU_TRY(count_components(&self->info, dataset));
    SFU_TRY(count_labels(self, dataset));
    count_standard_split(self, dataset);
    SFU_TRY(summarize_features(self, dataset));
    *statistics = self;
    self = NULL;
done:
    sfu__statistics_free(self);
    return status;
}

sfu_status sfu__dataset_statistics(const sfu__statistics **statistics, const sfu_dataset *dataset) {
    /* Computed on demand, like the result of the check; the lock makes that thread-safe. */
    sfu_dataset *self = (sfu_dataset *)(uintptr_t)dataset;
    sfu_status status = sfu__dataset_is_streamed(dataset) ? SFU_OK : sfu_dataset_check(dataset);
    if (status != SFU_OK) {
        return status;
    }
    pthread_mutex_lock(&self->lock);
    if (self->statistics == NULL) {
        status = compute_statistics(&self->statistics, dataset);
    }
    *statistics = self->statistics;
    pthread_mutex_unlock(&self->lock);
    return status;
}

sfu_status sfu_dataset_info(const sfu_info **info, const sfu_dataset *dataset) {
    const sfu__statistics *statistics = NULL;
    const sfu_status status = sfu__dataset_statistics(&statistics, dataset);
    if (status == SFU_OK) {
        *info = &statistics->info;
    }
    return status;
}

/* The graph is not needed: it may be larger than memory. */
sfu_status sfu_dataset_class_counts(int32_t *class_counts, const sfu_dataset *dataset) {
    const sfu_status status = sfu__dataset_check_nodes(dataset);
    if (status == SFU_OK && dataset->classes > 0) {
        memset(class_counts, 0, (size_t)dataset->classes * sizeof *class_counts);
        (void)add_labels(class_counts, dataset);
    }
    return status;
}
