/* csv_split.c - reads the standard splits of a dataset: node,part, with one column of parts per split.
 *
 *   node,part            node,0,1,2
 *   ann,train            ann,train,test,train
 *   bob,test             bob,val,,test           bob is in no part of split 1
 *
 * With a single split an empty part is an error: there the row itself says that the node belongs to the split.
 */
#include "csv_tables.h"
#include "split_int.h"

/* A split while it is read. */
typedef struct growing_split {
    int32_t *nodes[SFU_PARTS];
    int64_t count[SFU_PARTS];
    size_t capacity[SFU_PARTS];
} growing_split;

static sfu_status add_node(growing_split *split, sfu_part part, int64_t node) {
    int32_t *grown =
        sfu__grow(split->nodes[part], &split->capacity[part], (size_t)split->count[part] + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    split->nodes[part] = grown;
    grown[split->count[part]++] = (int32_t)node;
    return SFU_OK;
}

static sfu_status read_row(sfu__tables *tables, const sfu__csv *csv, sfu__seen *seen, growing_split *splits) {
    sfu_status status = SFU_OK;
    int64_t node;
    const sfu__csv_field *name = &csv->fields[0];
    SFU_TRY(sfu__node_index_find(&tables->nodes, name->bytes, name->size, &node));
    if (node < 0) {
        status = sfu__csv_fail(csv, 0, "is a node that no other file names");
        goto done;
    }
    SFU_TRY(sfu__seen_add(seen, csv, node, "; a node is in one part"));
    for (size_t column = 1; column < csv->width; column++) {
        sfu_part part = SFU_TRAIN;
        if (csv->width == 2 || csv->fields[column].size > 0) {
            SFU_TRY(sfu__csv_part(csv, column, &part));
            SFU_TRY(add_node(&splits[column - 1], part, node));
        }
    }
done:
    return status;
}

static sfu_status check_width(const sfu__csv *csv) {
    return csv->width == 0 || (csv->width >= 2 && csv->width <= SFU__STANDARD_SPLITS_MAX + 1)
               ? SFU_OK
               : sfu__fail(SFU_ERR_FORMAT,
                           "%s: expected 2 columns (node,part), or one more per further split, found %zu", csv->path,
                           csv->width);
}

sfu_status sfu__csv_split(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    sfu__seen seen = {0};
    growing_split *splits = NULL;
    size_t count = 0;
    bool more;
    SFU_TRY(sfu__tables_open(tables, &csv, path, (sfu__csv_rules){0}));
    SFU_TRY(check_width(&csv));
    SFU_ALLOC_ZERO(splits, csv.width > 0 ? csv.width - 1 : 1);
    count = csv.width > 0 ? csv.width - 1 : 1;
    for (;;) {
        SFU_TRY(sfu__csv_next(&csv, &more));
        if (!more) {
            break;
        }
        SFU_TRY(read_row(tables, &csv, &seen, splits));
    }
    for (size_t i = 0; i < count; i++) {
        SFU_TRY(sfu__raw_add_split(tables->raw, splits[i].nodes, splits[i].count));
    }
done:
    for (size_t i = 0; i < SFU_PARTS * count; i++) {
        sfu__free(splits[i / SFU_PARTS].nodes[i % SFU_PARTS]);
    }
    sfu__free(splits);
    sfu__free(seen.lines);
    sfu__csv_close(&csv);
    return status;
}
