/* edge_columns.c - finds the two nodes and the weight among the columns of an edge list.
 *
 * 1. Columns that the options name are taken. 2. In a header, pairs such as from,to are the nodes and names such as
 * weight the weight (edge_words.h). 3. Otherwise two columns are the nodes, and of three the last is the weight, unless
 * the header or the first row makes another reading as plausible: then the user must choose.
 */
#include "edge_columns.h"
#include "edge_words.h"
#include "node_index.h"

#include <string.h>

enum { ENDS = 2 };
static const char remedy[] = "choose with --source, --target and --weight (--weight none: no weights)";

/* The state of the search; `none` (the width of the file) means not found. */
typedef struct search {
    sfu__csv *csv;
    size_t none;
    sfu__edge_columns found;
} search;

/* ---- columns by name -------------------------------------------------------------------------------------------- */

static bool is_name(const sfu__csv *csv, size_t column, const char *word, bool exact) {
    size_t size;
    const char *name = sfu__strings_get(&csv->header, (int64_t)column, &size);
    return exact ? size == strlen(word) && memcmp(name, word, size) == 0 : sfu__csv_is(name, size, word);
}

/* The column that an option names: by its name, in any case if none is equal, or by its number from 1. */
static size_t column_named(const sfu__csv *csv, const char *word) {
    int64_t number;
    for (int exact = 1; exact >= 0; exact--) {
        for (size_t i = 0; csv->has_header && i < csv->width; i++) {
            if (is_name(csv, i, word, exact != 0)) {
                return i;
            }
        }
    }
    const bool is_number = sfu__parse_int64_string(&number, word) && number >= 1 && number <= (int64_t)csv->width;
    return is_number ? (size_t)number - 1 : csv->width;
}

/* "a", "b", "c": the columns, at most a dozen. */
static sfu_status list_columns(sfu__text *list, const sfu__csv *csv) {
    enum { SHOWN = 12 };
    sfu_status status = SFU_OK;
    char name[SFU__QUOTE_MAX];
    for (size_t i = 0; i < csv->width && i <= SHOWN; i++) {
        SFU_TRY(sfu__text_format(list, "%s%s", i > 0 ? ", " : "", i < SHOWN ? sfu__csv_column(csv, i, name) : "..."));
    }
done:
    return status;
}

static sfu_status fail_no_column(const sfu__csv *csv, const char *option, const char *word) {
    sfu_status status = SFU_OK;
    char quoted[SFU__QUOTE_MAX];
    sfu__text list = {0};
    SFU_TRY(list_columns(&list, csv));
    status = sfu__fail(SFU_ERR_FORMAT, "%s: no column %s for %s; there are %s", csv->path,
                       sfu__quote(quoted, word, strlen(word)), option, list.bytes);
done:
    sfu__text_clear(&list);
    return status;
}

static sfu_status take_option(size_t *column, const sfu__csv *csv, const char *option, const char *word) {
    if (word == NULL) {
        return SFU_OK;
    }
    *column = column_named(csv, word);
    return *column < csv->width ? SFU_OK : fail_no_column(csv, option, word);
}

/* ---- doubts ----------------------------------------------------------------------------------------------------- */

static sfu_status fail_unknown_ends(const sfu__csv *csv) {
    sfu_status status = SFU_OK;
    sfu__text list = {0};
    SFU_TRY(list_columns(&list, csv));
    status = sfu__fail(SFU_ERR_FORMAT,
                       "%s:%lld: expected 2 or 3 columns (two nodes and an optional weight), found %zu: %s; %s",
                       csv->path, (long long)csv->width_line, csv->width, list.bytes, remedy);
done:
    sfu__text_clear(&list);
    return status;
}

/* "a" -> "b" with weight "c", or without a header: column 1 -> column 2 with weight column 3. */
static sfu_status add_reading(sfu__text *text, const sfu__csv *csv, sfu__edge_columns reading) {
    sfu_status status = SFU_OK;
    const char *what = csv->has_header ? "" : "column ";
    char source[SFU__QUOTE_MAX], target[SFU__QUOTE_MAX], weight[SFU__QUOTE_MAX];
    SFU_TRY(sfu__text_format(text, "%s%s -> %s%s", what, sfu__csv_column(csv, reading.source, source), what,
                             sfu__csv_column(csv, reading.target, target)));
    SFU_TRY(reading.weighted
                ? sfu__text_format(text, " with weight %s%s", what, sfu__csv_column(csv, reading.weight, weight))
                : sfu__text_format(text, " without weights"));
done:
    return status;
}

static sfu_status fail_doubt(const sfu__csv *csv, sfu__edge_columns one, sfu__edge_columns other) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    SFU_TRY(add_reading(&text, csv, one));
    SFU_TRY(sfu__text_format(&text, ", or "));
    SFU_TRY(add_reading(&text, csv, other));
    status = sfu__fail(SFU_ERR_FORMAT, "%s:%lld: the columns can be read in two ways: %s; %s", csv->path,
                       (long long)csv->width_line, text.bytes, remedy);
done:
    sfu__text_clear(&text);
    return status;
}

/* ---- the nodes -------------------------------------------------------------------------------------------------- */

/* Sets the pair of columns whose names are those of the ends of an edge, if there is one. */
static sfu_status ends_by_name(search *self) {
    sfu__edge_columns pair = {.weighted = false};
    bool sure;
    for (int i = 0; sfu__edge_ends(&self->csv->header, i, &pair.source, &pair.target, &sure); i++) {
        if (i > 0) {
            return fail_doubt(self->csv, self->found, pair);
        }
        self->found.source = pair.source;
        self->found.target = pair.target;
    }
    return SFU_OK;
}

/* The two columns other than the weight, in order; none if there are more. */
static void remaining_ends(search *self) {
    size_t ends[ENDS] = {self->none, self->none};
    size_t count = 0;
    for (size_t i = 0; i < self->csv->width; i++) {
        if (!self->found.weighted || i != self->found.weight) {
            if (count < ENDS) {
                ends[count] = i;
            }
            count++;
        }
    }
    if (count == ENDS) {
        self->found.source = ends[0];
        self->found.target = ends[1];
    }
}

/* ---- the weight ------------------------------------------------------------------------------------------------- */

static bool is_end(const search *self, size_t column) {
    return column == self->found.source || column == self->found.target;
}

/* Sets the column whose name is that of a weight, if there is one. */
static sfu_status weight_by_name(search *self) {
    for (size_t i = 0; self->csv->has_header && i < self->csv->width; i++) {
        size_t size;
        const char *name = sfu__strings_get(&self->csv->header, (int64_t)i, &size);
        if (is_end(self, i) || !sfu__is_weight_word(name, size)) {
            continue;
        }
        if (self->found.weighted) {
            char one[SFU__QUOTE_MAX], other[SFU__QUOTE_MAX];
            return sfu__fail(SFU_ERR_FORMAT, "%s:%lld: the weight can be %s or %s; choose with --weight",
                             self->csv->path, (long long)self->csv->width_line,
                             sfu__csv_column(self->csv, self->found.weight, one), sfu__csv_column(self->csv, i, other));
        }
        self->found.weight = i;
        self->found.weighted = true;
    }
    return SFU_OK;
}

/* ---- values of the first row ------------------------------------------------------------------------------------ */

typedef enum value_kind { VALUE_NAME, VALUE_INTEGER, VALUE_NUMBER } value_kind;

static value_kind kind_of(const sfu__csv_field *field) {
    int64_t integer;
    double number;
    return sfu__plain_integer(&integer, field->bytes, field->size)                ? VALUE_INTEGER
           : sfu__parse_double(&number, field->bytes, field->bytes + field->size) ? VALUE_NUMBER
                                                                                  : VALUE_NAME;
}

/* Three columns whose names say nothing. Without a header the third is the weight, as in every edge list, unless the
 * first looks like it; under a header the values must leave no other choice. */
static sfu_status three_columns(search *self) {
    const sfu__edge_columns last = {.source = 0, .target = 1, .weight = 2, .weighted = true};
    const sfu__edge_columns first = {.source = 1, .target = 2, .weight = 0, .weighted = true};
    bool more;
    const sfu_status status = sfu__csv_peek(self->csv, &more);
    self->found = last;
    if (status != SFU_OK || !more) {
        return status;
    }
    const sfu__csv_field *fields = self->csv->fields;
    const value_kind kinds[] = {kind_of(&fields[0]), kind_of(&fields[1]), kind_of(&fields[2])};
    if (kinds[2] == VALUE_NAME) { /* it cannot be a weight; the first column may be one, or the number of the row */
        return kinds[0] == VALUE_NAME
                   ? fail_doubt(self->csv, (sfu__edge_columns){0, 1, 0, false}, (sfu__edge_columns){0, 2, 0, false})
                   : fail_doubt(self->csv, first, (sfu__edge_columns){1, 2, 0, false});
    }
    const bool weight_first = kinds[0] == VALUE_NUMBER && kinds[1] != VALUE_NUMBER && kinds[2] == VALUE_INTEGER;
    const bool any_order = kinds[0] == VALUE_INTEGER && kinds[1] == VALUE_INTEGER && kinds[2] == VALUE_INTEGER;
    return weight_first || (any_order && self->csv->has_header) ? fail_doubt(self->csv, last, first) : SFU_OK;
}

/* One column remains beside two that are surely nodes. If it holds numbers, it may be the weight. */
static sfu_status check_remaining(search *self) {
    bool more;
    size_t other = 0;
    while (is_end(self, other)) {
        other++;
    }
    size_t size;
    const char *name = sfu__strings_get(&self->csv->header, (int64_t)other, &size);
    if (sfu__is_row_number_word(name, size)) {
        return SFU_OK;
    }
    const sfu_status status = sfu__csv_peek(self->csv, &more);
    if (status != SFU_OK || !more || kind_of(&self->csv->fields[other]) == VALUE_NAME) {
        return status;
    }
    sfu__edge_columns weighted = self->found;
    weighted.weight = other;
    weighted.weighted = true;
    return fail_doubt(self->csv, weighted, self->found);
}

/* ---- together --------------------------------------------------------------------------------------------------- */

/* Whether the option says that there are no weights: "none", unless a column has this name. */
static bool is_unweighted(const search *self, const char *word) {
    return word != NULL && sfu__csv_is(word, strlen(word), "none") && column_named(self->csv, word) == self->none;
}

/* Three different columns, of which the weight is optional. */
static sfu_status check_found(const search *self) {
    const sfu__edge_columns *found = &self->found;
    if (found->source == self->none) {
        return fail_unknown_ends(self->csv);
    }
    return found->source != found->target && !(found->weighted && is_end(self, found->weight))
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT, "%s: expected three different columns for --source, --target and --weight",
                           self->csv->path);
}

static sfu_status find_by_options(search *self, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    const bool none = is_unweighted(self, options->weight_column);
    if ((options->source_column != NULL) != (options->target_column != NULL)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "expected both --source and --target, found only one of them");
    }
    SFU_TRY(take_option(&self->found.source, self->csv, "--source", options->source_column));
    SFU_TRY(take_option(&self->found.target, self->csv, "--target", options->target_column));
    if (options->weight_column != NULL && !none) {
        SFU_TRY(take_option(&self->found.weight, self->csv, "--weight", options->weight_column));
        self->found.weighted = true;
    }
    if (self->found.source == self->none && self->csv->has_header) {
        SFU_TRY(ends_by_name(self));
    }
    if (self->found.source == self->none && none && self->csv->width >= ENDS) {
        self->found.source = 0;
        self->found.target = 1;
    } else if (self->found.source == self->none) {
        remaining_ends(self);
    }
    if (options->weight_column == NULL) {
        SFU_TRY(weight_by_name(self));
    }
    SFU_TRY(check_found(self));
done:
    return status;
}

static sfu_status find_without_options(search *self) {
    sfu_status status = SFU_OK;
    const size_t width = self->csv->width;
    if (self->csv->has_header && width > 1) {
        SFU_TRY(ends_by_name(self));
        SFU_TRY(weight_by_name(self));
    }
    if (self->found.source != self->none) {
        if (width == ENDS + 1 && !self->found.weighted) {
            SFU_TRY(check_remaining(self));
        }
        goto done;
    }
    if (width == ENDS) {
        self->found = (sfu__edge_columns){.source = 0, .target = 1};
    } else if (width == ENDS + 1 && self->found.weighted) {
        remaining_ends(self);
    } else if (width == ENDS + 1) {
        SFU_TRY(three_columns(self));
    } else {
        status = fail_unknown_ends(self->csv);
    }
done:
    return status;
}

/* Names the columns that are not read. */
static sfu_status note_others(const search *self) {
    sfu_status status = SFU_OK;
    sfu__text list = {0};
    char name[SFU__QUOTE_MAX];
    for (size_t i = 0; i < self->csv->width; i++) {
        if (!is_end(self, i) && !(self->found.weighted && i == self->found.weight)) {
            SFU_TRY(sfu__text_format(&list, "%s%s", list.size > 0 ? ", " : "", sfu__csv_column(self->csv, i, name)));
        }
    }
    if (list.size > 0) {
        sfu__log(SFU_LOG_NOTE, "%s: columns that are not read: %s", self->csv->path, list.bytes);
    }
done:
    sfu__text_clear(&list);
    return status;
}

sfu_status sfu__edge_columns_find(sfu__edge_columns *columns, sfu__csv *csv, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    search self = {csv, csv->width, {csv->width, csv->width, csv->width, false}};
    if (csv->width == 0) {
        *columns = (sfu__edge_columns){.source = 0, .target = 1};
        return SFU_OK;
    }
    const bool chosen =
        options->source_column != NULL || options->target_column != NULL || options->weight_column != NULL;
    SFU_TRY(chosen ? find_by_options(&self, options) : find_without_options(&self));
    SFU_TRY(note_others(&self));
    *columns = self.found;
done:
    return status;
}

bool sfu__edge_columns_plain(const sfu__edge_columns *columns, const sfu__csv *csv) {
    return columns->target == columns->source + 1 && csv->width <= ENDS + (size_t)columns->weighted;
}
