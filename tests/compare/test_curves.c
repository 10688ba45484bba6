/* Learning curves: round trip through a file, which ones are kept, and malformed files. */
#include "support.h"

#include "curves.h"
#include "file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sfu__task task_of(const char *dataset, const char *net, const char *size, const char *split) {
    sfu__task task = {.alpha = NAN, .beta = NAN, .trials = 5};
    snprintf(task.dataset, sizeof task.dataset, "%s", dataset);
    snprintf(task.net, sizeof task.net, "%s", net);
    snprintf(task.size, sizeof task.size, "%s", size);
    snprintf(task.split, sizeof task.split, "%s", split);
    return task;
}

static sfu_status fill(sfu__curve *curve, const sfu__task *task, int trial, int epochs) {
    sfu_status status = SFU_OK;
    *curve = (sfu__curve){.task = *task, .trial = trial};
    for (int i = 1; i <= epochs && status == SFU_OK; i++) {
        status = sfu__curve_add(curve, &(sfu_epoch){.epoch = i,
                                                    .train_loss = 100.0 / (3 * i + trial),
                                                    .val_loss = i == 2 ? NAN : 1e-7 * i,
                                                    .val_accuracy = 1 - 1.0 / (i + 1)});
    }
    return status;
}

static sfu_status put(sfu__curves *curves, const sfu__task *task, int trial, int epochs) {
    sfu__curve curve = {0};
    sfu_status status = fill(&curve, task, trial, epochs);
    status = status == SFU_OK ? sfu__curves_put(curves, &curve) : status;
    sfu__curve_clear(&curve);
    return status;
}

static char *text_of(const char *path) {
    sfu__bytes bytes = {0};
    assert_ok(sfu__bytes_open(&bytes, path));
    char *text = calloc(1, bytes.size + 1);
    assert_non_null(text);
    memcpy(text, bytes.data, bytes.size);
    sfu__bytes_close(&bytes);
    return text;
}

static bool same(double one, double other) { return one == other || (isnan(one) && isnan(other)); }

static void curves_come_back(void **state) {
    (void)state;
    const char *folder = test_path("curves");
    sfu__tasks tasks = {0};
    sfu__curves curves = {0}, back = {0};
    const sfu__task first = task_of("a, \"b\"", "smooth(norm=row, self=2) | softmax", "1", "random:0"),
                    second = task_of("cora", "gcn", "standard", "standard"),
                    other = task_of("cora", "sgcn", "standard", "standard");
    assert_ok(sfu__make_folders(folder));
    assert_ok(sfu__curves_read(&back, folder)); /* nothing there */
    assert_ok(sfu__curves_write(&curves, folder, &tasks));
    assert_false(sfu__path_is_file(test_path("curves/curves.csv"))); /* nothing written */
    assert_ok(sfu__tasks_add(&tasks, &first));
    assert_ok(sfu__tasks_add(&tasks, &second));
    assert_ok(put(&curves, &other, 1, 4));
    assert_ok(put(&curves, &second, 2, 3));
    assert_ok(put(&curves, &first, 9, 30));
    assert_ok(put(&curves, &second, 4, 5)); /* replaces an earlier one */
    assert_int_equal(curves.count, 3);
    assert_ok(sfu__curves_write(&curves, folder, &tasks));
    assert_ok(sfu__curves_read(&back, folder));
    assert_int_equal(back.count, 3);
    assert_true(sfu__task_same(&back.items[0].task, &first)); /* in the order of the tasks, others after them */
    assert_true(sfu__task_same(&back.items[2].task, &other));
    for (int i = 0; i < 3; i++) {
        const sfu__curve *one = &back.items[i], *was = sfu__curves_find(&curves, &one->task);
        assert_non_null(was);
        assert_int_equal(one->trial, was->trial);
        assert_int_equal(one->count, was->count);
        for (int e = 0; e < one->count; e++) {
            const sfu_epoch *a = &one->epochs[e], *b = &was->epochs[e];
            assert_true(a->epoch == e + 1 && b->epoch == e + 1 && same(a->train_loss, b->train_loss) &&
                        same(a->val_loss, b->val_loss) && same(a->val_accuracy, b->val_accuracy));
        }
    }
    char *before = text_of(test_path("curves/curves.csv"));
    assert_ok(sfu__curves_write(&back, folder, &tasks)); /* the same bytes in any order */
    char *after = text_of(test_path("curves/curves.csv"));
    assert_string_equal(before, after);
    free(before);
    free(after);
    sfu__curves_clear(&curves);
    sfu__curves_clear(&back);
    sfu__tasks_clear(&tasks);
}

static void some_are_wanted(void **state) {
    (void)state;
    sfu__tasks tasks = {0};
    sfu__task all[] = {
        task_of("cora", "gcn", "3", "random:0"),        task_of("cora", "gcn", "1", "random:0"),
        task_of("cora", "gcn", "1", "random:1"),        task_of("cora", "lpnn", "1", "random:0"),
        task_of("acm", "gcn", "77", "random:0"),        task_of("acm", "gcn", "100", "random:0"),
        task_of("dblp", "gcn", "standard", "standard"), task_of("dblp", "gcn", "1", "random:0"),
        task_of("cora", "gcn", "standard", "standard"), task_of("cora", "gcn", "standard", "standard"),
    };
    static const bool wanted[] = {false, true, false, true, true, false, true, false, false, false};
    enum { COUNT = sizeof all / sizeof all[0] };
    all[COUNT - 2].k = 2; /* sweeps have none, and are ignored */
    all[COUNT - 1].alpha = all[COUNT - 1].beta = 0.5;
    for (int i = 0; i < COUNT; i++) {
        assert_ok(sfu__tasks_add(&tasks, &all[i]));
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(sfu__curve_wanted(&all[i], &tasks), wanted[i]);
    }
    sfu__tasks_clear(&tasks);
}

#define HEAD "dataset,net,size,split,trial,epoch,train_loss,val_loss,val_accuracy\n"

static void broken_files_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *place, *what;
    } files[] = {
        {"epoch,loss\n1,2\n", ":1: ", "dataset,net,size,split"},
        {HEAD "cora,gcn,1,random:0,0,2,1,1,1\n", ":2: ", "does not follow"},
        {HEAD "cora,gcn,1,random:0,0,1,1,1,1\ncora,gcn,1,random:0,0,3,1,1,1\n", ":3: ", "\"3\""},
        {HEAD "cora,gcn,1,random:0,0,1,1,1,1\ncora,gcn,1,random:0,1,2,1,1,1\n", ":3: ", "epoch"},
        {HEAD "cora,gcn,1,random:0,0,1,1,1,1\ncora,gcn,1,random:0,0,1,1,1,1\n", ":3: ", "\"1\""},
        {HEAD "cora,gcn,1,random:0,0,1,1,1,1\ncora,sgcn,1,random:0,0,2,1,1,1\n", ":3: ", "\"2\""},
        {HEAD "cora,gcn,1,random:0,-1,1,1,1,1\n", ":2: ", "trial"},
        {HEAD "cora,gcn,1,random:0,0,one,1,1,1\n", ":2: ", "\"one\""},
        {HEAD "cora,gcn,1,random:0,0,1,much,1,1\n", ":2: ", "\"much\""},
        {HEAD "cora,gcn,1,random:0,0,1,1\n", ":2: ", "curves.csv"},
        {HEAD "cora,gcn,1,random:0123456789012345678901234567890123456789,0,1,1,1,1\n", ":2: ", "too long"},
    };
    assert_ok(sfu__make_folders(test_path("broken")));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        sfu__curves curves = {0};
        test_text_file("broken/curves.csv", files[i].text);
        assert_fails(SFU_ERR_FORMAT, sfu__curves_read(&curves, test_path("broken")), "curves.csv", files[i].place,
                     files[i].what);
        sfu__curves_clear(&curves);
    }
}

/* A truncated file is refused, or has fewer curves. */
static void cut_files_do_no_harm(void **state) {
    (void)state;
    sfu__tasks tasks = {0};
    sfu__curves curves = {0};
    const sfu__task task = task_of("cora", "gcn", "1", "random:0");
    assert_ok(put(&curves, &task, 3, 6));
    assert_ok(sfu__make_folders(test_path("cut")));
    assert_ok(sfu__curves_write(&curves, test_path("cut"), &tasks));
    char *text = text_of(test_path("cut/curves.csv"));
    for (size_t size = 0; size < strlen(text); size++) {
        sfu__curves back = {0};
        test_file("cut/curves.csv", text, size);
        const sfu_status status = sfu__curves_read(&back, test_path("cut"));
        assert_true(status == SFU_ERR_FORMAT || (status == SFU_OK && (back.count == 0 || back.items[0].count <= 6)));
        sfu__curves_clear(&back);
    }
    free(text);
    sfu__curves_clear(&curves);
}

static sfu_status there_and_back(void *context) {
    (void)context;
    sfu_status status = SFU_OK;
    sfu__tasks tasks = {0};
    sfu__curves curves = {0}, back = {0};
    const sfu__task one = task_of("cora", "gcn", "1", "random:0"), other = task_of("cora", "sgcn", "1", "random:0");
    status = sfu__tasks_add(&tasks, &other);
    status = status == SFU_OK ? put(&curves, &one, 3, 20) : status;
    status = status == SFU_OK ? put(&curves, &other, 3, 2) : status;
    status = status == SFU_OK ? sfu__curves_write(&curves, test_path("memory"), &tasks) : status;
    status = status == SFU_OK ? sfu__curves_read(&back, test_path("memory")) : status;
    assert_true(status != SFU_OK || back.count == 2);
    sfu__curves_clear(&curves);
    sfu__curves_clear(&back);
    sfu__tasks_clear(&tasks);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    assert_ok(sfu__make_folders(test_path("memory")));
    test_fail_each_allocation(there_and_back, NULL, 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_come_back),          cmocka_unit_test(some_are_wanted),
        cmocka_unit_test(broken_files_are_refused),  cmocka_unit_test(cut_files_do_no_harm),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
