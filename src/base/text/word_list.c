/* word_list.c - spelling suggestions by edit distance, and lists of words. */
#include "word_list.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 24 };

static int lower(char c) { return tolower((unsigned char)c); }
static int least(int a, int b) { return a < b ? a : b; }

/* Levenshtein distance, ignoring case. Only one row of the table is stored: row[j] for the first j letters of the word.
 */
static int distance(const char *bytes, size_t size, const char *word) {
    const int columns = (int)strlen(word);
    int row[LONGEST + 1];
    for (int j = 0; j <= columns; j++) {
        row[j] = j;
    }
    for (size_t i = 0; i < size; i++) {
        int diagonal = row[0];
        row[0] = (int)i + 1;
        for (int j = 1; j <= columns; j++) {
            const int change = diagonal + (lower(bytes[i]) != lower(word[j - 1]));
            diagonal = row[j];
            row[j] = least(change, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[columns];
}

const char *sfu__nearest_word(const char *bytes, size_t size, const char *const *words) {
    const char *best = NULL;
    int best_distance = size <= 3 ? 2 : 3; /* suggestions must be closer than this */
    for (int i = 0; size <= LONGEST && words[i] != NULL; i++) {
        const int d = strlen(words[i]) <= LONGEST ? distance(bytes, size, words[i]) : best_distance;
        if (d < best_distance) {
            best_distance = d;
            best = words[i];
        }
    }
    return best;
}

const char *sfu__list_words(char list[SFU__LIST_MAX], const char *const *words, const char *before_last) {
    size_t used = 0;
    list[0] = '\0';
    for (int i = 0; words[i] != NULL && used < SFU__LIST_MAX; i++) {
        const char *between = i == 0 ? "" : words[i + 1] == NULL ? before_last : ", ";
        used += (size_t)snprintf(list + used, SFU__LIST_MAX - used, "%s%s", between, words[i]);
    }
    return list;
}
