/* html_answer.c - how the page begins: which network to use, and how the networks compare on each dataset. */
#include "html_page.h"

#include "plots.h"
#include "result_tables.h"

#include <stdio.h>

/* ---- the advice -------------------------------------------------------------------------------------------------- */

static sfu_status add_advice(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__text_table table = {0};
    sfu__text notes = {0};
    SFU_TRY(sfu__advice_table(&table, results, true));
    if (table.count > sfu__text_table_width(&table)) {
        SFU_TRY(sfu__table_html(html, &table));
    }
    SFU_TRY(sfu__graph_notes(&notes, results));
    if (notes.size > 0) {
        SFU_TRY(sfu__html_prose(html, notes.bytes, false));
    }
done:
    sfu__text_clear(&notes);
    sfu__text_table_clear(&table);
    return status;
}

/* ---- how to read it ---------------------------------------------------------------------------------------------- */

/* What decides about the top group, by the largest numbers of splits and networks. */
static sfu_status add_method(sfu__text *html, const sfu_results *results) {
    static const char few[] =
        "<p>Top group: the 95 %% confidence interval of the mean difference from the best network includes 0. With %s "
        "splits and %s networks the Wilcoxon signed-rank test (Holm-corrected) cannot reach p &lt; 0.05; it needs at "
        "least %s splits.</p>\n";
    sfu_status status = SFU_OK;
    int networks = 0, splits = 0;
    const char *size;
    for (int i = 0; (size = sfu__layout_size(results, i)) != NULL; i++) {
        sfu__layout layout = {0};
        status = sfu__layout_make(&layout, results, size);
        networks = layout.net_count > networks ? layout.net_count : networks;
        splits = layout.splits > splits ? layout.splits : splits;
        sfu__layout_clear(&layout);
        SFU_TRY(status);
    }
    if (networks < 2) {
        goto done;
    }
    if (splits == 1) {
        SFU_TRY(sfu__html(html, "<p>One split gives no confidence interval and no test; <code>--splits 10</code> gives "
                                "both.</p>\n"));
    } else if (splits < sfu__splits_needed(networks)) {
        char have[16], need[16], nets[16];
        snprintf(have, sizeof have, "%d", splits);
        snprintf(need, sizeof need, "%d", sfu__splits_needed(networks));
        snprintf(nets, sizeof nets, "%d", networks);
        SFU_TRY(sfu__html(html, few, have, nets, need));
    } else {
        SFU_TRY(sfu__html(html,
                          "<p>Top group: not significantly different from the best network (p &ge; 0.05, Wilcoxon "
                          "signed-rank test over splits, Holm-corrected). Within the group the ranking is not "
                          "significant.</p>\n"));
    }
done:
    return status;
}

/* What "net 1" is. */
static sfu_status add_listed(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    const char *net;
    for (int i = 0; (net = sfu__net_listed(results, i)) != NULL; i++) {
        SFU_TRY(sfu__text_format(html, "<p>net %d: ", i + 1));
        SFU_TRY(sfu__html(html, "<code>%s</code></p>\n", net));
    }
done:
    return status;
}

sfu_status sfu__html_answer(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__string_list datasets = {0};
    SFU_TRY(sfu__cell_datasets(&datasets, results));
    if (datasets.count == 0) {
        goto done;
    }
    SFU_TRY(sfu__html(html, "<section id=\"advice\">\n<h2>Result</h2>\n"));
    SFU_TRY(add_advice(html, results));
    SFU_TRY(sfu__html(html, "<div class=\"plots\">\n"));
    for (int i = 0; i < datasets.count; i++) {
        SFU_TRY(sfu__html_figure(html, results, datasets.items[i]));
    }
    SFU_TRY(sfu__html(html,
                      "</div>\n<p>Large dot: mean test %s; bar: its 95 %% confidence interval; small dots: "
                      "one per split. Right: mean \u00b1 standard deviation. Shaded: the top group.</p>\n",
                      sfu__metric_words(results)));
    SFU_TRY(add_method(html, results));
    SFU_TRY(add_listed(html, results));
    SFU_TRY(sfu__html(html, "</section>\n"));
done:
    sfu__string_list_clear(&datasets);
    return status;
}
