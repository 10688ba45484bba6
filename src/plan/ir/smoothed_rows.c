/* smoothed_rows.c - the rows of smoothing matrices that a prediction of some nodes reads: with k smoothings, those of
 * nodes within k - 1 edges of the requested ones. A prediction of a few nodes then costs no more than reading the graph
 * once, for the degrees.
 */
#include "plan_int.h"

/* Beyond this many smoothings the row sets may not be pruned (row_sets.c), and every row is read. */
enum { MOST_SMOOTHINGS = 8 };

static int64_t count_smoothings(const sfu_net *net) {
    int64_t sum = 0;
    for (int i = 0; i < net->count; i++) {
        sum += net->layers[i].kind == SFU__LAYER_SMOOTH ? net->layers[i].times : 0;
    }
    return sum;
}

/* Estimates for the choice of a fold read all rows. They are made where leading smoothings cannot follow the weights:
 * where they have an activation or teleport. */
static bool may_fold(const sfu_net *net) {
    bool fold = false;
    for (int i = 0; i < net->count && net->layers[i].kind == SFU__LAYER_SMOOTH; i++) {
        fold = fold || net->layers[i].act != SFU__IDENTITY || net->layers[i].teleport > 0.0;
    }
    return fold;
}

/* Appends the neighbours of nodes[first] to nodes[count - 1] that are not marked yet; returns the new count. */
static int32_t expand(uint8_t *marked, int32_t *nodes, int32_t first, int32_t count, const sfu_csr *graph) {
    const int32_t end = count;
    for (int32_t i = first; i < end; i++) {
        for (int64_t e = graph->indptr[nodes[i]]; e < graph->indptr[nodes[i] + 1]; e++) {
            if (marked[graph->indices[e]] == 0) {
                marked[graph->indices[e]] = 1;
                nodes[count++] = graph->indices[e];
            }
        }
    }
    return count;
}

sfu_status sfu__smoothed_rows_make(sfu__plan *plan, const sfu_net *net, const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    const int64_t smoothings = count_smoothings(net);
    int32_t *nodes = NULL, first = 0, count = request->count[SFU_PASS_PREDICT];
    const bool only = request->count[SFU_PASS_TRAIN] == 0 && request->count[SFU_PASS_EVALUATE] == 0;
    if (!only || (plan->rewrites & SFU__PRUNE) == 0 || smoothings > MOST_SMOOTHINGS || may_fold(net)) {
        return SFU_OK;
    }
    SFU_ALLOC(nodes, plan->nodes);
    SFU_ALLOC_ZERO(plan->smoothed_rows, plan->nodes);
    for (int32_t i = 0; i < count; i++) {
        nodes[i] = request->nodes[SFU_PASS_PREDICT][i];
        plan->smoothed_rows[nodes[i]] = 1;
    }
    for (int64_t step = 1; step < smoothings && first < count; step++) {
        const int32_t before = count;
        count = expand(plan->smoothed_rows, nodes, first, count, &plan->dataset->graph);
        first = before;
    }
done:
    sfu__free(nodes);
    return status;
}
