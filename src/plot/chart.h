/* chart.h - charts: points with intervals, one colour and marker per series, connected by lines or not; or lines over
 * epochs. Output as gnuplot data and script. */
#ifndef SFU_CHART_H
#define SFU_CHART_H

#include "format_number.h"
#include "gnuplot.h"
#include "string_list.h"

typedef struct sfu__point {
    int series;
    double x, y, low, high; /* low and high: NaN without an interval */
} sfu__point;

/* Starts as {0}; call sfu__chart_clear also after a failure. Texts are borrowed. */
typedef struct sfu__chart {
    const char *title, *x_label, *y_label;
    bool times;              /* x is in seconds, on a logarithmic scale; points are not connected */
    bool epochs;             /* x is an epoch; lines without intervals */
    bool losses;             /* y is a loss, on a logarithmic scale; otherwise an accuracy */
    sfu__string_list series; /* in the order of the key; a series without points is omitted, but keeps its colour */
    sfu__string_list tics;   /* labels of x = 1, 2, ... */
    sfu__point *points;
    int count;
    size_t capacity;
} sfu__chart;

SFU_CHECKED sfu_status sfu__chart_add(sfu__chart *chart, const sfu__point *point);
void sfu__chart_clear(sfu__chart *chart);

SFU_CHECKED sfu_status sfu__chart_data(sfu__text *csv, const sfu__chart *chart);
SFU_CHECKED sfu_status sfu__chart_script(sfu__text *script, const sfu__plot_files *files, const sfu__chart *chart);

/* ---- shared by all plots of results ------------------------------------------------------------------------------ */

/* Text, axes and grid have two grey tones that are readable on white and on black; a page may replace them. */
#define SFU__INK "#767676"
#define SFU__GRID "#b4b4b4"

/* The terminal with a transparent background, and the tones. */
SFU_CHECKED sfu_status sfu__chart_style(sfu__text *script, int width, int height);

/* 'TEXT' for a script, truncated to `most` characters. */
SFU_CHECKED sfu_status sfu__chart_quote(sfu__text *script, const char *text, int most);

/* Numbers in data and scripts, independent of the locale: four decimals; and at most two, without trailing zeros. The
 * latter returns `buffer`. */
SFU_CHECKED sfu_status sfu__chart_number(sfu__text *text, double number, const char *after);
const char *sfu__short_number(char buffer[SFU__FIXED_MAX], double number);

/* "TEXT" as the last field of a data line. */
SFU_CHECKED sfu_status sfu__chart_field(sfu__text *csv, const char *text);

/* Colours that are distinguishable with colour blindness, and markers that are distinguishable without colour. */
const char *sfu__chart_colour(int series);
int sfu__chart_marker(int series);

#endif
