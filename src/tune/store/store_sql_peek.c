/* store_sql_peek.c - reads an attribute of an existing study before it is opened. */
#include "file.h"
#include "store_sql_int.h"
#include "study_url.h"

#include <string.h>

typedef struct peek {
    const char *name, *key;
    bool studies, attributes; /* these tables exist */
    char *json;
} peek;

static sfu_status take_table(void *user, const sfu__sql *columns, int count) {
    peek *self = user;
    const char *name = count > 0 && columns[0].kind == SFU__SQL_TEXT ? columns[0].text : "";
    self->studies |= strcmp(name, "studies") == 0;
    self->attributes |= strcmp(name, "study_user_attributes") == 0;
    return SFU_OK;
}

static sfu_status take_json(void *user, const sfu__sql *columns, int count) {
    peek *self = user;
    if (self->json == NULL && count > 0 && columns[0].kind == SFU__SQL_TEXT) {
        self->json = sfu__copy_string(columns[0].text);
        return self->json != NULL ? SFU_OK : SFU_ERR_MEMORY;
    }
    return SFU_OK;
}

static sfu_status peek_body(void *user, sfu__db *db) {
    peek *self = user;
    sfu_status status = SFU_OK;
    const sfu__sql values[] = {sfu__sql_text(self->name), sfu__sql_text(self->key)};
    sfu__free(self->json); /* of an earlier attempt */
    self->json = NULL;
    SFU_TRY(db->driver->run(db, db->driver->has_tables, NULL, 0, take_table, self, NULL));
    if (self->studies && self->attributes) {
        SFU_TRY(db->driver->run(db,
                                "SELECT value_json FROM study_user_attributes WHERE study_id IN "
                                "(SELECT study_id FROM studies WHERE study_name = $1) AND \"key\" = $2",
                                values, 2, take_json, self, NULL));
    }
done:
    return status;
}

sfu_status sfu__store_peek(char **json, const char *location, const char *name, const char *key,
                           const sfu__db_wait *wait) {
    const bool is_file = !sfu__study_url_is_postgres(location);
    const sfu__db_driver *driver = is_file ? &sfu__db_sqlite : &sfu__db_postgres;
    sfu_status status = SFU_OK;
    sfu__db *db = NULL;
    peek self = {.name = name, .key = key};
    *json = NULL;
    if (is_file && !sfu__path_is_file(location)) {
        return SFU_OK; /* opening would create it */
    }
    SFU_TRY(driver->open(&db, location, wait));
    SFU_TRY(sfu__db_reading(db, peek_body, &self));
    *json = self.json;
    self.json = NULL;
done:
    sfu__free(self.json);
    if (db != NULL) {
        driver->close(db);
    }
    return status;
}
