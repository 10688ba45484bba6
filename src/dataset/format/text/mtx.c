#include "mtx.h"

#include <float.h>
#include <string.h>

typedef struct token {
    const char *bytes;
    size_t size;
} token;

/* ---- lines ------------------------------------------------------------------------------------------------------ */

/* Cuts the current line into words; returns how many there are, of which `most` are kept. */
static size_t words_of(const sfu__csv *lines, token *words, size_t most) {
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
            words[count] = (token){begin, (size_t)(p - begin)};
        }
        count++;
    }
}

/* The next line that holds something other than a comment; *count is 0 after the last. */
static sfu_status next_words(sfu__csv *lines, token *words, size_t most, size_t *count) {
    bool more = true;
    for (*count = 0; *count == 0 && more;) {
        const sfu_status status = sfu__csv_next(lines, &more);
        if (status != SFU_OK) {
            return status;
        }
        if (more && (lines->fields[0].size == 0 || lines->fields[0].bytes[0] != '%')) {
            *count = words_of(lines, words, most);
        }
    }
    return SFU_OK;
}

static sfu_status fail_word(const sfu__csv *lines, token word, const char *wrong) {
    char quoted[SFU__QUOTE_MAX];
    return sfu__csv_fail_row(lines, "%s %s", sfu__quote(quoted, word.bytes, word.size), wrong);
}

/* A number in [low, high]. */
static sfu_status whole_number(const sfu__csv *lines, token word, int64_t low, int64_t high, int64_t *value) {
    if (!sfu__parse_int64(value, word.bytes, word.bytes + word.size)) {
        return fail_word(lines, word, "is not a whole number");
    }
    if (*value < low || *value > high) {
        return sfu__csv_fail_row(lines, "%lld is not between %lld and %lld", (long long)*value, (long long)low,
                                 (long long)high);
    }
    return SFU_OK;
}

static sfu_status number(const sfu__csv *lines, token word, float *value) {
    double parsed;
    if (!sfu__parse_double(&parsed, word.bytes, word.bytes + word.size)) {
        return fail_word(lines, word, "is not a number");
    }
    if (parsed > FLT_MAX || parsed < -FLT_MAX) {
        return fail_word(lines, word, "is too large for a 32-bit float");
    }
    *value = (float)parsed;
    return SFU_OK;
}

/* ---- header ----------------------------------------------------------------------------------------------------- */

static bool is(token word, const char *text) { return sfu__csv_is(word.bytes, word.size, text); }

static sfu_status read_banner(sfu__mtx *self) {
    token words[5];
    bool more;
    sfu_status status = sfu__csv_next(&self->lines, &more);
    if (status != SFU_OK) {
        return status;
    }
    if (!more || words_of(&self->lines, words, 5) != 5 || !is(words[0], "%%MatrixMarket") || !is(words[1], "matrix")) {
        self->lines.line = 1;
        return sfu__csv_fail_row(&self->lines, "no Matrix Market file: it starts with "
                                               "\"%%%%MatrixMarket matrix coordinate real general\" or the like");
    }
    self->array = is(words[2], "array");
    self->pattern = is(words[3], "pattern");
    self->symmetric = is(words[4], "symmetric");
    if (!self->array && !is(words[2], "coordinate")) {
        return fail_word(&self->lines, words[2], "is no layout; coordinate and array are read");
    }
    if (!is(words[3], "real") && !is(words[3], "double") && !is(words[3], "integer") &&
        (!self->pattern || self->array)) {
        return fail_word(&self->lines, words[3], "entries are not read; real, integer and (coordinate) pattern are");
    }
    if (!self->symmetric && !is(words[4], "general")) {
        return fail_word(&self->lines, words[4], "matrices are not read; general and symmetric ones are");
    }
    return SFU_OK;
}

sfu_status sfu__mtx_open(sfu__mtx *self, const char *path, sfu__tables *tables) {
    sfu_status status = SFU_OK;
    token words[3];
    size_t count;
    SFU_TRY(sfu__tables_open(tables, &self->lines, path, (sfu__csv_rules){.lines = true}));
    SFU_TRY(read_banner(self));
    SFU_TRY(next_words(&self->lines, words, 3, &count));
    if (count != (self->array ? 2 : 3)) {
        status = sfu__csv_fail_row(&self->lines, self->array ? "the sizes are missing: ROWS COLUMNS"
                                                             : "the sizes are missing: ROWS COLUMNS ENTRIES");
        goto done;
    }
    self->size_line = self->lines.line;
    SFU_TRY(whole_number(&self->lines, words[0], 0, INT32_MAX, &self->rows));
    SFU_TRY(whole_number(&self->lines, words[1], 0, INT32_MAX, &self->cols));
    if (self->array) {
        self->entries = self->rows * self->cols;
    } else {
        SFU_TRY(whole_number(&self->lines, words[2], 0, INT64_MAX, &self->entries));
    }
    if (self->symmetric && (self->rows != self->cols || self->array)) {
        status = sfu__csv_fail_row(&self->lines, self->array ? "a symmetric array is not read; a general one is"
                                                             : "a symmetric matrix that is not square");
    }
done:
    return status;
}

sfu_status sfu__mtx_fail_size(const sfu__mtx *self, const char *format, int64_t value) {
    sfu__csv place = self->lines;
    place.line = self->size_line;
    return sfu__csv_fail_row(&place, format, (long long)value);
}

/* The sizes are only believed as far as the file speaks for them: arrays are made as long as they say. */
sfu_status sfu__mtx_check(const sfu__mtx *self, int64_t read) {
    enum { SMALL = 1 << 20 };
    if (read != self->entries) {
        return sfu__mtx_fail_size(self,
                                  read < self->entries ? "fewer entries than promised here; there are %lld"
                                                       : "more entries than promised here; there are %lld",
                                  read);
    }
    const int64_t most = SMALL + sfu__csv_offset(&self->lines); /* an entry takes four bytes or more */
    if (self->rows > most || self->cols > most) {
        return sfu__mtx_fail_size(self, "%lld rows or columns, nearly all of them empty, are not believed",
                                  self->rows > self->cols ? self->rows : self->cols);
    }
    return SFU_OK;
}

/* One entry of a coordinate matrix, from 0; *more is false after the last. */
sfu_status sfu__mtx_next(sfu__mtx *self, int64_t at[2], float *value, bool *more) {
    sfu_status status = SFU_OK;
    token words[3];
    size_t count;
    const size_t want = self->pattern ? 2 : 3;
    SFU_TRY(next_words(&self->lines, words, 3, &count));
    *more = count > 0;
    if (!*more) {
        goto done;
    }
    if (count != want) {
        status =
            sfu__csv_fail_row(&self->lines, "%zu word%s, where an entry has %zu", count, count == 1 ? "" : "s", want);
        goto done;
    }
    SFU_TRY(whole_number(&self->lines, words[0], 1, self->rows, &at[0]));
    SFU_TRY(whole_number(&self->lines, words[1], 1, self->cols, &at[1]));
    at[0]--;
    at[1]--;
    *value = 1;
    if (!self->pattern) {
        SFU_TRY(number(&self->lines, words[2], value));
    }
done:
    return status;
}

/* All values of an array, in the file's order, as many as it promises. */
sfu_status sfu__mtx_values(sfu__mtx *self, float **values) {
    sfu_status status = SFU_OK;
    size_t capacity = 64;
    int64_t read = 0;
    token word;
    size_t count;
    SFU_ALLOC(*values, capacity);
    for (;; read++) {
        SFU_TRY(next_words(&self->lines, &word, 1, &count));
        if (count == 0) {
            break;
        }
        if (count != 1) {
            status = sfu__csv_fail_row(&self->lines, "%zu words, where an array has one value a line", count);
            goto done;
        }
        float *grown = sfu__grow(*values, &capacity, (size_t)read + 1, sizeof *grown);
        if (grown == NULL) {
            status = SFU_ERR_MEMORY;
            goto done;
        }
        *values = grown;
        SFU_TRY(number(&self->lines, word, &grown[read]));
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
