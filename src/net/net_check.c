/* net_check.c - checks the sequence of the layers of a network and the combination of their options.
 *
 *   1. There is one softmax, followed only by smoothing of class probabilities, whose rows must keep the sum 1:
 *      norm=sym+row or row, or exponents; without an activation.
 *   2. Either norm or exponents; a learned exponent counts as one. After the softmax `left` cancels.
 *   3. Dropout masks are applied to the input of the first weights, and after them to every activation other than
 *      identity. dropout= sets the rate of the masks between the previous weights and its layer; it is an error if
 * there is none.
 */
#include "net_int.h"
#include "progress.h"

#include <float.h>

static sfu_status fail_second_softmax(const sfu__chain *chain, const char *place) {
    return sfu__fail_parse(chain->text, place, "a second softmax; a network has only one, followed only by smooth");
}

sfu_status sfu__check_start(const sfu__chain *chain, sfu__layer_kind kind, const char *place) {
    if (!chain->softmax || kind == SFU__LAYER_SMOOTH) {
        return SFU_OK;
    }
    return kind == SFU__LAYER_SOFTMAX ? fail_second_softmax(chain, place)
                                      : sfu__fail_parse(chain->text, place, "dense after the softmax; expected smooth");
}

/* ---- smooth ----------------------------------------------------------------------------------------------------- */

enum { EXPONENTS = SFU__LEARN_LEFT | SFU__LEARN_RIGHT };

static sfu_status check_exponents(const sfu__chain *chain, sfu__layer *layer, const sfu__given *given) {
    const char *const *at = given->at;
    const bool learned = (layer->learn & EXPONENTS) != 0;
    layer->exponents = at[SFU__OPTION_LEFT] != NULL || at[SFU__OPTION_RIGHT] != NULL || learned;
    if (layer->exponents && at[SFU__OPTION_NORM] != NULL) {
        return learned ? sfu__fail_parse(chain->text, at[SFU__OPTION_NORM],
                                         "norm together with learn=left or learn=right; leave norm out")
                       : sfu__fail_parse(chain->text, at[SFU__OPTION_NORM],
                                         "norm together with left or right; give only one of them");
    }
    if (learned && (layer->left > 1.0 || layer->right > 1.0)) {
        const int row = layer->left > 1.0 ? SFU__OPTION_LEFT : SFU__OPTION_RIGHT;
        return sfu__fail_parse(chain->text, at[row],
                               "a learned exponent is limited to [0, 1]; its initial value must be in this range");
    }
    return SFU_OK;
}

static sfu_status check_labels(const sfu__chain *chain, const sfu__layer *layer, const sfu__given *given) {
    const char *const *at = given->at;
    if (!layer->exponents && layer->norm != SFU_NORM_ROW && layer->norm != SFU_NORM_SYM_ROW) {
        return sfu__fail_parse(chain->text, at[SFU__OPTION_NORM],
                               "norm=%s does not keep the sum of class probabilities at 1; after the softmax, expected "
                               "norm=sym+row or row, or left and right",
                               sfu__norm_words[layer->norm]);
    }
    if (layer->act != SFU__IDENTITY) {
        return sfu__fail_parse(chain->text, at[SFU__OPTION_ACT],
                               "act=%s after the softmax; class probabilities are smoothed as they are, act=identity",
                               sfu__activation_words[layer->act]);
    }
    if ((layer->learn & SFU__LEARN_LEFT) != 0) {
        return sfu__fail_parse(chain->text, at[SFU__OPTION_LEARNS],
                               "left cannot be learned after the softmax: rows are scaled to sum to 1, so it cancels");
    }
    if (at[SFU__OPTION_LEFT] != NULL && !chain->quiet) {
        sfu__log(SFU_LOG_NOTE, "left=%g after the softmax changes nothing: rows are scaled to sum to 1", layer->left);
    }
    return SFU_OK;
}

/* Learned parameters are stored as floats, so their initial values must fit. */
static sfu_status check_learned(const sfu__chain *chain, const sfu__layer *layer, const sfu__given *given) {
    const bool self = (layer->learn & SFU__LEARN_SELF) != 0 && layer->self > FLT_MAX;
    const bool neighbour = (layer->learn & SFU__LEARN_NEIGHBOUR) != 0 && layer->neighbour > FLT_MAX;
    if (!self && !neighbour) {
        return SFU_OK;
    }
    const int row = self ? SFU__OPTION_SELF : SFU__OPTION_NEIGHBOUR;
    return sfu__fail_parse(chain->text, given->at[row], "the initial value of a learned %s must fit a float",
                           sfu__layer_options[row].name);
}

static sfu_status check_smooth(sfu__chain *chain, sfu__layer *layer, const sfu__given *given, const char *place) {
    sfu_status status = check_exponents(chain, layer, given);
    status = status != SFU_OK ? status : check_learned(chain, layer, given);
    if (status != SFU_OK) {
        return status;
    }
    chain->steps += layer->times;
    if (chain->steps > SFU__NET_STEPS) {
        return sfu__fail_parse(chain->text, place, "more than %d smoothing steps in all", SFU__NET_STEPS);
    }
    chain->mask = chain->mask || (chain->weights && layer->act != SFU__IDENTITY);
    return layer->labels ? check_labels(chain, layer, given) : SFU_OK;
}

/* ---- dense and softmax ------------------------------------------------------------------------------------------ */

sfu_status sfu__check_layer(sfu__chain *chain, sfu__layer *layer, const sfu__given *given, const char *place) {
    if (layer->kind == SFU__LAYER_SMOOTH) {
        return check_smooth(chain, layer, given, place);
    }
    if (!layer->linear && given->at[SFU__OPTION_BIAS] != NULL) {
        return sfu__fail_parse(chain->text, given->at[SFU__OPTION_BIAS],
                               "bias together with linear=no, which has neither weights nor bias");
    }
    layer->bias = layer->bias && layer->linear;
    const bool masked = chain->mask || (layer->linear && !chain->weights);
    if (!masked && given->at[SFU__OPTION_DROPOUT] != NULL) {
        return sfu__fail_parse(
            chain->text, given->at[SFU__OPTION_DROPOUT],
            "there is no dropout mask before this layer: masks are on the input of the first weights, and after "
            "them on the output of activations");
    }
    chain->softmax = layer->kind == SFU__LAYER_SOFTMAX;
    chain->weights = chain->weights || layer->linear;
    chain->mask = layer->act != SFU__IDENTITY;
    return SFU_OK;
}
