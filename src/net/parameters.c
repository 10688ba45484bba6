/* parameters.c - the parameters of a network: shapes, layout in one array, and initial values. */
#include "net.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ALIGNMENT = 16 }; /* floats: each parameter starts at a multiple of 64 bytes */

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

static const struct {
    unsigned bit;
    const char *name;
    float high;
} learned[] = {{SFU__LEARN_SELF, "self", INFINITY},
               {SFU__LEARN_NEIGHBOUR, "neighbour", INFINITY},
               {SFU__LEARN_LEFT, "left", 1.0F},
               {SFU__LEARN_RIGHT, "right", 1.0F}};
enum { LEARNED = sizeof learned / sizeof learned[0] };

static void add(sfu__parameters *parameters, int layer, const char *name, int32_t rows, int32_t cols) {
    const int32_t ld = sfu__ld(cols);
    parameters->items[parameters->count++] = (sfu__parameter){.layer = layer,
                                                              .name = name,
                                                              .rows = rows,
                                                              .cols = cols,
                                                              .ld = ld,
                                                              .offset = parameters->size,
                                                              .decays = true,
                                                              .low = -INFINITY,
                                                              .high = INFINITY};
    parameters->size += ((int64_t)rows * ld + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static sfu__parameter *last(const sfu__parameters *parameters) { return &parameters->items[parameters->count - 1]; }

static const char *column_of(const sfu__layer *layer, unsigned bit) {
    return bit == SFU__LEARN_SELF ? layer->self_column : bit == SFU__LEARN_NEIGHBOUR ? layer->neighbour_column : NULL;
}

const char *sfu__layer_learns_nodes(const sfu__layer *layer) {
    for (int i = 0; i < LEARNED; i++) {
        if ((layer->learn & learned[i].bit) != 0 && column_of(layer, learned[i].bit) != NULL) {
            return learned[i].name;
        }
    }
    return NULL;
}

static void add_learned(sfu__parameters *parameters, const sfu__layer *layer, int number, int32_t nodes) {
    for (int i = 0; i < LEARNED; i++) {
        if ((layer->learn & learned[i].bit) != 0) {
            add(parameters, number, learned[i].name, 1, column_of(layer, learned[i].bit) != NULL ? nodes : 1);
            last(parameters)->decays = false;
            last(parameters)->low = 0.0F;
            last(parameters)->high = learned[i].high;
        }
    }
}

static sfu_status check_sizes(int32_t features, int32_t classes, int32_t nodes) {
    const int32_t most = INT32_MAX - ALIGNMENT; /* so that the size of a padded row does not overflow */
    return features >= 0 && classes >= 1 && nodes >= 0 && features <= most - classes && nodes <= most
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT, "%d features, %d classes and %d nodes are not supported", features,
                           classes, nodes);
}

/* Adds the parameters of one layer; *width is its input width, then its output width. */
static sfu_status add_layer(sfu__parameters *parameters, const sfu_net *net, int i, int32_t *width, int32_t classes,
                            int32_t nodes) {
    const sfu__layer *layer = &net->layers[i];
    const int32_t out = layer->width > 0 ? layer->width : classes;
    if (layer->kind == SFU__LAYER_SMOOTH) {
        add_learned(parameters, layer, i, nodes);
        return SFU_OK;
    }
    if (!layer->linear && *width != classes) {
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "softmax(linear=no) has %d input columns for %d classes; put dense classes before "
                         "it",
                         *width, classes);
    }
    if (layer->linear) {
        add(parameters, i, "weight", *width, out);
    }
    if (layer->bias) {
        add(parameters, i, "bias", 1, out);
    }
    *width = out;
    return SFU_OK;
}

sfu_status sfu__parameters_make(sfu__parameters *parameters, const sfu_net *net, int32_t features, int32_t classes,
                                int32_t nodes) {
    sfu_status status = SFU_OK;
    int32_t width = features;
    SFU_TRY(check_sizes(features, classes, nodes));
    SFU_ALLOC_ZERO(parameters->items, (size_t)net->count * LEARNED + 1);
    width += net->is_lpnn && net->lpnn.input_f ? classes : 0;
    for (int i = 0; i < net->count; i++) {
        SFU_TRY(add_layer(parameters, net, i, &width, classes, nodes));
    }
    if (net->is_lpnn && nodes > 0) {
        add(parameters, -1, "f", nodes, classes);
        last(parameters)->decays = false;
    }
done:
    return status;
}

void sfu__parameters_clear(sfu__parameters *parameters) {
    sfu__free(parameters->items);
    *parameters = (sfu__parameters){0};
}

const char *sfu__parameter_name(char name[SFU__PARAMETER_NAME_MAX], const sfu__parameter *parameter) {
    if (parameter->layer < 0) {
        snprintf(name, SFU__PARAMETER_NAME_MAX, "%s", parameter->name);
    } else {
        snprintf(name, SFU__PARAMETER_NAME_MAX, "layer.%d.%s", parameter->layer, parameter->name);
    }
    return name;
}

const sfu__parameter *sfu__parameter_of(const sfu__parameters *parameters, int layer, const char *name) {
    for (int i = 0; i < parameters->count; i++) {
        if (parameters->items[i].layer == layer && strcmp(parameters->items[i].name, name) == 0) {
            return &parameters->items[i];
        }
    }
    return NULL;
}

/* ---- initial values --------------------------------------------------------------------------------------------- */

/* Glorot-uniform initialization: (2u - 1) sqrt(6 / (rows + cols)) with u = the top 24 bits of the random number at
 * position row * cols + col, a multiple of 2^-24; computed in double and rounded to float once. */
static void start_weight(float *theta, const sfu__parameter *parameter, uint64_t seed) {
    enum { PIECE = 256 };
    const double bound = sqrt(6.0 / ((double)parameter->rows + (double)parameter->cols));
    const uint64_t stream = sfu__stream_of(SFU__STREAM_WEIGHTS, (uint32_t)parameter->layer);
    uint64_t bits[PIECE];
    uint64_t position = 0;
    for (int32_t row = 0; row < parameter->rows; row++) {
        float *w = theta + parameter->offset + (int64_t)row * parameter->ld;
        for (int32_t col = 0; col < parameter->cols; col++, position++) {
            if (position % PIECE == 0) {
                sfu__random_fill(bits, seed, stream, position, PIECE);
            }
            const double unit = (double)(bits[position % PIECE] >> 40) * 0x1p-24;
            w[col] = (float)((2.0 * unit - 1.0) * bound);
        }
    }
}

static double start_of(const sfu__layer *layer, const char *name) {
    return strcmp(name, "self") == 0        ? layer->self
           : strcmp(name, "neighbour") == 0 ? layer->neighbour
           : strcmp(name, "left") == 0      ? layer->left
                                            : layer->right;
}

static void start_learned(float *theta, const sfu__parameter *parameter, const sfu__layer *layer, const float *column) {
    const unsigned bit = strcmp(parameter->name, "self") == 0        ? SFU__LEARN_SELF
                         : strcmp(parameter->name, "neighbour") == 0 ? SFU__LEARN_NEIGHBOUR
                                                                     : 0;
    if (column_of(layer, bit) == NULL) {
        theta[parameter->offset] = (float)start_of(layer, parameter->name);
    } else if (column != NULL) {
        memcpy(theta + parameter->offset, column, (size_t)parameter->cols * sizeof *theta);
    }
}

void sfu__parameters_start(float *theta, const sfu__parameters *parameters, const sfu_net *net,
                           const float *const *columns, uint64_t seed) {
    memset(theta, 0, (size_t)parameters->size * sizeof *theta);
    for (int i = 0; i < parameters->count; i++) {
        const sfu__parameter *parameter = &parameters->items[i];
        if (strcmp(parameter->name, "weight") == 0) {
            start_weight(theta, parameter, seed);
        } else if (parameter->layer >= 0 && net->layers[parameter->layer].kind == SFU__LAYER_SMOOTH) {
            start_learned(theta, parameter, &net->layers[parameter->layer], columns != NULL ? columns[i] : NULL);
        }
    }
}

bool sfu__parameters_need_labels(const sfu_net *net) { return net->is_lpnn; }
