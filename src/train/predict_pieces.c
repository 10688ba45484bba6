/* predict_pieces.c - predicts more nodes than fit into the memory limit, in pieces of rows.
 *
 * What is streamed from the file of the dataset is computed once, for all nodes, into a temporary file; the steps that
 * follow it then run for one piece after the other. A network without weights streams again for every piece.
 */
#include "predict.h"

#include <stdint.h>

/* Bytes of a row in the steps of a network: every layer twice. */
static int64_t row_bytes(const sfu_model *model) {
    int64_t floats = 2 * (int64_t)sfu__ld(model->classes);
    for (int i = 0; i < model->net->count; i++) {
        const sfu__layer *layer = &model->net->layers[i];
        floats += layer->kind == SFU__LAYER_SMOOTH
                      ? 0
                      : 2 * (int64_t)sfu__ld(layer->width > 0 ? layer->width : model->classes);
    }
    return 4 * floats;
}

/* Rows of a piece: an eighth of the limit, if the plan streams. */
static void choose_rows(sfu__pieces *self) {
    enum { SHARE = 8, LEAST = 1024 };
    sfu__plan_request request = {.memory = sfu__limit_of(self->options->memory), .threads = self->options->threads};
    request.count[SFU_PASS_PREDICT] = self->count;
    self->rows = self->count > 0 ? self->count : 1;
    if (sfu__plan_decide(self->dataset, self->model->net, &request)) {
        const int64_t fit = request.memory / SHARE / row_bytes(self->model);
        const int64_t rows = fit > LEAST ? fit : LEAST;
        self->rows = rows < self->count ? (int32_t)rows : self->rows;
    }
}

static sfu_status list_piece(sfu__pieces *self, sfu_predict_options *options, int32_t first) {
    sfu_status status = SFU_OK;
    if (self->rows < self->count) {
        if (self->nodes == NULL) {
            SFU_ALLOC(self->nodes, self->rows);
        }
        options->node_count = self->count - first < self->rows ? self->count - first : self->rows;
        for (int32_t i = 0; i < options->node_count; i++) {
            self->nodes[i] = self->options->nodes != NULL ? self->options->nodes[first + i] : first + i;
        }
        options->nodes = self->nodes;
    }
done:
    return status;
}

/* Runs the pass for the piece alone, without the file. */
static sfu_status run_alone(sfu__pieces *self, int32_t first) {
    sfu_status status = SFU_OK;
    sfu_predict_options options = *self->options;
    sfu__prediction_clear(&self->prediction);
    SFU_TRY(list_piece(self, &options, first));
    SFU_TRY(sfu__prediction_run(&self->prediction, self->dataset, self->model, &options));
done:
    return status;
}

/* Makes the plan of the first piece, and the file if that helps. */
static sfu_status start_file(sfu__pieces *self) {
    sfu_status status = SFU_OK;
    sfu_predict_options options = *self->options;
    SFU_TRY(list_piece(self, &options, 0));
    self->prediction.prepare_only = true;
    status = sfu__prediction_run(&self->prediction, self->dataset, self->model, &options);
    self->prediction.prepare_only = false;
    if (self->prediction.in_memory) { /* with the graph in memory, nodes in pieces would not take less */
        sfu__prediction_clear(&self->prediction);
        self->rows = self->count;
        return SFU_OK;
    }
    SFU_TRY(status);
    if (sfu__plan_streams_products(self->prediction.runner.own)) {
        SFU_TRY(sfu__scratch_new(&self->file, self->options->scratch != NULL ? self->options->scratch : "."));
        SFU_TRY(sfu__plan_stream_to(self->file, self->prediction.runner.own, self->prediction.runner.theta,
                                    self->options->nodes, self->count));
    }
done:
    return status;
}

sfu_status sfu__pieces_start(sfu__pieces *self, const sfu_dataset *dataset, const sfu_model *model,
                             const sfu_predict_options *options) {
    sfu_status status = SFU_OK;
    self->dataset = dataset;
    self->model = model;
    self->options = options;
    self->count = options->nodes != NULL ? options->node_count : dataset->nodes;
    choose_rows(self);
    SFU_TRY(self->rows < self->count ? start_file(self) : SFU_OK);
done:
    return status;
}

sfu_status sfu__pieces_run(sfu__dense *output, sfu__pieces *self, int32_t first) {
    sfu_status status = SFU_OK;
    const int32_t left = self->count - first, rows = left < self->rows ? left : self->rows;
    sfu__runner *runner = &self->prediction.runner;
    if (self->file != NULL) {
        SFU_TRY(sfu__plan_stream_from(self->file, runner->own, self->count, first, rows));
        sfu__runner_forward(runner, SFU_PASS_PREDICT);
    } else {
        SFU_TRY(run_alone(self, first));
    }
    *output = sfu__runner_output(runner, SFU_PASS_PREDICT);
    SFU_TRY(sfu__runner_check(runner));
    output->rows = rows;
done:
    return status;
}

void sfu__pieces_clear(sfu__pieces *self) {
    sfu__prediction_clear(&self->prediction);
    sfu__scratch_free(self->file);
    sfu__free(self->nodes);
    *self = (sfu__pieces){0};
}
