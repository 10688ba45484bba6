#include "results_int.h"

sfu_status sfu__cost_table(sfu__text *text, const sfu__request *request, int jobs) {
    (void)text;
    (void)request;
    (void)jobs;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "not written yet");
}
