/* store_sql_transaction.c - one transaction of a worker: it finishes, asks and claims trials.
 *
 * It may run again when it is unknown whether the first attempt was committed: a trial finished then has our token and
 * counts as accepted; trials asked then exist; trials claimed then, with tokens that nobody knows, are returned first.
 */
#include "store_sql_int.h"

#include <string.h>

typedef struct transaction_context {
    sfu__sql_store *self;
    sfu__transaction *transaction;
    sfu__claim *claimed; /* [transaction->want] */
    bool unknown;        /* there are waiting trials that were added after the last read */
} transaction_context;

/* A statement that waits for a row continues with the newest version of that row, but sees the other tables as they
 * were when it began. Whether a claim is still ours depends on two tables, so it is checked after the row of the trial
 * is locked: claims change only under that lock. */
static sfu_status lock_trial(sfu__sql_store *self, int64_t id) {
    return sfu__sql_lock(self, self->db->driver->lock_trial, id);
}

static const sfu__claim *find_claim(const sfu__sql_store *self, int32_t number) {
    for (size_t i = 0; i < self->claim_count; i++) {
        if (self->claims[i].number == number) {
            return &self->claims[i];
        }
    }
    return NULL;
}

/* ---- finishing -------------------------------------------------------------------------------------------------- */

/* Whether the trial was finished under this claim by an earlier attempt of this transaction. */
static sfu_status was_accepted(sfu__sql_store *self, const sfu__claim *claim, bool *accepted) {
    const sfu__sql values[] = {sfu__sql_int(claim->id), sfu__sql_text(self->worker), sfu__sql_int(claim->token)};
    int64_t id = -1;
    const sfu_status status = sfu__sql_number(
        self,
        "SELECT t.trial_id FROM trials t JOIN sfumato_claims c ON c.trial_id = t.trial_id WHERE t.trial_id = $1 AND "
        "t.state IN ('COMPLETE', 'FAIL') AND c.worker = $2 AND c.token = $3",
        values, 3, &id);
    *accepted = id == claim->id;
    return status;
}

static sfu_status finish(sfu__sql_store *self, sfu__finished *finished) {
    const sfu__claim *claim = find_claim(self, finished->number);
    sfu_status status = SFU_OK;
    finished->refused = true;
    if (claim == NULL) {
        return SFU_OK;
    }
    char now[32];
    sfu__sql_time(now);
    const sfu__sql values[] = {sfu__sql_text(finished->outcome.failed ? "FAIL" : "COMPLETE"), sfu__sql_text(now),
                               sfu__sql_int(claim->id), sfu__sql_text(self->worker), sfu__sql_int(claim->token)};
    int64_t changed = 0;
    SFU_TRY(lock_trial(self, claim->id));
    SFU_TRY(
        sfu__sql_do(self,
                    "UPDATE trials SET state = $1, datetime_complete = $2 WHERE trial_id = $3 AND state = 'RUNNING' "
                    "AND EXISTS (SELECT 1 FROM sfumato_claims c WHERE c.trial_id = $3 AND c.worker = $4 AND c.token "
                    "= $5)",
                    values, 5, &changed));
    if (changed == 1) {
        finished->refused = false;
        status = finished->outcome.failed ? SFU_OK : sfu__sql_add_outcome(self, claim->id, &finished->outcome);
    } else {
        bool accepted = false;
        SFU_TRY(was_accepted(self, claim, &accepted));
        finished->refused = !accepted;
    }
done:
    return status;
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

static sfu_status ask(sfu__sql_store *self, sfu__transaction *transaction) {
    const sfu__sql study = sfu__sql_int(self->study);
    sfu_status status = SFU_OK;
    int64_t last = -1;
    transaction->asked_before = false;
    if (transaction->asked_count == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__sql_lock(self, self->db->driver->lock_study, self->study)); /* numbers become visible in their order */
    SFU_TRY(sfu__sql_number(self, "SELECT number FROM trials WHERE study_id = $1 ORDER BY trial_id DESC LIMIT 1",
                            &study, 1, &last));
    if (transaction->asked[0].number > last + 1) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: trial %d cannot follow trial %lld", self->label,
                         (int)transaction->asked[0].number, (long long)last);
    }
    transaction->asked_before = transaction->asked[0].number <= last;
    for (int i = 0; i < transaction->asked_count && !transaction->asked_before; i++) {
        SFU_TRY(sfu__sql_add_trial(self, &transaction->asked[i]));
    }
done:
    return status;
}

/* ---- adopting --------------------------------------------------------------------------------------------------- */

static sfu_status adopt(sfu__sql_store *self, const sfu__transaction *transaction) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < transaction->adopted_count; i++) {
        const sfu__trial *trial = &transaction->adopted[i];
        SFU_TRY(sfu__sql_adopt_trial(self, self->ids[trial->number], trial));
    }
done:
    return status;
}

static bool adopts(const sfu__transaction *transaction, int64_t number) {
    bool some = false;
    for (int i = 0; i < transaction->adopted_count; i++) {
        some = some || transaction->adopted[i].number == number;
    }
    return some;
}

/* ---- claiming --------------------------------------------------------------------------------------------------- */

static bool asks(const sfu__transaction *transaction, int64_t number) {
    return transaction->asked_count > 0 && !transaction->asked_before && number >= transaction->asked[0].number &&
           number < (int64_t)transaction->asked[0].number + transaction->asked_count;
}

/* Whether a trial is ours and has its values. Of one that was added or adopted after the last read, this is unknown. */
static bool can_claim(transaction_context *context, int64_t number) {
    const sfu__trials *known = &context->self->known;
    const sfu__trial *trial = number < known->count ? &known->items[number] : NULL;
    const bool ours = trial != NULL && sfu__trial_is_asked(trial);
    const bool ours_now = asks(context->transaction, number) || adopts(context->transaction, number);
    context->unknown |= !ours_now && (trial == NULL || (!ours && trial->origin == SFU__TRIAL_QUEUED));
    return ours || ours_now;
}

static sfu_status take_waiting(void *user, const sfu__sql *columns, int count) {
    transaction_context *context = user;
    sfu__transaction *transaction = context->transaction;
    if (count == 2 && columns[0].kind == SFU__SQL_INT && columns[1].kind == SFU__SQL_INT &&
        transaction->claimed_count < transaction->want && can_claim(context, columns[1].integer)) {
        const int32_t number = (int32_t)columns[1].integer;
        context->claimed[transaction->claimed_count] = (sfu__claim){.number = number, .id = columns[0].integer};
        transaction->claimed[transaction->claimed_count++] = number;
    }
    return SFU_OK;
}

static sfu_status claim_one(sfu__sql_store *self, sfu__claim *claim) {
    char now[32];
    sfu__sql_time(now);
    claim->token = ++self->token;
    const sfu__sql start[] = {sfu__sql_int(claim->id), sfu__sql_text(now)};
    const sfu__sql key[] = {sfu__sql_int(claim->id), sfu__sql_text(self->worker), sfu__sql_int(claim->token)};
    sfu_status status = SFU_OK;
    int64_t changed = 0;
    SFU_TRY(sfu__sql_do(self,
                        "UPDATE trials SET state = 'RUNNING', datetime_start = $2 WHERE trial_id = $1 AND state = "
                        "'WAITING'",
                        start, 2, &changed));
    if (changed != 1) {
        return sfu__fail(SFU_ERR_IO, "%s: trial %d was claimed by another worker in spite of our lock", self->label,
                         (int)claim->number);
    }
    status =
        sfu__sql_do(self,
                    "INSERT INTO sfumato_claims (trial_id, worker, token) VALUES ($1, $2, $3) ON CONFLICT (trial_id) "
                    "DO UPDATE SET worker = excluded.worker, token = excluded.token",
                    key, 3, NULL);
done:
    return status;
}

/* Waiting trials of other programs, which the query cannot always tell from ours. */
static int32_t waiting_elsewhere(const sfu__sql_store *self) {
    int32_t count = 0;
    for (int32_t i = self->first_open; i < self->known.count; i++) {
        const sfu__trial *trial = &self->known.items[i];
        count += trial->state == SFU__TRIAL_WAITING && !sfu__trial_is_asked(trial);
    }
    return count;
}

static sfu_status claim(transaction_context *context) {
    sfu__sql_store *self = context->self;
    sfu__transaction *transaction = context->transaction;
    const sfu__sql values[] = {sfu__sql_int(self->study), sfu__sql_int(sfu__sql_open_from(self)),
                               sfu__sql_int((int64_t)transaction->want + waiting_elsewhere(self))};
    sfu_status status = SFU_OK;
    transaction->claimed_count = 0;
    context->unknown = false;
    if (transaction->want > 0) {
        SFU_TRY(sfu__sql_ask(self, self->sql_waiting, values, 3, take_waiting, context));
    }
    for (int i = 0; i < transaction->claimed_count; i++) {
        SFU_TRY(claim_one(self, &context->claimed[i]));
    }
done:
    return status;
}

/* ---- the transaction --------------------------------------------------------------------------------------------- */

/* Returns trials that a transaction of unknown outcome has claimed, and that nobody runs. */
static sfu_status return_lost_claims(sfu__sql_store *self) {
    const sfu__sql values[] = {sfu__sql_int(self->study), sfu__sql_text(self->worker), sfu__sql_int(self->settled)};
    return sfu__sql_do(
        self,
        "UPDATE trials SET state = 'WAITING', datetime_start = NULL WHERE study_id = $1 AND state = "
        "'RUNNING' AND trial_id IN (SELECT trial_id FROM sfumato_claims WHERE worker = $2 AND token > $3)",
        values, 3, NULL);
}

static sfu_status transaction_body(void *user, sfu__db *db) {
    transaction_context *context = user;
    sfu__sql_store *self = context->self;
    sfu__transaction *transaction = context->transaction;
    sfu_status status = SFU_OK;
    (void)db;
    if (self->doubt) {
        SFU_TRY(return_lost_claims(self));
    }
    self->doubt = true;
    SFU_TRY(ask(self, transaction));
    for (int i = 0; i < transaction->finished_count; i++) {
        SFU_TRY(finish(self, &transaction->finished[i]));
    }
    SFU_TRY(adopt(self, transaction));
    status = claim(context);
done:
    return status;
}

static void remove_claim(sfu__sql_store *self, int32_t number) {
    const sfu__claim *claim = find_claim(self, number);
    if (claim != NULL) {
        self->claims[claim - self->claims] = self->claims[--self->claim_count];
    }
}

/* Updates the list of claims. It has the capacity: the transaction is committed, so this must not fail. */
static void update_claims(transaction_context *context) {
    sfu__sql_store *self = context->self;
    const sfu__transaction *transaction = context->transaction;
    for (int i = 0; i < transaction->finished_count; i++) {
        remove_claim(self, transaction->finished[i].number);
    }
    for (int i = 0; i < transaction->claimed_count; i++) {
        self->claims[self->claim_count++] = context->claimed[i];
    }
    self->settled = self->token;
    self->doubt = false;
}

static sfu_status read_body(void *user, sfu__db *db) { return (void)db, sfu__sql_sync(user); }

/* Waiting trials that were added after the last read can be claimed when they are known. */
static sfu_status claim_again(transaction_context *context) {
    sfu__sql_store *self = context->self;
    sfu__transaction *first = context->transaction;
    sfu__transaction second = {.want = first->want - first->claimed_count,
                               .claimed = first->claimed + first->claimed_count};
    transaction_context again = {self, &second, context->claimed, false};
    sfu_status status = SFU_OK;
    if (!context->unknown || second.want == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__db_reading(self->db, read_body, self));
    SFU_TRY(sfu__db_transaction(self->db, false, transaction_body, &again));
    update_claims(&again);
    first->claimed_count += second.claimed_count;
done:
    return status;
}

sfu_status sfu__sql_transaction(sfu__store *store, sfu__transaction *transaction) {
    sfu__sql_store *self = (sfu__sql_store *)store;
    transaction_context context = {self, transaction, NULL, false};
    sfu_status status = SFU_OK;
    const size_t want = transaction->want > 0 ? (size_t)transaction->want : 0;
    sfu__claim *grown = sfu__grow(self->claims, &self->claim_capacity, self->claim_count + want + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->claims = grown;
    SFU_ALLOC(context.claimed, want);
    SFU_TRY(sfu__db_transaction(self->db, false, transaction_body, &context));
    update_claims(&context);
    SFU_TRY(claim_again(&context));
done:
    sfu__free(context.claimed);
    return status;
}
