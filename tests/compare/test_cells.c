/* Cells, ranks, tests, pairwise comparisons and tables of hand-made studies: every number is recomputed slowly from the
 * entries, and the tables are compared with tests/tables (UPDATE=1 rewrites these for review). */
#include "support.h"

#include "contrast.h"
#include "file.h"
#include "published.h"
#include "random.h"
#include "results_int.h"
#include "slow_wilcoxon.h"
#include "stats.h"
#include "text_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- hand-made studies ------------------------------------------------------------------------------------------- */

static sfu_results *new_results(const char *kind, sfu_compare_options *options) {
    sfu_results *results = sfu__alloc_zero(1, sizeof *results);
    assert_non_null(results);
    results->folder = sfu__copy_string("results");
    assert_ok(sfu__request_make(&results->request, kind, options));
    return results;
}

/* An accuracy over 1000 nodes, between 0.6 and 0.9: depends on the network and dataset, and slightly on the split. */
static double draw(uint64_t key, int split, int spread) {
    const double base = 0.6 + 0.001 * (double)(sfu__random_bits(1, 1, 2 * key) % 250);
    const double noise = 0.001 * (double)(sfu__random_bits(2, key, 2 * (uint64_t)split) % (uint64_t)spread);
    return floor((base + noise) * 1000 + 0.5) / 1000;
}

static void add(sfu_results *results, const sfu__task *task, uint64_t key, int split) {
    sfu__entry entry = {.task = *task,
                        .best_trial = 3,
                        .val_accuracy = draw(key + 1000, split, 30),
                        .val_loss = 0.5,
                        .test_accuracy = draw(key, split, 40),
                        .test_macro_f1 = 0.5,
                        .seconds = 12.5 + split,
                        .epoch_s = 1e-4 * (double)(1 + key % 5),
                        .epochs = 1000};
    char *stem = sfu__path_stem(task->dataset);
    assert_non_null(stem);
    snprintf(entry.name, sizeof entry.name, "%s", stem);
    sfu__free(stem);
    memset(entry.split_digest, 'a', 64);
    assert_ok(sfu__entries_add(&results->entries, &entry));
}

static sfu__task make_task(const char *dataset, const char *net, const char *size, int split, int32_t trials) {
    sfu__task task = {.alpha = NAN, .beta = NAN, .trials = trials};
    snprintf(task.dataset, sizeof task.dataset, "%s", dataset);
    snprintf(task.net, sizeof task.net, "%s", net);
    snprintf(task.size, sizeof task.size, "%s", size);
    if (strcmp(size, "standard") == 0) {
        snprintf(task.split, sizeof task.split, "standard");
    } else {
        snprintf(task.split, sizeof task.split, "random:%d", split);
    }
    return task;
}

static const char *const two_datasets[] = {"mini", "folder/other.safetensors"};
static const char *const four_nets[] = {"gcn", "sgcn", "linear+lp", "smooth(self=2) | dense 8 relu | softmax"};
static const char *const two_sizes[] = {"5", "1"};

/* Two datasets, two sizes, four networks, `splits` splits; entries in the order of the tasks. */
static sfu_results *comparison(int splits) {
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.space = "paper";
    options.datasets = two_datasets;
    options.dataset_count = 2;
    options.nets = four_nets;
    options.net_count = 4;
    options.sizes = two_sizes;
    options.size_count = 2;
    options.splits = splits;
    options.trials = 20;
    sfu_results *results = new_results("compare", &options);
    for (int i = 0; i < 2 * 2 * 4 * splits; i++) {
        const int dataset = i / (8 * splits), size = i / (4 * splits) % 2, net = i / splits % 4, split = i % splits;
        const sfu__task task = make_task(two_datasets[dataset], four_nets[net], two_sizes[size], split, 20);
        add(results, &task, (uint64_t)(16 * dataset + 8 * size + net), split);
    }
    return results;
}

/* ---- golden tables ----------------------------------------------------------------------------------------------- */

static void write_golden(const char *path, const sfu__text *text) {
    sfu__writer *writer = NULL;
    assert_ok(sfu__writer_open(&writer, path));
    assert_ok(sfu__writer_add(writer, text->bytes, text->size));
    assert_ok(sfu__writer_commit(writer));
    sfu__writer_close(writer);
}

static void assert_golden(const char *name, const sfu__text *text) {
    char path[512];
    const char *source = getenv("SOURCE");
    sfu__bytes wanted = {0};
    if (source == NULL) {
        print_message("without $SOURCE %s is not compared\n", name);
        return;
    }
    snprintf(path, sizeof path, "%s/tests/compare/tables/%s", source, name);
    if (getenv("UPDATE") != NULL) {
        write_golden(path, text);
        return;
    }
    assert_ok(sfu__bytes_open(&wanted, path));
    if (wanted.size != text->size || memcmp(wanted.data, text->bytes, text->size) != 0) {
        print_error("%s is now:\n%s", path, text->bytes);
        fail();
    }
    sfu__bytes_close(&wanted);
}

/* tables.md followed by the advice, and tables.tex. */
static void assert_tables(const char *name, const sfu_results *results) {
    char file[64];
    sfu__text md = {0}, tex = {0};
    snprintf(file, sizeof file, "%s.md", name);
    assert_ok(sfu__text_format(&md, "%s", sfu_results_text(results)));
    assert_golden(file, &md);
    snprintf(file, sizeof file, "%s.tex", name);
    assert_ok(sfu__tables_tex(&tex, results));
    assert_golden(file, &tex);
    sfu__text_clear(&md);
    sfu__text_clear(&tex);
}

/* ---- slow recomputation ------------------------------------------------------------------------------------------ */

enum { MOST = SLOW_PAIRS };

static const char *given_dataset(const char *name) {
    return strcmp(name, "mini") == 0 ? two_datasets[0] : two_datasets[1];
}

/* The test accuracies of a cell by split, NaN where there is none. */
static void values_of(double values[MOST], const sfu_results *results, const sfu_cell *cell) {
    for (int split = 0; split < MOST; split++) {
        const sfu__task task = make_task(given_dataset(cell->dataset), cell->net, cell->size, split, 0);
        const sfu__entry *entry = sfu__entries_find(&results->entries, &task);
        values[split] = entry != NULL ? entry->test_accuracy : NAN;
    }
}

static void assert_near(double got, double want) {
    if (!(fabs(got - want) < 1e-12 || (isnan(got) && isnan(want)))) {
        print_error("%.17g is not %.17g\n", got, want);
        fail();
    }
}

/* Of Student's t at 97.5 %, by the number of values. */
static const double quantiles[] = {NAN,
                                   NAN,
                                   12.706204736174705,
                                   4.302652729749464,
                                   3.182446305284263,
                                   2.7764451051977996,
                                   2.5705818366147395,
                                   2.4469118511449692,
                                   2.3646242510102993,
                                   2.306004135204166,
                                   2.2621571627982053};

static void check_mean(const sfu_results *results, const sfu_cell *cell) {
    double values[MOST], sum = 0, squares = 0;
    int count = 0;
    values_of(values, results, cell);
    for (int i = 0; i < MOST; i++) {
        sum += isnan(values[i]) ? 0 : values[i];
        count += !isnan(values[i]);
    }
    for (int i = 0; i < MOST; i++) {
        squares += isnan(values[i]) ? 0 : (values[i] - sum / count) * (values[i] - sum / count);
    }
    assert_int_equal(cell->splits, count);
    assert_near(cell->mean, sum / count);
    const double std = count > 1 ? sqrt(squares / (count - 1)) : NAN;
    assert_near(cell->std, std);
    assert_true(count <= 10);
    const double half = quantiles[count] * std / sqrt(count);
    assert_true(isnan(std) ? isnan(cell->ci_low) : fabs(cell->ci_low - fmax(0, cell->mean - half)) < 1e-9);
    assert_true(isnan(std) ? isnan(cell->ci_high) : fabs(cell->ci_high - fmin(1, cell->mean + half)) < 1e-9);
}

static bool same_field(const sfu_cell *one, const sfu_cell *other) {
    return strcmp(one->dataset, other->dataset) == 0 && strcmp(one->size, other->size) == 0;
}

static double slow_rank(const sfu_results *results, const sfu_cell *cell) {
    double better = 0, equal = 0;
    for (int i = 0; sfu_results_cell(results, i) != NULL; i++) {
        const sfu_cell *other = sfu_results_cell(results, i);
        if (same_field(cell, other)) {
            equal += fabs(other->mean - cell->mean) < 1e-9;
            better += other->mean > cell->mean + 1e-9;
        }
    }
    return better + (equal + 1) / 2;
}

/* As in a cell: NaN with fewer than two common splits, 1 if they are equal on all. */
static double slow_p(const double *one, const double *other) {
    int pairs = 0;
    for (int i = 0; i < MOST; i++) {
        pairs += isnan(one[i] + other[i]) ? 0 : 1;
    }
    const double p = slow_wilcoxon(one, other, MOST);
    return pairs < 2 ? NAN : isnan(p) ? 1 : p;
}

/* p-values of all cells of a block against its best, in the order of the cells, NaN for the best. */
static int slow_tests(double *p, const sfu_cell **cells, const sfu_results *results, const sfu_cell *of) {
    int count = 0, best = 0;
    double ours[MOST], best_ones[MOST];
    for (int i = 0; sfu_results_cell(results, i) != NULL; i++) {
        if (same_field(of, sfu_results_cell(results, i))) {
            cells[count] = sfu_results_cell(results, i);
            best = cells[count]->mean > cells[best]->mean ? count : best;
            count++;
        }
    }
    values_of(best_ones, results, cells[best]);
    for (int i = 0; i < count; i++) {
        values_of(ours, results, cells[i]);
        p[i] = i == best ? NAN : slow_p(ours, best_ones);
    }
    return count;
}

/* Holm correction from its definition. */
static double slow_holm(const double *p, int count, int of) {
    double adjusted = 0;
    for (int i = 0; i < count; i++) {
        if (!isnan(p[i]) && (p[i] < p[of] || i == of)) {
            int rest = 0;
            for (int j = 0; j < count; j++) {
                rest += !isnan(p[j]) && p[j] >= p[i];
            }
            adjusted = fmax(adjusted, rest * p[i]);
        }
    }
    return isnan(p[of]) ? NAN : fmin(1, adjusted);
}

static void check_field(const sfu_results *results, const sfu_cell *cell) {
    double p[MOST];
    const sfu_cell *cells[MOST];
    const int count = slow_tests(p, cells, results, cell);
    assert_near(cell->rank, slow_rank(results, cell));
    for (int i = 0; i < count; i++) {
        assert_near(cells[i]->p, slow_holm(p, count, i));
    }
}

static int count_cells(const sfu_results *results) {
    int count = 0;
    while (sfu_results_cell(results, count) != NULL) {
        count++;
    }
    return count;
}

/* Whether one dataset and size has all networks. */
static bool is_whole(const sfu_results *results, const sfu_cell *cell, int nets) {
    for (int i = 0; sfu_results_cell(results, i) != NULL; i++) {
        nets -= same_field(cell, sfu_results_cell(results, i));
    }
    return nets == 0;
}

/* Every pair of a size once; an interval of a difference is at most as wide as those of its ranks together. */
static void check_rank_pairs(const sfu_results *results, int nets) {
    int pairs = 0;
    const sfu_rank_pair *pair;
    for (; (pair = sfu_results_rank_pair(results, pairs)) != NULL; pairs++) {
        double ranks[2] = {NAN, NAN}, width = 1e-9;
        for (int r = 0; r < results->rank_count; r++) {
            const sfu_rank *rank = &results->ranks[r];
            const bool one = rank->net == pair->one, other = rank->net == pair->other;
            if (rank->size == pair->size && (one || other)) {
                ranks[other] = rank->rank;
                width += rank->high - rank->low;
            }
        }
        assert_near(pair->difference, ranks[0] - ranks[1]);
        assert_true(pair->low <= pair->high && pair->high - pair->low <= 2 * width);
    }
    assert_int_equal(pairs % (nets * (nets - 1) / 2), 0);
}

static void check_ranks(const sfu_results *results, int nets) {
    for (int r = 0; sfu_results_rank(results, r) != NULL; r++) {
        const sfu_rank *rank = sfu_results_rank(results, r);
        double sum = 0;
        int datasets = 0;
        for (int i = 0; sfu_results_cell(results, i) != NULL; i++) {
            const sfu_cell *cell = sfu_results_cell(results, i);
            if (strcmp(cell->net, rank->net) == 0 && strcmp(cell->size, rank->size) == 0 &&
                is_whole(results, cell, nets)) {
                sum += slow_rank(results, cell);
                datasets++;
            }
        }
        assert_int_equal(rank->datasets, datasets);
        assert_near(rank->rank, datasets > 0 ? sum / datasets : NAN);
        assert_near(rank->critical, sfu__critical_difference(nets, datasets));
        assert_true(isnan(rank->published->mean));
        const bool known = datasets > 0 && results->request.splits > 1 && nets > 1;
        assert_true(known ? rank->low >= 1 && rank->high <= nets && rank->low <= rank->high : isnan(rank->low) != 0);
    }
}

/* The mean of the differences on common splits, and its interval. */
static void check_contrast(const sfu_results *results, const sfu__contrast *contrast, const sfu_cell *best) {
    double ours[MOST], theirs[MOST], sum = 0, squares = 0;
    int count = 0;
    values_of(ours, results, contrast->cell);
    values_of(theirs, results, best);
    for (int i = 0; i < MOST; i++) {
        ours[i] -= theirs[i];
        sum += isnan(ours[i]) ? 0 : ours[i];
        count += !isnan(ours[i]);
    }
    for (int i = 0; i < MOST; i++) {
        squares += isnan(ours[i]) ? 0 : (ours[i] - sum / count) * (ours[i] - sum / count);
    }
    const double half = count > 1 ? quantiles[count] * sqrt(squares / (count - 1) / count) : NAN;
    assert_int_equal(contrast->splits, count);
    assert_near(contrast->difference, sum / count);
    assert_true(isnan(half) ? isnan(contrast->interval.low)
                            : fabs(contrast->interval.low - (sum / count - half)) < 1e-9);
    assert_true(isnan(half) ? isnan(contrast->interval.high)
                            : fabs(contrast->interval.high - (sum / count + half)) < 1e-9);
}

static void check_contrasts(const sfu_results *results, const char *size) {
    sfu__contrast contrasts[MOST];
    sfu__layout layout = {0};
    assert_ok(sfu__layout_make(&layout, results, size));
    for (int dataset = 0; dataset < layout.dataset_count; dataset++) {
        const sfu_cell *best = sfu__layout_best(&layout, dataset);
        int count = 0;
        assert_true(layout.net_count <= MOST);
        assert_ok(sfu__contrasts_make(contrasts, &count, results, &layout, dataset));
        for (int i = 0; i < count; i++) {
            if (contrasts[i].cell == best) {
                assert_int_equal(contrasts[i].standing, SFU__STANDING_BEST);
            } else {
                check_contrast(results, &contrasts[i], best);
            }
        }
    }
    sfu__layout_clear(&layout);
}

static void check_all(const sfu_results *results, int nets) {
    for (int i = 0; sfu__layout_size(results, i) != NULL; i++) {
        check_contrasts(results, sfu__layout_size(results, i));
    }
    for (int i = 0; sfu_results_cell(results, i) != NULL; i++) {
        const sfu_cell *cell = sfu_results_cell(results, i);
        check_mean(results, cell);
        check_field(results, cell);
        assert_string_equal(cell->measure, "test");
        assert_true(cell->k == 0 && isnan(cell->alpha) && isnan(cell->beta) && isnan(cell->published->mean));
        assert_string_equal(cell->published->verdict, "");
        assert_null(cell->same_as);
        assert_false(cell->exponents);
    }
    check_ranks(results, nets);
    check_rank_pairs(results, nets);
}

/* ---- comparisons ------------------------------------------------------------------------------------------------- */

static void figures_are_right(void **state) {
    (void)state;
    sfu_results *results = comparison(10);
    assert_ok(sfu__results_finish(results));
    assert_int_equal(count_cells(results), 16);
    check_all(results, 4);
    /* In the order of the request, sizes in ascending order. */
    const sfu_cell *cell = sfu_results_cell(results, 0), *last = sfu_results_cell(results, 15);
    assert_string_equal(cell->dataset, "mini");
    assert_string_equal(cell->size, "1");
    assert_string_equal(cell->net, "gcn");
    assert_int_equal(cell->trials, 20);
    assert_string_equal(last->dataset, "other");
    assert_string_equal(last->size, "5");
    assert_string_equal(last->net, four_nets[3]);
    assert_int_equal(results->rank_count, 8);
    assert_string_equal(results->ranks[0].size, "1");
    assert_string_equal(results->ranks[7].size, "5");
    assert_tables("compare", results);
    sfu_results_free(results);
}

static void pairs_are_right(void **state) {
    (void)state;
    sfu_results *results = comparison(10);
    double ours[MOST], theirs[MOST];
    assert_ok(sfu__results_finish(results));
    assert_int_equal(results->pair_count, 2 * 2 * 2); /* sgcn and linear+lp, sgcn and gcn; two datasets, two sizes */
    for (int i = 0; i < results->pair_count; i++) {
        const sfu_pair *row = sfu_results_pair(results, i);
        const sfu_cell *one = NULL, *other = NULL;
        for (int c = 0; sfu_results_cell(results, c) != NULL; c++) {
            const sfu_cell *cell = sfu_results_cell(results, c);
            const bool here = strcmp(cell->dataset, row->dataset) == 0 && strcmp(cell->size, row->size) == 0;
            one = here && strcmp(cell->net, row->one) == 0 ? cell : one;
            other = here && strcmp(cell->net, row->other) == 0 ? cell : other;
        }
        assert_non_null(one);
        assert_non_null(other);
        assert_string_equal(row->one, "sgcn");
        assert_string_equal(row->other, i < 4 ? "linear+lp" : "gcn");
        assert_string_equal(row->title, i < 4 ? "feature or label propagation" : "linear or non-linear");
        values_of(ours, results, one);
        values_of(theirs, results, other);
        assert_near(row->one_mean, one->mean);
        assert_near(row->other_mean, other->mean);
        assert_near(row->difference, one->mean - other->mean);
        assert_near(row->p, slow_p(ours, theirs));
    }
    assert_null(sfu_results_pair(results, results->pair_count));
    assert_null(sfu_results_pair(results, -1));
    sfu_results_free(results);
}

static int backwards(const void *a, const void *b) {
    const sfu__entry *one = a, *other = b;
    const int split = strcmp(other->task.split, one->task.split);
    return split != 0 ? split : strcmp(one->task.net, other->task.net);
}

/* Networks that are not in the request keep the order of the entries; otherwise the order of entries has no effect. */
static void the_order_of_entries_does_not_matter(void **state) {
    (void)state;
    sfu_results *one = comparison(10), *other = comparison(10);
    qsort(other->entries.items, (size_t)other->entries.count, sizeof *other->entries.items, backwards);
    assert_ok(sfu__results_finish(one));
    assert_ok(sfu__results_finish(other));
    assert_string_equal(sfu_results_text(one), sfu_results_text(other));
    for (int i = 0; sfu_results_cell(one, i) != NULL; i++) {
        assert_true(sfu_results_cell(one, i)->mean == sfu_results_cell(other, i)->mean);
        assert_true(sfu_results_cell(one, i)->std == sfu_results_cell(other, i)->std);
    }
    sfu_results_free(one);
    sfu_results_free(other);
}

/* An interrupted run: some splits of one network, and none on another dataset. */
static void what_is_missing_is_left_out(void **state) {
    (void)state;
    sfu_results *results = comparison(7);
    int kept = 0;
    for (int i = 0; i < results->entries.count; i++) {
        const sfu__task *task = &results->entries.items[i].task;
        const bool gone =
            strcmp(task->size, "1") == 0 && ((strcmp(task->dataset, "mini") == 0 && strcmp(task->net, "sgcn") == 0 &&
                                              strcmp(task->split, "random:4") >= 0) ||
                                             (strcmp(task->dataset, "mini") == 0 && strcmp(task->net, "gcn") == 0));
        if (!gone) {
            results->entries.items[kept++] = results->entries.items[i];
        }
    }
    results->entries.count = kept;
    results->entries.items[0].task.trials = 7;
    assert_ok(sfu__results_finish(results));
    assert_int_equal(count_cells(results), 15);
    check_all(results, 4);
    assert_int_equal(results->ranks[0].datasets, 1);
    for (int i = 0; i < 8; i++) {
        assert_string_equal(results->ranks[i].net, four_nets[i % 4]);
    }
    assert_tables("interrupted", results);
    sfu_results_free(results);
}

static void few_splits(void **state) {
    (void)state;
    for (int splits = 1; splits <= 2; splits++) {
        sfu_results *results = comparison(splits);
        assert_ok(sfu__results_finish(results));
        check_all(results, 4);
        assert_non_null(strstr(sfu_results_text(results),
                               splits == 1 ? "One split gives no confidence interval" : "it needs at least 7 splits"));
        int untested = 0; /* all, or the best of each field */
        for (int i = 0; i < 16; i++) {
            untested += isnan(sfu_results_cell(results, i)->p) ? 1 : 0;
        }
        assert_int_equal(untested, splits == 1 ? 16 : 4);
        if (splits == 1) {
            assert_tables("one_split", results);
        }
        sfu_results_free(results);
    }
}

/* Too few splits for the rank test: a large difference is found by its confidence interval, a small one is not. */
static void large_differences_show_with_few_splits(void **state) {
    (void)state;
    sfu_results *results = comparison(4);
    sfu__contrast contrasts[4];
    sfu__layout layout = {0};
    int count = 0;
    for (int i = 0; i < results->entries.count; i++) {
        sfu__entry *entry = &results->entries.items[i];
        const double noise = 0.01 * (double)(i % 4), small = (i % 3) * 0.01;
        entry->test_accuracy = strcmp(entry->task.net, "gcn") == 0    ? 0.80 + noise
                               : strcmp(entry->task.net, "sgcn") == 0 ? 0.79 + noise + small
                                                                      : 0.55 + noise + small;
    }
    assert_ok(sfu__results_finish(results));
    assert_ok(sfu__layout_make(&layout, results, sfu__layout_size(results, 0)));
    assert_ok(sfu__contrasts_make(contrasts, &count, results, &layout, 0));
    assert_int_equal(count, 4);
    for (int i = 0; i < 4; i++) {
        const bool best = contrasts[i].standing == SFU__STANDING_BEST;
        assert_true(best || (contrasts[i].by_interval && contrasts[i].p >= SFU__LEVEL));
        assert_true(i < 2 ? best || contrasts[i].standing == SFU__STANDING_TIED
                          : contrasts[i].standing == SFU__STANDING_WORSE);
    }
    assert_null(strstr(sfu_results_text(results), "cannot tell"));
    assert_non_null(strstr(sfu_results_text(results), "; significantly worse: linear+lp, net 1; not significantly "));
    sfu__layout_clear(&layout);
    sfu_results_free(results);
}

static void nothing_yet(void **state) {
    (void)state;
    sfu_results *results = comparison(1);
    results->entries.count = 0;
    assert_ok(sfu__results_finish(results));
    assert_null(sfu_results_cell(results, 0));
    assert_null(sfu_results_rank(results, 0));
    assert_string_equal(sfu_results_text(results), "# A comparison of networks\n\nNo study has finished yet.\n");
    sfu_results_free(results);
}

/* A network that equals the best on every split ties with it, and both are in bold. */
static void equals_share_a_rank(void **state) {
    (void)state;
    sfu_results *results = comparison(6);
    for (int i = 0; i < results->entries.count; i++) {
        sfu__entry *entry = &results->entries.items[i];
        entry->test_accuracy = strcmp(entry->task.net, "gcn") == 0 || strcmp(entry->task.net, "sgcn") == 0 ? 0.9 : 0.5;
    }
    assert_ok(sfu__results_finish(results));
    assert_true(sfu_results_cell(results, 0)->rank == 1.5 && sfu_results_cell(results, 1)->rank == 1.5);
    assert_true(isnan(sfu_results_cell(results, 0)->p) && sfu_results_cell(results, 1)->p == 1);
    check_all(results, 4);
    assert_non_null(strstr(sfu_results_text(results), "| gcn       | **90.0** (0.0) |"));
    assert_non_null(strstr(sfu_results_text(results), "| sgcn      | **90.0** (0.0) |"));
    sfu_results_free(results);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void names_of_the_user_do_no_harm(void **state) {
    (void)state;
    static const char *const shown[][2] = {
        {"a|b", "a\\|b"},    {"x\x1b[2J\ny", "x?[2J?y"}, {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"bad\xff", "bad?"}, {"c1\xc2\x9b", "c1?"},      {"", ""}};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        char *name = sfu__shown_name(shown[i][0]);
        assert_string_equal(name, shown[i][1]);
        sfu__free(name);
    }
    sfu_results *results = comparison(1);
    for (int i = 0; i < results->entries.count; i++) {
        sfu__task *task = &results->entries.items[i].task;
        snprintf(results->entries.items[i].name, SFU__NAME_MAX, "no_%% | \x1b[31m$\\");
        if (strcmp(task->net, "gcn") == 0) {
            snprintf(task->net, sizeof task->net, "\x1b[32mgcn\r");
        }
        if (strcmp(task->size, "5") == 0) {
            snprintf(task->size, sizeof task->size, "\x1b[1m|\n");
        }
    }
    sfu__text tex = {0};
    assert_ok(sfu__results_finish(results));
    assert_null(strchr(sfu_results_text(results), '\x1b'));
    assert_ok(sfu__tables_tex(&tex, results));
    assert_null(strchr(tex.bytes, '\x1b'));
    assert_null(strchr(sfu_results_text(results), '\r'));
    assert_non_null(strstr(sfu_results_text(results), "- net 2: `?[32mgcn?`\n"));
    /* Datasets with the same name are labelled by the shortest distinguishing suffix of their paths. */
    assert_string_equal(sfu_results_cell(results, 0)->dataset, "mini");
    assert_string_equal(sfu_results_cell(results, 15)->dataset, "other");
    sfu__text_clear(&tex);
    sfu_results_free(results);
}

static void numbers_are_written_as_meant(void **state) {
    (void)state;
    char buffer[SFU__FIXED_MAX];
    static const struct {
        double number;
        int decimals;
        const char *text;
    } table[] = {{1.25, 1, "1.3"},    {-0.04, 1, "0.0"}, {-0.05, 1, "-0.1"}, {99.96, 1, "100.0"},     {7, 0, "7"},
                 {0.001, 3, "0.001"}, {NAN, 1, "-"},     {INFINITY, 1, "-"}, {12345.5, 2, "12345.50"}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_string_equal(sfu__fixed(buffer, table[i].number, table[i].decimals), table[i].text);
    }
    assert_string_equal(sfu__percent(buffer, 0.8219), "82.2");
    assert_string_equal(sfu__percent_signed(buffer, 0.0031), "+0.3");
    assert_string_equal(sfu__percent_signed(buffer, -0.0031), "-0.3");
    assert_string_equal(sfu__percent_signed(buffer, 0.0001), "0.0");
}

/* ---- tables of the paper ----------------------------------------------------------------------------------------- */

/* All tasks of a table, restricted to `datasets`. */
static sfu_results *reproduction(const char *table, const char *const *datasets, int count, int splits) {
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.datasets = datasets;
    options.dataset_count = count;
    options.splits = splits;
    options.trials = 100;
    options.lpnn_trials = 30;
    sfu_results *results = new_results(table, &options);
    sfu__tasks tasks = {0};
    assert_ok(sfu__paper_tasks(&tasks, &results->request));
    assert_true(tasks.count > 0);
    for (int i = 0; i < tasks.count; i++) {
        const sfu__task *task = &tasks.items[i];
        const sfu__published paper = sfu__published_cell(table, task, "test");
        add(results, task, (uint64_t)(i / splits), i % splits);
        if (!isnan(paper.mean)) { /* close enough that some agree */
            sfu__entry *entry = &results->entries.items[results->entries.count - 1];
            entry->test_accuracy = floor(1000 * (0.02 * entry->test_accuracy + paper.mean - 0.02)) / 1000;
        }
    }
    sfu__tasks_clear(&tasks);
    return results;
}

static const char *const paper_datasets[] = {"cora", "citeseer"};

static void beside_the_paper(void **state) {
    (void)state;
    sfu_results *results = reproduction("set1", paper_datasets, 2, 10);
    int judged = 0;
    assert_ok(sfu__results_finish(results));
    assert_int_equal(count_cells(results), 16);
    for (int i = 0; i < 16; i++) {
        const sfu_cell *cell = sfu_results_cell(results, i);
        const sfu__published paper = {cell->published->mean, cell->published->std};
        assert_string_equal(cell->published->verdict, sfu__verdict(cell->mean, cell->std, cell->splits, &paper));
        judged += cell->published->verdict[0] != '\0';
    }
    assert_int_equal(judged, 16);
    const sfu_cell *cell = sfu_results_cell(results, 0);
    assert_string_equal(cell->net, "gcn");
    assert_near(cell->published->mean, 0.822);
    assert_near(cell->published->std, 0.011);
    assert_near(sfu_results_rank(results, 0)->published->mean, 3.7);
    assert_tables("set1", results);
    sfu_results_free(results);
}

static void single_splits_have_no_verdict(void **state) {
    (void)state;
    sfu_results *results = reproduction("standard", paper_datasets, 2, 1);
    assert_ok(sfu__results_finish(results));
    for (int i = 0; sfu_results_cell(results, i) != NULL; i++) {
        assert_string_equal(sfu_results_cell(results, i)->published->verdict, "");
        assert_true(!isnan(sfu_results_cell(results, i)->published->mean));
    }
    assert_tables("standard", results);
    sfu_results_free(results);
}

static void sweeps(void **state) {
    (void)state;
    static const char *const tables[] = {"layers", "self-neighbour", "degree-exponents"};
    for (int t = 0; t < 3; t++) {
        sfu_results *results = reproduction(tables[t], paper_datasets, 2, 1);
        assert_ok(sfu__results_finish(results));
        const int count = count_cells(results);
        assert_int_equal(count, t == 0 ? 2 * 2 * 16 : 2 * 2 * 10);
        for (int i = 0; i < count; i += 2) {
            const sfu_cell *test = sfu_results_cell(results, i), *val = sfu_results_cell(results, i + 1);
            const sfu__entry *entry = sfu__row_group_entry(results, &results->row_groups[i / 2], 0);
            assert_string_equal(test->measure, "test");
            assert_string_equal(val->measure, "val");
            assert_near(test->mean, entry->test_accuracy);
            assert_near(val->mean, entry->val_accuracy);
            assert_true(isnan(test->rank) && isnan(test->p));
            assert_true(test->exponents == (t == 2) && val->exponents == (t == 2));
            assert_ptr_equal(test->same_as, val->same_as);
        }
        assert_int_equal(results->rank_count, 0);
        assert_int_equal(results->pair_count, 0);
        assert_tables(tables[t], results);
        sfu_results_free(results);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static sfu_status copy_and_finish(void *context) {
    const sfu_results *made = context;
    sfu_status status = SFU_OK;
    sfu__text tex = {0};
    sfu_results *copy = NULL;
    sfu_compare_options options;
    sfu_compare_options_init(&options);
    options.space = "paper";
    options.datasets = two_datasets;
    options.dataset_count = 2;
    options.nets = four_nets;
    options.net_count = 4;
    SFU_ALLOC_ZERO(copy, 1);
    SFU_TRY(sfu__request_make(&copy->request, "compare", &options));
    for (int i = 0; i < made->entries.count; i++) {
        SFU_TRY(sfu__entries_add(&copy->entries, &made->entries.items[i]));
    }
    SFU_TRY(sfu__results_finish(copy));
    SFU_TRY(sfu__tables_tex(&tex, copy));
done:
    sfu__text_clear(&tex);
    sfu_results_free(copy);
    return status;
}

static void memory_runs_out(void **state) {
    (void)state;
    sfu_results *results = comparison(2);
    test_fail_each_allocation(copy_and_finish, results, 100);
    sfu_results_free(results);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_right),
        cmocka_unit_test(pairs_are_right),
        cmocka_unit_test(the_order_of_entries_does_not_matter),
        cmocka_unit_test(what_is_missing_is_left_out),
        cmocka_unit_test(few_splits),
        cmocka_unit_test(large_differences_show_with_few_splits),
        cmocka_unit_test(nothing_yet),
        cmocka_unit_test(equals_share_a_rank),
        cmocka_unit_test(names_of_the_user_do_no_harm),
        cmocka_unit_test(numbers_are_written_as_meant),
        cmocka_unit_test(beside_the_paper),
        cmocka_unit_test(single_splits_have_no_verdict),
        cmocka_unit_test(sweeps),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
