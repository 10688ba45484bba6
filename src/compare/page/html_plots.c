/* html_plots.c - the SVG plots, inlined in the page. Ids are unique in a file but not in the page, so each gets the
 * number of its plot as a prefix. gnuplot's title and description are left out.
 */
#include "html_page.h"

#include "file.h"
#include "plots.h"

#include <string.h>

/* The bytes that are still to be read. */
typedef struct view {
    const char *at, *end;
} view;

static bool starts_with(const view *svg, const char *text) {
    const size_t size = strlen(text);
    return (size_t)(svg->end - svg->at) >= size && memcmp(svg->at, text, size) == 0;
}

/* Moves to the next occurrence of `text`; to the end, returning false, where there is none. */
static bool find(view *svg, const char *text) {
    while (svg->at < svg->end && !starts_with(svg, text)) {
        svg->at++;
    }
    return svg->at < svg->end;
}

/* Past <title>...</title>. */
static void skip_element(view *svg, const char *closing) {
    if (find(svg, closing)) {
        svg->at += strlen(closing);
    }
}

/* The length of what precedes an id or a reference to one at this position; 0: neither is here. */
static size_t id_start(const view *svg) {
    static const char *const starts[] = {" id=\"", " id='", "href=\"#", "href='#", "url(#", "url('#", "url(\"#"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (starts_with(svg, starts[i])) {
            return strlen(starts[i]);
        }
    }
    return 0;
}

/* From behind "<svg" to the end of the drawing. */
static sfu_status copy_drawing(sfu__text *html, view svg, int number) {
    sfu_status status = SFU_OK;
    while (svg.at < svg.end) {
        const size_t id = id_start(&svg);
        if (starts_with(&svg, "</svg>")) {
            break;
        }
        if (starts_with(&svg, "<title>")) {
            skip_element(&svg, "</title>");
        } else if (starts_with(&svg, "<desc>")) {
            skip_element(&svg, "</desc>");
        } else if (id > 0) {
            SFU_TRY(sfu__text_add(html, svg.at, id));
            SFU_TRY(sfu__text_format(html, "plot%d-", number));
            svg.at += id;
        } else {
            SFU_TRY(sfu__text_add(html, svg.at, 1));
            svg.at++;
        }
    }
    SFU_TRY(sfu__text_format(html, "</svg>\n"));
done:
    return status;
}

static sfu_status add_figure(sfu__text *html, const sfu__plot *plot, view svg, int number) {
    sfu_status status = SFU_OK;
    if (find(&svg, "<svg")) {
        svg.at += strlen("<svg");
        SFU_TRY(sfu__html(html,
                          "<figure class=\"plot\">\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                          "aria-label=\"%s\"><svg role=\"img\" aria-label=\"%s\"",
                          plot->title, plot->title));
        SFU_TRY(copy_drawing(html, svg, number));
        SFU_TRY(
            sfu__html(html, "</div>\n<figcaption>plots/%s</figcaption>\n</figure>\n", sfu__path_base(plot->files.svg)));
    }
done:
    return status;
}

/* Heading and note of a kind of plots, before the first of them. */
static sfu_status add_kind(sfu__text *html, const sfu__plot *plot, const char **heading) {
    sfu_status status = SFU_OK;
    if (*heading != plot->heading) {
        SFU_TRY(sfu__html(html, *heading != NULL ? "</div>\n" : ""));
        SFU_TRY(sfu__html(html, "<h3>%s</h3>\n<p>%s</p>\n<div class=\"plots\">\n", plot->heading, plot->note));
        *heading = plot->heading;
    }
done:
    return status;
}

static sfu_status add_drawn(sfu__text *html, const sfu__plots *plots) {
    sfu_status status = SFU_OK;
    const char *heading = NULL;
    for (int i = 0; i < plots->count; i++) {
        sfu__bytes bytes = {0};
        if (!sfu__path_is_file(plots->items[i].files.svg)) {
            continue;
        }
        SFU_TRY(add_kind(html, &plots->items[i], &heading));
        SFU_TRY(sfu__bytes_open(&bytes, plots->items[i].files.svg));
        const char *data = (const char *)bytes.data;
        status = add_figure(html, &plots->items[i], (view){data, data + bytes.size}, i);
        sfu__bytes_close(&bytes);
        SFU_TRY(status);
    }
    SFU_TRY(sfu__html(html, heading != NULL ? "</div>\n" : ""));
done:
    return status;
}

sfu_status sfu__html_plots(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__plots plots = {0};
    sfu__text figures = {0};
    SFU_TRY(sfu__plots_make(&plots, results));
    SFU_TRY(add_drawn(&figures, &plots));
    if (figures.size > 0) {
        SFU_TRY(sfu__html(html, "<section id=\"plots\">\n<h2>Plots</h2>\n"));
        SFU_TRY(sfu__text_add(html, figures.bytes, figures.size));
        SFU_TRY(sfu__html(html, "</section>\n"));
    }
done:
    sfu__text_clear(&figures);
    sfu__plots_clear(&plots);
    return status;
}
