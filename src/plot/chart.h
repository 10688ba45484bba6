/* chart.h - points with intervals, a colour and a marker a series, joined by lines or not: what most plots of results
 * are; or lines over many epochs. It is written as the data and the script of a drawing.
 */
#ifndef SFU_CHART_H
#define SFU_CHART_H

#include "format_number.h"
#include "gnuplot.h"
#include "string_list.h"

typedef struct sfu__point {
    int series;
    double x, y, low, high; /* low and high: NaN where there is no interval */
} sfu__point;

/* Starts as {0}; sfu__chart_clear also after a failure. Texts are borrowed. */
typedef struct sfu__chart {
    const char *title, *x_label, *y_label;
    bool times;              /* x are seconds, on a logarithmic scale, and nothing is joined */
    bool epochs;             /* x are epochs, and lines without intervals join them */
    bool losses;             /* y are losses, on a logarithmic scale, and no shares */
    sfu__string_list series; /* in the order of the key; one without points is left out, and keeps its colour */
    sfu__string_list tics;   /* the names of x = 1, 2, ... */
    sfu__point *points;
    int count;
    size_t capacity;
} sfu__chart;

SFU_CHECKED sfu_status sfu__chart_add(sfu__chart *chart, const sfu__point *point);
void sfu__chart_clear(sfu__chart *chart);

SFU_CHECKED sfu_status sfu__chart_data(sfu__text *csv, const sfu__chart *chart);
SFU_CHECKED sfu_status sfu__chart_script(sfu__text *script, const sfu__plot_files *files, const sfu__chart *chart);

/* ---- what all plots of results share ----------------------------------------------------------------------------- */

/* Text, axes and grid are of two tones that can be read on white and on black; a page may give them its own. */
#define SFU__INK "#767676"
#define SFU__GRID "#b4b4b4"

/* The terminal, transparent, and the tones. */
SFU_CHECKED sfu_status sfu__chart_style(sfu__text *script, int width, int height);

/* 'TEXT' for a script, cut where it is longer than `most` characters. */
SFU_CHECKED sfu_status sfu__chart_quote(sfu__text *script, const char *text, int most);

/* Numbers as data and scripts have them, whatever the locale: four decimals; and at most two, without zeros at the
 * end. The latter returns `buffer`. */
SFU_CHECKED sfu_status sfu__chart_number(sfu__text *text, double number, const char *after);
const char *sfu__short_number(char buffer[SFU__FIXED_MAX], double number);

/* "TEXT" as the last field of a line of data. */
SFU_CHECKED sfu_status sfu__chart_field(sfu__text *csv, const char *text);

/* Colours that differ for all kinds of sight, and markers that differ without any. */
const char *sfu__chart_colour(int series);
int sfu__chart_marker(int series);

#endif
