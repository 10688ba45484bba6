/* Drawings: the names of their files, texts in a script, and what becomes of them with gnuplot, without, and with one
 * that fails. */
#define _GNU_SOURCE /* memmem */
#include "support.h"

#include "file.h"
#include "plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void files_stand_beside_each_other(void **state) {
    (void)state;
    sfu__plot_files files = {0};
    assert_ok(sfu__plot_files_make(&files, "a.b/c.svg"));
    assert_string_equal(files.svg, "a.b/c.svg");
    assert_string_equal(files.gp, "a.b/c.gp");
    assert_string_equal(files.csv, "a.b/c.csv");
    assert_string_equal(files.part, "a.b/c.svg.part");
    sfu__plot_files_clear(&files);
}

static void other_names_are_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"", "svg", ".svg", "a/.svg", "a.png", "a.svg/b", "a.SVG"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sfu__plot_files files = {0};
        assert_fails(SFU_ERR_ARGUMENT, sfu__plot_files_make(&files, wrong[i]), wrong[i], "ends with .svg");
        sfu__plot_files_clear(&files);
    }
    sfu__plot_files files = {0};
    assert_fails(SFU_ERR_ARGUMENT, sfu__plot_files_make(&files, "a\nb.svg"), "a\\x0ab.svg", "control characters");
    sfu__plot_files_clear(&files);
}

static void texts_are_quoted(void **state) {
    (void)state;
    sfu__text text = {0};
    assert_ok(sfu__plot_quote(&text, "it's `this`\n\"$x\"\\"));
    assert_string_equal(text.bytes, "'it''s `this` \"$x\"\\'");
    sfu__text_clear(&text);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* What was logged last. */
static char logged[1000];
static void keep(void *user, sfu_log_level level, const char *line) {
    (void)user;
    snprintf(logged, sizeof logged, "%d %s", (int)level, line);
}

/* The PATH as it was. */
static char *path_before;
static int remember_path(void **state) {
    (void)state;
    path_before = strdup(getenv("PATH"));
    return path_before == NULL;
}
static int restore_path(void **state) {
    (void)state;
    const int failed = setenv("PATH", path_before, 1);
    free(path_before);
    return failed;
}

/* A program called gnuplot that does as the script says, alone in the PATH. */
static void with_gnuplot(const char *script) {
    static char folder[1000];
    const char *program = test_text_file("gnuplot", script);
    snprintf(folder, sizeof folder, "%s", program);
    *strrchr(folder, '/') = '\0';
    assert_int_equal(chmod(program, 0755), 0);
    assert_int_equal(setenv("PATH", folder, 1), 0);
}

static void a_failure_is_a_warning(void **state) {
    (void)state;
    sfu__plot_files files = {0};
    assert_ok(sfu__plot_files_make(&files, test_path("drawing.svg")));
    test_text_file("drawing.gp", "plot x\n");
    test_text_file("drawing.svg", "an earlier one");
    test_text_file("drawing.svg.part", "half of one");
    sfu_set_log(keep, NULL);
    with_gnuplot("#!/bin/sh\necho 'line 1: no x'\nexit 7\n");
    assert_ok(sfu__plot_draw(&files));
    assert_non_null(strstr(logged, "drawing.svg: not drawn, for gnuplot ended with 7, saying \"line 1: no x\"; "));
    assert_false(sfu__path_is_file(files.svg));
    assert_false(sfu__path_is_file(files.part));
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    assert_ok(sfu__plot_draw(&files));
    assert_non_null(strstr(logged, "1 "));
    assert_non_null(strstr(logged, "drawing.svg: not drawn, for gnuplot is not installed; "));
    sfu_set_log(NULL, NULL);
    sfu__plot_files_clear(&files);
}

/* The program is in the folder of the script and told where to write; what it wrote is moved. */
static void a_drawing_is_moved_into_its_place(void **state) {
    (void)state;
    sfu__plot_files files = {0};
    assert_ok(sfu__plot_files_make(&files, test_path("moved.svg")));
    with_gnuplot("#!/bin/sh\n"
                 "[ \"$1\" = -d ] && [ \"$2\" = -e ] && [ \"$4\" = ./moved.gp ] || exit 1\n"
                 "folder=${3#cd \\'} && folder=${folder%%\\'*} && printf '%s' \"$3\" >\"$folder/moved.svg.part\"\n");
    assert_ok(sfu__plot_draw(&files));
    sfu__bytes bytes = {0};
    assert_ok(sfu__bytes_open(&bytes, files.svg));
    assert_non_null(memmem(bytes.data, bytes.size, "/'; out = 'moved.svg.part'", 26));
    sfu__bytes_close(&bytes);
    assert_false(sfu__path_is_file(files.part));
    sfu__plot_files_clear(&files);
}

static sfu_status whole(void *path) {
    sfu__plot_files files = {0};
    sfu_status status = sfu__plot_files_make(&files, path);
    if (status == SFU_OK) {
        status = sfu__plot_draw(&files);
    }
    sfu__plot_files_clear(&files);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char path[1000];
    snprintf(path, sizeof path, "%s", test_path("each.svg"));
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    test_fail_each_allocation(whole, path, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_stand_beside_each_other),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(texts_are_quoted),
        cmocka_unit_test(a_failure_is_a_warning),
        cmocka_unit_test(a_drawing_is_moved_into_its_place),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, remember_path, restore_path);
}
