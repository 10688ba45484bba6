/* Models know the nodes they were fitted on: in their file, where a training starts from them, and in another dataset.
 */
#include "support.h"

#include "leak.h"
#include "node_digest.h"
#include "safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 300, CLASSES = 3 };

static sfu_dataset *dataset;
static sfu_net *net;
static sfu_split *splits[2];

static int set_up(void **state) {
    (void)state;
    sfu_make_options options;
    sfu_make_options_init(&options);
    options.nodes = NODES;
    options.classes = CLASSES;
    options.vocabulary = 60;
    options.threads = 1;
    assert_ok(sfu_dataset_make(&dataset, &options));
    assert_ok(sfu_net_parse(&net, "sgcn", NULL));
    assert_ok(sfu_split_new(&splits[0], dataset, "random:0", "60"));
    assert_ok(sfu_split_new(&splits[1], dataset, "random:1", "60"));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    sfu_split_free(splits[0]);
    sfu_split_free(splits[1]);
    sfu_net_free(net);
    sfu_dataset_free(dataset);
    return 0;
}

static sfu_status try_train(sfu_model **model, int split, const sfu_model *init, bool allow) {
    sfu_train_options options;
    sfu_train_options_init(&options);
    options.epochs = 3;
    options.threads = 1;
    options.init = init;
    options.allow_leak = allow;
    return sfu_train(model, dataset, net, splits[split], &options);
}

static int32_t size_of(int split, sfu_part part) {
    int32_t size = 0;
    (void)sfu_split_part(splits[split], part, &size);
    return size;
}

/* How many test nodes of split 1 are training or validation nodes of split 0, counted slowly. */
static int32_t overlap(void) {
    int32_t tests = 0, found = 0;
    const int32_t *test = sfu_split_part(splits[1], SFU_TEST, &tests);
    for (int32_t i = 0; i < tests; i++) {
        for (int part = SFU_TRAIN; part <= SFU_VAL; part++) {
            int32_t size = 0;
            const int32_t *nodes = sfu_split_part(splits[0], (sfu_part)part, &size);
            for (int32_t j = 0; j < size; j++) {
                found += nodes[j] == test[i];
            }
        }
    }
    return found;
}

static void a_start_from_test_nodes_is_refused(void **state) {
    (void)state;
    sfu_model *first = NULL, *second = NULL, *third = NULL;
    char counts[64];
    const int32_t both = overlap();
    assert_true(both > 0);
    assert_ok(try_train(&first, 0, NULL, false));
    assert_int_equal(first->fitted_count, size_of(0, SFU_TRAIN) + size_of(0, SFU_VAL));
    assert_int_equal(sfu_model_scores(first)->leaked, 0);
    snprintf(counts, sizeof counts, "fitted on %d of the %d test nodes", both, size_of(1, SFU_TEST));
    assert_fails(SFU_ERR_ARGUMENT, try_train(&second, 1, first, false), "the weights to start from: ", counts,
                 "--allow-leak");
    assert_null(second);
    assert_ok(try_train(&second, 0, first, false)); /* the same split is fine */
    assert_int_equal(sfu_model_scores(second)->leaked, 0);
    sfu_model_free(second);
    /* Allowed, the model is marked, also in its file, and remembers the nodes of both. */
    assert_ok(try_train(&second, 1, first, true));
    assert_int_equal(sfu_model_scores(second)->leaked, both);
    assert_int_equal(second->fitted_count,
                     size_of(0, SFU_TRAIN) + size_of(0, SFU_VAL) + size_of(1, SFU_TRAIN) + size_of(1, SFU_VAL));
    assert_ok(sfu_model_save(second, test_path("leaked.safetensors")));
    assert_ok(sfu_model_open(&third, test_path("leaked.safetensors")));
    assert_int_equal(sfu_model_scores(third)->leaked, both);
    assert_int_equal(third->fitted_count, second->fitted_count);
    assert_memory_equal(third->fitted, second->fitted, (size_t)third->fitted_count * sizeof *third->fitted);
    sfu_model_free(third);
    sfu_model_free(second);
    sfu_model_free(first);
}

/* An untrained model knows that it was fitted on nothing; replaced weights are of unknown origin. */
static void models_without_a_training(void **state) {
    (void)state;
    sfu_model *made = NULL, *trained = NULL;
    assert_ok(sfu_model_from_net(&made, dataset, net, 1));
    assert_ok(try_train(&trained, 0, made, false));
    assert_int_equal(trained->fitted_count, size_of(0, SFU_TRAIN) + size_of(0, SFU_VAL));
    sfu_model_free(trained);
    const sfu_parameter *weight = sfu_model_parameter(made, 0);
    float *values = calloc((size_t)weight->rows * (size_t)weight->cols, sizeof *values);
    assert_non_null(values);
    assert_ok(sfu_model_set_parameter(made, 0, values));
    assert_ok(try_train(&trained, 0, made, false));
    assert_null(trained->fitted);
    free(values);
    sfu_model_free(trained);
    sfu_model_free(made);
}

static sfu_dataset *import(const char *nodes, const char *text) {
    sfu_dataset *made = NULL;
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.edges = test_text_file("edges.csv", "from,to\na,b\nb,c\n");
    options.features = test_text_file(nodes, text);
    options.scale = SFU_SCALE_NONE;
    assert_ok(sfu_dataset_import(&made, &options));
    assert_ok(sfu_dataset_check(made));
    return made;
}

static int64_t digest_of(const sfu_dataset *of, const char *name) {
    sfu__node_digests digests = {0};
    int64_t found = 0;
    assert_ok(sfu__node_digests_make(&digests, of));
    for (int32_t node = 0; node < sfu_dataset_nodes(of); node++) {
        size_t size = 0;
        const char *here = sfu_dataset_node_name(of, node, &size);
        if (size == strlen(name) && memcmp(here, name, size) == 0) {
            found = sfu__node_digest(&digests, node);
        }
    }
    sfu__node_digests_clear(&digests);
    return found;
}

/* Neither the order nor the form of the features matters, but names and values do. */
static void nodes_are_recognised_in_other_datasets(void **state) {
    (void)state;
    sfu_dataset *dense = import("dense.csv", "node,x,y\na,1,2\nb,0,3\nc,1,0\n");
    sfu_dataset *turned = import("turned.csv", "node,y,x\nc,0,1\nb,3,0\na,2,1\n");
    sfu_dataset *sparse = import("sparse.csv", "node,feature,value\na,x,1\na,y,2\nb,y,3\nc,x,1\n");
    sfu_dataset *other = import("other.csv", "node,x,y\na,1,2.5\nb,0,3\nc,0,1\n");
    assert_true(digest_of(dense, "a") == digest_of(turned, "a") && digest_of(dense, "a") == digest_of(sparse, "a"));
    assert_true(digest_of(dense, "c") == digest_of(turned, "c") && digest_of(dense, "c") == digest_of(sparse, "c"));
    assert_true(digest_of(dense, "a") != digest_of(other, "a") && digest_of(dense, "c") != digest_of(other, "c"));
    assert_true(digest_of(dense, "b") == digest_of(other, "b"));
    sfu_dataset_free(dense);
    sfu_dataset_free(turned);
    sfu_dataset_free(sparse);
    sfu_dataset_free(other);
}

/* The definition of docs/reference/model.md is pinned: files of one version are read by the next. */
static void the_digest_is_pinned(void **state) {
    (void)state;
    sfu_dataset *dense = import("pinned.csv", "node,x,y\na,1,2\nb,0,3\nc,1,0\n");
    const int64_t digest = digest_of(dense, "a");
    if (digest != INT64_C(1138295115513479473)) {
        print_message("the digest is %lld\n", (long long)digest);
    }
    assert_true(digest == INT64_C(1138295115513479473));
    sfu_dataset_free(dense);
}

static sfu_status open_with(const sfu__tensor *fitted) {
    static const float weights[2] = {1, 2};
    const sfu__tensor tensors[2] = {
        *fitted,
        {.name = "layer.0.weight", .dtype = SFU__F32, .dims = 2, .shape = {1, 2}, .count = 2, .data = weights}};
    static const char *const metadata[] = {"format", "sfumato.model.1", "net", "softmax(bias=no)", NULL};
    sfu_model *model = NULL;
    assert_ok(sfu__safetensors_write(test_path("made.safetensors"), tensors, 2, metadata));
    const sfu_status status = sfu_model_open(&model, test_path("made.safetensors"));
    sfu_model_free(model);
    return status;
}

static void hostile_files_are_refused(void **state) {
    (void)state;
    static const int64_t up[3] = {-5, 2, 2}, down[3] = {7, 2, 9};
    static const float numbers[3] = {1, 2, 3};
    sfu__tensor fitted = {.name = "fitted", .dtype = SFU__I64, .dims = 1, .shape = {3}, .count = 3, .data = up};
    assert_ok(open_with(&fitted));
    fitted.data = down;
    assert_fails(SFU_ERR_FORMAT, open_with(&fitted), "tensor \"fitted\": expected ascending numbers");
    fitted = (sfu__tensor){.name = "fitted", .dtype = SFU__F32, .dims = 1, .shape = {3}, .count = 3, .data = numbers};
    assert_fails(SFU_ERR_FORMAT, open_with(&fitted), "tensor \"fitted\": expected I64 with one dimension");
    fitted = (sfu__tensor){.name = "fitted", .dtype = SFU__I64, .dims = 2, .shape = {1, 3}, .count = 3, .data = up};
    assert_fails(SFU_ERR_FORMAT, open_with(&fitted), "tensor \"fitted\": expected I64 with one dimension");
}

static sfu_status train_save_open(void *context) {
    sfu_status status = SFU_OK;
    sfu_model *model = NULL, *again = NULL;
    SFU_TRY(try_train(&model, 1, context, true));
    SFU_TRY(sfu_model_save(model, test_path("memory.safetensors")));
    SFU_TRY(sfu_model_open(&again, test_path("memory.safetensors")));
done:
    sfu_model_free(model);
    sfu_model_free(again);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sfu_model *first = NULL;
    assert_ok(try_train(&first, 0, NULL, false));
    test_fail_each_allocation(train_save_open, first, test_is_slow() ? 50 : 400);
    sfu_model_free(first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_from_test_nodes_is_refused),
        cmocka_unit_test(models_without_a_training),
        cmocka_unit_test(nodes_are_recognised_in_other_datasets),
        cmocka_unit_test(the_digest_is_pinned),
        cmocka_unit_test(hostile_files_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
