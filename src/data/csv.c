#include "csv.h"
#include "raw.h"

#include <assert.h>
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { READ_BYTES = 1 << 18 };

static const char separators[] = {',', '\t', ';'};

/* Before the separator is known each of them may end a quoted field. */
enum { ANY_SEPARATOR = 1 };

static bool is_separator(const sfu__csv *csv, char c) {
    switch (csv->separator) {
    case ANY_SEPARATOR:
        return memchr(separators, c, sizeof separators) != NULL;
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

sfu_status sfu__csv_fail(const sfu__csv *csv, size_t column, const char *wrong) {
    char name[SFU__QUOTE_MAX];
    char value[SFU__QUOTE_MAX];
    const sfu__csv_field *field = &csv->fields[column];
    return sfu__csv_fail_row(csv, "column %s: %s %s", sfu__csv_column(csv, column, name),
                             sfu__quote(value, field->bytes, field->size), wrong);
}

sfu_status sfu__csv_fail_row(const sfu__csv *csv, const char *format, ...) {
    char wrong[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wrong, sizeof wrong, format, arguments);
    va_end(arguments);
    return sfu__fail(SFU_ERR_FORMAT, "%s: line %lld: %s", csv->path, (long long)csv->line, wrong);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

/* Reads more behind what is there, which moves to the front. */
static sfu_status fill(sfu__csv *csv) {
    sfu_status status = SFU_OK;
    if (csv->keep > 0) {
        assert(csv->buffer != NULL);
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

/* The line end of a row that has quotes in it, or NULL where what is there does not reach that far. A row that the
 * file's end ends has it at `end`. */
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
        while (p < end && *p != '\n' && !is_separator(csv, *p)) {
            p++;
        }
        if (p < end && *p == '\n') {
            return p;
        }
        p++;
    }
    return csv->ended ? end : NULL;
}

/* Finds where the row at `begin` ends: *size bytes, the line end not among them. */
static sfu_status find_row(sfu__csv *csv, size_t *size) {
    size_t seen = 0; /* bytes of the row without a line end */
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
            return sfu__csv_fail_row(csv, "longer than %d MiB; is a quote left open?", SFU__CSV_ROW_MAX >> 20);
        }
        const sfu_status status = fill(csv);
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

/* Reads the quoted field at *at, which is moved behind its closing quote. */
static sfu_status quoted_field(sfu__csv *csv, const char **at, const char *end) {
    const char *begin = *at + 1;
    const char *p = begin;
    bool doubled = false;
    while (p < end && (*p != '"' || (p + 1 < end && p[1] == '"'))) {
        doubled = doubled || *p == '"';
        p += *p == '"' ? 2 : 1;
    }
    if (p >= end) {
        return sfu__csv_fail_row(csv, "a quote is left open to the end of the file");
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
        while (p < end && !is_separator(csv, *p)) {
            p++;
        }
    }
    *at = p;
    while (p > begin && is_blank(csv, p[-1])) {
        p--;
    }
    return add_field(csv, begin, p);
}

/* Cuts [p, end) into fields. */
static sfu_status split(sfu__csv *csv, const char *p, const char *end) {
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
            const bool between = p > end - 1 || is_separator(csv, *p) || (csv->separator == ' ' && p[-1] != '"');
            if (!between) {
                status = sfu__csv_fail_row(csv, "field %zu goes on behind its closing quote", csv->field_count);
                goto done;
            }
        } else {
            SFU_TRY(bare_field(csv, &p, end));
        }
        /* Blanks: what separates two fields may also stand behind the last. */
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

static bool only_blanks(const char *p, const char *end) {
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

/* Takes the next row that is not empty out of the buffer: [*row, *end). */
static sfu_status take_row(sfu__csv *csv, const char **row, const char **end, bool *more) {
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
        if (csv->rules.lines || !only_blanks(*row, *end)) {
            return SFU_OK;
        }
    }
}

sfu_status sfu__csv_next(sfu__csv *csv, bool *more) {
    sfu_status status = SFU_OK;
    const char *row;
    const char *end;
    csv->keep = csv->begin;
    SFU_TRY(take_row(csv, &row, &end, more));
    if (!*more) {
        goto done;
    }
    if (memchr(row, '\0', (size_t)(end - row)) != NULL) {
        status = sfu__csv_fail_row(csv, "a zero byte; this is no text, or not UTF-8");
        goto done;
    }
    SFU_TRY(split(csv, row, end));
    if (csv->width == 0) {
        csv->width = csv->field_count;
        csv->width_line = csv->line;
    } else if (csv->field_count != csv->width) {
        status = sfu__csv_fail_row(csv, "%zu field%s, where line %lld has %zu", csv->field_count,
                                   csv->field_count == 1 ? "" : "s", (long long)csv->width_line, csv->width);
    }
done:
    return status;
}

/* ---- the start of a file ---------------------------------------------------------------------------------------- */

bool sfu__csv_is(const char *bytes, size_t size, const char *word) {
    return size == strlen(word) && strncasecmp(bytes, word, size) == 0;
}

static bool is_number(const sfu__csv_field *field) {
    double value;
    return sfu__parse_double(&value, field->bytes, field->bytes + field->size);
}

/* The words by which a header is known even where no column has numbers: what export writes, and the usual ones. */
static bool has_header_words(const sfu__csv *csv) {
    static const char *const ends[][2] = {{"source", "target"}, {"src", "dst"}, {"from", "to"}};
    static const char *const nodes[] = {"node", "id", "node_id"};
    const sfu__csv_field *f = csv->fields;
    for (size_t i = 0; csv->rules.edges && csv->width >= 2 && i < sizeof ends / sizeof ends[0]; i++) {
        if (sfu__csv_is(f[0].bytes, f[0].size, ends[i][0]) && sfu__csv_is(f[1].bytes, f[1].size, ends[i][1])) {
            return true;
        }
    }
    for (size_t i = 0; !csv->rules.edges && i < sizeof nodes / sizeof nodes[0]; i++) {
        if (sfu__csv_is(f[0].bytes, f[0].size, nodes[i])) {
            return true;
        }
    }
    for (size_t i = 0; csv->rules.label != NULL && i < csv->width; i++) {
        if (f[i].size == strlen(csv->rules.label) && memcmp(f[i].bytes, csv->rules.label, f[i].size) == 0) {
            return true;
        }
    }
    return false;
}

/* A place to go back to; the bytes from `keep` on are still there. */
typedef struct mark {
    int64_t offset, line;
} mark;

int64_t sfu__csv_offset(const sfu__csv *csv) { return csv->buffer_offset + (int64_t)csv->begin; }

static mark here(const sfu__csv *csv) { return (mark){sfu__csv_offset(csv), csv->next_line}; }

static void go_back(sfu__csv *csv, mark place) {
    csv->begin = (size_t)(place.offset - csv->buffer_offset);
    csv->next_line = place.line;
}

/* Skips the byte order mark, empty lines and, in an edge list, comments: the first row is next. */
static sfu_status skip_to_first_row(sfu__csv *csv) {
    sfu_status status = SFU_OK;
    SFU_TRY(fill(csv));
    if (csv->end >= 3 && memcmp(csv->buffer, "\xef\xbb\xbf", 3) == 0) {
        csv->begin = 3;
    }
    while (!csv->rules.lines) {
        csv->keep = csv->begin;
        const char *line = csv->buffer + csv->begin;
        const size_t left = csv->end - csv->begin;
        const bool comment = csv->rules.edges && left > 0 && (*line == '#' || *line == '%');
        /* A comment ends with its line, whatever quotes are in it. */
        const char *stop = left > 0 ? memchr(line, '\n', left) : NULL;
        if (stop == NULL && left <= SFU__CSV_ROW_MAX && !csv->ended) {
            SFU_TRY(fill(csv));
        } else if (stop != NULL && (comment || only_blanks(line, stop - (stop > line && stop[-1] == '\r')))) {
            csv->begin += (size_t)(stop - line) + 1;
            csv->next_line++;
        } else {
            csv->begin = stop == NULL && comment ? csv->end : csv->begin;
            break;
        }
    }
done:
    return status;
}

/* The separator, from the first row, which is put back. */
static sfu_status find_separator(sfu__csv *csv) {
    sfu_status status = SFU_OK;
    const char *row;
    const char *end;
    bool more;
    size_t counts[sizeof separators] = {0};
    const mark start = here(csv);
    csv->separator = ANY_SEPARATOR;
    csv->keep = csv->begin;
    SFU_TRY(take_row(csv, &row, &end, &more));
    bool open = false;
    bool starts = true; /* a field: only there does a quote open one */
    for (const char *p = row; more && p < end; p++) {
        /* Of two quotes inside a field the first closes it and the second opens it again. */
        const bool quote = *p == '"' && (open || starts);
        open = open != quote;
        for (size_t i = 0; !open && i < sizeof separators; i++) {
            counts[i] += *p == separators[i];
        }
        starts = quote || is_separator(csv, *p) || (starts && *p == ' ');
    }
    size_t best = 0;
    for (size_t i = 1; i < sizeof separators; i++) {
        best = counts[i] > counts[best] ? i : best;
    }
    csv->separator = counts[best] > 0 ? separators[best] : csv->rules.edges ? ' ' : '\0';
    go_back(csv, start);
done:
    return status;
}

/* Whether there is a column with a number in the second row, the current one, and no such column has one in the first:
 * `numbers` says where that has them. */
static bool differs_from_header(const sfu__csv *csv, const bool *numbers) {
    bool any = false;
    for (size_t i = 0; i < csv->width && i < csv->field_count; i++) {
        if (is_number(&csv->fields[i])) {
            if (numbers[i]) {
                return false;
            }
            any = true;
        }
    }
    return any;
}

/* Whether the current row, the first, is a header; looks at the one behind it and comes back. */
static sfu_status decide_header(sfu__csv *csv, bool *header) {
    sfu_status status = SFU_OK;
    bool *numbers = NULL;
    *header = csv->rules.header == SFU_HEADER_YES || (csv->rules.header == SFU_HEADER_AUTO && has_header_words(csv));
    if (*header || csv->rules.header == SFU_HEADER_NO) {
        goto done;
    }
    SFU_ALLOC(numbers, csv->width);
    for (size_t i = 0; i < csv->width; i++) {
        numbers[i] = is_number(&csv->fields[i]);
    }
    const mark second = here(csv);
    const char *row;
    const char *end;
    bool more;
    SFU_TRY(take_row(csv, &row, &end, &more));
    if (more) {
        SFU_TRY(split(csv, row, end));
        *header = differs_from_header(csv, numbers);
    }
    go_back(csv, second);
done:
    sfu__free(numbers);
    return status;
}

/* Reads the first row; keeps it as the header or puts it back. */
static sfu_status take_header(sfu__csv *csv) {
    sfu_status status = SFU_OK;
    bool more;
    const mark first = here(csv);
    SFU_TRY(sfu__csv_next(csv, &more));
    if (!more) {
        goto done;
    }
    for (size_t i = 0; i < csv->width; i++) {
        SFU_TRY(sfu__strings_add(&csv->header, csv->fields[i].bytes, csv->fields[i].size));
    }
    SFU_TRY(decide_header(csv, &csv->has_header));
    if (!csv->has_header) {
        go_back(csv, first);
        sfu__strings_clear(&csv->header);
    }
done:
    return status;
}

sfu_status sfu__csv_open(sfu__csv *csv, const char *path, const sfu__csv_rules *rules) {
    sfu_status status = SFU_OK;
    *csv = (sfu__csv){.path = path, .rules = *rules, .next_line = 1, .width_line = 1};
    SFU_TRY(sfu__text_format(&csv->what, "reading %s", sfu__path_base(path)));
    SFU_TRY(sfu__stream_open(&csv->stream, path));
    csv->ticker = (sfu__ticker){rules->progress, rules->progress_user,          csv->what.bytes,
                                "bytes",         sfu__stream_size(csv->stream), 0};
    SFU_TRY(skip_to_first_row(csv));
    if (!rules->lines) {
        SFU_TRY(find_separator(csv));
        SFU_TRY(take_header(csv));
    }
done:
    return status;
}

void sfu__csv_close(sfu__csv *csv) {
    sfu__stream_close(csv->stream);
    sfu__strings_clear(&csv->header);
    sfu__text_clear(&csv->what);
    sfu__free(csv->buffer);
    sfu__free(csv->fields);
    sfu__free(csv->scratch);
    *csv = (sfu__csv){0};
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

sfu_status sfu__csv_number(const sfu__csv *csv, size_t column, float *value) {
    const sfu__csv_field *field = &csv->fields[column];
    double number;
    if (!sfu__parse_double(&number, field->bytes, field->bytes + field->size)) {
        return sfu__csv_fail(csv, column, "is not a number");
    }
    if (number > FLT_MAX || number < -FLT_MAX) {
        return sfu__csv_fail(csv, column, "is too large for a 32-bit float");
    }
    *value = (float)number;
    return SFU_OK;
}

sfu_status sfu__csv_part(const sfu__csv *csv, size_t column, sfu_part *part) {
    for (int i = 0; i < SFU_PARTS; i++) {
        if (sfu__csv_is(csv->fields[column].bytes, csv->fields[column].size, sfu__part_names[i])) {
            *part = (sfu_part)i;
            return SFU_OK;
        }
    }
    return sfu__csv_fail(csv, column, "is no part of a split; it must be train, val or test");
}
