/* net_layers.c - the tables of layers and their options, one row each. */
#include "net_int.h"

#include <stdio.h>
#include <string.h>

/* ---- words ---------------------------------------------------------------------------------------------------- */

const char *const sfu__activation_words[] = {"identity", "relu", "tanh", "sigmoid", "elu", "leaky_relu", NULL};
const char *const sfu__norm_words[] = {"sym", "row", "col", "none", "sym+row", NULL};
static const char *const learn_words[] = {"self", "neighbour", "left", "right", NULL}; /* bit i is word i */
static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const f_words[] = {"softmax", "clamp", NULL};
static const char *const input_words[] = {"x", "fx", NULL};
static const char *const output_words[] = {"f", "g", NULL};

/* ---- options -------------------------------------------------------------------------------------------------- */

enum { SMOOTH = 1 << SFU__LAYER_SMOOTH, DENSE = 1 << SFU__LAYER_DENSE, SOFTMAX = 1 << SFU__LAYER_SOFTMAX };

#define FIELD(name) offsetof(sfu__layer, name)
const sfu__option sfu__layer_options[SFU__LAYER_OPTIONS] = {
    [SFU__OPTION_NORM] = {"norm", SMOOTH, SFU__OPTION_CHOICE, FIELD(norm), 0, sfu__norm_words, false},
    [SFU__OPTION_SELF] = {"self", SMOOTH, SFU__OPTION_NODES, FIELD(self), FIELD(self_column), NULL, false},
    [SFU__OPTION_NEIGHBOUR] = {"neighbour", SMOOTH, SFU__OPTION_NODES, FIELD(neighbour), FIELD(neighbour_column), NULL,
                               false},
    [SFU__OPTION_LEFT] = {"left", SMOOTH, SFU__OPTION_NUMBER, FIELD(left), 0, NULL, false},
    [SFU__OPTION_RIGHT] = {"right", SMOOTH, SFU__OPTION_NUMBER, FIELD(right), 0, NULL, false},
    [SFU__OPTION_WEIGHTED] = {"weighted", SMOOTH, SFU__OPTION_SWITCH, FIELD(weighted), 0, no_yes, false},
    [SFU__OPTION_TELEPORT] = {"teleport", SMOOTH, SFU__OPTION_NUMBER, FIELD(teleport), 0, NULL, true},
    [SFU__OPTION_ACT] = {"act", SMOOTH, SFU__OPTION_CHOICE, FIELD(act), 0, sfu__activation_words, false},
    [SFU__OPTION_LEARNS] = {"learn", SMOOTH, SFU__OPTION_LEARN, FIELD(learn), 0, learn_words, false},
    [SFU__OPTION_LINEAR] = {"linear", SOFTMAX, SFU__OPTION_SWITCH, FIELD(linear), 0, no_yes, false},
    [SFU__OPTION_BIAS] = {"bias", DENSE | SOFTMAX, SFU__OPTION_SWITCH, FIELD(bias), 0, no_yes, false},
    [SFU__OPTION_DROPOUT] = {"dropout", DENSE | SOFTMAX, SFU__OPTION_NUMBER, FIELD(dropout), 0, NULL, true},
};
#undef FIELD

#define FIELD(name) offsetof(sfu__lpnn, name)
const sfu__option sfu__lpnn_options[SFU__LPNN_OPTIONS] = {
    {"f", 1, SFU__OPTION_CHOICE, FIELD(f), 0, f_words, false},
    {"input", 1, SFU__OPTION_SWITCH, FIELD(input_f), 0, input_words, false},
    {"output", 1, SFU__OPTION_SWITCH, FIELD(output_g), 0, output_words, false},
    {"mu_g", 1, SFU__OPTION_NUMBER, FIELD(mu_graph), 0, NULL, false},
    {"mu_l", 1, SFU__OPTION_NUMBER, FIELD(mu_labelled), 0, NULL, false},
    {"mu_u", 1, SFU__OPTION_NUMBER, FIELD(mu_unlabelled), 0, NULL, false},
    {"lambda_l", 1, SFU__OPTION_NUMBER, FIELD(lambda_labelled), 0, NULL, false},
    {"lambda_u", 1, SFU__OPTION_NUMBER, FIELD(lambda_unlabelled), 0, NULL, false},
};
#undef FIELD

/* ---- defaults ------------------------------------------------------------------------------------------------- */

sfu__layer sfu__layer_start(sfu__layer_kind kind, bool labels) {
    const bool weights = kind != SFU__LAYER_SMOOTH;
    return (sfu__layer){.kind = kind,
                        .times = weights ? 0 : 1,
                        .labels = labels,
                        .norm = labels ? SFU_NORM_SYM_ROW : SFU_NORM_SYM,
                        .left = 0.5,
                        .right = 0.5,
                        .self = 1.0,
                        .neighbour = 1.0,
                        .weighted = true,
                        .act = SFU__IDENTITY,
                        .linear = weights,
                        .bias = weights,
                        .dropout = -1.0};
}

void sfu__layer_clear(sfu__layer *layer) {
    sfu__free(layer->self_column);
    sfu__free(layer->neighbour_column);
    layer->self_column = NULL;
    layer->neighbour_column = NULL;
}

/* docs/reference/lpnn.md explains these defaults. */
sfu__lpnn sfu__lpnn_defaults(void) {
    return (sfu__lpnn){.f = SFU__LPNN_SOFTMAX,
                       .input_f = true,
                       .output_g = true,
                       .mu_graph = 1.0,
                       .mu_labelled = 1.0,
                       .mu_unlabelled = 0.02,
                       .lambda_labelled = 0.001,
                       .lambda_unlabelled = 0.003};
}

/* ---- smooth^k --------------------------------------------------------------------------------------------------- */

/* Reads an integer from 1 to `most`; `what` names it in messages. */
static sfu_status read_count(int32_t *count, sfu__reader *reader, const char *what, int32_t most) {
    const sfu__token *token = &reader->token;
    char quoted[SFU__QUOTE_MAX];
    int64_t value = 0;
    if (token->kind != SFU__TOKEN_WORD || !sfu__parse_int64(&value, token->bytes, token->bytes + token->size) ||
        value < 1 || value > most) {
        return sfu__fail_parse(
            reader->text, token->place, "%s is %s; expected a whole number from 1 to %d", what,
            token->kind == SFU__TOKEN_WORD ? sfu__quote(quoted, token->bytes, token->size) : "missing", most);
    }
    *count = (int32_t)value;
    sfu__reader_step(reader);
    return SFU_OK;
}

static sfu_status read_smooth(sfu__layer *layer, sfu__reader *reader) {
    if (reader->token.kind == SFU__TOKEN_WORD) {
        char quoted[SFU__QUOTE_MAX];
        return sfu__fail_parse(reader->text, reader->token.place,
                               "unexpected %s after smooth; smooth^2 repeats it, smooth(act=relu) sets an activation",
                               sfu__quote(quoted, reader->token.bytes, reader->token.size));
    }
    if (reader->token.kind != '^') {
        return SFU_OK;
    }
    sfu__reader_step(reader);
    return read_count(&layer->times, reader, "the number of smoothing steps", SFU__NET_TIMES);
}

static sfu_status print_smooth(sfu__text *text, const sfu__layer *layer) {
    return layer->times == 1 ? sfu__text_format(text, "smooth") : sfu__text_format(text, "smooth^%d", layer->times);
}

/* ---- dense width activation ------------------------------------------------------------------------------------- */

static int find_word(const sfu__token *token, const char *const *words) {
    for (int i = 0; words[i] != NULL; i++) {
        if (sfu__token_is(token, words[i])) {
            return i;
        }
    }
    return -1;
}

static sfu_status read_activation(sfu__layer *layer, sfu__reader *reader) {
    const sfu__token *token = &reader->token;
    if (token->kind != SFU__TOKEN_WORD) {
        return SFU_OK;
    }
    const int found = find_word(token, sfu__activation_words);
    if (found < 0) {
        char quoted[SFU__QUOTE_MAX];
        char list[SFU__LIST_MAX];
        const char *near = sfu__nearest_word(token->bytes, token->size, sfu__activation_words);
        return sfu__fail_parse(reader->text, token->place, "unknown activation %s; expected %s",
                               sfu__quote(quoted, token->bytes, token->size),
                               near != NULL ? near : sfu__list_words(list, sfu__activation_words, " or "));
    }
    layer->act = (sfu__activation)found;
    sfu__reader_step(reader);
    return SFU_OK;
}

static sfu_status read_dense(sfu__layer *layer, sfu__reader *reader) {
    sfu_status status = SFU_OK;
    if (sfu__token_is(&reader->token, "classes")) {
        sfu__reader_step(reader);
    } else if (reader->token.kind == SFU__TOKEN_WORD && find_word(&reader->token, sfu__activation_words) >= 0) {
        return sfu__fail_parse(reader->text, reader->token.place,
                               "the width of dense is missing; expected, for example, dense 64 %.*s",
                               (int)reader->token.size, reader->token.bytes);
    } else {
        status = read_count(&layer->width, reader, "the width of dense", SFU__NET_WIDTH);
    }
    return status != SFU_OK ? status : read_activation(layer, reader);
}

static sfu_status print_dense(sfu__text *text, const sfu__layer *layer) {
    sfu_status status =
        layer->width == 0 ? sfu__text_format(text, "dense classes") : sfu__text_format(text, "dense %d", layer->width);
    if (status == SFU_OK && layer->act != SFU__IDENTITY) {
        status = sfu__text_format(text, " %s", sfu__activation_words[layer->act]);
    }
    return status;
}

/* ---- softmax ---------------------------------------------------------------------------------------------------- */

static sfu_status read_softmax(sfu__layer *layer, sfu__reader *reader) {
    (void)layer;
    if (reader->token.kind == SFU__TOKEN_WORD) {
        char quoted[SFU__QUOTE_MAX];
        return sfu__fail_parse(reader->text, reader->token.place,
                               "unexpected %s after softmax, which has one column per class and no activation",
                               sfu__quote(quoted, reader->token.bytes, reader->token.size));
    }
    return SFU_OK;
}

static sfu_status print_softmax(sfu__text *text, const sfu__layer *layer) {
    (void)layer;
    return sfu__text_format(text, "softmax");
}

/* ---- the layers ------------------------------------------------------------------------------------------------- */

const sfu__layer_row sfu__layer_rows[SFU__LAYER_KINDS] = {
    [SFU__LAYER_SMOOTH] = {"smooth", read_smooth, print_smooth},
    [SFU__LAYER_DENSE] = {"dense", read_dense, print_dense},
    [SFU__LAYER_SOFTMAX] = {"softmax", read_softmax, print_softmax},
};
