/* The tables of the paper as tasks, the network of each task as text, and Tables 1 and 2. */
#include "beyond.h"
#include "net.h"
#include "published.h"
#include "results_int.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const norms[] = {"sym", "sym+row", "sym+row-with-lp"};

static sfu__request request_of(const char *kind, const sfu_compare_options *options) {
    sfu__request request = {0};
    assert_ok(sfu__request_make(&request, kind, options));
    return request;
}

static sfu__tasks tasks_of(const char *kind, const sfu_compare_options *options) {
    sfu__request request = request_of(kind, options);
    sfu__tasks tasks = {0};
    assert_ok(sfu__paper_tasks(&tasks, &request));
    sfu__request_clear(&request);
    return tasks;
}

/* ---- number of tasks --------------------------------------------------------------------------------------------- */

static void each_table_has_its_cells(void **state) {
    (void)state;
    static const struct {
        const char *kind;
        int count;
    } tables[] = {{"set1", 400},      {"set2", 400},          {"set3", 400},
                  {"set4", 400},      {"set5", 400},          {"standard", 24},
                  {"layers", 32},     {"self-neighbour", 20}, {"degree-exponents", 20},
                  {"all", 2096 + 750}}; /* with the table extras, whose references are cells of the sets */
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        sfu__tasks tasks = tasks_of(tables[i].kind, &options);
        assert_int_equal(tasks.count, tables[i].count);
        for (int j = 0; j < tasks.count; j++) {
            const sfu__published paper = sfu__published_cell(tables[i].kind, &tasks.items[j], "test");
            assert_true((isnan(paper.mean) != 0) == sfu__is_extra_net(tasks.items[j].net));
            assert_int_equal(tasks.items[j].trials, 2000);
            assert_true(isnan(paper.mean) ||
                        (isnan(paper.std) != 0) == (strncmp(tasks.items[j].split, "random:", 7) != 0));
            for (int k = 0; k < j && tasks.count < 500; k++) {
                assert_false(sfu__task_same(&tasks.items[j], &tasks.items[k]));
            }
        }
        sfu__tasks_clear(&tasks);
    }
}

static void assert_task(const sfu__task *task, const char *dataset, const char *net, const char *size,
                        const char *split) {
    assert_string_equal(task->dataset, dataset);
    assert_string_equal(task->net, net);
    assert_string_equal(task->size, size);
    assert_string_equal(task->split, split);
}

static void tasks_are_in_the_order_of_the_tables(void **state) {
    (void)state;
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    sfu__tasks tasks = tasks_of("set3", &options);
    assert_task(&tasks.items[0], "cora", "gcn", "3", "random:0");
    assert_task(&tasks.items[9], "cora", "gcn", "3", "random:9");
    assert_task(&tasks.items[10], "cora", "sgcn", "3", "random:0");
    assert_task(&tasks.items[80], "citeseer", "gcn", "3", "random:0");
    assert_task(&tasks.items[399], "dblp", "lpnn", "3", "random:9");
    assert_true(tasks.items[0].k == 0 && isnan(tasks.items[0].alpha) && isnan(tasks.items[0].beta));
    sfu__tasks_clear(&tasks);
    tasks = tasks_of("layers", &options);
    assert_task(&tasks.items[0], "cora", "sgcn", "standard", "standard");
    assert_int_equal(tasks.items[0].k, 1);
    assert_int_equal(tasks.items[31].k, 4);
    assert_task(&tasks.items[31], "citeseer", "mlp+lp", "standard", "standard");
    sfu__tasks_clear(&tasks);
    tasks = tasks_of("degree-exponents", &options);
    assert_true(tasks.items[2].alpha == 0.25 && tasks.items[2].beta == 0.75 && tasks.items[2].exponents);
    assert_int_equal(tasks.items[2].k, 0);
    sfu__tasks_clear(&tasks);
}

static void all_runs_standard_splits_and_sweeps_first(void **state) {
    (void)state;
    static const char *const order[] = {
        "standard", "layers", "self-neighbour", "degree-exponents", "set1", "set5", "set2", "set3", "set4"};
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    sfu__tasks all = tasks_of("all", &options);
    int at = 0;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        sfu__tasks one = tasks_of(order[i], &options);
        for (int j = 0; j < one.count; j++, at++) {
            assert_true(at < all.count && sfu__task_same(&all.items[at], &one.items[j]));
            assert_string_equal(sfu__task_table(&all.items[at]), order[i]);
        }
        sfu__tasks_clear(&one);
    }
    for (; at < all.count; at++) { /* last: extras, whose references are in the sets */
        assert_true(sfu__is_extra_net(all.items[at].net));
    }
    sfu__tasks_clear(&all);
}

/* ---- restrictions ------------------------------------------------------------------------------------------------ */

static void requests_cut_a_table_down(void **state) {
    (void)state;
    const char *const datasets[] = {"DBLP", "some/where/cora.safetensors"}, *const nets[] = {"LPNN", "Gcn"};
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.datasets = datasets;
    options.dataset_count = 2;
    options.nets = nets;
    options.net_count = 2;
    options.splits = 3;
    options.trials = 100;
    options.lpnn_trials = 30;
    sfu__tasks tasks = tasks_of("set1", &options);
    assert_int_equal(tasks.count, 2 * 2 * 3);
    assert_task(&tasks.items[0], "cora", "gcn", "1", "random:0"); /* results have the name, not the path */
    assert_string_equal(tasks.items[0].path, "some/where/cora.safetensors");
    assert_string_equal(tasks.items[11].path, "dblp");
    assert_task(&tasks.items[11], "dblp", "lpnn", "1", "random:2");
    assert_int_equal(tasks.items[0].trials, 100);
    assert_int_equal(tasks.items[11].trials, 30);
    sfu__tasks_clear(&tasks);
    tasks = tasks_of("all", &options); /* five sets, one standard cell row of cora, its layers of gcn */
    assert_int_equal(tasks.count, 5 * 12 + 2 + 4);
    sfu__tasks_clear(&tasks);
}

static sfu_status try_request(const char *kind, const char *dataset, const char *net, bool keep_loops) {
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.datasets = &dataset;
    options.dataset_count = dataset != NULL;
    options.nets = &net;
    options.net_count = net != NULL;
    options.keep_loops = keep_loops;
    sfu__request request = request_of(kind, &options);
    sfu__tasks tasks = {0};
    sfu_status status = sfu__paper_tasks(&tasks, &request);
    status = status == SFU_OK ? sfu__paper_check_loops(&tasks) : status;
    sfu__tasks_clear(&tasks);
    sfu__request_clear(&request);
    return status;
}

static void what_the_paper_has_not_is_refused(void **state) {
    (void)state;
    static char longest[400] = "";
    assert_fails(SFU_ERR_ARGUMENT, try_request("set1", "citation", NULL, false),
                 "\"citation\" is not a dataset of the paper", "expected cora, citeseer, pubmed, acm or dblp");
    assert_fails(SFU_ERR_ARGUMENT, try_request("set1", NULL, "mlp", false),
                 "\"mlp\" is not a network of the paper's tables");
    assert_fails(SFU_ERR_ARGUMENT, try_request("layers", NULL, "lpnn", false),
                 "the table layers has none of these networks");
    assert_fails(SFU_ERR_ARGUMENT, try_request("standard", "acm", NULL, false), "standard has none of these");
    memset(longest, 'x', sizeof longest - 20);
    strcat(longest, "/cora.safetensors");
    assert_fails(SFU_ERR_ARGUMENT, try_request("set1", longest, NULL, false), "too long");
}

/* ---- self-loops -------------------------------------------------------------------------------------------------- */

static void loops_are_kept_under_another_name(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    sfu_import_options import;
    sfu_import_options_init(&import);
    import.source = test_data("acm/ACM3025.mat");
    import.edges = "PAP";
    import.features = "feature";
    import.labels = "label";
    import.name = "acm+loops";
    import.keep_loops = true;
    setenv("XDG_CACHE_HOME", test_path("cache"), 1);
    setenv("SFUMATO_DATA", test_path("."), 1);
    assert_fails(SFU_ERR_NOT_FOUND, try_request("set1", "ACM", NULL, true), "acm+loops, with its self-loops",
                 "sfumato data get acm --self-loops keep");
    assert_ok(try_request("set1", "cora", NULL, true));
    if (sfu_dataset_import(&dataset, &import) == SFU_ERR_UNSUPPORTED) {
        print_message("skipped: built without matio\n");
        skip();
    }
    assert_ok(sfu_dataset_save(dataset, test_path("acm+loops.safetensors")));
    const sfu_info *found = NULL;
    assert_ok(sfu_dataset_info(&found, dataset));
    const sfu_info info = *found;
    assert_int_equal(info.edges, 16153); /* the count of the paper */
    sfu_dataset_free(dataset);
    assert_ok(try_request("set1", "ACM", NULL, true));
}

/* ---- networks ---------------------------------------------------------------------------------------------------- */

/* The text of a task's network, valid until the next call. */
static const char *net_of(const sfu__task *task, const sfu__request *request) {
    static char copy[1024];
    sfu__text net = {0};
    assert_ok(sfu__task_net(&net, task, request));
    snprintf(copy, sizeof copy, "%s", net.bytes);
    sfu__text_clear(&net);
    return copy;
}

/* A network with a value for its open width. */
static sfu_net *parse_filled(const char *text) {
    char filled[1024] = "";
    sfu_net *net = NULL;
    const char *open;
    while ((open = strstr(text, "$hidden")) != NULL) {
        snprintf(filled + strlen(filled), sizeof filled - strlen(filled), "%.*s64", (int)(open - text), text);
        text = open + strlen("$hidden");
    }
    strncat(filled, text, sizeof filled - strlen(filled) - 1);
    assert_ok(sfu__net_read(&net, filled, NULL));
    return net;
}

/* The intended network of a task, computed independently: the named network from the parser, with its layers
 * modified. */
static void assert_is_meant(const sfu__task *task, const sfu__request *request, const char *text) {
    sfu_net *ours = parse_filled(text), *named = NULL;
    sfu_net_options options = {.size = sizeof(sfu_net_options), .hidden = 64, .k = task->k > 0 ? task->k : 2};
    assert_ok(sfu__net_read(&named, task->net, &options));
    assert_int_equal(ours->count, named->count);
    assert_int_equal(ours->is_lpnn, named->is_lpnn);
    const bool lp = strstr(task->net, "+lp") != NULL;
    const bool row = strcmp(request->feature_norm, "sym+row") == 0 || (lp && strcmp(request->feature_norm, "sym") != 0);
    for (int i = 0; i < ours->count && !ours->is_lpnn; i++) {
        const sfu__layer *mine = &ours->layers[i];
        const sfu__layer *usual = &named->layers[i];
        assert_int_equal(mine->kind, usual->kind);
        assert_int_equal(mine->width, usual->width);
        assert_int_equal(mine->act, usual->act);
        assert_int_equal(mine->times, usual->times);
        assert_int_equal(mine->labels, usual->labels);
        if (mine->kind == SFU__LAYER_SMOOTH) {
            const bool swept = mine->labels && !isnan(task->alpha);
            const bool label_row = strcmp(request->label_norm, "row") == 0 && !(swept && task->exponents);
            assert_int_equal(mine->norm, row && !mine->labels        ? SFU_NORM_SYM_ROW
                                         : label_row && mine->labels ? SFU_NORM_ROW
                                                                     : usual->norm);
            assert_int_equal(mine->exponents, swept && task->exponents);
            assert_true(mine->self == (swept && !task->exponents ? task->alpha : 1));
            assert_true(mine->neighbour == (swept && !task->exponents ? task->beta : 1));
            assert_true(!mine->exponents || mine->right == task->beta);
        }
    }
    sfu_net_free(named);
    sfu_net_free(ours);
}

static void every_network_is_the_one_that_is_meant(void **state) {
    (void)state;
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.splits = 1;
    for (size_t i = 0; i < 2 * sizeof norms / sizeof norms[0]; i++) {
        options.feature_norm = norms[i / 2];
        options.label_norm = i % 2 == 0 ? "row" : "sym+row";
        sfu__request request = request_of("all", &options);
        sfu__tasks tasks = tasks_of("all", &options);
        for (int j = 0; j < tasks.count; j++) {
            if (!sfu__is_extra_net(tasks.items[j].net)) {
                assert_is_meant(&tasks.items[j], &request, net_of(&tasks.items[j], &request));
            }
        }
        sfu__tasks_clear(&tasks);
        sfu__request_clear(&request);
    }
}

static sfu__task plain_task(const char *net) {
    sfu__task task = {.dataset = "cora", .size = "1", .split = "random:0", .alpha = NAN, .beta = NAN, .trials = 1};
    snprintf(task.net, sizeof task.net, "%s", net);
    return task;
}

static void texts_are_as_a_person_would_write_them(void **state) {
    (void)state;
    static const struct {
        const char *net;
        const char *with[3]; /* one per norm */
    } texts[] = {
        {"gcn", {"gcn", "smooth(norm=sym+row) | dense $hidden relu | smooth(norm=sym+row) | softmax", "gcn"}},
        {"sgcn", {"sgcn", "smooth^2(norm=sym+row) | softmax", "sgcn"}},
        {"gcn+lp",
         {"gcn+lp", "smooth(norm=sym+row) | dense $hidden relu | softmax | smooth",
          "smooth(norm=sym+row) | dense $hidden relu | softmax | smooth"}},
        {"mlp+lp", {"mlp+lp", "mlp+lp", "mlp+lp"}},
        {"mlp", {"mlp", "mlp", "mlp"}},
        {"lpnn", {"lpnn", "lpnn", "lpnn"}},
        {"LPNN(f=clamp)", {"LPNN(f=clamp)", "LPNN(f=clamp)", "LPNN(f=clamp)"}},
        {"smooth | softmax", {"smooth | softmax", "smooth | softmax", "smooth | softmax"}},
    };
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.label_norm = "sym+row";
    for (size_t n = 0; n < 3; n++) {
        options.feature_norm = norms[n];
        sfu__request request = request_of("set1", &options);
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
            const sfu__task task = plain_task(texts[i].net);
            assert_string_equal(net_of(&task, &request), texts[i].with[n]);
        }
        sfu__request_clear(&request);
    }
    options.feature_norm = "sym";
    options.lpnn = "f=clamp, input=fx, output=g";
    sfu__request request = request_of("set1", &options);
    sfu__task task = plain_task("lpnn");
    assert_string_equal(net_of(&task, &request), "lpnn(f=clamp, input=fx, output=g)");
    sfu_net *lpnn = parse_filled(net_of(&task, &request));
    assert_true(lpnn->is_lpnn && lpnn->lpnn.f == SFU__LPNN_CLAMP && lpnn->lpnn.input_f && lpnn->lpnn.output_g);
    sfu_net_free(lpnn);
    task = plain_task("gcn");
    task.k = 3;
    assert_string_equal(net_of(&task, &request),
                        "smooth | dense $hidden relu | smooth | dense $hidden relu | smooth | softmax");
    task.k = 1;
    assert_string_equal(net_of(&task, &request), "smooth | softmax");
    task = plain_task("mlp+lp");
    task.alpha = 0.33;
    task.beta = 0.67;
    assert_string_equal(net_of(&task, &request), "dense $hidden relu | softmax | smooth^2(self=0.33, neighbour=0.67)");
    task.exponents = true;
    assert_string_equal(net_of(&task, &request), "dense $hidden relu | softmax | smooth^2(right=0.67)");
    sfu__request_clear(&request);
}

/* Labels are smoothed with norm=row in tables of the paper, unless a request has another norm. */
static void rows_of_labels_are_scaled_alone(void **state) {
    (void)state;
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    sfu__request request = request_of("set1", &options);
    sfu__task task = plain_task("mlp+lp");
    assert_string_equal(net_of(&task, &request), "dense $hidden relu | softmax | smooth^2(norm=row)");
    task.alpha = 0.33;
    task.beta = 0.67;
    assert_string_equal(net_of(&task, &request),
                        "dense $hidden relu | softmax | smooth^2(self=0.33, neighbour=0.67, norm=row)");
    task.exponents = true;
    assert_string_equal(net_of(&task, &request), "dense $hidden relu | softmax | smooth^2(right=0.67)");
    task.alpha = 1;
    task.beta = 0; /* the same matrix as norm=row */
    task = sfu__task_usual(&task, &request);
    assert_string_equal(net_of(&task, &request), "dense $hidden relu | softmax | smooth^2(norm=row)");
    task = plain_task("gcn");
    assert_string_equal(net_of(&task, &request), "gcn");
    task = plain_task("linear+lp");
    assert_string_equal(net_of(&task, &request), "softmax | smooth^2(norm=row)");
    sfu__request_clear(&request);
    request = request_of("compare", &options);
    assert_string_equal(net_of(&task, &request), "linear+lp");
    sfu__request_clear(&request);
    options.label_norm = "sym";
    assert_fails(SFU_ERR_ARGUMENT, sfu__request_make(&request, "set1", &options), "\"sym\"", "sym+row or row");
    sfu__request_clear(&request);
}

/* The space of the paper searches what the texts leave open: a study of each text starts. */
static void studies_take_the_texts(void **state) {
    (void)state;
    static const char *const texts[] = {"smooth(norm=sym+row) | dense $hidden relu | smooth(norm=sym+row) | softmax",
                                        "dense $hidden relu | softmax | smooth^2(right=0.67)", "smooth | softmax"};
    sfu_make_options make;
    sfu_make_options_init(&make);
    make.nodes = 200;
    make.classes = 3;
    make.vocabulary = 40;
    sfu_dataset *dataset = NULL;
    sfu_split *split = NULL;
    assert_ok(sfu_dataset_make(&dataset, &make));
    assert_ok(sfu_split_new(&split, dataset, "random:0", NULL));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sfu_study *study = NULL;
        sfu_tune_options options;
        sfu_tune_options_init(&options);
        options.trials = 2;
        sfu_train_options train;
        sfu_train_options_init(&train);
        train.epochs = 3;
        options.train = &train;
        assert_ok(sfu_tune(&study, dataset, texts[i], NULL, split, &options));
        assert_int_equal(strstr(texts[i], "$hidden") != NULL, strstr(sfu_study_space(study), "hidden=") != NULL);
        sfu_study_free(study);
    }
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

/* ---- Tables 1 and 2 ---------------------------------------------------------------------------------------------- */

static void save_dataset(const char *name, const sfu_import_options *import) {
    char file[64];
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_import(&dataset, import));
    snprintf(file, sizeof file, "%s.safetensors", name);
    assert_ok(sfu_dataset_save(dataset, test_path(file)));
    sfu_dataset_free(dataset);
}

/* Citeseer only; the other datasets are missing. */
static void make_citeseer(void) {
    sfu_import_options import;
    sfu_import_options_init(&import);
    import.source = test_data("planetoid/ind.citeseer");
    import.name = "citeseer";
    setenv("XDG_CACHE_HOME", test_path("cache"), 1);
    setenv("SFUMATO_DATA", test_path("."), 1);
    save_dataset("citeseer", &import);
}

static void datasets_stand_beside_the_papers(void **state) {
    (void)state;
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    make_citeseer();
    sfu__request request = request_of("datasets", &options);
    sfu__text text = {0};
    assert_ok(sfu__datasets_table(&text, &request));
    assert_non_null(strstr(text.bytes, "| Citeseer  | 3,327 | 4,552 |    3,703 |       6 |"));
    assert_non_null(strstr(text.bytes, "|   120 |   547 |   974 | 1,401 | 1,812 |\n"));
    assert_non_null(strstr(text.bytes, "|   120 |   547 |   974 | 1,401 | 1,827 |\n"));
    assert_non_null(strstr(text.bytes, "- Citeseer, set 5: 1,812, the paper 1,827 (-15): the paper counts the nodes"));
    assert_null(strstr(text.bytes, "not known"));
    assert_non_null(strstr(text.bytes, "Not there: cora, pubmed"));
    sfu__text_clear(&text);
    sfu__request_clear(&request);
}

static bool count_calls(void *user, const sfu_compare_progress *progress) {
    int *told = user;
    assert_int_equal(progress->total, 7);
    assert_int_equal(progress->done, *told);
    return ++*told > 0;
}

static bool give_up(void *user, const sfu_compare_progress *progress) { return (void)user, progress->done < 2; }

static void costs_are_those_of_table_1(void **state) {
    (void)state;
    const char *const datasets[] = {"citeseer"};
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.datasets = datasets;
    options.dataset_count = 1;
    make_citeseer();
    sfu__request request = request_of("cost", &options);
    sfu__text text = {0};
    int told = 0;
    assert_ok(sfu__cost_table(&text, &request, count_calls, &told));
    assert_int_equal(told, 7);
    /* N_E is the non-zeros of S: 2 x 4552 and 3327. L N_E d + L n d^2 + n d M = 9.14e10 + ... */
    const double n = 3327, E = 2 * 4552 + 3327, d = 3703, M = 6;
    char gcn[64], sgcn[64];
    snprintf(gcn, sizeof gcn, "%.3g", 2 * E * d + 2 * n * d * d + n * d * M);
    snprintf(sgcn, sizeof sgcn, "%.3g", n * d * M);
    assert_non_null(strstr(text.bytes, "N_E 12,431 non-zeros"));
    assert_non_null(strstr(text.bytes, gcn));
    assert_non_null(strstr(text.bytes, sgcn));
    assert_non_null(strstr(text.bytes, "| GCN+LP    | L N_E d + L n d^2 + n d M + L_l N_E M |"));
    assert_null(strstr(text.bytes, "nan"));
    sfu__text_clear(&text);
    assert_fails(SFU_ERR_CANCELLED, sfu__cost_table(&text, &request, give_up, NULL), "cancelled");
    sfu__text_clear(&text);
    sfu__request_clear(&request);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static sfu_status make_tasks(void *context) {
    const char *const datasets[] = {"cora"};
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.datasets = datasets;
    options.dataset_count = 1;
    options.splits = 1;
    options.feature_norm = "sym+row";
    sfu__request request = {0};
    sfu__tasks tasks = {0};
    sfu__text net = {0};
    sfu_status status = SFU_OK;
    (void)context;
    SFU_TRY(sfu__request_make(&request, "all", &options));
    SFU_TRY(sfu__paper_tasks(&tasks, &request));
    SFU_TRY(sfu__task_net(&net, &tasks.items[0], &request));
done:
    sfu__text_clear(&net);
    sfu__tasks_clear(&tasks);
    sfu__request_clear(&request);
    return status;
}

static sfu_status make_datasets_table(void *context) {
    const char *const datasets[] = {"citeseer", "cora"};
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.datasets = datasets;
    options.dataset_count = 2;
    sfu__request request = {0};
    sfu__text text = {0};
    sfu_status status = SFU_OK;
    (void)context;
    SFU_TRY(sfu__request_make(&request, "datasets", &options));
    SFU_TRY(sfu__datasets_table(&text, &request));
done:
    sfu__text_clear(&text);
    sfu__request_clear(&request);
    return status;
}

static void no_memory_is_an_answer(void **state) {
    (void)state;
    test_fail_each_allocation(make_tasks, NULL, 300);
}

static void no_memory_for_a_table_is_an_answer(void **state) {
    (void)state;
    make_citeseer();
    test_fail_each_allocation(make_datasets_table, NULL, test_is_slow() ? 60 : 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_table_has_its_cells),
        cmocka_unit_test(tasks_are_in_the_order_of_the_tables),
        cmocka_unit_test(all_runs_standard_splits_and_sweeps_first),
        cmocka_unit_test(requests_cut_a_table_down),
        cmocka_unit_test(what_the_paper_has_not_is_refused),
        cmocka_unit_test(loops_are_kept_under_another_name),
        cmocka_unit_test(every_network_is_the_one_that_is_meant),
        cmocka_unit_test(texts_are_as_a_person_would_write_them),
        cmocka_unit_test(rows_of_labels_are_scaled_alone),
        cmocka_unit_test(studies_take_the_texts),
        cmocka_unit_test(datasets_stand_beside_the_papers),
        cmocka_unit_test(costs_are_those_of_table_1),
        cmocka_unit_test(no_memory_is_an_answer),
        cmocka_unit_test(no_memory_for_a_table_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
