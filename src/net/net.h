/* net.h - the network structure: a sequence of layers, and the parameters that it trains.
 *
 * docs/reference/compose.md describes the composition language. A network is a sequence, read left to right: smoothing
 * layers, dense layers, one softmax, and after it smoothing layers of class probabilities. It is immutable once parsed.
 */
#ifndef SFU_NET_H
#define SFU_NET_H

#include "dense.h"
#include "memory.h"
#include "text.h"

typedef enum sfu__layer_kind { SFU__LAYER_SMOOTH, SFU__LAYER_DENSE, SFU__LAYER_SOFTMAX } sfu__layer_kind;

/* The parameters of its matrix that a smoothing layer may learn; bits of `learn`. */
enum { SFU__LEARN_SELF = 1, SFU__LEARN_NEIGHBOUR = 2, SFU__LEARN_LEFT = 4, SFU__LEARN_RIGHT = 8 };

typedef struct sfu__layer {
    sfu__layer_kind kind;

    /* smooth: `times` steps H <- act((1 - teleport) S H + teleport H0), S as in sfu_smoothing_options */
    int32_t times;
    bool labels; /* after the softmax: S smooths class probabilities */
    sfu_norm norm;
    bool exponents; /* left and right instead of norm */
    double left, right, self, neighbour;
    char *self_column, *neighbour_column; /* names of node columns, or NULL */
    bool weighted;                        /* false: every edge has weight 1 */
    double teleport;
    unsigned learn;

    /* smooth and dense */
    sfu__activation act;

    /* dense and softmax: H W + b */
    int32_t width; /* 0: the number of classes, which a softmax always has */
    bool linear;   /* it has weights; false only for softmax(linear=no) */
    bool bias;
    double dropout; /* rate of the last mask before these weights; negative: the rate of the run */
} sfu__layer;

/* LPNN, the baseline: f, one row per node, and g, an MLP, are fitted together. docs/reference/lpnn.md has the
 * objective. */
typedef enum sfu__lpnn_f { SFU__LPNN_SOFTMAX, SFU__LPNN_CLAMP } sfu__lpnn_f;
typedef struct sfu__lpnn {
    sfu__lpnn_f f;
    bool input_f;  /* the input of g is f and x (input=fx), otherwise x alone */
    bool output_g; /* g predicts, otherwise f */
    double mu_graph, mu_labelled, mu_unlabelled, lambda_labelled, lambda_unlabelled;
} sfu__lpnn;

struct sfu_net {
    sfu__layer *layers; /* [count]; for lpnn the layers of g: dense 128 relu | dense 64 relu | softmax */
    int count;
    bool is_lpnn;
    sfu__lpnn lpnn;
    char *text; /* canonical: parsing it gives the same network */
};

SFU_CHECKED sfu_status sfu__net_copy(sfu_net **copy, const sfu_net *net);

/* Like sfu_net_parse, for a text that was stored or generated: logs no notes. */
SFU_CHECKED sfu_status sfu__net_read(sfu_net **net, const char *text, const sfu_net_options *options);

/* The name of a parameter of the layer with one value per node, "self" or "neighbour"; NULL: none. */
const char *sfu__layer_learns_nodes(const sfu__layer *layer);

/* The last hidden layer: the last dense layer whose output is not the (possibly smoothed) input of a
 * softmax(linear=no); -1: none. And its width, 0 if there is none. */
int sfu__net_last_hidden(const sfu_net *net);
int32_t sfu__net_embedding_width(const sfu_net *net, int32_t classes);

/* ---- open values ---- */

/* A $name in a composition, a placeholder for a value that tune searches: position of the $ sign, and the name. */
typedef struct sfu__variable {
    const char *place, *name;
    size_t size; /* of the name */
} sfu__variable;

/* The first variable at or after `from`, a position of the composition outside quotes; false: none. */
bool sfu__variable_next(sfu__variable *variable, const char *from);

/* The settings of a network that is given as a name, or as lpnn with options. */
typedef struct sfu__net_given {
    const char *name; /* in canonical spelling */
    bool hidden, k;   /* whether it has these settings; hidden: for this k */
    bool lpnn;        /* whether it has the numeric options below */
} sfu__net_given;
bool sfu__net_named(sfu__net_given *given, const char *text, int32_t k); /* false: not a name */

/* The numeric options of lpnn, NULL after the last; whether a text sets one of them; and the text with the option as an
 * open value: "lpnn(mu_g=$mu_g)". */
const char *sfu__lpnn_number(int i);
bool sfu__lpnn_gives(const char *text, const char *option);
SFU_CHECKED sfu_status sfu__lpnn_open(sfu__text *opened, const char *text, const char *option);

/* ---- parameters ---- */

/* One tensor of the parameters: a matrix [rows][cols] at theta + offset, with leading dimension `ld`. A bias, and a
 * learned parameter of smoothing, has one row; `self` of a node column has one value per node. */
typedef struct sfu__parameter {
    int layer;        /* index of the layer in the composition */
    const char *name; /* "weight", "bias", "self", "neighbour", "left", "right": with the layer, its name in a file;
                       * "f" of lpnn has layer -1 */
    int32_t rows, cols, ld;
    int64_t offset;  /* in floats, a multiple of 16 */
    bool decays;     /* weight decay applies: weights and biases */
    float low, high; /* clamped to this range after each step; -INFINITY and INFINITY: unbounded */
} sfu__parameter;

typedef struct sfu__parameters {
    sfu__parameter *items; /* in layer order; f of lpnn is the last */
    int count;
    int64_t size; /* floats in total, a multiple of 16 */
} sfu__parameters;

/* Computes the shapes for a number of features, classes and nodes; with 0 nodes f of lpnn is left out. Fails if the
 * input of softmax(linear=no) does not have one column per class. Starts as {0}; call sfu__parameters_clear also after
 * a failure. */
SFU_CHECKED sfu_status sfu__parameters_make(sfu__parameters *parameters, const sfu_net *net, int32_t features,
                                            int32_t classes, int32_t nodes);
void sfu__parameters_clear(sfu__parameters *parameters);

/* Its name in a file and in the API: "layer.1.weight"; "f" of lpnn. Returns `name`. */
enum { SFU__PARAMETER_NAME_MAX = 32 };
const char *sfu__parameter_name(char name[SFU__PARAMETER_NAME_MAX], const sfu__parameter *parameter);

/* The one of this layer and name, or NULL. */
const sfu__parameter *sfu__parameter_of(const sfu__parameters *parameters, int layer, const char *name);

/* Initial values: weights Glorot-uniform, a pure function of (seed, layer, row, column); biases zero; learned smoothing
 * parameters at the values of the composition, node columns at `columns` (one pointer per parameter, only read for node
 * columns; may be NULL if there are none). Padding is zero. */
void sfu__parameters_start(float *theta, const sfu__parameters *parameters, const sfu_net *net,
                           const float *const *columns, uint64_t seed);

/* Whether the initial values also depend on the labels of the training nodes: f of lpnn. */
bool sfu__parameters_need_labels(const sfu_net *net);

/* ---- dropout rate ---- */

/* Quantizes a rate to t/65536, t from 0 to 65535, as used by the masks. */
uint32_t sfu__dropout_threshold(double rate);

#endif
