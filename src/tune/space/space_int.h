/* space_int.h - what the reading, the checking and the printing of spaces share.
 *
 * A text becomes a list of named ranges (space_parse.c), with those of a preset before it (space_presets.c). The list
 * and the networks become a space (space.c, space_nets.c), which is then tried at its ends (space_check.c).
 */
#ifndef SFU_SPACE_INT_H
#define SFU_SPACE_INT_H

#include "parse_error.h"
#include "space.h"

/* The limits of a space; SFU__SPACE_PARAMETERS is another. */
enum {
    SFU__SPACE_BYTES = 16 * 1024, /* of the text */
    SFU__SPACE_CHOICES = 1024,    /* of one parameter */
    SFU__SPACE_NAME = 64          /* bytes of a name */
};

/* ---- reading words ---- */

typedef struct sfu__scanner {
    const char *text; /* the whole of it */
    const char *p;
} sfu__scanner;

void sfu__scan_blanks(sfu__scanner *scanner);

/* The length of the name here, 0: there is none. Nothing is passed over. */
size_t sfu__scan_name(const sfu__scanner *scanner);

/* A value: bare, or in quotes of either kind. */
typedef struct sfu__scanned {
    const char *place, *bytes;
    size_t size;
    bool quoted;
} sfu__scanned;
SFU_CHECKED sfu_status sfu__scan_value(sfu__scanned *value, sfu__scanner *scanner);

/* ---- ranges ---- */

void sfu__domain_clear(sfu__domain *range);

/* How many values must be tried to have tried its ends, and the i-th of them: all of a choice. */
int sfu__domain_ends(const sfu__domain *range);
double sfu__domain_end(const sfu__domain *range, int i);

/* The number that a value stands for, that of the choice where it is one; NaN where that is a word. */
double sfu__domain_number(const sfu__domain *range, double value);

/* The range as it is written; and a value of it, `raw` as it stands in a composition, else as it stands in a range. */
SFU_CHECKED sfu_status sfu__domain_print(sfu__text *text, const sfu__domain *range);
SFU_CHECKED sfu_status sfu__domain_print_value(sfu__text *text, const sfu__domain *range, double value, bool raw);

/* ---- the list ---- */

typedef struct sfu__list_item {
    char *name;
    sfu__domain range;
    const char *place; /* of the name in the text; NULL: a preset's, which may be left out */
} sfu__list_item;

/* Starts as {0}. There is room for a preset's ranges that are left out later. */
enum { SFU__LIST_ITEMS = SFU__SPACE_PARAMETERS + 16 };
typedef struct sfu__range_list {
    sfu__list_item items[SFU__LIST_ITEMS];
    int count;
    bool paper;
} sfu__range_list;

/* Reads "name=range ..." behind what is there already, which `text` may replace but not name twice. `preset`: the text
 * is a preset's own, and its items have no places. */
SFU_CHECKED sfu_status sfu__list_read(sfu__range_list *list, const char *text, const char *from, bool preset);
int sfu__list_find(const sfu__range_list *list, const char *name, size_t size);
void sfu__list_clear(sfu__range_list *list);

/* Reads a text that may begin with the name of a preset; NULL is "paper". */
SFU_CHECKED sfu_status sfu__list_make(sfu__range_list *list, const char *text);

/* ---- networks ---- */

/* Whether $name stands in a network. */
bool sfu__net_has_variable(const char *net, const char *name);

/* Whether a network has use for a parameter; `k`: the most smoothings that it may get. */
bool sfu__net_uses(const char *net, const char *name, int32_t k);

/* The message about a parameter that none of them has use for. */
SFU_CHECKED sfu_status sfu__refuse_unused(const sfu__space *space, const char *text, const sfu__list_item *item,
                                          int32_t k);

/* The places of the parameters in the text that was given; NULL where they have none. */
typedef struct sfu__space_source {
    const char *text;
    const char *places[SFU__SPACE_PARAMETERS];
} sfu__space_source;

/* The network of these values; `quiet`: without notes. */
SFU_CHECKED sfu_status sfu__space_network(sfu_net **made, const sfu__space *space, int net, const double *values,
                                          bool quiet);

/* Whether training takes this number, where the name is one of its settings. */
SFU_CHECKED sfu_status sfu__setting_check(const char *name, double number);

/* Tries every network with the ends of its ranges. */
SFU_CHECKED sfu_status sfu__space_check(const sfu__space *space, const sfu__space_source *source);

#endif
