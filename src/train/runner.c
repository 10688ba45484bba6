/* runner.c - one interface to the executors of a plan and of LPNN, on the CPU and on a GPU. */
#include "runner.h"
#include "gpu_choice.h"
#include "gpu_executor.h"
#include "lpnn.h"
#include "metrics.h"
#include "parallel.h"
#include "text.h"

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

/* Makes the executor of a GPU if that is asked for, or faster: of the plan, or without one of LPNN. If a GPU that
 * nobody asked for cannot, the CPU does. */
static sfu_status use_gpu(sfu__runner *runner, const sfu__plan *plan, const sfu__plan_request *request, int threads) {
    sfu_status status = SFU_OK;
    sfu__gpu *gpu = NULL;
    if (request->device.kind == SFU__DEVICE_CPU || /* or what is read from the file */
        (plan != NULL && sfu__plan_streams(plan))) {
        return SFU_OK;
    }
    const sfu__device_seconds predicted = plan != NULL
                                              ? sfu__gpu_predicted_seconds(plan, request->epochs, threads)
                                              : sfu__gpu_predicted_lpnn(runner->lpnn, request->epochs, threads);
    SFU_TRY(sfu__gpu_choose(&gpu, request->device, predicted.cpu, predicted.gpu));
    if (gpu == NULL) {
        goto done;
    }
    status = plan != NULL
                 ? sfu__gpu_executor_new(&runner->gpu, gpu, plan, runner->net, (const float *const *)runner->columns)
                 : sfu__gpu_executor_new_lpnn(&runner->gpu, gpu, runner->lpnn);
    if (status == SFU_OK) {
        runner->theta = sfu__gpu_executor_theta(runner->gpu);
        runner->m = runner->v = NULL;
        runner->bytes = sfu__gpu_executor_bytes(runner->gpu);
    } else if (request->device.kind == SFU__DEVICE_AUTO) {
        status = SFU_OK;
    }
done:
    return status;
}

static sfu_status use_cpu(sfu__runner *runner, const sfu__plan *plan, const sfu__backend *backend, sfu__team *team) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__executor_new(&runner->executor, plan, backend, team));
    runner->theta = sfu__executor_theta(runner->executor);
    runner->m = sfu__executor_m(runner->executor);
    runner->v = sfu__executor_v(runner->executor);
    runner->bytes = sfu__executor_bytes(runner->executor);
    runner->stages_validation = sfu__ranks_here() == NULL;
done:
    return status;
}

static sfu_status use_plan(sfu__runner *runner, const sfu_dataset *dataset, const sfu__plan *plan,
                           const sfu__plan_request *request, const sfu__backend *backend, sfu__team *team) {
    sfu_status status = SFU_OK;
    runner->parameters = sfu__plan_parameters(plan);
    SFU_ALLOC_ZERO(runner->columns, runner->parameters->count);
    for (int i = 0; i < runner->parameters->count; i++) {
        runner->columns[i] = sfu__parameter_column(&runner->parameters->items[i], runner->net, dataset);
    }
    SFU_TRY(use_gpu(runner, plan, request, sfu__team_size(team)));
    SFU_TRY(runner->gpu == NULL ? use_cpu(runner, plan, backend, team) : SFU_OK);
done:
    return status;
}

typedef struct lpnn_job {
    sfu__runner *runner;
    const sfu_dataset *dataset;
    const sfu__backend *backend;
    sfu__team *team;
} lpnn_job;

static void drop_lpnn(void *context) {
    const lpnn_job *job = context;
    sfu__lpnn_free(job->runner->lpnn);
    job->runner->lpnn = NULL;
}

/* The executor, after that of the later prediction, which is dropped again. */
static sfu_status make_lpnn(void *context, const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    const lpnn_job *job = context;
    sfu__runner *runner = job->runner;
    if (request->later_nodes != NULL) {
        sfu__plan_request later = {.classes = request->classes, .threads = request->threads, .ranks = request->ranks};
        later.nodes[SFU_PASS_PREDICT] = request->later_nodes;
        later.count[SFU_PASS_PREDICT] = request->later;
        SFU_TRY(sfu__lpnn_new(&runner->lpnn, job->dataset, runner->net, &later, job->backend, job->team));
        drop_lpnn(context);
        sfu__memory_trim();
    }
    SFU_TRY(sfu__lpnn_new(&runner->lpnn, job->dataset, runner->net, request, job->backend, job->team));
done:
    return status;
}

static sfu_status use_lpnn(sfu__runner *runner, const sfu_dataset *dataset, const sfu__plan_request *request,
                           const sfu__backend *backend, sfu__team *team) {
    sfu_status status = SFU_OK;
    lpnn_job job = {runner, dataset, backend, team};
    const sfu__resident resident = {make_lpnn, drop_lpnn, &job};
    bool lacks;
    status = sfu__resident_make(&lacks, &resident, request);
    SFU_TRY(lacks ? sfu__resident_refuse(&resident, dataset, runner->net, request) : status);
    runner->parameters = sfu__lpnn_parameters(runner->lpnn);
    runner->theta = sfu__lpnn_theta(runner->lpnn);
    runner->m = sfu__lpnn_m(runner->lpnn);
    runner->v = sfu__lpnn_v(runner->lpnn);
    runner->bytes = sfu__lpnn_bytes(runner->lpnn);
    runner->sums_loss = true;
    SFU_TRY(use_gpu(runner, NULL, request, sfu__team_size(team)));
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
    SFU_TRY(sfu__backend_cpu(&backend));
    if (plan == NULL) {
        SFU_TRY(sfu__runner_plan(&runner->own, dataset, net, request));
        plan = runner->own;
    }
    SFU_TRY(plan != NULL ? use_plan(runner, dataset, plan, request, backend, team)
                         : use_lpnn(runner, dataset, request, backend, team));
done:
    return status;
}

/* Ranks that compute different things would wait for one another forever, or mix them. */
static sfu_status check_ranks_agree(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    char digest[65];
    SFU_TRY(sfu_dataset_digest(digest, dataset));
    SFU_TRY(sfu_ranks_agree("another dataset", digest, strlen(digest)));
    SFU_TRY(sfu__text_format(&text, "%s", sfu_net_text(net)));
    for (int i = 0; i < SFU_PASSES; i++) {
        SFU_TRY(sfu__text_format(&text, " %d", request->count[i]));
    }
    SFU_TRY(sfu_ranks_agree("another network, or other nodes", text.bytes, text.size));
done:
    sfu__text_clear(&text);
    return status;
}

sfu_status sfu__runner_make(sfu__runner *runner, const sfu_dataset *dataset, const sfu_net *net,
                            const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    sfu__plan_request divided = *request;
    divided.ranks = sfu__ranks_here();
    SFU_TRY(divided.ranks != NULL ? check_ranks_agree(dataset, net, request) : SFU_OK);
    divided.device.kind = divided.ranks != NULL ? SFU__DEVICE_CPU : request->device.kind;
    SFU_TRY(sfu__team_new(&runner->own_team, sfu__limit_threads(request->threads, request->memory)));
    SFU_TRY(sfu__runner_make_of(runner, dataset, net, &divided, NULL, runner->own_team));
done:
    return status;
}

void sfu__runner_clear(sfu__runner *runner) {
    sfu__gpu_executor_free(runner->gpu);
    sfu__lpnn_free(runner->lpnn);
    sfu__executor_free(runner->executor);
    sfu__plan_release(runner->own);
    sfu__team_free(runner->own_team);
    sfu__free(runner->columns);
    *runner = (sfu__runner){0};
}

/* ---- the device -------------------------------------------------------------------------------------------------- */

void sfu__runner_reset(const sfu__runner *runner) {
    const size_t bytes = (size_t)runner->parameters->size * sizeof(float);
    if (runner->gpu != NULL) {
        sfu__gpu_executor_reset(runner->gpu);
    } else {
        memset(runner->m, 0, bytes);
        memset(runner->v, 0, bytes);
    }
}

void sfu__runner_fetch(const sfu__runner *runner) {
    if (runner->gpu != NULL) {
        sfu__gpu_executor_fetch(runner->gpu);
    }
}

sfu_status sfu__runner_check(const sfu__runner *runner) {
    return runner->gpu != NULL ? sfu__gpu_executor_check(runner->gpu) : SFU_OK;
}

/* ---- the executor ------------------------------------------------------------------------------------------------ */

void sfu__runner_epoch(const sfu__runner *runner, const sfu__epoch *epoch, sfu__score *training,
                       sfu__score *validation) {
    if (runner->gpu != NULL) {
        sfu__gpu_executor_epoch(runner->gpu, epoch, training, validation);
    } else if (runner->lpnn != NULL) {
        sfu__lpnn_epoch(runner->lpnn, epoch, training, validation);
    } else {
        sfu__executor_epoch(runner->executor, epoch, training, validation);
    }
}

sfu_status sfu__runner_stream(const sfu__runner *runner) {
    return runner->own != NULL ? sfu__plan_stream(runner->own, runner->theta) : SFU_OK;
}

void sfu__runner_forward(const sfu__runner *runner, sfu_pass pass) {
    if (runner->gpu != NULL) {
        sfu__gpu_executor_forward(runner->gpu, pass);
    } else if (runner->lpnn != NULL) {
        sfu__lpnn_forward(runner->lpnn, pass);
    } else {
        sfu__executor_forward(runner->executor, pass);
    }
}

sfu__dense sfu__runner_output(const sfu__runner *runner, sfu_pass pass) {
    return runner->gpu != NULL    ? sfu__gpu_executor_output(runner->gpu, pass)
           : runner->lpnn != NULL ? sfu__lpnn_output(runner->lpnn, pass)
                                  : sfu__executor_output(runner->executor, pass);
}

sfu_status sfu__runner_embedding(sfu__dense *embedding, const sfu__runner *runner, sfu_pass pass) {
    if (runner->gpu != NULL) {
        return sfu__gpu_executor_embedding(embedding, runner->gpu, pass);
    }
    if (runner->lpnn != NULL) {
        *embedding = sfu__lpnn_embedding(runner->lpnn, pass);
        return SFU_OK;
    }
    return sfu__executor_embedding(embedding, runner->executor, pass);
}

sfu_status sfu__runner_measure(const sfu__runner *runner, bool on) {
    return runner->gpu != NULL ? sfu__gpu_executor_measure(runner->gpu, on)
                               : sfu__executor_measure(runner->executor, on);
}

double sfu__runner_seconds(const sfu__runner *runner, sfu_pass pass, size_t step) {
    return runner->gpu != NULL ? sfu__gpu_executor_seconds(runner->gpu, pass, step)
                               : sfu__executor_seconds(runner->executor, pass, step);
}

sfu__rank_traffic sfu__runner_traffic(const sfu__runner *runner) {
    return runner->lpnn != NULL ? sfu__lpnn_traffic(runner->lpnn) : sfu__executor_traffic(runner->executor);
}

void sfu__runner_start(const sfu__runner *runner, const int32_t *labels, uint64_t seed) {
    if (runner->lpnn != NULL) {
        sfu__lpnn_start(runner->theta, runner->lpnn, labels, seed);
    } else {
        sfu__parameters_start(runner->theta, runner->parameters, runner->net, (const float *const *)runner->columns,
                              seed);
    }
}

/* ---- the same for all -------------------------------------------------------------------------------------------- */

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
