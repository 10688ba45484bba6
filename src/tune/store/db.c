/* db.c - functions common to the database drivers: transactions that are retried, and giving up on a database. */
#include "db.h"

#include "clock.h"

bool sfu__db_gives_up(sfu__db *db, double since) {
    db->cancelled = db->cancelled || (db->wait.go_on != NULL && !db->wait.go_on(db->wait.user));
    db->given_up = db->given_up || (db->cancelled && sfu__now() - since >= SFU__DB_GRACE_S);
    return db->given_up;
}

sfu_status sfu__db_fail_given_up(const char *shown) {
    return sfu__fail(SFU_ERR_CANCELLED, "%s: cancelled while waiting for the database", shown);
}

static sfu_status run_once(sfu__db *db, bool creating_tables, sfu__db_body_fn body, void *user) {
    sfu_status status = SFU_OK;
    SFU_TRY(db->driver->begin(db, creating_tables));
    status = body(user, db);
    if (status == SFU_OK) {
        status = db->driver->commit(db);
    }
    if (status != SFU_OK) {
        db->driver->roll_back(db);
    }
done:
    return status;
}

sfu_status sfu__db_transaction(sfu__db *db, bool creating_tables, sfu__db_body_fn body, void *user) {
    for (int attempt = 1;; attempt++) {
        const sfu_status status = run_once(db, creating_tables, body, user);
        if (status == SFU_OK || db->given_up || !db->driver->try_again(db, attempt)) {
            return status != SFU_OK && db->given_up ? SFU_ERR_CANCELLED : status;
        }
    }
}

sfu_status sfu__db_reading(sfu__db *db, sfu__db_body_fn body, void *user) {
    for (int attempt = 1;; attempt++) {
        const sfu_status status = body(user, db);
        if (status == SFU_OK || db->given_up || !db->driver->try_again(db, attempt)) {
            return status != SFU_OK && db->given_up ? SFU_ERR_CANCELLED : status;
        }
    }
}
