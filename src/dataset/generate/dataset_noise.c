/* dataset_noise.c - a dataset with a share of its edges removed or rewired; everything else is copied. */
#include "dataset.h"
#include "dataset_copy.h"
#include "noise.h"
#include "raw.h"
#include "sized_struct.h"

#include <inttypes.h>
#include <string.h>

void sfu_noise_options_init_sized(sfu_noise_options *options, size_t size) {
    const sfu_noise_options defaults = {.size = sizeof defaults};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

static sfu_status check_share(const char *name, double share) {
    return share >= 0 && share <= 1
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT, "%s is %g; expected a share of the edges, from 0 to 1", name, share);
}

static sfu_status check_options(const sfu_noise_options *options) {
    sfu_status status = SFU_OK;
    SFU_TRY(check_share("remove", options->remove));
    SFU_TRY(check_share("rewire", options->rewire));
    if (options->remove > 0 && options->rewire > 0) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "remove and rewire are both given; expected one of them; for both, rewire "
                                             "the result of removing");
    }
done:
    return status;
}

/* ---- the graph --------------------------------------------------------------------------------------------------- */

static sfu_status list_pairs(sfu__pairs *pairs, const sfu__noise *noise) {
    sfu_status status = SFU_OK;
    const sfu_csr *graph = &noise->graph;
    const int64_t added = noise->ends != NULL ? noise->changed : 0;
    uint32_t *ends = NULL;
    float *weights = NULL;
    int64_t count = 0;
    SFU_ALLOC(ends, 2 * (graph->indptr[graph->rows] + added));
    if (graph->values != NULL) {
        SFU_ALLOC(weights, graph->indptr[graph->rows] + added);
    }
    for (int32_t row = 0; row < graph->rows; row++) {
        for (int64_t i = graph->indptr[row]; i < graph->indptr[row + 1]; i++) {
            if (!noise->gone[i] && (noise->directed || row <= graph->indices[i])) {
                ends[2 * count] = (uint32_t)row;
                ends[2 * count + 1] = (uint32_t)graph->indices[i];
                if (weights != NULL) {
                    weights[count] = graph->values[i];
                }
                count++;
            }
        }
    }
    for (int64_t i = 0; i < added; i++, count++) { /* a rewired edge keeps its weight */
        memcpy(&ends[2 * count], &noise->ends[2 * i], 2 * sizeof *ends);
        if (weights != NULL) {
            weights[count] = graph->values[noise->edges[i]];
        }
    }
    SFU_TRY(sfu__pairs_take(pairs, &ends, &weights, count));
done:
    sfu__free(ends);
    sfu__free(weights);
    return status;
}

static sfu_status change_graph(sfu_matrix *graph, sfu__noise *noise, const sfu_dataset *dataset,
                               const sfu_noise_options *options) {
    sfu_status status = SFU_OK;
    sfu__pairs pairs = {0};
    sfu__assembly assembly = {.directed = dataset->directed, .keep_loops = true};
    const bool rewire = options->rewire > 0;
    SFU_TRY(sfu__noise_draw(noise, &dataset->graph, dataset->directed, rewire ? options->rewire : options->remove,
                            options->seed));
    if (rewire) {
        SFU_TRY(sfu__noise_rewire(noise, options->seed, dataset->name));
    }
    SFU_TRY(list_pairs(&pairs, noise));
    SFU_TRY(sfu__assemble(graph, &pairs, dataset->nodes, &assembly));
done:
    sfu__pairs_clear(&pairs);
    return status;
}

/* ---- everything else --------------------------------------------------------------------------------------------- */

/* The record: {"removed":{"edges":1583,"of":5278,"seed":"0"}, ... */
static sfu_status write_source(sfu_dataset *made, const sfu_dataset *dataset, const sfu__noise *noise,
                               const sfu_noise_options *options) {
    sfu_status status = SFU_OK;
    const char *kind = options->rewire > 0 ? "rewired" : "removed";
    sfu__text value = {0};
    bool before = false;
    SFU_TRY(sfu__text_format(&value, "{\"edges\":%" PRId64 ",\"of\":%" PRId64 ",\"seed\":\"%" PRIu64 "\"}",
                             noise->changed, noise->count, options->seed));
    SFU_TRY(sfu__dataset_record(made, dataset, kind, value.bytes, &before));
    if (before) {
        status = sfu__fail(SFU_ERR_ARGUMENT,
                           "%s: edges of this dataset were %s before; start from the original: a larger share of the "
                           "same seed contains the smaller one",
                           dataset->name, kind);
    }
done:
    sfu__text_clear(&value);
    return status;
}

static sfu_status copy_tensors(sfu_dataset *made, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    for (int64_t i = 0; i < dataset->tensor_count; i++) {
        const sfu__tensor *tensor = &dataset->tensors[i];
        const size_t size = (size_t)tensor->count * (tensor->dtype == SFU__I64 ? 8 : tensor->dtype == SFU__U8 ? 1 : 4);
        if (strncmp(tensor->name, "adj.", 4) == 0) {
            continue;
        }
        char *data = sfu__copy_bytes(tensor->data, size);
        SFU_TRY(data != NULL ? sfu__dataset_take(made, tensor->name, tensor->dtype, tensor->dims, tensor->shape, data)
                             : SFU_ERR_MEMORY);
    }
done:
    return status;
}

static sfu_status fill(sfu_dataset *made, sfu_matrix *graph, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__dataset_copy_names(made, dataset));
    SFU_TRY(sfu__dataset_take_matrix(made, "adj", "weight", graph));
    SFU_TRY(copy_tensors(made, dataset));
    made->assembled = !dataset->directed;
    SFU_TRY(sfu__dataset_bind(made, made->name, dataset->features));
    SFU_TRY(sfu_dataset_check(made));
done:
    return status;
}

static sfu_status add_noise(sfu_dataset **noisy, const sfu_dataset *dataset, const sfu_noise_options *options) {
    sfu_status status = SFU_OK;
    sfu_dataset *made = NULL;
    sfu_matrix graph = {0};
    sfu__noise noise = {0};
    SFU_TRY(check_options(options));
    SFU_TRY(sfu_dataset_check(dataset));
    SFU_TRY(change_graph(&graph, &noise, dataset, options));
    SFU_TRY(sfu__dataset_new(&made, options->name != NULL ? options->name : dataset->name));
    SFU_TRY(write_source(made, dataset, &noise, options));
    SFU_TRY(fill(made, &graph, dataset));
    *noisy = made;
    made = NULL;
done:
    sfu__noise_clear(&noise);
    sfu__matrix_clear(&graph);
    sfu_dataset_free(made);
    return status;
}

sfu_status sfu_dataset_noise(sfu_dataset **noisy, const sfu_dataset *dataset, const sfu_noise_options *given) {
    sfu_noise_options options;
    *noisy = NULL;
    sfu_status status = SFU__READ_OPTIONS(&options, given, sfu_noise_options);
    if (status == SFU_OK) {
        const sfu__watch before = sfu__watch_start(options.progress, options.progress_user, "changing edges");
        status = add_noise(noisy, dataset, &options);
        sfu__watch_end(before);
    }
    return status;
}
