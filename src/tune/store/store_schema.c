/* store_schema.c - creation and verification of the tables and of the study; a mismatch is refused without changing
 * anything.
 *
 * Optuna identifies its schema by the alembic version: v3.2.0.a for every release since 3.2.0, v3.0.0.d before. A
 * database with another version belongs to another program or to another Optuna.
 */
#include "store_sql_int.h"

#include <ctype.h>
#include <string.h>

#define VERSION "v3.2.0.a"
#define OLD_VERSION "v3.0.0.d"

/* In SQL that both databases understand. If Optuna deletes a study, these rows are deleted too if the database enforces
 * foreign keys. */
static const char *const our_tables[] = {
    "CREATE TABLE IF NOT EXISTS sfumato_workers (worker VARCHAR(160) NOT NULL PRIMARY KEY, study_id INTEGER NOT NULL "
    "REFERENCES studies (study_id) ON DELETE CASCADE, beat DOUBLE PRECISION NOT NULL)",
    "CREATE TABLE IF NOT EXISTS sfumato_claims (trial_id INTEGER NOT NULL PRIMARY KEY REFERENCES trials (trial_id) ON "
    "DELETE CASCADE, worker VARCHAR(160) NOT NULL, token BIGINT NOT NULL)",
    NULL};

/* ---- tables ----------------------------------------------------------------------------------------------------- */

typedef struct tables {
    int count;
    bool studies, version, workers, claims;
    char other[SFU__QUOTE_MAX]; /* one unknown table, quoted */
} tables;

static sfu_status take_table(void *user, const sfu__sql *columns, int count) {
    tables *tables = user;
    const char *name = count > 0 && columns[0].kind == SFU__SQL_TEXT ? columns[0].text : "";
    if (strcmp(name, "sfumato_studies") == 0) {
        return SFU_OK; /* of a shared comparison, which may be beside studies */
    }
    tables->count++;
    tables->studies |= strcmp(name, "studies") == 0;
    tables->version |= strcmp(name, "alembic_version") == 0;
    tables->workers |= strcmp(name, "sfumato_workers") == 0;
    tables->claims |= strcmp(name, "sfumato_claims") == 0;
    sfu__quote(tables->other, name, strlen(name));
    return SFU_OK;
}

static sfu_status run_all(sfu__sql_store *self, const char *const *statements) {
    sfu_status status = SFU_OK;
    for (int i = 0; statements[i] != NULL; i++) {
        SFU_TRY(sfu__sql_do(self, statements[i], NULL, 0, NULL));
    }
done:
    return status;
}

static sfu_status make_tables(sfu__sql_store *self, bool old_schema) {
    const sfu__sql version = sfu__sql_text(old_schema ? OLD_VERSION : VERSION);
    sfu_status status = SFU_OK;
    SFU_TRY(run_all(self, self->db->driver->schema));
    SFU_TRY(sfu__sql_do(self,
                        "INSERT INTO version_info (version_info_id, schema_version, library_version) "
                        "VALUES (1, 12, '3.2.0')",
                        NULL, 0, NULL));
    SFU_TRY(sfu__sql_do(self, "INSERT INTO alembic_version (version_num) VALUES ($1)", &version, 1, NULL));
done:
    return status;
}

typedef struct version {
    int count;
    char text[64];
} version;

static sfu_status take_version(void *user, const sfu__sql *columns, int count) {
    version *found = user;
    found->count++;
    if (count > 0 && columns[0].kind == SFU__SQL_TEXT) {
        found->text[0] = '\0';
        strncat(found->text, columns[0].text, sizeof found->text - 1);
    }
    return SFU_OK;
}

static sfu_status refuse_version(const sfu__sql_store *self, const char *found) {
    char quoted[SFU__QUOTE_MAX];
    sfu__quote(quoted, found, strlen(found));
    if (found[0] != 'v' || !isdigit((unsigned char)found[1])) {
        return sfu__fail(SFU_ERR_FORMAT,
                         "%s: the database belongs to another program (alembic version %s, expected Optuna's %s): use "
                         "another one",
                         self->label, quoted, VERSION);
    }
    if (strcmp(found, OLD_VERSION) < 0) {
        return sfu__fail(
            SFU_ERR_FORMAT,
            "%s: the tables are of an older Optuna (version %s): `optuna storage upgrade` converts them to %s, "
            "or use another database",
            self->label, quoted, VERSION);
    }
    return sfu__fail(
        SFU_ERR_FORMAT,
        "%s: the tables are of a newer Optuna (version %s) than this program supports (%s): use another database",
        self->label, quoted, VERSION);
}

static sfu_status check_version(sfu__sql_store *self, bool old_schema) {
    sfu_status status = SFU_OK;
    version found = {0};
    SFU_TRY(sfu__sql_ask(self, "SELECT version_num FROM alembic_version", NULL, 0, take_version, &found));
    if (found.count != 1) {
        return sfu__fail(SFU_ERR_FORMAT,
                         "%s: expected one alembic version in the database, found %d: open it once with "
                         "Optuna, or use another database",
                         self->label, found.count);
    }
    if (strcmp(found.text, VERSION) == 0 && old_schema) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: the database exists with version %s; only a new one can get version %s",
                         self->label, VERSION, OLD_VERSION);
    }
    if (strcmp(found.text, VERSION) != 0 && strcmp(found.text, OLD_VERSION) != 0) {
        status = refuse_version(self, found.text);
    }
done:
    return status;
}

static sfu_status find_tables(sfu__sql_store *self, bool old_schema) {
    sfu_status status = SFU_OK;
    tables found = {0};
    SFU_TRY(sfu__sql_ask(self, self->db->driver->has_tables, NULL, 0, take_table, &found));
    if (found.studies && found.version) {
        SFU_TRY(check_version(self, old_schema));
    } else if (found.version) {
        return sfu__fail(SFU_ERR_FORMAT,
                         "%s: the database belongs to another program: it has an alembic version, but no table "
                         "of studies: use another one",
                         self->label);
    } else if (found.count > 0) {
        return sfu__fail(SFU_ERR_FORMAT,
                         "%s: the database has other contents (a table %s, no version of Optuna): use "
                         "another one",
                         self->label, found.other);
    } else {
        SFU_TRY(make_tables(self, old_schema));
    }
    if (!found.workers || !found.claims) {
        status = run_all(self, our_tables);
    }
done:
    return status;
}

/* ---- the study -------------------------------------------------------------------------------------------------- */

static sfu_status add_attribute(sfu__sql_store *self, const char *sql, const char *key, const char *json) {
    const sfu__sql values[] = {sfu__sql_int(self->study), sfu__sql_text(key), sfu__sql_text(json)};
    return sfu__sql_do(self, sql, values, 3, NULL);
}

static sfu_status add_metric(sfu__sql_store *self, const char *metric) {
    sfu_status status = SFU_OK;
    self->text.size = 0;
    SFU_TRY(sfu__text_add(&self->text, "[", 1));
    SFU_TRY(sfu__text_json(&self->text, metric));
    SFU_TRY(sfu__text_add(&self->text, "]", 1));
    status =
        add_attribute(self, "INSERT INTO study_system_attributes (study_id, \"key\", value_json) VALUES ($1, $2, $3)",
                      "study:metric_names", self->text.bytes);
done:
    return status;
}

static sfu_status make_study(sfu__sql_store *self, const sfu__store_options *options) {
    const sfu__sql name = sfu__sql_text(self->name);
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__sql_number(self, "INSERT INTO studies (study_name) VALUES ($1) RETURNING study_id", &name, 1,
                            &self->study));
    const sfu__sql study = sfu__sql_int(self->study);
    SFU_TRY(sfu__sql_do(self,
                        "INSERT INTO study_directions (direction, study_id, objective) VALUES ('MAXIMIZE', $1, 0)",
                        &study, 1, NULL));
    SFU_TRY(add_metric(self, options->metric));
    for (int i = 0; i < options->fingerprint_count; i++) {
        SFU_TRY(add_attribute(self,
                              "INSERT INTO study_user_attributes (study_id, \"key\", value_json) VALUES ($1, $2, $3)",
                              options->fingerprint[i].key, options->fingerprint[i].json));
    }
done:
    return status;
}

typedef struct directions {
    int count;
    bool maximize;
} directions;

static sfu_status take_direction(void *user, const sfu__sql *columns, int count) {
    directions *found = user;
    found->count++;
    found->maximize = count > 0 && columns[0].kind == SFU__SQL_TEXT && strcmp(columns[0].text, "MAXIMIZE") == 0;
    return SFU_OK;
}

static const char *remedy(const sfu__store_options *options) {
    return options->remedy != NULL ? options->remedy : "take another name";
}

static sfu_status check_direction(sfu__sql_store *self, const sfu__store_options *options) {
    const sfu__sql study = sfu__sql_int(self->study);
    sfu_status status = SFU_OK;
    directions found = {0};
    SFU_TRY(sfu__sql_ask(self, "SELECT direction FROM study_directions WHERE study_id = $1", &study, 1, take_direction,
                         &found));
    if (found.count != 1 || !found.maximize) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "%s: %s; a study of sfumato maximizes one objective: %s", self->label,
                           found.count == 1 ? "minimizes its objective" : "does not have exactly one objective",
                           remedy(options));
    }
done:
    return status;
}

/* JSON as shown in a message, from byte `skip` on: strings quoted, the rest not. */
static const char *show_json(char shown[SFU__QUOTE_MAX], const char *json, size_t skip) {
    const size_t size = strlen(json);
    const bool is_text = size >= 2 && json[0] == '"' && json[size - 1] == '"';
    if (skip > 0) {
        return sfu__quote(shown, json + skip, size - skip - is_text);
    }
    if (is_text) {
        return sfu__quote(shown, json + 1, size - 2);
    }
    sfu__quote(shown, json, size);
    const size_t quoted = strlen(shown);
    memmove(shown, shown + 1, quoted - 1);
    shown[quoted - 2] = '\0';
    return shown;
}

/* Length of the common beginning that need not be shown of two long texts. */
static size_t common_prefix(const char *one, const char *other) {
    enum { LONG = 50, BEFORE = 15 };
    size_t size = 0;
    while (one[size] != '\0' && one[size] == other[size]) {
        size++;
    }
    return size > LONG ? size - BEFORE : 0;
}

typedef struct attribute_check {
    const sfu__sql_store *self;
    const sfu__store_options *options;
    const sfu__store_attribute *attribute;
    bool found;
} attribute_check;

static sfu_status check_attribute(void *user, const sfu__sql *columns, int count) {
    attribute_check *check = user;
    const char *json = count > 0 && columns[0].kind == SFU__SQL_TEXT ? columns[0].text : "";
    char there[SFU__QUOTE_MAX], here[SFU__QUOTE_MAX];
    check->found = true;
    if (strcmp(json, check->attribute->json) == 0) {
        return SFU_OK;
    }
    const size_t skip = common_prefix(json, check->attribute->json);
    return sfu__fail(SFU_ERR_ARGUMENT, "%s: %s is %s%s in the study and %s%s here: use the same value, or %s",
                     check->self->label, check->attribute->text, skip > 0 ? "..." : "", show_json(there, json, skip),
                     skip > 0 ? "..." : "", show_json(here, check->attribute->json, skip), remedy(check->options));
}

static sfu_status check_fingerprint(sfu__sql_store *self, const sfu__store_options *options) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < options->fingerprint_count; i++) {
        attribute_check check = {self, options, &options->fingerprint[i], false};
        if (check.attribute->is_note) {
            continue;
        }
        const sfu__sql values[] = {sfu__sql_int(self->study), sfu__sql_text(check.attribute->key)};
        SFU_TRY(sfu__sql_ask(self, "SELECT value_json FROM study_user_attributes WHERE study_id = $1 AND \"key\" = $2",
                             values, 2, check_attribute, &check));
        if (!check.found && check.attribute->missing != NULL) {
            const sfu__sql assumed = sfu__sql_text(check.attribute->missing);
            SFU_TRY(check_attribute(&check, &assumed, 1));
        }
        if (!check.found) {
            return sfu__fail(SFU_ERR_ARGUMENT, "%s: was not made by sfumato (%s is not recorded): %s", self->label,
                             check.attribute->text, remedy(options));
        }
    }
done:
    return status;
}

typedef struct opening {
    sfu__sql_store *self;
    const sfu__store_options *options;
} opening;

static sfu_status open_body(void *user, sfu__db *db) {
    sfu__sql_store *self = ((opening *)user)->self;
    const sfu__store_options *options = ((opening *)user)->options;
    const sfu__sql name = sfu__sql_text(self->name);
    sfu_status status = SFU_OK;
    (void)db;
    SFU_TRY(find_tables(self, options->old_schema));
    self->study = -1;
    SFU_TRY(sfu__sql_number(self, "SELECT study_id FROM studies WHERE study_name = $1", &name, 1, &self->study));
    if (self->study < 0) {
        SFU_TRY(make_study(self, options));
    } else {
        SFU_TRY(check_direction(self, options));
        SFU_TRY(check_fingerprint(self, options));
        SFU_TRY(sfu__sql_sync(self));
    }
    status = sfu__sql_tend_workers(self);
done:
    return status;
}

sfu_status sfu__sql_find_study(sfu__sql_store *self, const sfu__store_options *options) {
    return sfu__db_transaction(self->db, true, open_body, &(opening){self, options});
}
