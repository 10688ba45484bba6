/* transform_words.c - what is learned from columns of words: levels, vocabularies, and the width of lists. */
#include "progress.h"
#include "transform_int.h"
#include "words.h"

#include <stdlib.h>

int64_t sfu__sorted_find(const sfu__strings *sorted, const char *bytes, size_t size) {
    int64_t low = 0, high = sorted->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        size_t have;
        const char *name = sfu__strings_get(sorted, middle, &have);
        const int order = memcmp(name, bytes, have < size ? have : size);
        if (order == 0 && have == size) {
            return middle;
        }
        if (order < 0 || (order == 0 && have < size)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return -1;
}

/* ---- the most frequent names ------------------------------------------------------------------------------------ */

typedef struct ranked_name {
    const char *bytes;
    size_t size;
    int64_t count;
} ranked_name;

static int compare_names(const ranked_name *a, const ranked_name *b) {
    const int order = memcmp(a->bytes, b->bytes, a->size < b->size ? a->size : b->size);
    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

static int by_name(const void *a, const void *b) { return compare_names(a, b); }

static int by_count(const void *left, const void *right) {
    const ranked_name *a = left;
    const ranked_name *b = right;
    return a->count != b->count ? (a->count < b->count) - (a->count > b->count) : compare_names(a, b);
}

sfu_status sfu__keep_frequent(sfu__strings *kept, const sfu__node_index *names, const int64_t *counts, int64_t most) {
    sfu_status status = SFU_OK;
    ranked_name *list = NULL;
    char(*digits)[SFU__DIGITS_MAX] = NULL;
    int64_t used = 0;
    SFU_ALLOC(list, names->count);
    SFU_ALLOC(digits, names->spelled ? 0 : names->count);
    for (int64_t i = 0; i < names->count; i++) {
        SFU_TRY(sfu__poll_at(i));
        if (counts[i] > 0) {
            ranked_name *item = &list[used++];
            item->bytes = sfu__node_index_name(names, i, names->spelled ? NULL : digits[i], &item->size);
            item->count = counts[i];
        }
    }
    if (used > most) {
        qsort(list, (size_t)used, sizeof *list, by_count);
        used = most;
    }
    qsort(list, (size_t)used, sizeof *list, by_name);
    for (int64_t i = 0; i < used; i++) {
        SFU_TRY(sfu__strings_add(kept, list[i].bytes, list[i].size));
    }
done:
    sfu__free(digits);
    sfu__free(list);
    return status;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

/* For each word, the number of cells that contain it. `last` is the last text in which it was seen, plus 1. */
typedef struct word_counts {
    sfu__node_index words;
    int64_t *cells, *last;
    size_t cells_capacity, last_capacity;
} word_counts;

static sfu_status count_word(word_counts *self, const char *word, size_t size, int64_t text, int64_t cells) {
    int64_t number = 0;
    const int64_t before = self->words.count;
    const sfu_status status = sfu__node_index_add(&self->words, word, size, &number);
    if (status != SFU_OK) {
        return status;
    }
    const size_t need = (size_t)self->words.count;
    int64_t *counts = sfu__grow(self->cells, &self->cells_capacity, need, sizeof *counts);
    self->cells = counts != NULL ? counts : self->cells;
    int64_t *last = sfu__grow(self->last, &self->last_capacity, need, sizeof *last);
    self->last = last != NULL ? last : self->last;
    if (counts == NULL || last == NULL) {
        return SFU_ERR_MEMORY;
    }
    if (number == before) {
        counts[number] = last[number] = 0;
    }
    counts[number] += last[number] == text + 1 ? 0 : cells;
    last[number] = text + 1;
    return SFU_OK;
}

/* The number of cells that hold each distinct text; allocated. */
static sfu_status count_texts(int64_t **counts, const sfu__cell_column *cells, int64_t rows) {
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(*counts, cells->words.count);
    for (int64_t row = 0; row < rows; row++) {
        const int64_t code = sfu__cell_code(cells->values[row]);
        if (code >= 0) {
            (*counts)[code]++;
        }
    }
done:
    return status;
}

/* Words that occur in one cell only tell nothing about others and are not in the vocabulary of more than FEW_WORDS. */
static void drop_rare(word_counts *self) {
    enum { FEW_WORDS = 64 };
    for (int64_t i = 0; self->words.count > FEW_WORDS && i < self->words.count; i++) {
        self->cells[i] = self->cells[i] > 1 ? self->cells[i] : 0;
    }
}

sfu_status sfu__fit_words(sfu__transform_column *column, const sfu__cell_column *cells, int64_t rows) {
    sfu_status status = SFU_OK;
    word_counts self = {0};
    int64_t *texts = NULL;
    SFU_TRY(count_texts(&texts, cells, rows));
    for (int64_t i = 0; i < cells->words.count; i++) {
        char digits[SFU__DIGITS_MAX];
        char word[SFU__WORD_MAX];
        size_t size, length;
        const char *text = sfu__node_index_name(&cells->words, i, digits, &size);
        const char *at = text;
        SFU_TRY(sfu__poll_at(i));
        while (sfu__next_word(word, &length, &at, text + size)) {
            SFU_TRY(count_word(&self, word, length, i, texts[i]));
        }
    }
    drop_rare(&self);
    SFU_TRY(sfu__keep_frequent(&column->levels, &self.words, self.cells, SFU__VOCABULARY_MAX));
    column->buckets = column->levels.count == SFU__VOCABULARY_MAX ? SFU__BUCKETS : 0;
done:
    sfu__free(texts);
    sfu__free(self.cells);
    sfu__free(self.last);
    sfu__node_index_clear(&self.words);
    return status;
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

/* Dense if all lists have the same length, of which 0/1 lists and numbers that cannot be indices leave no doubt. */
typedef struct list_shape {
    int64_t shortest, longest;
    double most;
    bool indices; /* all numbers are whole and not negative, and no list has one twice in a row */
} list_shape;

static void add_list(list_shape *shape, const char *bytes, size_t size) {
    int64_t items = 0;
    bool valid;
    double value, before = -1;
    const char *at = bytes;
    while (sfu__next_number(&value, &at, bytes + size, &valid)) {
        shape->indices = shape->indices && value >= 0 && value == (double)(int64_t)value && value != before;
        shape->most = value > shape->most ? value : shape->most;
        before = value;
        items++;
    }
    shape->shortest = shape->shortest < 0 || items < shape->shortest ? items : shape->shortest;
    shape->longest = items > shape->longest ? items : shape->longest;
}

sfu_status sfu__fit_list(sfu__transform_column *column, const sfu__cell_column *cells, int64_t rows) {
    list_shape shape = {.shortest = -1, .indices = true};
    char name[SFU__QUOTE_MAX];
    (void)rows;
    for (int64_t i = 0; i < cells->words.count; i++) {
        char digits[SFU__DIGITS_MAX];
        size_t size;
        const sfu_status status = sfu__poll_at(i);
        if (status != SFU_OK) {
            return status;
        }
        const char *text = sfu__node_index_name(&cells->words, i, digits, &size);
        add_list(&shape, text, size);
    }
    column->list_dense = shape.shortest == shape.longest && !(shape.indices && shape.most >= (double)shape.longest);
    if (!column->list_dense && (!shape.indices || shape.most >= (double)SFU__LIST_WIDTH_MAX)) {
        return sfu__fail(SFU_ERR_FORMAT,
                         "column %s: expected lists of one length, or lists of indices from 0 to %d; found lists of "
                         "%lld to %lld numbers, the largest %g",
                         sfu__quote(name, column->name, strlen(column->name)), SFU__LIST_WIDTH_MAX - 1,
                         (long long)shape.shortest, (long long)shape.longest, shape.most);
    }
    column->list_width = column->list_dense ? shape.longest : (int64_t)shape.most + 1;
    return SFU_OK;
}
