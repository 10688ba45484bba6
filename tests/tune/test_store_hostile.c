/* Files that are not studies, foreign studies, locked, truncated and modified files, full disks: one clear message, and
 * no damage. */
#include "support.h"

#include "db_sqlite.h"
#include "file.h"
#include "random.h"
#include "store_case.h"
#include "store_sql_int.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

static const char *fresh_place(void) {
    static int count;
    static char location[8][512];
    char name[32];
    snprintf(name, sizeof name, "hostile%d.db", count);
    char *kept = location[count++ % 8];
    snprintf(kept, sizeof location[0], "%s", test_path(name));
    return kept;
}

static sfu_status open_study(sfu__store **store, const char *location) {
    const sfu__store_options options = case_options(location);
    return sfu__store_open(store, &options);
}

/* A study of ten trials: 0 to 3 finished, the rest waiting. */
static const char *make_study(void) {
    const char *location = fresh_place();
    sfu__store *store = NULL;
    int32_t claimed[4];
    int count;
    assert_ok(open_study(&store, location));
    assert_ok(case_ask(store, 0, 10, NULL));
    assert_ok(case_claim(store, 4, claimed, &count));
    for (int i = 0; i < 4; i++) {
        bool refused;
        assert_ok(case_finish(store, claimed[i], &refused));
        assert_false(refused);
    }
    sfu__store_close(store);
    return location;
}

/* Runs statements on a file, without a store. */
static void run_sql(const char *location, const char *const *statements) {
    sfu__db *db = NULL;
    assert_ok(sfu__db_sqlite.open(&db, location, NULL));
    for (int i = 0; statements[i] != NULL; i++) {
        assert_ok(db->driver->run(db, statements[i], NULL, 0, NULL, NULL, NULL));
    }
    db->driver->close(db);
}
#define SQL(location, ...) run_sql(location, (const char *[]){__VA_ARGS__, NULL})

/* The file must be refused with these texts and keep every byte. */
static void assert_refused(const char *location, sfu_status wanted, const char *const *parts) {
    sfu__bytes bytes = {0};
    sfu__store *store = NULL;
    assert_ok(sfu__bytes_open(&bytes, location));
    char *before = sfu__copy_bytes((const char *)bytes.data, bytes.size);
    const size_t size = bytes.size;
    sfu__bytes_close(&bytes);
    test_assert_fails(wanted, open_study(&store, location), "open", __FILE__, __LINE__, parts);
    assert_null(store);
    assert_null(strchr(sfu_message(), '\n'));
    assert_int_equal(strncmp(sfu_message(), location, strlen(location)), 0);
    assert_ok(sfu__bytes_open(&bytes, location));
    assert_int_equal(bytes.size, size);
    assert_memory_equal(bytes.data, before, size);
    sfu__bytes_close(&bytes);
    sfu__free(before);
}
#define REFUSED(location, status, ...) assert_refused(location, status, (const char *[]){__VA_ARGS__, NULL})

/* ---- files that are not studies ---------------------------------------------------------------------------------- */

static void a_file_of_something_else(void **state) {
    (void)state;
    char text[3000];
    memset(text, 'x', sizeof text);
    REFUSED(test_file("words.txt", text, sizeof text), SFU_ERR_FORMAT, "not an SQLite database");
    const char *location = fresh_place();
    SQL(location, "CREATE TABLE people (name TEXT)");
    REFUSED(location, SFU_ERR_FORMAT, "has other contents", "\"people\"", "use another one");
}

static void an_empty_file_will_do(void **state) {
    sfu__store *store = NULL;
    (void)state;
    assert_ok(open_study(&store, test_file("empty.db", "", 0)));
    sfu__store_close(store);
}

static void places_that_cannot_be(void **state) {
    sfu__store *store = NULL;
    char location[600];
    (void)state;
    assert_fails(SFU_ERR_ARGUMENT, open_study(&store, ""), "path of a study file");
    snprintf(location, sizeof location, "%s", test_path("folder"));
    assert_int_equal(mkdir(location, 0777), 0);
    assert_fails(SFU_ERR_IO, open_study(&store, location), location, "expected a file, found a folder", "study.db");
    strcat(location, "/none/x.db");
    assert_fails(SFU_ERR_IO, open_study(&store, location), location, "/folder/none does not exist; make it first");
    assert_fails(SFU_ERR_IO, open_study(&store, "/dev/null"), "/dev/null: expected a file, found a device",
                 "--study memory");
    snprintf(location, sizeof location, "%s", test_path("pipe"));
    assert_int_equal(mkfifo(location, 0600), 0);
    assert_fails(SFU_ERR_IO, open_study(&store, location), location, "expected a file, found a pipe", "another path");
    assert_fails(SFU_ERR_IO, open_study(&store, "/proc/x.db"), "/proc/x.db: cannot ",
                 "another path"); /* also for root */
    assert_fails(SFU_ERR_IO, open_study(&store, "postgresql://nobody:secret@127.0.0.1:1/x?connect_timeout=1"),
                 "127.0.0.1");
    assert_null(strstr(sfu_message(), "secret"));
}

static void stamps_of_others(void **state) {
    (void)state;
    const char *location = make_study();
    SQL(location, "UPDATE alembic_version SET version_num = 'v2.6.0.a_'");
    REFUSED(location, SFU_ERR_FORMAT, "older Optuna", "\"v2.6.0.a_\"", "optuna storage upgrade");
    SQL(location, "UPDATE alembic_version SET version_num = 'v9.1.0.a'");
    REFUSED(location, SFU_ERR_FORMAT, "newer Optuna", "\"v9.1.0.a\"");
    SQL(location, "UPDATE alembic_version SET version_num = '2d6e25af4d3e'");
    REFUSED(location, SFU_ERR_FORMAT, "another program", "\"2d6e25af4d3e\"");
    SQL(location, "INSERT INTO alembic_version VALUES ('v3.2.0.a')");
    REFUSED(location, SFU_ERR_FORMAT, "found 2");
    SQL(location, "DELETE FROM alembic_version");
    REFUSED(location, SFU_ERR_FORMAT, "found 0", "open it once with Optuna");
    const char *other = fresh_place();
    SQL(other, "CREATE TABLE alembic_version (version_num TEXT)", "CREATE TABLE runs (x)");
    REFUSED(other, SFU_ERR_FORMAT, "another program", "no table of studies");
}

static void the_old_stamp(void **state) {
    sfu__store *store = NULL;
    const char *location = fresh_place();
    sfu__store_options options = case_options(location);
    (void)state;
    options.old_schema = true;
    for (int i = 0; i < 2; i++) {
        assert_ok(sfu__store_open(&store, &options));
        sfu__store_close(store);
    }
    assert_ok(open_study(&store, location)); /* continues without the option */
    sfu__store_close(store);
    options.location = make_study();
    assert_fails(SFU_ERR_ARGUMENT, sfu__store_open(&store, &options), "version v3.2.0.a");
}

/* ---- foreign studies --------------------------------------------------------------------------------------------- */

static void studies_of_other_facts(void **state) {
    (void)state;
    const char *location = make_study();
    SQL(location, "UPDATE study_user_attributes SET value_json = '1' WHERE \"key\" = 'sfumato:seed'");
    REFUSED(location, SFU_ERR_ARGUMENT, "study \"s\"",
            "the seed is 1 in the study and 0 here: use the same value, or take another name");
    SQL(location, "UPDATE study_user_attributes SET value_json = '0' WHERE \"key\" = 'sfumato:seed'",
        "UPDATE study_user_attributes SET value_json = '\"abd\"' WHERE \"key\" = 'sfumato:dataset'");
    REFUSED(location, SFU_ERR_ARGUMENT, "the dataset is \"abd\" in the study and \"abc\" here");
    SQL(location, "DELETE FROM study_user_attributes WHERE \"key\" = 'sfumato:seed'");
    REFUSED(location, SFU_ERR_ARGUMENT, "was not made by sfumato", "the seed", "take another name");
    location = make_study();
    SQL(location, "UPDATE study_directions SET direction = 'MINIMIZE'");
    REFUSED(location, SFU_ERR_ARGUMENT, "minimizes its objective", "take another name");
    SQL(location, "INSERT INTO study_directions (direction, study_id, objective) VALUES ('MAXIMIZE', 1, 1)");
    REFUSED(location, SFU_ERR_ARGUMENT, "not have exactly one objective");
}

/* Of long fingerprint items, the difference is shown. */
static void long_facts(void **state) {
    const sfu__store_attribute long_ago = {
        .key = "x",
        .json = "\"lr=(0,1) dropout=(0,1) weight_decay=(0,1) hidden={8,16,32,64} k=[1..3]\"",
        .text = "the search space"};
    const sfu__store_attribute now = {.key = "x",
                                      .json =
                                          "\"lr=(0,1) dropout=(0,1) weight_decay=(0,1) hidden={8,16,32,65} k=[1..3]\"",
                                      .text = "the search space"};
    const char *location = fresh_place();
    sfu__store_options options = case_options(location);
    sfu__store *store = NULL;
    (void)state;
    options.fingerprint = &long_ago;
    options.fingerprint_count = 1;
    assert_ok(sfu__store_open(&store, &options));
    sfu__store_close(store);
    options.fingerprint = &now;
    assert_fails(SFU_ERR_ARGUMENT, sfu__store_open(&store, &options), "the search space is ...\"",
                 "64} k=[1..3]\" in the study", "65} k=[1..3]\" here");
}

static void trials_that_do_not_fit(void **state) {
    static const struct {
        const char *sql, *words[2];
    } cases[] = {
        {"UPDATE trials SET number = 5 WHERE number = 4", {"trial 4 is missing"}},
        {"UPDATE trials SET number = NULL WHERE number = 0", {"trial 0 is missing"}},
        {"DELETE FROM trials WHERE number = 2", {"trial 2 is missing"}},
        {"UPDATE trials SET number = 'x' WHERE number = 2", {"trial 2 is missing"}},
        {"UPDATE trials SET state = 'complete' WHERE number = 1", {"trial 1 has the state \"complete\""}},
        {"INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES (1, 'colour', 1, '')",
         {"trial 0 has a parameter \"colour\"", "not searched"}},
        {"UPDATE trial_params SET distribution_json = '{}' WHERE trial_id = 2 AND param_name = 'lr'",
         {"trial 1 has another range for lr"}},
        {"UPDATE trial_params SET param_value = 0.2 WHERE trial_id = 2 AND param_name = 'lr'",
         {"trial 1 has a value outside the range of lr"}},
        {"UPDATE trial_params SET param_value = 3 WHERE trial_id = 2 AND param_name = 'hidden'",
         {"trial 1 has a value outside the range of hidden"}},
        {"UPDATE trial_params SET param_value = 1.5 WHERE trial_id = 2 AND param_name = 'hidden'",
         {"trial 1 has a value outside the range of hidden"}},
        {"UPDATE trial_params SET param_value = NULL WHERE trial_id = 2 AND param_name = 'lr'",
         {"trial 1 has a value outside the range of lr"}},
        {"DELETE FROM trial_params WHERE trial_id = 2 AND param_name = 'k'",
         {"trial 1 has no value of k, which its network uses"}},
        {"UPDATE trial_params SET param_value = 1 WHERE trial_id = 2 AND param_name = 'net'",
         {"trial 1 has a value of k, which its network does not use"}},
        {"DELETE FROM trial_values WHERE trial_id = 2", {"trial 1 is COMPLETE, but"}},
        {"UPDATE trial_values SET value = NULL WHERE trial_id = 2", {"trial 1 is COMPLETE, but"}},
        {"UPDATE trial_user_attributes SET value_json = '-1' WHERE trial_id = 2 AND \"key\" = 'epochs'",
         {"trial 1 is COMPLETE, but"}},
        {"UPDATE trial_user_attributes SET value_json = '99999999999' WHERE trial_id = 2 AND \"key\" = 'best_epoch'",
         {"trial 1 is COMPLETE, but"}},
        {"UPDATE trial_user_attributes SET value_json = '\"x\"' WHERE trial_id = 2 AND \"key\" = 'val_loss'",
         {"trial 1 is COMPLETE, but"}},
    };
    (void)state;
    const char *good = make_study();
    sfu__bytes bytes = {0};
    assert_ok(sfu__bytes_open(&bytes, good));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *location = test_file("unfit.db", bytes.data, bytes.size);
        SQL(location, cases[i].sql);
        REFUSED(location, SFU_ERR_FORMAT, "study \"s\"", cases[i].words[0],
                cases[i].words[1] != NULL ? cases[i].words[1] : "");
    }
    sfu__bytes_close(&bytes);
}

static void other_studies_are_left_alone(void **state) {
    sfu__store *store = NULL;
    sfu__trials trials = {.parameters = CASE_PARAMETERS};
    int32_t claimed[20];
    int count;
    (void)state;
    const char *location = make_study();
    SQL(location, "INSERT INTO studies (study_id, study_name) VALUES (7, 'python')",
        "INSERT INTO study_directions (direction, study_id, objective) VALUES ('MINIMIZE', 7, 0)",
        "INSERT INTO trials (number, study_id, state) VALUES (0, 7, 'WAITING'), (1, 7, 'RUNNING')");
    assert_ok(open_study(&store, location));
    assert_ok(case_ask(store, 10, 4, NULL));
    assert_ok(case_claim(store, 20, claimed, &count));
    assert_int_equal(count, 10);
    assert_ok(sfu__store_read(store, &trials));
    assert_int_equal(trials.count, 14);
    sfu__store_close(store);
    sfu__trials_clear(&trials);
    SQL(location, "CREATE TABLE proof (x CHECK (x = 2))",
        "INSERT INTO proof SELECT count(*) FROM trials WHERE study_id = 7 AND state IN ('WAITING', 'RUNNING')");
    sfu__store_options options = case_options(location);
    options.name = "python";
    assert_fails(SFU_ERR_ARGUMENT, sfu__store_open(&store, &options), "study \"python\"", "minimizes its objective",
                 "take another name");
}

/* ---- files that cannot be written ------------------------------------------------------------------------------- */

/* Returns false after this many calls. */
static bool ask_times(void *user) {
    int *left = user;
    return (*left)-- > 0;
}

static void a_locked_file(void **state) {
    sfu__store *store = NULL, *second = NULL;
    sfu__db *other = NULL;
    int32_t claimed[1];
    int count;
    (void)state;
    const char *location = make_study();
    assert_ok(open_study(&store, location));
    assert_ok(sfu__db_sqlite.open(&other, location, NULL));
    assert_ok(other->driver->begin(other, false));
    sfu__sqlite_patience_ms = 150;
    assert_fails(SFU_ERR_IO, open_study(&second, location), location, "locked by another program for 0.15 s");
    assert_fails(SFU_ERR_IO, case_claim(store, 1, claimed, &count), location, "locked");
    sfu__sqlite_patience_ms = 3600000; /* waits for up to an hour, unless the caller cancels */
    int left = 3;
    sfu__store_options options = case_options(location);
    options.wait = (sfu__db_wait){ask_times, &left};
    assert_fails(SFU_ERR_CANCELLED, sfu__store_open(&second, &options), location,
                 "cancelled while waiting for the database");
    assert_int_equal(left, -1); /* and is not called again */
    sfu__sqlite_patience_ms = 60000;
    other->driver->roll_back(other);
    assert_ok(case_claim(store, 1, claimed, &count));
    assert_int_equal(claimed[0], 4);
    other->driver->close(other);
    sfu__store_close(store);
}

/* Opens a study as a user without permissions; 0: the message is as expected. */
static int open_as_nobody(const char *location, const char *words) {
    const pid_t pid = fork();
    if (pid == 0) {
        sfu__store *store = NULL;
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
            _exit(3);
        }
        const sfu_status status = open_study(&store, location);
        const bool told = status == SFU_ERR_IO && strstr(sfu_message(), words) != NULL;
        if (!told) {
            fprintf(stderr, "%d %s\n", status, sfu_message());
        }
        _exit(told ? 0 : 2);
    }
    int how = 0;
    assert_true(waitpid(pid, &how, 0) == pid && WIFEXITED(how));
    return WEXITSTATUS(how);
}

static void places_that_may_not_be_written(void **state) {
    char folder[512], location[600];
    (void)state;
    const char *made = make_study();
    sfu__bytes bytes = {0};
    assert_ok(sfu__bytes_open(&bytes, made));
    snprintf(folder, sizeof folder, "%s", test_path(""));
    chmod(folder, 0755); /* for the user without rights */
    snprintf(folder, sizeof folder, "%s", test_path("closed"));
    assert_int_equal(mkdir(folder, 0755), 0);
    snprintf(location, sizeof location, "%s", test_file("closed/study.db", bytes.data, bytes.size));
    sfu__bytes_close(&bytes);
    chmod(location, 0444);
    chmod(folder, 0555);
    assert_int_equal(
        open_as_nobody(location, "cannot write the study: Permission denied; give another path (--study PATH)"), 0);
    chmod(location, 0666);
    assert_int_equal(open_as_nobody(location, "/closed: Permission denied; give another path (--study PATH)"), 0);
    snprintf(location, sizeof location, "%s/new.db", folder);
    assert_int_equal(open_as_nobody(location, "new.db: cannot write in the folder "), 0);
    chmod(folder, 0755);
}

/* Stores trials until the disk is full, reported as `reason`; returns the number accepted. */
static int fill_up(const char *location, const char *reason) {
    sfu__store *store = NULL;
    sfu_status status = open_study(&store, location);
    int32_t next = 0;
    while (status == SFU_OK && next < 5000) {
        int32_t claimed[1];
        int count;
        bool refused;
        status = next % 16 == 0 ? case_ask(store, next, 16, NULL) : SFU_OK;
        status = status == SFU_OK ? case_claim(store, 1, claimed, &count) : status;
        status = status == SFU_OK ? case_finish(store, next, &refused) : status;
        next += status == SFU_OK;
    }
    const bool told = status == SFU_ERR_IO && strstr(sfu_message(), reason) != NULL;
    if (!told) {
        fprintf(stderr, "%d after %d: %s\n", status, (int)next, sfu_message());
    }
    sfu__store_close(store);
    return told ? next : -1;
}

/* What was accepted before the disk was full is stored, and numbers have no gaps. */
static void assert_unharmed(const char *location, int32_t accepted) {
    sfu__store *store = NULL;
    sfu__trials trials = {.parameters = CASE_PARAMETERS};
    assert_ok(open_study(&store, location));
    assert_ok(sfu__store_read(store, &trials));
    assert_true(trials.count >= accepted && trials.count < accepted + 32);
    for (int32_t i = 0; i < accepted; i++) {
        assert_true(sfu__trial_finished(trials.items[i].state));
    }
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

static void a_full_disk(void **state) {
    char location[512];
    int pipe_ends[2];
    int32_t accepted = -1;
    (void)state;
    snprintf(location, sizeof location, "%s", fresh_place());
    assert_int_equal(pipe(pipe_ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000000, 1000000});
        accepted = fill_up(location, "cannot write the study: File too large");
        _exit(write(pipe_ends[1], &accepted, sizeof accepted) == (ssize_t)sizeof accepted ? 0 : 1);
    }
    int how = 0;
    assert_true(waitpid(pid, &how, 0) == pid && WIFEXITED(how) && WEXITSTATUS(how) == 0);
    assert_int_equal(read(pipe_ends[0], &accepted, sizeof accepted), sizeof accepted);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    assert_true(accepted > 10);
    assert_unharmed(location, accepted);
}

/* A study that cannot be created leaves no empty file, and keeps one that was there. */
static void no_room_for_a_study(void **state) {
    char location[512];
    (void)state;
    for (int before = 0; before < 2; before++) {
        snprintf(location, sizeof location, "%s", before ? test_file("empty.db", "", 0) : fresh_place());
        const pid_t pid = fork();
        if (pid == 0) {
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
            _exit(fill_up(location, "cannot write the study: File too large") == 0 ? 0 : 1);
        }
        int how = 0;
        assert_true(waitpid(pid, &how, 0) == pid && WIFEXITED(how) && WEXITSTATUS(how) == 0);
        assert_int_equal(access(location, F_OK), before ? 0 : -1);
    }
}

static void a_full_file_system(void **state) {
    char folder[512], location[600];
    (void)state;
    snprintf(folder, sizeof folder, "%s", test_path("small"));
    assert_int_equal(mkdir(folder, 0777), 0);
    if (mount("tmpfs", folder, "tmpfs", 0, "size=1200k") != 0) {
        print_message("no file system can be mounted here: skipped\n");
        skip();
    }
    snprintf(location, sizeof location, "%s/study.db", folder);
    const int32_t accepted = fill_up(location, "no room left on the disk");
    sfu__store *store = NULL;
    if (accepted > 10) {
        const bool again = open_study(&store, location) == SFU_OK; /* with a full disk, opening may fail */
        sfu__store_close(store);
        assert_true(again || strstr(sfu_message(), "no room left") != NULL);
        assert_int_equal(mount("tmpfs", folder, "tmpfs", MS_REMOUNT, "size=8m"), 0);
        assert_unharmed(location, accepted);
    }
    assert_int_equal(umount(folder), 0);
    assert_true(accepted > 10);
}

/* ---- broken files ----------------------------------------------------------------------------------------------- */

/* Any file is opened, read and extended, or refused with a message. */
static void use(const char *location) {
    sfu__store *store = NULL;
    sfu__trials trials = {.parameters = CASE_PARAMETERS};
    sfu_status status = SFU_OK;
    int32_t claimed[2];
    int count;
    bool refused;
    SFU_TRY(open_study(&store, location));
    SFU_TRY(sfu__store_read(store, &trials));
    SFU_TRY(case_ask(store, trials.count, 2, NULL));
    SFU_TRY(case_claim(store, 2, claimed, &count));
    SFU_TRY(count > 0 ? case_finish(store, claimed[0], &refused) : SFU_OK);
    SFU_TRY(sfu__store_read(store, &trials));
done:
    if (status != SFU_OK) {
        assert_true(status == SFU_ERR_FORMAT || status == SFU_ERR_IO || status == SFU_ERR_ARGUMENT);
        assert_true(strlen(sfu_message()) > 0 && strchr(sfu_message(), '\n') == NULL);
    }
    sfu__trials_clear(&trials);
    sfu__store_close(store);
}

static void use_bytes(const char *name, const void *bytes, size_t size) {
    char location[512], side[600];
    snprintf(location, sizeof location, "%s", test_path(name));
    for (int i = 0; i < 2; i++) {
        snprintf(side, sizeof side, "%s%s", location, i == 0 ? "-wal" : "-shm");
        unlink(side);
    }
    use(test_file(name, bytes, size));
}

static void cut_files(void **state) {
    sfu__bytes bytes = {0};
    (void)state;
    assert_ok(sfu__bytes_open(&bytes, make_study()));
    const size_t step = bytes.size / (test_is_slow() ? 20 : 60);
    for (size_t size = 1; size < bytes.size; size += step) {
        use_bytes("cut.db", bytes.data, size);
    }
    sfu__bytes_close(&bytes);
}

static void flipped_files(void **state) {
    sfu__bytes bytes = {0};
    sfu__random random = sfu__random_start(11, 0);
    (void)state;
    assert_ok(sfu__bytes_open(&bytes, make_study()));
    char *copy = sfu__copy_bytes((const char *)bytes.data, bytes.size);
    for (int i = 0; i < (test_is_slow() ? 60 : 200); i++) {
        memcpy(copy, bytes.data, bytes.size);
        for (int flips = i % 3 == 0 ? 1 : 12; flips > 0; flips--) {
            const size_t within = i % 2 == 0 ? bytes.size : bytes.size / 16; /* more of them where the schema is */
            copy[sfu__random_below(&random, within)] = (char)sfu__random_next(&random);
        }
        use_bytes("flipped.db", copy, bytes.size);
    }
    sfu__free(copy);
    sfu__bytes_close(&bytes);
}

int main(void) {
    if (sfu__db_sqlite.run == NULL) {
        sfu__store *store = NULL;
        const bool told =
            open_study(&store, "x.db") == SFU_ERR_UNSUPPORTED && strstr(sfu_message(), "no SQLite") != NULL;
        print_message("skipped: this build has no SQLite\n");
        return told ? 77 : 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_something_else),
        cmocka_unit_test(an_empty_file_will_do),
        cmocka_unit_test(places_that_cannot_be),
        cmocka_unit_test(stamps_of_others),
        cmocka_unit_test(the_old_stamp),
        cmocka_unit_test(studies_of_other_facts),
        cmocka_unit_test(long_facts),
        cmocka_unit_test(trials_that_do_not_fit),
        cmocka_unit_test(other_studies_are_left_alone),
        cmocka_unit_test(a_locked_file),
        cmocka_unit_test(places_that_may_not_be_written),
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(no_room_for_a_study),
        cmocka_unit_test(a_full_file_system),
        cmocka_unit_test(cut_files),
        cmocka_unit_test(flipped_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
