/* column_types.c - detects the type of a column from its cells. docs/reference/formats.md has the rules. */
#include "transform_int.h"
#include "words.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

const char *const sfu__transform_types[SFU__TYPES] = {"auto", "number", "date",       "boolean", "category",
                                                      "text", "list",   "identifier", "ignored", "empty"};

enum { FEW_ROWS = 10 };                 /* a table with fewer rows has no identifiers besides the nodes */
static const double mostly = 0.75;      /* of the cells: the others are probably mistakes */
static const double distinct_at = 0.95; /* fraction of distinct cells of an identifier */

void sfu__count_cells(sfu__column_counts *counts, const double *values, int64_t rows) {
    sfu__column_counts c = {.least = HUGE_VAL, .most = -HUGE_VAL};
    int64_t whole = 0, ones = 0, negative = 0;
    const double too_large = 0x1p53; /* for a fraction */
    for (int64_t row = 0; row < rows; row++) {
        const double x = values[row];
        if (x == x) {
            c.numbers++;
            c.zeros += x == 0;
            ones += x == 1;
            whole += x >= too_large || x <= -too_large || x == (double)(int64_t)x;
            negative += x < 0;
            c.least = x < c.least ? x : c.least;
            c.most = x > c.most ? x : c.most;
        } else {
            c.missing += sfu__cell_code(x) == SFU__CELL_MISSING;
        }
    }
    c.words = rows - c.numbers - c.missing;
    c.whole = whole == c.numbers;
    c.binary = c.zeros + ones == c.numbers;
    c.negative = negative > 0;
    *counts = c;
}

sfu_status sfu__fail_cell(const sfu__transform_input *input, const char *name, const sfu__cell_column *cells,
                          int64_t rows, int64_t code, const char *message) {
    char quoted_name[SFU__QUOTE_MAX];
    char quoted[SFU__QUOTE_MAX];
    char digits[SFU__DIGITS_MAX];
    size_t size;
    const int64_t row = sfu__cell_column_find(cells, rows, code);
    const int64_t line = input->line_of != NULL ? input->line_of(input->user, row) : 0;
    const int64_t found = sfu__cell_code(cells->values[row]);
    const char *word = sfu__node_index_name(&cells->words, found, digits, &size);
    char where[32] = "";
    if (line > 0) {
        snprintf(where, sizeof where, ":%lld", (long long)line);
    }
    return sfu__fail(SFU_ERR_FORMAT, "%s%s: column %s: %s %s", input->path, where,
                     sfu__quote(quoted_name, name, strlen(name)), sfu__quote(quoted, word, size), message);
}

/* The first word of a column of numbers. */
static sfu_status fail_number(const sfu__transform_input *input, const char *name, const sfu__cell_column *cells,
                              int64_t rows, const char *message) {
    char digits[SFU__DIGITS_MAX];
    size_t size;
    double value;
    const char *word = sfu__node_index_name(&cells->words, 0, digits, &size);
    const bool large = sfu__parse_double(&value, word, word + size);
    return sfu__fail_cell(input, name, cells, rows, 0, large ? "is too large for a 32-bit float" : message);
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

int sfu__boolean_word(const char *bytes, size_t size) {
    static const char *const names[2][4] = {{"false", "no", "f", "n"}, {"true", "yes", "t", "y"}};
    for (int value = 0; value < 2; value++) {
        for (int i = 0; i < 4; i++) {
            if (size == strlen(names[value][i]) && strncasecmp(bytes, names[value][i], size) == 0) {
                return value;
            }
        }
    }
    return -1;
}

/* The number of words for which `test` holds; stops at the first that fails if `all`. */
typedef bool (*word_test)(const char *bytes, size_t size, const void *context);
static int64_t count_words(const sfu__node_index *words, word_test test, const void *context, bool all,
                           int64_t *failing) {
    int64_t count = 0;
    for (int64_t i = 0; i < words->count; i++) {
        char digits[SFU__DIGITS_MAX];
        size_t size;
        const char *word = sfu__node_index_name(words, i, digits, &size);
        if (test(word, size, context)) {
            count++;
        } else {
            *failing = i;
            if (all) {
                return count;
            }
        }
    }
    return count;
}

static bool is_boolean(const char *bytes, size_t size, const void *context) {
    (void)context;
    return sfu__boolean_word(bytes, size) >= 0;
}

static bool is_date(const char *bytes, size_t size, const void *context) {
    double days;
    return sfu__cell_date(&days, bytes, size, *(const sfu__date_order *)context);
}

static bool is_list(const char *bytes, size_t size, const void *context) {
    bool valid;
    double value;
    const char *at = bytes;
    (void)context;
    while (sfu__next_number(&value, &at, bytes + size, &valid)) {
    }
    return valid;
}

/* Whether some word is a list of at least three numbers, or in brackets: "12 75" alone may be anything. */
static bool has_clear_list(const sfu__node_index *words) {
    enum { CLEAR = 3 };
    for (int64_t i = 0; i < words->count; i++) {
        char digits[SFU__DIGITS_MAX];
        size_t size;
        bool valid;
        double value;
        int items = 0;
        const char *word = sfu__node_index_name(words, i, digits, &size);
        const char *at = word;
        while (items < CLEAR && sfu__next_number(&value, &at, word + size, &valid)) {
            items++;
        }
        if (items >= CLEAR || word[0] == '[') {
            return true;
        }
    }
    return false;
}

/* The mean number of words per distinct text, over at most the first thousand. */
static double words_per_text(const sfu__node_index *texts) {
    enum { SAMPLE = 1000 };
    int64_t total = 0;
    const int64_t sample = texts->count < SAMPLE ? texts->count : SAMPLE;
    for (int64_t i = 0; i < sample; i++) {
        char digits[SFU__DIGITS_MAX];
        char word[SFU__WORD_MAX];
        size_t size, length;
        const char *text = sfu__node_index_name(texts, i, digits, &size);
        const char *at = text;
        while (sfu__next_word(word, &length, &at, text + size)) {
            total++;
        }
    }
    return sample > 0 ? (double)total / (double)sample : 0;
}

/* ---- identifiers ------------------------------------------------------------------------------------------------ */

/* id, user_id, userId, ID, uuid, key, index, ... */
static bool sounds_like_id(const char *name) {
    static const char *const names[] = {"id", "uuid", "guid", "key", "index", "idx", "rowid", "nodeid", "node"};
    const size_t size = strlen(name);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcasecmp(name, names[i]) == 0) {
            return true;
        }
    }
    return size > 2 && (strcasecmp(name + size - 3, "_id") == 0 || strcmp(name + size - 2, "Id") == 0 ||
                        strcmp(name + size - 2, "ID") == 0 || strncasecmp(name, "id_", 3) == 0);
}

/* Whether the whole numbers of a column are distinct (nearly all of them). */
static sfu_status are_distinct(bool *distinct, const double *values, int64_t rows) {
    sfu_status status = SFU_OK;
    double *sorted = NULL;
    int64_t count = 0, different = 0;
    SFU_ALLOC(sorted, rows);
    for (int64_t row = 0; row < rows; row++) {
        if (values[row] == values[row]) {
            sorted[count++] = values[row];
        }
    }
    SFU_TRY(sfu__sort_numbers(sorted, count));
    for (int64_t i = 0; i < count; i++) {
        different += i == 0 || sorted[i] != sorted[i - 1];
    }
    *distinct = (double)different >= distinct_at * (double)count;
done:
    sfu__free(sorted);
    return status;
}

/* Whole numbers that are distinct, if the name says so or if they are consecutive. */
static sfu_status is_numeric_id(bool *identifier, const char *name, const double *values, int64_t rows,
                                const sfu__column_counts *counts) {
    *identifier = false;
    const bool consecutive = counts->missing == 0 && counts->most - counts->least + 1 == (double)rows;
    if (rows < FEW_ROWS || !counts->whole || (!consecutive && !sounds_like_id(name))) {
        return SFU_OK;
    }
    return are_distinct(identifier, values, rows);
}

/* ---- detection -------------------------------------------------------------------------------------------------- */

static sfu__transform_type type_of_texts(const sfu__node_index *words, int64_t cells, const char *name) {
    enum { SENTENCE = 3, PHRASE = 2 };
    const double length = words_per_text(words);
    const bool unique = cells >= FEW_ROWS && (double)words->count >= distinct_at * (double)cells;
    if (unique || (sounds_like_id(name) && words->count == cells)) {
        return length >= SENTENCE ? SFU__TYPE_TEXT : SFU__TYPE_IDENTIFIER;
    }
    if (words->count <= SFU__LEVELS_MAX && (2 * words->count <= cells || cells < FEW_ROWS)) {
        return SFU__TYPE_CATEGORY;
    }
    return length >= PHRASE ? SFU__TYPE_TEXT : SFU__TYPE_CATEGORY;
}

static sfu_status detect_words(sfu__transform_column *column, const sfu__cell_column *cells, int64_t rows,
                               const sfu__column_counts *counts, const sfu__transform_input *input) {
    const sfu__node_index *words = &cells->words;
    const int64_t given = counts->numbers + counts->words;
    int64_t failing = 0;
    if (counts->binary && count_words(words, is_boolean, NULL, true, &failing) == words->count) {
        column->type = SFU__TYPE_BOOLEAN;
        return SFU_OK;
    }
    for (int order = SFU__DAY_FIRST; order <= SFU__MONTH_FIRST && counts->numbers == 0; order++) {
        column->order = order == 0 ? SFU__MONTH_FIRST : SFU__DAY_FIRST; /* 05/06/2019 alone is May 6th */
        const int64_t dates = count_words(words, is_date, &column->order, false, &failing);
        if (dates == words->count) {
            column->type = SFU__TYPE_DATE;
            return SFU_OK;
        }
        if (order == SFU__MONTH_FIRST && (double)dates >= mostly * (double)words->count) {
            return sfu__fail_cell(input, column->name, cells, rows, failing,
                                  "is not a date, as most of this column are; see --missing, --categorical and "
                                  "--ignore");
        }
    }
    if (count_words(words, is_list, NULL, true, &failing) == words->count && has_clear_list(words)) {
        column->type = SFU__TYPE_LIST;
        return SFU_OK;
    }
    if (counts->numbers > 0 && (double)counts->numbers >= mostly * (double)given) {
        return fail_number(input, column->name, cells, rows,
                           "is not a number, as most of this column are; see --missing, --categorical and --ignore");
    }
    column->type = type_of_texts(words, given, column->name);
    return SFU_OK;
}

/* A declared number: every cell must be one; booleans and dates count, too. */
static sfu_status check_declared(sfu__transform_column *column, const sfu__cell_column *cells, int64_t rows,
                                 const sfu__column_counts *counts, const sfu__transform_input *input) {
    int64_t failing = 0;
    if (column->type != SFU__TYPE_NUMBER || counts->words == 0) {
        return SFU_OK;
    }
    if (counts->binary && count_words(&cells->words, is_boolean, NULL, true, &failing) == cells->words.count) {
        column->type = SFU__TYPE_BOOLEAN;
        return SFU_OK;
    }
    return fail_number(input, column->name, cells, rows,
                       "is not a number, and the column was declared numeric; see --missing");
}

sfu_status sfu__detect_type(sfu__transform_column *column, sfu__cell_column *cells, int64_t rows,
                            const sfu__column_counts *counts, const sfu__transform_input *input) {
    sfu_status status = SFU_OK;
    bool identifier = false;
    column->missing = counts->missing;
    if (column->declared) {
        return check_declared(column, cells, rows, counts, input);
    }
    if (counts->numbers + counts->words == 0) {
        column->type = SFU__TYPE_EMPTY;
    } else if (counts->words > 0) {
        SFU_TRY(detect_words(column, cells, rows, counts, input));
    } else {
        if (!input->features_file) {
            SFU_TRY(is_numeric_id(&identifier, column->name, cells->values, rows, counts));
        }
        column->type = identifier ? SFU__TYPE_IDENTIFIER : counts->binary ? SFU__TYPE_BOOLEAN : SFU__TYPE_NUMBER;
    }
done:
    return status;
}
