/* Studies through the public interface: trials depend only on the seed and the results, test labels are never read, a
 * trial can be reproduced, and invalid input is refused. */
#include "support.h"

#include "store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NODES = 240, TRIALS = 30 };

static const char space[] = "lr=log(1e-3,1) dropout=(0,0.9) hidden={4,8}";

/* ---- data -------------------------------------------------------------------------------------------------------- */

static sfu_dataset *made(void) {
    sfu_dataset *dataset = NULL;
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = NODES;
    options.classes = 3;
    options.vocabulary = 60;
    options.noise = 0.8;
    assert_ok(sfu_dataset_make(&dataset, &options));
    return dataset;
}

/* The same graph, features and split, with the label of each test node changed to the next class. */
static sfu_dataset *flipped(const sfu_dataset *dataset, const sfu_split *split, int32_t by) {
    const sfu_csr graph = sfu_dataset_graph(dataset), words = sfu_dataset_sparse(dataset);
    const int64_t edges = graph.indptr[graph.rows];
    int32_t *from = calloc((size_t)edges, sizeof *from), *labels = calloc(NODES, sizeof *labels);
    assert_true(from != NULL && labels != NULL);
    for (int32_t i = 0; i < graph.rows; i++) {
        for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; e++) {
            from[e] = i;
        }
    }
    memcpy(labels, sfu_dataset_labels(dataset), NODES * sizeof *labels);
    int32_t count = 0;
    const int32_t *test = sfu_split_part(split, SFU_TEST, &count);
    for (int32_t i = 0; i < count; i++) {
        labels[test[i]] = (labels[test[i]] + by) % 3;
    }
    sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                         .nodes = NODES,
                         .edges = edges,
                         .edge_from = from,
                         .edge_to = graph.indices,
                         .features = sfu_dataset_features(dataset),
                         .indptr = words.indptr,
                         .indices = words.indices,
                         .values = words.values,
                         .labels = labels,
                         .classes = 3};
    for (int part = 0; part < SFU_PARTS; part++) {
        arrays.standard[part] = sfu_split_part(split, (sfu_part)part, &arrays.standard_count[part]);
    }
    sfu_dataset *other = NULL;
    sfu_import_options options;
    sfu_import_options_init(&options);
    assert_ok(sfu_dataset_from_arrays(&other, &arrays, &options));
    free(from);
    free(labels);
    return other;
}

/* What the options of small() train with. */
static const sfu_train_options *trained_for(int32_t epochs) {
    static sfu_train_options train;
    sfu_train_options_init(&train);
    train.epochs = epochs;
    return &train;
}

static sfu_tune_options small(void) {
    sfu_tune_options options;
    sfu_tune_options_init(&options);
    options.space = space;
    options.trials = TRIALS;
    options.wave = 6;
    options.jobs = 1;
    options.train = trained_for(20);
    return options;
}

static sfu_study *tuned(const sfu_dataset *dataset, const char *net, const sfu_tune_options *options) {
    sfu_study *study = NULL;
    sfu_split *split = NULL;
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    assert_ok(sfu_tune(&study, dataset, net, NULL, split, options));
    sfu_split_free(split);
    return study;
}

static void assert_same_trials(const sfu_study *one, const sfu_study *other) {
    assert_int_equal(sfu_study_trials(one), sfu_study_trials(other));
    for (int32_t i = 0; i < sfu_study_trials(one); i++) {
        const sfu_trial *a = sfu_study_trial(one, i), *b = sfu_study_trial(other, i);
        assert_string_equal(a->params, b->params);
        assert_int_equal(a->state, b->state);
        assert_memory_equal(&a->val_accuracy, &b->val_accuracy, sizeof a->val_accuracy);
        assert_memory_equal(&a->val_loss, &b->val_loss, sizeof a->val_loss);
        assert_int_equal(a->seed, b->seed);
        assert_int_equal(a->epochs, b->epochs);
        assert_int_equal(a->best_epoch, b->best_epoch);
    }
    assert_int_equal(sfu_study_ranked(one, 0)->number, sfu_study_ranked(other, 0)->number);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void jobs_do_not_matter(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    static const int32_t waves[] = {1, 2, 7, 32};
    for (int w = 0; w < 4; w++) {
        sfu_tune_options options = small();
        options.wave = waves[w];
        sfu_study *alone = tuned(dataset, "gcn", &options);
        for (options.jobs = 2; options.jobs <= 5; options.jobs += 3) {
            sfu_study *together = tuned(dataset, "gcn", &options);
            assert_same_trials(alone, together);
            sfu_study_free(together);
        }
        sfu_study_free(alone);
    }
    sfu_dataset_free(dataset);
}

/* A study with fewer trials is a prefix of one with more. */
static void trials_come_in_the_same_order(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    sfu_tune_options options = small();
    sfu_study *more = tuned(dataset, "gcn", &options);
    options.trials = 17;
    sfu_study *fewer = tuned(dataset, "gcn", &options);
    for (int32_t i = 0; i < 17; i++) {
        assert_string_equal(sfu_study_trial(fewer, i)->params, sfu_study_trial(more, i)->params);
    }
    sfu_study_free(fewer);
    sfu_study_free(more);
    sfu_dataset_free(dataset);
}

static void seeds_and_samplers_differ(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    sfu_tune_options options = small();
    sfu_study *usual = tuned(dataset, "gcn", &options);
    options.seed = 1;
    sfu_study *other_seed = tuned(dataset, "gcn", &options);
    assert_string_not_equal(sfu_study_trial(usual, 0)->params, sfu_study_trial(other_seed, 0)->params);
    options.seed = 0;
    options.sampler = "random";
    sfu_study *other_sampler = tuned(dataset, "gcn", &options);
    assert_string_equal(sfu_study_trial(usual, 0)->params, sfu_study_trial(other_sampler, 0)->params);
    assert_string_not_equal(sfu_study_trial(usual, 29)->params, sfu_study_trial(other_sampler, 29)->params);
    sfu_study_free(usual);
    sfu_study_free(other_seed);
    sfu_study_free(other_sampler);
    sfu_dataset_free(dataset);
}

/* Random search ignores results: neither jobs nor the wave change its trials. */
static void random_trials_wait_for_nothing(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    sfu_tune_options options = small();
    options.sampler = "random";
    options.jobs = 1;
    sfu_study *one = tuned(dataset, "gcn", &options);
    options.jobs = 7;
    options.wave = 1;
    sfu_study *many = tuned(dataset, "gcn", &options);
    assert_same_trials(one, many);
    sfu_study_free(one);
    sfu_study_free(many);
    sfu_dataset_free(dataset);
}

/* No trial changes when every test label does; the score of the winner does. */
static void test_labels_are_not_read(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    sfu_split *split = NULL;
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    sfu_dataset *right = flipped(dataset, split, 0), *wrong = flipped(dataset, split, 1);
    const sfu_tune_options options = small();
    sfu_study *one = tuned(right, "gcn", &options), *other = tuned(wrong, "gcn", &options);
    assert_same_trials(one, other);
    assert_true(sfu_model_scores(sfu_study_model(one))->test_accuracy !=
                sfu_model_scores(sfu_study_model(other))->test_accuracy);
    sfu_study_free(one);
    sfu_study_free(other);
    sfu_dataset_free(right);
    sfu_dataset_free(wrong);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

/* The value of a parameter of a trial as a number. */
static double number_of(const sfu_study *study, int32_t trial, const char *name) {
    for (int i = 0; sfu_study_parameter(study, i) != NULL; i++) {
        if (strcmp(sfu_study_parameter(study, i), name) == 0) {
            assert_true(sfu_study_value_number(study, trial, i) == strtod(sfu_study_value(study, trial, i), NULL));
            return sfu_study_value_number(study, trial, i);
        }
    }
    fail_msg("no parameter %s", name);
    return NAN;
}

static void trials_can_be_trained_again(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    sfu_split *split = NULL;
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    const sfu_tune_options options = small();
    sfu_study *study = tuned(dataset, "gcn", &options);
    for (int32_t i = 0; i < TRIALS; i += 3) {
        const sfu_trial *trial = sfu_study_trial(study, i);
        sfu_net_options net_options;
        sfu_net_options_init(&net_options);
        net_options.hidden = (int32_t)number_of(study, i, "hidden");
        sfu_net *net = NULL;
        sfu_model *model = NULL;
        assert_ok(sfu_net_parse(&net, "gcn", &net_options));
        sfu_train_options train = *options.train;
        train.seed = trial->seed;
        train.lr = number_of(study, i, "lr");
        train.dropout = number_of(study, i, "dropout");
        assert_ok(sfu_train(&model, dataset, net, split, &train));
        const sfu_scores scores = *sfu_model_scores(model);
        assert_true(scores.val_accuracy == trial->val_accuracy && scores.val_loss == trial->val_loss);
        assert_int_equal(scores.best_epoch, trial->best_epoch);
        sfu_model_free(model);
        sfu_net_free(net);
    }
    sfu_study_free(study);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

typedef struct heard_epochs {
    int32_t count, stop_after;
    double best;
} heard_epochs;

static bool hear_epoch(void *user, const sfu_epoch *epoch) {
    heard_epochs *self = user;
    assert_int_equal(epoch->epoch, ++self->count);
    self->best = epoch->best_val_accuracy;
    return self->count < self->stop_after;
}

/* The epoch callback is called only for the winner's training; cancelling it fails the call. */
static void the_winner_is_heard(void **state) {
    (void)state;
    heard_epochs heard = {.stop_after = INT32_MAX};
    sfu_dataset *dataset = made();
    sfu_split *split = NULL;
    sfu_study *study = NULL;
    sfu_tune_options options = small();
    sfu_study *quiet = tuned(dataset, "gcn", &options);
    sfu_train_options train = *options.train, winners;
    train.on_epoch = hear_epoch;
    train.on_epoch_user = &heard;
    options.train = &train;
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    assert_ok(sfu_tune(&study, dataset, "gcn", NULL, split, &options));
    const sfu_trial *winner = sfu_study_ranked(study, 0);
    assert_int_equal(heard.count, winner->epochs);
    assert_true(heard.best == winner->val_accuracy && winner->val_accuracy == sfu_study_ranked(quiet, 0)->val_accuracy);
    sfu_train_options_init(&winners);
    sfu_study_winner_options(&winners, study);
    assert_true(winners.on_epoch == NULL && winners.epochs == 20 && winners.size == sizeof winners);
    sfu_study_free(study);
    sfu_study_free(quiet);
    heard = (heard_epochs){.stop_after = 2};
    assert_fails(SFU_ERR_CANCELLED, sfu_tune(&study, dataset, "gcn", NULL, split, &options), "winner");
    assert_int_equal(heard.count, 2);
    assert_null(study);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

static void the_winner_is_the_best(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    const sfu_tune_options options = small();
    sfu_study *study = tuned(dataset, "gcn", &options);
    const sfu_trial *winner = sfu_study_ranked(study, 0);
    for (int32_t i = 0; i < TRIALS; i++) {
        const sfu_trial *trial = sfu_study_trial(study, i);
        assert_true(trial->val_accuracy < winner->val_accuracy ||
                    (trial->val_accuracy == winner->val_accuracy &&
                     (trial->val_loss > winner->val_loss ||
                      (trial->val_loss == winner->val_loss && trial->number >= winner->number))));
    }
    for (int32_t rank = 1; sfu_study_ranked(study, rank) != NULL; rank++) {
        assert_true(sfu_study_ranked(study, rank)->val_accuracy <= sfu_study_ranked(study, rank - 1)->val_accuracy);
    }
    assert_true(sfu_model_scores(sfu_study_model(study))->val_accuracy == winner->val_accuracy);
    sfu_train_options settings;
    sfu_train_options_init(&settings);
    sfu_study_winner_options(&settings, study);
    assert_true(settings.seed == winner->seed);
    double sum = 0.0;
    for (int i = 0; sfu_study_parameter(study, i) != NULL; i++) {
        sum += sfu_study_importance(study, i);
    }
    assert_true(fabs(sum - 1.0) < 1e-9 || sum == 0.0);
    sfu_study_free(study);
    sfu_dataset_free(dataset);
}

/* With networks of different parameters, each trial has those of its network. */
static void networks_are_searched(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    sfu_tune_options options = small();
    options.space = "net={gcn,sgcn,lpnn} lr=log(1e-3,0.1) hidden={4,8} mu_g=(0,1)";
    sfu_study *study = tuned(dataset, "any", &options);
    bool seen[3] = {false};
    for (int32_t i = 0; i < TRIALS; i++) {
        const char *params = sfu_study_trial(study, i)->params;
        const bool gcn = strstr(params, "net=gcn") != NULL, lpnn = strstr(params, "net=lpnn") != NULL;
        assert_int_equal(gcn, strstr(params, "hidden=") != NULL);
        assert_int_equal(lpnn, strstr(params, "mu_g=") != NULL);
        seen[gcn ? 0 : lpnn ? 1 : 2] = true;
    }
    assert_true(seen[0] && seen[1] && seen[2]);
    sfu_study_free(study);
    sfu_dataset_free(dataset);
}

static void enqueued_points_come_first(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    sfu_tune_options options = small();
    const char *const points[] = {"lr=0.01 dropout=0.5 hidden=8", "hidden=4"};
    options.enqueue = points;
    options.enqueue_count = 2;
    sfu_study *study = tuned(dataset, "gcn", &options);
    assert_string_equal(sfu_study_trial(study, 0)->params, "lr=0.01 dropout=0.5 hidden=8");
    assert_non_null(strstr(sfu_study_trial(study, 1)->params, "hidden=4"));
    assert_non_null(strstr(sfu_study_trial(study, 1)->params, "lr="));
    sfu_study_free(study);
    sfu_dataset_free(dataset);
}

/* A diverged trial is FAIL and counts; if all diverge there is no winner. */
static void diverged_trials_fail(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    sfu_tune_options options = small();
    options.space = "lr=log(1e-2,1e30)";
    sfu_study *study = tuned(dataset, "gcn", &options);
    int32_t failed = 0;
    for (int32_t i = 0; i < TRIALS; i++) {
        const sfu_trial *trial = sfu_study_trial(study, i);
        failed += trial->state == SFU_TRIAL_FAIL;
        assert_int_equal(trial->state == SFU_TRIAL_FAIL, isnan(trial->val_accuracy));
    }
    assert_in_range(failed, 1, TRIALS - 1);
    assert_int_equal(sfu_study_trials(study), TRIALS);
    sfu_study_free(study);
    options.space = "lr=log(1e29,1e30)";
    study = tuned(dataset, "gcn", &options);
    assert_null(sfu_study_ranked(study, 0));
    assert_null(sfu_study_model(study));
    sfu_study_free(study);
    sfu_dataset_free(dataset);
}

/* ---- a study in a file ------------------------------------------------------------------------------------------- */

typedef struct stopper {
    int32_t after, heard;
    int calls_after_no; /* -1: not cancelled yet */
} stopper;

static bool stop(void *user, const sfu_tune_progress *progress) {
    stopper *self = user;
    assert_true(progress->done >= self->heard); /* never decreases */
    self->heard = progress->done;
    assert_int_equal(progress->unsaved, 0);
    self->calls_after_no += self->calls_after_no >= 0 || progress->here >= self->after;
    return progress->here < self->after;
}

static char *export_of(const sfu_study *study) {
    const char *path = test_path("export.csv");
    assert_ok(sfu_study_export(study, path, NULL));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_in_range(fread(text, 1, (1 << 20) - 1, file), 100, (1 << 20) - 2);
    fclose(file);
    return text;
}

/* Interrupted repeatedly, the study ends like an uninterrupted one. */
static void a_stopped_study_goes_on(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    sfu_split *split = NULL;
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    sfu_tune_options options = small();
    sfu_study *whole = tuned(dataset, "gcn", &options), *study = NULL;
    char file[256];
    snprintf(file, sizeof file, "%s", test_path("stopped.db"));
    options.study = file;
    options.jobs = 2;
    options.on_progress = stop;
    sfu_status status = SFU_ERR_CANCELLED;
    for (int round = 0; status == SFU_ERR_CANCELLED; round++) {
        stopper self = {.after = 1 + round % 5, .calls_after_no = -1};
        options.on_progress_user = &self;
        status = sfu_tune(&study, dataset, "gcn", NULL, split, &options);
        assert_true(round < 2 * TRIALS);
        assert_int_equal(self.calls_after_no, status == SFU_ERR_CANCELLED ? 1 : -1); /* when everything is stored */
    }
    if (status == SFU_ERR_UNSUPPORTED) {
        skip();
    }
    assert_ok(status);
    char *one = export_of(whole), *other = export_of(study);
    assert_string_equal(one, other);
    free(one);
    free(other);
    sfu_study_free(study);

    /* A finished study runs nothing; more trials continue it. */
    options.on_progress = NULL;
    assert_ok(sfu_tune(&study, dataset, "gcn", NULL, split, &options));
    assert_same_trials(whole, study);
    sfu_study_free(study);
    options.trials = TRIALS + 10;
    assert_ok(sfu_tune(&study, dataset, "gcn", NULL, split, &options));
    sfu_study_free(whole);
    options.study = NULL;
    whole = tuned(dataset, "gcn", &options);
    assert_same_trials(whole, study);
    sfu_study_free(study);
    sfu_study_free(whole);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

/* A study is continued only with the same fingerprint. */
static void another_study_is_refused(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    sfu_split *split = NULL, *other_split = NULL;
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    assert_ok(sfu_split_new(&other_split, dataset, "random:1", NULL));
    sfu_tune_options options = small();
    char file[256];
    snprintf(file, sizeof file, "%s", test_path("facts.db"));
    options.study = file;
    options.study_name = "one";
    options.trials = 3;
    sfu_study *study = NULL;
    const sfu_status status = sfu_tune(&study, dataset, "gcn", NULL, split, &options);
    if (status == SFU_ERR_UNSUPPORTED) {
        skip();
    }
    assert_ok(status);
    sfu_study_free(study);
    sfu_tune_options other = options;
    other.seed = 7;
    assert_fails(SFU_ERR_ARGUMENT, sfu_tune(&study, dataset, "gcn", NULL, split, &other), file, "the seed", "0", "7");
    other = options;
    other.wave = 8;
    assert_fails(SFU_ERR_ARGUMENT, sfu_tune(&study, dataset, "gcn", NULL, split, &other), "the wave", "6", "8");
    other = options;
    sfu_train_options summed = *options.train;
    summed.loss = SFU_LOSS_SUM;
    other.train = &summed;
    other.loss_is_set = true;
    assert_fails(SFU_ERR_ARGUMENT, sfu_tune(&study, dataset, "gcn", NULL, split, &other), "the loss", "mean", "sum");
    assert_fails(SFU_ERR_ARGUMENT, sfu_tune(&study, dataset, "gcn+lp", NULL, split, &options), "the network", "gcn");
    assert_fails(SFU_ERR_ARGUMENT, sfu_tune(&study, dataset, "gcn", NULL, other_split, &options), "the split");
    other = options;
    other.space = "lr=log(1e-3,1) dropout=(0,0.9) hidden={4,8,16}";
    assert_fails(SFU_ERR_ARGUMENT, sfu_tune(&study, dataset, "gcn", NULL, split, &other), "the search space");
    assert_ok(sfu_tune(&study, dataset, "gcn", NULL, split, &options)); /* unharmed */
    sfu_study_free(study);
    sfu_split_free(split);
    sfu_split_free(other_split);
    sfu_dataset_free(dataset);
}

/* Without a space in the options a study keeps its own, also a network with values of its own to search; a new study
 * has the practical one. */
static void a_study_keeps_its_space(void **state) {
    (void)state;
    static const struct {
        const char *net, *space, *canonical;
    } cases[] = {
        {"gcn", "lr=log(1e-3,1) hidden={4,8}", "lr=log(0.001,1) hidden={4,8}"},
        {"sgcn", "paper", "paper lr=(0,1) dropout=(0,1) weight_decay=(0,1)"},
        {"smooth^$n | softmax", "lr=(0.01,0.1) n=[1..3]", "lr=(0.01,0.1) n=[1..3]"},
        {"any", "paper",
         "paper net={gcn,sgcn,fp+mlp,sgcn+lp,gcn+lp,linear+lp,mlp+lp} lr=(0,1) dropout=(0,1) "
         "weight_decay=(0,1) hidden={8,16,32,64,128}"},
        {"sgcn", NULL, "lr=log(0.003,0.3) dropout=(0,0.8) weight_decay=log(1e-5,0.01)"},
    };
    sfu_dataset *dataset = made();
    sfu_split *split = NULL;
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char file[256], name[32];
        snprintf(name, sizeof name, "space%zu.db", i);
        snprintf(file, sizeof file, "%s", test_path(name));
        sfu_tune_options options = small();
        options.space = cases[i].space;
        options.study = file;
        options.trials = 3;
        options.train = trained_for(3);
        sfu_study *study = NULL, *whole = NULL;
        const sfu_status status = sfu_tune(&study, dataset, cases[i].net, NULL, split, &options);
        if (status == SFU_ERR_UNSUPPORTED) {
            skip();
        }
        assert_ok(status);
        assert_string_equal(sfu_study_space(study), cases[i].canonical);
        sfu_study_free(study);
        options.trials = 6;
        sfu_tune_options again = options;
        again.space = NULL;
        assert_ok(sfu_tune(&study, dataset, cases[i].net, NULL, split, &again));
        assert_string_equal(sfu_study_space(study), cases[i].canonical);
        options.study = NULL;
        assert_ok(sfu_tune(&whole, dataset, cases[i].net, NULL, split, &options));
        assert_same_trials(whole, study);
        sfu_study_free(whole);
        sfu_study_free(study);
    }
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

/* A network with $names and without a study still needs a space; a study of another network is refused by its name. */
static void a_missing_space_is_refused(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    sfu_split *split = NULL;
    sfu_study *study = NULL;
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    sfu_tune_options options = small();
    char file[256];
    snprintf(file, sizeof file, "%s", test_path("unspaced.db"));
    options.space = NULL;
    options.trials = 2;
    options.study = file;
    options.study_name = "one";
    assert_int_equal(sfu_tune(&study, dataset, "smooth^$n | softmax", NULL, split, &options), SFU_ERR_ARGUMENT);
    assert_non_null(strstr(sfu_message(), "\"$n\" has no range"));
    options.space = "lr=(0.01,0.1) hidden={4,8}";
    const sfu_status status = sfu_tune(&study, dataset, "gcn", NULL, split, &options);
    if (status == SFU_ERR_UNSUPPORTED) {
        skip();
    }
    assert_ok(status);
    sfu_study_free(study);
    options.space = NULL;
    assert_fails(SFU_ERR_ARGUMENT, sfu_tune(&study, dataset, "sgcn", NULL, split, &options), "the network", "gcn");
    options.study = test_text_file("words.db", "these are words, and no database, however long they go on\n");
    assert_fails(SFU_ERR_FORMAT, sfu_tune(&study, dataset, "sgcn", NULL, split, &options), "not an SQLite database");
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

/* ---- refused input ----------------------------------------------------------------------------------------------- */

static void wrong_options_are_refused(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    sfu_split *split = NULL;
    sfu_study *study = NULL;
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    sfu_tune_options options = small();
    options.sampler = "tea";
    assert_fails(SFU_ERR_ARGUMENT, sfu_tune(&study, dataset, "gcn", NULL, split, &options), "\"tea\"", "random");
    options = small();
    options.trials = 0;
    assert_fails(SFU_ERR_ARGUMENT, sfu_tune(&study, dataset, "gcn", NULL, split, &options), "at least 1 trial");
    options = small();
    options.wave = 0;
    assert_fails(SFU_ERR_ARGUMENT, sfu_tune(&study, dataset, "gcn", NULL, split, &options), "wave");
    options = small();
    const char *const points[] = {"lr=5"};
    options.enqueue = points;
    options.enqueue_count = 1;
    assert_int_equal(sfu_tune(&study, dataset, "gcn", NULL, split, &options), SFU_ERR_ARGUMENT);
    assert_non_null(strstr(sfu_message(), "lr is \"5\""));
    assert_null(study);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

typedef struct body_context {
    sfu_dataset *dataset;
    sfu_split *split;
} body_context;

static sfu_status tune_once(void *context) {
    const body_context *self = context;
    sfu_tune_options options = small();
    options.trials = 14;
    options.wave = 4;
    options.train = trained_for(2);
    sfu_study *study = NULL;
    const sfu_status status = sfu_tune(&study, self->dataset, "gcn", NULL, self->split, &options);
    sfu_study_free(study);
    return status;
}

static sfu_status peek_once(void *context) {
    char *json = NULL;
    const sfu_status status = sfu__store_peek(&json, context, "one", "sfumato:space", NULL);
    const bool found = json != NULL && strcmp(json, "\"lr=(0.01,0.1) hidden={4,8}\"") == 0;
    sfu__free(json);
    return status != SFU_OK || found ? status : SFU_ERR_FORMAT;
}

/* The space of a study is read before the study is opened; a study that does not exist is not created. */
static void spaces_are_read_from_studies(void **state) {
    (void)state;
    sfu_dataset *dataset = made();
    sfu_tune_options options = small();
    char file[256], *json = NULL;
    snprintf(file, sizeof file, "%s", test_path("peek.db"));
    assert_ok(sfu__store_peek(&json, file, "one", "sfumato:space", NULL));
    assert_null(json);
    assert_int_not_equal(access(file, F_OK), 0);
    options.space = "lr=(0.01,0.1) hidden={4,8}";
    options.trials = 2;
    options.train = trained_for(2);
    options.study = file;
    options.study_name = "one";
    sfu_study *study = NULL;
    sfu_split *split = NULL;
    assert_ok(sfu_split_new(&split, dataset, NULL, NULL));
    const sfu_status status = sfu_tune(&study, dataset, "gcn", NULL, split, &options);
    if (status == SFU_ERR_UNSUPPORTED) {
        skip();
    }
    assert_ok(status);
    assert_ok(sfu__store_peek(&json, file, "another", "sfumato:space", NULL));
    assert_null(json);
    test_fail_each_allocation(peek_once, file, 100);
    sfu_study_free(study);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
}

static void memory_may_run_out(void **state) {
    (void)state;
    body_context context = {made(), NULL};
    assert_ok(sfu_split_new(&context.split, context.dataset, NULL, NULL));
    test_fail_each_allocation(tune_once, &context, test_is_slow() ? 60 : 400);
    sfu_split_free(context.split);
    sfu_dataset_free(context.dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_do_not_matter),         cmocka_unit_test(trials_come_in_the_same_order),
        cmocka_unit_test(seeds_and_samplers_differ),  cmocka_unit_test(random_trials_wait_for_nothing),
        cmocka_unit_test(test_labels_are_not_read),   cmocka_unit_test(trials_can_be_trained_again),
        cmocka_unit_test(the_winner_is_the_best),     cmocka_unit_test(the_winner_is_heard),
        cmocka_unit_test(networks_are_searched),      cmocka_unit_test(enqueued_points_come_first),
        cmocka_unit_test(diverged_trials_fail),       cmocka_unit_test(a_stopped_study_goes_on),
        cmocka_unit_test(another_study_is_refused),   cmocka_unit_test(a_study_keeps_its_space),
        cmocka_unit_test(a_missing_space_is_refused), cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(memory_may_run_out),         cmocka_unit_test(spaces_are_read_from_studies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
