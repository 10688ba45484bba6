#include "suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 40 };

static int min(int a, int b) { return a < b ? a : b; }

static int lower(char c) { return tolower((unsigned char)c); }

/* Case-insensitive optimal string alignment distance: insertions, deletions, substitutions and transpositions. The
 * table has one row per letter of `a`; only three rows are needed at a time. */
static int edit_distance(const char *a, const char *b) {
    const int rows = (int)strlen(a), columns = (int)strlen(b);
    int table[3][LONGEST + 1];
    for (int j = 0; j <= columns; j++) {
        table[0][j] = j;
    }
    for (int i = 1; i <= rows; i++) {
        const int *before = table[(i - 1) % 3], *before_that = table[(i + 1) % 3];
        int *row = table[i % 3];
        row[0] = i;
        for (int j = 1; j <= columns; j++) {
            const int change = before[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            row[j] = min(min(before[j], row[j - 1]) + 1, change);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
                row[j] = min(row[j], before_that[j - 2] + 1);
            }
        }
    }
    return table[rows % 3][columns];
}

void suggest(cli_suggestion *suggestion, const char *candidate) {
    const size_t size = strlen(suggestion->word);
    if (size < 1 || size > LONGEST || strlen(candidate) > LONGEST) {
        return;
    }
    int distance = edit_distance(suggestion->word, candidate);
    if (size >= 2 && strncmp(suggestion->word, candidate, size) == 0) {
        distance = 1; /* a prefix counts as one typo */
    }
    const int near = size <= 3 ? 1 : size <= 6 ? 2 : 3;
    if (distance <= near && (!suggestion->best || distance < suggestion->distance)) {
        suggestion->best = candidate;
        suggestion->distance = distance;
    }
}

const char *suggestion_text(char text[SUGGESTION_MAX], const cli_suggestion *suggestion, const char *prefix) {
    text[0] = '\0';
    if (suggestion->best) {
        snprintf(text, SUGGESTION_MAX, " (did you mean %s%s?)", prefix, suggestion->best);
    }
    return text;
}
