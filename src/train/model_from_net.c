/* model_from_net.c - a model that has not been trained: the weights that a training would start from. */
#include "runner.h"

sfu_status sfu_model_from_net(sfu_model **model, const sfu_dataset *dataset, const sfu_net *net, uint64_t seed) {
    static const int64_t none; /* no node was fitted */
    sfu_status status = SFU_OK;
    sfu__parameters parameters = {0};
    const float **columns = NULL;
    float *theta = NULL;
    *model = NULL;
    if (sfu__parameters_need_labels(net)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "lpnn: its weights depend on the labels; sfu_train makes a model of it");
    }
    SFU_TRY(sfu_dataset_check(dataset));
    SFU_TRY(sfu__parameters_make(&parameters, net, dataset->features, dataset->classes, dataset->nodes));
    SFU_ALLOC_ZERO(columns, parameters.count);
    SFU_ALLOC(theta, parameters.size);
    for (int i = 0; i < parameters.count; i++) {
        columns[i] = sfu__parameter_column(&parameters.items[i], net, dataset);
    }
    sfu__parameters_start(theta, &parameters, net, columns, seed);
    SFU_TRY(sfu__model_new(model, &(sfu__model_parts){.net = net,
                                                      .features = dataset->features,
                                                      .classes = dataset->classes,
                                                      .nodes = dataset->nodes,
                                                      .theta = theta,
                                                      .class_names = &dataset->class_names,
                                                      .feature_names = &dataset->feature_names,
                                                      .transform = dataset->transform,
                                                      .fitted = &none}));
done:
    sfu__parameters_clear(&parameters);
    sfu__free(columns);
    sfu__free(theta);
    return status;
}
