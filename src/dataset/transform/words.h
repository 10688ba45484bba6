/* words.h - free text as words, and lists of numbers in one cell. */
#ifndef SFU_WORDS_H
#define SFU_WORDS_H

#include "status.h"

/* A word: a run of letters, digits and bytes from 0x80 on, at least two bytes, in lower case (ASCII and the letters of
 * Latin-1); at most SFU__WORD_MAX bytes of it count. */
enum { SFU__WORD_MAX = 64 };

/* Reads the next word after *at; false after the last. */
bool sfu__next_word(char word[SFU__WORD_MAX], size_t *size, const char **at, const char *end);

/* A fixed hash (FNV-1a), for the words beyond the vocabulary: the same on every machine. */
uint64_t sfu__word_hash(const char *word, size_t size);

/* Reads the next number of a list such as "0,1,0", "12;75;80", "1 2 3" or "[1, 2]" after *at. False at the end; then
 * *valid tells whether the text was a list. */
bool sfu__next_number(double *value, const char **at, const char *end, bool *valid);

#endif
