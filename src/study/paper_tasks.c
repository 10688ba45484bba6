#include "results.h"

sfu_status sfu__paper_tasks(sfu__tasks *tasks, const sfu__request *request) {
    (void)tasks;
    (void)request;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "not written yet");
}
