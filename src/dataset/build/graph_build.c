/* graph_build.c - the graph of a dataset: its edges, or nearest neighbours, in memory or within a memory limit. */
#include "raw.h"
#include "format_number.h"
#include "memory.h"
#include "memory_limit.h"
#include "progress.h"

/* Fails if a memory limit leaves too little for the offsets of the graph, and for the statistics of the dataset when
 * the edges are sorted: three numbers per node (dataset_info.c). */
static sfu_status check_memory(sfu__assembly *assembly, const sfu__raw *raw) {
    const int64_t need = (8 + 12) * (raw->nodes + 1);
    if (raw->pairs.folder == NULL || assembly->memory >= need) {
        return SFU_OK;
    }
    assembly->lacking = need - assembly->memory;
    return sfu__fail(SFU_ERR_MEMORY, "out of memory: %lld nodes need %lld bytes more", (long long)raw->nodes,
                     (long long)assembly->lacking);
}

/* How the edges were sorted within the memory limit. */
static void log_runs(const sfu__assembly *assembly, int64_t edges) {
    char count[SFU__GROUPED_MAX], bytes[SFU__SIZE_MAX];
    sfu__log(SFU_LOG_NOTE, "%s edges sorted on disk: %lld run%s, merged in one pass, %s of temporary files",
             sfu__grouped(count, edges), (long long)assembly->runs, assembly->runs == 1 ? "" : "s",
             sfu__size_text(bytes, (double)assembly->run_bytes));
}

sfu_status sfu__build_graph(sfu_matrix *graph, sfu__raw *raw, const sfu_import_options *options,
                            sfu__assembly *assembly) {
    sfu_status status = SFU_OK;
    if (options->knn != 0) {
        if (raw->has_graph) {
            status = sfu__fail(SFU_ERR_ARGUMENT, "edges and knn were given; knn is for data without a graph");
            goto done;
        }
        SFU_TRY(sfu__knn(raw, options->knn, options));
    } else if (!raw->has_graph) {
        sfu__log(SFU_LOG_WARNING, "no graph was given: smoothing has nothing to work on (--knn K makes one of the "
                                  "features)");
    }
    *assembly = (sfu__assembly){.directed = options->directed,
                                .keep_loops = options->keep_loops,
                                .duplicates = options->duplicates,
                                .threads = options->threads,
                                .progress = options->progress,
                                .progress_user = options->progress_user,
                                .memory = sfu__limit_left()};
    const int64_t edges = raw->pairs.count;
    SFU_TRY(check_memory(assembly, raw));
    sfu__memory_spill(NULL); /* sorting keeps to the limit itself */
    status = sfu__assemble(graph, &raw->pairs, raw->nodes, assembly);
    sfu__memory_spill(raw->pairs.folder);
    SFU_TRY(status);
    if (raw->pairs.folder != NULL) {
        log_runs(assembly, edges);
    }
done:
    return status;
}
