/* csv_int.h - internals shared by csv.c (rows and fields) and csv_open.c (the start of a file). */
#ifndef SFU_CSV_INT_H
#define SFU_CSV_INT_H

#include "csv.h"

/* As separator: not known yet, and any of them ends a quoted field. */
enum { SFU__CSV_ANY = 1 };

bool sfu__csv_is_separator(const sfu__csv *csv, char c);
bool sfu__csv_only_blanks(const char *p, const char *end);

/* Reads more into the buffer. The bytes from `keep` on are preserved and move to its front. */
SFU_CHECKED sfu_status sfu__csv_fill(sfu__csv *csv);

/* Takes the next non-empty row out of the buffer: [*row, *end). */
SFU_CHECKED sfu_status sfu__csv_take_row(sfu__csv *csv, const char **row, const char **end, bool *more);

/* Splits a row into fields. */
SFU_CHECKED sfu_status sfu__csv_split_row(sfu__csv *csv, const char *p, const char *end);

#endif
