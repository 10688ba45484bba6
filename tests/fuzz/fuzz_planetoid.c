/* Planetoid's eight files, in pieces; a piece that is not there is an empty file. */
#include "fuzz.h"
#include "pieces.h"
#include "raw.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char prefix[1024] = "";
    sfu__raw raw = {0};
    piece one;
    for (int i = 0; i < PLANETOID_FILES; i++) {
        const char *path = fuzz_file(planetoid_endings[i], bytes, 0);
        snprintf(prefix, sizeof prefix, "%.*s", (int)(strlen(path) - strlen(planetoid_endings[i])), path);
    }
    while (next_piece(&one, &bytes, &size)) {
        (void)fuzz_file(planetoid_endings[one.which % PLANETOID_FILES], one.bytes, one.size);
    }
    const sfu_import_options options = {.source = prefix};
    (void)!sfu__read_planetoid(&raw, &options);
    sfu__raw_clear(&raw);
    return 0;
}
