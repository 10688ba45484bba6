/* space_parse.c - parser of search spaces: from text to named ranges.
 *
 *     space := (name "=" range)*
 *     range := ["log"] "(" a "," b [":" step] ")"  |  ["log"] "[" a ".." b [":" step] "]"  |  "{" choice ("," choice)*
 * "}"
 */
#include "space_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t largest = INT64_C(1) << 53; /* 2^53: all smaller integers are exact doubles */

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static sfu_status expect(sfu__scanner *scanner, const char *sign, const char *expected) {
    sfu__scan_blanks(scanner);
    if (strncmp(scanner->p, sign, strlen(sign)) != 0) {
        return sfu__fail_parse(scanner->text, scanner->p, "%s is missing here; expected %s", sign, expected);
    }
    scanner->p += strlen(sign);
    return SFU_OK;
}

/* A number up to a separator; ".." separates integers. */
static sfu_status read_number(double *number, sfu__scanner *scanner, bool whole) {
    char quoted[SFU__QUOTE_MAX];
    sfu__scan_blanks(scanner);
    const char *begin = scanner->p;
    size_t size = strcspn(begin, " \t\n\r,:()[]{}");
    const char *dots = whole ? strstr(begin, "..") : NULL;
    if (dots != NULL && (size_t)(dots - begin) < size) {
        size = (size_t)(dots - begin);
    }
    int64_t integer = 0;
    const bool good = whole
                          ? sfu__parse_int64(&integer, begin, begin + size) && integer >= -largest && integer <= largest
                          : sfu__parse_double(number, begin, begin + size);
    if (!good) {
        return sfu__fail_parse(scanner->text, begin, "%s is not %s; expected %s", sfu__quote(quoted, begin, size),
                               whole ? "an integer" : "a number",
                               whole ? "a range such as [1..10] or [0..100:10]" : "a range such as (0,1)");
    }
    *number = whole ? (double)integer : *number + 0.0; /* -0 becomes 0 */
    scanner->p = begin + size;
    return SFU_OK;
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

/* The nearest number with 15 digits: a product of decimal numbers is rarely one. */
static double rounded(double number) {
    char digits[40];
    snprintf(digits, sizeof digits, "%.15g", number);
    return strtod(digits, NULL);
}

/* Lowers `high` to the last grid value; a `high` on the grid stays unchanged. */
static void round_high(sfu__domain *range) {
    const double steps = floor((range->high - range->low) / range->step + 1e-8);
    const double last = range->low + steps * range->step;
    if (range->kind == SFU__RANGE_INT) {
        range->high = last;
    } else if (fabs(last - range->high) > 1e-8 * range->step) {
        range->high = rounded(last);
    }
}

static sfu_status check_step(const sfu__domain *range, const sfu__scanner *scanner, const char *position) {
    if (range->log) {
        return sfu__fail_parse(scanner->text, position, "a logarithmic range cannot have a step");
    }
    if (!(range->step > 0.0)) {
        return sfu__fail_parse(scanner->text, position, "a step must be above 0");
    }
    if (range->step < 1e-6 * fmax(fabs(range->low), fabs(range->high)) && range->kind == SFU__RANGE_FLOAT) {
        return sfu__fail_parse(scanner->text, position, "this step is below a millionth of the endpoints; omit it");
    }
    return SFU_OK;
}

/* ---- (a,b) and [a..b] ------------------------------------------------------------------------------------------- */

static sfu_status check_ends(const sfu__domain *range, const sfu__scanner *scanner, const char *position) {
    const double least = range->kind == SFU__RANGE_INT ? 1.0 : 0.0;
    if (range->high < range->low) {
        return sfu__fail_parse(scanner->text, position, "the upper end of this range is below its lower end");
    }
    if (range->log && (range->low < least || range->low == 0.0)) {
        return sfu__fail_parse(scanner->text, position, "a logarithmic range must begin %s",
                               least > 0.0 ? "at 1 or above" : "above 0");
    }
    if (!isfinite(range->high - range->low)) {
        return sfu__fail_parse(scanner->text, position, "this range is too wide");
    }
    return SFU_OK;
}

static sfu_status read_ends(sfu__domain *range, sfu__scanner *scanner) {
    sfu_status status = SFU_OK;
    const bool whole = range->kind == SFU__RANGE_INT;
    const char *position = scanner->p;
    scanner->p++;
    SFU_TRY(read_number(&range->low, scanner, whole));
    SFU_TRY(expect(scanner, whole ? ".." : ",", whole ? "[1..10]" : "(0,1)"));
    SFU_TRY(read_number(&range->high, scanner, whole));
    SFU_TRY(check_ends(range, scanner, position));
    range->step = whole ? 1.0 : 0.0;
    sfu__scan_blanks(scanner);
    if (*scanner->p == ':') {
        scanner->p++;
        sfu__scan_blanks(scanner);
        position = scanner->p;
        SFU_TRY(read_number(&range->step, scanner, whole));
        SFU_TRY(check_step(range, scanner, position));
        round_high(range);
    }
    SFU_TRY(expect(scanner, whole ? "]" : ")", whole ? "[1..10] or [0..100:10]" : "(0,1) or (0,1:0.1)"));
done:
    return status;
}

/* ---- {a,b,c} ---------------------------------------------------------------------------------------------------- */

/* A number is printed in its shortest form, with a point or an exponent if it is not an integer. */
static sfu_status number_text(sfu__text *text, const sfu__scanned *value, double number) {
    int64_t integer = 0;
    if (sfu__parse_int64(&integer, value->bytes, value->bytes + value->size) && integer >= -largest &&
        integer <= largest) {
        return sfu__text_format(text, "%lld", (long long)integer);
    }
    const sfu_status status = sfu__text_number(text, number);
    return status != SFU_OK || strpbrk(text->bytes, ".e") != NULL ? status : sfu__text_add(text, ".0", 2);
}

static sfu_status make_choice(sfu__choice *choice, const sfu__scanned *value) {
    sfu__text text = {0};
    sfu_status status = SFU_OK;
    choice->is_number = !value->quoted && sfu__parse_double(&choice->number, value->bytes, value->bytes + value->size);
    choice->number += 0.0;
    SFU_TRY(choice->is_number ? number_text(&text, value, choice->number)
                              : sfu__text_add(&text, value->bytes, value->size));
    choice->text = text.bytes;
    text = (sfu__text){0};
done:
    sfu__text_clear(&text);
    return status;
}

static bool same_choice(const sfu__choice *one, const sfu__choice *other) {
    return strcmp(one->text, other->text) == 0 || (one->is_number && other->is_number && one->number == other->number);
}

static sfu_status add_choice(sfu__domain *range, size_t *capacity, sfu__scanner *scanner) {
    sfu_status status = SFU_OK;
    sfu__scanned value;
    char quoted[SFU__QUOTE_MAX];
    sfu__scan_blanks(scanner);
    SFU_TRY(sfu__scan_value(&value, scanner));
    if (range->count == SFU__SPACE_CHOICES) {
        return sfu__fail_parse(scanner->text, value.position, "too many choices: at most %d are allowed",
                               SFU__SPACE_CHOICES);
    }
    sfu__choice *grown = sfu__grow(range->choices, capacity, (size_t)range->count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    range->choices = grown;
    range->choices[range->count] = (sfu__choice){0};
    SFU_TRY(make_choice(&range->choices[range->count], &value));
    range->count++;
    for (int i = 0; i < range->count - 1; i++) {
        if (same_choice(&range->choices[i], &range->choices[range->count - 1])) {
            return sfu__fail_parse(scanner->text, value.position, "the choice %s appears twice",
                                   sfu__quote(quoted, value.bytes, value.size));
        }
    }
done:
    return status;
}

static sfu_status read_choices(sfu__domain *range, sfu__scanner *scanner) {
    sfu_status status = SFU_OK;
    size_t capacity = 0;
    do {
        scanner->p++;
        SFU_TRY(add_choice(range, &capacity, scanner));
        sfu__scan_blanks(scanner);
    } while (*scanner->p == ',');
    if (*scanner->p != '}') {
        return sfu__fail_parse(scanner->text, scanner->p,
                               "expected , or } after this choice, or quotes around all of it");
    }
    scanner->p++;
    range->high = (double)(range->count - 1);
done:
    return status;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static sfu_status read_range(sfu__domain *range, sfu__scanner *scanner) {
    const char *position = scanner->p;
    char quoted[SFU__QUOTE_MAX];
    if (strncmp(position, "log", 3) == 0 && (position[3] == '(' || position[3] == '[')) {
        range->log = true;
        scanner->p += 3;
    }
    switch (*scanner->p) {
    case '(':
        range->kind = SFU__RANGE_FLOAT;
        return read_ends(range, scanner);
    case '[':
        range->kind = SFU__RANGE_INT;
        return read_ends(range, scanner);
    case '{':
        range->kind = SFU__RANGE_CHOICE;
        return read_choices(range, scanner);
    default:
        return sfu__fail_parse(
            scanner->text, position,
            "%s is not a range; expected e.g. (0,1), log(0.001,1), [1..10], [0..100:10] or {8,16,32}",
            sfu__quote(quoted, position, strcspn(position, " \t\n\r")));
    }
}

static sfu_status read_name(char **name, sfu__scanner *scanner) {
    const size_t size = sfu__scan_name(scanner);
    char quoted[SFU__QUOTE_MAX];
    if (size == 0) {
        return sfu__fail_parse(scanner->text, scanner->p,
                               "%s is not a name; expected letters, digits and _, as in lr=(0,1)",
                               sfu__quote(quoted, scanner->p, 1));
    }
    if (size > SFU__SPACE_NAME) {
        return sfu__fail_parse(scanner->text, scanner->p, "this name is longer than %d bytes", SFU__SPACE_NAME);
    }
    *name = sfu__copy_bytes(scanner->p, size);
    scanner->p += size;
    return *name != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

static sfu_status read_item(sfu__list_item *item, sfu__scanner *scanner) {
    sfu_status status = SFU_OK;
    item->position = scanner->p;
    SFU_TRY(read_name(&item->name, scanner));
    SFU_TRY(expect(scanner, "=", "a name and its range, lr=(0,1)"));
    sfu__scan_blanks(scanner);
    SFU_TRY(read_range(&item->range, scanner));
    if (*scanner->p != '\0' && strchr(" \t\n\r", *scanner->p) == NULL) {
        status = sfu__fail_parse(scanner->text, scanner->p, "expected a space and the next name after this range");
    }
done:
    return status;
}

static void clear_item(sfu__list_item *item) {
    sfu__free(item->name);
    sfu__domain_clear(&item->range);
    *item = (sfu__list_item){0};
}

int sfu__list_find(const sfu__range_list *list, const char *name, size_t size) {
    for (int i = 0; i < list->count; i++) {
        if (strlen(list->items[i].name) == size && memcmp(list->items[i].name, name, size) == 0) {
            return i;
        }
    }
    return -1;
}

/* Takes over the item: replaces one of the same name, or is appended. */
static sfu_status put_item(sfu__range_list *list, sfu__list_item *item, const char *text) {
    int at = sfu__list_find(list, item->name, strlen(item->name));
    if (at >= 0 && list->items[at].position != NULL) {
        return sfu__fail_parse(text, item->position, "%s is given twice", item->name);
    }
    if (at < 0 && list->count == SFU__LIST_ITEMS) {
        return sfu__fail_parse(text, item->position, "too many parameters: at most %d are allowed",
                               SFU__SPACE_PARAMETERS);
    }
    if (at < 0) {
        at = list->count++;
    } else {
        clear_item(&list->items[at]);
    }
    list->items[at] = *item;
    *item = (sfu__list_item){0};
    return SFU_OK;
}

sfu_status sfu__list_read(sfu__range_list *list, const char *text, const char *from, bool preset) {
    sfu_status status = SFU_OK;
    sfu__scanner scanner = {text, from};
    sfu__list_item item = {0};
    for (sfu__scan_blanks(&scanner); *scanner.p != '\0'; sfu__scan_blanks(&scanner)) {
        SFU_TRY(read_item(&item, &scanner));
        item.position = preset ? NULL : item.position;
        SFU_TRY(put_item(list, &item, text));
    }
done:
    clear_item(&item);
    return status;
}

void sfu__list_clear(sfu__range_list *list) {
    for (int i = 0; i < list->count; i++) {
        clear_item(&list->items[i]);
    }
    *list = (sfu__range_list){0};
}
