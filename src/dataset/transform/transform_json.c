/* transform_json.c - writes a column transformation as JSON and reads it back, exactly.
 *
 *   {"version": 1, "id": "person", "values": "standard", "rows": "none", "decimal": ".", "missing": [],
 *    "columns": [{"name": "income", "type": "number", "missing": 12, "median": ..., "mean": ..., "sd": ...}, ...]}
 */
#include "json.h"
#include "transform.h"

#include <math.h>

enum { VERSION = 1 };
static const char *const value_scales[] = {"raw", "standard", "quantile"};
static const char *const row_scales[] = {"unit", "sum", "none"};

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static json_t *strings_json(const sfu__strings *strings) {
    json_t *array = json_array();
    for (int64_t i = 0; i < strings->count; i++) {
        size_t size;
        const char *bytes = sfu__strings_get(strings, i, &size);
        sfu__json_append(&array, json_stringn(bytes, size));
    }
    return array;
}

static json_t *column_json(const sfu__transform_column *column, sfu__value_scale values) {
    json_t *object = json_pack("{s:s, s:s, s:b, s:I}", "name", column->name, "type", sfu__transform_types[column->type],
                               "declared", (int)column->declared, "missing", (json_int_t)column->missing);
    switch (column->type) {
    case SFU__TYPE_DATE:
        sfu__json_set(&object, "day_first", json_boolean(column->order == SFU__DAY_FIRST));
        /* fall through */
    case SFU__TYPE_NUMBER:
    case SFU__TYPE_BOOLEAN:
        sfu__json_set(&object, "indicator", json_boolean(column->indicator));
        sfu__json_set(&object, "median", json_real(column->median));
        if (values == SFU__VALUES_STANDARD && column->type != SFU__TYPE_BOOLEAN) {
            sfu__json_set(&object, "mean", json_real(column->mean));
            sfu__json_set(&object, "sd", json_real(column->sd));
        }
        if (column->quantiles != NULL) {
            json_t *quantiles = json_array();
            for (int i = 0; i < column->quantile_count; i++) {
                sfu__json_append(&quantiles, json_real(column->quantiles[i]));
            }
            sfu__json_set(&object, "quantiles", quantiles);
        }
        break;
    case SFU__TYPE_CATEGORY:
        sfu__json_set(&object, "levels", strings_json(&column->levels));
        sfu__json_set(&object, "missing_level", json_boolean(column->missing_level));
        sfu__json_set(&object, "other_level", json_boolean(column->other_level));
        break;
    case SFU__TYPE_TEXT:
        sfu__json_set(&object, "words", strings_json(&column->levels));
        sfu__json_set(&object, "buckets", json_integer(column->buckets));
        break;
    case SFU__TYPE_LIST:
        sfu__json_set(&object, "width", json_integer(column->list_width));
        sfu__json_set(&object, "dense", json_boolean(column->list_dense));
        break;
    default:
        break;
    }
    return object;
}

sfu_status sfu__transform_print(char **text, const sfu__transform *transform) {
    const char decimal[] = {transform->rules.decimal, '\0'};
    json_t *columns = json_array();
    for (int64_t i = 0; i < transform->count; i++) {
        sfu__json_append(&columns, column_json(&transform->columns[i], transform->values));
    }
    json_t *object =
        json_pack("{s:i, s:s, s:s, s:s, s:b}", "version", VERSION, "values", value_scales[transform->values], "rows",
                  row_scales[transform->rows], "decimal", decimal, "named", (int)transform->named);
    if (transform->id != NULL) {
        sfu__json_set(&object, "id", json_string(transform->id));
    }
    sfu__json_set(&object, "missing", strings_json(&transform->rules.missing));
    sfu__json_set(&object, "columns", columns);
    const sfu_status status =
        sfu__json_print(text, object, JSON_COMPACT | JSON_REAL_PRECISION(17), "the column transformation");
    json_decref(object);
    return status;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static sfu_status fail(const char *place, const char *what) { return sfu__fail(SFU_ERR_FORMAT, "%s: %s", place, what); }

/* The index of a text in a list of `count` names, -1 if it has none. */
static int index_of(const sfu__json *text, const char *const *names, int count) {
    const char *wanted = sfu__json_string(text);
    for (int i = 0; wanted != NULL && i < count; i++) {
        if (strcmp(names[i], wanted) == 0) {
            return i;
        }
    }
    return -1;
}

/* `sorted`: in byte order, without duplicates, as lookups need it. */
static sfu_status read_strings(sfu__strings *strings, const sfu__json *array, bool sorted, const char *place) {
    sfu_status status = SFU_OK;
    const char *before = NULL;
    for (const sfu__json *item = sfu__json_items(array); item != NULL; item = item->next) {
        const char *text = sfu__json_string(item);
        if (text == NULL || (sorted && before != NULL && strcmp(before, text) >= 0)) {
            status = fail(place, "expected a list of texts in byte order");
            goto done;
        }
        SFU_TRY(sfu__strings_add(strings, text, strlen(text)));
        before = text;
    }
done:
    return status;
}

static bool is_true(const sfu__json *object, const char *key) {
    return sfu__json_is(sfu__json_get(object, key), SFU__JSON_TRUE);
}

static sfu_status read_number(double *number, const sfu__json *object, const char *key, const char *place) {
    const sfu__json *value = sfu__json_get(object, key);
    *number = sfu__json_number(value);
    return value == NULL || (sfu__json_is_number(value) && isfinite(*number)) ? SFU_OK
                                                                              : fail(place, "expected a number");
}

static sfu_status read_quantiles(sfu__transform_column *column, const sfu__json *array, const char *place) {
    sfu_status status = SFU_OK;
    if (array == NULL) {
        return SFU_OK;
    }
    if (array->kind != SFU__JSON_ARRAY || array->count > SFU__QUANTILES_MAX) {
        return fail(place, "expected at most 1000 quantiles");
    }
    SFU_ALLOC(column->quantiles, array->count);
    for (const sfu__json *item = sfu__json_items(array); item != NULL; item = item->next) {
        const int i = column->quantile_count;
        column->quantiles[i] = sfu__json_number(item);
        if (!isfinite(column->quantiles[i]) || (i > 0 && column->quantiles[i] < column->quantiles[i - 1])) {
            status = fail(place, "expected ascending quantiles");
            goto done;
        }
        column->quantile_count++;
    }
done:
    return status;
}

static sfu_status read_column(sfu__transform *transform, const sfu__json *object, const char *place) {
    sfu_status status = SFU_OK;
    const char *name = sfu__json_string(sfu__json_get(object, "name"));
    const int type = index_of(sfu__json_get(object, "type"), sfu__transform_types, SFU__TYPES);
    if (name == NULL || type <= SFU__TYPE_AUTO) {
        return fail(place, "expected a column with a name and a type");
    }
    SFU_TRY(sfu__transform_add(transform, name, strlen(name), (sfu__transform_type)type));
    sfu__transform_column *column = &transform->columns[transform->count - 1];
    column->declared = is_true(object, "declared");
    column->missing = sfu__json_whole(sfu__json_get(object, "missing"));
    column->order = is_true(object, "day_first") ? SFU__DAY_FIRST : SFU__MONTH_FIRST;
    column->indicator = is_true(object, "indicator");
    column->missing_level = is_true(object, "missing_level");
    column->other_level = is_true(object, "other_level");
    column->list_dense = is_true(object, "dense");
    SFU_TRY(read_number(&column->median, object, "median", place));
    SFU_TRY(read_number(&column->mean, object, "mean", place));
    SFU_TRY(read_number(&column->sd, object, "sd", place));
    SFU_TRY(read_quantiles(column, sfu__json_get(object, "quantiles"), place));
    SFU_TRY(
        read_strings(&column->levels, sfu__json_get(object, type == SFU__TYPE_TEXT ? "words" : "levels"), true, place));
    const int64_t buckets = sfu__json_whole(sfu__json_get(object, "buckets"));
    column->list_width = sfu__json_whole(sfu__json_get(object, "width"));
    if (buckets < 0 || buckets > INT32_MAX / 2 || column->list_width < 0 || column->list_width > SFU__LIST_WIDTH_MAX) {
        status = fail(place, "a number of features is out of range");
    }
    column->buckets = (int32_t)buckets;
done:
    return status;
}

static sfu_status read_root(sfu__transform *transform, const sfu__json *root, const char *place) {
    sfu_status status = SFU_OK;
    const char *id = sfu__json_string(sfu__json_get(root, "id"));
    const char *decimal = sfu__json_string(sfu__json_get(root, "decimal"));
    const int values = index_of(sfu__json_get(root, "values"), value_scales, 3);
    const int rows = index_of(sfu__json_get(root, "rows"), row_scales, 3);
    if (sfu__json_whole(sfu__json_get(root, "version")) != VERSION || values < 0 || rows < 0 || decimal == NULL ||
        (strcmp(decimal, ".") != 0 && strcmp(decimal, ",") != 0)) {
        return fail(place, "expected a column transformation of version 1");
    }
    transform->values = (sfu__value_scale)values;
    transform->rows = (sfu_scale)rows;
    transform->rules.decimal = decimal[0];
    transform->named = is_true(root, "named");
    if (id != NULL && (transform->id = sfu__copy_string(id)) == NULL) {
        return SFU_ERR_MEMORY;
    }
    SFU_TRY(read_strings(&transform->rules.missing, sfu__json_get(root, "missing"), false, place));
    const sfu__json *columns = sfu__json_get(root, "columns");
    for (const sfu__json *item = sfu__json_items(columns); item != NULL; item = item->next) {
        SFU_TRY(read_column(transform, item, place));
    }
    SFU_TRY(sfu__transform_lay_out(transform));
done:
    return status;
}

sfu_status sfu__transform_read(sfu__transform *transform, const char *text, const char *place) {
    sfu__json_text json = {0};
    sfu_status status = sfu__json_read(&json, text, strlen(text), place);
    if (status == SFU_OK) {
        status = read_root(transform, json.root, place);
    }
    sfu__json_clear(&json);
    if (status != SFU_OK) {
        sfu__transform_clear(transform);
    }
    return status;
}
