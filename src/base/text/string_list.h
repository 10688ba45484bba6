/* string_list.h - a growing list of strings. */
#ifndef SFU_STRING_LIST_H
#define SFU_STRING_LIST_H

#include "status.h"

/* Owns its strings. Starts as {0}. */
typedef struct sfu__string_list {
    char **items;
    int count;
    size_t capacity;
} sfu__string_list;

SFU_CHECKED sfu_status sfu__string_list_add(sfu__string_list *list, const char *text);
bool sfu__string_list_has(const sfu__string_list *list, const char *text);
void sfu__string_list_clear(sfu__string_list *list);

/* The index of a string, which is added if the list does not have it yet. */
SFU_CHECKED sfu_status sfu__string_list_index(int *index, sfu__string_list *list, const char *text);

#endif
