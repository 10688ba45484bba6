#include "sized_struct.h"

#include <string.h>

enum { SIZE_MOST = 1 << 16 }; /* above it the size was never set */

void sfu__sized_init(void *to, size_t size, const void *defaults, size_t defaults_size) {
    const size_t known = size < defaults_size ? size : defaults_size;
    if (size < sizeof size) {
        return;
    }
    memset(to, 0, size);
    memcpy(to, defaults, known);
    memcpy(to, &size, sizeof size);
}

static bool all_zero(const unsigned char *bytes, size_t size) {
    bool zero = true;
    for (size_t i = 0; i < size && zero; i++) {
        zero = bytes[i] == 0;
    }
    return zero;
}

sfu_status sfu__sized_read(void *full, size_t full_size, const void *given, const char *type) {
    size_t size;
    if (given == NULL) {
        return SFU_OK;
    }
    memcpy(&size, given, sizeof size);
    if (size < sizeof size || size > SIZE_MOST) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: expected its size in the field size, found %zu; call %s_init first",
                         type, size, type);
    }
    const size_t known = size < full_size ? size : full_size;
    if (!all_zero((const unsigned char *)given + known, size - known)) {
        return sfu__fail(SFU_ERR_UNSUPPORTED, "%s: sets an option that version %s of the library does not have", type,
                         sfu_version());
    }
    memcpy(full, given, known);
    memcpy(full, &full_size, sizeof full_size);
    return SFU_OK;
}
