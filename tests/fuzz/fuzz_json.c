/* JSON parsing and lookup: duplicate keys, every item of the root. */
#include "fuzz.h"
#include "json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    sfu__json_text json = {0};
    const char *twice = NULL;
    size_t kinds = 0;
    if (sfu__json_read(&json, (const char *)bytes, size, "fuzz") == SFU_OK) {
        (void)!sfu__json_twice(&twice, json.root);
        for (const sfu__json *item = sfu__json_items(json.root); item != NULL; item = item->next) {
            kinds += (size_t)item->kind + (sfu__json_string(item) != NULL) + (sfu__json_get(item, "a") != NULL);
            kinds += sfu__json_number(item) > 0;
        }
    }
    sfu__json_clear(&json);
    return kinds == SIZE_MAX; /* never true: the sum only ensures that every item is read */
}
