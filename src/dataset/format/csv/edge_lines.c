/* edge_lines.c - parses lines of two decimal numbers and an optional weight, eight digits at a time. */
#include "edge_lines.h"
#include "text.h"

#include <float.h>
#include <string.h>

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static inline uint64_t load_word(const char *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The value of eight digits 0..9, the first in the lowest byte: combines pairs, fours and eights in three products. */
static inline uint32_t eight_digits(uint64_t digits) {
    digits = (digits * 2561) >> 8; /* 10 a + b in every other byte */
    digits = ((digits & UINT64_C(0x00ff00ff00ff00ff)) * 6553601) >> 16;
    return (uint32_t)(((digits & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001)) >> 32);
}

/* Parses a number at *at and advances past it. False if there is none, it has a leading zero or is 2^31 or more. */
static inline bool read_number(const char **at, uint32_t *value) {
    const char *p = *at;
    uint64_t digits = load_word(p) ^ UINT64_C(0x3030303030303030);
    /* Sets the high bit of each byte that is not a digit; a carry only affects bytes after the first of them. */
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

static inline bool is_blank(char c, char separator) { return c == ' ' || (c == '\t' && separator != '\t'); }

static const char *skip_blanks(const char *p, char separator) {
    while (is_blank(*p, separator)) {
        p++;
    }
    return p;
}

/* Skips a separator and the blanks around it. False if there is none. */
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

/* Parses a weight in [begin, stop), with blanks at its end. */
static bool parse_weight(float *weight, const char *begin, const char *stop, char separator) {
    double value;
    while (stop > begin && is_blank(stop[-1], separator)) {
        stop--;
    }
    if (!sfu__parse_double(&value, begin, stop) || value < 0 || value > FLT_MAX) {
        return false;
    }
    *weight = (float)value + 0.0f; /* -0 is 0 */
    return true;
}

/* Parses a weight and the rest of its line. */
static bool read_weight(const char **at, float *weight, char separator) {
    const char *begin = *at;
    const char *stop = begin;
    while (*stop != '\n') {
        stop++;
    }
    *at = stop + 1;
    stop -= stop > begin && stop[-1] == '\r';
    return parse_weight(weight, begin, stop, separator);
}

/* Parses a weight at the start of a line and the separator after it. */
static bool read_first_weight(const char **at, float *weight, char separator) {
    const char *begin = *at;
    const char *stop = begin;
    while (*stop != '\n' && *stop != separator && !(separator == ' ' && is_blank(*stop, separator))) {
        stop++;
    }
    *at = stop;
    return parse_weight(weight, begin, stop, separator) && skip_separator(at, separator);
}

/* Slow path: parses one line with blanks, with a weight, or empty. */
static bool read_line(const char **at, sfu__edge_lines *out, const sfu__edge_style *style) {
    const char separator = style->separator;
    const char *p = skip_blanks(*at, ' ');
    uint32_t from;
    uint32_t to;
    float weight = 1;
    if (*p == '\n' || (*p == '\r' && p[1] == '\n')) {
        *at = p + 1 + (*p == '\r');
        return true;
    }
    p = skip_blanks(*at, separator);
    if (style->first && !read_first_weight(&p, &weight, separator)) {
        return false;
    }
    if (!read_number(&p, &from) || !skip_separator(&p, separator) || !read_number(&p, &to)) {
        return false;
    }
    if (style->weighted && !style->first) {
        if (!skip_separator(&p, separator) || !read_weight(&p, &weight, separator)) {
            return false;
        }
    } else {
        p = skip_blanks(p, separator);
        p += *p == '\r';
        if (*p++ != '\n') {
            return false;
        }
    }
    if (style->weighted) {
        out->weights[out->count] = weight;
    }
    out->ends[2 * out->count] = from;
    out->ends[2 * out->count + 1] = to;
    out->count++;
    const uint32_t larger = from > to ? from : to;
    out->largest = larger > out->largest ? larger : out->largest;
    *at = p;
    return true;
}

/* Fast path: a line of two numbers and nothing else; returns false without advancing if it has another form. */
static inline bool read_simple_line(const char **at, uint32_t ends[2], char separator) {
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

/* Parses all lines of [p, end), which ends with a line end. */
static bool read_lines(const char *p, const char *end, sfu__edge_lines *out, const sfu__edge_style *style) {
    while (p < end) {
        uint32_t *next = out->ends + 2 * out->count;
        while (!style->weighted && p < end && read_simple_line(&p, next, style->separator)) {
            out->largest = largest_of(out->largest, next);
            next += 2;
        }
        out->count = (next - out->ends) / 2;
        if (p < end && !read_line(&p, out, style)) {
            return false;
        }
    }
    return true;
}

/* A range of lines and the parsed edges. */
typedef struct line_range {
    const char *p, *end;
    sfu__edge_lines out;
} line_range;

/* Parses two ranges alternately, as long as both have lines for the fast path. The end of a number is known only after
 * it is parsed, so one range stalls the processor; a second, independent one fills the gaps. */
static void read_interleaved(line_range *one, line_range *two, char separator) {
    const char *p = one->p;
    const char *q = two->p;
    uint32_t *a = one->out.ends;
    uint32_t *b = two->out.ends;
    uint32_t largest[2] = {0, 0};
    while (p < one->end && q < two->end) {
        if (!read_simple_line(&p, a, separator)) {
            break;
        }
        largest[0] = largest_of(largest[0], a);
        a += 2;
        if (!read_simple_line(&q, b, separator)) {
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

/* ---- ranges of lines -------------------------------------------------------------------------------------------- */

typedef unsigned char bytes16 __attribute__((vector_size(16)));

static int64_t count_line_ends(const char *p, const char *end) {
    const ptrdiff_t most = (ptrdiff_t)16 * 255; /* a byte counter overflows after 255 */
    int64_t count = 0;
    while (end - p >= 16) {
        bytes16 sums = {0};
        const char *stop = end - p >= most ? p + most : p + (end - p) / 16 * 16;
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

/* Parses whole lines, `first` of them before `middle`, into arrays large enough for all. */
static bool read_halves(const sfu__edge_style *style, const char *begin, const char *middle, const char *end,
                        int64_t first, sfu__edge_lines *out) {
    line_range one = {begin, middle, *out};
    line_range two = {middle, end, *out};
    two.out.ends += 2 * first;
    if (style->weighted) {
        two.out.weights += first;
    } else {
        read_interleaved(&one, &two, style->separator);
    }
    if (!read_lines(one.p, one.end, &one.out, style) || !read_lines(two.p, two.end, &two.out, style)) {
        return false;
    }
    /* Empty lines leave a gap between the halves. */
    if (one.out.count < first) {
        memmove(out->ends + 2 * one.out.count, two.out.ends, (size_t)two.out.count * 2 * sizeof *out->ends);
        if (style->weighted) {
            memmove(out->weights + one.out.count, two.out.weights, (size_t)two.out.count * sizeof *out->weights);
        }
    }
    out->count = one.out.count + two.out.count;
    out->largest = one.out.largest > two.out.largest ? one.out.largest : two.out.largest;
    return true;
}

sfu_status sfu__edge_lines_read(sfu__edge_lines *out, const char *begin, const char *end,
                                const sfu__edge_style *style) {
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
    if (style->weighted) {
        SFU_ALLOC(out->weights, lines);
    }
    status = read_halves(style, begin, middle, end, first, out) ? SFU_OK : SFU_ERR_UNSUPPORTED;
done:
    return status;
}
