/* shared_work.h - items of work that machines share through a PostgreSQL database: each item has a key, is run by one
 * worker at a time, and has one result, which all workers read.
 *
 * All calls come from one thread. docs/reference/share.md describes the table. */
#ifndef SFU_SHARED_WORK_H
#define SFU_SHARED_WORK_H

#include "db.h"
#include "digest.h"

typedef struct sfu__shared_work sfu__shared_work;

typedef enum sfu__work_state { SFU__WORK_FREE, SFU__WORK_CLAIMED, SFU__WORK_FINISHED } sfu__work_state;

/* A digest of all that a result depends on. */
typedef struct sfu__work_key {
    char text[SFU__DIGEST_TEXT];
} sfu__work_key;

/* Fails unless `url` is NULL or that of a PostgreSQL database. */
SFU_CHECKED sfu_status sfu__shared_work_check(const char *url);

/* Connects, and makes the table if it is not there. The keys are copied. */
SFU_CHECKED sfu_status sfu__shared_work_open(sfu__shared_work **work, const char *url, const sfu__work_key *keys,
                                             int count, const sfu__db_wait *wait);

/* Makes the unfinished items of this worker free for others, and disconnects. Keeps the message of an earlier failure.
 * NULL is fine. */
void sfu__shared_work_close(sfu__shared_work *self);

/* The database, for messages. */
const char *sfu__shared_work_shown(const sfu__shared_work *self);

/* Reads the states of all items if the last time is a second ago; and the state of an item as last read. */
SFU_CHECKED sfu_status sfu__shared_work_update(sfu__shared_work *self);
sfu__work_state sfu__shared_work_state(const sfu__shared_work *self, int item);

/* Passes the result of a finished item to `take`. *found is false if there is none. */
typedef sfu_status (*sfu__work_result_fn)(void *user, const char *result);
SFU_CHECKED sfu_status sfu__shared_work_fetch(sfu__shared_work *self, int item, sfu__work_result_fn take, void *user,
                                              bool *found);

/* Claims an item for this worker, if it is free or its worker is gone. `title` is for people who look at the table. */
SFU_CHECKED sfu_status sfu__shared_work_claim(sfu__shared_work *self, int item, const char *title, bool *claimed);

/* Stores the result of an item that this worker has claimed. If another worker has stored one meanwhile, that stays. */
SFU_CHECKED sfu_status sfu__shared_work_publish(sfu__shared_work *self, int item, const char *result);

/* Renews the claims of this worker, if the last time is long enough ago. To be called several times per second. */
SFU_CHECKED sfu_status sfu__shared_work_beat(sfu__shared_work *self);

#endif
