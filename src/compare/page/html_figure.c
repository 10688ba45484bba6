/* html_figure.c - the figure of a dataset, as inline SVG that needs no other program: for every network the mean, its
 * 95 % confidence interval and one dot per split, best mean first, one panel per label-set size. The networks that are
 * not significantly different from the best one (the top group) are shaded; with one split there is no such group.
 *
 * Coordinates are in units of the drawing, which the page scales to its width:
 *
 *   0       NAMES               PLOT_END     WIDTH
 *   | name  |  .  . --o-- .     |  82.7 ± 1.1 |
 */
#include "html_page.h"

#include "contrast.h"
#include "plots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 474, NAMES = 118, PLOT_END = 380, ROW = 26, HEAD = 24, AXIS = 40, NAME_MOST = 15, TICKS = 7 };

/* A range of accuracies in percent, from tick to tick. */
typedef struct axis {
    double low, high, step;
} axis;

/* ---- the axis ---------------------------------------------------------------------------------------------------- */

static void widen(axis *range, double share) {
    if (isfinite(share)) {
        range->low = 100 * share < range->low ? 100 * share : range->low;
        range->high = 100 * share > range->high ? 100 * share : range->high;
    }
}

/* Covers every split and interval of the dataset, with at most TICKS ticks. */
static axis make_axis(const sfu_results *results, const char *dataset) {
    static const double steps[] = {0.2, 0.5, 1, 2, 5, 10, 20};
    axis range = {INFINITY, -INFINITY, 20};
    for (int i = 0; i < results->cell_count; i++) {
        const sfu_cell *cell = &results->cells[i];
        const sfu__entry *entry;
        if (!sfu__is_main_cell(cell) || strcmp(cell->dataset, dataset) != 0) {
            continue;
        }
        widen(&range, cell->mean);
        widen(&range, cell->ci_low);
        widen(&range, cell->ci_high);
        for (int from = -1; (entry = sfu__cell_entry(results, cell, &from)) != NULL;) {
            widen(&range, entry->test_score);
        }
    }
    for (int i = (int)(sizeof steps / sizeof steps[0]) - 1; i >= 0; i--) {
        const double low = floor(range.low / steps[i]), high = ceil(range.high / steps[i]);
        range.step = high - low < TICKS ? steps[i] : range.step;
    }
    range.low = floor(range.low / range.step) * range.step;
    range.high = ceil(range.high / range.step) * range.step;
    range.high = range.high > range.low ? range.high : range.low + range.step;
    return range;
}

static double x_of(const axis *range, double share) {
    return NAMES + (PLOT_END - NAMES) * (100 * share - range->low) / (range->high - range->low);
}

/* A coordinate as an attribute: ` x1="12.3"`. */
static sfu_status put_at(sfu__text *svg, const char *name, double at) {
    char text[SFU__FIXED_MAX];
    return sfu__text_format(svg, " %s=\"%s\"", name, sfu__fixed(text, at, 1));
}

static sfu_status put_line(sfu__text *svg, const char *class, double x1, double y1, double x2, double y2) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(svg, "<line class=\"%s\"", class));
    SFU_TRY(put_at(svg, "x1", x1));
    SFU_TRY(put_at(svg, "y1", y1));
    SFU_TRY(put_at(svg, "x2", x2));
    SFU_TRY(put_at(svg, "y2", y2));
    SFU_TRY(sfu__text_format(svg, "/>\n"));
done:
    return status;
}

static sfu_status put_circle(sfu__text *svg, const char *class, double x, double y, double r) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(svg, "<circle class=\"%s\"", class));
    SFU_TRY(put_at(svg, "cx", x));
    SFU_TRY(put_at(svg, "cy", y));
    SFU_TRY(put_at(svg, "r", r));
    SFU_TRY(sfu__text_format(svg, "/>"));
done:
    return status;
}

static sfu_status put_axis(sfu__text *svg, const axis *range, double bottom, const char *metric) {
    sfu_status status = SFU_OK;
    char number[SFU__FIXED_MAX];
    const int count = (int)floor((range->high - range->low) / range->step + 0.5);
    for (int i = 0; i <= count; i++) {
        const double percent = range->low + i * range->step, x = x_of(range, percent / 100);
        SFU_TRY(put_line(svg, "grid", x, 0, x, bottom));
        SFU_TRY(sfu__text_format(svg, "<text class=\"tick\""));
        SFU_TRY(put_at(svg, "x", x));
        SFU_TRY(put_at(svg, "y", bottom + 16));
        SFU_TRY(sfu__text_format(svg, ">%s</text>\n", sfu__fixed(number, percent, range->step < 1)));
    }
    SFU_TRY(sfu__text_format(svg, "<text class=\"tick\" x=\"%d\"", (NAMES + PLOT_END) / 2));
    SFU_TRY(put_at(svg, "y", bottom + 34));
    SFU_TRY(sfu__text_format(svg, ">test %s, %%</text>\n", metric));
done:
    return status;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* A name cut to what fits in front of the plot; the whole of it is in a tooltip. */
static sfu_status put_name(sfu__text *svg, const char *label, const char *net, double y) {
    sfu_status status = SFU_OK;
    const int cut = (int)strlen(label) > NAME_MOST; /* labels are ASCII: layout.c */
    SFU_TRY(sfu__text_format(svg, "<text class=\"net\" x=\"%d\"", NAMES - 10));
    SFU_TRY(put_at(svg, "y", y + 5));
    SFU_TRY(sfu__html(svg, "><title>%s</title>", net));
    SFU_TRY(sfu__html_escape(svg, label, cut ? NAME_MOST - 1 : strlen(label)));
    SFU_TRY(sfu__text_format(svg, "%s</text>\n", cut ? "\u2026" : ""));
done:
    return status;
}

static sfu_status put_value(sfu__text *svg, const sfu_cell *cell, double y) {
    sfu_status status = SFU_OK;
    char mean[SFU__FIXED_MAX], std[SFU__FIXED_MAX];
    SFU_TRY(sfu__text_format(svg, "<text class=\"value\" x=\"%d\"", PLOT_END + 14));
    SFU_TRY(put_at(svg, "y", y + 5));
    SFU_TRY(sfu__text_format(svg, ">%s%s%s</text>\n", sfu__percent(mean, cell->mean),
                             isnan(cell->std) ? "" : " \u00b1 ", isnan(cell->std) ? "" : sfu__percent(std, cell->std)));
done:
    return status;
}

static sfu_status put_row(sfu__text *svg, const sfu_results *results, const axis *range, const sfu__contrast *contrast,
                          double y) {
    sfu_status status = SFU_OK;
    const sfu_cell *cell = contrast->cell;
    const sfu__entry *entry;
    char label[SFU__LABEL_MAX];
    const bool top =
        contrast->standing == SFU__STANDING_TIED || (contrast->standing == SFU__STANDING_BEST && contrast->splits > 1);
    SFU_TRY(sfu__text_format(svg, top ? "<g class=\"top\">\n" : "<g>\n"));
    if (top) {
        SFU_TRY(sfu__text_format(svg, "<rect class=\"band\" x=\"0\" width=\"%d\" height=\"%d\"", WIDTH, ROW));
        SFU_TRY(put_at(svg, "y", y - 0.5 * ROW));
        SFU_TRY(sfu__text_format(svg, "/>\n"));
    }
    SFU_TRY(put_name(svg, sfu__net_label(label, results, cell->net), cell->net, y));
    if (!isnan(cell->ci_low)) {
        SFU_TRY(put_line(svg, "interval", x_of(range, cell->ci_low), y, x_of(range, cell->ci_high), y));
    }
    for (int from = -1; (entry = sfu__cell_entry(results, cell, &from)) != NULL;) {
        if (isfinite(entry->test_score)) {
            SFU_TRY(put_circle(svg, "split", x_of(range, entry->test_score), y, 3));
        }
    }
    SFU_TRY(put_circle(svg, "mean", x_of(range, cell->mean), y, 5));
    SFU_TRY(put_value(svg, cell, y));
    SFU_TRY(sfu__text_format(svg, "</g>\n"));
done:
    return status;
}

static void sort_by_mean(sfu__contrast *contrasts, int count) {
    for (int i = 1; i < count; i++) {
        const sfu__contrast moved = contrasts[i];
        int to = i;
        for (; to > 0 && contrasts[to - 1].cell->mean < moved.cell->mean; to--) {
            contrasts[to] = contrasts[to - 1];
        }
        contrasts[to] = moved;
    }
}

/* ---- panels ------------------------------------------------------------------------------------------------------ */

typedef struct drawing {
    sfu__text rows, words; /* words: the same for those who cannot see it */
    axis range;
    double y;
    bool titles; /* of sizes, where there are several */
} drawing;

static sfu_status put_title(drawing *self, const char *size) {
    sfu_status status = SFU_OK;
    const int number = sfu__size_number(size);
    if (self->titles) {
        SFU_TRY(sfu__text_format(&self->rows, "<text class=\"size\" x=\"%d\"", NAMES));
        SFU_TRY(put_at(&self->rows, "y", self->y + 17));
        SFU_TRY(sfu__html(&self->rows,
                          number == 0  ? ">standard split%s"
                          : number > 5 ? ">%s labels"
                                       : ">label sets of size %s",
                          number == 0 ? "" : size));
        SFU_TRY(sfu__text_format(&self->rows, "</text>\n"));
        self->y += HEAD;
    }
done:
    return status;
}

static sfu_status put_panel(drawing *self, const sfu_results *results, const sfu__layout *layout, int dataset) {
    sfu_status status = SFU_OK;
    char label[SFU__LABEL_MAX], mean[SFU__FIXED_MAX];
    int count = 0;
    sfu__contrast *contrasts = NULL;
    SFU_ALLOC(contrasts, layout->net_count);
    SFU_TRY(sfu__contrasts_make(contrasts, &count, results, layout, dataset));
    sort_by_mean(contrasts, count);
    if (count > 0) {
        SFU_TRY(put_title(self, layout->size));
    }
    for (int i = 0; i < count; i++) {
        SFU_TRY(put_row(&self->rows, results, &self->range, &contrasts[i], self->y + 0.5 * ROW));
        SFU_TRY(sfu__text_format(&self->words, "%s %s %s", self->words.size > 0 ? "," : "",
                                 sfu__net_label(label, results, contrasts[i].cell->net),
                                 sfu__percent(mean, contrasts[i].cell->mean)));
        self->y += ROW;
    }
done:
    sfu__free(contrasts);
    return status;
}

static sfu_status put_panels(drawing *self, const sfu_results *results, const char *dataset) {
    sfu_status status = SFU_OK;
    sfu__layout layout = {0};
    const char *size;
    self->titles = sfu__layout_size(results, 1) != NULL;
    for (int i = 0; (size = sfu__layout_size(results, i)) != NULL; i++) {
        SFU_TRY(sfu__layout_make(&layout, results, size));
        for (int d = 0; d < layout.dataset_count; d++) {
            if (strcmp(layout.datasets[d], dataset) == 0) {
                SFU_TRY(put_panel(self, results, &layout, d));
            }
        }
        sfu__layout_clear(&layout);
    }
done:
    sfu__layout_clear(&layout);
    return status;
}

sfu_status sfu__html_figure(sfu__text *html, const sfu_results *results, const char *dataset) {
    sfu_status status = SFU_OK;
    drawing self = {.range = make_axis(results, dataset)};
    if (!isfinite(self.range.low)) {
        return SFU_OK;
    }
    SFU_TRY(put_panels(&self, results, dataset));
    SFU_TRY(sfu__html(html, "<figure class=\"answer\">\n<figcaption>%s</figcaption>\n", dataset));
    SFU_TRY(sfu__html(html, "<svg role=\"img\" aria-label=\"%s: mean test %s in percent:%s\"", dataset,
                      sfu__metric_words(results), self.words.size > 0 ? self.words.bytes : ""));
    SFU_TRY(sfu__text_format(html, " viewBox=\"0 0 %d %d\" xmlns=\"http://www.w3.org/2000/svg\">\n", WIDTH,
                             (int)self.y + AXIS));
    SFU_TRY(put_axis(html, &self.range, self.y, sfu__metric_words(results)));
    SFU_TRY(sfu__text_add(html, self.rows.size > 0 ? self.rows.bytes : "", self.rows.size));
    SFU_TRY(sfu__text_format(html, "</svg>\n</figure>\n"));
done:
    sfu__text_clear(&self.rows);
    sfu__text_clear(&self.words);
    return status;
}
