#include "trained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void must(sfu_status status) {
    if (status != SFU_OK) {
        fprintf(stderr, "%s\n", sfu_message());
        exit(1);
    }
}

static sfu_status copy_labels(int32_t **labels, const setting *self, sfu_part part) {
    sfu_status status = SFU_OK;
    int32_t count;
    const int32_t *nodes = sfu_split_part(self->split, part, &count);
    const int32_t *all = sfu_dataset_labels(self->dataset);
    SFU_ALLOC(*labels, count);
    for (int32_t i = 0; i < count; i++) {
        (*labels)[i] = all[nodes[i]];
    }
done:
    return status;
}

void setting_open(setting *self, const char *dataset, const char *split, const char *size) {
    *self = (setting){0};
    must(sfu_dataset_open(&self->dataset, dataset));
    if (split == NULL) {
        split = sfu_dataset_standard_splits(self->dataset) > 0 ? "standard" : "random:0";
    }
    must(sfu_split_new(&self->split, self->dataset, split, size));
    must(copy_labels(&self->labels[0], self, SFU_TRAIN));
    must(copy_labels(&self->labels[1], self, SFU_VAL));
}

void setting_close(setting *self) {
    sfu__free(self->labels[0]);
    sfu__free(self->labels[1]);
    sfu_split_free(self->split);
    sfu_dataset_free(self->dataset);
}

void trained_start(trained *self, const setting *of, const char *net, int32_t hidden, sfu_pass pass, const int *ways) {
    const sfu__backend *backend;
    sfu_net *parsed = NULL;
    sfu_net_options options;
    sfu__plan_request request = {
        .dropout = true, .rewrites = SFU__ALL_REWRITES, .threads = 1, .ranks = sfu__ranks_here()};
    request.nodes[SFU_PASS_TRAIN] = sfu_split_part(of->split, SFU_TRAIN, &request.count[SFU_PASS_TRAIN]);
    request.nodes[SFU_PASS_EVALUATE] = sfu_split_part(of->split, SFU_VAL, &request.count[SFU_PASS_EVALUATE]);
    if (ways != NULL) {
        memcpy(request.strategies[pass], ways, sizeof request.strategies[pass]);
    }
    sfu_net_options_init(&options);
    options.hidden = hidden;
    *self = (trained){.of = of};
    must(sfu__backend_cpu(&backend));
    must(sfu_net_parse(&parsed, net, &options));
    must(sfu__plan_make(&self->plan, of->dataset, parsed, &request));
    must(sfu__executor_new(&self->worker, self->plan, backend, NULL));
    sfu__parameters_start(sfu__executor_theta(self->worker), &self->plan->parameters, parsed, NULL, 1);
    sfu_net_free(parsed);
}

void trained_stop(trained *self) {
    sfu__executor_free(self->worker);
    sfu__plan_release(self->plan);
}

static void run(trained *self, bool evaluate) {
    sfu__score training, validation;
    const sfu__epoch epoch = {.seed = 1,
                              .number = ++self->epochs,
                              .dropout = 0.5,
                              .lr = 0.01F,
                              .decay = 5e-4F,
                              .target = {.labels = self->of->labels[0]},
                              .validation = {.labels = self->of->labels[1]},
                              .evaluate = evaluate};
    sfu__executor_epoch(self->worker, &epoch, &training, &validation);
}

void trained_epoch(void *self) { run(self, true); }

void trained_step(void *self) { run(self, false); }

void trained_validate(void *self) { sfu__executor_forward(((trained *)self)->worker, SFU_PASS_EVALUATE); }
