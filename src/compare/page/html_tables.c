/* html_tables.c - the tables of the page that tables.md has, too: accuracies and effect sizes per label-set size, and
 * pairs of networks.
 */
#include "html_page.h"

#include "noise_means.h"
#include "result_tables.h"

static sfu_status add_size(sfu__text *html, const sfu_results *results, const char *size) {
    sfu_status status = SFU_OK;
    sfu__layout layout = {0};
    sfu__text_table table = {0}, differences = {0};
    SFU_TRY(sfu__layout_make(&layout, results, size));
    SFU_TRY(sfu__accuracy_table(&table, results, &layout));
    SFU_TRY(sfu__table_html(html, &table));
    if (layout.net_count > 1 && layout.splits > 1) {
        SFU_TRY(sfu__difference_table(&differences, results, &layout));
        SFU_TRY(sfu__table_html(html, &differences));
    }
done:
    sfu__text_table_clear(&table);
    sfu__text_table_clear(&differences);
    sfu__layout_clear(&layout);
    return status;
}

sfu_status sfu__html_accuracies(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    const char *size;
    if (sfu__layout_size(results, 0) == NULL) {
        return SFU_OK;
    }
    SFU_TRY(sfu__html(html, "<section id=\"%s\">\n<h2>%s and effect sizes</h2>\n",
                      sfu__is_accuracy(results) ? "accuracy" : "scores",
                      sfu__is_accuracy(results) ? "Accuracy" : "Scores"));
    SFU_TRY(sfu__html(html, "<p>A difference is significant where p &lt; 0.05 "
                            "(Wilcoxon signed-rank test over splits, Holm-corrected) or, with too few splits for that "
                            "test, where the 95 %% confidence interval of the difference excludes 0.</p>\n"));
    for (int i = 0; (size = sfu__layout_size(results, i)) != NULL; i++) {
        SFU_TRY(add_size(html, results, size));
    }
    SFU_TRY(sfu__html(html, "</section>\n"));
done:
    return status;
}

sfu_status sfu__html_beyond(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    if (!sfu__has_extras(results) && !sfu__has_noise(results)) {
        return SFU_OK;
    }
    SFU_TRY(sfu__html(html, "<section id=\"beyond\">\n<h2>Beyond the paper</h2>\n"));
    if (sfu__has_extras(results)) {
        SFU_TRY(sfu__put_made_table(html, results, sfu__extras_table, sfu__table_html));
    }
    if (sfu__has_noise(results)) {
        SFU_TRY(sfu__put_made_table(html, results, sfu__noise_table, sfu__table_html));
        SFU_TRY(sfu__put_made_table(html, results, sfu__noise_loss_table, sfu__table_html));
    }
    SFU_TRY(sfu__html(html, "</section>\n"));
done:
    return status;
}

sfu_status sfu__html_pairs(sfu__text *html, const sfu_results *results) {
    sfu_status status = SFU_OK;
    if (results->pair_count == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__html(html,
                      "<section id=\"pairs\">\n<h2>Pairs of networks</h2>\n<p>Networks that differ in one "
                      "property. The difference is the second %s minus the first, in percentage points; "
                      "p-value: Wilcoxon signed-rank test over splits, not corrected.</p>\n",
                      sfu__is_accuracy(results) ? "accuracy" : "score"));
    for (int first = 0, count; first < results->pair_count; first += count) {
        sfu__text_table table = {0};
        count = sfu__pair_rows(results, first);
        status = sfu__pair_table(&table, results, &results->pairs[first], count);
        status = status == SFU_OK ? sfu__table_html(html, &table) : status;
        sfu__text_table_clear(&table);
        SFU_TRY(status);
    }
    SFU_TRY(sfu__html(html, "</section>\n"));
done:
    return status;
}
