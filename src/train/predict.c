/* predict.c - applies a model to a dataset: probabilities, labels and the last hidden layer, in the caller's memory. */
#include "calibration.h"
#include "metrics.h"
#include "parallel.h"
#include "runner.h"
#include "sized_struct.h"

#include <string.h>

/* ---- checks that model and dataset match ------------------------------------------------------------------------- */

/* The i-th name of a dataset or a model; NULL if it has none. */
static const char *name_of(const sfu__strings *names, int64_t i) {
    return i < names->count ? names->bytes + names->offsets[i] : NULL;
}

/* Reports the first name that differs. If only one side has names, there is nothing to compare. */
static sfu_status check_names(const sfu_dataset *dataset, const char *what, const sfu__strings *theirs,
                              const sfu__strings *ours) {
    for (int64_t i = 0; i < theirs->count && i < ours->count; i++) {
        const char *here = name_of(theirs, i), *there = name_of(ours, i);
        if (strcmp(here, there) != 0) {
            char here_quoted[SFU__QUOTE_MAX], there_quoted[SFU__QUOTE_MAX];
            return sfu__fail(SFU_ERR_ARGUMENT, "%s: %s %lld is %s, but %s in the model", dataset->name, what,
                             (long long)i, sfu__quote(here_quoted, here, strlen(here)),
                             sfu__quote(there_quoted, there, strlen(there)));
        }
    }
    return SFU_OK;
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

/* Features first: a mismatch there makes the other differences meaningless. */
static sfu_status check_fit(const sfu_dataset *dataset, const sfu_model *model) {
    sfu_status status = SFU_OK;
    if (dataset->features != model->features) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: it has %d feature%s, but the model was trained with %d", dataset->name,
                         dataset->features, dataset->features == 1 ? "" : "s", model->features);
    }
    SFU_TRY(check_names(dataset, "feature", &dataset->feature_names, &model->feature_names));
    SFU_TRY(check_names(dataset, "class", &dataset->class_names, &model->class_names));
    if (dataset->classes > 0 && dataset->classes != model->classes) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: it has %d class%s, but the model was trained with %d", dataset->name,
                         dataset->classes, dataset->classes == 1 ? "" : "es", model->classes);
    }
    SFU_TRY(check_graph(dataset, model));
done:
    return status;
}

/* ---- predicting -------------------------------------------------------------------------------------------------- */

/* Runs the prediction pass for every node; call sfu__runner_clear also after a failure. */
static sfu_status run(sfu__runner *runner, const sfu_dataset *dataset, const sfu_model *model, int threads) {
    sfu_status status = SFU_OK;
    sfu__plan_request request = {.classes = model->classes, .rewrites = SFU__ALL_REWRITES, .threads = threads};
    request.count[SFU_PASS_PREDICT] = dataset->nodes;
    SFU_TRY(sfu_dataset_check(dataset));
    SFU_TRY(check_fit(dataset, model));
    SFU_TRY(sfu__runner_make(runner, dataset, model->net, &request));
    SFU_TRY(sfu__runner_load(runner, model));
    sfu__runner_forward(runner, SFU_PASS_PREDICT);
done:
    return status;
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
    float *probabilities; /* [rows][classes] */
    int32_t rows, classes;
    double temperature;
} calibrated;

static sfu_status calibrate_block(void *context, int64_t item, int thread) {
    const calibrated *all = context;
    (void)thread;
    for (int64_t row = item * BLOCK; row < (item + 1) * BLOCK && row < all->rows; row++) {
        sfu__temperature_apply(all->probabilities + row * all->classes, all->classes, all->temperature);
    }
    return SFU_OK;
}

static sfu_status calibrate(float *probabilities, const sfu__dense *output, const sfu_model *model, int threads) {
    calibrated all = {probabilities, output->rows, output->cols, sfu__model_temperature(model)};
    const int64_t blocks = ((int64_t)all.rows + BLOCK - 1) / BLOCK;
    return all.temperature == 1 ? SFU_OK : sfu__parallel(calibrate_block, &all, blocks, sfu__thread_count(threads));
}

void sfu_predict_options_init_sized(sfu_predict_options *options, size_t size) {
    const sfu_predict_options defaults = {.size = sizeof defaults};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

sfu_status sfu_predict_with(float *probabilities, int32_t *labels, const sfu_dataset *dataset, const sfu_model *model,
                            const sfu_predict_options *given) {
    sfu_status status = SFU_OK;
    sfu_predict_options options;
    sfu__runner runner = {0};
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_predict_options));
    SFU_TRY(run(&runner, dataset, model, options.threads));
    const sfu__dense output = sfu__runner_output(&runner, SFU_PASS_PREDICT);
    for (int32_t node = 0; labels != NULL && node < output.rows; node++) {
        labels[node] = sfu__largest(output.data + (int64_t)node * output.ld, output.cols);
    }
    if (probabilities != NULL) {
        copy_rows(probabilities, &output);
        SFU_TRY(options.raw ? SFU_OK : calibrate(probabilities, &output, model, options.threads));
    }
done:
    sfu__runner_clear(&runner);
    return status;
}

sfu_status sfu_predict(float *probabilities, int32_t *labels, const sfu_dataset *dataset, const sfu_model *model,
                       int threads) {
    sfu_predict_options options;
    sfu_predict_options_init(&options);
    options.threads = threads;
    return sfu_predict_with(probabilities, labels, dataset, model, &options);
}

sfu_status sfu_embed(float *embedding, const sfu_dataset *dataset, const sfu_model *model, int threads) {
    sfu_status status = SFU_OK;
    sfu__runner runner = {0};
    sfu__dense hidden;
    if (sfu_model_embedding_width(model) == 0) {
        return sfu__fail(SFU_ERR_ARGUMENT, "\"%s\" has no hidden layer", sfu_net_text(model->net));
    }
    SFU_TRY(run(&runner, dataset, model, threads));
    SFU_TRY(sfu__runner_embedding(&hidden, &runner, SFU_PASS_PREDICT));
    copy_rows(embedding, &hidden);
done:
    sfu__runner_clear(&runner);
    return status;
}
