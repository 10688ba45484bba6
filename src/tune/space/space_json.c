/* space_json.c - distributions and values of parameters in Optuna's JSON format. */
#include "space_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number as printed by Python's repr: 1.0, 1e-05, 1e+16. */
static sfu_status put_number(sfu__text *text, double number) {
    sfu_status status = SFU_OK;
    const size_t start = text->size;
    SFU_TRY(sfu__text_number(text, number));
    const char *e = strchr(text->bytes + start, 'e');
    if (e != NULL) { /* the exponent needs a sign and at least two digits */
        const long exponent = strtol(e + 1, NULL, 10);
        text->size = (size_t)(e - text->bytes);
        status = sfu__text_format(text, "e%c%02ld", exponent < 0 ? '-' : '+', labs(exponent));
    } else if (strchr(text->bytes + start, '.') == NULL) {
        status = sfu__text_add(text, ".0", 2);
    }
done:
    return status;
}

static sfu_status put_float(sfu__text *text, const sfu__domain *range) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": "));
    SFU_TRY(range->step > 0.0 ? put_number(text, range->step) : sfu__text_format(text, "null"));
    SFU_TRY(sfu__text_format(text, ", \"low\": "));
    SFU_TRY(put_number(text, range->low));
    SFU_TRY(sfu__text_format(text, ", \"high\": "));
    SFU_TRY(put_number(text, range->high));
    SFU_TRY(sfu__text_format(text, ", \"log\": %s}}", range->log ? "true" : "false"));
done:
    return status;
}

static sfu_status put_int(sfu__text *text, const sfu__domain *range) {
    return sfu__text_format(text,
                            "{\"name\": \"IntDistribution\", \"attributes\": {\"log\": %s, \"step\": %lld, \"low\": "
                            "%lld, \"high\": %lld}}",
                            range->log ? "true" : "false", (long long)range->step, (long long)range->low,
                            (long long)range->high);
}

static sfu_status put_choice(sfu__text *text, const sfu__choice *choice) {
    if (!choice->is_number) {
        return sfu__text_json(text, choice->text);
    }
    return strpbrk(choice->text, ".e") == NULL ? sfu__text_format(text, "%s", choice->text)
                                               : put_number(text, choice->number);
}

static sfu_status put_choices(sfu__text *text, const sfu__domain *range) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": ["));
    for (int i = 0; i < range->count; i++) {
        SFU_TRY(sfu__text_format(text, i > 0 ? ", " : ""));
        SFU_TRY(put_choice(text, &range->choices[i]));
    }
    SFU_TRY(sfu__text_format(text, "]}}"));
done:
    return status;
}

sfu_status sfu__space_distribution(sfu__text *text, const sfu__space *space, int i) {
    const sfu__domain *range = &space->items[i].range;
    return range->kind == SFU__RANGE_FLOAT ? put_float(text, range)
           : range->kind == SFU__RANGE_INT ? put_int(text, range)
                                           : put_choices(text, range);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static bool is_choice(const sfu__choice *choice, const sfu__json *value) {
    return choice->is_number ? sfu__json_is_number(value) && sfu__json_number(value) == choice->number
                             : sfu__json_is(value, SFU__JSON_TEXT) && strcmp(value->as.text, choice->text) == 0;
}

static bool same_choices(const sfu__domain *range, const sfu__json *choices) {
    const sfu__json *value = sfu__json_items(choices);
    int same = 0;
    while (value != NULL && same < range->count && is_choice(&range->choices[same], value)) {
        value = value->next;
        same++;
    }
    return value == NULL && same == range->count;
}

static bool same_kind(const sfu__domain *range, const sfu__json *distribution) {
    static const char *const names[] = {[SFU__RANGE_FLOAT] = "FloatDistribution",
                                        [SFU__RANGE_INT] = "IntDistribution",
                                        [SFU__RANGE_CHOICE] = "CategoricalDistribution"};
    const char *name = sfu__json_string(sfu__json_get(distribution, "name"));
    const sfu__json *attributes = sfu__json_get(distribution, "attributes");
    if (name == NULL || strcmp(name, names[range->kind]) != 0) {
        return false;
    }
    return range->kind == SFU__RANGE_CHOICE
               ? same_choices(range, sfu__json_get(attributes, "choices"))
               : sfu__json_is(sfu__json_get(attributes, "log"), range->log ? SFU__JSON_TRUE : SFU__JSON_FALSE);
}

sfu_status sfu__space_compatible(bool *compatible, const sfu__space *space, int i, const char *json) {
    sfu__json_text read = {0};
    const sfu_status status = sfu__json_read(&read, json, strlen(json), "distribution");
    *compatible = status == SFU_OK && same_kind(&space->items[i].range, read.root);
    sfu__json_clear(&read);
    return status == SFU_ERR_MEMORY ? status : SFU_OK;
}

/* The value in the form of a trial: a choice as its index. */
static double read_value(const sfu__domain *range, const sfu__json *value) {
    if (range->kind != SFU__RANGE_CHOICE) {
        return sfu__json_is_number(value) ? sfu__json_number(value) : (double)NAN;
    }
    for (int i = 0; i < range->count; i++) {
        if (is_choice(&range->choices[i], value)) {
            return i;
        }
    }
    return (double)NAN;
}

double sfu__space_value(const sfu__space *space, int i, const sfu__json *value) {
    const sfu__parameter_range *item = &space->items[i];
    const double number = read_value(&item->range, value);
    return sfu__domain_holds(&item->range, number) &&
                   sfu__setting_check(item->name, sfu__domain_number(&item->range, number)) == SFU_OK
               ? number + 0.0
               : (double)NAN;
}
