/* LINQS: the content, 0x1e, the cites. */
#include "fuzz.h"
#include "raw.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const endings[] = {".content", ".cites"};
    const char *paths[2];
    sfu_import_options options;
    sfu_import_options_init(&options);
    fuzz_files(paths, endings, 2, bytes, size);
    options.source = paths[0];
    options.edges = paths[1] != NULL ? paths[1] : paths[0];
    options.strict = size % 2 != 0;
    sfu__raw raw = {0};
    const sfu_status status = options.source != NULL ? sfu__read_linqs(&raw, &options) : SFU_OK;
    (void)status;
    sfu__raw_clear(&raw);
    return 0;
}
