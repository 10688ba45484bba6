/* transform_int.h - internals shared by the files that fit and apply a column transformation. */
#ifndef SFU_TRANSFORM_INT_H
#define SFU_TRANSFORM_INT_H

#include "transform.h"

/* Sorts numbers, which must not be NaN, by value. */
SFU_CHECKED sfu_status sfu__sort_numbers(double *numbers, int64_t count);

/* The median of the numbers that are not NaN, all from `least` to `most`: the mean of the two in the middle; 0 if there
 * are none. */
SFU_CHECKED sfu_status sfu__median(double *median, const double *numbers, int64_t count, double least, double most);

/* Value of a boolean word: 0, 1, or -1 if it is none. */
int sfu__boolean_word(const char *bytes, size_t size);

/* Counts over the cells of a column. */
typedef struct sfu__column_counts {
    int64_t missing, numbers, words; /* cells */
    double least, most;              /* of the numbers */
    bool whole, binary, negative;    /* all numbers are whole; 0 or 1; some are negative */
    int64_t zeros;
} sfu__column_counts;

void sfu__count_cells(sfu__column_counts *counts, const double *values, int64_t rows);

/* Decides the type of a column that was not declared, and checks one that was. `order` is set for dates. */
SFU_CHECKED sfu_status sfu__detect_type(sfu__transform_column *column, sfu__cell_column *cells, int64_t rows,
                                        const sfu__column_counts *counts, const sfu__transform_input *input);

/* Fails with "PATH:LINE: column NAME: "VALUE" MESSAGE" for the first row with the word `code`. */
sfu_status sfu__fail_cell(const sfu__transform_input *input, const char *name, const sfu__cell_column *cells,
                          int64_t rows, int64_t code, const char *message);

/* Vocabulary of a text column, and width of a list. */
SFU_CHECKED sfu_status sfu__fit_words(sfu__transform_column *column, const sfu__cell_column *cells, int64_t rows);
SFU_CHECKED sfu_status sfu__fit_list(sfu__transform_column *column, const sfu__cell_column *cells, int64_t rows);

/* The index of a name in a sorted list, -1 if it is missing. */
int64_t sfu__sorted_find(const sfu__strings *sorted, const char *bytes, size_t size);

/* Keeps the `most` names with the highest counts (ties: by bytes), sorted by bytes. */
SFU_CHECKED sfu_status sfu__keep_frequent(sfu__strings *kept, const sfu__node_index *names, const int64_t *counts,
                                          int64_t most);

#endif
