/* Log lines: content, and suppression of duplicates. */
#include "support.h"

#include "progress.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char said[4000];
static int lines;
static void keep(void *user, sfu_log_level level, const char *line) {
    (void)user;
    const size_t size = strlen(said);
    snprintf(said + size, sizeof said - size, "%d %s\n", (int)level, line);
    lines++;
}

static void start(void) {
    said[0] = '\0';
    lines = 0;
    sfu_set_log(keep, NULL);
}

static void lines_come_as_they_are(void **state) {
    (void)state;
    start();
    sfu__log(SFU_LOG_NOTE, "%d of %s", 3, "them");
    sfu__log(SFU_LOG_NOTE, "%d of %s", 3, "them");
    sfu_set_log(NULL, NULL);
    sfu__log(SFU_LOG_NOTE, "to nobody");
    assert_int_equal(lines, 2);
    char wanted[100];
    snprintf(wanted, sizeof wanted, "%d 3 of them\n%d 3 of them\n", (int)SFU_LOG_NOTE, (int)SFU_LOG_NOTE);
    assert_string_equal(said, wanted);
}

static void lines_come_once(void **state) {
    (void)state;
    sfu__log_filter log_filter;
    start();
    sfu__log_filter_start(&log_filter);
    sfu__log_once(&log_filter, NULL);
    sfu__log(SFU_LOG_NOTE, "plain");
    sfu__log(SFU_LOG_NOTE, "plain");
    sfu__log_once(&log_filter, "cora");
    sfu__log(SFU_LOG_NOTE, "plain"); /* recognized without its prefix */
    sfu__log(SFU_LOG_NOTE, "split 0");
    sfu__log(SFU_LOG_NOTE, "split 0");
    sfu__log_once(&log_filter, "acm");
    sfu__log(SFU_LOG_NOTE, "split 0");
    sfu__log_once(NULL, NULL);
    sfu__log(SFU_LOG_NOTE, "split 0");
    sfu__log_filter_clear(&log_filter);
    sfu_set_log(NULL, NULL);
    assert_int_equal(lines, 4);
    const char *at = said;
    static const char *const wanted[] = {" plain\n", " cora: split 0\n", " acm: split 0\n", " split 0\n"};
    for (int i = 0; i < 4; i++) {
        at = strstr(at, wanted[i]);
        assert_non_null(at);
        at += strlen(wanted[i]);
    }
}

static void *say_much(void *log_filter) {
    sfu__log_once(log_filter, NULL);
    for (int i = 0; i < 100; i++) {
        sfu__log(SFU_LOG_NOTE, "line %d", i % 10);
    }
    return NULL;
}

/* Threads share the filter; a thread without the filter is not affected. */
static void threads_share_it(void **state) {
    (void)state;
    pthread_t ids[4];
    sfu__log_filter log_filter;
    start();
    sfu__log_filter_start(&log_filter);
    for (int i = 0; i < 10; i++) { /* logged before, so that the callback is called from this thread only */
        sfu__log_once(&log_filter, NULL);
        sfu__log(SFU_LOG_NOTE, "line %d", i);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&ids[i], NULL, say_much, &log_filter), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(ids[i], NULL);
    }
    assert_int_equal(lines, 10);
    sfu__log_once(NULL, NULL);
    sfu__log(SFU_LOG_NOTE, "line 1");
    assert_int_equal(lines, 11);
    sfu__log_filter_clear(&log_filter);
    sfu_set_log(NULL, NULL);
}

static sfu_status say_twice(void *context) {
    (void)context;
    sfu__log_filter log_filter;
    sfu__log_filter_start(&log_filter);
    sfu__log_once(&log_filter, "here");
    sfu__log(SFU_LOG_NOTE, "something");
    const bool forgotten = log_filter.count == 0;
    sfu__log_once(NULL, NULL);
    sfu__log_filter_clear(&log_filter);
    return forgotten ? SFU_ERR_MEMORY : SFU_OK;
}

/* Without memory a line is still logged. */
static void memory_may_be_short(void **state) {
    (void)state;
    start();
    test_fail_each_allocation(say_twice, NULL, 100);
    sfu_set_log(NULL, NULL);
    assert_true(lines >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_as_they_are),
        cmocka_unit_test(lines_come_once),
        cmocka_unit_test(threads_share_it),
        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
