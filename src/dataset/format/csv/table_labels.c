/* table_labels.c - converts a vector or a one-hot matrix of a file to labels and class names. */
#include "arrays.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one-hot rows --------------------------------------------------------------------------------------------- */

static sfu_status set_label_of_ones(int32_t *labels, const sfu__triplets *triplets, const char *location) {
    for (int64_t i = 0; i < triplets->count; i++) {
        const int32_t row = triplets->row[i];
        if (triplets->value[i] != 1) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: row %d, column %d is %g, neither 0 nor 1", location, row,
                             triplets->col[i], (double)triplets->value[i]);
        }
        if (labels[row] != SFU_NO_LABEL) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: row %d has a 1 in columns %d and %d: a node has one class", location,
                             row, labels[row], triplets->col[i]);
        }
        labels[row] = triplets->col[i];
    }
    return SFU_OK;
}

sfu_status sfu__one_hot(int32_t *labels, const sfu__table *table) {
    sfu_status status = SFU_OK;
    sfu__triplets made = {0};
    const sfu__triplets *triplets = &table->sparse;
    if (!table->is_sparse) {
        SFU_TRY(sfu__triplets_dense(&made, &table->dense));
        triplets = &made;
    }
    for (int64_t i = 0; i < triplets->rows; i++) {
        labels[i] = SFU_NO_LABEL;
    }
    SFU_TRY(set_label_of_ones(labels, triplets, table->location));
done:
    sfu__triplets_clear(&made);
    return status;
}

/* ---- vectors of numbers --------------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Reads the numbers; -1 for unlabelled nodes. */
static sfu_status read_numbers(int64_t *numbers, const sfu__array *array) {
    for (int64_t i = 0; i < array->count; i++) {
        numbers[i] = SFU_NO_LABEL;
        if (array->kind == SFU__KIND_FLOAT && isnan(sfu__array_number(array, i))) {
            continue;
        }
        const sfu_status status = sfu__array_whole(&numbers[i], array, i);
        if (status != SFU_OK) {
            return status;
        }
        if (numbers[i] < SFU_NO_LABEL) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: entry %lld is %lld, which is not a class (-1 means no label)",
                             array->location, (long long)i, (long long)numbers[i]);
        }
    }
    return SFU_OK;
}

/* The distinct labels, ascending, into `distinct`, which must have space for all numbers. */
static int64_t find_distinct(int64_t *distinct, const int64_t *numbers, int64_t count) {
    memcpy(distinct, numbers, (size_t)count * sizeof *distinct);
    qsort(distinct, (size_t)count, sizeof *distinct, compare_numbers);
    int64_t used = 0;
    for (int64_t i = 0; i < count; i++) {
        if (distinct[i] != SFU_NO_LABEL && (used == 0 || distinct[used - 1] != distinct[i])) {
            distinct[used++] = distinct[i];
        }
    }
    return used;
}

static sfu_status name_by_number(sfu__strings *names, const int64_t *distinct, int64_t count) {
    sfu_status status = SFU_OK;
    for (int64_t i = 0; i < count; i++) {
        char text[24];
        const int size = snprintf(text, sizeof text, "%lld", (long long)distinct[i]);
        SFU_TRY(sfu__strings_add(names, text, (size_t)size));
    }
done:
    return status;
}

static sfu_status number_labels(sfu__raw *raw, const sfu__array *array) {
    sfu_status status = SFU_OK;
    int64_t *numbers = NULL;
    int64_t *distinct = NULL;
    SFU_ALLOC(numbers, array->count);
    SFU_ALLOC(distinct, array->count);
    SFU_TRY(read_numbers(numbers, array));
    raw->classes = find_distinct(distinct, numbers, array->count);
    if (raw->classes > 0 && distinct[raw->classes - 1] != raw->classes - 1) {
        SFU_TRY(name_by_number(&raw->class_names, distinct, raw->classes));
    }
    for (int64_t i = 0; i < array->count; i++) {
        const int64_t *found = bsearch(&numbers[i], distinct, (size_t)raw->classes, sizeof *distinct, compare_numbers);
        raw->labels[i] = found != NULL ? (int32_t)(found - distinct) : SFU_NO_LABEL;
    }
done:
    sfu__free(numbers);
    sfu__free(distinct);
    return status;
}

/* Number k is the class with the k-th name. */
static sfu_status numbered_names(sfu__raw *raw, const sfu__array *array, const sfu__strings *names) {
    sfu_status status = SFU_OK;
    int64_t *numbers = NULL;
    SFU_ALLOC(numbers, array->count);
    SFU_TRY(read_numbers(numbers, array));
    for (int64_t i = 0; i < array->count; i++) {
        if (numbers[i] >= names->count) {
            status = sfu__fail(SFU_ERR_FORMAT, "%s: entry %lld is class %lld, but there are only %lld class names",
                               array->location, (long long)i, (long long)numbers[i], (long long)names->count);
            goto done;
        }
        raw->labels[i] = (int32_t)numbers[i];
    }
    raw->classes = names->count;
done:
    sfu__free(numbers);
    return status;
}

/* ---- vectors of text ------------------------------------------------------------------------------------------ */

typedef struct string_view {
    const char *bytes;
    size_t size;
} string_view;

static int compare_strings(const void *a, const void *b) {
    const string_view *x = a;
    const string_view *y = b;
    const size_t common = x->size < y->size ? x->size : y->size;
    const int order = common > 0 ? memcmp(x->bytes, y->bytes, common) : 0;
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

static string_view string_at(const sfu__strings *strings, int64_t i) {
    string_view found;
    found.bytes = sfu__strings_get(strings, i, &found.size);
    return found;
}

/* Distinct strings in sorted order, without the empty one. */
static int64_t find_distinct_strings(string_view *distinct, const sfu__strings *texts) {
    int64_t used = 0;
    for (int64_t i = 0; i < texts->count; i++) {
        distinct[i] = string_at(texts, i);
    }
    qsort(distinct, (size_t)texts->count, sizeof *distinct, compare_strings);
    for (int64_t i = 0; i < texts->count; i++) {
        if (distinct[i].size > 0 && (used == 0 || compare_strings(&distinct[used - 1], &distinct[i]) != 0)) {
            distinct[used++] = distinct[i];
        }
    }
    return used;
}

static sfu_status text_labels(sfu__raw *raw, const sfu__array *array) {
    sfu_status status = SFU_OK;
    sfu__strings texts = {0};
    string_view *distinct = NULL;
    SFU_TRY(sfu__array_strings(&texts, array));
    SFU_ALLOC(distinct, texts.count);
    raw->classes = find_distinct_strings(distinct, &texts);
    for (int64_t i = 0; i < raw->classes; i++) {
        SFU_TRY(sfu__strings_add(&raw->class_names, distinct[i].bytes, distinct[i].size));
    }
    for (int64_t i = 0; i < texts.count; i++) {
        const string_view key = string_at(&texts, i);
        const string_view *found = bsearch(&key, distinct, (size_t)raw->classes, sizeof *distinct, compare_strings);
        raw->labels[i] = found != NULL ? (int32_t)(found - distinct) : SFU_NO_LABEL;
    }
done:
    sfu__strings_clear(&texts);
    sfu__free(distinct);
    return status;
}

/* ---- labels of any form --------------------------------------------------------------------------------------- */

/* A vector, or a matrix with one row or one column. */
static bool is_vector(const sfu__table *table) {
    const sfu__array *array = &table->dense;
    return !table->is_sparse &&
           (array->dims == 1 || (array->dims == 2 && (array->shape[0] == 1 || array->shape[1] == 1)));
}

static int64_t label_rows(const sfu__table *table) {
    return table->is_sparse ? table->sparse.rows : is_vector(table) ? table->dense.count : table->dense.shape[0];
}

static sfu_status copy_names(sfu__raw *raw, const sfu__table *table, const sfu__strings *names) {
    sfu_status status = SFU_OK;
    if (names->count != raw->classes) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: %lld classes, but %lld class names", table->location,
                         (long long)raw->classes, (long long)names->count);
    }
    for (int64_t i = 0; i < names->count; i++) {
        size_t size;
        const char *bytes = sfu__strings_get(names, i, &size);
        SFU_TRY(sfu__strings_add(&raw->class_names, bytes, size));
    }
done:
    return status;
}

sfu_status sfu__raw_set_labels(sfu__raw *raw, const sfu__table *table, const sfu__strings *names) {
    sfu_status status = SFU_OK;
    const bool named = names != NULL && names->count > 0;
    const bool vector = is_vector(table);
    if (!vector && !table->is_sparse) {
        SFU_TRY(sfu__array_need_matrix(&table->dense));
    }
    SFU_TRY(sfu__raw_set_nodes(raw, label_rows(table), table->location));
    SFU_ALLOC(raw->labels, raw->nodes);
    if (!vector) {
        SFU_TRY(sfu__one_hot(raw->labels, table));
        raw->classes = table->is_sparse ? table->sparse.cols : table->dense.shape[1];
    } else if (!sfu__array_is_number(&table->dense)) {
        return text_labels(raw, &table->dense);
    } else if (named) {
        SFU_TRY(numbered_names(raw, &table->dense, names));
    } else {
        return number_labels(raw, &table->dense);
    }
    if (named) {
        SFU_TRY(copy_names(raw, table, names));
    }
done:
    return status;
}
