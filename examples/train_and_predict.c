/* Trains a network on a graph in memory and predicts the class of every node. The graph is two rings of people, half of
 * whom are labelled.
 *
 *   cc train_and_predict.c $(pkg-config --cflags --libs sfumato) -o train_and_predict && ./train_and_predict
 */
#include <sfumato.h>
#include <stdio.h>

enum { RING = 60, NODES = 2 * RING, CLASSES = 2 };

static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, sfu_message());
    return 1;
}

int main(void) {
    /* Two rings and one edge between them. The features of every third node are those of the other ring; every second
     * node has a label. */
    static int32_t from[NODES + 1], to[NODES + 1], labels[NODES];
    static float features[NODES][CLASSES];
    for (int32_t i = 0; i < NODES; i++) {
        const int32_t ring = i / RING;
        from[i] = i;
        to[i] = ring * RING + (i + 1) % RING;
        labels[i] = i % 2 == 0 ? ring : SFU_NO_LABEL;
        features[i][ring] = i % 3 == 0 ? 0.2F : 0.8F;
        features[i][1 - ring] = i % 3 == 0 ? 0.8F : 0.2F;
    }
    to[NODES] = RING;
    sfu_import_options import;
    sfu_import_options_init(&import);
    import.name = "rings";
    const sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                               .nodes = NODES,
                               .edges = NODES + 1,
                               .edge_from = from,
                               .edge_to = to,
                               .features = CLASSES,
                               .dense = features[0],
                               .labels = labels,
                               .classes = CLASSES};
    sfu_dataset *dataset = NULL;
    if (sfu_dataset_from_arrays(&dataset, &arrays, &import) != SFU_OK) {
        return failed("creating the dataset");
    }

    sfu_net *net = NULL;
    sfu_split *split = NULL;
    sfu_model *model = NULL;
    sfu_train_options options;
    sfu_train_options_init(&options);
    options.epochs = 100;
    options.lr = 0.05;
    options.dropout = 0;
    if (sfu_net_parse(&net, "smooth^2 | dense 8 relu | softmax", NULL) != SFU_OK ||
        sfu_split_new(&split, dataset, NULL, NULL) != SFU_OK ||
        sfu_train(&model, dataset, net, split, &options) != SFU_OK) {
        return failed("training");
    }
    const sfu_scores *scores = sfu_model_scores(model);
    printf("%d epochs, the best was %d; test accuracy %.2f\n", scores->epochs, scores->best_epoch,
           scores->test_accuracy);

    static float probabilities[NODES][CLASSES];
    static int32_t guesses[NODES];
    int right = 0;
    if (sfu_predict(probabilities[0], guesses, dataset, model, 0) != SFU_OK) {
        return failed("predicting");
    }
    for (int i = 0; i < NODES; i++) {
        right += guesses[i] == i / RING;
    }
    printf("%d of %d nodes are predicted correctly; node 7: %.3f and %.3f\n", right, NODES, (double)probabilities[7][0],
           (double)probabilities[7][1]);
    sfu_model_free(model);
    sfu_split_free(split);
    sfu_net_free(net);
    sfu_dataset_free(dataset);
    return right > NODES * 3 / 4 ? 0 : 1;
}
