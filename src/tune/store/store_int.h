/* store_int.h - the function table of a store, and its two implementations. */
#ifndef SFU_STORE_INT_H
#define SFU_STORE_INT_H

#include "store.h"

typedef struct sfu__store_kind {
    void (*close)(sfu__store *store);
    sfu_status (*read)(sfu__store *store, sfu__trials *trials);
    sfu_status (*transaction)(sfu__store *store, sfu__transaction *transaction);
    sfu_status (*beat)(sfu__store *store);
    sfu_status (*set)(sfu__store *store, const char *key, const char *json);
    sfu_status (*get)(sfu__store *store, const char *key, char **json);
    const char *(*why_skipped)(const sfu__store *store, int32_t number);
} sfu__store_kind;

struct sfu__store {
    const sfu__store_kind *kind;
};

SFU_CHECKED sfu_status sfu__store_open_memory(sfu__store **store, const sfu__store_options *options);
SFU_CHECKED sfu_status sfu__store_open_sql(sfu__store **store, const sfu__store_options *options);

#endif
