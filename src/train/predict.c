/* predict.c - applies a model to a dataset: probabilities, labels and the last hidden layer, in the caller's memory. */
#include "predict.h"

#include "calibration.h"
#include "metrics.h"
#include "parallel.h"
#include "sized_struct.h"

#include <string.h>

/* ---- checks that model and dataset match ------------------------------------------------------------------------- */

/* Classes are matched by name where both sides have names; a class that the model does not know is an error. */
static sfu_status check_classes(const sfu_dataset *dataset, const sfu_model *model) {
    const bool named = dataset->class_names.count > 0 && model->class_names.count > 0;
    for (int32_t i = 0; named && i < dataset->classes && i < model->classes; i++) {
        if (sfu__model_class(model, dataset, i) < 0) {
            const char *here = sfu_dataset_class_name(dataset, i), *there = sfu_model_class_name(model, i);
            char here_quoted[SFU__QUOTE_MAX], there_quoted[SFU__QUOTE_MAX];
            return sfu__fail(SFU_ERR_ARGUMENT, "%s: class %d is %s, but %s in the model", dataset->name, i,
                             sfu__quote(here_quoted, here, strlen(here)),
                             sfu__quote(there_quoted, there, strlen(there)));
        }
    }
    const bool other = named ? dataset->classes > model->classes : dataset->classes != model->classes;
    return dataset->classes > 0 && other
               ? sfu__fail(SFU_ERR_ARGUMENT, "%s: it has %d class%s, but the model was trained with %d", dataset->name,
                           dataset->classes, dataset->classes == 1 ? "" : "es", model->classes)
               : SFU_OK;
}

int32_t sfu__model_class(const sfu_model *model, const sfu_dataset *dataset, int32_t class_index) {
    const char *name = sfu_dataset_class_name(dataset, class_index);
    const char *there = sfu_model_class_name(model, class_index);
    if (name == NULL || model->class_names.count == 0) {
        return class_index < model->classes ? class_index : -1;
    }
    if (there != NULL && strcmp(name, there) == 0) {
        return class_index;
    }
    for (int32_t i = 0; i < model->classes; i++) {
        if (strcmp(name, sfu_model_class_name(model, i)) == 0) {
            return i;
        }
    }
    return -1;
}

/* A model with per-node parameters is valid only on the graph it was trained on. */
static sfu_status check_graph(const sfu_dataset *dataset, const sfu_model *model) {
    sfu_status status = SFU_OK;
    char digest[65];
    if (model->nodes == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu_dataset_digest(digest, dataset));
    const bool same = model->dataset[0] != '\0' ? strcmp(digest, model->dataset) == 0 : model->nodes == dataset->nodes;
    if (!same) {
        status = sfu__fail(SFU_ERR_ARGUMENT,
                           "%s: the model has per-node parameters of another graph with %d nodes and can only predict "
                           "on that graph",
                           dataset->name, model->nodes);
    }
done:
    return status;
}

/* ---- predicting -------------------------------------------------------------------------------------------------- */

static sfu_status check_nodes(const sfu_dataset *dataset, const int32_t *nodes, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (nodes[i] < 0 || nodes[i] >= dataset->nodes || (i > 0 && nodes[i] <= nodes[i - 1])) {
            return sfu__fail(SFU_ERR_ARGUMENT, "%s: node %d of the list is %d; expected ascending numbers below %d",
                             dataset->name, i, nodes[i], dataset->nodes);
        }
    }
    return SFU_OK;
}

sfu_status sfu__prediction_run(sfu__prediction *prediction, const sfu_dataset *dataset, const sfu_model *model,
                               const sfu_predict_options *options) {
    sfu_status status = SFU_OK;
    sfu__runner *runner = &prediction->runner;
    sfu__plan_request request = {.classes = model->classes, .rewrites = SFU__ALL_REWRITES, .threads = options->threads};
    SFU_TRY(sfu__device_parse(&request.device, options->device, options->memory));
    request.nodes[SFU_PASS_PREDICT] = options->nodes;
    request.count[SFU_PASS_PREDICT] = options->nodes != NULL ? options->node_count : dataset->nodes;
    request.as_all = options->nodes != NULL;
    request.to_file = prediction->prepare_only;
    request.in_memory = prediction->prepare_only ? &prediction->in_memory : NULL;
    request.memory = sfu__limit_of(options->memory);
    SFU_TRY(sfu__plan_check_data(dataset, options->memory));
    SFU_TRY(options->nodes != NULL ? check_nodes(dataset, options->nodes, options->node_count) : SFU_OK);
    SFU_TRY(sfu__feature_view_make(&prediction->view, dataset, model, options->ignore_unknown_features));
    SFU_TRY(prediction->any_classes ? SFU_OK : check_classes(dataset, model));
    SFU_TRY(check_graph(dataset, model));
    SFU_TRY(sfu__runner_make(runner, prediction->view.dataset, model->net, &request));
    SFU_TRY(sfu__runner_load(runner, model));
    SFU_TRY(sfu_ranks_agree("other weights of the model", runner->theta,
                            (size_t)runner->parameters->size * sizeof *runner->theta));
    if (prediction->prepare_only) {
        goto done;
    }
    SFU_TRY(sfu__runner_stream(runner));
    sfu__runner_forward(runner, SFU_PASS_PREDICT);
    SFU_TRY(sfu__runner_check(runner));
done:
    return status;
}

void sfu__prediction_clear(sfu__prediction *prediction) {
    sfu__runner_clear(&prediction->runner);
    sfu__feature_view_clear(&prediction->view);
}

/* Copies padded rows to contiguous rows. */
static void copy_rows(float *to, const sfu__dense *from) {
    for (int32_t row = 0; row < from->rows; row++) {
        memcpy(to + (int64_t)row * from->cols, from->data + (int64_t)row * from->ld, (size_t)from->cols * sizeof *to);
    }
}

/* Calibration in blocks of rows. */
enum { BLOCK = 4096 };
typedef struct calibrated {
    sfu__dense rows;
    double temperature;
} calibrated;

static sfu_status calibrate_block(void *context, int64_t item, int thread) {
    const calibrated *all = context;
    (void)thread;
    for (int64_t row = item * BLOCK; row < (item + 1) * BLOCK && row < all->rows.rows; row++) {
        sfu__temperature_apply(all->rows.data + row * all->rows.ld, all->rows.cols, all->temperature);
    }
    return SFU_OK;
}

sfu_status sfu__calibrate(const sfu__dense *probabilities, const sfu_model *model, int threads) {
    calibrated all = {*probabilities, sfu__model_temperature(model)};
    const int64_t blocks = ((int64_t)all.rows.rows + BLOCK - 1) / BLOCK;
    return all.temperature == 1 ? SFU_OK : sfu__parallel(calibrate_block, &all, blocks, sfu__thread_count(threads));
}

void sfu_predict_options_init_sized(sfu_predict_options *options, size_t size) {
    const sfu_predict_options defaults = {.size = sizeof defaults, .device = "auto"};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

sfu_status sfu_predict_with(float *probabilities, int32_t *labels, const sfu_dataset *dataset, const sfu_model *model,
                            const sfu_predict_options *given) {
    sfu_status status = SFU_OK;
    sfu_predict_options options;
    sfu__pieces pieces = {0};
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_predict_options));
    if (options.nodes != NULL && options.node_count == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__pieces_start(&pieces, dataset, model, &options));
    for (int32_t first = 0; first < pieces.count; first += pieces.rows) {
        sfu__dense output;
        SFU_TRY(sfu__pieces_run(&output, &pieces, first));
        for (int32_t row = 0; labels != NULL && row < output.rows; row++) {
            labels[first + row] = sfu__largest(output.data + (int64_t)row * output.ld, output.cols);
        }
        if (probabilities != NULL) {
            sfu__dense rows = output;
            rows.data = probabilities + (int64_t)first * output.cols;
            rows.ld = output.cols;
            copy_rows(rows.data, &output);
            SFU_TRY(options.raw ? SFU_OK : sfu__calibrate(&rows, model, options.threads));
        }
    }
done:
    sfu__pieces_clear(&pieces);
    return status;
}

sfu_status sfu_predict(float *probabilities, int32_t *labels, const sfu_dataset *dataset, const sfu_model *model,
                       int threads) {
    sfu_predict_options options;
    sfu_predict_options_init(&options);
    options.threads = threads;
    return sfu_predict_with(probabilities, labels, dataset, model, &options);
}

sfu_status sfu_embed_with(float *embedding, const sfu_dataset *dataset, const sfu_model *model,
                          const sfu_predict_options *given) {
    sfu_status status = SFU_OK;
    sfu_predict_options options;
    sfu__prediction prediction = {0};
    sfu__dense hidden;
    if (sfu_model_embedding_width(model) == 0) {
        return sfu__fail(SFU_ERR_ARGUMENT, "\"%s\" has no hidden layer", sfu_net_text(model->net));
    }
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_predict_options));
    if (options.nodes != NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "an embedding is that of all nodes: it takes no list of nodes");
    }
    SFU_TRY(sfu__prediction_run(&prediction, dataset, model, &options));
    SFU_TRY(sfu__runner_embedding(&hidden, &prediction.runner, SFU_PASS_PREDICT));
    copy_rows(embedding, &hidden);
done:
    sfu__prediction_clear(&prediction);
    return status;
}

sfu_status sfu_embed(float *embedding, const sfu_dataset *dataset, const sfu_model *model, int threads) {
    sfu_predict_options options;
    sfu_predict_options_init(&options);
    options.threads = threads;
    return sfu_embed_with(embedding, dataset, model, &options);
}
