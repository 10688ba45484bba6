/* Planetoid's eight files, in pieces; a missing piece is an empty file. */
#include "fuzz.h"
#include "pieces.h"
#include "raw.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char prefix[1024] = "";
    sfu__raw raw = {0};
    piece one;
    piece pieces[PLANETOID_FILES] = {{0}};
    while (next_piece(&one, &bytes, &size)) {
        pieces[one.which % PLANETOID_FILES] = one;
    }
    for (int i = 0; i < PLANETOID_FILES; i++) {
        const uint8_t *data = pieces[i].size > 0 ? pieces[i].bytes : (const uint8_t *)"";
        const char *path = fuzz_file(planetoid_endings[i], data, pieces[i].size);
        snprintf(prefix, sizeof prefix, "%.*s", (int)(strlen(path) - strlen(planetoid_endings[i])), path);
    }
    const sfu_import_options options = {.source = prefix};
    (void)!sfu__read_planetoid(&raw, &options);
    sfu__raw_clear(&raw);
    return 0;
}
