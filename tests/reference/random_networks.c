#include "random_networks.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NODES = 12, FEATURES = 7, EDGES = 40 };

static bool one_in(sfu__random *random, uint64_t n) { return sfu__random_below(random, n) == 0; }

/* ---- data ------------------------------------------------------------------------------------------------------- */

typedef struct storage {
    int32_t from[EDGES], to[EDGES];
    float weight[EDGES];
    float dense[NODES * FEATURES];
    int64_t indptr[NODES + 1];
    int32_t indices[NODES * FEATURES];
    float values[NODES * FEATURES];
    int32_t labels[NODES];
    float trust[NODES], care[NODES];
} storage;

static void draw_edges(sfu_arrays *arrays, storage *held, sfu__random *random) {
    const uint64_t most = one_in(random, 6) ? 1 : EDGES;
    arrays->edges =
        (int64_t)sfu__random_below(random, most < 3 * (uint64_t)arrays->nodes ? most : 3 * (uint64_t)arrays->nodes);
    for (int64_t i = 0; i < arrays->edges; i++) {
        held->from[i] = (int32_t)sfu__random_below(random, (uint64_t)arrays->nodes);
        held->to[i] = (int32_t)sfu__random_below(random, (uint64_t)arrays->nodes);
        held->weight[i] = (float)(0.2 + 2 * sfu__random_unit(random));
    }
    arrays->edge_from = held->from;
    arrays->edge_to = held->to;
    arrays->edge_weight = one_in(random, 2) ? held->weight : NULL;
}

static void draw_features(sfu_arrays *arrays, storage *held, sfu__random *random) {
    const double density = one_in(random, 4) ? 1 : 0.2 + 0.5 * sfu__random_unit(random);
    int64_t used = 0;
    for (int64_t i = 0; i < arrays->nodes; i++) {
        const bool empty = one_in(random, 6);
        for (int32_t j = 0; j < arrays->features; j++) {
            const float value = (float)(2 * sfu__random_unit(random) - 0.7);
            if (!empty && sfu__random_unit(random) < density && value != 0) {
                held->dense[i * arrays->features + j] = value;
                held->indices[used] = j;
                held->values[used++] = value;
            }
        }
        held->indptr[i + 1] = used;
    }
    if (one_in(random, 2)) {
        arrays->dense = held->dense;
    } else {
        arrays->indptr = held->indptr;
        arrays->indices = held->indices;
        arrays->values = one_in(random, 3) ? NULL : held->values;
    }
}

static void draw_nodes(sfu_arrays *arrays, storage *held, sfu__random *random) {
    static const float numbers[] = {0.0F, 0.25F, 0.5F, 1.0F, 1.0F, 1.75F};
    for (int64_t i = 0; i < arrays->nodes; i++) {
        held->labels[i] =
            one_in(random, 5) ? SFU_NO_LABEL : (int32_t)sfu__random_below(random, (uint64_t)arrays->classes);
        held->trust[i] = numbers[sfu__random_below(random, 6)];
        held->care[i] = numbers[sfu__random_below(random, 6)];
    }
    arrays->labels = held->labels;
}

sfu_dataset *random_dataset(sfu__random *random) {
    storage held;
    memset(&held, 0, sizeof held);
    const float *const columns[] = {held.trust, held.care};
    sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                         .nodes = 1 + (int64_t)sfu__random_below(random, NODES),
                         .features = 1 + (int32_t)sfu__random_below(random, FEATURES),
                         .classes = 1 + (int32_t)sfu__random_below(random, 4),
                         .column_count = 2,
                         .column_names = (const char *const[]){"trust", "care"},
                         .columns = columns};
    sfu_import_options options;
    sfu_dataset *dataset = NULL;
    sfu_import_options_init(&options);
    options.scale = SFU_SCALE_NONE;
    options.directed = one_in(random, 3);
    options.keep_loops = one_in(random, 3);
    options.threads = 1;
    draw_edges(&arrays, &held, random);
    draw_features(&arrays, &held, random);
    draw_nodes(&arrays, &held, random);
    assert_ok(sfu_dataset_from_arrays(&dataset, &arrays, &options));
    assert_ok(sfu_dataset_check(dataset));
    return dataset;
}

/* ---- compositions ----------------------------------------------------------------------------------------------- */

/* The text so far, and the state for the next layer. */
typedef struct writer {
    char *text;
    size_t used;
    sfu__random *random;
    int32_t width, classes;
    bool weights, mask, softmax;
    bool open; /* the brackets of the layer */
} writer;

static void say(writer *to, const char *word) {
    const size_t size = strlen(word);
    assert_true(to->used + size < COMPOSITION_MAX);
    memcpy(to->text + to->used, word, size + 1);
    to->used += size;
}

static void option(writer *to, const char *name, const char *value) {
    say(to, to->open ? ", " : "(");
    to->open = true;
    say(to, name);
    say(to, "=");
    say(to, value);
}

static const char *one_of(writer *to, const char *const *words, uint64_t count) {
    return words[sfu__random_below(to->random, count)];
}

static const char *const activations[] = {"identity", "relu", "tanh", "sigmoid", "elu", "leaky_relu"};
static const char *const amounts[] = {"0", "0.3", "0.5", "1", "1.5", "trust", "care"};
static const char *const parts[] = {"0", "0.25", "0.5", "0.7", "1"};

/* Bits of the learned parameters; writes the option at the end. */
static unsigned draw_learned(writer *to) {
    return one_in(to->random, 4) ? 1 + (unsigned)sfu__random_below(to->random, 15) : 0;
}

static void say_learned(writer *to, unsigned learned) {
    static const char *const names[] = {"self", "neighbour", "left", "right"};
    char list[64] = "";
    for (int i = 0; i < 4; i++) {
        if ((learned >> i & 1U) != 0) {
            strcat(list, list[0] != 0 ? "+" : "");
            strcat(list, names[i]);
        }
    }
    if (learned != 0) {
        option(to, "learn", list);
    }
}

static void say_normalisation(writer *to, unsigned learned) {
    static const char *const norms[] = {"sym+row", "row", "sym", "col", "none"};
    const bool exponents = (learned & (SFU__LEARN_LEFT | SFU__LEARN_RIGHT)) != 0 || one_in(to->random, 3);
    if (!exponents && one_in(to->random, 2)) {
        option(to, "norm", one_of(to, norms, to->softmax ? 2 : 5));
    }
    if (exponents) {
        option(to, "right", one_of(to, parts, 5));
        if (!to->softmax && one_in(to->random, 2)) {
            option(to, "left", one_of(to, parts, 5));
        }
    }
}

static void say_smooth(writer *to) {
    static const char *const times[] = {"", "", "", "^2", "^2", "^3", "^5"};
    const unsigned learned = draw_learned(to) & (to->softmax ? 11U : 15U);
    say(to, "smooth");
    say(to, one_of(to, times, 7));
    to->open = false;
    say_normalisation(to, learned);
    if (one_in(to->random, 3)) {
        option(to, "self", one_of(to, amounts, 7));
    }
    if (one_in(to->random, 4)) {
        option(to, "neighbour", one_of(to, amounts + 1, 6));
    }
    if (one_in(to->random, 4)) {
        option(to, "teleport", one_in(to->random, 2) ? "0.1" : "0.35");
    }
    if (!to->softmax && one_in(to->random, 4)) {
        const char *word = one_of(to, activations, 6);
        to->mask = to->mask || (to->weights && word != activations[0]);
        option(to, "act", word);
    }
    say_learned(to, learned);
    say(to, to->open ? ")" : "");
}

static void say_weights_options(writer *to) {
    if (one_in(to->random, 4)) {
        option(to, "bias", "no");
    }
    if ((to->mask || !to->weights) && one_in(to->random, 4)) {
        option(to, "dropout", one_of(to, (const char *const[]){"0", "0.3", "0.6"}, 3));
    }
    say(to, to->open ? ")" : "");
    to->weights = true;
}

static void say_dense(writer *to) {
    static const char *const widths[] = {"classes", "1", "2", "3", "5", "6", "9"};
    static const int32_t numbers[] = {0, 1, 2, 3, 5, 6, 9};
    const uint64_t which = sfu__random_below(to->random, 7);
    const char *word = one_of(to, activations, 6);
    say(to, "dense ");
    say(to, widths[which]);
    say(to, " ");
    say(to, word);
    to->open = false;
    say_weights_options(to);
    to->width = which == 0 ? to->classes : numbers[which];
    to->mask = word != activations[0];
}

static void say_softmax(writer *to) {
    say(to, "softmax");
    to->open = false;
    if (to->width == to->classes && one_in(to->random, 2)) {
        say(to, "(linear=no)");
    } else {
        say_weights_options(to);
    }
    to->softmax = true;
}

const char *random_composition(char text[COMPOSITION_MAX], sfu__random *random, const sfu_dataset *dataset) {
    writer to = {.text = text, .random = random, .width = dataset->features, .classes = dataset->classes};
    const int before = (int)sfu__random_below(random, 6), after = (int)sfu__random_below(random, 3);
    text[0] = 0;
    for (int i = 0; i < before; i++) {
        if (one_in(random, 2)) {
            say_smooth(&to);
        } else {
            say_dense(&to);
        }
        say(&to, " | ");
    }
    say_softmax(&to);
    for (int i = 0; i < after; i++) {
        say(&to, " | ");
        say_smooth(&to);
    }
    return text;
}

/* ---- parameters and nodes --------------------------------------------------------------------------------------- */

static double draw_parameter(const sfu__parameter *item, sfu__random *random, bool inside) {
    const double unit = sfu__random_unit(random);
    if (strcmp(item->name, "weight") == 0) {
        return 1.5 * sqrt(6.0 / (item->rows + item->cols)) * (2 * unit - 1);
    }
    if (strcmp(item->name, "bias") == 0) {
        return unit - 0.5;
    }
    if (!inside && one_in(random, 5)) {
        return 0;
    }
    return item->high == 1 ? 0.1 + 0.8 * unit : 0.2 + unit;
}

void random_parameters(double *theta, sfu__random *random, const sfu__parameters *parameters, bool inside) {
    memset(theta, 0, sizeof *theta * (size_t)parameters->size);
    for (int p = 0; p < parameters->count; p++) {
        const sfu__parameter *item = &parameters->items[p];
        for (int32_t i = 0; i < item->rows; i++) {
            for (int32_t j = 0; j < item->cols; j++) {
                theta[item->offset + (int64_t)i * item->ld + j] = (double)(float)draw_parameter(item, random, inside);
            }
        }
    }
}

int32_t random_nodes(int32_t *nodes, sfu__random *random, int32_t most) {
    const double share = one_in(random, 3) ? 1 : sfu__random_unit(random);
    int32_t count = 0;
    for (int32_t i = 0; i < most; i++) {
        if (sfu__random_unit(random) < share) {
            nodes[count++] = i;
        }
    }
    if (count == 0) {
        nodes[count++] = (int32_t)sfu__random_below(random, (uint64_t)most);
    }
    return count;
}
