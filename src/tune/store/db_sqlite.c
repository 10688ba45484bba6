/* db_sqlite.c - the SQLite driver of db.h.
 *
 * A file has one writer at a time: a write transaction takes the lock at once (BEGIN IMMEDIATE), so it never has to
 * give up half-way. The write-ahead log allows concurrent reads and makes a commit one write and one sync
 * (synchronous=FULL: commits survive a power failure). WAL is enabled after the tables were created or recognized as
 * ours, never before: a file that is refused keeps every byte.
 */
#include "db_sqlite.h"
#include "db.h"

#if SFU_HAVE_SQLITE

#include "clock.h"
#include "file.h"
#include "progress.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif

int sfu__sqlite_patience_ms = 60000;

enum { MOST_COLUMNS = 16 };

/* A cached prepared statement. */
typedef struct statement {
    char *sql;
    sqlite3_stmt *stmt;
    int *value_index; /* [i]: which value SQLite's parameter i takes; SQLite numbers parameters in the order of their
                   first appearance */
    int count;
} statement;

typedef struct sqlite_db {
    sfu__db base;
    sqlite3 *handle;
    char *location;
    statement *statements;
    size_t count, capacity;
    bool creating_tables;
    bool new_file; /* there was none when it was opened */
    int last;      /* the last failure */
    double since;  /* start of the current transaction's first attempt; 0: none */
    double asked;  /* time at which the lock was first requested */
} sqlite_db;

static const char another_path[] = "give another path (--study PATH), or keep the study in memory (--study memory)";

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static sfu_status fail_open(const sqlite_db *self, int error) {
    return sfu__fail(SFU_ERR_IO, "%s: cannot open the study: %s; %s", self->location,
                     strerror(error != 0 ? error : EACCES), another_path);
}

/* Rolling back may have reset SQLite's errno; a limit on file sizes is then the likelier reason. */
static bool is_limited(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

static sfu_status fail_write(const sqlite_db *self, int error) {
    if (error == EFBIG || (error == 0 && is_limited())) {
        return sfu__fail(SFU_ERR_IO, "%s: cannot write the study: File too large; what was stored before is unharmed",
                         self->location);
    }
    if (error == ENOSPC || error == EDQUOT || error == 0) {
        return sfu__fail(SFU_ERR_IO, "%s: no room left on the disk; what was stored before is unharmed",
                         self->location);
    }
    return sfu__fail_system(self->location, "cannot write the study", error);
}

/* Fails with a message for a SQLite error code. */
static sfu_status fail(sqlite_db *self, int code) {
    self->last = code & 0xff;
    if (self->base.given_up) {
        return sfu__db_fail_given_up(self->location);
    }
    const int error = self->handle != NULL ? sqlite3_system_errno(self->handle) : 0;
    switch (self->last) {
    case SQLITE_NOMEM:
        return sfu__fail(SFU_ERR_MEMORY, "%s: SQLite is out of memory", self->location);
    case SQLITE_CANTOPEN:
        return fail_open(self, error);
    case SQLITE_FULL:
        return fail_write(self, ENOSPC);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return sfu__fail(SFU_ERR_IO, "%s: the file was locked by another program for %.3g s", self->location,
                         sfu__sqlite_patience_ms / 1000.0);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return sfu__fail(SFU_ERR_IO, "%s: no permission to write the study, or files beside it; %s", self->location,
                         another_path);
    case SQLITE_NOTADB:
        return sfu__fail(SFU_ERR_FORMAT, "%s: not an SQLite database; %s", self->location, another_path);
    case SQLITE_CORRUPT:
        return sfu__fail(SFU_ERR_FORMAT, "%s: the database is damaged (SQLite: %s)", self->location,
                         sqlite3_errmsg(self->handle));
    case SQLITE_IOERR:
        if (code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_SHMSIZE) {
            return fail_write(self, error);
        }
        return sfu__fail_system(self->location, "cannot read the study", error != 0 ? error : EIO);
    default:
        return sfu__fail(SFU_ERR_FORMAT, "%s: SQLite: %s", self->location, sqlite3_errmsg(self->handle));
    }
}

/* ---- statements ------------------------------------------------------------------------------------------------- */

static void statement_clear(statement *self) {
    sqlite3_finalize(self->stmt);
    sfu__free(self->sql);
    sfu__free(self->value_index);
}

static sfu_status statement_make(statement *self, sqlite_db *db, const char *sql) {
    sfu_status status = SFU_OK;
    const int code = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &self->stmt, NULL);
    if (code != SQLITE_OK) {
        return fail(db, code);
    }
    self->sql = sfu__copy_string(sql);
    if (self->sql == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->count = sqlite3_bind_parameter_count(self->stmt);
    SFU_ALLOC(self->value_index, self->count);
    for (int i = 0; i < self->count; i++) { /* "$7" is the seventh value */
        int64_t value = 0;
        if (!sfu__parse_int64_string(&value, sqlite3_bind_parameter_name(self->stmt, i + 1) + 1)) {
            return fail(db, SQLITE_MISUSE);
        }
        self->value_index[i] = (int)value - 1;
    }
done:
    return status;
}

static sfu_status statement_find(statement **found, sqlite_db *self, const char *sql) {
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp(self->statements[i].sql, sql) == 0) {
            *found = &self->statements[i];
            return SFU_OK;
        }
    }
    statement *grown = sfu__grow(self->statements, &self->capacity, self->count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->statements = grown;
    grown[self->count] = (statement){0};
    const sfu_status status = statement_make(&grown[self->count], self, sql);
    if (status != SFU_OK) {
        statement_clear(&grown[self->count]);
        return status;
    }
    *found = &grown[self->count++];
    return SFU_OK;
}

static int bind(sqlite3_stmt *stmt, int i, const sfu__sql *value) {
    switch (value->kind) {
    case SFU__SQL_INT:
        return sqlite3_bind_int64(stmt, i, value->integer);
    case SFU__SQL_REAL:
        return sqlite3_bind_double(stmt, i, value->real);
    case SFU__SQL_TEXT:
        return sqlite3_bind_text(stmt, i, value->text, -1, SQLITE_STATIC);
    case SFU__SQL_NULL:
        break;
    }
    return sqlite3_bind_null(stmt, i);
}

static int bind_all(const statement *self, const sfu__sql *values, int count) {
    int code = SQLITE_OK;
    for (int i = 0; i < self->count && code == SQLITE_OK; i++) {
        code = values != NULL && self->value_index[i] < count ? bind(self->stmt, i + 1, &values[self->value_index[i]])
                                                              : SQLITE_MISUSE;
    }
    return code;
}

static sfu__sql column(sqlite3_stmt *stmt, int i) {
    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_INTEGER:
        return (sfu__sql){SFU__SQL_INT, .integer = sqlite3_column_int64(stmt, i)};
    case SQLITE_FLOAT:
        return (sfu__sql){SFU__SQL_REAL, .real = sqlite3_column_double(stmt, i)};
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(stmt, i);
        return (sfu__sql){text != NULL ? SFU__SQL_TEXT : SFU__SQL_NULL, .text = text};
    }
    default:
        return (sfu__sql){.kind = SFU__SQL_NULL}; /* we store no blobs */
    }
}

static sfu_status pass_row(sqlite3_stmt *stmt, sfu__sql_row_fn row, void *user) {
    sfu__sql columns[MOST_COLUMNS];
    int count = sqlite3_column_count(stmt);
    count = count < MOST_COLUMNS ? count : MOST_COLUMNS;
    for (int i = 0; i < count; i++) {
        columns[i] = column(stmt, i);
    }
    return row != NULL ? row(user, columns, count) : SFU_OK;
}

static sfu_status sqlite_run(sfu__db *db, const char *sql, const sfu__sql *values, int count, sfu__sql_row_fn row,
                             void *user, int64_t *changed) {
    sqlite_db *self = (sqlite_db *)db;
    sfu_status status = SFU_OK;
    statement *known = NULL;
    self->last = SQLITE_OK;
    SFU_TRY(statement_find(&known, self, sql));
    sqlite3_stmt *stmt = known->stmt;
    int code = bind_all(known, values, count);
    if (code == SQLITE_OK) {
        while (status == SFU_OK && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
            status = pass_row(stmt, row, user);
        }
    }
    if (status == SFU_OK && code != SQLITE_DONE) {
        status = fail(self, code);
    }
    if (changed != NULL) {
        *changed = sqlite3_changes(self->handle);
    }
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
done:
    return status;
}

/* ---- transactions ----------------------------------------------------------------------------------------------- */

static sfu_status run_plain(sqlite_db *self, const char *sql) {
    return sqlite_run(&self->base, sql, NULL, 0, NULL, NULL, NULL);
}

static sfu_status sqlite_begin(sfu__db *db, bool creating_tables) {
    sqlite_db *self = (sqlite_db *)db;
    self->creating_tables = creating_tables;
    self->since = self->since > 0 ? self->since : sfu__now();
    return run_plain(self, "BEGIN IMMEDIATE");
}

/* Enabling WAL needs exclusive access for a moment, which SQLite does not wait for: so it is retried for a while.
 * Without WAL everything works, only slower. */
static void enable_wal(sqlite_db *self) {
    enum { TRIES = 500 };
    for (int i = 0; i < TRIES; i++) {
        const int code = sqlite3_exec(self->handle, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
        if ((code & 0xff) != SQLITE_BUSY && (code & 0xff) != SQLITE_LOCKED) {
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 4000000 + (i % 7) * 1000000}, NULL);
    }
}

/* Whether the path leads to another file than the open one, or to none. */
static bool has_moved(const sqlite_db *self) {
    int moved = 0;
    return sqlite3_file_control(self->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

static sfu_status sqlite_commit(sfu__db *db) {
    sqlite_db *self = (sqlite_db *)db;
    sfu_status status = run_plain(self, "COMMIT");
    if (status == SFU_OK) {
        self->since = 0;
    }
    if (status == SFU_OK && self->creating_tables && has_moved(self)) {
        status = sfu__fail(SFU_ERR_IO, "%s: the file was removed while the study was created; run the command again",
                           self->location);
    }
    if (status == SFU_OK && self->creating_tables) {
        enable_wal(self);
    }
    return status;
}

static void sqlite_roll_back(sfu__db *db) {
    const sqlite_db *self = (const sqlite_db *)db;
    if (!sqlite3_get_autocommit(self->handle)) { /* some failures have rolled back already */
        sqlite3_exec(self->handle, "ROLLBACK", NULL, NULL, NULL);
    }
}

/* SQLite waits for locks, but in a few cases (another process recovers the log) reports a busy file at once. */
static bool sqlite_try_again(sfu__db *db, int attempt) {
    sqlite_db *self = (sqlite_db *)db;
    (void)attempt;
    self->since = self->since > 0 ? self->since : sfu__now();
    const bool again = self->last == SQLITE_BUSY && sfu__now() - self->since < 0.001 * sfu__sqlite_patience_ms;
    if (!again) {
        self->since = 0;
    }
    return again;
}

/* ---- opening and closing ---------------------------------------------------------------------------------------- */

/* A new file in which no table could be created is removed, unless another process is about to do that. One that waits
 * for the lock finds in sqlite_commit that its file is gone. */
static void remove_if_empty(const sqlite_db *self) {
    struct stat found;
    sqlite3_busy_timeout(self->handle, 0);
    if (sqlite3_exec(self->handle, "BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK && !has_moved(self) &&
        stat(self->location, &found) == 0 && S_ISREG(found.st_mode) && found.st_size == 0) {
        unlink(self->location);
    }
}

static void sqlite_close(sfu__db *db) {
    sqlite_db *self = (sqlite_db *)db;
    if (self->new_file) {
        remove_if_empty(self);
    }
    for (size_t i = 0; i < self->count; i++) {
        statement_clear(&self->statements[i]);
    }
    sfu__free(self->statements);
    sqlite3_close(self->handle);
    sfu__free(self->location);
    sfu__free(self);
}

#if defined(__linux__)
static bool is_remote(const char *path) {
    static const unsigned long remote[] = {
        0x6969,     0xff534d42, 0xfe534d42, 0x517b,    0x5346414f,
        0x00c36400, 0x0bd00bd0, 0x47504653, 0x01021997}; /* NFS, CIFS, SMB2, SMB, AFS, Ceph, Lustre, GPFS, 9p */
    struct statfs found;
    bool is = false;
    if (statfs(path, &found) == 0) {
        for (size_t i = 0; i < sizeof remote / sizeof remote[0]; i++) {
            is |= ((unsigned long)found.f_type & 0xffffffffUL) == remote[i];
        }
    }
    return is;
}
#else
static bool is_remote(const char *path) { return (void)path, false; }
#endif

/* SQLite's default busy handler sleeps up to 100 ms, and with many workers some would starve. */
static int wait_for_lock(void *user, int times) {
    sqlite_db *self = user;
    if (times == 0) {
        self->asked = sfu__now();
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000L * (times < 64 ? 1 + times / 8 : 8)}, NULL);
    return sfu__now() - self->asked < 0.001 * sfu__sqlite_patience_ms && !sfu__db_gives_up(&self->base, self->asked);
}

/* Fails unless `location` is a writable regular file. */
static sfu_status check_file(const char *location, mode_t mode) {
    if (S_ISDIR(mode)) {
        return sfu__fail(SFU_ERR_IO, "%s: expected a file, found a folder; a study in it is %s%sstudy.db", location,
                         location, location[strlen(location) - 1] == '/' ? "" : "/");
    }
    if (!S_ISREG(mode)) {
        return sfu__fail(SFU_ERR_IO, "%s: expected a file, found a %s; %s", location,
                         S_ISFIFO(mode)   ? "pipe"
                         : S_ISSOCK(mode) ? "socket"
                                          : "device",
                         another_path);
    }
    if (access(location, R_OK | W_OK) != 0) {
        return sfu__fail(SFU_ERR_IO, "%s: cannot write the study: %s; %s", location, strerror(errno), another_path);
    }
    return SFU_OK;
}

/* SQLite writes files beside the study, so the folder must be writable even if the file exists. */
static sfu_status check_folder(const char *location) {
    sfu_status status = SFU_OK;
    struct stat found;
    const size_t size = (size_t)(sfu__path_base(location) - location);
    char *folder = sfu__copy_string(size > 0 ? location : ".");
    if (folder == NULL) {
        return SFU_ERR_MEMORY;
    }
    folder[size > 1 ? size - 1 : 1] = '\0';
    if (stat(folder, &found) != 0 && errno == ENOENT) {
        status =
            sfu__fail(SFU_ERR_IO, "%s: the folder %s does not exist; make it first, or give the study another path",
                      location, folder);
    } else if (access(folder, W_OK | X_OK) != 0) {
        status = sfu__fail(SFU_ERR_IO, "%s: cannot write in the folder %s: %s; %s", location, folder, strerror(errno),
                           another_path);
    }
    sfu__free(folder);
    return status;
}

static sfu_status check_location(const char *location) {
    enum { WITH_RETURNING = 3035000 };
    struct stat found;
    if (sqlite3_libversion_number() < WITH_RETURNING) {
        return sfu__fail(SFU_ERR_UNSUPPORTED, "%s: studies need SQLite 3.35 or later; this is %s", location,
                         sqlite3_libversion());
    }
    if (location[0] == '\0') {
        return sfu__fail(SFU_ERR_ARGUMENT, "expected the path of a study file, found an empty text");
    }
    const sfu_status status = stat(location, &found) == 0 ? check_file(location, found.st_mode) : SFU_OK;
    return status == SFU_OK ? check_folder(location) : status;
}

static sfu_status sqlite_open(sfu__db **db, const char *location, const sfu__db_wait *wait) {
    sfu_status status = SFU_OK;
    sqlite_db *self = NULL;
    SFU_TRY(check_location(location));
    SFU_ALLOC_ZERO(self, 1);
    self->base = (sfu__db){.driver = &sfu__db_sqlite, .wait = wait != NULL ? *wait : (sfu__db_wait){0}};
    self->location = sfu__copy_string(location);
    if (self->location == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    struct stat before;
    self->new_file = stat(location, &before) != 0;
    const int code = sqlite3_open_v2(location, &self->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code != SQLITE_OK) {
        status = fail(self, code);
        goto done;
    }
    sqlite3_extended_result_codes(self->handle, 1);
    sqlite3_busy_handler(self->handle, wait_for_lock, self);
    SFU_TRY(run_plain(self, "PRAGMA synchronous=FULL"));
    if (is_remote(location)) {
        sfu__log(SFU_LOG_WARNING,
                 "%s: is on a network file system, where SQLite's locks do not work between machines: use it from one "
                 "machine only, or keep the study in PostgreSQL",
                 location);
    }
    *db = &self->base;
    self = NULL;
done:
    if (self != NULL) {
        sqlite_close(&self->base);
    }
    return status;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* As Optuna creates them, column for column and name for name. */
static const char *const sqlite_schema[] = {
    "CREATE TABLE IF NOT EXISTS studies (study_id INTEGER NOT NULL, study_name VARCHAR(512) NOT NULL, "
    "PRIMARY KEY (study_id))",
    "CREATE UNIQUE INDEX IF NOT EXISTS ix_studies_study_name ON studies (study_name)",
    "CREATE TABLE IF NOT EXISTS version_info (version_info_id INTEGER NOT NULL, schema_version INTEGER, "
    "library_version VARCHAR(256), PRIMARY KEY (version_info_id), CHECK (version_info_id=1))",
    "CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))",
    "CREATE TABLE IF NOT EXISTS study_directions (study_direction_id INTEGER NOT NULL, direction VARCHAR(8) NOT NULL, "
    "study_id INTEGER NOT NULL, objective INTEGER NOT NULL, PRIMARY KEY (study_direction_id), "
    "UNIQUE (study_id, objective), FOREIGN KEY(study_id) REFERENCES studies (study_id))",
    "CREATE TABLE IF NOT EXISTS study_user_attributes (study_user_attribute_id INTEGER NOT NULL, study_id INTEGER, "
    "\"key\" VARCHAR(512), value_json TEXT, PRIMARY KEY (study_user_attribute_id), UNIQUE (study_id, \"key\"), "
    "FOREIGN KEY(study_id) REFERENCES studies (study_id))",
    "CREATE TABLE IF NOT EXISTS study_system_attributes (study_system_attribute_id INTEGER NOT NULL, study_id INTEGER, "
    "\"key\" VARCHAR(512), value_json TEXT, PRIMARY KEY (study_system_attribute_id), UNIQUE (study_id, \"key\"), "
    "FOREIGN KEY(study_id) REFERENCES studies (study_id))",
    "CREATE TABLE IF NOT EXISTS trials (trial_id INTEGER NOT NULL, number INTEGER, study_id INTEGER, "
    "state VARCHAR(8) NOT NULL, datetime_start DATETIME, datetime_complete DATETIME, PRIMARY KEY (trial_id), "
    "FOREIGN KEY(study_id) REFERENCES studies (study_id))",
    "CREATE INDEX IF NOT EXISTS ix_trials_study_id ON trials (study_id)",
    "CREATE TABLE IF NOT EXISTS trial_user_attributes (trial_user_attribute_id INTEGER NOT NULL, trial_id INTEGER, "
    "\"key\" VARCHAR(512), value_json TEXT, PRIMARY KEY (trial_user_attribute_id), UNIQUE (trial_id, \"key\"), "
    "FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE IF NOT EXISTS trial_system_attributes (trial_system_attribute_id INTEGER NOT NULL, trial_id INTEGER, "
    "\"key\" VARCHAR(512), value_json TEXT, PRIMARY KEY (trial_system_attribute_id), UNIQUE (trial_id, \"key\"), "
    "FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE IF NOT EXISTS trial_params (param_id INTEGER NOT NULL, trial_id INTEGER, param_name VARCHAR(512), "
    "param_value FLOAT, distribution_json TEXT, PRIMARY KEY (param_id), UNIQUE (trial_id, param_name), "
    "FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE IF NOT EXISTS trial_values (trial_value_id INTEGER NOT NULL, trial_id INTEGER NOT NULL, "
    "objective INTEGER NOT NULL, value FLOAT, value_type VARCHAR(7) NOT NULL, PRIMARY KEY (trial_value_id), "
    "UNIQUE (trial_id, objective), FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE IF NOT EXISTS trial_intermediate_values (trial_intermediate_value_id INTEGER NOT NULL, "
    "trial_id INTEGER NOT NULL, step INTEGER NOT NULL, intermediate_value FLOAT, "
    "intermediate_value_type VARCHAR(7) NOT NULL, PRIMARY KEY (trial_intermediate_value_id), UNIQUE (trial_id, step), "
    "FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE IF NOT EXISTS trial_heartbeats (trial_heartbeat_id INTEGER NOT NULL, trial_id INTEGER NOT NULL, "
    "heartbeat DATETIME NOT NULL, PRIMARY KEY (trial_heartbeat_id), UNIQUE (trial_id), "
    "FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    NULL};

const sfu__db_driver sfu__db_sqlite = {
    .name = "SQLite",
    .schema = sqlite_schema,
    .lock_study = NULL,
    .skip_locked = "",
    .has_tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'",
    .now = "((julianday('now') - 2440587.5) * 86400.0)",
    .open = sqlite_open,
    .close = sqlite_close,
    .run = sqlite_run,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .roll_back = sqlite_roll_back,
    .try_again = sqlite_try_again,
};

#else

static sfu_status open_unsupported(sfu__db **db, const char *location) {
    (void)db;
    return sfu__fail(SFU_ERR_UNSUPPORTED,
                     "%s: this build has no SQLite: keep the study in memory, or in PostgreSQL if the build has libpq",
                     location);
}

int sfu__sqlite_patience_ms;
const sfu__db_driver sfu__db_sqlite = {.name = "SQLite", .open = open_unsupported};

#endif
