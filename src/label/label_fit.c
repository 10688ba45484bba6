/* label_fit.c - which candidates fit the memory limit of a labelling.
 *
 * Before the first step the first trial of each candidate is planned. So the steps, their number and the results are
 * those of a labelling with the candidates that are left. A trial that turns out to need more counts as one that
 * diverged, unless other processes or machines have to agree about it.
 */
#include "label.h"

#include "rank_group.h"

#include <stdio.h>

bool sfu__label_exceeds(sfu_status status, const sfu__label_work *work) {
    if (status != SFU_ERR_MEMORY || work->memory == 0 || work->shared || sfu__processes_here() != NULL) {
        return false;
    }
    if (work->exceeded[0] == '\0') {
        snprintf(work->exceeded, SFU__MESSAGE_MAX, "%s", sfu_message()); /* with a limit one thread trains */
    }
    return true;
}

/* *needs: 0 if the network fits; else SFU_ERR_MEMORY. */
static sfu_status measure(int64_t *needs, sfu__label_problem *problem, int net, const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    sfu__candidate candidate = {0};
    *needs = 0;
    SFU_TRY(sfu__label_first_candidate(&candidate, problem, net, work));
    SFU_TRY(sfu__label_cross_plan(needs, problem, &candidate, work));
done:
    sfu__candidate_clear(&candidate);
    return status;
}

/* Ranks leave out the same networks, also if their estimates differ. */
static int64_t needs_of_all(int64_t needs, const sfu__label_work *work) {
    const bool refused = sfu__processes_any(needs > 0);
    return refused && needs == 0 ? (int64_t)work->memory : needs;
}

static sfu_status refuse_all(const sfu__label_nets *nets, const sfu__label_work *work) {
    char needs[SFU__SIZE_MAX], limit[SFU__SIZE_MAX];
    int64_t least = INT64_MAX;
    for (int net = 0; net < SFU__LABEL_NETS; net++) {
        least = nets->needs[net] > 0 && nets->needs[net] < least ? nets->needs[net] : least;
    }
    return sfu__fail(SFU_ERR_MEMORY,
                     "%s: no network fits the memory limit of %s; the smallest needs up to %s; use a larger limit",
                     sfu_dataset_name(work->dataset), sfu__size_text(limit, (double)work->memory),
                     sfu__size_text(needs, (double)least));
}

sfu_status sfu__label_nets_fit(sfu__label_nets *nets, sfu__label_problem *problem, const sfu__label_work *work,
                               bool named) {
    sfu_status status = SFU_OK;
    const sfu__label_nets all = *nets;
    int64_t most = 0;
    int largest = 0;
    nets->count = 0;
    for (int i = 0; i < all.count; i++) {
        const int net = all.net[i];
        int64_t needs = 0;
        status = measure(&needs, problem, net, work);
        SFU_TRY(needs > 0 ? SFU_OK : status);
        if (named && needs > most) {
            most = needs;
            largest = net;
        }
        nets->needs[net] = named ? 0 : needs_of_all(needs, work);
        if (nets->needs[net] == 0) {
            nets->net[nets->count++] = net;
        }
    }
    if (most > 0) { /* all of them were asked for: the message is that of the largest */
        SFU_TRY(measure(&most, problem, largest, work));
    }
    if (nets->count == 0) {
        status = refuse_all(nets, work);
    }
done:
    return status;
}
