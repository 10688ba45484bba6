/* Labelling: the estimate holds for unlabelled nodes, held-out labels influence no choice, the number of threads and
 * the way it ends do not change the result of a number of steps, and invalid input is refused. */
#include "support.h"

#include "label.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 300, CLASSES = 3 };

/* ---- data -------------------------------------------------------------------------------------------------------- */

static sfu_dataset *made(uint64_t seed, int32_t nodes) {
    sfu_dataset *dataset = NULL;
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.seed = seed;
    options.nodes = nodes;
    options.classes = CLASSES;
    options.vocabulary = 60;
    options.noise = 0.8;
    options.homophily = 0.8;
    options.degree = 3;
    assert_ok(sfu_dataset_make(&dataset, &options));
    return dataset;
}

/* The same graph and features with other labels, and optionally another split and weights [edges]. */
static sfu_dataset *changed(const sfu_dataset *dataset, const int32_t *labels, const sfu_split *split,
                            const float *weights) {
    const sfu_csr graph = sfu_dataset_graph(dataset), words = sfu_dataset_sparse(dataset);
    const int64_t edges = graph.indptr[graph.rows];
    int32_t *from = calloc((size_t)edges + 1, sizeof *from);
    assert_non_null(from);
    for (int32_t i = 0; i < graph.rows; i++) {
        for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; e++) {
            from[e] = i;
        }
    }
    sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                         .nodes = graph.rows,
                         .edges = edges,
                         .edge_from = from,
                         .edge_to = graph.indices,
                         .edge_weight = weights,
                         .features = sfu_dataset_features(dataset),
                         .indptr = words.indptr,
                         .indices = words.indices,
                         .values = words.values,
                         .labels = labels,
                         .classes = CLASSES};
    for (int part = 0; split != NULL && part < SFU_PARTS; part++) {
        arrays.standard[part] = sfu_split_part(split, (sfu_part)part, &arrays.standard_count[part]);
    }
    sfu_dataset *other = NULL;
    sfu_import_options options;
    sfu_import_options_init(&options);
    assert_ok(sfu_dataset_from_arrays(&other, &arrays, &options));
    free(from);
    return other;
}

static sfu_dataset *relabelled(const sfu_dataset *dataset, const int32_t *labels, const sfu_split *split) {
    return changed(dataset, labels, split, NULL);
}

/* Keeps one label in `keep`. */
static sfu_dataset *thinned(const sfu_dataset *dataset, int32_t keep) {
    const int32_t nodes = sfu_dataset_nodes(dataset);
    int32_t *labels = calloc((size_t)nodes, sizeof *labels);
    assert_non_null(labels);
    for (int32_t i = 0; i < nodes; i++) {
        labels[i] = i % keep == 0 ? sfu_dataset_labels(dataset)[i] : SFU_NO_LABEL;
    }
    sfu_dataset *other = relabelled(dataset, labels, NULL);
    free(labels);
    return other;
}

static sfu_label_options steps_of(int32_t steps, uint64_t seed, int jobs) {
    sfu_label_options options;
    sfu_label_options_init(&options);
    options.steps = steps;
    options.seed = seed;
    options.jobs = jobs;
    return options;
}

/* The accuracy on the nodes without a label in `thin`, by the labels of `dataset`. */
static double true_accuracy(const sfu_labelling *labelling, const sfu_dataset *dataset, const sfu_dataset *thin) {
    const float *probabilities = sfu_labelling_probabilities(labelling);
    double right = 0, count = 0;
    for (int32_t i = 0; i < sfu_dataset_nodes(dataset); i++) {
        const float *row = probabilities + (ptrdiff_t)i * CLASSES;
        int32_t guess = 0;
        for (int32_t c = 1; c < CLASSES; c++) {
            guess = row[c] > row[guess] ? c : guess;
        }
        if (sfu_dataset_labels(thin)[i] == SFU_NO_LABEL) {
            right += guess == sfu_dataset_labels(dataset)[i];
            count++;
        }
    }
    return right / count;
}

static void assert_same(const sfu_labelling *one, const sfu_labelling *other, int32_t nodes) {
    const sfu_label_summary a = *sfu_labelling_summary(one), b = *sfu_labelling_summary(other);
    assert_memory_equal(sfu_labelling_probabilities(one), sfu_labelling_probabilities(other),
                        (size_t)nodes * CLASSES * sizeof(float));
    assert_string_equal(a.net, b.net);
    assert_string_equal(a.params, b.params);
    assert_int_equal(a.right, b.right);
    assert_int_equal(a.steps, b.steps);
    assert_int_equal(a.trainings, b.trainings);
    assert_true(a.low == b.low && a.high == b.high && a.no_graph == b.no_graph);
    for (int i = 0; sfu_labelling_candidate(one, i) != NULL; i++) {
        const sfu_label_candidate *c = sfu_labelling_candidate(one, i), *d = sfu_labelling_candidate(other, i);
        assert_true(c->accuracy == d->accuracy && c->val_accuracy == d->val_accuracy && c->chosen == d->chosen);
    }
}

/* ---- the estimate ------------------------------------------------------------------------------------------------ */

static void the_interval_covers(void **state) {
    (void)state;
    const int runs = test_is_slow() ? 1 : 12;
    int covered = 0;
    double width = 0, bias = 0;
    for (int seed = 0; seed < runs; seed++) {
        sfu_dataset *dataset = made((uint64_t)seed, 1200), *thin = thinned(dataset, 10);
        sfu_labelling *labelling = NULL;
        const sfu_label_options options = steps_of(test_is_slow() ? 2 : 6, (uint64_t)seed, 0);
        assert_ok(sfu_label(&labelling, thin, &options));
        const sfu_label_summary summary = *sfu_labelling_summary(labelling);
        const double truth = true_accuracy(labelling, dataset, thin);
        covered += truth >= summary.low && truth <= summary.high;
        width += (summary.high - summary.low) / runs;
        bias += (summary.accuracy - truth) / runs;
        assert_int_equal(summary.labelled, 120);
        assert_int_equal(summary.unlabelled, 1080);
        sfu_labelling_free(labelling);
        sfu_dataset_free(thin);
        sfu_dataset_free(dataset);
    }
    print_message("the truth was in %d of %d intervals, %.3f wide, the estimate %+.3f off\n", covered, runs, width,
                  bias);
    assert_true(covered >= runs - (runs + 9) / 10);
    assert_true(width < 0.3);
    assert_true(bias < 0.1 / sqrt(runs)); /* the standard error of one estimate is about 0.035 */
}

/* All counts add up, and the confusion matrix is that of the held-out nodes. */
static void the_numbers_agree(void **state) {
    (void)state;
    sfu_dataset *dataset = made(1, NODES), *thin = thinned(dataset, 3);
    sfu_labelling *labelling = NULL;
    const sfu_label_options options = steps_of(9, 0, 0);
    assert_ok(sfu_label(&labelling, thin, &options));
    const sfu_label_summary summary = *sfu_labelling_summary(labelling);
    int32_t all = 0, right = 0, held_out = 0, sure_right = 0, unlabelled = 0, chosen = 0;
    for (int32_t t = 0; t < CLASSES; t++) {
        for (int32_t g = 0; g < CLASSES; g++) {
            all += sfu_labelling_confusion(labelling, t, g);
            right += t == g ? sfu_labelling_confusion(labelling, t, g) : 0;
        }
    }
    for (int i = 0; sfu_labelling_calibration(labelling, i) != NULL; i++) {
        held_out += sfu_labelling_calibration(labelling, i)->held_out;
        sure_right += sfu_labelling_calibration(labelling, i)->right;
        unlabelled += sfu_labelling_calibration(labelling, i)->unlabelled;
    }
    int candidates = 0;
    for (; sfu_labelling_candidate(labelling, candidates) != NULL; candidates++) {
        chosen += sfu_labelling_candidate(labelling, candidates)->chosen;
    }
    assert_int_equal(all, summary.labelled);
    assert_int_equal(held_out, summary.labelled);
    assert_int_equal(summary.held_out, summary.labelled);
    assert_int_equal(right, summary.right);
    assert_int_equal(sure_right, summary.right);
    assert_int_equal(unlabelled, summary.unlabelled);
    assert_int_equal(chosen, summary.folds);
    assert_int_equal(candidates, SFU__LABEL_NETS);
    assert_int_equal(summary.train, summary.labelled);
    assert_int_equal(summary.val, summary.labelled);
    assert_true(summary.score == summary.accuracy && summary.score_low == summary.low);
    assert_true(summary.temperature > 0 && summary.epochs > 0 && summary.calibration_error < 0.3);
    assert_true(sfu_model_scores(sfu_labelling_model(labelling))->temperature == summary.temperature);
    assert_true(summary.accuracy == (double)summary.right / summary.labelled);
    assert_true(summary.low < summary.accuracy && summary.accuracy < summary.high);
    assert_true(summary.accuracy > summary.frequent);
    assert_true(summary.no_graph <=
                fmax(sfu_labelling_candidate(labelling, 1)->accuracy, sfu_labelling_candidate(labelling, 2)->accuracy) +
                    0.1);
    assert_int_equal(sfu_labelling_confusion(labelling, CLASSES, 0), 0);
    assert_int_equal(sfu_labelling_confusion(labelling, 0, -1), 0);
    sfu_labelling_free(labelling);
    sfu_dataset_free(thin);
    sfu_dataset_free(dataset);
}

/* Uninformative features with an informative graph, and the reverse. */
static void says_whether_the_graph_helps(void **state) {
    (void)state;
    static const struct {
        double noise, homophily;
        bool helps;
    } cases[] = {{0.95, 0.9, true}, {0.1, 0.34, false}};
    for (int i = 0; i < 2; i++) {
        sfu_dataset *dataset = NULL;
        sfu_labelling *labelling = NULL;
        sfu_make_options options;
        sfu_make_options_init(&options);
        options.nodes = NODES;
        options.classes = CLASSES;
        options.vocabulary = 60;
        options.noise = cases[i].noise;
        options.homophily = cases[i].homophily;
        assert_ok(sfu_dataset_make(&dataset, &options));
        const sfu_label_options steps = steps_of(test_is_slow() ? 2 : 8, 0, 0);
        assert_ok(sfu_label(&labelling, dataset, &steps));
        assert_int_equal(sfu_labelling_summary(labelling)->graph_helps, cases[i].helps);
        assert_int_equal(sfu_labelling_summary(labelling)->unlabelled, 0); /* and none is to be labelled */
        sfu_labelling_free(labelling);
        sfu_dataset_free(dataset);
    }
}

/* ---- information flow -------------------------------------------------------------------------------------------- */

static void count_nodes(int *counts, const sfu_split *split, sfu_part part) {
    int32_t count = 0;
    const int32_t *nodes = sfu_split_part(split, part, &count);
    for (int32_t i = 0; i < count; i++) {
        counts[nodes[i]]++;
    }
}

/* Each labelled node is held out by one problem, and validates once in each of the others. */
static void each_node_is_held_out_once(void **state) {
    (void)state;
    sfu_dataset *dataset = made(2, NODES), *thin = thinned(dataset, 4);
    sfu__label_problem problems[SFU__LABEL_PROBLEMS] = {{0}};
    int folds = 0, held_out[NODES] = {0};
    assert_ok(sfu__label_problems(problems, &folds, thin, 3));
    assert_int_equal(folds, SFU__LABEL_FOLDS);
    for (int p = 0; p <= folds; p++) {
        int own[NODES] = {0}, validated[NODES] = {0}, trained[NODES] = {0};
        count_nodes(own, problems[p].all, SFU_TEST);
        count_nodes(held_out, problems[p].all, SFU_TEST);
        count_nodes(trained, problems[p].all, SFU_TRAIN);
        assert_int_equal(problems[p].folds, p < folds ? folds - 1 : folds);
        for (int f = 0; f < problems[p].folds; f++) {
            int both[NODES] = {0};
            count_nodes(validated, problems[p].inner[f], SFU_VAL);
            count_nodes(both, problems[p].inner[f], SFU_VAL);
            count_nodes(both, problems[p].inner[f], SFU_TRAIN);
            for (int i = 0; i < NODES; i++) {
                assert_int_equal(both[i], trained[i]); /* never a held-out node */
            }
        }
        for (int i = 0; i < NODES; i++) {
            const bool labelled = sfu_dataset_labels(thin)[i] != SFU_NO_LABEL;
            assert_int_equal(trained[i] + own[i], labelled);
            assert_int_equal(validated[i], trained[i]);
        }
    }
    for (int i = 0; i < NODES; i++) {
        assert_int_equal(held_out[i], sfu_dataset_labels(thin)[i] != SFU_NO_LABEL);
    }
    for (int p = 0; p <= folds; p++) {
        sfu__label_problem_clear(&problems[p]);
    }
    sfu_dataset_free(thin);
    sfu_dataset_free(dataset);
}

/* With many labels, fewer parts are held out and validated on: as many as 4000 nodes need. */
static void of_many_labels_some_are_held_out(void **state) {
    (void)state;
    static const struct {
        int32_t nodes;
        int folds;
    } cases[] = {{5000, 4}, {8000, 3}, {20000, 1}};
    for (int i = 0; i < 3; i++) {
        sfu_dataset *dataset = made(3, cases[i].nodes);
        sfu__label_problem problems[SFU__LABEL_PROBLEMS] = {{0}};
        int folds = 0;
        int32_t count = 0;
        assert_ok(sfu__label_problems(problems, &folds, dataset, 0));
        assert_int_equal(folds, cases[i].folds);
        assert_int_equal(problems[folds].folds, cases[i].folds);
        assert_true(problems[folds].count >= 4000);
        sfu_split_part(problems[folds].all, SFU_TRAIN, &count);
        assert_int_equal(count, cases[i].nodes);
        for (int p = 0; p <= folds; p++) {
            sfu__label_problem_clear(&problems[p]);
        }
        sfu_dataset_free(dataset);
    }
}

static bool always(void *user) {
    (void)user;
    return true;
}

/* The first steps of a problem, as sfu_label makes them. */
static void make_steps(sfu__label_problem *problem, const sfu_dataset *dataset, int steps) {
    sfu__label_work work = {.dataset = dataset, .seed = 5, .jobs = 1, .positive = -1, .should_continue = always};
    assert_ok(sfu__label_nets_read(&work.nets, NULL));
    for (int i = 0; i < steps; i++) {
        const sfu__label_step step = sfu__label_step_at(SFU__LABEL_NETS, i);
        if (step.slot == 0) {
            sfu__label_rank(problem, &work.nets, step.round);
        }
        sfu__label_item item;
        assert_ok(sfu__label_item_start(&item, problem, i, &work));
        assert_ok(sfu__label_train(&item, &work));
        sfu__label_take(&item);
        sfu__label_item_clear(&item);
    }
}

/* The problem of fold 0 with the labels of its held-out nodes changed by `shift`. */
static sfu_dataset *solve(sfu__label_problem *solved, const sfu_dataset *dataset, int shift, int steps) {
    sfu__label_problem problems[SFU__LABEL_PROBLEMS] = {{0}};
    int32_t labels[NODES], count = 0;
    int folds = 0;
    assert_ok(sfu__label_problems(problems, &folds, dataset, 0));
    memcpy(labels, sfu_dataset_labels(dataset), sizeof labels);
    const int32_t *test = sfu_split_part(problems[0].all, SFU_TEST, &count);
    for (int32_t i = 0; i < count; i++) {
        labels[test[i]] = (labels[test[i]] + shift) % CLASSES;
    }
    *solved = problems[0];
    for (int p = 1; p <= folds; p++) {
        sfu__label_problem_clear(&problems[p]);
    }
    sfu_dataset *other = relabelled(dataset, labels, NULL);
    make_steps(solved, other, steps);
    return other;
}

/* No choice and no model changes when every held-out label does; only their scores do. */
static void held_out_labels_have_no_say(void **state) {
    (void)state;
    const int steps = test_is_slow() ? SFU__LABEL_NETS : SFU__LABEL_NETS + 2;
    sfu_dataset *dataset = made(4, NODES), *both[2];
    sfu__label_problem problems[2] = {{0}};
    for (int shift = 0; shift < 2; shift++) {
        both[shift] = solve(&problems[shift], dataset, shift, steps);
    }
    const int net = sfu__label_choice(&problems[0]);
    assert_int_equal(net, sfu__label_choice(&problems[1]));
    for (int i = 0; i < SFU__LABEL_NETS; i++) {
        const sfu__label_trial *one = &problems[0].nets[i].best, *other = &problems[1].nets[i].best;
        assert_int_equal(problems[0].order[i], problems[1].order[i]);
        assert_int_equal(problems[0].nets[i].trials, problems[1].nets[i].trials);
        assert_string_equal(one->params, other->params);
        assert_true(one->score == other->score && one->loss == other->loss && one->epochs == other->epochs);
        assert_true(one->temperature == other->temperature);
    }
    float one[NODES * CLASSES], other[NODES * CLASSES];
    const sfu_model *models[2] = {problems[0].nets[net].best.model, problems[1].nets[net].best.model};
    assert_ok(sfu_predict(one, NULL, both[0], models[0], 1));
    assert_ok(sfu_predict(other, NULL, both[1], models[1], 1));
    assert_memory_equal(one, other, sizeof one);
    assert_true(sfu_model_scores(models[0])->test_accuracy > sfu_model_scores(models[1])->test_accuracy);
    for (int shift = 0; shift < 2; shift++) {
        sfu__label_problem_clear(&problems[shift]);
        sfu_dataset_free(both[shift]);
    }
    sfu_dataset_free(dataset);
}

/* ---- what does not change the result ----------------------------------------------------------------------------- */

static void jobs_do_not_matter(void **state) {
    (void)state;
    sfu_dataset *dataset = made(6, NODES), *thin = thinned(dataset, 3);
    sfu_labelling *alone = NULL, *together = NULL;
    sfu_label_options options = steps_of(test_is_slow() ? 2 : 11, 7, 1);
    assert_ok(sfu_label(&alone, thin, &options));
    for (options.jobs = 3; options.jobs <= 14; options.jobs += 11) {
        assert_ok(sfu_label(&together, thin, &options));
        assert_same(alone, together, NODES);
        sfu_labelling_free(together);
    }
    options.seed = 8;
    assert_ok(sfu_label(&together, thin, &options));
    assert_memory_not_equal(sfu_labelling_probabilities(alone), sfu_labelling_probabilities(together),
                            NODES * CLASSES * sizeof(float));
    sfu_labelling_free(together);
    sfu_labelling_free(alone);
    sfu_dataset_free(thin);
    sfu_dataset_free(dataset);
}

/* A callback that cancels in the middle of a step. */
static bool end_at(void *user, const sfu_label_progress *progress) {
    assert_true(progress->step < progress->steps && progress->net != NULL);
    return progress->step < *(const int32_t *)user;
}

/* However it ends, the same number of steps gives the same result. */
static void ends_where_it_is_told(void **state) {
    (void)state;
    sfu_dataset *dataset = made(9, 900), *thin = thinned(dataset, 3);
    sfu_labelling *ended = NULL, *asked = NULL;
    sfu_label_options options = steps_of(0, 0, 1);
    int32_t step = 0;
    options.seconds = 0;
    options.on_progress = end_at;
    options.on_progress_user = &step;
    assert_fails(SFU_ERR_CANCELLED, sfu_label(&ended, thin, &options), "");
    /* Whether it was planning or training then depends on timing. */
    assert_true(strstr(sfu_message(), "cancelled while") != NULL || strstr(sfu_message(), "stopped") != NULL);
    assert_null(ended);
    const int32_t most = test_is_slow() ? 2 : 9;
    step = most;
    assert_ok(sfu_label(&ended, thin, &options));
    const sfu_label_summary summary = *sfu_labelling_summary(ended);
    assert_true(summary.interrupted && summary.steps >= most && summary.steps < summary.all_steps);
    options = steps_of(summary.steps, 0, 2);
    assert_ok(sfu_label(&asked, thin, &options));
    assert_false(sfu_labelling_summary(asked)->interrupted);
    assert_same(ended, asked, 900);
    sfu_labelling_free(asked);
    sfu_labelling_free(ended);
    sfu_dataset_free(thin);
    sfu_dataset_free(dataset);
}

static void a_small_budget_has_an_answer(void **state) {
    (void)state;
    sfu_dataset *dataset = made(9, NODES), *thin = thinned(dataset, 3);
    sfu_labelling *labelling = NULL, *asked = NULL;
    sfu_label_options options = steps_of(0, 0, 1);
    options.seconds = 1e-6;
    assert_ok(sfu_label(&labelling, thin, &options));
    const sfu_label_summary summary = *sfu_labelling_summary(labelling);
    assert_int_equal(summary.steps, 1);
    assert_true(summary.cut && !summary.interrupted && isnan(summary.no_graph));
    assert_string_equal(summary.net, "sgcn");
    options = steps_of(1, 0, 1);
    assert_ok(sfu_label(&asked, thin, &options));
    assert_true(sfu_labelling_summary(asked)->right == summary.right);
    sfu_labelling_free(asked);
    sfu_labelling_free(labelling);
    /* a budget is respected, here with a wide margin for a busy machine */
    options = steps_of(0, 0, 1);
    options.seconds = 0.5;
    assert_ok(sfu_label(&labelling, thin, &options));
    assert_true(sfu_labelling_summary(labelling)->seconds < 120);
    sfu_labelling_free(labelling);
    sfu_dataset_free(thin);
    sfu_dataset_free(dataset);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void steps_come_in_order(void **state) {
    (void)state;
    assert_int_equal(sfu__label_steps(SFU__LABEL_NETS, 1), 14);
    assert_int_equal(sfu__label_steps(SFU__LABEL_NETS, 40), 17);
    assert_int_equal(sfu__label_steps(SFU__LABEL_NETS, 10000), 25);
    int32_t trials = 0;
    for (int i = 0; i < 25; i++) {
        const sfu__label_step step = sfu__label_step_at(SFU__LABEL_NETS, i);
        assert_true(step.trials >= trials && (step.slot > 0 || step.trials > trials));
        trials = step.trials;
    }
    assert_int_equal(trials, 64);
}

/* The metric decides where it can, the cross-entropy where it cannot, and who diverged is last. */
static void the_better_trial(void **state) {
    (void)state;
    const sfu__label_trial usual = {.epochs = 5, .score = 0.8, .error = 0.02, .loss = 0.5};
    const sfu__label_trial higher = {.epochs = 5, .score = 0.83, .error = 0.02, .loss = 0.9};
    const sfu__label_trial close = {.epochs = 5, .score = 0.81, .error = 0.02, .loss = 0.6};
    const sfu__label_trial diverged = {.epochs = 0, .score = 1};
    assert_true(sfu__label_is_better(&higher, &usual) && !sfu__label_is_better(&usual, &higher));
    assert_true(sfu__label_is_better(&usual, &close) && !sfu__label_is_better(&close, &usual));
    assert_true(sfu__label_is_better(&usual, &diverged) && !sfu__label_is_better(&diverged, &usual));
    assert_false(sfu__label_is_better(&usual, &usual));
}

static void ranks_keep_a_network_without_graph(void **state) {
    (void)state;
    static const double losses[SFU__LABEL_NETS] = {5, 9, 8, 1, 3, 3, 7, 6, 2};
    static const int later[] = {3, 8, 4, 5, 2, 7, 6, 0, 1};
    sfu__label_problem problem = {0};
    sfu__label_nets nets;
    assert_ok(sfu__label_nets_read(&nets, NULL));
    for (int i = 0; i < SFU__LABEL_NETS; i++) {
        problem.nets[i].best = (sfu__label_trial){.epochs = 1, .loss = losses[i]};
    }
    sfu__label_rank(&problem, &nets, 0);
    for (int i = 0; i < SFU__LABEL_NETS; i++) {
        assert_int_equal(problem.order[i], i);
    }
    sfu__label_rank(&problem, &nets, 1);
    assert_memory_equal(problem.order, later, sizeof later);
    assert_int_equal(sfu__label_choice(&problem), 3);
    assert_int_equal(sfu__label_choice_without_graph(&problem), 2);
}

/* ---- candidates and edge weights ----------------------------------------------------------------------------------
 */

/* Ranks train a large graph together, and a small one each on its own. */
static void the_size_decides_about_ranks(void **state) {
    (void)state;
    static const struct {
        int32_t nodes, vocabulary;
        double degree, words;
        bool is_short;
    } cases[] = {{2708, 1433, 3.9, 18, true}, {100000, 20, 4, 2, true}, {450000, 20, 2, 2, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sfu_dataset *dataset = NULL;
        sfu_make_options options;
        bool is_short = !cases[i].is_short;
        sfu_make_options_init(&options);
        options.nodes = cases[i].nodes;
        options.vocabulary = cases[i].vocabulary;
        options.degree = cases[i].degree;
        options.words = cases[i].words;
        assert_ok(sfu_dataset_make(&dataset, &options));
        assert_ok(sfu__label_is_short(&is_short, dataset));
        assert_int_equal(is_short, cases[i].is_short);
        sfu_dataset_free(dataset);
    }
}

static void candidates_have_names(void **state) {
    (void)state;
    sfu__label_nets nets;
    assert_ok(sfu__label_nets_read(&nets, "gcn,mlp,gcn"));
    assert_int_equal(nets.count, 2);
    assert_true(nets.net[0] == 2 && nets.net[1] == 6);
    static const char *const wrong[] = {"", "gcn,", "gnc", "gcn mlp", "lpnn"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(sfu__label_nets_read(&nets, wrong[i]), SFU_ERR_ARGUMENT);
        assert_non_null(strstr(sfu_message(), "is not a candidate; expected some of sgcn,"));
    }
    sfu_dataset *dataset = made(12, NODES), *thin = thinned(dataset, 3);
    sfu_labelling *labelling = NULL;
    sfu_label_options options = steps_of(4, 0, 1);
    options.nets = "gcn,sgcn+lp";
    assert_ok(sfu_label(&labelling, thin, &options));
    assert_string_equal(sfu_labelling_candidate(labelling, 0)->net, "sgcn+lp");
    assert_string_equal(sfu_labelling_candidate(labelling, 1)->net, "gcn");
    assert_null(sfu_labelling_candidate(labelling, 2));
    assert_true(isnan(sfu_labelling_summary(labelling)->no_graph));
    sfu_labelling_free(labelling);
    sfu_dataset_free(thin);
    sfu_dataset_free(dataset);
}

/* Weights of edges, the same in both directions: large between nodes of one class, or of no meaning. */
static float weight_of(const sfu_dataset *dataset, int32_t i, int32_t j, bool meaning) {
    const int32_t *labels = sfu_dataset_labels(dataset);
    const int32_t low = i < j ? i : j, high = i < j ? j : i;
    const uint64_t bits = sfu__random_bits(1, (uint64_t)low, (uint64_t)high);
    return meaning ? (labels[i] == labels[j] ? 1.0F : 0.01F) : (bits & 7) == 0 ? 1000.0F : 0.01F;
}

static bool weights_are_ignored(bool meaning) {
    sfu_dataset *dataset = made(8, NODES);
    const sfu_csr graph = sfu_dataset_graph(dataset);
    float *weights = calloc((size_t)graph.indptr[graph.rows], sizeof *weights);
    int32_t labels[NODES];
    assert_non_null(weights);
    for (int32_t i = 0; i < NODES; i++) {
        labels[i] = i % 3 == 0 ? sfu_dataset_labels(dataset)[i] : SFU_NO_LABEL;
        for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; e++) {
            weights[e] = weight_of(dataset, i, graph.indices[e], meaning);
        }
    }
    sfu_dataset *weighted = changed(dataset, labels, NULL, weights);
    sfu_labelling *labelling = NULL;
    sfu_label_options options = steps_of(2, 0, 1);
    options.nets = "sgcn,gcn+lp";
    assert_ok(sfu_label(&labelling, weighted, &options));
    const bool ignored = sfu_labelling_summary(labelling)->unweighted;
    const char *net = sfu_net_text(sfu_model_net(sfu_labelling_model(labelling)));
    assert_true((strstr(net, "weighted=no") != NULL) == ignored);
    sfu_labelling_free(labelling);
    sfu_dataset_free(weighted);
    sfu_dataset_free(dataset);
    free(weights);
    return ignored;
}

static void weights_are_used_where_they_help(void **state) {
    (void)state;
    assert_false(weights_are_ignored(true));
    assert_true(weights_are_ignored(false));
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* Every metric has an estimate inside its interval, and class weights change the model. */
static void metrics_have_estimates(void **state) {
    (void)state;
    sfu_dataset *dataset = made(11, NODES), *thin = thinned(dataset, 3);
    for (int metric = 0; sfu_metric_name(metric, NULL) != NULL; metric++) {
        sfu_labelling *labelling = NULL;
        sfu_label_options options = steps_of(3, 0, 1);
        options.metric = (sfu_metric)metric;
        options.balanced = metric % 2 == 1;
        assert_ok(sfu_label(&labelling, thin, &options));
        const sfu_label_summary summary = *sfu_labelling_summary(labelling);
        assert_int_equal(summary.metric, metric);
        assert_true(summary.score_low <= summary.score && summary.score <= summary.score_high);
        assert_true(summary.score_low >= 0 && summary.score_high <= 1 && summary.score_high - summary.score_low < 0.4);
        assert_true(summary.val_score > 0.3 && summary.no_graph_score > 0.3);
        assert_true(sfu_labelling_candidate(labelling, 0)->score > 0.3);
        sfu_labelling_free(labelling);
    }
    sfu_dataset_free(thin);
    sfu_dataset_free(dataset);
}

/* ---- label sets and nodes to label next -------------------------------------------------------------------------- */

/* The fraction of nodes without a label in `thin` whose set has their true label. */
static double true_coverage(const sfu_labelling *labelling, const sfu_dataset *dataset, const sfu_dataset *thin) {
    const float *probabilities = sfu_labelling_probabilities(labelling);
    const double threshold = sfu_labelling_summary(labelling)->set_threshold;
    double covered = 0, count = 0;
    for (int32_t i = 0; i < sfu_dataset_nodes(dataset); i++) {
        const float *row = probabilities + (ptrdiff_t)i * CLASSES;
        const float p = row[sfu_dataset_labels(dataset)[i]];
        if (sfu_dataset_labels(thin)[i] == SFU_NO_LABEL) {
            covered += (double)p >= threshold || (p >= row[0] && p >= row[1] && p >= row[2]);
            count++;
        }
    }
    return covered / count;
}

static void sets_cover_the_truth(void **state) {
    (void)state;
    sfu_dataset *dataset = made(12, 900), *thin = thinned(dataset, 4);
    double before = 0;
    for (int i = 0; i < 3; i++) {
        static const double wanted[] = {0.5, 0.9, 0.98};
        sfu_labelling *labelling = NULL;
        sfu_label_options options = steps_of(3, 0, 1);
        options.coverage = wanted[i];
        assert_ok(sfu_label(&labelling, thin, &options));
        const sfu_label_summary summary = *sfu_labelling_summary(labelling);
        assert_true(summary.coverage == wanted[i] && summary.set_size >= 1 && summary.set_size <= CLASSES);
        assert_true(summary.set_size >= before);
        assert_true(summary.set_coverage >= wanted[i] - 0.05);
        assert_true(true_coverage(labelling, dataset, thin) >= wanted[i] - 0.05);
        before = summary.set_size;
        sfu_labelling_free(labelling);
    }
    sfu_dataset_free(thin);
    sfu_dataset_free(dataset);
}

static void asks_for_different_unlabelled_nodes(void **state) {
    (void)state;
    enum { ASKED = 20 };
    sfu_dataset *dataset = made(13, NODES), *thin = thinned(dataset, 3);
    sfu_labelling *labelling = NULL;
    const sfu_label_options options = steps_of(2, 0, 1);
    int32_t nodes[NODES], again[NODES], count = ASKED, all = NODES, seen[NODES] = {0};
    assert_ok(sfu_label(&labelling, thin, &options));
    assert_ok(sfu_labelling_ask(nodes, &count, labelling, thin));
    assert_int_equal(count, ASKED);
    for (int32_t i = 0; i < count; i++) {
        assert_int_equal(sfu_dataset_labels(thin)[nodes[i]], SFU_NO_LABEL);
        assert_int_equal(seen[nodes[i]]++, 0);
    }
    assert_ok(sfu_labelling_ask(again, &all, labelling, thin));
    assert_int_equal(all, sfu_labelling_summary(labelling)->unlabelled);
    assert_memory_equal(nodes, again, sizeof nodes[0] * ASKED);
    static char page[1 << 17];
    assert_ok(sfu_labelling_page(test_path("page.html"), labelling, thin, nodes, count));
    FILE *file = fopen(test_path("page.html"), "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(page, "Reliability diagram"));
    assert_non_null(strstr(page, "Label these next"));
    assert_non_null(strstr(page, "</html>"));
    assert_fails(SFU_ERR_IO, sfu_labelling_page(test_path("missing/page.html"), labelling, thin, NULL, 0), "missing");
    sfu_labelling_free(labelling);
    sfu_dataset_free(thin);
    sfu_dataset_free(dataset);
}

/* ---- small and invalid datasets ---------------------------------------------------------------------------------- */

enum { TINY = 12 };

/* Two rings of six, the last node of each isolated; labels as given, one letter per node. */
static sfu_dataset *tiny(const char *letters) {
    static const int32_t from[] = {0, 1, 2, 3, 4, 6, 7, 8, 9, 10}, to[] = {1, 2, 3, 4, 0, 7, 8, 9, 10, 6};
    int32_t labels[TINY];
    float features[TINY][2];
    for (int i = 0; i < TINY; i++) {
        labels[i] = letters[i] == '.' ? SFU_NO_LABEL : letters[i] - 'a';
        features[i][0] = i < 6 ? 1.0F : 0.1F * (float)i;
        features[i][1] = i < 6 ? 0.1F * (float)i : 1.0F;
    }
    const sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                               .nodes = TINY,
                               .edges = 10,
                               .edge_from = from,
                               .edge_to = to,
                               .features = 2,
                               .dense = features[0],
                               .labels = labels};
    sfu_dataset *dataset = NULL;
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.name = "tiny";
    assert_ok(sfu_dataset_from_arrays(&dataset, &arrays, &options));
    return dataset;
}

static void twelve_nodes_are_enough(void **state) {
    (void)state;
    static const char *const cases[] = {"aaa...bbb...", "ab....ba....", "aaaaaabbbbbb", "aab.c.d.e.f."};
    for (int i = 0; i < 4; i++) {
        sfu_dataset *dataset = tiny(cases[i]);
        sfu_labelling *labelling = NULL;
        const sfu_label_options options = steps_of(i == 0 ? 0 : 3, 0, 2);
        assert_ok(sfu_label(&labelling, dataset, &options));
        const sfu_label_summary summary = *sfu_labelling_summary(labelling);
        assert_true(summary.low >= 0 && summary.high <= 1 && summary.low <= summary.accuracy &&
                    summary.accuracy <= summary.high);
        assert_int_equal(summary.folds, i == 1 ? 4 : 5);
        sfu_labelling_free(labelling);
        sfu_dataset_free(dataset);
    }
}

static void says_what_is_missing(void **state) {
    (void)state;
    sfu_labelling *labelling = NULL;
    sfu_dataset *dataset = tiny("............");
    assert_fails(SFU_ERR_ARGUMENT, sfu_label(&labelling, dataset, NULL), "tiny", "no node has a label");
    sfu_dataset_free(dataset);
    dataset = tiny("aaaa........");
    assert_fails(SFU_ERR_ARGUMENT, sfu_label(&labelling, dataset, NULL), "tiny", "(4)", "one class", "two classes");
    sfu_dataset_free(dataset);
    dataset = tiny("a.....bb....");
    assert_fails(SFU_ERR_ARGUMENT, sfu_label(&labelling, dataset, NULL), "only 3 nodes", "at least 4");
    sfu_label_options options = steps_of(-1, 0, 0);
    assert_fails(SFU_ERR_ARGUMENT, sfu_label(&labelling, dataset, &options), "budget");
    options = steps_of(0, 0, 0);
    options.seconds = NAN;
    assert_fails(SFU_ERR_ARGUMENT, sfu_label(&labelling, dataset, &options), "budget");
    options = steps_of(0, 0, 0);
    options.coverage = 1;
    assert_fails(SFU_ERR_ARGUMENT, sfu_label(&labelling, dataset, &options), "coverage 1", "below 1");
    options.coverage = 0;
    options.metric = (sfu_metric)99;
    assert_fails(SFU_ERR_ARGUMENT, sfu_label(&labelling, dataset, &options), "metric 99");
    assert_null(labelling);
    sfu_labelling_free(NULL);
    sfu_dataset_free(dataset);
}

/* Two steps, label sets, nodes to label next and the page. */
static sfu_status label_tiny(void *context) {
    (void)context;
    sfu_status status = SFU_OK;
    sfu_dataset *dataset = NULL;
    sfu_labelling *labelling = NULL;
    int32_t asked[2], count = 2;
    static const int32_t from[] = {0, 1, 2, 4, 5, 6}, to[] = {1, 2, 3, 5, 6, 7};
    static const int32_t labels[] = {0, 0, 0, SFU_NO_LABEL, 1, 1, 1, SFU_NO_LABEL};
    const sfu_arrays arrays = {
        .size = sizeof(sfu_arrays), .nodes = 8, .edges = 6, .edge_from = from, .edge_to = to, .labels = labels};
    sfu_import_options import;
    sfu_import_options_init(&import);
    sfu_label_options options = steps_of(2, 0, 1);
    options.coverage = 0.8;
    options.metric = SFU_METRIC_AUC;
    status = sfu_dataset_from_arrays(&dataset, &arrays, &import);
    if (status == SFU_OK) {
        status = sfu_label(&labelling, dataset, &options);
    }
    if (status == SFU_OK) {
        status = sfu_labelling_ask(asked, &count, labelling, dataset);
    }
    if (status == SFU_OK) {
        status = sfu_labelling_page(test_path("tiny.html"), labelling, dataset, asked, count);
    }
    sfu_labelling_free(labelling);
    sfu_dataset_free(dataset);
    return status;
}

static void memory_may_run_out(void **state) {
    (void)state;
    test_fail_each_allocation(label_tiny, NULL, test_is_slow() ? 15 : 150);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_covers),
        cmocka_unit_test(the_numbers_agree),
        cmocka_unit_test(says_whether_the_graph_helps),
        cmocka_unit_test(each_node_is_held_out_once),
        cmocka_unit_test(of_many_labels_some_are_held_out),
        cmocka_unit_test(held_out_labels_have_no_say),
        cmocka_unit_test(jobs_do_not_matter),
        cmocka_unit_test(ends_where_it_is_told),
        cmocka_unit_test(a_small_budget_has_an_answer),
        cmocka_unit_test(steps_come_in_order),
        cmocka_unit_test(the_better_trial),
        cmocka_unit_test(ranks_keep_a_network_without_graph),
        cmocka_unit_test(candidates_have_names),
        cmocka_unit_test(weights_are_used_where_they_help),
        cmocka_unit_test(metrics_have_estimates),
        cmocka_unit_test(sets_cover_the_truth),
        cmocka_unit_test(asks_for_different_unlabelled_nodes),
        cmocka_unit_test(twelve_nodes_are_enough),
        cmocka_unit_test(the_size_decides_about_ranks),
        cmocka_unit_test(says_what_is_missing),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
