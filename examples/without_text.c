/* What a binding for another language needs: a split from node numbers, a network from layer structs, the learning
 * curve and the weights as numbers. No text is parsed and no file is written.
 *
 *   cc without_text.c $(pkg-config --cflags --libs sfumato) -o without_text && ./without_text
 */
#include <sfumato.h>
#include <stdio.h>
#include <string.h>

enum { NODES = 90, CLASSES = 3, HIDDEN = 8, EPOCHS = 50 };

static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, sfu_message());
    return 1;
}

/* Three rings, one per class; the features of every fourth node point to another class. */
static sfu_status make_dataset(sfu_dataset **dataset) {
    static int32_t from[NODES], to[NODES], labels[NODES];
    static float features[NODES][CLASSES];
    for (int32_t i = 0; i < NODES; i++) {
        from[i] = i;
        to[i] = (i + CLASSES) % NODES;
        labels[i] = i % CLASSES;
        features[i][(i % 4 == 0 ? i + 1 : i) % CLASSES] = 1.0F;
    }
    const sfu_arrays arrays = {.size = sizeof arrays,
                               .nodes = NODES,
                               .edges = NODES,
                               .edge_from = from,
                               .edge_to = to,
                               .features = CLASSES,
                               .dense = features[0],
                               .labels = labels,
                               .classes = CLASSES};
    return sfu_dataset_from_arrays(dataset, &arrays, NULL);
}

/* The first 30 nodes train, the next 30 validate, the rest is for the test. */
static sfu_status make_split(sfu_split **split, const sfu_dataset *dataset) {
    int32_t all[NODES];
    for (int32_t i = 0; i < NODES; i++) {
        all[i] = i;
    }
    const int32_t *const parts[SFU_PARTS] = {all, all + NODES / 3, all + 2 * NODES / 3};
    const int32_t counts[SFU_PARTS] = {NODES / 3, NODES / 3, NODES / 3};
    return sfu_split_from_nodes(split, dataset, parts, counts);
}

/* smooth^2 | dense 8 relu | softmax */
static sfu_status make_net(sfu_net **net) {
    sfu_layer layers[3];
    sfu_layer_init(&layers[0], SFU_LAYER_SMOOTH);
    sfu_layer_init(&layers[1], SFU_LAYER_DENSE);
    sfu_layer_init(&layers[2], SFU_LAYER_SOFTMAX);
    layers[0].times = 2;
    layers[1].width = HIDDEN;
    layers[1].act = SFU_ACT_RELU;
    return sfu_net_from_layers(net, layers, 3);
}

static bool keep_loss(void *user, const sfu_epoch *epoch) {
    ((double *)user)[epoch->epoch - 1] = epoch->train_loss;
    return true;
}

/* Copies all weights from one model to another of the same network. */
static sfu_status copy_weights(sfu_model *to, const sfu_model *from) {
    const sfu_parameter *parameter;
    for (int i = 0; (parameter = sfu_model_parameter(from, i)) != NULL; i++) {
        float values[HIDDEN * CLASSES]; /* the largest tensor of this network */
        for (int64_t row = 0; row < parameter->rows; row++) {
            memcpy(values + row * parameter->cols, parameter->values + row * parameter->stride,
                   (size_t)parameter->cols * sizeof *values);
        }
        const sfu_status status = sfu_model_set_parameter(to, i, values);
        if (status != SFU_OK) {
            return status;
        }
        printf("%s: %d x %d\n", parameter->name, parameter->rows, parameter->cols);
    }
    return SFU_OK;
}

int main(void) {
    sfu_dataset *dataset = NULL;
    sfu_split *split = NULL;
    sfu_net *net = NULL;
    sfu_model *model = NULL, *copy = NULL;
    double losses[EPOCHS] = {0};
    sfu_train_options options;
    sfu_train_options_init(&options);
    options.epochs = EPOCHS;
    options.patience = 0;
    options.lr = 0.05;
    options.on_epoch = keep_loss;
    options.on_epoch_user = losses;
    if (make_dataset(&dataset) != SFU_OK || make_split(&split, dataset) != SFU_OK || make_net(&net) != SFU_OK) {
        return failed("preparing");
    }
    if (sfu_train(&model, dataset, net, split, &options) != SFU_OK) {
        return failed("training");
    }
    printf("%s: loss %.3f, then %.3f; test accuracy %.2f\n", sfu_net_text(net), losses[0], losses[EPOCHS - 1],
           sfu_model_scores(model)->test_accuracy);
    if (sfu_model_from_net(&copy, dataset, net, 0) != SFU_OK || copy_weights(copy, model) != SFU_OK) {
        return failed("copying the weights");
    }
    /* The copy has the weights, but not the temperature that calibrates the probabilities of the trained model. */
    static float here[NODES][CLASSES], there[NODES][CLASSES];
    sfu_predict_options raw;
    sfu_predict_options_init(&raw);
    raw.raw = true;
    if (sfu_predict_with(here[0], NULL, dataset, model, &raw) != SFU_OK ||
        sfu_predict_with(there[0], NULL, dataset, copy, &raw) != SFU_OK) {
        return failed("predicting");
    }
    bool same = true;
    for (int i = 0; i < NODES * CLASSES; i++) {
        same = same && here[i / CLASSES][i % CLASSES] == there[i / CLASSES][i % CLASSES];
    }
    printf("the copy predicts %s\n", same ? "the same" : "something else");
    sfu_model_free(copy);
    sfu_model_free(model);
    sfu_net_free(net);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
    return same ? 0 : 1;
}
