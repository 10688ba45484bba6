/* results_html.c - report.html: one page that needs nothing else, for people. The same results give the same bytes: it
 * says nothing of dates, machines, or how long anything took.
 */
#include "html_page.h"

#include "file.h"
#include "plots.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- what was run ------------------------------------------------------------------------------------------------ */

/* "1 network", "8 networks" */
static const char *count_text(char text[64], int count, const char *what) {
    snprintf(text, 64, "%d %s%s", count, what, count == 1 ? "" : "s");
    return text;
}

static sfu_status add_title(sfu__text *html, const sfu_results *results, const char *element) {
    sfu_status status = SFU_OK;
    char nets[64], datasets[64];
    const sfu__request *request = &results->request;
    SFU_TRY(sfu__text_format(html, "<%s>", element));
    if (strcmp(request->kind, "compare") == 0) {
        SFU_TRY(sfu__html(html, "Comparison of %s on %s", count_text(nets, request->nets.count, "network"),
                          count_text(datasets, request->datasets.count, "dataset")));
    } else {
        SFU_TRY(sfu__html(html, "The paper\u2019s study, run again: %s", request->kind));
    }
    SFU_TRY(sfu__text_format(html, "</%s>\n", element));
done:
    return status;
}

static sfu_status add_list(sfu__text *html, const char *term, const sfu__string_list *list) {
    sfu_status status = SFU_OK;
    if (list->count == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__html(html, "<dt>%s</dt><dd>", term));
    for (int i = 0; i < list->count; i++) {
        SFU_TRY(sfu__html(html, i > 0 ? ", " : ""));
        SFU_TRY(sfu__html(html, "%s", list->items[i]));
    }
    SFU_TRY(sfu__html(html, "</dd>\n"));
done:
    return status;
}

static sfu_status add_fact(sfu__text *html, const char *term, const char *text) {
    return sfu__html(html, "<dt>%s</dt><dd>%s</dd>\n", term, text);
}

static sfu_status add_number(sfu__text *html, const char *term, int64_t number) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, number);
    return add_fact(html, term, text);
}

/* Of a table of the paper not all that is in the request was needed: datasets, networks and sizes are those of the
 * entries. */
static sfu_status add_lists(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__string_list datasets = {0}, nets = {0}, sizes = {0}, splits = {0};
    int place = 0;
    for (int i = 0; i < results->entries.count; i++) {
        const sfu__entry *entry = &results->entries.items[i];
        SFU_TRY(sfu__string_list_index(&place, &datasets, entry->name));
        SFU_TRY(sfu__string_list_index(&place, &nets, entry->task.net));
        SFU_TRY(sfu__string_list_index(&place, &sizes, entry->task.size));
        SFU_TRY(sfu__string_list_index(&place, &splits, entry->task.split));
    }
    SFU_TRY(add_list(html, "datasets", &datasets));
    SFU_TRY(add_list(html, "networks", &nets));
    SFU_TRY(add_list(html, "label-set sizes", &sizes));
    SFU_TRY(add_list(html, "splits", &splits));
done:
    sfu__string_list_clear(&datasets);
    sfu__string_list_clear(&nets);
    sfu__string_list_clear(&sizes);
    sfu__string_list_clear(&splits);
    return status;
}

static sfu_status add_facts(sfu__text *html, const sfu_results *results) {
    const sfu__request *request = &results->request;
    sfu_status status = SFU_OK;
    char seed[32];
    snprintf(seed, sizeof seed, "%" PRIu64, request->seed);
    SFU_TRY(sfu__html(html, "<section id=\"run\">\n<h2>What was run</h2>\n<dl>\n"));
    SFU_TRY(add_lists(html, results));
    SFU_TRY(add_number(html, "trials a study", request->trials));
    if (request->lpnn_trials != request->trials) {
        SFU_TRY(add_number(html, "trials of lpnn", request->lpnn_trials));
    }
    SFU_TRY(add_fact(html, "search space", request->space));
    SFU_TRY(add_fact(html, "loss", request->loss == SFU_LOSS_SUM ? "sum" : "mean"));
    SFU_TRY(add_fact(html, "smoothing of features", request->feature_norm));
    SFU_TRY(add_fact(html, "self-loops", request->keep_loops ? "kept" : "dropped"));
    if (request->lpnn[0] != '\0') {
        SFU_TRY(add_fact(html, "lpnn", request->lpnn));
    }
    SFU_TRY(add_fact(html, "seed", seed));
    SFU_TRY(sfu__html(html,
                      "</dl>\n<p>Each network is tuned on each dataset, label-set size and split by a study of its "
                      "own. The configuration with the best validation accuracy is scored on test, once; test "
                      "labels are not read before.</p>\n</section>\n"));
done:
    return status;
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

static sfu_status add_lines(sfu__text *html, const char *const *lines) {
    sfu_status status = SFU_OK;
    for (; *lines != NULL; lines++) {
        SFU_TRY(sfu__text_format(html, "%s\n", *lines));
    }
done:
    return status;
}

/* Nothing may be loaded from anywhere, whatever else is in the page. */
static sfu_status add_head(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__html(html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                            "<meta name=\"color-scheme\" content=\"light dark\">\n"
                            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                            "'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"));
    SFU_TRY(add_title(html, results, "title"));
    SFU_TRY(sfu__html(html, "<style>\n"));
    SFU_TRY(add_lines(html, sfu__html_style));
    SFU_TRY(sfu__html(html, "</style>\n</head>\n"));
done:
    return status;
}

/* A link for each section that is there. */
static sfu_status add_links(sfu__text *html, const sfu__text *sections) {
    static const char *const links[][2] = {
        {"advice", "Advice"},    {"accuracy", "Accuracy"},  {"findings", "What the tables say"},
        {"plots", "Plots"},      {"pairs", "Side by side"}, {"cells", "Cell by cell"},
        {"run", "What was run"}, {"again", "Run it again"}};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__html(html, "<nav aria-label=\"Sections\"><ul>\n"));
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        char opening[64];
        snprintf(opening, sizeof opening, "<section id=\"%s\">", links[i][0]);
        if (strstr(sections->bytes, opening) != NULL) {
            SFU_TRY(sfu__html(html, "<li><a href=\"#%s\">%s</a></li>\n", links[i][0], links[i][1]));
        }
    }
    SFU_TRY(sfu__html(html, "</ul></nav>\n"));
done:
    return status;
}

/* The text without what it says of times, which differ from run to run. */
static sfu_status copy_timeless(sfu__text *copy, const char *text) {
    static const char cost[] = "- cost: ";
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_add(copy, "", 0));
    for (const char *at = text; *at != '\0';) {
        const size_t line = strcspn(at, "\n"), size = line + (at[line] == '\n');
        if (strncmp(at, cost, sizeof cost - 1) != 0) {
            SFU_TRY(sfu__text_add(copy, at, size));
        }
        at += size;
    }
done:
    return status;
}

/* A section of prose, out of [text, text + size). */
static sfu_status add_prose(sfu__text *html, const char *id, const char *title, const char *text, size_t size,
                            bool tables) {
    sfu_status status = SFU_OK;
    sfu__text part = {0}, timeless = {0}, prose = {0};
    SFU_TRY(sfu__text_add(&part, text, size));
    SFU_TRY(copy_timeless(&timeless, part.bytes));
    SFU_TRY(sfu__html_prose(&prose, timeless.bytes, tables));
    if (prose.size > 0) {
        SFU_TRY(sfu__html(html, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title));
        SFU_TRY(sfu__text_add(html, prose.bytes, prose.size));
        SFU_TRY(sfu__html(html, "</section>\n"));
    }
done:
    sfu__text_clear(&part);
    sfu__text_clear(&timeless);
    sfu__text_clear(&prose);
    return status;
}

/* Where in the results' text the advice begins: at its end where there is none. */
static const char *find_advice(const sfu_results *results) {
    const char *found = strstr(results->text, "\n## Advice\n");
    return found != NULL ? found : results->text + strlen(results->text);
}

/* The answer comes first. */
static sfu_status add_advice(sfu__text *html, const sfu_results *results) {
    const char *advice = find_advice(results);
    const size_t heading = *advice != '\0' ? strlen("\n## Advice\n") : 0;
    return add_prose(html, "advice", "Advice", advice + heading, strlen(advice) - heading, false);
}

/* What else the text says; where there are no cells, its own tables are all there is. */
static sfu_status add_findings(sfu__text *html, const sfu_results *results) {
    return add_prose(html, "findings", "What the tables say", results->text,
                     (size_t)(find_advice(results) - results->text), results->cell_count == 0);
}

static sfu_status add_again(sfu__text *html, const sfu__request *request) {
    sfu_status status = SFU_OK;
    sfu__text command = {0};
    SFU_TRY(sfu__request_command(&command, request));
    SFU_TRY(
        sfu__html(html,
                  "<section id=\"again\">\n<h2>Run it again</h2>\n<pre tabindex=\"0\"><code>%s</code></pre>\n"
                  "<p>The same command gives the same results, byte for byte, on any machine and with any number of "
                  "threads. In the folder of this page are <code>results.csv</code> (the entries), "
                  "<code>timings.csv</code> (how long they took), <code>manifest.json</code> (versions, seeds, "
                  "digests and the machine), <code>tables.md</code>, <code>tables.tex</code>, and "
                  "<code>plots/</code>, each plot with its script and data. <code>sfumato report FOLDER</code> "
                  "writes this page anew.</p>\n</section>\n",
                  command.bytes));
done:
    sfu__text_clear(&command);
    return status;
}

static sfu_status make_page(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__text sections = {0};
    SFU_TRY(add_advice(&sections, results));
    SFU_TRY(sfu__html_accuracies(&sections, results));
    SFU_TRY(add_findings(&sections, results));
    SFU_TRY(sfu__html_plots(&sections, results));
    SFU_TRY(sfu__html_pairs(&sections, results));
    SFU_TRY(sfu__html_cells(&sections, results));
    SFU_TRY(add_facts(&sections, results));
    SFU_TRY(add_again(&sections, &results->request));
    SFU_TRY(add_head(html, results));
    SFU_TRY(sfu__html(html, "<body>\n<a class=\"skip\" href=\"#main\">Skip to the results</a>\n<header>\n"));
    SFU_TRY(add_title(html, results, "h1"));
    SFU_TRY(add_links(html, &sections));
    SFU_TRY(sfu__html(html, "</header>\n<main id=\"main\">\n"));
    SFU_TRY(sfu__text_add(html, sections.bytes, sections.size));
    SFU_TRY(sfu__html(html, "</main>\n<footer>Made by sfumato %s.</footer>\n<script>\n", sfu_version()));
    SFU_TRY(add_lines(html, sfu__html_script));
    SFU_TRY(sfu__html(html, "</script>\n</body>\n</html>\n"));
done:
    sfu__text_clear(&sections);
    return status;
}

sfu_status sfu__results_html(const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__text html = {0};
    char *path = NULL;
    SFU_TRY(make_page(&html, results));
    path = sfu__path_join(results->folder, "report.html");
    status = path != NULL ? sfu__plot_write(path, &html) : SFU_ERR_MEMORY;
done:
    sfu__free(path);
    sfu__text_clear(&html);
    return status;
}
