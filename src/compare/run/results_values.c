/* results_values.c - the rows, learning curves and pairs of a comparison as values, for programs that make tables of
 * their own.
 */
#include "results_int.h"

sfu_status sfu__results_show_entries(sfu_results *results) {
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(results->shown, results->entries.count);
    for (int i = 0; i < results->entries.count; i++) {
        const sfu__entry *entry = &results->entries.items[i];
        const sfu__task *task = &entry->task;
        results->shown[i] = (sfu_entry){.dataset = entry->label,
                                        .net = task->net,
                                        .size = task->size,
                                        .split = task->split,
                                        .k = task->k,
                                        .alpha = task->alpha,
                                        .beta = task->beta,
                                        .exponents = task->exponents,
                                        .trials = task->trials,
                                        .failed = entry->failed,
                                        .best_trial = entry->best_trial,
                                        .val_accuracy = entry->val_accuracy,
                                        .val_loss = entry->val_loss,
                                        .test_accuracy = entry->test_accuracy,
                                        .test_macro_f1 = entry->test_macro_f1,
                                        .seconds = entry->seconds,
                                        .epoch_s = entry->epoch_s,
                                        .epochs = entry->epochs,
                                        .split_digest = entry->split_digest,
                                        .val_score = entry->val_score,
                                        .test_score = entry->test_score,
                                        .configuration = entry->configuration,
                                        .trials_digest = entry->trials_digest};
    }
done:
    return status;
}

const sfu_entry *sfu_results_entry(const sfu_results *results, int i) {
    return results->shown != NULL && i >= 0 && i < results->entries.count ? &results->shown[i] : NULL;
}

const sfu_epoch *sfu_results_epoch(const sfu_results *results, int i, int j) {
    if (sfu_results_entry(results, i) == NULL) {
        return NULL;
    }
    const sfu__entry *entry = &results->entries.items[i];
    const sfu__curve *curve = sfu__curves_find(&results->curves, &entry->task);
    const bool current = curve != NULL && curve->trial == entry->best_trial;
    return current && j >= 0 && j < curve->count ? &curve->epochs[j] : NULL;
}

const sfu_pair *sfu_results_pair(const sfu_results *results, int i) {
    return i >= 0 && i < results->pair_count ? &results->pairs[i] : NULL;
}
