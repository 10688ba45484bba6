/* table_file.c - reads and writes the CSV tables of a results folder. */
#include "table_file.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static sfu_status put_number(sfu__table_file_writer *writer, double value) {
    sfu_status status = SFU_OK;
    writer->number.size = 0;
    if (isfinite(value)) {
        SFU_TRY(sfu__text_number(&writer->number, value));
        SFU_TRY(sfu__writer_add(writer->out, writer->number.bytes, writer->number.size));
    }
done:
    return status;
}

static sfu_status put(sfu__table_file_writer *writer, const void *row, const sfu__table_column *column) {
    const void *at = (const char *)row + column->field;
    switch (column->type) {
    case SFU__COLUMN_TEXT:
        return sfu__csv_put(writer->out, at, strlen(at));
    case SFU__COLUMN_WHOLE:
        return sfu__writer_format(writer->out, "%" PRId32, *(const int32_t *)at);
    case SFU__COLUMN_LONG:
        return sfu__writer_format(writer->out, "%" PRId64, *(const int64_t *)at);
    case SFU__COLUMN_SWITCH:
        return sfu__writer_format(writer->out, "%d", *(const bool *)at);
    case SFU__COLUMN_NUMBER:
        break;
    }
    return put_number(writer, *(const double *)at);
}

sfu_status sfu__table_file_open(sfu__table_file_writer *writer, const sfu__table_file *table_file, const char *folder) {
    sfu_status status = SFU_OK;
    writer->table_file = table_file;
    char *path = sfu__path_join(folder, table_file->file);
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    SFU_TRY(sfu__writer_open(&writer->out, path));
    sfu__writer_set_spreadsheet(writer->out, true); /* people open these files; read_text removes the apostrophes */
    for (size_t c = 0; c < table_file->count; c++) {
        SFU_TRY(sfu__writer_format(writer->out, "%s%s", table_file->columns[c].name,
                                   c + 1 < table_file->count ? "," : "\n"));
    }
done:
    sfu__free(path);
    return status;
}

sfu_status sfu__table_file_put(sfu__table_file_writer *writer, const void *row) {
    sfu_status status = SFU_OK;
    for (size_t c = 0; c < writer->table_file->count; c++) {
        SFU_TRY(put(writer, row, &writer->table_file->columns[c]));
        SFU_TRY(sfu__writer_add(writer->out, c + 1 < writer->table_file->count ? "," : "\n", 1));
    }
done:
    return status;
}

sfu_status sfu__table_file_commit(sfu__table_file_writer *writer) { return sfu__writer_commit(writer->out); }

void sfu__table_file_close(sfu__table_file_writer *writer) {
    sfu__writer_close(writer->out);
    sfu__text_clear(&writer->number);
    *writer = (sfu__table_file_writer){0};
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static sfu_status read_text(char *to, size_t size, const sfu__csv *csv, size_t c) {
    const sfu__csv_field *field = &csv->fields[c];
    if (field->size >= size || memchr(field->bytes, '\0', field->size) != NULL) {
        return sfu__csv_fail(csv, c, "is too long");
    }
    const size_t skipped = sfu__csv_has_apostrophe(field->bytes, field->size);
    memcpy(to, field->bytes + skipped, field->size - skipped);
    to[field->size - skipped] = '\0';
    return SFU_OK;
}

static sfu_status read_number(double *value, const sfu__csv *csv, size_t c) {
    const sfu__csv_field *field = &csv->fields[c];
    *value = NAN;
    if (field->size > 0 && !sfu__parse_double(value, field->bytes, field->bytes + field->size)) {
        return sfu__csv_fail(csv, c, "is not a number");
    }
    return SFU_OK;
}

static sfu_status read_integer(int64_t *value, const sfu__csv *csv, size_t c, int64_t most) {
    const sfu__csv_field *field = &csv->fields[c];
    if (!sfu__parse_int64(value, field->bytes, field->bytes + field->size) || *value < 0 || *value > most) {
        return sfu__csv_fail(csv, c, "is not a count");
    }
    return SFU_OK;
}

static sfu_status read_field(void *row, const sfu__table_column *column, const sfu__csv *csv, size_t c) {
    void *at = (char *)row + column->field;
    int64_t whole = 0;
    sfu_status status = SFU_OK;
    switch (column->type) {
    case SFU__COLUMN_TEXT:
        return read_text(at, column->size, csv, c);
    case SFU__COLUMN_NUMBER:
        return read_number(at, csv, c);
    case SFU__COLUMN_WHOLE:
        SFU_TRY(read_integer(&whole, csv, c, INT32_MAX));
        *(int32_t *)at = (int32_t)whole;
        break;
    case SFU__COLUMN_LONG:
        SFU_TRY(read_integer(&whole, csv, c, INT64_MAX));
        *(int64_t *)at = whole;
        break;
    case SFU__COLUMN_SWITCH:
        SFU_TRY(read_integer(&whole, csv, c, 1));
        *(bool *)at = whole != 0;
        break;
    }
done:
    return status;
}

static sfu_status check_header(const sfu__csv *csv, const sfu__table_file *table_file) {
    const size_t least = table_file->count - table_file->optional;
    bool same = (csv->width == table_file->count || csv->width == least) && csv->has_header;
    for (size_t c = 0; c < csv->width && same; c++) {
        size_t size = 0;
        const char *name = sfu__strings_get(&csv->header, (int64_t)c, &size);
        same = sfu__csv_is(name, size, table_file->columns[c].name);
    }
    return same ? SFU_OK
                : sfu__fail(SFU_ERR_FORMAT,
                            "%s:1: the columns are not those of a %s (expected the first to be "
                            "dataset,net,size,split)",
                            csv->path, table_file->file);
}

sfu_status sfu__table_file_read(const sfu__table_file *table_file, const char *folder, void *row,
                                sfu__table_row_fn take_row, void *user) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    bool more = true;
    char *path = sfu__path_join(folder, table_file->file);
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    if (!sfu__path_is_file(path)) {
        goto done;
    }
    SFU_TRY(sfu__csv_open(&csv, path, &(sfu__csv_rules){.header = SFU_HEADER_YES}));
    SFU_TRY(check_header(&csv, table_file));
    SFU_TRY(sfu__csv_next(&csv, &more));
    while (more) {
        for (size_t c = 0; c < csv.width; c++) {
            SFU_TRY(read_field(row, &table_file->columns[c], &csv, c));
        }
        SFU_TRY(take_row(user, row, &csv));
        SFU_TRY(sfu__csv_next(&csv, &more));
    }
done:
    sfu__csv_close(&csv);
    sfu__free(path);
    return status;
}
