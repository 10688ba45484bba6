#include "results.h"

sfu_status sfu__tasks_make(sfu__tasks *tasks, const sfu__request *request) {
    (void)tasks;
    (void)request;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "not written yet");
}
