/* Matrix Market: the graph, the features and the labels, separated by 0x1e; and the nearest neighbours by the
 * features. */
#include "fuzz.h"
#include "raw.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const endings[] = {".graph", ".features", ".labels"};
    enum { SMALL = 100 };
    const char *paths[3];
    sfu_import_options options;
    sfu_import_options_init(&options);
    fuzz_files(paths, endings, 3, bytes, size);
    options.edges = paths[0];
    options.features = paths[1];
    options.labels = paths[2];
    options.directed = size % 2 != 0;
    options.threads = 2;
    sfu__raw raw = {0};
    sfu_status status = sfu__read_mtx(&raw, &options);
    if (status == SFU_OK && raw.has_features && raw.nodes < SMALL) {
        status = sfu__knn(&raw, 2, &options);
    }
    (void)status;
    sfu__raw_clear(&raw);
    return 0;
}
