/* mtx.c - parses Matrix Market files; see mtx.h. */
#include "mtx.h"

#include <float.h>
#include <string.h>

typedef struct token_view {
    const char *bytes;
    size_t size;
} token_view;

/* ---- lines ------------------------------------------------------------------------------------------------------ */

/* Splits the current line into tokens; returns their number, of which at most `most` are stored. */
static size_t split_line(const sfu__csv *lines, token_view *tokens, size_t most) {
    const char *p = lines->fields[0].bytes;
    const char *end = p + lines->fields[0].size;
    size_t count = 0;
    for (;;) {
        while (p < end && (*p == ' ' || *p == '\t')) {
            p++;
        }
        if (p == end) {
            return count;
        }
        const char *begin = p;
        while (p < end && *p != ' ' && *p != '\t') {
            p++;
        }
        if (count < most) {
            tokens[count] = (token_view){begin, (size_t)(p - begin)};
        }
        count++;
    }
}

/* Tokens of the next line that is not a comment; *count is 0 after the last. */
static sfu_status next_tokens(sfu__csv *lines, token_view *tokens, size_t most, size_t *count) {
    bool more = true;
    for (*count = 0; *count == 0 && more;) {
        const sfu_status status = sfu__csv_next(lines, &more);
        if (status != SFU_OK) {
            return status;
        }
        if (more && (lines->fields[0].size == 0 || lines->fields[0].bytes[0] != '%')) {
            *count = split_line(lines, tokens, most);
        }
    }
    return SFU_OK;
}

static sfu_status fail_token(const sfu__csv *lines, token_view token, const char *wrong) {
    char quoted[SFU__QUOTE_MAX];
    return sfu__csv_fail_row(lines, "%s %s", sfu__quote(quoted, token.bytes, token.size), wrong);
}

/* Parses an integer in [low, high]. */
static sfu_status parse_integer(const sfu__csv *lines, token_view token, int64_t low, int64_t high, int64_t *value) {
    if (!sfu__parse_int64(value, token.bytes, token.bytes + token.size)) {
        return fail_token(lines, token, "is not a whole number");
    }
    if (*value < low || *value > high) {
        return sfu__csv_fail_row(lines, "%lld is not between %lld and %lld", (long long)*value, (long long)low,
                                 (long long)high);
    }
    return SFU_OK;
}

static sfu_status parse_number(const sfu__csv *lines, token_view token, float *value) {
    double parsed;
    if (!sfu__parse_double(&parsed, token.bytes, token.bytes + token.size)) {
        return fail_token(lines, token, "is not a number");
    }
    if (parsed > FLT_MAX || parsed < -FLT_MAX) {
        return fail_token(lines, token, "is too large for a 32-bit float");
    }
    *value = (float)parsed;
    return SFU_OK;
}

/* ---- header ----------------------------------------------------------------------------------------------------- */

static bool is(token_view token, const char *text) { return sfu__csv_is(token.bytes, token.size, text); }

static sfu_status read_banner(sfu__mtx *self) {
    token_view tokens[5];
    bool more;
    sfu_status status = sfu__csv_next(&self->lines, &more);
    if (status != SFU_OK) {
        return status;
    }
    if (!more || split_line(&self->lines, tokens, 5) != 5 || !is(tokens[0], "%%MatrixMarket") ||
        !is(tokens[1], "matrix")) {
        self->lines.line = 1;
        return sfu__csv_fail_row(&self->lines, "not a Matrix Market file: expected a first line like "
                                               "\"%%%%MatrixMarket matrix coordinate real general\"");
    }
    self->array = is(tokens[2], "array");
    self->pattern = is(tokens[3], "pattern");
    self->symmetric = is(tokens[4], "symmetric");
    if (!self->array && !is(tokens[2], "coordinate")) {
        return fail_token(&self->lines, tokens[2], "is not a supported layout; expected coordinate or array");
    }
    if (!is(tokens[3], "real") && !is(tokens[3], "double") && !is(tokens[3], "integer") &&
        (!self->pattern || self->array)) {
        return fail_token(&self->lines, tokens[3],
                          "entries are not supported; expected real, integer or (coordinate) pattern");
    }
    if (!self->symmetric && !is(tokens[4], "general")) {
        return fail_token(&self->lines, tokens[4], "matrices are not supported; expected general or symmetric");
    }
    return SFU_OK;
}

sfu_status sfu__mtx_open(sfu__mtx *self, const char *path, sfu__tables *tables) {
    sfu_status status = SFU_OK;
    token_view tokens[3];
    size_t count;
    SFU_TRY(sfu__tables_open(tables, &self->lines, path, (sfu__csv_rules){.lines = true}));
    SFU_TRY(read_banner(self));
    SFU_TRY(next_tokens(&self->lines, tokens, 3, &count));
    if (count != (self->array ? 2 : 3)) {
        status = sfu__csv_fail_row(&self->lines, self->array ? "the sizes are missing: ROWS COLUMNS"
                                                             : "the sizes are missing: ROWS COLUMNS ENTRIES");
        goto done;
    }
    self->size_line = self->lines.line;
    SFU_TRY(parse_integer(&self->lines, tokens[0], 0, INT32_MAX, &self->rows));
    SFU_TRY(parse_integer(&self->lines, tokens[1], 0, INT32_MAX, &self->cols));
    if (self->array) {
        self->entries = self->rows * self->cols;
    } else {
        SFU_TRY(parse_integer(&self->lines, tokens[2], 0, INT64_MAX, &self->entries));
    }
    if (self->symmetric && (self->rows != self->cols || self->array)) {
        status = sfu__csv_fail_row(&self->lines, self->array ? "a symmetric array is not supported; expected general"
                                                             : "a symmetric matrix that is not square");
    }
done:
    return status;
}

sfu_status sfu__mtx_fail_size(const sfu__mtx *self, const char *format, int64_t value) {
    sfu__csv at_sizes = self->lines;
    at_sizes.line = self->size_line;
    return sfu__csv_fail_row(&at_sizes, format, (long long)value);
}

/* The sizes must be plausible for the length of the file, because arrays are allocated by them. */
sfu_status sfu__mtx_check(const sfu__mtx *self, int64_t read) {
    enum { SMALL = 1 << 20 };
    if (read != self->entries) {
        return sfu__mtx_fail_size(self,
                                  read < self->entries ? "fewer entries than declared here: found %lld"
                                                       : "more entries than declared here: found %lld",
                                  read);
    }
    const int64_t most = SMALL + sfu__csv_offset(&self->lines); /* an entry takes at least four bytes */
    if (self->rows > most || self->cols > most) {
        return sfu__mtx_fail_size(self, "%lld rows or columns are implausible: nearly all of them are empty",
                                  self->rows > self->cols ? self->rows : self->cols);
    }
    return SFU_OK;
}

sfu_status sfu__mtx_next(sfu__mtx *self, int64_t at[2], float *value, bool *more) {
    sfu_status status = SFU_OK;
    token_view tokens[3];
    size_t count;
    const size_t want = self->pattern ? 2 : 3;
    SFU_TRY(next_tokens(&self->lines, tokens, 3, &count));
    *more = count > 0;
    if (!*more) {
        goto done;
    }
    if (count != want) {
        status = sfu__csv_fail_row(&self->lines, "expected %zu numbers in an entry, found %zu", want, count);
        goto done;
    }
    SFU_TRY(parse_integer(&self->lines, tokens[0], 1, self->rows, &at[0]));
    SFU_TRY(parse_integer(&self->lines, tokens[1], 1, self->cols, &at[1]));
    at[0]--;
    at[1]--;
    *value = 1;
    if (!self->pattern) {
        SFU_TRY(parse_number(&self->lines, tokens[2], value));
    }
done:
    return status;
}

sfu_status sfu__mtx_values(sfu__mtx *self, float **values) {
    sfu_status status = SFU_OK;
    size_t capacity = 64;
    int64_t read = 0;
    token_view token;
    size_t count;
    SFU_ALLOC(*values, capacity);
    for (;; read++) {
        SFU_TRY(next_tokens(&self->lines, &token, 1, &count));
        if (count == 0) {
            break;
        }
        if (count != 1) {
            status = sfu__csv_fail_row(&self->lines, "expected one value per line, found %zu", count);
            goto done;
        }
        float *grown = sfu__grow(*values, &capacity, (size_t)read + 1, sizeof *grown);
        if (grown == NULL) {
            status = SFU_ERR_MEMORY;
            goto done;
        }
        *values = grown;
        SFU_TRY(parse_number(&self->lines, token, &grown[read]));
    }
    SFU_TRY(sfu__mtx_check(self, read));
done:
    return status;
}

sfu_status sfu__mtx_begins(const char *path, bool *does) {
    sfu_status status = SFU_OK;
    sfu__stream_file *stream = NULL;
    char start[16];
    size_t got;
    SFU_TRY(sfu__stream_open(&stream, path));
    SFU_TRY(sfu__stream_read(stream, start, 14, &got));
    *does = got == 14 && sfu__csv_is(start, 14, "%%MatrixMarket");
done:
    sfu__stream_close(stream);
    return status;
}
