/* Search spaces: parsing, printing, which network uses which parameter, and messages about errors. */
#include "support.h"

#include "random.h"
#include "space_int.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static sfu__space *space_of(const char *text, const char *net) {
    sfu__space *space = NULL;
    assert_ok(sfu__space_new(&space, text, net, NULL));
    return space;
}

static const sfu__domain *range_of(const sfu__space *space, const char *name) {
    const int i = sfu__space_find(space, name);
    assert_true(i >= 0);
    return &space->items[i].range;
}

static void assert_canonical(const char *text, const char *net, const char *canonical) {
    sfu__space *space = space_of(text, net);
    assert_string_equal(space->text, canonical);
    sfu__space *again = space_of(canonical, net);
    assert_string_equal(again->text, canonical);
    sfu__space_free(again);
    sfu__space_free(space);
}

/* Refused with a message of three lines, the first of which begins so. */
static void assert_refused(const char *text, const char *net, const char *begin) {
    sfu__space *space = NULL;
    assert_int_equal(sfu__space_new(&space, text, net, NULL), SFU_ERR_ARGUMENT);
    assert_null(space);
    const char *message = sfu_message();
    if (strncmp(message, begin, strlen(begin)) != 0) {
        print_error("%s\n", message);
    }
    assert_int_equal(strncmp(message, begin, strlen(begin)), 0);
    assert_string_equal(strrchr(message, '^'), "^");
    assert_true(strchr(message, '\n') != strrchr(message, '\n'));
}

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

static void ranges_are_what_the_text_says(void **state) {
    (void)state;
    sfu__space *space = space_of("lr=log(1e-4,.1) weight_decay=(0,2.5) dropout=( 0 , 0.75 : 0.25 )\tk=[1..9:3]\n"
                                 "hidden=log[8..128]",
                                 "gcn");
    const sfu__domain *lr = range_of(space, "lr");
    assert_true(lr->kind == SFU__RANGE_FLOAT && lr->low == 1e-4 && lr->high == 0.1 && lr->log && lr->step == 0.0);
    const sfu__domain *decay = range_of(space, "weight_decay");
    assert_true(decay->kind == SFU__RANGE_FLOAT && decay->low == 0.0 && decay->high == 2.5 && !decay->log);
    const sfu__domain *dropout = range_of(space, "dropout");
    assert_true(dropout->kind == SFU__RANGE_FLOAT && dropout->step == 0.25 && dropout->high == 0.75);
    const sfu__domain *k = range_of(space, "k");
    assert_true(k->kind == SFU__RANGE_INT && k->low == 1.0 && k->high == 7.0 && k->step == 3.0 && !k->log);
    const sfu__domain *hidden = range_of(space, "hidden");
    assert_true(hidden->kind == SFU__RANGE_INT && hidden->log && hidden->step == 1.0 && hidden->high == 128.0);
    assert_int_equal(space->count, 5);
    assert_string_equal(space->items[0].name, "lr"); /* in the order of the text */
    assert_string_equal(space->items[4].name, "hidden");
    assert_int_equal(sfu__space_find(space, "net"), -1);
    assert_false(space->paper);
    sfu__space_free(space);
}

static void choices_are_numbers_or_words(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_number;
        double number;
    } wanted[] = {{"8", true, 8},
                  {"16", true, 16},
                  {"100.0", true, 100},
                  {"64.0", true, 64},
                  {"7", false, 0},
                  {"-3", true, -3},
                  {"fp+mlp", false, 0},
                  {"a, b", false, 0},
                  {"9007199254740992", true, 0x1p53},
                  {"9007199254740994.0", true, 0x1p53 + 2}};
    const char *text = "x={8, 016,1e2,64.00,\"7\",-3 ,fp+mlp,'a, b',9007199254740992,9007199254740994}";
    sfu__range_list list = {0};
    assert_ok(sfu__list_read(&list, text, text, false));
    const sfu__domain *range = &list.items[0].range;
    assert_int_equal(range->kind, SFU__RANGE_CHOICE);
    assert_int_equal(range->count, 10);
    assert_true(range->low == 0.0 && range->high == 9.0);
    for (int i = 0; i < range->count; i++) {
        assert_string_equal(range->choices[i].text, wanted[i].text);
        assert_int_equal(range->choices[i].is_number, wanted[i].is_number);
        assert_true(range->choices[i].number == wanted[i].number);
    }
    sfu__list_clear(&list);
}

static void a_step_that_does_not_fit_ends_early(void **state) {
    (void)state;
    assert_canonical("k=[0..10:3] lr=(0.1,1)", "dense 9 | smooth(self=$k) | softmax", "k=[0..9:3] lr=(0.1,1)");
    assert_canonical("lr=(0.1,1:0.25)", "gcn", "lr=(0.1,0.85:0.25)");
    assert_canonical("dropout=(0,0.95:0.1)", "gcn", "dropout=(0,0.9:0.1)");
    assert_canonical("dropout=(0,0.7:0.1)", "gcn", "dropout=(0,0.7:0.1)");
    assert_canonical("lr=(0.3,0.9:0.3)", "gcn", "lr=(0.3,0.9:0.3)");
    assert_canonical("k=[2..3:9]", "gcn", "k=[2..2:9]");
}

static void texts_become_canonical(void **state) {
    (void)state;
    assert_canonical("lr = ( 0,1.0 )", "gcn", "lr=(0,1)");
    assert_canonical("weight_decay=(-0,1e2)", "gcn", "weight_decay=(0,100)");
    assert_canonical("weight_decay=log(1E-05,.1)", "gcn", "weight_decay=log(1e-5,0.1)");
    assert_canonical("k=[ 1 .. 4 ]", "gcn", "k=[1..4]");
    assert_canonical("k=[1..4:1]", "gcn", "k=[1..4]");
    assert_canonical("k=log[1..4] ", "gcn", "k=log[1..4]");
    assert_canonical("hidden={ 8 ,016}", "gcn", "hidden={8,16}");
    assert_canonical("lr={.1,1e-05,1e15,1e16,1.0}", "gcn", "lr={0.1,1e-5,1000000000000000.0,1e16,1.0}");
    assert_canonical("lr=(0.5,0.5)", "gcn", "lr=(0.5,0.5)");
    assert_canonical("a={relu,\"tanh\",'elu'}", "dense 8 $a | softmax", "a={relu,tanh,elu}");
    assert_canonical("a={\"8\"}", "dense $a relu | softmax", "a={\"8\"}");
    assert_canonical("a={'\"x y\"'}", "smooth(self=$a) | softmax", "a={'\"x y\"'}");
    assert_canonical("net={GCN,'smooth | softmax'} lr=(0,1)", "Any", "net={gcn,\"smooth | softmax\"} lr=(0,1)");
    assert_canonical("lr=(0,1) net={ mlp }", "any", "net={mlp} lr=(0,1)");
    assert_canonical("a={\xc3\xa9}", "smooth(self=$a) | softmax", "a={\xc3\xa9}");
}

/* ---- presets ---------------------------------------------------------------------------------------------------- */

static void presets_have_what_the_network_has(void **state) {
    (void)state;
    static const struct {
        const char *text, *net, *canonical;
    } cases[] = {
        {NULL, "gcn", "lr=log(0.003,0.3) dropout=(0,0.8) weight_decay=log(1e-5,0.01) hidden={16,32,64,128}"},
        {"paper", "gcn", "paper lr=(0,1) dropout=(0,1) weight_decay=(0,1) hidden={8,16,32,64,128}"},
        {"paper", "fp+mlp", "paper lr=(0,1) dropout=(0,1) weight_decay=(0,1) hidden={8,16,32,64,128}"},
        {"Paper", "mlp", "paper lr=(0,1) dropout=(0,1) weight_decay=(0,1) hidden={8,16,32,64,128}"},
        {"paper", "sgcn", "paper lr=(0,1) dropout=(0,1) weight_decay=(0,1)"},
        {"paper", "linear", "paper lr=(0,1) dropout=(0,1) weight_decay=(0,1)"},
        {"paper", "linear+lp", "paper lr=(0,1) dropout=(0,1) weight_decay=(0,1)"},
        {"paper", "lpnn",
         "paper lr=(0,1) dropout=(0,1) weight_decay=(0,1) mu_g=(0,1) mu_l=(0,1) mu_u=(0,1) lambda_l=(0,1) "
         "lambda_u=(0,1)"},
        {"paper", "lpnn(f=clamp, mu_l=0.5, mu_u=$u, lambda_l=1, lambda_u=1)", NULL},
        {"paper u=(0,2)", "lpnn(f=clamp, mu_l=0.5, mu_u=$u, lambda_l=1, lambda_u=1)",
         "paper lr=(0,1) dropout=(0,1) weight_decay=(0,1) mu_g=(0,1) u=(0,2)"},
        {"paper", "dense $hidden relu | softmax",
         "paper lr=(0,1) dropout=(0,1) weight_decay=(0,1) hidden={8,16,32,64,128}"},
        {"paper k=[1..4] lr=log(0.001,1)", "sgcn", "paper lr=log(0.001,1) dropout=(0,1) weight_decay=(0,1) k=[1..4]"},
        {"practical", "gcn+lp", "lr=log(0.003,0.3) dropout=(0,0.8) weight_decay=log(1e-5,0.01) hidden={16,32,64,128}"},
        {"practical hidden={7}", "mlp+lp", "lr=log(0.003,0.3) dropout=(0,0.8) weight_decay=log(1e-5,0.01) hidden={7}"},
        {"practical", "lpnn",
         "lr=log(0.003,0.3) dropout=(0,0.8) weight_decay=log(1e-5,0.01) mu_g=log(0.001,10) mu_l=log(0.001,10) "
         "mu_u=log(0.001,10) lambda_l=log(0.0001,1) lambda_u=log(0.0001,1)"},
        {NULL, "any",
         "net={gcn,sgcn,fp+mlp,sgcn+lp,gcn+lp,linear+lp,mlp+lp,mlp,linear} lr=log(0.003,0.3) dropout=(0,0.8) "
         "weight_decay=log(1e-5,0.01) hidden={16,32,64,128}"},
        {"lr=(0,1)", "any", "net={gcn,sgcn,fp+mlp,sgcn+lp,gcn+lp,linear+lp,mlp+lp,mlp,linear} lr=(0,1)"},
        {"paper", "any",
         "paper net={gcn,sgcn,fp+mlp,sgcn+lp,gcn+lp,linear+lp,mlp+lp} lr=(0,1) dropout=(0,1) weight_decay=(0,1) "
         "hidden={8,16,32,64,128}"},
        {"practical net={sgcn,lpnn} mu_g=(0,1)", "any",
         "net={sgcn,lpnn} lr=log(0.003,0.3) dropout=(0,0.8) weight_decay=log(1e-5,0.01) mu_g=(0,1) mu_l=log(0.001,10) "
         "mu_u=log(0.001,10) lambda_l=log(0.0001,1) lambda_u=log(0.0001,1)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].canonical == NULL) {
            assert_refused(cases[i].text, cases[i].net, "\"$u\" has no range");
            continue;
        }
        assert_canonical(cases[i].text, cases[i].net, cases[i].canonical);
        sfu__space *space = space_of(cases[i].text, cases[i].net);
        assert_int_equal(space->paper, strncmp(cases[i].canonical, "paper", 5) == 0);
        sfu__space_free(space);
    }
}

/* With one convolution less, a gcn has no hidden layer. */
static void hidden_depends_on_k(void **state) {
    (void)state;
    sfu__space *space = NULL;
    sfu_net_options one = {.size = sizeof(sfu_net_options), .hidden = 64, .k = 1};
    assert_ok(sfu__space_new(&space, "paper", "gcn", &one));
    assert_int_equal(sfu__space_find(space, "hidden"), -1);
    sfu__space_free(space);
    assert_ok(sfu__space_new(&space, "paper k=[1..2]", "gcn", &one));
    assert_true(sfu__space_find(space, "hidden") > 0);
    sfu__space_free(space);
    assert_ok(sfu__space_new(&space, "paper k={1}", "gcn", NULL));
    assert_int_equal(sfu__space_find(space, "hidden"), -1);
    sfu__space_free(space);
    assert_ok(sfu__space_new(&space, "paper", "gcn+lp", &one));
    assert_true(sfu__space_find(space, "hidden") > 0);
    sfu__space_free(space);
}

/* ---- networks and groups ---------------------------------------------------------------------------------------- */

static void networks_have_their_parameters(void **state) {
    (void)state;
    sfu__space *space = space_of("paper net={gcn,sgcn,lpnn,\"dense $h relu|softmax\"} k=[1..3] h={2,3}", "any");
    /* net lr dropout weight_decay hidden mu_g mu_l mu_u lambda_l lambda_u k h */
    assert_int_equal(space->count, 12);
    static const char *const has[] = {"111110000010", "111100000010", "111101111100", "111100000001"};
    assert_int_equal(space->net_count, 4);
    for (int n = 0; n < 4; n++) {
        for (int i = 0; i < 12; i++) {
            assert_int_equal(sfu__space_has(space, n, i), has[n][i] == '1');
        }
    }
    static const int groups[] = {0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 3, 4};
    for (int i = 0; i < 12; i++) {
        assert_int_equal(space->items[i].group, groups[i]);
    }
    assert_int_equal(space->groups, 5);
    double values[12] = {2.0};
    assert_int_equal(sfu__space_net(space, values), 2);
    values[0] = (double)NAN;
    assert_int_equal(sfu__space_net(space, values), -1);
    values[0] = 4.0;
    assert_int_equal(sfu__space_net(space, values), -1);
    values[0] = 0.5;
    assert_int_equal(sfu__space_net(space, values), -1);
    assert_false(sfu__space_has(space, -1, 0));
    assert_string_equal(space->nets[2],
                        "lpnn(mu_g=$mu_g, mu_l=$mu_l, mu_u=$mu_u, lambda_l=$lambda_l, lambda_u=$lambda_u)");
    sfu__space_free(space);
    space = space_of("paper", "gcn");
    assert_int_equal(space->groups, 1);
    assert_int_equal(sfu__space_net(space, values), 0);
    sfu__space_free(space);
    space = space_of("paper", "any");
    assert_int_equal(space->groups, 2);
    assert_int_equal(space->net_count, 7);
    sfu__space_free(space);
    space = space_of(NULL, "any");
    assert_int_equal(space->groups, 2);
    assert_int_equal(space->net_count, 9);
    sfu__space_free(space);
}

/* ---- candidates ------------------------------------------------------------------------------------------------- */

/* Each: the space, the network, a point, the resulting network, and the three hyperparameters. */
static const struct {
    const char *text, *net, *point, *made;
    double lr, weight_decay, dropout;
} candidates[] = {
    {"paper", "gcn", "lr=0.25 dropout=0.125 weight_decay=0.5 hidden=8", "smooth | dense 8 relu | smooth | softmax",
     0.25, 0.5, 0.125},
    {"paper k=[1..9]", "gcn", "lr=1 dropout=0 weight_decay=0 hidden=128 k=1", "smooth | softmax", 1, 0, 0},
    {"k=[1..9]", "sgcn", "k=5", "smooth^5 | softmax", 0.01, 5e-4, 0.5},
    {"k={1,3} hidden=[1..9]", "fp+mlp", "k=3 hidden=2", "smooth^3 | dense 2 relu | softmax", 0.01, 5e-4, 0.5},
    {"k=[1..9]", "SGCN+LP", "k=5", "smooth^3 | softmax | smooth^2", 0.01, 5e-4, 0.5},
    {"k=[1..9]", "gcn+lp", "k=2", "smooth | dense 64 relu | softmax | smooth", 0.01, 5e-4, 0.5},
    {"k=[1..9]", "linear+lp", "k=2", "softmax | smooth^2", 0.01, 5e-4, 0.5},
    {"hidden={8}", " mlp+lp ", "hidden=8", "dense 8 relu | softmax | smooth^2", 0.01, 5e-4, 0.5},
    {"hidden={8}", "mlp", "hidden=8.0", "dense 8 relu | softmax", 0.01, 5e-4, 0.5},
    {"lr={1,0.5}", "linear", "lr=0.5", "softmax", 0.5, 5e-4, 0.5},
    {"mu_g=(0,1)", "lpnn", "mu_g=0.25", "lpnn(mu_g=0.25)", 0.01, 5e-4, 0.5},
    {"mu_g=(0,1) lambda_u={2,3}", "LPNN ( f=clamp )", "mu_g=0.25 lambda_u=3", "lpnn(f=clamp, mu_g=0.25, lambda_u=3)",
     0.01, 5e-4, 0.5},
    {"m=[2..3] mu_u=(0,1)", "lpnn(mu_g=$m)", "m=2 mu_u=0.5", "lpnn(mu_g=2, mu_u=0.5)", 0.01, 5e-4, 0.5},
    {"hidden={8,16} k=[1..3] a=(0,1)", "dense $hidden relu | softmax | smooth^$k(self=$a)", "hidden=16 k=3 a=0.1",
     "dense 16 relu | softmax | smooth^3(self=0.1)", 0.01, 5e-4, 0.5},
    {"act={relu,tanh} norm={row,sym+row}", "smooth(norm=$norm) | dense 8 $act | softmax", "act=tanh norm=sym+row",
     "smooth(norm=sym+row) | dense 8 tanh | softmax", 0.01, 5e-4, 0.5},
    {"a=log(1e-300,1)", "smooth(self=$a,neighbour=\"$a\",act=relu) | softmax", "a=1.5e-17",
     "smooth(self=1.5e-17, neighbour=\"$a\", act=relu) | softmax", 0.01, 5e-4, 0.5},
    {"dropout=(0,1)", "dense 8 relu | softmax(dropout=$dropout)", "dropout=0.3", "dense 8 relu | softmax(dropout=0.3)",
     0.01, 5e-4, 0.3},
    {"col={a,'\"b c\"'}", "smooth(self=$col) | softmax", "col='\"b c\"'", "smooth(self=\"b c\") | softmax", 0.01, 5e-4,
     0.5},
    {"body={softmax,\"smooth | softmax\"}", "smooth(norm=row) | $body", "body=\"smooth | softmax\"",
     "smooth(norm=row) | smooth | softmax", 0.01, 5e-4, 0.5},
    {"net={relu,tanh}", "dense 8 $net | softmax", "net=tanh", "dense 8 tanh | softmax", 0.01, 5e-4, 0.5},
    {"paper", "any", "net=mlp+lp lr=0.5 dropout=0.5 weight_decay=0.5 hidden=16", "dense 16 relu | softmax | smooth^2",
     0.5, 0.5, 0.5},
    {"net={'dense $h relu|softmax',gcn} h=[1..3] hidden={5,6}", "any", "net=\"dense $h relu|softmax\" h=3",
     "dense 3 relu | softmax", 0.01, 5e-4, 0.5},
    {"net={'dense $h relu|softmax',gcn} h=[1..3] hidden={5,6}", "any", "net=gcn hidden=6",
     "smooth | dense 6 relu | smooth | softmax", 0.01, 5e-4, 0.5},
};

static void candidates_are_what_the_values_say(void **state) {
    (void)state;
    sfu_train_options usual;
    sfu_train_options_init(&usual);
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        sfu__space *space = space_of(candidates[i].text, candidates[i].net);
        double values[SFU__SPACE_PARAMETERS];
        sfu__candidate candidate = {0};
        assert_ok(sfu__space_point(values, space, candidates[i].point));
        assert_ok(sfu__candidate_make(&candidate, space, values, &usual));
        assert_string_equal(sfu_net_text(candidate.net), candidates[i].made);
        assert_true(candidate.lr == candidates[i].lr && candidate.weight_decay == candidates[i].weight_decay &&
                    candidate.dropout == candidates[i].dropout);
        sfu__candidate_clear(&candidate);
        assert_null(candidate.net);
        sfu__space_free(space);
    }
}

/* The seven networks of the paper, lpnn, and the two without a graph: as sfu_net_parse makes them with these numbers.
 */
static void every_named_network_is_a_candidate(void **state) {
    (void)state;
    sfu_train_options usual;
    sfu_train_options_init(&usual);
    for (int n = 0; sfu_net_name(n, NULL) != NULL; n++) {
        const char *name = sfu_net_name(n, NULL);
        sfu__space *space = space_of("paper", name);
        const int hidden = sfu__space_find(space, "hidden");
        double values[SFU__SPACE_PARAMETERS] = {0.5, 0.25, 0.125, 0.5, 0.5, 0.5, 0.5, 0.5};
        if (hidden >= 0) {
            values[hidden] = 1.0; /* 16 */
        }
        sfu__candidate candidate = {0};
        assert_ok(sfu__candidate_make(&candidate, space, values, &usual));
        sfu_net *net = NULL;
        assert_ok(sfu_net_parse(
            &net, strcmp(name, "lpnn") == 0 ? "lpnn(mu_g=0.5, mu_l=0.5, mu_u=0.5, lambda_l=0.5, lambda_u=0.5)" : name,
            &(sfu_net_options){.size = sizeof(sfu_net_options), .hidden = 16, .k = 2}));
        assert_string_equal(sfu_net_text(candidate.net), sfu_net_text(net));
        assert_true(candidate.lr == 0.5 && candidate.dropout == 0.25 && candidate.weight_decay == 0.125);
        sfu_net_free(net);
        sfu__candidate_clear(&candidate);
        sfu__space_free(space);
    }
}

static void wrong_values_make_no_candidate(void **state) {
    (void)state;
    sfu_train_options usual;
    sfu_train_options_init(&usual);
    sfu__candidate candidate = {0};
    sfu__space *space = space_of("paper", "any");
    double values[] = {0.0, 0.5, 0.5, 0.5, 1.0};
    assert_ok(sfu__candidate_make(&candidate, space, values, &usual));
    sfu__candidate_clear(&candidate);
    values[0] = 7.0;
    assert_fails(SFU_ERR_ARGUMENT, sfu__candidate_make(&candidate, space, values, &usual), "net is 7");
    values[0] = 0.0;
    values[4] = (double)NAN;
    assert_fails(SFU_ERR_ARGUMENT, sfu__candidate_make(&candidate, space, values, &usual), "hidden is ");
    values[0] = 1.0; /* sgcn does not use it */
    assert_ok(sfu__candidate_make(&candidate, space, values, &usual));
    sfu__candidate_clear(&candidate);
    values[1] = 1.5;
    assert_fails(SFU_ERR_ARGUMENT, sfu__candidate_make(&candidate, space, values, &usual), "lr is 1.5");
    /* the closed ends of the paper's ranges, which a sampler draws once in 2^53: such a trial fails */
    values[1] = 0.0;
    assert_fails(SFU_ERR_ARGUMENT, sfu__candidate_make(&candidate, space, values, &usual), "lr 0: it must be above 0");
    values[1] = DBL_TRUE_MIN;
    values[2] = 1.0;
    assert_fails(SFU_ERR_ARGUMENT, sfu__candidate_make(&candidate, space, values, &usual), "dropout 1: it must be");
    values[2] = 1.0 - DBL_EPSILON / 2;
    assert_ok(sfu__candidate_make(&candidate, space, values, &usual));
    assert_true(candidate.lr == DBL_TRUE_MIN && candidate.dropout == values[2]);
    sfu__candidate_clear(&candidate);
    sfu__space_free(space);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static void distributions_are_as_optuna_writes_them(void **state) {
    (void)state;
    static const struct {
        const char *range, *json;
    } cases[] = {
        {"log(1e-5,0.1)",
         "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": null, \"low\": 1e-05, \"high\": 0.1, \"log\": "
         "true}}"},
        {"(0,1:0.25)",
         "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": 0.25, \"low\": 0.0, \"high\": 1.0, \"log\": "
         "false}}"},
        {"(1e-300,1e16)", "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": null, \"low\": 1e-300, "
                          "\"high\": 1e+16, \"log\": "
                          "false}}"},
        {"(0,123456789012345680)",
         "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": null, \"low\": 0.0, \"high\": "
         "1.2345678901234568e+17, \"log\": false}}"},
        {"[1..10]",
         "{\"name\": \"IntDistribution\", \"attributes\": {\"log\": false, \"step\": 1, \"low\": 1, \"high\": 10}}"},
        {"[0..10:3]",
         "{\"name\": \"IntDistribution\", \"attributes\": {\"log\": false, \"step\": 3, \"low\": 0, \"high\": 9}}"},
        {"log[1..10]",
         "{\"name\": \"IntDistribution\", \"attributes\": {\"log\": true, \"step\": 1, \"low\": 1, \"high\": 10}}"},
        {"{relu,tanh,\"7\",3,0.5,1e2,1e16}",
         "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [\"relu\", \"tanh\", \"7\", 3, 0.5, "
         "100.0, 1e+16]}}"},
        {"{'a \"b\"','\\',\xc3\xa9}",
         "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [\"a \\\"b\\\"\", \"\\\\\", "
         "\"\\u00e9\"]}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sfu__space space = {.count = 1, .items = &(sfu__parameter_range){.name = NULL}};
        sfu__range_list list = {0};
        char line[200];
        sfu__text text = {0};
        snprintf(line, sizeof line, "x=%s", cases[i].range);
        assert_ok(sfu__list_read(&list, line, line, false));
        space.items[0].range = list.items[0].range;
        assert_ok(sfu__space_distribution(&text, &space, 0));
        assert_string_equal(text.bytes, cases[i].json);
        sfu__text_clear(&text);
        sfu__list_clear(&list);
    }
}

/* ---- points ----------------------------------------------------------------------------------------------------- */

static void points_are_read_and_written(void **state) {
    (void)state;
    sfu__space *space =
        space_of("lr=(0,1) k=[1..9:2] hidden={8,16} net={GCN,'smooth | softmax',lpnn} dropout=(0,0.9:0.1)", "any");
    double values[5];
    assert_ok(sfu__space_point(values, space, " hidden = 16\tlr=1e-3  net=gcn k=+3.0"));
    assert_true(values[0] == 0.0 && values[1] == 1e-3 && values[2] == 3.0 && values[3] == 1.0 && isnan(values[4]));
    static const char *const written[] = {"gcn", "0.001", "3", "16"};
    for (int i = 0; i < 4; i++) {
        sfu__text text = {0};
        assert_ok(sfu__space_print(&text, space, i, values[i]));
        assert_string_equal(text.bytes, written[i]);
        sfu__text_clear(&text);
    }
    sfu__text text = {0};
    assert_ok(sfu__space_print(&text, space, 0, 1.0));
    assert_string_equal(text.bytes, "\"smooth | softmax\"");
    assert_fails(SFU_ERR_ARGUMENT, sfu__space_print(&text, space, 0, 3.0), "net is 3");
    assert_fails(SFU_ERR_ARGUMENT, sfu__space_print(&text, space, 0, (double)NAN), "net is ");
    assert_fails(SFU_ERR_ARGUMENT, sfu__space_print(&text, space, 0, 0.5), "net is 0.5");
    assert_fails(SFU_ERR_ARGUMENT, sfu__space_print(&text, space, 2, 4.0), "k is 4");
    sfu__text_clear(&text);
    assert_ok(sfu__space_point(values, space, "dropout=0.30000000000000004"));
    assert_true(values[4] == 0.30000000000000004);
    assert_ok(sfu__space_point(values, space, ""));
    for (int i = 0; i < 5; i++) {
        assert_true(isnan(values[i]));
    }
    sfu__space_free(space);
}

/* The lines of a message. */
static void split_message(char lines[3][1024]) {
    const char *message = sfu_message();
    for (int i = 0; i < 3; i++) {
        const size_t size = strcspn(message, "\n");
        snprintf(lines[i], sizeof lines[i], "%.*s", (int)size, message);
        message += size;
        if (*message != (i < 2 ? '\n' : '\0')) {
            print_error("%s\n", sfu_message());
        }
        assert_int_equal(*message, i < 2 ? '\n' : '\0');
        message++;
    }
}

/* The message has this first line, shows this text, and a caret below `place`. */
static void assert_mistake(const char *line, const char *text, const char *place) {
    char lines[3][1024];
    split_message(lines);
    if (strcmp(lines[0], line) != 0 || strlen(lines[2]) != (size_t)(place - text) + 3) {
        print_error("%s\n", sfu_message());
    }
    assert_string_equal(lines[0], line);
    assert_string_equal(lines[1] + 2, text);
    assert_int_equal(strlen(lines[2]), place - text + 3);
    assert_string_equal(lines[2] + (place - text) + 2, "^");
}

static void wrong_points_have_their_place(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int caret;
        const char *line;
    } cases[] = {
        {"hiden=8", 0, "\"hiden\" is not searched; expected hidden"},
        {"lr=0.1 foo=8", 7, "\"foo\" is not searched; expected net, lr, dropout, k or hidden"},
        {"lr=0.1,k=1", 6, "expected a space and the next name after this value"},
        {"lr 0.1", 3, "= is missing here; expected lr=value"},
        {"lr=", 3, "a value is missing here; expected a number, a word, or a quoted text"},
        {"lr=0.1 lr=0.2", 7, "lr is given twice"},
        {"lr=1.5", 3, "lr is \"1.5\"; expected a value of (0,1)"},
        {"lr=fast", 3, "lr is \"fast\"; expected a value of (0,1)"},
        {"lr=\"0.5\"", 3, "lr is \"0.5\"; expected a value of (0,1)"},
        {"lr=0", 3, "lr 0: it must be above 0 and at most 1e30"},
        {"dropout=1", 8, "dropout 1: it must be at least 0 and below 1"},
        {"k=2", 2, "k is \"2\"; expected a value of [1..9:2]"},
        {"k=1.5", 2, "k is \"1.5\"; expected a value of [1..9:2]"},
        {"hidden=9", 7, "hidden is \"9\"; expected a value of {8,16}"},
        {"net=sgcn", 4, "net is \"sgcn\"; expected a value of {gcn,linear}"},
        {"net='gcn", 4, "this quote is never closed"},
        {"net=linear k=3", 11, "linear does not use k"},
        {"=8", 0, "\"\" is not searched; expected net, lr, dropout, k or hidden"},
        {"8=8", 0, "\"8\" is not searched; expected net, lr, dropout, k or hidden"},
    };
    sfu__space *space = space_of("lr=(0,1) dropout=(0,1) k=[1..9:2] hidden={8,16} net={gcn,linear}", "any");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double values[5];
        assert_int_equal(sfu__space_point(values, space, cases[i].text), SFU_ERR_ARGUMENT);
        assert_mistake(cases[i].line, cases[i].text, cases[i].text + cases[i].caret);
    }
    sfu__space_free(space);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Each: the space, the network, the text shown (NULL: the space), the column of the caret, the first line. */
static const struct {
    const char *text, *net, *shown;
    int caret;
    const char *line;
} mistakes[] = {
    {"", "gcn", NULL, 0, "nothing is searched; expected paper, practical, or ranges such as lr=(0,1) hidden={16,64}"},
    {"papr", "gcn", NULL, 0, "\"papr\" is not a space; expected paper, or ranges such as lr=(0,1) hidden={16,64}"},
    {"everything", "gcn", NULL, 0,
     "\"everything\" is not a space; expected paper, practical, or ranges such as lr=(0,1) hidden={16,64}"},
    {"paper practical", "gcn", NULL, 15, "= is missing here; expected a name and its range, lr=(0,1)"},
    {"lr", "gcn", NULL, 0,
     "\"lr\" is not a space; expected paper, practical, or ranges such as lr=(0,1) hidden={16,64}"},
    {"lr=", "gcn", NULL, 3,
     "\"\" is not a range; expected e.g. (0,1), log(0.001,1), [1..10], [0..100:10] or {8,16,32}"},
    {"lr=0.5", "gcn", NULL, 3,
     "\"0.5\" is not a range; expected e.g. (0,1), log(0.001,1), [1..10], [0..100:10] or {8,16,32}"},
    {"lr=log{1,2}", "gcn", NULL, 3,
     "\"log{1,2}\" is not a range; expected e.g. (0,1), log(0.001,1), [1..10], [0..100:10] or {8,16,32}"},
    {"=(0,1)", "gcn", NULL, 0, "\"=\" is not a name; expected letters, digits and _, as in lr=(0,1)"},
    {"lr=(0,1) 2=(0,1)", "gcn", NULL, 9, "\"2\" is not a name; expected letters, digits and _, as in lr=(0,1)"},
    {"lr=(0,1),k=[1..2]", "gcn", NULL, 8, "expected a space and the next name after this range"},
    {"lr=(0,1) lr=(0,1)", "gcn", NULL, 9, "lr is given twice"},
    {"lr=(0 1)", "gcn", NULL, 6, ", is missing here; expected (0,1)"},
    {"lr=(0,1", "gcn", NULL, 7, ") is missing here; expected (0,1) or (0,1:0.1)"},
    {"lr=(x,1)", "gcn", NULL, 4, "\"x\" is not a number; expected a range such as (0,1)"},
    {"lr=(0,inf)", "gcn", NULL, 6, "\"inf\" is not a number; expected a range such as (0,1)"},
    {"lr=(,1)", "gcn", NULL, 4, "\"\" is not a number; expected a range such as (0,1)"},
    {"lr=(1,0)", "gcn", NULL, 3, "the upper end of this range is below its lower end"},
    {"lr=log(0,1)", "gcn", NULL, 6, "a logarithmic range must begin above 0"},
    {"lr=log(-1,1)", "gcn", NULL, 6, "a logarithmic range must begin above 0"},
    {"weight_decay=(-1e308,1e308)", "gcn", NULL, 13, "this range is too wide"},
    {"lr=(0,1:0)", "gcn", NULL, 8, "a step must be above 0"},
    {"lr=(0,1:1e-9)", "gcn", NULL, 8, "this step is below a millionth of the endpoints; omit it"},
    {"lr=log(1,2:1)", "gcn", NULL, 11, "a logarithmic range cannot have a step"},
    {"k=log[0..9]", "gcn", NULL, 5, "a logarithmic range must begin at 1 or above"},
    {"k=log[1..9:1]", "gcn", NULL, 11, "a logarithmic range cannot have a step"},
    {"k=[1,5]", "gcn", NULL, 4, ".. is missing here; expected [1..10]"},
    {"k=[1..5", "gcn", NULL, 7, "] is missing here; expected [1..10] or [0..100:10]"},
    {"k=[0.5..2]", "gcn", NULL, 3, "\"0.5\" is not an integer; expected a range such as [1..10] or [0..100:10]"},
    {"k=[1..9:-1]", "gcn", NULL, 8, "a step must be above 0"},
    {"k=[1..9007199254740993]", "gcn", NULL, 6,
     "\"9007199254740993\" is not an integer; expected a range such as [1..10] or [0..100:10]"},
    {"hidden={}", "gcn", NULL, 8, "a value is missing here; expected a number, a word, or a quoted text"},
    {"hidden={8,}", "gcn", NULL, 10, "a value is missing here; expected a number, a word, or a quoted text"},
    {"hidden={8,''}", "gcn", NULL, 10, "a value is missing here; expected a number, a word, or a quoted text"},
    {"hidden={8 16}", "gcn", NULL, 10, "expected , or } after this choice, or quotes around all of it"},
    {"hidden={8,16", "gcn", NULL, 12, "expected , or } after this choice, or quotes around all of it"},
    {"net={lpnn(f=clamp)}", "any", NULL, 9, "expected , or } after this choice, or quotes around all of it"},
    {"net={'gcn}", "any", NULL, 5, "this quote is never closed"},
    {"hidden={8,16,8.0}", "gcn", NULL, 13, "the choice \"8.0\" appears twice"},
    {"net={gcn,GCN}", "any", NULL, 0, "net has the choice gcn twice"},
    {"net=[1..2]", "any", NULL, 0, "net must be a choice of networks; expected e.g. net={gcn,sgcn}"},
    {"net={gcn}", "gcn", NULL, 0, "net can only be searched if the network is \"any\""},
    /* parameters that no network uses */
    {"hiden={8}", "gcn", NULL, 0, "\"gcn\" does not use hiden; expected hidden"},
    {"lr=(0,1) hidden={8}", "sgcn", NULL, 9,
     "\"sgcn\" does not use hidden; expected lr, dropout, weight_decay or k, or a $name of the network"},
    {"k=[1..2]", "lpnn(mu_g=1)", NULL, 0,
     "\"lpnn(mu_g=1)\" does not use k; expected lr, dropout, weight_decay, mu_l, mu_u, lambda_l or lambda_u, or a "
     "$name of the network"},
    {"mu_g=(0,1)", "lpnn(mu_g=1)", NULL, 0, "\"lpnn(mu_g=1)\" does not use mu_g; expected mu_l"},
    {"hidden={8} w=[1..2]", "dense $w relu | softmax", NULL, 0,
     "\"dense $w relu | softmax\" does not use hidden; expected lr, dropout, weight_decay or w, or a $name of "
     "the network"},
    {"mu_g=(0,1)", "any", NULL, 0, "no network uses mu_g; expected lr, dropout, weight_decay, hidden or k"},
    /* $names */
    {"lr=(0,1)", "dense $h relu | softmax", "dense $h relu | softmax", 6,
     "\"$h\" has no range; expected e.g. h={1,2} in the space"},
    {NULL, "smooth^$k | softmax", "smooth^$k | softmax", 7, "\"$k\" has no range; expected e.g. k={1,2} in the space"},
    {"k=[1..2]", "smooth^$k | dense $k+1 relu | softmax", "smooth^$k | dense $k+1 relu | softmax", 18,
     "\"$k+1\" is not a name; expected $ and letters, digits and _"},
    {"k=[1..2]", "smooth^$k | dense $ relu | softmax", "smooth^$k | dense $ relu | softmax", 18,
     "\"$\" is not a name; expected $ and letters, digits and _"},
    {"net={'smooth^$k | softmax'}", "any", "smooth^$k | softmax", 7,
     "\"$k\" has no range; expected e.g. k={1,2} in the space"},
    /* endpoints */
    {"lr=(-1,1)", "gcn", NULL, 0, "lr -1: it must be above 0 and at most 1e30"},
    {"lr={0,0.1}", "gcn", NULL, 0, "lr 0: it must be above 0 and at most 1e30"},
    {"lr={fast}", "gcn", NULL, 0, "lr must be a number; \"fast\" is not"},
    {"lr=(0,1) dropout=(0,2)", "gcn", NULL, 9, "dropout 2: it must be at least 0 and below 1"},
    {"dropout=[0..1]", "gcn", NULL, 0, "dropout 1: it must be at least 0 and below 1"},
    {"dropout=(0,1:0.5)", "gcn", NULL, 0, "dropout 1: it must be at least 0 and below 1"},
    {"weight_decay=(-0.5,1)", "gcn", NULL, 0, "weight decay -0.5: it must be from 0 to 1e30"},
    {"hidden=(8,128)", "gcn", NULL, 0, "hidden must be an integer; expected e.g. hidden=[8..128] or hidden={16,64}"},
    {"hidden={8,2.5}", "gcn", NULL, 0, "hidden must be an integer; expected e.g. hidden=[8..128] or hidden={16,64}"},
    {"k={one}", "gcn", NULL, 0, "k must be an integer; expected e.g. k=[1..4]"},
    {"hidden={8,0}", "any", NULL, 0, "hidden is 0; expected a whole number from 1 to 65536"},
    {"lr=(0,1) hidden=[1..65537]", "gcn", NULL, 9, "hidden is 65537; expected a whole number from 1 to 65536"},
    {"k=[0..4]", "sgcn", NULL, 0, "k is 0; expected a whole number from 1 to 1000"},
    {"k=[1..200]", "gcn", NULL, 0, "k is 200, which makes 400 layers of gcn; a network has at most 256"},
    {"lr=(0,1) hidden={8} k=[0..4]", "gcn", NULL, 20, "k is 0; expected a whole number from 1 to 1000"},
    {"h={8,0,16}", "dense $h relu | softmax", "dense 0 relu | softmax", 6,
     "the width of dense is \"0\"; expected a whole number from 1 to 65536"},
    {"h=[1..2] k={1,2000}", "smooth^$k | dense $h relu | softmax", "smooth^2000 | dense 1 relu | softmax", 7,
     "the number of smoothing steps is \"2000\"; expected a whole number from 1 to 1000"},
    {"t=(0,2)", "smooth(teleport=$t) | softmax", "smooth(teleport=2) | softmax", 16,
     "teleport is \"2\"; expected a number of at least 0 and below 1"},
    {"a={relu,gelo}", "dense 8 $a | softmax", "dense 8 gelo | softmax", 8,
     "unknown activation \"gelo\"; expected relu"},
    {"a={relu,$b}", "dense 8 $a | softmax", "dense 8 $b | softmax", 8,
     "\"$b\" is a variable of tune; write a value here"},
    {"mu_g=(-1,1)", "lpnn", "lpnn(mu_g=-1)", 10, "mu_g is \"-1\"; expected a number, 0 or more"},
    {"a=(0,1) dropout=(0,1)", "dense 9 $a | softmax(dropout=$dropout)", "dense 9 1 | softmax(dropout=0)", 8,
     "unknown activation \"1\"; expected identity, relu, tanh, sigmoid, elu or leaky_relu"},
    /* the networks themselves */
    {"lr=(0,1)", "smoth | softmax", "smoth | softmax", 0, "unknown layer \"smoth\"; expected smooth"},
    {"mu_g=(0,1)", "lpnn()", "lpnn()", 5,
     "expected an option of lpnn: name=value with f, input, output, mu_g, mu_l, mu_u, lambda_l or lambda_u"},
    {"net={gcn,mpl}", "any", "mpl", 0,
     "unknown network \"mpl\"; expected gcn, sgcn, fp+mlp, sgcn+lp, gcn+lp, linear+lp, mlp+lp, mlp, linear, lpnn, or "
     "layers "
     "such as \"smooth | softmax\""},
};

static void mistakes_have_their_place(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        sfu__space *space = (sfu__space *)&i;
        const char *shown = mistakes[i].shown != NULL ? mistakes[i].shown : mistakes[i].text;
        const sfu_status status = sfu__space_new(&space, mistakes[i].text, mistakes[i].net, NULL);
        if (status != SFU_ERR_ARGUMENT) {
            print_error("not refused: %s\n", mistakes[i].text);
        }
        assert_int_equal(status, SFU_ERR_ARGUMENT);
        assert_null(space);
        assert_mistake(mistakes[i].line, shown, shown + mistakes[i].caret);
    }
}

static void fixed_numbers_of_names_are_checked(void **state) {
    (void)state;
    sfu__space *space = NULL;
    assert_fails(SFU_ERR_ARGUMENT,
                 sfu__space_new(&space, "paper", "gcn",
                                &(sfu_net_options){.size = sizeof(sfu_net_options), .hidden = 64, .k = 0}),
                 "k is 0; expected a whole number from 1 to 1000");
    assert_fails(SFU_ERR_ARGUMENT,
                 sfu__space_new(&space, "lr=(0,1)", "gcn",
                                &(sfu_net_options){.size = sizeof(sfu_net_options), .hidden = 0, .k = 2}),
                 "hidden is 0; expected a whole number from 1 to 65536");
    assert_null(space);
}

static void bytes_that_are_no_text_are_refused(void **state) {
    (void)state;
    assert_refused("a={\xff}", "dense 8 $a | softmax", "\"\\xff\" is not a text: it has control characters, or bytes");
    assert_refused("a={'\x01'}", "dense 8 $a | softmax",
                   "\"\\x01\" is not a text: it has control characters, or bytes");
    assert_refused("\xc3=(0,1)", "gcn", "\"\\xc3\" is not a name");
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

static void limits_are_kept(void **state) {
    (void)state;
    sfu__space *space = NULL;
    sfu__text text = {0};
    sfu__text net = {0};
    for (int i = 0; i < 64; i++) {
        assert_ok(sfu__text_format(&text, "p%d=[1..2] ", i));
        assert_ok(sfu__text_format(&net, "smooth^$p%d | ", i));
    }
    assert_ok(sfu__text_format(&net, "softmax"));
    assert_ok(sfu__space_new(&space, text.bytes, net.bytes, NULL));
    assert_int_equal(space->count, 64);
    assert_true(space->has[0] == UINT64_MAX);
    sfu__space_free(space);
    assert_ok(sfu__text_format(&text, "lr=(0,1)"));
    assert_refused(text.bytes, net.bytes, "too many parameters: at most 64 are allowed");
    sfu__text_clear(&net);

    text.size = 0;
    assert_ok(sfu__text_format(&text, "hidden={1"));
    for (int i = 2; i <= 1024; i++) {
        assert_ok(sfu__text_format(&text, ",%d", i));
    }
    const size_t end = text.size;
    assert_ok(sfu__text_format(&text, "}"));
    assert_ok(sfu__space_new(&space, text.bytes, "gcn", NULL));
    assert_int_equal(space->items[0].range.count, 1024);
    sfu__space_free(space);
    text.size = end;
    assert_ok(sfu__text_format(&text, ",1025}"));
    assert_refused(text.bytes, "gcn", "too many choices: at most 1024 are allowed");

    text.size = 0;
    assert_ok(sfu__text_format(&text, "%65s=(0,1)", "x"));
    memset(text.bytes, 'x', 65);
    assert_refused(text.bytes, "gcn", "this name is longer than 64 bytes");

    text.size = 0;
    assert_ok(sfu__text_format(&text, "lr=(0,1)%16376s", ""));
    assert_ok(sfu__space_new(&space, text.bytes, "gcn", NULL));
    sfu__space_free(space);
    assert_ok(sfu__text_format(&text, " "));
    assert_refused(text.bytes, "gcn", "the space is longer than 16384 bytes");

    text.size = 0; /* 1024 numbers that are written much longer */
    assert_ok(sfu__text_format(&text, "weight_decay={1"));
    for (int i = 1; i < 1024; i++) {
        assert_ok(sfu__text_format(&text, ",%d.%de15", i / 1000, i % 1000 + 1000));
    }
    assert_ok(sfu__text_format(&text, "}"));
    assert_refused(text.bytes, "gcn", "the space is longer than 16384 bytes once it is written out");
    sfu__text_clear(&text);
}

/* ---- round trip of random spaces --------------------------------------------------------------------------------- */

static uint64_t below(sfu__random *random, uint64_t bound) { return sfu__random_below(random, bound); }

static double any_number(sfu__random *random) {
    static const double scales[] = {1.0, 1e-5, 1e3, 0.1, 1.0 / 3.0, 1e-300, 1e20};
    return sfu__random_unit(random) * scales[below(random, 7)];
}

/* A random range, with blanks where they are allowed. */
static void any_range(sfu__text *text, sfu__random *random) {
    static const char *const blanks[] = {"", "", " ", "\t "};
#define BLANK blanks[below(random, 4)]
    const double a = any_number(random);
    const double b = a + any_number(random);
    const int low = (int)below(random, 50) + 1;
    switch (below(random, 7)) {
    case 0:
        assert_ok(sfu__text_format(text, "(%s%.17g%s,%.17g%s)", BLANK, a, BLANK, b, BLANK));
        return;
    case 1:
        assert_ok(sfu__text_format(text, "log(%.17g,%s%.17g)", a + 1e-310, BLANK, b + 1e-310));
        return;
    case 2:
        assert_ok(sfu__text_format(text, "[%d%s..%s%d]", low, BLANK, BLANK, low + (int)below(random, 9)));
        return;
    case 3:
        assert_ok(sfu__text_format(text, "[%d..%d%s:%s%d]", -low, (int)below(random, 99), BLANK, BLANK,
                                   (int)below(random, 20) + 1));
        return;
    case 4:
        assert_ok(sfu__text_format(text, "log[%d..%d]", low, low + (int)below(random, 99)));
        return;
    case 5: { /* steps of two digits */
        const double step = (double)(below(random, 99) + 1) / 100.0;
        assert_ok(sfu__text_format(text, "(%d,%.2f:%.2f)", -low, (double)below(random, 9999) / 100.0, step));
        return;
    }
    default:
        break;
    }
    static const char *const words[] = {"relu",  "fp+mlp", "'a b'", "\"it's\"", "'\"q\"'",
                                        "\"7\"", "'x=y'",  "$z",    "\xc3\xa9"};
    const int count = (int)below(random, 6) + 1;
    for (int i = 0; i < count; i++) {
        assert_ok(sfu__text_format(text, "%s%s", i == 0 ? "{" : ",", BLANK));
        if (below(random, 2) == 0) {
            assert_ok(sfu__text_format(text, "%d", i * 7));
        } else if (below(random, 2) == 0) {
            assert_ok(sfu__text_format(text, "%.17g", 1000.0 * (i + 1) + any_number(random)));
        } else {
            assert_ok(sfu__text_format(text, "%s", words[(size_t)i + 3 * (size_t)below(random, 2)]));
        }
    }
    assert_ok(sfu__text_format(text, "%s}", BLANK));
#undef BLANK
}

static bool same_range(const sfu__domain *a, const sfu__domain *b) {
    bool same = a->kind == b->kind && a->low == b->low && a->high == b->high && a->step == b->step &&
                a->log == b->log && a->count == b->count;
    for (int i = 0; i < a->count && same; i++) {
        const sfu__choice *one = &a->choices[i];
        const sfu__choice *other = &b->choices[i];
        same =
            strcmp(one->text, other->text) == 0 && one->is_number == other->is_number && one->number == other->number;
    }
    return same;
}

static void random_ranges_come_back(void **state) {
    (void)state;
    const int ranges = test_is_slow() ? 4000 : 40000;
    sfu__random random = sfu__random_start(11, 1);
    int made = 0;
    for (int n = 0; n < ranges; n++) {
        sfu__text text = {0};
        sfu__text canonical = {0};
        sfu__range_list list = {0};
        sfu__range_list again = {0};
        assert_ok(sfu__text_format(&text, "x="));
        any_range(&text, &random);
        const sfu_status status = sfu__list_read(&list, text.bytes, text.bytes, false);
        if (status == SFU_OK) { /* a choice may be a duplicate, a range may be inverted */
            made++;
            assert_ok(sfu__text_format(&canonical, "x="));
            assert_ok(sfu__domain_print(&canonical, &list.items[0].range));
            assert_ok(sfu__list_read(&again, canonical.bytes, canonical.bytes, false));
            if (!same_range(&list.items[0].range, &again.items[0].range)) {
                print_error("%s\n%s\n", text.bytes, canonical.bytes);
                fail();
            }
        }
        sfu__list_clear(&list);
        sfu__list_clear(&again);
        sfu__text_clear(&text);
        sfu__text_clear(&canonical);
    }
    assert_true(made > ranges / 2);
}

/* Some of the parameters of a network, with ranges that are valid for it. */
static void any_space(sfu__text *text, sfu__random *random, const char *net) {
    static const struct {
        const char *name, *ranges[4];
    } items[] = {
        {"lr", {"(0,1)", "log(1e-5,1)", "{0.1,1e-2,1}", "(0.1,1:0.3)"}},
        {"dropout", {"(0,1)", "(0,0.9:0.1)", "{0,.5}", "(0.25,0.25)"}},
        {"weight_decay", {"(0,1)", "log(1e-7,1e-1)", "[0..3]", "{0,5e-4}"}},
        {"hidden", {"{8,16}", "[1..99:7]", "log[1..512]", "{ 64 }"}},
        {"k", {"[1..4]", "{2,1}", "[1..9:3]", "log[1..8]"}},
        {"mu_g", {"(0,1)", "log(0.001,9)", "{1,2}", "[0..4]"}},
        {"lambda_u", {"(0,1)", "log(0.001,9)", "{1,2}", "[0..4]"}},
    };
    static const char *const nets[] = {"net={gcn,Sgcn,lpnn}", "net={mlp, \"smooth^$k | softmax\"}",
                                       "net={'dense $hidden tanh|softmax',linear+lp,gcn+lp}", "net={mlp}"};
    static const char *const begins[] = {"", "paper ", "practical "};
    assert_ok(sfu__text_format(text, "%s", begins[below(random, 3)]));
    int picked = -1;
    if (strcmp(net, "any") == 0 && below(random, 3) > 0) {
        picked = (int)below(random, 4);
        assert_ok(sfu__text_format(text, "%s", nets[picked]));
    }
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        if (below(random, 2) == 0) {
            assert_ok(sfu__text_format(text, " %s = %s", items[i].name, items[i].ranges[below(random, 4)]));
        }
    }
}

static void random_spaces_come_back(void **state) {
    (void)state;
    static const char *const nets[] = {"any", "gcn", "lpnn", "smooth^$k | dense $hidden relu | softmax"};
    const int spaces = test_is_slow() ? 1000 : 10000;
    sfu__random random = sfu__random_start(12, 1);
    int made = 0;
    for (int n = 0; n < spaces; n++) {
        sfu__text text = {0};
        sfu__space *space = NULL;
        sfu__space *again = NULL;
        const char *net = nets[below(&random, 4)];
        any_space(&text, &random, net);
        if (sfu__space_new(&space, text.bytes, net, NULL) == SFU_OK) { /* not if a parameter is unused */
            made++;
            assert_ok(sfu__space_new(&again, space->text, net, NULL));
            assert_string_equal(space->text, again->text);
            assert_true(space->count == again->count && space->groups == again->groups &&
                        space->net_count == again->net_count && space->paper == again->paper);
            assert_true(space->net_count == 1 || strcmp(space->items[0].name, "net") == 0);
            for (int i = 0; i < space->count; i++) {
                assert_string_equal(space->items[i].name, again->items[i].name);
                assert_int_equal(space->items[i].group, again->items[i].group);
                assert_true(same_range(&space->items[i].range, &again->items[i].range));
            }
            for (int i = 0; i < space->net_count; i++) {
                assert_string_equal(space->nets[i], again->nets[i]);
                assert_true(space->has[i] == again->has[i]);
            }
        }
        sfu__space_free(space);
        sfu__space_free(again);
        sfu__text_clear(&text);
    }
    assert_true(made > spaces / 10);
}

/* Random values are printed so that a point parses to the same ones, and give a candidate. */
static void random_points_come_back(void **state) {
    (void)state;
    sfu__space *space = space_of("paper net={gcn,lpnn,'smooth^$k | dense 8 $act | softmax'} k=[1..9:2] act={relu,tanh} "
                                 "lr=log(1e-5,1) dropout=(0,0.9:0.1)",
                                 "any");
    sfu__random random = sfu__random_start(13, 1);
    sfu_train_options usual;
    sfu_train_options_init(&usual);
    for (int n = 0; n < 1000; n++) {
        double values[SFU__SPACE_PARAMETERS];
        double again[SFU__SPACE_PARAMETERS];
        sfu__text text = {0};
        values[0] = (double)below(&random, 3);
        for (int i = 0; i < space->count; i++) {
            const sfu__domain *range = &space->items[i].range;
            const double step = range->kind == SFU__RANGE_CHOICE ? 1.0 : range->step;
            const double steps = floor((range->high - range->low) / (step > 0.0 ? step : 1.0) + 1.5);
            values[i] = i == 0       ? values[0]
                        : step > 0.0 ? range->low + step * (double)below(&random, (uint64_t)steps)
                                     : range->low + (range->high - range->low) * sfu__random_unit(&random);
            if (!sfu__space_has(space, (int)values[0], i)) {
                values[i] = (double)NAN;
                continue;
            }
            assert_ok(sfu__text_format(&text, " %s=", space->items[i].name));
            assert_ok(sfu__space_print(&text, space, i, values[i]));
        }
        assert_ok(sfu__space_point(again, space, text.bytes));
        for (int i = 0; i < space->count; i++) {
            assert_true(isnan(values[i]) ? isnan(again[i]) : values[i] == again[i]);
        }
        sfu__candidate candidate = {0};
        assert_ok(sfu__candidate_make(&candidate, space, values, &usual));
        sfu__candidate_clear(&candidate);
        sfu__text_clear(&text);
    }
    sfu__space_free(space);
}

/* ---- without memory --------------------------------------------------------------------------------------------- */

static sfu_status make_all(void *context) {
    (void)context;
    sfu_status status = SFU_OK;
    sfu__space *space = NULL;
    sfu__candidate candidate = {0};
    sfu__text text = {0};
    double values[SFU__SPACE_PARAMETERS];
    sfu_train_options usual;
    sfu_train_options_init(&usual);
    SFU_TRY(sfu__space_new(&space, "paper net={GCN,lpnn,'smooth^$k | softmax'} k=[1..3] hidden={8,16}", "any", NULL));
    SFU_TRY(sfu__space_point(values, space,
                             "net=lpnn lr=0.5 dropout=0.5 weight_decay=0.5 mu_g=1 mu_l=1 mu_u=1 "
                             "lambda_l=1 lambda_u=1"));
    SFU_TRY(sfu__candidate_make(&candidate, space, values, &usual));
    for (int i = 0; i < space->count; i++) {
        SFU_TRY(sfu__space_distribution(&text, space, i));
        SFU_TRY(sfu__space_print(&text, space, i, space->items[i].range.low));
    }
done:
    sfu__text_clear(&text);
    sfu__candidate_clear(&candidate);
    sfu__space_free(space);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    test_fail_each_allocation(make_all, NULL, test_is_slow() ? 300 : 2000);
}

/* Errors whose messages need memory. */
static sfu_status refuse_all(void *context) {
    (void)context;
    sfu__space *space = NULL;
    double values[1];
    sfu_status status = sfu__space_new(&space, "h={8,0}", "dense $h relu | softmax", NULL);
    if (status != SFU_ERR_ARGUMENT) {
        return status;
    }
    status = sfu__space_new(&space, "lr=(0,1)", "gcn", NULL);
    if (status == SFU_OK) {
        status = sfu__space_point(values, space, "lr=2");
    }
    sfu__space_free(space);
    return status == SFU_ERR_ARGUMENT ? SFU_OK : status;
}

static void mistakes_may_run_out_of_memory(void **state) {
    (void)state;
    test_fail_each_allocation(refuse_all, NULL, test_is_slow() ? 300 : 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_what_the_text_says),
        cmocka_unit_test(choices_are_numbers_or_words),
        cmocka_unit_test(a_step_that_does_not_fit_ends_early),
        cmocka_unit_test(texts_become_canonical),
        cmocka_unit_test(presets_have_what_the_network_has),
        cmocka_unit_test(hidden_depends_on_k),
        cmocka_unit_test(networks_have_their_parameters),
        cmocka_unit_test(candidates_are_what_the_values_say),
        cmocka_unit_test(every_named_network_is_a_candidate),
        cmocka_unit_test(wrong_values_make_no_candidate),
        cmocka_unit_test(distributions_are_as_optuna_writes_them),
        cmocka_unit_test(points_are_read_and_written),
        cmocka_unit_test(wrong_points_have_their_place),
        cmocka_unit_test(mistakes_have_their_place),
        cmocka_unit_test(fixed_numbers_of_names_are_checked),
        cmocka_unit_test(bytes_that_are_no_text_are_refused),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(random_ranges_come_back),
        cmocka_unit_test(random_spaces_come_back),
        cmocka_unit_test(random_points_come_back),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(mistakes_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
