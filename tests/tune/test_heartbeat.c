/* Worker ids: each is unique, and a worker counts as gone only if that is certain. */
#include "heartbeat.h"
#include "support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARTS = 6 };

/* The parts of an id, in `copy`. */
static void split(const char *parts[PARTS], char copy[SFU__WORKER_ID], const char *id) {
    snprintf(copy, SFU__WORKER_ID, "%s", id);
    char *at = copy;
    for (int i = 0; i < PARTS; i++) {
        parts[i] = at;
        char *end = strchr(at, '/');
        assert_true((end != NULL) == (i + 1 < PARTS));
        if (end != NULL) {
            *end = '\0';
            at = end + 1;
        }
    }
}

/* The id with part `i` replaced. */
static const char *with(const char *id, int i, const char *part) {
    static char changed[2 * SFU__WORKER_ID];
    char copy[SFU__WORKER_ID];
    const char *parts[PARTS];
    split(parts, copy, id);
    parts[i] = part;
    snprintf(changed, sizeof changed, "%s/%s/%s/%s/%s/%s", parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]);
    return changed;
}

/* Skips if the system provides too little to detect ended processes. */
static void need_proc(void) {
    if (access("/proc/self/stat", R_OK) != 0 || access("/proc/sys/kernel/random/boot_id", R_OK) != 0) {
        print_message("skipped: no /proc here\n");
        skip();
    }
}

static void test_ids_differ(void **state) {
    (void)state;
    char one[SFU__WORKER_ID], other[SFU__WORKER_ID], copy[SFU__WORKER_ID];
    const char *parts[PARTS];
    sfu__worker_here(one);
    sfu__worker_here(other);
    assert_string_not_equal(one, other);
    split(parts, copy, one);
    assert_int_equal(strtol(parts[3], NULL, 10), getpid());
    for (const char *c = one; *c != '\0'; c++) {
        assert_true(*c > ' ' && *c < 127);
    }
}

static void test_here_is_alive(void **state) {
    (void)state;
    char id[SFU__WORKER_ID];
    sfu__worker_here(id);
    assert_false(sfu__worker_is_gone(id));
}

/* A child writes its id and waits to be killed. */
static pid_t start_child(char id[SFU__WORKER_ID]) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = test_fork();
    if (child == 0) {
        sfu__worker_here(id);
        if (write(ends[1], id, SFU__WORKER_ID) == SFU__WORKER_ID) {
            pause();
        }
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], id, SFU__WORKER_ID), SFU__WORKER_ID);
    close(ends[0]);
    return child;
}

static void test_killed_is_gone(void **state) {
    (void)state;
    need_proc();
    char id[SFU__WORKER_ID];
    const pid_t child = start_child(id);
    assert_false(sfu__worker_is_gone(id));
    kill(child, SIGSTOP); /* suspended is not gone */
    assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
    assert_false(sfu__worker_is_gone(id));
    kill(child, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_true(sfu__worker_is_gone(id)); /* a zombie */
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(sfu__worker_is_gone(id));
}

static void test_number_used_again(void **state) {
    (void)state;
    need_proc();
    char id[SFU__WORKER_ID];
    sfu__worker_here(id);
    assert_true(sfu__worker_is_gone(with(id, 4, "1")));   /* the same pid with another start time */
    assert_false(sfu__worker_is_gone(with(id, 4, "-1"))); /* the start time is unknown */
}

static void test_others_are_not_judged(void **state) {
    (void)state;
    char id[SFU__WORKER_ID], gone[SFU__WORKER_ID];
    sfu__worker_here(id);
    snprintf(gone, sizeof gone, "%s", with(id, 4, "1"));
    const char *elsewhere[] = {"", "elsewhere", "00000000-0000-0000-0000-000000000000"};
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++) {
            assert_false(sfu__worker_is_gone(with(gone, i, elsewhere[k])));
        }
    }
}

static void test_broken_ids(void **state) {
    (void)state;
    char id[SFU__WORKER_ID], gone[SFU__WORKER_ID];
    sfu__worker_here(id);
    snprintf(gone, sizeof gone, "%s", with(id, 4, "1"));
    const char *bad[] = {"", "x", "0", "-1", "99999999999999999999", "4294967296", "1 "};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_false(sfu__worker_is_gone(with(gone, 3, bad[k])));
    }
    for (size_t size = (size_t)(strrchr(gone, '/') - gone); size > 0; size--) { /* cut before the end of the start */
        gone[size] = '\0';
        assert_false(sfu__worker_is_gone(gone));
    }
    assert_false(sfu__worker_is_gone(""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_differ),
        cmocka_unit_test(test_here_is_alive),
        cmocka_unit_test(test_killed_is_gone),
        cmocka_unit_test(test_number_used_again),
        cmocka_unit_test(test_others_are_not_judged),
        cmocka_unit_test(test_broken_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
