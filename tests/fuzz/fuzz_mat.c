/* MATLAB's files, with the variables A, X and y. */
#include "fuzz.h"
#include "raw.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    sfu__raw raw = {0};
    const sfu_import_options options = {
        .source = fuzz_file(".mat", bytes, size), .edges = "A", .features = "X", .labels = "y"};
    (void)!sfu__read_mat(&raw, &options);
    sfu__raw_clear(&raw);
    return 0;
}
