/* csv.h - rows of fields out of a text file, streamed: CSV as RFC 4180 has it, TSV, blank-separated edge lists.
 *
 * - Fields are separated by the one of comma, tab and semicolon that the first row has most of (in this order when
 *   equal); a row without any is one field, or in an edge list fields separated by blanks.
 * - A field that starts with a quote ends at the next single one; two quotes inside stand for one; separators and line
 *   ends inside belong to it. Blanks around a field do not belong to it unless they are quoted.
 * - Lines end with LF or CRLF; empty lines are skipped; a byte order mark is skipped; a zero byte is an error.
 * - An edge list may begin with comment lines that start with # or %.
 * - All rows have as many fields as the first.
 *
 * The first row is a header when there is a column in which the second row has a number, and in none of those columns
 * the first row has one; or when it says what we write ourselves (see csv.c); or when `label` stands in it.
 */
#ifndef SFU_CSV_H
#define SFU_CSV_H

#include "file.h"
#include "progress.h"

typedef struct sfu__csv_field {
    const char *bytes; /* quotes resolved, not terminated */
    size_t size;
} sfu__csv_field;

/* How to read a file. */
typedef struct sfu__csv_rules {
    sfu_header header;
    bool edges;        /* comments at the top, blanks may separate */
    bool lines;        /* a line is one field, quoted or not, and empty lines count */
    const char *label; /* or NULL */
    sfu_progress_fn progress;
    void *progress_user;
} sfu__csv_rules;

enum { SFU__CSV_ROW_MAX = 1 << 28 };

/* An open file and its current row. Starts as {0}. */
typedef struct sfu__csv {
    const char *path; /* borrowed */
    bool has_header;
    sfu__strings header; /* width names, or none */
    size_t width;        /* fields of every row; 0: the file has no row */
    char separator;      /* ',', '\t', ';', ' ' (blanks), or 0: one field a line */

    sfu__csv_field *fields; /* of the current row */
    int64_t line;           /* where the current row starts, from 1 */

    /* insides */
    sfu__csv_rules rules;
    sfu__stream_file *stream;
    sfu__ticker ticker;
    sfu__text what; /* of the ticker */
    char *buffer;   /* bytes [begin, end) are not read yet; those from `keep` on may be wanted again */
    size_t keep, begin, end, capacity;
    int64_t buffer_offset; /* of buffer[0] in the file */
    int64_t next_line;     /* the line of buffer[begin] */
    bool ended;            /* the stream has */
    size_t field_count, field_capacity;
    char *scratch; /* fields with doubled quotes, without them */
    size_t scratch_capacity, scratch_used;
    int64_t width_line; /* the row that set the width */
} sfu__csv;

/* Opens a file and stands before its first row of data. `path` must outlive it. */
SFU_CHECKED sfu_status sfu__csv_open(sfu__csv *csv, const char *path, const sfu__csv_rules *rules);
void sfu__csv_close(sfu__csv *csv);

/* Moves to the next row; *more is false after the last. */
SFU_CHECKED sfu_status sfu__csv_next(sfu__csv *csv, bool *more);

/* Where in the (inflated) file the next row starts. */
int64_t sfu__csv_offset(const sfu__csv *csv);

/* The number in a column of the current row: finite, and within a float. */
SFU_CHECKED sfu_status sfu__csv_number(const sfu__csv *csv, size_t column, float *value);

/* Fails with 'PATH: line N: column NAME: "VALUE" WRONG' about a field of the current row, or without the column and
 * value where the row itself is wrong. */
sfu_status sfu__csv_fail(const sfu__csv *csv, size_t column, const char *wrong);
sfu_status sfu__csv_fail_row(const sfu__csv *csv, const char *format, ...) SFU_PRINTF(2, 3);

/* What a column is called: its name in the header, else its number from 1. */
const char *sfu__csv_column(const sfu__csv *csv, size_t column, char name[SFU__QUOTE_MAX]);

/* Whether a field, or a name of the header, is this word, in any case. */
bool sfu__csv_is(const char *bytes, size_t size, const char *word);

#endif
