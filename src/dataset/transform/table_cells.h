/* table_cells.h - the cells of a table, column by column, as they were written in the file.
 *
 * A cell is a number, missing, or a word: one of the distinct texts of its column. All three are stored in one double:
 * a NaN holds the code of a missing cell or of a word in its payload.
 */
#ifndef SFU_TABLE_CELLS_H
#define SFU_TABLE_CELLS_H

#include "node_index.h"

#include <string.h>

/* How cells are written. Starts as {.decimal = '.'}. */
typedef struct sfu__cell_rules {
    char decimal;         /* '.' or ',' */
    sfu__strings missing; /* spellings of missing cells, in addition to the usual ones */
} sfu__cell_rules;

typedef struct sfu__cell_column {
    double *values; /* [rows]; NULL if the column is skipped */
    size_t capacity;
    sfu__node_index words; /* the distinct texts, in the order of their first rows */
    bool exact;            /* numbers are words, too: their spelling matters */
    bool skipped;          /* the cells are not needed */
} sfu__cell_column;

/* Starts as {0}. */
typedef struct sfu__cells {
    int64_t rows;
    size_t width;
    sfu__cell_column *columns; /* [width] */
} sfu__cells;

enum { SFU__CELL_NUMBER = -2, SFU__CELL_MISSING = -1 }; /* codes that are not words */

static inline double sfu__cell_from_code(int64_t code) {
    const uint64_t bits = UINT64_C(0x7ff8000000000000) | (uint64_t)(code + 2);
    double cell;
    memcpy(&cell, &bits, sizeof cell);
    return cell;
}

/* The number of the word, SFU__CELL_MISSING or SFU__CELL_NUMBER. */
static inline int64_t sfu__cell_code(double cell) {
    uint64_t bits;
    memcpy(&bits, &cell, sizeof bits);
    return cell == cell ? SFU__CELL_NUMBER : (int64_t)(bits & UINT64_C(0xffffffffff)) - 2;
}

SFU_CHECKED sfu_status sfu__cells_start(sfu__cells *cells, size_t width);
void sfu__cells_clear(sfu__cells *cells);

/* Whether a text stands for a missing cell: empty, NA, N/A, nan, NULL, None, ? in any case, or one of the rules. */
bool sfu__cell_is_missing(const sfu__cell_rules *rules, const char *bytes, size_t size);

/* Whether a text is a number within the range of a float. */
bool sfu__cell_is_number(double *value, const sfu__cell_rules *rules, const char *bytes, size_t size);

/* Turns a text into a cell; `words` and `exact` are those of its column, or of a part of it. */
SFU_CHECKED sfu_status sfu__cell_make(double *cell, sfu__node_index *words, bool exact, const sfu__cell_rules *rules,
                                      const char *bytes, size_t size);

/* Appends the cell of row `row`, which must be the next one. */
SFU_CHECKED sfu_status sfu__cell_column_add(sfu__cell_column *column, int64_t row, const sfu__cell_rules *rules,
                                            const char *bytes, size_t size);

/* Turns the numbers of a column into words: the shortest spelling of each. */
SFU_CHECKED sfu_status sfu__cell_column_spell(sfu__cell_column *column, int64_t rows);

/* The first row with a word, -1 if there is none; `wanted` is its code, or negative for any. */
int64_t sfu__cell_column_find(const sfu__cell_column *column, int64_t rows, int64_t wanted);

#endif
