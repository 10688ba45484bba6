/* lists.h - lists in one word of a command line: networks a,b,c, label-set sizes 1..5. */
#ifndef SFU_LISTS_H
#define SFU_LISTS_H

#include <stdbool.h>

/* Texts of its own. Starts as {0}; list_clear also after a failure. */
typedef struct cli_list {
    char **items;
    int count;
} cli_list;

void list_clear(cli_list *list);

/* Networks with commas between; a comma inside of brackets or quotes belongs to the network, blanks around one do not.
 * Both return false where there is nothing between two commas. */
bool list_nets(cli_list *list, const char *text);

/* Sizes with commas between: "1..5" is each of them. Also false where a range is none. */
bool list_sizes(cli_list *list, const char *text);

#endif
