/* label_ranks.c - a labelling by the ranks of an MPI launcher (rank_group.h).
 *
 * Each rank goes through the same steps with the same numbers, and has its part of every training and prediction. Only
 * time is different: rank 0 decides whether a step begins, and all ranks end one together (label.c).
 */
#include "label.h"

#include "rank_group.h"

sfu_status sfu__label_ranks_agree(const sfu__label_work *work, int steps) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    if (sfu__ranks_here() == NULL) {
        return SFU_OK;
    }
    SFU_TRY(sfu__label_identity(&text, work));
    SFU_TRY(sfu__text_format(&text, "%d\n%.17g\n", steps, work->coverage));
    SFU_TRY(sfu__ranks_agree(text.bytes, text.size));
done:
    sfu__text_clear(&text);
    return status;
}
