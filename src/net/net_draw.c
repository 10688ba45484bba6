/* net_draw.c - draws a network as an SVG file, boxes from left to right.
 *
 *   X -> smooth -> dense 64 -> smooth -> softmax -> P
 *
 * A box shows the name of its layer, its equation and the options that differ from the defaults, one per line; the
 * caption below is its purpose. The colour is that of the kind of layer. Boxes are light with dark text, and text
 * outside them is medium grey, so that both are legible on any background. The font is monospaced, so that every box is
 * as wide as its text whatever fonts a viewer has.
 */
#include "file.h"
#include "net_int.h"

#include <string.h>

enum { CHARACTER = 8, LINE = 18, PAD = 12, ARROW = 44, MARGIN = 16, HEADING = 72 };

/* ---- boxes ------------------------------------------------------------------------------------------------------ */

typedef struct style {
    const char *fill, *stroke, *about;
} style;

static const style ends = {"#f2f2f2", "#8c8c8c", ""};
static const style features = {"#d6e6fa", "#3b74b9", "feature propagation"};
static const style weights = {"#fde3c8", "#c4752a", "feed-forward"};
static const style classes = {"#d9f0d6", "#3f8f3a", "class probabilities"};
static const style labels = {"#ead9f5", "#8450ad", "label propagation"};
static const style together = {"#fbd9de", "#b5485d", "fitted together"};

typedef struct box {
    const style *style;
    sfu__text lines; /* each with a newline */
    int count;
    int width, height;
} box;

typedef struct drawing {
    box *boxes;
    int count;
    int width, height; /* sum of the widths and maximum height of the boxes */
    sfu__text heading; /* lines, as above */
    int heading_lines, heading_width;
    sfu__text svg;
} drawing;

static int characters(const char *bytes, size_t size) {
    int count = 0;
    for (size_t i = 0; i < size; i++) {
        count += ((unsigned char)bytes[i] & 0xc0) != 0x80;
    }
    return count;
}

/* The width of the longest line in pixels, and the number of lines. */
static int measure(const sfu__text *lines, int *count) {
    int widest = 0;
    *count = 0;
    for (size_t begin = 0; begin < lines->size; (*count)++) {
        const size_t size = strcspn(lines->bytes + begin, "\n");
        const int wide = characters(lines->bytes + begin, size);
        widest = wide > widest ? wide : widest;
        begin += size + 1;
    }
    return widest * CHARACTER;
}

static void finish_box(drawing *self, box *box) {
    const int caption = (int)strlen(box->style->about) * CHARACTER;
    const int inside = measure(&box->lines, &box->count) + 2 * PAD;
    box->width = inside > caption ? inside : caption;
    box->height = box->count * LINE + 2 * PAD - 4;
    self->width += box->width;
    self->height = box->height > self->height ? box->height : self->height;
}

/* ---- contents of the boxes -------------------------------------------------------------------------------------- */

/* H <- act((1-t) S H + t H0), without the parts that have no effect. */
static sfu_status smooth_equation(sfu__text *text, const sfu__layer *layer) {
    const char *h = layer->labels ? "P" : "H";
    const bool act = layer->act != SFU__IDENTITY;
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, "%s \xe2\x86\x90 %s%s", h, act ? sfu__activation_words[layer->act] : "",
                             act ? "(" : ""));
    SFU_TRY(layer->teleport > 0.0 ? sfu__text_format(text, "(1-t) S %s + t %s\xe2\x82\x80", h, h)
                                  : sfu__text_format(text, "S %s", h));
    SFU_TRY(sfu__text_format(text, act ? ")\n" : "\n"));
done:
    return status;
}

static sfu_status weights_equation(sfu__text *text, const sfu__layer *layer) {
    const bool softmax = layer->kind == SFU__LAYER_SOFTMAX;
    const bool act = softmax || layer->act != SFU__IDENTITY;
    return sfu__text_format(text, "%s \xe2\x86\x90 %s%sH%s%s%s\n", softmax ? "P" : "H",
                            softmax ? "softmax"
                            : act   ? sfu__activation_words[layer->act]
                                    : "",
                            act ? "(" : "", layer->linear ? " W" : "", layer->bias ? " + b" : "", act ? ")" : "");
}

/* Adds an option without brackets, truncated; nothing if it has its default value. */
static sfu_status add_option(sfu__text *lines, const sfu__text *brackets) {
    enum { LONGEST = 40 };
    if (brackets->size < 2) {
        return SFU_OK;
    }
    size_t size = brackets->size - 2;
    const char *bytes = brackets->bytes + 1;
    const bool cut = size > LONGEST;
    if (cut) {
        for (size = LONGEST; size > 0 && ((unsigned char)bytes[size] & 0xc0) == 0x80; size--) {
        }
    }
    return sfu__text_format(lines, "%.*s%s\n", (int)size, bytes, cut ? "\xe2\x80\xa6" : "");
}

static sfu_status add_options(sfu__text *lines, const sfu__layer *layer, const sfu__lpnn *lpnn) {
    sfu_status status = SFU_OK;
    sfu__text one = {0};
    for (unsigned row = 0; row < (unsigned)SFU__LAYER_OPTIONS; row++) {
        const bool act = layer != NULL && row == SFU__OPTION_ACT; /* it is in the equation */
        one.size = 0;
        if (!act) {
            SFU_TRY(layer != NULL ? sfu__layer_options_print(&one, layer, 1U << row)
                                  : sfu__lpnn_options_print(&one, lpnn, 1U << row));
        }
        SFU_TRY(add_option(lines, &one));
    }
done:
    sfu__text_clear(&one);
    return status;
}

static sfu_status add_layer(drawing *self, const sfu__layer *layer) {
    sfu_status status = SFU_OK;
    box *box = &self->boxes[self->count++];
    const bool smooth = layer->kind == SFU__LAYER_SMOOTH;
    box->style = smooth && layer->labels             ? &labels
                 : smooth                            ? &features
                 : layer->kind == SFU__LAYER_SOFTMAX ? &classes
                                                     : &weights;
    if (smooth && layer->times > 1) {
        SFU_TRY(sfu__text_format(&box->lines, "smooth \xc3\x97 %d\n", layer->times));
    } else if (layer->kind == SFU__LAYER_DENSE && layer->width > 0) {
        SFU_TRY(sfu__text_format(&box->lines, "dense %d\n", layer->width));
    } else {
        SFU_TRY(sfu__text_format(&box->lines, "%s%s\n", sfu__layer_rows[layer->kind].name,
                                 layer->kind == SFU__LAYER_DENSE ? " classes" : ""));
    }
    SFU_TRY(smooth ? smooth_equation(&box->lines, layer) : weights_equation(&box->lines, layer));
    SFU_TRY(add_options(&box->lines, layer, NULL));
    finish_box(self, box);
done:
    return status;
}

static sfu_status add_end(drawing *self, const style *style, const char *text) {
    box *box = &self->boxes[self->count++];
    box->style = style;
    const sfu_status status = sfu__text_format(&box->lines, "%s\n", text);
    finish_box(self, box);
    return status;
}

static sfu_status add_f(drawing *self, const sfu__lpnn *lpnn) {
    sfu_status status = SFU_OK;
    box *box = &self->boxes[self->count++];
    box->style = &together;
    SFU_TRY(sfu__text_format(&box->lines, "f\none row per node\n"));
    SFU_TRY(add_options(&box->lines, NULL, lpnn));
    finish_box(self, box);
done:
    return status;
}

/* The composition, wrapped between layers. */
static sfu_status add_heading(drawing *self, const sfu_net *net) {
    sfu_status status = SFU_OK;
    sfu__text layer = {0};
    int on_line = 0;
    if (net->is_lpnn) {
        SFU_TRY(sfu__text_format(&self->heading, "%s", net->text));
    }
    for (int i = 0; i < net->count && !net->is_lpnn; i++) {
        layer.size = 0;
        SFU_TRY(sfu__layer_print(&layer, &net->layers[i]));
        const int size = characters(layer.bytes, layer.size);
        if (i > 0) {
            const bool wraps = on_line + size > HEADING;
            SFU_TRY(sfu__text_format(&self->heading, wraps ? " |\n" : " | "));
            on_line = wraps ? 0 : on_line + 3;
        }
        SFU_TRY(sfu__text_add(&self->heading, layer.bytes, layer.size));
        on_line += size;
    }
    SFU_TRY(sfu__text_format(&self->heading, "\n"));
    self->heading_width = measure(&self->heading, &self->heading_lines);
done:
    sfu__text_clear(&layer);
    return status;
}

static sfu_status lay_out(drawing *self, const sfu_net *net) {
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(self->boxes, net->count + 3);
    SFU_TRY(add_heading(self, net));
    SFU_TRY(add_end(self, &ends, net->is_lpnn && net->lpnn.input_f ? "X, f" : "X"));
    for (int i = 0; i < net->count; i++) {
        SFU_TRY(add_layer(self, &net->layers[i]));
    }
    if (net->is_lpnn) {
        SFU_TRY(add_f(self, &net->lpnn));
    }
    SFU_TRY(add_end(self, &ends, !net->is_lpnn ? "P" : net->lpnn.output_g ? "P = g" : "P = f"));
done:
    return status;
}

/* ---- drawing ---------------------------------------------------------------------------------------------------- */

static sfu_status put_text(sfu__text *svg, const char *bytes, size_t size) {
    sfu_status status = SFU_OK;
    for (size_t i = 0; i < size && status == SFU_OK; i++) {
        const char c = bytes[i];
        status = c == '&'   ? sfu__text_add(svg, "&amp;", 5)
                 : c == '<' ? sfu__text_add(svg, "&lt;", 4)
                 : c == '>' ? sfu__text_add(svg, "&gt;", 4)
                            : sfu__text_add(svg, &c, 1);
    }
    return status;
}

/* Writes lines from `y` on; the first may have a different style. */
static sfu_status put_lines(sfu__text *svg, const sfu__text *lines, int x, int y, const char *first,
                            const char *others) {
    sfu_status status = SFU_OK;
    for (size_t begin = 0; begin < lines->size; y += LINE) {
        const size_t size = strcspn(lines->bytes + begin, "\n");
        SFU_TRY(sfu__text_format(svg, "<text x=\"%d\" y=\"%d\"%s>", x, y, begin == 0 ? first : others));
        SFU_TRY(put_text(svg, lines->bytes + begin, size));
        SFU_TRY(sfu__text_format(svg, "</text>\n"));
        begin += size + 1;
    }
done:
    return status;
}

static sfu_status put_box(sfu__text *svg, const box *box, int x, int middle) {
    sfu_status status = SFU_OK;
    const int top = middle - box->height / 2;
    const int center = x + box->width / 2;
    SFU_TRY(sfu__text_format(svg,
                             "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"7\" fill=\"%s\" stroke=\"%s\" "
                             "stroke-width=\"1.5\"/>\n",
                             x, top, box->width, box->height, box->style->fill, box->style->stroke));
    SFU_TRY(put_lines(svg, &box->lines, center, top + PAD + 11, " class=\"name\"", ""));
    if (box->style->about[0] != '\0') {
        SFU_TRY(sfu__text_format(svg, "<text class=\"about\" x=\"%d\" y=\"%d\">%s</text>\n", center,
                                 top + box->height + LINE, box->style->about));
    }
done:
    return status;
}

static sfu_status put_arrow(sfu__text *svg, int x, int middle) {
    return sfu__text_format(svg,
                            "<path d=\"M%d %dh%d\" stroke=\"#808080\" stroke-width=\"2\" fill=\"none\"/>"
                            "<path d=\"M%d %dl-9 -5v10z\" fill=\"#808080\"/>\n",
                            x + 6, middle, ARROW - 20, x + ARROW - 6, middle);
}

static sfu_status draw(drawing *self, const sfu_net *net) {
    sfu_status status = SFU_OK;
    sfu__text *svg = &self->svg;
    const int row = self->width + (self->count - 1) * ARROW;
    const int inside = row > self->heading_width ? row : self->heading_width;
    const int width = inside + 2 * MARGIN;
    const int top = MARGIN + self->heading_lines * LINE + MARGIN;
    const int middle = top + self->height / 2;
    const int height = top + self->height + LINE + 2 * MARGIN;
    int x = MARGIN + (inside - row) / 2;
    SFU_TRY(sfu__text_format(svg,
                             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
                             "%d\" role=\"img\">\n<desc>Drawn by sfumato</desc>\n<title>",
                             width, height, width, height));
    SFU_TRY(put_text(svg, net->text, strlen(net->text)));
    SFU_TRY(sfu__text_format(svg, "</title>\n<style>text { font: 13px monospace; fill: #1a1a1a; text-anchor: middle }"
                                  " .name { font-weight: bold } .about { fill: #808080; font-size: 12px }"
                                  " .heading { fill: #808080 }</style>\n"));
    SFU_TRY(put_lines(svg, &self->heading, width / 2, MARGIN + 12, " class=\"heading\"", " class=\"heading\""));
    for (int i = 0; i < self->count; i++) {
        if (i > 0) {
            SFU_TRY(put_arrow(svg, x, middle));
            x += ARROW;
        }
        SFU_TRY(put_box(svg, &self->boxes[i], x, middle));
        x += self->boxes[i].width;
    }
    SFU_TRY(sfu__text_format(svg, "</svg>\n"));
done:
    return status;
}

sfu_status sfu_net_draw(const sfu_net *net, const char *path) {
    sfu_status status = SFU_OK;
    drawing self = {0};
    sfu__writer *writer = NULL;
    SFU_TRY(lay_out(&self, net));
    SFU_TRY(draw(&self, net));
    SFU_TRY(sfu__writer_open(&writer, path));
    SFU_TRY(sfu__writer_add(writer, self.svg.bytes, self.svg.size));
    SFU_TRY(sfu__writer_commit(writer));
done:
    sfu__writer_close(writer);
    for (int i = 0; i < self.count; i++) {
        sfu__text_clear(&self.boxes[i].lines);
    }
    sfu__free(self.boxes);
    sfu__text_clear(&self.heading);
    sfu__text_clear(&self.svg);
    return status;
}
