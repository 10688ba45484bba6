/* label_held_out.c - the held-out nodes of all folds as one set, and their predictions. */
#include "label.h"

#include "dataset.h"
#include "memory.h"

static const int32_t *held_out_by(const sfu__label_held_out *held, int fold, int32_t *count) {
    return sfu_split_part(held->problems[fold].all, SFU_TEST, count);
}

sfu_status sfu__label_held_out_make(sfu__label_held_out *held, const sfu__label_problem *problems, int folds,
                                    const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    const sfu_dataset *dataset = work->dataset;
    *held = (sfu__label_held_out){
        .work = work, .dataset = dataset, .problems = problems, .folds = folds, .classes = dataset->classes};
    SFU_ALLOC(held->nodes, dataset->nodes);
    SFU_ALLOC(held->labels, dataset->nodes);
    for (int fold = 0; fold < folds; fold++) {
        int32_t count = 0;
        const int32_t *nodes = held_out_by(held, fold, &count);
        for (int32_t i = 0; i < count; i++) {
            held->nodes[held->count] = nodes[i];
            held->labels[held->count++] = dataset->labels[nodes[i]];
        }
        held->first[fold + 1] = held->count;
    }
done:
    return status;
}

void sfu__label_held_out_clear(sfu__label_held_out *held) {
    sfu__free(held->nodes);
    sfu__free(held->labels);
}

sfu_status sfu__label_predict(float *probabilities, const int32_t *nodes, int32_t count, const sfu_model *model,
                              const sfu__label_work *work) {
    sfu_predict_options options;
    sfu_predict_options_init(&options);
    options.nodes = nodes;
    options.node_count = count;
    options.threads = work->jobs;
    options.device = work->device;
    options.memory = work->memory;
    return sfu_predict_with(probabilities, NULL, work->dataset, model, &options);
}

sfu_status sfu__label_held_out_predict(float *probabilities, const sfu__label_held_out *held,
                                       const int nets[SFU__LABEL_FOLDS]) {
    sfu_status status = SFU_OK;
    for (int fold = 0; fold < held->folds; fold++) {
        const int32_t first = held->first[fold], count = held->first[fold + 1] - first;
        SFU_TRY(sfu__label_predict(probabilities + (size_t)first * (size_t)held->classes, held->nodes + first, count,
                                   held->problems[fold].nets[nets[fold]].best.model, held->work));
    }
done:
    return status;
}
