/* csv.c - reads rows and splits them into fields; see csv.h for the format. */
#include "csv_int.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { READ_BYTES = 1 << 18 };

bool sfu__csv_is_separator(const sfu__csv *csv, char c) {
    switch (csv->separator) {
    case SFU__CSV_ANY:
        return c == ',' || c == '\t' || c == ';';
    case ' ':
        return c == ' ' || c == '\t';
    case 0:
        return false;
    default:
        return c == csv->separator;
    }
}

static bool is_blank(const sfu__csv *csv, char c) { return c == ' ' || (c == '\t' && csv->separator != '\t'); }

/* ---- messages --------------------------------------------------------------------------------------------------- */

const char *sfu__csv_column(const sfu__csv *csv, size_t column, char name[SFU__QUOTE_MAX]) {
    if (csv->has_header) {
        size_t size;
        const char *bytes = sfu__strings_get(&csv->header, (int64_t)column, &size);
        return sfu__quote(name, bytes, size);
    }
    snprintf(name, SFU__QUOTE_MAX, "%zu", column + 1);
    return name;
}

sfu_status sfu__csv_fail(const sfu__csv *csv, size_t column, const char *message) {
    char name[SFU__QUOTE_MAX];
    char value[SFU__QUOTE_MAX];
    const sfu__csv_field *field = &csv->fields[column];
    return sfu__csv_fail_row(csv, "column %s: %s %s", sfu__csv_column(csv, column, name),
                             sfu__quote(value, field->bytes, field->size), message);
}

sfu_status sfu__csv_fail_row(const sfu__csv *csv, const char *format, ...) {
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return sfu__fail(SFU_ERR_FORMAT, "%s:%lld: %s", csv->path, (long long)csv->line, message);
}

/* ---- buffer ----------------------------------------------------------------------------------------------------- */

sfu_status sfu__csv_fill(sfu__csv *csv) {
    sfu_status status = SFU_OK;
    if (csv->keep > 0 && csv->buffer != NULL) {
        memmove(csv->buffer, csv->buffer + csv->keep, csv->end - csv->keep);
        csv->begin -= csv->keep;
        csv->end -= csv->keep;
        csv->buffer_offset += (int64_t)csv->keep;
        csv->keep = 0;
    }
    char *grown = sfu__grow(csv->buffer, &csv->capacity, csv->end + READ_BYTES, 1);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    csv->buffer = grown;
    size_t got;
    SFU_TRY(sfu__stream_read(csv->stream, csv->buffer + csv->end, csv->capacity - csv->end, &got));
    csv->end += got;
    csv->ended = got == 0;
    SFU_TRY(sfu__tick(&csv->ticker, sfu__stream_position(csv->stream)));
done:
    return status;
}

/* The line end of a row with quotes, or NULL if the buffer does not reach that far. The last row of a file may end at
 * `end`. */
static const char *quoted_row_end(const sfu__csv *csv, const char *p, const char *end) {
    while (p < end) {
        while (p < end && is_blank(csv, *p)) {
            p++;
        }
        if (p < end && *p == '"') {
            for (p++; p < end && (*p != '"' || (p + 1 < end && p[1] == '"')); p++) {
                p += *p == '"';
            }
            if (p >= end || (p + 1 == end && !csv->ended)) {
                return csv->ended ? end : NULL;
            }
            p++;
        }
        while (p < end && *p != '\n' && !sfu__csv_is_separator(csv, *p)) {
            p++;
        }
        if (p < end && *p == '\n') {
            return p;
        }
        p++;
    }
    return csv->ended ? end : NULL;
}

/* Finds the end of the row at `begin`: *size bytes, without the line end. */
static sfu_status find_row(sfu__csv *csv, size_t *size) {
    size_t seen = 0; /* bytes of the row searched so far */
    for (;;) {
        const char *row = csv->buffer + csv->begin;
        const char *end = csv->buffer + csv->end;
        const char *stop = seen < (size_t)(end - row) ? memchr(row + seen, '\n', (size_t)(end - row) - seen) : NULL;
        seen = stop != NULL ? (size_t)(stop - row) : (size_t)(end - row);
        if (stop == NULL && csv->ended) {
            stop = end;
        }
        if (stop != NULL && memchr(row, '"', (size_t)(stop - row)) != NULL) {
            stop = quoted_row_end(csv, row, end);
        }
        if (stop != NULL) {
            *size = (size_t)(stop - row);
            return SFU_OK;
        }
        if ((size_t)(end - row) > SFU__CSV_ROW_MAX) {
            csv->line = csv->next_line;
            return sfu__csv_fail_row(csv, "the row is longer than %d MiB; is a quote never closed?",
                                     SFU__CSV_ROW_MAX >> 20);
        }
        const sfu_status status = sfu__csv_fill(csv);
        if (status != SFU_OK) {
            return status;
        }
    }
}

/* ---- fields ----------------------------------------------------------------------------------------------------- */

static sfu_status add_field(sfu__csv *csv, const char *begin, const char *end) {
    sfu__csv_field *grown = sfu__grow(csv->fields, &csv->field_capacity, csv->field_count + 1, sizeof *csv->fields);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    csv->fields = grown;
    csv->fields[csv->field_count++] = (sfu__csv_field){begin, (size_t)(end - begin)};
    return SFU_OK;
}

/* Reads the quoted field at *at and advances past its closing quote. */
static sfu_status quoted_field(sfu__csv *csv, const char **at, const char *end) {
    const char *begin = *at + 1;
    const char *p = begin;
    bool doubled = false;
    while (p < end && (*p != '"' || (p + 1 < end && p[1] == '"'))) {
        doubled = doubled || *p == '"';
        p += *p == '"' ? 2 : 1;
    }
    if (p >= end) {
        return sfu__csv_fail_row(csv, "a quote is never closed");
    }
    *at = p + 1;
    if (!doubled) {
        return add_field(csv, begin, p);
    }
    char *out = csv->scratch + csv->scratch_used;
    char *start = out;
    for (const char *q = begin; q < p; q++) {
        *out++ = *q;
        q += *q == '"';
    }
    csv->scratch_used += (size_t)(out - start);
    return add_field(csv, start, out);
}

static sfu_status bare_field(sfu__csv *csv, const char **at, const char *end) {
    const char *begin = *at;
    const char *p = begin;
    if (csv->separator > ' ' || csv->separator == '\t') {
        p = memchr(begin, csv->separator, (size_t)(end - begin));
        p = p != NULL ? p : end;
    } else {
        while (p < end && !sfu__csv_is_separator(csv, *p)) {
            p++;
        }
    }
    *at = p;
    while (p > begin && is_blank(csv, p[-1])) {
        p--;
    }
    return add_field(csv, begin, p);
}

sfu_status sfu__csv_split_row(sfu__csv *csv, const char *p, const char *end) {
    sfu_status status = SFU_OK;
    csv->field_count = 0;
    csv->scratch_used = 0;
    char *scratch = sfu__grow(csv->scratch, &csv->scratch_capacity, (size_t)(end - p), 1);
    if (scratch == NULL) {
        return SFU_ERR_MEMORY;
    }
    csv->scratch = scratch;
    for (;; p++) {
        while (p < end && is_blank(csv, *p)) {
            p++;
        }
        if (p < end && *p == '"') {
            SFU_TRY(quoted_field(csv, &p, end));
            while (p < end && is_blank(csv, *p)) {
                p++;
            }
            const bool between =
                p > end - 1 || sfu__csv_is_separator(csv, *p) || (csv->separator == ' ' && p[-1] != '"');
            if (!between) {
                status = sfu__csv_fail_row(csv, "field %zu continues after its closing quote", csv->field_count);
                goto done;
            }
        } else {
            SFU_TRY(bare_field(csv, &p, end));
        }
        /* Blanks that separate fields may also follow the last one. */
        while (csv->separator == ' ' && p < end && is_blank(csv, *p)) {
            p++;
        }
        if (p >= end) {
            break;
        }
        p -= csv->separator == ' ';
    }
done:
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

bool sfu__csv_only_blanks(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t')) {
        p++;
    }
    return p == end;
}

static int64_t count_lines(const char *p, const char *end) {
    int64_t count = 0;
    while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        count++;
        p++;
    }
    return count;
}

sfu_status sfu__csv_take_row(sfu__csv *csv, const char **row, const char **end, bool *more) {
    for (;;) {
        size_t size = 0;
        const sfu_status status = find_row(csv, &size);
        if (status != SFU_OK) {
            return status;
        }
        *row = csv->buffer + csv->begin;
        *end = *row + size;
        const bool at_end = csv->begin + size >= csv->end;
        *more = size > 0 || !at_end;
        if (!*more) {
            return SFU_OK;
        }
        csv->line = csv->next_line;
        csv->next_line += 1 + count_lines(*row, *end);
        csv->begin += size + (at_end ? 0 : 1);
        *end -= size > 0 && (*end)[-1] == '\r';
        if (csv->rules.lines || !sfu__csv_only_blanks(*row, *end)) {
            return SFU_OK;
        }
    }
}

sfu_status sfu__csv_next(sfu__csv *csv, bool *more) {
    sfu_status status = SFU_OK;
    const char *row;
    const char *end;
    csv->keep = csv->begin;
    SFU_TRY(sfu__csv_take_row(csv, &row, &end, more));
    if (!*more) {
        goto done;
    }
    if (memchr(row, '\0', (size_t)(end - row)) != NULL) {
        status = sfu__csv_fail_row(csv, "found a zero byte; expected UTF-8 text");
        goto done;
    }
    SFU_TRY(sfu__csv_split_row(csv, row, end));
    if (csv->width == 0) {
        csv->width = csv->field_count;
        csv->width_line = csv->line;
    } else if (csv->field_count != csv->width) {
        status = sfu__csv_fail_row(csv, "expected %zu columns as on line %lld, found %zu", csv->width,
                                   (long long)csv->width_line, csv->field_count);
    }
done:
    return status;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* "12,5" */
static bool parse_comma(double *number, const sfu__csv_field *field) {
    enum { LONGEST = 64 };
    char text[LONGEST];
    const char *comma = memchr(field->bytes, ',', field->size);
    if (field->size > LONGEST || memchr(field->bytes, '.', field->size) != NULL) {
        return false;
    }
    memcpy(text, field->bytes, field->size);
    if (comma != NULL) {
        text[comma - field->bytes] = '.';
    }
    return sfu__parse_double(number, text, text + field->size);
}

bool sfu__csv_parse(double *number, const sfu__csv_field *field, char decimal) {
    return decimal == ',' ? parse_comma(number, field)
                          : sfu__parse_double(number, field->bytes, field->bytes + field->size);
}

sfu_status sfu__csv_number(const sfu__csv *csv, size_t column, float *value) {
    const sfu__csv_field *field = &csv->fields[column];
    double number;
    if (!sfu__csv_parse(&number, field, csv->rules.decimal)) {
        return sfu__csv_fail(csv, column, "is not a number");
    }
    if (number > FLT_MAX || number < -FLT_MAX) {
        return sfu__csv_fail(csv, column, "is too large for a 32-bit float");
    }
    *value = (float)number;
    return SFU_OK;
}
