/* net_int.h - what the parser, the checks and the printing of networks share.
 *
 * A composition is read word by word (reader) into layers. What may stand in the brackets of a layer is a table with
 * one row an option: from it come reading, printing, and the lists in messages. A mistake is told in three lines: what
 * is wrong and what would be right, the text, and a caret under the place.
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
    SFU__NET_STEPS = 10000, /* smoothing steps in all */
    SFU__NET_TIMES = 1000,  /* of one layer */
    SFU__NET_WIDTH = 65536
};

/* ---- words ---- */

/* A word, a name in quotes, or one of the signs | ^ ( ) , = which are their own kind. */
enum { SFU__TOKEN_END = 0, SFU__TOKEN_WORD = 'w', SFU__TOKEN_NAME = '"', SFU__TOKEN_OPEN_NAME = 'o' };

typedef struct sfu__token {
    char kind;
    const char *place; /* where it stands in the text, quotes included */
    const char *bytes; /* what it says */
    size_t size;
} sfu__token;

typedef struct sfu__reader {
    const char *text; /* the whole of it */
    const char *next;
    sfu__token token; /* the current one */
} sfu__reader;

sfu__reader sfu__reader_start(const char *text);
void sfu__reader_step(sfu__reader *reader);
bool sfu__token_is(const sfu__token *token, const char *word); /* in any case */

/* ---- options ---- */

typedef enum sfu__option_type {
    SFU__OPTION_CHOICE, /* one of `words`, kept as its number */
    SFU__OPTION_SWITCH, /* one of the two `words`, kept as false or true */
    SFU__OPTION_NUMBER, /* a number that is at least 0, and below 1 where `below_one` */
    SFU__OPTION_NODES,  /* a number that is at least 0, or the name of a node column */
    SFU__OPTION_LEARN   /* "no" or words with + between them, kept as bits */
} sfu__option_type;

typedef struct sfu__option {
    const char *name;
    unsigned layers; /* bits 1 << kind: those that have it */
    sfu__option_type type;
    size_t field;  /* where in the layer (or whatever the table is about) it is kept */
    size_t column; /* of SFU__OPTION_NODES: where the name is kept */
    const char *const *words;
    bool below_one;
} sfu__option;

/* The options of layers, in the order in which they are printed. */
enum {
    SFU__OPTION_NORM,
    SFU__OPTION_SELF,
    SFU__OPTION_NEIGHBOUR,
    SFU__OPTION_LEFT,
    SFU__OPTION_RIGHT,
    SFU__OPTION_TELEPORT,
    SFU__OPTION_ACT,
    SFU__OPTION_LEARNS,
    SFU__OPTION_LINEAR,
    SFU__OPTION_BIAS,
    SFU__OPTION_DROPOUT,
    SFU__LAYER_OPTIONS
};
extern const sfu__option sfu__layer_options[SFU__LAYER_OPTIONS];

/* Those of lpnn; `layers` is not looked at. */
enum { SFU__LPNN_OPTIONS = 8 };
extern const sfu__option sfu__lpnn_options[SFU__LPNN_OPTIONS];

/* Where each option of a table was given; NULL: it was not. */
typedef struct sfu__given {
    const char *at[SFU__LAYER_OPTIONS];
} sfu__given;

/* Reads "name=value, ...)" behind an opening bracket into `subject`, of the options of a table whose bit is in
 * `layers`. `owner` is what messages call the subject. */
typedef struct sfu__option_table {
    const sfu__option *options;
    int count;
    unsigned layers;
    const char *owner;
} sfu__option_table;
SFU_CHECKED sfu_status sfu__options_read(void *subject, sfu__given *given, const sfu__option_table *table,
                                         sfu__reader *reader);

/* Writes "(name=value, ...)" of what differs from `usual`, another subject; nothing where nothing does. Options in
 * `shown` (bits 1 << row) are written in any case, those in `hidden` never. */
SFU_CHECKED sfu_status sfu__options_print(sfu__text *text, const void *subject, const void *usual,
                                          const sfu__option_table *table, unsigned shown, unsigned hidden);

/* ---- layers ---- */

/* The words of sfu__activation and of sfu_norm, in their order, NULL after the last. */
extern const char *const sfu__activation_words[];
extern const char *const sfu__norm_words[];

typedef struct sfu__layer_row {
    const char *name;
    /* What stands between the name and the brackets. */
    sfu_status (*read)(sfu__layer *layer, sfu__reader *reader);
    sfu_status (*print)(sfu__text *text, const sfu__layer *layer);
} sfu__layer_row;

enum { SFU__LAYER_KINDS = 3 };
extern const sfu__layer_row sfu__layer_rows[SFU__LAYER_KINDS]; /* by sfu__layer_kind */

/* A layer with every default; `labels`: it comes after the softmax. */
sfu__layer sfu__layer_start(sfu__layer_kind kind, bool labels);
void sfu__layer_clear(sfu__layer *layer);
sfu__lpnn sfu__lpnn_defaults(void);

/* ---- the chain so far, as the checks see it ---- */

typedef struct sfu__chain {
    const char *text;
    bool quiet;   /* what is only worth a note is not said */
    bool softmax; /* has come */
    bool weights; /* some layer had them */
    bool mask;    /* since the last weights an activation had the mask that `dropout=` is about */
    int64_t steps;
} sfu__chain;

/* Before a layer's words are read: whether it may stand here. */
SFU_CHECKED sfu_status sfu__check_start(const sfu__chain *chain, sfu__layer_kind kind, const char *place);

/* After: whether its options go together and with the chain, which then goes on. Settles what follows from them. */
SFU_CHECKED sfu_status sfu__check_layer(sfu__chain *chain, sfu__layer *layer, const sfu__given *given,
                                        const char *place);

/* ---- names and print ---- */

typedef struct sfu__named_net sfu__named_net;
const sfu__named_net *sfu__named_find(const sfu__token *token); /* or NULL */
bool sfu__named_is_lpnn(const sfu__named_net *net);
const char *sfu__named_name(const sfu__named_net *net);
bool sfu__named_has_hidden(const sfu__named_net *net, int32_t k);
bool sfu__named_has_k(const sfu__named_net *net);

/* How many layers it has, and its composition. */
int sfu__named_layers(const sfu__named_net *net, int32_t k);
SFU_CHECKED sfu_status sfu__named_print(sfu__text *text, const sfu__named_net *net, const sfu_net_options *options);

/* The canonical text. */
SFU_CHECKED sfu_status sfu__net_print(sfu__text *text, const sfu_net *net);
SFU_CHECKED sfu_status sfu__layer_print(sfu__text *text, const sfu__layer *layer);

/* What stands in the brackets, with them; of the options in `only` (bits 1 << row) alone. */
SFU_CHECKED sfu_status sfu__layer_options_print(sfu__text *text, const sfu__layer *layer, unsigned only);
SFU_CHECKED sfu_status sfu__lpnn_options_print(sfu__text *text, const sfu__lpnn *lpnn, unsigned only);

#endif
