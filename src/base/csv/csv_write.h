/* csv_write.h - writes CSV fields that csv.h reads back unchanged, quoted as in RFC 4180 where needed. */
#ifndef SFU_CSV_WRITE_H
#define SFU_CSV_WRITE_H

#include "file.h"

/* Writes one field; quoted if it is empty, contains a separator, quote or line end, begins or ends with a blank, or
 * begins like a comment. A writer for spreadsheets puts a ' before text that would be executed as a formula (text that
 * begins with =, +, -, @, a tab or a line end and is not a number), and before text that is such after apostrophes. */
SFU_CHECKED sfu_status sfu__csv_put(sfu__writer *writer, const char *bytes, size_t size);

/* Whether a field may have got such a ' as its first byte. */
bool sfu__csv_has_apostrophe(const char *bytes, size_t size);

#endif
