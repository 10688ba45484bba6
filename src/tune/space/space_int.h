/* space_int.h - internals of search spaces: parsing, checking, printing.
 *
 * A text is parsed to a list of named ranges (space_parse.c), after those of a preset (space_presets.c). The list and
 * the networks become a space (space.c, space_nets.c), which is then checked at the endpoints of its ranges
 * (space_check.c).
 */
#ifndef SFU_SPACE_INT_H
#define SFU_SPACE_INT_H

#include "parse_error.h"
#include "space.h"

/* Limits of a space; SFU__SPACE_PARAMETERS is another. */
enum {
    SFU__SPACE_BYTES = 16 * 1024, /* bytes of the text */
    SFU__SPACE_CHOICES = 1024,    /* choices of one parameter */
    SFU__SPACE_NAME = 64          /* bytes of a name */
};

/* ---- scanner ----------------------------------------------------------------------------------------------------- */

typedef struct sfu__scanner {
    const char *text; /* the whole text */
    const char *p;
} sfu__scanner;

void sfu__scan_blanks(sfu__scanner *scanner);

/* Length of the name at the scanner, 0: none. Does not advance. */
size_t sfu__scan_name(const sfu__scanner *scanner);

/* A value: bare, or quoted with ' or ". */
typedef struct sfu__scanned {
    const char *position, *bytes;
    size_t size;
    bool quoted;
} sfu__scanned;
SFU_CHECKED sfu_status sfu__scan_value(sfu__scanned *value, sfu__scanner *scanner);

/* ---- domains ----------------------------------------------------------------------------------------------------- */

void sfu__domain_clear(sfu__domain *range);

/* Number of endpoints, and the i-th endpoint: for a choice, all values. */
int sfu__domain_ends(const sfu__domain *range);
double sfu__domain_end(const sfu__domain *range, int i);

/* The numeric value: for a choice, its number; NaN if the choice is a word. */
double sfu__domain_number(const sfu__domain *range, double value);

/* Prints the domain; and a value, as in a composition if `raw`, else as in a space. */
SFU_CHECKED sfu_status sfu__domain_print(sfu__text *text, const sfu__domain *range);
SFU_CHECKED sfu_status sfu__domain_print_value(sfu__text *text, const sfu__domain *range, double value, bool raw);

/* ---- lists of ranges --------------------------------------------------------------------------------------------- */

typedef struct sfu__list_item {
    char *name;
    sfu__domain range;
    const char *position; /* position of the name in the text; NULL: from a preset, and may be removed */
} sfu__list_item;

/* Starts as {0}. The extra capacity is for ranges of a preset that are removed later. */
enum { SFU__LIST_ITEMS = SFU__SPACE_PARAMETERS + 16 };
typedef struct sfu__range_list {
    sfu__list_item items[SFU__LIST_ITEMS];
    int count;
    bool paper;
} sfu__range_list;

/* Parses "name=range ..." and appends it to the list; `text` may replace earlier ranges but not repeat its own names.
 * `preset`: the text is that of a preset, and its items have no position. */
SFU_CHECKED sfu_status sfu__list_read(sfu__range_list *list, const char *text, const char *from, bool preset);
int sfu__list_find(const sfu__range_list *list, const char *name, size_t size);
void sfu__list_clear(sfu__range_list *list);

/* Parses a text that may begin with the name of a preset; NULL is "paper". */
SFU_CHECKED sfu_status sfu__list_make(sfu__range_list *list, const char *text);

/* ---- networks ---- */

/* Whether a network contains $name. */
bool sfu__net_has_variable(const char *net, const char *name);

/* Whether a network uses a parameter; `k`: the largest number of smoothings that it may get. */
bool sfu__net_uses(const char *net, const char *name, int32_t k);

/* Fails with the message about a parameter that no network uses. */
SFU_CHECKED sfu_status sfu__refuse_unused(const sfu__space *space, const char *text, const sfu__list_item *item,
                                          int32_t k);

/* Positions of the parameters in the user's text; NULL where they have none. */
typedef struct sfu__space_source {
    const char *text;
    const char *positions[SFU__SPACE_PARAMETERS];
} sfu__space_source;

/* The network of these values; `quiet`: without notes. */
SFU_CHECKED sfu_status sfu__space_network(sfu_net **made, const sfu__space *space, int net, const double *values,
                                          bool quiet);

/* Checks a value of a training hyperparameter; other names are accepted. */
SFU_CHECKED sfu_status sfu__setting_check(const char *name, double number);

/* Checks every network at the endpoints of its ranges. */
SFU_CHECKED sfu_status sfu__space_check(const sfu__space *space, const sfu__space_source *source);

#endif
