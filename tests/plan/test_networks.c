/* Plans against the dense reference: the named networks and random compositions on random small graphs, with all
 * rewrites, without each of them, and with none.
 *
 * For each number the reference (dense_reference.h) bounds how far rounding to float may move it, to first order and in
 * units of 2^-24; TOLERANCE such units are allowed. A sum of k products may be off by k units of the sum of their
 * magnitudes in the worst case and by about sqrt(k) typically; sums here have up to 16 terms. Where the input of a relu
 * is too close to 0 to know its side, the gradient is not compared. Each step of Adam is compared from the state after
 * the previous step, so that differences cannot grow: Adam moves a weight whose gradient is pure rounding as far as any
 * other.
 */
#include "support.h"

#include "dense_reference.h"
#include "cpu_matrix.h"
#include "plan_int.h"
#include "random_networks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 12, MOST = 4096, STEPS = 10 };
static const double TOLERANCE = 16, UNIT = 0x1p-24, TINY = 0x1p-80, ROUGH = 0x1p-11;

/* ---- a trial ---------------------------------------------------------------------------------------------------- */

typedef struct part {
    int32_t nodes[NODES], labels[NODES], count;
    float weights[NODES];
    sfu__target target;
} part;

typedef struct trial {
    char text[COMPOSITION_MAX];
    sfu_dataset *dataset;
    sfu_net *net;
    sfu__parameters parameters;
    dense_reference *reference;
    part parts[SFU_PASSES];
    dense_settings settings;
    double start[MOST];
    float lr, decay;
} trial;

/* How close the comparisons came to failing, and how many there were. */
typedef struct tally {
    double most;
    int64_t compared, kinks, gradients, forwards, rough;
} tally;

static void draw_part(part *it, sfu__random *random, const sfu_dataset *dataset) {
    it->count = random_nodes(it->nodes, random, dataset->nodes);
    for (int32_t i = 0; i < it->count; i++) {
        it->labels[i] = dataset->labels[it->nodes[i]];
        it->weights[i] = (float)sfu__random_unit(random);
    }
    it->target = (sfu__target){it->labels, sfu__random_below(random, 3) == 0 ? it->weights : NULL};
}

/* A trial of the composition, or of a random one if it is NULL. */
static void draw(trial *it, sfu__random *random, const char *composition, const sfu_net_options *options) {
    memset(it, 0, sizeof *it);
    it->dataset = random_dataset(random);
    if (composition != NULL) {
        snprintf(it->text, sizeof it->text, "%s", composition);
    } else {
        random_composition(it->text, random, it->dataset);
    }
    assert_ok(sfu_net_parse(&it->net, it->text, options));
    assert_ok(sfu__parameters_make(&it->parameters, it->net, it->dataset->features, it->dataset->classes,
                                   it->dataset->nodes));
    assert_true(it->parameters.size <= MOST);
    it->reference = dense_reference_new(it->net, it->dataset, &it->parameters);
    for (int i = 0; i < SFU_PASSES; i++) {
        draw_part(&it->parts[i], random, it->dataset);
    }
    it->settings =
        (dense_settings){.seed = sfu__random_next(random), .dropout = sfu__random_below(random, 2) ? 0.4 : 0};
    it->lr = 0.02F;
    it->decay = sfu__random_below(random, 2) ? 0.05F : 0;
    random_parameters(it->start, random, &it->parameters, false);
}

static void activate(trial *it) {
    dense_reference_free(it->reference);
    sfu__parameters_clear(&it->parameters);
    sfu_net_free(it->net);
    sfu_dataset_free(it->dataset);
}

/* ---- comparing -------------------------------------------------------------------------------------------------- */

typedef struct term {
    const trial *trial;
    unsigned rewrites;
    uint32_t epoch;
    const char *what;
} term;

/* `error` in units. */
static void compare(tally *tally, const term *at, int64_t index, double ours, double theirs, double error) {
    const double allowed = TOLERANCE * UNIT * error + TINY, off = fabs(ours - theirs);
    tally->compared++;
    if (!(off <= allowed)) {
        fail_msg("%s; %d nodes, rewrites %u, epoch %u: %s %lld is %.9g, should be %.9g, off by %.3g units of %.3g",
                 at->trial->text, at->trial->dataset->nodes, at->rewrites, at->epoch, at->what, (long long)index, ours,
                 theirs, off / UNIT / error, error);
    }
    tally->most = fmax(tally->most, (off - TINY) / (UNIT * error));
}

/* Whether the last forward pass of the reference is far enough from kinks to be compared. */
static bool is_smooth(tally *tally, const trial *it) {
    const bool rough = dense_roughest(it->reference) * UNIT > ROUGH;
    tally->forwards++;
    tally->rough += rough;
    return !rough;
}

/* All output rows of the pass; without pruning these are more than the requested ones. */
static void compare_output(tally *tally, trial *it, term at, const sfu__executor *executor, const sfu__plan *plan,
                           sfu_pass pass, const double *theta) {
    const sfu__dense output = sfu__executor_output(executor, pass);
    int32_t count = 0;
    const int32_t *nodes = sfu__plan_rows(plan, pass, &count);
    const dense_matrix P = dense_forward(it->reference, theta, &(dense_settings){.training = false});
    at.what = pass == SFU_PASS_EVALUATE ? "evaluated probability" : "predicted probability";
    assert_int_equal(output.rows, count);
    assert_true(count >= it->parts[pass].count);
    assert_int_equal(output.cols, P.cols);
    const bool fit = is_smooth(tally, it);
    for (int32_t i = 0; fit && i < count; i++) {
        for (int32_t j = 0; j < P.cols; j++) {
            const int64_t from = (int64_t)(nodes != NULL ? nodes[i] : i) * P.cols + j;
            compare(tally, &at, i * P.cols + j, (double)output.data[(int64_t)i * output.ld + j], P.value[from],
                    P.error[from]);
        }
    }
}

/* The layer whose output is the embedding: the last dense one before the softmax's own weights; -1: none. */
static int hidden_layer(const sfu_net *net) {
    int last = -1, before = -1;
    for (int i = 0; i < net->count; i++) {
        if (net->layers[i].kind == SFU__LAYER_DENSE) {
            before = last;
            last = i;
        } else if (net->layers[i].kind == SFU__LAYER_SOFTMAX && !net->layers[i].linear) {
            last = before;
        }
    }
    return last;
}

/* After a prediction of all nodes, and a forward pass of the reference. */
static void compare_embedding(tally *tally, trial *it, term at, const sfu__executor *executor, const sfu__plan *plan) {
    const int layer = hidden_layer(it->net);
    assert_int_equal(sfu__net_embedding_width(it->net, it->dataset->classes), sfu__plan_embedding_width(plan));
    sfu__dense embedding;
    if (layer < 0) {
        assert_int_equal(sfu__plan_embedding_width(plan), 0);
        assert_fails(SFU_ERR_ARGUMENT, sfu__executor_embedding(&embedding, executor, SFU_PASS_PREDICT),
                     "no hidden layer");
        return;
    }
    assert_ok(sfu__executor_embedding(&embedding, executor, SFU_PASS_PREDICT));
    const dense_matrix H = dense_after(it->reference, layer);
    assert_int_equal(sfu__plan_embedding_width(plan), H.cols);
    assert_int_equal(embedding.cols, H.cols);
    assert_int_equal(embedding.rows, H.rows);
    at.what = "embedding";
    const bool fit = is_smooth(tally, it);
    for (int i = 0; fit && i < H.rows * H.cols; i++) {
        const float ours = embedding.data[(int64_t)(i / H.cols) * embedding.ld + i % H.cols];
        compare(tally, &at, i, (double)ours, H.value[i], H.error[i]);
    }
}

static void compare_score(tally *tally, trial *it, term at, const sfu__score *cross_entropy, sfu_pass pass) {
    const part *rows = &it->parts[pass];
    const dense_score wanted = dense_loss(it->reference, rows->nodes, rows->count, &rows->target);
    at.what = pass == SFU_PASS_TRAIN ? "training loss" : "validation loss";
    compare(tally, &at, 0, cross_entropy->loss, wanted.loss, wanted.error);
    if (cross_entropy->correct < wanted.correct_least || cross_entropy->correct > wanted.correct_most) {
        fail_msg("%s: rewrites %u: %lld correct, should be %lld to %lld", it->text, at.rewrites,
                 (long long)cross_entropy->correct, (long long)wanted.correct_least, (long long)wanted.correct_most);
    }
}

static void compare_gradient(tally *tally, trial *it, term at, const float *gradient) {
    static double wanted[MOST], error[MOST];
    const part *rows = &it->parts[SFU_PASS_TRAIN];
    if (dense_nearest_kink(it->reference) < TOLERANCE * UNIT) {
        tally->kinks++;
        return;
    }
    tally->gradients++;
    dense_backward(it->reference, wanted, error, rows->nodes, rows->count, &rows->target);
    at.what = "gradient";
    for (int64_t i = 0; i < it->parameters.size; i++) {
        compare(tally, &at, i, (double)gradient[i], wanted[i], error[i]);
    }
}

/* ---- Adam ------------------------------------------------------------------------------------------------------- */

typedef struct moments {
    double theta[MOST], m[MOST], v[MOST], gradient[MOST];
} moments;

static void copy_state(moments *to, sfu__executor *executor, int64_t size) {
    for (int64_t i = 0; i < size; i++) {
        to->theta[i] = (double)sfu__executor_theta(executor)[i];
        to->m[i] = (double)sfu__executor_m(executor)[i];
        to->v[i] = (double)sfu__executor_v(executor)[i];
        to->gradient[i] = (double)sfu__executor_gradient(executor)[i];
    }
}

/* From the state before the step and the gradient of the executor to the state after it. */
static void compare_adam(tally *tally, trial *it, term at, const moments *before, const moments *after) {
    static moments wanted;
    wanted = *before;
    dense_adam(wanted.theta, wanted.m, wanted.v, after->gradient, &it->parameters, (double)it->lr, (double)it->decay,
               at.epoch);
    for (int64_t i = 0; i < it->parameters.size; i++) {
        const double correction1 = 1 / (1 - pow(0.9, at.epoch)), correction2 = 1 / (1 - pow(0.999, at.epoch));
        const double g = fabs(after->gradient[i]) + (double)it->decay * fabs(before->theta[i]);
        const double m = 0.2 * g + fabs(before->m[i]), v = 0.002 * g * g + before->v[i];
        const double step = (double)it->lr * m * correction1 / (sqrt(wanted.v[i] * correction2) + 1e-8);
        at.what = "m";
        compare(tally, &at, i, after->m[i], wanted.m[i], m);
        at.what = "v";
        compare(tally, &at, i, after->v[i], wanted.v[i], v);
        at.what = "theta";
        compare(tally, &at, i, after->theta[i], wanted.theta[i], fabs(before->theta[i]) + 2 * step);
    }
}

/* ---- training --------------------------------------------------------------------------------------------------- */

static void train(tally *tally, trial *it, term at, sfu__executor *executor, const sfu__plan *plan) {
    static moments before, after;
    for (at.epoch = 1; at.epoch <= STEPS; at.epoch++) {
        sfu__score training, validation;
        const sfu__epoch epoch = {.seed = it->settings.seed,
                                  .number = at.epoch,
                                  .dropout = it->settings.dropout,
                                  .lr = it->lr,
                                  .decay = it->decay,
                                  .target = it->parts[SFU_PASS_TRAIN].target,
                                  .validation = it->parts[SFU_PASS_EVALUATE].target,
                                  .evaluate = true};
        copy_state(&before, executor, it->parameters.size);
        sfu__executor_epoch(executor, &epoch, &training, &validation);
        copy_state(&after, executor, it->parameters.size);
        it->settings.epoch = at.epoch;
        it->settings.training = true;
        dense_forward(it->reference, before.theta, &it->settings);
        if (is_smooth(tally, it)) {
            compare_score(tally, it, at, &training, SFU_PASS_TRAIN);
            compare_gradient(tally, it, at, sfu__executor_gradient(executor));
        }
        compare_adam(tally, it, at, &before, &after);
        dense_forward(it->reference, after.theta, &(dense_settings){.training = false});
        if (is_smooth(tally, it)) {
            compare_score(tally, it, at, &validation, SFU_PASS_EVALUATE);
        }
    }
    compare_output(tally, it, at, executor, plan, SFU_PASS_EVALUATE, after.theta);
}

/* Whether the plan applies dropout to the non-zeros of sparse features; dense ones use the same kernel, without
 * indices. */
static bool drops_sparse(const sfu__plan *plan) {
    const sfu__pass *pass = &plan->passes[SFU_PASS_TRAIN];
    for (size_t i = 0; i < pass->step_count; i++) {
        const sfu__kernel kernel = pass->steps[i].kernel;
        const sfu__cpu_matrix *matrix =
            pass->steps[i].block >= 0 ? (const void *)pass->blocks[pass->steps[i].block].matrix : NULL;
        if (kernel == SFU__KERNEL_DROPOUT_MASK ||
            (kernel == SFU__KERNEL_DROPOUT_SPARSE && matrix->view.indices != NULL)) {
            return true;
        }
    }
    return false;
}

/* A plan without dropout has no masks. */
static bool drops(const trial *it) {
    bool found = it->settings.dropout > 0;
    for (int i = 0; i < it->net->count; i++) {
        found = found || it->net->layers[i].dropout > 0;
    }
    return found;
}

static sfu__plan_request request_of(const trial *it, unsigned rewrites) {
    sfu__plan_request request = {.dropout = drops(it), .rewrites = rewrites, .threads = 1};
    for (int i = 0; i < SFU_PASSES; i++) {
        const bool all = it->parts[i].count == it->dataset->nodes;
        request.nodes[i] = all ? NULL : it->parts[i].nodes;
        request.count[i] = it->parts[i].count;
    }
    return request;
}

static void run(tally *tally, trial *it, unsigned rewrites, const sfu__backend *backend, int threads) {
    const term at = {it, rewrites, 0, ""};
    const sfu__plan_request request = request_of(it, rewrites);
    sfu__plan *plan = NULL;
    sfu__executor *executor = NULL;
    sfu__team *team = NULL;
    assert_ok(sfu__team_new(&team, threads));
    if (sfu__plan_make(&plan, it->dataset, it->net, &request) != SFU_OK) {
        fail_msg("%s: %s", it->text, sfu_message());
    }
    assert_ok(sfu__executor_new(&executor, plan, backend, team));
    assert_int_equal(sfu__plan_parameters(plan)->size, it->parameters.size);
    it->settings.features_sparse = drops_sparse(plan);
    for (int64_t i = 0; i < it->parameters.size; i++) {
        sfu__executor_theta(executor)[i] = (float)it->start[i];
    }
    sfu__executor_forward(executor, SFU_PASS_PREDICT);
    compare_output(tally, it, at, executor, plan, SFU_PASS_PREDICT, it->start);
    if (it->parts[SFU_PASS_PREDICT].count == it->dataset->nodes) {
        compare_embedding(tally, it, at, executor, plan);
    }
    sfu__executor_forward(executor, SFU_PASS_EVALUATE);
    compare_output(tally, it, at, executor, plan, SFU_PASS_EVALUATE, it->start);
    train(tally, it, at, executor, plan);
    sfu__executor_free(executor);
    sfu__team_free(team);
    sfu__plan_release(plan);
}

static const unsigned rewrite_sets[] = {
    SFU__ALL_REWRITES,
    SFU__ALL_REWRITES ^ SFU__FOLD,
    SFU__ALL_REWRITES ^ SFU__PRUNE,
    SFU__ALL_REWRITES ^ SFU__ORDER,
    SFU__ALL_REWRITES ^ SFU__COLLAPSE,
    SFU__ALL_REWRITES ^ SFU__SPARSE,
    0,
};
enum { SETS = sizeof rewrite_sets / sizeof rewrite_sets[0] };

/* The kernel sets alternate; that they agree bit for bit is tested elsewhere. */
static const sfu__backend *kernels(int round) {
    int count = 0;
    while (sfu__backend_cpu_set(count) != NULL) {
        count++;
    }
    return sfu__backend_cpu_set(round % count);
}

/* Ten steps on its own, against ten of the reference: differences may grow, but their effect on the probabilities stays
 * small. */
static void run_free(double *most, trial *it) {
    static moments ours;
    static double gradient[MOST], error[MOST];
    const sfu__plan_request request = request_of(it, SFU__ALL_REWRITES);
    const part *rows = &it->parts[SFU_PASS_TRAIN], *out = &it->parts[SFU_PASS_EVALUATE];
    sfu__plan *plan = NULL;
    sfu__executor *executor = NULL;
    assert_ok(sfu__plan_make(&plan, it->dataset, it->net, &request));
    assert_ok(sfu__executor_new(&executor, plan, kernels(0), NULL));
    memset(&ours, 0, sizeof ours);
    it->settings.training = true;
    it->settings.features_sparse = drops_sparse(plan);
    for (int64_t i = 0; i < it->parameters.size; i++) {
        sfu__executor_theta(executor)[i] = (float)it->start[i];
        ours.theta[i] = it->start[i];
    }
    for (it->settings.epoch = 1; it->settings.epoch <= STEPS; it->settings.epoch++) {
        sfu__score training;
        const sfu__epoch epoch = {.seed = it->settings.seed,
                                  .number = it->settings.epoch,
                                  .dropout = it->settings.dropout,
                                  .lr = it->lr,
                                  .decay = it->decay,
                                  .target = rows->target};
        sfu__executor_epoch(executor, &epoch, &training, NULL);
        dense_forward(it->reference, ours.theta, &it->settings);
        dense_backward(it->reference, gradient, error, rows->nodes, rows->count, &rows->target);
        dense_adam(ours.theta, ours.m, ours.v, gradient, &it->parameters, (double)it->lr, (double)it->decay,
                   it->settings.epoch);
    }
    sfu__executor_forward(executor, SFU_PASS_EVALUATE);
    const sfu__dense output = sfu__executor_output(executor, SFU_PASS_EVALUATE);
    const dense_matrix P = dense_forward(it->reference, ours.theta, &(dense_settings){.training = false});
    for (int32_t i = 0; i < out->count * P.cols; i++) {
        const double theirs = (double)output.data[(int64_t)(i / P.cols) * output.ld + i % P.cols];
        *most = fmax(*most, fabs(theirs - P.value[out->nodes[i / P.cols] * P.cols + i % P.cols]));
    }
    sfu__executor_free(executor);
    sfu__plan_release(plan);
}

static void report(const tally *tally) {
    print_message("%lld numbers compared, at most %.2f of %g units off; %lld gradients, %lld more left out at kinks; "
                  "%lld of %lld passes left out as too rough\n",
                  (long long)tally->compared, tally->most, TOLERANCE, (long long)tally->gradients,
                  (long long)tally->kinks, (long long)tally->rough, (long long)tally->forwards);
    assert_true(tally->kinks < tally->gradients / 20 && tally->rough < tally->forwards / 20);
}

static void named_networks(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(21, 0);
    tally tally = {0};
    int networks = 0;
    double most = 0;
    for (int i = 0; sfu_net_name(i, NULL) != NULL; i++) {
        if (strcmp(sfu_net_name(i, NULL), "lpnn") == 0) {
            continue;
        }
        networks++;
        for (int k = 1; k <= 4; k++) {
            sfu_net_options options;
            sfu_net_options_init(&options);
            options.k = k;
            options.hidden = 6;
            trial it;
            draw(&it, &random, sfu_net_name(i, NULL), &options);
            for (int set = 0; set < SETS; set++) {
                run(&tally, &it, rewrite_sets[set], kernels(set), 1 + set % 3);
            }
            run_free(&most, &it);
            activate(&it);
        }
    }
    assert_true(networks >= 9);
    report(&tally);
    print_message("after ten steps each on its own, probabilities are within %.2g\n", most);
    assert_true(most < 1e-3);
}

static void random_compositions(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(22, 0);
    tally tally = {0};
    for (int round = 0; round < (test_is_slow() ? 300 : 2000); round++) {
        trial it;
        draw(&it, &random, NULL, NULL);
        for (int set = 0; set < SETS; set++) {
            run(&tally, &it, rewrite_sets[set], kernels(round + set), round % 20 == 0 ? 2 + round % 3 : 1);
        }
        activate(&it);
    }
    report(&tally);
}

static sfu_status make_both(void *context) {
    const trial *it = context;
    const sfu__plan_request request = request_of(it, SFU__ALL_REWRITES);
    sfu__plan *plan = NULL;
    sfu__executor *executor = NULL;
    sfu_status status = sfu__plan_make(&plan, it->dataset, it->net, &request);
    if (status == SFU_OK) {
        status = sfu__executor_new(&executor, plan, sfu__backend_cpu_set(0), NULL);
    }
    sfu__executor_free(executor);
    sfu__plan_release(plan);
    return status;
}

static void allocations_that_fail(void **state) {
    (void)state;
    sfu__random random = sfu__random_start(23, 0);
    for (int round = 0; round < 12; round++) {
        trial it;
        draw(&it, &random, round == 0 ? "gcn+lp" : NULL, NULL);
        assert_ok(make_both(&it)); /* caches the digest of the dataset */
        test_fail_each_allocation(make_both, &it, 100);
        activate(&it);
    }
    sfu__plan_release(NULL);
    sfu__executor_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_networks),
        cmocka_unit_test(random_compositions),
        cmocka_unit_test(allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
