/* html_tables.c - the tables of accuracies, one a label-set size: networks by datasets, ours with its standard
 * deviation, the paper's below it, and average ranks. And what all tables of the page are made of.
 */
#include "html_page.h"

#include "plots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- parts of tables --------------------------------------------------------------------------------------------- */

sfu_status sfu__html_table_begin(sfu__text *html, const char *caption) {
    return sfu__html(html,
                     "<div class=\"scroll table tall\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n"
                     "<table class=\"sort\">\n<caption><span>%s</span></caption>\n<thead><tr>\n",
                     caption, caption);
}

sfu_status sfu__html_table_head(sfu__text *html, const char *title, const char *class) {
    return sfu__html(html,
                     "<th scope=\"col\" class=\"%s\" aria-sort=\"none\"><button type=\"button\">%s</button></th>\n",
                     class, title);
}

sfu_status sfu__html_table_body(sfu__text *html) { return sfu__html(html, "</tr></thead>\n<tbody>\n"); }
sfu_status sfu__html_table_end(sfu__text *html) { return sfu__html(html, "</tbody>\n</table>\n</div>\n"); }

static sfu_status open_number(sfu__text *html, double value, const char *class) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__html(html, "<td class=\"n%s\" data-v=\"", class));
    if (isfinite(value)) {
        SFU_TRY(sfu__text_number(html, value));
    }
    SFU_TRY(sfu__html(html, "\">"));
done:
    return status;
}

sfu_status sfu__html_number(sfu__text *html, double value, const char *text) {
    sfu_status status = SFU_OK;
    SFU_TRY(open_number(html, value, ""));
    SFU_TRY(sfu__html(html, "%s</td>", text));
done:
    return status;
}

/* ---- a table of a size ------------------------------------------------------------------------------------------- */

static const sfu_cell *find_cell(const sfu_results *results, const char *size, const char *net, const char *dataset) {
    for (int i = 0; i < results->cell_count; i++) {
        const sfu_cell *cell = &results->cells[i];
        if (sfu__is_main_cell(cell) && strcmp(cell->size, size) == 0 && strcmp(cell->net, net) == 0 &&
            strcmp(cell->dataset, dataset) == 0) {
            return cell;
        }
    }
    return NULL;
}

static const sfu_rank *find_rank(const sfu_results *results, const char *size, const char *net) {
    for (int i = 0; i < results->rank_count; i++) {
        if (strcmp(results->ranks[i].size, size) == 0 && strcmp(results->ranks[i].net, net) == 0) {
            return &results->ranks[i];
        }
    }
    return NULL;
}

/* The best of its dataset and size: no other has a higher mean. */
static bool is_best(const sfu_results *results, const sfu_cell *cell) {
    for (int i = 0; i < results->cell_count; i++) {
        const sfu_cell *other = &results->cells[i];
        if (sfu__is_main_cell(other) && strcmp(cell->size, other->size) == 0 &&
            strcmp(cell->dataset, other->dataset) == 0 && other->mean > cell->mean) {
            return false;
        }
    }
    return true;
}

static sfu_status add_accuracy(sfu__text *html, const sfu_results *results, const sfu_cell *cell) {
    sfu_status status = SFU_OK;
    if (cell == NULL) {
        return sfu__html_number(html, NAN, "");
    }
    char mean[SFU__FIXED_MAX], std[SFU__FIXED_MAX], paper[SFU__FIXED_MAX];
    SFU_TRY(open_number(html, cell->mean, is_best(results, cell) ? " best" : ""));
    SFU_TRY(sfu__html(html, "%s", sfu__percent(mean, cell->mean)));
    if (isfinite(cell->std)) {
        SFU_TRY(sfu__html(html, " (%s)", sfu__percent(std, cell->std)));
    }
    if (isfinite(cell->published->mean)) {
        sfu__percent(paper, cell->published->mean);
        SFU_TRY(sfu__html(html, "<small>paper %s <span class=\"%s\">%s</span></small>", paper, cell->published->verdict,
                          cell->published->verdict));
    }
    SFU_TRY(sfu__html(html, "</td>"));
done:
    return status;
}

static sfu_status add_rank(sfu__text *html, const sfu_rank *rank) {
    sfu_status status = SFU_OK;
    char text[SFU__FIXED_MAX];
    if (rank == NULL) {
        return sfu__html_number(html, NAN, "");
    }
    sfu__fixed(text, rank->rank, 2);
    SFU_TRY(open_number(html, rank->rank, ""));
    SFU_TRY(sfu__html(html, "%s", isfinite(rank->rank) ? text : ""));
    if (isfinite(rank->published->mean)) {
        sfu__fixed(text, rank->published->mean, 2);
        SFU_TRY(sfu__html(html, "<small>paper %s</small>", text));
    }
    SFU_TRY(sfu__html(html, "</td>"));
done:
    return status;
}

static sfu_status add_row(sfu__text *html, const sfu_results *results, const char *size, const char *net,
                          const sfu__string_list *datasets) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__html(html, "<tr><th scope=\"row\" class=\"name\" title=\"%s\">%s</th>", net, net));
    for (int i = 0; i < datasets->count; i++) {
        SFU_TRY(add_accuracy(html, results, find_cell(results, size, net, datasets->items[i])));
    }
    SFU_TRY(add_rank(html, find_rank(results, size, net)));
    SFU_TRY(sfu__html(html, "</tr>\n"));
done:
    return status;
}

static bool has_size(const sfu_results *results, const char *size, const char *net, const char *dataset) {
    for (int i = 0; i < results->cell_count; i++) {
        const sfu_cell *cell = &results->cells[i];
        if (sfu__is_main_cell(cell) && strcmp(cell->size, size) == 0 && (net == NULL || strcmp(cell->net, net) == 0) &&
            (dataset == NULL || strcmp(cell->dataset, dataset) == 0)) {
            return true;
        }
    }
    return false;
}

/* Takes out of a list what this size does not have. */
static void keep_of_size(sfu__string_list *list, const sfu_results *results, const char *size, bool nets) {
    int kept = 0;
    for (int i = 0; i < list->count; i++) {
        char *item = list->items[i];
        if (has_size(results, size, nets ? item : NULL, nets ? NULL : item)) {
            list->items[kept++] = item;
        } else {
            sfu__free(item);
        }
    }
    list->count = kept;
}

static sfu_status add_size(sfu__text *html, const sfu_results *results, const char *size) {
    sfu_status status = SFU_OK;
    sfu__string_list datasets = {0}, nets = {0};
    sfu__text caption = {0};
    SFU_TRY(sfu__cell_datasets(&datasets, results));
    SFU_TRY(sfu__cell_nets(&nets, results));
    keep_of_size(&datasets, results, size, false);
    keep_of_size(&nets, results, size, true);
    const bool standard = strcmp(size, "standard") == 0;
    SFU_TRY(sfu__text_format(&caption, "%s%s", standard ? "Standard split" : "Label-set size ", standard ? "" : size));
    SFU_TRY(sfu__text_format(&caption, ": test accuracy in percent, standard deviation in brackets, the best in bold"));
    SFU_TRY(sfu__html_table_begin(html, caption.bytes));
    SFU_TRY(sfu__html_table_head(html, "network", "row"));
    for (int i = 0; i < datasets.count; i++) {
        SFU_TRY(sfu__html_table_head(html, datasets.items[i], "n"));
    }
    SFU_TRY(sfu__html_table_head(html, "average rank", "n"));
    SFU_TRY(sfu__html_table_body(html));
    for (int i = 0; i < nets.count; i++) {
        SFU_TRY(add_row(html, results, size, nets.items[i], &datasets));
    }
    SFU_TRY(sfu__html_table_end(html));
done:
    sfu__string_list_clear(&datasets);
    sfu__string_list_clear(&nets);
    sfu__text_clear(&caption);
    return status;
}

sfu_status sfu__html_accuracies(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__string_list sizes = {0};
    SFU_TRY(sfu__cell_sizes(&sizes, results));
    if (sizes.count > 0) {
        SFU_TRY(sfu__html(html, "<section id=\"accuracy\">\n<h2>Accuracy</h2>\n"));
    }
    for (int i = 0; i < sizes.count; i++) {
        SFU_TRY(add_size(html, results, sizes.items[i]));
    }
    if (sizes.count > 0) {
        SFU_TRY(sfu__html(html, "</section>\n"));
    }
done:
    sfu__string_list_clear(&sizes);
    return status;
}
