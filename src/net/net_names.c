/* net_names.c - the named networks, defined by their numbers of layers of each kind. */
#include "net_int.h"

/* A number of layers as a function of k. */
typedef int32_t (*count_fn)(int32_t k);
static int32_t none(int32_t k) { return (void)k, 0; }
static int32_t one(int32_t k) { return (void)k, 1; }
static int32_t all(int32_t k) { return k; }
static int32_t all_but_one(int32_t k) { return k - 1; }
static int32_t half(int32_t k) { return k / 2; }
static int32_t other_half(int32_t k) { return k - k / 2; }

/* convolutions (smooth | dense) | smooth^smoothings | hidden dense layers | softmax | smooth^labels */
struct sfu__named_net {
    const char *name, *about;
    count_fn convolutions, smoothings, hidden, labels;
};

static const sfu__named_net named[] = {
    {"gcn", "graph convolutions; k counts them, the softmax among them", all_but_one, one, none, none},
    {"sgcn", "smoothed features, then linear; k counts smoothings", none, all, none, none},
    {"fp+mlp", "smoothed features, then a hidden layer; k counts smoothings", none, all, one, none},
    {"sgcn+lp", "as sgcn, half of the k smoothings of labels", none, other_half, none, half},
    {"gcn+lp", "hidden layers each with its smoothing; half of the k smoothings of labels", other_half, none, none,
     half},
    {"linear+lp", "linear, then smoothed labels; k counts smoothings", none, none, none, all},
    {"mlp+lp", "a hidden layer, then smoothed labels; k counts smoothings", none, none, one, all},
    {"mlp", "a hidden layer, no graph", none, none, one, none},
    {"linear", "linear, no graph", none, none, none, none},
    {"lpnn", "label propagation and an MLP fitted together, the baseline", NULL, NULL, NULL, NULL},
};
enum { NAMES = sizeof named / sizeof named[0] };

const char *sfu_net_name(int i, const char **text) {
    if (i < 0 || i >= NAMES) {
        return NULL;
    }
    if (text != NULL) {
        *text = named[i].about;
    }
    return named[i].name;
}

const sfu__named_net *sfu__named_find(const sfu__token *token) {
    for (int i = 0; i < NAMES; i++) {
        if (sfu__token_is(token, named[i].name)) {
            return &named[i];
        }
    }
    return NULL;
}

bool sfu__named_is_lpnn(const sfu__named_net *net) { return net->convolutions == NULL; }
const char *sfu__named_name(const sfu__named_net *net) { return net->name; }

bool sfu__named_has_hidden(const sfu__named_net *net, int32_t k) { return net->convolutions(k) + net->hidden(k) > 0; }

/* Whether some number of layers depends on k: then it differs between k = 1 and k = 2. */
bool sfu__named_has_k(const sfu__named_net *net) {
    return net->convolutions(1) != net->convolutions(2) || net->smoothings(1) != net->smoothings(2) ||
           net->labels(1) != net->labels(2);
}

int sfu__named_layers(const sfu__named_net *net, int32_t k) {
    return 2 * net->convolutions(k) + (net->smoothings(k) > 0) + net->hidden(k) + 1 + (net->labels(k) > 0);
}

static sfu_status print_smooth(sfu__text *text, int32_t times) {
    return times == 1 ? sfu__text_format(text, "smooth") : sfu__text_format(text, "smooth^%d", times);
}

sfu_status sfu__named_print(sfu__text *text, const sfu__named_net *net, const sfu_net_options *options) {
    sfu_status status = SFU_OK;
    const int32_t k = options->k;
    const int32_t smoothings = net->smoothings(k);
    const int32_t labels = net->labels(k);
    for (int32_t i = 0; i < net->convolutions(k); i++) {
        SFU_TRY(sfu__text_format(text, "smooth | dense %d relu | ", options->hidden));
    }
    if (smoothings > 0) {
        SFU_TRY(print_smooth(text, smoothings));
        SFU_TRY(sfu__text_format(text, " | "));
    }
    for (int32_t i = 0; i < net->hidden(k); i++) {
        SFU_TRY(sfu__text_format(text, "dense %d relu | ", options->hidden));
    }
    SFU_TRY(sfu__text_format(text, "softmax"));
    if (labels > 0) {
        SFU_TRY(sfu__text_format(text, " | "));
        SFU_TRY(print_smooth(text, labels));
    }
done:
    return status;
}
