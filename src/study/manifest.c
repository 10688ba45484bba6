#include "results_int.h"

sfu_status sfu__manifest_write(const char *folder, const sfu__request *request, const sfu__entries *entries) {
    (void)folder;
    (void)request;
    (void)entries;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "not written yet");
}

sfu_status sfu__manifest_read(sfu__request *request, const char *folder) {
    (void)request;
    (void)folder;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "not written yet");
}
