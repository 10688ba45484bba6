/* csv_int.h - the insides that csv.c (rows and fields) and csv_open.c (the start of a file) share. */
#ifndef SFU_CSV_INT_H
#define SFU_CSV_INT_H

#include "csv.h"

/* As separator: it is not known yet, and each of them may end a quoted field. */
enum { SFU__CSV_ANY = 1 };

bool sfu__csv_is_separator(const sfu__csv *csv, char c);
bool sfu__csv_only_blanks(const char *p, const char *end);

/* Reads more behind what is in the buffer. The bytes from `keep` on stay, and move to its front. */
SFU_CHECKED sfu_status sfu__csv_fill(sfu__csv *csv);

/* Takes the next row that is not empty out of the buffer: [*row, *end). */
SFU_CHECKED sfu_status sfu__csv_take_row(sfu__csv *csv, const char **row, const char **end, bool *more);

/* Cuts a row into fields. */
SFU_CHECKED sfu_status sfu__csv_split_row(sfu__csv *csv, const char *p, const char *end);

#endif
