/* model.c - creates models from the results of a training, and accesses them. */
#include "model.h"
#include "metrics.h"

#include <stdio.h>
#include <string.h>

void sfu_model_free(sfu_model *model) {
    if (model == NULL) {
        return;
    }
    sfu_net_free(model->net);
    sfu__parameters_clear(&model->parameters);
    sfu__free(model->theta);
    sfu__free(model->shown);
    sfu__strings_clear(&model->class_names);
    sfu__strings_clear(&model->feature_names);
    sfu__free(model->run);
    sfu__free(model->transform);
    sfu__free(model->confusion);
    sfu__free(model->fitted);
    sfu__free(model);
}

bool sfu__model_needs_f(const sfu_net *net) { return net->is_lpnn && (net->lpnn.input_f || !net->lpnn.output_g); }

/* ---- creation --------------------------------------------------------------------------------------------------- */

static sfu_status copy_names(sfu__strings *names, const sfu__strings *from) {
    sfu_status status = SFU_OK;
    for (int64_t i = 0; from != NULL && i < from->count && status == SFU_OK; i++) {
        size_t size = 0;
        const char *name = sfu__strings_get(from, i, &size);
        status = sfu__names_add(names, name, strnlen(name, size));
    }
    return status;
}

static bool has_node_values(const sfu_net *net) {
    bool has = sfu__model_needs_f(net);
    for (int i = 0; i < net->count; i++) {
        has = has || sfu__layer_learns_nodes(&net->layers[i]) != NULL;
    }
    return has;
}

/* The training's parameters may end with f, which the model leaves out if prediction does not need it. */
static sfu_status copy_parameters(sfu_model *self, const sfu__model_parts *parts) {
    sfu_status status = SFU_OK;
    sfu__parameters trained = {0};
    SFU_TRY(sfu__parameters_make(&trained, self->net, parts->features, parts->classes, parts->nodes));
    SFU_TRY(sfu__parameters_make(&self->parameters, self->net, parts->features, parts->classes, self->nodes));
    SFU_ALLOC_ZERO(self->theta, self->parameters.size);
    for (int i = 0; i < self->parameters.count; i++) {
        const sfu__parameter *to = &self->parameters.items[i];
        memcpy(self->theta + to->offset, parts->theta + trained.items[i].offset,
               (size_t)to->rows * (size_t)to->ld * sizeof *self->theta);
    }
done:
    sfu__parameters_clear(&trained);
    return status;
}

static sfu_status copy_run(sfu_model *self, const sfu__model_parts *parts) {
    sfu_status status = SFU_OK;
    sfu__text run = {0};
    const size_t cells = (size_t)parts->classes * (size_t)parts->classes;
    if (parts->options == NULL || parts->scores == NULL) {
        return SFU_OK;
    }
    self->scores = *parts->scores;
    SFU_TRY(sfu__run_print(&run, parts->options, parts->scores, parts->confusion, parts->classes));
    self->run = run.bytes;
    run = (sfu__text){0};
    if (parts->confusion != NULL) {
        SFU_ALLOC(self->confusion, cells);
        memcpy(self->confusion, parts->confusion, cells * sizeof *self->confusion);
    }
done:
    sfu__text_clear(&run);
    return status;
}

static sfu_status copy_fitted(sfu_model *self, const sfu__model_parts *parts) {
    sfu_status status = SFU_OK;
    if (parts->fitted == NULL) {
        return SFU_OK;
    }
    SFU_ALLOC(self->fitted, parts->fitted_count);
    memcpy(self->fitted, parts->fitted, (size_t)parts->fitted_count * sizeof *self->fitted);
    self->fitted_count = parts->fitted_count;
done:
    return status;
}

sfu_status sfu__model_new(sfu_model **model, const sfu__model_parts *parts) {
    sfu_status status = SFU_OK;
    sfu_model *self = NULL;
    *model = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->features = parts->features;
    self->classes = parts->classes;
    SFU_TRY(sfu__net_read(&self->net, sfu_net_text(parts->net), NULL));
    self->nodes = has_node_values(self->net) ? parts->nodes : 0;
    SFU_TRY(copy_parameters(self, parts));
    SFU_TRY(sfu__model_show_parameters(self));
    SFU_TRY(copy_names(&self->class_names, parts->class_names));
    SFU_TRY(copy_names(&self->feature_names, parts->feature_names));
    snprintf(self->dataset, sizeof self->dataset, "%s", parts->dataset != NULL ? parts->dataset : "");
    SFU_TRY(copy_run(self, parts));
    if (parts->transform != NULL && (self->transform = sfu__copy_string(parts->transform)) == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_TRY(copy_fitted(self, parts));
    *model = self;
    self = NULL;
done:
    sfu_model_free(self);
    return status;
}

/* ---- accessors -------------------------------------------------------------------------------------------------- */

const sfu_net *sfu_model_net(const sfu_model *model) { return model->net; }
int32_t sfu_model_classes(const sfu_model *model) { return model->classes; }
int32_t sfu_model_features(const sfu_model *model) { return model->features; }
const sfu_scores *sfu_model_scores(const sfu_model *model) { return &model->scores; }

bool sfu__model_has_fitted(const sfu_model *model, int64_t digest) {
    int64_t low = 0, high = model->fitted_count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (model->fitted[middle] < digest) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < model->fitted_count && model->fitted[low] == digest;
}

double sfu__model_temperature(const sfu_model *model) {
    return model->scores.temperature > 0 ? model->scores.temperature : 1;
}

bool sfu_model_has_transform(const sfu_model *model) { return model->transform != NULL; }

const char *sfu_model_class_name(const sfu_model *model, int32_t class_index) {
    return class_index >= 0 && class_index < model->class_names.count
               ? model->class_names.bytes + model->class_names.offsets[class_index]
               : NULL;
}

int32_t sfu_model_embedding_width(const sfu_model *model) {
    return sfu__net_embedding_width(model->net, model->classes);
}

int32_t sfu_model_confusion(const sfu_model *model, int32_t truth, int32_t guess) {
    const bool inside = truth >= 0 && truth < model->classes && guess >= 0 && guess < model->classes;
    return inside && model->confusion != NULL ? model->confusion[(int64_t)truth * model->classes + guess] : 0;
}

sfu_class_score sfu_model_class_score(const sfu_model *model, int32_t class_index) {
    sfu__tally tally = {.right = sfu_model_confusion(model, class_index, class_index)};
    for (int32_t i = 0; i < model->classes; i++) {
        tally.support += sfu_model_confusion(model, class_index, i);
        tally.guessed += sfu_model_confusion(model, i, class_index);
    }
    return sfu__tally_score(&tally);
}
