/* tables_tex.c - tables.tex: the tables as the paper lays them out, for \input, with booktabs. */
#include "noise_means.h"
#include "result_tables.h"

static sfu_status put_size(sfu__text *text, const sfu_results *results, const char *size) {
    sfu_status status = SFU_OK;
    sfu__layout layout = {0};
    sfu__text_table table = {0};
    SFU_TRY(sfu__layout_make(&layout, results, size));
    SFU_TRY(sfu__accuracy_table(&table, results, &layout));
    SFU_TRY(sfu__table_latex(text, &table));
done:
    sfu__text_table_clear(&table);
    sfu__layout_clear(&layout);
    return status;
}

/* One table per group of networks with the same columns; over alpha and beta one per network. */
static sfu_status put_sweep(sfu__text *text, const sfu_results *results, const sfu__sweep *sweep) {
    sfu_status status = SFU_OK;
    for (sfu__sweep part = *sweep; part.first < sweep->end; part.first = part.end) {
        sfu__text_table table = {0};
        part.end = sweep->layers ? sfu__sweep_part_end(results, sweep, part.first)
                                 : sfu__sweep_net_end(results, part.first, sweep->end);
        status = sfu__sweep_table(&table, results, &part, true);
        status = status == SFU_OK ? sfu__table_latex(text, &table) : status;
        sfu__text_table_clear(&table);
        SFU_TRY(status);
    }
done:
    return status;
}

sfu_status sfu__tables_tex(sfu__text *text, const sfu_results *results) {
    sfu_status status = SFU_OK;
    const char *size, *net;
    sfu__sweep sweep = {0};
    SFU_TRY(sfu__text_format(text, "%% Needs \\usepackage{booktabs}; include it with \\input{tables}.\n"));
    for (int i = 0; (net = sfu__net_listed(results, i)) != NULL; i++) {
        SFU_TRY(sfu__text_format(text, "%% net %d: ", i + 1));
        SFU_TRY(sfu__latex_escape(text, net));
        SFU_TRY(sfu__text_format(text, "\n"));
    }
    for (int i = 0; (size = sfu__layout_size(results, i)) != NULL; i++) {
        SFU_TRY(put_size(text, results, size));
    }
    for (int from = 0; sfu__sweep_next(&sweep, results, from); from = sweep.end) {
        SFU_TRY(put_sweep(text, results, &sweep));
    }
    if (sfu__has_extras(results)) {
        SFU_TRY(sfu__put_made_table(text, results, sfu__extras_table, sfu__table_latex));
    }
    if (sfu__has_noise(results)) {
        SFU_TRY(sfu__put_made_table(text, results, sfu__noise_table, sfu__table_latex));
        SFU_TRY(sfu__put_made_table(text, results, sfu__noise_loss_table, sfu__table_latex));
    }
done:
    return status;
}
