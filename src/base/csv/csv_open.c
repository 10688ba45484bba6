/* csv_open.c - the start of a CSV file: comments, separator and header detection. */
#include "csv_int.h"
#include "edge_words.h"

#include <string.h>
#include <strings.h>

static const char separators[] = {',', '\t', ';'};

bool sfu__csv_is(const char *bytes, size_t size, const char *word) {
    return size == strlen(word) && strncasecmp(bytes, word, size) == 0;
}

static bool is_number(const sfu__csv *csv, size_t column) {
    double value;
    return sfu__csv_parse(&value, &csv->fields[column], csv->rules.decimal);
}

/* Whether the first row, which is in csv->header, names the ends of an edge. *sure: such words are no nodes. */
static bool has_edge_words(const sfu__csv *csv, size_t ends[2], bool *sure) {
    return csv->rules.edges && csv->width >= 2 && sfu__edge_ends(&csv->header, 0, &ends[0], &ends[1], sure);
}

/* Whether a field of the second row looks like one of the words of the first: "node7" like "node1", "w" like "u". Then
 * both are names of nodes. */
static bool resembles(const sfu__csv *csv, size_t column) {
    size_t size;
    const char *word = sfu__strings_get(&csv->header, (int64_t)column, &size);
    const sfu__csv_field *field = &csv->fields[column];
    return size == 1 ? field->size == 1 : field->size >= size - 1 && strncasecmp(field->bytes, word, size - 1) == 0;
}

/* Well-known header names, for files without numeric columns: those that export writes, and other usual ones. */
static bool has_header_words(const sfu__csv *csv) {
    static const char *const nodes[] = {"node", "id", "node_id"};
    const sfu__csv_field *f = csv->fields;
    size_t ends[2];
    bool sure;
    if (has_edge_words(csv, ends, &sure) && sure) {
        return true;
    }
    for (size_t i = 0; !csv->rules.edges && i < sizeof nodes / sizeof nodes[0]; i++) {
        if (sfu__csv_is(f[0].bytes, f[0].size, nodes[i])) {
            return true;
        }
    }
    const char *const names[] = {csv->rules.label, csv->rules.id};
    for (size_t i = 0; i < csv->width; i++) {
        for (size_t n = 0; n < 2; n++) {
            if (names[n] != NULL && f[i].size == strlen(names[n]) && memcmp(f[i].bytes, names[n], f[i].size) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* A position to return to; the bytes from `keep` on are still in the buffer. */
typedef struct mark {
    int64_t offset, line;
} mark;

int64_t sfu__csv_offset(const sfu__csv *csv) { return csv->buffer_offset + (int64_t)csv->begin; }

static mark position_now(const sfu__csv *csv) { return (mark){sfu__csv_offset(csv), csv->next_line}; }

static void return_to(sfu__csv *csv, mark position) {
    csv->begin = (size_t)(position.offset - csv->buffer_offset);
    csv->next_line = position.line;
}

/* Skips the byte order mark, empty lines and, in an edge list, comments. */
static sfu_status skip_to_first_row(sfu__csv *csv) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__csv_fill(csv));
    if (csv->end >= 3 && memcmp(csv->buffer, "\xef\xbb\xbf", 3) == 0) {
        csv->begin = 3;
    }
    while (!csv->rules.lines) {
        csv->keep = csv->begin;
        const char *line = csv->buffer + csv->begin;
        const size_t left = csv->end - csv->begin;
        const bool comment = csv->rules.edges && left > 0 && (*line == '#' || *line == '%');
        /* A comment ends with its line, whatever quotes it contains. */
        const char *stop = left > 0 ? memchr(line, '\n', left) : NULL;
        if (stop == NULL && left <= SFU__CSV_ROW_MAX && !csv->ended) {
            SFU_TRY(sfu__csv_fill(csv));
        } else if (stop != NULL && (comment || sfu__csv_only_blanks(line, stop - (stop > line && stop[-1] == '\r')))) {
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

/* ---- separator -------------------------------------------------------------------------------------------------- */

/* Detects the separator from the first row, and returns to its beginning. */
static sfu_status find_separator(sfu__csv *csv) {
    sfu_status status = SFU_OK;
    const char *row;
    const char *end;
    bool more;
    size_t counts[sizeof separators] = {0};
    const mark start = position_now(csv);
    csv->separator = SFU__CSV_ANY;
    csv->keep = csv->begin;
    SFU_TRY(sfu__csv_take_row(csv, &row, &end, &more));
    bool open = false;
    bool starts = true; /* at the start of a field: only there a quote opens a quoted field */
    for (const char *p = row; more && p < end; p++) {
        /* Of two quotes inside a field, the first closes it and the second opens it again. */
        const bool quote = *p == '"' && (open || starts);
        open = open != quote;
        for (size_t i = 0; !open && i < sizeof separators; i++) {
            counts[i] += *p == separators[i];
        }
        starts = quote || sfu__csv_is_separator(csv, *p) || (starts && *p == ' ');
    }
    size_t best = 0;
    for (size_t i = 1; i < sizeof separators; i++) {
        best = counts[i] > counts[best] ? i : best;
    }
    csv->separator = counts[best] > 0 ? separators[best] : csv->rules.edges ? ' ' : '\0';
    return_to(csv, start);
done:
    return status;
}

/* Whether some column has a number in the second row, which is the current one, and none of these columns has one in
 * the first row (`numbers`). */
static bool differs_from_header(const sfu__csv *csv, const bool *numbers) {
    bool any = false;
    for (size_t i = 0; i < csv->width && i < csv->field_count; i++) {
        if (is_number(csv, i)) {
            if (numbers[i]) {
                return false;
            }
            any = true;
        }
    }
    return any;
}

/* Whether the current row, the first, is a header; looks at the second row and returns. */
static sfu_status decide_header(sfu__csv *csv, bool *header) {
    sfu_status status = SFU_OK;
    bool *numbers = NULL;
    *header = csv->rules.header == SFU_HEADER_YES || (csv->rules.header == SFU_HEADER_AUTO && has_header_words(csv));
    if (*header || csv->rules.header == SFU_HEADER_NO) {
        goto done;
    }
    SFU_ALLOC(numbers, csv->width);
    for (size_t i = 0; i < csv->width; i++) {
        numbers[i] = is_number(csv, i);
    }
    const mark second = position_now(csv);
    const char *row;
    const char *end;
    bool more;
    SFU_TRY(sfu__csv_take_row(csv, &row, &end, &more));
    if (more) {
        SFU_TRY(sfu__csv_split_row(csv, row, end));
        size_t ends[2];
        bool sure;
        *header = differs_from_header(csv, numbers) ||
                  (has_edge_words(csv, ends, &sure) && ends[0] < csv->field_count && ends[1] < csv->field_count &&
                   !resembles(csv, ends[0]) && !resembles(csv, ends[1]));
    }
    return_to(csv, second);
done:
    sfu__free(numbers);
    return status;
}

sfu_status sfu__csv_peek(sfu__csv *csv, bool *more) {
    const mark start = position_now(csv);
    const sfu_status status = sfu__csv_next(csv, more);
    return_to(csv, start);
    return status;
}

/* Reads the first row, and stores it as the header or returns to its beginning. */
static sfu_status take_header(sfu__csv *csv) {
    sfu_status status = SFU_OK;
    bool more;
    const mark first = position_now(csv);
    SFU_TRY(sfu__csv_next(csv, &more));
    if (!more) {
        goto done;
    }
    for (size_t i = 0; i < csv->width; i++) {
        SFU_TRY(sfu__strings_add(&csv->header, csv->fields[i].bytes, csv->fields[i].size));
    }
    SFU_TRY(decide_header(csv, &csv->has_header));
    if (!csv->has_header) {
        return_to(csv, first);
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
