/* word_list.h - spelling suggestions and lists of words, for messages. */
#ifndef SFU_WORD_LIST_H
#define SFU_WORD_LIST_H

#include <stddef.h>

/* The word of `words` (terminated by NULL) that the bytes were probably meant to be, or NULL. */
const char *sfu__nearest_word(const char *bytes, size_t size, const char *const *words);

/* "a, b or c", with `before_last` between the last two. Returns `list`. */
enum { SFU__LIST_MAX = 160 };
const char *sfu__list_words(char list[SFU__LIST_MAX], const char *const *words, const char *before_last);

#endif
