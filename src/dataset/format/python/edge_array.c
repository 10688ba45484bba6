/* edge_array.c - arrays that hold a list of edges (m x 2 or 2 x m node numbers) or the masks of splits. */
#include "arrays.h"
#include "progress.h"

#include <string.h>

/* ---- edges ---------------------------------------------------------------------------------------------------- */

bool sfu__is_edge_list(const sfu__array *array, bool list) {
    return array->dims == 2 && sfu__array_is_number(array) && (array->shape[0] == 2 || array->shape[1] == 2) &&
           (list || array->shape[0] != array->shape[1]);
}

static sfu_status read_end(uint32_t *end, const sfu__array *array, int64_t i, int64_t below) {
    int64_t node = 0;
    const sfu_status status = sfu__array_whole(&node, array, i);
    if (status == SFU_OK && (node < 0 || node >= below)) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: entry %lld is %lld; expected a node from 0 to %lld", array->location,
                         (long long)i, (long long)node, (long long)below - 1);
    }
    *end = (uint32_t)node;
    return status;
}

sfu_status sfu__edge_list_pairs(sfu__pairs *pairs, int64_t *largest, const sfu__array *array, int64_t below) {
    enum { BLOCK_EDGES = 1 << 18 };
    sfu_status status = SFU_OK;
    uint32_t *ends = NULL;
    const bool rows = array->shape[1] == 2; /* one edge per row */
    const int64_t all = rows ? array->shape[0] : array->shape[1];
    *largest = -1;
    for (int64_t first = 0; first < all; first += BLOCK_EDGES) {
        const int64_t count = all - first < BLOCK_EDGES ? all - first : BLOCK_EDGES;
        SFU_ALLOC(ends, 2 * count);
        for (int64_t i = 0; i < 2 * count; i++) {
            SFU_TRY(sfu__poll_at(i));
            const int64_t edge = first + i / 2;
            const int64_t at = rows ? sfu__array_at(array, edge, i % 2) : sfu__array_at(array, i % 2, edge);
            SFU_TRY(read_end(&ends[i], array, at, below));
            *largest = ends[i] > *largest ? ends[i] : *largest;
        }
        SFU_TRY(sfu__pairs_take(pairs, &ends, NULL, count));
    }
done:
    sfu__free(ends);
    return status;
}

/* Arrays are allocated by the number of nodes: one large number must not cause an allocation of gigabytes. */
static sfu_status check_plausible(const sfu__array *array, int64_t nodes) {
    enum { HARMLESS = 1 << 20, NODES_PER_NUMBER = 4 };
    return nodes <= HARMLESS || nodes / NODES_PER_NUMBER <= array->count
               ? SFU_OK
               : sfu__fail(SFU_ERR_FORMAT,
                           "%s: node %lld is implausible in a list of %lld edges; expected the numbers 0, 1, ... of "
                           "the nodes",
                           array->location, (long long)nodes - 1, (long long)array->count / 2);
}

sfu_status sfu__raw_set_edge_list(sfu__raw *raw, const sfu__array *array) {
    sfu_status status = SFU_OK;
    int64_t largest = -1;
    SFU_TRY(sfu__edge_list_pairs(&raw->pairs, &largest, array, raw->nodes > 0 ? raw->nodes : INT32_MAX));
    if (raw->nodes == 0) {
        SFU_TRY(check_plausible(array, largest + 1));
        SFU_TRY(sfu__raw_set_nodes(raw, largest + 1, array->location));
    }
    raw->has_graph = true;
done:
    return status;
}

/* ---- masks ---------------------------------------------------------------------------------------------------- */

/* Masks as splits x nodes. */
typedef struct mask_shape {
    int64_t splits;
    bool by_node; /* a row per node */
} mask_shape;

static sfu_status find_shape(mask_shape *shape, const sfu__array *mask, int64_t nodes) {
    const sfu_status status = sfu__array_need_numbers(mask);
    if (status != SFU_OK) {
        return status;
    }
    shape->by_node = mask->dims == 2 && mask->shape[1] != nodes;
    shape->splits = mask->dims == 1 ? 1 : mask->shape[shape->by_node ? 1 : 0];
    const bool fits = mask->dims == 1   ? mask->shape[0] == nodes
                      : mask->dims == 2 ? mask->shape[shape->by_node ? 0 : 1] == nodes
                                        : false;
    return fits && shape->splits >= 1 && shape->splits <= SFU__STANDARD_SPLITS_MAX
               ? SFU_OK
               : sfu__fail(SFU_ERR_FORMAT,
                           "%s: expected masks of %lld nodes for 1 to %d splits, found an array of %d dimensions with "
                           "%lld entries",
                           mask->location, (long long)nodes, SFU__STANDARD_SPLITS_MAX, mask->dims,
                           (long long)mask->count);
}

static int64_t mask_at(const sfu__array *mask, const mask_shape *shape, int64_t split, int64_t node) {
    return mask->dims == 1  ? node
           : shape->by_node ? sfu__array_at(mask, node, split)
                            : sfu__array_at(mask, split, node);
}

/* The nodes of one mask, allocated. */
static sfu_status mask_nodes(int32_t **nodes, int64_t *count, const sfu__array *mask, const mask_shape *shape,
                             int64_t split, int64_t all) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(*nodes, all);
    *count = 0;
    for (int64_t node = 0; node < all; node++) {
        SFU_TRY(sfu__poll_at(node));
        const double entry = sfu__array_number(mask, mask_at(mask, shape, split, node));
        if (entry == 1) {
            (*nodes)[(*count)++] = (int32_t)node;
        } else if (entry != 0) {
            status = sfu__fail(SFU_ERR_FORMAT, "%s: split %lld, node %lld: found %g where 0 or 1 is expected",
                               mask->location, (long long)split, (long long)node, entry);
            goto done;
        }
    }
    int32_t *fitted = sfu__resize(*nodes, (size_t)(*count > 0 ? *count : 1), sizeof *fitted);
    *nodes = fitted != NULL ? fitted : *nodes;
    status = fitted != NULL ? SFU_OK : SFU_ERR_MEMORY;
done:
    return status;
}

sfu_status sfu__raw_add_masks(sfu__raw *raw, const sfu__array masks[SFU_PARTS]) {
    sfu_status status = SFU_OK;
    int32_t *nodes[SFU_PARTS] = {NULL};
    int64_t count[SFU_PARTS] = {0};
    mask_shape shapes[SFU_PARTS] = {{0}};
    for (int part = 0; part < SFU_PARTS; part++) {
        SFU_TRY(find_shape(&shapes[part], &masks[part], raw->nodes));
        if (shapes[part].splits != shapes[0].splits) {
            status = sfu__fail(SFU_ERR_FORMAT, "%s: %lld splits, but %s has %lld", masks[part].location,
                               (long long)shapes[part].splits, masks[0].location, (long long)shapes[0].splits);
            goto done;
        }
    }
    for (int64_t split = 0; split < shapes[0].splits; split++) {
        for (int part = 0; part < SFU_PARTS; part++) {
            SFU_TRY(mask_nodes(&nodes[part], &count[part], &masks[part], &shapes[part], split, raw->nodes));
        }
        SFU_TRY(sfu__raw_add_split(raw, nodes, count));
    }
done:
    for (int part = 0; part < SFU_PARTS; part++) {
        sfu__free(nodes[part]);
    }
    return status;
}
