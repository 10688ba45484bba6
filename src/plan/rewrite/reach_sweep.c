/* reach_sweep.c - propagates sampled rows through smoothing ops, part by part. */
#include "reach_sweep.h"

#include "process_memory.h"
#include "progress.h"
#include "stream.h"

#include <string.h>

enum { WORD = 64 };

/* ---- lists of nodes --------------------------------------------------------------------------------------------- */

/* Space for another node in `others`: twice as much as before, but never for more nodes than there are. Within a limit
 * long lists get all the space that they can need: copies of growing lists would leave holes in the heap. */
static sfu_status grow_others(sfu__reach_part *self, const sfu__plan *plan) {
    enum { SHORT_LIST = 1 << 15 };
    const size_t nodes = (size_t)plan->nodes, twice = 2 * self->others_capacity + 64;
    const bool all = twice >= nodes || (plan->memory > 0 && twice > SHORT_LIST);
    const size_t capacity = all ? nodes : twice;
    const size_t more = (capacity - self->others_capacity) * ((size_t)self->words * sizeof *self->next + 4);
    const int64_t bytes = sfu__process_memory() + (int64_t)more;
    if (plan->memory > 0 && bytes > plan->memory) {
        sfu__memory_refuse(sfu__memory_used() + more);
        return sfu__fail(SFU_ERR_MEMORY, "out of memory within the limit");
    }
    int32_t *others = sfu__resize(self->others, capacity, sizeof *others);
    if (others == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->others = others;
    uint64_t *next = sfu__resize(self->next, capacity * (size_t)self->words, sizeof *next);
    if (next == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->next = next;
    self->others_capacity = capacity;
    return SFU_OK;
}

/* Appends a node that nothing reaches yet to `others`. */
static sfu_status add_node(sfu__reach_part *self, const sfu__plan *plan, int32_t node) {
    const size_t words = (size_t)self->words, at = (size_t)self->count;
    const sfu_status status = at < self->others_capacity ? SFU_OK : grow_others(self, plan);
    if (status != SFU_OK) {
        return status;
    }
    self->others[at] = node;
    memset(self->next + at * words, 0, words * sizeof *self->next);
    self->position[node] = ++self->count;
    return SFU_OK;
}

static void swap_lists(sfu__reach_part *self) {
    uint64_t *masks = self->current;
    int32_t *nodes = self->nodes;
    const size_t capacity = self->nodes_capacity;
    self->current = self->next;
    self->nodes = self->others;
    self->nodes_capacity = self->others_capacity;
    self->next = masks;
    self->others = nodes;
    self->others_capacity = capacity;
    for (int32_t i = 0; i < self->count; i++) {
        self->position[self->nodes[i]] = 0;
    }
}

static int64_t bits_of(const uint64_t *mask, int64_t words) {
    int64_t bits = 0;
    for (int64_t w = 0; w < words; w++) {
        bits += __builtin_popcountll(mask[w]);
    }
    return bits;
}

/* Swaps current and next; returns whether they are equal. */
static bool swap_sets(sfu__reach_part *self, int32_t count_before) {
    const int64_t words = self->words, before = self->reached;
    self->reached = 0;
    for (int32_t i = 0; i < self->count; i++) {
        self->reached += bits_of(self->next + i * words, self->words);
    }
    bool same = self->reached == before && self->count == count_before;
    for (int32_t i = 0; same && i < count_before; i++) {
        const int64_t at = (int64_t)self->position[self->nodes[i]] - 1;
        same = at >= 0 &&
               memcmp(self->current + i * words, self->next + at * words, (size_t)words * sizeof *self->current) == 0;
    }
    swap_lists(self);
    return same;
}

/* ---- one step of one part --------------------------------------------------------------------------------------- */

/* Adds the rows in `from` to those that reach this node. */
static sfu_status reach_node(sfu__reach_part *self, const sfu__plan *plan, int32_t node, const uint64_t *from) {
    const sfu_status status = self->position[node] != 0 ? SFU_OK : add_node(self, plan, node);
    if (status != SFU_OK) {
        return status;
    }
    uint64_t *to = self->next + (int64_t)(self->position[node] - 1) * self->words;
    for (int w = 0; w < self->words; w++) {
        to[w] |= from[w];
    }
    return SFU_OK;
}

/* Counts the words of a visit, once for all parts. */
static void count_visit(sfu__reach *self, int32_t node, int64_t entries) {
    if (self->visited != NULL && self->visited[node] != 0) {
        return;
    }
    self->words_visited += (double)entries * self->words;
    if (self->visited != NULL) {
        self->visited[node] = 1;
    }
}

/* *same: the step has changed nothing. A repeated step is not counted. */
static sfu_status propagate(bool *same, sfu__reach *self, const sfu__smoother *smoother, bool repeated) {
    sfu_status status = SFU_OK;
    sfu__reach_part *part = &self->part;
    sfu__row_reader reader = {.smoother = smoother};
    const int32_t count = part->count;
    part->count = 0;
    for (int32_t i = 0; i < count; i++) {
        const int32_t node = part->nodes[i];
        const uint64_t *from = part->current + (int64_t)i * part->words;
        SFU_TRY(sfu__poll_at(i));
        SFU_TRY(sfu__read_row(&reader, node));
        for (int64_t e = 0; e < reader.count; e++) {
            SFU_TRY(reach_node(part, self->plan, reader.columns[e], from));
        }
        SFU_TRY(smoother->teleport > 0.0 ? reach_node(part, self->plan, node, from) : SFU_OK);
        if (!repeated) {
            self->last_step += (double)reader.count * (double)bits_of(from, part->words);
            count_visit(self, node, reader.count + 1);
        }
    }
    *same = swap_sets(part, count);
done:
    sfu__row_reader_clear(&reader);
    return status;
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* The rows of a part at their own nodes. */
static sfu_status start_part(sfu__reach *self, int number) {
    sfu_status status = SFU_OK;
    sfu__reach_part *part = &self->part;
    const int32_t first = number * part->words * WORD, left = self->sampled - first;
    const int32_t count = left < part->words * WORD ? left : part->words * WORD;
    part->count = 0;
    for (int32_t i = 0; i < count; i++) {
        SFU_TRY(add_node(part, self->plan, self->start[first + i]));
        part->next[(int64_t)i * part->words + i / WORD] = UINT64_C(1) << (i % WORD);
    }
    swap_lists(part);
    part->reached = count;
    part->number = number;
done:
    return status;
}

/* Brings a part into memory as it is after the steps so far. */
static sfu_status load_part(sfu__reach *self, int number) {
    sfu_status status = SFU_OK;
    bool same = false;
    if (number == self->part.number) {
        return SFU_OK;
    }
    SFU_TRY(start_part(self, number));
    for (size_t i = 0; i < self->step_count; i++) {
        if (!same || self->steps[i] != self->steps[i - 1]) {
            SFU_TRY(propagate(&same, self, &self->plan->smoothers[self->steps[i]], true));
        }
    }
done:
    return status;
}

/* The number of the n-th part to visit: the one in memory first. */
static int part_after(const sfu__reach *self, int n) { return (self->part.number + (n > 0)) % self->part_count; }

static void forget_visits(sfu__reach *self) {
    if (self->visited != NULL) {
        memset(self->visited, 0, (size_t)self->plan->nodes);
    }
}

int sfu__reach_widest = SFU__SAMPLE_WORDS;

/* Bytes of the rows that a step reads at once, and of short lists. */
static int64_t reader_bytes(const sfu__plan *plan) {
    enum { LISTS = 1 << 16 };
    return plan->smoother_count > 0 ? LISTS + SFU__ENTRY_BYTES * plan->smoothers[0].stream->ahead : LISTS;
}

/* Words of a part: all, or as many as fit into the limit if every node is reached. */
static int words_that_fit(const sfu__plan *plan, int words) {
    int most = words < sfu__reach_widest ? words : sfu__reach_widest;
    while (plan->memory > 0 && most > 1) {
        const int64_t bytes = 4 + 2 * (8 * (int64_t)most + 4) + (most < words);
        if (sfu__process_memory() + plan->nodes * bytes + reader_bytes(plan) <= plan->memory) {
            break;
        }
        most = (most + 1) / 2;
    }
    return most;
}

/* ---- the sweep -------------------------------------------------------------------------------------------------- */

void sfu__reach_clear(sfu__reach *self) {
    sfu__free(self->part.current);
    sfu__free(self->part.next);
    sfu__free(self->part.nodes);
    sfu__free(self->part.others);
    sfu__free(self->part.position);
    sfu__free(self->start);
    sfu__free(self->steps);
    sfu__free(self->visited);
    *self = (sfu__reach){0};
}

/* The nodes of all rows, or of an evenly spaced sample. */
static sfu_status choose_sample(sfu__reach *self, const sfu__row_set *row_set) {
    sfu_status status = SFU_OK;
    sfu__row_set ascending = {0};
    self->rows = row_set->count;
    self->sampled = self->rows < SFU__SAMPLE_MOST ? self->rows : SFU__SAMPLE_MOST;
    SFU_ALLOC(self->start, self->sampled);
    SFU_TRY(sfu__row_set_ascending(&ascending, row_set, self->plan->nodes));
    for (int32_t i = 0; i < self->sampled; i++) {
        self->start[i] = sfu__row_set_node(&ascending, (int32_t)((int64_t)i * self->rows / self->sampled));
    }
done:
    sfu__free(ascending.nodes);
    return status;
}

sfu_status sfu__reach_start(sfu__reach *self, const sfu__plan *plan, const sfu__row_set *row_set) {
    sfu_status status = SFU_OK;
    const double words_visited = self->words_visited;
    sfu__reach_clear(self);
    self->plan = plan;
    self->words_visited = words_visited;
    SFU_TRY(choose_sample(self, row_set));
    self->words = (self->sampled + WORD - 1) / WORD;
    self->part.words = words_that_fit(plan, self->words);
    self->part_count = self->words > 0 ? (self->words + self->part.words - 1) / self->part.words : 1;
    if (self->part_count > 1) {
        SFU_ALLOC(self->visited, plan->nodes);
    }
    SFU_ALLOC_ZERO(self->part.position, plan->nodes);
    SFU_TRY(start_part(self, 0));
    self->reached = self->sampled;
done:
    return status;
}

/* All parts go through a smoothing that they have not settled under. */
static sfu_status step_parts(sfu__reach *self, int smoothing) {
    sfu_status status = SFU_OK;
    int64_t reached = 0;
    bool all_same = true, same;
    self->last_step = 0.0;
    forget_visits(self);
    for (int n = 0; n < self->part_count; n++) {
        SFU_TRY(load_part(self, part_after(self, n)));
        SFU_TRY(propagate(&same, self, &self->plan->smoothers[smoothing], false));
        all_same = all_same && same;
        reached += self->part.reached;
    }
    if (self->part_count > 1) {
        SFU__APPEND(self->steps, self->step_count, self->step_capacity, smoothing);
    }
    self->reached = reached;
    self->settled = all_same;
    self->settled_under = smoothing;
done:
    return status;
}

sfu_status sfu__reach_step(sfu__reach *self, int i) {
    sfu_status status = SFU_OK;
    const int smoothing = self->plan->ops[i].smoothing;
    if (!self->settled || self->settled_under != smoothing) {
        SFU_TRY(step_parts(self, smoothing));
    }
    self->walked += self->last_step;
done:
    return status;
}

/* ---- features --------------------------------------------------------------------------------------------------- */

/* seen[column]: the rows of the part in memory that reach an entry of this column. */
static sfu_status see_features(sfu__reach *self, uint64_t *seen, sfu__row_block *block) {
    sfu_status status = SFU_OK;
    const sfu__reach_part *part = &self->part;
    const sfu_csr *X = &self->plan->dataset->sparse;
    const sfu__mapped_csr mapped = sfu__dataset_mapped_features(self->plan->dataset);
    const int words = part->words;
    memset(seen, 0, (size_t)self->plan->features * (size_t)words * sizeof *seen);
    for (int32_t i = 0; i < part->count; i++) {
        const int32_t node = part->nodes[i];
        const uint64_t *from = part->current + (int64_t)i * words;
        const int64_t *indptr = X->indptr + node;
        const int32_t *indices = X->indices;
        if (self->plan->memory > 0) {
            SFU_TRY(sfu__row_block_read(block, &mapped, node, (int64_t)node + 1));
            indptr = block->indptr;
            indices = block->indices;
        }
        for (int64_t e = indptr[0]; e < indptr[1]; e++) {
            for (int w = 0; w < words; w++) {
                seen[(int64_t)indices[e] * words + w] |= from[w];
            }
        }
        count_visit(self, node, indptr[1] - indptr[0]);
    }
done:
    return status;
}

sfu_status sfu__reach_features(double *count, sfu__reach *self, uint64_t *seen) {
    sfu_status status = SFU_OK;
    sfu__row_block block = {0};
    int64_t bits = 0;
    *count = (double)self->sampled * self->plan->features;
    if (self->plan->dataset->sparse.rows == 0) {
        return SFU_OK;
    }
    forget_visits(self);
    for (int n = 0; n < self->part_count; n++) {
        SFU_TRY(load_part(self, part_after(self, n)));
        SFU_TRY(see_features(self, seen, &block));
        bits += bits_of(seen, (int64_t)self->plan->features * self->part.words);
    }
    *count = (double)bits;
done:
    sfu__row_block_clear(&block);
    return status;
}
