/* A folder of MUSAE: targets, edges and features, separated by 0x1e. */
#include "fuzz.h"
#include "raw.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const names[] = {"a_target.csv", "a_edges.csv", "a.json"};
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.source = fuzz_folder(names, sizeof names / sizeof names[0], bytes, size);
    options.strict = size % 2 != 0;
    sfu__raw raw = {0};
    const sfu_status status = sfu__read_musae(&raw, &options);
    (void)status;
    sfu__raw_clear(&raw);
    return 0;
}
