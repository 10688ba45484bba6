/* device.c - reads the name of a device. */
#include "device.h"

#include "rank_group.h"

#include <string.h>

enum { ORDINAL_MAX = 1023 };

/* A number without sign, blanks and leading zeros; false if it is none, or too large. */
static bool parse_ordinal(int *ordinal, const char *digits) {
    int value = 0;
    if (digits[0] == '\0' || (digits[0] == '0' && digits[1] != '\0')) {
        return false;
    }
    for (const char *at = digits; *at != '\0'; at++) {
        value = *at >= '0' && *at <= '9' ? 10 * value + (*at - '0') : ORDINAL_MAX + 1;
        if (value > ORDINAL_MAX) {
            return false;
        }
    }
    *ordinal = value;
    return true;
}

/* "cuda" or "cuda:N". */
static bool parse_cuda(sfu__device *device, const char *text) {
    static const char prefix[] = "cuda:";
    const size_t size = sizeof prefix - 1;
    device->kind = SFU__DEVICE_CUDA;
    return strcmp(text, "cuda") == 0 ||
           (strncmp(text, prefix, size) == 0 && parse_ordinal(&device->ordinal, text + size));
}

sfu_status sfu__device_parse(sfu__device *device, const char *text, uint64_t memory) {
    char quoted[SFU__QUOTE_MAX];
    const bool divided = sfu__ranks_here() != NULL;
    *device = (sfu__device){divided ? SFU__DEVICE_CPU : SFU__DEVICE_AUTO, -1};
    if (text == NULL || text[0] == '\0' || strcmp(text, "auto") == 0) {
        return SFU_OK;
    }
    if (strcmp(text, "cpu") == 0) {
        device->kind = SFU__DEVICE_CPU;
        return SFU_OK;
    }
    sfu__quote(quoted, text, strlen(text));
    if (!parse_cuda(device, text)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "device %s: expected auto, cpu, cuda or cuda:N with a number N from 0 to %d",
                         quoted, (int)ORDINAL_MAX);
    }
    if (memory > 0) {
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "device %s: only the CPU keeps a memory limit; leave out the device or the limit", quoted);
    }
    if (!SFU_HAVE_CUDA) {
        return sfu__fail(SFU_ERR_UNSUPPORTED,
                         "device %s: this build has no CUDA backend; use auto or cpu, or build Sfumato where CMake "
                         "finds nvcc, the compiler of the CUDA toolkit",
                         quoted);
    }
    if (divided) {
        return sfu__fail(SFU_ERR_UNSUPPORTED, "several ranks train on CPUs alone: leave out --device %s", text);
    }
    return SFU_OK;
}
