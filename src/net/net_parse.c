/* net_parse.c - parses the composition language into a network.
 *
 *   network := layer ("|" layer)*  |  name  |  "lpnn" [options]
 *   layer   := "smooth" ["^" times] [options]  |  "dense" width [activation] [options]  |  "softmax" [options]
 *   options := "(" name "=" value ("," name "=" value)* ")"
 */
#include "net_int.h"
#include "progress.h"
#include "sized_struct.h"

#include <stdio.h>
#include <string.h>

void sfu_net_options_init_sized(sfu_net_options *options, size_t size) {
    const sfu_net_options defaults = {.size = sizeof defaults, .hidden = 64, .k = 2};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

void sfu_net_free(sfu_net *net) {
    if (net == NULL) {
        return;
    }
    for (int i = 0; i < net->count; i++) {
        sfu__layer_clear(&net->layers[i]);
    }
    sfu__free(net->layers);
    sfu__free(net->text);
    sfu__free(net);
}

const char *sfu_net_text(const sfu_net *net) { return net->text; }

int sfu__net_last_hidden(const sfu_net *net) {
    bool taken = false; /* the layers after this one only smooth it and take the softmax */
    for (int i = net->count - 1; i >= 0; i--) {
        const sfu__layer *layer = &net->layers[i];
        if (layer->kind == SFU__LAYER_DENSE && !taken) {
            return i;
        }
        if (layer->kind != SFU__LAYER_SMOOTH) {
            taken = layer->kind == SFU__LAYER_SOFTMAX && !layer->linear;
        }
    }
    return -1;
}

int32_t sfu__net_embedding_width(const sfu_net *net, int32_t classes) {
    const int layer = sfu__net_last_hidden(net);
    if (layer < 0) {
        return 0;
    }
    return net->layers[layer].width > 0 ? net->layers[layer].width : classes;
}

/* ---- a layer ---------------------------------------------------------------------------------------------------- */

enum { NAMES_SHOWN = 16 };

typedef struct parser {
    sfu__reader reader;
    sfu__chain chain;
    sfu_net *net;
    size_t capacity;
} parser;

/* A single unknown word was meant as the name of a network. */
static sfu_status fail_network_name(const char *text, const sfu__token *token) {
    char quoted[SFU__QUOTE_MAX], list[SFU__LIST_MAX];
    const char *names[NAMES_SHOWN + 1] = {NULL};
    for (int i = 0; i < NAMES_SHOWN && sfu_net_name(i, NULL) != NULL; i++) {
        names[i] = sfu_net_name(i, NULL);
    }
    return sfu__fail_parse(text, token->place,
                           "unknown network %s; expected %s, or layers such as \"smooth | softmax\"",
                           sfu__quote(quoted, token->bytes, token->size), sfu__list_words(list, names, ", "));
}

/* Explains why a token does not name a layer. */
static sfu_status fail_layer_name(const parser *self) {
    static const char *const kinds[] = {"smooth", "dense", "softmax", NULL};
    const sfu__token *token = &self->reader.token;
    const char *text = self->reader.text;
    char quoted[SFU__QUOTE_MAX];
    const sfu__named_net *named = sfu__named_find(token);
    if (named != NULL) {
        return sfu__fail_parse(text, token->place, "%s is the name of a network and cannot be a layer",
                               sfu__named_name(named));
    }
    if (token->kind != SFU__TOKEN_WORD) {
        return sfu__fail_parse(text, token->place, "expected a layer: smooth, dense or softmax");
    }
    const char *near = sfu__nearest_word(token->bytes, token->size, kinds);
    if (near == NULL && token->place == text + strspn(text, " ") && strpbrk(text, "|(") == NULL) {
        return fail_network_name(text, token);
    }
    return sfu__fail_parse(text, token->place, "unknown layer %s; expected %s",
                           sfu__quote(quoted, token->bytes, token->size),
                           near != NULL ? near : "smooth, dense or softmax");
}

static sfu_status find_kind(sfu__layer_kind *kind, const parser *self) {
    for (int i = 0; i < SFU__LAYER_KINDS; i++) {
        if (sfu__token_is(&self->reader.token, sfu__layer_rows[i].name)) {
            *kind = (sfu__layer_kind)i;
            return SFU_OK;
        }
    }
    return fail_layer_name(self);
}

/* Appends a layer with default options. */
static sfu_status add_layer(sfu__layer **layer, parser *self, sfu__layer_kind kind) {
    sfu_net *net = self->net;
    if (net->count == SFU__NET_LAYERS) {
        return sfu__fail_parse(self->reader.text, self->reader.token.place, "more than %d layers", SFU__NET_LAYERS);
    }
    sfu__layer *grown = sfu__grow(net->layers, &self->capacity, (size_t)net->count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    net->layers = grown;
    *layer = &net->layers[net->count++];
    **layer = sfu__layer_start(kind, self->chain.softmax);
    return SFU_OK;
}

static sfu_status read_layer(parser *self) {
    sfu_status status = SFU_OK;
    const char *place = self->reader.token.place;
    sfu__layer_kind kind = SFU__LAYER_SMOOTH;
    sfu__layer *layer = NULL;
    sfu__given given = {{NULL}};
    SFU_TRY(find_kind(&kind, self));
    SFU_TRY(sfu__check_start(&self->chain, kind, place));
    SFU_TRY(add_layer(&layer, self, kind));
    sfu__reader_step(&self->reader);
    SFU_TRY(sfu__layer_rows[kind].read(layer, &self->reader));
    if (self->reader.token.kind == '(') {
        const sfu__option_table table = {sfu__layer_options, SFU__LAYER_OPTIONS, 1U << kind,
                                         sfu__layer_rows[kind].name};
        SFU_TRY(sfu__options_read(layer, &given, &table, &self->reader));
    }
    SFU_TRY(sfu__check_layer(&self->chain, layer, &given, place));
done:
    return status;
}

/* ---- networks --------------------------------------------------------------------------------------------------- */

static sfu_status expect_end(const parser *self, const char *expected) {
    const sfu__token *token = &self->reader.token;
    char quoted[SFU__QUOTE_MAX];
    return token->kind == SFU__TOKEN_END
               ? SFU_OK
               : sfu__fail_parse(self->reader.text, token->place, "unexpected %s; expected %s",
                                 sfu__quote(quoted, token->place, token->size > 0 ? token->size : 1), expected);
}

static sfu_status read_layers(parser *self) {
    sfu_status status = read_layer(self);
    while (status == SFU_OK && self->reader.token.kind == '|') {
        sfu__reader_step(&self->reader);
        status = read_layer(self);
    }
    if (status == SFU_OK) {
        status = expect_end(self, "| and a layer, or the end");
    }
    if (status == SFU_OK && !self->chain.softmax) {
        status =
            sfu__fail_parse(self->reader.text, self->reader.token.place, "there is no softmax; add \"| softmax\" here");
    }
    return status;
}

/* g of lpnn is a fixed MLP; the options in brackets are those of the objective. */
static sfu_status read_lpnn(parser *self) {
    sfu_status status = SFU_OK;
    sfu__given given = {{NULL}};
    const sfu__option_table table = {sfu__lpnn_options, SFU__LPNN_OPTIONS, 1, "lpnn"};
    parser g = {.reader = sfu__reader_start("dense 128 relu | dense 64 relu | softmax"), .net = self->net};
    g.chain.text = g.reader.text;
    self->net->is_lpnn = true;
    self->net->lpnn = sfu__lpnn_defaults();
    sfu__reader_step(&self->reader);
    if (self->reader.token.kind == '(') {
        SFU_TRY(sfu__options_read(&self->net->lpnn, &given, &table, &self->reader));
    }
    SFU_TRY(expect_end(self, "lpnn alone, or with options as in lpnn(f=clamp)"));
    SFU_TRY(read_layers(&g));
done:
    return status;
}

static sfu_status check_range(const char *name, int32_t value, int32_t most) {
    return value >= 1 && value <= most
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT, "%s is %d; expected a whole number from 1 to %d", name, value, most);
}

static sfu_status read_named(parser *self, const sfu__named_net *named, const sfu_net_options *options) {
    sfu_status status = SFU_OK;
    sfu__text composition = {0};
    parser inner = {.net = self->net};
    char expected[160];
    sfu__reader_step(&self->reader);
    if (sfu__named_layers(named, options->k) > SFU__NET_LAYERS) {
        return sfu__fail(SFU_ERR_ARGUMENT, "k is %d, which makes %d layers of %s; a network has at most %d", options->k,
                         sfu__named_layers(named, options->k), sfu__named_name(named), SFU__NET_LAYERS);
    }
    SFU_TRY(sfu__named_print(&composition, named, options));
    snprintf(expected, sizeof expected, "%s alone, or its composition", sfu__named_name(named));
    SFU_TRY(expect_end(self, expected));
    inner.reader = sfu__reader_start(composition.bytes);
    inner.chain.text = composition.bytes;
    SFU_TRY(read_layers(&inner));
done:
    sfu__text_clear(&composition);
    return status;
}

static sfu_status read_net(parser *self, const sfu_net_options *options) {
    sfu_status status = SFU_OK;
    const sfu__named_net *named = sfu__named_find(&self->reader.token);
    if (named == NULL) {
        return read_layers(self);
    }
    if (sfu__named_is_lpnn(named)) {
        return read_lpnn(self);
    }
    SFU_TRY(check_range("hidden", options->hidden, SFU__NET_WIDTH));
    SFU_TRY(check_range("k", options->k, SFU__NET_TIMES));
    status = read_named(self, named, options);
done:
    return status;
}

/* $names must be replaced by values before a network is parsed. */
static sfu_status reject_variables(const char *text) {
    sfu__variable variable;
    char quoted[SFU__QUOTE_MAX];
    return !sfu__variable_next(&variable, text)
               ? SFU_OK
               : sfu__fail_parse(text, variable.place, "%s is a variable of tune; write a value here",
                                 sfu__quote(quoted, variable.place, variable.size + 1));
}

static sfu_status parse(sfu_net **net, const char *text, const sfu_net_options *options, bool quiet) {
    sfu_status status = SFU_OK;
    sfu__text canonical = {0};
    parser self = {0};
    sfu_net_options defaults;
    sfu_net_options_init(&defaults);
    *net = NULL;
    if (strlen(text) > SFU__NET_BYTES) {
        return sfu__fail_parse(text, text + SFU__NET_BYTES, "a network of more than %d bytes", SFU__NET_BYTES);
    }
    SFU_TRY(reject_variables(text));
    SFU_ALLOC_ZERO(self.net, 1);
    self.reader = sfu__reader_start(text);
    self.chain.text = text;
    self.chain.quiet = quiet;
    SFU_TRY(read_net(&self, options != NULL ? options : &defaults));
    SFU_TRY(sfu__net_print(&canonical, self.net));
    if (canonical.size > SFU__NET_BYTES) { /* otherwise it could not be parsed again */
        status = sfu__fail_parse(text, text + strlen(text), "a network of more than %d bytes, once it is written out",
                                 SFU__NET_BYTES);
        goto done;
    }
    self.net->text = canonical.bytes;
    canonical = (sfu__text){0};
    *net = self.net;
    self.net = NULL;
done:
    sfu__text_clear(&canonical);
    sfu_net_free(self.net);
    return status;
}

/* An option of named networks that differs from its default, and that this network does not have. */
static void note_unused(const char *option, int32_t value, int32_t usual, bool has, const char *name) {
    if (value != usual && !has) {
        sfu__log(SFU_LOG_NOTE, "%s=%d changes nothing in %s", option, value,
                 name != NULL ? name : "a network that is written as layers");
    }
}

static void note_options(const char *text, const sfu_net_options *options) {
    sfu_net_options usual;
    sfu__net_given given = {0};
    sfu_net_options_init(&usual);
    (void)sfu__net_named(&given, text, options->k);
    note_unused("hidden", options->hidden, usual.hidden, given.hidden, given.name);
    note_unused("k", options->k, usual.k, given.k, given.name);
}

sfu_status sfu_net_parse(sfu_net **net, const char *text, const sfu_net_options *given) {
    sfu_status status = SFU_OK;
    sfu_net_options options;
    *net = NULL;
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_net_options));
    SFU_TRY(parse(net, text, &options, false));
    note_options(text, &options);
done:
    return status;
}

sfu_status sfu__net_read(sfu_net **net, const char *text, const sfu_net_options *options) {
    return parse(net, text, options, true);
}
