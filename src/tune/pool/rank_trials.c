#include "rank_trials.h"
#include "rank_group.h"

#include <string.h>

typedef enum message_kind { TRIAL, END, FAILED } message_kind;

typedef struct message {
    message_kind kind;
    int32_t width; /* TRIAL: values that follow */
    int32_t count; /* END: trials that follow */
    uint64_t seed; /* TRIAL */
} message;

static void tell(const message *what) {
    message copy = *what;
    sfu__ranks_here()->mpi->broadcast(0, &copy, sizeof copy);
}

void sfu__announce_trial(uint64_t seed, const double *values, int width) {
    const sfu__rank_group *ranks = sfu__ranks_here();
    if (ranks != NULL && ranks->rank == 0) {
        tell(&(message){.kind = TRIAL, .width = width, .seed = seed});
        ranks->mpi->broadcast(0, (void *)(uintptr_t)values, width * (int64_t)sizeof *values); /* rank 0: only read */
    }
}

/* A trial and its values. */
static void tell_trial(const sfu__trial *trial, int width) {
    const sfu__mpi *mpi = sfu__ranks_here()->mpi;
    sfu__trial copy = *trial;
    copy.values = NULL;
    mpi->broadcast(0, &copy, sizeof copy);
    mpi->broadcast(0, trial->values, width * (int64_t)sizeof *trial->values);
}

void sfu__announce_end(const sfu__trials *trials) {
    const sfu__rank_group *ranks = sfu__ranks_here();
    if (ranks == NULL || ranks->rank > 0) {
        return;
    }
    tell(&(message){.kind = trials != NULL ? END : FAILED, .count = trials != NULL ? trials->count : 0});
    for (int32_t i = 0; trials != NULL && i < trials->count; i++) {
        tell_trial(&trials->items[i], trials->parameters);
    }
}

/* ---- the other ranks --------------------------------------------------------------------------------------------- */

static sfu_status hear_trials(sfu__trials *trials, int32_t count) {
    const sfu__mpi *mpi = sfu__ranks_here()->mpi;
    for (int32_t i = 0; i < count; i++) {
        sfu__trial heard, *trial = sfu__trials_add(trials);
        if (trial == NULL) {
            return SFU_ERR_MEMORY;
        }
        mpi->broadcast(0, &heard, sizeof heard);
        heard.values = trial->values;
        *trial = heard;
        mpi->broadcast(0, trial->values, trials->parameters * (int64_t)sizeof *trial->values);
    }
    return SFU_OK;
}

/* A trial that a rank has stopped has no result; rank 0 then announces the end. */
static sfu_status train(sfu__trial_pool *pool, const sfu__trial *trial, bool (*goes_on)(void *user), void *user) {
    static const double tick_s = 0.2;
    sfu_status status = SFU_OK;
    sfu__finished finished;
    int count = 0;
    SFU_TRY(sfu__trial_pool_submit(pool, trial));
    sfu__trial_pool_launch(pool);
    while (count == 0 && status == SFU_OK) {
        status = sfu__trial_pool_take(&count, &finished, 1, pool, tick_s);
        if (!goes_on(user)) {
            sfu__trial_pool_interrupt(pool);
        }
    }
done:
    return status == SFU_ERR_CANCELLED ? SFU_OK : status;
}

sfu_status sfu__follow_trials(sfu__trials *trials, sfu__trial_pool *pool, bool (*goes_on)(void *user), void *user) {
    const sfu__mpi *mpi = sfu__ranks_here()->mpi;
    sfu_status status = SFU_OK;
    message heard = {.kind = TRIAL};
    double *values = NULL;
    SFU_ALLOC(values, trials->parameters);
    while (heard.kind == TRIAL) {
        mpi->broadcast(0, &heard, sizeof heard);
        if (heard.kind == TRIAL) {
            mpi->broadcast(0, values, heard.width * (int64_t)sizeof *values);
            SFU_TRY(train(pool, &(sfu__trial){.seed = heard.seed, .values = values}, goes_on, user));
        }
    }
    SFU_TRY(heard.kind == END ? hear_trials(trials, heard.count)
                              : sfu__fail(SFU_ERR_CANCELLED, "the study was stopped by another rank"));
done:
    sfu__free(values);
    return status;
}
