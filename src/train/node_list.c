/* node_list.c - sfu_nodes_read: nodes by name from the first column of a CSV file. */
#include "csv.h"
#include "dataset.h"
#include "node_index.h"

#include <string.h>

/* Unnamed nodes are 0, 1, ... and need no memory. */
static sfu_status index_nodes(sfu__node_index *index, const sfu_dataset *dataset) {
    for (int32_t node = 0; node < dataset->nodes && dataset->node_offsets != NULL; node++) {
        size_t size = 0;
        const char *name = sfu_dataset_node_name(dataset, node, &size);
        const sfu_status status = sfu__node_index_append(index, name, size);
        if (status != SFU_OK) {
            return status;
        }
    }
    index->count = dataset->nodes;
    return SFU_OK;
}

/* Marks the node of a row. A first row "node" is a header unless a node has that name. */
static sfu_status mark_row(bool *marked, sfu__node_index *index, const sfu__csv *csv, bool first) {
    sfu_status status = SFU_OK;
    int64_t node = -1;
    const sfu__csv_field *field = &csv->fields[0];
    SFU_TRY(sfu__node_index_find(index, field->bytes, field->size, &node));
    if (node >= 0) {
        marked[node] = true;
    } else if (!first || !sfu__csv_is(field->bytes, field->size, "node")) {
        status = sfu__csv_fail(csv, 0, "is not a node of the dataset");
    }
done:
    return status;
}

static sfu_status mark_all(bool *marked, sfu__node_index *index, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    bool more = false, first = true;
    SFU_TRY(sfu__csv_open(&csv, path, &(sfu__csv_rules){.header = SFU_HEADER_NO}));
    SFU_TRY(sfu__csv_next(&csv, &more));
    while (more) {
        SFU_TRY(mark_row(marked, index, &csv, first));
        first = false;
        SFU_TRY(sfu__csv_next(&csv, &more));
    }
done:
    sfu__csv_close(&csv);
    return status;
}

sfu_status sfu_nodes_read(int32_t *nodes, int32_t *count, const sfu_dataset *dataset, const char *path) {
    sfu_status status = SFU_OK;
    sfu__node_index index = {0};
    bool *marked = NULL;
    SFU_TRY(sfu__dataset_check_nodes(dataset));
    SFU_ALLOC_ZERO(marked, dataset->nodes);
    SFU_TRY(index_nodes(&index, dataset));
    SFU_TRY(mark_all(marked, &index, path));
    *count = 0;
    for (int32_t node = 0; node < dataset->nodes; node++) {
        if (marked[node]) {
            nodes[(*count)++] = node;
        }
    }
done:
    sfu__node_index_clear(&index);
    sfu__free(marked);
    return status;
}
