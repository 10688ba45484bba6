/* net_from_layers.c - networks out of the layer structs of the public interface, and back.
 *
 * The layers are written as a composition, which is parsed: so that the rules are checked, and told, in one place. What
 * a composition cannot say is refused here.
 */
#include "net_int.h"
#include "sized_struct.h"

#include <math.h>
#include <string.h>

_Static_assert((int)SFU_LAYER_SMOOTH == (int)SFU__LAYER_SMOOTH && (int)SFU_LAYER_DENSE == (int)SFU__LAYER_DENSE &&
                   (int)SFU_LAYER_SOFTMAX == (int)SFU__LAYER_SOFTMAX,
               "kinds have the same numbers");
_Static_assert((int)SFU_ACT_IDENTITY == (int)SFU__IDENTITY && (int)SFU_ACT_RELU == (int)SFU__RELU &&
                   (int)SFU_ACT_TANH == (int)SFU__TANH && (int)SFU_ACT_SIGMOID == (int)SFU__SIGMOID &&
                   (int)SFU_ACT_ELU == (int)SFU__ELU && (int)SFU_ACT_LEAKY_RELU == (int)SFU__LEAKY_RELU,
               "activations have the same numbers");
_Static_assert((int)SFU_LEARN_SELF == (int)SFU__LEARN_SELF && (int)SFU_LEARN_NEIGHBOUR == (int)SFU__LEARN_NEIGHBOUR &&
                   (int)SFU_LEARN_LEFT == (int)SFU__LEARN_LEFT && (int)SFU_LEARN_RIGHT == (int)SFU__LEARN_RIGHT,
               "what is learned has the same bits");

/* The fields of a layer that both structs have. */
static sfu_layer show(const sfu__layer *layer) {
    return (sfu_layer){.size = sizeof(sfu_layer),
                       .kind = (sfu_layer_kind)layer->kind,
                       .act = (sfu_activation)layer->act,
                       .times = layer->times,
                       .norm = layer->norm,
                       .self = layer->self,
                       .neighbour = layer->neighbour,
                       .self_column = layer->self_column,
                       .neighbour_column = layer->neighbour_column,
                       .exponents = layer->exponents,
                       .left = layer->left,
                       .right = layer->right,
                       .teleport = layer->teleport,
                       .unweighted = !layer->weighted,
                       .learn = layer->learn,
                       .width = layer->width,
                       .linear = layer->linear,
                       .bias = layer->bias,
                       .dropout = layer->dropout};
}

/* A softmax has weights, smoothing has not; a layer of another kind ignores what it has no use for. */
void sfu_layer_init_sized(sfu_layer *layer, size_t size, sfu_layer_kind kind) {
    const sfu__layer start = sfu__layer_start((sfu__layer_kind)kind, false);
    sfu_layer defaults = show(&start);
    defaults.norm = SFU_NORM_AUTO;
    defaults.times = 1;
    sfu__sized_init(layer, size, &defaults, sizeof defaults);
}

/* The caller's layer in full; `number` is for messages. */
static sfu_status read_layer(sfu_layer *full, const sfu_layer *given, int number) {
    const int norms = SFU_NORM_SYM_ROW, acts = SFU_ACT_LEAKY_RELU;
    const uint32_t learn = SFU_LEARN_SELF | SFU_LEARN_NEIGHBOUR | SFU_LEARN_LEFT | SFU_LEARN_RIGHT;
    sfu_layer_init(full, given->kind);
    const sfu_status status = sfu__sized_read(full, sizeof *full, given, "sfu_layer");
    if (status != SFU_OK) {
        return status;
    }
    const bool smooth = full->kind == SFU_LAYER_SMOOTH;
    const struct {
        const char *field;
        double value;
        bool fine;
    } fields[] = {
        {"kind", full->kind, (int)full->kind >= SFU_LAYER_SMOOTH && (int)full->kind <= SFU_LAYER_SOFTMAX},
        {"act", full->act, (int)full->act >= 0 && (int)full->act <= acts},
        {"norm", full->norm, !smooth || ((int)full->norm >= SFU_NORM_AUTO && (int)full->norm <= norms)},
        {"learn", full->learn, !smooth || (full->learn & ~learn) == 0},
        {"self", full->self, !smooth || isfinite(full->self)},
        {"neighbour", full->neighbour, !smooth || isfinite(full->neighbour)},
        {"left", full->left, !smooth || isfinite(full->left)},
        {"right", full->right, !smooth || isfinite(full->right)},
        {"teleport", full->teleport, !smooth || isfinite(full->teleport)},
        {"dropout", full->dropout, smooth || isfinite(full->dropout)},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (!fields[i].fine) {
            return sfu__fail(SFU_ERR_ARGUMENT, "layer %d: its %s is %g, which no layer can have", number,
                             fields[i].field, fields[i].value);
        }
    }
    return SFU_OK;
}

/* A name in quotes ends at the first of them. */
static sfu_status copy_column(char **to, const char *name, int number) {
    char quoted[SFU__QUOTE_MAX];
    if (name == NULL) {
        return SFU_OK;
    }
    if (strchr(name, '"') != NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "layer %d: a network cannot name the node column %s, which has a quote in it", number,
                         sfu__quote(quoted, name, strlen(name)));
    }
    *to = sfu__copy_string(name);
    return *to != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

/* `labels`: it comes after a softmax. */
static sfu_status convert(sfu__layer *layer, const sfu_layer *given, bool labels, int number) {
    sfu_status status = SFU_OK;
    *layer = sfu__layer_start((sfu__layer_kind)given->kind, labels);
    layer->act = given->kind != SFU_LAYER_SOFTMAX ? (sfu__activation)given->act : SFU__IDENTITY;
    if (given->kind == SFU_LAYER_SMOOTH) {
        layer->times = given->times;
        layer->norm = given->norm == SFU_NORM_AUTO ? layer->norm : given->norm;
        layer->self = given->self;
        layer->neighbour = given->neighbour;
        layer->exponents = given->exponents || (given->learn & (SFU_LEARN_LEFT | SFU_LEARN_RIGHT)) != 0;
        layer->left = layer->exponents ? given->left : layer->left;
        layer->right = layer->exponents ? given->right : layer->right;
        layer->teleport = given->teleport;
        layer->weighted = !given->unweighted;
        layer->learn = given->learn;
        SFU_TRY(copy_column(&layer->self_column, given->self_column, number));
        SFU_TRY(copy_column(&layer->neighbour_column, given->neighbour_column, number));
    } else {
        layer->width = given->kind == SFU_LAYER_DENSE ? given->width : 0;
        layer->linear = given->kind == SFU_LAYER_DENSE || given->linear;
        layer->bias = given->bias && layer->linear;
        layer->dropout = given->dropout < 0.0 ? layer->dropout : given->dropout;
    }
done:
    return status;
}

sfu_status sfu_net_from_layers(sfu_net **net, const sfu_layer *layers, int count) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    bool labels = false;
    *net = NULL;
    for (int i = 0; i < count; i++) { /* the caller's structs are as far apart as it says they are large */
        const char *at = (const char *)layers + (size_t)i * layers->size;
        sfu_layer full;
        sfu__layer layer = {0};
        SFU_TRY(read_layer(&full, (const sfu_layer *)(const void *)at, i));
        status = convert(&layer, &full, labels, i);
        status = status != SFU_OK || i == 0 ? status : sfu__text_format(&text, " | ");
        status = status != SFU_OK ? status : sfu__layer_print(&text, &layer);
        sfu__layer_clear(&layer);
        SFU_TRY(status);
        labels = labels || full.kind == SFU_LAYER_SOFTMAX;
    }
    SFU_TRY(sfu_net_parse(net, text.bytes != NULL ? text.bytes : "", NULL));
done:
    sfu__text_clear(&text);
    return status;
}

bool sfu_net_layer(sfu_layer *layer, const sfu_net *net, int i) {
    if (i < 0 || i >= net->count) {
        return false;
    }
    const sfu_layer full = show(&net->layers[i]);
    sfu__sized_init(layer, layer->size, &full, sizeof full);
    return true;
}
