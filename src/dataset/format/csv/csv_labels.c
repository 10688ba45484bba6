/* csv_labels.c - reads labels.csv, which assigns nodes to classes. */
#include "csv_tables.h"

/* Opens a file of two columns. */
static sfu_status open_pairs(sfu__tables *tables, sfu__csv *csv, const char *path, const char *expected) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__tables_open(tables, csv, path, (sfu__csv_rules){0}));
    if (csv->width != 2 && csv->width != 0) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: expected 2 columns (%s), found %zu", path, expected, csv->width);
    }
done:
    return status;
}

/* ---- labels ----------------------------------------------------------------------------------------------------- */

sfu_status sfu__csv_labels(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    sfu__seen seen = {0};
    int64_t node;
    bool more;
    if (tables->labels_from != NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s and %s both give labels", tables->labels_from, path);
    }
    tables->named = true;
    tables->labels_from = path;
    SFU_TRY(open_pairs(tables, &csv, path, "node,label"));
    for (;;) {
        SFU_TRY(sfu__csv_next(&csv, &more));
        if (!more) {
            break;
        }
        SFU_TRY(sfu__tables_node(tables, &csv, 0, &node));
        SFU_TRY(sfu__seen_add(&seen, &csv, node, "; a node has one label"));
        SFU_TRY(sfu__tables_label(tables, &csv, node, 1));
    }
done:
    sfu__free(seen.lines);
    sfu__csv_close(&csv);
    return status;
}

sfu_status sfu__tables_label(sfu__tables *tables, const sfu__csv *csv, int64_t node, size_t column) {
    sfu_status status = SFU_OK;
    const sfu__csv_field *field = &csv->fields[column];
    int64_t number;
    if (field->size > 0) {
        SFU_TRY(sfu__tables_name(&tables->classes, csv, field->bytes, field->size, "class", &number));
        SFU_TRY(sfu__triples_add(&tables->labels, node, number, 0));
    }
done:
    return status;
}

/* Sorts the classes; class_of[old number] is the new number (allocated). Classes that are all plain integers are sorted
 * by value, others by the bytes of their names. */
static sfu_status sort_classes(sfu__node_index *classes, int32_t **class_of) {
    sfu_status status = SFU_OK;
    int32_t *order = NULL;
    sfu__node_index sorted = {0};
    int64_t largest;
    const int64_t count = classes->count;
    const bool numbers = sfu__node_index_all_plain(classes, &largest);
    SFU_ALLOC(*class_of, count);
    SFU_TRY(sfu__node_index_sort(classes, numbers, &order));
    for (int64_t rank = 0; rank < count; rank++) {
        char digits[SFU__DIGITS_MAX];
        size_t size;
        const char *name = sfu__node_index_name(classes, order[rank], digits, &size);
        SFU_TRY(sfu__node_index_append(&sorted, name, size));
        (*class_of)[order[rank]] = (int32_t)rank;
    }
    sfu__node_index_clear(classes);
    *classes = sorted;
    sorted = (sfu__node_index){0};
done:
    sfu__node_index_clear(&sorted);
    sfu__free(order);
    return status;
}

sfu_status sfu__tables_finish_labels(sfu__tables *tables) {
    sfu_status status = SFU_OK;
    sfu__raw *raw = tables->raw;
    int32_t *class_of = NULL;
    raw->classes = tables->classes.count;
    if (raw->classes == 0) {
        goto done;
    }
    SFU_TRY(sort_classes(&tables->classes, &class_of));
    SFU_ALLOC(raw->labels, raw->nodes);
    for (int64_t i = 0; i < raw->nodes; i++) {
        raw->labels[i] = SFU_NO_LABEL;
    }
    for (int64_t i = 0; i < tables->labels.count; i++) {
        raw->labels[tables->labels.nodes[i]] = class_of[tables->labels.features[i]];
    }
    sfu__node_index_release(&tables->classes, &raw->class_names);
done:
    sfu__free(class_of);
    return status;
}
