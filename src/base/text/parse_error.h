/* parse_error.h - error messages with a caret, three lines: what is wrong and what was expected, the text, and a caret
 * under the position of the error.
 */
#ifndef SFU_PARSE_ERROR_H
#define SFU_PARSE_ERROR_H

#include "status.h"

/* Sets the message for an error at `place`, inside `text` or at its end. */
#define sfu__fail_parse(text, place, ...)                                                                              \
    sfu__failed(SFU_ERR_ARGUMENT, sfu__write_parse_error(text, place, __VA_ARGS__))
int sfu__write_parse_error(const char *text, const char *place, const char *format, ...) SFU_PRINTF(3, 4);

#endif
