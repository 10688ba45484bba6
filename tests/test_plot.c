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

/* ---- the history of a study ---------------------------------------------------------------------------------------
 */

typedef struct history {
    sfu_study *study;
    char path[1000];
} history;

static sfu_study *small_study(void) {
    sfu_dataset *dataset = NULL;
    sfu_split *split = NULL;
    sfu_study *study = NULL;
    sfu_make_options make;
    sfu_make_options_init(&make);
    make.nodes = 120;
    make.classes = 3;
    assert_ok(sfu_dataset_make(&dataset, &make));
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    sfu_tune_options options;
    sfu_tune_options_init(&options);
    options.trials = 12;
    options.jobs = 1;
    options.train.epochs = 3;
    options.space = "lr={0.01,0.1,1e30}"; /* a third of the trials runs away */
    assert_ok(sfu_tune(&study, dataset, "gcn", NULL, split, &options));
    sfu_split_free(split);
    sfu_dataset_free(dataset);
    return study;
}

/* A line a trial: its number, its state, its accuracy and the best so far, in percent. */
static void assert_data(const sfu_study *study, const char *path) {
    FILE *file = fopen(path, "r");
    char line[200], want[200];
    double best = -1;
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "trial,state,val_percent,best_percent\n");
    for (int32_t i = 0; i < sfu_study_trials(study); i++) {
        const sfu_trial *trial = sfu_study_trial(study, i);
        const bool complete = trial->state == SFU_TRIAL_COMPLETE;
        best = complete && trial->val_accuracy > best ? trial->val_accuracy : best;
        size_t size = (size_t)snprintf(want, sizeof want, "%d,%s,", i, complete ? "complete" : "failed");
        size += complete ? (size_t)snprintf(want + size, sizeof want - size, "%.6g", 100 * trial->val_accuracy) : 0;
        size += (size_t)snprintf(want + size, sizeof want - size, ",");
        size += best >= 0 ? (size_t)snprintf(want + size, sizeof want - size, "%.6g", 100 * best) : 0;
        snprintf(want + size, sizeof want - size, "\n");
        assert_non_null(fgets(line, sizeof line, file));
        assert_string_equal(line, want);
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
}

static sfu_status plot(void *context) {
    const history *drawn = context;
    return sfu_study_plot(drawn->study, drawn->path);
}

static void the_history_of_a_study(void **state) {
    (void)state;
    history drawn = {.study = small_study()};
    sfu__plot_files files = {0};
    snprintf(drawn.path, sizeof drawn.path, "%s", test_path("history.svg"));
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    assert_fails(SFU_ERR_ARGUMENT, sfu_study_plot(drawn.study, "history.png"), "\"history.png\"", "ends with .svg");
    assert_fails(SFU_ERR_IO, sfu_study_plot(drawn.study, "/nowhere/history.svg"), "/nowhere/history.csv");
    assert_ok(plot(&drawn));
    assert_ok(sfu__plot_files_make(&files, drawn.path));
    assert_data(drawn.study, files.csv);
    sfu__bytes script = {0};
    assert_ok(sfu__bytes_open(&script, files.gp));
    static const char names[] = "svg = 'history.svg'\ncsv = 'history.csv'\n";
    assert_non_null(memmem(script.data, script.size, names, sizeof names - 1));
    assert_non_null(memmem(script.data, script.size, "title 'failed (", 15));
    sfu__bytes_close(&script);
    sfu__plot_files_clear(&files);
    test_fail_each_allocation(plot, &drawn, 200);
    sfu_study_free(drawn.study);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_stand_beside_each_other),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(texts_are_quoted),
        cmocka_unit_test(a_failure_is_a_warning),
        cmocka_unit_test(a_drawing_is_moved_into_its_place),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_history_of_a_study),
    };
    return cmocka_run_group_tests(tests, remember_path, restore_path);
}
