#include "db.h"

#include <stdio.h>
#include <string.h>

bool sfu__db_is_postgres(const char *place) {
    return strncmp(place, "postgresql://", 13) == 0 || strncmp(place, "postgres://", 11) == 0;
}

/* SCHEME://USER:PASSWORD@HOST:PORT/DATABASE?OPTIONS, where options may hold a password too. One with an '@' or '/' in
 * it that was not written as %40 or %2F is taken for something else by libpq; where that may be, nothing is shown. */
const char *sfu__db_shown(char shown[SFU__DB_SHOWN], const char *place) {
    if (!sfu__db_is_postgres(place)) {
        return place;
    }
    const char *user = strstr(place, "://") + 3;
    const char *at = user + strcspn(user, "@/");
    const char *host = *at == '@' ? at : user;
    const size_t host_size = strcspn(host, "?");
    if (memchr(host + (*at == '@'), '@', host_size - (*at == '@')) != NULL) {
        snprintf(shown, SFU__DB_SHOWN, "%.*s...", (int)(user - place), place);
        return shown;
    }
    const size_t user_size = *at == '@' ? strcspn(user, ":@") : 0;
    snprintf(shown, SFU__DB_SHOWN, "%.*s%.*s", (int)((size_t)(user - place) + user_size), place, (int)host_size, host);
    return shown;
}

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
