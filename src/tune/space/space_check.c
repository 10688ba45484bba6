/* space_check.c - validation of a search space: every hyperparameter and every network is checked at the endpoints of
 * its ranges, one parameter at a time with the others at their first endpoint. */
#include "space_int.h"
#include "train.h"

#include <math.h>
#include <string.h>

/* ---- training hyperparameters ------------------------------------------------------------------------------------ */

/* Float ranges are open where training requires it (learning rate above 0, dropout below 1): if the endpoint itself is
 * invalid, its neighbour is checked. */
static bool next_inside(double *value, const sfu__domain *range) {
    const bool open = range->kind == SFU__RANGE_FLOAT && range->step <= 0.0 && range->low < range->high;
    *value = nextafter(*value, *value == range->low ? range->high : range->low);
    return open;
}

sfu_status sfu__setting_check(const char *name, double number) {
    sfu_train_options options;
    sfu_train_options_init(&options);
    double *field = strcmp(name, "lr") == 0             ? &options.lr
                    : strcmp(name, "weight_decay") == 0 ? &options.weight_decay
                    : strcmp(name, "dropout") == 0      ? &options.dropout
                                                        : NULL;
    if (field == NULL) {
        return SFU_OK;
    }
    *field = number;
    return sfu__train_options_check(&options);
}

static sfu_status check_settings(const sfu__space *space, const sfu__space_source *source, int i) {
    const sfu__parameter_range *item = &space->items[i];
    char quoted[SFU__QUOTE_MAX];
    for (int end = 0; end < sfu__domain_ends(&item->range); end++) {
        const double number = sfu__domain_number(&item->range, sfu__domain_end(&item->range, end));
        double inside = number;
        if (sfu__setting_check(item->name, number) == SFU_OK ||
            (next_inside(&inside, &item->range) && sfu__setting_check(item->name, inside) == SFU_OK)) {
            continue;
        }
        if (isnan(number)) {
            const char *word = item->range.choices[end].text;
            return sfu__fail_parse(source->text, source->positions[i], "%s must be a number; %s is not", item->name,
                                   sfu__quote(quoted, word, strlen(word)));
        }
        (void)!sfu__setting_check(item->name, number);
        return sfu__fail_parse(source->text, source->positions[i], "%s", sfu_message());
    }
    return SFU_OK;
}

/* ---- hidden and k of named networks ------------------------------------------------------------------------------ */

static bool is_named(const sfu__space *space, int net) {
    sfu__net_given given;
    return sfu__net_named(&given, space->nets[net], space->net_options.k) && !given.lpnn;
}

/* Whether a number could be valid for some named network. */
static bool is_whole(double number) { return number >= 0.0 && number <= INT32_MAX && number == floor(number); }

/* Builds a named network with one of hidden and k; the other has a value that is always valid. */
static sfu_status try_number(const sfu__space *space, int net, bool is_k, double number) {
    const sfu_net_options options = {.hidden = is_k ? 1 : (int32_t)number, .k = is_k ? (int32_t)number : 1};
    sfu_net *made = NULL;
    const sfu_status status = sfu__net_read(&made, space->nets[net], &options);
    sfu_net_free(made);
    return status;
}

static sfu_status check_number(const sfu__space *space, const sfu__space_source *source, int net, int i) {
    const sfu__domain *range = &space->items[i].range;
    const char *position = source->positions[i];
    const bool is_k = strcmp(space->items[i].name, "k") == 0;
    for (int end = 0; end < sfu__domain_ends(range); end++) {
        const double number = sfu__domain_number(range, sfu__domain_end(range, end));
        if (range->kind == SFU__RANGE_FLOAT || !is_whole(number)) {
            return sfu__fail_parse(source->text, position, "%s must be an integer; expected e.g. %s",
                                   space->items[i].name, is_k ? "k=[1..4]" : "hidden=[8..128] or hidden={16,64}");
        }
        const sfu_status status = try_number(space, net, is_k, number);
        if (status != SFU_OK) {
            return status == SFU_ERR_ARGUMENT ? sfu__fail_parse(source->text, position, "%s", sfu_message()) : status;
        }
    }
    return SFU_OK;
}

/* ---- networks --------------------------------------------------------------------------------------------------- */

static sfu_status try_network(const sfu__space *space, int net, const double *values, bool quiet) {
    sfu_net *made = NULL;
    const sfu_status status = sfu__space_network(&made, space, net, values, quiet);
    sfu_net_free(made);
    return status;
}

/* Checks a composition with parameter i at each endpoint. The parser's message shows the composition after
 * substitution. */
static sfu_status try_end(const sfu__space *space, int net, int i, double *values) {
    const double end = values[i];
    sfu_status status = try_network(space, net, values, true);
    if (status == SFU_ERR_ARGUMENT && next_inside(&values[i], &space->items[i].range)) {
        status = try_network(space, net, values, true);
        if (status == SFU_ERR_ARGUMENT) {
            values[i] = end;
            status = try_network(space, net, values, true);
        }
    }
    return status;
}

static sfu_status check_network(const sfu__space *space, const sfu__space_source *source, int net) {
    sfu_status status = SFU_OK;
    double values[SFU__SPACE_PARAMETERS];
    const bool named = is_named(space, net);
    for (int i = 0; i < space->count; i++) {
        values[i] = sfu__domain_end(&space->items[i].range, 0);
    }
    for (int i = 0; i < space->count; i++) {
        const char *name = space->items[i].name;
        if (named && sfu__space_has(space, net, i) && (strcmp(name, "hidden") == 0 || strcmp(name, "k") == 0)) {
            SFU_TRY(check_number(space, source, net, i));
        }
        const int ends = sfu__net_has_variable(space->nets[net], name) ? sfu__domain_ends(&space->items[i].range) : 0;
        for (int end = ends - 1; end >= 0;
             end--) { /* ends at the first endpoint, which stays set for the other parameters */
            values[i] = sfu__domain_end(&space->items[i].range, end);
            SFU_TRY(try_end(space, net, i, values));
        }
    }
    status = try_network(space, net, values, false); /* now with its notes */
done:
    return status;
}

sfu_status sfu__space_check(const sfu__space *space, const sfu__space_source *source) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < space->count; i++) {
        SFU_TRY(check_settings(space, source, i));
    }
    for (int net = 0; net < space->net_count; net++) {
        SFU_TRY(check_network(space, source, net));
    }
done:
    return status;
}
