/* string_list.c - a growing list of strings. */
#include "string_list.h"

#include "memory.h"
#include "text.h"

#include <string.h>

sfu_status sfu__string_list_add(sfu__string_list *list, const char *text) {
    char **grown = sfu__grow(list->items, &list->capacity, (size_t)list->count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    list->items = grown;
    list->items[list->count] = sfu__copy_string(text);
    if (list->items[list->count] == NULL) {
        return SFU_ERR_MEMORY;
    }
    list->count++;
    return SFU_OK;
}

bool sfu__string_list_has(const sfu__string_list *list, const char *text) {
    for (int i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0) {
            return true;
        }
    }
    return false;
}

void sfu__string_list_clear(sfu__string_list *list) {
    for (int i = 0; i < list->count; i++) {
        sfu__free(list->items[i]);
    }
    sfu__free(list->items);
    *list = (sfu__string_list){0};
}

sfu_status sfu__string_list_index(int *index, sfu__string_list *list, const char *text) {
    for (int i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0) {
            *index = i;
            return SFU_OK;
        }
    }
    *index = list->count;
    return sfu__string_list_add(list, text);
}
