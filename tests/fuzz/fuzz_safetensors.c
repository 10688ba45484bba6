/* Containers: the header, the extents, and every byte of every tensor. */
#include "fuzz.h"
#include "safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    sfu__safetensors *file = NULL;
    if (sfu__safetensors_view(&file, bytes, size, "fuzz") != SFU_OK) {
        return 0;
    }
    int64_t count = 0;
    while (sfu__safetensors_get(file, count) != NULL) {
        count++;
    }
    char digest[65];
    for (int64_t i = 0; i < count; i++) {
        if (sfu__tensors_digest(digest, sfu__safetensors_get(file, i), 1) != SFU_OK) {
            break;
        }
    }
    (void)sfu__safetensors_metadata(file, "format");
    sfu__safetensors_free(file);
    return 0;
}
