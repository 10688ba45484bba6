/* paper_cost.c - Table 1 of the paper: the cost of an epoch of each network by its formula, evaluated for each dataset,
 * beside the planner's prediction and the measured time. */
#include "published.h"
#include "results_int.h"

#include "text_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The networks of Table 1, in its order. */
static const char *const nets[] = {"gcn", "sgcn", "fp+mlp", "sgcn+lp", "gcn+lp", "linear+lp", "mlp+lp"};
enum { NETS = sizeof nets / sizeof nets[0] };

/* Progress of one table. */
typedef struct costing {
    const sfu__request *request;
    sfu_compare_fn on_progress; /* or NULL */
    void *user;
    int done, total; /* number of networks */
} costing;

/* An epoch is a training step and a validation. */
static double epoch_s(const sfu_plan *plan, bool measured) {
    const sfu_pass_cost train = *sfu_plan_cost(plan, SFU_PASS_TRAIN);
    const sfu_pass_cost evaluate = *sfu_plan_cost(plan, SFU_PASS_EVALUATE);
    return measured ? train.measured_s + evaluate.measured_s : train.predicted_s + evaluate.predicted_s;
}

static sfu_status add_row(sfu__text_table *table, const sfu_plan *plan) {
    const sfu_paper_cost cost = sfu_plan_paper_cost(plan);
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_table_format(table, "%s", cost.name));
    SFU_TRY(sfu__text_table_format(table, "%s", cost.formula));
    SFU_TRY(sfu__text_table_format(table, "%.3g", cost.value));
    SFU_TRY(sfu__text_table_format(table, "%.3g ms", 1e3 * epoch_s(plan, false)));
    SFU_TRY(sfu__text_table_format(table, "%.3g ms", 1e3 * epoch_s(plan, true)));
done:
    return status;
}

/* The values of the formulas' variables, once per dataset. */
static sfu_status print_numbers(sfu__text *text, const sfu_dataset *dataset, const sfu_plan *plan) {
    const sfu_paper_cost cost = sfu_plan_paper_cost(plan);
    char n[SFU__GROUPED_MAX], edges[SFU__GROUPED_MAX], d[SFU__GROUPED_MAX];
    return sfu__text_format(text,
                            "\n### %s\n\nn %s nodes, N_E %s non-zeros of S, d %s features, M %d classes, L 2 layers, "
                            "L_l 2 label smoothings (1 of SGCN+LP and GCN+LP)%s.\n\n",
                            sfu_dataset_name(dataset), sfu__grouped(n, (int64_t)cost.n),
                            sfu__grouped(edges, (int64_t)cost.N_E), sfu__grouped(d, (int64_t)cost.d), (int)cost.M,
                            sfu_plan_is_nominal(plan)
                                ? "; predicted for a nominal machine, since this one was not measured (`sfumato bench`)"
                                : "");
}

static sfu_status plan_net(sfu_plan **plan, const sfu_dataset *dataset, const sfu_split *split, const char *name) {
    sfu_status status = SFU_OK;
    sfu_net *net = NULL;
    sfu_plan_options options;
    sfu_plan_options_init(&options);
    options.dropout = 0.5;
    options.threads = 1; /* as in a study, which uses one core per training run */
    options.device = "cpu";
    SFU_TRY(sfu_net_parse(&net, name, NULL));
    SFU_TRY(sfu_plan_new(plan, dataset, net, split, &options));
    SFU_TRY(sfu_plan_measure(*plan));
done:
    sfu_net_free(net);
    return status;
}

static bool is_wanted(const sfu__request *request, const char *net) {
    bool wanted = request->nets.count == 0;
    for (int i = 0; i < request->nets.count; i++) {
        wanted = wanted || strcasecmp(request->nets.items[i], net) == 0;
    }
    return wanted;
}

static sfu_status report_progress(costing *self, const char *dataset, const char *net) {
    char what[SFU__NAME_MAX];
    snprintf(what, sizeof what, "%s %s", dataset, net);
    const sfu_compare_progress progress = {.done = self->done, .total = self->total, .seconds_left = NAN, .what = what};
    self->done++;
    return self->on_progress == NULL || self->on_progress(self->user, &progress)
               ? SFU_OK
               : sfu__fail(SFU_ERR_CANCELLED, "cancelled");
}

static sfu_status add_dataset(sfu__text *text, const sfu_dataset *dataset, costing *self) {
    static const char *const heads[] = {"network", "cost in the paper", "its value", "predicted", "measured"};
    sfu_status status = SFU_OK;
    sfu_split *split = NULL;
    sfu_plan *plan = NULL;
    sfu__text_table table = {0};
    SFU_TRY(sfu__text_table_columns(&table, 'l', 2));
    SFU_TRY(sfu__text_table_columns(&table, 'r', 3));
    SFU_TRY(sfu__text_table_heads(&table, heads, sizeof heads / sizeof heads[0]));
    SFU_TRY(sfu_split_new(&split, dataset, sfu_dataset_standard_splits(dataset) > 0 ? "standard" : "random:0", NULL));
    bool first = true;
    for (int i = 0; i < NETS; i++) {
        if (is_wanted(self->request, nets[i])) {
            SFU_TRY(report_progress(self, sfu_dataset_name(dataset), nets[i]));
            SFU_TRY(plan_net(&plan, dataset, split, nets[i]));
            SFU_TRY(first ? print_numbers(text, dataset, plan) : SFU_OK);
            SFU_TRY(add_row(&table, plan));
            sfu_plan_free(plan);
            plan = NULL;
            first = false;
        }
    }
    SFU_TRY(sfu__table_markdown(text, &table));
done:
    sfu__text_table_clear(&table);
    sfu_plan_free(plan);
    sfu_split_free(split);
    return status;
}

/* The number of networks to measure if all datasets are available. */
static int count_networks(const sfu__request *request) {
    sfu__paper_dataset_names names;
    int datasets = 0, networks = 0;
    for (int i = 0; sfu__paper_dataset(i) != NULL; i++) {
        datasets += sfu__paper_dataset_wanted(&names, i, request);
    }
    for (int i = 0; i < NETS; i++) {
        networks += is_wanted(request, nets[i]);
    }
    return datasets * networks;
}

sfu_status sfu__cost_table(sfu__text *text, const sfu__request *request, sfu_compare_fn on_progress, void *user) {
    sfu_status status = SFU_OK;
    sfu_dataset *dataset = NULL;
    sfu__text missing = {0};
    bool any = false;
    costing self = {request, on_progress, user, 0, 0};
    SFU_TRY(sfu__paper_check(request));
    self.total = count_networks(request);
    SFU_TRY(sfu__text_format(
        text, "## What an epoch costs, by Table 1 of the paper and in truth\n\nThe paper's cost counts "
              "multiplications, as if every layer were d wide and every node were needed. Predicted and\n"
              "measured are a training step and a validation of the planned network: hidden layers of 64, dropout 0.5, "
              "one core.\n"));
    for (int i = 0;;) {
        SFU_TRY(sfu__paper_open_next(&dataset, &i, &missing, request));
        if (dataset == NULL) {
            break;
        }
        SFU_TRY(add_dataset(text, dataset, &self));
        sfu_dataset_free(dataset);
        dataset = NULL;
        any = true;
    }
    SFU_TRY(sfu__paper_missing(text, &missing, any));
done:
    sfu_dataset_free(dataset);
    sfu__text_clear(&missing);
    return status;
}
