/* chart.c - charts as gnuplot data and scripts: style, data, axes, series, key. */
#include "chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 24, TITLE_MOST = 50, WIDTH = 560 };

sfu_status sfu__chart_add(sfu__chart *chart, const sfu__point *point) {
    sfu__point *grown = sfu__grow(chart->points, &chart->capacity, (size_t)chart->count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    chart->points = grown;
    chart->points[chart->count++] = *point;
    return SFU_OK;
}

void sfu__chart_clear(sfu__chart *chart) {
    sfu__string_list_clear(&chart->series);
    sfu__string_list_clear(&chart->tics);
    sfu__free(chart->points);
    *chart = (sfu__chart){0};
}

/* ---- style ------------------------------------------------------------------------------------------------------- */

/* After Okabe and Ito, without their black and yellow, which are hard to see on a dark or light background. */
const char *sfu__chart_colour(int series) {
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                          "#e69f00", "#56b4e9", "#8f6fd1", "#9a8056"};
    return colours[series % (int)(sizeof colours / sizeof colours[0])];
}

/* Gnuplot's point types: circle, square, triangles, diamond, pentagon, filled and then open. There are eleven, so that
 * with eight colours 88 series differ. */
int sfu__chart_marker(int series) {
    static const int markers[] = {7, 5, 9, 11, 13, 15, 6, 4, 8, 10, 12};
    return markers[series % (int)(sizeof markers / sizeof markers[0])];
}

sfu_status sfu__chart_style(sfu__text *script, int width, int height) {
    sfu_status status = SFU_OK;
    char words[64];
    snprintf(words, sizeof words, "noenhanced size %d,%d", width, height);
    SFU_TRY(sfu__plot_terminal(script, words));
    SFU_TRY(sfu__text_format(script, "\nset border 3 lw 1 lc rgb '" SFU__INK "'\n"
                                     "set tics nomirror out scale 0.5 textcolor rgb '" SFU__INK "'\n"
                                     "set grid ytics lt 1 lw 0.6 lc rgb '" SFU__GRID "'\n"
                                     "set errorbars 0\n"));
done:
    return status;
}

sfu_status sfu__chart_quote(sfu__text *script, const char *text, int most) {
    sfu_status status = SFU_OK;
    sfu__text cut = {0};
    const size_t size = strlen(text);
    size_t at = 0;
    for (int i = 0; i < most && at < size; i++) {
        const size_t step = sfu__utf8_size(text + at, size - at);
        at += step > 0 ? step : 1;
    }
    SFU_TRY(sfu__text_add(&cut, text, at));
    if (at < size) {
        SFU_TRY(sfu__text_format(&cut, "\u2026"));
    }
    SFU_TRY(sfu__plot_quote(script, cut.bytes));
done:
    sfu__text_clear(&cut);
    return status;
}

sfu_status sfu__chart_number(sfu__text *text, double number, const char *after) {
    char buffer[SFU__FIXED_MAX];
    return sfu__text_format(text, "%s%s", sfu__fixed(buffer, number, 4), after);
}

const char *sfu__short_number(char buffer[SFU__FIXED_MAX], double number) {
    sfu__fixed(buffer, number, 2);
    size_t size = strchr(buffer, '.') != NULL ? strlen(buffer) : 0;
    while (size > 0 && (buffer[size - 1] == '0' || buffer[size - 1] == '.')) {
        const bool point = buffer[--size] == '.';
        buffer[size] = '\0';
        if (point) {
            break;
        }
    }
    return buffer;
}

sfu_status sfu__chart_field(sfu__text *csv, const char *text) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_add(csv, "\"", 1));
    for (const char *c = text; *c != '\0'; c++) {
        const bool control = (unsigned char)*c < 0x20 || *c == 0x7f;
        SFU_TRY(*c == '"' ? sfu__text_add(csv, "\"\"", 2) : sfu__text_add(csv, control ? " " : c, 1));
    }
    SFU_TRY(sfu__text_add(csv, "\"", 1));
done:
    return status;
}

/* ---- the data ---------------------------------------------------------------------------------------------------- */

/* One epoch of a line: no interval, and a loss unscaled. */
static sfu_status add_epoch(sfu__text *csv, const sfu__chart *chart, const sfu__point *point) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(csv, "%d,%.0f,", point->series, point->x));
    if (chart->losses) {
        SFU_TRY(sfu__text_number(csv, point->y));
        SFU_TRY(sfu__text_format(csv, ","));
    } else {
        SFU_TRY(sfu__chart_number(csv, 100 * point->y, ","));
    }
    SFU_TRY(sfu__chart_field(csv, chart->series.items[point->series]));
    SFU_TRY(sfu__text_format(csv, "\n"));
done:
    return status;
}

/* Without an interval, low and high are the point itself, hidden behind its marker. */
static sfu_status add_point(sfu__text *csv, const sfu__point *point, const char *name) {
    sfu_status status = SFU_OK;
    const double low = isfinite(point->low) ? point->low : point->y;
    const double high = isfinite(point->high) ? point->high : point->y;
    SFU_TRY(sfu__text_format(csv, "%d,", point->series));
    SFU_TRY(sfu__text_number(csv, floor(point->x * 1e9 + 0.5) / 1e9)); /* nanosecond resolution */
    SFU_TRY(sfu__text_format(csv, ","));
    SFU_TRY(sfu__chart_number(csv, 100 * point->y, ","));
    SFU_TRY(sfu__chart_number(csv, 100 * low, ","));
    SFU_TRY(sfu__chart_number(csv, 100 * high, ","));
    SFU_TRY(sfu__chart_field(csv, name));
    SFU_TRY(sfu__text_format(csv, "\n"));
done:
    return status;
}

/* Series by series: gnuplot connects consecutive points. */
sfu_status sfu__chart_data(sfu__text *csv, const sfu__chart *chart) {
    sfu_status status = SFU_OK;
    if (chart->epochs) {
        SFU_TRY(sfu__text_format(csv, "series,epoch,%s,name\n", chart->losses ? "loss" : "percent"));
    } else {
        SFU_TRY(
            sfu__text_format(csv, "series,%s,percent,low_percent,high_percent,name\n", chart->times ? "seconds" : "x"));
    }
    for (int series = 0; series < chart->series.count; series++) {
        for (int i = 0; i < chart->count; i++) {
            if (chart->points[i].series == series) {
                SFU_TRY(chart->epochs ? add_epoch(csv, chart, &chart->points[i])
                                      : add_point(csv, &chart->points[i], chart->series.items[series]));
            }
        }
    }
done:
    return status;
}

/* ---- the script -------------------------------------------------------------------------------------------------- */

static bool has_points(const sfu__chart *chart, int series) {
    for (int i = 0; i < chart->count; i++) {
        if (chart->points[i].series == series) {
            return true;
        }
    }
    return false;
}

static sfu_status add_label(sfu__text *script, const char *what, const char *text, const char *look) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(script, "set %s ", what));
    SFU_TRY(sfu__chart_quote(script, text, TITLE_MOST));
    SFU_TRY(sfu__text_format(script, " textcolor rgb '" SFU__INK "' %s\n", look));
done:
    return status;
}

/* Names that would overlap are rotated. */
static bool is_crowded(const sfu__chart *chart) {
    enum { MOST = 40 };
    size_t size = 0;
    for (int i = 0; i < chart->tics.count; i++) {
        size += strlen(chart->tics.items[i]) + 2;
    }
    return size > MOST;
}

static sfu_status add_x_axis(sfu__text *script, const sfu__chart *chart) {
    sfu_status status = SFU_OK;
    if (chart->epochs) {
        SFU_TRY(sfu__text_format(script, "set xrange [1:*]\nset xtics autofreq\n%s",
                                 chart->losses ? "set logscale y\nset format y '%g'\n"
                                               : "set offsets 0, 0, graph 0.04, graph 0.04\n"));
        goto done;
    }
    if (chart->times) {
        SFU_TRY(sfu__text_format(script, "set logscale x\nset format x '%%.0s %%cs'\n"
                                         "set offsets graph 0.05, graph 0.05, graph 0.06, graph 0.06\n"));
        goto done;
    }
    SFU_TRY(sfu__text_format(script, "set xrange [0.5:%d.5]\nset offsets 0, 0, graph 0.04, graph 0.04\nset xtics %s(",
                             chart->tics.count, is_crowded(chart) ? "rotate by 40 right " : ""));
    for (int i = 0; i < chart->tics.count; i++) {
        SFU_TRY(sfu__text_format(script, "%s", i > 0 ? ", " : ""));
        SFU_TRY(sfu__chart_quote(script, chart->tics.items[i], NAME_MOST));
        SFU_TRY(sfu__text_format(script, " %d", i + 1));
    }
    SFU_TRY(sfu__text_format(script, ")\n"));
done:
    return status;
}

/* Number of earlier series with points. */
static int shown_before(const sfu__chart *chart, int end) {
    int shown = 0;
    for (int series = 0; series < end; series++) {
        shown += has_points(chart, series);
    }
    return shown;
}

/* Distance of markers on a line, in epochs; each series has its own offset, so that lines can be distinguished without
 * colours. */
static int marker_distance(const sfu__chart *chart) {
    enum { ON_THE_LONGEST = 8 };
    double most = 0;
    for (int i = 0; i < chart->count; i++) {
        most = chart->points[i].x > most ? chart->points[i].x : most;
    }
    return 1 + (int)most / ON_THE_LONGEST;
}

static sfu_status add_line(sfu__text *script, const sfu__chart *chart, int series) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(script,
                             "%scsv skip 1 using ($1 == %d ? $2 : NaN):3 with linespoints lt 1 lw 1.4 pt %d ps 0.7 "
                             "pi %d lc rgb '%s' title ",
                             shown_before(chart, series) == 0 ? "plot " : ", \\\n     ", series,
                             sfu__chart_marker(series), marker_distance(chart), sfu__chart_colour(series)));
    SFU_TRY(sfu__chart_quote(script, chart->series.items[series], NAME_MOST));
done:
    return status;
}

/* Points with the same x are drawn slightly apart, so that their intervals can be distinguished. */
static sfu_status add_series(sfu__text *script, const sfu__chart *chart, int series) {
    sfu_status status = SFU_OK;
    char shift[SFU__FIXED_MAX];
    const int index = shown_before(chart, series), count = shown_before(chart, chart->series.count);
    const double apart = chart->times ? 0 : (index - 0.5 * (count - 1)) * (count > 8 ? 0.6 / count : 0.08);
    SFU_TRY(sfu__text_format(
        script,
        "%scsv skip 1 using ($1 == %d ? $2 + %s : NaN):3:4:5 with yerrorlines lt 1 lw 1.6 pt %d ps 0.9 "
        "lc rgb '%s' title ",
        index == 0 ? "plot " : ", \\\n     ", series, sfu__fixed(shift, apart, 4), sfu__chart_marker(series),
        sfu__chart_colour(series)));
    SFU_TRY(sfu__chart_quote(script, chart->series.items[series], NAME_MOST));
done:
    return status;
}

/* The key below the axis, in as many columns as fit; the plot grows by the height of its rows. */
static void measure_key(const sfu__chart *chart, int *columns, int *rows) {
    const int shown = shown_before(chart, chart->series.count);
    size_t most = 0;
    for (int series = 0; series < chart->series.count; series++) {
        const size_t size = has_points(chart, series) ? strlen(chart->series.items[series]) : 0;
        most = size > most ? size : most;
    }
    *columns = most <= 10   ? 4
               : most <= 18 ? 2
                            : 1; /* gnuplot shrinks the number of columns if it expects them not to fit */
    *rows = (shown + *columns - 1) / *columns;
}

sfu_status sfu__chart_script(sfu__text *script, const sfu__plot_files *files, const sfu__chart *chart) {
    sfu_status status = SFU_OK;
    int columns = 1, rows = 1;
    char margin[SFU__FIXED_MAX];
    measure_key(chart, &columns, &rows);
    SFU_TRY(sfu__plot_start(script, files, "Results"));
    SFU_TRY(sfu__chart_style(script, WIDTH, 370 + 22 * rows + (is_crowded(chart) ? 40 : 0)));
    SFU_TRY(add_label(script, "title", chart->title, "font ',16'"));
    SFU_TRY(add_label(script, "xlabel", chart->x_label, "offset 0,0.2"));
    SFU_TRY(add_label(script, "ylabel", chart->y_label, "offset 1,0"));
    SFU_TRY(
        sfu__text_format(script,
                         "set bmargin %s\nset key at screen 0.5, 0.02 bottom center horizontal maxcols %d Left reverse "
                         "samplen 1.5 spacing 1.2 width -2 textcolor rgb '" SFU__INK "'\n",
                         sfu__fixed(margin, 3.8 + 1.2 * rows + (is_crowded(chart) ? 2.4 : 0), 1), columns));
    if (!chart->losses) { /* accuracies end at 100 %, with no extra space for markers */
        SFU_TRY(sfu__text_format(script, "set yrange [0 < *:* < 100]\n"));
    }
    SFU_TRY(add_x_axis(script, chart));
    SFU_TRY(sfu__text_format(script, "\n"));
    for (int series = 0; series < chart->series.count; series++) {
        if (has_points(chart, series)) {
            SFU_TRY(chart->epochs ? add_line(script, chart, series) : add_series(script, chart, series));
        }
    }
    SFU_TRY(sfu__text_format(script, "\n"));
done:
    return status;
}
