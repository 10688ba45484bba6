#include "edges_fast.h"
#include "file.h"
#include "parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 1 << 20, /* fits the second-level cache, so that the text is fetched from memory once */
    LINE_MAX_BYTES = 4096, /* a longer line is not the kind of line that is meant here */
    PADDING = 16,          /* zeros behind the text, so that a word may be loaded anywhere */
};

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static inline uint64_t load_word(const char *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The value of eight digits, the first in the lowest byte, each 0..9: pairs, then fours, then all, in three products.
 */
static inline uint32_t eight_digits(uint64_t digits) {
    digits = (digits * 2561) >> 8; /* 10 a + b in every other byte */
    digits = ((digits & UINT64_C(0x00ff00ff00ff00ff)) * 6553601) >> 16;
    return (uint32_t)(((digits & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001)) >> 32);
}

/* Reads a plain number at *at and moves behind it. False where there is none, it starts with a superfluous zero or is
 * 2^31 or more. */
static inline bool read_number(const char **at, uint32_t *value) {
    const char *p = *at;
    uint64_t digits = load_word(p) ^ UINT64_C(0x3030303030303030);
    /* The high bit of a byte that is no digit; a carry only reaches bytes behind the first of them. */
    const uint64_t others = ((digits + UINT64_C(0x7676767676767676)) | digits) & UINT64_C(0x8080808080808080);
    if (__builtin_expect(others == 0, 0)) {
        uint64_t number = eight_digits(digits);
        for (p += 8; *p >= '0' && *p <= '9' && p < *at + 10; p++) {
            number = number * 10 + (uint64_t)(*p - '0');
        }
        *value = (uint32_t)number;
        const bool fits = **at != '0' && number <= INT32_MAX && (*p < '0' || *p > '9');
        *at = p;
        return fits;
    }
    const unsigned size = (unsigned)__builtin_ctzll(others) / 8;
    if (__builtin_expect(size == 0 || ((digits & 0xff) == 0 && size > 1), 0)) {
        return false;
    }
    *value = eight_digits(digits << (64 - 8 * size));
    *at = p + size;
    return true;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

/* What one block becomes. */
typedef struct parsed {
    uint32_t *ends;
    float *weights;
    int64_t count;
    uint32_t largest;
} parsed;

static inline bool is_blank(char c, char separator) { return c == ' ' || (c == '\t' && separator != '\t'); }

static const char *skip_blanks(const char *p, char separator) {
    while (is_blank(*p, separator)) {
        p++;
    }
    return p;
}

/* Moves over a separator and the blanks around it. False where there is none. */
static bool skip_separator(const char **at, char separator) {
    const char *p = skip_blanks(*at, separator);
    if (separator != ' ') {
        if (*p != separator) {
            return false;
        }
        p = skip_blanks(p + 1, separator);
    }
    const bool moved = p > *at;
    *at = p;
    return moved;
}

/* A weight and the rest of its line. */
static bool read_weight(const char **at, float *weight, char separator) {
    const char *begin = *at;
    const char *stop = begin;
    while (*stop != '\n') {
        stop++;
    }
    *at = stop + 1;
    stop -= stop > begin && stop[-1] == '\r';
    while (stop > begin && is_blank(stop[-1], separator)) {
        stop--;
    }
    double value;
    if (!sfu__parse_double(&value, begin, stop) || value < 0 || value > FLT_MAX) {
        return false;
    }
    *weight = (float)value + 0.0f; /* -0 is 0 */
    return true;
}

/* The slow and patient way over one line, with blanks, with a weight, or empty. */
static bool read_line(const char **at, parsed *out, char separator, bool weighted) {
    const char *p = skip_blanks(*at, ' ');
    uint32_t from;
    uint32_t to;
    float weight = 1;
    if (*p == '\n' || (*p == '\r' && p[1] == '\n')) {
        *at = p + 1 + (*p == '\r');
        return true;
    }
    p = skip_blanks(*at, separator);
    if (!read_number(&p, &from) || !skip_separator(&p, separator) || !read_number(&p, &to)) {
        return false;
    }
    if (weighted) {
        if (!skip_separator(&p, separator) || !read_weight(&p, &weight, separator)) {
            return false;
        }
        out->weights[out->count] = weight;
    } else {
        p = skip_blanks(p, separator);
        p += *p == '\r';
        if (*p++ != '\n') {
            return false;
        }
    }
    out->ends[2 * out->count] = from;
    out->ends[2 * out->count + 1] = to;
    out->count++;
    const uint32_t larger = from > to ? from : to;
    out->largest = larger > out->largest ? larger : out->largest;
    *at = p;
    return true;
}

/* The usual line, two numbers and nothing else; false, and nothing moved, where it is another. */
static inline bool read_usual_line(const char **at, uint32_t ends[2], char separator) {
    const char *p = *at;
    if (!read_number(&p, &ends[0]) || *p++ != separator || !read_number(&p, &ends[1])) {
        return false;
    }
    p += *p == '\r';
    if (*p != '\n') {
        return false;
    }
    *at = p + 1;
    return true;
}

static inline uint32_t largest_of(uint32_t largest, const uint32_t ends[2]) {
    largest = ends[0] > largest ? ends[0] : largest;
    return ends[1] > largest ? ends[1] : largest;
}

/* All lines of [p, end), which ends with a line end. */
static bool read_lines(const char *p, const char *end, parsed *out, char separator, bool weighted) {
    while (p < end) {
        uint32_t *next = out->ends + 2 * out->count;
        while (!weighted && p < end && read_usual_line(&p, next, separator)) {
            out->largest = largest_of(out->largest, next);
            next += 2;
        }
        out->count = (next - out->ends) / 2;
        if (p < end && !read_line(&p, out, separator, weighted)) {
            return false;
        }
    }
    return true;
}

/* A stretch of lines and what becomes of them. */
typedef struct stretch {
    const char *p, *end;
    parsed out;
} stretch;

/* Reads two stretches in turn, as far as their lines are usual ones. Where a number ends is known only when it has been
 * looked at, so that one stretch keeps the processor waiting; a second one fills its gaps. */
static void read_in_turn(stretch *one, stretch *two, char separator) {
    const char *p = one->p;
    const char *q = two->p;
    uint32_t *a = one->out.ends;
    uint32_t *b = two->out.ends;
    uint32_t largest[2] = {0, 0};
    while (p < one->end && q < two->end) {
        if (!read_usual_line(&p, a, separator)) {
            break;
        }
        largest[0] = largest_of(largest[0], a);
        a += 2;
        if (!read_usual_line(&q, b, separator)) {
            break;
        }
        largest[1] = largest_of(largest[1], b);
        b += 2;
    }
    one->p = p;
    two->p = q;
    one->out.count = (a - one->out.ends) / 2;
    two->out.count = (b - two->out.ends) / 2;
    one->out.largest = largest[0];
    two->out.largest = largest[1];
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

typedef unsigned char bytes16 __attribute__((vector_size(16)));

enum { SUM_BYTES = 16 * 255 }; /* before a lane of 8 bits runs over */

static int64_t count_line_ends(const char *p, const char *end) {
    int64_t count = 0;
    while (end - p >= 16) {
        bytes16 sums = {0};
        const char *stop = end - p >= SUM_BYTES ? p + SUM_BYTES : p + (end - p) / 16 * 16;
        for (; p < stop; p += 16) {
            bytes16 text;
            memcpy(&text, p, sizeof text);
            sums -= (bytes16)(text == '\n');
        }
        for (int i = 0; i < 16; i++) {
            count += sums[i];
        }
    }
    for (; p < end; p++) {
        count += *p == '\n';
    }
    return count;
}

/* Reads whole lines, `first` of them before `middle`, into arrays that have room for all. */
static bool read_halves(const sfu__edge_file *file, const char *begin, const char *middle, const char *end,
                        int64_t first, parsed *out) {
    stretch one = {begin, middle, *out};
    stretch two = {middle, end, *out};
    two.out.ends += 2 * first;
    if (file->weighted) {
        two.out.weights += first;
    } else {
        read_in_turn(&one, &two, file->separator);
    }
    if (!read_lines(one.p, one.end, &one.out, file->separator, file->weighted) ||
        !read_lines(two.p, two.end, &two.out, file->separator, file->weighted)) {
        return false;
    }
    /* Empty lines have left a gap. */
    if (one.out.count < first) {
        memmove(out->ends + 2 * one.out.count, two.out.ends, (size_t)two.out.count * 2 * sizeof *out->ends);
        if (file->weighted) {
            memmove(out->weights + one.out.count, two.out.weights, (size_t)two.out.count * sizeof *out->weights);
        }
    }
    out->count = one.out.count + two.out.count;
    out->largest = one.out.largest > two.out.largest ? one.out.largest : two.out.largest;
    return true;
}

/* Parses whole lines into `out`; SFU_ERR_UNSUPPORTED where they do not fit. */
static sfu_status parse(const sfu__edge_file *file, const char *begin, const char *end, parsed *out) {
    sfu_status status = SFU_OK;
    if (begin == end) {
        goto done;
    }
    const char *half = begin + (end - begin) / 2;
    const char *middle = memchr(half, '\n', (size_t)(end - half));
    middle = middle != NULL ? middle + 1 : end;
    const int64_t first = count_line_ends(begin, middle);
    const int64_t lines = first + count_line_ends(middle, end);
    SFU_ALLOC(out->ends, 2 * lines);
    if (file->weighted) {
        SFU_ALLOC(out->weights, lines);
    }
    status = read_halves(file, begin, middle, end, first, out) ? SFU_OK : SFU_ERR_UNSUPPORTED;
done:
    return status;
}

/* A plain file in parallel: block i holds the lines that start in its bytes, wherever they end. */
typedef struct plan {
    const sfu__edge_file *file;
    int descriptor;
    int64_t size; /* of the file */
    int64_t items;
    size_t block;
    char **buffers; /* one a thread */
    parsed *results;
    sfu__ticker ticker;
} plan;

static sfu_status read_at(const plan *self, char *buffer, size_t size, int64_t offset, size_t *got) {
    *got = 0;
    while (*got < size) {
        const ssize_t n = pread(self->descriptor, buffer + *got, size - *got, offset + (int64_t)*got);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return sfu__fail_system(self->file->path, "cannot read", errno);
        }
        if (n == 0) {
            break;
        }
        *got += (size_t)n;
    }
    return SFU_OK;
}

static sfu_status parse_item(void *context, int64_t item, int thread) {
    plan *self = context;
    sfu_status status = SFU_OK;
    char *buffer = self->buffers[thread];
    /* One byte before the block tells whether a line starts with it. */
    const size_t before = item > 0 ? 1 : 0;
    const int64_t offset = self->file->offset + item * (int64_t)self->block - (int64_t)before;
    const bool last = item + 1 == self->items;
    size_t got;
    SFU_TRY(read_at(self, buffer, before + self->block + (last ? 0 : LINE_MAX_BYTES), offset, &got));
    if (offset + (int64_t)got == self->size && got > 0 && buffer[got - 1] != '\n') {
        buffer[got++] = '\n';
    }
    memset(buffer + got, 0, PADDING);
    const char *begin = buffer;
    if (before > 0) {
        begin = got > 0 ? memchr(buffer, '\n', got < self->block + before ? got : self->block + before) : NULL;
        begin = begin != NULL ? begin + 1 : buffer + got;
    }
    const char *end = buffer + got;
    const size_t border = before + self->block - 1; /* the last byte of the block */
    if (!last && begin <= buffer + border && begin < end) {
        end = got > border ? memchr(buffer + border, '\n', got - border) : NULL;
        if (end == NULL) {
            status = SFU_ERR_UNSUPPORTED; /* a very long line, or the file has become shorter */
            goto done;
        }
        end++;
    } else if (!last) {
        end = begin; /* no line starts here */
    }
    SFU_TRY(parse(self->file, begin, end, &self->results[item]));
    if (thread == 0) {
        SFU_TRY(sfu__tick(&self->ticker, (double)(offset + (int64_t)got)));
    }
done:
    return status;
}

/* Hands results over in the order of the file. */
static sfu_status take_results(sfu__pairs *pairs, sfu__edge_file *file, parsed *results, int64_t count) {
    sfu_status status = SFU_OK;
    for (int64_t i = 0; i < count; i++) {
        parsed *result = &results[i];
        if (result->count > 0) {
            file->largest = result->largest > file->largest ? result->largest : file->largest;
            SFU_TRY(sfu__pairs_take(pairs, &result->ends, &result->weights, result->count));
        }
    }
done:
    return status;
}

static void free_results(parsed *results, int64_t count) {
    for (int64_t i = 0; results != NULL && i < count; i++) {
        sfu__free(results[i].ends);
        sfu__free(results[i].weights);
    }
    sfu__free(results);
}

static sfu_status read_plain(sfu__pairs *pairs, sfu__edge_file *file, int descriptor, int64_t size) {
    sfu_status status = SFU_OK;
    plan self = {.file = file, .descriptor = descriptor, .size = size};
    self.ticker = (sfu__ticker){file->progress, file->progress_user, file->what, "bytes", (double)size, 0};
    self.block = file->block > 0 ? file->block : BLOCK_BYTES;
    self.items = (size - file->offset + (int64_t)self.block - 1) / (int64_t)self.block;
    const int threads = file->threads < self.items ? file->threads : (int)self.items;
    SFU_ALLOC_ZERO(self.results, self.items);
    SFU_ALLOC_ZERO(self.buffers, threads);
    for (int i = 0; i < threads; i++) {
        SFU_ALLOC(self.buffers[i], 1 + self.block + LINE_MAX_BYTES + 1 + PADDING);
    }
    SFU_TRY(sfu__parallel(parse_item, &self, self.items, threads));
    SFU_TRY(take_results(pairs, file, self.results, self.items));
done:
    free_results(self.results, self.items);
    for (int i = 0; self.buffers != NULL && i < threads; i++) {
        sfu__free(self.buffers[i]);
    }
    sfu__free(self.buffers);
    return status;
}

/* ---- gzip'd ----------------------------------------------------------------------------------------------------- */

static sfu_status skip_bytes(sfu__stream_file *stream, char *buffer, size_t room, int64_t count) {
    while (count > 0) {
        size_t got;
        const size_t want = count < (int64_t)room ? (size_t)count : room;
        const sfu_status status = sfu__stream_read(stream, buffer, want, &got);
        if (status != SFU_OK) {
            return status;
        }
        if (got == 0) {
            return SFU_ERR_UNSUPPORTED;
        }
        count -= (int64_t)got;
    }
    return SFU_OK;
}

/* Inflating takes several times as long as parsing, so one thread does both. */
static sfu_status read_stream(sfu__pairs *pairs, sfu__edge_file *file) {
    sfu_status status = SFU_OK;
    sfu__stream_file *stream = NULL;
    char *buffer = NULL;
    parsed result = {0};
    const size_t block = file->block > 0 ? file->block : BLOCK_BYTES;
    const size_t room = block + LINE_MAX_BYTES;
    size_t have = 0;
    SFU_ALLOC(buffer, room + 1 + PADDING);
    SFU_TRY(sfu__stream_open(&stream, file->path));
    sfu__ticker ticker = {file->progress, file->progress_user, file->what, "bytes", sfu__stream_size(stream), 0};
    SFU_TRY(skip_bytes(stream, buffer, room, file->offset));
    for (;;) {
        size_t got;
        SFU_TRY(sfu__stream_read(stream, buffer + have, room - have, &got));
        have += got;
        const bool last = have < room;
        if (last && have > 0 && buffer[have - 1] != '\n') {
            buffer[have++] = '\n';
        }
        size_t whole = have;
        while (whole > 0 && buffer[whole - 1] != '\n') {
            whole--;
        }
        if (whole == 0 && !last) {
            status = SFU_ERR_UNSUPPORTED;
            goto done;
        }
        /* Words are loaded beyond the last line end, but a number never goes on there. */
        memset(buffer + have, 0, PADDING);
        SFU_TRY(parse(file, buffer, buffer + whole, &result));
        SFU_TRY(take_results(pairs, file, &result, 1));
        sfu__free(result.ends);
        sfu__free(result.weights);
        result = (parsed){0};
        memmove(buffer, buffer + whole, have - whole);
        have -= whole;
        SFU_TRY(sfu__tick(&ticker, sfu__stream_position(stream)));
        if (last) {
            break;
        }
    }
done:
    sfu__free(result.ends);
    sfu__free(result.weights);
    sfu__free(buffer);
    sfu__stream_close(stream);
    return status;
}

/* ---- the door --------------------------------------------------------------------------------------------------- */

static bool is_gzip(int descriptor) {
    unsigned char magic[2];
    return pread(descriptor, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

/* Takes the blocks from `first` on out again. */
static void drop_blocks(sfu__pairs *pairs, size_t first) {
    while (pairs->block_count > first) {
        sfu__pair_block *block = &pairs->blocks[--pairs->block_count];
        pairs->count -= block->count;
        sfu__free(block->ends);
        sfu__free(block->weights);
    }
}

sfu_status sfu__edges_fast(sfu__pairs *pairs, sfu__edge_file *file) {
    sfu_status status = SFU_OK;
    struct stat facts;
    const size_t first = pairs->block_count;
    file->fits = false;
    file->largest = 0;
    const int descriptor = open(file->path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &facts) != 0) {
        status = sfu__fail_system(file->path, "cannot open", errno);
        goto done;
    }
    /* A pipe cannot be read a second time, should it not fit. */
    if (!S_ISREG(facts.st_mode) || file->separator == '\0') {
        goto done;
    }
    if (is_gzip(descriptor)) {
        SFU_TRY(read_stream(pairs, file));
    } else if (facts.st_size > file->offset) {
        SFU_TRY(read_plain(pairs, file, descriptor, facts.st_size));
    }
    file->fits = true;
done:
    if (descriptor >= 0) {
        close(descriptor);
    }
    if (status != SFU_OK) {
        drop_blocks(pairs, first);
    }
    return status == SFU_ERR_UNSUPPORTED ? SFU_OK : status;
}

typedef struct round_of_blocks {
    sfu__pairs *pairs;
    sfu__block_fn work;
    void *context;
} round_of_blocks;

static sfu_status one_block(void *context, int64_t item, int thread) {
    round_of_blocks *self = context;
    return self->work(self->context, &self->pairs->blocks[item], thread);
}

sfu_status sfu__pairs_each(sfu__pairs *pairs, sfu__block_fn work, void *context, int threads) {
    round_of_blocks self = {pairs, work, context};
    return sfu__parallel(one_block, &self, (int64_t)pairs->block_count, threads);
}
