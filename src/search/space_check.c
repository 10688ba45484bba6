/* space_check.c - a space is tried before it is used: every setting and every network with the ends of its ranges, one
 * parameter after the other at each of its ends and the others at their first.
 */
#include "space_int.h"
#include "train.h"

#include <math.h>
#include <string.h>

/* ---- settings of a training ------------------------------------------------------------------------------------- */

/* A float range is open where it must be, a learning rate above 0, a dropout below 1: what lies next to its end counts
 * where the end itself will not do. */
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
    for (int end = 0; end < sfu__domain_ends(&item->range); end++) {
        const double number = sfu__domain_number(&item->range, sfu__domain_end(&item->range, end));
        double inside = number;
        if (sfu__setting_check(item->name, number) == SFU_OK ||
            (next_inside(&inside, &item->range) && sfu__setting_check(item->name, inside) == SFU_OK)) {
            continue;
        }
        (void)!sfu__setting_check(item->name, number);
        return sfu__mistake(source->text, source->places[i], "%s", sfu_message());
    }
    return SFU_OK;
}

/* ---- numbers of named networks ---------------------------------------------------------------------------------- */

/* hidden and k are whole numbers there; how large they may be the parser says. */
static sfu_status check_whole(const sfu__space *space, const sfu__space_source *source, int i) {
    const sfu__domain *range = &space->items[i].range;
    bool whole = range->kind != SFU__RANGE_FLOAT;
    for (int end = 0; end < sfu__domain_ends(range) && whole; end++) {
        const double number = sfu__domain_number(range, sfu__domain_end(range, end));
        whole = number >= 0.0 && number <= (double)INT32_MAX && number == floor(number);
    }
    return whole ? SFU_OK
                 : sfu__mistake(
                       source->text, source->places[i], "%s is a whole number; %s would be right", space->items[i].name,
                       strcmp(space->items[i].name, "k") == 0 ? "k=[1..4]" : "hidden=[8..128] or hidden={16,64}");
}

static bool is_number_of_names(const sfu__space *space, int net, int i) {
    sfu__net_given given;
    const char *name = space->items[i].name;
    return sfu__space_has(space, net, i) && (strcmp(name, "hidden") == 0 || strcmp(name, "k") == 0) &&
           sfu__net_named(&given, space->nets[net], space->net_options.k);
}

/* ---- networks --------------------------------------------------------------------------------------------------- */

static sfu_status try_network(const sfu__space *space, int net, const double *values, bool quiet) {
    sfu_net *made = NULL;
    const sfu_status status = sfu__space_network(&made, space, net, values, quiet);
    sfu_net_free(made);
    return status;
}

/* The $name in the network; false: there is none. */
static bool find_variable(sfu__variable *variable, const sfu__space *space, int net, int i) {
    const char *name = space->items[i].name;
    for (const char *p = space->nets[net]; sfu__variable_next(variable, p); p = variable->name + variable->size) {
        if (variable->size == strlen(name) && memcmp(variable->name, name, variable->size) == 0) {
            return true;
        }
    }
    return false;
}

/* What the parser said of a value, at the place of its $name or of its range. */
static sfu_status refuse_value(const sfu__space *space, const sfu__space_source *source, int net, int i, double value) {
    sfu_status status = SFU_OK;
    sfu__text shown = {0};
    char quoted[SFU__QUOTE_MAX];
    sfu__variable variable;
    if (!find_variable(&variable, space, net, i)) {
        return source->places[i] == NULL ? SFU_ERR_ARGUMENT
                                         : sfu__mistake(source->text, source->places[i], "%s", sfu_message());
    }
    SFU_TRY(sfu__domain_print_value(&shown, &space->items[i].range, value, true));
    status =
        sfu__mistake(space->nets[net], variable.place, "with %s=%s: %.*s", space->items[i].name,
                     sfu__quote(quoted, shown.bytes, shown.size), (int)strcspn(sfu_message(), "\n"), sfu_message());
done:
    sfu__text_clear(&shown);
    return status;
}

/* A network with parameter i at one of its ends. */
static sfu_status check_end(const sfu__space *space, const sfu__space_source *source, int net, int i, double *values) {
    const double end = values[i];
    sfu_status status = try_network(space, net, values, true);
    if (status == SFU_ERR_ARGUMENT && next_inside(&values[i], &space->items[i].range)) {
        status = try_network(space, net, values, true);
    }
    if (status == SFU_ERR_ARGUMENT) {
        values[i] = end;
        status = try_network(space, net, values, true);
        status = status == SFU_ERR_ARGUMENT ? refuse_value(space, source, net, i, end) : status;
    }
    return status;
}

static sfu_status check_network(const sfu__space *space, const sfu__space_source *source, int net) {
    sfu_status status = SFU_OK;
    double values[SFU__SPACE_PARAMETERS];
    sfu__variable variable;
    for (int i = 0; i < space->count; i++) {
        values[i] = sfu__domain_end(&space->items[i].range, 0);
    }
    for (int i = 0; i < space->count; i++) {
        const sfu__domain *range = &space->items[i].range;
        const bool shapes = find_variable(&variable, space, net, i) || is_number_of_names(space, net, i);
        for (int end = sfu__domain_ends(range) - 1; end >= 0 && shapes; end--) { /* the first is left for the others */
            values[i] = sfu__domain_end(range, end);
            SFU_TRY(check_end(space, source, net, i, values));
        }
    }
    status = try_network(space, net, values, false); /* with its notes */
done:
    return status;
}

sfu_status sfu__space_check(const sfu__space *space, const sfu__space_source *source) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < space->count; i++) {
        SFU_TRY(check_settings(space, source, i));
        for (int net = 0; net < space->net_count; net++) {
            if (is_number_of_names(space, net, i)) {
                SFU_TRY(check_whole(space, source, i));
            }
        }
    }
    for (int net = 0; net < space->net_count; net++) {
        SFU_TRY(check_network(space, source, net));
    }
done:
    return status;
}
