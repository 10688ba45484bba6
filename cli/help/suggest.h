/* suggest.h - "did you mean" suggestions for unknown words. */
#ifndef SFU_SUGGEST_H
#define SFU_SUGGEST_H

/* The candidate with the smallest edit distance to a word. Starts as {word}. */
typedef struct cli_suggestion {
    const char *word;
    const char *best; /* NULL: none is close enough */
    int distance;
} cli_suggestion;

void suggest(cli_suggestion *suggestion, const char *candidate);

/* " (did you mean data?)", with `prefix` before the word, or "" if none is close enough. */
enum { SUGGESTION_MAX = 80 };
const char *suggestion_text(char text[SUGGESTION_MAX], const cli_suggestion *suggestion, const char *prefix);

#endif
