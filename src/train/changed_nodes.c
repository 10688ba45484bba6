/* changed_nodes.c - sfu_changed_nodes: nodes whose prediction may differ between two versions of a dataset.
 *
 * D: nodes that are new or whose features, node columns or row of the graph differ; in a directed graph also the
 * targets of such rows, whose in-degrees differ. Row i of a smoothing matrix depends on row i of the graph and on the
 * degrees of its neighbours, so it differs only if i or a neighbour is in D. Therefore, after k smoothings only nodes
 * within k edges of D differ: a breadth-first search.
 */
#include "model.h"
#include "node_digest.h"
#include "node_match.h"
#include "parallel.h"

#include <string.h>

enum { BLOCK = 1 << 14 }; /* nodes per item of parallel work */

typedef struct changes {
    const sfu_dataset *dataset, *since;
    int32_t *old_of, *new_of; /* new_of only for directed graphs */
    uint8_t *changed;         /* [nodes]: 1 if the node is in D, or later within k edges of it */
    bool in_place;            /* each node that is in both has the same number in both */
    bool same_features;       /* both have the same list of features in the same form: rows are compared directly */
    sfu__node_digests digests[2];
    const float **column[2]; /* [columns]: node columns of the dataset, and of the same name in `since` */
    int columns;
} changes;

/* ---- differences ------------------------------------------------------------------------------------------------- */

static bool same_names(const sfu__strings *one, const sfu__strings *other) {
    const size_t size = one->count > 0 ? (size_t)one->offsets[one->count] : 0;
    return one->count == other->count &&
           (one->count == 0 ||
            (memcmp(one->offsets, other->offsets, (size_t)one->count * sizeof *one->offsets) == 0 &&
             one->offsets[one->count] == other->offsets[one->count] && memcmp(one->bytes, other->bytes, size) == 0));
}

static bool same_values(const float *one, const float *other, int64_t from, int64_t old_from, int64_t count) {
    if (one != NULL && other != NULL) {
        return memcmp(one + from, other + old_from, (size_t)count * sizeof *one) == 0;
    }
    for (int64_t e = 0; e < count; e++) {
        if ((one != NULL ? one[from + e] : 1) != (other != NULL ? other[old_from + e] : 1)) {
            return false;
        }
    }
    return true;
}

static bool same_features(const changes *it, int32_t node, int32_t old) {
    const sfu_csr *X = &it->dataset->sparse, *Y = &it->since->sparse;
    const int64_t width = it->dataset->features;
    if (!it->same_features) {
        return sfu__features_digest(&it->digests[0], node) == sfu__features_digest(&it->digests[1], old);
    }
    if (it->dataset->dense != NULL) {
        return same_values(it->dataset->dense, it->since->dense, node * width, old * width, width);
    }
    const int64_t from = X->indptr[node], old_from = Y->indptr[old], count = X->indptr[node + 1] - from;
    return Y->indptr[old + 1] - old_from == count &&
           memcmp(X->indices + from, Y->indices + old_from, (size_t)count * sizeof *X->indices) == 0 &&
           same_values(X->values, Y->values, from, old_from, count);
}

/* The neighbours in the same order, and the node at the same position among them, where smoothing may add a self-loop:
 * another order would be another order of summation. */
static bool same_row(const changes *it, int32_t node, int32_t old) {
    const sfu_csr *A = &it->dataset->graph, *B = &it->since->graph;
    const int64_t from = A->indptr[node], old_from = B->indptr[old], count = A->indptr[node + 1] - from;
    if (B->indptr[old + 1] - old_from != count) {
        return false;
    }
    if (it->in_place) {
        return memcmp(A->indices + from, B->indices + old_from, (size_t)count * sizeof *A->indices) == 0 &&
               same_values(A->values, B->values, from, old_from, count);
    }
    for (int64_t e = 0; e < count; e++) {
        const int32_t neighbour = A->indices[from + e], before = B->indices[old_from + e];
        if (it->old_of[neighbour] != before || (neighbour < node) != (before < old)) {
            return false;
        }
    }
    return same_values(A->values, B->values, from, old_from, count);
}

static bool same_columns(const changes *it, int32_t node, int32_t old) {
    for (int i = 0; i < it->columns; i++) {
        if (it->column[0][i][node] != it->column[1][i][old]) {
            return false;
        }
    }
    return true;
}

static sfu_status compare_block(void *context, int64_t item, int thread) {
    const changes *it = context;
    const int64_t end = (item + 1) * BLOCK < it->dataset->nodes ? (item + 1) * BLOCK : it->dataset->nodes;
    (void)thread;
    for (int32_t node = (int32_t)(item * BLOCK); node < end; node++) {
        const int32_t old = it->old_of[node];
        it->changed[node] =
            old < 0 || !same_row(it, node, old) || !same_features(it, node, old) || !same_columns(it, node, old);
    }
    return SFU_OK;
}

/* ---- directed graphs: the targets of changed rows ---------------------------------------------------------------- */

static sfu_status invert(changes *it) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(it->new_of, it->since->nodes);
    memset(it->new_of, -1, (size_t)it->since->nodes * sizeof *it->new_of);
    for (int32_t node = 0; node < it->dataset->nodes; node++) {
        if (it->old_of[node] >= 0) {
            it->new_of[it->old_of[node]] = node;
        }
    }
done:
    return status;
}

/* `to` maps the columns; NULL: they stay. */
static void mark_row(uint8_t *marked, const sfu_csr *graph, int32_t row, const int32_t *to) {
    for (int64_t e = graph->indptr[row]; e < graph->indptr[row + 1]; e++) {
        const int32_t target = to != NULL ? to[graph->indices[e]] : graph->indices[e];
        if (target >= 0) {
            marked[target] = 1;
        }
    }
}

/* Also the targets of nodes that are no more. */
static sfu_status add_targets(changes *it) {
    sfu_status status = SFU_OK;
    uint8_t *targets = NULL;
    SFU_ALLOC_ZERO(targets, it->dataset->nodes);
    SFU_TRY(invert(it));
    for (int32_t node = 0; node < it->dataset->nodes; node++) {
        if (it->changed[node]) {
            mark_row(targets, &it->dataset->graph, node, NULL);
        }
    }
    for (int32_t old = 0; old < it->since->nodes; old++) {
        if (it->new_of[old] < 0 || it->changed[it->new_of[old]]) {
            mark_row(targets, &it->since->graph, old, it->new_of);
        }
    }
    for (int32_t node = 0; node < it->dataset->nodes; node++) {
        it->changed[node] |= targets[node];
    }
done:
    sfu__free(targets);
    return status;
}

/* ---- nodes within k edges ---------------------------------------------------------------------------------------- */

static int64_t smoothings(const sfu_net *net) {
    int64_t sum = 0;
    for (int i = 0; i < net->count && !net->is_lpnn; i++) {
        sum += net->layers[i].kind == SFU__LAYER_SMOOTH ? net->layers[i].times : 0;
    }
    return sum;
}

/* Undirected: the nodes of the last step are at [*first, count) of the list; appends their neighbours. */
static int32_t expand_list(const changes *it, int32_t *nodes, int32_t first, int32_t count) {
    const sfu_csr *graph = &it->dataset->graph;
    const int32_t end = count;
    for (int32_t i = first; i < end; i++) {
        for (int64_t e = graph->indptr[nodes[i]]; e < graph->indptr[nodes[i] + 1]; e++) {
            if (!it->changed[graph->indices[e]]) {
                it->changed[graph->indices[e]] = 1;
                nodes[count++] = graph->indices[e];
            }
        }
    }
    return count;
}

/* Directed: appends the nodes with an edge to a node that was marked in an earlier step, which needs all rows. */
static int32_t expand_rows(const changes *it, int32_t *nodes, int32_t count) {
    const sfu_csr *graph = &it->dataset->graph;
    const int32_t before = count;
    for (int32_t node = 0; node < it->dataset->nodes; node++) {
        bool near = false;
        for (int64_t e = graph->indptr[node]; e < graph->indptr[node + 1] && !near && !it->changed[node]; e++) {
            near = it->changed[graph->indices[e]] != 0;
        }
        if (near) {
            nodes[count++] = node;
        }
    }
    for (int32_t i = before; i < count; i++) {
        it->changed[nodes[i]] = 1;
    }
    return count;
}

/* Lists the changed nodes in `nodes`, marks those within `steps` edges of them, and lists all of them, ascending. */
static void expand(const changes *it, int32_t *nodes, int32_t *count, int64_t steps) {
    int32_t first = 0, listed = 0;
    for (int32_t node = 0; node < it->dataset->nodes; node++) {
        if (it->changed[node]) {
            nodes[listed++] = node;
        }
    }
    for (int64_t step = 0; step < steps && first < listed; step++) {
        const int32_t before = listed;
        listed = it->dataset->directed ? expand_rows(it, nodes, listed) : expand_list(it, nodes, first, listed);
        first = before;
    }
    *count = 0;
    for (int32_t node = 0; node < it->dataset->nodes; node++) {
        if (it->changed[node]) {
            nodes[(*count)++] = node;
        }
    }
}

/* ---- the interface ----------------------------------------------------------------------------------------------- */

/* A column that one dataset lacks makes no difference: a network that needs it cannot predict there. */
static sfu_status find_columns(changes *it) {
    sfu_status status = SFU_OK;
    const char *name = NULL;
    int count = 0;
    while (sfu_dataset_column_name(it->dataset, count) != NULL) {
        count++;
    }
    SFU_ALLOC(it->column[0], count);
    SFU_ALLOC(it->column[1], count);
    for (int i = 0; (name = sfu_dataset_column_name(it->dataset, i)) != NULL; i++) {
        it->column[0][it->columns] = sfu_dataset_column(it->dataset, name);
        it->column[1][it->columns] = sfu_dataset_column(it->since, name);
        it->columns += it->column[1][it->columns] != NULL;
    }
done:
    return status;
}

static sfu_status prepare(changes *it) {
    sfu_status status = SFU_OK;
    it->same_features = it->dataset->features == it->since->features &&
                        (it->dataset->dense != NULL) == (it->since->dense != NULL) &&
                        same_names(&it->dataset->feature_names, &it->since->feature_names);
    SFU_ALLOC(it->old_of, it->dataset->nodes);
    SFU_ALLOC(it->changed, it->dataset->nodes);
    SFU_TRY(find_columns(it));
    SFU_TRY(sfu__match_nodes(it->old_of, it->dataset, it->since));
    it->in_place = true;
    for (int32_t node = 0; node < it->dataset->nodes; node++) {
        it->in_place = it->in_place && (it->old_of[node] == node || it->old_of[node] < 0);
    }
    if (!it->same_features) {
        SFU_TRY(sfu__node_digests_make(&it->digests[0], it->dataset));
        SFU_TRY(sfu__node_digests_make(&it->digests[1], it->since));
    }
done:
    return status;
}

static void clear(changes *it) {
    sfu__free(it->old_of);
    sfu__free(it->new_of);
    sfu__free(it->changed);
    sfu__free(it->column[0]);
    sfu__free(it->column[1]);
    sfu__node_digests_clear(&it->digests[0]);
    sfu__node_digests_clear(&it->digests[1]);
}

sfu_status sfu_changed_nodes(int32_t *nodes, int32_t *count, const sfu_dataset *dataset, const sfu_dataset *since,
                             const sfu_model *model) {
    sfu_status status = SFU_OK;
    changes it = {.dataset = dataset, .since = since};
    SFU_TRY(sfu_dataset_check(dataset));
    SFU_TRY(sfu_dataset_check(since));
    SFU_TRY(prepare(&it));
    if (dataset->directed != since->directed) {
        memset(it.changed, 1, (size_t)dataset->nodes);
    } else {
        const int64_t blocks = ((int64_t)dataset->nodes + BLOCK - 1) / BLOCK;
        SFU_TRY(sfu__parallel(compare_block, &it, blocks, sfu__thread_count(0)));
        SFU_TRY(dataset->directed ? add_targets(&it) : SFU_OK);
    }
    expand(&it, nodes, count, smoothings(model->net));
done:
    clear(&it);
    return status;
}
