/* Paths and URLs of studies: their meaning, and that no spelling prints a password. */
#include "memory.h"
#include "study_url.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

/* ---- what is accepted -------------------------------------------------------------------------------------------- */

static void accepted(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"study.db", "study.db"},
        {"a folder/it's 100%.db", "a folder/it's 100%.db"},
        {" study.db", " study.db"},
        {"./memory", "./memory"},
        {"./user:x@host", "./user:x@host"},
        {"runs/a:b@c.db", "runs/a:b@c.db"},
        {"./host=x", "./host=x"},
        {"lr=0.1.db", "lr=0.1.db"},
        {"12:30.db", "12:30.db"},
        {"sqlite:///study.db", "study.db"},
        {" sqlite:///study.db\n", "study.db"},
        {"SQLite:///./study.db", "./study.db"},
        {"sqlite+pysqlite:///a b.db", "a b.db"},
        {"sqlite:///a%20b.db", "a%20b.db"}, /* as SQLAlchemy does not unescape it either */
        {"sqlite:////tmp/study.db", "/tmp/study.db"},
        {"memory", NULL},
        {":memory:", NULL},
        {"sqlite://", NULL},
        {"sqlite:///", NULL},
        {"sqlite:///:memory:", NULL},
        {"postgresql://u:p@h/d?a=b", "postgresql://u:p@h/d?a=b"},
        {"postgres://u:p%40ss@h/d", "postgresql://u:p%40ss@h/d"},
        {"POSTGRESQL://h/d", "postgresql://h/d"},
        {" \tpostgresql://h/d ", "postgresql://h/d"},
        {"postgresql+psycopg2://h/d", "postgresql://h/d"},
        {"postgresql+psycopg://h/d", "postgresql://h/d"},
        {"Postgres+PSYCOPG2://h/d", "postgresql://h/d"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *place = NULL;
        assert_ok(sfu__study_url_read(&place, pairs[i][0]));
        if (pairs[i][1] == NULL) {
            assert_null(place);
        } else {
            assert_string_equal(place, pairs[i][1]);
            assert_int_equal(sfu__study_url_is_postgres(place), strncmp(pairs[i][1], "postgresql", 10) == 0);
        }
        sfu__free(place);
    }
}

static void refused(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"mysql://u:horse@h/d", "mysql://...: expected the path of an SQLite file, sqlite:///PATH, postgresql://"},
        {"mysql+pymysql://u:horse@h/d?x=horse", "mysql+pymysql://...: expected"},
        {"redis://:horse@h", "redis://...: expected"},
        {"postgresql:u:horse@h/d", "postgresql:...: expected"},
        {"postgresql:/u:horse@h/d", "postgresql:...: expected"},
        {"sqlite:/study.db", "sqlite:...: expected"},
        {"sqlite://host/study.db", "sqlite://...: expected sqlite:///PATH, or sqlite:////PATH"},
        {"sqlite:///study.db?timeout=1&password=horse", "sqlite://...: expected sqlite:///PATH"},
        {"file:study.db?mode=memory", "file:...: expected a path without \"file:\" before it, or memory"},
        {"file::memory:", "file:...: expected a path"},
        {"host=x password=horse", "host=...: expected postgresql://USER@HOST/DATABASE, found KEY=VALUE pairs"},
        {"  Password = 'a horse' host=x", "Password =...: expected"},
        {"gssencmode=disable password=horse", "gssencmode=...: expected"},
        {"sslpassword='horse' sslkey=/x", "sslpassword=...: expected"},
        {"u:horse@h/d", "u@h/d: expected postgresql://USER@HOST/DATABASE, found an address without postgresql://"},
        {"u:a/horse@h/d", "u@h/d: expected"},
        {"u:ho@horse@h:5432/d", "u@h:5432/d: expected"},
        {"u:a horse@h/d ", "u@h/d: expected"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *place = NULL;
        assert_fails(SFU_ERR_ARGUMENT, sfu__study_url_read(&place, pairs[i][0]), pairs[i][1]);
        assert_null(place);
        assert_null(strstr(sfu_message(), "horse"));
        assert_null(strchr(sfu_message(), '\n'));
    }
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static void shown(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"study.db", "study.db"},
        {"sqlite:///study.db", "study.db"},
        {"sqlite://", "memory"},
        {"postgresql://h/d", "postgresql://h/d"},
        {"postgres://u@h:5432/d", "postgresql://u@h:5432/d"},
        {"postgres://u:p@h:5432/d", "postgresql://u@h:5432/d"},
        {"postgresql://u:p@h:5432,[::1]:5433/d", "postgresql://u@h:5432,[::1]:5433/d"},
        {"postgresql+psycopg2://u:p@h/d", "postgresql://u@h/d"},
        {" POSTGRESQL://u:p@h/d", "postgresql://u@h/d"},
        {"postgresql://:p@h/d", "postgresql://@h/d"},
        {"postgresql://u:p?q:r@h/d?password=p@q/r", "postgresql://u@h/d"},
        {"postgresql://h:5432/d?password=p@q", "postgresql://h:5432/d"},
        {"postgresql:///d?host=/tmp&sslpassword=p", "postgresql:///d"},
        {"postgresql://u:p@q@h/d", "postgresql://..."},
        {"postgresql://u:p/q@h/d", "postgresql://..."},
        {"postgresql://u:p", "postgresql://..."},
        {"postgresql://u:p/d", "postgresql://..."},
        {"postgresql://u:p?q/r@h/d", "postgresql://..."},
        {"postgresql://", "postgresql://"},
        {"x/postgresql://u:p@h/d", "x/postgresql://u@h/d"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[SFU__URL_SHOWN];
        assert_string_equal(sfu__study_url_shown(text, pairs[i][0]), pairs[i][1]);
    }
}

/* For any text around the password, no part of it with three or more letters is printed. */
static void never_a_password(void **state) {
    (void)state;
    enum { IN_USER = 7 }; /* number of prefixes with the password after the user */
    static const char *const beginnings[] = {"postgresql://u:",
                                             "postgres://u:",
                                             " POSTGRESQL://u:",
                                             "postgresql+psycopg2://u:",
                                             "mysql://u:",
                                             "u:",
                                             "postgresql:u:",
                                             "postgresql://u@h/d?password=",
                                             "postgresql:///?sslpassword=",
                                             "host=x password=",
                                             "password = '"};
    static const char *const passwords[] = {"horse",  "ho/rse", "ho@rse", "ho?rse", "ho:rse", "ho rse",    "ho%40rse",
                                            "ho#rse", "ho'rse", "/horse", "@horse", "12/rse", "12?rse/ho", "a@b:/?rse"};
    static const char *const ends[] = {"@h/d", "@h:5432/d?x=y", "", "' host=h", "&host=h", "@h,i/d ", "/d", "@"};
    for (size_t b = 0; b < sizeof beginnings / sizeof *beginnings; b++) {
        for (size_t p = 0; p < sizeof passwords / sizeof *passwords; p++) {
            for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
                char text[200], seen[SFU__URL_SHOWN], *place = NULL;
                if (b < IN_USER && strchr(ends[e], '@') == NULL &&
                    (beginnings[b][0] == 'u' || strpbrk(passwords[p], "@/?") != NULL)) {
                    continue; /* u:horse is a file, postgresql://u:12/rse a host, a port and a database */
                }
                snprintf(text, sizeof text, "%s%s%s", beginnings[b], passwords[p], ends[e]);
                sfu__study_url_shown(seen, text);
                if (strstr(seen, "rse") != NULL) {
                    fail_msg("%s is shown as %s", text, seen);
                }
                if (sfu__study_url_read(&place, text) != SFU_OK && strstr(sfu_message(), "rse") != NULL) {
                    fail_msg("%s gives %s", text, sfu_message());
                }
                sfu__free(place);
            }
        }
    }
}

static void hidden_in_any_text(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"unknown dataset \"postgresql://u:horse@h/d\"", "unknown dataset \"postgresql://u@h/d\""},
        {"mysql://u:a horse@h/d is not it", "mysql://u@h/d is not it"},
        {"postgresql://u:horse", "postgresql://u"},
        {"postgresql://h:5432/d: could not reach \"a@b\"", "postgresql://h:5432/d: could not reach \"a@b\""},
        {"see https://example.org/a@b:c", "see https://example.org/a@b:c"},
        {"postgresql://[::1]:5432/d", "postgresql://[::1]:5432/d"},
        {"x://a:horse@b and y://c:horse@d", "x://a@b and y://c@d"},
        {"host=x password=horse dbname=d", "host=x password= dbname=d"},
        {"host=x password = 'a \\' horse' dbname=d", "host=x password =  dbname=d"},
        {"d?sslpassword=horse&x=y", "d?sslpassword=&x=y"},
        {"the server asks for a password", "the server asks for a password"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s", pairs[i][0]);
        sfu__without_passwords(text);
        assert_string_equal(text, pairs[i][1]);
    }
}

static sfu_status read_each(void *context) {
    (void)context;
    sfu_status status = SFU_OK;
    char *place = NULL;
    SFU_TRY(sfu__study_url_read(&place, "sqlite:///x"));
    sfu__free(place);
    SFU_TRY(sfu__study_url_read(&place, "POSTGRES://x"));
done:
    sfu__free(place);
    return status;
}

static void each_allocation_fails(void **state) {
    (void)state;
    test_fail_each_allocation(read_each, NULL, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted),
        cmocka_unit_test(refused),
        cmocka_unit_test(shown),
        cmocka_unit_test(never_a_password),
        cmocka_unit_test(hidden_in_any_text),
        cmocka_unit_test(each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
