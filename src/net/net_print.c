/* net_print.c - prints a network as its canonical text. */
#include "net_int.h"

sfu_status sfu__layer_options_print(sfu__text *text, const sfu__layer *layer, unsigned only) {
    const sfu__layer defaults = sfu__layer_start(layer->kind, layer->labels);
    const sfu__option_table table = {sfu__layer_options, SFU__LAYER_OPTIONS, 1U << layer->kind, NULL};
    unsigned shown = 0;
    unsigned hidden = ~only;
    const bool implied = layer->left != defaults.left || layer->right != defaults.right ||
                         (layer->learn & (SFU__LEARN_LEFT | SFU__LEARN_RIGHT)) != 0;
    if (layer->exponents) {
        hidden |= 1U << SFU__OPTION_NORM;
        shown |= implied ? 0U : 1U << SFU__OPTION_LEFT; /* otherwise nothing would show that there are exponents */
    }
    if (!layer->linear) {
        hidden |= 1U << SFU__OPTION_BIAS;
    }
    return sfu__options_print(text, layer, &defaults, &table, shown, hidden);
}

sfu_status sfu__layer_print(sfu__text *text, const sfu__layer *layer) {
    const sfu_status status = sfu__layer_rows[layer->kind].print(text, layer);
    return status != SFU_OK ? status : sfu__layer_options_print(text, layer, ~0U);
}

static sfu_status print_lpnn(sfu__text *text, const sfu_net *net) {
    const sfu_status status = sfu__text_format(text, "lpnn");
    return status != SFU_OK ? status : sfu__lpnn_options_print(text, &net->lpnn, ~0U);
}

sfu_status sfu__lpnn_options_print(sfu__text *text, const sfu__lpnn *lpnn, unsigned only) {
    const sfu__lpnn defaults = sfu__lpnn_defaults();
    const sfu__option_table table = {sfu__lpnn_options, SFU__LPNN_OPTIONS, 1, NULL};
    return sfu__options_print(text, lpnn, &defaults, &table, 0, ~only);
}

sfu_status sfu__net_print(sfu__text *text, const sfu_net *net) {
    sfu_status status = SFU_OK;
    if (net->is_lpnn) {
        return print_lpnn(text, net);
    }
    for (int i = 0; i < net->count; i++) {
        if (i > 0) {
            SFU_TRY(sfu__text_format(text, " | "));
        }
        SFU_TRY(sfu__layer_print(text, &net->layers[i]));
    }
done:
    return status;
}
