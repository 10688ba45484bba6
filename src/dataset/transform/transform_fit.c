/* transform_fit.c - fits a column transformation to a table; see transform.h.
 *
 * Sums are taken over blocks of BLOCK rows and then over the blocks, in row order, so that they depend neither on the
 * number of threads nor on how the file was read. Mean and standard deviation (of the population) are those of the
 * column with its missing cells set to the median, as sklearn's SimpleImputer and StandardScaler compute them.
 */
#include "transform_int.h"
#include "parallel.h"
#include "progress.h"

#include <float.h>
#include <math.h>

enum { BLOCK = 4096 };

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* The values of a column of numbers, dates or booleans, as numbers; missing cells stay NaN. */
static sfu_status read_values(double *values, const sfu__transform_column *column, const sfu__cell_column *cells,
                              int64_t rows) {
    sfu_status status = SFU_OK;
    double *of_word = NULL;
    SFU_ALLOC(of_word, cells->words.count);
    for (int64_t i = 0; i < cells->words.count; i++) {
        char digits[SFU__DIGITS_MAX];
        size_t size;
        const char *word = sfu__node_index_name(&cells->words, i, digits, &size);
        of_word[i] = (double)NAN;
        if (column->type == SFU__TYPE_DATE) {
            (void)sfu__cell_date(&of_word[i], word, size, column->order);
        } else {
            of_word[i] = sfu__boolean_word(word, size);
        }
    }
    for (int64_t row = 0; row < rows; row++) {
        const int64_t code = sfu__cell_code(cells->values[row]);
        values[row] = code == SFU__CELL_NUMBER ? cells->values[row] : code >= 0 ? of_word[code] : (double)NAN;
    }
done:
    sfu__free(of_word);
    return status;
}

/* Sum of (x - centre)^power, power 1 or 2, in blocks; NaN stands for the median. */
static double block_sum(const double *x, int64_t rows, double median, double centre, int power) {
    double total = 0;
    for (int64_t begin = 0; begin < rows; begin += BLOCK) {
        const int64_t end = begin + BLOCK < rows ? begin + BLOCK : rows;
        double sum[4] = {0};
        for (int64_t i = begin; i < end; i++) {
            const double d = (x[i] == x[i] ? x[i] : median) - centre;
            sum[i & 3] += power == 1 ? d : d * d;
        }
        total += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    return total;
}

/* A column whose variance is within the rounding errors of its mean is constant: sd = 0. */
static void fit_mean(sfu__transform_column *column, const double *x, int64_t rows) {
    const double n = (double)rows;
    column->mean = block_sum(x, rows, column->median, 0, 1) / n;
    const double rest = block_sum(x, rows, column->median, column->mean, 1) / n;
    const double variance = block_sum(x, rows, column->median, column->mean, 2) / n - rest * rest;
    const double noise = n * column->mean * DBL_EPSILON;
    column->sd = variance <= n * DBL_EPSILON * variance + noise * noise ? 0 : sqrt(variance);
}

/* Quantile i of m is the value at rank (rows - 1) i / (m - 1), interpolated. The rank is rounded as in numpy's
 * percentile: among equal values, a rank that is not whole by a rounding error makes a difference. */
static sfu_status fit_quantiles(sfu__transform_column *column, const double *x, int64_t rows) {
    sfu_status status = SFU_OK;
    const int count = rows < SFU__QUANTILES_MAX ? (int)rows : SFU__QUANTILES_MAX;
    SFU_ALLOC(column->quantiles, count);
    column->quantile_count = count;
    for (int i = 0; i < count; i++) {
        const double share = i + 1 < count ? i * (1.0 / (count - 1)) : 1;
        const double rank = (double)(rows - 1) * (share * 100 / 100);
        const int64_t low = (int64_t)rank < rows - 1 ? (int64_t)rank : rows - 1;
        const int64_t high = low + 1 < rows ? low + 1 : low;
        const double t = rank - (double)low;
        const double value = t < 0.5 ? x[low] + (x[high] - x[low]) * t : x[high] - (x[high] - x[low]) * (1 - t);
        column->quantiles[i] = i > 0 && value < column->quantiles[i - 1] ? column->quantiles[i - 1] : value;
    }
done:
    return status;
}

/* Inserts `rows` - `count` copies of the median into sorted numbers. */
static void insert_median(double *sorted, int64_t count, int64_t rows, double median) {
    int64_t at = count;
    while (at > 0 && sorted[at - 1] > median) {
        at--;
    }
    memmove(sorted + at + (rows - count), sorted + at, (size_t)(count - at) * sizeof *sorted);
    for (int64_t i = at; i < at + (rows - count); i++) {
        sorted[i] = median;
    }
}

static sfu_status sort_and_fit(sfu__transform_column *column, const double *values, int64_t rows) {
    sfu_status status = SFU_OK;
    double *given = NULL;
    int64_t count = 0;
    SFU_ALLOC(given, rows);
    for (int64_t row = 0; row < rows; row++) {
        given[count] = values[row];
        count += values[row] == values[row];
    }
    SFU_TRY(sfu__sort_numbers(given, count));
    column->median = count > 0 ? (given[(count - 1) / 2] + given[count / 2]) / 2 : 0;
    insert_median(given, count, rows, column->median);
    SFU_TRY(fit_quantiles(column, given, rows));
done:
    sfu__free(given);
    return status;
}

static sfu_status fit_values(sfu__transform_column *column, const double *values, int64_t rows,
                             const sfu__column_counts *counts, sfu__value_scale scale) {
    sfu_status status = SFU_OK;
    const bool scaled = column->type != SFU__TYPE_BOOLEAN && rows > 0;
    column->indicator = counts->numbers < rows;
    if (scaled && scale == SFU__VALUES_QUANTILE) {
        return sort_and_fit(column, values, rows);
    }
    SFU_TRY(sfu__median(&column->median, values, rows, counts->least, counts->most));
    SFU_TRY(sfu__poll());
    if (scaled && scale == SFU__VALUES_STANDARD) {
        fit_mean(column, values, rows);
    }
done:
    return status;
}

static sfu_status fit_numbers(sfu__transform_column *column, const sfu__cell_column *cells, int64_t rows,
                              const sfu__column_counts *counts, sfu__value_scale scale) {
    sfu_status status = SFU_OK;
    sfu__column_counts of_values;
    double *values = NULL;
    if (cells->words.count == 0) {
        return fit_values(column, cells->values, rows, counts, scale);
    }
    SFU_ALLOC(values, rows);
    SFU_TRY(read_values(values, column, cells, rows));
    sfu__count_cells(&of_values, values, rows);
    SFU_TRY(fit_values(column, values, rows, &of_values, scale));
done:
    sfu__free(values);
    return status;
}

/* ---- categories ------------------------------------------------------------------------------------------------- */

static sfu_status check_levels(const sfu__transform_column *column, const char *path) {
    for (int64_t i = 0; i < column->levels.count; i++) {
        size_t size;
        char quoted[SFU__QUOTE_MAX];
        char name[SFU__QUOTE_MAX];
        const char *level = sfu__strings_get(&column->levels, i, &size);
        if (!sfu__utf8_valid(level, size)) {
            return sfu__fail(SFU_ERR_FORMAT,
                             "%s: column %s: %s is not UTF-8; convert the file with iconv -f LATIN1 -t UTF-8, or from "
                             "whatever it is in",
                             path, sfu__quote(name, column->name, strlen(column->name)),
                             sfu__quote(quoted, level, size));
        }
    }
    return SFU_OK;
}

static sfu_status fit_levels(sfu__transform_column *column, const sfu__cell_column *cells, int64_t rows,
                             const char *path) {
    sfu_status status = SFU_OK;
    int64_t *counts = NULL;
    int64_t missing = 0;
    const int64_t most = column->declared ? SFU__LEVELS_DECLARED_MAX : SFU__LEVELS_MAX;
    SFU_ALLOC_ZERO(counts, cells->words.count);
    for (int64_t row = 0; row < rows; row++) {
        const int64_t code = sfu__cell_code(cells->values[row]);
        if (code >= 0) {
            counts[code]++;
        } else {
            missing++;
        }
    }
    SFU_TRY(sfu__keep_frequent(&column->levels, &cells->words, counts, most));
    SFU_TRY(check_levels(column, path));
    column->missing_level = missing > 0;
    column->other_level = cells->words.count > most;
done:
    sfu__free(counts);
    return status;
}

/* ---- all columns ------------------------------------------------------------------------------------------------ */

typedef struct fitting {
    sfu__transform *transform;
    const sfu__transform_input *input;
    sfu__column_counts *counts; /* [transform->count] */
} fitting;

static bool is_fitted(sfu__transform_type type) { return type != SFU__TYPE_IGNORED && type != SFU__TYPE_IDENTIFIER; }

static sfu_status detect_column(void *context, int64_t item, int thread) {
    (void)thread;
    fitting *self = context;
    sfu__transform_column *column = &self->transform->columns[item];
    sfu__cell_column *cells = &self->input->cells->columns[self->input->source[item]];
    const int64_t rows = self->input->cells->rows;
    if (!is_fitted(column->type)) {
        return SFU_OK;
    }
    sfu__count_cells(&self->counts[item], cells->values, rows);
    return sfu__detect_type(column, cells, rows, &self->counts[item], self->input);
}

static sfu_status fit_column(void *context, int64_t item, int thread) {
    (void)thread;
    fitting *self = context;
    sfu__transform_column *column = &self->transform->columns[item];
    sfu__cell_column *cells = &self->input->cells->columns[self->input->source[item]];
    const int64_t rows = self->input->cells->rows;
    const bool words =
        column->type == SFU__TYPE_CATEGORY || column->type == SFU__TYPE_TEXT || column->type == SFU__TYPE_LIST;
    const sfu_status status = words ? sfu__cell_column_spell(cells, rows) : SFU_OK;
    if (status != SFU_OK) {
        return status;
    }
    switch (column->type) {
    case SFU__TYPE_NUMBER:
    case SFU__TYPE_DATE:
    case SFU__TYPE_BOOLEAN:
        return fit_numbers(column, cells, rows, &self->counts[item], self->transform->values);
    case SFU__TYPE_CATEGORY:
        return fit_levels(column, cells, rows, self->input->path);
    case SFU__TYPE_TEXT:
        return sfu__fit_words(column, cells, rows);
    case SFU__TYPE_LIST:
        return sfu__fit_list(column, cells, rows);
    default:
        return SFU_OK;
    }
}

/* Many columns of 0 and 1, or of counts that are mostly 0, are a bag of words. */
static bool is_bag_of_words(const fitting *self) {
    enum { WORDS_MIN = 16 };
    int64_t columns = 0, zeros = 0, numbers = 0;
    bool binary = true;
    for (int64_t i = 0; i < self->transform->count; i++) {
        const sfu__transform_type type = self->transform->columns[i].type;
        const sfu__column_counts *counts = &self->counts[i];
        if (!is_fitted(type) || type == SFU__TYPE_EMPTY) {
            continue;
        }
        if ((type != SFU__TYPE_NUMBER && type != SFU__TYPE_BOOLEAN) || counts->words + counts->missing > 0 ||
            counts->negative) {
            return false;
        }
        columns++;
        zeros += counts->zeros;
        numbers += counts->numbers;
        binary = binary && counts->binary;
    }
    return columns >= WORDS_MIN && (binary || 4 * zeros >= 3 * numbers);
}

static void decide_rows(const fitting *self) {
    sfu__transform *transform = self->transform;
    if (transform->rows == SFU_SCALE_AUTO) {
        const bool bag = transform->values == SFU__VALUES_STANDARD && is_bag_of_words(self);
        transform->rows = bag ? SFU_SCALE_UNIT : SFU_SCALE_NONE;
        transform->values = bag ? SFU__VALUES_RAW : transform->values;
    }
}

sfu_status sfu__transform_fit(sfu__transform *transform, const sfu__transform_input *input) {
    sfu_status status = SFU_OK;
    fitting self = {transform, input, NULL};
    SFU_ALLOC_ZERO(self.counts, transform->count);
    SFU_TRY(sfu__parallel(detect_column, &self, transform->count, input->threads));
    decide_rows(&self);
    SFU_TRY(sfu__parallel(fit_column, &self, transform->count, input->threads));
    SFU_TRY(sfu__transform_lay_out(transform));
done:
    sfu__free(self.counts);
    return status;
}
