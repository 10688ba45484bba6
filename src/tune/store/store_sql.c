/* store_sql.c - a study in a database: opening, closing, attributes, reading, heartbeats. */
#include "store_sql_int.h"

#include "clock.h"
#include "study_url.h"

#include <stdio.h>
#include <string.h>

/* ---- statements ------------------------------------------------------------------------------------------------- */

sfu_status sfu__sql_ask(sfu__sql_store *self, const char *sql, const sfu__sql *values, int count, sfu__sql_row_fn row,
                        void *user) {
    return self->db->driver->run(self->db, sql, values, count, row, user, NULL);
}

sfu_status sfu__sql_do(sfu__sql_store *self, const char *sql, const sfu__sql *values, int count, int64_t *changed) {
    return self->db->driver->run(self->db, sql, values, count, NULL, NULL, changed);
}

typedef struct first_number {
    int64_t value;
    bool found;
} first_number;

static sfu_status take_number(void *user, const sfu__sql *columns, int count) {
    first_number *first = user;
    if (!first->found && count > 0 && columns[0].kind == SFU__SQL_INT) {
        *first = (first_number){columns[0].integer, true};
    }
    return SFU_OK;
}

sfu_status sfu__sql_number(sfu__sql_store *self, const char *sql, const sfu__sql *values, int count, int64_t *value) {
    first_number first = {0, false};
    const sfu_status status = sfu__sql_ask(self, sql, values, count, take_number, &first);
    if (status == SFU_OK && first.found) {
        *value = first.value;
    }
    return status;
}

sfu_status sfu__sql_lock(sfu__sql_store *self, const char *sql, int64_t id) {
    const sfu__sql value = sfu__sql_int(id);
    return sql != NULL ? sfu__sql_do(self, sql, &value, 1, NULL) : SFU_OK;
}

/* ---- attributes of the study ------------------------------------------------------------------------------------ */

typedef struct attribute {
    sfu__sql_store *self;
    const char *key, *json;
    char *found;
} attribute;

static sfu_status set_body(void *user, sfu__db *db) {
    const attribute *attribute = user;
    const sfu__sql values[] = {sfu__sql_int(attribute->self->study), sfu__sql_text(attribute->key),
                               sfu__sql_text(attribute->json)};
    (void)db;
    return sfu__sql_do(attribute->self,
                       "INSERT INTO study_user_attributes (study_id, \"key\", value_json) VALUES ($1, $2, $3) "
                       "ON CONFLICT (study_id, \"key\") DO UPDATE SET value_json = excluded.value_json",
                       values, 3, NULL);
}

static sfu_status sql_set(sfu__store *store, const char *key, const char *json) {
    sfu__sql_store *self = (sfu__sql_store *)store;
    return sfu__db_transaction(self->db, false, set_body, &(attribute){self, key, json, NULL});
}

static sfu_status take_text(void *user, const sfu__sql *columns, int count) {
    char **text = user;
    if (*text == NULL && count > 0 && columns[0].kind == SFU__SQL_TEXT) {
        *text = sfu__copy_string(columns[0].text);
        return *text != NULL ? SFU_OK : SFU_ERR_MEMORY;
    }
    return SFU_OK;
}

static sfu_status get_body(void *user, sfu__db *db) {
    attribute *attribute = user;
    const sfu__sql values[] = {sfu__sql_int(attribute->self->study), sfu__sql_text(attribute->key)};
    (void)db;
    sfu__free(attribute->found);
    attribute->found = NULL;
    return sfu__sql_ask(attribute->self,
                        "SELECT value_json FROM study_user_attributes WHERE study_id = $1 AND \"key\" = $2", values, 2,
                        take_text, &attribute->found);
}

static sfu_status sql_get(sfu__store *store, const char *key, char **json) {
    sfu__sql_store *self = (sfu__sql_store *)store;
    attribute attribute = {self, key, NULL, NULL};
    const sfu_status status = sfu__db_reading(self->db, get_body, &attribute);
    if (status == SFU_OK) {
        *json = attribute.found;
    } else {
        sfu__free(attribute.found);
    }
    return status;
}

/* ---- reading and heartbeats ------------------------------------------------------------------------------------- */

static sfu_status sync_body(void *user, sfu__db *db) { return (void)db, sfu__sql_sync(user); }

static sfu_status sql_read(sfu__store *store, sfu__trials *trials) {
    sfu__sql_store *self = (sfu__sql_store *)store;
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__db_reading(self->db, sync_body, self));
    status = sfu__trials_follow(trials, &self->known);
done:
    return status;
}

static sfu_status beat_body(void *user, sfu__db *db) { return (void)db, sfu__sql_tend_workers(user); }

static sfu_status sql_beat(sfu__store *store) {
    sfu__sql_store *self = (sfu__sql_store *)store;
    sfu_status status = SFU_OK;
    if (sfu__now() - self->last_beat >= self->beat_s) {
        SFU_TRY(sfu__db_transaction(self->db, false, beat_body, self));
        self->last_beat = sfu__now();
    }
done:
    return status;
}

/* ---- opening and closing ---------------------------------------------------------------------------------------- */

static sfu_status close_body(void *user, sfu__db *db) { return (void)db, sfu__sql_leave(user); }

static void free_store(sfu__sql_store *self) {
    if (self->db != NULL) {
        self->db->driver->close(self->db);
    }
    for (int i = 0; self->distributions != NULL && i < self->space->count; i++) {
        sfu__free(self->distributions[i]);
    }
    sfu__free(self->distributions);
    for (int32_t i = 0; i < self->known.count; i++) {
        sfu__free(self->whys[i]);
    }
    sfu__free(self->whys);
    sfu__trials_clear(&self->known);
    sfu__text_clear(&self->text);
    sfu__free(self->ids);
    sfu__free(self->claims);
    sfu__free(self->label);
    sfu__free(self->name);
    sfu__free(self->sql_waiting);
    sfu__free(self->sql_beat);
    sfu__free(self->sql_ages);
    sfu__free(self->row_values);
    sfu__free(self);
}

/* An earlier error is more useful to the caller than the failure to return its trials. */
static void sql_close(sfu__store *store) {
    sfu__sql_store *self = (sfu__sql_store *)store;
    char message[SFU__MESSAGE_MAX];
    snprintf(message, sizeof message, "%s", sfu_message());
    if (sfu__db_transaction(self->db, false, close_body, self) != SFU_OK) {
        sfu__set_message(message);
    }
    free_store(self);
}

static const char *sql_why_skipped(const sfu__store *store, int32_t number) {
    const sfu__sql_store *self = (const sfu__sql_store *)store;
    return number >= 0 && number < self->known.count ? self->whys[number] : NULL;
}

static const sfu__store_kind sql_kind = {sql_close, sql_read, sfu__sql_transaction, sql_beat,
                                         sql_set,   sql_get,  sql_why_skipped};

/* Takes over the text. */
static sfu_status keep_text(char **kept, sfu__text *text, sfu_status status) {
    if (status == SFU_OK) {
        *kept = text->bytes;
        *text = (sfu__text){0};
    }
    sfu__text_clear(text);
    return status;
}

static sfu_status make_label(sfu__sql_store *self, const char *location) {
    char quoted[SFU__QUOTE_MAX], shown[SFU__URL_SHOWN];
    sfu__text text = {0};
    return keep_text(&self->label, &text,
                     sfu__text_format(&text, "%s: study %s", sfu__study_url_shown(shown, location),
                                      sfu__quote(quoted, self->name, strlen(self->name))));
}

static sfu_status make_statements(sfu__sql_store *self) {
    const sfu__db_driver *driver = self->db->driver;
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    SFU_TRY(keep_text(&self->sql_waiting, &text,
                      sfu__text_format(&text,
                                       "SELECT trial_id, number FROM trials WHERE study_id = $1 AND trial_id >= $2 AND "
                                       "state = 'WAITING' AND EXISTS (SELECT 1 FROM trial_user_attributes a WHERE "
                                       "a.trial_id = trials.trial_id AND a.\"key\" = 'seed') ORDER BY trial_id LIMIT "
                                       "$3 %s",
                                       driver->skip_locked)));
    SFU_TRY(keep_text(&self->sql_beat, &text,
                      sfu__text_format(&text,
                                       "INSERT INTO sfumato_workers (worker, study_id, beat) VALUES ($1, $2, %s) "
                                       "ON CONFLICT (worker) DO UPDATE SET beat = excluded.beat",
                                       driver->now)));
    status = keep_text(&self->sql_ages, &text,
                       sfu__text_format(&text,
                                        "SELECT worker, %s - beat FROM sfumato_workers WHERE study_id = $1 AND "
                                        "worker <> $2",
                                        driver->now));
done:
    return status;
}

static sfu_status make_distributions(sfu__sql_store *self) {
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(self->distributions, self->space->count);
    for (int i = 0; i < self->space->count; i++) {
        sfu__text text = {0};
        SFU_TRY(keep_text(&self->distributions[i], &text, sfu__space_distribution(&text, self->space, i)));
    }
done:
    return status;
}

sfu_status sfu__store_open_sql(sfu__store **store, const sfu__store_options *options) {
    enum { BEAT_S = 5, GRACE_S = 30 };
    const sfu__db_driver *driver = sfu__study_url_is_postgres(options->location) ? &sfu__db_postgres : &sfu__db_sqlite;
    sfu_status status = SFU_OK;
    sfu__sql_store *self = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->base.kind = &sql_kind;
    self->space = options->space;
    self->known.parameters = options->space->count;
    self->check_seeds = options->check_seeds;
    self->seed = options->seed;
    self->beat_s = options->beat_s > 0 ? options->beat_s : BEAT_S;
    self->grace_s = options->grace_s > 0 ? options->grace_s : GRACE_S;
    sfu__worker_here(self->worker);
    self->name = sfu__copy_string(options->name);
    if (self->name == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_ALLOC_ZERO(self->row_values, 4 * (size_t)options->space->count + 16);
    SFU_TRY(make_distributions(self));
    SFU_TRY(driver->open(&self->db, options->location, &options->wait));
    SFU_TRY(make_label(self, options->location));
    SFU_TRY(make_statements(self));
    SFU_TRY(sfu__sql_find_study(self, options));
    if (options->lazy_sync && driver == &sfu__db_sqlite) { /* the log is synced when it is copied to the file */
        SFU_TRY(sfu__sql_do(self, "PRAGMA synchronous=NORMAL", NULL, 0, NULL));
    }
    self->last_beat = sfu__now();
    *store = &self->base;
    self = NULL;
done:
    if (self != NULL) {
        free_store(self);
    }
    return status;
}
