#include "leak.h"

#include "node_digest.h"
#include "node_index.h"
#include "progress.h"

#include <string.h>

sfu_status sfu__fitted_nodes(int64_t **fitted, int64_t *count, const sfu_dataset *dataset, const sfu_split *split,
                             const sfu_model *init) {
    sfu_status status = SFU_OK;
    sfu__node_digests digests = {0};
    int32_t sizes[2];
    const int32_t *parts[2] = {sfu_split_part(split, SFU_TRAIN, &sizes[0]), sfu_split_part(split, SFU_VAL, &sizes[1])};
    const int64_t before = init != NULL ? init->fitted_count : 0;
    int64_t used = before;
    if (init != NULL && init->fitted == NULL) {
        return SFU_OK;
    }
    SFU_TRY(sfu__node_digests_make(&digests, dataset));
    SFU_ALLOC(*fitted, before + sizes[0] + sizes[1]);
    if (before > 0) {
        memcpy(*fitted, init->fitted, (size_t)before * sizeof **fitted);
    }
    for (int part = 0; part < 2; part++) {
        for (int32_t i = 0; i < sizes[part]; i++) {
            (*fitted)[used++] = sfu__node_digest(&digests, parts[part][i]);
        }
    }
    sfu__sort_digests(*fitted, used);
    *count = used;
done:
    sfu__node_digests_clear(&digests);
    return status;
}

/* `example` is one of the leaked nodes. */
static sfu_status fail_leak(const sfu_dataset *dataset, int32_t leaked, int32_t tests, int32_t example) {
    char quoted[SFU__QUOTE_MAX], digits[SFU__DIGITS_MAX];
    size_t size = 0;
    const char *name = sfu_dataset_node_name(dataset, example, &size);
    if (name == NULL) {
        size = sfu__write_integer(digits, (uint64_t)example);
        name = digits;
    }
    return sfu__fail(SFU_ERR_ARGUMENT,
                     "the model was fitted on %d of the %d test nodes, such as %s, so test scores would be too high; "
                     "use the split that the model was trained with, train without it, or allow the leak "
                     "(--allow-leak)",
                     leaked, tests, sfu__quote(quoted, name, size));
}

sfu_status sfu__check_leak(int32_t *leaked, const sfu_dataset *dataset, const sfu_split *split, const sfu_model *model,
                           bool allow) {
    sfu_status status = SFU_OK;
    sfu__node_digests digests = {0};
    int32_t size = 0, found = 0, example = 0;
    const int32_t *nodes = sfu_split_part(split, SFU_TEST, &size);
    if (model->fitted == NULL) {
        sfu__log(SFU_LOG_NOTE, "the model to start from does not record its training nodes: test nodes may be among "
                               "them, and then the test scores are too high");
        return SFU_OK;
    }
    SFU_TRY(sfu__node_digests_make(&digests, dataset));
    for (int32_t i = size - 1; i >= 0; i--) {
        if (sfu__model_has_fitted(model, sfu__node_digest(&digests, nodes[i]))) {
            example = nodes[i];
            found++;
        }
    }
    *leaked = found;
    status = found > 0 && !allow ? fail_leak(dataset, found, size, example) : SFU_OK;
done:
    sfu__node_digests_clear(&digests);
    return status;
}
