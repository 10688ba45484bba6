/* csv_edges.c - reads edges from a text file and numbers their nodes.
 *
 * Two paths give the same pairs. The fast path (edges_fast.c) parses numbers, which are then mapped to node numbers in
 * bulk; the general path accepts any names. Nodes that occur only in edges are numbered in numeric order if all names
 * are plain integers and no other file names nodes, otherwise in order of appearance.
 */
#include "csv_tables.h"
#include "progress.h"
#include "edge_columns.h"
#include "edges_fast.h"
#include "parallel.h"

#include <stdatomic.h>

/* Returned by the fast path when only the general path can continue. */
static const sfu_status GIVE_UP = SFU_ERR_UNSUPPORTED;

/* ---- numbers in numeric order ----------------------------------------------------------------------------------- */

/* Bit set of the numbers that occur, with rank queries. */
typedef struct ranks {
    int64_t words;
    uint64_t *bits;   /* [threads][words]: one set per thread while marking, then the first is their union */
    uint32_t *before; /* number of bits set in all earlier words */
} ranks;

static sfu_status mark_block(void *context, sfu__pair_block *block, int thread) {
    const ranks *self = context;
    uint64_t *bits = self->bits + self->words * thread;
    for (int64_t i = 0; i < 2 * block->count; i++) {
        bits[block->ends[i] / 64] |= UINT64_C(1) << block->ends[i] % 64;
    }
    return SFU_OK;
}

/* Marks all numbers of the pairs. The threads' sets take at most a quarter of the memory of the pairs, and an
 * eighth of what a memory limit leaves, which limits the number of threads. */
static sfu_status mark_numbers(ranks *self, sfu__pairs *pairs, int threads) {
    sfu_status status = SFU_OK;
    const int64_t left = sfu__memory_limit() > 0 ? (int64_t)(sfu__memory_limit() - sfu__memory_used()) : INT64_MAX;
    const int64_t most = pairs->count / 4 < left / 64 ? pairs->count / 4 : left / 64;
    const int64_t affordable = most / self->words;
    const int used = affordable < 1 ? 1 : affordable < threads ? (int)affordable : threads;
    SFU_ALLOC_ZERO(self->bits, self->words * used);
    SFU_TRY(sfu__pairs_each(pairs, mark_block, self, used, false));
    for (int64_t i = self->words; i < self->words * used; i++) {
        self->bits[i % self->words] |= self->bits[i];
    }
done:
    return status;
}

static sfu_status rank_block(void *context, sfu__pair_block *block, int thread) {
    (void)thread;
    const ranks *self = context;
    for (int64_t i = 0; i < 2 * block->count; i++) {
        const uint32_t id = block->ends[i];
        const uint64_t bits = self->bits[id / 64];
        const uint64_t lower = bits & ((UINT64_C(1) << id % 64) - 1);
        block->ends[i] = self->before[id / 64] + (uint32_t)__builtin_popcountll(lower);
    }
    return SFU_OK;
}

/* Adds the numbers that occur as node names. */
static sfu_status add_marked_nodes(sfu__tables *tables, const ranks *self) {
    for (int64_t w = 0; w < self->words; w++) {
        for (uint64_t bits = self->bits[w]; bits != 0; bits &= bits - 1) {
            char digits[SFU__DIGITS_MAX];
            const uint64_t id = (uint64_t)w * 64 + (uint64_t)__builtin_ctzll(bits);
            const sfu_status status = sfu__node_index_append(&tables->nodes, digits, sfu__write_integer(digits, id));
            if (status != SFU_OK) {
                return status;
            }
        }
    }
    return SFU_OK;
}

static sfu_status rank_numbers(sfu__tables *tables, sfu__pairs *pairs, uint32_t largest, int threads) {
    sfu_status status = SFU_OK;
    ranks self = {.words = (int64_t)largest / 64 + 1};
    int64_t total = 0;
    SFU_TRY(mark_numbers(&self, pairs, threads));
    SFU_ALLOC(self.before, self.words);
    for (int64_t w = 0; w < self.words; w++) {
        self.before[w] = (uint32_t)total;
        total += __builtin_popcountll(self.bits[w]);
    }
    if (total == (int64_t)largest + 1 && total <= INT32_MAX) {
        sfu__node_index_numbers(&tables->nodes, total);
    } else {
        SFU_TRY(add_marked_nodes(tables, &self));
        SFU_TRY(sfu__pairs_each(pairs, rank_block, &self, threads, true));
    }
done:
    sfu__free(self.bits);
    sfu__free(self.before);
    return status;
}

/* ---- numbers as names from other files -------------------------------------------------------------------------- */

enum { UNKNOWN = -1 };

typedef struct known_nodes {
    int32_t *node; /* [largest + 1] of a number, or UNKNOWN */
    sfu__node_index *names;
    atomic_bool missing;
} known_nodes;

static sfu_status find_unknown(void *context, sfu__pair_block *block, int thread) {
    (void)thread;
    known_nodes *self = context;
    int32_t all = 0;
    for (int64_t i = 0; i < 2 * block->count; i++) {
        all |= self->node[block->ends[i]];
    }
    if (all < 0) {
        atomic_store(&self->missing, true);
    }
    return SFU_OK;
}

static sfu_status replace_block(void *context, sfu__pair_block *block, int thread) {
    (void)thread;
    const known_nodes *self = context;
    for (int64_t i = 0; i < 2 * block->count; i++) {
        block->ends[i] = (uint32_t)self->node[block->ends[i]];
    }
    return SFU_OK;
}

/* Adds the numbers of a block that no other file names, in order of appearance. */
static sfu_status add_unknown(void *context, sfu__pair_block *block, int thread) {
    (void)thread;
    const known_nodes *self = context;
    for (int64_t i = 0; i < 2 * block->count; i++) {
        const uint32_t id = block->ends[i];
        if (self->node[id] == UNKNOWN) {
            char digits[SFU__DIGITS_MAX];
            const sfu_status status = sfu__node_index_append(self->names, digits, sfu__write_integer(digits, id));
            if (status != SFU_OK) {
                return status;
            }
            self->node[id] = (int32_t)(self->names->count - 1);
        }
    }
    return SFU_OK;
}

static sfu_status map_numbers(sfu__tables *tables, sfu__pairs *pairs, uint32_t largest, int threads) {
    sfu_status status = SFU_OK;
    known_nodes self = {.names = &tables->nodes};
    atomic_init(&self.missing, false);
    if (!tables->nodes.spelled && (int64_t)largest < tables->nodes.count) {
        return SFU_OK; /* names are the node numbers */
    }
    SFU_ALLOC(self.node, (int64_t)largest + 1);
    for (int64_t i = 0; i <= largest; i++) {
        self.node[i] = UNKNOWN;
    }
    for (int64_t i = 0; i < tables->nodes.count; i++) {
        char digits[SFU__DIGITS_MAX];
        size_t size;
        int64_t value;
        const char *name = sfu__node_index_name(&tables->nodes, i, digits, &size);
        if (sfu__plain_integer(&value, name, size) && value <= largest) {
            self.node[value] = (int32_t)i;
        }
    }
    SFU_TRY(sfu__pairs_each(pairs, find_unknown, &self, threads, false));
    if (atomic_load(&self.missing)) {
        if (tables->options->strict || tables->fixed) {
            status = GIVE_UP;
            goto done;
        }
        SFU_TRY(sfu__pairs_each(pairs, add_unknown, &self, 1, false));
    }
    SFU_TRY(sfu__pairs_each(pairs, replace_block, &self, threads, true));
done:
    sfu__free(self.node);
    return status;
}

/* ---- names in order of appearance ------------------------------------------------------------------------------- */

/* The node of a name; *node is -1 if it is unknown and must not be added. */
static sfu_status node_of(sfu__tables *tables, const char *bytes, size_t size, int64_t *node) {
    return tables->fixed || (tables->named && tables->options->strict)
               ? sfu__node_index_find(&tables->nodes, bytes, size, node)
               : sfu__node_index_add(&tables->nodes, bytes, size, node);
}

/* For numbers that are far apart: an array indexed by them would be too large. */
static sfu_status intern_block(void *context, sfu__pair_block *block, int thread) {
    (void)thread;
    sfu_status status = SFU_OK;
    for (int64_t i = 0; i < 2 * block->count; i++) {
        char digits[SFU__DIGITS_MAX];
        int64_t node;
        SFU_TRY(sfu__poll_at(i));
        SFU_TRY(node_of(context, digits, sfu__write_integer(digits, block->ends[i]), &node));
        if (node < 0) {
            status = GIVE_UP;
            goto done;
        }
        block->ends[i] = (uint32_t)node;
    }
done:
    return status;
}

static sfu_status renumber_block(void *context, sfu__pair_block *block, int thread) {
    (void)thread;
    const int32_t *rank = context;
    for (int64_t i = 0; i < 2 * block->count; i++) {
        block->ends[i] = (uint32_t)rank[block->ends[i]];
    }
    return SFU_OK;
}

/* Renumbers nodes with plain integer names in numeric order. */
static sfu_status sort_nodes(sfu__tables *tables, sfu__pairs *pairs, int threads) {
    sfu_status status = SFU_OK;
    int32_t *order = NULL;
    int32_t *rank = NULL;
    sfu__node_index sorted = {0};
    int64_t largest;
    if (!sfu__node_index_all_plain(&tables->nodes, &largest)) {
        return SFU_OK;
    }
    SFU_TRY(sfu__node_index_sort(&tables->nodes, true, &order));
    SFU_ALLOC(rank, tables->nodes.count);
    for (int64_t r = 0; r < tables->nodes.count; r++) {
        char digits[SFU__DIGITS_MAX];
        size_t size;
        const char *name = sfu__node_index_name(&tables->nodes, order[r], digits, &size);
        SFU_TRY(sfu__poll_at(r));
        SFU_TRY(sfu__node_index_append(&sorted, name, size));
        rank[order[r]] = (int32_t)r;
    }
    SFU_TRY(sfu__pairs_each(pairs, renumber_block, rank, threads, true));
    sfu__node_index_clear(&tables->nodes);
    tables->nodes = sorted;
    sorted = (sfu__node_index){0};
done:
    sfu__node_index_clear(&sorted);
    sfu__free(order);
    sfu__free(rank);
    return status;
}

/* ---- the general path ------------------------------------------------------------------------------------------- */

/* Parses a non-negative weight. */
static sfu_status read_weight(const sfu__csv *csv, size_t column, float *weight) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__csv_number(csv, column, weight));
    if (*weight < 0) {
        status = sfu__csv_fail(csv, column, "is negative; a weight is 0 or more");
    }
    *weight += 0.0f; /* -0 is 0 */
done:
    return status;
}

static sfu_status fail_unknown_node(const sfu__tables *tables, const sfu__csv *csv, size_t column) {
    return sfu__csv_fail(csv, column,
                         tables->fixed ? "is not a node; they are numbered from 0 on"
                                       : "is a node that no other file names, and the import is strict");
}

static sfu_status read_edge(sfu__tables *tables, const sfu__csv *csv, const sfu__edge_columns *columns, int64_t ends[2],
                            float *weight) {
    sfu_status status = SFU_OK;
    const size_t at[2] = {columns->source, columns->target};
    for (size_t i = 0; i < 2; i++) {
        const sfu__csv_field *field = &csv->fields[at[i]];
        if (field->size == 0) {
            status = sfu__csv_fail_row(csv, "field %zu, a node, is empty", at[i] + 1);
            goto done;
        }
        SFU_TRY(node_of(tables, field->bytes, field->size, &ends[i]));
        if (ends[i] < 0) {
            status = fail_unknown_node(tables, csv, at[i]);
            goto done;
        }
    }
    if (columns->weighted) {
        SFU_TRY(read_weight(csv, columns->weight, weight));
    }
done:
    return status;
}

static sfu_status read_general(sfu__tables *tables, sfu__csv *csv, const sfu__edge_columns *columns) {
    sfu_status status = SFU_OK;
    sfu__pair_buffer self = {0};
    int64_t ends[2] = {0};
    float weight = 1;
    bool more;
    for (;;) {
        SFU_TRY(sfu__csv_next(csv, &more));
        if (!more) {
            break;
        }
        SFU_TRY(read_edge(tables, csv, columns, ends, &weight));
        SFU_TRY(sfu__pair_buffer_add(&self, &tables->raw->pairs, ends[0], ends[1], columns->weighted ? &weight : NULL));
    }
    SFU_TRY(sfu__pair_buffer_flush(&self, &tables->raw->pairs));
    if (!tables->named) {
        SFU_TRY(sort_nodes(tables, &tables->raw->pairs, sfu__thread_count(tables->options->threads)));
    }
done:
    sfu__pair_buffer_clear(&self);
    return status;
}

/* ---- the fast path ---------------------------------------------------------------------------------------------- */

static sfu_status number_nodes(sfu__tables *tables, sfu__pairs *pairs, uint32_t largest, int threads) {
    sfu_status status = SFU_OK;
    const int64_t small = 1 << 20;
    if (pairs->count == 0) {
        goto done;
    }
    if (!tables->named && largest <= small + 64 * pairs->count) {
        SFU_TRY(rank_numbers(tables, pairs, largest, threads));
    } else if (tables->named && largest <= small + 4 * (pairs->count + tables->nodes.count)) {
        SFU_TRY(map_numbers(tables, pairs, largest, threads));
    } else {
        SFU_TRY(sfu__pairs_each(pairs, intern_block, tables, 1, true));
        if (!tables->named) {
            SFU_TRY(sort_nodes(tables, pairs, threads));
        }
    }
done:
    return status;
}

sfu_status sfu__tables_number_pairs(sfu__tables *tables, int64_t largest, const char *path) {
    const int threads = sfu__thread_count(tables->options->threads);
    const sfu_status status =
        largest < 0 ? SFU_OK : number_nodes(tables, &tables->raw->pairs, (uint32_t)largest, threads);
    return status != GIVE_UP
               ? status
               : sfu__fail(SFU_ERR_FORMAT, "%s: an edge has a node that no other file names, and the import is strict",
                           path);
}

/* *done is false if the general path must read the file. */
static sfu_status read_fast(sfu__tables *tables, const sfu__csv *csv, const sfu__edge_columns *columns, bool *done) {
    const sfu_import_options *options = tables->options;
    sfu__edge_file file = {.path = csv->path,
                           .offset = sfu__csv_offset(csv),
                           .style = {csv->separator, columns->weighted, columns->weighted && columns->source == 1},
                           .threads = sfu__thread_count(options->threads),
                           .progress = options->progress,
                           .progress_user = options->progress_user,
                           .what = csv->what.bytes};
    sfu_status status = sfu__edges_fast(&tables->raw->pairs, &file);
    *done = status == SFU_OK && file.fits;
    if (*done) {
        status = number_nodes(tables, &tables->raw->pairs, file.largest, file.threads);
        if (status == GIVE_UP) {
            sfu__pairs_clear(&tables->raw->pairs);
            *done = false;
            status = SFU_OK;
        }
    }
    return status;
}

sfu_status sfu__csv_edges(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    sfu__edge_columns columns;
    bool done = false;
    const int64_t before = tables->nodes.count;
    const char *source = tables->options->source_column;
    int64_t number;
    const bool named = source != NULL && !sfu__parse_int64_string(&number, source);
    const sfu__csv_rules rules = {.edges = true, .label = named ? source : NULL};
    SFU_TRY(sfu__tables_open(tables, &csv, path, rules));
    SFU_TRY(sfu__edge_columns_find(&columns, &csv, tables->options));
    if (sfu__edge_columns_plain(&columns, &csv)) {
        SFU_TRY(read_fast(tables, &csv, &columns, &done));
    }
    if (!done) {
        SFU_TRY(read_general(tables, &csv, &columns));
    }
    tables->raw->has_graph = true;
    tables->raw->nodes_only_in_edges = tables->named ? tables->nodes.count - before : 0;
done:
    sfu__csv_close(&csv);
    return status;
}
