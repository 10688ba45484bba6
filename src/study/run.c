#include "results.h"

sfu_status sfu__run_tasks(sfu__entries *entries, const sfu__tasks *tasks, const sfu__run_options *options) {
    (void)entries;
    (void)tasks;
    (void)options;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "not written yet");
}
