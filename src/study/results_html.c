#include "results_int.h"

sfu_status sfu__results_html(const sfu_results *results) {
    (void)results;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "not written yet");
}
