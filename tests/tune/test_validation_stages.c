/* Staged validation: in any order of the nodes the result equals that of a full validation, and an epoch is abandoned
 * only if it cannot be the best. */
#include "support.h"

#include "validation_stages.h"
#include "memory.h"
#include "random_networks.h"
#include "train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one evaluation ---------------------------------------------------------------------------------------------- */

enum { MOST = 12 };

/* A dataset and a network; training and validation nodes, and their labels. */
typedef struct drawn {
    sfu__random random;
    char text[COMPOSITION_MAX];
    sfu_dataset *dataset;
    sfu_net *net;
    int32_t nodes[2][MOST], count[2], labels[2][MOST], order[MOST];
    sfu__stages stages;
} drawn;

static void draw_looks(drawn *it) {
    int32_t end = 0;
    memcpy(it->order, it->nodes[1], sizeof it->order);
    sfu__random_shuffle(&it->random, it->order, it->count[1]);
    it->stages = (sfu__stages){.nodes = it->order};
    for (int stage = 0; stage < SFU__STAGES - 1; stage++) {
        end += (int32_t)sfu__random_below(&it->random, (uint64_t)(it->count[1] - end) + 1);
        it->stages.ends[stage] = end;
    }
}

static void draw(drawn *it, uint64_t seed) {
    *it = (drawn){.random = sfu__random_start(seed, 0)};
    it->dataset = random_dataset(&it->random);
    assert_ok(sfu_net_parse(&it->net, random_composition(it->text, &it->random, it->dataset), NULL));
    for (int part = 0; part < 2; part++) {
        it->count[part] = random_nodes(it->nodes[part], &it->random, it->dataset->nodes);
        for (int32_t i = 0; i < it->count[part]; i++) {
            it->labels[part][i] = (int32_t)sfu__random_below(&it->random, (uint64_t)it->dataset->classes);
        }
    }
    draw_looks(it);
}

static void let_go(drawn *it) {
    sfu_net_free(it->net);
    sfu_dataset_free(it->dataset);
}

/* An executor with its own plan, with or without stages. */
typedef struct runs {
    sfu__plan *plan;
    sfu__executor *worker;
    sfu__team *team;
} runs;

static sfu__plan_request request_of(const drawn *it, const sfu__stages *stages, unsigned rewrites) {
    sfu__plan_request request = {.dropout = true, .rewrites = rewrites, .threads = 1, .stages = stages};
    for (int part = 0; part < 2; part++) {
        request.nodes[part] = it->nodes[part];
        request.count[part] = it->count[part];
    }
    return request;
}

static void start(runs *to, const drawn *it, const sfu__stages *stages, unsigned rewrites, const sfu__backend *backend,
                  int threads) {
    const sfu__plan_request request = request_of(it, stages, rewrites);
    assert_ok(sfu__plan_make(&to->plan, it->dataset, it->net, &request));
    assert_ok(sfu__team_new(&to->team, threads));
    assert_ok(sfu__executor_new(&to->worker, to->plan, backend, to->team));
    sfu__parameters_start(sfu__executor_theta(to->worker), sfu__plan_parameters(to->plan), it->net, NULL, 3);
}

static void end(runs *it) {
    sfu__executor_free(it->worker);
    sfu__team_free(it->team);
    sfu__plan_release(it->plan);
}

static bool same_score(const sfu__score *a, const sfu__score *b) {
    return a->correct == b->correct && (a->loss == b->loss || (isnan(a->loss) && isnan(b->loss)));
}

static void assert_same_output(const drawn *it, const runs *whole, const runs *looking) {
    const sfu__dense a = sfu__executor_output(whole->worker, SFU_PASS_EVALUATE);
    const sfu__dense b = sfu__executor_output(looking->worker, SFU_PASS_EVALUATE);
    int32_t rows[2];
    const int32_t *nodes = sfu__plan_rows(whole->plan, SFU_PASS_EVALUATE, &rows[0]);
    const int32_t *others = sfu__plan_rows(looking->plan, SFU_PASS_EVALUATE, &rows[1]);
    assert_int_equal(a.rows, b.rows);
    assert_int_equal(rows[0], rows[1]);
    for (int32_t i = 0; i < a.rows; i++) {
        assert_int_equal(nodes != NULL ? nodes[i] : i, others != NULL ? others[i] : i);
        if (memcmp(a.data + (int64_t)i * a.ld, b.data + (int64_t)i * b.ld, sizeof(float) * (size_t)a.cols) != 0) {
            fail_msg("%s: row %d of the validation is another one in looks", it->text, i);
        }
    }
}

/* Runs epochs with and without stages side by side; returns how often staged validation ended early. */
static int compare(const drawn *it, unsigned rewrites, const sfu__backend *backend, int threads) {
    runs whole = {0}, looking = {0};
    int ended = 0;
    start(&whole, it, NULL, rewrites, backend, 1);
    start(&looking, it, &it->stages, rewrites, backend, threads);
    sfu__epoch epoch = {.seed = 9, .dropout = 0.3, .lr = 0.02F, .decay = 1e-3F, .evaluate = true};
    epoch.target = (sfu__target){it->labels[0], NULL};
    epoch.validation = (sfu__target){it->labels[1], NULL};
    for (epoch.number = 1; epoch.number <= 6; epoch.number++) {
        sfu__score training[2], all, some;
        epoch.needed = 0;
        sfu__executor_epoch(whole.worker, &epoch, &training[0], &all);
        /* none, as many as there are, one more, all: then half of the epochs may end early */
        const int64_t needed[4] = {0, all.correct, all.correct + 1, it->count[1]};
        epoch.needed = needed[(epoch.number + (uint32_t)it->count[0]) % 4];
        sfu__executor_epoch(looking.worker, &epoch, &training[1], &some);
        assert_true(same_score(&training[0], &training[1]));
        if (some.correct < 0) {
            assert_true(all.correct < epoch.needed);
            assert_true(same_score(&some, &sfu__unseen));
            ended++;
        } else {
            assert_true(same_score(&all, &some));
            assert_same_output(it, &whole, &looking);
        }
    }
    sfu__executor_forward(whole.worker, SFU_PASS_EVALUATE);
    sfu__executor_forward(looking.worker, SFU_PASS_EVALUATE);
    assert_same_output(it, &whole, &looking);
    end(&whole);
    end(&looking);
    return ended;
}

static sfu_status make_and_free(void *context) {
    const drawn *it = context;
    const sfu__backend *backend = NULL;
    runs made = {0};
    const sfu__plan_request request = request_of(it, &it->stages, SFU__ALL_REWRITES);
    assert_ok(sfu__backend_cpu(&backend));
    sfu_status status = sfu__plan_make(&made.plan, it->dataset, it->net, &request);
    if (status == SFU_OK) {
        status = sfu__executor_new(&made.worker, made.plan, backend, NULL);
    }
    end(&made);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        drawn it;
        draw(&it, seed);
        test_fail_each_allocation(make_and_free, &it, 500);
        let_go(&it);
    }
}

static bool learns_smoothing(const sfu_net *net) {
    for (int i = 0; i < net->count; i++) {
        if (net->layers[i].learn != 0) {
            return true;
        }
    }
    return false;
}

static void any_network_in_looks_is_the_same(void **state) {
    (void)state;
    const int networks = test_is_slow() ? 60 : 600;
    int ended = 0;
    for (int i = 0; i < networks; i++) {
        const sfu__backend *backend = NULL;
        drawn it;
        draw(&it, (uint64_t)i);
        for (int set = 0; (backend = sfu__backend_cpu_set(set)) != NULL; set++) {
            const int now = compare(&it, SFU__ALL_REWRITES, backend, 1 + (i + set) % 3);
            assert_true(now == 0 || !learns_smoothing(it.net)); /* the matrix is computed for all rows at once */
            ended += now;
        }
        assert_ok(sfu__backend_cpu(&backend));
        assert_int_equal(compare(&it, SFU__ALL_REWRITES & ~(unsigned)SFU__PRUNE, backend, 2), 0);
        let_go(&it);
    }
    print_message("%d evaluations of %d networks ended early\n", ended, networks);
    assert_true(ended > networks / 4);
}

/* So many rows that they are in fewer blocks than those of the first stage alone. */
static void a_look_may_have_more_blocks_than_all(void **state) {
    (void)state;
    enum { ROWS = 16385, FIRST = 16384 };
    static int32_t nodes[ROWS], labels[ROWS];
    const sfu__backend *backend = NULL;
    sfu_make_options options;
    drawn it = {.count = {1, 0}};
    runs looking = {0};
    sfu_make_options_init(&options);
    options.nodes = ROWS + 100;
    options.classes = 3;
    options.vocabulary = 20;
    assert_ok(sfu_dataset_make(&it.dataset, &options));
    assert_ok(sfu_net_parse(&it.net, "linear", NULL));
    assert_ok(sfu__backend_cpu(&backend));
    for (int32_t i = 0; i < ROWS; i++) {
        nodes[i] = i;
        labels[i] = sfu_dataset_labels(it.dataset)[i];
    }
    it.stages = (sfu__stages){.nodes = nodes, .ends = {FIRST, FIRST, FIRST, FIRST, FIRST}};
    assert_true(sfu__block_count(FIRST) > sfu__block_count(ROWS));
    sfu__plan_request request = request_of(&it, &it.stages, SFU__ALL_REWRITES);
    request.nodes[SFU_PASS_EVALUATE] = nodes;
    request.count[SFU_PASS_EVALUATE] = ROWS;
    assert_ok(sfu__plan_make(&looking.plan, it.dataset, it.net, &request));
    assert_ok(sfu__executor_new(&looking.worker, looking.plan, backend, NULL));
    sfu__score training, all, some;
    sfu__epoch epoch = {.number = 1, .lr = 0.01F, .evaluate = true};
    epoch.target = epoch.validation = (sfu__target){labels, NULL};
    sfu__executor_epoch(looking.worker, &epoch, &training, &all);
    epoch.lr = 0.0F; /* the same weights again */
    epoch.number = 2;
    epoch.needed = 1;
    sfu__executor_epoch(looking.worker, &epoch, &training, &some);
    assert_true(all.correct > 0 && same_score(&all, &some));
    epoch.needed = all.correct + 2; /* one row is left */
    sfu__executor_epoch(looking.worker, &epoch, &training, &some);
    assert_true(same_score(&some, &sfu__unseen));
    end(&looking);
    let_go(&it);
}

/* ---- training runs ----------------------------------------------------------------------------------------------- */

typedef struct study {
    sfu_dataset *dataset;
    sfu_split *split;
    sfu__objective objective;
    sfu__hardness hardness;
    sfu__stages stages;
    sfu_keep keep;
} study;

static void open_study(study *it) {
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = 1200;
    options.classes = 4;
    options.vocabulary = 120;
    options.seed = 11;
    *it = (study){0};
    assert_ok(sfu_dataset_make(&it->dataset, &options));
    assert_ok(sfu_split_new(&it->split, it->dataset, "random:0", NULL));
    assert_ok(
        sfu__objective_make(&it->objective, it->dataset, it->split, &(sfu__objective_options){.loss = SFU_LOSS_SUM}));
    assert_ok(sfu__hardness_make(&it->hardness, it->objective.val_count));
}

static void close_study(study *it) {
    sfu__free(it->stages.nodes);
    sfu__hardness_clear(&it->hardness);
    sfu__objective_clear(&it->objective);
    sfu_split_free(it->split);
    sfu_dataset_free(it->dataset);
}

/* Counts epochs whose validation was abandoned (NaN). */
static bool count_unseen(void *user, const sfu_epoch *epoch) {
    int *unseen = user;
    *unseen += isnan(epoch->val_accuracy) ? 1 : 0;
    assert_true(isnan(epoch->val_accuracy) == isnan(epoch->val_loss));
    return true;
}

typedef struct trained {
    sfu__training training;
    float *best;
    size_t size; /* floats of it */
    int unseen;  /* abandoned epochs */
} trained;

/* A training run with one of several settings. */
static void train(trained *to, study *it, const char *text, int number, bool stages) {
    static const double rates[3] = {0.01, 0.1, 0.5};
    int32_t *misses = calloc((size_t)it->objective.val_count, sizeof *misses);
    sfu__runner runner = {0};
    sfu_net *net = NULL;
    assert_non_null(misses);
    assert_ok(sfu_net_parse(&net, text, &(sfu_net_options){.size = sizeof(sfu_net_options), .hidden = 24, .k = 2}));
    sfu__plan_request request = sfu__train_request(net, it->split, 0.5, 2, (sfu__device){0});
    request.stages = stages ? &it->stages : NULL;
    assert_ok(sfu__runner_make(&runner, it->dataset, net, &request));
    *to = (trained){.size = (size_t)runner.parameters->size};
    to->best = calloc(to->size, sizeof *to->best);
    assert_non_null(to->best);
    to->training = (sfu__training){.seed = (uint64_t)number,
                                   .lr = rates[number % 3],
                                   .weight_decay = 0.001,
                                   .dropout = 0.5,
                                   .epochs = 80,
                                   .patience = 12,
                                   .keep = it->keep,
                                   .objective = &it->objective,
                                   .best = to->best,
                                   .outcome_only = stages,
                                   .misses = stages ? NULL : misses};
    sfu__training_run(&to->training, &runner, count_unseen, &to->unseen);
    if (!stages) {
        sfu__hardness_add(&it->hardness, misses, to->training.ran, to->training.best_val_correct);
    }
    free(misses);
    sfu__runner_clear(&runner);
    sfu_net_free(net);
}

static void assert_same_outcome(const trained *a, const trained *b) {
    assert_int_equal(a->training.ran, b->training.ran);
    assert_int_equal(a->training.stopping.best_epoch, b->training.stopping.best_epoch);
    assert_int_equal(a->training.best_val_correct, b->training.best_val_correct);
    assert_memory_equal(&a->training.stopping.best_val_loss, &b->training.stopping.best_val_loss,
                        sizeof a->training.stopping.best_val_loss);
    assert_int_equal(a->training.diverged, b->training.diverged);
    assert_memory_equal(a->best, b->best, a->size * sizeof *a->best);
}

static void trainings_in_looks_come_out_the_same(void **state) {
    (void)state;
    static const char *const networks[] = {"gcn", "sgcn", "mlp+lp", "linear+lp"};
    enum { NETWORKS = sizeof networks / sizeof networks[0], SETTINGS = 3 };
    trained whole[NETWORKS * SETTINGS], looking;
    study it;
    int unseen = 0, epochs = 0;
    int32_t count = 0;
    open_study(&it);
    for (int i = 0; i < NETWORKS * SETTINGS; i++) {
        train(&whole[i], &it, networks[i / SETTINGS], i, false);
        assert_int_equal(whole[i].unseen, 0);
        epochs += whole[i].training.ran;
    }
    assert_true(sfu__hardness_known(&it.hardness));
    assert_ok(sfu__stages_make(&it.stages, &it.hardness, sfu_split_part(it.split, SFU_VAL, &count)));
    assert_non_null(it.stages.nodes);
    for (int i = 0; i < NETWORKS * SETTINGS; i++) {
        train(&looking, &it, networks[i / SETTINGS], i, true);
        assert_same_outcome(&whole[i], &looking);
        unseen += looking.unseen;
        free(looking.best);
        free(whole[i].best);
    }
    print_message("%d of %d epochs given up\n", unseen, epochs);
    assert_true(unseen > epochs / 4);
    close_study(&it);
}

/* The last epoch is kept: it must be validated completely. */
static void what_is_kept_last_is_seen(void **state) {
    (void)state;
    study it;
    trained whole, looking;
    int32_t count = 0;
    open_study(&it);
    train(&whole, &it, "gcn", 2, false);
    assert_ok(sfu__stages_make(&it.stages, &it.hardness, sfu_split_part(it.split, SFU_VAL, &count)));
    assert_non_null(it.stages.nodes);
    it.keep = SFU_KEEP_LAST;
    train(&looking, &it, "gcn", 2, true);
    assert_int_equal(looking.unseen, 0);
    assert_int_equal(looking.training.stopping.best_epoch, looking.training.ran);
    free(whole.best);
    free(looking.best);
    close_study(&it);
}

/* ---- order of the nodes ------------------------------------------------------------------------------------------ */

static void the_hardest_come_first(void **state) {
    (void)state;
    enum { COUNT = 100 };
    int32_t nodes[COUNT], misses[COUNT];
    sfu__hardness hardness = {0};
    sfu__stages stages;
    assert_ok(sfu__hardness_make(&hardness, COUNT));
    for (int32_t i = 0; i < COUNT; i++) {
        nodes[i] = 3 * i;
        misses[i] = i * 37 % 50; /* each number twice */
    }
    sfu__hardness_add(&hardness, misses, 30, 70);
    assert_false(sfu__hardness_known(&hardness));
    sfu__hardness_add(&hardness, misses, 80, 80);
    assert_true(sfu__hardness_known(&hardness));
    assert_ok(sfu__stages_make(&stages, &hardness, nodes));
    for (int32_t i = 0; i < COUNT; i++) {
        assert_int_equal(misses[stages.nodes[i] / 3], 49 - i / 2);
        assert_true(i % 2 == 0 || stages.nodes[i] > stages.nodes[i - 1]);
    }
    static const int32_t ends[SFU__STAGES - 1] = {27, 32, 38, 48, 68}; /* if 20 may be wrong */
    assert_memory_equal(stages.ends, ends, sizeof ends);
    sfu__free(stages.nodes);
    sfu__hardness_clear(&hardness);
}

/* If most nodes are wrong, or there are few, stages do not pay off. */
static void few_or_hopeless_nodes_are_looked_at_at_once(void **state) {
    (void)state;
    static const int32_t nodes[100] = {0}, misses[100] = {0};
    const struct {
        int32_t count;
        int64_t right;
        bool pays;
    } cases[] = {{100, 25, false}, {100, 27, true}, {100, 90, true}, {63, 60, false}, {64, 60, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sfu__hardness hardness = {0};
        sfu__stages stages;
        assert_ok(sfu__hardness_make(&hardness, cases[i].count));
        sfu__hardness_add(&hardness, misses, 500, cases[i].right);
        assert_ok(sfu__stages_make(&stages, &hardness, nodes));
        assert_int_equal(stages.nodes != NULL, cases[i].pays);
        assert_true(stages.ends[SFU__STAGES - 2] <= cases[i].count);
        sfu__free(stages.nodes);
        sfu__hardness_clear(&hardness);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_network_in_looks_is_the_same),
        cmocka_unit_test(a_look_may_have_more_blocks_than_all),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(trainings_in_looks_come_out_the_same),
        cmocka_unit_test(what_is_kept_last_is_seen),
        cmocka_unit_test(the_hardest_come_first),
        cmocka_unit_test(few_or_hopeless_nodes_are_looked_at_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
