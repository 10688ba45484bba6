/* The tables "extras" and "noise": their tasks, their graphs, and the numbers of hand-made results, each recomputed
 * slowly from the entries. */
#include "support.h"

#include "beyond.h"
#include "contrast.h"
#include "extras.h"
#include "noise_means.h"
#include "random.h"
#include "result_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SPLITS = 10 };

static sfu__request request_of(const char *kind, const char *const *nets, int count) {
    sfu__request request = {0};
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.nets = nets;
    options.net_count = count;
    options.splits = SPLITS;
    options.trials = 7;
    options.lpnn_trials = 3;
    assert_ok(sfu__request_make(&request, kind, &options));
    return request;
}

static sfu__tasks tasks_of(const sfu__request *request) {
    sfu__tasks tasks = {0};
    assert_ok(sfu__paper_tasks(&tasks, request));
    return tasks;
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

static void extras_have_a_reference(void **state) {
    (void)state;
    sfu__request request = request_of("extras", NULL, 0);
    sfu__tasks tasks = tasks_of(&request);
    assert_int_equal(tasks.count, 5 * 5 * SPLITS * 4);
    for (int i = 0; i < tasks.count; i += 4 * SPLITS) { /* datasets and sizes */
        const sfu__task *task = &tasks.items[i];
        const sfu__published_row *best = sfu__paper_best(task->dataset, task->size);
        assert_non_null(best);
        assert_true(strcasecmp(task->net, best->net) == 0);
        for (int net = 0; net < 3; net++) {
            const sfu__task *other = &tasks.items[i + (net + 1) * SPLITS];
            assert_string_equal(other->net, sfu__extra_net(net));
            assert_string_equal(other->dataset, task->dataset);
            assert_string_equal(other->size, task->size);
            assert_string_equal(other->split, "random:0");
            assert_int_equal(other->trials, 7);
        }
    }
    assert_string_equal(sfu__paper_best("cora", "1")->net, "MLP+LP");
    assert_true(sfu__paper_best("some/dblp.safetensors", "2")->mean == 0.826);
    assert_null(sfu__paper_best("citation", "1"));
    assert_null(sfu__paper_best("cora", "6"));
    sfu__tasks_clear(&tasks);
    sfu__request_clear(&request);
}

static void networks_can_be_left_out(void **state) {
    (void)state;
    static const char *const one[] = {"appnp"}, *const paper[] = {"gcn"}, *const both[] = {"gcn", "learned"};
    sfu__request request = request_of("extras", one, 1);
    sfu__tasks tasks = tasks_of(&request);
    assert_int_equal(tasks.count, 5 * 5 * SPLITS * 2);
    sfu__tasks_clear(&tasks);
    sfu__request_clear(&request);
    request = request_of("extras", paper, 1);
    assert_fails(SFU_ERR_ARGUMENT, sfu__paper_tasks(&tasks, &request), "extras has none of these networks");
    sfu__request_clear(&request);
    request = request_of("noise", both, 2);
    tasks = tasks_of(&request);
    assert_int_equal(tasks.count, 5 * SFU__NOISE_LEVELS * 2 * SPLITS);
    sfu__tasks_clear(&tasks);
    sfu__request_clear(&request);
    request = request_of("set1", both + 1, 1);
    assert_fails(SFU_ERR_ARGUMENT, sfu__paper_tasks(&tasks, &request), "set1 has none of these networks");
    sfu__request_clear(&request);
}

static void noise_has_all_networks(void **state) {
    (void)state;
    sfu__request request = request_of("noise", NULL, 0);
    sfu__tasks tasks = tasks_of(&request);
    assert_int_equal(tasks.count, 5 * SFU__NOISE_LEVELS * 9 * SPLITS);
    for (int i = 0; i < tasks.count; i++) {
        const sfu__task *task = &tasks.items[i];
        assert_string_equal(task->size, "1");
        assert_int_equal(task->trials, strcmp(task->net, "lpnn") == 0 ? 3 : 7);
        assert_true(sfu__is_beyond(&request, task));
    }
    assert_string_equal(tasks.items[9 * SPLITS].dataset, "cora:removed=10%");
    assert_string_equal(tasks.items[9 * SPLITS].path, "cora");
    assert_string_equal(tasks.items[tasks.count - 1].dataset, "dblp:rewired=50%");
    assert_string_equal(tasks.items[tasks.count - 1].net, "learned");
    sfu__tasks_clear(&tasks);
    sfu__request_clear(&request);
}

static void levels_are_read_back(void **state) {
    (void)state;
    for (int i = 0; i < SFU__NOISE_LEVELS; i++) {
        char name[SFU__NAME_MAX];
        size_t size;
        const sfu__noise_level level = sfu__noise_level_at(i);
        sfu__noise_print(name, "acm+loops", level);
        const sfu__noise_level read = sfu__noise_read(&size, name);
        assert_int_equal(read.percent, level.percent);
        assert_int_equal(read.rewired, level.rewired);
        assert_int_equal(size, strlen("acm+loops"));
        assert_int_equal(sfu__is_noisy(name), i > 0);
    }
    assert_false(sfu__is_noisy("removed=10%"));
    assert_false(sfu__is_noisy("cora:removed=15%"));
}

/* The networks can be trained: their text with the space of their studies. */
static void networks_and_spaces_fit(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    sfu_split *split = NULL;
    sfu__request request = request_of("extras", NULL, 0);
    assert_ok(sfu_dataset_open(&dataset, "citation"));
    assert_ok(sfu_split_new(&split, dataset, "random:0", "1"));
    for (int i = 0; sfu__extra_net(i) != NULL; i++) {
        sfu__task task = {.alpha = NAN, .beta = NAN};
        sfu__text net = {0}, space = {0};
        sfu_study *study = NULL;
        sfu_tune_options options;
        sfu_tune_options_init(&options);
        snprintf(task.net, sizeof task.net, "%s", sfu__extra_net(i));
        assert_ok(sfu__task_net(&net, &task, &request));
        assert_ok(sfu__task_space(&space, &task, &request));
        options.space = space.bytes;
        options.space_is_shared = true;
        options.trials = test_is_slow() ? 1 : 4;
        assert_ok(sfu_tune(&study, dataset, net.bytes, NULL, split, &options));
        assert_non_null(sfu_study_ranked(study, 0));
        sfu_study_free(study);
        sfu__text_clear(&net);
        sfu__text_clear(&space);
    }
    sfu__request_clear(&request);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

static void tasks_open_noisy_graphs(void **state) {
    (void)state;
    sfu__request request = request_of("noise", NULL, 0);
    sfu_dataset *original = NULL, *noisy = NULL, *opened = NULL;
    sfu_noise_options options;
    char digest[65], other[65];
    sfu_noise_options_init(&options);
    options.rewire = 0.3;
    assert_ok(sfu_dataset_open(&original, "citation"));
    assert_ok(sfu_dataset_noise(&noisy, original, &options));
    assert_ok(sfu_dataset_digest(digest, noisy));
    const sfu__task task = {.dataset = "citation:rewired=30%", .path = "citation"},
                    missing = {.dataset = "none:rewired=30%", .path = "none"};
    assert_ok(sfu__task_open(&opened, &task, &request, 0));
    assert_ok(sfu_dataset_digest(other, opened));
    assert_string_equal(digest, other);
    assert_string_equal(sfu_dataset_name(opened), "citation:rewired=30%");
    sfu_dataset_free(opened);
    opened = NULL;
    assert_fails(SFU_ERR_NOT_FOUND, sfu__task_open(&opened, &missing, &request, 0), "none");
    assert_null(opened);
    sfu_dataset_free(noisy);
    sfu_dataset_free(original);
    sfu__request_clear(&request);
}

/* ---- hand-made results ------------------------------------------------------------------------------------------- */

/* An accuracy over 1000 nodes. */
static double draw(uint64_t key, int split) {
    const double base = 0.6 + 0.001 * (double)(sfu__random_bits(1, 1, key) % 250);
    return floor((base + 0.001 * (double)(sfu__random_bits(2, key, (uint64_t)split) % 40)) * 1000 + 0.5) / 1000;
}

/* Every task of a table has a result; `skip` leaves one entry out. */
static sfu_results *results_of(const char *kind, const char *const *nets, int count, int skip) {
    sfu_results *results = sfu__alloc_zero(1, sizeof *results);
    assert_non_null(results);
    results->folder = sfu__copy_string("results");
    results->request = request_of(kind, nets, count);
    sfu__tasks tasks = tasks_of(&results->request);
    for (int i = 0; i < tasks.count; i++) {
        sfu__entry entry = {.task = tasks.items[i], .best_trial = 1, .val_accuracy = 0.5, .epoch_s = 1e-4};
        const char *number = strchr(entry.task.split, ':');
        const int split = number != NULL ? number[1] - '0' : 0;
        entry.test_accuracy = draw((uint64_t)(i / SPLITS), split);
        snprintf(entry.name, sizeof entry.name, "%s", entry.task.dataset);
        if (i != skip) {
            assert_ok(sfu__entries_add(&results->entries, &entry));
        }
    }
    sfu__tasks_clear(&tasks);
    assert_ok(sfu__results_finish(results));
    return results;
}

static double accuracy(const sfu_results *results, const char *dataset, const char *net, const char *size, int split) {
    char name[32];
    snprintf(name, sizeof name, "random:%d", split);
    for (int i = 0; i < results->entries.count; i++) {
        const sfu__entry *entry = &results->entries.items[i];
        if (strcmp(entry->task.dataset, dataset) == 0 && strcasecmp(entry->task.net, net) == 0 &&
            strcmp(entry->task.size, size) == 0 && strcmp(entry->task.split, name) == 0) {
            return entry->test_accuracy;
        }
    }
    return NAN;
}

static void extras_are_compared_with_the_reference(void **state) {
    (void)state;
    sfu_results *results = results_of("extras", NULL, 0, -1);
    double *differences = calloc((size_t)results->entries.count, sizeof *differences);
    sfu__extras_row row;
    int rows = 0;
    assert_int_equal(results->rank_count, 0);
    assert_int_equal(results->pair_count, 0);
    for (int from = 0; sfu__extras_next(&row, results, &from); rows++) {
        assert_int_equal(row.count, 3);
        assert_true(row.reference >= 0);
        double least = 1, p[3], sorted[3];
        for (int net = 0; net < 3; net++) {
            const sfu_cell *cell = &results->cells[results->row_groups[row.groups[net]].cell];
            const sfu_cell *reference = &results->cells[results->row_groups[row.reference].cell];
            const sfu__contrast contrast = sfu__contrast_of(results, cell, reference, 4, differences);
            double sum = 0, ours[SPLITS], theirs[SPLITS];
            for (int split = 0; split < SPLITS; split++) {
                ours[split] = accuracy(results, row.dataset, sfu__extra_net(net), row.size, split);
                theirs[split] = accuracy(results, row.dataset, row.paper->net, row.size, split);
                sum += ours[split] - theirs[split];
            }
            assert_true(fabs(contrast.difference - sum / SPLITS) < 1e-12);
            assert_true(cell->beyond && isnan(cell->rank));
            assert_ok(sfu__wilcoxon(&p[net], ours, theirs, SPLITS));
            sorted[net] = p[net];
            least = p[net] < least ? p[net] : least;
            assert_true(cell->p >= p[net] && cell->p <= fmin(1, 3 * p[net]) + 1e-12);
        }
        assert_ok(sfu__holm(sorted, 3));
        for (int net = 0; net < 3; net++) {
            assert_true(sorted[net] == results->cells[results->row_groups[row.groups[net]].cell].p);
        }
    }
    assert_int_equal(rows, 25);
    assert_non_null(strstr(results->text, "## Networks beyond the paper"));
    assert_non_null(strstr(results->text, "- any: above the paper's best mean in "));
    free(differences);
    sfu_results_free(results);
}

/* In "all" the networks beyond the paper change neither ranks nor pairs of the others. */
static void extras_leave_the_ranks_alone(void **state) {
    (void)state;
    sfu_results *all = results_of("all", NULL, 0, -1);
    sfu__extras_row row;
    int rows = 0;
    for (int i = 0; i < all->rank_count; i++) {
        assert_false(sfu__is_extra_net(all->ranks[i].net));
    }
    assert_int_equal(all->rank_count, 8 * 6);
    for (int from = 0; sfu__extras_next(&row, all, &from); rows++) {
        assert_true(row.reference >= 0 && !all->row_groups[row.reference].beyond);
    }
    assert_int_equal(rows, 25);
    sfu_results_free(all);
}

static const char *const datasets[] = {"cora", "citeseer", "pubmed", "acm", "dblp"};

static double noisy_mean(const sfu_results *results, const char *net, int level, int split) {
    double sum = 0;
    for (int d = 0; d < 5; d++) {
        char name[SFU__NAME_MAX];
        sfu__noise_print(name, datasets[d], sfu__noise_level_at(level));
        sum += accuracy(results, name, net, "1", split);
    }
    return sum / 5;
}

static void losses_are_paired(void **state) {
    (void)state;
    sfu_results *results = results_of("noise", NULL, 0, -1);
    sfu__string_list found = {0}, nets = {0};
    assert_ok(sfu__noise_axes(&found, &nets, results));
    assert_int_equal(found.count, 5);
    assert_int_equal(nets.count, 9);
    for (int level = 0; level < SFU__NOISE_LEVELS; level++) {
        const sfu__noise_term terms[] = {{"gcn", {0}, 1},
                                         {"gcn", sfu__noise_level_at(level), -1},
                                         {"mlp+lp", {0}, -1},
                                         {"mlp+lp", sfu__noise_level_at(level), 1}};
        sfu__noise_mean mean;
        double values[SPLITS];
        for (int split = 0; split < SPLITS; split++) {
            values[split] = noisy_mean(results, "gcn", 0, split) - noisy_mean(results, "gcn", level, split) -
                            noisy_mean(results, "mlp+lp", 0, split) + noisy_mean(results, "mlp+lp", level, split);
        }
        const double wanted = sfu__mean(values, SPLITS);
        const sfu__interval interval = sfu__mean_interval(wanted, sfu__deviation(values, SPLITS), SPLITS);
        assert_ok(sfu__noise_mean_of(&mean, results, &found, terms, 4));
        assert_int_equal(mean.splits, SPLITS);
        assert_true(fabs(mean.mean - wanted) < 1e-12);
        assert_true(fabs(mean.interval.low - interval.low) < 1e-10 && fabs(mean.interval.high - interval.high) < 1e-10);
    }
    assert_non_null(strstr(results->text, "# Beyond the paper: noisy edges"));
    assert_non_null(strstr(results->text, "| feature minus label propagation |"));
    assert_null(strstr(results->text, "- datasets: cora, citeseer, pubmed, acm, dblp and")); /* noisy ones not listed */
    sfu__string_list_clear(&found);
    sfu__string_list_clear(&nets);
    sfu_results_free(results);
}

/* A split that lacks one result does not count in what needs it, and counts in the rest. */
static void interrupted_runs_count_complete_splits(void **state) {
    (void)state;
    static const char *const nets[] = {"gcn", "mlp+lp"};
    sfu_results *results = results_of("noise", nets, 2, 3); /* gcn on cora without noise, split 3 */
    sfu__string_list found = {0}, all = {0};
    sfu__noise_mean mean;
    assert_ok(sfu__noise_axes(&found, &all, results));
    assert_ok(sfu__noise_mean_of(&mean, results, &found, &(sfu__noise_term){"gcn", {0}, 1}, 1));
    assert_int_equal(mean.splits, SPLITS - 1);
    assert_ok(sfu__noise_mean_of(&mean, results, &found, &(sfu__noise_term){"mlp+lp", {0}, 1}, 1));
    assert_int_equal(mean.splits, SPLITS);
    assert_ok(sfu__noise_mean_of(&mean, results, &found, &(sfu__noise_term){"sgcn", {0}, 1}, 1));
    assert_int_equal(mean.splits, 0);
    assert_true(isnan(mean.mean));
    const char *said = strstr(results->text, " of 9 "); /* in the cell of cora, and in the mean */
    assert_non_null(said);
    assert_non_null(said = strstr(said + 1, " of 9 "));
    assert_null(strstr(said + 1, " of 9 "));
    sfu__string_list_clear(&found);
    sfu__string_list_clear(&all);
    sfu_results_free(results);
}

static sfu_status make_tables(void *context) {
    sfu_status status = SFU_OK;
    sfu__text_table one = {0}, two = {0}, three = {0};
    SFU_TRY(sfu__noise_table(&one, context));
    SFU_TRY(sfu__noise_loss_table(&two, context));
    SFU_TRY(sfu__extras_table(&three, context));
done:
    sfu__text_table_clear(&one);
    sfu__text_table_clear(&two);
    sfu__text_table_clear(&three);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static const char *const nets[] = {"gcn", "linear+lp"};
    sfu_results *results = results_of("noise", nets, 2, -1);
    test_fail_each_allocation(make_tables, results, 60);
    sfu_results_free(results);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extras_have_a_reference),
        cmocka_unit_test(networks_can_be_left_out),
        cmocka_unit_test(noise_has_all_networks),
        cmocka_unit_test(levels_are_read_back),
        cmocka_unit_test(networks_and_spaces_fit),
        cmocka_unit_test(tasks_open_noisy_graphs),
        cmocka_unit_test(extras_are_compared_with_the_reference),
        cmocka_unit_test(extras_leave_the_ranks_alone),
        cmocka_unit_test(losses_are_paired),
        cmocka_unit_test(interrupted_runs_count_complete_splits),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
