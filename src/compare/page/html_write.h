/* html_write.h - writing HTML: text from data cannot become markup. */
#ifndef SFU_HTML_WRITE_H
#define SFU_HTML_WRITE_H

#include "text.h"

/* sfu__html(html, markup, texts...): markup as it stands, in which each %s is the next of the texts, escaped, fit for
 * content and for quoted attributes; %% is a %. */
#define sfu__html(html, ...) sfu__html_put((html), (const char *const[]){__VA_ARGS__, NULL})
SFU_CHECKED sfu_status sfu__html_put(sfu__text *html, const char *const *markup_and_texts);

/* Escapes a text. Control characters and bytes that are not UTF-8 become U+FFFD. */
SFU_CHECKED sfu_status sfu__html_escape(sfu__text *html, const char *bytes, size_t size);

#endif
