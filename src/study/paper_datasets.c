#include "results_int.h"

sfu_status sfu__datasets_table(sfu__text *text, const sfu__request *request) {
    (void)text;
    (void)request;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "not written yet");
}
