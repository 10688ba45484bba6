/* csv.h - streaming reader of CSV (RFC 4180), TSV and blank-separated edge lists.
 *
 * - The separator is the one of comma, tab and semicolon that is most frequent in the first row (ties: in this order).
 *   A row without any is one field, or in an edge list fields separated by blanks.
 * - A field that starts with a quote ends at the next single quote character; two quotes inside mean one; separators
 *   and line ends inside belong to the field. Blanks around a field are removed unless quoted.
 * - Lines end with LF or CRLF; empty lines are skipped; a byte order mark is skipped; a NUL byte is an error.
 * - An edge list may begin with comment lines that start with # or %.
 * - All rows have as many fields as the first.
 *
 * The first row is a header if some column has a number in the second row and none of these columns has one in the
 * first row; or if it has well-known names (see csv_open.c); or if it contains `label` or `id`.
 */
#ifndef SFU_CSV_H
#define SFU_CSV_H

#include "file.h"
#include "progress.h"

typedef struct sfu__csv_field {
    const char *bytes; /* unquoted, not terminated */
    size_t size;
} sfu__csv_field;

/* How to read a file. */
typedef struct sfu__csv_rules {
    sfu_header header;
    bool edges;        /* allow comments at the top and blanks as separators */
    bool lines;        /* each line is one field, quotes are not special, and empty lines count */
    const char *label; /* name of a column, or NULL */
    const char *id;    /* another one */
    char decimal;      /* of numbers: ',', else '.' */
    sfu_progress_fn progress;
    void *progress_user;
} sfu__csv_rules;

enum { SFU__CSV_ROW_MAX = 1 << 28 };

/* An open file and its current row. Starts as {0}. */
typedef struct sfu__csv {
    const char *path; /* borrowed */
    bool has_header;
    sfu__strings header; /* `width` names, or empty */
    size_t width;        /* fields per row; 0: the file has no row */
    char separator;      /* ',', '\t', ';', ' ' (blanks), or 0: one field per line */

    sfu__csv_field *fields; /* of the current row */
    int64_t line;           /* line number of the current row, from 1 */

    /* internals */
    sfu__csv_rules rules;
    sfu__stream_file *stream;
    sfu__ticker ticker;
    sfu__text what; /* for the ticker */
    char *buffer;   /* bytes [begin, end) are unread; those from `keep` on must be preserved */
    size_t keep, begin, end, capacity;
    int64_t buffer_offset; /* of buffer[0] in the file */
    int64_t next_line;     /* line number of buffer[begin] */
    bool ended;            /* the stream is at its end */
    size_t field_count, field_capacity;
    char *scratch; /* unescaped contents of fields with doubled quotes */
    size_t scratch_capacity, scratch_used;
    int64_t width_line; /* line number of the row that set the width */
} sfu__csv;

/* Opens a file and positions it before the first row of data. `path` must outlive it. */
SFU_CHECKED sfu_status sfu__csv_open(sfu__csv *csv, const char *path, const sfu__csv_rules *rules);
void sfu__csv_close(sfu__csv *csv);

/* Moves to the next row; *more is false after the last. */
SFU_CHECKED sfu_status sfu__csv_next(sfu__csv *csv, bool *more);

/* Reads the next row into `fields` and stays before it. */
SFU_CHECKED sfu_status sfu__csv_peek(sfu__csv *csv, bool *more);

/* The offset of the next row in the (decompressed) file. */
int64_t sfu__csv_offset(const sfu__csv *csv);

/* Parses a whole field as a number, with a decimal comma if `decimal` is ','. */
bool sfu__csv_parse(double *number, const sfu__csv_field *field, char decimal);

/* Parses a column of the current row as a number within the range of a float. */
SFU_CHECKED sfu_status sfu__csv_number(const sfu__csv *csv, size_t column, float *value);

/* Fails with 'PATH:LINE: column NAME: "VALUE" MESSAGE' for a field of the current row, or without column and value for
 * the row as a whole. */
sfu_status sfu__csv_fail(const sfu__csv *csv, size_t column, const char *message);
sfu_status sfu__csv_fail_row(const sfu__csv *csv, const char *format, ...) SFU_PRINTF(2, 3);

/* The quoted name of a column in the header, or its number from 1. */
const char *sfu__csv_column(const sfu__csv *csv, size_t column, char name[SFU__QUOTE_MAX]);

/* Whether a field, or a name of the header, equals a word, ignoring case. */
bool sfu__csv_is(const char *bytes, size_t size, const char *word);

#endif
