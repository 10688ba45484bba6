/* edge_lines.h - lines of two plain decimal numbers, and perhaps a weight, out of a piece of text in memory. */
#ifndef SFU_EDGE_LINES_H
#define SFU_EDGE_LINES_H

#include "memory.h"

/* How the lines look. */
typedef struct sfu__edge_style {
    char separator; /* ',', '\t', ';' or ' ': one or more blanks */
    bool weighted;  /* a third column, else two */
} sfu__edge_style;

/* What they become. Starts as {0}. */
typedef struct sfu__edge_lines {
    uint32_t *ends; /* 2 * count */
    float *weights; /* count, or NULL */
    int64_t count;
    uint32_t largest; /* of the ends; 0 where there is none */
} sfu__edge_lines;

/* A word may be loaded anywhere, so this many bytes behind the text must be readable. */
enum { SFU__EDGE_PADDING = 16 };

/* Reads [begin, end), which holds whole lines, the last with its line end. SFU_ERR_UNSUPPORTED, without a message,
 * where a line is of another kind: a name, a quote, a leading zero, 2^31 or more, a negative weight. The arrays are to
 * be freed also then. */
SFU_CHECKED sfu_status sfu__edge_lines_read(sfu__edge_lines *lines, const char *begin, const char *end,
                                            const sfu__edge_style *style);

#endif
