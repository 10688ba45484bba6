/* model_parameters.c - the parameters of a model as the API shows and sets them. */
#include "model.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof((sfu_parameter *)0)->name == SFU__PARAMETER_NAME_MAX, "a name fits");

sfu_status sfu__model_show_parameters(sfu_model *model) {
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(model->shown, model->parameters.count);
    for (int i = 0; i < model->parameters.count; i++) {
        const sfu__parameter *parameter = &model->parameters.items[i];
        sfu_parameter *shown = &model->shown[i];
        sfu__parameter_name(shown->name, parameter);
        shown->rows = parameter->rows;
        shown->cols = parameter->cols;
        shown->stride = parameter->ld;
        shown->values = model->theta + parameter->offset;
    }
done:
    return status;
}

const sfu_parameter *sfu_model_parameter(const sfu_model *model, int i) {
    return i >= 0 && i < model->parameters.count ? &model->shown[i] : NULL;
}

/* The weights are no longer those of the training that the model tells of. */
static void forget_run(sfu_model *model) {
    sfu__free(model->run);
    sfu__free(model->confusion);
    sfu__free(model->fitted);
    model->run = NULL;
    model->confusion = NULL;
    model->fitted = NULL;
    model->fitted_count = 0;
    model->scores = (sfu_scores){0};
}

sfu_status sfu_model_set_parameter(sfu_model *model, int i, const float *values) {
    const sfu_parameter *shown = sfu_model_parameter(model, i);
    if (shown == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "parameter %d: the model has parameters 0 to %d", i,
                         model->parameters.count - 1);
    }
    const sfu__parameter *parameter = &model->parameters.items[i];
    const int64_t count = (int64_t)parameter->rows * parameter->cols;
    for (int64_t at = 0; at < count; at++) {
        if (!(isfinite(values[at]) && values[at] >= parameter->low && values[at] <= parameter->high)) {
            return sfu__fail(SFU_ERR_ARGUMENT, "%s: value %lld is %g; expected a finite number from %g to %g",
                             shown->name, (long long)at, (double)values[at], (double)parameter->low,
                             (double)parameter->high);
        }
    }
    for (int32_t row = 0; row < parameter->rows; row++) {
        memcpy(model->theta + parameter->offset + (int64_t)row * parameter->ld, values + (int64_t)row * parameter->cols,
               (size_t)parameter->cols * sizeof *values);
    }
    forget_run(model);
    return SFU_OK;
}
