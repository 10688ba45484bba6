/* One numpy array, as edges, as features, as labels and as names. */
#include "fuzz.h"
#include "npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    sfu__array array;
    sfu__table table = {0};
    sfu__strings strings = {0};
    if (sfu__npy_view(&array, bytes, size, "fuzz") == SFU_OK) {
        sfu__table_set_dense(&table, &array);
        for (int use = 0; use < 3; use++) {
            sfu__raw raw = {0};
            (void)!(use == 0   ? sfu__raw_set_edges(&raw, &table)
                    : use == 1 ? sfu__raw_set_features(&raw, &table)
                               : sfu__raw_set_labels(&raw, &table, NULL));
            sfu__raw_clear(&raw);
        }
        (void)!sfu__array_strings(&strings, &array);
    }
    sfu__strings_clear(&strings);
    sfu__table_clear(&table);
    return 0;
}
