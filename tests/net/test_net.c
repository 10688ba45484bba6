/* The composition language: parsing, printing, and messages about errors. */
#include "support.h"

#include "net_int.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

static sfu_net *parse(const char *text) {
    sfu_net *net = NULL;
    assert_ok(sfu_net_parse(&net, text, NULL));
    return net;
}

static void assert_text(const char *text, const char *canonical) {
    sfu_net *net = parse(text);
    assert_string_equal(sfu_net_text(net), canonical);
    sfu_net *again = parse(canonical);
    assert_string_equal(sfu_net_text(again), canonical);
    sfu_net_free(again);
    sfu_net_free(net);
}

static void layers_are_what_the_text_says(void **state) {
    (void)state;
    sfu_net *net = parse("smooth^3(norm=row, self=0.5, neighbour=trust, teleport=0.1, act=tanh, learn=self+neighbour)"
                         " | dense 64 relu(bias=no, dropout=0.25) | dense classes | softmax(bias=no)"
                         " | smooth^2(left=0.25, right=1)");
    assert_int_equal(net->count, 5);
    const sfu__layer *s = &net->layers[0];
    assert_int_equal(s->kind, SFU__LAYER_SMOOTH);
    assert_int_equal(s->times, 3);
    assert_int_equal(s->norm, SFU_NORM_ROW);
    assert_false(s->labels || s->exponents);
    assert_true(s->self == 0.5 && s->teleport == 0.1);
    assert_null(s->self_column);
    assert_string_equal(s->neighbour_column, "trust");
    assert_int_equal(s->act, SFU__TANH);
    assert_int_equal(s->learn, SFU__LEARN_SELF | SFU__LEARN_NEIGHBOUR);
    const sfu__layer *d = &net->layers[1];
    assert_int_equal(d->kind, SFU__LAYER_DENSE);
    assert_int_equal(d->width, 64);
    assert_int_equal(d->act, SFU__RELU);
    assert_true(d->linear && !d->bias && d->dropout == 0.25);
    assert_int_equal(net->layers[2].width, 0);
    assert_true(net->layers[2].bias && net->layers[2].dropout < 0 && net->layers[2].act == SFU__IDENTITY);
    assert_int_equal(net->layers[3].kind, SFU__LAYER_SOFTMAX);
    assert_true(net->layers[3].linear && !net->layers[3].bias);
    const sfu__layer *l = &net->layers[4];
    assert_true(l->labels && l->exponents && l->left == 0.25 && l->right == 1 && l->times == 2);
    sfu_net_free(net);
}

static void defaults_depend_on_the_softmax(void **state) {
    (void)state;
    sfu_net *net = parse("smooth | softmax | smooth");
    assert_int_equal(net->layers[0].norm, SFU_NORM_SYM);
    assert_int_equal(net->layers[2].norm, SFU_NORM_SYM_ROW);
    for (int i = 0; i < 3; i += 2) {
        const sfu__layer *s = &net->layers[i];
        assert_true(s->times == 1 && s->self == 1 && s->neighbour == 1 && s->left == 0.5 && s->right == 0.5);
        assert_true(s->teleport == 0 && s->act == SFU__IDENTITY && s->learn == 0 && !s->exponents);
    }
    sfu_net_free(net);
}

static void texts_become_canonical(void **state) {
    (void)state;
    assert_text(" smooth^1|SoftMax ( bias = YES )\n", "smooth | softmax");
    assert_text("smooth(norm=sym) | softmax | smooth(norm=sym+row)", "smooth | softmax | smooth");
    assert_text("smooth(norm=sym+row) | softmax | smooth(norm=Row)",
                "smooth(norm=sym+row) | softmax | smooth(norm=row)");
    assert_text("dense 064 ReLU|softmax", "dense 64 relu | softmax");
    assert_text("smooth(act=relu,self=.50)|softmax", "smooth(self=0.5, act=relu) | softmax");
    assert_text("smooth(self=-0)|softmax", "smooth(self=0) | softmax");
    assert_text("smooth(weighted=NO)|softmax", "smooth(weighted=no) | softmax");
    assert_text("smooth(weighted=yes)|softmax", "smooth | softmax");
    assert_text("smooth(self=1e2, neighbour=1E-7)|softmax", "smooth(self=100, neighbour=1e-7) | softmax");
    assert_text("smooth(self=0.1)|softmax", "smooth(self=0.1) | softmax");
    assert_text("smooth(left=0.5, right=0.5)|softmax", "smooth(left=0.5) | softmax");
    assert_text("smooth(right=0.5)|softmax", "smooth(left=0.5) | softmax");
    assert_text("smooth(right=0)|softmax", "smooth(right=0) | softmax");
    assert_text("smooth(learn=right+left)|softmax", "smooth(learn=left+right) | softmax");
    assert_text("smooth(learn=NO)|softmax(linear=no)", "smooth | softmax(linear=no)");
    assert_text("dense 64 relu | dense classes | smooth^10(teleport=0.1) | softmax(linear=no)",
                "dense 64 relu | dense classes | smooth^10(teleport=0.1) | softmax(linear=no)");
    assert_text("dense 9 relu | softmax(linear=no, dropout=0.5)", "dense 9 relu | softmax(linear=no, dropout=0.5)");
}

static void columns_are_quoted_where_they_must(void **state) {
    (void)state;
    assert_text("smooth(self=\"trust\")|softmax", "smooth(self=trust) | softmax");
    assert_text("smooth(self=\"a b\")|softmax", "smooth(self=\"a b\") | softmax");
    assert_text("smooth(self=\"1\")|softmax", "smooth(self=\"1\") | softmax");
    assert_text("smooth(self=\"NaN\", neighbour=\"$x\")|softmax", "smooth(self=\"NaN\", neighbour=\"$x\") | softmax");
    assert_text("smooth(self=\"a|b\")|softmax", "smooth(self=\"a|b\") | softmax");
    assert_text("smooth(self=gr\xc3\xb6\xc3\x9f"
                "e)|softmax",
                "smooth(self=gr\xc3\xb6\xc3\x9f"
                "e) | softmax");
    sfu_net *net = parse("smooth(self=\"1\")|softmax");
    assert_string_equal(net->layers[0].self_column, "1");
    sfu_net_free(net);
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static void names_are_compositions(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int32_t hidden, k;
        const char *text;
    } cases[] = {
        {"gcn", 64, 2, "smooth | dense 64 relu | smooth | softmax"},
        {"gcn", 64, 1, "smooth | softmax"},
        {"GCN", 16, 3, "smooth | dense 16 relu | smooth | dense 16 relu | smooth | softmax"},
        {"sgcn", 64, 2, "smooth^2 | softmax"},
        {"Sgcn", 64, 1, "smooth | softmax"},
        {"fp+mlp", 32, 2, "smooth^2 | dense 32 relu | softmax"},
        {"sgcn+lp", 64, 2, "smooth | softmax | smooth"},
        {"sgcn+lp", 64, 1, "smooth | softmax"},
        {"SGCN+LP", 64, 5, "smooth^3 | softmax | smooth^2"},
        {"gcn+lp", 64, 2, "smooth | dense 64 relu | softmax | smooth"},
        {"gcn+lp", 8, 3, "smooth | dense 8 relu | smooth | dense 8 relu | softmax | smooth"},
        {"linear+lp", 64, 2, "softmax | smooth^2"},
        {"mlp+lp", 64, 2, "dense 64 relu | softmax | smooth^2"},
        {"mlp", 64, 2, "dense 64 relu | softmax"},
        {"linear", 64, 7, "softmax"},
        {"lpnn", 64, 2, "lpnn"},
        {"  MLP ", 65536, 1000, "dense 65536 relu | softmax"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sfu_net_options options = {.size = sizeof(sfu_net_options), .hidden = cases[i].hidden, .k = cases[i].k};
        sfu_net *net = NULL;
        assert_ok(sfu_net_parse(&net, cases[i].name, &options));
        assert_string_equal(sfu_net_text(net), cases[i].text);
        sfu_net_free(net);
    }
}

static void every_name_is_listed(void **state) {
    (void)state;
    int count = 0;
    for (const char *text = NULL; sfu_net_name(count, &text) != NULL; count++) {
        sfu_net *net = parse(sfu_net_name(count, NULL));
        assert_non_null(text);
        assert_int_equal(net->is_lpnn, strcmp(sfu_net_name(count, NULL), "lpnn") == 0);
        sfu_net_free(net);
    }
    assert_int_equal(count, 10);
    assert_null(sfu_net_name(-1, NULL));
}

static void numbers_of_named_networks_are_checked(void **state) {
    (void)state;
    sfu_net *net = NULL;
    sfu_net_options options = {.size = sizeof(sfu_net_options), .hidden = 64, .k = 0};
    assert_fails(SFU_ERR_ARGUMENT, sfu_net_parse(&net, "gcn", &options),
                 "k is 0; expected a whole number from 1 to 1000");
    options.k = 1001;
    assert_fails(SFU_ERR_ARGUMENT, sfu_net_parse(&net, "gcn", &options), "k is 1001");
    options.k = 129;
    assert_fails(SFU_ERR_ARGUMENT, sfu_net_parse(&net, "gcn", &options), "k is 129, which makes 258 layers of gcn");
    options.k = 2;
    options.hidden = 0;
    assert_fails(SFU_ERR_ARGUMENT, sfu_net_parse(&net, "gcn", &options),
                 "hidden is 0; expected a whole number from 1 to 65536");
    assert_null(net);
    options = (sfu_net_options){.size = sizeof(sfu_net_options), .hidden = 64, .k = 128};
    assert_ok(sfu_net_parse(&net, "gcn", &options));
    assert_int_equal(net->count, 256);
    sfu_net_free(net);
    /* a composition has its own numbers */
    options = (sfu_net_options){.size = sizeof(sfu_net_options)};
    assert_ok(sfu_net_parse(&net, "smooth | softmax", &options));
    sfu_net_free(net);
}

static void lpnn_has_options(void **state) {
    (void)state;
    sfu_net *net = parse("LPNN(f=clamp, input=fx, output=f, mu_g=2, mu_l=3, mu_u=4.5, lambda_l=5, lambda_u=6)");
    assert_true(net->is_lpnn);
    assert_int_equal(net->lpnn.f, SFU__LPNN_CLAMP);
    assert_true(net->lpnn.input_f && !net->lpnn.output_g);
    assert_true(net->lpnn.mu_graph == 2 && net->lpnn.mu_labelled == 3 && net->lpnn.mu_unlabelled == 4.5);
    assert_true(net->lpnn.lambda_labelled == 5 && net->lpnn.lambda_unlabelled == 6);
    assert_int_equal(net->count, 3);
    assert_int_equal(net->layers[0].width, 128);
    assert_int_equal(net->layers[1].width, 64);
    assert_int_equal(net->layers[2].kind, SFU__LAYER_SOFTMAX);
    sfu_net *again = parse(sfu_net_text(net));
    assert_string_equal(sfu_net_text(net), sfu_net_text(again));
    assert_int_equal(again->lpnn.f, SFU__LPNN_CLAMP);
    assert_true(again->lpnn.mu_unlabelled == 4.5);
    sfu_net_free(again);
    sfu_net_free(net);
}

/* ---- round trip of random networks ------------------------------------------------------------------------------- */

static uint64_t below(sfu__random *random, uint64_t bound) { return sfu__random_below(random, bound); }

static bool chance(sfu__random *random, uint64_t of) { return below(random, of) == 0; }

/* A double of any size and any number of digits, often a plain one. */
static double any_number(sfu__random *random) {
    if (chance(random, 2)) {
        return (double)below(random, 40) / 8.0;
    }
    double scale = 1.0;
    for (uint64_t i = below(random, 60); i > 0; i--) {
        scale *= chance(random, 2) ? 0.1 : 7.0;
    }
    return sfu__random_unit(random) * scale;
}

static double any_rate(sfu__random *random) {
    return chance(random, 2) ? (double)below(random, 10) / 10.0 : sfu__random_unit(random);
}

static char *any_column(sfu__random *random) {
    static const char *const names[] = {"trust", "a b",  "1",     "-x",    "nan", "INF", "\xc3\xa9", "$v", "x,y",
                                        "(",     "self", "x|y=z", "0.5e1", ".",   "+",   "a+b",      "no", "^"};
    char *copy = sfu__copy_string(names[below(random, sizeof names / sizeof names[0])]);
    assert_non_null(copy);
    return copy;
}

static sfu__layer any_smooth(sfu__random *random, bool labels) {
    sfu__layer layer = sfu__layer_start(SFU__LAYER_SMOOTH, labels);
    layer.times = chance(random, 2) ? 1 : (int32_t)below(random, 39) + 1;
    layer.learn = chance(random, 3) ? (unsigned)below(random, 16) : 0;
    if (labels) {
        layer.learn &= ~(unsigned)SFU__LEARN_LEFT;
    }
    layer.exponents = chance(random, 3) || (layer.learn & (SFU__LEARN_LEFT | SFU__LEARN_RIGHT)) != 0;
    if (layer.exponents) {
        layer.left = chance(random, 2) ? 0.5 : any_rate(random);
        layer.right = chance(random, 2) ? 0.5 : any_rate(random);
    } else if (chance(random, 2)) {
        layer.norm = labels ? (chance(random, 2) ? SFU_NORM_ROW : SFU_NORM_SYM_ROW) : (sfu_norm)below(random, 5);
    }
    if (chance(random, 3)) {
        layer.self = any_number(random);
    } else if (chance(random, 4)) {
        layer.self_column = any_column(random);
    }
    if (chance(random, 3)) {
        layer.neighbour = any_number(random);
    } else if (chance(random, 4)) {
        layer.neighbour_column = any_column(random);
    }
    layer.teleport = chance(random, 3) ? any_rate(random) : 0;
    layer.act = labels || chance(random, 2) ? SFU__IDENTITY : (sfu__activation)below(random, 6);
    return layer;
}

static sfu__layer any_dense(sfu__random *random) {
    sfu__layer layer = sfu__layer_start(SFU__LAYER_DENSE, false);
    layer.width = chance(random, 5) ? 0 : (int32_t)below(random, 65536) + 1;
    layer.act = (sfu__activation)below(random, 6);
    layer.bias = !chance(random, 3);
    return layer;
}

/* Adds dropout= where a mask is applied: before the first weights, and after an activation since the last. */
static void any_dropout(sfu_net *net, sfu__random *random) {
    bool weights = false;
    bool mask = false;
    for (int i = 0; i < net->count; i++) {
        sfu__layer *layer = &net->layers[i];
        if (layer->kind == SFU__LAYER_SMOOTH) {
            mask = mask || (weights && layer->act != SFU__IDENTITY);
            continue;
        }
        if ((mask || (!weights && layer->linear)) && chance(random, 2)) {
            layer->dropout = any_rate(random);
        }
        weights = weights || layer->linear;
        mask = layer->act != SFU__IDENTITY;
    }
}

static void any_net(sfu_net *net, sfu__layer *layers, sfu__random *random) {
    *net = (sfu_net){.layers = layers};
    for (uint64_t i = below(random, 5); i > 0; i--) {
        layers[net->count++] = chance(random, 2) ? any_smooth(random, false) : any_dense(random);
    }
    layers[net->count] = sfu__layer_start(SFU__LAYER_SOFTMAX, false);
    layers[net->count].linear = !chance(random, 4);
    layers[net->count].bias = layers[net->count].linear && !chance(random, 3);
    net->count++;
    for (uint64_t i = below(random, 3); i > 0; i--) {
        layers[net->count++] = any_smooth(random, true);
    }
    any_dropout(net, random);
}

static bool same_text(const char *a, const char *b) {
    return (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
}

static bool same_layer(const sfu__layer *a, const sfu__layer *b) {
    return a->kind == b->kind && a->times == b->times && a->labels == b->labels && a->norm == b->norm &&
           a->exponents == b->exponents && a->left == b->left && a->right == b->right && a->self == b->self &&
           a->neighbour == b->neighbour && same_text(a->self_column, b->self_column) &&
           same_text(a->neighbour_column, b->neighbour_column) && a->teleport == b->teleport && a->learn == b->learn &&
           a->act == b->act && a->width == b->width && a->linear == b->linear && a->bias == b->bias &&
           a->dropout == b->dropout;
}

/* Every option spelled out, with random case and blanks. */
static void blank(sfu__text *text, sfu__random *random) {
    static const char *const blanks[] = {"", " ", "  ", "\t", "\n"};
    assert_ok(sfu__text_format(text, "%s", blanks[below(random, 5)]));
}

static void word(sfu__text *text, sfu__random *random, const char *bytes) {
    for (; *bytes != '\0'; bytes++) {
        const char c = *bytes >= 'a' && *bytes <= 'z' && chance(random, 3) ? (char)(*bytes - 32) : *bytes;
        assert_ok(sfu__text_add(text, &c, 1));
    }
    blank(text, random);
}

static void option(sfu__text *text, sfu__random *random, bool *first, const char *name) {
    assert_ok(sfu__text_format(text, *first ? "(" : ","));
    *first = false;
    blank(text, random);
    word(text, random, name);
    assert_ok(sfu__text_format(text, "="));
    blank(text, random);
}

static void number(sfu__text *text, double value) { assert_ok(sfu__text_format(text, "%.17g ", value)); }

static void nodes(sfu__text *text, const char *column, double value) {
    if (column != NULL) {
        assert_ok(sfu__text_format(text, "\"%s\" ", column));
    } else {
        number(text, value);
    }
}

static const char *yes(bool is) { return is ? "yes" : "no"; }

static void spell_smooth(sfu__text *text, sfu__random *random, const sfu__layer *layer) {
    bool first = true;
    word(text, random, "smooth");
    assert_ok(sfu__text_format(text, "^ %d", layer->times));
    option(text, random, &first, "act");
    word(text, random, sfu__activation_words[layer->act]);
    option(text, random, &first, "teleport");
    number(text, layer->teleport);
    if (layer->exponents) {
        option(text, random, &first, "right");
        number(text, layer->right);
        option(text, random, &first, "left");
        number(text, layer->left);
    } else {
        option(text, random, &first, "norm");
        word(text, random, sfu__norm_words[layer->norm]);
    }
    option(text, random, &first, "neighbour");
    nodes(text, layer->neighbour_column, layer->neighbour);
    option(text, random, &first, "self");
    nodes(text, layer->self_column, layer->self);
    option(text, random, &first, "learn");
    static const char *const learns[] = {"right", "left", "neighbour", "self"};
    bool any = false;
    for (int i = 0; i < 4; i++) {
        if ((layer->learn >> (3 - i) & 1) != 0) {
            assert_ok(sfu__text_format(text, any ? "+%s" : "%s", learns[i]));
            any = true;
        }
    }
    assert_ok(sfu__text_format(text, any ? ")" : "no)"));
}

static void spell_weights(sfu__text *text, sfu__random *random, const sfu__layer *layer) {
    bool first = true;
    if (layer->kind == SFU__LAYER_DENSE) {
        word(text, random, "dense");
        assert_ok(layer->width > 0 ? sfu__text_format(text, " %d ", layer->width)
                                   : sfu__text_format(text, " classes "));
        word(text, random, sfu__activation_words[layer->act]);
    } else {
        word(text, random, "softmax");
        option(text, random, &first, "linear");
        word(text, random, yes(layer->linear));
    }
    if (layer->linear) {
        option(text, random, &first, "bias");
        word(text, random, yes(layer->bias));
    }
    if (layer->dropout >= 0) {
        option(text, random, &first, "dropout");
        number(text, layer->dropout);
    }
    assert_ok(sfu__text_format(text, first ? "" : ")"));
}

static void spell(sfu__text *text, sfu__random *random, const sfu_net *net) {
    for (int i = 0; i < net->count; i++) {
        blank(text, random);
        (net->layers[i].kind == SFU__LAYER_SMOOTH ? spell_smooth : spell_weights)(text, random, &net->layers[i]);
        blank(text, random);
        assert_ok(sfu__text_format(text, i + 1 < net->count ? "|" : ""));
    }
}

static void assert_same_net(const sfu_net *made, const char *text) {
    sfu_net *net = NULL;
    if (sfu_net_parse(&net, text, NULL) != SFU_OK) {
        print_error("%s\n%s\n", text, sfu_message());
        fail();
        return;
    }
    bool same = net->count == made->count;
    for (int i = 0; i < net->count && same; i++) {
        same = same_layer(&net->layers[i], &made->layers[i]);
    }
    if (!same) {
        print_error("another network: %s\nas %s\n", text, net->text);
        fail();
    }
    sfu_net_free(net);
}

/* The layers of a network, as structs, make the same network. */
static void assert_layers_come_back(const sfu_net *net) {
    sfu_layer layers[8], after;
    sfu_net *again = NULL;
    for (int i = 0; i < net->count; i++) {
        sfu_layer_init(&layers[i], SFU_LAYER_SMOOTH);
        assert_true(sfu_net_layer(&layers[i], net, i));
    }
    sfu_layer_init(&after, SFU_LAYER_SMOOTH);
    assert_false(sfu_net_layer(&after, net, net->count) || sfu_net_layer(&after, net, -1));
    assert_ok(sfu_net_from_layers(&again, layers, net->count));
    assert_string_equal(sfu_net_text(again), sfu_net_text(net));
    sfu_net_free(again);
}

static void random_networks_come_back(void **state) {
    (void)state;
    enum { NETS = 5000 };
    sfu__random random = sfu__random_start(7, 1);
    for (int n = 0; n < NETS; n++) {
        sfu__layer layers[8];
        sfu_net made;
        sfu__text canonical = {0};
        sfu__text spelled = {0};
        any_net(&made, layers, &random);
        assert_ok(sfu__net_print(&canonical, &made));
        assert_same_net(&made, canonical.bytes);
        spell(&spelled, &random, &made);
        assert_same_net(&made, spelled.bytes);
        sfu_net *net = parse(spelled.bytes);
        assert_string_equal(net->text, canonical.bytes); /* one network, one text */
        assert_layers_come_back(net);
        sfu_net_free(net);
        sfu__text_clear(&canonical);
        sfu__text_clear(&spelled);
        for (int i = 0; i < made.count; i++) {
            sfu__layer_clear(&layers[i]);
        }
    }
}

/* ---- from structs ----------------------------------------------------------------------------------------------- */

static void layers_make_networks(void **state) {
    (void)state;
    sfu_layer layers[4];
    sfu_net *net = NULL;
    sfu_layer_init(&layers[0], SFU_LAYER_SMOOTH);
    sfu_layer_init(&layers[1], SFU_LAYER_DENSE);
    sfu_layer_init(&layers[2], SFU_LAYER_SOFTMAX);
    sfu_layer_init(&layers[3], SFU_LAYER_SMOOTH);
    layers[0].times = 2;
    layers[0].self_column = "a b";
    layers[1].width = 16;
    layers[1].act = SFU_ACT_ELU;
    layers[1].dropout = 0.25;
    layers[1].times = 7; /* not a field of dense */
    layers[2].bias = false;
    layers[3].learn = SFU_LEARN_RIGHT;
    assert_ok(sfu_net_from_layers(&net, layers, 4)); /* norm: sym before the softmax, sym+row after it */
    assert_string_equal(sfu_net_text(net), "smooth^2(self=\"a b\") | dense 16 elu(dropout=0.25) | softmax(bias=no) | "
                                           "smooth(learn=right)");
    sfu_net_free(net);
    layers[3].learn = 0;
    assert_ok(sfu_net_from_layers(&net, &layers[1], 3));
    assert_string_equal(sfu_net_text(net), "dense 16 elu(dropout=0.25) | softmax(bias=no) | smooth");
    sfu_net_free(net);
    layers[0].exponents = true;
    layers[2].linear = false;
    layers[1].width = 0;
    assert_ok(sfu_net_from_layers(&net, layers, 3));
    assert_string_equal(sfu_net_text(net), "smooth^2(self=\"a b\", left=0.5) | dense classes elu(dropout=0.25) | "
                                           "softmax(linear=no)");
    sfu_net_free(net);
}

static void layers_are_checked(void **state) {
    (void)state;
    sfu_layer good[2], layers[2];
    sfu_net *net = NULL;
    sfu_layer_init(&good[0], SFU_LAYER_SMOOTH);
    sfu_layer_init(&good[1], SFU_LAYER_SOFTMAX);
#define WITH(change, ...)                                                                                              \
    do {                                                                                                               \
        memcpy(layers, good, sizeof layers);                                                                           \
        change;                                                                                                        \
        assert_fails(SFU_ERR_ARGUMENT, sfu_net_from_layers(&net, layers, 2), __VA_ARGS__);                             \
        assert_null(net);                                                                                              \
    } while (0)
    WITH(layers[0].kind = (sfu_layer_kind)3, "layer 0", "kind is 3");
    WITH(layers[0].act = (sfu_activation)6, "layer 0", "act is 6");
    WITH(layers[0].norm = (sfu_norm)5, "layer 0", "norm is 5");
    WITH(layers[0].learn = 16, "layer 0", "learn is 16");
    WITH(layers[0].self = (double)NAN, "layer 0", "self is nan");
    WITH(layers[1].dropout = (double)INFINITY, "layer 1", "dropout is inf");
    WITH(layers[0].self_column = "a\", teleport=\"0", "layer 0", "a quote");
    WITH(layers[1].size = 0, "sfu_layer", "sfu_layer_init");
#undef WITH
    /* What a composition can say wrong is told as its mistake. */
    memcpy(layers, good, sizeof layers);
    layers[0].times = 0;
    assert_int_equal(sfu_net_from_layers(&net, layers, 2), SFU_ERR_ARGUMENT);
    assert_non_null(strstr(sfu_message(), "\n  smooth^0 | softmax\n"));
    layers[0].times = 1;
    layers[0].teleport = -1;
    assert_int_equal(sfu_net_from_layers(&net, layers, 2), SFU_ERR_ARGUMENT);
    assert_non_null(strstr(sfu_message(), "\n  smooth(teleport=-1) | softmax\n"));
    assert_int_equal(sfu_net_from_layers(&net, good, 1), SFU_ERR_ARGUMENT);
    assert_non_null(strstr(sfu_message(), "there is no softmax"));
    assert_int_equal(sfu_net_from_layers(&net, NULL, 0), SFU_ERR_ARGUMENT);
    assert_non_null(strstr(sfu_message(), "expected a layer"));
    assert_null(net);
}

/* ---- mistakes --------------------------------------------------------------------------------------------------- */

/* Each: the text, the column of the caret, the first line. */
static const struct {
    const char *text;
    int caret;
    const char *line;
} mistakes[] = {
    {"", 0, "expected a layer: smooth, dense or softmax"},
    {"   ", 3, "expected a layer: smooth, dense or softmax"},
    {"smooth || softmax", 8, "expected a layer: smooth, dense or softmax"},
    {"| softmax", 0, "expected a layer: smooth, dense or softmax"},
    {"softmax |", 9, "expected a layer: smooth, dense or softmax"},
    {"smoth | softmax", 0, "unknown layer \"smoth\"; expected smooth"},
    {"dense 9 | sofmax", 10, "unknown layer \"sofmax\"; expected softmax"},
    {"gnc", 0,
     "unknown network \"gnc\"; expected gcn, sgcn, fp+mlp, sgcn+lp, gcn+lp, linear+lp, mlp+lp, mlp, linear, lpnn, or "
     "layers "
     "such as "
     "\"smooth | softmax\""},
    {"attention | softmax", 0, "unknown layer \"attention\"; expected smooth, dense or softmax"},
    {"smooth | gcn", 9, "gcn is the name of a network and cannot be a layer"},
    {"gcn | softmax", 4, "unexpected \"|\"; expected gcn alone, or its composition"},
    {"gcn(norm=row)", 3, "unexpected \"(\"; expected gcn alone, or its composition"},
    {"smooth(nrm=row) | softmax", 7,
     "unknown option \"nrm\"; smooth has norm, self, neighbour, left, right, weighted, teleport, act and learn"},
    {"dense 3 (act=relu) | softmax", 9, "unknown option \"act\"; dense has bias and dropout"},
    {"softmax(norm=row)", 8, "unknown option \"norm\"; softmax has linear, bias and dropout"},
    {"dense 64 rleu | softmax", 9, "unknown activation \"rleu\"; expected relu"},
    {"dense 64 gelu | softmax", 9, "unknown activation \"gelu\"; expected relu"},
    {"dense 64 maxout | softmax", 9,
     "unknown activation \"maxout\"; expected identity, relu, tanh, sigmoid, elu or leaky_relu"},
    {"dense 64 relu tanh | softmax", 14, "unexpected \"tanh\"; expected | and a layer, or the end"},
    {"dense | softmax", 6, "the width of dense is missing; expected a whole number from 1 to 65536"},
    {"dense relu | softmax", 6, "the width of dense is missing; expected, for example, dense 64 relu"},
    {"dense 0 | softmax", 6, "the width of dense is \"0\"; expected a whole number from 1 to 65536"},
    {"dense -3 | softmax", 6, "the width of dense is \"-3\"; expected a whole number from 1 to 65536"},
    {"dense 65537 | softmax", 6, "the width of dense is \"65537\"; expected a whole number from 1 to 65536"},
    {"dense 6.5 | softmax", 6, "the width of dense is \"6.5\"; expected a whole number from 1 to 65536"},
    {"dense 99999999999999999999 | softmax", 6,
     "the width of dense is \"99999999999999999999\"; expected a whole number from 1 to 65536"},
    {"smooth^0 | softmax", 7, "the number of smoothing steps is \"0\"; expected a whole number from 1 to 1000"},
    {"smooth^1001 | softmax", 7, "the number of smoothing steps is \"1001\"; expected a whole number from 1 to 1000"},
    {"smooth^ | softmax", 8, "the number of smoothing steps is missing; expected a whole number from 1 to 1000"},
    {"smooth 2 | softmax", 7,
     "unexpected \"2\" after smooth; smooth^2 repeats it, smooth(act=relu) sets an activation"},
    {"softmax 7", 8, "unexpected \"7\" after softmax, which has one column per class and no activation"},
    {"softmax^2", 7, "unexpected \"^\"; expected | and a layer, or the end"},
    {"smooth(norm=row, left=0.3) | softmax", 7, "norm together with left or right; give only one of them"},
    {"smooth(right=0.3, norm=sym) | softmax", 18, "norm together with left or right; give only one of them"},
    {"smooth(norm=rows) | softmax", 12, "norm is \"rows\"; expected sym, row, col, none or sym+row"},
    {"softmax | smooth(norm=sym)", 17,
     "norm=sym does not keep the sum of class probabilities at 1; after the softmax, expected norm=sym+row or "
     "row, or left and right"},
    {"softmax | smooth(norm=col)", 17,
     "norm=col does not keep the sum of class probabilities at 1; after the softmax, expected norm=sym+row or "
     "row, or left and right"},
    {"softmax | smooth^2(self=2, norm=none)", 27,
     "norm=none does not keep the sum of class probabilities at 1; after the softmax, expected norm=sym+row or "
     "row, or left and right"},
    {"softmax | smooth(act=relu)", 17,
     "act=relu after the softmax; class probabilities are smoothed as they are, act=identity"},
    {"softmax | softmax", 10, "a second softmax; a network has only one, followed only by smooth"},
    {"softmax | dense 3", 10, "dense after the softmax; expected smooth"},
    {"smooth", 6, "there is no softmax; add \"| softmax\" here"},
    {"dense 64 relu", 13, "there is no softmax; add \"| softmax\" here"},
    {"smooth(norm=row | softmax", 6, "this bracket is never closed; expected ) after the last option"},
    {"softmax(bias=no", 7, "this bracket is never closed; expected ) after the last option"},
    {"softmax(", 8, "expected an option of softmax: name=value with linear, bias or dropout"},
    {"softmax()", 8, "expected an option of softmax: name=value with linear, bias or dropout"},
    {"softmax(bias=no,)", 16, "expected an option of softmax: name=value with linear, bias or dropout"},
    {"softmax(bias)", 12, "= is missing here; expected bias=value"},
    {"softmax(bias=)", 13, "the value of bias is missing"},
    {"softmax(bias=no dropout=0)", 16, "expected , or ) after an option"},
    {"softmax)", 7, "unexpected \")\"; expected | and a layer, or the end"},
    {"softmax(bias=no) x", 17, "unexpected \"x\"; expected | and a layer, or the end"},
    {"softmax(bias=no)(bias=no)", 16, "unexpected \"(\"; expected | and a layer, or the end"},
    {"smooth(norm=row, NORM=sym) | softmax", 17, "norm is given twice"},
    {"smooth(teleport=1) | softmax", 16, "teleport is \"1\"; expected a number of at least 0 and below 1"},
    {"smooth(teleport=-0.1) | softmax", 16, "teleport is \"-0.1\"; expected a number of at least 0 and below 1"},
    {"softmax(dropout=1)", 16, "dropout is \"1\"; expected a number of at least 0 and below 1"},
    {"softmax(dropout=half)", 16, "dropout is \"half\"; expected a number of at least 0 and below 1"},
    {"smooth(self=-1) | softmax", 12, "self is \"-1\"; expected a number, 0 or more, or the name of a node column"},
    {"smooth(neighbour=-1e-9) | softmax", 17,
     "neighbour is \"-1e-9\"; expected a number, 0 or more, or the name of a node column"},
    {"smooth(self=nan) | softmax", 12, "self is \"nan\"; expected a number, 0 or more, or the name of a node column"},
    {"smooth(self=-inf) | softmax", 12, "self is \"-inf\"; expected a number, 0 or more, or the name of a node column"},
    {"smooth(self=1e999) | softmax", 12,
     "self is \"1e999\"; expected a number, 0 or more, or the name of a node column"},
    {"smooth(self=\"\") | softmax", 12, "self is \"\"; expected a number, 0 or more, or the name of a node column"},
    {"smooth(self=\"a\nb\") | softmax", 12,
     "self is \"a\\x0ab\"; expected a number, 0 or more, or the name of a node column"},
    {"smooth(self=\"trust) | softmax", 12, "this quote is never closed"},
    {"\"smooth\" | softmax", 0, "expected a layer: smooth, dense or softmax"},
    {"smooth(left=-0.5) | softmax", 12, "left is \"-0.5\"; expected a number, 0 or more"},
    {"smooth(left=\"0.5\") | softmax", 12, "left is \"0.5\"; expected a number, 0 or more"},
    {"smooth(learn=) | softmax", 13, "the value of learn is missing"},
    {"smooth(learn=yes) | softmax", 13,
     "learn is \"yes\"; expected no, or one or more of self, neighbour, left and right with + between them, each once"},
    {"smooth(learn=self+self) | softmax", 13,
     "learn is \"self+self\"; expected no, or one or more of self, neighbour, left and right with + between them, each "
     "once"},
    {"smooth(learn=self+) | softmax", 13,
     "learn is \"self+\"; expected no, or one or more of self, neighbour, left and right with + between them, each "
     "once"},
    {"smooth(norm=row, learn=left) | softmax", 7, "norm together with learn=left or learn=right; leave norm out"},
    {"softmax | smooth(learn=self+left)", 17,
     "left cannot be learned after the softmax: rows are scaled to sum to 1, so it cancels"},
    {"smooth(left=1.5, learn=left) | softmax", 7,
     "a learned exponent is limited to [0, 1]; its initial value must be in this range"},
    {"smooth(self=1e39, learn=self) | softmax", 7, "the initial value of a learned self must fit a float"},
    {"dense $hidden relu | softmax", 6, "\"$hidden\" is a variable of tune; write a value here"},
    {"smooth^$k | softmax", 7, "\"$k\" is a variable of tune; write a value here"},
    {"smooth(self=$a) | softmax", 12, "\"$a\" is a variable of tune; write a value here"},
    {"smooth(norm=$n) | softmax", 12, "\"$n\" is a variable of tune; write a value here"},
    {"dense 64 | softmax(dropout=0.5)", 19,
     "there is no dropout mask before this layer: masks are on the input of the first weights, and after them on "
     "the output of activations"},
    {"smooth(act=relu) | softmax(linear=no, dropout=0.5)", 38,
     "there is no dropout mask before this layer: masks are on the input of the first weights, and after them on "
     "the output of activations"},
    {"softmax(linear=no, bias=no)", 19, "bias together with linear=no, which has neither weights nor bias"},
    {"softmax(linear=maybe)", 15, "linear is \"maybe\"; expected no or yes"},
    {"lpnn | softmax", 5, "unexpected \"|\"; expected lpnn alone, or with options as in lpnn(f=clamp)"},
    {"lpnn(f=none)", 7, "f is \"none\"; expected softmax or clamp"},
    {"lpnn(mu_x=1)", 5, "unknown option \"mu_x\"; lpnn has f, input, output, mu_g, mu_l, mu_u, lambda_l and lambda_u"},
    {"lpnn(mu_g=-1)", 10, "mu_g is \"-1\"; expected a number, 0 or more"},
    {"sm\xc3\xb6\xc3\xb6th | softmax", 0, "unknown layer \"sm\xc3\xb6\xc3\xb6th\"; expected smooth, dense or softmax"},
    {"smooth(self=\xc3\xa9\xe2\x82\xac) | x", 18, "unknown layer \"x\"; expected smooth, dense or softmax"},
    {"smooth(self=\xff) | softmax", 12,
     "self is \"\\xff\"; expected a number, 0 or more, or the name of a node column"},
};

/* The lines of a message. */
static void split_message(char lines[3][1024]) {
    const char *message = sfu_message();
    for (int i = 0; i < 3; i++) {
        const size_t size = strcspn(message, "\n");
        snprintf(lines[i], sizeof lines[i], "%.*s", (int)size, message);
        message += size;
        assert_int_equal(*message, i < 2 ? '\n' : '\0');
        message++;
    }
}

static void mistakes_have_their_place(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        char lines[3][1024];
        sfu_net *net = (sfu_net *)&lines;
        const sfu_status status = sfu_net_parse(&net, mistakes[i].text, NULL);
        if (status != SFU_ERR_ARGUMENT) {
            print_error("not refused: %s\n", mistakes[i].text);
        }
        assert_int_equal(status, SFU_ERR_ARGUMENT);
        assert_null(net);
        split_message(lines);
        assert_string_equal(lines[0], mistakes[i].line);
        if ((int)strlen(lines[2]) != mistakes[i].caret + 3) {
            print_error("%s\n", sfu_message());
        }
        assert_int_equal(strlen(lines[2]), mistakes[i].caret + 3);
        assert_string_equal(lines[2] + mistakes[i].caret + 2, "^");
        if (strpbrk(mistakes[i].text, "\n\xff") == NULL) {
            assert_string_equal(lines[1] + 2, mistakes[i].text);
        }
    }
}

/* A long text is shown around the error, with the caret below it. */
static void long_texts_are_cut(void **state) {
    (void)state;
    for (int before = 0; before < 40; before++) {
        sfu__text text = {0};
        for (int i = 0; i < before; i++) {
            assert_ok(sfu__text_format(&text, "smooth(self=\xc3\xa9) | "));
        }
        assert_ok(sfu__text_format(&text, "@here"));
        for (int i = 0; i < 10; i++) {
            assert_ok(sfu__text_format(&text, " | dense 64 relu"));
        }
        sfu_net *net = NULL;
        assert_int_equal(sfu_net_parse(&net, text.bytes, NULL), SFU_ERR_ARGUMENT);
        char lines[3][1024];
        split_message(lines);
        size_t column = strlen(lines[2]) - 1;
        const char *p = lines[1];
        while (column-- > 0) {
            p += sfu__utf8_size(p, strlen(p));
        }
        assert_memory_equal(p, "@here", 5);
        assert_true(strlen(lines[1]) <= 120);
        sfu__text_clear(&text);
    }
}

/* Refused with three lines, the first of which is this. */
static void assert_refused(const char *text, const char *line) {
    sfu_net *net = NULL;
    char lines[3][1024];
    assert_int_equal(sfu_net_parse(&net, text, NULL), SFU_ERR_ARGUMENT);
    assert_null(net);
    split_message(lines);
    assert_string_equal(lines[0], line);
}

static void limits_are_kept(void **state) {
    (void)state;
    char *text = malloc(SFU__NET_BYTES + 2);
    assert_non_null(text);
    memset(text, ' ', SFU__NET_BYTES + 1);
    memcpy(text, "softmax", 7);
    text[SFU__NET_BYTES] = '\0';
    sfu_net *net = parse(text);
    sfu_net_free(net);
    text[SFU__NET_BYTES] = ' ';
    text[SFU__NET_BYTES + 1] = '\0';
    assert_refused(text, "a network of more than 16384 bytes");
    free(text);

    sfu__text layers = {0};
    for (int i = 0; i < 250; i++) { /* 1e15 is shorter than what it is written as */
        assert_ok(sfu__text_format(&layers, "smooth(self=1e15,neighbour=1e15,left=1e15,right=1e15)|"));
    }
    assert_ok(sfu__text_format(&layers, "softmax"));
    assert_refused(layers.bytes, "a network of more than 16384 bytes, once it is written out");
    sfu__text_clear(&layers);
    for (int i = 0; i < 255; i++) {
        assert_ok(sfu__text_format(&layers, "smooth^39|"));
    }
    assert_ok(sfu__text_format(&layers, "softmax"));
    net = parse(layers.bytes);
    assert_int_equal(net->count, 256);
    sfu_net_free(net);
    assert_ok(sfu__text_format(&layers, "|smooth"));
    assert_refused(layers.bytes, "more than 256 layers");
    sfu__text_clear(&layers);
    for (int i = 0; i < 10; i++) {
        assert_ok(sfu__text_format(&layers, "smooth^1000|"));
    }
    assert_ok(sfu__text_format(&layers, "softmax"));
    sfu_net_free(parse(layers.bytes));
    assert_ok(sfu__text_format(&layers, "|smooth"));
    assert_refused(layers.bytes, "more than 10000 smoothing steps in all");
    sfu__text_clear(&layers);
}

static void count_notes(void *user, sfu_log_level level, const char *line) {
    assert_int_equal(level, SFU_LOG_NOTE);
    assert_non_null(strstr(line, "left=0.3"));
    ++*(int *)user;
}

static void left_after_the_softmax_is_a_note(void **state) {
    (void)state;
    int notes = 0;
    sfu_set_log(count_notes, &notes);
    sfu_net_free(parse("smooth(left=0.3) | softmax | smooth(right=0.3)"));
    assert_int_equal(notes, 0);
    sfu_net_free(parse("softmax | smooth(left=0.3)"));
    assert_int_equal(notes, 1);
    sfu_net *kept = NULL;
    assert_ok(sfu__net_read(&kept, "softmax | smooth(left=0.3)", NULL));
    sfu_net_free(kept);
    assert_int_equal(notes, 1);
    sfu_set_log(NULL, NULL);
}

static void count_unused(void *user, sfu_log_level level, const char *line) {
    assert_int_equal(level, SFU_LOG_NOTE);
    assert_non_null(strstr(line, " changes nothing in "));
    ++*(int *)user;
}

static int notes_of(const char *text, int32_t hidden, int32_t k) {
    int notes = 0;
    sfu_net *net = NULL;
    sfu_net_options options;
    sfu_net_options_init(&options);
    options.hidden = hidden;
    options.k = k;
    sfu_set_log(count_unused, &notes);
    assert_ok(sfu_net_parse(&net, text, &options));
    sfu_set_log(NULL, NULL);
    sfu_net_free(net);
    return notes;
}

static void options_without_effect_are_notes(void **state) {
    (void)state;
    assert_int_equal(notes_of("gcn", 32, 3), 0);
    assert_int_equal(notes_of("SGCN", 64, 3), 0);
    assert_int_equal(notes_of("sgcn", 32, 2), 1);
    assert_int_equal(notes_of("gcn", 32, 1), 1); /* one convolution has no hidden layer */
    assert_int_equal(notes_of("mlp", 32, 3), 1);
    assert_int_equal(notes_of("lpnn(f=clamp)", 32, 3), 2);
    assert_int_equal(notes_of("smooth | softmax", 64, 2), 0);
    assert_int_equal(notes_of("smooth | softmax", 32, 3), 2);
}

static sfu_status parse_and_free(void *context) {
    sfu_net *net = NULL;
    const sfu_status status = sfu_net_parse(&net, context, NULL);
    sfu_net_free(net);
    return status;
}

static sfu_status build_and_free(void *context) {
    sfu_net *net = NULL;
    sfu_layer layers[2];
    sfu_layer_init(&layers[0], SFU_LAYER_SMOOTH);
    sfu_layer_init(&layers[1], SFU_LAYER_SOFTMAX);
    layers[0].self_column = layers[0].neighbour_column = context;
    const sfu_status status = sfu_net_from_layers(&net, layers, 2);
    sfu_net_free(net);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char columns[] = "smooth(self=trust, neighbour=\"a b\") | dense 64 relu | softmax";
    char name[] = "gcn+lp";
    char lpnn[] = "lpnn(f=clamp)";
    test_fail_each_allocation(parse_and_free, columns, 1000);
    test_fail_each_allocation(parse_and_free, name, 1000);
    test_fail_each_allocation(parse_and_free, lpnn, 1000);
    test_fail_each_allocation(build_and_free, name, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_what_the_text_says),
        cmocka_unit_test(defaults_depend_on_the_softmax),
        cmocka_unit_test(texts_become_canonical),
        cmocka_unit_test(columns_are_quoted_where_they_must),
        cmocka_unit_test(names_are_compositions),
        cmocka_unit_test(every_name_is_listed),
        cmocka_unit_test(numbers_of_named_networks_are_checked),
        cmocka_unit_test(lpnn_has_options),
        cmocka_unit_test(random_networks_come_back),
        cmocka_unit_test(layers_make_networks),
        cmocka_unit_test(layers_are_checked),
        cmocka_unit_test(mistakes_have_their_place),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(left_after_the_softmax_is_a_note),
        cmocka_unit_test(options_without_effect_are_notes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
