/* edge_words.c - the usual column names of edge lists. */
#include "edge_words.h"
#include "csv.h"

static const struct {
    const char *source, *target;
    bool sure;
} pairs[] = {{"source", "target", true},
             {"src", "dst", true},
             {"from", "to", true},
             {"source", "destination", true},
             {"source", "dest", true},
             {"src", "dest", true},
             {"source_id", "target_id", true},
             {"source_node", "target_node", true},
             {"src_id", "dst_id", true},
             {"src_node", "dst_node", true},
             {"from_id", "to_id", true},
             {"from_node", "to_node", true},
             {"fromnodeid", "tonodeid", true},
             {"sender", "receiver", true},
             {"citing", "cited", true},
             {"follower", "followee", true},
             {"head", "tail", true},
             {"u", "v", false},
             {"i", "j", false},
             {"node1", "node2", false},
             {"node_1", "node_2", false},
             {"node_a", "node_b", false},
             {"id1", "id2", false},
             {"id_1", "id_2", false},
             {"txid1", "txid2", false}};

/* The column with a name; header->count if there is none. */
static size_t column_of(const sfu__strings *header, const char *word) {
    size_t column = 0;
    for (; column < (size_t)header->count; column++) {
        size_t size;
        const char *name = sfu__strings_get(header, (int64_t)column, &size);
        if (sfu__csv_is(name, size, word)) {
            break;
        }
    }
    return column;
}

bool sfu__edge_ends(const sfu__strings *header, int i, size_t *source, size_t *target, bool *sure) {
    const size_t count = (size_t)header->count;
    for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++) {
        *source = column_of(header, pairs[p].source);
        *target = column_of(header, pairs[p].target);
        *sure = pairs[p].sure;
        if (*source < count && *target < count && i-- == 0) {
            return true;
        }
    }
    return false;
}

static bool is_one_of(const char *name, size_t size, const char *const *words) {
    while (*words != NULL && !sfu__csv_is(name, size, *words)) {
        words++;
    }
    return *words != NULL;
}

bool sfu__is_weight_word(const char *name, size_t size) {
    static const char *const words[] = {"weight", "weights", "w",     "value",     "count",    "edge_weight",
                                        "amount", "score",   "times", "frequency", "strength", NULL};
    return is_one_of(name, size, words);
}

bool sfu__is_row_number_word(const char *name, size_t size) {
    static const char *const words[] = {"", "index", "row", "edge_id", "edgeid", "eid", "unnamed: 0", NULL};
    return is_one_of(name, size, words);
}
