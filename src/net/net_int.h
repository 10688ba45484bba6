/* net_int.h - internals of the composition language: tokens, option tables, checks and printing.
 *
 * A composition is read token by token into layers. The options of a layer are a table with one row per option, used
 * for reading, printing, and the lists in messages. A parse error has three lines: what is wrong and what was expected,
 * the text, and a caret under the position.
 */
#ifndef SFU_NET_INT_H
#define SFU_NET_INT_H

#include "parse_error.h"
#include "net.h"
#include "text.h"
#include "word_list.h"

/* The limits of a network. */
enum {
    SFU__NET_BYTES = 16 * 1024, /* of the text */
    SFU__NET_LAYERS = 256,
    SFU__NET_STEPS = 10000, /* smoothing steps in total */
    SFU__NET_TIMES = 1000,  /* smoothing steps of one layer */
    SFU__NET_WIDTH = 65536
};

/* ---- tokens ---- */

/* A word, a name in quotes, or one of the signs | ^ ( ) , = with themselves as kind. */
enum { SFU__TOKEN_END = 0, SFU__TOKEN_WORD = 'w', SFU__TOKEN_NAME = '"', SFU__TOKEN_OPEN_NAME = 'o' };

typedef struct sfu__token {
    char kind;
    const char *place; /* position in the text, including quotes */
    const char *bytes; /* the contents */
    size_t size;
} sfu__token;

typedef struct sfu__reader {
    const char *text; /* the whole text */
    const char *next;
    sfu__token token; /* the current token */
} sfu__reader;

sfu__reader sfu__reader_start(const char *text);
void sfu__reader_step(sfu__reader *reader);
bool sfu__token_is(const sfu__token *token, const char *word); /* ignoring case */

/* ---- options ---- */

typedef enum sfu__option_type {
    SFU__OPTION_CHOICE, /* one of `words`, stored as its index */
    SFU__OPTION_SWITCH, /* one of the two `words`, stored as false or true */
    SFU__OPTION_NUMBER, /* a number of at least 0, and below 1 if `below_one` */
    SFU__OPTION_NODES,  /* a number of at least 0, or the name of a node column */
    SFU__OPTION_LEARN   /* "no" or words with + between them, stored as bits */
} sfu__option_type;

typedef struct sfu__option {
    const char *name;
    unsigned layers; /* bits 1 << kind: the layers that have it */
    sfu__option_type type;
    size_t field;  /* offset of the value in the layer (or other subject of the table) */
    size_t column; /* of SFU__OPTION_NODES: offset of the name */
    const char *const *words;
    bool below_one;
} sfu__option;

/* The options of layers, in print order. */
enum {
    SFU__OPTION_NORM,
    SFU__OPTION_SELF,
    SFU__OPTION_NEIGHBOUR,
    SFU__OPTION_LEFT,
    SFU__OPTION_RIGHT,
    SFU__OPTION_WEIGHTED,
    SFU__OPTION_TELEPORT,
    SFU__OPTION_ACT,
    SFU__OPTION_LEARNS,
    SFU__OPTION_LINEAR,
    SFU__OPTION_BIAS,
    SFU__OPTION_DROPOUT,
    SFU__LAYER_OPTIONS
};
extern const sfu__option sfu__layer_options[SFU__LAYER_OPTIONS];

/* The options of lpnn; `layers` is ignored. */
enum { SFU__LPNN_OPTIONS = 8 };
extern const sfu__option sfu__lpnn_options[SFU__LPNN_OPTIONS];

/* The position where each option of a table was given, or NULL. */
typedef struct sfu__given {
    const char *at[SFU__LAYER_OPTIONS];
} sfu__given;

/* Reads "name=value, ...)" after an opening bracket into `subject`, for the options of a table whose bit is in
 * `layers`. `owner` is the name of the subject in messages. */
typedef struct sfu__option_table {
    const sfu__option *options;
    int count;
    unsigned layers;
    const char *owner;
} sfu__option_table;
SFU_CHECKED sfu_status sfu__options_read(void *subject, sfu__given *given, const sfu__option_table *table,
                                         sfu__reader *reader);

/* Writes "(name=value, ...)" for the options that differ from `usual`, a subject with defaults; nothing if none differ.
 * Options in `shown` (bits 1 << row) are always written, those in `hidden` never. */
SFU_CHECKED sfu_status sfu__options_print(sfu__text *text, const void *subject, const void *usual,
                                          const sfu__option_table *table, unsigned shown, unsigned hidden);

/* ---- layers ---- */

/* The words of sfu__activation and of sfu_norm, in enum order, NULL after the last. */
extern const char *const sfu__activation_words[];
extern const char *const sfu__norm_words[];

typedef struct sfu__layer_row {
    const char *name;
    /* Read and print the text between the name and the brackets. */
    sfu_status (*read)(sfu__layer *layer, sfu__reader *reader);
    sfu_status (*print)(sfu__text *text, const sfu__layer *layer);
} sfu__layer_row;

enum { SFU__LAYER_KINDS = 3 };
extern const sfu__layer_row sfu__layer_rows[SFU__LAYER_KINDS]; /* by sfu__layer_kind */

/* A layer with default options; `labels`: it comes after the softmax. */
sfu__layer sfu__layer_start(sfu__layer_kind kind, bool labels);
void sfu__layer_clear(sfu__layer *layer);
sfu__lpnn sfu__lpnn_defaults(void);

/* ---- checks: state of the layers so far ---- */

typedef struct sfu__chain {
    const char *text;
    bool quiet;   /* log no notes */
    bool softmax; /* has occurred */
    bool weights; /* some layer had weights */
    bool mask;    /* since the last weights, an activation had the mask that `dropout=` refers to */
    int64_t steps;
} sfu__chain;

/* Whether a layer of this kind is allowed here, before its options are read. */
SFU_CHECKED sfu_status sfu__check_start(const sfu__chain *chain, sfu__layer_kind kind, const char *place);

/* Checks the options of a layer against each other and the layers before, sets derived fields and updates `chain`. */
SFU_CHECKED sfu_status sfu__check_layer(sfu__chain *chain, sfu__layer *layer, const sfu__given *given,
                                        const char *place);

/* ---- names and print ---- */

typedef struct sfu__named_net sfu__named_net;
const sfu__named_net *sfu__named_find(const sfu__token *token); /* or NULL */
bool sfu__named_is_lpnn(const sfu__named_net *net);
const char *sfu__named_name(const sfu__named_net *net);
bool sfu__named_has_hidden(const sfu__named_net *net, int32_t k);
bool sfu__named_has_k(const sfu__named_net *net);

/* The number of layers of a named network, and its composition. */
int sfu__named_layers(const sfu__named_net *net, int32_t k);
SFU_CHECKED sfu_status sfu__named_print(sfu__text *text, const sfu__named_net *net, const sfu_net_options *options);

/* The canonical text. */
SFU_CHECKED sfu_status sfu__net_print(sfu__text *text, const sfu_net *net);
SFU_CHECKED sfu_status sfu__layer_print(sfu__text *text, const sfu__layer *layer);

/* The options in brackets; only those in `only` (bits 1 << row). */
SFU_CHECKED sfu_status sfu__layer_options_print(sfu__text *text, const sfu__layer *layer, unsigned only);
SFU_CHECKED sfu_status sfu__lpnn_options_print(sfu__text *text, const sfu__lpnn *lpnn, unsigned only);

#endif
