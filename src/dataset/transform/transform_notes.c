/* transform_notes.c - what a column transformation does, in sentences: one per type of column. */
#include "transform.h"

/* The words of "3 numeric columns standardised: ...; 12 missing cells set to the median". */
static const struct {
    sfu__transform_type type;
    const char *noun;    /* of the columns */
    const char *done[3]; /* by sfu__value_scale */
    const char *missing; /* what happens to missing cells */
} sentences[] = {
    {SFU__TYPE_NUMBER,
     "numeric",
     {"as they are", "standardised", "transformed to quantiles"},
     "set to the median, with an indicator"},
    {SFU__TYPE_DATE,
     "date",
     {"in days", "in days, standardised", "in days, transformed to quantiles"},
     "set to the median, with an indicator"},
    {SFU__TYPE_BOOLEAN, "boolean", {"as 0 and 1", "as 0 and 1", "as 0 and 1"}, "set to the median, with an indicator"},
    {SFU__TYPE_CATEGORY, "categorical", {"one-hot", "one-hot", "one-hot"}, "as a level"},
    {SFU__TYPE_TEXT, "text", {"as word counts", "as words, unit length", "as words, unit length"}, "without words"},
    {SFU__TYPE_LIST, "list", {"as numbers", "as numbers, unit length", "as numbers, unit length"}, "as zeros"},
    {SFU__TYPE_IDENTIFIER,
     "identifier",
     {"left out (nearly all values differ)", "left out (nearly all values differ)",
      "left out (nearly all values differ)"},
     NULL},
    {SFU__TYPE_IGNORED, "", {"ignored", "ignored", "ignored"}, NULL},
    {SFU__TYPE_EMPTY, "empty", {"left out", "left out", "left out"}, NULL},
};
enum { SENTENCES = sizeof sentences / sizeof sentences[0], SHOWN = 12 };

/* "city (4 levels)" */
static sfu_status write_column(sfu__text *text, const sfu__transform_column *column) {
    sfu_status status = sfu__text_add(text, column->name, strlen(column->name));
    if (status == SFU_OK && column->type == SFU__TYPE_CATEGORY) {
        status = sfu__text_format(text, " (%lld level%s%s)", (long long)column->levels.count,
                                  column->levels.count == 1 ? "" : "s", column->other_level ? " and other" : "");
    } else if (status == SFU_OK && column->type == SFU__TYPE_TEXT) {
        status = sfu__text_format(text, " (%lld words%s)", (long long)column->levels.count,
                                  column->buckets > 0 ? ", others hashed" : "");
    } else if (status == SFU_OK && column->type == SFU__TYPE_LIST) {
        status = sfu__text_format(text, " (%lld %s)", (long long)column->list_width,
                                  column->list_dense ? "numbers" : "indices");
    }
    return status;
}

static sfu_status write_sentence(sfu__text *text, const sfu__transform *transform, int sentence, int64_t count) {
    sfu_status status = SFU_OK;
    int64_t shown = 0, missing = 0;
    const char *noun = sentences[sentence].noun;
    SFU_TRY(sfu__text_format(text, "%lld %s%scolumn%s %s", (long long)count, noun, noun[0] != '\0' ? " " : "",
                             count == 1 ? "" : "s", sentences[sentence].done[transform->values]));
    for (int64_t i = 0; i < transform->count; i++) {
        const sfu__transform_column *column = &transform->columns[i];
        if (column->type == sentences[sentence].type) {
            missing += column->missing;
            if (shown < SHOWN) {
                SFU_TRY(sfu__text_format(text, shown == 0 ? ": " : ", "));
                SFU_TRY(write_column(text, column));
            }
            shown++;
        }
    }
    if (shown > SHOWN) {
        SFU_TRY(sfu__text_format(text, ", ..."));
    }
    if (missing > 0 && sentences[sentence].missing != NULL) {
        SFU_TRY(sfu__text_format(text, "; %lld missing cell%s %s", (long long)missing, missing == 1 ? "" : "s",
                                 sentences[sentence].missing));
    }
done:
    return status;
}

sfu_status sfu__transform_note(sfu__text *text, const sfu__transform *transform, int i) {
    int found = 0;
    for (int sentence = 0; sentence < SENTENCES; sentence++) {
        int64_t count = 0;
        for (int64_t c = 0; c < transform->count; c++) {
            count += transform->columns[c].type == sentences[sentence].type;
        }
        if (count > 0 && found++ == i) {
            return write_sentence(text, transform, sentence, count);
        }
    }
    const char *rows = transform->rows == SFU_SCALE_UNIT ? "length" : "sum";
    return transform->rows != SFU_SCALE_NONE && transform->features > 0 && found == i
               ? sfu__text_format(text, "feature vectors scaled to unit %s", rows)
               : SFU_OK;
}
