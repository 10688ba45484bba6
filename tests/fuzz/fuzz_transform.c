/* A column transformation as JSON, then a byte 0x1e and a table, to which it is applied. */
#include "fuzz.h"
#include "transform.h"

/* Cells of one column per line, separated by commas; the columns of the transformation are taken in turn. */
static sfu_status fill(sfu__cells *cells, const sfu__transform *transform, const char *text, size_t size) {
    sfu_status status = SFU_OK;
    enum { ROWS = 4 };
    SFU_TRY(sfu__cells_start(cells, (size_t)transform->count));
    for (int64_t c = 0; c < transform->count; c++) {
        for (int64_t row = 0; row < ROWS; row++) {
            size_t length = 0;
            while (length < size && text[length] != '\n') {
                length++;
            }
            SFU_TRY(sfu__cell_column_add(&cells->columns[c], row, &transform->rules, text, length));
            text += length + (length < size);
            size -= length + (length < size);
        }
    }
    cells->rows = ROWS;
done:
    return status;
}

static void apply(sfu__transform *transform, const char *text, size_t size) {
    enum { COLUMNS_MAX = 64, FEATURES_MAX = 1 << 16 };
    static const int32_t nodes[] = {0, 2, 1, 4};
    sfu__cells cells = {0};
    size_t source[COLUMNS_MAX];
    sfu__strings names = {0};
    sfu__text note = {0};
    sfu__transform_output output = {.nodes = 5, .node_of = nodes};
    const sfu__transform_input input = {.cells = &cells, .source = source, .path = "fuzz", .threads = 1};
    for (size_t i = 0; i < COLUMNS_MAX; i++) {
        source[i] = i;
    }
    if (transform->count <= COLUMNS_MAX && transform->features <= FEATURES_MAX && transform->features > 0 &&
        fill(&cells, transform, text, size) == SFU_OK && sfu__transform_check(transform, &input) == SFU_OK &&
        sfu__transform_apply(&output, transform, &input) == SFU_OK) {
        (void)!sfu__transform_feature_names(&names, transform);
        (void)!sfu__transform_note(&note, transform, 1);
    }
    sfu__free(output.dense);
    sfu__free(output.indptr);
    sfu__free(output.indices);
    sfu__free(output.values);
    sfu__text_clear(&note);
    sfu__strings_clear(&names);
    sfu__cells_clear(&cells);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *text = (const char *)bytes;
    const char *border = size > 0 ? memchr(text, 0x1e, size) : NULL;
    const size_t json = border != NULL ? (size_t)(border - text) : size;
    sfu__transform transform = {0};
    char *copy = sfu__copy_bytes(text, json);
    if (copy != NULL && sfu__transform_read(&transform, copy, "fuzz") == SFU_OK) {
        apply(&transform, text + json + (border != NULL), size - json - (border != NULL));
    }
    sfu__transform_clear(&transform);
    sfu__free(copy);
    return 0;
}
