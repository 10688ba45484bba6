/* edge_lines.h - parses lines of two decimal numbers, with an optional weight after or before them, from a buffer in
 * memory. */
#ifndef SFU_EDGE_LINES_H
#define SFU_EDGE_LINES_H

#include "memory.h"

/* The format of the lines. */
typedef struct sfu__edge_style {
    char separator; /* ',', '\t', ';' or ' ': one or more blanks */
    bool weighted;  /* three columns instead of two */
    bool first;     /* the weight is the first of them, not the last */
} sfu__edge_style;

/* The parsed edges. Starts as {0}. */
typedef struct sfu__edge_lines {
    uint32_t *ends; /* 2 * count */
    float *weights; /* count, or NULL */
    int64_t count;
    uint32_t largest; /* largest end; 0 if there are none */
} sfu__edge_lines;

/* Words are loaded at any offset, so this many bytes after the text must be readable. */
enum { SFU__EDGE_PADDING = 16 };

/* Parses [begin, end), which holds whole lines with their line ends. Returns SFU_ERR_UNSUPPORTED without a message if a
 * line has another form: a name, a quote, a leading zero, a number of 2^31 or more, a negative weight. The caller frees
 * the arrays also then. */
SFU_CHECKED sfu_status sfu__edge_lines_read(sfu__edge_lines *lines, const char *begin, const char *end,
                                            const sfu__edge_style *style);

#endif
