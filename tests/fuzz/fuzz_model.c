/* Model files: any input gives a model on which every function works, or one error line. */
#include "fuzz.h"
#include "model.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    sfu_model *model = NULL;
    if (sfu__model_view(&model, bytes, size, "fuzz") != SFU_OK) {
        return 0;
    }
    float sum = 0.0F;
    for (int64_t i = 0; i < model->parameters.size; i++) {
        sum += model->theta[i];
    }
    volatile float kept = sum;
    (void)kept;
    for (int32_t i = 0; i < sfu_model_classes(model) && i < 100; i++) {
        (void)sfu_model_class_name(model, i);
        (void)sfu_model_confusion(model, i, 0);
    }
    (void)sfu_model_embedding_width(model);
    sfu_model_free(model);
    return 0;
}
