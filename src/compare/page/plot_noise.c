/* plot_noise.c - the figure of the table "noise": mean accuracy over all datasets against the share of removed edges
 * (to the left) and of rewired ones (to the right), one line per network. */
#include "plots.h"

#include "noise_means.h"

#include <math.h>
#include <stdio.h>

/* The level at a position: 50 % removed, ..., 0 %, ..., 50 % rewired. */
static sfu__noise_level level_at(int position) {
    return position <= SFU__NOISE_STEPS ? sfu__noise_level_at(SFU__NOISE_STEPS - position)
                                        : sfu__noise_level_at(position);
}

static sfu_status fill(sfu__chart *chart, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__string_list datasets = {0};
    SFU_TRY(sfu__noise_axes(&datasets, &chart->series, results));
    for (int x = 0; x < SFU__NOISE_LEVELS; x++) {
        char tic[16];
        snprintf(tic, sizeof tic, "%d", level_at(x).percent);
        SFU_TRY(sfu__string_list_add(&chart->tics, tic));
        for (int net = 0; net < chart->series.count; net++) {
            const sfu__noise_term term = {chart->series.items[net], level_at(x), 1.0};
            sfu__noise_mean found;
            SFU_TRY(sfu__noise_mean_of(&found, results, &datasets, &term, 1));
            if (!isnan(found.mean)) {
                SFU_TRY(sfu__chart_add(chart,
                                       &(sfu__point){net, x + 1, found.mean, found.interval.low, found.interval.high}));
            }
        }
    }
done:
    sfu__string_list_clear(&datasets);
    return status;
}

static const sfu__plot_kind kind = {
    "noise", "Accuracy and noisy edges",
    "Mean test accuracy over all datasets with its 95 % confidence interval over the splits. Left of the middle edges "
    "are removed, right of it they are rewired; a larger share contains the smaller ones."};

sfu_status sfu__plot_noise(sfu__plots *plots, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__chart chart = {.title = "Accuracy and noisy edges",
                        .x_label = "% of edges removed (left) or rewired (right)",
                        .y_label = "mean test accuracy, %"};
    if (!sfu__has_noise(results)) {
        return SFU_OK;
    }
    SFU_TRY(fill(&chart, results));
    if (chart.count > 0) {
        SFU_TRY(sfu__plots_add_chart(plots, results, &kind, "edges", &chart));
    }
done:
    sfu__chart_clear(&chart);
    return status;
}
