/* Reproducibility: a training computes the same bytes for every number of threads, every kernel set and on a GPU, and
 * on every machine those of the file digests.txt. UPDATE=1 rewrites that file. The GPU is the emulated one, or that of
 * the machine where tests/gpu.sh starts this program. */
#include "support.h"

#include "digest.h"
#include "file.h"
#include "gpu_population.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- experiments ------------------------------------------------------------------------------------------------ */

typedef struct experiment {
    const char *name;
    const char *data; /* "citation", or "made" */
    const char *net;
    double dropout;
    uint32_t epochs;
} experiment;

static const experiment experiments[] = {
    {"gcn", "citation", "gcn", 0.5, 3},
    {"gcn-k3", "citation", "smooth | dense 24 relu | smooth | dense 12 relu | smooth | softmax", 0.3, 2},
    {"sgcn", "citation", "sgcn", 0.5, 4},
    {"fp+mlp", "citation", "fp+mlp", 0.5, 3},
    {"sgcn+lp", "citation", "sgcn+lp", 0.5, 4},
    {"gcn+lp", "citation", "gcn+lp", 0.5, 3},
    {"linear+lp", "citation", "linear+lp", 0.5, 4},
    {"mlp+lp", "citation", "mlp+lp", 0, 3},
    {"mlp", "citation", "mlp", 0.5, 3},
    {"appnp", "citation", "dense 16 relu | dense classes | smooth^10(teleport=0.1) | softmax(linear=no)", 0.5, 2},
    {"learned", "made",
     "smooth(learn=self+neighbour+left+right) | dense 9 tanh | smooth(learn=right) | softmax | "
     "smooth^2(learn=self+right)",
     0.4, 6},
    {"activations", "made",
     "smooth(act=elu) | dense 17 tanh | dense 33 sigmoid | smooth(act=leaky_relu) | dense 5 elu | "
     "dense 8 relu(bias=no) | smooth^3(norm=row, act=tanh) | softmax | smooth(norm=row)",
     0.2, 6},
    {"exponents", "made",
     "smooth^2(left=0.3, right=0.45, self=0.5) | dense 70 relu | smooth(right=0.9) | softmax | "
     "smooth^4(right=0.2, neighbour=0.7, teleport=0.15)",
     0.5, 5},
    {"wide", "made", "dense 130 relu | smooth(norm=col) | dense 65 tanh | smooth(norm=none, neighbour=0.2) | softmax",
     0.5, 4},
};
enum { EXPERIMENTS = sizeof experiments / sizeof experiments[0] };

/* ---- one training ----------------------------------------------------------------------------------------------- */

enum { OUTCOMES = 3 };
static const char *const outcome_names[OUTCOMES] = {"weights", "predictions", "scores"};
typedef struct outcome {
    char digest[OUTCOMES][SFU__DIGEST_TEXT];
} outcome;

/* A dataset, training and validation nodes, and their labels. */
typedef struct material {
    sfu_dataset *dataset;
    sfu_split *split;
    const int32_t *nodes[2];
    int32_t count[2];
    int32_t *labels[2];
} material;

static void gather(material *it, const char *name) {
    memset(it, 0, sizeof *it);
    if (strcmp(name, "citation") == 0) {
        assert_ok(sfu_dataset_open(&it->dataset, name));
    } else {
        sfu_make_options options;
        sfu_make_options_init(&options);
        options.nodes = 600;
        options.classes = 5;
        options.vocabulary = 90;
        options.seed = 5;
        assert_ok(sfu_dataset_make(&it->dataset, &options));
    }
    assert_ok(sfu_split_new(&it->split, it->dataset, "random:0", NULL));
    for (int i = 0; i < 2; i++) {
        it->nodes[i] = sfu_split_part(it->split, i == 0 ? SFU_TRAIN : SFU_VAL, &it->count[i]);
        it->labels[i] = malloc(sizeof(int32_t) * (size_t)it->count[i]);
        assert_non_null(it->labels[i]);
        for (int32_t row = 0; row < it->count[i]; row++) {
            it->labels[i][row] = sfu_dataset_labels(it->dataset)[it->nodes[i][row]];
        }
    }
}

static void release(material *it) {
    free(it->labels[0]);
    free(it->labels[1]);
    sfu_split_free(it->split);
    sfu_dataset_free(it->dataset);
}

static sfu__plan_request request_of(const material *it, double dropout, int threads) {
    sfu__plan_request request = {.dropout = dropout > 0, .rewrites = SFU__ALL_REWRITES, .threads = threads};
    for (int i = 0; i < 2; i++) {
        request.nodes[i] = it->nodes[i];
        request.count[i] = it->count[i];
    }
    request.count[SFU_PASS_PREDICT] = it->dataset->nodes;
    return request;
}

static void digest_rows(char text[SFU__DIGEST_TEXT], const sfu__dense *matrix) {
    sfu__digest *digest = NULL;
    assert_ok(sfu__digest_new(&digest));
    for (int32_t i = 0; i < matrix->rows; i++) {
        assert_ok(
            sfu__digest_add(digest, matrix->data + (int64_t)i * matrix->ld, sizeof(float) * (size_t)matrix->cols));
    }
    assert_ok(sfu__digest_end(digest, text));
    sfu__digest_free(digest);
}

enum { SEED = 7 };
static const double lr = 0.01, decay = 5e-4;

static void run_epochs(const sfu__runner *runner, const material *it, const experiment *what, double *scores) {
    sfu__epoch epoch = {
        .seed = SEED, .dropout = what->dropout, .lr = (float)lr, .decay = (float)decay, .evaluate = true};
    epoch.target = (sfu__target){it->labels[0], NULL};
    epoch.validation = (sfu__target){it->labels[1], NULL};
    for (epoch.number = 1; epoch.number <= what->epochs; epoch.number++) {
        sfu__score training, validation;
        sfu__runner_epoch(runner, &epoch, &training, &validation);
        *scores++ = training.loss;
        *scores++ = (double)training.correct;
        *scores++ = validation.loss;
        *scores++ = (double)validation.correct;
    }
}

static void digest_theta(char text[SFU__DIGEST_TEXT], const float *theta, const sfu__parameters *parameters) {
    assert_ok(sfu__digest_of(text, theta, sizeof(float) * (size_t)parameters->size));
}

static void train(outcome *to, const material *it, const experiment *what, const sfu__runner *runner) {
    double scores[64] = {0};
    sfu__parameters_start(runner->theta, runner->parameters, runner->net, NULL, SEED);
    sfu__runner_reset(runner);
    run_epochs(runner, it, what, scores);
    sfu__runner_fetch(runner);
    sfu__runner_forward(runner, SFU_PASS_PREDICT);
    const sfu__dense output = sfu__runner_output(runner, SFU_PASS_PREDICT);
    assert_ok(sfu__runner_check(runner));
    digest_theta(to->digest[0], runner->theta, runner->parameters);
    digest_rows(to->digest[1], &output);
    assert_ok(sfu__digest_of(to->digest[2], scores, sizeof scores));
}

static void train_on_cpu(outcome *to, const material *it, const experiment *what, const sfu_net *net,
                         const sfu__plan *plan, const sfu__backend *backend, int threads) {
    sfu__executor *worker = NULL;
    sfu__team *team = NULL;
    assert_ok(sfu__team_new(&team, threads));
    assert_ok(sfu__executor_new(&worker, plan, backend, team));
    train(to, it, what,
          &(sfu__runner){.net = net,
                         .parameters = sfu__plan_parameters(plan),
                         .theta = sfu__executor_theta(worker),
                         .m = sfu__executor_m(worker),
                         .v = sfu__executor_v(worker),
                         .executor = worker});
    sfu__executor_free(worker);
    sfu__team_free(team);
}

/* The host drives it, step by step. */
static void train_on_gpu(outcome *to, const material *it, const experiment *what, const sfu_net *net,
                         const sfu__plan *plan) {
    sfu__runner runner = {0};
    sfu__plan_request request = request_of(it, what->dropout, 1);
    request.device.kind = SFU__DEVICE_CUDA;
    assert_ok(sfu__runner_make_of(&runner, it->dataset, net, &request, plan, NULL));
    assert_non_null(runner.gpu);
    train(to, it, what, &runner);
    sfu__runner_clear(&runner);
}

/* A whole training on the device, between two others: the parameters alone. */
static void train_in_population(outcome *to, const material *it, const experiment *what, const sfu_net *net,
                                const sfu__plan *plan, sfu__gpu *gpu) {
    enum { TRAININGS = 3 };
    const sfu__parameters *parameters = sfu__plan_parameters(plan);
    sfu__training trainings[TRAININGS];
    sfu__objective objective = {0};
    sfu__gpu_trainer *trainer = NULL;
    sfu__gpu_worker *worker = NULL;
    float *theta = calloc((size_t)parameters->size, TRAININGS * sizeof *theta);
    assert_non_null(theta);
    assert_ok(sfu__objective_make(&objective, it->dataset, it->split, &(sfu__objective_options){.loss = SFU_LOSS_SUM}));
    assert_ok(sfu__gpu_trainer_new(&trainer, gpu, plan, net, NULL, &objective, (int32_t)what->epochs));
    assert_ok(sfu__gpu_worker_new(&worker, gpu, NULL));
    for (int i = 0; i < TRAININGS; i++) {
        trainings[i] = (sfu__training){.seed = SEED - 1 + (uint64_t)i,
                                       .lr = lr,
                                       .weight_decay = decay,
                                       .dropout = what->dropout,
                                       .epochs = (int32_t)what->epochs,
                                       .keep = SFU_KEEP_LAST,
                                       .objective = &objective,
                                       .best = theta + i * parameters->size};
    }
    assert_ok(sfu__gpu_worker_run(worker, trainer, trainings, TRAININGS, &(sfu__gpu_tuning){0}, NULL));
    digest_theta(to->digest[0], trainings[1].best, parameters);
    sfu__gpu_worker_free(worker);
    sfu__gpu_trainer_free(trainer);
    sfu__objective_clear(&objective);
    free(theta);
}

/* ---- comparison ------------------------------------------------------------------------------------------------- */

static void assert_same(const experiment *what, const outcome *first, const outcome *other, const char *where,
                        int threads) {
    for (int i = 0; i < OUTCOMES; i++) {
        if (strcmp(first->digest[i], other->digest[i]) != 0) {
            fail_msg("%s: %s differ with %s on %d threads", what->name, outcome_names[i], where, threads);
        }
    }
}

static void try_cpu(outcome *first, const experiment *what, const material *it, const sfu_net *net) {
    enum { COUNTS = 5 };
    static const int threads[COUNTS] = {1, 3, 2, 8, 16}; /* each kernel set starts with a different one */
    const int counts = test_is_slow() ? 1 : COUNTS;
    outcome other;
    for (int plans = 1; plans <= 2; plans++) {
        sfu__plan *plan = NULL;
        const sfu__plan_request request = request_of(it, what->dropout, plans);
        const sfu__backend *backend = NULL;
        assert_ok(sfu__plan_make(&plan, it->dataset, net, &request));
        for (int set = 0; (backend = sfu__backend_cpu_set(set)) != NULL; set++) {
            /* The second plan was built by two threads: it is identical, so one training suffices. */
            for (int i = 0; i < (plans == 1 ? counts : 1); i++) {
                const bool is_first = plans == 1 && set == 0 && i == 0;
                const int count = threads[(set + i) % COUNTS];
                train_on_cpu(is_first ? first : &other, it, what, net, plan, backend, count);
                assert_same(what, first, is_first ? first : &other, backend->name, count);
            }
        }
        sfu__plan_release(plan);
    }
}

static void try_gpu(const outcome *first, const experiment *what, const material *it, const sfu_net *net,
                    sfu__gpu *gpu) {
    sfu__plan *plan = NULL;
    const sfu__plan_request request = request_of(it, what->dropout, 1);
    outcome other = *first;
    assert_ok(sfu__plan_make(&plan, it->dataset, net, &request));
    train_on_gpu(&other, it, what, net, plan);
    assert_same(what, first, &other, "a GPU", 1);
    train_in_population(&other, it, what, net, plan, gpu);
    assert_same(what, first, &other, "a population on a GPU", 1);
    sfu__plan_release(plan);
}

static void try_all(outcome *first, const experiment *what, sfu__gpu *gpu) {
    material it;
    sfu_net *net = NULL;
    gather(&it, what->data);
    assert_ok(
        sfu_net_parse(&net, what->net, &(sfu_net_options){.size = sizeof(sfu_net_options), .hidden = 16, .k = 2}));
    try_cpu(first, what, &it, net);
    if (gpu != NULL) {
        try_gpu(first, what, &it, net, gpu);
    }
    sfu_net_free(net);
    release(&it);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static const char *file_path(void) {
    static char path[4096];
    const char *source = getenv("SOURCE");
    snprintf(path, sizeof path, "%s/tests/digests.txt", source != NULL ? source : "..");
    return path;
}

static void write_file(const outcome *outcomes) {
    FILE *file = fopen(file_path(), "w");
    assert_non_null(file);
    fprintf(file, "# SHA-256 of what test_same_bytes.c trains: experiment, what, digest. UPDATE=1 writes it anew.\n");
    for (int i = 0; i < EXPERIMENTS; i++) {
        for (int j = 0; j < OUTCOMES; j++) {
            fprintf(file, "%s %s %s\n", experiments[i].name, outcome_names[j], outcomes[i].digest[j]);
        }
    }
    assert_int_equal(fclose(file), 0);
}

static void compare_with_file(const outcome *outcomes) {
    sfu__bytes bytes = {0};
    assert_ok(sfu__bytes_open(&bytes, file_path()));
    char *text = sfu__copy_bytes((const char *)bytes.data, bytes.size);
    assert_non_null(text);
    for (int i = 0; i < EXPERIMENTS; i++) {
        for (int j = 0; j < OUTCOMES; j++) {
            char line[4096];
            snprintf(line, sizeof line, "\n%.60s %.60s %.64s\n", experiments[i].name, outcome_names[j],
                     outcomes[i].digest[j]);
            if (strstr(text, line) == NULL) {
                fail_msg("not in digests.txt:%s", line);
            }
        }
    }
    sfu__free(text);
    sfu__bytes_close(&bytes);
}

static void the_same_bytes_everywhere(void **state) {
    (void)state;
    static outcome outcomes[EXPERIMENTS];
    sfu__gpu *gpu = NULL;
    if (!test_is_slow() && sfu__gpu_present()) { /* sanitizers see the code of GPUs in test_gpu_*.c */
        assert_ok(sfu__gpu_open(&gpu, 0));
        print_message("also on cuda:0 (%s)\n", sfu__gpu_facts_of(gpu)->name);
    }
    for (int i = 0; i < EXPERIMENTS; i++) {
        try_all(&outcomes[i], &experiments[i], gpu);
    }
    sfu__gpu_close(gpu);
    if (getenv("UPDATE") != NULL) {
        write_file(outcomes);
    }
    compare_with_file(outcomes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
