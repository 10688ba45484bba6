/* Shared work with a real server: claims, leases by the database's clock, results that are stored once. */
#include "postgres_server.h"
#include "shared_work.h"
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ITEMS = 4 };

/* The third item has the key of the first. */
static void make_keys(sfu__work_key keys[ITEMS]) {
    static const char *const names[ITEMS] = {"one", "another", "one", "fourth"};
    for (int i = 0; i < ITEMS; i++) {
        snprintf(keys[i].text, sizeof keys[i].text, "%s", names[i]);
    }
}

/* A worker that has just read the table. */
static sfu__shared_work *join(const char *location) {
    sfu__shared_work *work = NULL;
    sfu__work_key keys[ITEMS];
    make_keys(keys);
    assert_ok(sfu__shared_work_open(&work, location, keys, ITEMS, NULL));
    assert_ok(sfu__shared_work_update(work));
    return work;
}

static bool claims(sfu__shared_work *work, int item) {
    bool claimed = false;
    assert_ok(sfu__shared_work_claim(work, item, "a title", &claimed));
    return claimed;
}

static sfu_status keep(void *user, const char *result) {
    snprintf(user, 32, "%s", result);
    return SFU_OK;
}

static void assert_result(sfu__shared_work *work, int item, const char *expected) {
    char got[32] = "";
    bool found = false;
    assert_ok(sfu__shared_work_fetch(work, item, keep, got, &found));
    assert_int_equal(found, expected != NULL);
    assert_string_equal(got, expected != NULL ? expected : "");
}

static void one_worker_at_a_time(void **state) {
    (void)state;
    char location[512];
    snprintf(location, sizeof location, "%s", test_postgres("turns", ""));
    sfu__shared_work *a = join(location), *b = join(location);
    assert_int_equal(sfu__shared_work_state(a, 0), SFU__WORK_FREE);
    assert_true(claims(a, 0));
    assert_true(claims(a, 0)); /* it is its own: a statement that is repeated succeeds */
    assert_false(claims(b, 0));
    assert_false(claims(b, 2)); /* the same key */
    assert_true(claims(b, 1));
    sfu__shared_work *c = join(location);
    assert_int_equal(sfu__shared_work_state(c, 0), SFU__WORK_CLAIMED);
    assert_int_equal(sfu__shared_work_state(c, 2), SFU__WORK_CLAIMED);
    assert_int_equal(sfu__shared_work_state(c, 3), SFU__WORK_FREE);
    assert_result(c, 0, NULL);
    /* A result is stored once, and read by all. */
    assert_ok(sfu__shared_work_publish(a, 0, "first"));
    assert_ok(sfu__shared_work_publish(a, 0, "second"));
    assert_result(b, 0, "first");
    assert_result(c, 2, "first");
    assert_false(claims(c, 0));
    /* Who leaves gives back what it has not finished. */
    sfu__shared_work_close(b);
    sfu__shared_work_close(c);
    c = join(location);
    assert_int_equal(sfu__shared_work_state(c, 0), SFU__WORK_FINISHED);
    assert_int_equal(sfu__shared_work_state(c, 1), SFU__WORK_FREE);
    assert_true(claims(c, 1));
    sfu__shared_work_close(a);
    sfu__shared_work_close(c);
}

/* The lease is 60 s by the database's clock. A worker that was taken for dead cannot take back its claim, and its
 * result counts if it is the first. */
static void leases_expire(void **state) {
    (void)state;
    char location[512];
    snprintf(location, sizeof location, "%s", test_postgres("leases", ""));
    sfu__shared_work *slow = join(location);
    assert_true(claims(slow, 0) && claims(slow, 1));
    test_postgres_ask("leases", "UPDATE sfumato_studies SET beat = beat - 50");
    sfu__shared_work *other = join(location);
    assert_false(claims(other, 0));
    sfu__shared_work_close(other);
    assert_ok(sfu__shared_work_beat(slow)); /* the first call renews */
    test_postgres_ask("leases", "UPDATE sfumato_studies SET beat = beat - 50");
    other = join(location);
    assert_false(claims(other, 0));
    sfu__shared_work_close(other);
    test_postgres_ask("leases", "UPDATE sfumato_studies SET beat = beat - 11");
    other = join(location);
    assert_true(claims(other, 0) && claims(other, 1));
    assert_false(claims(slow, 0));
    assert_ok(sfu__shared_work_publish(slow, 0, "of the slow one"));
    assert_ok(sfu__shared_work_publish(other, 0, "of the other"));
    assert_result(other, 0, "of the slow one");
    sfu__shared_work_close(slow); /* it does not free the claims of others */
    slow = join(location);
    assert_int_equal(sfu__shared_work_state(slow, 1), SFU__WORK_CLAIMED);
    sfu__shared_work_close(slow);
    sfu__shared_work_close(other);
}

/* A claim of a process that is gone from this machine is free at once, one of another machine is not. */
static void the_gone_are_replaced(void **state) {
    (void)state;
    char location[512];
    snprintf(location, sizeof location, "%s", test_postgres("gone", ""));
    sfu__shared_work *first = join(location);
    assert_true(claims(first, 0) && claims(first, 1));
    /* HOST/BOOT/NAMESPACES/PID/...: pid 1 has another start time than this process. */
    test_postgres_ask("gone", "UPDATE sfumato_studies SET worker = regexp_replace(worker, '^((.*/){3})\\d+/', '\\1"
                              "1/') WHERE study = 'one'");
    test_postgres_ask("gone", "UPDATE sfumato_studies SET worker = 'elsewhere/x/y/1/1/1' WHERE study = 'another'");
    sfu__shared_work *other = join(location);
    assert_int_equal(sfu__shared_work_state(other, 0), SFU__WORK_CLAIMED);
    assert_true(claims(other, 0));
    assert_false(claims(other, 1));
    sfu__shared_work_close(first);
    sfu__shared_work_close(other);
}

/* The server crashes between any two calls. */
static void a_crash_is_survived(void **state) {
    (void)state;
    char location[512];
    snprintf(location, sizeof location, "%s", test_postgres("crash", ""));
    sfu__shared_work *work = join(location);
    test_postgres_stop();
    test_postgres_start();
    assert_true(claims(work, 3));
    test_postgres_stop();
    test_postgres_start();
    assert_ok(sfu__shared_work_beat(work));
    test_postgres_stop();
    test_postgres_start();
    assert_ok(sfu__shared_work_publish(work, 3, "kept"));
    test_postgres_stop();
    test_postgres_start();
    assert_result(work, 3, "kept");
    sfu__shared_work_close(work);
}

static void only_postgres(void **state) {
    (void)state;
    assert_ok(sfu__shared_work_check(NULL));
    assert_ok(sfu__shared_work_check("postgresql://me@host/studies"));
    static const char *const wrong[] = {"memory", "study.db", "sqlite:///study.db", "mysql://x/y"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_fails(SFU_ERR_ARGUMENT, sfu__shared_work_check(wrong[i]), "expected a PostgreSQL database to share");
    }
    assert_int_equal(sfu__shared_work_check("mysql://me:horse@host/d"), SFU_ERR_ARGUMENT);
    assert_null(strstr(sfu_message(), "horse"));
}

static sfu_status work_once(void *context) {
    sfu__shared_work *work = NULL;
    sfu__work_key keys[ITEMS];
    bool claimed = false;
    char got[32];
    make_keys(keys);
    sfu_status status = sfu__shared_work_open(&work, context, keys, ITEMS, NULL);
    status = status == SFU_OK ? sfu__shared_work_update(work) : status;
    status = status == SFU_OK ? sfu__shared_work_claim(work, 0, "title", &claimed) : status;
    status = status == SFU_OK ? sfu__shared_work_publish(work, 0, "result") : status;
    status = status == SFU_OK ? sfu__shared_work_fetch(work, 0, keep, got, &claimed) : status;
    sfu__shared_work_close(work);
    return status;
}

static void memory_may_run_out(void **state) {
    (void)state;
    char location[512];
    snprintf(location, sizeof location, "%s", test_postgres("no_memory", ""));
    test_fail_each_allocation(work_once, location, 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_postgres),       cmocka_unit_test(one_worker_at_a_time),
        cmocka_unit_test(leases_expire),       cmocka_unit_test(the_gone_are_replaced),
        cmocka_unit_test(a_crash_is_survived), cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
