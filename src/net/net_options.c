/* net_options.c - reads and prints the options in brackets of a layer. */
#include "net_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

_Static_assert((int)SFU__LPNN_OPTIONS <= (int)SFU__LAYER_OPTIONS, "sfu__given has a place for each option");

static char *field(void *subject, size_t offset) { return (char *)subject + offset; }
static const char *field_of(const void *subject, size_t offset) { return (const char *)subject + offset; }

/* ---- reading a value -------------------------------------------------------------------------------------------- */

typedef struct value {
    const sfu__option *option;
    const sfu__token *token;
    const char *text;
} value;

static sfu_status fail_value(const value *self, const char *expected) {
    char quoted[SFU__QUOTE_MAX];
    return sfu__fail_parse(self->text, self->token->place, "%s is %s; expected %s", self->option->name,
                           sfu__quote(quoted, self->token->bytes, self->token->size), expected);
}

static sfu_status read_word(int *number, const value *self) {
    char list[SFU__LIST_MAX];
    for (int i = 0; self->option->words[i] != NULL; i++) {
        if (sfu__token_is(self->token, self->option->words[i])) {
            *number = i;
            return SFU_OK;
        }
    }
    return fail_value(self, sfu__list_words(list, self->option->words, " or "));
}

static sfu_status read_number(double *number, const value *self) {
    double parsed = 0.0;
    const sfu__token *token = self->token;
    const bool is_number =
        token->kind == SFU__TOKEN_WORD && sfu__parse_double(&parsed, token->bytes, token->bytes + token->size);
    if (!is_number || parsed < 0.0 || (self->option->below_one && parsed >= 1.0)) {
        return fail_value(self, self->option->below_one ? "a number of at least 0 and below 1" : "a number, 0 or more");
    }
    *number = parsed + 0.0; /* -0 becomes 0 */
    return SFU_OK;
}

/* Whether an unquoted word is meant as a number. */
static bool looks_like_number(const char *bytes, size_t size) {
    static const char *const words[] = {"nan", "inf", "infinity"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (size == strlen(words[i]) && strncasecmp(bytes, words[i], size) == 0) {
            return true;
        }
    }
    return size > 0 && strchr("+-.0123456789", bytes[0]) != NULL;
}

/* Whether a name can be printed: text without control characters. */
static bool is_name(const char *bytes, size_t size) {
    bool good = size > 0 && sfu__utf8_valid(bytes, size);
    for (size_t i = 0; i < size && good; i++) {
        good = (unsigned char)bytes[i] >= 0x20 && bytes[i] != 0x7f;
    }
    return good;
}

static sfu_status read_nodes(void *subject, const value *self) {
    const sfu__token *token = self->token;
    char **name = (char **)(void *)field(subject, self->option->column);
    if (token->kind == SFU__TOKEN_WORD && looks_like_number(token->bytes, token->size)) {
        double number = 0.0;
        if (read_number(&number, self) != SFU_OK) {
            return fail_value(self, "a number, 0 or more, or the name of a node column");
        }
        *(double *)(void *)field(subject, self->option->field) = number;
        return SFU_OK;
    }
    if (!is_name(token->bytes, token->size)) {
        return fail_value(self, "a number, 0 or more, or the name of a node column");
    }
    *name = sfu__copy_bytes(token->bytes, token->size);
    return *name != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

/* "no", or words with + between them. */
static sfu_status read_learn(unsigned *learn, const value *self) {
    unsigned bits = 0;
    const char *expected = "no, or one or more of self, neighbour, left and right with + between them, each once";
    if (sfu__token_is(self->token, "no")) {
        *learn = 0;
        return SFU_OK;
    }
    const char *end = self->token->bytes + self->token->size;
    for (const char *p = self->token->bytes; p <= end; p++) {
        const char *plus = memchr(p, '+', (size_t)(end - p));
        const sfu__token part = {SFU__TOKEN_WORD, p, p, (size_t)((plus != NULL ? plus : end) - p)};
        unsigned bit = 0;
        for (unsigned i = 0; self->option->words[i] != NULL; i++) {
            bit |= sfu__token_is(&part, self->option->words[i]) ? 1U << i : 0U;
        }
        if (bit == 0 || (bits & bit) != 0) {
            return fail_value(self, expected);
        }
        bits |= bit;
        p = part.bytes + part.size;
    }
    *learn = bits;
    return SFU_OK;
}

static sfu_status read_value(void *subject, const value *self) {
    int number = 0;
    char *place = field(subject, self->option->field);
    sfu_status status = SFU_OK;
    switch (self->option->type) {
    case SFU__OPTION_CHOICE:
        status = read_word(&number, self);
        if (status == SFU_OK) {
            memcpy(place, &number, sizeof number);
        }
        return status;
    case SFU__OPTION_SWITCH:
        status = read_word(&number, self);
        if (status == SFU_OK) {
            *(bool *)place = number != 0;
        }
        return status;
    case SFU__OPTION_NUMBER:
        return read_number((double *)(void *)place, self);
    case SFU__OPTION_NODES:
        return read_nodes(subject, self);
    case SFU__OPTION_LEARN:
        return read_learn((unsigned *)(void *)place, self);
    }
    return SFU_OK;
}

/* Enumerators are stored as int. */
_Static_assert(sizeof(sfu_norm) == sizeof(int) && sizeof(sfu__activation) == sizeof(int) &&
                   sizeof(sfu__lpnn_f) == sizeof(int),
               "an enumerator is as large as an int");

/* ---- reading the brackets --------------------------------------------------------------------------------------- */

static void names_of(const char **names, const sfu__option_table *table) {
    int count = 0;
    for (int i = 0; i < table->count; i++) {
        if ((table->options[i].layers & table->layers) != 0) {
            names[count++] = table->options[i].name;
        }
    }
    names[count] = NULL;
}

static sfu_status find_option(int *row, const sfu__option_table *table, const sfu__reader *reader) {
    const sfu__token *token = &reader->token;
    const char *names[SFU__LAYER_OPTIONS + 1];
    char list[SFU__LIST_MAX];
    char quoted[SFU__QUOTE_MAX];
    for (int i = 0; i < table->count; i++) {
        if ((table->options[i].layers & table->layers) != 0 && sfu__token_is(token, table->options[i].name)) {
            *row = i;
            return SFU_OK;
        }
    }
    names_of(names, table);
    if (token->kind != SFU__TOKEN_WORD) {
        return sfu__fail_parse(reader->text, token->place, "expected an option of %s: name=value with %s", table->owner,
                               sfu__list_words(list, names, " or "));
    }
    return sfu__fail_parse(reader->text, token->place, "unknown option %s; %s has %s",
                           sfu__quote(quoted, token->bytes, token->size), table->owner,
                           sfu__list_words(list, names, " and "));
}

static sfu_status read_option(void *subject, sfu__given *given, const sfu__option_table *table, sfu__reader *reader) {
    int row = 0;
    const sfu_status status = find_option(&row, table, reader);
    if (status != SFU_OK) {
        return status;
    }
    const char *name = table->options[row].name;
    if (given->at[row] != NULL) {
        return sfu__fail_parse(reader->text, reader->token.place, "%s is given twice", name);
    }
    given->at[row] = reader->token.place;
    sfu__reader_step(reader);
    if (reader->token.kind != '=') {
        return sfu__fail_parse(reader->text, reader->token.place, "= is missing here; expected %s=value", name);
    }
    sfu__reader_step(reader);
    const sfu__token token = reader->token;
    if (token.kind == SFU__TOKEN_OPEN_NAME) {
        return sfu__fail_parse(reader->text, token.place, "this quote is never closed");
    }
    if (token.kind != SFU__TOKEN_WORD && token.kind != SFU__TOKEN_NAME) {
        return sfu__fail_parse(reader->text, token.place, "the value of %s is missing", name);
    }
    sfu__reader_step(reader);
    return read_value(subject, &(value){&table->options[row], &token, reader->text});
}

sfu_status sfu__options_read(void *subject, sfu__given *given, const sfu__option_table *table, sfu__reader *reader) {
    sfu_status status = SFU_OK;
    const char *bracket = reader->token.place;
    do {
        sfu__reader_step(reader);
        status = read_option(subject, given, table, reader);
    } while (status == SFU_OK && reader->token.kind == ',');
    if (status != SFU_OK) {
        return status;
    }
    if (reader->token.kind != ')') {
        return reader->token.kind == SFU__TOKEN_END || reader->token.kind == '|'
                   ? sfu__fail_parse(reader->text, bracket,
                                     "this bracket is never closed; expected ) after the last option")
                   : sfu__fail_parse(reader->text, reader->token.place, "expected , or ) after an option");
    }
    sfu__reader_step(reader);
    return SFU_OK;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static bool is_default(const void *subject, const void *defaults, const sfu__option *option) {
    const char *a = field_of(subject, option->field);
    const char *b = field_of(defaults, option->field);
    switch (option->type) {
    case SFU__OPTION_CHOICE:
    case SFU__OPTION_LEARN:
        return memcmp(a, b, sizeof(int)) == 0;
    case SFU__OPTION_SWITCH:
        return *(const bool *)a == *(const bool *)b;
    case SFU__OPTION_NODES:
        if (*(char *const *)(const void *)field_of(subject, option->column) != NULL) {
            return false;
        }
        break;
    case SFU__OPTION_NUMBER:
        break;
    }
    return *(const double *)(const void *)a == *(const double *)(const void *)b;
}

/* Prints a name as the reader accepts it. */
static sfu_status print_name(sfu__text *text, const char *name) {
    const size_t size = strlen(name);
    const bool plain = name[0] != '$' && strcspn(name, " \t\r\n|^(),=\"") == size && !looks_like_number(name, size);
    return sfu__text_format(text, plain ? "%s" : "\"%s\"", name);
}

static sfu_status print_learn(sfu__text *text, unsigned learn, const char *const *words) {
    sfu_status status = learn == 0 ? sfu__text_format(text, "no") : SFU_OK;
    for (unsigned i = 0, first = 1; words[i] != NULL && status == SFU_OK; i++) {
        if ((learn >> i & 1U) != 0) {
            status = sfu__text_format(text, first ? "%s" : "+%s", words[i]);
            first = 0;
        }
    }
    return status;
}

static sfu_status print_value(sfu__text *text, const void *subject, const sfu__option *option) {
    const char *place = field_of(subject, option->field);
    int number = 0;
    switch (option->type) {
    case SFU__OPTION_CHOICE:
        memcpy(&number, place, sizeof number);
        return sfu__text_format(text, "%s", option->words[number]);
    case SFU__OPTION_SWITCH:
        return sfu__text_format(text, "%s", option->words[*(const bool *)place]);
    case SFU__OPTION_LEARN:
        return print_learn(text, *(const unsigned *)(const void *)place, option->words);
    case SFU__OPTION_NODES: {
        const char *name = *(char *const *)(const void *)field_of(subject, option->column);
        if (name != NULL) {
            return print_name(text, name);
        }
        break;
    }
    case SFU__OPTION_NUMBER:
        break;
    }
    return sfu__text_number(text, *(const double *)(const void *)place);
}

sfu_status sfu__options_print(sfu__text *text, const void *subject, const void *defaults,
                              const sfu__option_table *table, unsigned shown, unsigned hidden) {
    sfu_status status = SFU_OK;
    bool any = false;
    for (int i = 0; i < table->count; i++) {
        const sfu__option *option = &table->options[i];
        const bool wanted = (shown >> i & 1U) != 0 || !is_default(subject, defaults, option);
        if ((option->layers & table->layers) == 0 || (hidden >> i & 1U) != 0 || !wanted) {
            continue;
        }
        SFU_TRY(sfu__text_format(text, any ? ", %s=" : "(%s=", option->name));
        SFU_TRY(print_value(text, subject, option));
        any = true;
    }
    if (any) {
        status = sfu__text_format(text, ")");
    }
done:
    return status;
}
