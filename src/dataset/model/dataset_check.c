/* dataset_check.c - validates the contents of a dataset once, before anything relies on them. */
#include "dataset.h"
#include "progress.h"
#include "matrix.h"
#include "parallel.h"
#include "raw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Checks the CSR matrix in the tensors NAME.indptr, NAME.indices, ... */
static sfu_status check_csr(const sfu_dataset *dataset, const sfu_csr *csr, const char *name, bool weights,
                            bool *asymmetric) {
    char what[300], indices[32];
    snprintf(what, sizeof what, "%.200s: %s", dataset->name, name);
    snprintf(indices, sizeof indices, "%s.indices", name);
    int64_t nonzeros = 0;
    for (int64_t i = 0; i < dataset->tensor_count; i++) {
        if (strcmp(dataset->tensors[i].name, indices) == 0) {
            nonzeros = dataset->tensors[i].count;
        }
    }
    return sfu__csr_check(csr, &(sfu__csr_rules){what, nonzeros, weights, sfu__thread_count(0)}, asymmetric);
}

static sfu_status check_graph(sfu_dataset *dataset) {
    return dataset->assembled ? SFU_OK : check_csr(dataset, &dataset->graph, "adj", true, &dataset->directed);
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

static sfu_status check_features(const sfu_dataset *dataset) {
    if (dataset->finite) {
        return SFU_OK;
    }
    return dataset->dense != NULL ? check_numbers(dataset, "x", dataset->dense, dataset->nodes, dataset->features)
                                  : check_csr(dataset, &dataset->sparse, "x", false, NULL);
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

static sfu_status check_all(sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__dataset_copy_indices(dataset));
    SFU_TRY(check_graph(dataset));
    SFU_TRY(check_features(dataset));
    SFU_TRY(check_labels(dataset));
    SFU_TRY(check_splits(dataset));
    SFU_TRY(check_names(dataset));
    SFU_TRY(check_columns(dataset));
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
