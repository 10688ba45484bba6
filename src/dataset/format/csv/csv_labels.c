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

/* ---- classes ---------------------------------------------------------------------------------------------------- */

static bool is_given_class(const sfu_import_options *options, const char *name, size_t size) {
    for (int32_t i = 0; options->class_names != NULL && i < options->class_name_count; i++) {
        if (strlen(options->class_names[i]) == size && memcmp(options->class_names[i], name, size) == 0) {
            return true;
        }
    }
    return false;
}

/* The classes while it is decided which of them are missing labels. */
typedef struct class_list {
    const sfu__node_index *names;
    bool *missing; /* [names->count] */
    int64_t *uses; /* [names->count]: nodes */
} class_list;

static const char *class_name(const class_list *list, int64_t i, char digits[SFU__DIGITS_MAX], size_t *size) {
    return sfu__node_index_name(list->names, i, digits, size);
}

/* -1 is no class beside at least two others that are all plain integers. */
static void find_minus_one(class_list *list, const sfu_import_options *options) {
    int64_t others = 0, found = -1;
    for (int64_t i = 0; i < list->names->count; i++) {
        char digits[SFU__DIGITS_MAX];
        size_t size;
        int64_t value;
        const char *name = class_name(list, i, digits, &size);
        if (size == 2 && memcmp(name, "-1", 2) == 0) {
            found = i;
        } else if (!list->missing[i]) {
            if (!sfu__plain_integer(&value, name, size)) {
                return;
            }
            others++;
        }
    }
    if (found >= 0 && others >= 2 && options->label_type != SFU_LABEL_CLASS && !is_given_class(options, "-1", 2)) {
        list->missing[found] = true;
    }
}

static void find_missing(class_list *list, const sfu__tables *tables) {
    for (int64_t i = 0; i < list->names->count; i++) {
        char digits[SFU__DIGITS_MAX];
        size_t size;
        const char *name = class_name(list, i, digits, &size);
        list->missing[i] =
            sfu__cell_is_missing(&tables->rules, name, size) && !is_given_class(tables->options, name, size);
    }
    find_minus_one(list, tables->options);
}

/* Numbers of which nearly every node has another are measured, not classes. */
static sfu_status check_classes(const class_list *list, const sfu__tables *tables) {
    enum { FEW_CLASSES = 20 };
    int64_t classes = 0, labelled = 0;
    bool whole = true;
    double number;
    if (tables->options->label_type == SFU_LABEL_CLASS || tables->options->class_names != NULL) {
        return SFU_OK;
    }
    for (int64_t i = 0; i < list->names->count; i++) {
        char digits[SFU__DIGITS_MAX];
        size_t size;
        const char *name = class_name(list, i, digits, &size);
        if (list->missing[i]) {
            continue;
        }
        if (!sfu__cell_is_number(&number, &tables->rules, name, size)) {
            return SFU_OK;
        }
        classes++;
        labelled += list->uses[i];
        whole = whole && number == (double)(int64_t)number;
    }
    if (classes <= FEW_CLASSES || (whole && 2 * classes <= labelled)) {
        return SFU_OK;
    }
    return sfu__fail(SFU_ERR_FORMAT,
                     "%s: the labels are numbers with %lld different values for %lld nodes; expected classes, and "
                     "regression is not offered (--label-type class takes every number as a class)",
                     tables->labels_from, (long long)classes, (long long)labelled);
}

/* Records how many labels of each spelling were taken as missing. */
static sfu_status record_missing(sfu__raw *raw, const class_list *list) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(raw->missing_counts, list->names->count);
    for (int64_t i = 0; i < list->names->count; i++) {
        if (list->missing[i]) {
            char digits[SFU__DIGITS_MAX];
            size_t size;
            const char *name = class_name(list, i, digits, &size);
            SFU_TRY(sfu__strings_add(&raw->missing_labels, name, size));
            raw->missing_counts[raw->missing_labels.count - 1] = list->uses[i];
        }
    }
done:
    return status;
}

/* Sorts the classes that are not missing; class_of[old number] is the new number. Classes that are all plain integers
 * are sorted by value, others by the bytes of their names. */
static sfu_status sort_classes(sfu__node_index *classes, const class_list *list, int32_t *class_of) {
    sfu_status status = SFU_OK;
    int32_t *order = NULL;
    sfu__node_index kept = {0}, sorted = {0};
    int64_t largest, number;
    char digits[SFU__DIGITS_MAX];
    size_t size;
    for (int64_t i = 0; i < classes->count; i++) {
        if (!list->missing[i]) {
            const char *name = class_name(list, i, digits, &size);
            SFU_TRY(sfu__node_index_append(&kept, name, size));
        }
    }
    SFU_TRY(sfu__node_index_sort(&kept, sfu__node_index_all_plain(&kept, &largest), &order));
    for (int64_t rank = 0; rank < kept.count; rank++) {
        const char *name = sfu__node_index_name(&kept, order[rank], digits, &size);
        SFU_TRY(sfu__node_index_append(&sorted, name, size));
        SFU_TRY(sfu__node_index_find(classes, name, size, &number));
        class_of[number] = (int32_t)rank;
    }
    sfu__node_index_clear(classes);
    *classes = sorted;
    sorted = (sfu__node_index){0};
done:
    sfu__node_index_clear(&kept);
    sfu__node_index_clear(&sorted);
    sfu__free(order);
    return status;
}

/* With `like`, the classes are those of the dataset or model that it names, unless the file has others. */
static sfu_status use_like_classes(sfu__tables *tables, int32_t *class_of, int64_t count) {
    sfu_status status = SFU_OK;
    int64_t *number = NULL;
    SFU_ALLOC(number, tables->classes.count);
    for (int64_t i = 0; i < tables->classes.count; i++) {
        char digits[SFU__DIGITS_MAX];
        size_t size;
        const char *name = sfu__node_index_name(&tables->classes, i, digits, &size);
        SFU_TRY(sfu__node_index_find(&tables->like, name, size, &number[i]));
        if (number[i] < 0) {
            goto done;
        }
    }
    for (int64_t i = 0; i < count; i++) {
        class_of[i] = class_of[i] >= 0 ? (int32_t)number[class_of[i]] : class_of[i];
    }
    sfu__node_index_clear(&tables->classes);
    tables->classes = tables->like;
    tables->like = (sfu__node_index){0};
done:
    sfu__free(number);
    return status;
}

/* Decides which classes there are; class_of[number of a name] is the class or SFU_NO_LABEL (allocated). */
static sfu_status find_classes(sfu__tables *tables, int32_t **class_of) {
    sfu_status status = SFU_OK;
    class_list list = {.names = &tables->classes};
    const int64_t count = tables->classes.count;
    SFU_ALLOC(*class_of, count);
    SFU_ALLOC_ZERO(list.missing, tables->classes.count);
    SFU_ALLOC_ZERO(list.uses, tables->classes.count);
    for (int64_t i = 0; i < tables->labels.count; i++) {
        list.uses[tables->labels.features[i]]++;
    }
    for (int64_t i = 0; i < tables->classes.count; i++) {
        (*class_of)[i] = SFU_NO_LABEL;
    }
    find_missing(&list, tables);
    SFU_TRY(check_classes(&list, tables));
    SFU_TRY(record_missing(tables->raw, &list));
    SFU_TRY(sort_classes(&tables->classes, &list, *class_of));
    if (tables->like.count > 0 && tables->classes.count > 0) {
        SFU_TRY(use_like_classes(tables, *class_of, count));
    }
done:
    sfu__free(list.missing);
    sfu__free(list.uses);
    return status;
}

sfu_status sfu__tables_finish_labels(sfu__tables *tables) {
    sfu_status status = SFU_OK;
    sfu__raw *raw = tables->raw;
    int32_t *class_of = NULL;
    SFU_TRY(find_classes(tables, &class_of));
    raw->classes = tables->classes.count;
    if (raw->classes == 0) {
        goto done;
    }
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
