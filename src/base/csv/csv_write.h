/* csv_write.h - CSV going out, so that csv.h reads the same back: fields quoted as RFC 4180 has it, where needed. */
#ifndef SFU_CSV_WRITE_H
#define SFU_CSV_WRITE_H

#include "file.h"

/* Writes one field: in quotes where it is empty, holds a separator, quote or line end, begins or ends with a blank, or
 * begins as a comment does. A writer for spreadsheets puts a ' before text that would be run as a formula: =, +, -, @,
 * a tab or a line end at its beginning, unless it is a number, and before text that is that behind quotes. */
SFU_CHECKED sfu_status sfu__csv_put(sfu__writer *writer, const char *bytes, size_t size);

/* Whether a field may have got such a ', which is its first byte. */
bool sfu__csv_has_apostrophe(const char *bytes, size_t size);

#endif
