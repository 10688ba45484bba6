/* Comparisons: requests and entries survive a round trip through files, and a run gives the same bytes for any number
 * of threads, interrupted or not, at once or in parts. */
#include "support.h"

#include "db.h"
#include "file.h"
#include "run_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */

static sfu__entry an_entry(int i) {
    sfu__entry entry = {.task = {.k = i % 3,
                                 .alpha = i % 2 == 0 ? NAN : 0.1 * i,
                                 .beta = i % 2 == 0 ? NAN : 1.0 / 3.0,
                                 .exponents = i % 4 == 1,
                                 .trials = 100 + i},
                        .best_trial = i,
                        .failed = i % 5,
                        .val_accuracy = 0.1 + 0.7 / (i + 1),
                        .val_loss = 1e-7 * i,
                        .test_accuracy = 2.0 / 3.0,
                        .test_macro_f1 = i == 3 ? NAN : 0.5,
                        .seconds = 1.5 * i,
                        .epoch_s = 1e-3,
                        .epochs = 5000000000 + i};
    snprintf(entry.task.dataset, sizeof entry.task.dataset, "data, \"set\" %d", i);
    snprintf(entry.task.net, sizeof entry.task.net, "smooth(norm=row, self=2) | softmax");
    snprintf(entry.task.size, sizeof entry.task.size, "%d", 1 + i % 5);
    snprintf(entry.task.split, sizeof entry.task.split, "random:%d", i);
    snprintf(entry.name, sizeof entry.name, "name %d", i);
    memset(entry.split_digest, 'a' + i, 64);
    if (i != 2) { /* as an earlier version */
        snprintf(entry.configuration, sizeof entry.configuration, "lr=0.%d net=\"a, b\"", i + 1);
        memset(entry.trials_digest, 'b' + i, 64);
    }
    return entry;
}

static bool same(double one, double other) { return one == other || (isnan(one) && isnan(other)); }

static void assert_same_entry(const sfu__entry *a, const sfu__entry *b) {
    assert_true(sfu__task_same(&a->task, &b->task));
    assert_int_equal(a->task.trials, b->task.trials);
    assert_int_equal(a->best_trial, b->best_trial);
    assert_int_equal(a->failed, b->failed);
    assert_int_equal(a->epochs, b->epochs);
    assert_true(same(a->val_accuracy, b->val_accuracy) && same(a->val_loss, b->val_loss));
    assert_true(same(a->test_accuracy, b->test_accuracy) && same(a->test_macro_f1, b->test_macro_f1));
    assert_true(same(a->seconds, b->seconds) && same(a->epoch_s, b->epoch_s));
    assert_string_equal(a->split_digest, b->split_digest);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->configuration, b->configuration);
    assert_string_equal(a->trials_digest, b->trials_digest);
}

static void entries_come_back(void **state) {
    (void)state;
    sfu__entries entries = {0}, back = {0};
    const char *folder = test_path("entries");
    assert_ok(sfu__make_folders(folder));
    for (int i = 0; i < 7; i++) {
        const sfu__entry entry = an_entry(i);
        assert_ok(sfu__entries_add(&entries, &entry));
    }
    assert_ok(sfu__entries_write(&entries, folder));
    assert_ok(sfu__entries_read(&back, folder));
    assert_int_equal(back.count, entries.count);
    for (int i = 0; i < back.count; i++) {
        const sfu__entry *a = &entries.items[i], *b = &back.items[i];
        assert_same_entry(a, b);
        assert_ptr_equal(sfu__entries_find(&back, &a->task), b);
    }
    sfu__entries_clear(&entries);
    sfu__entries_clear(&back);
}

/* For a database. */
static void entries_come_back_from_json(void **state) {
    (void)state;
    const sfu__entries entries = {0};
    for (int i = 0; i < 7; i++) {
        const sfu__entry entry = an_entry(i);
        sfu__entry back = {0};
        sfu__text json = {0};
        sfu__json_text read = {0};
        assert_ok(sfu__text_format(&json, "{"));
        assert_ok(sfu__entry_print(&json, &entries, &entry));
        assert_ok(sfu__text_format(&json, "}"));
        assert_ok(sfu__json_read(&read, json.bytes, json.size, "here"));
        assert_ok(sfu__entry_read(&back, &entries, read.root, "here"));
        assert_same_entry(&entry, &back);
        assert_null(sfu__entry_difference(&entries, &entry, &back));
        back.epochs++;
        assert_string_equal(sfu__entry_difference(&entries, &entry, &back), "epochs");
        sfu__json_clear(&read);
        sfu__text_clear(&json);
    }
    static const char *const wrong[] = {"{}", "{\"result\": []}", "{\"result\": [1]}", "{\"result\": [\"cora\", null]}",
                                        "{\"result\": {\"dataset\": \"cora\"}}"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sfu__entry back = {0};
        sfu__json_text read = {0};
        assert_ok(sfu__json_read(&read, wrong[i], strlen(wrong[i]), "here"));
        assert_fails(SFU_ERR_FORMAT, sfu__entry_read(&back, &entries, read.root, "here"), "here: expected a value of",
                     "results.csv");
        sfu__json_clear(&read);
    }
}

/* Without the last two columns. */
static void tables_of_earlier_versions_are_read(void **state) {
    (void)state;
    sfu__entries entries = {0};
    const char *folder = test_path("earlier");
    assert_ok(sfu__make_folders(folder));
    test_text_file("earlier/results.csv",
                   "dataset,net,size,split,split_digest,trials,best_trial,val_accuracy,val_loss,test_accuracy,"
                   "test_macro_f1,k,alpha,beta,exponents,failed,epochs,name\n"
                   "cora,gcn,1,random:0,x,5,0,0.5,0.5,0.5,0.5,0,,,0,0,7,cora\n");
    assert_ok(sfu__entries_read(&entries, folder));
    assert_int_equal(entries.count, 1);
    assert_int_equal(entries.items[0].epochs, 7);
    assert_string_equal(entries.items[0].configuration, "");
    sfu__entries_clear(&entries);
}

static void broken_tables_are_refused(void **state) {
    (void)state;
    sfu__entries entries = {0};
    const char *folder = test_path("broken");
    char path[512];
    assert_ok(sfu__make_folders(folder));
    assert_ok(sfu__entries_read(&entries, folder)); /* no files: no entries */
    assert_int_equal(entries.count, 0);
    const sfu__entry entry = an_entry(1);
    assert_ok(sfu__entries_add(&entries, &entry));
    assert_ok(sfu__entries_write(&entries, folder));
    sfu__entries_clear(&entries);
    snprintf(path, sizeof path, "%s/results.csv", folder);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs("cora,gcn,1,random:0,x,many,0,0.5,0.5,0.5,0.5,0,,,0,0,0,cora,,\n", file);
    fclose(file);
    assert_fails(SFU_ERR_FORMAT, sfu__entries_read(&entries, folder), "results.csv:3", "trials", "\"many\"");
    sfu__entries_clear(&entries);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("number,state\n0,COMPLETE\n", file);
    fclose(file);
    assert_fails(SFU_ERR_FORMAT, sfu__entries_read(&entries, folder), "results.csv", ":1: ", "dataset,net,size");
    sfu__entries_clear(&entries);
}

static void requests_come_back(void **state) {
    (void)state;
    const char *const datasets[] = {"cora", "my \"data\".safetensors"};
    const char *const sizes[] = {"1", "standard", "77"};
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.datasets = datasets;
    options.dataset_count = 2;
    options.sizes = sizes;
    options.size_count = 3;
    options.seed = UINT64_C(9007199254740993);
    options.lpnn = "f=clamp";
    options.lpnn_trials = 30;
    options.keep_loops = true;
    options.metric = SFU_METRIC_AUC;
    options.balanced = true;
    sfu__request request = {0}, back = {0};
    sfu__text one = {0}, other = {0};
    assert_ok(sfu__request_make(&request, "compare", &options));
    assert_int_equal(request.nets.count, 10);
    assert_string_equal(request.space, "practical");
    assert_ok(sfu__request_print(&one, &request));
    sfu__json_text json = {0};
    assert_ok(sfu__json_read(&json, one.bytes, one.size, "here"));
    assert_ok(sfu__request_read(&back, json.root, "here"));
    sfu__json_clear(&json);
    assert_ok(sfu__request_print(&other, &back));
    assert_string_equal(one.bytes, other.bytes);
    assert_non_null(strstr(one.bytes, "9007199254740993"));
    assert_int_equal(back.metric, SFU_METRIC_AUC);
    assert_true(back.balanced);
    sfu__request_clear(&request);
    sfu__request_clear(&back);
    sfu__text_clear(&one);
    sfu__text_clear(&other);
    assert_fails(SFU_ERR_FORMAT, sfu__request_read(&back, NULL, "FILE"), "FILE");
    sfu__request_clear(&back);
    const char *const bad_sizes[] = {"0"};
    options.sizes = bad_sizes;
    options.size_count = 1;
    assert_fails(SFU_ERR_ARGUMENT, sfu__request_make(&request, "compare", &options), "\"0\"", "standard");
    sfu__request_clear(&request);
    options.size_count = 0;
    options.metric = (sfu_metric)17;
    assert_fails(SFU_ERR_ARGUMENT, sfu__request_make(&request, "compare", &options), "metric 17");
    sfu__request_clear(&request);
    options.metric = SFU_METRIC_ACCURACY;
    options.sampler = "grid";
    assert_fails(SFU_ERR_ARGUMENT, sfu__request_make(&request, "compare", &options), "\"grid\"", "tpe-independent");
    sfu__request_clear(&request);
    options.sampler = NULL;
    assert_fails(SFU_ERR_ARGUMENT, sfu__request_make(&request, "set1", &options), "no class weights");
    sfu__request_clear(&request);
    options.balanced = false;
    assert_ok(sfu__request_make(&request, "set1", &options));
    assert_int_equal(request.nets.count, 8);
    assert_string_equal(request.space, "paper");
    sfu__request_clear(&request);
    options.feature_norm = "rows";
    assert_fails(SFU_ERR_ARGUMENT, sfu__request_make(&request, "compare", &options), "\"rows\"", "sym+row");
    sfu__request_clear(&request);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static const char *dataset_file(void) {
    static char path[256];
    if (path[0] == '\0') {
        sfu_dataset *dataset = NULL;
        sfu_make_options options;
        sfu_make_options_init(&options);
        options.nodes = 200;
        options.classes = 3;
        options.vocabulary = 50;
        snprintf(path, sizeof path, "%s", test_path("made.safetensors"));
        assert_ok(sfu_dataset_make(&dataset, &options));
        assert_ok(sfu_dataset_save(dataset, path));
        sfu_dataset_free(dataset);
    }
    return path;
}

typedef struct wish {
    int nets, splits, trials, jobs;
    sfu_compare_fn hear;
    void *user;
} wish;

static sfu_status run(const char *folder, const wish *wish) {
    static const char *const nets[] = {"sgcn", "gcn", "linear"};
    const char *const datasets[] = {dataset_file()};
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.datasets = datasets;
    options.dataset_count = 1;
    options.nets = nets;
    options.net_count = wish->nets;
    options.splits = wish->splits;
    options.trials = wish->trials;
    options.space = "lr=log(0.01,0.3) dropout=(0,0.5)";
    sfu__request request = {0};
    sfu__tasks tasks = {0};
    sfu__entries entries = {0};
    sfu_status status = SFU_OK;
    const sfu__run_options how = {.folder = folder,
                                  .request = &request,
                                  .jobs = wish->jobs,
                                  .on_progress = wish->hear,
                                  .on_progress_user = wish->user};
    SFU_TRY(sfu__request_make(&request, "compare", &options));
    SFU_TRY(sfu__tasks_make(&tasks, &request));
    assert_int_equal(tasks.count, wish->nets * wish->splits);
    SFU_TRY(sfu__make_folders(folder));
    SFU_TRY(sfu__entries_read(&entries, folder));
    SFU_TRY(sfu__run_tasks(&entries, &tasks, &how));
    assert_int_equal(entries.count, tasks.count);
done:
    sfu__entries_clear(&entries);
    sfu__tasks_clear(&tasks);
    sfu__request_clear(&request);
    return status;
}

static char *file_of(const char *folder, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    sfu__bytes bytes = {0};
    assert_ok(sfu__bytes_open(&bytes, path));
    char *text = calloc(1, bytes.size + 1);
    assert_non_null(text);
    memcpy(text, bytes.data, bytes.size);
    sfu__bytes_close(&bytes);
    return text;
}

static const char *sampler_of(const char *net, const char *sampler) {
    sfu__task task = {0};
    sfu__request request = {.sampler = (char *)(uintptr_t)sampler};
    snprintf(task.net, sizeof task.net, "%s", net);
    return sfu__task_sampler(&task, &request);
}

static void lpnn_has_another_sampler(void **state) {
    (void)state;
    assert_string_equal(sampler_of("lpnn", "auto"), "tpe-independent");
    assert_string_equal(sampler_of("lpnn(f=clamp)", "auto"), "tpe-independent");
    assert_string_equal(sampler_of("gcn", "auto"), "tpe");
    assert_string_equal(sampler_of("lpnn", "tpe"), "tpe");
    assert_string_equal(sampler_of("gcn", "random"), "random");
}

/* A manifest without one is older: all networks had tpe. */
static void an_older_manifest_has_tpe(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"{\"kind\": \"set1\", \"nets\": [\"gcn\", \"lpnn\"]}", "tpe"},
        {"{\"kind\": \"set1\", \"nets\": [\"gcn\"]}", "auto"},
        {"{\"kind\": \"set1\", \"nets\": [\"lpnn\"], \"sampler\": \"random\"}", "random"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sfu__request request = {0};
        sfu__json_text json = {0};
        assert_ok(sfu__json_read(&json, texts[i][0], strlen(texts[i][0]), "here"));
        assert_ok(sfu__request_read(&request, json.root, "here"));
        assert_string_equal(request.sampler, texts[i][1]);
        sfu__request_clear(&request);
        sfu__json_clear(&json);
    }
}

static void assert_same_results(const char *one, const char *other) {
    static const char *const names[] = {"results.csv", "curves.csv", "details.csv"};
    for (int i = 0; i < 3; i++) {
        char *a = file_of(one, names[i]), *b = file_of(other, names[i]);
        assert_string_equal(a, b);
        free(a);
        free(b);
    }
}

typedef struct counter {
    int32_t log_filter, stop_after;
    int64_t trials;
} counter;

static bool hear(void *user, const sfu_compare_progress *progress) {
    counter *self = user;
    assert_true(progress->done <= progress->total && progress->trials <= progress->all);
    assert_true(progress->trials >= self->trials);
    self->trials = progress->trials;
    return self->log_filter++ < self->stop_after;
}

static void runs_come_to_the_same(void **state) {
    (void)state;
    char alone[256], together[256], stopped[256], grown[256];
    snprintf(alone, sizeof alone, "%s", test_path("alone"));
    snprintf(together, sizeof together, "%s", test_path("together"));
    snprintf(stopped, sizeof stopped, "%s", test_path("stopped"));
    snprintf(grown, sizeof grown, "%s", test_path("grown"));
    wish wish = {.nets = 3, .splits = 3, .trials = 14, .jobs = 1};
    assert_ok(run(alone, &wish));
    wish.jobs = 5;
    assert_ok(run(together, &wish));
    assert_same_results(alone, together);

    /* Interrupted repeatedly. */
    sfu_status status = SFU_ERR_CANCELLED;
    for (int round = 1; status == SFU_ERR_CANCELLED; round++) {
        counter counter = {.stop_after = 1 + round};
        wish.hear = hear;
        wish.user = &counter;
        status = run(stopped, &wish);
        assert_true(round < 200);
    }
    assert_ok(status);
    assert_same_results(alone, stopped);

    /* Fewer networks, splits and trials first; then more of each. */
    wish.hear = NULL;
    wish.nets = 2;
    wish.splits = 1;
    wish.trials = 5;
    assert_ok(run(grown, &wish));
    wish.splits = 3;
    assert_ok(run(grown, &wish));
    wish.nets = 3;
    assert_ok(run(grown, &wish));
    wish.trials = 14;
    assert_ok(run(grown, &wish));
    assert_same_results(alone, grown);
}

static void a_finished_run_does_nothing(void **state) {
    (void)state;
    char folder[256];
    snprintf(folder, sizeof folder, "%s", test_path("finished"));
    const wish wish = {.nets = 1, .splits = 1, .trials = 3, .jobs = 2};
    assert_ok(run(folder, &wish));
    char studies[300];
    snprintf(studies, sizeof studies, "%s/studies", folder);
    assert_true(sfu__path_is_folder(studies));
    char command[400];
    snprintf(command, sizeof command, "rm -r '%s'",
             studies); /* entries in results.csv do not need their studies any more */
    assert_int_equal(system(command), 0);
    assert_ok(run(folder, &wish));
}

static void change_study(const char *study, const char *statement) {
    sfu__db *db = NULL;
    assert_ok(sfu__db_sqlite.open(&db, study, NULL));
    assert_ok(db->driver->run(db, statement, NULL, 0, NULL, NULL, NULL));
    db->driver->close(db);
}

/* The study's file belongs to the folder, so advising another name would not help. */
static void a_study_that_cannot_go_on_is_to_be_removed(void **state) {
    (void)state;
    char folder[256], study[320];
    snprintf(folder, sizeof folder, "%s", test_path("versions"));
    snprintf(study, sizeof study, "%s/studies/made.safetensors.sgcn.1.random_0.db", folder);
    const wish wish = {.nets = 1, .splits = 1, .trials = 3, .jobs = 2}, more = {1, 1, 5, 2, NULL, NULL},
               most = {1, 1, 7, 2, NULL, NULL};
    if (!SFU_HAVE_SQLITE) {
        skip();
    }
    assert_ok(run(folder, &wish));
    /* Another version goes on; one that recorded no protocol, as 0.1.0 did not, has the first. */
    change_study(study, "UPDATE study_user_attributes SET value_json = '\"0.1.0\"' WHERE \"key\" = 'sfumato:version'");
    change_study(study, "DELETE FROM study_user_attributes WHERE \"key\" = 'sfumato:protocol'");
    assert_ok(run(folder, &more));
    change_study(study,
                 "INSERT INTO study_user_attributes (study_id, \"key\", value_json) VALUES (1, 'sfumato:protocol', "
                 "'0')");
    assert_fails(SFU_ERR_ARGUMENT, run(folder, &most), study,
                 "the protocol of the program is 0 in the study and 1 here",
                 "use the same value, or remove the file to have its study run anew");
    change_study(study, "DELETE FROM study_user_attributes WHERE \"key\" = 'sfumato:protocol'");
    change_study(study, "DELETE FROM study_user_attributes WHERE \"key\" = 'sfumato:dataset'");
    assert_fails(SFU_ERR_ARGUMENT, run(folder, &most), study, "was not made by sfumato",
                 "remove the file to have its study run anew");
    change_study(study, "UPDATE study_directions SET direction = 'MINIMIZE'");
    assert_fails(SFU_ERR_ARGUMENT, run(folder, &most), study, "minimizes its objective",
                 "remove the file to have its study run anew");
    test_text_file("versions/studies/made.safetensors.sgcn.1.random_0.db", "This is no database.\n");
    assert_fails(SFU_ERR_FORMAT, run(folder, &most), study, "not an SQLite database; remove the file");
    assert_int_equal(remove(study), 0);
    assert_ok(run(folder, &most));
}

/* What the API shows of a folder is what its files hold. */
static void check_values(const char *folder, const sfu__entries *entries, const sfu__curves *curves) {
    sfu_results *results = NULL;
    int epochs = 0, wanted = 0;
    assert_ok(sfu_results_open(&results, folder));
    for (int i = 0; i < entries->count; i++) {
        const sfu_entry *shown = sfu_results_entry(results, i);
        const sfu__entry *entry = &entries->items[i];
        assert_string_equal(shown->net, entry->task.net);
        assert_string_equal(shown->size, entry->task.size);
        assert_string_equal(shown->split, entry->task.split);
        assert_string_equal(shown->split_digest, entry->split_digest);
        assert_string_equal(shown->dataset, sfu_results_cell(results, 0)->dataset);
        assert_true(shown->trials == entry->task.trials && shown->best_trial == entry->best_trial);
        assert_true(shown->val_accuracy == entry->val_accuracy && shown->test_accuracy == entry->test_accuracy);
        assert_true(shown->epochs == entry->epochs && shown->seconds == entry->seconds);
        const sfu__curve *curve = sfu__curves_find(curves, &entry->task);
        wanted += curve != NULL ? curve->count : 0;
        for (int e = 0; sfu_results_epoch(results, i, e) != NULL; e++, epochs++) {
            assert_true(sfu_results_epoch(results, i, e)->val_accuracy == curve->epochs[e].val_accuracy);
        }
    }
    assert_int_equal(epochs, wanted);
    assert_null(sfu_results_entry(results, entries->count));
    assert_null(sfu_results_entry(results, -1));
    assert_null(sfu_results_epoch(results, entries->count, 0));
    sfu_results_free(results);
}

/* One curve per network, for the first split, as long as the winner's training. */
static void winners_leave_curves(void **state) {
    (void)state;
    const char *folder = test_path("curves");
    const wish wish = {.nets = 3, .splits = 2, .trials = 4, .jobs = 2};
    sfu__curves curves = {0};
    sfu__entries entries = {0};
    assert_ok(run(folder, &wish));
    assert_ok(sfu__curves_read(&curves, folder));
    assert_ok(sfu__entries_read(&entries, folder));
    assert_int_equal(curves.count, 3);
    for (int i = 0; i < 3; i++) {
        const sfu__curve *curve = &curves.items[i];
        const sfu__entry *entry = sfu__entries_find(&entries, &curve->task);
        double best = 0;
        assert_non_null(entry);
        assert_string_equal(curve->task.split, "random:0");
        assert_int_equal(curve->trial, entry->best_trial);
        for (int e = 0; e < curve->count; e++) {
            best = curve->epochs[e].val_accuracy > best ? curve->epochs[e].val_accuracy : best;
        }
        assert_true(best == entry->val_accuracy);
    }
    check_values(folder, &entries, &curves);
    sfu__curves_clear(&curves);
    sfu__entries_clear(&entries);
}

/* The confusion matrix of every network on the first split: its diagonal is the test accuracy. */
static void winners_leave_details(void **state) {
    (void)state;
    const char *folder = test_path("details");
    const wish wish = {.nets = 3, .splits = 2, .trials = 4, .jobs = 2};
    sfu__details details = {0};
    sfu__entries entries = {0};
    int detailed = 0;
    assert_ok(run(folder, &wish));
    assert_ok(sfu__details_read(&details, folder));
    assert_ok(sfu__entries_read(&entries, folder));
    for (int e = 0; e < entries.count; e++) {
        const sfu__entry *entry = &entries.items[e];
        const sfu__detail *detail;
        int64_t all = 0, right = 0, count = 0;
        for (int i = -1; (detail = sfu__details_next(&details, "", entry, "confusion", &i)) != NULL; all += count) {
            assert_true(sfu__parse_int64_string(&count, detail->value));
            right += strcmp(detail->row, detail->column) == 0 ? count : 0;
        }
        int i = -1;
        const bool has_parameters = sfu__details_next(&details, "", entry, "hyperparameter", &i) != NULL;
        assert_true(has_parameters == (all > 0));
        assert_true(has_parameters == (strcmp(entry->task.split, "random:0") == 0));
        assert_true(all == 0 || fabs((double)right / (double)all - entry->test_accuracy) < 1e-12);
        detailed += has_parameters;
    }
    assert_int_equal(detailed, 3);
    int i = -1;
    const sfu__detail *nodes = sfu__details_next(&details, entries.items[0].task.dataset, NULL, "property", &i);
    assert_non_null(nodes);
    assert_string_equal(nodes->row, "nodes");
    sfu__details_clear(&details);
    sfu__entries_clear(&entries);
}

static int count_studies(const char *folder) {
    char command[600], line[32] = "";
    snprintf(command, sizeof command, "ls '%s/studies' | wc -l", folder);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    pclose(pipe);
    return atoi(line);
}

/* Six cells of three sweeps and of none: four are the default mlp+lp, two the same network with other exponents. */
static void the_same_training_is_run_once(void **state) {
    (void)state;
    const char *folder = test_path("shared");
    const char *const datasets[] = {dataset_file()};
    static const struct {
        int32_t k;
        double alpha, beta;
        bool exponents;
    } cells[] = {{0, NAN, NAN, false}, {2, NAN, NAN, false}, {0, 1, 1, false},
                 {0, 0.5, 0.5, true},  {0, 0, 0.9, true},    {0, 0.4, 0.9, true}};
    enum { CELLS = sizeof cells / sizeof cells[0] };
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.datasets = datasets;
    options.dataset_count = 1;
    sfu__request request = {0};
    sfu__tasks tasks = {0};
    sfu__entries entries = {0}, again = {0};
    counter counter = {.stop_after = INT32_MAX};
    const sfu__run_options how = {
        .folder = folder, .request = &request, .jobs = 2, .on_progress = hear, .on_progress_user = &counter};
    assert_ok(sfu__request_make(&request, "compare", &options));
    for (int i = 0; i < CELLS; i++) {
        sfu__task task = {.net = "mlp+lp",
                          .size = "1",
                          .split = "random:0",
                          .k = cells[i].k,
                          .alpha = cells[i].alpha,
                          .beta = cells[i].beta,
                          .exponents = cells[i].exponents,
                          .trials = 3};
        snprintf(task.dataset, sizeof task.dataset, "%s", datasets[0]);
        assert_ok(sfu__tasks_add(&tasks, &task));
    }
    assert_ok(sfu__run_tasks(&entries, &tasks, &how));
    assert_int_equal(entries.count, CELLS);
    assert_int_equal(counter.trials, 2 * 3);
    assert_int_equal(count_studies(folder), 2 * SFU_HAVE_SQLITE);
    for (int i = 0; i < CELLS; i++) {
        const sfu__entry *entry = &entries.items[i], *first = &entries.items[i < 4 ? 0 : 4];
        assert_true(sfu__task_same(&entry->task, &tasks.items[i]));
        assert_true(entry->val_loss == first->val_loss && entry->test_accuracy == first->test_accuracy);
        assert_true((entry->seconds > 0) == (i == 0 || i == 4)); /* the time of a study is counted once */
    }
    assert_true(entries.items[0].val_loss != entries.items[4].val_loss);

    /* If only a follower has an entry, as in an older folder, the leader takes it over. */
    assert_ok(sfu__entries_add(&again, &entries.items[3]));
    tasks.count = 4;
    counter.trials = 0;
    assert_ok(sfu__run_tasks(&again, &tasks, &how));
    assert_int_equal(again.count, 4);
    assert_true(again.items[0].val_loss == entries.items[0].val_loss);
    assert_int_equal(counter.trials, 3); /* none of them new */
    sfu__entries_clear(&entries);
    sfu__entries_clear(&again);
    sfu__tasks_clear(&tasks);
    sfu__request_clear(&request);
}

static sfu_status compare_with(const char *folder, const char *space, const char *size, const char *dataset) {
    const char *const datasets[] = {dataset_file(), dataset}, *const nets[] = {"sgcn", "gcn"}, *sizes[] = {"1", size};
    sfu_compare_options options;
    sfu_results *results = NULL;
    sfu_compare_options_init(&options);
    options.datasets = datasets;
    options.dataset_count = dataset != NULL ? 2 : 1;
    options.nets = nets;
    options.net_count = 2;
    options.sizes = sizes;
    options.size_count = size != NULL ? 2 : 1;
    options.splits = 2;
    options.trials = 2;
    options.space = space != NULL ? space : "lr=log(0.01,0.3)";
    options.folder = folder;
    const sfu_status status = sfu_compare(&results, &options);
    sfu_results_free(results);
    return status;
}

/* The space of a finished comparison in a folder. */
static void assert_space(const char *folder, const char *space) {
    sfu__request request = {0};
    assert_ok(sfu__manifest_read(&request, folder));
    assert_string_equal(request.space, space);
    sfu__request_clear(&request);
}

/* Compares two networks in a folder; options->datasets, nets and folder are set here. */
static sfu_status compare_small(const char *folder, sfu_compare_options *options) {
    static const char *const nets[] = {"sgcn", "linear"};
    const char *const datasets[] = {dataset_file()};
    sfu_results *results = NULL;
    options->datasets = datasets;
    options->dataset_count = 1;
    options->nets = nets;
    options->net_count = 2;
    options->splits = 2;
    options->folder = folder;
    const sfu_status status = sfu_compare(&results, options);
    sfu_results_free(results);
    return status;
}

/* Without a space a folder is continued with its own; a new one has the practical space. */
static void a_folder_keeps_its_space(void **state) {
    (void)state;
    static const char *const spaces[] = {"lr=log(0.01,0.3)", "paper", NULL};
    for (int i = 0; i < 3; i++) {
        char folder[256], name[32];
        snprintf(name, sizeof name, "spaced%d", i);
        snprintf(folder, sizeof folder, "%s", test_path(name));
        sfu_compare_options options;
        sfu_compare_options_init(&options);
        options.trials = 2;
        options.space = spaces[i];
        assert_ok(compare_small(folder, &options));
        options.space = NULL;
        options.trials = 3;
        assert_ok(compare_small(folder, &options));
        assert_space(folder, spaces[i] != NULL ? spaces[i] : "practical");
        options.space = "lr=(0.1,0.2)";
        assert_fails(SFU_ERR_ARGUMENT, compare_small(folder, &options), "has results of compare with --space");
    }
}

/* Scores of another metric are stored, read again and shown; the accuracy has no columns of its own. */
static void metrics_are_compared(void **state) {
    (void)state;
    char folder[256];
    snprintf(folder, sizeof folder, "%s", test_path("by-macro-f1"));
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.trials = 3;
    options.metric = SFU_METRIC_MACRO_F1;
    options.balanced = true;
    assert_ok(compare_small(folder, &options));
    sfu_results *results = NULL;
    assert_ok(sfu_results_open(&results, folder));
    assert_int_equal(sfu_results_metric(results), SFU_METRIC_MACRO_F1);
    const sfu_entry *entry;
    int count = 0;
    for (; (entry = sfu_results_entry(results, count)) != NULL; count++) {
        assert_true(entry->test_score == entry->test_macro_f1);
        assert_true(entry->val_score > 0 && entry->val_accuracy > 0 && entry->test_accuracy > 0);
    }
    assert_int_equal(count, 4);
    const double both = sfu_results_entry(results, 0)->test_score + sfu_results_entry(results, 1)->test_score;
    assert_true(fabs(sfu_results_cell(results, 0)->mean - both / 2) < 1e-12);
    sfu_results_free(results);
    options.trials = 4; /* continued */
    assert_ok(compare_small(folder, &options));
    options.metric = SFU_METRIC_ACCURACY;
    assert_fails(SFU_ERR_ARGUMENT, compare_small(folder, &options),
                 "has results of compare with --metric \"macro-f1\"");
    options.metric = SFU_METRIC_MACRO_F1;
    options.balanced = false;
    assert_fails(SFU_ERR_ARGUMENT, compare_small(folder, &options), "with --class-weight \"balanced\"");
}

static int said;
static void keep_line(void *user, sfu_log_level level, const char *line) {
    (void)user;
    (void)level;
    const bool wanted = strncmp(line, "made: split \"random:", 20) == 0 && strstr(line, "too few") != NULL;
    said += wanted ? 1 : 100;
}

/* One space for all networks: only gcn uses hidden. */
static void some_networks_have_no_use_for_a_parameter(void **state) {
    (void)state;
    assert_ok(compare_with(test_path("shared-space"), "lr=log(0.01,0.3) hidden={8,16}", NULL, NULL));
}

/* Errors that can be detected early are, before anything is written. */
static void mistakes_are_found_first(void **state) {
    (void)state;
    char folder[256];
    snprintf(folder, sizeof folder, "%s", test_path("mistaken"));
    assert_int_equal(compare_with(folder, "lr=(1,0)", NULL, NULL),
                     SFU_ERR_ARGUMENT); /* with a caret, on several lines */
    assert_string_equal(sfu_message(), "the upper end of this range is below its lower end\n  lr=(1,0)\n     ^");
    assert_int_equal(compare_with(folder, "lr=(0,1) mu_graph=(0,1)", NULL, NULL), SFU_ERR_ARGUMENT);
    assert_non_null(strstr(sfu_message(), "does not use mu_graph"));
    assert_fails(SFU_ERR_ARGUMENT, compare_with(folder, NULL, "7000", NULL), "7000");
    assert_fails(SFU_ERR_NOT_FOUND, compare_with(folder, NULL, NULL, "nothing-of-that-name"), "nothing-of-that-name");
    assert_false(sfu__path_is_folder(folder));

    /* 200 nodes and two sizes: one line per split. */
    sfu_set_log(keep_line, NULL);
    said = 0;
    assert_ok(compare_with(folder, NULL, "2", NULL));
    sfu_set_log(NULL, NULL);
    assert_int_equal(said, 2);

    /* Duplicates in the request run once. */
    assert_ok(compare_with(folder, NULL, "1", NULL));
    char *results = file_of(folder, "results.csv");
    int lines = 0;
    for (const char *c = results; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    assert_int_equal(lines, 1 + 2 * 2 * 2);
    free(results);
}

/* Two sizes and networks, one of which occurs in two sweeps; an entry and a curve exist already. */
static sfu_status prepare_body(void *context) {
    const char *const folder = context, *const datasets[] = {dataset_file()}, *const nets[] = {"sgcn", "linear+lp"},
                      *const sizes[] = {"1", "2"};
    sfu_status status = SFU_OK;
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.datasets = datasets;
    options.dataset_count = 1;
    options.nets = nets;
    options.net_count = options.size_count = options.splits = 2;
    options.sizes = sizes;
    sfu__request request = {0};
    sfu__tasks tasks = {0};
    sfu__entries entries = {0};
    const sfu__run_options how = {.folder = folder, .request = &request, .jobs = 1};
    sfu__running run = {.options = &how, .tasks = &tasks, .entries = &entries};
    SFU_TRY(sfu__request_make(&request, "compare", &options));
    SFU_TRY(sfu__tasks_make(&tasks, &request));
    sfu__task again = tasks.items[0];
    again.k = 2;
    SFU_TRY(sfu__tasks_add(&tasks, &again));
    const sfu__entry known = {.task = tasks.items[0], .val_accuracy = 0.5};
    SFU_TRY(sfu__entries_add(&entries, &known));
    SFU_TRY(sfu__run_prepare(&run));
    assert_int_equal(run.before, 1);
    assert_int_equal(run.count, 2 * 2 * 2 - 1);
    assert_int_equal(entries.count, 2);
    assert_int_equal(run.curves.count, 1);
done:
    sfu__run_clear(&run);
    sfu__entries_clear(&entries);
    sfu__tasks_clear(&tasks);
    sfu__request_clear(&request);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static char folder[256];
    snprintf(folder, sizeof folder, "%s", test_path("failing"));
    assert_ok(sfu__make_folders(folder));
    test_text_file("failing/curves.csv", "dataset,net,size,split,trial,epoch,train_loss,val_loss,val_accuracy\n"
                                         "made,gcn,1,random:0,0,1,1,1,0.5\n");
    (void)dataset_file();
    test_fail_each_allocation(prepare_body, folder, test_is_slow() ? 60 : 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_come_back),
        cmocka_unit_test(entries_come_back_from_json),
        cmocka_unit_test(tables_of_earlier_versions_are_read),
        cmocka_unit_test(broken_tables_are_refused),
        cmocka_unit_test(requests_come_back),
        cmocka_unit_test(lpnn_has_another_sampler),
        cmocka_unit_test(an_older_manifest_has_tpe),
        cmocka_unit_test(runs_come_to_the_same),
        cmocka_unit_test(a_finished_run_does_nothing),
        cmocka_unit_test(a_study_that_cannot_go_on_is_to_be_removed),
        cmocka_unit_test(winners_leave_curves),
        cmocka_unit_test(winners_leave_details),
        cmocka_unit_test(the_same_training_is_run_once),
        cmocka_unit_test(some_networks_have_no_use_for_a_parameter),
        cmocka_unit_test(a_folder_keeps_its_space),
        cmocka_unit_test(metrics_are_compared),
        cmocka_unit_test(mistakes_are_found_first),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
