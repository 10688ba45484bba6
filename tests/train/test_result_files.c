/* The CSV files of training and prediction, byte for byte: quoting, ties, NaN, destinations. */
#include "support.h"

#include "file.h"
#include "memory.h"
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 4, CLASSES = 3 };

/* Four nodes without edges, the first and the last labelled. */
static sfu_status make_dataset(sfu_dataset **dataset) {
    static const int32_t none[1], labels[NODES] = {0, SFU_NO_LABEL, SFU_NO_LABEL, 2};
    static const float features[NODES][2] = {{1, 0}, {0, 1}, {1, 1}, {1, 2}};
    static const char *const classes[CLASSES] = {"red", "red, \"dark\"", "#blue"};
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.name = "four";
    options.threads = 1;
    const sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                               .nodes = NODES,
                               .edge_from = none,
                               .edge_to = none,
                               .features = 2,
                               .dense = features[0],
                               .labels = labels,
                               .classes = CLASSES,
                               .class_names = classes};
    return sfu_dataset_from_arrays(dataset, &arrays, &options);
}

/* A model of the dataset with arbitrary weights; with or without names of classes. */
static sfu_status make_model(sfu_model **model, const char *text, bool named) {
    static const float theta[4096];
    sfu_status status = SFU_OK;
    sfu_net *net = NULL;
    sfu__strings names = {0};
    SFU_TRY(sfu_net_parse(&net, text, NULL));
    SFU_TRY(sfu__names_add(&names, "red", 3));
    SFU_TRY(sfu__names_add(&names, "red, \"dark\"", 11));
    SFU_TRY(sfu__names_add(&names, "#blue", 5));
    SFU_TRY(sfu__model_new(
        model,
        &(sfu__model_parts){
            .net = net, .features = 2, .classes = CLASSES, .theta = theta, .class_names = named ? &names : NULL}));
done:
    sfu__strings_clear(&names);
    sfu_net_free(net);
    return status;
}

static const float probabilities[NODES][CLASSES] = {
    {0.5F, 0.25F, 0.25F}, {0.2F, 0.4F, 0.4F}, {1.0F / 3, 1.0F / 3, 1.0F / 3}, {1e-20F, 0, 1}};

/* ---- reading back ----------------------------------------------------------------------------------------------- */

static void assert_file(const char *path, const char *wanted) {
    sfu__bytes bytes;
    assert_ok(sfu__bytes_open(&bytes, path));
    assert_int_equal(bytes.size, strlen(wanted));
    assert_memory_equal(bytes.data, wanted, bytes.size);
    sfu__bytes_close(&bytes);
}

/* A destination of bytes, full after `room` of them. */
typedef struct bucket {
    char bytes[4096];
    size_t size, room;
} bucket;

static bool pour(void *user, const void *bytes, size_t size) {
    bucket *to = user;
    if (to->size + size > to->room) {
        return false;
    }
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return true;
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

#define HEADER "node,label,probability,red,\"red, \"\"dark\"\"\",\"#blue\"\n"
#define TWO_ROWS                                                                                                       \
    "1,\"red, \"\"dark\"\"\",0.4,0.2,0.4,0.4\n"                                                                        \
    "2,red,0.333333,0.333333,0.333333,0.333333\n"

static void predictions(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    sfu_model *model = NULL;
    assert_ok(make_dataset(&dataset));
    assert_ok(make_model(&model, "linear", true));
    const char *path = test_path("predictions.csv");
    assert_ok(sfu_predictions_save(path, dataset, model, probabilities[0], NULL));
    assert_file(path, HEADER "0,red,0.5,0.5,0.25,0.25\n" TWO_ROWS "3,\"#blue\",1,1e-20,0,1\n");
    sfu_csv_options options;
    sfu_csv_options_init(&options);
    options.only_unlabelled = true;
    assert_ok(sfu_predictions_save(path, dataset, model, probabilities[0], &options));
    assert_file(path, HEADER TWO_ROWS);
    options.top = 2;
    assert_ok(sfu_predictions_save(path, dataset, model, probabilities[0], &options));
    assert_file(path, "node,label_1,probability_1,label_2,probability_2\n"
                      "1,\"red, \"\"dark\"\"\",0.4,\"#blue\",0.4\n"
                      "2,red,0.333333,\"red, \"\"dark\"\"\",0.333333\n");
    options.top = 99; /* as many as there are */
    options.only_unlabelled = false;
    assert_ok(sfu_predictions_save(path, dataset, model, probabilities[0], &options));
    assert_file(path, "node,label_1,probability_1,label_2,probability_2,label_3,probability_3\n"
                      "0,red,0.5,\"red, \"\"dark\"\"\",0.25,\"#blue\",0.25\n"
                      "1,\"red, \"\"dark\"\"\",0.4,\"#blue\",0.4,red,0.2\n"
                      "2,red,0.333333,\"red, \"\"dark\"\"\",0.333333,\"#blue\",0.333333\n"
                      "3,\"#blue\",1,red,1e-20,\"red, \"\"dark\"\"\",0\n");
    options.top = -1;
    assert_fails(SFU_ERR_ARGUMENT, sfu_predictions_save(path, dataset, model, probabilities[0], &options), "top -1");
    sfu_model_free(model);
    sfu_dataset_free(dataset);
}

/* A model without names uses those of the dataset. */
static void names_of_the_dataset(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    sfu_model *model = NULL;
    assert_ok(make_dataset(&dataset));
    assert_ok(make_model(&model, "linear", false));
    const char *path = test_path("named.csv");
    assert_ok(sfu_predictions_save(path, dataset, model, probabilities[0],
                                   &(sfu_csv_options){.size = sizeof(sfu_csv_options), .only_unlabelled = true}));
    assert_file(path, HEADER TWO_ROWS);
    sfu_model_free(model);
    sfu_dataset_free(dataset);
}

static void bytes_instead_of_a_file(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    sfu_model *model = NULL;
    static bucket to = {.room = sizeof to.bytes};
    assert_ok(make_dataset(&dataset));
    assert_ok(make_model(&model, "linear", true));
    sfu_csv_options options = {
        .size = sizeof(sfu_csv_options), .only_unlabelled = true, .write = pour, .write_user = &to};
    assert_ok(sfu_predictions_save(NULL, dataset, model, probabilities[0], &options));
    assert_int_equal(to.size, strlen(HEADER TWO_ROWS));
    assert_memory_equal(to.bytes, HEADER TWO_ROWS, to.size);
    to.size = 0;
    to.room = 10;
    assert_fails(SFU_ERR_IO, sfu_predictions_save(NULL, dataset, model, probabilities[0], &options),
                 "could not be written");
    options.write = NULL;
    assert_fails(SFU_ERR_ARGUMENT, sfu_predictions_save(NULL, dataset, model, probabilities[0], &options), "a path");
    assert_fails(SFU_ERR_ARGUMENT, sfu_embedding_save(NULL, dataset, model, probabilities[0], &options), "a path");
    assert_fails(SFU_ERR_IO, sfu_predictions_save("/nowhere/x.csv", dataset, model, probabilities[0], NULL),
                 "/nowhere/x.csv");
    sfu_model_free(model);
    sfu_dataset_free(dataset);
}

static void embeddings(void **state) {
    (void)state;
    static const float hidden[NODES][2] = {{0.1F, -1}, {0, 3e-9F}, {16777216, 1.0F / 3}, {2, 2}};
    sfu_dataset *dataset = NULL;
    sfu_model *model = NULL;
    assert_ok(make_dataset(&dataset));
    assert_ok(make_model(&model, "dense 2 relu | softmax", true));
    const char *path = test_path("hidden.csv");
    assert_ok(sfu_embedding_save(path, dataset, model, hidden[0], NULL));
    assert_file(path, "node,h0,h1\n0,0.100000001,-1\n1,0,3.00000003e-09\n2,16777216,0.333333343\n3,2,2\n");
    sfu_model_free(model);
    sfu_dataset_free(dataset);
}

static void curves(void **state) {
    (void)state;
    const sfu_epoch epochs[] = {{.epoch = 1, .train_loss = 1.5, .val_loss = 0.1, .val_accuracy = 1.0 / 3},
                                {.epoch = 2, .train_loss = 1e-30, .val_loss = NAN, .val_accuracy = NAN}};
    const char *path = test_path("curve.csv");
    assert_ok(sfu_curve_save(path, epochs, 2));
    assert_file(path, "epoch,train_loss,val_loss,val_accuracy\n1,1.5,0.1,0.333333333\n2,1e-30,,\n");
    assert_ok(sfu_curve_save(path, NULL, 0));
    assert_file(path, "epoch,train_loss,val_loss,val_accuracy\n");
    assert_fails(SFU_ERR_IO, sfu_curve_save("/nowhere/c.csv", epochs, 2), "/nowhere/c.csv");
}

static sfu_status write_all(void *context) {
    sfu_status status = SFU_OK;
    sfu_dataset *dataset = NULL;
    sfu_model *model = NULL;
    const sfu_csv_options options = {.size = sizeof(sfu_csv_options), .top = 2};
    SFU_TRY(make_dataset(&dataset));
    SFU_TRY(make_model(&model, "linear", true));
    SFU_TRY(sfu_predictions_save(context, dataset, model, probabilities[0], &options));
    SFU_TRY(sfu_curve_save(context, NULL, 0));
done:
    sfu_model_free(model);
    sfu_dataset_free(dataset);
    return status;
}

static void each_allocation_fails(void **state) {
    (void)state;
    char *path = strdup(test_path("memory.csv"));
    assert_non_null(path);
    test_fail_each_allocation(write_all, path, 300);
    free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions),
        cmocka_unit_test(names_of_the_dataset),
        cmocka_unit_test(bytes_instead_of_a_file),
        cmocka_unit_test(embeddings),
        cmocka_unit_test(curves),
        cmocka_unit_test(each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
