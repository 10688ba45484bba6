/* split_file.c - reads a split from a CSV file of node,part, nodes by name. */
#include "split_int.h"
#include "csv.h"
#include "node_index.h"

sfu_status sfu__csv_part(const sfu__csv *csv, size_t column, sfu_part *part) {
    for (int i = 0; i < SFU_PARTS; i++) {
        if (sfu__csv_is(csv->fields[column].bytes, csv->fields[column].size, sfu__part_names[i])) {
            *part = (sfu_part)i;
            return SFU_OK;
        }
    }
    return sfu__csv_fail(csv, column, "is not a part of a split; expected train, val or test");
}

/* Indexes the names of the nodes; unnamed nodes are 0, 1, ... and need no memory. */
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

static sfu_status read_row(sfu__draft *draft, sfu__node_index *index, const sfu__csv *csv) {
    sfu_status status = SFU_OK;
    int64_t node = -1;
    SFU_TRY(sfu__node_index_find(index, csv->fields[0].bytes, csv->fields[0].size, &node));
    sfu_part part = SFU_TRAIN;
    SFU_TRY(sfu__csv_part(csv, 1, &part));
    if (node < 0) {
        status = sfu__csv_fail(csv, 0, "is not a node of the dataset");
    } else if (draft->dataset->labels[node] == SFU_NO_LABEL) {
        status = sfu__csv_fail(csv, 0, "has no label, and only labelled nodes can be in a split");
    } else if (draft->part_of[node] != SFU__NO_PART) {
        static const char *const before[SFU_PARTS] = {"is in train already", "is in val already", "is in test already"};
        status = sfu__csv_fail(csv, 0, before[draft->part_of[node]]);
    } else {
        draft->part_of[node] = (uint8_t)part;
    }
done:
    return status;
}

sfu_status sfu__split_read(sfu__draft *draft, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    sfu__node_index index = {0};
    bool more = false;
    /* The header is recognized by its second field, because a node name may be anything. */
    SFU_TRY(sfu__csv_open(&csv, path, &(sfu__csv_rules){.header = SFU_HEADER_NO}));
    SFU_TRY(index_nodes(&index, draft->dataset));
    SFU_TRY(sfu__csv_next(&csv, &more));
    if (more && csv.width != 2) {
        status = sfu__csv_fail_row(&csv, "expected 2 columns (node,part), found %zu", csv.width);
        goto done;
    }
    if (more && sfu__csv_is(csv.fields[1].bytes, csv.fields[1].size, "part")) {
        SFU_TRY(sfu__csv_next(&csv, &more));
    }
    while (more) {
        SFU_TRY(read_row(draft, &index, &csv));
        SFU_TRY(sfu__csv_next(&csv, &more));
    }
done:
    sfu__csv_close(&csv);
    sfu__node_index_clear(&index);
    return status;
}
