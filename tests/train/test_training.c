/* Training and prediction through the public interface: early stopping against a slow rule on the learning curve,
 * losses and scores against those recomputed from predictions, refused input, and reproducibility from the seed. */
#include "support.h"

#include "metrics.h"
#include "random.h"
#include "special.h"
#include "train.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 150, FEATURES = 12, CLASSES = 3, EDGES = 400, PART = 40, EPOCHS = 400 };

/* ---- data ------------------------------------------------------------------------------------------------------- */

/* Nodes 0 to 39 train, 40 to 79 validate, 80 to 119 test, the others have no label. */
typedef struct data {
    int32_t from[EDGES], to[EDGES], labels[NODES], parts[SFU_PARTS][PART];
    float features[NODES][FEATURES], column[NODES];
    sfu_arrays arrays;
} data;

static int32_t class_of(int node) { return node * 7 % 5 % CLASSES; }

static void draw(data *all) {
    static const char *const names[] = {"art", "bio, or not", "chem"};
    static const char *const column_names[] = {"trust"};
    static const float *columns[1];
    sfu__random random = sfu__random_start(5, 1);
    for (int i = 0; i < EDGES; i++) {
        all->from[i] = (int32_t)sfu__random_below(&random, NODES);
        all->to[i] = (int32_t)sfu__random_below(&random, NODES);
        if (class_of(all->from[i]) != class_of(all->to[i]) && i % 4 != 0) {
            all->to[i] = (all->from[i] + 5) % NODES; /* of the same class, mostly */
        }
    }
    for (int i = 0; i < NODES; i++) {
        all->labels[i] = i < SFU_PARTS * PART ? class_of(i) : SFU_NO_LABEL;
        all->column[i] = (float)sfu__random_unit(&random);
        for (int j = 0; j < FEATURES; j++) {
            const float noise = (float)sfu__random_unit(&random);
            all->features[i][j] = noise + (j % CLASSES == class_of(i) ? 0.4F : 0.0F);
        }
    }
    columns[0] = all->column;
    all->arrays = (sfu_arrays){.size = sizeof(sfu_arrays),
                               .nodes = NODES,
                               .edges = EDGES,
                               .edge_from = all->from,
                               .edge_to = all->to,
                               .features = FEATURES,
                               .dense = all->features[0],
                               .labels = all->labels,
                               .classes = CLASSES,
                               .class_names = names,
                               .column_count = 1,
                               .column_names = column_names,
                               .columns = columns};
    for (int part = 0; part < SFU_PARTS; part++) {
        for (int i = 0; i < PART; i++) {
            all->parts[part][i] = part * PART + i;
        }
        all->arrays.standard[part] = all->parts[part];
        all->arrays.standard_count[part] = PART;
    }
}

static data drawn;

static sfu_status make_dataset(sfu_dataset **dataset, const sfu_arrays *arrays) {
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.name = "drawn";
    options.threads = 1;
    return sfu_dataset_from_arrays(dataset, arrays, &options);
}

/* What most tests use, made once. */
static sfu_dataset *dataset;
static sfu_split *split;

static int set_up(void **state) {
    (void)state;
    draw(&drawn);
    assert_ok(make_dataset(&dataset, &drawn.arrays));
    assert_ok(sfu_split_new(&split, dataset, "standard", NULL));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    sfu_split_free(split);
    sfu_dataset_free(dataset);
    return 0;
}

/* ---- training runs ----------------------------------------------------------------------------------------------- */

/* The epochs of a training. */
typedef struct history {
    sfu_epoch epochs[EPOCHS];
    int count, stop_at; /* stop_at 0: never */
} history;

static bool note(void *user, const sfu_epoch *epoch) {
    history *notes = user;
    assert_int_equal(epoch->epoch, notes->count + 1);
    notes->epochs[notes->count++] = *epoch;
    return notes->count != notes->stop_at;
}

static sfu_train_options options_of(history *notes) {
    sfu_train_options options;
    sfu_train_options_init(&options);
    options.epochs = 60;
    options.threads = 1;
    options.on_epoch = notes != NULL ? note : NULL;
    options.on_epoch_user = notes;
    return options;
}

static sfu_status try_train(sfu_model **model, const sfu_dataset *on, const sfu_split *by, const char *text,
                            const sfu_train_options *options) {
    sfu_net *net = NULL;
    *model = NULL;
    sfu_status status = sfu_net_parse(&net, text, NULL);
    if (status == SFU_OK) {
        status = sfu_train(model, on, net, by, options);
    }
    sfu_net_free(net);
    return status;
}

static sfu_model *train(const char *text, const sfu_train_options *options) {
    sfu_model *model = NULL;
    assert_ok(try_train(&model, dataset, split, text, options));
    return model;
}

/* The probabilities of the network, which the losses of a training are computed from. */
static void predict(float *probabilities, const sfu_model *model) {
    sfu_predict_options options;
    sfu_predict_options_init(&options);
    options.raw = true;
    options.threads = 1;
    assert_ok(sfu_predict_with(probabilities, NULL, dataset, model, &options));
}

/* ---- early stopping ---------------------------------------------------------------------------------------------- */

/* Evaluates a curve by the rules of docs/reference/training.md. */
static void assert_stops_right(const history *notes, const sfu_scores *scores, int patience, int most, sfu_keep keep) {
    int best = 0, last_better = 0, end = most;
    for (int i = 0; i < notes->count; i++) {
        const sfu_epoch *epoch = &notes->epochs[i], *kept = &notes->epochs[best];
        if (i == 0 || epoch->val_accuracy > kept->val_accuracy) {
            best = last_better = i;
        } else if (epoch->val_accuracy == kept->val_accuracy && epoch->val_loss < kept->val_loss) {
            best = i;
        }
        assert_int_equal(epoch->best_epoch, best + 1);
        assert_true(epoch->best_val_accuracy == notes->epochs[best].val_accuracy);
        if (patience > 0 && i - last_better >= patience) {
            end = i + 1;
            break;
        }
    }
    best = keep == SFU_KEEP_LAST ? notes->count - 1 : best;
    assert_int_equal(notes->count, end);
    assert_int_equal(scores->epochs, notes->count);
    assert_int_equal(scores->best_epoch, best + 1);
    assert_true(scores->val_accuracy == notes->epochs[best].val_accuracy);
    assert_true(scores->val_loss == notes->epochs[best].val_loss);
}

/* The scores, recomputed from the model's predictions. */
static void assert_scores_right(const sfu_model *model, sfu_loss loss) {
    const sfu_scores scores = *sfu_model_scores(model);
    float probabilities[NODES][CLASSES];
    predict(probabilities[0], model);
    int right[SFU_PARTS] = {0};
    double val_loss = 0;
    for (int node = 0; node < SFU_PARTS * PART; node++) {
        const float *p = probabilities[node];
        const int guess = p[1] > p[0] ? (p[2] > p[1] ? 2 : 1) : (p[2] > p[0] ? 2 : 0);
        right[node / PART] += guess == drawn.labels[node];
        val_loss -= node / PART == SFU_VAL ? sfu__ln((double)p[drawn.labels[node]]) : 0;
    }
    val_loss /= loss == SFU_LOSS_MEAN ? PART : 1;
    assert_true(scores.train_accuracy == (double)right[SFU_TRAIN] / PART);
    assert_true(scores.val_accuracy == (double)right[SFU_VAL] / PART);
    assert_true(scores.test_accuracy == (double)right[SFU_TEST] / PART);
    assert_true(fabs(scores.val_loss - val_loss) < 1e-4 * (1 + val_loss));
    assert_string_equal(scores.split_digest, sfu_split_digest(split));
}

static void it_stops_by_the_rule(void **state) {
    (void)state;
    static const struct {
        int patience, epochs;
        sfu_keep keep;
        sfu_loss loss;
    } cases[] = {{5, 200, SFU_KEEP_BEST, SFU_LOSS_MEAN}, {5, 200, SFU_KEEP_LAST, SFU_LOSS_MEAN},
                 {0, 45, SFU_KEEP_BEST, SFU_LOSS_SUM},   {1, 200, SFU_KEEP_BEST, SFU_LOSS_SUM},
                 {30, 20, SFU_KEEP_LAST, SFU_LOSS_SUM},  {25, 300, SFU_KEEP_BEST, SFU_LOSS_MEAN}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        history notes = {.count = 0};
        sfu_train_options options = options_of(&notes);
        options.patience = cases[i].patience;
        options.epochs = cases[i].epochs;
        options.keep = cases[i].keep;
        options.loss = cases[i].loss;
        options.seed = i;
        sfu_model *model = train("smooth | dense 8 relu | smooth | softmax", &options);
        const sfu_scores scores = *sfu_model_scores(model);
        assert_stops_right(&notes, &scores, options.patience, options.epochs, options.keep);
        assert_scores_right(model, cases[i].loss);
        assert_false(scores.interrupted);
        assert_int_equal(scores.seed, i);
        sfu_model_free(model);
    }
}

static void the_callback_ends_it(void **state) {
    (void)state;
    history notes = {.stop_at = 7};
    sfu_train_options options = options_of(&notes);
    sfu_model *model = train("gcn", &options);
    const sfu_scores scores = *sfu_model_scores(model);
    assert_true(scores.interrupted);
    assert_int_equal(notes.count, 7);
    assert_int_equal(scores.epochs, 7);
    assert_stops_right(&notes, &scores, 0, 7, SFU_KEEP_BEST);
    assert_scores_right(model, SFU_LOSS_MEAN);
    sfu_model_free(model);
}

typedef struct stopped {
    history notes; /* first: on_epoch and on_stopped have the same user */
    int calls;
    float weight; /* the first one */
} stopped;

static void note_stopped(void *user, const sfu_model *model) {
    stopped *seen = user;
    const sfu_scores scores = *sfu_model_scores(model);
    seen->calls++;
    seen->weight = sfu_model_parameter(model, 0)->values[0];
    assert_true(scores.interrupted && scores.temperature == 1 && scores.val_accuracy > 0);
    assert_true(isnan(scores.test_accuracy) && isnan(scores.train_accuracy) && isnan(scores.test_log_loss));
}

/* A caller that may be killed at any time gets the weights before they are scored. */
static void a_stopped_training_is_given_at_once(void **state) {
    (void)state;
    stopped seen = {.notes = {.stop_at = 7}};
    sfu_train_options options = options_of(&seen.notes);
    options.on_stopped = note_stopped;
    sfu_model *model = train("gcn", &options);
    assert_int_equal(seen.calls, 1);
    assert_true(seen.weight == sfu_model_parameter(model, 0)->values[0]);
    assert_scores_right(model, SFU_LOSS_MEAN);
    sfu_model_free(model);
    seen = (stopped){.calls = 0};
    sfu_model_free(train("gcn", &options));
    assert_int_equal(seen.calls, 0);
}

/* Public splits have validation nodes; an internal training run need not. */
static void without_validation_the_last_is_kept(void **state) {
    (void)state;
    sfu_net *net = NULL;
    sfu__objective objective = {0};
    sfu__runner runner = {0};
    assert_ok(sfu_net_parse(&net, "gcn", NULL));
    assert_ok(sfu__objective_make(&objective, dataset, split, &(sfu__objective_options){.loss = SFU_LOSS_MEAN}));
    objective.val_count = 0;
    sfu__plan_request request = {.rewrites = SFU__ALL_REWRITES, .threads = 1};
    request.nodes[SFU_PASS_TRAIN] = drawn.parts[SFU_TRAIN];
    request.count[SFU_PASS_TRAIN] = PART;
    assert_ok(sfu__runner_make(&runner, dataset, net, &request));
    const size_t size = (size_t)runner.parameters->size * sizeof(float);
    float *best = calloc(1, size);
    assert_non_null(best);
    sfu__training training = {.lr = 0.01, .epochs = 40, .patience = 3, .objective = &objective, .best = best};
    history notes = {.count = 0};
    sfu__training_run(&training, &runner, note, &notes);
    assert_int_equal(training.ran, 40);
    assert_int_equal(training.stopping.best_epoch, 40);
    assert_int_equal(notes.count, 40);
    assert_true(isnan(training.stopping.best_val_loss) && isnan(notes.epochs[0].val_accuracy));
    assert_memory_equal(best, runner.theta, size);
    free(best);
    sfu__runner_clear(&runner);
    sfu__objective_clear(&objective);
    sfu_net_free(net);
}

/* ---- the training objective -------------------------------------------------------------------------------------- */

static void weights_of_the_loss(void **state) {
    (void)state;
    int32_t counts[CLASSES] = {0};
    for (int i = 0; i < PART; i++) {
        counts[drawn.labels[i]]++;
    }
    for (int which = 0; which < 4; which++) {
        const sfu__objective_options rules = {.loss = which % 2 ? SFU_LOSS_SUM : SFU_LOSS_MEAN,
                                              .balanced = which / 2 == 1};
        sfu__objective objective = {0};
        assert_ok(sfu__objective_make(&objective, dataset, split, &rules));
        assert_int_equal(objective.train_count, PART);
        assert_int_equal(objective.val_count, PART);
        assert_true(objective.val_scale == (rules.loss == SFU_LOSS_SUM ? 1.0 : 1.0 / PART));
        for (int i = 0; i < PART; i++) {
            const double balanced = (double)PART / (CLASSES * (double)counts[drawn.labels[i]]);
            const double wanted = (rules.balanced ? balanced : 1) / (rules.loss == SFU_LOSS_SUM ? 1 : PART);
            const float has = objective.train_weights != NULL ? objective.train_weights[i] : 1.0F;
            assert_true(fabs((double)has - wanted) <= 1e-7 * wanted);
            assert_int_equal(objective.train_labels[i], drawn.labels[i]);
            assert_int_equal(objective.val_labels[i], drawn.labels[PART + i]);
        }
        sfu__objective_clear(&objective);
    }
}

/* With a tiny learning rate, the loss of the first epoch is the weighted sum of -ln p of the model after one epoch. */
static void the_loss_is_what_it_says(void **state) {
    (void)state;
    float probabilities[NODES][CLASSES];
    for (int which = 0; which < 4; which++) {
        history notes = {.count = 0};
        sfu_train_options options = options_of(&notes);
        options.loss = which % 2 ? SFU_LOSS_SUM : SFU_LOSS_MEAN;
        options.balanced = which / 2 == 1;
        options.dropout = 0;
        options.lr = 1e-12;
        options.epochs = 1;
        sfu_model *model = train("smooth | dense 5 tanh | softmax | smooth", &options);
        predict(probabilities[0], model);
        sfu__objective objective = {0};
        assert_ok(sfu__objective_make(&objective, dataset, split,
                                      &(sfu__objective_options){.loss = options.loss, .balanced = options.balanced}));
        double wanted = 0;
        for (int i = 0; i < PART; i++) {
            const double weight = objective.train_weights != NULL ? (double)objective.train_weights[i] : 1;
            wanted -= weight * sfu__ln((double)probabilities[i][drawn.labels[i]]);
        }
        assert_true(fabs(notes.epochs[0].train_loss - wanted) < 1e-5 * wanted);
        sfu__objective_clear(&objective);
        sfu_model_free(model);
    }
}

/* Test labels that are all wrong change only the scores. */
static void test_labels_are_not_read_before(void **state) {
    (void)state;
    data other;
    draw(&other);
    for (int i = SFU_TEST * PART; i < (SFU_TEST + 1) * PART; i++) {
        other.labels[i] = (other.labels[i] + 1) % CLASSES;
    }
    sfu_dataset *changed = NULL;
    sfu_split *same = NULL;
    sfu_model *ours = NULL, *theirs = NULL;
    float here[NODES][CLASSES], there[NODES][CLASSES];
    assert_ok(make_dataset(&changed, &other.arrays));
    assert_ok(sfu_split_new(&same, changed, "standard", NULL));
    const sfu_train_options options = options_of(NULL);
    ours = train("gcn+lp", &options);
    assert_ok(try_train(&theirs, changed, same, "gcn+lp", &options));
    predict(here[0], ours);
    predict(there[0], theirs);
    assert_memory_equal(here, there, sizeof here);
    assert_true(sfu_model_scores(ours)->test_accuracy != sfu_model_scores(theirs)->test_accuracy);
    assert_true(sfu_model_scores(ours)->val_accuracy == sfu_model_scores(theirs)->val_accuracy);
    sfu_model_free(ours);
    sfu_model_free(theirs);
    sfu_split_free(same);
    sfu_dataset_free(changed);
    draw(&drawn); /* the columns of both are one array */
}

static void only_the_seed_decides(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8, 16};
    float first[NODES][CLASSES], again[NODES][CLASSES];
    sfu_train_options options = options_of(NULL);
    options.epochs = 12;
    options.seed = 3;
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        options.threads = threads[i];
        sfu_model *model = train("smooth(learn=self) | dense 20 elu | smooth | softmax", &options);
        assert_ok(sfu_predict(i == 0 ? first[0] : again[0], NULL, dataset, model, threads[i]));
        sfu_model_free(model);
        if (i > 0) {
            assert_memory_equal(first, again, sizeof first);
        }
    }
    options.seed = 4;
    sfu_model *model = train("smooth(learn=self) | dense 20 elu | smooth | softmax", &options);
    predict(again[0], model);
    assert_memory_not_equal(first, again, sizeof first);
    sfu_model_free(model);
}

/* ---- starting from a model -------------------------------------------------------------------------------------- */

static void it_starts_from_a_model(void **state) {
    (void)state;
    history two = {.count = 0}, one = {.count = 0}, more = {.count = 0};
    sfu_train_options options = options_of(&two);
    options.dropout = 0;
    options.keep = SFU_KEEP_LAST;
    options.epochs = 2;
    sfu_model *model = train("gcn", &options);
    sfu_model_free(model);
    options.on_epoch_user = &one;
    options.epochs = 1;
    model = train("gcn", &options);
    options.on_epoch_user = &more;
    options.init = model;
    options.seed = 99; /* without effect if there is no dropout */
    sfu_model *second = train("gcn", &options);
    assert_true(one.epochs[0].train_loss == two.epochs[0].train_loss);
    assert_true(more.epochs[0].train_loss == two.epochs[1].train_loss);
    sfu_model_free(second);
    assert_fails(SFU_ERR_ARGUMENT,
                 try_train(&second, dataset, split, "smooth | dense 32 relu | smooth | softmax", &options),
                 "the weights to start from", "layer.1.weight", "12 x 64", "12 x 32");
    assert_fails(SFU_ERR_ARGUMENT, try_train(&second, dataset, split, "sgcn", &options), "the weights to start from",
                 "layer.1.weight", "12 x 64", "12 x 3");
    assert_fails(SFU_ERR_ARGUMENT, try_train(&second, dataset, split, "mlp", &options), "no layer.0.weight",
                 "the same network");
    sfu_model_free(model);
}

/* ---- refused input ----------------------------------------------------------------------------------------------- */

static void wrong_options(void **state) {
    (void)state;
    sfu_model *model = NULL;
    const sfu_train_options good = options_of(NULL);
#define WRONG(field, value, ...)                                                                                       \
    do {                                                                                                               \
        sfu_train_options options = good;                                                                              \
        options.field = (value);                                                                                       \
        assert_fails(SFU_ERR_ARGUMENT, try_train(&model, dataset, split, "gcn", &options), __VA_ARGS__);               \
        assert_null(model);                                                                                            \
    } while (0)
    WRONG(lr, 0.0, "lr 0", "above 0");
    WRONG(lr, -1.0, "lr -1");
    WRONG(lr, (double)NAN, "lr nan");
    WRONG(lr, (double)INFINITY, "lr inf");
    WRONG(weight_decay, -0.5, "weight decay -0.5");
    WRONG(weight_decay, (double)NAN, "weight decay nan");
    WRONG(dropout, 1.0, "dropout 1", "below 1");
    WRONG(dropout, -0.1, "dropout -0.1");
    WRONG(dropout, (double)NAN, "dropout nan");
    WRONG(epochs, 0, "epochs 0", "at least one");
    WRONG(patience, -1, "patience -1");
    WRONG(threads, -1, "threads -1");
    WRONG(loss, (sfu_loss)7, "loss 7");
    WRONG(keep, (sfu_keep)7, "keep 7");
#undef WRONG
    sfu_train_options options = good;
    options.device = "gpu";
    assert_fails(SFU_ERR_ARGUMENT, try_train(&model, dataset, split, "gcn", &options), "device \"gpu\"",
                 "expected auto, cpu, cuda or cuda:N");
}

static void nothing_to_learn(void **state) {
    (void)state;
    sfu_arrays arrays = drawn.arrays;
    arrays.features = CLASSES; /* a view of the first columns is enough */
    sfu_dataset *small = NULL;
    sfu_split *by = NULL;
    sfu_model *model = NULL;
    assert_ok(make_dataset(&small, &arrays));
    assert_ok(sfu_split_new(&by, small, "standard", NULL));
    assert_fails(SFU_ERR_ARGUMENT, try_train(&model, small, by, "softmax(linear=no) | smooth", NULL),
                 "nothing to learn", "softmax(linear=no)");
    sfu_split_free(by);
    sfu_dataset_free(small);
}

static void splits_of_other_datasets(void **state) {
    (void)state;
    sfu_arrays arrays = drawn.arrays;
    arrays.nodes = PART; /* those that train */
    arrays.edges = 0;
    arrays.column_count = 0;
    arrays.standard_count[SFU_VAL] = arrays.standard_count[SFU_TEST] = 0;
    sfu_dataset *small = NULL;
    sfu_model *model = NULL;
    assert_ok(make_dataset(&small, &arrays));
    assert_fails(SFU_ERR_ARGUMENT, try_train(&model, small, split, "gcn", NULL), "the split belongs to another dataset",
                 "nodes that this dataset does not have");
    sfu_dataset_free(small);
    arrays.labels = NULL;
    arrays.standard_count[SFU_TRAIN] = 0;
    assert_ok(make_dataset(&small, &arrays));
    assert_fails(SFU_ERR_ARGUMENT, try_train(&model, small, split, "gcn", NULL), "drawn", "no node has a label");
    sfu_dataset_free(small);
}

/* ---- divergence -------------------------------------------------------------------------------------------------- */

static char warned[1024];
static void hear(void *user, sfu_log_level level, const char *line) {
    (void)user;
    if (level == SFU_LOG_WARNING) {
        snprintf(warned, sizeof warned, "%s", line);
    }
}

static void divergence_is_said(void **state) {
    (void)state;
    sfu_model *model = NULL;
    sfu_train_options options = options_of(NULL);
    options.lr = 1e30;
    assert_fails(SFU_ERR_DIVERGED, try_train(&model, dataset, split, "gcn", &options), "diverged in epoch 1",
                 "lr below 1e+30");
    assert_null(model);
}

/* A good start and a learning rate that destroys it: the good weights are kept. */
static void the_best_before_divergence_is_kept(void **state) {
    (void)state;
    sfu_set_log(hear, NULL);
    int kept = 0;
    for (double lr = 1e8; lr < 1e20; lr *= 10) {
        sfu_model *model = NULL;
        sfu_train_options options = options_of(NULL);
        options.lr = lr;
        options.patience = 0;
        options.loss = SFU_LOSS_SUM;
        warned[0] = '\0';
        const sfu_status status =
            try_train(&model, dataset, split, "dense 8 identity | dense 8 identity | softmax", &options);
        assert_true(status == SFU_OK || status == SFU_ERR_DIVERGED);
        if (status == SFU_OK && warned[0] != '\0') {
            kept++;
            assert_non_null(strstr(warned, "diverged in epoch"));
            float probabilities[NODES][CLASSES];
            predict(probabilities[0], model);
            for (int i = 0; i < NODES; i++) {
                assert_true(isfinite(probabilities[i][0]));
            }
        }
        sfu_model_free(model);
    }
    sfu_set_log(NULL, NULL);
    assert_true(kept > 0);
}

/* ---- prediction -------------------------------------------------------------------------------------------------- */

static void prediction_fills_what_is_asked(void **state) {
    (void)state;
    const sfu_train_options options = options_of(NULL);
    sfu_model *model = train("dense 6 tanh | smooth | softmax", &options);
    float probabilities[NODES][CLASSES];
    int32_t labels[NODES], alone[NODES];
    assert_ok(sfu_predict(probabilities[0], labels, dataset, model, 2));
    assert_ok(sfu_predict(NULL, alone, dataset, model, 0));
    assert_memory_equal(labels, alone, sizeof labels);
    for (int i = 0; i < NODES; i++) {
        double sum = 0;
        for (int c = 0; c < CLASSES; c++) {
            sum += (double)probabilities[i][c];
            assert_true(probabilities[i][c] <= probabilities[i][labels[i]]);
        }
        assert_true(fabs(sum - 1) < 1e-5);
    }
    /* The hidden layer is tanh(x W + b). */
    assert_int_equal(sfu_model_embedding_width(model), 6);
    float hidden[NODES][6];
    assert_ok(sfu_embed(hidden[0], dataset, model, 1));
    for (int i = 0; i < NODES; i++) {
        for (int j = 0; j < 6; j++) {
            assert_true(hidden[i][j] > -1 && hidden[i][j] < 1);
        }
    }
    sfu_model_free(model);
    model = train("sgcn", &options);
    assert_int_equal(sfu_model_embedding_width(model), 0);
    assert_fails(SFU_ERR_ARGUMENT, sfu_embed(hidden[0], dataset, model, 1), "no hidden layer", "smooth^2 | softmax");
    sfu_model_free(model);
}

static void models_that_do_not_fit(void **state) {
    (void)state;
    static const char *const others[] = {"art", "biology", "chem"}, *const more[] = {"art", "bio, or not", "chem",
                                                                                     "dye"};
    const sfu_train_options options = options_of(NULL);
    sfu_model *model = train("gcn", &options);
    float probabilities[NODES][CLASSES];
    sfu_dataset *other = NULL;
    sfu_arrays arrays = drawn.arrays;
    arrays.class_names = others;
    assert_ok(make_dataset(&other, &arrays));
    assert_fails(SFU_ERR_ARGUMENT, sfu_predict(probabilities[0], NULL, other, model, 1),
                 "drawn: class 1 is \"biology\"", "\"bio, or not\" in the model");
    sfu_dataset_free(other);
    arrays = drawn.arrays;
    arrays.features = FEATURES - 1;
    assert_ok(make_dataset(&other, &arrays));
    assert_fails(SFU_ERR_ARGUMENT, sfu_predict(probabilities[0], NULL, other, model, 1), "11 features", "with 12");
    sfu_dataset_free(other);
    arrays = drawn.arrays;
    arrays.classes = 4;
    arrays.class_names = more;
    assert_ok(make_dataset(&other, &arrays));
    assert_fails(SFU_ERR_ARGUMENT, sfu_predict(probabilities[0], NULL, other, model, 1), "4 classes", "trained with 3");
    sfu_dataset_free(other);
    /* Another graph without labels is accepted: the output depends on its edges. */
    arrays = drawn.arrays;
    arrays.labels = NULL;
    arrays.classes = 0;
    arrays.class_names = NULL;
    arrays.edges = 10;
    arrays.nodes = 50;
    arrays.column_count = 0;
    memset(arrays.standard_count, 0, sizeof arrays.standard_count);
    for (int i = 0; i < 10; i++) {
        drawn.from[i] = i, drawn.to[i] = i + 1;
    }
    assert_ok(make_dataset(&other, &arrays));
    assert_ok(sfu_predict(probabilities[0], NULL, other, model, 1));
    sfu_dataset_free(other);
    sfu_model_free(model);
    draw(&drawn);
}

static void a_value_a_node_is_of_one_graph(void **state) {
    (void)state;
    const sfu_train_options options = options_of(NULL);
    sfu_model *model = train("smooth(self=trust, learn=self) | softmax", &options);
    float probabilities[NODES][CLASSES];
    predict(probabilities[0], model);
    sfu_dataset *other = NULL;
    sfu_arrays arrays = drawn.arrays;
    arrays.edges = EDGES / 2;
    assert_ok(make_dataset(&other, &arrays));
    assert_fails(SFU_ERR_ARGUMENT, sfu_predict(probabilities[0], NULL, other, model, 1),
                 "per-node parameters of another graph");
    sfu_dataset_free(other);
    sfu_model_free(model);
}

/* ---- weights without a file -------------------------------------------------------------------------------------- */

static sfu_model *untrained(const char *text, uint64_t seed) {
    sfu_net *net = NULL;
    sfu_model *model = NULL;
    assert_ok(sfu_net_parse(&net, text, NULL));
    assert_ok(sfu_model_from_net(&model, dataset, net, seed));
    sfu_net_free(net);
    return model;
}

/* The weights of a model, copied tensor by tensor into an untrained one, predict the same; those that a training starts
 * from are those of the untrained model of its seed. */
static void weights_can_be_read_and_set(void **state) {
    (void)state;
    static const char *const texts[] = {"smooth(learn=self) | dense 5 relu | softmax | smooth(learn=right)",
                                        "smooth(self=trust, learn=self) | softmax"};
    for (int t = 0; t < 2; t++) {
        static float here[NODES][CLASSES], there[NODES][CLASSES];
        sfu_train_options options = options_of(NULL);
        options.seed = 11;
        sfu_model *model = train(texts[t], &options), *copy = untrained(texts[t], 5), *start = untrained(texts[t], 11);
        int count = 0;
        for (const sfu_parameter *p; (p = sfu_model_parameter(model, count)) != NULL; count++) {
            float *values = calloc((size_t)p->rows * (size_t)p->cols, sizeof *values);
            const sfu_parameter *to = sfu_model_parameter(copy, count);
            assert_non_null(values);
            assert_string_equal(p->name, to->name);
            assert_true(p->rows == to->rows && p->cols == to->cols && p->stride >= p->cols);
            for (int32_t row = 0; row < p->rows; row++) {
                memcpy(values + (size_t)row * (size_t)p->cols, p->values + row * p->stride,
                       (size_t)p->cols * sizeof *values);
            }
            assert_ok(sfu_model_set_parameter(copy, count, values));
            free(values);
        }
        assert_string_equal(sfu_model_parameter(model, 0)->name, "layer.0.self");
        assert_int_equal(sfu_model_parameter(model, 0)->cols, t == 0 ? 1 : NODES);
        assert_int_equal(count, t == 0 ? 6 : 3); /* self, weights and biases of two or one layers, right */
        predict(here[0], model);
        predict(there[0], copy);
        assert_memory_equal(here, there, sizeof here);

        options.init = start;
        options.seed = 11;
        sfu_model *again = train(texts[t], &options);
        predict(there[0], again);
        assert_memory_equal(here, there, sizeof here);
        sfu_model_free(again);
        sfu_model_free(start);
        sfu_model_free(copy);
        sfu_model_free(model);
    }
}

static void weights_are_checked(void **state) {
    (void)state;
    const sfu_train_options options = options_of(NULL);
    sfu_model *model = train("smooth(learn=right) | softmax", &options);
    const char *path = test_path("set.safetensors");
    const float fine[] = {0.25F}, bad[] = {1.5F}, none[] = {NAN};
    assert_string_equal(sfu_model_parameter(model, 0)->name, "layer.0.right");
    assert_fails(SFU_ERR_ARGUMENT, sfu_model_set_parameter(model, 0, bad), "layer.0.right", "1.5", "from 0 to 1");
    assert_fails(SFU_ERR_ARGUMENT, sfu_model_set_parameter(model, 0, none), "layer.0.right", "nan");
    assert_fails(SFU_ERR_ARGUMENT, sfu_model_set_parameter(model, 3, fine), "0 to 2");
    assert_fails(SFU_ERR_ARGUMENT, sfu_model_set_parameter(model, -1, fine), "0 to 2");
    assert_null(sfu_model_parameter(model, 3));
    assert_null(sfu_model_parameter(model, -1));
    assert_int_equal(sfu_model_scores(model)->epochs, 60); /* nothing was changed */
    assert_ok(sfu_model_set_parameter(model, 0, fine));
    assert_true(sfu_model_parameter(model, 0)->values[0] == 0.25F);
    assert_true(sfu_model_scores(model)->epochs == 0 && sfu_model_confusion(model, 0, 0) == 0);
    sfu_model *back = NULL;
    assert_ok(sfu_model_save(model, path));
    assert_ok(sfu_model_open(&back, path));
    assert_true(sfu_model_parameter(back, 0)->values[0] == 0.25F && sfu_model_scores(back)->epochs == 0);
    sfu_model_free(back);
    sfu_model_free(model);
    sfu_net *lpnn = NULL;
    assert_ok(sfu_net_parse(&lpnn, "lpnn", NULL));
    assert_fails(SFU_ERR_ARGUMENT, sfu_model_from_net(&model, dataset, lpnn, 0), "lpnn");
    assert_null(model);
    sfu_net_free(lpnn);
}

/* ---- metrics ---------------------------------------------------------------------------------------------------- */

static void metrics_by_hand(void **state) {
    (void)state;
    /* class 0: 3 nodes, 2 right; class 1: 2 nodes, 1 right; class 2: none, but taken once; class 3: nothing at all */
    static const int32_t truths[] = {0, 0, 0, 1, 1}, guesses[] = {0, 0, 1, 1, 2};
    sfu__tally tallies[4] = {{0}};
    assert_true(isnan(sfu__tally_accuracy(tallies, 4)) && isnan(sfu__tally_macro_f1(tallies, 4)));
    for (int i = 0; i < 5; i++) {
        sfu__tally_add(tallies, truths[i], guesses[i]);
    }
    assert_true(sfu__tally_accuracy(tallies, 4) == 0.6);
    const sfu_class_score zero = sfu__tally_score(&tallies[0]), one = sfu__tally_score(&tallies[1]);
    assert_true(zero.precision == 1 && zero.recall == 2.0 / 3 && zero.f1 == 4.0 / 5 && zero.support == 3);
    assert_true(one.precision == 0.5 && one.recall == 0.5 && one.f1 == 0.5 && one.support == 2);
    const sfu_class_score two = sfu__tally_score(&tallies[2]), three = sfu__tally_score(&tallies[3]);
    assert_true(two.precision == 0 && two.recall == 0 && two.f1 == 0 && two.support == 0);
    assert_true(three.precision == 0 && three.recall == 0 && three.f1 == 0 && three.support == 0);
    assert_true(fabs(sfu__tally_macro_f1(tallies, 4) - 0.65) < 1e-15);
    assert_int_equal(sfu__largest((const float[]){1, 3, 3, 2}, 4), 1);
    assert_int_equal(sfu__largest((const float[]){2, 2}, 2), 0);
}

static void confusion_adds_up(void **state) {
    (void)state;
    const sfu_train_options options = options_of(NULL);
    sfu_model *model = train("mlp", &options);
    int32_t all = 0, right = 0;
    double f1 = 0;
    for (int t = 0; t < CLASSES; t++) {
        const sfu_class_score score = sfu_model_class_score(model, t);
        f1 += score.f1;
        for (int g = 0; g < CLASSES; g++) {
            all += sfu_model_confusion(model, t, g);
            right += t == g ? sfu_model_confusion(model, t, g) : 0;
        }
    }
    assert_int_equal(all, PART);
    assert_true(sfu_model_scores(model)->test_accuracy == (double)right / PART);
    assert_true(fabs(sfu_model_scores(model)->test_macro_f1 - f1 / CLASSES) < 1e-12);
    sfu_model_free(model);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static sfu_status train_and_predict(void *context) {
    (void)context;
    sfu_status status = SFU_OK;
    sfu_dataset *made = NULL;
    sfu_split *by = NULL;
    sfu_model *model = NULL, *second = NULL;
    static float probabilities[NODES][CLASSES];
    sfu_train_options options = options_of(NULL);
    options.epochs = 2;
    SFU_TRY(make_dataset(&made, &drawn.arrays));
    SFU_TRY(sfu_split_new(&by, made, "standard", NULL));
    SFU_TRY(try_train(&model, made, by, "gcn", &options));
    options.init = model;
    options.threads = 2;
    SFU_TRY(try_train(&second, made, by, "gcn", &options));
    SFU_TRY(sfu_predict(probabilities[0], NULL, made, model, 1));
done:
    sfu_model_free(second);
    sfu_model_free(model);
    sfu_split_free(by);
    sfu_dataset_free(made);
    return status;
}

static sfu_status start_untrained(void *context) {
    sfu_status status = SFU_OK;
    sfu_dataset *made = NULL;
    sfu_net *net = NULL;
    sfu_model *model = NULL;
    SFU_TRY(make_dataset(&made, &drawn.arrays));
    SFU_TRY(sfu_net_parse(&net, context, NULL));
    SFU_TRY(sfu_model_from_net(&model, made, net, 1));
done:
    sfu_model_free(model);
    sfu_net_free(net);
    sfu_dataset_free(made);
    return status;
}

static void each_allocation_fails(void **state) {
    (void)state;
    char text[] = "smooth(self=trust, learn=self) | dense 3 relu | softmax";
    test_fail_each_allocation(start_untrained, text, 400);
    test_fail_each_allocation(train_and_predict, NULL, 400);
}

/* Counts its calls. */
static atomic_llong asked;
static void *count_resize(void *user, void *pointer, size_t bytes) {
    (void)user;
    atomic_fetch_add(&asked, 1);
    return realloc(pointer, bytes);
}
static void count_release(void *user, void *pointer) {
    (void)user;
    free(pointer);
}

static bool note_allocations(void *user, const sfu_epoch *epoch) {
    long long *at = user;
    at[epoch->epoch == 1 ? 0 : 1] = atomic_load(&asked);
    return true;
}

static void an_epoch_allocates_nothing(void **state) {
    (void)state;
    static const char *const nets[] = {"gcn", "smooth(learn=left) | dense 6 tanh | softmax | smooth", "lpnn"};
    sfu_set_allocator(&(sfu_allocator){count_resize, count_release, NULL});
    sfu_dataset *made = NULL;
    sfu_split *by = NULL;
    assert_ok(make_dataset(&made, &drawn.arrays));
    assert_ok(sfu_split_new(&by, made, "standard", NULL));
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
        long long at[2] = {-1, -2}; /* after the first epoch, after the last */
        sfu_train_options options = options_of(NULL);
        sfu_model *model = NULL;
        options.on_epoch = note_allocations;
        options.on_epoch_user = at;
        options.threads = 2;
        assert_ok(try_train(&model, made, by, nets[i], &options));
        assert_true(at[0] > 0);
        assert_true(at[0] == at[1]);
        sfu_model_free(model);
    }
    sfu_split_free(by);
    sfu_dataset_free(made);
    sfu_set_allocator(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_stops_by_the_rule),
        cmocka_unit_test(the_callback_ends_it),
        cmocka_unit_test(a_stopped_training_is_given_at_once),
        cmocka_unit_test(without_validation_the_last_is_kept),
        cmocka_unit_test(weights_of_the_loss),
        cmocka_unit_test(the_loss_is_what_it_says),
        cmocka_unit_test(test_labels_are_not_read_before),
        cmocka_unit_test(only_the_seed_decides),
        cmocka_unit_test(it_starts_from_a_model),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(nothing_to_learn),
        cmocka_unit_test(splits_of_other_datasets),
        cmocka_unit_test(divergence_is_said),
        cmocka_unit_test(the_best_before_divergence_is_kept),
        cmocka_unit_test(prediction_fills_what_is_asked),
        cmocka_unit_test(models_that_do_not_fit),
        cmocka_unit_test(a_value_a_node_is_of_one_graph),
        cmocka_unit_test(weights_can_be_read_and_set),
        cmocka_unit_test(weights_are_checked),
        cmocka_unit_test(metrics_by_hand),
        cmocka_unit_test(confusion_adds_up),
    };
    const struct CMUnitTest memory[] = {cmocka_unit_test(an_epoch_allocates_nothing),
                                        cmocka_unit_test(each_allocation_fails)};
    const int wrong = cmocka_run_group_tests(tests, set_up, tear_down);
    return wrong + cmocka_run_group_tests(memory, NULL, NULL);
}
