#include "results.h"

sfu_status sfu__task_net(sfu__text *net, const sfu__task *task, const sfu__request *request) {
    (void)net;
    (void)task;
    (void)request;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "not written yet");
}
