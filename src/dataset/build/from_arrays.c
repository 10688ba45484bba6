/* from_arrays.c - builds a dataset from arrays of the caller. */
#include "raw.h"
#include "progress.h"
#include "sized_struct.h"

#include <string.h>

static sfu_status need(bool holds, const char *what) {
    return holds ? SFU_OK : sfu__fail(SFU_ERR_ARGUMENT, "arrays: %s", what);
}

static sfu_status check(const sfu_arrays *a) {
    sfu_status status = SFU_OK;
    SFU_TRY(need(a->nodes >= 1 && a->nodes < INT32_MAX, "nodes must be at least 1 and below 2^31 - 1"));
    SFU_TRY(need(a->edges >= 0 && a->edges <= INT64_MAX / 32, "edges cannot be negative"));
    SFU_TRY(need(a->edge_from == NULL || a->edge_indptr == NULL, "edges have edge_from or edge_indptr, not both"));
    SFU_TRY(need(a->edges == 0 || ((a->edge_from != NULL || a->edge_indptr != NULL) && a->edge_to != NULL),
                 "edge_from and edge_to are needed"));
    SFU_TRY(need(a->dense == NULL || a->indptr == NULL, "features are dense or sparse, not both"));
    SFU_TRY(need((a->dense == NULL && a->indptr == NULL) || a->features >= 1, "features must be at least 1"));
    SFU_TRY(need(a->indptr == NULL || a->indptr[0] == 0, "indptr must start at 0"));
    SFU_TRY(need(a->classes >= 0, "classes cannot be negative"));
    SFU_TRY(need(a->class_names == NULL || a->classes > 0, "class_names need classes, their number"));
    SFU_TRY(need(a->column_count == 0 || (a->columns != NULL && a->column_names != NULL), "columns need their names"));
done:
    return status;
}

/* edge_indptr ascends from 0 to the number of edges. */
static sfu_status check_edge_indptr(const sfu_arrays *a) {
    const int64_t *indptr = a->edge_indptr;
    if (indptr[0] != 0 || indptr[a->nodes] != a->edges) {
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "arrays: edge_indptr must go from 0 to %lld, the number of edges; found %lld to %lld",
                         (long long)a->edges, (long long)indptr[0], (long long)indptr[a->nodes]);
    }
    for (int64_t node = 0; node < a->nodes; node++) {
        if (indptr[node + 1] < indptr[node]) {
            return sfu__fail(SFU_ERR_ARGUMENT, "arrays: edge_indptr falls from %lld to %lld at node %lld",
                             (long long)indptr[node], (long long)indptr[node + 1], (long long)node);
        }
    }
    return SFU_OK;
}

static sfu_status copy_ends(uint32_t *ends, const sfu_arrays *a) {
    sfu_status status = SFU_OK;
    int64_t row = 0;
    for (int64_t i = 0; i < a->edges; i++) {
        while (a->edge_indptr != NULL && a->edge_indptr[row + 1] <= i) {
            row++;
        }
        const int32_t from = a->edge_indptr != NULL ? (int32_t)row : a->edge_from[i];
        const int32_t to = a->edge_to[i];
        SFU_TRY(sfu__poll_at(i));
        if (from < 0 || from >= a->nodes || to < 0 || to >= a->nodes) {
            status = sfu__fail(SFU_ERR_ARGUMENT, "arrays: edge %lld joins %d and %d; nodes lie in [0, %lld)",
                               (long long)i, from, to, (long long)a->nodes);
            goto done;
        }
        ends[2 * i] = (uint32_t)from;
        ends[2 * i + 1] = (uint32_t)to;
    }
done:
    return status;
}

static sfu_status copy_edges(sfu__raw *raw, const sfu_arrays *a) {
    sfu_status status = SFU_OK;
    uint32_t *ends = NULL;
    float *weights = NULL;
    if (a->edge_indptr != NULL) {
        SFU_TRY(check_edge_indptr(a));
    }
    SFU_ALLOC(ends, 2 * a->edges);
    SFU_TRY(copy_ends(ends, a));
    if (a->edge_weight != NULL) {
        SFU_ALLOC(weights, a->edges);
        memcpy(weights, a->edge_weight, (size_t)a->edges * sizeof *weights);
    }
    SFU_TRY(sfu__pairs_take(&raw->pairs, &ends, &weights, a->edges));
    raw->has_graph = true;
done:
    sfu__free(ends);
    sfu__free(weights);
    return status;
}

static sfu_status copy_sparse(sfu__raw *raw, const sfu_arrays *a) {
    sfu_status status = SFU_OK;
    sfu_matrix *x = &raw->sparse;
    *x = (sfu_matrix){.rows = (int32_t)a->nodes, .cols = a->features};
    for (int64_t node = 0; node < a->nodes; node++) {
        if (a->indptr[node + 1] < a->indptr[node]) {
            status = sfu__fail(SFU_ERR_ARGUMENT, "arrays: indptr falls from %lld to %lld at node %lld",
                               (long long)a->indptr[node], (long long)a->indptr[node + 1], (long long)node);
            goto done;
        }
    }
    const int64_t nonzeros = a->indptr[a->nodes];
    for (int64_t i = 0; i < nonzeros; i++) {
        SFU_TRY(sfu__poll_at(i));
        if (a->indices[i] < 0 || a->indices[i] >= a->features) {
            status = sfu__fail(SFU_ERR_ARGUMENT, "arrays: indices[%lld] is %d; features lie in [0, %d)", (long long)i,
                               a->indices[i], a->features);
            goto done;
        }
    }
    SFU_ALLOC(x->indptr, a->nodes + 1);
    memcpy(x->indptr, a->indptr, ((size_t)a->nodes + 1) * sizeof *x->indptr);
    SFU_ALLOC(x->indices, nonzeros);
    if (nonzeros > 0) {
        memcpy(x->indices, a->indices, (size_t)nonzeros * sizeof *x->indices);
    }
    if (a->values != NULL) {
        SFU_ALLOC(x->values, nonzeros);
        memcpy(x->values, a->values, (size_t)nonzeros * sizeof *x->values);
    }
done:
    return status;
}

static sfu_status copy_features(sfu__raw *raw, const sfu_arrays *a) {
    sfu_status status = SFU_OK;
    raw->has_features = a->dense != NULL || a->indptr != NULL;
    raw->features = a->features;
    if (a->dense != NULL) {
        size_t cells;
        if (__builtin_mul_overflow((size_t)a->nodes, (size_t)a->features, &cells)) {
            return sfu__fail(SFU_ERR_ARGUMENT, "arrays: %lld nodes of %d dense features are too many",
                             (long long)a->nodes, a->features);
        }
        SFU_ALLOC(raw->dense, cells);
        memcpy(raw->dense, a->dense, cells * sizeof *raw->dense);
    } else if (a->indptr != NULL) {
        SFU_TRY(copy_sparse(raw, a));
    }
done:
    return status;
}

static sfu_status copy_labels(sfu__raw *raw, const sfu_arrays *a) {
    sfu_status status = SFU_OK;
    raw->classes = a->classes;
    if (a->labels != NULL) {
        SFU_ALLOC(raw->labels, a->nodes);
        memcpy(raw->labels, a->labels, (size_t)a->nodes * sizeof *raw->labels);
        for (int64_t node = 0; a->classes == 0 && node < a->nodes; node++) {
            raw->classes = a->labels[node] >= raw->classes ? (int64_t)a->labels[node] + 1 : raw->classes;
        }
    }
done:
    return status;
}

static sfu_status copy_texts(sfu__strings *strings, const char *const *texts, int64_t count) {
    for (int64_t i = 0; texts != NULL && i < count; i++) {
        const sfu_status status = sfu__strings_add(strings, texts[i], strlen(texts[i]));
        if (status != SFU_OK) {
            return status;
        }
    }
    return SFU_OK;
}

static sfu_status copy_split(sfu__raw *raw, const sfu_arrays *a) {
    sfu_status status = SFU_OK;
    for (int part = 0; part < SFU_PARTS; part++) {
        if (a->standard[part] == NULL) {
            continue;
        }
        if (a->standard_count[part] < 0) {
            status = sfu__fail(SFU_ERR_ARGUMENT, "arrays: standard_count is %d", a->standard_count[part]);
            goto done;
        }
        const size_t count = (size_t)a->standard_count[part];
        SFU_ALLOC(raw->standard[part], count);
        memcpy(raw->standard[part], a->standard[part], count * sizeof *raw->standard[part]);
        raw->standard_count[part] = (int64_t)count;
        raw->has_standard = true;
    }
done:
    return status;
}

static sfu_status copy_columns(sfu__raw *raw, const sfu_arrays *a) {
    for (int i = 0; i < a->column_count; i++) {
        const sfu_status status = sfu__raw_add_column(raw, a->column_names[i], a->columns[i], a->nodes);
        if (status != SFU_OK) {
            return status;
        }
    }
    return SFU_OK;
}

static sfu_status build(sfu_dataset **dataset, const sfu_arrays *arrays, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    sfu__raw raw = {0};
    const sfu__watch before = sfu__watch_start(options->progress, options->progress_user, "importing arrays");
    *dataset = NULL;
    SFU_TRY(check(arrays));
    raw.nodes = arrays->nodes;
    raw.format = "arrays";
    if (arrays->edges > 0 || options->knn == 0) {
        SFU_TRY(copy_edges(&raw, arrays));
    }
    SFU_TRY(copy_features(&raw, arrays));
    SFU_TRY(copy_labels(&raw, arrays));
    SFU_TRY(copy_texts(&raw.class_names, arrays->class_names, arrays->classes));
    SFU_TRY(copy_texts(&raw.node_names, arrays->node_names, arrays->nodes));
    SFU_TRY(copy_texts(&raw.feature_names, raw.has_features ? arrays->feature_names : NULL, arrays->features));
    SFU_TRY(copy_split(&raw, arrays));
    SFU_TRY(copy_columns(&raw, arrays));
    sfu_import_options own = *options;
    own.class_names = NULL;
    SFU_TRY(sfu__build(dataset, &raw, &own, NULL));
done:
    sfu__watch_end(before);
    sfu__raw_clear(&raw);
    return status;
}

void sfu_arrays_init_sized(sfu_arrays *arrays, size_t size) {
    const sfu_arrays defaults = {.size = sizeof defaults};
    sfu__sized_init(arrays, size, &defaults, sizeof defaults);
}

sfu_status sfu_dataset_from_arrays(sfu_dataset **dataset, const sfu_arrays *given, const sfu_import_options *how) {
    sfu_arrays arrays;
    sfu_import_options options;
    *dataset = NULL;
    sfu_status status = SFU__READ_OPTIONS(&arrays, given, sfu_arrays);
    status = status != SFU_OK ? status : SFU__READ_OPTIONS(&options, how, sfu_import_options);
    return status != SFU_OK ? status : build(dataset, &arrays, &options);
}
