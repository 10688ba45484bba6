#include "node_match.h"

#include "node_index.h"

#include <string.h>

enum { AHEAD = 16 }; /* names to look ahead after a difference */

typedef struct node_name {
    const char *bytes;
    size_t size;
    char digits[SFU__DIGITS_MAX];
} node_name;

static void name_node(node_name *name, const sfu_dataset *dataset, int32_t node) {
    name->bytes = sfu_dataset_node_name(dataset, node, &name->size);
    if (name->bytes == NULL) {
        name->size = sfu__write_integer(name->digits, (uint64_t)node);
        name->bytes = name->digits;
    }
}

static bool same_node(const sfu_dataset *one, int32_t i, const sfu_dataset *other, int32_t j) {
    node_name a, b;
    if (i >= one->nodes || j >= other->nodes) {
        return false;
    }
    name_node(&a, one, i);
    name_node(&b, other, j);
    return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

/* Matches names in the same order, across insertions and deletions of up to AHEAD nodes. found: old nodes matched. */
static void match_in_order(int32_t *old_of, bool *found, const sfu_dataset *dataset, const sfu_dataset *since) {
    int32_t j = 0;
    for (int32_t i = 0; i < dataset->nodes; i++) {
        int32_t skipped = 0, added = 0;
        while (skipped < AHEAD && !same_node(dataset, i, since, j + skipped)) {
            skipped++;
        }
        while (skipped == AHEAD && added < AHEAD && !same_node(dataset, i + added, since, j)) {
            added++;
        }
        old_of[i] = -1;
        if (skipped < AHEAD) {
            old_of[i] = j + skipped;
            found[j + skipped] = true;
            j += skipped + 1;
        } else if (added == AHEAD && j < since->nodes) {
            j++; /* neither an insertion nor a deletion: both are looked up */
        }
    }
}

/* Looks up the remaining names among the remaining old ones. */
static sfu_status match_rest(int32_t *old_of, const bool *found, const sfu_dataset *dataset, const sfu_dataset *since) {
    sfu_status status = SFU_OK;
    sfu__node_index index = {0};
    int32_t *rest = NULL, count = 0;
    SFU_ALLOC(rest, since->nodes);
    for (int32_t j = 0; j < since->nodes; j++) {
        if (!found[j]) {
            node_name name;
            int64_t number = -1;
            name_node(&name, since, j);
            SFU_TRY(sfu__node_index_add(&index, name.bytes, name.size, &number));
            rest[count++] = j;
        }
    }
    for (int32_t i = 0; i < dataset->nodes && count > 0; i++) {
        if (old_of[i] < 0) {
            node_name name;
            int64_t number = -1;
            name_node(&name, dataset, i);
            SFU_TRY(sfu__node_index_find(&index, name.bytes, name.size, &number));
            old_of[i] = number >= 0 ? rest[number] : -1;
        }
    }
done:
    sfu__node_index_clear(&index);
    sfu__free(rest);
    return status;
}

sfu_status sfu__match_nodes(int32_t *old_of, const sfu_dataset *dataset, const sfu_dataset *since) {
    sfu_status status = SFU_OK;
    bool *found = NULL;
    if (dataset->node_offsets == NULL && since->node_offsets == NULL) {
        for (int32_t i = 0; i < dataset->nodes; i++) {
            old_of[i] = i < since->nodes ? i : -1;
        }
        return SFU_OK;
    }
    SFU_ALLOC_ZERO(found, since->nodes);
    match_in_order(old_of, found, dataset, since);
    SFU_TRY(match_rest(old_of, found, dataset, since));
done:
    sfu__free(found);
    return status;
}
