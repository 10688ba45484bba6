#include "results_int.h"

sfu_status sfu__tables_tex(sfu__text *text, const sfu_results *results) {
    (void)text;
    (void)results;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "not written yet");
}
