/* raw.c - frees the output of a reader and adds node columns to it. */
#include "raw.h"
#include "dense_rows.h"

#include <stdio.h>
#include <string.h>

const char *const sfu__part_names[SFU_PARTS] = {"train", "val", "test"};
const char *const sfu__part_tensors[SFU_PARTS] = {"split.train", "split.val", "split.test"};

void sfu__raw_clear(sfu__raw *raw) {
    sfu__pairs_clear(&raw->pairs);
    sfu__raw_free_dense(raw);
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
        for (size_t i = 0; i < raw->more_count; i++) {
            sfu__free(raw->more_splits[i].nodes[part]);
        }
    }
    sfu__free(raw->more_splits);
    sfu__strings_clear(&raw->files);
    sfu__free(raw->generator);
    sfu__free(raw->transform);
    sfu__strings_clear(&raw->missing_labels);
    sfu__free(raw->missing_counts);
    *raw = (sfu__raw){0};
}

const char *sfu__split_tensor(char name[SFU__SPLIT_TENSOR_MAX], int32_t split, int part) {
    if (split == 0) {
        return sfu__part_tensors[part];
    }
    snprintf(name, SFU__SPLIT_TENSOR_MAX, "split.%d.%s", split, sfu__part_names[part]);
    return name;
}

/* The place of the next split: a new one in `more_splits`. */
static sfu_status grow_splits(sfu__raw *raw) {
    if (raw->more_count + 1 >= SFU__STANDARD_SPLITS_MAX) {
        return sfu__fail(SFU_ERR_FORMAT, "more than %d standard splits", SFU__STANDARD_SPLITS_MAX);
    }
    sfu__raw_split *grown =
        sfu__grow(raw->more_splits, &raw->more_capacity, raw->more_count + 1, sizeof *raw->more_splits);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    raw->more_splits = grown;
    grown[raw->more_count++] = (sfu__raw_split){0};
    return SFU_OK;
}

sfu_status sfu__raw_add_split(sfu__raw *raw, int32_t *nodes[SFU_PARTS], const int64_t count[SFU_PARTS]) {
    const bool first = !raw->has_standard;
    const sfu_status status = first ? SFU_OK : grow_splits(raw);
    for (int part = 0; part < SFU_PARTS; part++) {
        if (status != SFU_OK) {
            sfu__free(nodes[part]);
        } else if (first) {
            raw->standard[part] = nodes[part];
            raw->standard_count[part] = count[part];
        } else {
            raw->more_splits[raw->more_count - 1].nodes[part] = nodes[part];
            raw->more_splits[raw->more_count - 1].count[part] = count[part];
        }
        nodes[part] = NULL;
    }
    raw->has_standard = raw->has_standard || status == SFU_OK;
    return status;
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
