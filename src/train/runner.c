#include "runner.h"
#include "parallel.h"

#include <string.h>

/* The node column that a parameter starts from, or NULL. */
static const float *column_of(const sfu__parameter *parameter, const sfu_net *net, const sfu_dataset *dataset) {
    const sfu__layer *layer = &net->layers[parameter->layer];
    const char *name = strcmp(parameter->name, "self") == 0        ? layer->self_column
                       : strcmp(parameter->name, "neighbour") == 0 ? layer->neighbour_column
                                                                   : NULL;
    return name != NULL ? sfu_dataset_column(dataset, name) : NULL;
}

static sfu_status find_columns(sfu__runner *runner, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    const sfu__parameters *parameters = sfu__runner_parameters(runner);
    SFU_ALLOC_ZERO(runner->columns, parameters->count);
    for (int i = 0; i < parameters->count; i++) {
        runner->columns[i] = column_of(&parameters->items[i], runner->net, dataset);
    }
done:
    return status;
}

sfu_status sfu__runner_make(sfu__runner *runner, const sfu_dataset *dataset, const sfu_net *net,
                            const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    const sfu__backend *backend = NULL;
    const int threads = sfu__thread_count(request->threads);
    runner->net = net;
    SFU_TRY(sfu__backend_cpu(&backend));
    SFU_TRY(sfu__plan_new(&runner->plan, dataset, net, request));
    SFU_TRY(sfu__worker_new(&runner->worker, runner->plan, backend, threads));
    SFU_TRY(find_columns(runner, dataset));
done:
    return status;
}

void sfu__runner_clear(sfu__runner *runner) {
    sfu__worker_free(runner->worker);
    sfu__plan_free(runner->plan);
    sfu__free(runner->columns);
    *runner = (sfu__runner){0};
}

const sfu__parameters *sfu__runner_parameters(const sfu__runner *runner) { return sfu__plan_parameters(runner->plan); }
float *sfu__runner_theta(const sfu__runner *runner) { return sfu__worker_theta(runner->worker); }
float *sfu__runner_m(const sfu__runner *runner) { return sfu__worker_m(runner->worker); }
float *sfu__runner_v(const sfu__runner *runner) { return sfu__worker_v(runner->worker); }

void sfu__runner_epoch(const sfu__runner *runner, const sfu__epoch *epoch, sfu__score *training,
                       sfu__score *validation) {
    sfu__worker_epoch(runner->worker, epoch, training, validation);
}

void sfu__runner_forward(const sfu__runner *runner, sfu_pass pass) { sfu__worker_forward(runner->worker, pass); }

sfu__dense sfu__runner_output(const sfu__runner *runner, sfu_pass pass) {
    return sfu__worker_output(runner->worker, pass);
}

sfu_status sfu__runner_embedding(sfu__dense *embedding, const sfu__runner *runner, sfu_pass pass) {
    return sfu__worker_embedding(embedding, runner->worker, pass);
}

void sfu__runner_start(const sfu__runner *runner, const int32_t *labels, uint64_t seed) {
    (void)labels;
    sfu__parameters_start(sfu__runner_theta(runner), sfu__runner_parameters(runner), runner->net,
                          (const float *const *)runner->columns, seed);
}
