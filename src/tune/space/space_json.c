/* space_json.c - the distribution of a parameter in Optuna's JSON format. */
#include "space_int.h"

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
