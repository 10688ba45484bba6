/* store_sql.c - a study in a database. */
#include "store_int.h"

sfu_status sfu__store_open_sql(sfu__store **store, const sfu__store_options *options) {
    (void)store;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "%s: this build keeps studies in memory alone", options->place);
}
