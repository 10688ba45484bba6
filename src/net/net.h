/* net.h - a network from the inside: a chain of layers, and the parameters that it trains.
 *
 * The composition language is in docs/compose.md. A network is a chain, read left to right: smoothing layers, dense
 * layers, one softmax, and after it smoothing layers of class probabilities. It never changes once it is parsed.
 */
#ifndef SFU_NET_H
#define SFU_NET_H

#include "dense.h"
#include "memory.h"
#include "text.h"

typedef enum sfu__layer_kind { SFU__LAYER_SMOOTH, SFU__LAYER_DENSE, SFU__LAYER_SOFTMAX } sfu__layer_kind;

/* What a smoothing layer may learn of its own matrix; bits of `learn`. */
enum { SFU__LEARN_SELF = 1, SFU__LEARN_NEIGHBOUR = 2, SFU__LEARN_LEFT = 4, SFU__LEARN_RIGHT = 8 };

typedef struct sfu__layer {
    sfu__layer_kind kind;

    /* smooth: `times` steps H <- act((1 - teleport) S H + teleport H0), S as sfu_smoothing_options has it */
    int32_t times;
    bool labels; /* after the softmax: S is for class probabilities */
    sfu_norm norm;
    bool exponents; /* left and right instead of norm */
    double left, right, self, neighbour;
    char *self_column, *neighbour_column; /* names of node columns, or NULL */
    double teleport;
    unsigned learn;

    /* smooth and dense */
    sfu__activation act;

    /* dense and softmax: H W + b */
    int32_t width;  /* 0: the number of classes, which a softmax always has */
    bool linear;    /* it has weights; false only for softmax(linear=no) */
    bool bias;      /* */
    double dropout; /* of the mask that lies nearest before these weights; negative: the run's own rate */
} sfu__layer;

/* LPNN, the baseline: f, one row a node, and g, an MLP, are fitted together. docs/lpnn.md has the objective. */
typedef enum sfu__lpnn_f { SFU__LPNN_SOFTMAX, SFU__LPNN_CLAMP } sfu__lpnn_f;
typedef struct sfu__lpnn {
    sfu__lpnn_f f;
    bool input_f;  /* g sees f and x (input=fx), else x alone */
    bool output_g; /* g predicts, else f */
    double mu_graph, mu_labelled, mu_unlabelled, lambda_labelled, lambda_unlabelled;
} sfu__lpnn;

struct sfu_net {
    sfu__layer *layers; /* [count]; for lpnn those of g: dense 128 relu | dense 64 relu | softmax */
    int count;
    bool is_lpnn;
    sfu__lpnn lpnn;
    char *text; /* canonical: parsing it gives the same network */
};

/* As sfu_net_parse, of a text that a program has kept or made: without notes. */
SFU_CHECKED sfu_status sfu__net_read(sfu_net **net, const char *text, const sfu_net_options *options);

/* The name of a parameter of the layer that has a value a node, "self" or "neighbour"; NULL: it has none. */
const char *sfu__layer_learns_nodes(const sfu__layer *layer);

/* The last hidden layer: the last dense one whose output is more than what a softmax(linear=no) is taken of, smoothed
 * or not; -1: there is none. And its width, 0 where there is none. */
int sfu__net_last_hidden(const sfu_net *net);
int32_t sfu__net_embedding_width(const sfu_net *net, int32_t classes);

/* ---- what is still open ---- */

/* A $name in a composition, which stands for a value that is searched: the place of the sign, the name behind it. */
typedef struct sfu__variable {
    const char *place, *name;
    size_t size; /* of the name */
} sfu__variable;

/* The first from `from` on, a place of the composition outside of quotes; false: there is none. */
bool sfu__variable_next(sfu__variable *variable, const char *from);

/* What a network can be given that is a name alone, or lpnn with its brackets. */
typedef struct sfu__net_given {
    const char *name; /* as it is usually written */
    bool hidden, k;   /* it has them; hidden: with so many smoothings */
    bool lpnn;        /* it has the numbers below */
} sfu__net_given;
bool sfu__net_named(sfu__net_given *given, const char *text, int32_t k); /* false: it is no name */

/* The options of lpnn that are numbers, NULL after the last; whether a text gives one of them; and the text with the
 * option left open: "lpnn(mu_g=$mu_g)". */
const char *sfu__lpnn_number(int i);
bool sfu__lpnn_gives(const char *text, const char *option);
SFU_CHECKED sfu_status sfu__lpnn_open(sfu__text *opened, const char *text, const char *option);

/* ---- what it trains ---- */

/* One tensor of the parameters: a matrix [rows][cols] at theta + offset, its rows `ld` floats apart. A bias, and what a
 * smoothing layer learns, has one row; `self` of a node column has one value a node. */
typedef struct sfu__parameter {
    int layer;        /* counted from 0 over the layers of the composition */
    const char *name; /* "weight", "bias", "self", "neighbour", "left", "right": with the layer its name in a
                       * file; "f" of lpnn has layer -1 and no other name */
    int32_t rows, cols, ld;
    int64_t offset;  /* in floats, a multiple of 16 */
    bool decays;     /* weight decay applies: weights and biases */
    float low, high; /* kept in this range after each step; -INFINITY and INFINITY: free */
} sfu__parameter;

typedef struct sfu__parameters {
    sfu__parameter *items; /* in the order of the layers; f of lpnn is the last */
    int count;
    int64_t size; /* floats in all, a multiple of 16 */
} sfu__parameters;

/* The shapes for data with so many features, classes and nodes; with 0 nodes there is no f of lpnn. Fails where a width
 * cannot be: softmax(linear=no) of what is not one column a class. Starts as {0}; sfu__parameters_clear also after a
 * failure. */
SFU_CHECKED sfu_status sfu__parameters_make(sfu__parameters *parameters, const sfu_net *net, int32_t features,
                                            int32_t classes, int32_t nodes);
void sfu__parameters_clear(sfu__parameters *parameters);

/* Its name in a file and in the API: "layer.1.weight"; "f" of lpnn. Returns `name`. */
enum { SFU__PARAMETER_NAME_MAX = 32 };
const char *sfu__parameter_name(char name[SFU__PARAMETER_NAME_MAX], const sfu__parameter *parameter);

/* The one of this layer and name, or NULL. */
const sfu__parameter *sfu__parameter_of(const sfu__parameters *parameters, int layer, const char *name);

/* The values that training starts from: weights Glorot-uniform, a pure function of (seed, layer, row, column); biases
 * zero; learned smoothing at the values of the composition, a node column at `columns` (one pointer a parameter, only
 * looked at for node columns; may be NULL where there are none). Padding is zero. */
void sfu__parameters_start(float *theta, const sfu__parameters *parameters, const sfu_net *net,
                           const float *const *columns, uint64_t seed);

/* ---- the rate of dropout ---- */

/* A rate as the masks have it: t of t/65536, 0 to 65535. */
uint32_t sfu__dropout_threshold(double rate);

#endif
