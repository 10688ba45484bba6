/* transform_apply.c - turns the cells of a table into features by a fitted transformation; see transform.h.
 *
 * Work items are blocks of nodes. Each collects the features of its nodes that are not zero; the blocks are then
 * copied into one matrix, sparse or dense, whichever is smaller.
 */
#include "transform_int.h"
#include "parallel.h"
#include "progress.h"
#include "words.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A feature and its value. */
typedef struct entry {
    int32_t feature;
    float value;
} entry;

typedef struct entries {
    entry *list;
    int64_t count;
    size_t capacity;
} entries;

/* A column and what its words mean: a value, or the feature of a level (-1: none). */
typedef struct prepared_column {
    const sfu__transform_column *column;
    const sfu__cell_column *cells;
    double *value_of_word;
    int32_t *level_of_word;
    int64_t bound; /* of its features that are not zero; unknown for text and lists */
} prepared_column;

typedef struct applying {
    const sfu__transform *transform;
    const sfu__transform_input *input;
    sfu__transform_output *output;
    prepared_column *columns; /* [transform->count] */
    int32_t *row_of;          /* [nodes], -1: none */
    entries *blocks;          /* [items] */
    int64_t items;
    atomic_int_least64_t nonzeros; /* of dense features */
} applying;

enum { NODES_PER_ITEM = 4096 };

/* ---- words ------------------------------------------------------------------------------------------------------ */

static sfu_status word_value(double *value, const prepared_column *self, const sfu__transform_input *input,
                             int64_t code, int64_t rows) {
    char digits[SFU__DIGITS_MAX];
    size_t size;
    const sfu__transform_type type = self->column->type;
    const char *word = sfu__node_index_name(&self->cells->words, code, digits, &size);
    if (type == SFU__TYPE_DATE) {
        return sfu__cell_date(value, word, size, self->column->order)
                   ? SFU_OK
                   : sfu__fail_cell(input, self->column->name, self->cells, rows, code, "is not a date");
    }
    *value = sfu__boolean_word(word, size);
    return type == SFU__TYPE_BOOLEAN && *value >= 0
               ? SFU_OK
               : sfu__fail_cell(input, self->column->name, self->cells, rows, code,
                                type == SFU__TYPE_BOOLEAN ? "is not a truth value" : "is not a number");
}

static int32_t word_level(const prepared_column *self, int64_t code) {
    char digits[SFU__DIGITS_MAX];
    size_t size;
    const sfu__transform_column *column = self->column;
    const char *word = sfu__node_index_name(&self->cells->words, code, digits, &size);
    const int64_t level = sfu__sorted_find(&column->levels, word, size);
    return level >= 0            ? (int32_t)(column->first + level)
           : column->other_level ? (int32_t)(column->first + column->count - 1)
                                 : -1;
}

/* An upper bound of the features of a column that are not zero, except for text and lists. */
static int64_t bound_of(const prepared_column *self, int64_t rows) {
    int64_t bound = 0, missing = 0;
    for (int64_t row = 0; row < rows; row++) {
        const double cell = self->cells->values[row];
        bound += cell != 0;
        missing += cell != cell && sfu__cell_code(cell) == SFU__CELL_MISSING;
    }
    return bound + (self->column->indicator ? missing : 0);
}

static sfu_status prepare_column(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    applying *self = context;
    prepared_column *prepared = &self->columns[item];
    const sfu__transform_column *column = &self->transform->columns[item];
    const int64_t rows = self->input->cells->rows;
    (void)thread;
    prepared->column = column;
    if (column->count == 0) {
        return SFU_OK;
    }
    sfu__cell_column *cells = &self->input->cells->columns[self->input->source[item]];
    prepared->cells = cells;
    if (column->type == SFU__TYPE_CATEGORY || column->type == SFU__TYPE_TEXT || column->type == SFU__TYPE_LIST) {
        SFU_TRY(sfu__cell_column_spell(cells, rows));
    }
    if (column->type == SFU__TYPE_CATEGORY) {
        SFU_ALLOC(prepared->level_of_word, cells->words.count);
        for (int64_t i = 0; i < cells->words.count; i++) {
            prepared->level_of_word[i] = word_level(prepared, i);
        }
    } else if (column->type == SFU__TYPE_NUMBER || column->type == SFU__TYPE_DATE ||
               column->type == SFU__TYPE_BOOLEAN) {
        SFU_ALLOC(prepared->value_of_word, cells->words.count);
        for (int64_t i = 0; i < cells->words.count; i++) {
            SFU_TRY(word_value(&prepared->value_of_word[i], prepared, self->input, i, rows));
        }
    }
    prepared->bound = bound_of(prepared, rows);
done:
    return status;
}

static void clear_columns(prepared_column *columns, int64_t count) {
    for (int64_t i = 0; columns != NULL && i < count; i++) {
        sfu__free(columns[i].value_of_word);
        sfu__free(columns[i].level_of_word);
    }
    sfu__free(columns);
}

sfu_status sfu__transform_check(sfu__transform *transform, const sfu__transform_input *input) {
    sfu_status status = SFU_OK;
    applying self = {.transform = transform, .input = input};
    SFU_ALLOC_ZERO(self.columns, transform->count);
    SFU_TRY(sfu__parallel(prepare_column, &self, transform->count, input->threads));
    for (int64_t i = 0; i < transform->count; i++) {
        const sfu__cell_column *cells = self.columns[i].cells;
        transform->columns[i].missing = 0;
        for (int64_t row = 0; cells != NULL && row < input->cells->rows; row++) {
            transform->columns[i].missing += sfu__cell_code(cells->values[row]) == SFU__CELL_MISSING;
        }
    }
done:
    clear_columns(self.columns, transform->count);
    return status;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* The position of x, quantiles[0] < x < quantiles[count - 1], on the piecewise linear function through
 * (quantiles[i], i / (count - 1)). Where several quantiles equal x, the function jumps there: the middle of the jump,
 * as in sklearn's QuantileTransformer. */
static double interpolate(const double *quantiles, int count, double x) {
    int high = 0; /* becomes the first quantile that is not below x */
    for (int step = 1 << 9; step > 0; step >>= 1) {
        high += high + step < count && quantiles[high + step - 1] < x ? step : 0;
    }
    if (quantiles[high] == x) {
        int last = high;
        while (last + 1 < count && quantiles[last + 1] == x) {
            last++;
        }
        return 0.5 * (high + last) / (count - 1);
    }
    const double from = quantiles[high - 1];
    return (high - 1 + (x - from) / (quantiles[high] - from)) / (count - 1);
}

static double quantile_of(const sfu__transform_column *column, double x) {
    const double *quantiles = column->quantiles;
    const int count = column->quantile_count;
    if (count < 2 || x <= quantiles[0]) {
        return 0;
    }
    return x >= quantiles[count - 1] ? 1 : interpolate(quantiles, count, x);
}

static double scaled(const sfu__transform_column *column, sfu__value_scale scale, double x) {
    if (column->type == SFU__TYPE_BOOLEAN || scale == SFU__VALUES_RAW) {
        return x;
    }
    if (scale == SFU__VALUES_QUANTILE) {
        return quantile_of(column, x);
    }
    return column->sd > 0 ? (x - column->mean) / column->sd : 0;
}

/* ---- entries ---------------------------------------------------------------------------------------------------- */

static sfu_status reserve(entries *to, int64_t more) {
    entry *list = sfu__grow(to->list, &to->capacity, (size_t)(to->count + more), sizeof *list);
    if (list == NULL) {
        return SFU_ERR_MEMORY;
    }
    to->list = list;
    return SFU_OK;
}

static void put(entries *to, int64_t feature, double value) {
    to->list[to->count] = (entry){(int32_t)feature, (float)value};
    to->count += (float)value != 0;
}

static int by_feature(const void *a, const void *b) {
    return (((const entry *)a)->feature > ((const entry *)b)->feature) -
           (((const entry *)a)->feature < ((const entry *)b)->feature);
}

/* Sorts the entries of a block from `begin` on, adds up those of one feature, and scales them to unit length. */
static void finish_block(entries *to, int64_t begin, bool unit) {
    int64_t out = begin;
    double squares = 0;
    qsort(to->list + begin, (size_t)(to->count - begin), sizeof *to->list, by_feature);
    for (int64_t i = begin; i < to->count; i++) {
        if (out > begin && to->list[out - 1].feature == to->list[i].feature) {
            to->list[out - 1].value += to->list[i].value;
        } else {
            to->list[out++] = to->list[i];
        }
    }
    to->count = out;
    for (int64_t i = begin; i < to->count; i++) {
        squares += (double)to->list[i].value * (double)to->list[i].value;
    }
    const double length = sqrt(squares);
    for (int64_t i = begin; unit && squares > 0 && i < to->count; i++) {
        to->list[i].value = (float)((double)to->list[i].value / length);
    }
}

static sfu_status put_words(entries *to, const sfu__transform_column *column, const char *text, size_t size) {
    sfu_status status = SFU_OK;
    char word[SFU__WORD_MAX];
    size_t length;
    const char *at = text;
    while (sfu__next_word(word, &length, &at, text + size)) {
        int64_t feature = sfu__sorted_find(&column->levels, word, length);
        if (feature < 0 && column->buckets > 0) {
            feature = column->levels.count + (int64_t)(sfu__word_hash(word, length) % (uint64_t)column->buckets);
        }
        if (feature >= 0) {
            SFU_TRY(reserve(to, 1));
            put(to, column->first + feature, 1);
        }
    }
done:
    return status;
}

/* Numbers beyond the width of the fitted lists are left out. */
static sfu_status put_list(entries *to, const sfu__transform_column *column, const char *text, size_t size) {
    sfu_status status = SFU_OK;
    const char *at = text;
    double value;
    bool valid;
    for (int64_t i = 0; sfu__next_number(&value, &at, text + size, &valid); i++) {
        const double feature = column->list_dense ? (double)i : value;
        if (feature >= 0 && feature < (double)column->list_width) {
            SFU_TRY(reserve(to, 1));
            put(to, column->first + (int64_t)feature, column->list_dense ? value : 1);
        }
    }
done:
    return status;
}

static sfu_status put_block(entries *to, const prepared_column *self, int64_t code, bool unit) {
    char digits[SFU__DIGITS_MAX];
    size_t size;
    if (code < 0) {
        return SFU_OK;
    }
    const int64_t begin = to->count;
    const char *text = sfu__node_index_name(&self->cells->words, code, digits, &size);
    const sfu_status status = self->column->type == SFU__TYPE_TEXT ? put_words(to, self->column, text, size)
                                                                   : put_list(to, self->column, text, size);
    if (status == SFU_OK) {
        finish_block(to, begin, unit);
    }
    return status;
}

/* Space for two entries per column has been reserved. */
static void put_value(entries *to, const prepared_column *self, double cell, sfu__value_scale scale) {
    const sfu__transform_column *column = self->column;
    const int64_t code = sfu__cell_code(cell);
    const double x = code == SFU__CELL_NUMBER ? cell : code >= 0 ? self->value_of_word[code] : column->median;
    put(to, column->first, scaled(column, scale, x));
    if (column->indicator && code == SFU__CELL_MISSING) {
        put(to, column->first + 1, 1);
    }
}

static void put_level(entries *to, const prepared_column *self, double cell) {
    const sfu__transform_column *column = self->column;
    const int64_t code = sfu__cell_code(cell);
    const int64_t feature = code >= 0               ? self->level_of_word[code]
                            : column->missing_level ? column->first + column->levels.count
                                                    : -1;
    if (feature >= 0) {
        put(to, feature, 1);
    }
}

/* All features of a row, in ascending order. */
static sfu_status put_row(entries *to, const applying *self, int64_t row) {
    sfu_status status = SFU_OK;
    const sfu__transform *transform = self->transform;
    const bool unit = transform->values != SFU__VALUES_RAW;
    for (int64_t c = 0; c < transform->count; c++) {
        const prepared_column *prepared = &self->columns[c];
        if (prepared->cells == NULL) {
            continue;
        }
        switch (prepared->column->type) {
        case SFU__TYPE_NUMBER:
        case SFU__TYPE_DATE:
        case SFU__TYPE_BOOLEAN:
            put_value(to, prepared, prepared->cells->values[row], transform->values);
            break;
        case SFU__TYPE_CATEGORY:
            put_level(to, prepared, prepared->cells->values[row]);
            break;
        case SFU__TYPE_TEXT:
        case SFU__TYPE_LIST:
            SFU_TRY(put_block(to, prepared, sfu__cell_code(prepared->cells->values[row]), unit));
            SFU_TRY(reserve(to, 2 * (transform->count - c)));
            break;
        default:
            break;
        }
    }
done:
    return status;
}

static int64_t item_end(const applying *self, int64_t item) {
    const int64_t end = (item + 1) * NODES_PER_ITEM;
    return end < self->output->nodes ? end : self->output->nodes;
}

/* ---- dense features of columns without blocks ------------------------------------------------------------------- */

static int64_t fill_values(float *to, int64_t stride, const prepared_column *self, const int32_t *rows, int64_t count,
                           sfu__value_scale scale) {
    const sfu__transform_column *column = self->column;
    int64_t nonzeros = 0;
    for (int64_t i = 0; i < count; i++) {
        if (rows[i] < 0) {
            continue;
        }
        const double cell = self->cells->values[rows[i]];
        const int64_t code = sfu__cell_code(cell);
        const double x = code == SFU__CELL_NUMBER ? cell : code >= 0 ? self->value_of_word[code] : column->median;
        const float value = (float)scaled(column, scale, x);
        to[i * stride + column->first] = value;
        nonzeros += value != 0;
        if (column->indicator && code == SFU__CELL_MISSING) {
            to[i * stride + column->first + 1] = 1;
            nonzeros++;
        }
    }
    return nonzeros;
}

static int64_t fill_levels(float *to, int64_t stride, const prepared_column *self, const int32_t *rows, int64_t count) {
    const sfu__transform_column *column = self->column;
    int64_t nonzeros = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t code = rows[i] >= 0 ? sfu__cell_code(self->cells->values[rows[i]]) : -1;
        const int64_t feature = code >= 0                               ? self->level_of_word[code]
                                : rows[i] >= 0 && column->missing_level ? column->first + column->levels.count
                                                                        : -1;
        if (feature >= 0) {
            to[i * stride + feature] = 1;
            nonzeros++;
        }
    }
    return nonzeros;
}

static sfu_status fill_item(void *context, int64_t item, int thread) {
    applying *self = context;
    const int64_t begin = item * NODES_PER_ITEM;
    const int64_t count = item_end(self, item) - begin;
    const int64_t stride = self->transform->features;
    float *to = self->output->dense + begin * stride;
    int64_t nonzeros = 0;
    (void)thread;
    for (int64_t c = 0; c < self->transform->count; c++) {
        const prepared_column *prepared = &self->columns[c];
        if (prepared->value_of_word != NULL) {
            nonzeros += fill_values(to, stride, prepared, self->row_of + begin, count, self->transform->values);
        } else if (prepared->level_of_word != NULL) {
            nonzeros += fill_levels(to, stride, prepared, self->row_of + begin, count);
        }
    }
    atomic_fetch_add(&self->nonzeros, nonzeros);
    return sfu__poll();
}

/* An upper bound of the number of features that are not zero; -1 if there are blocks, whose number is unknown. */
static int64_t bound_entries(const applying *self) {
    int64_t bound = 0;
    for (int64_t c = 0; c < self->transform->count; c++) {
        const prepared_column *prepared = &self->columns[c];
        if (prepared->cells == NULL) {
            continue;
        }
        if (prepared->column->type == SFU__TYPE_TEXT || prepared->column->type == SFU__TYPE_LIST) {
            return -1;
        }
        bound += prepared->bound;
    }
    return bound;
}

/* ---- blocks of nodes -------------------------------------------------------------------------------------------- */

/* Sets indptr[node + 1] to the number of entries of the node. */
static sfu_status apply_item(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    applying *self = context;
    entries *to = &self->blocks[item];
    (void)thread;
    SFU_TRY(sfu__poll());
    for (int64_t node = item * NODES_PER_ITEM; node < item_end(self, item); node++) {
        const int64_t before = to->count;
        if (self->row_of[node] >= 0) {
            SFU_TRY(reserve(to, 2 * self->transform->count));
            SFU_TRY(put_row(to, self, self->row_of[node]));
        }
        self->output->indptr[node + 1] = to->count - before;
    }
done:
    return status;
}

/* Copies a block to its rows of the matrix. */
static sfu_status copy_item(void *context, int64_t item, int thread) {
    applying *self = context;
    sfu__transform_output *output = self->output;
    entries *from = &self->blocks[item];
    int64_t i = 0;
    (void)thread;
    for (int64_t node = item * NODES_PER_ITEM; node < item_end(self, item); node++) {
        for (int64_t at = output->indptr[node]; at < output->indptr[node + 1]; at++, i++) {
            if (output->dense != NULL) {
                output->dense[node * self->transform->features + from->list[i].feature] = from->list[i].value;
            } else {
                output->indices[at] = from->list[i].feature;
                output->values[at] = from->list[i].value;
            }
        }
    }
    sfu__free(from->list);
    *from = (entries){0};
    return SFU_OK;
}

static sfu_status find_rows(applying *self) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(self->row_of, self->output->nodes);
    for (int64_t node = 0; node < self->output->nodes; node++) {
        self->row_of[node] = -1;
    }
    for (int64_t row = 0; row < self->input->cells->rows; row++) {
        self->row_of[self->output->node_of[row]] = (int32_t)row;
    }
done:
    return status;
}

/* Whether 8 bytes per entry and node are less than 4 per cell. */
static bool is_sparse(int64_t nodes, int64_t features, int64_t count) {
    return 8 * (double)count + 8 * (double)(nodes + 1) < 4 * (double)nodes * (double)features;
}

/* Allocates the matrix. */
static sfu_status allocate(sfu__transform_output *output, int64_t features) {
    sfu_status status = SFU_OK;
    for (int64_t node = 0; node < output->nodes; node++) {
        output->indptr[node + 1] += output->indptr[node];
    }
    const int64_t entries_count = output->indptr[output->nodes];
    if (is_sparse(output->nodes, features, entries_count)) {
        SFU_ALLOC(output->indices, entries_count);
        SFU_ALLOC(output->values, entries_count);
    } else {
        SFU_ALLOC_ZERO(output->dense, output->nodes * features);
    }
done:
    return status;
}

static void clear(applying *self) {
    clear_columns(self->columns, self->transform->count);
    for (int64_t i = 0; self->blocks != NULL && i < self->items; i++) {
        sfu__free(self->blocks[i].list);
    }
    sfu__free(self->blocks);
    sfu__free(self->row_of);
}

sfu_status sfu__transform_apply(sfu__transform_output *output, const sfu__transform *transform,
                                const sfu__transform_input *input) {
    sfu_status status = SFU_OK;
    applying self = {.transform = transform, .input = input, .output = output};
    self.items = (output->nodes + NODES_PER_ITEM - 1) / NODES_PER_ITEM;
    SFU_ALLOC_ZERO(self.columns, transform->count);
    SFU_ALLOC_ZERO(self.blocks, self.items);
    SFU_ALLOC_ZERO(output->indptr, output->nodes + 1);
    SFU_TRY(find_rows(&self));
    SFU_TRY(sfu__parallel(prepare_column, &self, transform->count, input->threads));
    const int64_t bound = bound_entries(&self);
    if (bound >= 0 && !is_sparse(output->nodes, transform->features, bound)) {
        SFU_ALLOC_ZERO(output->dense, output->nodes * transform->features);
        SFU_TRY(sfu__parallel(fill_item, &self, self.items, input->threads));
        output->nonzeros = atomic_load(&self.nonzeros);
        goto done;
    }
    SFU_TRY(sfu__parallel(apply_item, &self, self.items, input->threads));
    SFU_TRY(allocate(output, transform->features));
    output->nonzeros = output->indptr[output->nodes];
    SFU_TRY(sfu__parallel(copy_item, &self, self.items, input->threads));
done:
    clear(&self);
    if (output->dense != NULL || status != SFU_OK) {
        sfu__free(output->indptr);
        output->indptr = NULL;
    }
    if (status != SFU_OK) {
        sfu__free(output->dense);
        sfu__free(output->indices);
        sfu__free(output->values);
        *output = (sfu__transform_output){0};
    }
    return status;
}
