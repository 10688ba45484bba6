/* suggest.h - what somebody may have meant who typed a word that is not known. */
#ifndef SFU_SUGGEST_H
#define SFU_SUGGEST_H

/* Keeps the candidate nearest to a word. Starts as {word}. */
typedef struct cli_suggestion {
    const char *word;
    const char *best; /* NULL: nothing is near enough */
    int distance;
} cli_suggestion;

void suggest(cli_suggestion *suggestion, const char *candidate);

/* " (did you mean data?)", with `prefix` before the word, or "" where nothing is near. */
enum { SUGGESTION_MAX = 80 };
const char *suggestion_text(char text[SUGGESTION_MAX], const cli_suggestion *suggestion, const char *prefix);

#endif
