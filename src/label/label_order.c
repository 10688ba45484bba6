/* label_order.c - which networks are tried first.
 *
 * Usually sgcn is the first, which is cheap and seldom bad. With sparse features and a graph with hubs its smoothed
 * features are nearly full, and the first step can take many times the budget, while linear+lp, which smooths the
 * outputs, takes seconds: there linear+lp is the first. The decision is made by numbers of operations, not by time, so
 * it is the same on every machine.
 */
#include "label.h"

#include "dataset.h"
#include "fill_bound.h"

#include <string.h>

/* Multiply-adds that the first step of sgcn may take: about a minute on two cores. And how many times those of
 * linear+lp, so that there is something to gain. */
static const double operations_most = 1e12, least_ratio = 4;

static const char *const unsmoothed_first[SFU__LABEL_NETS] = {"linear+lp", "linear", "mlp", "mlp+lp", "sgcn",
                                                              "sgcn+lp",   "fp+mlp", "gcn", "gcn+lp"};

static int index_of(const sfu__label_nets *nets, const char *name) {
    int at = 0;
    while (at < nets->count && strcmp(sfu__label_net_names[nets->net[at]], name) != 0) {
        at++;
    }
    return at;
}

/* Upper bound of the entries of the labelled rows of the features that the weights of this network are multiplied
 * with. */
static sfu_status count_entries(double *entries, sfu__label_problem *problem, int net, const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    sfu__candidate candidate = {0};
    sfu__plan_request request = {0};
    sfu__fill_bound bound;
    request.nodes[SFU_PASS_TRAIN] = sfu_split_part(problem->all, SFU_TRAIN, &request.count[SFU_PASS_TRAIN]);
    SFU_TRY(sfu__label_first_candidate(&candidate, problem, net, work));
    SFU_TRY(sfu__fill_bound_of(&bound, work->dataset, candidate.net, &request, INT64_MAX));
    *entries = bound.entries[SFU_PASS_TRAIN];
done:
    sfu__candidate_clear(&candidate);
    return status;
}

/* Each entry is used twice per epoch, for the output and for the gradient. */
static double operations_of(double entries, const sfu__label_problem *problems, int folds, int32_t classes) {
    enum { EPOCHS = 100 };
    int trainings = 0;
    for (int i = 0; i <= folds; i++) {
        trainings += problems[i].folds + 1;
    }
    return 2.0 * EPOCHS * trainings * entries * classes;
}

static void put_unsmoothed_first(sfu__label_nets *nets) {
    const sfu__label_nets before = *nets;
    nets->count = 0;
    for (int i = 0; i < SFU__LABEL_NETS; i++) {
        const int at = index_of(&before, unsmoothed_first[i]);
        if (at < before.count) {
            nets->net[nets->count++] = before.net[at];
        }
    }
}

sfu_status sfu__label_nets_order(sfu__label_nets *nets, sfu__label_problem *problems, int folds,
                                 const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    const int linear_lp = index_of(nets, "linear+lp");
    double smoothed = 0, own = 0;
    if (index_of(nets, "sgcn") != 0 || linear_lp == nets->count || work->dataset->sparse.rows == 0) {
        return SFU_OK;
    }
    SFU_TRY(count_entries(&smoothed, &problems[folds], nets->net[0], work));
    SFU_TRY(count_entries(&own, &problems[folds], nets->net[linear_lp], work));
    if (operations_of(smoothed, problems, folds, work->dataset->classes) > operations_most &&
        smoothed > least_ratio * own) {
        put_unsmoothed_first(nets);
    }
done:
    return status;
}
