/* raw.c - frees the output of a reader and adds node columns to it. */
#include "raw.h"

#include <string.h>

const char *const sfu__part_names[SFU_PARTS] = {"train", "val", "test"};
const char *const sfu__part_tensors[SFU_PARTS] = {"split.train", "split.val", "split.test"};

void sfu__raw_clear(sfu__raw *raw) {
    sfu__pairs_clear(&raw->pairs);
    sfu__free(raw->dense);
    sfu__matrix_clear(&raw->sparse);
    sfu__free(raw->labels);
    sfu__strings_clear(&raw->class_names);
    sfu__strings_clear(&raw->node_names);
    sfu__strings_clear(&raw->feature_names);
    for (size_t i = 0; i < raw->column_count; i++) {
        sfu__free(raw->columns[i].name);
        sfu__free(raw->columns[i].values);
    }
    sfu__free(raw->columns);
    for (int part = 0; part < SFU_PARTS; part++) {
        sfu__free(raw->standard[part]);
    }
    sfu__strings_clear(&raw->files);
    sfu__free(raw->generator);
    sfu__free(raw->transform);
    sfu__strings_clear(&raw->missing_labels);
    sfu__free(raw->missing_counts);
    *raw = (sfu__raw){0};
}

sfu_status sfu__raw_add_column(sfu__raw *raw, const char *name, const float *values, int64_t nodes) {
    sfu_status status = SFU_OK;
    sfu__node_column column = {0};
    for (size_t i = 0; i < raw->column_count; i++) {
        if (strcmp(raw->columns[i].name, name) == 0) {
            char quoted[SFU__QUOTE_MAX];
            return sfu__fail(SFU_ERR_FORMAT, "the node column %s is given twice",
                             sfu__quote(quoted, name, strlen(name)));
        }
    }
    sfu__node_column *columns = sfu__grow(raw->columns, &raw->column_capacity, raw->column_count + 1, sizeof *columns);
    if (columns == NULL) {
        return SFU_ERR_MEMORY;
    }
    raw->columns = columns;
    SFU_ALLOC(column.name, strlen(name) + 1);
    memcpy(column.name, name, strlen(name) + 1);
    SFU_ALLOC(column.values, nodes);
    memcpy(column.values, values, (size_t)nodes * sizeof *values);
    columns[raw->column_count++] = column;
    column = (sfu__node_column){0};
done:
    sfu__free(column.name);
    sfu__free(column.values);
    return status;
}
