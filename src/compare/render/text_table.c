#include "text_table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sfu__text_table_clear(sfu__text_table *table) {
    for (int i = 0; i < table->count; i++) {
        sfu__free(table->cells[i].text);
        sfu__free(table->cells[i].suffix);
        sfu__free(table->cells[i].full);
        sfu__free(table->cells[i].note);
    }
    sfu__free(table->cells);
    sfu__text_clear(&table->align);
    sfu__text_clear(&table->caption);
    *table = (sfu__text_table){0};
}

sfu_status sfu__text_table_columns(sfu__text_table *table, char align, int count) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < count && status == SFU_OK; i++) {
        status = sfu__text_add(&table->align, &align, 1);
    }
    return status;
}

int sfu__text_table_width(const sfu__text_table *table) { return (int)table->align.size; }
sfu__table_cell *sfu__text_table_last(sfu__text_table *table) { return &table->cells[table->count - 1]; }

sfu_status sfu__text_table_add(sfu__text_table *table, sfu__cell_kind kind, const char *text) {
    sfu__table_cell *grown = sfu__grow(table->cells, &table->capacity, (size_t)table->count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    table->cells = grown;
    grown[table->count] = (sfu__table_cell){.kind = kind, .value = NAN, .text = sfu__copy_string(text)};
    return grown[table->count++].text != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

sfu_status sfu__text_table_format(sfu__text_table *table, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return sfu__text_table_add(table, SFU__CELL_TEXT, text);
}

sfu_status sfu__text_table_number(sfu__text_table *table, double value, const char *text) {
    const sfu_status status = sfu__text_table_add(table, isnan(value) ? SFU__CELL_MISSING : SFU__CELL_TEXT, text);
    if (status == SFU_OK) {
        sfu__text_table_last(table)->value = value;
    }
    return status;
}

static sfu_status set_text(char **to, const char *format, va_list arguments) {
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    sfu__free(*to);
    *to = sfu__copy_string(text);
    return *to != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

sfu_status sfu__text_table_suffix(sfu__text_table *table, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const sfu_status status = set_text(&sfu__text_table_last(table)->suffix, format, arguments);
    va_end(arguments);
    return status;
}

sfu_status sfu__text_table_note(sfu__text_table *table, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const sfu_status status = set_text(&sfu__text_table_last(table)->note, format, arguments);
    va_end(arguments);
    return status;
}

sfu_status sfu__text_table_full(sfu__text_table *table, const char *full) {
    sfu__table_cell *cell = sfu__text_table_last(table);
    sfu__free(cell->full);
    cell->full = sfu__copy_string(full);
    return cell->full != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

sfu_status sfu__text_table_heads(sfu__text_table *table, const char *const *titles, int count) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < count && status == SFU_OK; i++) {
        status = sfu__text_table_add(table, SFU__CELL_TEXT, titles[i]);
    }
    return status;
}
