/* table_fast.c - the fast path for tables of nodes: blocks of an uncompressed file without quotes, in parallel.
 *
 * 1. Count the lines that start in each block: then the position of every row in the columns is known.
 * 2. Parse each block into its part of the columns; words are numbered within the block.
 * 3. Merge the words of the blocks in file order, and renumber the cells.
 * 4. Number the nodes in file order.
 *
 * A quote, a zero byte, an empty line, a wrong number of fields or a very long line makes it give up.
 */
#include "file.h"
#include "parallel.h"
#include "table_read.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 1 << 21,
    LINE_MAX_BYTES = 1 << 18, /* longer lines are left to the general path */
};

/* Returned when only the general path can continue. */
static const sfu_status GIVE_UP = SFU_ERR_UNSUPPORTED;

/* Cells of words seen before in a column of a block: most texts are short and repeat. A direct-mapped cache; an entry
 * with size 0 is free. */
enum { CACHE_BITS = 8, CACHED_MAX = 16 };
typedef struct cached_word {
    uint64_t low, high; /* the bytes, padded with zeros */
    size_t size;
    double cell;
} cached_word;

typedef struct block {
    int64_t first, rows;    /* rows of the table */
    sfu__node_index *words; /* [width] */
    cached_word **caches;   /* [width], each [1 << CACHE_BITS] or NULL; while the block is parsed */
    sfu__node_index labels;
    int32_t *label_codes; /* [rows]: into `labels`, -1: empty; NULL without labels */
    sfu__strings ids;
} block;

typedef struct table_file {
    sfu__table_scan *scan;
    int descriptor;
    int64_t size;
    size_t width;
    char separator;
    char **buffers;   /* one per thread */
    double **numbers; /* [width]: the values of columns whose cells may be plain numbers, else NULL */
    block *blocks;
    int64_t count;
    sfu__ticker ticker;
} table_file;

static sfu_status read_at(const table_file *self, char *buffer, size_t size, int64_t offset, size_t *got) {
    *got = 0;
    while (*got < size) {
        const ssize_t n = pread(self->descriptor, buffer + *got, size - *got, offset + (int64_t)*got);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return sfu__fail_system(self->scan->csv->path, "cannot read", errno);
        }
        if (n == 0) {
            break;
        }
        *got += (size_t)n;
    }
    return SFU_OK;
}

static int64_t block_begin(const table_file *self, int64_t item) {
    const int64_t begin = self->scan->offset + item * BLOCK_BYTES;
    return begin < self->size ? begin : self->size;
}

/* ---- 1. lines --------------------------------------------------------------------------------------------------- */

static int64_t count_newlines(const char *p, size_t size) {
    int64_t count = 0;
    const char *end = p + size;
    while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        count++;
        p++;
    }
    return count;
}

/* A line starts after each line end, so the line ends from one byte before the block on are counted. */
static sfu_status count_item(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    table_file *self = context;
    char *buffer = self->buffers[thread];
    const int64_t begin = block_begin(self, item) - (item > 0);
    const size_t size = (size_t)(block_begin(self, item + 1) - begin);
    size_t got;
    SFU_TRY(sfu__poll());
    SFU_TRY(read_at(self, buffer, size, begin, &got));
    if (got != size || memchr(buffer, '"', got) != NULL || memchr(buffer, '\0', got) != NULL) {
        status = GIVE_UP;
        goto done;
    }
    self->blocks[item].rows = count_newlines(buffer, size - 1) + (item == 0);
done:
    return status;
}

/* ---- 2. cells --------------------------------------------------------------------------------------------------- */

/* Parses a plain decimal number that ends at a separator or line end; NULL if there is none. The result is the one of
 * sfu__parse_double: both factors are exact, so one rounding gives the correctly rounded number. */
static inline const char *plain_number(const char *p, char separator, double *value) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    enum { DIGITS = 18 };
    const bool negative = *p == '-';
    p += negative;
    const char *begin = p;
    uint64_t digits = 0;
    unsigned digit;
    while ((digit = (unsigned char)*p - (unsigned)'0') <= 9) {
        digits = digits * 10 + digit;
        p++;
    }
    int64_t count = p - begin;
    int64_t decimals = 0;
    if (*p == '.') {
        const char *point = ++p;
        while ((digit = (unsigned char)*p - (unsigned)'0') <= 9) {
            digits = digits * 10 + digit;
            p++;
        }
        decimals = p - point;
        count += decimals;
    }
    if (count == 0 || count > DIGITS || digits > UINT64_C(1) << 53 || (*p != separator && *p != '\n')) {
        return NULL;
    }
    const double magnitude = decimals > 0 ? (double)digits / powers[decimals] : (double)digits;
    *value = negative ? -magnitude : magnitude;
    return p;
}

static bool is_blank(char c, char separator) { return c == ' ' || (c == '\t' && separator != '\t'); }

/* Finds the field at *at, without blanks around it and without the CR of a line end, and moves to what ends it. */
static sfu__csv_field take_field(const char **at, char separator) {
    const char *p = *at;
    while (is_blank(*p, separator)) {
        p++;
    }
    const char *begin = p;
    while (*p != separator && *p != '\n') {
        p++;
    }
    *at = p;
    if (*p == '\n' && p > begin && p[-1] == '\r') {
        p--;
    }
    while (p > begin && is_blank(p[-1], separator)) {
        p--;
    }
    return (sfu__csv_field){begin, (size_t)(p - begin)};
}

static sfu_status take_label(block *to, int64_t row, sfu__csv_field field) {
    int64_t code = -1;
    sfu_status status = SFU_OK;
    if (field.size > 0) {
        status = sfu__utf8_valid(field.bytes, field.size)
                     ? sfu__node_index_add(&to->labels, field.bytes, field.size, &code)
                     : GIVE_UP;
    }
    to->label_codes[row] = (int32_t)code;
    return status;
}

/* Loads the bytes of a short word; the buffer continues for CACHED_MAX bytes after it. */
static uint64_t load_bytes(const char *p, size_t size) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return size >= 8 ? word : size == 0 ? 0 : word & (~UINT64_C(0) >> (64 - 8 * size));
}

static sfu_status make_cell(const table_file *self, block *to, size_t column, sfu__csv_field field, double *cell) {
    sfu_status status = SFU_OK;
    cached_word *entry = NULL;
    uint64_t low = 0, high = 0;
    const bool exact = self->scan->cells.columns[column].exact;
    if (field.size > 0 && field.size <= CACHED_MAX) {
        if (to->caches[column] == NULL) {
            SFU_ALLOC_ZERO(to->caches[column], 1 << CACHE_BITS);
        }
        low = load_bytes(field.bytes, field.size);
        high = field.size > 8 ? load_bytes(field.bytes + 8, field.size - 8) : 0;
        const uint64_t mixed = (low ^ high * 3 ^ field.size) * UINT64_C(0x9e3779b97f4a7c15);
        entry = &to->caches[column][mixed >> (64 - CACHE_BITS)];
        if (entry->low == low && entry->high == high && entry->size == field.size) {
            *cell = entry->cell;
            return SFU_OK;
        }
    }
    SFU_TRY(sfu__cell_make(cell, &to->words[column], exact, self->scan->rules, field.bytes, field.size));
    if (entry != NULL) {
        *entry = (cached_word){low, high, field.size, *cell};
    }
done:
    return status;
}

/* A cell that is not a plain number. */
static sfu_status take_other(const table_file *self, block *to, int64_t row, size_t column, const char **at) {
    sfu__cell_column *cells = &self->scan->cells.columns[column];
    const sfu__csv_field field = take_field(at, self->separator);
    if (column == self->scan->id) {
        return field.size > 0 ? sfu__strings_add(&to->ids, field.bytes, field.size) : GIVE_UP;
    }
    if (column == self->scan->label) {
        return take_label(to, row, field);
    }
    return cells->skipped ? SFU_OK : make_cell(self, to, column, field, &cells->values[to->first + row]);
}

/* Parses the lines of a block; `last` is the end of the last one. If another program has changed the file since its
 * lines were counted, there may be fewer. */
static sfu_status parse_lines(const table_file *self, block *to, const char *p, const char *last) {
    sfu_status status = SFU_OK;
    for (int64_t row = 0; row < to->rows; row++) {
        if (p > last) {
            status = GIVE_UP;
            goto done;
        }
        for (size_t column = 0; column < self->width; column++) {
            double *values = self->numbers[column];
            const char *end = values != NULL ? plain_number(p, self->separator, &values[to->first + row]) : NULL;
            if (end != NULL) {
                p = end;
            } else {
                SFU_TRY(take_other(self, to, row, column, &p));
            }
            if (*p != (column + 1 < self->width ? self->separator : '\n')) {
                status = GIVE_UP;
                goto done;
            }
            p++;
        }
    }
done:
    return status;
}

/* Moves to the first line that starts in the block. The buffer begins one byte before it, except for the first. */
static const char *first_line(const char *buffer, size_t size, int64_t item) {
    const char *end = item > 0 ? memchr(buffer, '\n', size) : NULL;
    return item == 0 ? buffer : end != NULL ? end + 1 : buffer + size;
}

static void free_caches(block *at, size_t width) {
    for (size_t i = 0; at->caches != NULL && i < width; i++) {
        sfu__free(at->caches[i]);
    }
    sfu__free(at->caches);
    at->caches = NULL;
}

static sfu_status parse_item(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    table_file *self = context;
    block *to = &self->blocks[item];
    char *buffer = self->buffers[thread];
    const int64_t begin = block_begin(self, item) - (item > 0);
    const size_t size = (size_t)(block_begin(self, item + 1) - begin) + LINE_MAX_BYTES;
    size_t got;
    SFU_TRY(sfu__poll());
    if (to->rows == 0) {
        goto done;
    }
    SFU_TRY(read_at(self, buffer, size, begin, &got));
    if (begin + (int64_t)got >= self->size && got > 0 && buffer[got - 1] != '\n') {
        buffer[got++] = '\n';
    }
    memset(buffer + got, 0, CACHED_MAX);
    /* The last line that starts in the block must be complete: then nothing is read beyond its end. */
    const size_t border = (size_t)(block_begin(self, item + 1) - begin) - 1;
    const char *last = got > border ? memchr(buffer + border, '\n', got - border) : NULL;
    if (last == NULL) {
        status = GIVE_UP;
        goto done;
    }
    SFU_ALLOC_ZERO(to->words, self->width);
    SFU_ALLOC_ZERO(to->caches, self->width);
    if (self->scan->label < self->width) {
        SFU_ALLOC(to->label_codes, to->rows);
    }
    SFU_TRY(parse_lines(self, to, first_line(buffer, got, item), last));
    if (thread == 0) {
        SFU_TRY(sfu__tick(&self->ticker, (double)(begin + (int64_t)size)));
    }
done:
    free_caches(to, self->width);
    return status;
}

/* ---- 3. words --------------------------------------------------------------------------------------------------- */

/* Adds the words of a block to an index; codes (allocated) are their numbers there. */
static sfu_status merge_words(int64_t **codes, sfu__node_index *to, const sfu__node_index *from) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(*codes, from->count);
    for (int64_t i = 0; i < from->count; i++) {
        char digits[SFU__DIGITS_MAX];
        size_t size;
        const char *word = sfu__node_index_name(from, i, digits, &size);
        SFU_TRY(sfu__node_index_add(to, word, size, &(*codes)[i]));
    }
done:
    return status;
}

static sfu_status merge_column(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    table_file *self = context;
    sfu__cell_column *column = &self->scan->cells.columns[item];
    int64_t *codes = NULL;
    (void)thread;
    for (int64_t b = 0; b < self->count && !column->skipped; b++) {
        const block *from = &self->blocks[b];
        if (from->words == NULL || from->words[item].count == 0) {
            continue;
        }
        SFU_TRY(sfu__poll());
        SFU_TRY(merge_words(&codes, &column->words, &from->words[item]));
        for (double *cell = column->values + from->first; cell < column->values + from->first + from->rows; cell++) {
            const int64_t code = sfu__cell_code(*cell);
            *cell = code >= 0 ? sfu__cell_from_code(codes[code]) : *cell;
        }
        sfu__free(codes);
        codes = NULL;
    }
done:
    sfu__free(codes);
    return status;
}

/* ---- 4. nodes and labels ---------------------------------------------------------------------------------------- */

/* The node of an id, or GIVE_UP if there must be no such node. */
static sfu_status node_of(sfu__tables *tables, const char *id, size_t size, int64_t *node) {
    if (!tables->fixed) {
        return sfu__node_index_add(&tables->nodes, id, size, node);
    }
    const sfu_status status = sfu__node_index_find(&tables->nodes, id, size, node);
    return status == SFU_OK && *node < 0 ? GIVE_UP : status;
}

/* `seen` has a bit for each node that has a row. */
typedef struct node_set {
    uint64_t *bits;
    size_t words, capacity;
} node_set;

static sfu_status add_once(node_set *seen, int64_t node) {
    const size_t word = (size_t)node / 64;
    if (word >= seen->words) {
        uint64_t *grown = sfu__grow(seen->bits, &seen->capacity, word + 1, sizeof *grown);
        if (grown == NULL) {
            return SFU_ERR_MEMORY;
        }
        seen->bits = grown;
        memset(grown + seen->words, 0, (seen->capacity - seen->words) * sizeof *grown);
        seen->words = seen->capacity;
    }
    const uint64_t bit = UINT64_C(1) << node % 64;
    const bool twice = (seen->bits[word] & bit) != 0;
    seen->bits[word] |= bit;
    return twice ? GIVE_UP : SFU_OK;
}

static sfu_status number_nodes(sfu__tables *tables, table_file *self) {
    sfu_status status = SFU_OK;
    node_set seen = {0};
    for (int64_t b = 0; b < self->count; b++) {
        const block *from = &self->blocks[b];
        for (int64_t i = 0; i < from->rows; i++) {
            size_t size;
            int64_t node;
            const char *id = sfu__strings_get(&from->ids, i, &size);
            SFU_TRY(sfu__poll_at(i));
            SFU_TRY(node_of(tables, id, size, &node));
            SFU_TRY(add_once(&seen, node));
            self->scan->nodes[from->first + i] = (int32_t)node;
        }
    }
done:
    sfu__free(seen.bits);
    return status;
}

static sfu_status take_labels(sfu__tables *tables, const table_file *self) {
    sfu_status status = SFU_OK;
    int64_t *codes = NULL;
    for (int64_t b = 0; b < self->count; b++) {
        const block *from = &self->blocks[b];
        SFU_TRY(merge_words(&codes, &tables->classes, &from->labels));
        for (int64_t i = 0; from->label_codes != NULL && i < from->rows; i++) {
            if (from->label_codes[i] >= 0) {
                SFU_TRY(sfu__triples_add(&tables->labels, self->scan->nodes[from->first + i],
                                         codes[from->label_codes[i]], 0));
            }
        }
        sfu__free(codes);
        codes = NULL;
    }
done:
    sfu__free(codes);
    return status;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static sfu_status allocate_columns(table_file *self) {
    sfu_status status = SFU_OK;
    sfu__table_scan *scan = self->scan;
    const bool plain = scan->rules->decimal == '.' && scan->rules->missing.count == 0;
    int64_t rows = 0;
    for (int64_t b = 0; b < self->count; b++) {
        self->blocks[b].first = rows;
        rows += self->blocks[b].rows;
    }
    if (rows > INT32_MAX) {
        return GIVE_UP;
    }
    scan->cells.rows = rows;
    SFU_ALLOC(scan->nodes, rows);
    SFU_ALLOC_ZERO(self->numbers, self->width);
    for (size_t i = 0; i < self->width; i++) {
        sfu__cell_column *column = &scan->cells.columns[i];
        if (!column->skipped) {
            SFU_ALLOC(column->values, rows);
        }
        self->numbers[i] = !column->exact && plain ? column->values : NULL;
    }
done:
    return status;
}

static void free_blocks(table_file *self) {
    for (int64_t b = 0; self->blocks != NULL && b < self->count; b++) {
        block *at = &self->blocks[b];
        for (size_t i = 0; at->words != NULL && i < self->width; i++) {
            sfu__node_index_clear(&at->words[i]);
        }
        sfu__free(at->words);
        sfu__node_index_clear(&at->labels);
        sfu__free(at->label_codes);
        sfu__strings_clear(&at->ids);
    }
    sfu__free(self->blocks);
}

static sfu_status read_blocks(sfu__tables *tables, table_file *self) {
    sfu_status status = SFU_OK;
    self->count = (self->size - self->scan->offset + BLOCK_BYTES - 1) / BLOCK_BYTES;
    const int wanted = sfu__thread_count(tables->options->threads);
    const int threads = wanted < self->count ? wanted : (int)self->count;
    SFU_ALLOC_ZERO(self->blocks, self->count);
    SFU_ALLOC_ZERO(self->buffers, threads);
    for (int i = 0; i < threads; i++) {
        SFU_ALLOC(self->buffers[i], 1 + BLOCK_BYTES + LINE_MAX_BYTES + 1 + CACHED_MAX);
    }
    SFU_TRY(sfu__parallel(count_item, self, self->count, threads));
    SFU_TRY(allocate_columns(self));
    SFU_TRY(sfu__parallel(parse_item, self, self->count, threads));
    SFU_TRY(sfu__parallel(merge_column, self, (int64_t)self->width, threads));
    SFU_TRY(number_nodes(tables, self));
    SFU_TRY(take_labels(tables, self));
done:
    for (int i = 0; self->buffers != NULL && i < threads; i++) {
        sfu__free(self->buffers[i]);
    }
    sfu__free(self->buffers);
    sfu__free(self->numbers);
    free_blocks(self);
    return status;
}

/* Forgets what was read, so that the general path can start. */
static void start_again(sfu__table_scan *scan) {
    for (size_t i = 0; i < scan->cells.width; i++) {
        sfu__free(scan->cells.columns[i].values);
        scan->cells.columns[i].values = NULL;
        sfu__node_index_clear(&scan->cells.columns[i].words);
    }
    sfu__free(scan->nodes);
    scan->nodes = NULL;
    scan->cells.rows = 0;
}

static bool is_plain_file(int descriptor, int64_t *size) {
    struct stat file_status;
    unsigned char magic[2];
    if (descriptor < 0 || fstat(descriptor, &file_status) != 0 || !S_ISREG(file_status.st_mode)) {
        return false;
    }
    *size = file_status.st_size;
    return !(pread(descriptor, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b);
}

sfu_status sfu__table_fast(sfu__tables *tables, sfu__table_scan *scan, bool *done) {
    const sfu__csv *csv = scan->csv;
    const sfu_import_options *options = tables->options;
    table_file self = {.scan = scan, .width = csv->width, .separator = csv->separator};
    sfu_status status = GIVE_UP;
    self.descriptor = open(csv->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* do not block on a pipe */
    if (is_plain_file(self.descriptor, &self.size) && self.size > scan->offset && csv->separator != '\0' &&
        csv->width > 1) {
        self.ticker =
            (sfu__ticker){options->progress, options->progress_user, csv->what.bytes, "bytes", (double)self.size, 0};
        status = read_blocks(tables, &self);
    }
    if (self.descriptor >= 0) {
        close(self.descriptor);
    }
    *done = status == SFU_OK;
    if (status == GIVE_UP) {
        start_again(scan);
        status = SFU_OK;
    }
    return status;
}
