/* dataset_order.c - a dataset whose nodes are ordered so that neighbours are near one another. */
#include "assemble.h"
#include "dataset.h"
#include "dataset_copy.h"
#include "node_parts.h"
#include "raw.h"
#include "sized_struct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sfu_order_options_init_sized(sfu_order_options *options, size_t size) {
    const sfu_order_options defaults = {.size = sizeof defaults, .parts = 64};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

typedef struct ordering {
    const sfu_dataset *from;
    sfu_dataset *made;
    int32_t *part_of; /* of each node */
    int32_t *old;     /* [nodes]: the node that becomes node i */
    int32_t *new;     /* [nodes]: what becomes of node i */
    double before, after;
} ordering;

/* ---- the order --------------------------------------------------------------------------------------------------- */

/* The graph with both directions of every edge. */
static sfu_status make_symmetric(sfu_matrix *graph, const sfu_csr *from) {
    sfu_status status = SFU_OK;
    sfu__pairs pairs = {0};
    sfu__assembly assembly = {0};
    uint32_t *ends = NULL;
    float *weights = NULL;
    int64_t count = 0;
    SFU_ALLOC(ends, 2 * from->indptr[from->rows]);
    for (int32_t i = 0; i < from->rows; i++) {
        for (int64_t e = from->indptr[i]; e < from->indptr[i + 1]; e++, count++) {
            ends[2 * count] = (uint32_t)i;
            ends[2 * count + 1] = (uint32_t)from->indices[e];
        }
    }
    SFU_TRY(sfu__pairs_take(&pairs, &ends, &weights, count));
    SFU_TRY(sfu__assemble(graph, &pairs, from->rows, &assembly));
done:
    sfu__pairs_clear(&pairs);
    return status;
}

/* Twice the part; the nodes with neighbours in other parts are the second half of theirs. */
static int32_t place_of(const ordering *self, int32_t node) {
    const sfu_csr *graph = &self->from->graph;
    bool outside = false;
    for (int64_t e = graph->indptr[node]; e < graph->indptr[node + 1] && !outside; e++) {
        outside = self->part_of[graph->indices[e]] != self->part_of[node];
    }
    return 2 * self->part_of[node] + outside;
}

/* Parts one after the other; in each those first that wait for no other part. Otherwise the order of before. */
static sfu_status sort_nodes(ordering *self, int32_t parts) {
    sfu_status status = SFU_OK;
    const int32_t nodes = self->from->nodes;
    int32_t *first = NULL;
    SFU_ALLOC_ZERO(first, 2 * parts + 1);
    SFU_ALLOC(self->old, nodes);
    SFU_ALLOC(self->new, nodes);
    for (int32_t i = 0; i < nodes; i++) {
        first[place_of(self, i) + 1]++;
    }
    for (int32_t p = 0; p < 2 * parts; p++) {
        first[p + 1] += first[p];
    }
    for (int32_t i = 0; i < nodes; i++) {
        self->new[i] = first[place_of(self, i)]++;
        self->old[self->new[i]] = i;
    }
done:
    sfu__free(first);
    return status;
}

static sfu_status find_order(ordering *self, int32_t parts) {
    sfu_status status = SFU_OK;
    const sfu_dataset *from = self->from;
    sfu_matrix symmetric = {0};
    sfu_csr graph = from->graph;
    SFU_ALLOC(self->part_of, from->nodes);
    for (int32_t i = 0; i < from->nodes; i++) {
        self->part_of[i] = (int32_t)((int64_t)i * parts / from->nodes);
    }
    self->before = sfu__edge_cut(&from->graph, self->part_of);
    if (from->directed) {
        SFU_TRY(make_symmetric(&symmetric, &from->graph));
        graph = sfu__matrix_view(&symmetric);
    }
    SFU_TRY(sfu__node_parts(self->part_of, &graph, parts, from->name));
    self->after = sfu__edge_cut(&from->graph, self->part_of);
    SFU_TRY(sort_nodes(self, parts));
done:
    sfu__matrix_clear(&symmetric);
    return status;
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

static size_t width_of(sfu__dtype dtype) { return dtype == SFU__I64 ? 8 : dtype == SFU__U8 ? 1 : 4; }

typedef struct entry {
    int32_t column;
    float value;
} entry;

static int by_column(const void *a, const void *b) {
    const int32_t x = ((const entry *)a)->column, y = ((const entry *)b)->column;
    return (x > y) - (x < y);
}

/* Rows in the new order; with `renumber` the columns are nodes too. */
static sfu_status permute_matrix(sfu_matrix *to, const ordering *self, const sfu_csr *from, bool renumber) {
    sfu_status status = SFU_OK;
    entry *row = NULL;
    int64_t longest = 0, at = 0;
    for (int32_t i = 0; i < from->rows; i++) {
        const int64_t length = from->indptr[i + 1] - from->indptr[i];
        longest = length > longest ? length : longest;
    }
    SFU_ALLOC(row, longest);
    *to = (sfu_matrix){.rows = from->rows, .cols = from->cols};
    SFU_ALLOC(to->indptr, (int64_t)from->rows + 1);
    SFU_ALLOC(to->indices, from->indptr[from->rows]);
    if (from->values != NULL) {
        SFU_ALLOC(to->values, from->indptr[from->rows]);
    }
    for (int32_t i = 0; i < from->rows; i++) {
        const int64_t begin = from->indptr[self->old[i]], length = from->indptr[self->old[i] + 1] - begin;
        to->indptr[i] = at;
        for (int64_t e = 0; e < length; e++) {
            const int32_t column = from->indices[begin + e];
            row[e] = (entry){renumber ? self->new[column] : column, from->values != NULL ? from->values[begin + e] : 0};
        }
        if (renumber) {
            qsort(row, (size_t)length, sizeof *row, by_column);
        }
        for (int64_t e = 0; e < length; e++, at++) {
            to->indices[at] = row[e].column;
            if (to->values != NULL) {
                to->values[at] = row[e].value;
            }
        }
    }
    to->indptr[from->rows] = at;
done:
    sfu__free(row);
    return status;
}

/* A tensor with one item per node. */
static sfu_status permute_rows(ordering *self, const sfu__tensor *tensor) {
    const size_t size = (size_t)(tensor->dims > 1 ? tensor->shape[1] : 1) * width_of(tensor->dtype),
                 nodes = (size_t)self->from->nodes;
    char *data = sfu__alloc(nodes, size);
    if (data == NULL) {
        return SFU_ERR_MEMORY;
    }
    for (size_t i = 0; i < nodes; i++) {
        memcpy(data + i * size, (const char *)tensor->data + (size_t)self->old[i] * size, size);
    }
    return sfu__dataset_take(self->made, tensor->name, tensor->dtype, tensor->dims, tensor->shape, data);
}

static int ascending(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* A list of nodes. */
static sfu_status renumber_list(ordering *self, const sfu__tensor *tensor) {
    int32_t *nodes = sfu__alloc((size_t)tensor->count, sizeof *nodes);
    if (nodes == NULL) {
        return SFU_ERR_MEMORY;
    }
    for (int64_t i = 0; i < tensor->count; i++) {
        nodes[i] = self->new[((const int32_t *)tensor->data)[i]];
    }
    qsort(nodes, (size_t)tensor->count, sizeof *nodes, ascending);
    return sfu__dataset_take(self->made, tensor->name, tensor->dtype, tensor->dims, tensor->shape, nodes);
}

/* Nodes without names are named by their numbers in the input, so that results can be matched to it. */
static sfu_status name_nodes(ordering *self) {
    sfu_status status = SFU_OK;
    const sfu_dataset *from = self->from;
    int64_t *offsets = NULL;
    sfu__text bytes = {0};
    SFU_ALLOC(offsets, (int64_t)from->nodes + 1);
    for (int32_t i = 0; i < from->nodes; i++) {
        const int32_t old = self->old[i];
        offsets[i] = (int64_t)bytes.size;
        if (from->node_bytes == NULL) {
            SFU_TRY(sfu__text_format(&bytes, "%d", old));
        } else {
            SFU_TRY(sfu__text_add(&bytes, from->node_bytes + from->node_offsets[old],
                                  (size_t)(from->node_offsets[old + 1] - from->node_offsets[old])));
        }
    }
    offsets[from->nodes] = (int64_t)bytes.size;
    const int64_t count = from->nodes + 1, size = (int64_t)bytes.size;
    int64_t *taken = offsets;
    char *text = bytes.bytes;
    offsets = NULL;
    bytes = (sfu__text){0};
    status = sfu__dataset_take(self->made, "nodes.offsets", SFU__I64, 1, &count, taken);
    if (status != SFU_OK) {
        sfu__free(text);
        goto done;
    }
    status = sfu__dataset_take(self->made, "nodes.bytes", SFU__U8, 1, &size, text);
done:
    sfu__free(offsets);
    sfu__text_clear(&bytes);
    return status;
}

static bool starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

static sfu_status permute_tensors(ordering *self) {
    sfu_status status = SFU_OK;
    sfu_matrix matrix = {0};
    SFU_TRY(permute_matrix(&matrix, self, &self->from->graph, true));
    SFU_TRY(sfu__dataset_take_matrix(self->made, "adj", "weight", &matrix));
    if (self->from->dense == NULL) {
        SFU_TRY(permute_matrix(&matrix, self, &self->from->sparse, false));
        SFU_TRY(sfu__dataset_take_matrix(self->made, "x", "value", &matrix));
    }
    for (int64_t i = 0; i < self->from->tensor_count; i++) {
        const sfu__tensor *tensor = &self->from->tensors[i];
        if (strcmp(tensor->name, "x") == 0 || strcmp(tensor->name, "y") == 0 || starts_with(tensor->name, "node.")) {
            SFU_TRY(permute_rows(self, tensor));
        } else if (starts_with(tensor->name, "split.")) {
            SFU_TRY(renumber_list(self, tensor));
        }
    }
    SFU_TRY(name_nodes(self));
done:
    sfu__matrix_clear(&matrix);
    return status;
}

/* ---- the dataset ------------------------------------------------------------------------------------------------- */

static sfu_status fill(ordering *self, int32_t parts) {
    sfu_status status = SFU_OK;
    char record[128];
    bool before;
    snprintf(record, sizeof record, "{\"parts\":%d,\"cut_before\":%.4f,\"cut\":%.4f}", parts, self->before,
             self->after);
    SFU_TRY(sfu__dataset_record(self->made, self->from, "ordered", record, &before));
    if (before) {
        status =
            sfu__fail(SFU_ERR_ARGUMENT, "%s: its nodes were ordered before; start from the original", self->from->name);
        goto done;
    }
    SFU_TRY(sfu__dataset_copy_names(self->made, self->from));
    SFU_TRY(permute_tensors(self));
    SFU_TRY(sfu__dataset_bind(self->made, self->made->name, self->from->features));
    SFU_TRY(sfu_dataset_check(self->made));
    sfu__log(SFU_LOG_NOTE, "edges between %d parts: %.1f %% of all in the old order, %.1f %% in the new one", parts,
             100 * self->before, 100 * self->after);
done:
    return status;
}

static sfu_status order(sfu_dataset **ordered, const sfu_dataset *dataset, const sfu_order_options *options) {
    sfu_status status = SFU_OK;
    ordering self = {.from = dataset};
    const int32_t parts = options->parts < dataset->nodes ? options->parts : dataset->nodes;
    if (options->parts < 2) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "parts is %d; expected at least 2", options->parts);
        goto done;
    }
    SFU_TRY(sfu_dataset_check(dataset));
    SFU_TRY(find_order(&self, parts));
    SFU_TRY(sfu__dataset_new(&self.made, options->name != NULL ? options->name : dataset->name));
    SFU_TRY(fill(&self, parts));
    *ordered = self.made;
    self.made = NULL;
done:
    sfu__free(self.part_of);
    sfu__free(self.old);
    sfu__free(self.new);
    sfu_dataset_free(self.made);
    return status;
}

sfu_status sfu_dataset_order(sfu_dataset **ordered, const sfu_dataset *dataset, const sfu_order_options *given) {
    sfu_order_options options;
    *ordered = NULL;
    sfu_status status = SFU__READ_OPTIONS(&options, given, sfu_order_options);
    if (status == SFU_OK) {
        const sfu__watch before = sfu__watch_start(options.progress, options.progress_user, "ordering nodes");
        status = order(ordered, dataset, &options);
        sfu__watch_end(before);
    }
    return status;
}
