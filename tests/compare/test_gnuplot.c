/* Plots: names of their files, quoting in scripts, and drawing with gnuplot, without it, and with one that fails. */
#define _GNU_SOURCE /* memmem */
#include "support.h"

#include "file.h"
#include "gnuplot.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void files_stand_beside_each_other(void **state) {
    (void)state;
    sfu__plot_files files = {0};
    assert_ok(sfu__plot_files_make(&files, "a.b/c.svg"));
    assert_string_equal(files.svg, "a.b/c.svg");
    assert_string_equal(files.gp, "a.b/c.gp");
    assert_string_equal(files.csv, "a.b/c.csv");
    sfu__plot_files_clear(&files);
}

static void other_names_are_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"", "svg", ".svg", "a/.svg", "a.png", "a.svg/b", "a.SVG"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sfu__plot_files files = {0};
        assert_fails(SFU_ERR_ARGUMENT, sfu__plot_files_make(&files, wrong[i]), wrong[i], "must end with .svg");
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

/* The last log line. */
static char logged[1000];
static void keep(void *user, sfu_log_level level, const char *line) {
    (void)user;
    snprintf(logged, sizeof logged, "%d %s", (int)level, line);
}

/* The original PATH. */
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

/* A program named gnuplot with this script, alone in the PATH. */
static void with_gnuplot(const char *script) {
    static char folder[1000];
    const char *program = test_text_file("gnuplot", script);
    snprintf(folder, sizeof folder, "%s", program);
    *strrchr(folder, '/') = '\0';
    assert_int_equal(chmod(program, 0755), 0);
    assert_int_equal(setenv("PATH", folder, 1), 0);
}

/* No temporary file is left beside a file. */
static void assert_nothing_beside(const char *name) {
    char folder[1000];
    snprintf(folder, sizeof folder, "%s", test_path(name));
    *strrchr(folder, '/') = '\0';
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        assert_null(strstr(entry->d_name, "sfumato-"));
    }
    closedir(entries);
}

/* A link stays a link and its target is replaced; a FIFO is refused. */
static void links_and_fifos(void **state) {
    (void)state;
    struct stat facts;
    sfu__plot_files files = {0};
    assert_int_equal(mkdir(test_path("apart"), 0777), 0);
    assert_int_equal(symlink("apart/real.svg", test_path("linked.svg")), 0);
    assert_ok(sfu__plot_files_make(&files, test_path("linked.svg")));
    with_gnuplot("#!/bin/sh\nout=${3##*out = \\'} && echo drawn >\"${out%\\'}\"\n");
    assert_ok(sfu__plot_draw(&files));
    assert_true(lstat(files.svg, &facts) == 0 && S_ISLNK(facts.st_mode));
    assert_true(stat(test_path("apart/real.svg"), &facts) == 0 && facts.st_size == 6);
    assert_nothing_beside("apart/real.svg");
    sfu__plot_files_clear(&files);
    assert_int_equal(mkfifo(test_path("fifo.svg"), 0600), 0);
    const int reader = open(test_path("fifo.svg"), O_RDONLY | O_NONBLOCK); /* so that opening it does not block */
    assert_true(reader >= 0);
    assert_ok(sfu__plot_files_make(&files, test_path("fifo.svg")));
    assert_fails(SFU_ERR_IO, sfu__plot_draw(&files), "fifo.svg: cannot draw: expected a regular file");
    assert_true(lstat(files.svg, &facts) == 0 && S_ISFIFO(facts.st_mode));
    close(reader);
    sfu__plot_files_clear(&files);
}

static void a_failure_is_a_warning(void **state) {
    (void)state;
    sfu__plot_files files = {0};
    assert_ok(sfu__plot_files_make(&files, test_path("drawing.svg")));
    test_text_file("drawing.gp", "plot x\n");
    test_text_file("drawing.svg", "an earlier one");
    sfu_set_log(keep, NULL);
    with_gnuplot("#!/bin/sh\necho 'line 1: no x'\nexit 7\n");
    assert_ok(sfu__plot_draw(&files));
    assert_non_null(strstr(logged, "drawing.svg: not drawn: gnuplot ended with status 7: \"line 1: no x\"; "));
    assert_false(sfu__path_is_file(files.svg));
    assert_nothing_beside("drawing.gp");
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    assert_ok(sfu__plot_draw(&files));
    assert_non_null(strstr(logged, "1 "));
    assert_non_null(strstr(logged, "drawing.svg: not drawn: gnuplot is not installed; "));
    sfu_set_log(NULL, NULL);
    sfu__plot_files_clear(&files);
}

/* The program runs in the folder of the script and gets the output path; its output is renamed. */
static void a_drawing_is_moved_into_its_place(void **state) {
    (void)state;
    sfu__plot_files files = {0};
    assert_ok(sfu__plot_files_make(&files, test_path("moved.svg")));
    with_gnuplot("#!/bin/sh\n"
                 "[ \"$1\" = -d ] && [ \"$2\" = -e ] && [ \"$4\" = ./moved.gp ] || exit 1\n"
                 "out=${3##*out = \\'} && printf '%s' \"$3\" >\"${out%\\'}\"\n");
    assert_ok(sfu__plot_draw(&files));
    sfu__bytes bytes = {0};
    assert_ok(sfu__bytes_open(&bytes, files.svg));
    assert_non_null(memmem(bytes.data, bytes.size, "/'; out = '/", 12));
    assert_non_null(memmem(bytes.data, bytes.size, "/.moved.svg.sfumato-", 20));
    sfu__bytes_close(&bytes);
    assert_nothing_beside("moved.svg");
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

/* ---- the history of a study -------------------------------------------------------------------------------------- */

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
    sfu_train_options train;
    sfu_train_options_init(&train);
    train.epochs = 3;
    options.train = &train;
    options.space = "lr={0.01,0.1,1e30}"; /* a third of the trials runs away */
    assert_ok(sfu_tune(&study, dataset, "gcn", NULL, split, &options));
    sfu_split_free(split);
    sfu_dataset_free(dataset);
    return study;
}

/* One line per trial: number, state, accuracy and the best so far, in percent. */
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
    assert_fails(SFU_ERR_ARGUMENT, sfu_study_plot(drawn.study, "history.png"), "\"history.png\"", "must end with .svg");
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
        cmocka_unit_test(links_and_fifos),
        cmocka_unit_test(a_drawing_is_moved_into_its_place),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_history_of_a_study),
    };
    return cmocka_run_group_tests(tests, remember_path, restore_path);
}
