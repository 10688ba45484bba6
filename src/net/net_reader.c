/* net_reader.c - the tokenizer of the composition language. */
#include "net_int.h"

#include <string.h>
#include <strings.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_sign(char c) { return c != '\0' && strchr("|^(),=", c) != NULL; }
static bool ends_word(char c) { return c == '\0' || c == '"' || is_blank(c) || is_sign(c); }

/* A name in quotes: any bytes but a quote. */
static sfu__token read_name(const char *place) {
    const char *end = strchr(place + 1, '"');
    return end == NULL ? (sfu__token){SFU__TOKEN_OPEN_NAME, place, place + 1, strlen(place + 1)}
                       : (sfu__token){SFU__TOKEN_NAME, place, place + 1, (size_t)(end - place - 1)};
}

void sfu__reader_step(sfu__reader *reader) {
    const char *p = reader->next;
    while (is_blank(*p)) {
        p++;
    }
    if (*p == '"') {
        reader->token = read_name(p);
        reader->next = reader->token.bytes + reader->token.size + (reader->token.kind == SFU__TOKEN_NAME);
    } else if (*p == '\0' || is_sign(*p)) {
        reader->token = (sfu__token){*p, p, p, *p != '\0'};
        reader->next = p + (*p != '\0');
    } else {
        const char *end = p;
        while (!ends_word(*end)) {
            end++;
        }
        reader->token = (sfu__token){SFU__TOKEN_WORD, p, p, (size_t)(end - p)};
        reader->next = end;
    }
}

sfu__reader sfu__reader_start(const char *text) {
    sfu__reader reader = {.text = text, .next = text};
    sfu__reader_step(&reader);
    return reader;
}

bool sfu__token_is(const sfu__token *token, const char *word) {
    return token->kind == SFU__TOKEN_WORD && token->size == strlen(word) &&
           strncasecmp(token->bytes, word, token->size) == 0;
}
