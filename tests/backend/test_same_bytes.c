/* Reproducibility: a training computes the same bytes for every number of threads and every kernel set, and on every
 * machine those of the file digests.txt. UPDATE=1 rewrites that file. */
#include "support.h"

#include "digest.h"
#include "plan.h"
#include "random_networks.h"
#include "file.h"

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

static sfu__plan *plan_of(const material *it, const sfu_net *net, double dropout, int threads) {
    sfu__plan_request request = {.dropout = dropout > 0, .rewrites = SFU__ALL_REWRITES, .threads = threads};
    sfu__plan *plan = NULL;
    for (int i = 0; i < 2; i++) {
        request.nodes[i] = it->nodes[i];
        request.count[i] = it->count[i];
    }
    request.count[SFU_PASS_PREDICT] = it->dataset->nodes;
    assert_ok(sfu__plan_make(&plan, it->dataset, net, &request));
    return plan;
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

static void run_epochs(sfu__executor *worker, const material *it, const experiment *what, double *scores) {
    sfu__epoch epoch = {.seed = 7, .dropout = what->dropout, .lr = 0.01F, .decay = 5e-4F, .evaluate = true};
    epoch.target = (sfu__target){it->labels[0], NULL};
    epoch.validation = (sfu__target){it->labels[1], NULL};
    for (epoch.number = 1; epoch.number <= what->epochs; epoch.number++) {
        sfu__score training, validation;
        sfu__executor_epoch(worker, &epoch, &training, &validation);
        *scores++ = training.loss;
        *scores++ = (double)training.correct;
        *scores++ = validation.loss;
        *scores++ = (double)validation.correct;
    }
}

static void train(outcome *to, const material *it, const experiment *what, const sfu_net *net, const sfu__plan *plan,
                  const sfu__backend *backend, int threads) {
    double scores[64] = {0};
    const sfu__parameters *parameters = sfu__plan_parameters(plan);
    sfu__executor *worker = NULL;
    sfu__team *team = NULL;
    assert_ok(sfu__team_new(&team, threads));
    assert_ok(sfu__executor_new(&worker, plan, backend, team));
    sfu__parameters_start(sfu__executor_theta(worker), parameters, net, NULL, 7);
    run_epochs(worker, it, what, scores);
    sfu__executor_forward(worker, SFU_PASS_PREDICT);
    const sfu__dense output = sfu__executor_output(worker, SFU_PASS_PREDICT);
    assert_ok(sfu__digest_of(to->digest[0], sfu__executor_theta(worker), sizeof(float) * (size_t)parameters->size));
    digest_rows(to->digest[1], &output);
    assert_ok(sfu__digest_of(to->digest[2], scores, sizeof scores));
    sfu__executor_free(worker);
    sfu__team_free(team);
}

/* ---- comparison ------------------------------------------------------------------------------------------------- */

static void assert_same(const experiment *what, const outcome *first, const outcome *other, const char *kernels,
                        int threads) {
    for (int i = 0; i < OUTCOMES; i++) {
        if (strcmp(first->digest[i], other->digest[i]) != 0) {
            fail_msg("%s: %s differ with %s on %d threads", what->name, outcome_names[i], kernels, threads);
        }
    }
}

static void try_all(outcome *first, const experiment *what) {
    enum { COUNTS = 5 };
    static const int threads[COUNTS] = {1, 3, 2, 8, 16}; /* each kernel set starts with a different one */
    const int counts = test_is_slow() ? 1 : COUNTS;
    material it;
    sfu_net *net = NULL;
    outcome other;
    gather(&it, what->data);
    assert_ok(
        sfu_net_parse(&net, what->net, &(sfu_net_options){.size = sizeof(sfu_net_options), .hidden = 16, .k = 2}));
    for (int plans = 1; plans <= 2; plans++) {
        sfu__plan *plan = plan_of(&it, net, what->dropout, plans);
        const sfu__backend *backend = NULL;
        for (int set = 0; (backend = sfu__backend_cpu_set(set)) != NULL; set++) {
            /* The second plan was built by two threads: it is identical, so one training suffices. */
            for (int i = 0; i < (plans == 1 ? counts : 1); i++) {
                const bool is_first = plans == 1 && set == 0 && i == 0;
                const int count = threads[(set + i) % COUNTS];
                train(is_first ? first : &other, &it, what, net, plan, backend, count);
                assert_same(what, first, is_first ? first : &other, backend->name, count);
            }
        }
        sfu__plan_release(plan);
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
    for (int i = 0; i < EXPERIMENTS; i++) {
        try_all(&outcomes[i], &experiments[i]);
    }
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
