/* word_list.h - what somebody probably meant, and lists of what would be right, for messages. */
#ifndef SFU_WORD_LIST_H
#define SFU_WORD_LIST_H

#include <stddef.h>

/* The one of `words` (NULL after the last) that these bytes were probably meant to be, or NULL. */
const char *sfu__nearest_word(const char *bytes, size_t size, const char *const *words);

/* "a, b or c", with the word before the last. Returns `list`. */
enum { SFU__LIST_MAX = 160 };
const char *sfu__list_words(char list[SFU__LIST_MAX], const char *const *words, const char *before_last);

#endif
