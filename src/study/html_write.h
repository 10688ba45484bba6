/* html_write.h - HTML going out: what comes from data cannot be taken for markup. */
#ifndef SFU_HTML_WRITE_H
#define SFU_HTML_WRITE_H

#include "text.h"

/* Markup as it stands, in which each %s is the next of the texts, escaped, fit for content and for quoted attributes;
 * %% is a %. */
SFU_CHECKED sfu_status sfu__html(sfu__text *html, const char *markup, ...) SFU_PRINTF(2, 3);

/* A text alone. Control characters and what is not UTF-8 become U+FFFD. */
SFU_CHECKED sfu_status sfu__html_escape(sfu__text *html, const char *bytes, size_t size);

#endif
