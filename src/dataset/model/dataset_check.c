/* dataset_check.c - validates the contents of a dataset once, before anything relies on them. */
#include "dataset.h"
#include "progress.h"
#include "matrix.h"
#include "parallel.h"
#include "raw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int64_t tensor_size(const sfu_dataset *dataset, const char *name) {
    int64_t size = 0;
    for (int64_t i = 0; i < dataset->tensor_count; i++) {
        size = strcmp(dataset->tensors[i].name, name) == 0 ? dataset->tensors[i].count : size;
    }
    return size;
}

/* Checks the CSR matrix in the tensors NAME.indptr, NAME.indices, ... */
static sfu_status check_csr(const sfu_dataset *dataset, const sfu_csr *csr, const char *name, bool weights,
                            bool *asymmetric, bool mapped) {
    char what[300], indices[32];
    snprintf(what, sizeof what, "%.200s: %s", dataset->name, name);
    snprintf(indices, sizeof indices, "%s.indices", name);
    const int64_t nonzeros = tensor_size(dataset, indices);
    return sfu__csr_check(csr, &(sfu__csr_rules){what, nonzeros, weights, sfu__thread_count(0), mapped}, asymmetric);
}

static sfu_status check_graph(sfu_dataset *dataset, bool mapped) {
    return dataset->assembled ? SFU_OK : check_csr(dataset, &dataset->graph, "adj", true, &dataset->directed, mapped);
}

static sfu_status check_numbers(const sfu_dataset *dataset, const char *what, const float *values, int64_t rows,
                                int64_t columns) {
    for (int64_t i = 0; i < rows * columns; i++) {
        const sfu_status status = sfu__poll_at(i);
        if (status != SFU_OK) {
            return status;
        }
        if (!isfinite(values[i])) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: %s: node %lld, column %lld is %g; it must be finite", dataset->name,
                             what, (long long)(i / columns), (long long)(i % columns), (double)values[i]);
        }
    }
    return SFU_OK;
}

static sfu_status check_features(const sfu_dataset *dataset, bool mapped) {
    if (dataset->finite) {
        return SFU_OK;
    }
    return dataset->dense != NULL ? check_numbers(dataset, "x", dataset->dense, dataset->nodes, dataset->features)
                                  : check_csr(dataset, &dataset->sparse, "x", false, NULL, mapped);
}

static sfu_status check_labels(const sfu_dataset *dataset) {
    for (int32_t node = 0; dataset->labels != NULL && node < dataset->nodes; node++) {
        if (dataset->labels[node] < SFU_NO_LABEL || dataset->labels[node] >= dataset->classes) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: y: node %d has label %d; it must lie in [0, %d) or be -1 for none",
                             dataset->name, node, dataset->labels[node], dataset->classes);
        }
    }
    return SFU_OK;
}

/* `part_of` is zero for every node on entry. */
static sfu_status check_split(const sfu_dataset *dataset, int32_t split, char *part_of) {
    char name[SFU__SPLIT_TENSOR_MAX], other[SFU__SPLIT_TENSOR_MAX];
    for (int part = 0; part < SFU_PARTS; part++) {
        int32_t previous = -1;
        int32_t count;
        const int32_t *nodes = sfu_dataset_standard_split(dataset, split, (sfu_part)part, &count);
        for (int32_t i = 0; i < count; i++) {
            const int32_t node = nodes[i];
            if (node <= previous || node >= dataset->nodes) {
                return sfu__fail(SFU_ERR_FORMAT, "%s: %s: entry %d is node %d; nodes must ascend and lie in [0, %d)",
                                 dataset->name, sfu__split_tensor(name, split, part), i, node, dataset->nodes);
            }
            if (part_of[node] != 0) {
                return sfu__fail(SFU_ERR_FORMAT, "%s: node %d is in %s and in %s", dataset->name, node,
                                 sfu__split_tensor(other, split, part_of[node] - 1),
                                 sfu__split_tensor(name, split, part));
            }
            part_of[node] = (char)(part + 1);
            previous = node;
        }
    }
    return SFU_OK;
}

static sfu_status check_splits(const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    char *part_of = NULL;
    SFU_ALLOC(part_of, dataset->nodes);
    for (int32_t split = 0; split < sfu_dataset_standard_splits(dataset); split++) {
        SFU_TRY(sfu__poll());
        memset(part_of, 0, (size_t)dataset->nodes);
        SFU_TRY(check_split(dataset, split, part_of));
    }
done:
    sfu__free(part_of);
    return status;
}

static sfu_status check_names(const sfu_dataset *dataset) {
    const int64_t *offsets = dataset->node_offsets;
    if (offsets == NULL) {
        return SFU_OK;
    }
    if (offsets[0] != 0 || offsets[dataset->nodes] != dataset->node_bytes_size) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: nodes.offsets must go from 0 to the %lld bytes of nodes.bytes",
                         dataset->name, (long long)dataset->node_bytes_size);
    }
    for (int32_t node = 0; node < dataset->nodes; node++) {
        if (offsets[node + 1] < offsets[node] || offsets[node + 1] > dataset->node_bytes_size) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: nodes.offsets: node %d's name goes from byte %lld to %lld",
                             dataset->name, node, (long long)offsets[node], (long long)offsets[node + 1]);
        }
    }
    return SFU_OK;
}

static sfu_status check_columns(const sfu_dataset *dataset) {
    const char *name;
    for (int i = 0; (name = sfu_dataset_column_name(dataset, i)) != NULL; i++) {
        const sfu_status status = check_numbers(dataset, name, sfu_dataset_column(dataset, name), dataset->nodes, 1);
        if (status != SFU_OK) {
            return status;
        }
    }
    return SFU_OK;
}

static sfu_status check_node_tensors(const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    SFU_TRY(check_labels(dataset));
    SFU_TRY(check_splits(dataset));
    SFU_TRY(check_names(dataset));
    SFU_TRY(check_columns(dataset));
done:
    return status;
}

static sfu_status check_all(sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__dataset_copy_indices(dataset, true));
    SFU_TRY(check_graph(dataset, false));
    SFU_TRY(check_features(dataset, false));
    SFU_TRY(check_node_tensors(dataset));
done:
    return status;
}

sfu_status sfu_dataset_check(const sfu_dataset *dataset) {
    /* The result is computed on demand, although the dataset is const; the lock makes that thread-safe. */
    sfu_dataset *self = (sfu_dataset *)(uintptr_t)dataset;
    pthread_mutex_lock(&self->lock);
    if (!self->checked) {
        const sfu__watch before = sfu__watch_start(NULL, NULL, "checking the dataset");
        self->verdict = check_all(self);
        sfu__watch_end(before);
        /* Out of memory or cancelled says nothing about the contents: the next call checks again. */
        self->checked = self->verdict != SFU_ERR_MEMORY && self->verdict != SFU_ERR_CANCELLED;
        snprintf(self->verdict_text, sizeof self->verdict_text, "%s", sfu_message());
    }
    const sfu_status verdict = self->verdict;
    pthread_mutex_unlock(&self->lock);
    if (verdict != SFU_OK) {
        sfu__set_message(self->verdict_text);
    }
    return verdict;
}

/* ---- datasets larger than memory -------------------------------------------------------------------------------- */

static sfu_status check_nodes_once(sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    if (!dataset->nodes_checked) {
        SFU_TRY(sfu__dataset_copy_indices(dataset, false));
        SFU_TRY(check_node_tensors(dataset));
        dataset->nodes_checked = true;
    }
done:
    return status;
}

static sfu_status check_streamed_once(sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    SFU_TRY(check_nodes_once(dataset));
    if (!dataset->streamed_checked) {
        SFU_TRY(check_graph(dataset, true));
        SFU_TRY(check_features(dataset, true));
        dataset->streamed_checked = true;
    }
done:
    return status;
}

/* Runs a part of the check, unless the whole has been done or the file is not mapped. */
static sfu_status check_part(const sfu_dataset *dataset, sfu_status (*check)(sfu_dataset *dataset)) {
    sfu_dataset *self = (sfu_dataset *)(uintptr_t)dataset;
    const sfu__bytes *bytes = self->file != NULL ? sfu__safetensors_bytes(self->file) : NULL;
    if (bytes == NULL || bytes->mapped == NULL) {
        return sfu_dataset_check(dataset);
    }
    pthread_mutex_lock(&self->lock);
    sfu_status status = SFU_OK;
    if (!self->checked || self->verdict != SFU_OK) {
        const sfu__watch before = sfu__watch_start(NULL, NULL, "checking the dataset");
        status = check(self);
        sfu__watch_end(before);
    }
    pthread_mutex_unlock(&self->lock);
    return status;
}

sfu_status sfu__dataset_check_nodes(const sfu_dataset *dataset) { return check_part(dataset, check_nodes_once); }

sfu_status sfu__dataset_check_streamed(const sfu_dataset *dataset) { return check_part(dataset, check_streamed_once); }

bool sfu__dataset_is_streamed(const sfu_dataset *dataset) {
    sfu_dataset *self = (sfu_dataset *)(uintptr_t)dataset;
    pthread_mutex_lock(&self->lock);
    const bool streamed = self->streamed_checked && !self->checked;
    pthread_mutex_unlock(&self->lock);
    return streamed;
}

sfu__mapped_csr sfu__dataset_mapped_graph(const sfu_dataset *dataset) {
    return (sfu__mapped_csr){dataset->graph, tensor_size(dataset, "adj.indices"), dataset->graph_name};
}

sfu__mapped_csr sfu__dataset_mapped_features(const sfu_dataset *dataset) {
    return (sfu__mapped_csr){dataset->sparse, tensor_size(dataset, "x.indices"), dataset->features_name};
}
