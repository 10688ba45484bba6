/* LPNN: objective and gradient against a dense computation in double, and that against finite differences; ten steps of
 * Adam; the same bytes for every number of threads and set of kernels; refused options. */
#include "lpnn_problem.h"

#include "digest.h"
#include "lpnn.h"

#include <stdio.h>

static sfu__plan_request request_of(const problem *p) {
    return (sfu__plan_request){.nodes = {p->train, p->val, NULL},
                               .count = {p->train_count, p->val_count, p->r.n},
                               .dropout = true,
                               .rewrites = SFU__ALL_REWRITES,
                               .threads = 1};
}

static sfu__epoch epoch_of(const problem *p, uint32_t number, double dropout) {
    return (sfu__epoch){.seed = 11,
                        .number = number,
                        .dropout = dropout,
                        .lr = 0.01F,
                        .decay = 0.05F,
                        .target = {p->train_labels, p->train_weights},
                        .validation = {p->val_labels, NULL},
                        .evaluate = true};
}

static void set_masks(reference *r, const sfu__epoch *epoch) {
    r->seed = epoch->seed;
    r->epoch = epoch->number;
    for (int i = 0; i < REF_LAYERS; i++) {
        r->threshold[i] = sfu__dropout_threshold(epoch->dropout);
    }
}

/* An emulator is a hundred times slower. */
static const sfu__backend *plain(void) { return sfu__backend_cpu_set(0); }

/* Every variant, with weights that make every term count. */
static const char *const readings[] = {
    "lpnn(f=softmax, input=x, output=f, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
    "lpnn(f=softmax, input=x, output=g, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
    "lpnn(f=softmax, input=fx, output=f, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
    "lpnn(f=softmax, input=fx, output=g, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
    "lpnn(f=clamp, input=x, output=f, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
    "lpnn(f=clamp, input=x, output=g, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
    "lpnn(f=clamp, input=fx, output=f, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
    "lpnn(f=clamp, input=fx, output=g, mu_g=0.7, mu_l=0.9, mu_u=0.3, lambda_l=0.8, lambda_u=0.6)",
};
enum { READINGS = sizeof readings / sizeof readings[0] };

/* A point at which f is neither uniform nor at a corner. */
static void draw_theta(float *theta, const problem *p, uint64_t seed) {
    const sfu__parameter *f = sfu__parameter_of(&p->r.parameters, -1, "f");
    sfu__random random = sfu__random_start(seed, sfu__stream_of(SFU__STREAM_GENERATE, 8));
    sfu__parameters_start(theta, &p->r.parameters, p->net, NULL, seed);
    for (int i = 0; i < p->r.n; i++) {
        double row[REF_CLASSES], sum = 0;
        for (int c = 0; c < p->r.classes; c++) {
            row[c] = sfu__random_unit(&random) + 0.05;
            sum += row[c];
        }
        for (int c = 0; c < p->r.classes; c++) {
            theta[f->offset + (int64_t)i * f->ld + c] =
                (float)(p->net->lpnn.f == SFU__LPNN_CLAMP ? row[c] / sum : 3 * row[c]);
        }
    }
    for (int layer = 0; layer < REF_LAYERS; layer++) {
        const sfu__parameter *bias = sfu__parameter_of(&p->r.parameters, layer, "bias");
        for (int c = 0; c < bias->cols; c++) {
            theta[bias->offset + c] = (float)(0.2 * sfu__random_unit(&random) - 0.1);
        }
    }
}

static double *to_double(const float *values, int64_t count) {
    double *copy = calloc((size_t)count, sizeof *copy);
    assert_non_null(copy);
    for (int64_t i = 0; values != NULL && i < count; i++) {
        copy[i] = (double)values[i];
    }
    return copy;
}

/* ---- the objective and its gradient ----------------------------------------------------------------------------- */

static void assert_near(const char *what, int64_t at, double found, double wanted, double tolerance) {
    if (!(fabs(found - wanted) <= tolerance * (1 + fabs(wanted)))) {
        fail_msg("%s %lld: %.9g instead of %.9g", what, (long long)at, found, wanted);
    }
}

static void check_gradient(const char *net, kind kind, uint64_t seed, double dropout) {
    static problem p;
    sfu__lpnn_executor *executor;
    sfu__score training, validation;
    problem_make(&p, net, kind, seed);
    const sfu__plan_request request = request_of(&p);
    assert_ok(sfu__lpnn_new(&executor, p.dataset, p.net, &request, plain(), NULL));
    const int64_t size = sfu__lpnn_parameters(executor)->size;
    assert_int_equal(size, p.r.parameters.size);
    draw_theta(sfu__lpnn_theta(executor), &p, seed);
    double *theta = to_double(sfu__lpnn_theta(executor), size), *gradient = to_double(NULL, size);
    const sfu__epoch epoch = epoch_of(&p, 3, dropout);
    sfu__lpnn_epoch(executor, &epoch, &training, &validation);

    set_masks(&p.r, &epoch);
    const double objective = ref_gradient(&p.r, theta, gradient);
    assert_near(net, -1, training.loss, objective, 1e-5);
    for (int64_t i = 0; i < size; i++) {
        assert_near(net, i, (double)sfu__lpnn_gradient(executor)[i], gradient[i], 2e-5);
    }
    free(theta);
    free(gradient);
    sfu__lpnn_free(executor);
    problem_clear(&p);
}

static void test_gradients(void **state) {
    (void)state;
    for (int reading = 0; reading < READINGS; reading++) {
        for (int kind = 0; kind < KINDS; kind++) {
            check_gradient(readings[reading], (enum kind)kind, (uint64_t)(10 * reading + kind),
                           (reading + kind) % 2 == 0 ? 0.0 : 0.4);
        }
    }
}

/* The reference itself: its gradient is the derivative of its objective. */
static void test_finite_differences(void **state) {
    (void)state;
    static problem p;
    for (int reading = 0; reading < READINGS; reading += 2) { /* the output is not in the objective */
        problem_make(&p, readings[reading], reading % 4 == 0 ? USUAL : DIRECTED, 40 + (uint64_t)reading);
        const int64_t size = p.r.parameters.size;
        float *start = calloc((size_t)size, sizeof *start);
        draw_theta(start, &p, 5);
        double *theta = to_double(start, size), *gradient = to_double(NULL, size);
        const sfu__epoch epoch = epoch_of(&p, 1, 0.3);
        set_masks(&p.r, &epoch);
        ref_gradient(&p.r, theta, gradient);
        sfu__random random = sfu__random_start(1, sfu__stream_of(SFU__STREAM_GENERATE, 9));
        for (int i = 0; i < p.r.parameters.count; i++) {
            const sfu__parameter *item = &p.r.parameters.items[i];
            for (int sample = 0; sample < (test_is_slow() ? 3 : 12); sample++) {
                const int64_t row = (int64_t)sfu__random_below(&random, (uint64_t)item->rows);
                const int64_t at =
                    item->offset + row * item->ld + (int64_t)sfu__random_below(&random, (uint64_t)item->cols);
                const double here = theta[at], h = 1e-6;
                theta[at] = here + h;
                const double above = ref_objective(&p.r, theta);
                theta[at] = here - h;
                const double below = ref_objective(&p.r, theta);
                theta[at] = here;
                assert_near(item->name, at, gradient[at], (above - below) / (2 * h), 1e-6);
            }
        }
        free(start);
        free(theta);
        free(gradient);
        problem_clear(&p);
    }
}

/* ---- ten steps and the output ------------------------------------------------------------------------------------ */

static void assert_rows(const reference *r, const sfu__dense *P, const int32_t *nodes, bool of_g) {
    for (int i = 0; i < P->rows; i++) {
        const int node = nodes != NULL ? nodes[i] : i;
        for (int c = 0; c < r->classes; c++) {
            assert_near("output", i, (double)P->data[(int64_t)i * P->ld + c],
                        of_g ? r->h[REF_LAYERS - 1][node][c] : r->f[node][c], 2e-4);
        }
    }
}

/* The validation score and both passes with the current parameters. */
static void check_outputs(problem *p, sfu__lpnn_executor *executor, const double *theta, const sfu__score *validation) {
    const bool of_g = p->net->lpnn.output_g;
    double loss = 0;
    int64_t correct = 0;
    memset(p->r.threshold, 0, sizeof p->r.threshold);
    ref_forward(&p->r, theta);
    sfu__dense P = sfu__lpnn_output(executor, SFU_PASS_EVALUATE);
    assert_rows(&p->r, &P, p->val, of_g);
    for (int i = 0; i < p->val_count; i++) {
        const double *row = of_g ? p->r.h[REF_LAYERS - 1][p->val[i]] : p->r.f[p->val[i]];
        int best = 0;
        for (int c = 1; c < p->r.classes; c++) {
            best = P.data[(int64_t)i * P.ld + c] > P.data[(int64_t)i * P.ld + best] ? c : best;
        }
        correct += best == p->val_labels[i];
        loss -= ref_ln(row[p->val_labels[i]]);
    }
    assert_int_equal(validation->correct, correct);
    assert_near("validation loss", 0, validation->loss, loss, 1e-3);

    sfu__lpnn_forward(executor, SFU_PASS_PREDICT);
    P = sfu__lpnn_output(executor, SFU_PASS_PREDICT);
    assert_int_equal(P.rows, p->r.n);
    assert_rows(&p->r, &P, NULL, of_g);
    const sfu__dense hidden = sfu__lpnn_embedding(executor, SFU_PASS_PREDICT);
    assert_int_equal(hidden.cols, 64);
    for (int i = 0; i < p->r.n; i++) {
        for (int c = 0; c < hidden.cols; c++) {
            assert_near("embedding", i, (double)hidden.data[(int64_t)i * hidden.ld + c], p->r.h[1][i][c], 1e-3);
        }
    }
}

/* A step of Adam depends on the sign of a gradient that is almost zero, so a few parameters may differ by a step. */
static void assert_most_near(const float *found, const double *wanted, int64_t size) {
    int64_t apart = 0;
    for (int64_t i = 0; i < size; i++) {
        apart += fabs((double)found[i] - wanted[i]) > 1e-4;
        assert_near("theta", i, (double)found[i], wanted[i], 0.02);
    }
    assert_true(apart * 1000 <= size);
}

static void check_steps(const char *net, uint64_t seed, double dropout) {
    static problem p;
    sfu__lpnn_executor *executor;
    sfu__score training, validation;
    problem_make(&p, net, USUAL, seed);
    const sfu__plan_request request = request_of(&p);
    assert_ok(sfu__lpnn_new(&executor, p.dataset, p.net, &request, plain(), NULL));
    const int64_t size = p.r.parameters.size;
    sfu__lpnn_start(sfu__lpnn_theta(executor), executor, p.train_labels, seed);
    double *theta = to_double(sfu__lpnn_theta(executor), size), *gradient = to_double(NULL, size);
    double *m = to_double(NULL, size), *v = to_double(NULL, size);
    for (uint32_t t = 1; t <= 10; t++) {
        const sfu__epoch epoch = epoch_of(&p, t, dropout);
        sfu__lpnn_epoch(executor, &epoch, &training, &validation);
        set_masks(&p.r, &epoch);
        assert_near("objective", t, training.loss, ref_gradient(&p.r, theta, gradient), 1e-3);
        ref_step(&p.r, theta, m, v, gradient, (int)t, 0.01, 0.05);
    }
    assert_most_near(sfu__lpnn_theta(executor), theta, size);
    for (int64_t i = 0; i < size; i++) { /* outputs are compared at the same point */
        theta[i] = (double)sfu__lpnn_theta(executor)[i];
    }
    check_outputs(&p, executor, theta, &validation);
    free(theta);
    free(gradient);
    free(m);
    free(v);
    sfu__lpnn_free(executor);
    problem_clear(&p);
}

static void test_ten_steps(void **state) {
    (void)state;
    for (int reading = 0; reading < READINGS; reading++) {
        check_steps(readings[reading], 100 + (uint64_t)reading, reading % 2 == 0 ? 0.0 : 0.5);
    }
}

static void test_start(void **state) {
    (void)state;
    static problem p;
    for (int clamp = 0; clamp < 2; clamp++) {
        sfu__lpnn_executor *executor;
        problem_make(&p, clamp ? "lpnn(f=clamp, output=f)" : "lpnn(f=softmax, output=f)", USUAL, 3);
        const sfu__plan_request request = request_of(&p);
        assert_ok(sfu__lpnn_new(&executor, p.dataset, p.net, &request, plain(), NULL));
        sfu__lpnn_start(sfu__lpnn_theta(executor), executor, p.train_labels, 1);
        sfu__lpnn_forward(executor, SFU_PASS_PREDICT);
        const sfu__dense P = sfu__lpnn_output(executor, SFU_PASS_PREDICT);
        for (int i = 0; i < p.r.n; i++) {
            const double at_label = clamp ? 1.0 : 0.99, elsewhere = (1.0 - at_label) / (p.r.classes - 1);
            for (int c = 0; c < p.r.classes; c++) {
                const double wanted = p.r.label[i] < 0 ? 1.0 / p.r.classes : p.r.label[i] == c ? at_label : elsewhere;
                assert_near("f", i, (double)P.data[(int64_t)i * P.ld + c], wanted, 1e-6);
            }
        }
        sfu__lpnn_free(executor);
        problem_clear(&p);
    }
}

/* ---- the same bytes --------------------------------------------------------------------------------------------- */

enum { EPOCHS = 3 };

typedef struct history {
    float *theta;
    int64_t size;
    double losses[EPOCHS], val_losses[EPOCHS];
    int64_t correct[EPOCHS];
} history;

static history run_history(const sfu_dataset *dataset, const sfu_net *net, const sfu__backend *backend, int threads) {
    history c = {0};
    sfu__lpnn_executor *executor;
    sfu__team *team;
    int32_t counts[2];
    const int32_t *train = sfu_dataset_standard(dataset, SFU_TRAIN, &counts[0]);
    const int32_t *val = sfu_dataset_standard(dataset, SFU_VAL, &counts[1]);
    const sfu__plan_request request = {
        .nodes = {train, val, NULL}, .count = {counts[0], counts[1], 0}, .dropout = true};
    int32_t *labels = calloc((size_t)(counts[0] + counts[1]), sizeof *labels);
    for (int i = 0; i < counts[0] + counts[1]; i++) {
        labels[i] = sfu_dataset_labels(dataset)[i < counts[0] ? train[i] : val[i - counts[0]]];
    }
    assert_ok(sfu__team_new(&team, threads));
    assert_ok(sfu__lpnn_new(&executor, dataset, net, &request, backend, team));
    sfu__lpnn_start(sfu__lpnn_theta(executor), executor, labels, 4);
    for (int t = 0; t < EPOCHS; t++) {
        const sfu__epoch epoch = {.seed = 9,
                                  .number = (uint32_t)t + 1,
                                  .dropout = 0.3,
                                  .lr = 0.02F,
                                  .decay = 1e-3F,
                                  .target = {labels, NULL},
                                  .validation = {labels + counts[0], NULL},
                                  .evaluate = true};
        sfu__score training, validation;
        sfu__lpnn_epoch(executor, &epoch, &training, &validation);
        c.losses[t] = training.loss;
        c.val_losses[t] = validation.loss;
        c.correct[t] = validation.correct;
    }
    c.size = sfu__lpnn_parameters(executor)->size;
    c.theta = malloc((size_t)c.size * sizeof *c.theta);
    assert_non_null(c.theta);
    memcpy(c.theta, sfu__lpnn_theta(executor), (size_t)c.size * sizeof *c.theta);
    free(labels);
    sfu__lpnn_free(executor);
    sfu__team_free(team);
    return c;
}

static sfu_dataset *made(int32_t nodes) {
    sfu_dataset *dataset;
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = nodes;
    options.vocabulary = 100;
    assert_ok(sfu_dataset_make(&dataset, &options));
    return dataset;
}

static void assert_same_history(const history *a, const history *b) {
    assert_memory_equal(a->losses, b->losses, sizeof a->losses);
    assert_memory_equal(a->val_losses, b->val_losses, sizeof a->val_losses);
    assert_memory_equal(a->correct, b->correct, sizeof a->correct);
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->theta, b->theta, (size_t)a->size * sizeof *a->theta);
}

/* The digest of each variant's training, the same on every machine; the failing test prints what it found. */
static const char *const history_digests[READINGS] = {
    "1cacd3d21f543ebe41ddef7606dd29dc7a8964eea1cfbdbf72ea1a5f17b56f9f",
    "4c22fa4710f145d39273e5af9dc9092a08a120de0918886980f596d81e6fa785",
    "cd857c251541bfd8e006a0052cd269c270053f685765315ce740cdec70527753",
    "cb20cfb0572a0af8fea06dc15a1d774eb3ce591bd793dbdd635274ce543441cb",
    "03686835d1c71799baf5180496c627e02ca2e50f2249c7aab4233d312e042ad8",
    "e5e6589a58161ee6bd391a36729bedbdb77aeff2af1c8dff57f31560b8ac8e8b",
    "ce1fc73192f2ef9da08155e6f559e6bea7eb69cd2573b52433b3dea7ea63546d",
    "b2e75c873efe25af1a0bb0f4d88f7384f23ab4451c816202022285b8d61cc91c",
};

static void check_digest(const history *c, int reading) {
    sfu__digest *digest = NULL;
    char text[SFU__DIGEST_TEXT];
    assert_ok(sfu__digest_new(&digest));
    assert_ok(sfu__digest_add(digest, c->losses, sizeof c->losses));
    assert_ok(sfu__digest_add(digest, c->val_losses, sizeof c->val_losses));
    assert_ok(sfu__digest_add(digest, c->theta, (size_t)c->size * sizeof *c->theta));
    assert_ok(sfu__digest_end(digest, text));
    sfu__digest_free(digest);
    if (strcmp(text, history_digests[reading]) != 0) {
        fail_msg("%s: %s", readings[reading], text);
    }
}

static void test_same_bytes(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    sfu_dataset *dataset = made(600); /* three blocks of rows */
    for (int reading = 0; reading < READINGS; reading++) {
        sfu_net *net;
        assert_ok(sfu_net_parse(&net, readings[reading], NULL));
        const history first = run_history(dataset, net, plain(), 3);
        check_digest(&first, reading);
        for (int set = 1; sfu__backend_cpu_set(set) != NULL; set++) {
            for (int t = 0; t < (test_is_slow() ? 1 : 4); t++) {
                history other = run_history(dataset, net, sfu__backend_cpu_set(set), threads[t]);
                assert_same_history(&first, &other);
                free(other.theta);
            }
        }
        free(first.theta);
        sfu_net_free(net);
    }
    sfu_dataset_free(dataset);
}

/* ---- it learns -------------------------------------------------------------------------------------------------- */

/* Cora's standard split with tuned weights; docs/reference/lpnn.md has their source. */
static void test_cora(void **state) {
    (void)state;
    static const char *const nets[] = {
        "lpnn(f=softmax, input=fx, output=f, mu_g=0.8, mu_l=0.001, mu_u=0.013, lambda_l=0.05, lambda_u=0.01)",
        "lpnn(f=softmax, input=fx, output=g, mu_g=0.8, mu_l=0.001, mu_u=0.013, lambda_l=0.05, lambda_u=0.01)",
    };
    if (test_is_slow()) {
        print_message("skipped: it takes long in this build\n");
        skip();
    }
    sfu_dataset *cora;
    sfu_split *split;
    sfu_import_options import;
    sfu_import_options_init(&import);
    import.source = test_data("planetoid/ind.cora");
    assert_ok(sfu_dataset_import(&cora, &import));
    assert_ok(sfu_split_new(&split, cora, "standard", NULL));
    for (int i = 0; i < 2; i++) {
        sfu_net *net;
        sfu_model *model;
        sfu_train_options options;
        sfu_train_options_init(&options);
        options.lr = 0.03;
        options.weight_decay = 0.001;
        options.dropout = 0.0;
        options.epochs = 60;
        assert_ok(sfu_net_parse(&net, nets[i], NULL));
        assert_ok(sfu_train(&model, cora, net, split, &options));
        assert_true(sfu_model_scores(model)->test_accuracy > 0.74);
        sfu_model_free(model);
        sfu_net_free(net);
    }
    sfu_split_free(split);
    sfu_dataset_free(cora);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static sfu_status make_worker(void *context) {
    const problem *p = context;
    sfu__lpnn_executor *executor;
    const sfu__plan_request request = request_of(p);
    const sfu_status status = sfu__lpnn_new(&executor, p->dataset, p->net, &request, plain(), NULL);
    sfu__lpnn_free(executor);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    static problem p;
    static const kind kinds[] = {USUAL, DENSE, DIRECTED};
    for (int i = 0; i < 3; i++) {
        problem_make(&p, readings[3], kinds[i], 6);
        assert_ok(sfu_dataset_check(p.dataset));
        test_fail_each_allocation(make_worker, &p, 300);
        problem_clear(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),   cmocka_unit_test(test_finite_differences), cmocka_unit_test(test_ten_steps),
        cmocka_unit_test(test_start),       cmocka_unit_test(test_same_bytes),         cmocka_unit_test(test_cora),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
