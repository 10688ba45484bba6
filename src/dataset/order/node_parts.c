#include "node_parts.h"
#include "lazy.h"
#include "progress.h"

#if SFU_HAVE_METIS
#include <metis.h>

/* METIS's arrays: its integers may be 32 or 64 bits wide. */
typedef struct metis_graph {
    idx_t *starts, *neighbours, *work;
} metis_graph;

static sfu_status fill(metis_graph *to, const sfu_csr *graph) {
    sfu_status status = SFU_OK;
    idx_t count = 0;
    SFU_ALLOC(to->starts, (int64_t)graph->rows + 1);
    SFU_ALLOC(to->neighbours, graph->indptr[graph->rows]);
    SFU_ALLOC(to->work, graph->rows);
    for (int32_t i = 0; i < graph->rows; i++) {
        to->starts[i] = count;
        for (int64_t e = graph->indptr[i]; e < graph->indptr[i + 1]; e++) {
            if (graph->indices[e] != i) {
                to->neighbours[count++] = graph->indices[e];
            }
        }
        to->work[i] = count - to->starts[i] + 2;
    }
    to->starts[graph->rows] = count;
done:
    return status;
}

sfu_status sfu__node_parts(int32_t *part_of, const sfu_csr *graph, int32_t parts, const char *name) {
    static int (*partition)(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, real_t *, real_t *,
                            idx_t *, idx_t *, idx_t *);
    static const sfu__symbol symbols[] = {{"METIS_PartGraphRecursive", &partition}, {NULL, NULL}};
    sfu_status status = SFU_OK;
    metis_graph at = {0};
    idx_t *found = NULL, nodes = graph->rows, constraints = 1, wanted = parts, cut = 0;
    if (graph->indptr[graph->rows] > IDX_MAX) {
        status = sfu__fail(SFU_ERR_UNSUPPORTED, "%s: %lld entries; the installed METIS takes %lld at most", name,
                           (long long)graph->indptr[graph->rows], (long long)IDX_MAX);
        goto done;
    }
    SFU_TRY(sfu__lazy_load(SFU_METIS_SONAME, "ordering nodes", symbols));
    SFU_TRY(fill(&at, graph));
    SFU_ALLOC(found, graph->rows);
    SFU_TRY(sfu__poll());
    if (partition(&nodes, &constraints, at.starts, at.neighbours, at.work, NULL, NULL, &wanted, NULL, NULL, NULL, &cut,
                  found) != METIS_OK) {
        status = sfu__fail(SFU_ERR_MEMORY, "%s: METIS ran out of memory", name);
        goto done;
    }
    for (int32_t i = 0; i < graph->rows; i++) {
        part_of[i] = (int32_t)found[i];
    }
done:
    sfu__free(at.starts);
    sfu__free(at.neighbours);
    sfu__free(at.work);
    sfu__free(found);
    return status;
}
#else
sfu_status sfu__node_parts(int32_t *part_of, const sfu_csr *graph, int32_t parts, const char *name) {
    (void)part_of;
    (void)graph;
    (void)parts;
    return sfu__fail(SFU_ERR_UNSUPPORTED,
                     "%s: this build cannot order nodes: it was made without METIS (Debian: "
                     "libmetis-dev)",
                     name);
}
#endif

double sfu__edge_cut(const sfu_csr *graph, const int32_t *part_of) {
    int64_t cut = 0;
    for (int32_t i = 0; i < graph->rows; i++) {
        for (int64_t e = graph->indptr[i]; e < graph->indptr[i + 1]; e++) {
            cut += part_of[i] != part_of[graph->indices[e]];
        }
    }
    return graph->indptr[graph->rows] > 0 ? (double)cut / (double)graph->indptr[graph->rows] : 0;
}
