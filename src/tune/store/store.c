/* store.c - dispatch of the store interface to memory or a database. */
#include "store_int.h"

sfu_status sfu__store_open(sfu__store **store, const sfu__store_options *options) {
    *store = NULL;
    return options->location == NULL ? sfu__store_open_memory(store, options) : sfu__store_open_sql(store, options);
}

void sfu__store_close(sfu__store *store) {
    if (store != NULL) {
        store->kind->close(store);
    }
}

sfu_status sfu__store_read(sfu__store *store, sfu__trials *trials) { return store->kind->read(store, trials); }
sfu_status sfu__store_transaction(sfu__store *store, sfu__transaction *transaction) {
    return store->kind->transaction(store, transaction);
}
sfu_status sfu__store_beat(sfu__store *store) { return store->kind->beat(store); }

const char *sfu__store_why_skipped(const sfu__store *store, int32_t number) {
    return store->kind->why_skipped(store, number);
}

sfu_status sfu__store_set(sfu__store *store, const char *key, const char *json) {
    return store->kind->set(store, key, json);
}

sfu_status sfu__store_get(sfu__store *store, const char *key, char **json) {
    *json = NULL;
    return store->kind->get(store, key, json);
}
