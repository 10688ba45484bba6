#include "results.h"

sfu_status sfu__task_net(sfu__text *net, const sfu__task *task, const sfu__request *request) {
    (void)request;
    return sfu__text_format(net, "%s", task->net);
}
