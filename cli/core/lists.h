/* lists.h - comma-separated lists on a command line: networks a,b,c, label-set sizes 1..5. */
#ifndef SFU_LISTS_H
#define SFU_LISTS_H

#include <stdbool.h>

/* Owns its items. Starts as {0}; call list_clear also after a failure. */
typedef struct cli_list {
    char **items;
    int count;
} cli_list;

void list_clear(cli_list *list);

/* Comma-separated networks. A comma inside brackets or quotes belongs to the network; blanks around an item are
 * trimmed. Returns false for an empty item. */
bool list_nets(cli_list *list, const char *text);

/* Comma-separated sizes; "1..5" expands to 1,2,3,4,5. Returns false for an empty item or an invalid range. */
bool list_sizes(cli_list *list, const char *text);

#endif
