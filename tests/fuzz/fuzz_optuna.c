/* JSON of Optuna: the distribution of a parameter, and the values of an enqueued trial. Whatever the text, a value that
 * is accepted is in its range. */
#include "fuzz.h"

#include "memory.h"
#include "space.h"

#include <math.h>
#include <stdlib.h>

static sfu__space *space(void) {
    static sfu__space *made;
    if (made == NULL &&
        sfu__space_new(&made, "net={gcn,sgcn} lr=log(1e-4,0.1) dropout=(0,0.8:0.1) hidden={8,16,32} k=[1..5:2]", "any",
                       NULL) != SFU_OK) {
        abort();
    }
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = sfu__copy_bytes((const char *)bytes, size);
    sfu__json_text json = {0};
    bool compatible;
    for (int i = 0; text != NULL && i < space()->count; i++) {
        if (sfu__space_compatible(&compatible, space(), i, text) != SFU_OK) {
            abort();
        }
    }
    if (sfu__json_read(&json, (const char *)bytes, size, "fuzz") == SFU_OK) {
        for (const sfu__json *value = sfu__json_items(json.root); value != NULL; value = value->next) {
            const int i = value->key != NULL ? sfu__space_find(space(), value->key) : -1;
            const double number = i >= 0 ? sfu__space_value(space(), i, value) : (double)NAN;
            if (!isnan(number) && !sfu__domain_holds(&space()->items[i].range, number)) {
                abort();
            }
        }
    }
    sfu__json_clear(&json);
    sfu__free(text);
    return 0;
}
