/* candidate.c - from the values of a trial to its network and hyperparameters: $names are substituted as text, the rest
 * are options.
 *
 * Text, because a $name is not confined to a field of a layer: a choice may be any part of a composition, as in
 * body={softmax,"smooth | softmax"} for "smooth | $body", and k of a named network changes the number of its layers.
 */
#include "space_int.h"
#include "train.h"

#include <string.h>

/* Index of a parameter that the network uses; -1: it does not use it. Fails if the value is out of range. */
static sfu_status find_value(int *found, const sfu__space *space, int net, const double *values, const char *name) {
    const int i = sfu__space_find(space, name);
    *found = i >= 0 && sfu__space_has(space, net, i) ? i : -1;
    return *found < 0 || sfu__domain_holds(&space->items[i].range, values[i])
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT, "%s is %g, which is not in its range", name, values[i]);
}

/* ---- the network ------------------------------------------------------------------------------------------------ */

static sfu_status substitute(sfu__text *filled, const sfu__space *space, int net, const double *values) {
    sfu_status status = SFU_OK;
    char name[SFU__SPACE_NAME + 1];
    const char *p = space->nets[net];
    sfu__variable variable;
    while (sfu__variable_next(&variable, p)) {
        int i = 0;
        memcpy(name, variable.name, variable.size);
        name[variable.size] = '\0';
        SFU_TRY(find_value(&i, space, net, values, name));
        SFU_TRY(sfu__text_add(filled, p, (size_t)(variable.place - p)));
        SFU_TRY(sfu__domain_print_value(filled, &space->items[i].range, values[i], true));
        p = variable.name + variable.size;
    }
    SFU_TRY(sfu__text_format(filled, "%s", p));
done:
    return status;
}

/* Sets *number if the parameter is searched. */
static sfu_status set_if_searched(double *number, const sfu__space *space, int net, const double *values,
                                  const char *name) {
    int i = 0;
    const sfu_status status = find_value(&i, space, net, values, name);
    if (status == SFU_OK && i >= 0) {
        *number = sfu__domain_number(&space->items[i].range, values[i]);
    }
    return status;
}

sfu_status sfu__space_network(sfu_net **made, const sfu__space *space, int net, const double *values, bool quiet) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    sfu__net_given given;
    sfu_net_options options = space->net_options;
    double hidden = (double)options.hidden;
    double k = (double)options.k;
    *made = NULL;
    if (sfu__net_named(&given, space->nets[net], options.k)) {
        SFU_TRY(set_if_searched(&hidden, space, net, values, "hidden"));
        SFU_TRY(set_if_searched(&k, space, net, values, "k"));
    }
    options.hidden = (int32_t)hidden;
    options.k = (int32_t)k;
    SFU_TRY(substitute(&text, space, net, values));
    SFU_TRY(quiet ? sfu__net_read(made, text.bytes, &options) : sfu_net_parse(made, text.bytes, &options));
done:
    sfu__text_clear(&text);
    return status;
}

/* ---- the candidate ----------------------------------------------------------------------------------------------- */

void sfu__candidate_clear(sfu__candidate *candidate) {
    sfu_net_free(candidate->net);
    *candidate = (sfu__candidate){0};
}

sfu_status sfu__candidate_make(sfu__candidate *candidate, const sfu__space *space, const double *values,
                               const sfu_train_options *usual) {
    sfu_status status = SFU_OK;
    sfu_train_options options = *usual;
    const int net = sfu__space_net(space, values);
    if (net < 0) {
        return sfu__fail(SFU_ERR_ARGUMENT, "net is %g, which is not in its range", values[0]);
    }
    SFU_TRY(set_if_searched(&options.lr, space, net, values, "lr"));
    SFU_TRY(set_if_searched(&options.weight_decay, space, net, values, "weight_decay"));
    SFU_TRY(set_if_searched(&options.dropout, space, net, values, "dropout"));
    SFU_TRY(sfu__train_options_check(&options));
    SFU_TRY(sfu__space_network(&candidate->net, space, net, values, true));
    candidate->lr = options.lr;
    candidate->weight_decay = options.weight_decay;
    candidate->dropout = options.dropout;
done:
    return status;
}
