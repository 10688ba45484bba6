/* results_html.c - report.html: one self-contained page. The same results give the same bytes: it has no dates,
 * machines or run times.
 */
#include "html_page.h"

#include "file.h"
#include "plots.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- settings ------------------------------------------------------------------------------------------------ */

/* "1 network", "8 networks" */
static const char *count_text(char text[64], int count, const char *what) {
    snprintf(text, 64, "%d %s%s", count, what, count == 1 ? "" : "s");
    return text;
}

static sfu_status make_title(sfu__text *title, const sfu_results *results) {
    char nets[64], datasets[64];
    const sfu__request *request = &results->request;
    return strcmp(request->kind, "compare") == 0
               ? sfu__text_format(title, "Comparison of %s on %s", count_text(nets, request->nets.count, "network"),
                                  count_text(datasets, request->datasets.count, "dataset"))
               : sfu__text_format(title, "Reproduction of the paper: %s", request->kind);
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

/* "200", "100 to 200 (of 30 studies 10 have 200)" */
static sfu_status add_trials(sfu__text *html, const char *term, const sfu_results *results, bool lpnn, int32_t asked) {
    const sfu__budgets budgets = sfu__budgets_of(results, lpnn);
    char text[96];
    if (budgets.least < budgets.most) {
        snprintf(text, sizeof text, "%d to %d (of %d studies %d have %d)", budgets.least, budgets.most, budgets.studies,
                 budgets.with_most, budgets.most);
    } else {
        snprintf(text, sizeof text, "%d", budgets.studies > 0 ? budgets.most : asked);
    }
    return add_fact(html, term, text);
}

/* Datasets, networks, sizes and splits of the entries: a table of the paper does not need all of the request. */
static sfu_status add_lists(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__string_list datasets = {0}, nets = {0}, sizes = {0}, splits = {0};
    int place = 0;
    for (int i = 0; i < results->entries.count; i++) {
        const sfu__entry *entry = &results->entries.items[i];
        if (!sfu__is_noisy(entry->task.dataset)) {
            SFU_TRY(sfu__string_list_index(&place, &datasets, entry->name));
        }
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
    SFU_TRY(sfu__html(html, "<section id=\"run\">\n<h2>Settings</h2>\n<dl>\n"));
    SFU_TRY(add_lists(html, results));
    SFU_TRY(add_trials(html, "trials per study", results, false, request->trials));
    if (request->lpnn_trials != request->trials) {
        SFU_TRY(add_trials(html, "trials of lpnn", results, true, request->lpnn_trials));
    }
    SFU_TRY(add_fact(html, "search space", request->space));
    if (strcmp(request->sampler, "auto") != 0) {
        SFU_TRY(add_fact(html, "sampler", request->sampler));
    }
    SFU_TRY(add_fact(html, "loss", request->loss == SFU_LOSS_SUM ? "sum" : "mean"));
    if (!sfu__is_accuracy(results)) {
        SFU_TRY(add_fact(html, "metric", sfu__metric_words(results)));
    }
    if (request->balanced) {
        SFU_TRY(add_fact(html, "class weights", "balanced"));
    }
    SFU_TRY(add_fact(html, "feature smoothing", request->feature_norm));
    SFU_TRY(add_fact(html, "label smoothing", request->label_norm));
    SFU_TRY(add_fact(html, "self-loops", request->keep_loops ? "kept" : "dropped"));
    if (request->lpnn[0] != '\0') {
        SFU_TRY(add_fact(html, "lpnn", request->lpnn));
    }
    SFU_TRY(add_fact(html, "seed", seed));
    SFU_TRY(sfu__html(html,
                      "</dl>\n<p>Each network is tuned by one study per dataset, label-set size and split. The trial "
                      "with the best validation %s is scored on the test nodes, once; no test label is read "
                      "before.</p>\n</section>\n",
                      sfu__metric_words(results)));
done:
    return status;
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

/* One link per section of the page. */
static sfu_status add_links(sfu__text *html, const sfu__text *sections) {
    static const char *const links[][2] = {{"advice", "Result"},
                                           {"accuracy", "Accuracy and effect sizes"},
                                           {"scores", "Scores and effect sizes"},
                                           {"beyond", "Beyond the paper"},
                                           {"details", "Datasets and winners"},
                                           {"findings", "Tests and notes"},
                                           {"plots", "Plots"},
                                           {"pairs", "Pairs of networks"},
                                           {"cells", "All values"},
                                           {"run", "Settings"},
                                           {"files", "Files"},
                                           {"again", "Run it again"}};
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

/* The rest of the text: tables.md up to the advice, whose tables are in the page already. Where there are no cells, the
 * tables of the text are all there is. */
static sfu_status add_findings(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__text part = {0}, prose = {0};
    const char *advice = strstr(results->text, "\n## Advice\n");
    SFU_TRY(
        sfu__text_add(&part, results->text, advice != NULL ? (size_t)(advice - results->text) : strlen(results->text)));
    SFU_TRY(sfu__html_prose(&prose, part.bytes, results->cell_count == 0));
    if (prose.size > 0) {
        SFU_TRY(sfu__html(html, "<section id=\"findings\">\n<h2>Tests and notes</h2>\n"));
        SFU_TRY(sfu__text_add(html, prose.bytes, prose.size));
        SFU_TRY(sfu__html(html, "</section>\n"));
    }
done:
    sfu__text_clear(&part);
    sfu__text_clear(&prose);
    return status;
}

static sfu_status add_again(sfu__text *html, const sfu__request *request) {
    sfu_status status = SFU_OK;
    sfu__text command = {0};
    SFU_TRY(sfu__request_command(&command, request));
    SFU_TRY(
        sfu__html(html,
                  "<section id=\"again\">\n<h2>Run it again</h2>\n<pre tabindex=\"0\"><code>%s</code></pre>\n"
                  "<p>The same command gives the same results, byte for byte, on any machine and with any number of "
                  "threads. <code>sfumato report FOLDER</code> writes this page again.</p>\n</section>\n",
                  command.bytes));
done:
    sfu__text_clear(&command);
    return status;
}

/* Links to the files beside the page, which are relative so that the folder can be moved. */
static sfu_status add_files(sfu__text *html, const sfu_results *results) {
    static const char *const files[][2] = {
        {"results.csv", "one row per network, dataset, label-set size and split"},
        {"timings.csv", "run times of the same rows"},
        {"curves.csv", "learning curves of the winners on the first split"},
        {"details.csv", "datasets, winning hyperparameters and confusion matrices"},
        {"tables.md", "the tables as Markdown"},
        {"tables.tex", "the tables for LaTeX"},
        {"manifest.json", "versions, seeds, digests and the machine"},
    };
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__html(html, "<section id=\"files\">\n<h2>Files</h2>\n<ul>\n"));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *path = sfu__path_join(results->folder, files[i][0]);
        status = path != NULL ? SFU_OK : SFU_ERR_MEMORY;
        if (status == SFU_OK && sfu__path_is_file(path)) {
            status = sfu__html(html, "<li><a href=\"%s\">%s</a>: %s</li>\n", files[i][0], files[i][0], files[i][1]);
        }
        sfu__free(path);
        SFU_TRY(status);
    }
    SFU_TRY(sfu__html(html, "<li><a href=\"plots/\">plots/</a>: each plot as SVG with its gnuplot script and its data"
                            "</li>\n</ul>\n</section>\n"));
done:
    return status;
}

static sfu_status make_page(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__text sections = {0}, title = {0};
    SFU_TRY(sfu__html_answer(&sections, results));
    SFU_TRY(sfu__html_accuracies(&sections, results));
    SFU_TRY(sfu__html_beyond(&sections, results));
    SFU_TRY(sfu__html_details(&sections, results));
    SFU_TRY(add_findings(&sections, results));
    SFU_TRY(sfu__html_plots(&sections, results));
    SFU_TRY(sfu__html_pairs(&sections, results));
    SFU_TRY(sfu__html_cells(&sections, results));
    SFU_TRY(add_facts(&sections, results));
    SFU_TRY(add_files(&sections, results));
    SFU_TRY(add_again(&sections, &results->request));
    SFU_TRY(make_title(&title, results));
    SFU_TRY(sfu__html_start(html, "compare", title.bytes));
    SFU_TRY(sfu__html(html, "<body>\n<a class=\"skip\" href=\"#main\">Skip to the results</a>\n<header>\n"));
    SFU_TRY(sfu__html(html, "<h1>%s</h1>\n", title.bytes));
    SFU_TRY(add_links(html, &sections));
    SFU_TRY(sfu__html(html, "</header>\n<main id=\"main\">\n"));
    SFU_TRY(sfu__text_add(html, sections.bytes, sections.size));
    SFU_TRY(sfu__html(html, "</main>\n<footer>Made by sfumato %s.</footer>\n", sfu_version()));
    SFU_TRY(sfu__html_end(html));
done:
    sfu__text_clear(&title);
    sfu__text_clear(&sections);
    return status;
}

sfu_status sfu__results_html(const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__text html = {0};
    char *path = NULL;
    SFU_TRY(make_page(&html, results));
    path = sfu__path_join(results->folder, "report.html");
    status = path != NULL ? sfu__write_file(path, html.bytes, html.size) : SFU_ERR_MEMORY;
done:
    sfu__free(path);
    sfu__text_clear(&html);
    return status;
}
