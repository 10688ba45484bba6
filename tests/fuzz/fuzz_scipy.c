/* scipy's sparse matrices: the arrays of one in pieces, used as edges and as features, and a piece of labels. */
#include "fuzz.h"
#include "pieces.h"
#include "raw.h"

enum { PIECES_MAX = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    piece pieces[PIECES_MAX];
    int count = 0;
    size_t zip_size;
    sfu_import_options options = {0};
    sfu__raw raw = {0};
    while (count < PIECES_MAX && next_piece(&pieces[count], &bytes, &size)) {
        if (pieces[count].which == SCIPY_LABELS) {
            options.labels = fuzz_file(".npy", pieces[count].bytes, pieces[count].size);
        } else {
            pieces[count++].which %= SCIPY_NAMES;
        }
    }
    uint8_t *zip = zip_pieces(&zip_size, pieces, count, scipy_names);
    options.edges = fuzz_file(".npz", zip, zip_size);
    if (sfu__read_scipy(&raw, &options) != SFU_OK) {
        options.edges = NULL;
        options.features = fuzz_file(".npz", zip, zip_size);
        sfu__raw_clear(&raw);
        (void)!sfu__read_scipy(&raw, &options);
    }
    sfu__raw_clear(&raw);
    free(zip);
    return 0;
}
