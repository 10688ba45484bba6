/* runner.c - one interface to the executor of a plan and to the executor of LPNN. */
#include "runner.h"
#include "lpnn.h"
#include "metrics.h"
#include "parallel.h"

#include <string.h>

const float *sfu__parameter_column(const sfu__parameter *parameter, const sfu_net *net, const sfu_dataset *dataset) {
    if (parameter->layer < 0) {
        return NULL;
    }
    const sfu__layer *layer = &net->layers[parameter->layer];
    const char *name = strcmp(parameter->name, "self") == 0        ? layer->self_column
                       : strcmp(parameter->name, "neighbour") == 0 ? layer->neighbour_column
                                                                   : NULL;
    return name != NULL ? sfu_dataset_column(dataset, name) : NULL;
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

static sfu_status use_plan(sfu__runner *runner, const sfu_dataset *dataset, const sfu__plan *plan,
                           const sfu__backend *backend, sfu__team *team) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__executor_new(&runner->executor, plan, backend, team));
    runner->parameters = sfu__plan_parameters(plan);
    runner->theta = sfu__executor_theta(runner->executor);
    runner->m = sfu__executor_m(runner->executor);
    runner->v = sfu__executor_v(runner->executor);
    runner->bytes = sfu__executor_bytes(runner->executor);
    runner->stages_validation = true;
    SFU_ALLOC_ZERO(runner->columns, runner->parameters->count);
    for (int i = 0; i < runner->parameters->count; i++) {
        runner->columns[i] = sfu__parameter_column(&runner->parameters->items[i], runner->net, dataset);
    }
done:
    return status;
}

static sfu_status use_lpnn(sfu__runner *runner, const sfu_dataset *dataset, const sfu__plan_request *request,
                           const sfu__backend *backend, sfu__team *team) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__lpnn_new(&runner->lpnn, dataset, runner->net, request, backend, team));
    runner->parameters = sfu__lpnn_parameters(runner->lpnn);
    runner->theta = sfu__lpnn_theta(runner->lpnn);
    runner->m = sfu__lpnn_m(runner->lpnn);
    runner->v = sfu__lpnn_v(runner->lpnn);
    runner->bytes = sfu__lpnn_bytes(runner->lpnn);
    runner->sums_loss = true;
done:
    return status;
}

sfu_status sfu__runner_plan(sfu__plan **plan, const sfu_dataset *dataset, const sfu_net *net,
                            const sfu__plan_request *request) {
    *plan = NULL;
    return sfu__plan_supports(net) ? sfu__plan_make(plan, dataset, net, request) : SFU_OK;
}

sfu_status sfu__runner_make_of(sfu__runner *runner, const sfu_dataset *dataset, const sfu_net *net,
                               const sfu__plan_request *request, const sfu__plan *plan, sfu__team *team) {
    sfu_status status = SFU_OK;
    const sfu__backend *backend = NULL;
    runner->net = net;
    SFU_TRY(request->device.kind == SFU__DEVICE_CUDA ? sfu__device_unavailable(&request->device) : SFU_OK);
    SFU_TRY(sfu__backend_cpu(&backend));
    if (plan == NULL) {
        SFU_TRY(sfu__runner_plan(&runner->own, dataset, net, request));
        plan = runner->own;
    }
    SFU_TRY(plan != NULL ? use_plan(runner, dataset, plan, backend, team)
                         : use_lpnn(runner, dataset, request, backend, team));
done:
    return status;
}

sfu_status sfu__runner_make(sfu__runner *runner, const sfu_dataset *dataset, const sfu_net *net,
                            const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__team_new(&runner->own_team, sfu__thread_count(request->threads)));
    SFU_TRY(sfu__runner_make_of(runner, dataset, net, request, NULL, runner->own_team));
done:
    return status;
}

void sfu__runner_clear(sfu__runner *runner) {
    sfu__lpnn_free(runner->lpnn);
    sfu__executor_free(runner->executor);
    sfu__plan_release(runner->own);
    sfu__team_free(runner->own_team);
    sfu__free(runner->columns);
    *runner = (sfu__runner){0};
}

/* ---- the executor ------------------------------------------------------------------------------------------------ */

void sfu__runner_epoch(const sfu__runner *runner, const sfu__epoch *epoch, sfu__score *training,
                       sfu__score *validation) {
    if (runner->lpnn != NULL) {
        sfu__lpnn_epoch(runner->lpnn, epoch, training, validation);
    } else {
        sfu__executor_epoch(runner->executor, epoch, training, validation);
    }
}

void sfu__runner_forward(const sfu__runner *runner, sfu_pass pass) {
    if (runner->lpnn != NULL) {
        sfu__lpnn_forward(runner->lpnn, pass);
    } else {
        sfu__executor_forward(runner->executor, pass);
    }
}

sfu__dense sfu__runner_output(const sfu__runner *runner, sfu_pass pass) {
    return runner->lpnn != NULL ? sfu__lpnn_output(runner->lpnn, pass) : sfu__executor_output(runner->executor, pass);
}

sfu_status sfu__runner_embedding(sfu__dense *embedding, const sfu__runner *runner, sfu_pass pass) {
    if (runner->lpnn != NULL) {
        *embedding = sfu__lpnn_embedding(runner->lpnn, pass);
        return SFU_OK;
    }
    return sfu__executor_embedding(embedding, runner->executor, pass);
}

void sfu__runner_start(const sfu__runner *runner, const int32_t *labels, uint64_t seed) {
    if (runner->lpnn != NULL) {
        sfu__lpnn_start(runner->lpnn, labels, seed);
    } else {
        sfu__parameters_start(runner->theta, runner->parameters, runner->net, (const float *const *)runner->columns,
                              seed);
    }
}

/* ---- the same for both ------------------------------------------------------------------------------------------- */

void sfu__runner_misses(const sfu__runner *runner, const int32_t *labels, int32_t *misses) {
    const sfu__dense P = sfu__runner_output(runner, SFU_PASS_EVALUATE);
    for (int32_t i = 0; i < P.rows; i++) {
        misses[i] += sfu__largest(P.data + (int64_t)i * P.ld, P.cols) != labels[i];
    }
}

static sfu_status check_same_shape(const sfu__parameter *has, const sfu__parameter *needs) {
    if (has == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "the model has no layer.%d.%s: it must have the same network", needs->layer,
                         needs->name);
    }
    if (has->rows != needs->rows || has->cols != needs->cols) {
        return sfu__fail(SFU_ERR_ARGUMENT, "layer.%d.%s of the model is %d x %d; expected %d x %d", needs->layer,
                         needs->name, has->rows, has->cols, needs->rows, needs->cols);
    }
    return SFU_OK;
}

sfu_status sfu__runner_load(const sfu__runner *runner, const sfu_model *model) {
    const sfu__parameters *parameters = runner->parameters;
    for (int i = 0; i < parameters->count; i++) {
        const sfu__parameter *needs = &parameters->items[i];
        const sfu__parameter *has = sfu__parameter_of(&model->parameters, needs->layer, needs->name);
        if (needs->layer < 0 && (has == NULL || has->rows == 0)) {
            continue;
        }
        const sfu_status status = check_same_shape(has, needs);
        if (status != SFU_OK) {
            return status;
        }
        memcpy(runner->theta + needs->offset, model->theta + has->offset,
               (size_t)needs->rows * (size_t)needs->ld * sizeof *runner->theta);
    }
    return SFU_OK;
}
