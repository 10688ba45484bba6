/* Cancellation: a call that is cancelled at any of its progress callbacks fails with SFU_ERR_CANCELLED, leaves no
 * trace, and can be repeated. */
#include "support.h"

#include "progress.h"
#include "parallel.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a callback that cancels at its n-th call ------------------------------------------------------------------- */

typedef struct caller {
    int64_t calls, at; /* at 0: never cancels */
    char what[100];    /* operation at the last call */
} caller;

static bool count_calls(void *user, const sfu_progress *progress) {
    caller *self = user;
    snprintf(self->what, sizeof self->what, "%s", progress->what);
    return ++self->calls != self->at;
}

typedef sfu_status (*body)(void *context, caller *who);

/* Runs to the end, and then once for each call of the callback (a sample of them if there are many), cancelled
 * there. */
static void cancel_everywhere(body run, void *context, const char *what) {
    caller who = {0};
    sfu__tick_ms = 0;
    const sfu_status whole = run(context, &who);
    if (whole != SFU_OK) {
        fail_msg("%s: %s", what, sfu_message());
    }
    const int64_t calls = who.calls, most = test_is_slow() ? 20 : 200;
    assert_true(calls > 0);
    for (int64_t at = 1; at <= calls; at += 1 + (at > most ? calls / most : 0)) {
        who = (caller){.at = at};
        const sfu_status status = run(context, &who);
        const bool asked = who.calls >= at; /* with several threads there may be fewer calls than before */
        if (status != (asked ? SFU_ERR_CANCELLED : SFU_OK)) {
            fail_msg("%s, call %lld of %lld (%s): status %d: %s", what, (long long)at, (long long)calls, who.what,
                     (int)status, sfu_message());
        }
        if (asked && (who.calls > at || strncmp(sfu_message(), "cancelled while ", 16) != 0)) {
            fail_msg("%s, call %lld: %lld calls, \"%s\"", what, (long long)at, (long long)who.calls, sfu_message());
        }
    }
    sfu__tick_ms = 100;
}

/* ---- importing -------------------------------------------------------------------------------------------------- */

static sfu_status import(void *context, caller *who) {
    sfu_import_options options = *(const sfu_import_options *)context;
    sfu_dataset *dataset = NULL;
    options.progress = count_calls;
    options.progress_user = who;
    const sfu_status status = sfu_dataset_import(&dataset, &options);
    assert_true((status == SFU_OK) == (dataset != NULL));
    sfu_dataset_free(dataset);
    return status;
}

static sfu_import_options importing(int threads) {
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.threads = threads;
    return options;
}

static sfu_dataset *make_small(int32_t nodes) {
    sfu_dataset *dataset = NULL;
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = nodes;
    options.classes = 3;
    options.vocabulary = 60;
    options.words = 6;
    assert_ok(sfu_dataset_make(&dataset, &options));
    return dataset;
}

static void importing_tables(void **state) {
    (void)state;
    char edges[200], nodes[200], features[200];
    sfu_dataset *dataset = make_small(300);
    assert_ok(sfu_dataset_export(dataset, test_path("tables"), NULL, NULL));
    sfu_dataset_free(dataset);
    snprintf(edges, sizeof edges, "%s", test_path("tables/edges.csv"));
    snprintf(nodes, sizeof nodes, "%s", test_path("tables/nodes.csv"));
    snprintf(features, sizeof features, "%s", test_path("tables/features.csv"));
    for (int threads = 1; threads <= 3; threads += 2) {
        sfu_import_options options = importing(threads);
        options.edges = edges;
        options.nodes = nodes;
        options.label = "label";
        options.features = features;
        cancel_everywhere(import, &options, "csv");
        options.largest = true;
        cancel_everywhere(import, &options, "csv, the largest component");
        options.edges = NULL;
        options.largest = false;
        options.knn = 3;
        cancel_everywhere(import, &options, "csv, knn");
    }
}

static void importing_other_formats(void **state) {
    (void)state;
    static const struct {
        const char *source, *edges, *features, *labels;
    } given[] = {{"planetoid/ind.cora", NULL, NULL, NULL},
                 {"linqs/cora.content", NULL, NULL, NULL},
                 {"npz/cora.npz", NULL, NULL, NULL},
                 {"acm/ACM3025.mat", "PAP", "feature", "label"},
                 {NULL, "dblp/apa.npz", "dblp/a_feat.npz", "dblp/labels.npy"}};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        char source[300], edges[300], features[300], labels[300];
        const bool files = given[i].source == NULL;
        sfu_import_options options = importing(2);
        snprintf(source, sizeof source, "%s", test_data(files ? "" : given[i].source));
        options.source = files ? NULL : source;
        snprintf(edges, sizeof edges, "%s", files ? test_data(given[i].edges) : given[i].edges ? given[i].edges : "");
        snprintf(features, sizeof features, "%s",
                 files               ? test_data(given[i].features)
                 : given[i].features ? given[i].features
                                     : "");
        snprintf(labels, sizeof labels, "%s",
                 files             ? test_data(given[i].labels)
                 : given[i].labels ? given[i].labels
                                   : "");
        options.edges = given[i].edges != NULL ? edges : NULL;
        options.features = given[i].features != NULL ? features : NULL;
        options.labels = given[i].labels != NULL ? labels : NULL;
        caller who = {0};
        sfu__tick_ms = 0;
        assert_ok(import(&options, &who));
        const int64_t calls = who.calls, tries = test_is_slow() ? 3 : 12;
        for (int64_t n = 0; n <= tries;
             n++) { /* from the first to the last callback, of which there may be fewer the next time */
            who = (caller){.at = 1 + (calls - 1) * n / tries};
            const sfu_status status = import(&options, &who);
            assert_int_equal(status, who.calls >= who.at ? SFU_ERR_CANCELLED : SFU_OK);
        }
        sfu__tick_ms = 100;
    }
}

static sfu_status import_arrays(void *context, caller *who) {
    sfu_import_options options = importing(1);
    sfu_dataset *dataset = NULL;
    options.progress = count_calls;
    options.progress_user = who;
    const sfu_status status = sfu_dataset_from_arrays(&dataset, context, &options);
    sfu_dataset_free(dataset);
    return status;
}

static void importing_arrays(void **state) {
    (void)state;
    enum { NODES = 10 };
    int32_t from[NODES], to[NODES];
    float dense[NODES * 4];
    for (int i = 0; i < NODES; i++) {
        from[i] = i;
        to[i] = (i + 1) % NODES;
        for (int j = 0; j < 4; j++) {
            dense[i * 4 + j] = (float)(i + j);
        }
    }
    sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                         .nodes = NODES,
                         .edges = NODES,
                         .edge_from = from,
                         .edge_to = to,
                         .features = 4,
                         .dense = dense};
    cancel_everywhere(import_arrays, &arrays, "arrays");
}

/* ---- a pipe without a writer ------------------------------------------------------------------------------------- */

/* Cancels while the pipe is waited for: after several callbacks without new data. */
static bool cancel_later(void *user, const sfu_progress *progress) {
    int *calls = user;
    (void)progress;
    return ++*calls < 4;
}

static void import_from_pipe(const char *path) {
    int calls = 0;
    sfu_dataset *dataset = NULL;
    sfu_import_options options = importing(1);
    options.edges = path;
    options.progress = cancel_later;
    options.progress_user = &calls;
    assert_fails(SFU_ERR_CANCELLED, sfu_dataset_import(&dataset, &options), "cancelled while");
    assert_null(dataset);
}

static void a_silent_pipe_is_left(void **state) {
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s", test_path("pipe.csv"));
    assert_int_equal(mkfifo(path, 0600), 0);
    import_from_pipe(path); /* no process has opened it */
    const int writer = open(path, O_RDWR | O_CLOEXEC);
    assert_true(writer >= 0);
    import_from_pipe(path); /* a process has opened it, but writes nothing */
    static const char some[] = "from,to\na,b\nb,";
    assert_int_equal(write(writer, some, sizeof some - 1), sizeof some - 1);
    import_from_pipe(path); /* the process stops in the middle of a line */
    close(writer);
}

/* libzip would wait for a writer forever. */
static void a_pipe_is_no_archive(void **state) {
    (void)state;
    char path[200];
    sfu_dataset *dataset = NULL;
    snprintf(path, sizeof path, "%s", test_path("pipe.npz"));
    assert_int_equal(mkfifo(path, 0600), 0);
    sfu_import_options options = importing(1);
    options.source = path;
    const sfu_status status = sfu_dataset_import(&dataset, &options);
    assert_true(status == SFU_ERR_FORMAT || status == SFU_ERR_UNSUPPORTED); /* without libzip */
}

static void *write_late(void *argument) {
    static const char text[] = "from,to\na,b\nb,c\n";
    const int writer = open(argument, O_WRONLY | O_CLOEXEC); /* waits for the reader */
    const bool whole =
        writer >= 0 && write(writer, text, 10) == 10 && write(writer, text + 10, sizeof text - 11) == sizeof text - 11;
    close(writer);
    return whole ? argument : NULL;
}

static void a_slow_pipe_is_read(void **state) {
    (void)state;
    char path[200];
    pthread_t thread;
    void *wrote = NULL;
    sfu_dataset *dataset = NULL;
    snprintf(path, sizeof path, "%s", test_path("slow.csv"));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&thread, NULL, write_late, path), 0);
    sfu_import_options options = importing(1);
    options.edges = path;
    assert_ok(sfu_dataset_import(&dataset, &options));
    pthread_join(thread, &wrote);
    assert_non_null(wrote);
    assert_int_equal(sfu_dataset_nodes(dataset), 3);
    sfu_dataset_free(dataset);
}

/* ---- planning --------------------------------------------------------------------------------------------------- */

typedef struct problem {
    sfu_dataset *dataset;
    sfu_split *split;
    sfu_net *net;
    int threads;
    sfu_model *model;
} problem;

/* A call whose options have no callback. */
static sfu_status watched(sfu_status (*call)(problem *it), problem *it, caller *who) {
    sfu_set_progress(count_calls, who);
    const sfu_status status = call(it);
    sfu_set_progress(NULL, NULL);
    return status;
}

static sfu_status make_plan(problem *it) {
    sfu_plan *plan = NULL;
    sfu_plan_options options;
    sfu_plan_options_init(&options);
    options.threads = it->threads;
    const sfu_status status = sfu_plan_new(&plan, it->dataset, it->net, it->split, &options);
    assert_true((status == SFU_OK) == (plan != NULL));
    sfu_plan_free(plan);
    return status;
}

static sfu_status plan(void *context, caller *who) { return watched(make_plan, context, who); }

static sfu_status train_model(problem *it) {
    sfu_model *model = NULL;
    sfu_train_options options;
    sfu_train_options_init(&options);
    options.threads = it->threads;
    options.epochs = 2;
    const sfu_status status = sfu_train(&model, it->dataset, it->net, it->split, &options);
    assert_true((status == SFU_OK) == (model != NULL));
    sfu_model_free(model);
    return status;
}

static sfu_status train(void *context, caller *who) { return watched(train_model, context, who); }

static sfu_status predict_labels(problem *it) {
    int32_t labels[400];
    assert_true(sfu_dataset_nodes(it->dataset) <= 400);
    return sfu_predict(NULL, labels, it->dataset, it->model, it->threads);
}

static sfu_status predict(void *context, caller *who) { return watched(predict_labels, context, who); }

static sfu_status export_tables(problem *it) {
    return sfu_dataset_export(it->dataset, test_path("exported"), NULL, NULL);
}

static sfu_status export(void *context, caller *who) { return watched(export_tables, context, who); }

static void planning(void **state) {
    (void)state;
    static const char *const nets[] = {"gcn", "smooth^2(act=sigmoid) | dense 8 relu | smooth^3(teleport=0.1) | softmax",
                                       "dense 8 relu | softmax | smooth^4", "smooth^2(learn=self) | softmax"};
    problem it = {.dataset = make_small(300)};
    assert_ok(sfu_split_new(&it.split, it.dataset, NULL, NULL));
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
        assert_ok(sfu_net_parse(&it.net, nets[i], NULL));
        for (it.threads = 1; it.threads <= 3; it.threads += 2) {
            cancel_everywhere(plan, &it, nets[i]);
            cancel_everywhere(train, &it, nets[i]);
        }
        sfu_net_free(it.net);
    }
    assert_ok(sfu_net_parse(&it.net, "gcn", NULL));
    assert_ok(sfu_train(&it.model, it.dataset, it.net, it.split, NULL));
    cancel_everywhere(predict, &it, "predict");
    cancel_everywhere(export, &it, "export");
    sfu_model_free(it.model);
    sfu_net_free(it.net);
    sfu_split_free(it.split);
    sfu_dataset_free(it.dataset);
}

/* A dataset whose check was cancelled must be checked again. */
static void a_cancelled_check_is_no_verdict(void **state) {
    (void)state;
    sfu_dataset *made = make_small(300), *dataset = NULL;
    caller who = {.at = 1};
    assert_ok(sfu_dataset_save(made, test_path("checked.safetensors")));
    assert_ok(sfu_dataset_open(&dataset, test_path("checked.safetensors")));
    sfu__tick_ms = 0;
    sfu_set_progress(count_calls, &who);
    assert_fails(SFU_ERR_CANCELLED, sfu_dataset_check(dataset), "cancelled while checking the dataset");
    sfu_set_progress(NULL, NULL);
    sfu__tick_ms = 100;
    assert_ok(sfu_dataset_check(dataset));
    sfu_dataset_free(dataset);
    sfu_dataset_free(made);
}

/* ---- studies and labelling -------------------------------------------------------------------------------------- */

/* Trials plan on other threads, which must end too. */
static bool stop_study(void *user, const sfu_tune_progress *progress) {
    int *calls = user;
    (void)progress;
    return ++*calls < 2;
}

static void studies(void **state) {
    (void)state;
    problem it = {.dataset = make_small(300)};
    sfu_study *study = NULL;
    sfu_tune_options options;
    int calls = 0;
    assert_ok(sfu_split_new(&it.split, it.dataset, NULL, NULL));
    sfu_tune_options_init(&options);
    options.trials = 1000;
    options.jobs = 2;
    options.on_progress = stop_study;
    options.on_progress_user = &calls;
    assert_int_equal(sfu_tune(&study, it.dataset, "sgcn", NULL, it.split, &options), SFU_ERR_CANCELLED);
    assert_null(study);
    sfu_split_free(it.split);
    sfu_dataset_free(it.dataset);
}

/* A labelling that is cancelled after its first result returns it, whatever the thread's own callback says. */
typedef struct labelling {
    bool ended;
} labelling;

static bool end_after_a_step(void *user, const sfu_label_progress *progress) {
    labelling *self = user;
    self->ended = self->ended || progress->step >= 1;
    return !self->ended;
}

static bool still_wanted(void *user, const sfu_progress *progress) {
    (void)progress;
    return !((const labelling *)user)->ended;
}

static void labelling_gives_its_answer(void **state) {
    (void)state;
    sfu_dataset *dataset = make_small(300);
    sfu_labelling *made = NULL;
    sfu_label_options options;
    labelling self = {false};
    sfu_label_options_init(&options);
    options.steps = 1000;
    options.jobs = 2;
    options.on_progress = end_after_a_step;
    options.on_progress_user = &self;
    sfu_set_progress(still_wanted, &self);
    assert_ok(sfu_label(&made, dataset, &options));
    sfu_set_progress(NULL, NULL);
    assert_true(sfu_labelling_summary(made)->interrupted);
    sfu_labelling_free(made);
    sfu_dataset_free(dataset);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

/* Items that end only when they are cancelled; the calling thread runs none of them. */
typedef struct endless {
    atomic_int waiting;
    bool helpers_wait;
} endless;

static sfu_status wait_without_end(void *context, int64_t item, int thread) {
    endless *self = context;
    sfu_status status = SFU_OK;
    (void)item;
    if (thread == 0) {
        while (self->helpers_wait && atomic_load(&self->waiting) == 0) { /* until another thread has one */
        }
        return SFU_OK;
    }
    atomic_fetch_add(&self->waiting, 1);
    while (status == SFU_OK) {
        status = sfu__poll();
    }
    return status;
}

static bool never(void *user, const sfu_progress *progress) {
    const endless *self = user;
    (void)progress;
    return atomic_load(&self->waiting) == 0;
}

static void other_threads_end_too(void **state) {
    (void)state;
    endless self = {.helpers_wait = true};
    atomic_init(&self.waiting, 0);
    sfu__tick_ms = 0;
    sfu_set_progress(never, &self);
    assert_fails(SFU_ERR_CANCELLED, sfu__parallel(wait_without_end, &self, 3, 3), "cancelled while");
    sfu_set_progress(NULL, NULL);
    sfu__tick_ms = 100;
    assert_true(atomic_load(&self.waiting) > 0);
}

/* The cancellation of other items must not hide the original error. */
static sfu_status one_fails(void *context, int64_t item, int thread) {
    sfu_status status = SFU_OK;
    (void)context;
    (void)thread;
    if (item == 1) {
        return sfu__fail(SFU_ERR_FORMAT, "item 1");
    }
    while (thread != 0 && status == SFU_OK) {
        status = sfu__poll();
    }
    return status;
}

static void the_failure_is_what_is_told(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) {
        assert_fails(SFU_ERR_FORMAT, sfu__parallel(one_fails, NULL, 2, 2), "item 1");
    }
}

/* A flag set by another thread also cancels, except while it is disabled. */
static void flags(void **state) {
    (void)state;
    atomic_bool stop;
    caller who = {.at = 1};
    atomic_init(&stop, true);
    sfu__tick_ms = 0;
    sfu_set_progress(count_calls, &who);
    const sfu__watch before = sfu__watch_flag(&stop);
    assert_int_equal(sfu__poll(), SFU_ERR_CANCELLED);
    const sfu__watch flagged = sfu__watch_flag(NULL);
    assert_ok(sfu__poll());
    sfu__watch_end(flagged);
    assert_int_equal(sfu__poll(), SFU_ERR_CANCELLED);
    sfu__watch_end(before);
    assert_int_equal(who.calls, 0);
    assert_fails(SFU_ERR_CANCELLED, sfu__poll(), "cancelled while working");
    sfu_set_progress(NULL, NULL);
    sfu__tick_ms = 100;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(importing_tables),
        cmocka_unit_test(importing_other_formats),
        cmocka_unit_test(importing_arrays),
        cmocka_unit_test(a_silent_pipe_is_left),
        cmocka_unit_test(a_slow_pipe_is_read),
        cmocka_unit_test(a_pipe_is_no_archive),
        cmocka_unit_test(planning),
        cmocka_unit_test(a_cancelled_check_is_no_verdict),
        cmocka_unit_test(studies),
        cmocka_unit_test(labelling_gives_its_answer),
        cmocka_unit_test(other_threads_end_too),
        cmocka_unit_test(the_failure_is_what_is_told),
        cmocka_unit_test(flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
