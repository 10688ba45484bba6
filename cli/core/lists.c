#include "lists.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS_MAX = 10000 };

void list_clear(cli_list *list) {
    for (int i = 0; i < list->count; i++) {
        free(list->items[i]);
    }
    free(list->items);
    *list = (cli_list){0};
}

/* Adds [begin, end) trimmed of blanks; false if it is empty or memory runs out. */
static bool add(cli_list *list, const char *begin, const char *end) {
    while (begin < end && isspace((unsigned char)*begin)) {
        begin++;
    }
    while (end > begin && isspace((unsigned char)end[-1])) {
        end--;
    }
    if (begin == end || list->count == ITEMS_MAX) {
        return false;
    }
    char **grown = realloc(list->items, ((size_t)list->count + 1) * sizeof *grown);
    char *item = strndup(begin, (size_t)(end - begin));
    list->items = grown ? grown : list->items;
    if (!grown || !item) {
        free(item);
        return false;
    }
    list->items[list->count++] = item;
    return true;
}

/* The end of the item: a comma outside of brackets and quotes, or the end of the text. */
static const char *item_end(const char *at) {
    int depth = 0;
    char quoted = '\0';
    for (; *at && (*at != ',' || depth > 0 || quoted); at++) {
        if (quoted) {
            quoted = *at == quoted ? '\0' : quoted;
        } else if (*at == '"' || *at == '\'') {
            quoted = *at;
        } else {
            depth += (*at == '(') - (*at == ')' && depth > 0);
        }
    }
    return at;
}

bool list_nets(cli_list *list, const char *text) {
    for (;;) {
        const char *end = item_end(text);
        if (!add(list, text, end)) {
            return false;
        }
        if (!*end) {
            return true;
        }
        text = end + 1;
    }
}

/* Parses "1..5". */
static bool read_range(const char *text, size_t size, long *first, long *last) {
    char word[32], *end;
    if (size >= sizeof word) {
        return false;
    }
    memcpy(word, text, size);
    word[size] = '\0';
    *first = strtol(word, &end, 10);
    if (end == word || strncmp(end, "..", 2) != 0 || !isdigit((unsigned char)end[2])) {
        return false;
    }
    *last = strtol(end + 2, &end, 10);
    return *end == '\0' && *first >= 1 && *first <= *last && *last - *first < ITEMS_MAX;
}

static bool add_range(cli_list *list, long first, long last) {
    char number[32];
    bool added = true;
    for (long i = first; i <= last && added; i++) {
        const int size = snprintf(number, sizeof number, "%ld", i);
        added = add(list, number, number + size);
    }
    return added;
}

bool list_sizes(cli_list *list, const char *text) {
    for (;;) {
        const size_t size = strcspn(text, ",");
        const char *dots = strstr(text, "..");
        long first, last;
        const bool is_range = dots && dots < text + size;
        if (is_range ? !read_range(text, size, &first, &last) || !add_range(list, first, last)
                     : !add(list, text, text + size)) {
            return false;
        }
        if (!text[size]) {
            return true;
        }
        text += size + 1;
    }
}
