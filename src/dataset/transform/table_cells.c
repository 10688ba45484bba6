/* table_cells.c - stores the cells of a table; see table_cells.h. */
#include "table_cells.h"
#include "csv.h"
#include "progress.h"

#include <float.h>
#include <strings.h>

sfu_status sfu__cells_start(sfu__cells *cells, size_t width) {
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(cells->columns, width);
    cells->width = width;
    cells->rows = 0;
done:
    return status;
}

void sfu__cells_clear(sfu__cells *cells) {
    for (size_t i = 0; i < cells->width; i++) {
        sfu__free(cells->columns[i].values);
        sfu__node_index_clear(&cells->columns[i].words);
    }
    sfu__free(cells->columns);
    *cells = (sfu__cells){0};
}

/* ---- one cell --------------------------------------------------------------------------------------------------- */

bool sfu__cell_is_missing(const sfu__cell_rules *rules, const char *bytes, size_t size) {
    static const char *const usual[] = {"na", "n/a", "nan", "null", "none", "?"};
    enum { LONGEST = 4 };
    if (size == 0) {
        return true;
    }
    for (size_t i = 0; size <= LONGEST && i < sizeof usual / sizeof usual[0]; i++) {
        if (size == strlen(usual[i]) && strncasecmp(bytes, usual[i], size) == 0) {
            return true;
        }
    }
    for (int64_t i = 0; i < rules->missing.count; i++) {
        size_t have;
        const char *spelling = sfu__strings_get(&rules->missing, i, &have);
        if (have == size && memcmp(spelling, bytes, size) == 0) {
            return true;
        }
    }
    return false;
}

bool sfu__cell_is_number(double *value, const sfu__cell_rules *rules, const char *bytes, size_t size) {
    return sfu__csv_parse(value, &(sfu__csv_field){bytes, size}, rules->decimal) && *value <= (double)FLT_MAX &&
           *value >= -(double)FLT_MAX;
}

sfu_status sfu__cell_make(double *cell, sfu__node_index *words, bool exact, const sfu__cell_rules *rules,
                          const char *bytes, size_t size) {
    int64_t code = SFU__CELL_MISSING;
    sfu_status status = SFU_OK;
    if (!sfu__cell_is_missing(rules, bytes, size)) {
        if (!exact && sfu__cell_is_number(cell, rules, bytes, size)) {
            return SFU_OK;
        }
        status = sfu__node_index_add(words, bytes, size, &code);
    }
    *cell = sfu__cell_from_code(code);
    return status;
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

sfu_status sfu__cell_column_add(sfu__cell_column *column, int64_t row, const sfu__cell_rules *rules, const char *bytes,
                                size_t size) {
    double *values = sfu__grow(column->values, &column->capacity, (size_t)row + 1, sizeof *values);
    if (values == NULL) {
        return SFU_ERR_MEMORY;
    }
    column->values = values;
    return sfu__cell_make(&values[row], &column->words, column->exact, rules, bytes, size);
}

sfu_status sfu__cell_column_spell(sfu__cell_column *column, int64_t rows) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    int64_t code;
    for (int64_t row = 0; row < rows; row++) {
        SFU_TRY(sfu__poll_at(row));
        if (sfu__cell_code(column->values[row]) == SFU__CELL_NUMBER) {
            text.size = 0;
            SFU_TRY(sfu__text_number(&text, column->values[row]));
            SFU_TRY(sfu__node_index_add(&column->words, text.bytes, text.size, &code));
            column->values[row] = sfu__cell_from_code(code);
        }
    }
done:
    sfu__text_clear(&text);
    return status;
}

int64_t sfu__cell_column_find(const sfu__cell_column *column, int64_t rows, int64_t wanted) {
    for (int64_t row = 0; row < rows; row++) {
        const int64_t code = sfu__cell_code(column->values[row]);
        if (code >= 0 && (wanted < 0 || code == wanted)) {
            return row;
        }
    }
    return -1;
}
