/* Creates a dataset from arrays: two triangles joined by an edge, with one labelled node in each.
 *
 *   cc from_memory.c $(pkg-config --cflags --libs sfumato) -o from_memory && ./from_memory
 */
#include <sfumato.h>
#include <stdio.h>

static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, sfu_message());
    return 1;
}

int main(void) {
    const int32_t from[] = {0, 1, 2, 3, 4, 5, 2};
    const int32_t to[] = {1, 2, 0, 4, 5, 3, 3};
    const float features[] = {1, 0, 1, 0, 1, 1, 1, 1, 0, 1, 0, 1}; /* six nodes, two features each */
    const int32_t labels[] = {0, SFU_NO_LABEL, SFU_NO_LABEL, SFU_NO_LABEL, SFU_NO_LABEL, 1};
    const char *const classes[] = {"left", "right"};
    const sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                               .nodes = 6,
                               .edges = 7,
                               .edge_from = from,
                               .edge_to = to,
                               .features = 2,
                               .dense = features,
                               .labels = labels,
                               .classes = 2,
                               .class_names = classes};
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.name = "triangles";

    sfu_dataset *dataset = NULL;
    if (sfu_dataset_from_arrays(&dataset, &arrays, &options) != SFU_OK) {
        return failed("creating the dataset");
    }
    const sfu_info *info = NULL;
    if (sfu_dataset_info(&info, dataset) != SFU_OK) {
        return failed("computing its statistics");
    }
    printf("%s: %d nodes, %lld edges, %d without label\n", sfu_dataset_name(dataset), info->nodes,
           (long long)info->edges, info->unlabelled);

    /* The matrix of a smoothing layer, with rows that sum to 1. */
    sfu_smoothing_options smoothing;
    sfu_smoothing_options_init(&smoothing);
    smoothing.norm = SFU_NORM_ROW;
    sfu_matrix *matrix = NULL;
    if (sfu_smoothing_new(&matrix, dataset, &smoothing) != SFU_OK) {
        return failed("creating the smoothing matrix");
    }
    const sfu_csr s = sfu_matrix_csr(matrix);
    for (int32_t row = 0; row < s.rows; row++) {
        for (int64_t i = s.indptr[row]; i < s.indptr[row + 1]; i++) {
            printf("%s%d: %.3f", i > s.indptr[row] ? ", " : "  ", s.indices[i], (double)s.values[i]);
        }
        printf("\n");
    }
    sfu_matrix_free(matrix);
    sfu_dataset_free(dataset);
    return 0;
}
