/* row_sets.c - finds the rows that each op needs: the receptive field of the output nodes.
 *
 * A smoothing computes row i from the columns of the non-zeros in row i of S, and from row i itself if it teleports.
 * Every other op computes row i from row i. So the row sets are found from the output back to the features.
 */
#include "progress.h"
#include "plan_int.h"

#include <string.h>

/* ---- needed rows ------------------------------------------------------------------------------------------------ */

/* stage_of[node] is 1 for the first stage that needs it and so on; 0: not needed. */
static sfu_status mark_rows(uint8_t *stage_of, const sfu__smoother *smoother, const sfu__row_set *out) {
    sfu_status status = SFU_OK;
    sfu__row_reader reader = {.smoother = smoother};
    for (int stage = SFU__STAGES - 1; stage >= 0; stage--) { /* earlier stages overwrite later ones */
        const sfu__range rows = sfu__stage_rows(out, stage);
        for (int64_t row = rows.begin; row < rows.end; row++) {
            const int32_t node = sfu__row_set_node(out, (int32_t)row);
            SFU_TRY(sfu__poll_at(row));
            SFU_TRY(sfu__read_row(&reader, node));
            for (int64_t e = 0; e < reader.count; e++) {
                stage_of[reader.columns[e]] = (uint8_t)(stage + 1);
            }
            stage_of[node] = smoother->teleport > 0.0 ? (uint8_t)(stage + 1) : stage_of[node];
        }
    }
done:
    sfu__row_reader_clear(&reader);
    return status;
}

/* Collects the marked nodes into a row set and clears the marks; all nodes in stage 0 are stored as NULL. */
static sfu_status collect(sfu__row_set *row_set, uint8_t *stage_of, int32_t nodes) {
    sfu_status status = SFU_OK;
    int32_t next[SFU__STAGES + 1] = {0}; /* counts per stage, then the next row of each stage */
    for (int32_t i = 0; i < nodes; i++) {
        next[stage_of[i]]++;
    }
    *row_set = (sfu__row_set){0};
    next[0] = 0;
    for (int stage = 0; stage < SFU__STAGES; stage++) {
        next[stage + 1] += next[stage];
        row_set->ends[stage] = next[stage + 1];
    }
    row_set->count = next[SFU__STAGES];
    if (row_set->ends[0] < nodes) {
        SFU_ALLOC(row_set->nodes, row_set->count);
        for (int32_t i = 0; i < nodes; i++) {
            if (stage_of[i] != 0) {
                row_set->nodes[next[stage_of[i] - 1]++] = i;
            }
        }
    }
done:
    memset(stage_of, 0, (size_t)nodes);
    return status;
}

sfu_status sfu__row_set_ascending(sfu__row_set *ascending, const sfu__row_set *row_set, int32_t nodes) {
    sfu_status status = SFU_OK;
    uint8_t *stage_of = NULL;
    SFU_ALLOC_ZERO(stage_of, nodes);
    for (int32_t row = 0; row < row_set->count; row++) {
        stage_of[sfu__row_set_node(row_set, row)] = 1;
    }
    SFU_TRY(collect(ascending, stage_of, nodes));
done:
    sfu__free(stage_of);
    return status;
}

/* Upper bound on the lengths of all row lists of a pass together, in multiples of the number of nodes. Only networks
 * with more smoothings than this can exceed it; from there on nothing is pruned. */
enum { LIST_LIMIT = 16 };

typedef struct row_set_builder {
    const sfu__plan *plan;
    sfu__row_set *row_sets;
    uint8_t *stage_of; /* [nodes] */
    int64_t listed_rows;
} row_set_builder;

/* The nearest smoothing after op i, if it has the same matrix; else -1. */
static int next_same_smoothing(const sfu__plan *plan, int i) {
    int at = i + 1;
    while (at < plan->op_count && plan->ops[at].kind != SFU__OP_SMOOTH) {
        at++;
    }
    return at < plan->op_count && plan->ops[at].smoothing == plan->ops[i].smoothing ? at : -1;
}

/* Whether the input of smoothing i may share the row list of its output if they are equal: never that of the final
 * output. */
static bool may_share(const row_set_builder *self, int i) {
    return self->row_sets[i + 1].nodes != NULL &&
           self->row_sets[i + 1].nodes != self->row_sets[self->plan->op_count].nodes;
}

static bool same_lists(const sfu__row_set *a, const sfu__row_set *b) {
    return a->nodes != NULL && b->nodes != NULL && a->count == b->count &&
           memcmp(a->ends, b->ends, sizeof a->ends) == 0 &&
           memcmp(a->nodes, b->nodes, (size_t)a->count * sizeof *a->nodes) == 0;
}

static sfu__row_set all_nodes(int32_t nodes) {
    sfu__row_set all = {.count = nodes};
    for (int stage = 0; stage < SFU__STAGES; stage++) {
        all.ends[stage] = nodes;
    }
    return all;
}

/* The input rows of op i. */
static sfu_status find_input_rows(row_set_builder *self, int i) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    const sfu__op *op = &plan->ops[i];
    const sfu__row_set *out = &self->row_sets[i + 1];
    sfu__row_set *in = &self->row_sets[i];
    if (op->kind != SFU__OP_SMOOTH || (out->nodes == NULL && out->count == plan->nodes)) {
        *in = *out;
        return SFU_OK;
    }
    const int later = next_same_smoothing(plan, i);
    if (later >= 0 && self->row_sets[later].nodes == out->nodes && self->row_sets[later + 1].nodes == out->nodes &&
        may_share(self, i)) { /* the same matrix has already mapped these rows to themselves */
        *in = *out;
        return SFU_OK;
    }
    if (self->listed_rows > (int64_t)LIST_LIMIT * plan->nodes) {
        *in = all_nodes(plan->nodes);
        return SFU_OK;
    }
    const sfu__smoother *smoother = &plan->smoothers[op->smoothing];
    SFU_TRY(mark_rows(self->stage_of, smoother, out));
    SFU_TRY(collect(in, self->stage_of, plan->nodes));
    if (may_share(self, i) && same_lists(in, out)) {
        sfu__free(in->nodes);
        in->nodes = out->nodes;
    } else if (in->nodes != NULL) {
        self->listed_rows += in->count;
    }
done:
    return status;
}

/* Marks the requested nodes, or all nodes if nothing is pruned. */
static void mark_asked(uint8_t *stage_of, const sfu__plan *plan, const int32_t *nodes, int32_t count,
                       const sfu__stages *stages) {
    if (nodes == NULL || (plan->rewrites & SFU__PRUNE) == 0) {
        memset(stage_of, 1, (size_t)plan->nodes);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        stage_of[nodes[i]] = stages != NULL ? SFU__STAGES : 1;
    }
    for (int stage = 0, i = 0; stages != NULL && stage < SFU__STAGES - 1; stage++) {
        for (; i < stages->ends[stage]; i++) {
            stage_of[stages->nodes[i]] = (uint8_t)(stage + 1);
        }
    }
}

sfu_status sfu__row_sets_make(sfu__pass *pass, const sfu__plan *plan, const int32_t *nodes, int32_t count,
                              const sfu__stages *stages) {
    sfu_status status = SFU_OK;
    const int last = plan->op_count;
    row_set_builder self = {.plan = plan};
    SFU_ALLOC_ZERO(pass->row_sets, last + 1);
    SFU_ALLOC_ZERO(self.stage_of, plan->nodes);
    self.row_sets = pass->row_sets;
    mark_asked(self.stage_of, plan, nodes, count, stages);
    SFU_TRY(collect(&pass->row_sets[last], self.stage_of, plan->nodes));
    for (int i = last; i-- > 0;) {
        SFU_TRY(sfu__poll());
        SFU_TRY(find_input_rows(&self, i));
    }
done:
    sfu__free(self.stage_of);
    return status;
}

void sfu__row_sets_free(sfu__pass *pass, int op_count) {
    for (int i = 0; pass->row_sets != NULL && i <= op_count; i++) {
        if (i == op_count || pass->row_sets[i].nodes != pass->row_sets[i + 1].nodes) {
            sfu__free(pass->row_sets[i].nodes);
        }
    }
    sfu__free(pass->row_sets);
    pass->row_sets = NULL;
}

sfu_status sfu__row_set_nonzeros(int64_t *nonzeros, const sfu__smoother *smoother, const sfu__row_set *row_set) {
    sfu_status status = SFU_OK;
    sfu__row_reader reader = {.smoother = smoother};
    *nonzeros = 0;
    if (row_set->nodes == NULL) {
        *nonzeros = smoother->stream != NULL ? smoother->stream->nonzeros : smoother->csr.indptr[smoother->csr.rows];
        return SFU_OK;
    }
    for (int32_t row = 0; row < row_set->count; row++) {
        SFU_TRY(sfu__poll_at(row));
        SFU_TRY(sfu__read_row(&reader, row_set->nodes[row]));
        *nonzeros += reader.count;
    }
done:
    sfu__row_reader_clear(&reader);
    return status;
}

sfu_status sfu__row_set_index(int32_t **row_of, const sfu__row_set *row_set, int32_t nodes) {
    sfu_status status = SFU_OK;
    *row_of = NULL;
    if (row_set != NULL && row_set->nodes != NULL) {
        SFU_ALLOC_ZERO(*row_of, nodes);
        for (int32_t row = 0; row < row_set->count; row++) {
            (*row_of)[row_set->nodes[row]] = row;
        }
    }
done:
    return status;
}

sfu_status sfu__row_set_map(int32_t **map, const sfu__row_set *inner, const sfu__row_set *outer, int32_t nodes) {
    sfu_status status = SFU_OK;
    int32_t *row_of = NULL;
    *map = NULL;
    if (inner->nodes == outer->nodes && inner->count == outer->count) {
        return SFU_OK;
    }
    SFU_TRY(sfu__row_set_index(&row_of, outer, nodes));
    SFU_ALLOC(*map, inner->count);
    for (int32_t row = 0; row < inner->count; row++) {
        const int32_t node = sfu__row_set_node(inner, row);
        (*map)[row] = row_of != NULL ? row_of[node] : node;
    }
done:
    sfu__free(row_of);
    return status;
}
