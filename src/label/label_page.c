/* label_page.c - labels.html: one self-contained page about a labelling. The same labelling gives the same bytes: it
 * has no dates, machines or run times. */
#include "label.h"

#include "dataset.h"
#include "html_page.h"
#include "metrics.h"
#include "text_table.h"
#include "writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DOUBTFUL = 20, NAME_MAX_BYTES = 200, TEXT_MAX = 64 };

typedef struct page {
    const sfu_labelling *labelling;
    const sfu_label_summary *summary;
    const sfu_dataset *dataset;
    sfu__text html;
} page;

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static const char *percent(char text[TEXT_MAX], double share) {
    char number[SFU__FIXED_MAX];
    snprintf(text, TEXT_MAX, isnan(share) ? "not known" : "%s %%", sfu__fixed(number, 100 * share, 1));
    return text;
}

static const char *class_text(char number[TEXT_MAX], const page *self, int32_t class_index) {
    const char *name = sfu_dataset_class_name(self->dataset, class_index);
    snprintf(number, TEXT_MAX, "%d", class_index);
    return name != NULL ? name : number;
}

/* The name of a node, cut if it is long, or its number. */
static const char *node_text(char text[NAME_MAX_BYTES + 1], const page *self, int32_t node) {
    size_t size = 0;
    const char *name = sfu_dataset_node_name(self->dataset, node, &size);
    if (name == NULL) {
        snprintf(text, NAME_MAX_BYTES, "%d", node);
        return text;
    }
    size = size < NAME_MAX_BYTES ? size : NAME_MAX_BYTES;
    memcpy(text, name, size);
    text[size] = '\0';
    return text;
}

static sfu_status add_percent(sfu__text_table *table, double share) {
    char text[TEXT_MAX];
    return sfu__text_table_number(table, share, percent(text, share));
}

static sfu_status add_count(sfu__text_table *table, int64_t count) {
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%lld", (long long)count);
    return sfu__text_table_number(table, (double)count, text);
}

static sfu_status add_decimal(sfu__text_table *table, double value, int digits) {
    char text[SFU__FIXED_MAX];
    return sfu__text_table_number(table, value, sfu__fixed(text, value, digits));
}

/* ---- the estimate ------------------------------------------------------------------------------------------------ */

static sfu_status add_interval(page *self, const char *what, double value, double low, double high) {
    char text[3][TEXT_MAX];
    return sfu__html(&self->html, "<dt>%s</dt><dd><b>%s</b> (95 %% confidence interval %s to %s)</dd>\n", what,
                     percent(text[0], value), percent(text[1], low), percent(text[2], high));
}

static sfu_status add_share(page *self, const char *what, double share) {
    char text[TEXT_MAX];
    return sfu__html(&self->html, "<dt>%s</dt><dd>%s</dd>\n", what, percent(text, share));
}

static sfu_status add_graph(page *self) {
    const sfu_label_summary *summary = self->summary;
    char with[TEXT_MAX], without[TEXT_MAX];
    if (isnan(summary->no_graph)) {
        return sfu__html(&self->html, "<dt>graph</dt><dd>networks without the graph were not tried</dd>\n");
    }
    if (!summary->graph_tried) {
        return sfu__html(&self->html, "<dt>graph</dt><dd>networks with the graph were not tried</dd>\n");
    }
    return sfu__html(&self->html,
                     summary->graph_helps
                         ? "<dt>graph</dt><dd>It improves the accuracy significantly, from %s to %s (McNemar's test, "
                           "p &lt; 0.05).</dd>\n"
                         : "<dt>graph</dt><dd>It does not improve the accuracy significantly: %s without it, %s with "
                           "all candidates (McNemar's test at the 5 %% level).</dd>\n",
                     percent(without, summary->no_graph), percent(with, summary->accuracy));
}

static sfu_status add_sets(page *self) {
    static const char markup[] = "<dt>label sets</dt><dd>They contain the true label of at least %s of such nodes; "
                                 "measured on held-out nodes: %s. Mean size: %s labels.</dd>\n";
    const sfu_label_summary *summary = self->summary;
    char wanted[TEXT_MAX], found[TEXT_MAX], size[SFU__FIXED_MAX];
    return summary->coverage > 0
               ? sfu__html(&self->html, markup, percent(wanted, summary->coverage),
                           percent(found, summary->set_coverage), sfu__fixed(size, summary->set_size, 2))
               : SFU_OK;
}

static sfu_status add_estimate(page *self) {
    sfu_status status = SFU_OK;
    const sfu_label_summary *summary = self->summary;
    char error[SFU__FIXED_MAX];
    SFU_TRY(sfu__html(&self->html, "<section id=\"estimate\">\n<h2>How good the labels are</h2>\n<dl>\n"));
    SFU_TRY(add_interval(self, "estimated accuracy", summary->accuracy, summary->low, summary->high));
    if (summary->metric != SFU_METRIC_ACCURACY) {
        const char *metric = sfu_metric_name((int)summary->metric, NULL);
        SFU_TRY(add_interval(self, metric, summary->score, summary->score_low, summary->score_high));
    }
    SFU_TRY(add_share(self, "most frequent class alone", summary->frequent));
    SFU_TRY(add_graph(self));
    SFU_TRY(sfu__html(&self->html, "<dt>expected calibration error</dt><dd>%s</dd>\n",
                      sfu__fixed(error, summary->calibration_error, 3)));
    SFU_TRY(add_sets(self));
    SFU_TRY(sfu__html(&self->html, "<dt>network</dt><dd>%s, %s</dd>\n</dl>\n", summary->net, summary->params));
    SFU_TRY(sfu__html(&self->html,
                      "<p>Estimates come from labelled nodes that were held out: each was predicted by networks that "
                      "were selected, trained and calibrated without it. They hold for nodes from the same "
                      "distribution as the labelled ones.</p>\n"));
    SFU_TRY(sfu__label_figures(&self->html, self->labelling));
    SFU_TRY(sfu__html(&self->html, "</section>\n"));
done:
    return status;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* A section with one table. */
static sfu_status add_table(page *self, const char *id, const char *title, const sfu__text_table *table) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__html(&self->html, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title));
    SFU_TRY(sfu__table_html(&self->html, table));
    SFU_TRY(sfu__html(&self->html, "</section>\n"));
done:
    return status;
}

static sfu_status add_confusion(page *self) {
    sfu_status status = SFU_OK;
    sfu__text_table table = {.head_rows = 1};
    const int32_t classes = self->labelling->classes;
    char number[TEXT_MAX];
    SFU_TRY(sfu__text_format(&table.caption, "Confusion matrix of the held-out nodes (rows: true class, columns: "
                                             "predicted class)"));
    SFU_TRY(sfu__text_table_columns(&table, 'l', 1));
    SFU_TRY(sfu__text_table_columns(&table, 'r', classes));
    SFU_TRY(sfu__text_table_add(&table, SFU__CELL_TEXT, "true class"));
    for (int32_t c = 0; c < classes; c++) {
        SFU_TRY(sfu__text_table_add(&table, SFU__CELL_TEXT, class_text(number, self, c)));
    }
    for (int32_t truth = 0; truth < classes; truth++) {
        SFU_TRY(sfu__text_table_add(&table, SFU__CELL_TEXT, class_text(number, self, truth)));
        for (int32_t guess = 0; guess < classes; guess++) {
            SFU_TRY(add_count(&table, sfu_labelling_confusion(self->labelling, truth, guess)));
            sfu__text_table_last(&table)->emphasis = truth == guess ? SFU__BEST : SFU__PLAIN;
        }
    }
    SFU_TRY(add_table(self, "confusion", "Confusion matrix", &table));
done:
    sfu__text_table_clear(&table);
    return status;
}

static sfu_status caption_left_out(sfu__text *caption, const sfu_labelling *labelling) {
    sfu_status status = SFU_OK;
    const sfu_label_candidate *one;
    const char *before = "; left out because of the memory limit: ";
    for (int i = 0; (one = sfu_labelling_candidate(labelling, i)) != NULL; i++) {
        if (one->needs != NULL) {
            SFU_TRY(sfu__text_format(caption, "%s%s (%s)", before, one->net, one->needs));
            before = ", ";
        }
    }
done:
    return status;
}

static sfu_status add_candidates(page *self) {
    static const char *const heads[] = {"network", "trials", "cross-validated accuracy", "held-out accuracy",
                                        "selected by folds"};
    sfu_status status = SFU_OK;
    sfu__text_table table = {.head_rows = 1};
    const sfu_label_candidate *one;
    SFU_TRY(sfu__text_format(&table.caption, "Candidate networks; the selected one is bold"));
    SFU_TRY(caption_left_out(&table.caption, self->labelling));
    SFU_TRY(sfu__text_table_columns(&table, 'l', 1));
    SFU_TRY(sfu__text_table_columns(&table, 'r', 4));
    SFU_TRY(sfu__text_table_heads(&table, heads, 5));
    for (int i = 0; (one = sfu_labelling_candidate(self->labelling, i)) != NULL; i++) {
        SFU_TRY(sfu__text_table_add(&table, SFU__CELL_TEXT, one->net));
        sfu__text_table_last(&table)->emphasis = strcmp(one->net, self->summary->net) == 0 ? SFU__BEST : SFU__PLAIN;
        SFU_TRY(add_count(&table, one->trials));
        SFU_TRY(add_percent(&table, one->val_accuracy));
        SFU_TRY(add_percent(&table, one->accuracy));
        SFU_TRY(add_count(&table, one->chosen));
    }
    SFU_TRY(add_table(self, "candidates", "Candidates", &table));
done:
    sfu__text_table_clear(&table);
    return status;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static float certainty(const page *self, int32_t node) {
    const float *row = self->labelling->probabilities + (size_t)node * (size_t)self->labelling->classes;
    return row[sfu__largest(row, self->labelling->classes)];
}

/* The unlabelled nodes with the lowest probabilities of their labels, the lowest first; returns their number. */
static int32_t find_doubtful(int32_t nodes[DOUBTFUL], const page *self) {
    int32_t count = 0;
    for (int32_t node = 0; node < self->dataset->nodes; node++) {
        if (self->dataset->labels[node] != SFU_NO_LABEL) {
            continue;
        }
        int32_t at = count < DOUBTFUL ? count++ : DOUBTFUL;
        while (at > 0 && certainty(self, node) < certainty(self, nodes[at - 1])) {
            if (at < DOUBTFUL) {
                nodes[at] = nodes[at - 1];
            }
            at--;
        }
        if (at < DOUBTFUL) {
            nodes[at] = node;
        }
    }
    return count;
}

static sfu_status add_node(sfu__text_table *table, const page *self, int32_t node) {
    sfu_status status = SFU_OK;
    char name[NAME_MAX_BYTES + 1], number[TEXT_MAX];
    const sfu_csr graph = sfu_dataset_graph(self->dataset);
    const float *row = self->labelling->probabilities + (size_t)node * (size_t)self->labelling->classes;
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT, node_text(name, self, node)));
    SFU_TRY(sfu__text_table_add(table, SFU__CELL_TEXT,
                                class_text(number, self, sfu__largest(row, self->labelling->classes))));
    SFU_TRY(add_decimal(table, (double)certainty(self, node), 3));
    SFU_TRY(add_count(table, graph.indptr[node + 1] - graph.indptr[node]));
done:
    return status;
}

static sfu_status add_nodes(page *self, const char *id, const char *title, const char *caption, const int32_t *nodes,
                            int32_t count) {
    static const char *const heads[] = {"node", "predicted label", "probability", "neighbours"};
    sfu_status status = SFU_OK;
    sfu__text_table table = {.head_rows = 1};
    SFU_TRY(sfu__text_format(&table.caption, "%s", caption));
    SFU_TRY(sfu__text_table_columns(&table, 'l', 2));
    SFU_TRY(sfu__text_table_columns(&table, 'r', 2));
    SFU_TRY(sfu__text_table_heads(&table, heads, 4));
    for (int32_t i = 0; i < count; i++) {
        SFU_TRY(add_node(&table, self, nodes[i]));
    }
    SFU_TRY(count > 0 ? add_table(self, id, title, &table) : SFU_OK);
done:
    sfu__text_table_clear(&table);
    return status;
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

static sfu_status add_head(page *self) {
    sfu_status status = SFU_OK;
    const char *name = sfu_dataset_name(self->dataset);
    char labelled[TEXT_MAX], unlabelled[TEXT_MAX];
    sfu__text title = {0};
    snprintf(labelled, sizeof labelled, "%d", self->summary->labelled);
    snprintf(unlabelled, sizeof unlabelled, "%d", self->summary->unlabelled);
    SFU_TRY(sfu__text_format(&title, "Labels of %s", name));
    SFU_TRY(sfu__html_start(&self->html, "label", title.bytes));
    SFU_TRY(sfu__html(&self->html, "<body>\n<main>\n<h1>%s</h1>\n<p>%s labelled nodes, %s unlabelled ones.</p>\n",
                      title.bytes, labelled, unlabelled));
done:
    sfu__text_clear(&title);
    return status;
}

sfu_status sfu_labelling_page(const char *path, const sfu_labelling *labelling, const sfu_dataset *dataset,
                              const int32_t *asked, int32_t count) {
    sfu_status status = SFU_OK;
    page self = {.labelling = labelling, .summary = &labelling->summary, .dataset = dataset};
    int32_t doubtful[DOUBTFUL];
    const int32_t found = find_doubtful(doubtful, &self);
    SFU_TRY(add_head(&self));
    SFU_TRY(add_estimate(&self));
    SFU_TRY(add_confusion(&self));
    SFU_TRY(add_nodes(&self, "ask", "Label these next", "Nodes whose labels would help most, the best first", asked,
                      asked != NULL ? count : 0));
    SFU_TRY(add_nodes(&self, "doubtful", "Most doubtful labels", "Unlabelled nodes with the least certain labels",
                      doubtful, found));
    SFU_TRY(add_candidates(&self));
    SFU_TRY(sfu__html(&self.html, "</main>\n"));
    SFU_TRY(sfu__html_end(&self.html));
    SFU_TRY(sfu__write_file(path, self.html.bytes, self.html.size));
done:
    sfu__text_clear(&self.html);
    return status;
}
