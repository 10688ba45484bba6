/* domain.c - the domain of a parameter: membership, endpoints, and printing of domains and values. */
#include "space_int.h"

#include <math.h>
#include <string.h>

void sfu__domain_clear(sfu__domain *range) {
    for (int i = 0; i < range->count; i++) {
        sfu__free(range->choices[i].text);
    }
    sfu__free(range->choices);
    *range = (sfu__domain){0};
}

bool sfu__domain_holds(const sfu__domain *range, double value) {
    if (!(value >= range->low && value <= range->high)) {
        return false;
    }
    if (range->kind == SFU__RANGE_FLOAT && range->step <= 0.0) {
        return true;
    }
    const double step = range->kind == SFU__RANGE_CHOICE ? 1.0 : range->step;
    const double steps = (value - range->low) / step;
    return range->kind == SFU__RANGE_FLOAT ? fabs(steps - nearbyint(steps)) < 1e-8 : steps == floor(steps);
}

int sfu__domain_ends(const sfu__domain *range) {
    return range->kind == SFU__RANGE_CHOICE ? range->count : range->low < range->high ? 2 : 1;
}

double sfu__domain_end(const sfu__domain *range, int i) {
    return range->kind == SFU__RANGE_CHOICE ? (double)i : i == 0 ? range->low : range->high;
}

double sfu__domain_number(const sfu__domain *range, double value) {
    if (range->kind != SFU__RANGE_CHOICE) {
        return value;
    }
    const sfu__choice *choice = &range->choices[(int)value];
    return choice->is_number ? choice->number : (double)NAN;
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

static bool needs_quotes(const sfu__choice *choice) {
    double number = 0.0;
    const char *text = choice->text;
    return !choice->is_number &&
           (strpbrk(text, " ,=(){}[]\"'") != NULL || sfu__parse_double(&number, text, text + strlen(text)));
}

static sfu_status print_choice(sfu__text *text, const sfu__choice *choice) {
    const char *quote = !needs_quotes(choice) ? "" : strchr(choice->text, '"') == NULL ? "\"" : "'";
    return sfu__text_format(text, "%s%s%s", quote, choice->text, quote);
}

sfu_status sfu__domain_print_value(sfu__text *text, const sfu__domain *range, double value, bool raw) {
    if (range->kind == SFU__RANGE_FLOAT) {
        return sfu__text_number(text, value);
    }
    if (range->kind == SFU__RANGE_INT) {
        return sfu__text_format(text, "%lld", (long long)value);
    }
    const sfu__choice *choice = &range->choices[(int)value];
    return raw ? sfu__text_format(text, "%s", choice->text) : print_choice(text, choice);
}

static sfu_status print_choices(sfu__text *text, const sfu__domain *range) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < range->count; i++) {
        SFU_TRY(sfu__text_format(text, i == 0 ? "{" : ","));
        SFU_TRY(print_choice(text, &range->choices[i]));
    }
    SFU_TRY(sfu__text_format(text, "}"));
done:
    return status;
}

sfu_status sfu__domain_print(sfu__text *text, const sfu__domain *range) {
    sfu_status status = SFU_OK;
    const bool whole = range->kind == SFU__RANGE_INT;
    if (range->kind == SFU__RANGE_CHOICE) {
        return print_choices(text, range);
    }
    SFU_TRY(sfu__text_format(text, "%s%s", range->log ? "log" : "", whole ? "[" : "("));
    SFU_TRY(sfu__domain_print_value(text, range, range->low, true));
    SFU_TRY(sfu__text_format(text, whole ? ".." : ","));
    SFU_TRY(sfu__domain_print_value(text, range, range->high, true));
    if (range->step > (whole ? 1.0 : 0.0)) {
        SFU_TRY(sfu__text_format(text, ":"));
        SFU_TRY(sfu__domain_print_value(text, range, range->step, true));
    }
    SFU_TRY(sfu__text_format(text, whole ? "]" : ")"));
done:
    return status;
}
