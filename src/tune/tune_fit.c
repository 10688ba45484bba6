/* tune_fit.c - plans the largest trial of a study within a memory limit. */
#include "tune_fit.h"

#include "runner.h"
#include "tune_device.h"

#include <stdio.h>

static const sfu__device cpu = {SFU__DEVICE_CPU, -1};

/* ---- the largest network ----------------------------------------------------------------------------------------- */

static double largest_choice(const sfu__domain *range, double otherwise) {
    int largest = -1;
    for (int i = 0; i < range->count; i++) {
        const bool above = largest < 0 || range->choices[i].number > range->choices[largest].number;
        largest = range->choices[i].is_number && above ? i : largest;
    }
    return largest >= 0 ? largest : otherwise;
}

/* Whole numbers are widths and counts of smoothings. The memory does not depend on rates. */
static void largest_point(double *values, const sfu__space *space, int net) {
    sfu__tune_typical_point(values, space, net);
    for (int i = 0; i < space->count; i++) {
        const sfu__domain *range = &space->items[i].range;
        if (sfu__space_has(space, net, i)) {
            values[i] = range->kind == SFU__RANGE_INT      ? range->high
                        : range->kind == SFU__RANGE_CHOICE ? largest_choice(range, values[i])
                                                           : values[i];
        }
    }
}

/* ---- its plans --------------------------------------------------------------------------------------------------- */

/* A plan that streams is made, which streams the features, only if an estimate says that the limit may be too small. */
static sfu_status plan(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request) {
    sfu__runner runner = {0}; /* LPNN has no plan: its matrices are those of its executor */
    bool in_memory = false;
    sfu__plan_request estimate = *request;
    estimate.in_memory = &in_memory;
    estimate.refused = NULL;
    if (sfu__plan_supports(net) && sfu__plan_decide(dataset, net, request) &&
        sfu__plan_enough(dataset, net, &estimate) == SFU_OK && !in_memory) {
        return SFU_OK;
    }
    const sfu_status status = sfu__runner_make_of(&runner, dataset, net, request, NULL, NULL);
    sfu__runner_clear(&runner);
    return status;
}

/* All nodes of the split, ascending. */
static sfu_status list_nodes(int32_t **nodes, int32_t *count, const sfu_dataset *dataset, const sfu_split *split) {
    sfu_status status = SFU_OK;
    const int32_t all = sfu_dataset_nodes(dataset);
    int32_t size;
    bool *is_used = NULL;
    *count = 0;
    SFU_ALLOC_ZERO(is_used, all);
    for (int part = 0; part < SFU_PARTS; part++) {
        const int32_t *of_part = sfu_split_part(split, (sfu_part)part, &size);
        for (int32_t i = 0; i < size; i++) {
            *count += !is_used[of_part[i]];
            is_used[of_part[i]] = true;
        }
    }
    SFU_ALLOC(*nodes, *count);
    for (int32_t node = 0, next = 0; node < all; node++) {
        if (is_used[node]) {
            (*nodes)[next++] = node;
        }
    }
done:
    sfu__free(is_used);
    return status;
}

/* The largest trial of one network of the space, with the prediction that scores its model. */
static sfu_status plan_largest(int64_t *needs, const sfu_dataset *dataset, const sfu_split *split,
                               const sfu__space *space, int net, const sfu_train_options *train) {
    sfu_status status = SFU_OK;
    sfu__candidate candidate = {0};
    double *values = NULL;
    int32_t *nodes = NULL;
    *needs = 0;
    SFU_ALLOC(values, space->count);
    largest_point(values, space, net);
    status = sfu__candidate_make(&candidate, space, values, train);
    if (status == SFU_ERR_ARGUMENT) { /* values that no trial can combine */
        status = SFU_OK;
        goto done;
    }
    SFU_TRY(status);
    sfu__plan_request request = sfu__train_request(candidate.net, split, candidate.dropout, train->threads, cpu);
    request.memory = sfu__limit_of(train->memory);
    request.executors = 1;
    request.refused = needs;
    SFU_TRY(list_nodes(&nodes, &request.later, dataset, split));
    request.later_nodes = nodes;
    SFU_TRY(plan(dataset, candidate.net, &request));
done:
    sfu__candidate_clear(&candidate);
    sfu__free(nodes);
    sfu__free(values);
    return status;
}

sfu_status sfu__tune_fits(int64_t *needs, const sfu_dataset *dataset, const sfu_split *split, const sfu__space *space,
                          const sfu_train_options *train) {
    sfu_status status = SFU_OK;
    char message[SFU__MESSAGE_MAX] = "";
    *needs = 0;
    for (int net = 0; net < space->net_count; net++) {
        int64_t needed;
        status = plan_largest(&needed, dataset, split, space, net, train);
        if (needed > *needs) {
            *needs = needed;
            snprintf(message, sizeof message, "%s", sfu_message());
        }
        SFU_TRY(needed > 0 ? SFU_OK : status);
    }
    if (*needs > 0) {
        sfu__set_message(message);
        status = SFU_ERR_MEMORY;
    }
done:
    return status;
}
