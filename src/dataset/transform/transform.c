/* transform.c - the column transformation: memory, and the positions and names of the features. */
#include "transform.h"

void sfu__transform_clear(sfu__transform *transform) {
    for (int64_t i = 0; i < transform->count; i++) {
        sfu__free(transform->columns[i].name);
        sfu__free(transform->columns[i].quantiles);
        sfu__strings_clear(&transform->columns[i].levels);
    }
    sfu__free(transform->columns);
    sfu__free(transform->id);
    sfu__strings_clear(&transform->rules.missing);
    *transform = (sfu__transform){0};
}

sfu_status sfu__transform_add(sfu__transform *transform, const char *name, size_t size, sfu__transform_type declared) {
    sfu__transform_column *columns =
        sfu__grow(transform->columns, &transform->capacity, (size_t)transform->count + 1, sizeof *columns);
    if (columns == NULL) {
        return SFU_ERR_MEMORY;
    }
    transform->columns = columns;
    char *copy = sfu__copy_bytes(name, size);
    if (copy == NULL) {
        return SFU_ERR_MEMORY;
    }
    columns[transform->count++] =
        (sfu__transform_column){.name = copy, .type = declared, .declared = declared != SFU__TYPE_AUTO};
    return SFU_OK;
}

/* ---- positions -------------------------------------------------------------------------------------------------- */

static int64_t feature_count(const sfu__transform_column *column) {
    switch (column->type) {
    case SFU__TYPE_NUMBER:
    case SFU__TYPE_DATE:
    case SFU__TYPE_BOOLEAN:
        return 1 + column->indicator;
    case SFU__TYPE_CATEGORY:
        return column->levels.count + column->missing_level + column->other_level;
    case SFU__TYPE_TEXT:
        return column->levels.count + column->buckets;
    case SFU__TYPE_LIST:
        return column->list_width;
    default:
        return 0;
    }
}

sfu_status sfu__transform_lay_out(sfu__transform *transform) {
    transform->features = 0;
    for (int64_t i = 0; i < transform->count; i++) {
        sfu__transform_column *column = &transform->columns[i];
        column->first = transform->features;
        column->count = feature_count(column);
        transform->features += column->count;
        if (transform->features >= INT32_MAX) {
            return sfu__fail(SFU_ERR_FORMAT, "the columns give more than %d features", INT32_MAX - 1);
        }
    }
    return SFU_OK;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* The name of feature `i` of a column, within the column. */
static sfu_status write_name(sfu__text *text, const sfu__transform_column *column, int64_t i) {
    const bool words = column->type == SFU__TYPE_CATEGORY || column->type == SFU__TYPE_TEXT;
    sfu_status status = sfu__text_add(text, column->name, strlen(column->name));
    if (status != SFU_OK) {
        return status;
    }
    if (column->type == SFU__TYPE_LIST) {
        return sfu__text_format(text, ":%lld", (long long)i);
    }
    if (!words) {
        return i == 0 ? SFU_OK : sfu__text_format(text, " (missing)");
    }
    if (i < column->levels.count) {
        size_t size;
        const char *level = sfu__strings_get(&column->levels, i, &size);
        status = sfu__text_add(text, column->type == SFU__TYPE_TEXT ? ":" : "=", 1);
        return status != SFU_OK ? status : sfu__text_add(text, level, size);
    }
    i -= column->levels.count;
    return column->type == SFU__TYPE_TEXT    ? sfu__text_format(text, "#%lld", (long long)i)
           : i == 0 && column->missing_level ? sfu__text_format(text, " (missing)")
                                             : sfu__text_format(text, " (other)");
}

/* Adds a name; one that exists already gets a number. */
static sfu_status add_unique(sfu__node_index *names, sfu__text *name) {
    sfu_status status = SFU_OK;
    int64_t found;
    const size_t size = name->size;
    for (int copy = 2;; copy++) {
        SFU_TRY(sfu__node_index_find(names, name->bytes, name->size, &found));
        if (found < 0) {
            break;
        }
        name->size = size;
        SFU_TRY(sfu__text_format(name, " (%d)", copy));
    }
    SFU_TRY(sfu__node_index_append(names, name->bytes, name->size));
done:
    return status;
}

/* Columns of a file without a header are called 1, 2, ..., which says nothing: plain numbers stay unnamed. */
static bool need_names(const sfu__transform *transform) {
    for (int64_t i = 0; i < transform->count; i++) {
        const sfu__transform_column *column = &transform->columns[i];
        if (column->count > 1 || (transform->named && column->count > 0) || column->type == SFU__TYPE_CATEGORY ||
            column->type == SFU__TYPE_TEXT || column->type == SFU__TYPE_LIST) {
            return true;
        }
    }
    return false;
}

sfu_status sfu__transform_feature_names(sfu__strings *names, const sfu__transform *transform) {
    sfu_status status = SFU_OK;
    sfu__node_index index = {0};
    sfu__text text = {0};
    if (!need_names(transform)) {
        return SFU_OK;
    }
    for (int64_t c = 0; c < transform->count; c++) {
        for (int64_t i = 0; i < transform->columns[c].count; i++) {
            text.size = 0;
            SFU_TRY(write_name(&text, &transform->columns[c], i));
            SFU_TRY(add_unique(&index, &text));
        }
    }
    sfu__node_index_release(&index, names);
done:
    sfu__text_clear(&text);
    sfu__node_index_clear(&index);
    return status;
}
