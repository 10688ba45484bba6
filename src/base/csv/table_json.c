/* table_json.c - rows of the tables of a results folder as JSON arrays. */
#include "table_file.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static sfu_status print_value(sfu__text *json, const sfu__table_column *column, const void *at) {
    double number = NAN;
    switch (column->type) {
    case SFU__COLUMN_TEXT:
        return sfu__text_json(json, at);
    case SFU__COLUMN_WHOLE:
        return sfu__text_format(json, "%" PRId32, *(const int32_t *)at);
    case SFU__COLUMN_LONG:
        return sfu__text_format(json, "%" PRId64, *(const int64_t *)at);
    case SFU__COLUMN_SWITCH:
        return sfu__text_format(json, "%d", *(const bool *)at);
    case SFU__COLUMN_NUMBER:
        break;
    }
    number = *(const double *)at;
    return isfinite(number) ? sfu__text_number(json, number) : sfu__text_format(json, "null");
}

sfu_status sfu__table_row_print(sfu__text *json, const sfu__table_file *table_file, const void *row) {
    sfu_status status = SFU_OK;
    for (size_t c = 0; c < table_file->count; c++) {
        const sfu__table_column *column = &table_file->columns[c];
        SFU_TRY(sfu__text_format(json, "%s", c > 0 ? ", " : "["));
        SFU_TRY(print_value(json, column, (const char *)row + column->field));
    }
    SFU_TRY(sfu__text_format(json, "]"));
done:
    return status;
}

/* False: not a value of this column. */
static bool read_value(void *at, const sfu__table_column *column, const sfu__json *value) {
    const char *text = sfu__json_string(value);
    const int64_t whole = sfu__json_whole(value);
    const bool is_count = sfu__json_is(value, SFU__JSON_WHOLE) && whole >= 0;
    switch (column->type) {
    case SFU__COLUMN_TEXT:
        if (text == NULL || strlen(text) >= column->size) {
            return false;
        }
        memcpy(at, text, strlen(text) + 1);
        return true;
    case SFU__COLUMN_WHOLE:
        *(int32_t *)at = is_count && whole <= INT32_MAX ? (int32_t)whole : 0;
        return is_count && whole <= INT32_MAX;
    case SFU__COLUMN_LONG:
        *(int64_t *)at = is_count ? whole : 0;
        return is_count;
    case SFU__COLUMN_SWITCH:
        *(bool *)at = is_count && whole == 1;
        return is_count && whole <= 1;
    case SFU__COLUMN_NUMBER:
        break;
    }
    *(double *)at = sfu__json_is_number(value) ? sfu__json_number(value) : NAN;
    return sfu__json_is_number(value) || sfu__json_is(value, SFU__JSON_NULL);
}

sfu_status sfu__table_row_read(void *row, const sfu__table_file *table_file, const sfu__json *json, const char *place) {
    const sfu__json *value = sfu__json_items(json);
    for (size_t c = 0; c < table_file->count; c++, value = value->next) {
        const sfu__table_column *column = &table_file->columns[c];
        if (value == NULL || !read_value((char *)row + column->field, column, value)) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: expected a value of the column %s of %s", place, column->name,
                             table_file->file);
        }
    }
    return SFU_OK;
}
