/* space_point.c - parsing and printing of points of a space: "lr=0.01 hidden=64". */
#include "space_int.h"
#include "word_list.h"

#include <math.h>
#include <string.h>

sfu_status sfu__space_print(sfu__text *text, const sfu__space *space, int i, double value) {
    const sfu__parameter_range *item = &space->items[i];
    return sfu__domain_holds(&item->range, value)
               ? sfu__domain_print_value(text, &item->range, value, false)
               : sfu__fail(SFU_ERR_ARGUMENT, "%s is %g, which is not in its range", item->name, value);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

typedef struct point {
    double *values;
    const sfu__space *space;
    sfu__scanner scanner;
    const char *positions[SFU__SPACE_PARAMETERS];
} point;

static sfu_status read_name(int *found, point *self) {
    sfu__scanner *scanner = &self->scanner;
    const size_t size = sfu__scan_name(scanner);
    const char *names[SFU__SPACE_PARAMETERS + 1] = {NULL};
    char list[SFU__LIST_MAX];
    char quoted[SFU__QUOTE_MAX];
    for (int i = 0; i < self->space->count; i++) {
        names[i] = self->space->items[i].name;
        if (strlen(names[i]) == size && memcmp(names[i], scanner->p, size) == 0) {
            *found = i;
            scanner->p += size;
            return SFU_OK;
        }
    }
    const char *near = size > 0 ? sfu__nearest_word(scanner->p, size, names) : NULL;
    return sfu__fail_parse(scanner->text, scanner->p, "%s is not searched; expected %s",
                           sfu__quote(quoted, scanner->p, size > 0 ? size : strcspn(scanner->p, " \t\n\r=")),
                           near != NULL ? near : sfu__list_words(list, names, " or "));
}

/* Index of the choice that is written so or has the same numeric value; NaN if there is none. */
static double find_choice(const sfu__domain *range, const sfu__scanned *value) {
    double number = 0.0;
    const bool is_number = !value->quoted && sfu__parse_double(&number, value->bytes, value->bytes + value->size);
    for (int i = 0; i < range->count; i++) {
        const sfu__choice *choice = &range->choices[i];
        if (choice->is_number
                ? is_number && choice->number == number
                : strlen(choice->text) == value->size && memcmp(choice->text, value->bytes, value->size) == 0) {
            return (double)i;
        }
    }
    return (double)NAN;
}

static sfu_status refuse_value(const point *self, int i, const sfu__scanned *value) {
    sfu_status status = SFU_OK;
    const sfu__parameter_range *item = &self->space->items[i];
    sfu__text shown = {0};
    char quoted[SFU__QUOTE_MAX];
    SFU_TRY(sfu__domain_print(&shown, &item->range));
    status =
        sfu__fail_parse(self->scanner.text, value->position, "%s is %s; expected a value of %.*s%s", item->name,
                        sfu__quote(quoted, value->bytes, value->size), 100, shown.bytes, shown.size > 100 ? "..." : "");
done:
    sfu__text_clear(&shown);
    return status;
}

static sfu_status read_value(point *self, int i) {
    sfu_status status = SFU_OK;
    const sfu__parameter_range *item = &self->space->items[i];
    sfu__scanned value;
    double number = (double)NAN;
    SFU_TRY(sfu__scan_value(&value, &self->scanner));
    if (item->range.kind == SFU__RANGE_CHOICE) {
        number = find_choice(&item->range, &value);
    } else if (value.quoted || !sfu__parse_double(&number, value.bytes, value.bytes + value.size)) {
        number = (double)NAN;
    }
    if (!sfu__domain_holds(&item->range, number)) {
        return refuse_value(self, i, &value);
    }
    if (sfu__setting_check(item->name, sfu__domain_number(&item->range, number)) != SFU_OK) {
        return sfu__fail_parse(self->scanner.text, value.position, "%s", sfu_message());
    }
    self->values[i] = number + 0.0;
done:
    return status;
}

static sfu_status read_item(point *self) {
    sfu_status status = SFU_OK;
    sfu__scanner *scanner = &self->scanner;
    const char *position = scanner->p;
    int i = 0;
    SFU_TRY(read_name(&i, self));
    if (self->positions[i] != NULL) {
        return sfu__fail_parse(scanner->text, position, "%s is given twice", self->space->items[i].name);
    }
    self->positions[i] = position;
    sfu__scan_blanks(scanner);
    if (*scanner->p != '=') {
        return sfu__fail_parse(scanner->text, scanner->p, "= is missing here; expected %s=value",
                               self->space->items[i].name);
    }
    scanner->p++;
    sfu__scan_blanks(scanner);
    SFU_TRY(read_value(self, i));
    if (*scanner->p != '\0' && strchr(" \t\n\r", *scanner->p) == NULL) {
        status = sfu__fail_parse(scanner->text, scanner->p, "expected a space and the next name after this value");
    }
done:
    return status;
}

/* If the point names its network, that network must use all of its parameters. */
static sfu_status check_uses(const point *self) {
    const int net = sfu__space_net(self->space, self->values);
    for (int i = 0; i < self->space->count && net >= 0; i++) {
        if (self->positions[i] != NULL && !sfu__space_has(self->space, net, i)) {
            return sfu__fail_parse(self->scanner.text, self->positions[i], "%s does not use %s",
                                   self->space->items[0].range.choices[net].text, self->space->items[i].name);
        }
    }
    return SFU_OK;
}

sfu_status sfu__space_point(double *values, const sfu__space *space, const char *text) {
    sfu_status status = SFU_OK;
    point self = {.values = values, .space = space, .scanner = {text, text}};
    for (int i = 0; i < space->count; i++) {
        values[i] = (double)NAN;
    }
    for (sfu__scan_blanks(&self.scanner); *self.scanner.p != '\0'; sfu__scan_blanks(&self.scanner)) {
        SFU_TRY(read_item(&self));
    }
    SFU_TRY(check_uses(&self));
done:
    return status;
}
