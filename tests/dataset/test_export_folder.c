/* Cancelled and refused exports: what they leave, and which files they may replace. The contents are tested by
 * test_export.sh. */
#include "support.h"

#include "file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sfu_dataset *dataset;

static int make_dataset(void **state) {
    (void)state;
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = 300;
    return sfu_dataset_make(&dataset, &options) == SFU_OK ? 0 : 1;
}

static int free_dataset(void **state) {
    (void)state;
    sfu_dataset_free(dataset);
    return 0;
}

static bool stop_after(void *user, const sfu_progress *progress) {
    int *left = user;
    assert_non_null(strstr(progress->what, "exporting"));
    return (*left)-- > 0;
}

static sfu_status export_until(const char *folder, int ticks) {
    sfu_set_progress(stop_after, &ticks);
    const sfu_status status = sfu_dataset_export(dataset, folder, NULL, NULL);
    sfu_set_progress(NULL, NULL);
    return status;
}

static int count_entries(const char *folder) {
    int count = 0;
    DIR *entries = opendir(folder);
    while (entries != NULL && readdir(entries) != NULL) {
        count++;
    }
    if (entries != NULL) {
        closedir(entries);
    }
    return entries != NULL ? count - 2 : -1;
}

/* The first callback comes early, the last when all files are written and none has its final name yet. */
static void cancelled(void **state) {
    (void)state;
    char folder[1100], above[1000];
    snprintf(above, sizeof above, "%s", test_path("new"));
    snprintf(folder, sizeof folder, "%s/deep//er/", above);
    assert_fails(SFU_ERR_CANCELLED, export_until(folder, 0), "cancelled while exporting");
    assert_int_equal(count_entries(above), -1);
    assert_fails(SFU_ERR_CANCELLED, export_until(folder, 1), "cancelled while exporting");
    assert_int_equal(count_entries(above), -1);
    assert_int_equal(mkdir(above, 0777), 0);
    assert_fails(SFU_ERR_CANCELLED, export_until(folder, 0), "cancelled");
    assert_int_equal(count_entries(above), 0);
    assert_ok(export_until(folder, 1000000));
    assert_true(count_entries(folder) > 4);
}

/* An earlier export is intact after a cancelled one. */
static void cancelled_over_another(void **state) {
    (void)state;
    sfu__bytes bytes = {0};
    char folder[1000], file[1100];
    snprintf(folder, sizeof folder, "%s", test_path("other"));
    snprintf(file, sizeof file, "%s/edges.csv", folder);
    assert_ok(sfu_dataset_export(dataset, folder, NULL, NULL));
    const int count = count_entries(folder);
    assert_int_equal(truncate(file, 5), 0);
    assert_fails(SFU_ERR_CANCELLED, export_until(folder, 1), "cancelled");
    assert_int_equal(count_entries(folder), count);
    assert_ok(sfu__bytes_open(&bytes, file));
    assert_int_equal(bytes.size, 5);
    sfu__bytes_close(&bytes);
}

static void whose_files(void **state) {
    (void)state;
    char folder[1000], file[1100];
    snprintf(folder, sizeof folder, "%s", test_path("whose"));
    assert_ok(sfu_export_check(folder)); /* there is none */
    assert_ok(sfu_dataset_export(dataset, folder, NULL, NULL));
    assert_ok(sfu_export_check(folder));
    test_text_file("whose/notes", "no name of ours");
    assert_ok(sfu_export_check(folder));
    test_text_file("whose/columns.csv", "a name that this export had no use for");
    assert_fails(SFU_ERR_IO, sfu_export_check(folder), "columns.csv: exists and was not written by an export");
    snprintf(file, sizeof file, "%s/columns.csv", folder);
    assert_int_equal(truncate(file, 0), 0);
    assert_ok(sfu_export_check(folder));
    test_text_file("whose/nodes.csv", "node,label\n");
    assert_fails(SFU_ERR_IO, sfu_export_check(folder), "nodes.csv: exists and was changed since an export wrote it");
    snprintf(file, sizeof file, "%s/export.json", folder);
    assert_int_equal(remove(file), 0);
    assert_fails(SFU_ERR_IO, sfu_export_check(folder), "edges.csv: exists and was not written by an export");
    test_text_file("whose/export.json", "[1, 2");
    assert_fails(SFU_ERR_IO, sfu_export_check(folder), "was not written by an export");
}

static void folders_that_cannot_be_made(void **state) {
    (void)state;
    char folder[1000];
    test_text_file("in_its_place", "theirs");
    snprintf(folder, sizeof folder, "%s/below", test_path("in_its_place"));
    assert_fails(SFU_ERR_IO, sfu_dataset_export(dataset, folder, NULL, NULL), "cannot create this folder");
    assert_fails(SFU_ERR_IO, sfu_dataset_export(dataset, test_path("in_its_place"), NULL, NULL),
                 "a file with this name exists");
    assert_true(sfu__path_is_file(test_path("in_its_place")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelled),
        cmocka_unit_test(cancelled_over_another),
        cmocka_unit_test(whose_files),
        cmocka_unit_test(folders_that_cannot_be_made),
    };
    return cmocka_run_group_tests(tests, make_dataset, free_dataset);
}
