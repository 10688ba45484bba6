/* The restricted pickle interpreter, and the conversion of its values. */
#include "fuzz.h"
#include "pickle.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    sfu__pickle *pickle = NULL;
    sfu__table table = {0};
    sfu__strings strings = {0};
    sfu__raw raw = {0};
    if (sfu__pickle_read(&pickle, bytes, size, "fuzz") == SFU_OK) {
        (void)!sfu__pickle_strings(&strings, pickle);
        if (sfu__pickle_table(&table, pickle, sfu__pickle_root(pickle)) == SFU_OK) {
            (void)!sfu__raw_set_features(&raw, &table);
            sfu__raw_clear(&raw);
            (void)!sfu__raw_set_labels(&raw, &table, NULL);
        }
    }
    sfu__raw_clear(&raw);
    sfu__strings_clear(&strings);
    sfu__table_clear(&table);
    sfu__pickle_free(pickle);
    return 0;
}
