/* Running other programs to their end. */
#include "support.h"

#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static sfu__program run(const char *script) {
    sfu__program program;
    sfu__ticker ticker = {.what = "running", .unit = "bytes"};
    assert_ok(sfu__program_run(&program, (const char *[]){"sh", "-c", script, NULL}, &ticker));
    assert_true(program.found);
    return program;
}

static void exit_code_and_words(void **state) {
    (void)state;
    sfu__program program = run("echo fine");
    assert_int_equal(program.exit_code, 0);
    assert_string_equal(program.said, "\"fine\"");
    program = run("echo one; echo two >&2; echo; exit 3");
    assert_int_equal(program.exit_code, 3);
    assert_string_equal(program.said, "\"two\"");
    program = run("kill -9 $$");
    assert_int_equal(program.exit_code, 128 + 9);
    assert_string_equal(program.said, "\"\"");
}

static void the_error_line_is_told(void **state) {
    (void)state;
    const sfu__program program = run("echo ERROR: first; echo 'ERROR: what went wrong'; echo advice; exit 1");
    assert_string_equal(program.said, "\"ERROR: what went wrong\"");
}

static void only_the_end_of_much_is_kept(void **state) {
    (void)state;
    const sfu__program program = run("i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done; printf 'a\\033b'");
    assert_string_equal(program.said, "\"a\\x1bb\"");
}

static void it_has_no_input(void **state) {
    (void)state;
    assert_int_equal(run("cat").exit_code, 0);
}

static void there_is_no_such_program(void **state) {
    (void)state;
    const char *kind = getenv("BUILD_KIND");
    if (kind != NULL && strcmp(kind, "cross") == 0) {
        print_message("skipped: qemu does not tell a parent that its child could not start\n");
        skip();
    }
    sfu__program program;
    sfu__ticker ticker = {.what = "running", .unit = "bytes"};
    assert_ok(sfu__program_run(&program, (const char *[]){"no-such-program", "x", NULL}, &ticker));
    assert_false(program.found);
}

/* A program in the current folder is not run, even if PATH has an empty entry, and PATH is not passed on with it;
 * Python's variables are not passed on. */
static void the_current_folder_has_no_say(void **state) {
    (void)state;
    char folder[4096], search[8192];
    assert_non_null(getcwd(folder, sizeof folder));
    const char *trap = test_text_file("trap", "#!/bin/sh\necho trapped\n");
    assert_int_equal(chmod(trap, 0755), 0);
    char *slash = strrchr(strcpy(search, trap), '/');
    *slash = '\0';
    assert_int_equal(chdir(search), 0);
    snprintf(search, sizeof search, "%s", getenv("PATH"));
    char hostile[9000];
    snprintf(hostile, sizeof hostile, ":.:%s::bin", search);
    setenv("PATH", hostile, 1);
    setenv("PYTHONPATH", ".", 1);
    sfu__program program;
    sfu__ticker ticker = {.what = "running", .unit = "bytes"};
    const sfu_status status = sfu__program_run(&program, (const char *[]){"trap", NULL}, &ticker);
    const sfu__program told = run("echo \"${PYTHONPATH-none} $PATH\"");
    setenv("PATH", search, 1);
    unsetenv("PYTHONPATH");
    assert_int_equal(chdir(folder), 0);
    assert_ok(status);
    assert_false(program.found);
    char wanted[9000];
    snprintf(wanted, sizeof wanted, "\"none %.40s", search);
    assert_int_equal(strncmp(told.said, wanted, strlen(wanted) < 40 ? strlen(wanted) : 40), 0);
}

static bool no(void *user, const sfu_progress *progress) {
    (void)user, (void)progress;
    return false;
}

/* Processes started by the program keep its output open and must end as well. */
static void cancelled(void **state) {
    (void)state;
    sfu__program program;
    sfu__ticker ticker = {.callback = no, .what = "running it", .unit = "bytes"};
    assert_fails(SFU_ERR_CANCELLED,
                 sfu__program_run(&program, (const char *[]){"sh", "-c", "sleep 3600; echo late", NULL}, &ticker),
                 "cancelled while running it");
    assert_int_equal(program.exit_code, 128 + 15);
}

static bool has_unit(void *user, const sfu_progress *progress) {
    (void)user;
    return progress->unit[0] != '\0';
}

/* A job that cannot tell how much is done has no unit; callbacks get an empty one. */
static void no_unit(void **state) {
    (void)state;
    sfu__program program;
    sfu__ticker ticker = {.callback = has_unit, .what = "drawing"};
    assert_fails(SFU_ERR_CANCELLED,
                 sfu__program_run(&program, (const char *[]){"sh", "-c", "sleep 3600; echo late", NULL}, &ticker),
                 "cancelled while drawing");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_code_and_words),
        cmocka_unit_test(the_error_line_is_told),
        cmocka_unit_test(only_the_end_of_much_is_kept),
        cmocka_unit_test(it_has_no_input),
        cmocka_unit_test(the_current_folder_has_no_say),
        cmocka_unit_test(there_is_no_such_program),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(no_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
