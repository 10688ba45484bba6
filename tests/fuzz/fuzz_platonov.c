/* Platonov's layout: a zip file, or its arrays in pieces from which a zip file is made. */
#include "fuzz.h"
#include "pieces.h"
#include "raw.h"

enum { PIECES_MAX = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    piece pieces[PIECES_MAX];
    int count = 0;
    uint8_t *zip = NULL;
    sfu__raw raw = {0};
    if (size < 2 || memcmp(bytes, "PK", 2) != 0) {
        while (count < PIECES_MAX && next_piece(&pieces[count], &bytes, &size)) {
            pieces[count++].which %= PLATONOV_NAMES;
        }
        bytes = zip = zip_pieces(&size, pieces, count, platonov_names);
    }
    const sfu_import_options options = {.source = fuzz_file(".npz", bytes, size)};
    (void)!sfu__read_platonov(&raw, &options);
    sfu__raw_clear(&raw);
    free(zip);
    return 0;
}
