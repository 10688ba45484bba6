/* Model files: round trip, and messages about invalid files. */
#include "support.h"

#include "file.h"
#include "model.h"
#include "random.h"
#include "safetensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 6, CLASSES = 3, NODES = 5 };

static const char digest[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static sfu_net *parse(const char *text) {
    sfu_net *net = NULL;
    assert_ok(sfu_net_parse(&net, text, NULL));
    return net;
}

/* ---- a model as training makes it -------------------------------------------------------------------------------- */

typedef struct made {
    sfu_net *net;
    sfu__parameters parameters;
    float *theta;
    sfu__strings names;
    sfu_train_options options;
    sfu_scores scores;
    int32_t confusion[CLASSES * CLASSES];
    sfu__model_parts parts;
} made;

static void make(made *self, const char *text) {
    *self = (made){0};
    self->net = parse(text);
    assert_ok(sfu__parameters_make(&self->parameters, self->net, FEATURES, CLASSES, NODES));
    self->theta = malloc((size_t)self->parameters.size * sizeof *self->theta);
    assert_non_null(self->theta);
    sfu__parameters_start(self->theta, &self->parameters, self->net, NULL, 3);
    for (int i = 0; i < self->parameters.count; i++) { /* not only zeros where training starts with them */
        const sfu__parameter *p = &self->parameters.items[i];
        for (int32_t c = 0; strcmp(p->name, "weight") != 0 && c < p->cols; c++) {
            self->theta[p->offset + (int64_t)(p->rows - 1) * p->ld + c] = 0.5F + (float)c / 100.0F;
        }
    }
    assert_ok(sfu__names_add(&self->names, "theory", 6));
    assert_ok(sfu__names_add(&self->names, "\"neural\" n\xc3\xa9ts", 14));
    assert_ok(sfu__names_add(&self->names, "", 0));
    sfu_train_options_init(&self->options);
    self->scores = (sfu_scores){.epochs = 100,
                                .best_epoch = 75,
                                .train_accuracy = 1.0,
                                .val_accuracy = 1.0 / 3.0,
                                .val_loss = 1.234567890123456789,
                                .test_accuracy = (double)NAN,
                                .test_macro_f1 = 1e-30,
                                .seconds = 12.5,
                                .interrupted = true,
                                .seed = UINT64_MAX,
                                .val_score = 0.5,
                                .test_score = (double)NAN,
                                .temperature = 0.25,
                                .test_log_loss = 1.5,
                                .raw_test_log_loss = 2.5,
                                .leaked = 7};
    memcpy(self->scores.split_digest, digest, sizeof digest);
    const int32_t confusion[CLASSES * CLASSES] = {5, 1, 0, 2, 7, 0, 0, 0, 0};
    memcpy(self->confusion, confusion, sizeof confusion);
    static const int64_t fitted[] = {INT64_MIN, -3, 8, INT64_MAX};
    self->parts = (sfu__model_parts){.net = self->net,
                                     .fitted = fitted,
                                     .fitted_count = 4,
                                     .features = FEATURES,
                                     .classes = CLASSES,
                                     .nodes = NODES,
                                     .theta = self->theta,
                                     .class_names = &self->names,
                                     .dataset = digest,
                                     .options = &self->options,
                                     .scores = &self->scores,
                                     .confusion = self->confusion};
}

static void clear(made *self) {
    sfu_net_free(self->net);
    sfu__parameters_clear(&self->parameters);
    free(self->theta);
    sfu__strings_clear(&self->names);
}

static bool same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void assert_same_model(const sfu_model *a, const sfu_model *b) {
    assert_string_equal(sfu_net_text(a->net), sfu_net_text(b->net));
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->parameters.size, b->parameters.size);
    assert_memory_equal(a->theta, b->theta, (size_t)a->parameters.size * sizeof *a->theta);
    for (int32_t i = -1; i <= a->classes; i++) {
        const char *name = sfu_model_class_name(a, i);
        assert_int_equal(name == NULL, sfu_model_class_name(b, i) == NULL);
        assert_true(name == NULL || strcmp(name, sfu_model_class_name(b, i)) == 0);
        for (int32_t j = -1; j <= a->classes; j++) {
            assert_int_equal(sfu_model_confusion(a, i, j), sfu_model_confusion(b, i, j));
        }
    }
    assert_string_equal(a->dataset, b->dataset);
    const sfu_scores x = *sfu_model_scores(a);
    const sfu_scores y = *sfu_model_scores(b);
    assert_true(x.epochs == y.epochs && x.best_epoch == y.best_epoch && x.interrupted == y.interrupted);
    assert_true(x.seed == y.seed && strcmp(x.split_digest, y.split_digest) == 0);
    assert_true(same_number(x.train_accuracy, y.train_accuracy) && same_number(x.val_accuracy, y.val_accuracy));
    assert_true(same_number(x.val_loss, y.val_loss) && same_number(x.test_accuracy, y.test_accuracy));
    assert_true(same_number(x.test_macro_f1, y.test_macro_f1) && same_number(x.val_score, y.val_score));
    assert_true(same_number(x.temperature, y.temperature) && x.leaked == y.leaked);
    assert_int_equal(a->fitted_count, b->fitted_count);
    assert_memory_equal(a->fitted, b->fitted, (size_t)a->fitted_count * sizeof *a->fitted);
}

static void assert_same_file(const char *a, const char *b) {
    sfu__bytes x;
    sfu__bytes y;
    assert_ok(sfu__bytes_open(&x, a));
    assert_ok(sfu__bytes_open(&y, b));
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    sfu__bytes_close(&x);
    sfu__bytes_close(&y);
}

/* ---- round trip -------------------------------------------------------------------------------------------------- */

static void models_come_back(void **state) {
    (void)state;
    static const char *const nets[] = {
        "gcn",
        "softmax(bias=no)",
        "smooth(self=trust, neighbour=2, learn=self+neighbour+left) | dense 20 relu | softmax | smooth(learn=right)",
        "dense 17 relu(bias=no) | dense classes | smooth^10(teleport=0.1) | softmax(linear=no)",
        "lpnn",
        "lpnn(input=x)",
        "lpnn(input=x, output=f)",
        "smooth(neighbour=w, learn=neighbour) | softmax",
        "smooth | dense 1 | dense 5 tanh | dense 9 | softmax",
    };
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
        made self;
        sfu_model *model = NULL;
        sfu_model *again = NULL;
        make(&self, nets[i]);
        assert_ok(sfu__model_new(&model, &self.parts));
        assert_ok(sfu_model_save(model, test_path("model.safetensors")));
        assert_ok(sfu_model_open(&again, test_path("model.safetensors")));
        assert_same_model(model, again);
        assert_true(sfu_model_scores(model)->seconds == 12.5 && sfu_model_scores(again)->seconds == 0.0);
        assert_ok(sfu_model_save(again, test_path("again.safetensors")));
        assert_same_file(test_path("model.safetensors"), test_path("again.safetensors"));
        sfu_model_free(model);
        sfu_model_free(again);
        clear(&self);
    }
}

/* The file does not depend on when or how fast the model was trained. */
static void the_same_training_gives_the_same_bytes(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        made self;
        sfu_model *model = NULL;
        make(&self, "gcn");
        self.scores.seconds = i;
        self.options.threads = i;
        self.options.device = i == 0 ? "cpu" : "other";
        assert_ok(sfu__model_new(&model, &self.parts));
        assert_ok(sfu_model_save(model, test_path(i == 0 ? "a.safetensors" : "b.safetensors")));
        sfu_model_free(model);
        clear(&self);
    }
    assert_same_file(test_path("a.safetensors"), test_path("b.safetensors"));
}

static void the_file_is_what_it_should_be(void **state) {
    (void)state;
    made self;
    sfu_model *model = NULL;
    sfu__safetensors *file = NULL;
    make(&self, "smooth(learn=self) | dense 5 relu | softmax");
    assert_ok(sfu__model_new(&model, &self.parts));
    assert_ok(sfu_model_save(model, test_path("file.safetensors")));
    assert_ok(sfu__safetensors_open(&file, test_path("file.safetensors")));
    static const char *const names[] = {"fitted",         "layer.0.self", "layer.1.bias",
                                        "layer.1.weight", "layer.2.bias", "layer.2.weight"};
    for (int i = 0; i < 6; i++) {
        assert_string_equal(sfu__safetensors_get(file, i)->name, names[i]);
    }
    assert_null(sfu__safetensors_get(file, 6));
    const sfu__tensor *weight = sfu__safetensors_find(file, "layer.1.weight");
    assert_int_equal(weight->dims, 2);
    assert_int_equal(weight->shape[0], FEATURES);
    assert_int_equal(weight->shape[1], 5);
    const sfu__parameter *p = sfu__parameter_of(&self.parameters, 1, "weight");
    for (int r = 0; r < FEATURES; r++) {
        for (int c = 0; c < 5; c++) {
            assert_true(((const float *)weight->data)[r * 5 + c] == self.theta[p->offset + (int64_t)r * p->ld + c]);
        }
    }
    assert_int_equal(sfu__safetensors_find(file, "layer.0.self")->dims, 1);
    assert_string_equal(sfu__safetensors_metadata(file, "format"), "sfumato.model.1");
    assert_string_equal(sfu__safetensors_metadata(file, "net"), "smooth(learn=self) | dense 5 relu | softmax");
    assert_string_equal(sfu__safetensors_metadata(file, "classes"), "[\"theory\",\"\\\"neural\\\" n\xc3\xa9ts\",\"\"]");
    assert_string_equal(sfu__safetensors_metadata(file, "dataset"), digest);
    assert_string_equal(
        sfu__safetensors_metadata(file, "run"),
        "{\"settings\":{\"lr\":0.01,\"weight_decay\":0.0005,\"dropout\":0.5,\"loss\":\"mean\",\"class_weight\":"
        "\"none\","
        "\"epochs\":500,\"patience\":25,\"keep\":\"best\",\"metric\":\"accuracy\",\"seed\":0},"
        "\"scores\":{\"epochs\":100,\"best_epoch\":75,"
        "\"train_accuracy\":1,\"val_accuracy\":0.3333333333333333,\"val_loss\":1.2345678901234567,"
        "\"test_accuracy\":null,\"test_macro_f1\":1e-30,\"val_score\":0.5,\"test_score\":null,"
        "\"temperature\":0.25,\"test_log_loss\":1.5,\"test_calibration_error\":0,\"raw_test_log_loss\":2.5,"
        "\"raw_test_calibration_error\":0,\"interrupted\":true,\"seed\":\"18446744073709551615\",\"leaked\":7,"
        "\"split\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\","
        "\"confusion\":[[5,1,0],[2,7,0],[0,0,0]]}}");
    sfu__safetensors_free(file);
    sfu_model_free(model);
    clear(&self);
}

static void scores_follow_from_the_confusion(void **state) {
    (void)state;
    made self;
    sfu_model *model = NULL;
    make(&self, "gcn");
    assert_ok(sfu__model_new(&model, &self.parts));
    const sfu_class_score score = sfu_model_class_score(model, 0); /* 5 right of 6; 7 guessed */
    assert_true(score.recall == 5.0 / 6.0 && score.precision == 5.0 / 7.0 && score.support == 6);
    assert_true(fabs(score.f1 - 2 * score.recall * score.precision / (score.recall + score.precision)) < 1e-15);
    const sfu_class_score absent = sfu_model_class_score(model, 2);
    assert_true(absent.recall == 0 && absent.precision == 0 && absent.f1 == 0 && absent.support == 0);
    assert_int_equal(sfu_model_confusion(model, 1, 0), 2);
    assert_int_equal(sfu_model_classes(model), CLASSES);
    assert_int_equal(sfu_model_features(model), FEATURES);
    assert_int_equal(sfu_model_embedding_width(model), 64);
    assert_string_equal(sfu_net_text(sfu_model_net(model)), "smooth | dense 64 relu | smooth | softmax");
    sfu_model_free(model);
    clear(&self);
}

static void embeddings_have_the_width_of_the_last_hidden_layer(void **state) {
    (void)state;
    static const struct {
        const char *net;
        int32_t width;
    } cases[] = {{"sgcn", 0},
                 {"gcn", 64},
                 {"lpnn", 64},
                 {"dense 9 relu | dense classes | softmax(linear=no)", 9},
                 {"dense classes tanh | smooth^2 | softmax(linear=no) | smooth", 0},
                 {"dense 9 relu | dense classes | softmax", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sfu_net *net = parse(cases[i].net);
        assert_int_equal(sfu__net_embedding_width(net, 3), cases[i].width);
        sfu_net_free(net);
    }
}

/* ---- files of other programs ------------------------------------------------------------------------------------- */

static const float ones[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static sfu__tensor tensor(const char *name, int dims, int64_t rows, int64_t cols) {
    return (sfu__tensor){.name = name,
                         .dtype = SFU__F32,
                         .dims = dims,
                         .shape = {rows, cols},
                         .count = dims == 0   ? 1
                                  : dims == 1 ? rows
                                              : rows * cols,
                         .data = ones};
}

/* A file with these tensors and metadata, opened. */
static sfu_status open_made(sfu_model **model, const sfu__tensor *tensors, int count, const char *const *metadata) {
    const char *path = test_path("made.safetensors");
    assert_ok(sfu__safetensors_write(path, tensors, count, metadata));
    return sfu_model_open(model, path);
}

static void only_net_and_tensors_are_needed(void **state) {
    (void)state;
    const sfu__tensor tensors[] = {tensor("layer.1.weight", 2, 4, 2), tensor("layer.1.bias", 1, 2, 0),
                                   tensor("layer.0.self", 0, 0, 0)};
    const char *const metadata[] = {"format", "sfumato.model.1", "net", "smooth(learn=self)|softmax", NULL};
    sfu_model *model = NULL;
    assert_ok(open_made(&model, tensors, 3, metadata));
    assert_int_equal(sfu_model_features(model), 4);
    assert_int_equal(sfu_model_classes(model), 2);
    assert_null(sfu_model_class_name(model, 0));
    const sfu_scores scores = *sfu_model_scores(model);
    assert_true(scores.epochs == 0 && scores.val_accuracy == 0 && !scores.interrupted && scores.split_digest[0] == 0);
    assert_int_equal(sfu_model_confusion(model, 0, 0), 0);
    const sfu__parameter *weight = sfu__parameter_of(&model->parameters, 1, "weight");
    for (int i = 0; i < 4; i++) {
        const float row[4] = {1, 1, 0, 0};
        assert_memory_equal(model->theta + weight->offset + (int64_t)i * weight->ld, row, sizeof row);
    }
    assert_ok(sfu_model_save(model, test_path("saved.safetensors")));
    sfu_model_free(model);
}

static void a_network_without_weights_needs_its_classes(void **state) {
    (void)state;
    const char *const without[] = {"format", "sfumato.model.1", "net", "smooth|softmax(linear=no)", NULL};
    const char *const with[] = {"format",  "sfumato.model.1", "net", "smooth|softmax(linear=no)",
                                "classes", "[\"a\",\"b\"]",   NULL};
    sfu_model *model = NULL;
    assert_fails(SFU_ERR_FORMAT, open_made(&model, NULL, 0, without), "made.safetensors", "\"classes\" is missing");
    assert_ok(open_made(&model, NULL, 0, with));
    assert_int_equal(sfu_model_features(model), 2);
    assert_int_equal(sfu_model_classes(model), 2);
    sfu_model_free(model);
}

/* A misaligned tensor is read, too. */
static void any_alignment_is_read(void **state) {
    (void)state;
    made self;
    sfu_model *model = NULL;
    sfu_model *moved = NULL;
    sfu__bytes bytes;
    make(&self, "gcn");
    assert_ok(sfu__model_new(&model, &self.parts));
    assert_ok(sfu_model_save(model, test_path("aligned.safetensors")));
    assert_ok(sfu__bytes_open(&bytes, test_path("aligned.safetensors")));
    uint64_t length = 0;
    memcpy(&length, bytes.data, 8); /* the tests run on little-endian machines */
    for (uint64_t shift = 1; shift < 4; shift++) {
        unsigned char *copy = malloc(bytes.size + shift);
        assert_non_null(copy);
        const uint64_t longer = length + shift;
        memcpy(copy, &longer, 8);
        memcpy(copy + 8, bytes.data + 8, length);
        memset(copy + 8 + length, ' ', shift);
        memcpy(copy + 8 + length + shift, bytes.data + 8 + length, bytes.size - 8 - length);
        assert_ok(sfu__model_view(&moved, copy, bytes.size + shift, "moved"));
        assert_same_model(model, moved);
        sfu_model_free(moved);
        free(copy);
    }
    sfu__bytes_close(&bytes);
    sfu_model_free(model);
    clear(&self);
}

/* ---- mistakes --------------------------------------------------------------------------------------------------- */

#define MODEL "format", "sfumato.model.1", "net"

static void mistakes_are_told_with_their_tensor(void **state) {
    (void)state;
    static const float bad[] = {1, 2, NAN, 4, 5, 6, 7, 8};
    static const float negative[] = {-1};
    const sfu__tensor weight = tensor("layer.0.weight", 2, 4, 2);
    const sfu__tensor bias = tensor("layer.0.bias", 1, 2, 0);
    sfu__tensor nan_weight = weight;
    nan_weight.data = bad;
    sfu__tensor whole_bias = bias;
    whole_bias.dtype = SFU__I32;
    sfu__tensor negative_self = tensor("layer.0.self", 1, 1, 0);
    negative_self.data = negative;
    const struct {
        sfu__tensor tensors[4];
        int count;
        const char *metadata[10];
        const char *message;
    } cases[] = {
        {{weight, bias}, 2, {"net", "softmax"}, "the metadata \"format\" is missing; a model's is \"sfumato.model.1\""},
        {{weight, bias}, 2, {"format", "sfumato.dataset.1"}, "the metadata \"format\" is \"sfumato.dataset.1\""},
        {{weight, bias}, 2, {"format", "sfumato.model.1"}, "the metadata \"net\" is missing"},
        {{weight, bias}, 2, {MODEL, "sofmax"}, "the metadata \"net\": unknown layer \"sofmax\"; expected softmax"},
        {{bias}, 1, {MODEL, "softmax"}, "tensor \"layer.0.weight\": it is missing"},
        {{weight}, 1, {MODEL, "softmax"}, "tensor \"layer.0.bias\": it is missing"},
        {{weight, bias}, 2, {MODEL, "softmax(bias=no)"}, "tensor \"layer.0.bias\": the network \"softmax(bias=no)\""},
        {{weight, bias, tensor("x", 1, 1, 0)},
         3,
         {MODEL, "softmax"},
         "tensor \"x\": the network \"softmax\" has no such"},
        {{tensor("layer.0.weight", 1, 8, 0), bias},
         2,
         {MODEL, "softmax"},
         "tensor \"layer.0.weight\": expected the shape [in, out]"},
        {{tensor("layer.0.weight", 2, 0, 2), bias},
         2,
         {MODEL, "softmax"},
         "tensor \"layer.0.weight\": expected the shape [in, out]"},
        {{weight, tensor("layer.0.bias", 1, 3, 0)}, 2, {MODEL, "softmax"}, "\"layer.0.bias\": expected the shape [2]"},
        {{weight, tensor("layer.0.bias", 2, 1, 2)}, 2, {MODEL, "softmax"}, "\"layer.0.bias\": expected the shape [2]"},
        {{weight, tensor("layer.1.weight", 2, 3, 2)},
         2,
         {MODEL, "dense 2(bias=no)|softmax(bias=no)"},
         "tensor \"layer.1.weight\": expected the shape [2, 2]"},
        {{weight, tensor("layer.1.weight", 2, 3, 2)},
         2,
         {MODEL, "dense 3(bias=no)|softmax(bias=no)"},
         "tensor \"layer.0.weight\": expected the shape [4, 3]"},
        {{weight, bias},
         2,
         {MODEL, "dense 3|softmax(linear=no)"},
         "softmax(linear=no) has 3 input columns for 2 classes"},
        {{weight, whole_bias}, 2, {MODEL, "softmax"}, "tensor \"layer.0.bias\": its dtype is not F32"},
        {{nan_weight, bias}, 2, {MODEL, "softmax"}, "tensor \"layer.0.weight\": entry 2 is nan"},
        {{negative_self, tensor("layer.1.weight", 2, 4, 2)},
         2,
         {MODEL, "smooth(learn=self)|softmax(bias=no)"},
         "tensor \"layer.0.self\": entry 0 is -1"},
        {{tensor("layer.1.weight", 2, 4, 2)},
         1,
         {MODEL, "smooth(self=w, learn=self)|softmax(bias=no)"},
         "tensor \"layer.0.self\": it is missing"},
        {{tensor("layer.0.self", 1, 5, 0), tensor("layer.1.self", 1, 6, 0), tensor("layer.2.weight", 2, 4, 2)},
         3,
         {MODEL, "smooth(self=w, learn=self)|smooth(self=w, learn=self)|softmax(bias=no)"},
         "tensor \"layer.1.self\": expected the shape [5]"},
        {{weight, bias}, 2, {MODEL, "softmax", "classes", "[\"a\"]"}, "names 1 classes, and the weights have 2"},
        {{weight, bias}, 2, {MODEL, "softmax", "classes", "7"}, "the metadata \"classes\" is not a JSON array"},
        {{weight, bias}, 2, {MODEL, "softmax", "dataset", "me"}, "the metadata \"dataset\" is not a digest"},
        {{weight, bias}, 2, {MODEL, "softmax", "run", "[]"}, "the metadata \"run\" is not a JSON object"},
        {{weight, bias},
         2,
         {MODEL, "softmax", "run", "{\"scores\":{\"confusion\":[[1]]}}"},
         "\"confusion\" is not 2 rows of 2 numbers"},
        {{weight, bias, tensor("f", 2, 3, 2)}, 3, {MODEL, "softmax"}, "tensor \"f\": the network"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sfu_model *model = NULL;
        assert_fails(SFU_ERR_FORMAT, open_made(&model, cases[i].tensors, cases[i].count, cases[i].metadata),
                     "made.safetensors: ", cases[i].message);
        assert_null(model);
    }
}

static void f_is_there_where_it_is_needed(void **state) {
    (void)state;
    made self;
    sfu_model *model = NULL;
    make(&self, "lpnn(input=x, output=f)");
    assert_ok(sfu__model_new(&model, &self.parts));
    assert_int_equal(model->nodes, NODES);
    sfu__tensor tensors[8];
    for (int i = 0; i < 6; i++) {
        static const char *const names[] = {"layer.0.weight", "layer.0.bias",   "layer.1.weight",
                                            "layer.1.bias",   "layer.2.weight", "layer.2.bias"};
        const sfu__parameter *p = &model->parameters.items[i];
        tensors[i] = i % 2 == 0 ? tensor(names[i], 2, p->rows, p->cols) : tensor(names[i], 1, p->cols, 0);
        tensors[i].data = model->theta; /* numbers enough */
    }
    const char *const needs[] = {MODEL, "lpnn(input=x, output=f)", NULL};
    const char *const other[] = {MODEL, "lpnn(input=x, output=g)", NULL};
    sfu_model *opened = NULL;
    assert_fails(SFU_ERR_FORMAT, open_made(&opened, tensors, 6, needs), "tensor \"f\": it is missing");
    assert_ok(open_made(&opened, tensors, 6, other));
    assert_int_equal(opened->nodes, 0);
    sfu_model_free(opened);
    tensors[6] = tensor("f", 2, 7, CLASSES);
    assert_ok(open_made(&opened, tensors, 7, needs));
    assert_int_equal(opened->nodes, 7);
    sfu_model_free(opened);
    tensors[6] = tensor("f", 2, 7, CLASSES + 1);
    assert_fails(SFU_ERR_FORMAT, open_made(&opened, tensors, 7, needs), "tensor \"f\": expected the shape [7, 3]");
    sfu_model_free(model);
    clear(&self);
}

static void cut_files_are_refused(void **state) {
    (void)state;
    made self;
    sfu_model *model = NULL;
    sfu__bytes bytes;
    make(&self, "smooth(learn=self) | dense 5 relu | softmax");
    assert_ok(sfu__model_new(&model, &self.parts));
    assert_ok(sfu_model_save(model, test_path("whole.safetensors")));
    assert_ok(sfu__bytes_open(&bytes, test_path("whole.safetensors")));
    sfu_model_free(model);
    for (size_t size = 0; size < bytes.size; size++) {
        assert_int_equal(sfu__model_view(&model, bytes.data, size, "cut"), SFU_ERR_FORMAT);
        assert_null(model);
    }
    assert_ok(sfu__model_view(&model, bytes.data, bytes.size, "whole"));
    sfu_model_free(model);
    sfu__bytes_close(&bytes);
    clear(&self);
    assert_fails(SFU_ERR_NOT_FOUND, sfu_model_open(&model, test_path("nothing.safetensors")), "no such file");
}

static sfu_status new_save_open(void *context) {
    sfu_status status = SFU_OK;
    sfu_model *model = NULL;
    sfu_model *again = NULL;
    SFU_TRY(sfu__model_new(&model, context));
    SFU_TRY(sfu_model_save(model, test_path("memory.safetensors")));
    SFU_TRY(sfu_model_open(&again, test_path("memory.safetensors")));
done:
    sfu_model_free(model);
    sfu_model_free(again);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    made self;
    make(&self, "smooth(self=trust, learn=self) | dense 5 relu | softmax");
    test_fail_each_allocation(new_save_open, &self.parts, 1000);
    clear(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_come_back),
        cmocka_unit_test(the_same_training_gives_the_same_bytes),
        cmocka_unit_test(the_file_is_what_it_should_be),
        cmocka_unit_test(scores_follow_from_the_confusion),
        cmocka_unit_test(embeddings_have_the_width_of_the_last_hidden_layer),
        cmocka_unit_test(only_net_and_tensors_are_needed),
        cmocka_unit_test(a_network_without_weights_needs_its_classes),
        cmocka_unit_test(any_alignment_is_read),
        cmocka_unit_test(mistakes_are_told_with_their_tensor),
        cmocka_unit_test(f_is_there_where_it_is_needed),
        cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
