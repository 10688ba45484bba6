#include "space.h"
#include <math.h>
#include <string.h>
int sfu__space_find(const sfu__space *space, const char *name) {
    for (int i = 0; i < space->count; i++) {
        if (strcmp(space->items[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}
int sfu__space_net(const sfu__space *space, const double *values) {
    return space->net_count > 1 ? (isnan(values[0]) ? -1 : (int)values[0]) : 0;
}
bool sfu__space_has(const sfu__space *space, int net, int i) { return (space->has[net] >> i & 1) != 0; }
sfu_status sfu__space_distribution(sfu__text *text, const sfu__space *space, int i) {
    const sfu__domain *d = &space->items[i].range;
    sfu_status status = SFU_OK;
    if (d->kind == SFU__RANGE_CHOICE) {
        SFU_TRY(sfu__text_format(text, "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": ["));
        for (int c = 0; c < d->count; c++) {
            SFU_TRY(sfu__text_format(text, "%s", c > 0 ? ", " : ""));
            SFU_TRY(d->choices[c].is_number ? sfu__text_number(text, d->choices[c].number)
                                            : sfu__text_json(text, d->choices[c].text));
        }
        SFU_TRY(sfu__text_format(text, "]}}"));
    } else if (d->kind == SFU__RANGE_INT) {
        SFU_TRY(sfu__text_format(text,
                                 "{\"name\": \"IntDistribution\", \"attributes\": {\"log\": %s, \"step\": %d, \"low\": "
                                 "%d, \"high\": %d}}",
                                 d->log ? "true" : "false", (int)d->step, (int)d->low, (int)d->high));
    } else {
        SFU_TRY(sfu__text_format(text, "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": null, \"low\": "));
        SFU_TRY(sfu__text_number(text, d->low));
        SFU_TRY(sfu__text_format(text, ", \"high\": "));
        SFU_TRY(sfu__text_number(text, d->high));
        SFU_TRY(sfu__text_format(text, ", \"log\": %s}}", d->log ? "true" : "false"));
    }
done:
    return status;
}
