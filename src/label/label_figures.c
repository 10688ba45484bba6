/* label_figures.c - the two figures of the page, as inline SVG.
 *
 * The reliability diagram has one dot per bin of held-out nodes: the mean probability of their predicted labels, and
 * their accuracy. On the diagonal both agree. The other figure is the accuracy of the most certain held-out nodes, as a
 * function of their fraction: how many labels can be used without a check.
 */
#include "label.h"

#include "format_number.h"
#include "html_write.h"

#include <math.h>
#include <stdio.h>

enum { SIZE = 300, LEFT = 44, TOP = 12, BOTTOM = 48 }; /* of a square plot and its margins */

static double x_of(double share) { return LEFT + SIZE * share; }
static double y_of(double share) { return TOP + SIZE * (1 - share); }

/* A coordinate as an attribute: ` x1="12.3"`. */
static sfu_status put_at(sfu__text *svg, const char *name, double at) {
    char text[SFU__FIXED_MAX];
    return sfu__text_format(svg, " %s=\"%s\"", name, sfu__fixed(text, at, 1));
}

static sfu_status put_line(sfu__text *svg, const char *class, double x1, double y1, double x2, double y2) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(svg, "<line class=\"%s\"", class));
    SFU_TRY(put_at(svg, "x1", x_of(x1)));
    SFU_TRY(put_at(svg, "y1", y_of(y1)));
    SFU_TRY(put_at(svg, "x2", x_of(x2)));
    SFU_TRY(put_at(svg, "y2", y_of(y2)));
    SFU_TRY(sfu__text_format(svg, "/>\n"));
done:
    return status;
}

/* With a tooltip: "0.83: 80 % of 18". */
static sfu_status put_dot(sfu__text *svg, double x, double y, int32_t count) {
    sfu_status status = SFU_OK;
    char at[SFU__FIXED_MAX], share[SFU__FIXED_MAX];
    SFU_TRY(sfu__text_format(svg, "<circle class=\"dot\" r=\"4\""));
    SFU_TRY(put_at(svg, "cx", x_of(x)));
    SFU_TRY(put_at(svg, "cy", y_of(y)));
    SFU_TRY(sfu__text_format(svg, "><title>%s: %s %% of %d</title></circle>\n", sfu__fixed(at, x, 2),
                             sfu__fixed(share, 100 * y, 1), count));
done:
    return status;
}

static sfu_status put_tick(sfu__text *svg, double share) {
    sfu_status status = SFU_OK;
    char text[SFU__FIXED_MAX];
    sfu__fixed(text, 100 * share, 0);
    SFU_TRY(put_line(svg, "grid", share, 0, share, 1));
    SFU_TRY(put_line(svg, "grid", 0, share, 1, share));
    SFU_TRY(sfu__text_format(svg, "<text class=\"tick\" text-anchor=\"middle\" y=\"%d\"", TOP + SIZE + 16));
    SFU_TRY(put_at(svg, "x", x_of(share)));
    SFU_TRY(sfu__text_format(svg, ">%s</text>\n<text class=\"tick\" text-anchor=\"end\" x=\"%d\"", text, LEFT - 6));
    SFU_TRY(put_at(svg, "y", y_of(share) + 4));
    SFU_TRY(sfu__text_format(svg, ">%s</text>\n", text));
done:
    return status;
}

static sfu_status open_figure(sfu__text *svg, const char *title, const char *axis) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(svg,
                             "<figure><svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" aria-label=\"%s\">\n"
                             "<style>.grid{stroke:var(--line)}.half{stroke:var(--soft);stroke-dasharray:4}"
                             ".dot{fill:var(--mark)}.curve{stroke:var(--mark)}.tick{fill:var(--soft);font-size:12px}"
                             "figure{display:inline-block;margin:1rem 1rem 0 0;max-width:100%%}</style>\n",
                             LEFT + SIZE + 16, TOP + SIZE + BOTTOM, LEFT + SIZE + 16, title));
    for (int i = 0; i <= 5; i++) {
        SFU_TRY(put_tick(svg, i / 5.0));
    }
    SFU_TRY(sfu__text_format(svg, "<text class=\"tick\" text-anchor=\"middle\" x=\"%d\" y=\"%d\">%s</text>\n",
                             LEFT + SIZE / 2, TOP + SIZE + 38, axis));
done:
    return status;
}

static sfu_status close_figure(sfu__text *svg, const char *caption) {
    return sfu__text_format(svg, "</svg>\n<figcaption>%s</figcaption></figure>\n", caption);
}

static sfu_status put_reliability(sfu__text *svg, const sfu_labelling *labelling) {
    sfu_status status = SFU_OK;
    SFU_TRY(open_figure(svg, "Reliability diagram", "probability of the predicted label, %"));
    SFU_TRY(put_line(svg, "half", 0, 0, 1, 1));
    for (int i = 0; i < SFU__LABEL_BINS; i++) {
        const sfu__label_bin *bin = &labelling->bins[i];
        if (bin->count > 0) {
            SFU_TRY(put_dot(svg, bin->probability, bin->accuracy, bin->count));
        }
    }
    SFU_TRY(close_figure(svg, "Reliability diagram: accuracy (%) of held-out nodes by probability"));
done:
    return status;
}

static sfu_status put_certain(sfu__text *svg, const sfu_labelling *labelling) {
    sfu_status status = SFU_OK;
    double right = 0, count = 0, x = 0, y = 0;
    SFU_TRY(open_figure(svg, "Accuracy of the most certain nodes", "most certain nodes, % of all"));
    for (int i = SFU__LABEL_BINS - 1; i >= 0; i--) {
        const sfu__label_bin *bin = &labelling->bins[i];
        if (bin->count == 0) {
            continue;
        }
        right += bin->accuracy * bin->count;
        count += bin->count;
        if (x > 0) {
            SFU_TRY(put_line(svg, "curve", x, y, count / labelling->summary.held_out, right / count));
        }
        x = count / labelling->summary.held_out;
        y = right / count;
        SFU_TRY(put_dot(svg, x, y, (int32_t)count));
    }
    SFU_TRY(close_figure(svg, "Accuracy (%) of the held-out nodes with the highest probabilities"));
done:
    return status;
}

sfu_status sfu__label_figures(sfu__text *html, const sfu_labelling *labelling) {
    sfu_status status = SFU_OK;
    SFU_TRY(put_reliability(html, labelling));
    SFU_TRY(put_certain(html, labelling));
done:
    return status;
}
