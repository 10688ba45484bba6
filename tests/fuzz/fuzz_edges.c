/* Edge lists: what the fast reader accepts, the general one must read the same way. */
#include "csv.h"
#include "edges_fast.h"
#include "fuzz.h"

#include <stdlib.h>

/* `first`: the weight is the first of three columns. */
static void compare(sfu__csv *csv, const sfu__pairs *pairs, bool first) {
    bool more = true;
    int64_t value = 0;
    for (size_t b = 0; b < pairs->block_count; b++) {
        const sfu__pair_block *block = &pairs->blocks[b];
        for (int64_t i = 0; i < block->count; i++) {
            float weight = 0;
            if (sfu__csv_next(csv, &more) != SFU_OK || !more) {
                abort();
            }
            for (size_t end = 0; end < 2; end++) {
                const sfu__csv_field *field = &csv->fields[end + (first ? 1 : 0)];
                if (!sfu__parse_int64(&value, field->bytes, field->bytes + field->size) ||
                    value != block->ends[2 * i + (int64_t)end]) {
                    abort();
                }
            }
            if (csv->width == 3 &&
                (sfu__csv_number(csv, first ? 0 : 2, &weight) != SFU_OK || weight != block->weights[i])) {
                abort();
            }
        }
    }
    if (sfu__csv_next(csv, &more) != SFU_OK || more) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *path = fuzz_file(".edges", bytes, size);
    const sfu__csv_rules rules = {.edges = true};
    sfu__csv csv = {0};
    sfu__pairs pairs = {0};
    if (sfu__csv_open(&csv, path, &rules) == SFU_OK && (csv.width == 2 || csv.width == 3)) {
        sfu__edge_file file = {.path = path,
                               .offset = sfu__csv_offset(&csv),
                               .style = {csv.separator, csv.width == 3, csv.width == 3 && size % 3 == 0},
                               .threads = 1 + (int)(size % 2),
                               .block = 1 + size % 32};
        if (sfu__edges_fast(&pairs, &file) == SFU_OK && file.fits) {
            compare(&csv, &pairs, file.style.first);
        }
    }
    sfu__pairs_clear(&pairs);
    sfu__csv_close(&csv);
    return 0;
}
