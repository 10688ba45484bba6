#include "db.h"

static sfu_status run_once(sfu__db *db, bool making, sfu__db_body_fn body, void *user) {
    sfu_status status = SFU_OK;
    SFU_TRY(db->driver->begin(db, making));
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

sfu_status sfu__db_transaction(sfu__db *db, bool making, sfu__db_body_fn body, void *user) {
    for (int attempt = 1;; attempt++) {
        const sfu_status status = run_once(db, making, body, user);
        if (status == SFU_OK || !db->driver->try_again(db, attempt)) {
            return status;
        }
    }
}

sfu_status sfu__db_reading(sfu__db *db, sfu__db_body_fn body, void *user) {
    for (int attempt = 1;; attempt++) {
        const sfu_status status = body(user, db);
        if (status == SFU_OK || !db->driver->try_again(db, attempt)) {
            return status;
        }
    }
}
