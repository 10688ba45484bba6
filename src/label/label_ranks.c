/* label_ranks.c - a labelling by the ranks of an MPI launcher (rank_group.h).
 *
 * Each rank goes through the same steps with the same numbers, and has its part of every training and prediction. Only
 * time is different: rank 0 decides whether a step begins, and all ranks end one together (label.c).
 *
 * Several groups of ranks divide the items of a step. What they tell one another is what machines that share a
 * labelling store (label_share.c): the cross-validation of trials. The models of the best trials are trained by every
 * group.
 */
#include "label.h"

#include "gpu_times.h"
#include "rank_group.h"

sfu_status sfu__label_ranks_agree(const sfu__label_work *work, int steps) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    if (sfu__processes_here() == NULL) {
        return SFU_OK;
    }
    SFU_TRY(sfu__label_identity(&text, work));
    SFU_TRY(sfu__text_format(&text, "%d\n%.17g\n", steps, work->coverage));
    SFU_TRY(sfu__processes_agree("another dataset, or other options", text.bytes, text.size));
done:
    sfu__text_clear(&text);
    return status;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

int sfu__label_groups(void) {
    const sfu__rank_group *all = sfu__processes_here();
    return all != NULL ? all->groups : 1;
}

/* Ranks of one training wait for one another a dozen times per epoch: up to 50 ms where other processes have the cores
 * meanwhile. */
static const double short_epoch_s = 0.05;

sfu_status sfu__label_is_short(bool *is_short, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    sfu_net *net = NULL;
    SFU_TRY(sfu_net_parse(&net, "gcn", NULL));
    *is_short = sfu__epoch_seconds(dataset, net) < short_epoch_s;
done:
    sfu_net_free(net);
    return status;
}

sfu_status sfu__label_separate(const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    bool is_short = false;
    SFU_TRY(sfu__label_is_short(&is_short, dataset));
    sfu__ranks_separate(is_short);
done:
    return status;
}

/* The first process of the group that has the item. */
static int owner_of(int item) { return item % sfu__label_groups() * sfu__processes_here()->count; }

bool sfu__label_group_has(int item) {
    const sfu__rank_group *all = sfu__processes_here();
    return all == NULL || all->process / all->count == item % all->groups;
}

void sfu__label_groups_tell(sfu__label_item *items, int count) {
    const sfu__rank_group *all = sfu__processes_here();
    for (int i = 0; i < count && sfu__label_groups() > 1; i++) {
        sfu__label_item *item = &items[i];
        all->mpi->broadcast_from(owner_of(i), item->made, item->made_count * (int64_t)sizeof *item->made);
        all->mpi->broadcast_from(owner_of(i), &item->trial_s, sizeof item->trial_s);
        item->known = !sfu__label_group_has(i);
    }
}

sfu_status sfu__label_groups_end(sfu_status status) {
    if (sfu__label_groups() < 2 || (status != SFU_OK && status != SFU_ERR_CANCELLED)) {
        return status;
    }
    return sfu__processes_any(status != SFU_OK) ? sfu__fail(SFU_ERR_CANCELLED, "the labelling was stopped") : SFU_OK;
}
