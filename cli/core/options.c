#include "options.h"

#include "frugal.h"
#include "output.h"
#include "suggest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64 }; /* per command */

/* ---- values ----------------------------------------------------------------------------------------------------- */

static bool parse_number(double *value, const char *text) {
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value) && strpbrk(text, "xX \t\n") == NULL;
}

static bool parse_seed(uint64_t *value, const char *text) {
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0;
}

/* A positive number of bytes, or with one of the letters K, M, G and T of that power of 1024. Rounded down. */
static bool parse_size(uint64_t *value, const char *text) {
    static const char units[] = "KMGT";
    char *end;
    double number = strtod(text, &end);
    const char *unit = *end != '\0' && end[1] == '\0' ? strchr(units, *end & ~0x20) : NULL;
    if (text[0] < '0' || text[0] > '9' || strpbrk(text, "xX") != NULL || (*end != '\0' && unit == NULL)) {
        return false;
    }
    for (const char *u = units; unit != NULL && u <= unit; u++) {
        number *= 1024;
    }
    *value = number >= 1 && number < 0x1p63 ? (uint64_t)number : 0;
    return *value > 0;
}

/* The choices or names of an option as "a, b or c". */
static void list_values(char *list, size_t size, const cli_option *option) {
    list[0] = '\0';
    for (int i = 0;; i++) {
        const char *value = option->choices ? option->choices[i] : option->names(i, NULL);
        if (!value) {
            return;
        }
        const char *next = option->choices ? option->choices[i + 1] : option->names(i + 1, NULL);
        const size_t used = strlen(list);
        snprintf(list + used, size - used, "%s%s", i == 0 ? "" : next ? ", " : " or ", value);
    }
}

static bool wrong_choice(const cli_command *command, const cli_option *option, const char *value) {
    char list[256];
    list_values(list, sizeof list, option);
    usage_error(command, "--%s: expected %s, found %s", option->name, list, quote(value));
    return false;
}

static bool set_choice(const cli_command *command, const cli_option *option, const char *value) {
    for (int i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], value) == 0) {
            *(int *)option->target = i;
            return true;
        }
    }
    return wrong_choice(command, option, value);
}

static bool set_name(const cli_command *command, const cli_option *option, const char *value) {
    const char *name;
    for (int i = 0; (name = option->names(i, NULL)) != NULL; i++) {
        if (strcmp(name, value) == 0) {
            *(const char **)option->target = name;
            return true;
        }
    }
    return wrong_choice(command, option, value);
}

static bool set_count(const cli_command *command, const cli_option *option, const char *value) {
    double number;
    if (!parse_number(&number, value) || number != floor(number) || number < option->min || number > option->max) {
        usage_error(command, "--%s: expected an integer from %.0f to %.0f, found %s", option->name, option->min,
                    option->max, quote(value));
        return false;
    }
    *(int32_t *)option->target = (int32_t)number;
    return true;
}

static bool set_number(const cli_command *command, const cli_option *option, const char *value) {
    double number;
    if (!parse_number(&number, value) || number < option->min || number > option->max) {
        usage_error(command, "--%s: expected a number from %g to %g, found %s", option->name, option->min, option->max,
                    quote(value));
        return false;
    }
    *(double *)option->target = number;
    return true;
}

static bool set_seed(const cli_command *command, const cli_option *option, const char *value) {
    if (!parse_seed((uint64_t *)option->target, value)) {
        usage_error(command, "--%s: expected an integer from 0 to 18446744073709551615, found %s", option->name,
                    quote(value));
        return false;
    }
    return true;
}

static bool set_size(const cli_command *command, const cli_option *option, const char *value) {
    if (!parse_size((uint64_t *)option->target, value)) {
        usage_error(command, "--%s: expected a number of bytes such as 8G, 512M or 1000000, found %s", option->name,
                    quote(value));
        return false;
    }
    const uint64_t bytes = *(uint64_t *)option->target;
    if (bytes < 1 << 20) {
        char hint[48] = "";
        if (bytes < 1024) {
            snprintf(hint, sizeof hint, " (did you mean %dG?)", (int)bytes);
        }
        usage_error(command, "--%s: expected at least 1M, found %d bytes%s", option->name, (int)bytes, hint);
        return false;
    }
    return true;
}

static bool set_text(const cli_command *command, const cli_option *option, const char *value) {
    if (value[0] == '\0') {
        usage_error(command, "--%s: expected %s, found \"\"", option->name, option->value);
        return false;
    }
    *(const char **)option->target = value;
    return true;
}

static bool add_text(const cli_command *command, const cli_option *option, const char *value) {
    cli_texts *texts = option->target;
    if (texts->count == TEXTS_MAX) {
        usage_error(command, "--%s: given more than %d times", option->name, TEXTS_MAX);
        return false;
    }
    texts->items[texts->count++] = value;
    return true;
}

static bool set_value(const cli_command *command, const cli_option *option, const char *value) {
    switch (option->kind) {
    case VALUE_FLAG:
        *(bool *)option->target = true;
        return true;
    case VALUE_TEXTS:
        return add_text(command, option, value);
    case VALUE_CHOICE:
        return set_choice(command, option, value);
    case VALUE_NAME:
        return set_name(command, option, value);
    case VALUE_COUNT:
        return set_count(command, option, value);
    case VALUE_SEED:
        return set_seed(command, option, value);
    case VALUE_SIZE:
        frugal_start();
        return set_size(command, option, value);
    case VALUE_NUMBER:
        return set_number(command, option, value);
    default:
        return set_text(command, option, value);
    }
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

/* The option that a word starting with '-' names. *value is the value in the same word ("=VALUE", or VALUE after a
 * letter), or NULL; *index is the index of the option in the command's options. */
static const cli_option *find_option(const cli_command *command, const char *word, const char **value, int *index) {
    const bool is_long = word[1] == '-';
    const char *name = word + (is_long ? 2 : 1);
    const size_t size = is_long ? strcspn(name, "=") : 1;
    *value = is_long ? (name[size] == '=' ? name + size + 1 : NULL) : (name[1] ? name + 1 : NULL);
    const cli_option *option;
    for (*index = 0; (option = command_option(command, *index)) != NULL; ++*index) {
        if (is_long ? strncmp(option->name, name, size) == 0 && option->name[size] == '\0'
                    : option->letter == name[0]) {
            break;
        }
    }
    return option;
}

/* The option for what other commands call --share. */
static const char *other_name(const char *name) { return strcmp(name, "share") == 0 ? "study" : name; }

static void unknown_option(const cli_command *command, const char *word) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    cli_suggestion nearest = {.word = other_name(name + strspn(name, "-"))};
    const cli_option *option;
    for (int i = 0; (option = command_option(command, i)) != NULL; i++) {
        suggest(&nearest, option->name);
    }
    char text[SUGGESTION_MAX];
    usage_error(command, "unknown option %s%s", quote(name), suggestion_text(text, &nearest, "--"));
}

/* Parses the option at words[*at] and its value, which may be the next word. */
static bool parse_option(const cli_command *command, int count, char **words, int *at, bool *given) {
    const char *word = words[*at], *value;
    int index;
    const cli_option *option = find_option(command, word, &value, &index);
    if (!option) {
        unknown_option(command, word);
        return false;
    }
    if (option->kind == VALUE_FLAG && value) {
        usage_error(command, "--%s takes no value, found %s", option->name, quote(value));
        return false;
    }
    if (option->kind != VALUE_FLAG && !value) {
        /* If the next word is an option, the value was probably forgotten; --name=VALUE still accepts such a value. */
        const char *next = *at + 1 < count ? words[*at + 1] : NULL, *ignored;
        int next_index;
        if (!next || (next[0] == '-' && next[1] != '\0' && find_option(command, next, &ignored, &next_index))) {
            usage_error(command, "%s requires a value: %s %s", word, word,
                        option->value ? option->value : option->choices[0]);
            return false;
        }
        value = next;
        ++*at;
    }
    given[index] = true;
    return set_value(command, option, value);
}

static bool has_all_required(const cli_command *command, const bool *given) {
    const cli_option *option;
    for (int i = 0; (option = command_option(command, i)) != NULL; i++) {
        if (option->required && !given[i]) {
            if (option->letter) {
                usage_error(command, "-%c %s is missing: %s", option->letter, option->value, option->help);
            } else {
                usage_error(command, "--%s %s is missing: %s", option->name, option->value, option->help);
            }
            return false;
        }
    }
    return true;
}

/* Operands that may be omitted are given only if there are more words than required operands. */
static bool has_all_operands(const cli_command *command, int count, char **operands) {
    int required = 0, most = 0;
    bool many = false;
    for (const cli_operand *operand = command->operands; operand && operand->name; operand++) {
        if (!operand->optional && required++ == count) {
            usage_error(command, "%s is missing: %s", operand->name, operand->help);
            return false;
        }
        many = many || operand->many;
        most++;
    }
    if (count > most && !many) {
        usage_error(command, "unexpected operand %s", quote(operands[most]));
        return false;
    }
    return true;
}

bool options_parse(const cli_command *command, int *count, char **words) {
    bool given[OPTIONS_MAX] = {false}, options_end = false;
    int operands = 0;
    for (int at = 0; at < *count; at++) {
        char *word = words[at];
        if (options_end || word[0] != '-' || word[1] == '\0') {
            words[operands++] = word;
        } else if (strcmp(word, "--") == 0) {
            options_end = true;
        } else if (!parse_option(command, *count, words, &at, given)) {
            return false;
        } else if (common.help) {
            return true;
        }
    }
    *count = operands;
    return has_all_operands(command, operands, words) && has_all_required(command, given);
}
