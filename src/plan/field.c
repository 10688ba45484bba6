/* field.c - which rows a pass needs at each link, and the blocks of S between them.
 *
 * A link other than smoothing makes a row from the same row. A smoothing makes row i from the rows at which row i of S
 * has an entry, and from i itself where it teleports. So the rows are found from the last link back to the features.
 */
#include "notify.h"
#include "plan_int.h"

#include <string.h>

/* ---- fields ----------------------------------------------------------------------------------------------------- */

/* A node's mark is 1 for the first look that needs it, and so on; 0: none does. */
static void mark_row(uint8_t *marks, const sfu_csr *csr, int32_t node, bool itself, uint8_t mark) {
    for (int64_t e = csr->indptr[node]; e < csr->indptr[node + 1]; e++) {
        marks[csr->indices[e]] = mark;
    }
    if (itself) {
        marks[node] = mark;
    }
}

static void mark_rows(uint8_t *marks, const sfu_csr *csr, const sfu__field *out, bool itself) {
    for (int look = SFU__LOOKS - 1; look >= 0; look--) { /* the earlier ones over the later ones */
        const sfu__range rows = sfu__look_rows(out, look);
        for (int64_t row = rows.begin; row < rows.end; row++) {
            mark_row(marks, csr, sfu__field_node(out, (int32_t)row), itself, (uint8_t)(look + 1));
        }
    }
}

/* The marked nodes as a field, the marks cleared; all nodes where all are marked for the first look. */
static sfu_status collect(sfu__field *field, uint8_t *marks, int32_t nodes) {
    sfu_status status = SFU_OK;
    int32_t next[SFU__LOOKS + 1] = {0}; /* [look]: where its next row goes; counts before that */
    for (int32_t i = 0; i < nodes; i++) {
        next[marks[i]]++;
    }
    *field = (sfu__field){0};
    next[0] = 0;
    for (int look = 0; look < SFU__LOOKS; look++) {
        next[look + 1] += next[look];
        field->ends[look] = next[look + 1];
    }
    field->count = next[SFU__LOOKS];
    if (field->ends[0] < nodes) {
        SFU_ALLOC(field->nodes, field->count);
        for (int32_t i = 0; i < nodes; i++) {
            if (marks[i] != 0) {
                field->nodes[next[marks[i] - 1]++] = i;
            }
        }
    }
done:
    memset(marks, 0, (size_t)nodes);
    return status;
}

sfu_status sfu__field_ascending(sfu__field *ascending, const sfu__field *field, int32_t nodes) {
    sfu_status status = SFU_OK;
    uint8_t *marks = NULL;
    SFU_ALLOC_ZERO(marks, nodes);
    for (int32_t row = 0; row < field->count; row++) {
        marks[sfu__field_node(field, row)] = 1;
    }
    SFU_TRY(collect(ascending, marks, nodes));
done:
    sfu__free(marks);
    return status;
}

/* Rows that all lists of a pass may have together, in nodes of the graph. Beyond that nothing is pruned: only what has
 * more than so many smoothings can need it. */
enum { LISTS_MOST = 16 };

typedef struct field_maker {
    const sfu__plan *plan;
    sfu__field *fields;
    uint8_t *marks; /* [nodes] */
    int64_t listed;
} field_maker;

/* The smoothing next to link i, before it (-1) or behind it (1), where it has the same matrix; -1: there is none. */
static int like_smoothing(const sfu__plan *plan, int i, int direction) {
    int at = i + direction;
    while (at >= 0 && at < plan->link_count && plan->links[at].kind != SFU__LINK_SMOOTH) {
        at += direction;
    }
    return at >= 0 && at < plan->link_count && plan->links[at].smoothing == plan->links[i].smoothing ? at : -1;
}

/* Whether what comes into smoothing i may have the list of what comes out of it, if it is the same: where sorting would
 * put both into the same order, and never the list of the output. */
static bool may_share(const field_maker *self, int i) {
    return like_smoothing(self->plan, i, -1) >= 0 && self->fields[i + 1].nodes != NULL &&
           self->fields[i + 1].nodes != self->fields[self->plan->link_count].nodes;
}

static bool same_lists(const sfu__field *a, const sfu__field *b) {
    return a->nodes != NULL && b->nodes != NULL && a->count == b->count &&
           memcmp(a->ends, b->ends, sizeof a->ends) == 0 &&
           memcmp(a->nodes, b->nodes, (size_t)a->count * sizeof *a->nodes) == 0;
}

static sfu__field all_nodes(int32_t nodes) {
    sfu__field all = {.count = nodes};
    for (int look = 0; look < SFU__LOOKS; look++) {
        all.ends[look] = nodes;
    }
    return all;
}

/* What comes into link i. */
static sfu_status field_before(field_maker *self, int i) {
    sfu_status status = SFU_OK;
    const sfu__plan *plan = self->plan;
    const sfu__link *link = &plan->links[i];
    const sfu__field *out = &self->fields[i + 1];
    sfu__field *in = &self->fields[i];
    if (link->kind != SFU__LINK_SMOOTH || (out->nodes == NULL && out->count == plan->nodes)) {
        *in = *out;
        return SFU_OK;
    }
    const int later = like_smoothing(plan, i, 1);
    if (later >= 0 && self->fields[later].nodes == out->nodes && self->fields[later + 1].nodes == out->nodes &&
        may_share(self, i)) { /* the same matrix has led from these rows to these rows */
        *in = *out;
        return SFU_OK;
    }
    if (self->listed > (int64_t)LISTS_MOST * plan->nodes) {
        *in = all_nodes(plan->nodes);
        return SFU_OK;
    }
    const sfu__smoother *smoother = &plan->smoothers[link->smoothing];
    mark_rows(self->marks, &smoother->csr, out, smoother->teleport > 0.0);
    SFU_TRY(collect(in, self->marks, plan->nodes));
    if (may_share(self, i) && same_lists(in, out)) {
        sfu__free(in->nodes);
        in->nodes = out->nodes;
    } else if (in->nodes != NULL) {
        self->listed += in->count;
    }
done:
    return status;
}

/* What is asked for, or all where nothing is pruned. */
static void mark_asked(uint8_t *marks, const sfu__plan *plan, const int32_t *nodes, int32_t count,
                       const sfu__looks *looks) {
    if (nodes == NULL || (plan->rewrites & SFU__PRUNE) == 0) {
        memset(marks, 1, (size_t)plan->nodes);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        marks[nodes[i]] = looks != NULL ? SFU__LOOKS : 1;
    }
    for (int look = 0, i = 0; looks != NULL && look < SFU__LOOKS - 1; look++) {
        for (; i < looks->ends[look]; i++) {
            marks[looks->nodes[i]] = (uint8_t)(look + 1);
        }
    }
}

sfu_status sfu__fields_make(sfu__pass *pass, const sfu__plan *plan, const int32_t *nodes, int32_t count,
                            const sfu__looks *looks) {
    sfu_status status = SFU_OK;
    const int last = plan->link_count;
    field_maker self = {.plan = plan};
    SFU_ALLOC_ZERO(pass->fields, last + 1);
    SFU_ALLOC_ZERO(self.marks, plan->nodes);
    self.fields = pass->fields;
    mark_asked(self.marks, plan, nodes, count, looks);
    SFU_TRY(collect(&pass->fields[last], self.marks, plan->nodes));
    for (int i = last; i-- > 0;) {
        SFU_TRY(sfu__poll());
        SFU_TRY(field_before(&self, i));
    }
done:
    sfu__free(self.marks);
    return status;
}

/* Seen to pay up to 10,964 rows. More are left as they stand, for what they are gathered from is then far away, and
 * neighbours of a graph may be neighbours in memory. */
enum { ROWS_SORTED = 1 << 14 };

sfu_status sfu__fields_sort(sfu__pass *pass, const sfu__plan *plan) {
    sfu_status status = SFU_OK;
    const sfu__field *last = &pass->fields[plan->link_count];
    for (int i = 0; i < plan->link_count; i++) {
        sfu__field *field = &pass->fields[i];
        const bool sorted = i > 0 && field->nodes == pass->fields[i - 1].nodes;
        if (field->nodes == NULL || field->nodes == last->nodes || field->count > ROWS_SORTED || sorted) {
            continue;
        }
        const sfu_csr *csr = i == 0 ? &plan->dataset->sparse : &plan->smoothers[plan->links[i - 1].smoothing].csr;
        if (csr->indptr != NULL) {
            SFU_TRY(sfu__sort_looks_by_length(field->nodes, field, csr->indptr));
        }
    }
done:
    return status;
}

void sfu__fields_free(sfu__pass *pass, int link_count) {
    for (int i = 0; pass->fields != NULL && i <= link_count; i++) {
        if (i == link_count || pass->fields[i].nodes != pass->fields[i + 1].nodes) {
            sfu__free(pass->fields[i].nodes);
        }
    }
    sfu__free(pass->fields);
    pass->fields = NULL;
}

int64_t sfu__field_nonzeros(const sfu_csr *csr, const sfu__field *field) {
    if (field->nodes == NULL) {
        return csr->indptr[csr->rows];
    }
    int64_t sum = 0;
    for (int32_t row = 0; row < field->count; row++) {
        sum += csr->indptr[field->nodes[row] + 1] - csr->indptr[field->nodes[row]];
    }
    return sum;
}

sfu_status sfu__field_rows(int32_t **row_of, const sfu__field *field, int32_t nodes) {
    sfu_status status = SFU_OK;
    *row_of = NULL;
    if (field != NULL && field->nodes != NULL) {
        SFU_ALLOC_ZERO(*row_of, nodes);
        for (int32_t row = 0; row < field->count; row++) {
            (*row_of)[field->nodes[row]] = row;
        }
    }
done:
    return status;
}

sfu_status sfu__field_map(int32_t **map, const sfu__field *inner, const sfu__field *outer, int32_t nodes) {
    sfu_status status = SFU_OK;
    int32_t *row_of = NULL;
    *map = NULL;
    if (inner->nodes == outer->nodes && inner->count == outer->count) {
        return SFU_OK;
    }
    SFU_TRY(sfu__field_rows(&row_of, outer, nodes));
    SFU_ALLOC(*map, inner->count);
    for (int32_t row = 0; row < inner->count; row++) {
        const int32_t node = sfu__field_node(inner, row);
        (*map)[row] = row_of != NULL ? row_of[node] : node;
    }
done:
    sfu__free(row_of);
    return status;
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

void sfu__block_clear(sfu__block *block) {
    sfu__matrix_clear(&block->own);
    sfu__free(block->order);
    sfu__free(block->turn);
    sfu__free(block->short_indices);
    sfu__free(block->row_values);
    sfu__columns_free(block->columns);
    sfu__groups_free(block->groups);
    *block = (sfu__block){0};
}

static void view_own(sfu__block *block) {
    block->view = (sfu__sparse){.rows = block->own.rows,
                                .cols = block->own.cols,
                                .indptr = block->own.indptr,
                                .indices = block->own.indices,
                                .values = block->own.values,
                                .order = block->order};
}

sfu_status sfu__block_take(sfu__block *block, sfu_matrix *matrix) {
    sfu_status status = SFU_OK;
    block->own = *matrix;
    *matrix = (sfu_matrix){0};
    if (block->own.values == NULL) { /* all ones: kernels want them spelled out */
        const int64_t count = block->own.indptr[block->own.rows];
        SFU_ALLOC(block->own.values, count);
        for (int64_t e = 0; e < count; e++) {
            block->own.values[e] = 1.0F;
        }
    }
    view_own(block);
done:
    return status;
}

/* The entries of S in these rows; of a learned one, where their values stand. */
static void copy_rows(sfu__block *block, const sfu__smoother *smoother, const sfu__field *out,
                      const int32_t *column_of) {
    const sfu_csr *csr = &smoother->csr;
    int64_t at = 0;
    for (int32_t row = 0; row < out->count; row++) {
        const int32_t node = sfu__field_node(out, row);
        for (int64_t e = csr->indptr[node]; e < csr->indptr[node + 1]; e++, at++) {
            block->own.indices[at] = column_of != NULL ? column_of[csr->indices[e]] : csr->indices[e];
            if (smoother->learned != NULL) {
                block->order[at] = (int32_t)e;
            } else {
                block->own.values[at] = csr->values[e];
            }
        }
        block->own.indptr[row + 1] = at;
    }
}

static void borrow(sfu__block *block, const sfu__smoother *smoother) {
    const sfu_csr *csr = &smoother->csr;
    block->view = (sfu__sparse){
        .rows = csr->rows, .cols = csr->cols, .indptr = csr->indptr, .indices = csr->indices, .values = csr->values};
}

sfu_status sfu__block_of(sfu__block *block, const sfu__smoother *smoother, const sfu__field *out, const sfu__field *in,
                         int32_t nodes) {
    sfu_status status = SFU_OK;
    int32_t *column_of = NULL;
    *block = (sfu__block){.where = smoother->learned != NULL ? SFU__VALUES_LEARNED : SFU__VALUES_FIXED,
                          .offset = smoother->values_offset};
    if (out->nodes == NULL && in->nodes == NULL) {
        borrow(block, smoother);
        return SFU_OK;
    }
    const int64_t count = sfu__field_nonzeros(&smoother->csr, out);
    SFU_TRY(sfu__field_rows(&column_of, in, nodes));
    block->own = (sfu_matrix){.rows = out->count, .cols = in->count};
    SFU_ALLOC_ZERO(block->own.indptr, (int64_t)out->count + 1);
    SFU_ALLOC(block->own.indices, count);
    if (smoother->learned != NULL) {
        SFU_ALLOC(block->order, count);
    } else {
        SFU_ALLOC(block->own.values, count);
    }
    copy_rows(block, smoother, out, column_of);
    view_own(block);
done:
    sfu__free(column_of);
    return status;
}

/* Entries of the transpose go to their rows in the order of the original's rows: each row comes out ascending. Row i of
 * the original stands at place_of[i], or at i where that is NULL. */
static void scatter(sfu__block *block, const sfu__sparse *of, const int32_t *place_of, int64_t begin, int64_t end) {
    int64_t *next = block->own.indptr; /* [c + 1] is where row c goes on, and ends as its end */
    for (int64_t row = begin; row < end; row++) {
        const int64_t at = place_of != NULL ? place_of[row] : row;
        for (int64_t e = of->indptr[at]; e < of->indptr[at + 1]; e++) {
            const int64_t to = next[of->indices[e] + 1]++;
            block->own.indices[to] = (int32_t)row;
            block->order[to] = of->order != NULL ? of->order[e] : (int32_t)e;
        }
    }
}

sfu_status sfu__places_in_turn(int32_t **place_of, const sfu__sparse *of) {
    sfu_status status = SFU_OK;
    *place_of = NULL;
    if (of->turn != NULL) {
        SFU_ALLOC(*place_of, of->rows);
        for (int32_t i = 0; i < of->rows; i++) {
            (*place_of)[of->turn[i]] = i;
        }
    }
done:
    return status;
}

/* indptr[c + 2] = the entries of column c in these rows. */
static int64_t count_columns(int64_t *indptr, const sfu__sparse *of, const int32_t *place_of, int64_t begin,
                             int64_t end) {
    int64_t count = 0;
    for (int64_t row = begin; row < end; row++) {
        const int64_t at = place_of != NULL ? place_of[row] : row;
        for (int64_t e = of->indptr[at]; e < of->indptr[at + 1]; e++) {
            indptr[of->indices[e] + 2]++;
        }
        count += of->indptr[at + 1] - of->indptr[at];
    }
    return count;
}

sfu_status sfu__block_transpose(sfu__block *block, const sfu__block *of, int64_t begin_row, int64_t end_row) {
    sfu_status status = SFU_OK;
    const sfu__sparse *view = &of->view;
    const int64_t last = view->indptr[view->turn != NULL ? view->rows : end_row];
    int32_t *place_of = NULL;
    *block = (sfu__block){.where = of->where, .offset = of->offset, .dropped = of->dropped, .marks = of->marks};
    block->own = (sfu_matrix){.rows = view->cols, .cols = view->rows};
    if (last > INT32_MAX && view->order == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "a training pass over %lld non-zeros is too large; fewer labels would be right",
                         (long long)last);
    }
    SFU_TRY(sfu__places_in_turn(&place_of, view));
    SFU_ALLOC_ZERO(block->own.indptr, (int64_t)view->cols + 2);
    int64_t *indptr = block->own.indptr;
    const int64_t count = count_columns(indptr, view, place_of, begin_row, end_row);
    SFU_ALLOC(block->own.indices, count);
    SFU_ALLOC(block->order, count);
    for (int64_t c = 0; c <= view->cols; c++) { /* shifted by one: scatter moves the starts to the ends */
        indptr[c + 1] += indptr[c];
    }
    scatter(block, view, place_of, begin_row, end_row);
    view_own(block);
    block->view.values = view->values;
done:
    sfu__free(place_of);
    return status;
}

sfu_status sfu__block_own_values(sfu__block *block) {
    sfu_status status = SFU_OK;
    const sfu__sparse *view = &block->view;
    const int64_t count = view->indptr[view->rows];
    SFU_ALLOC(block->own.values, count);
    for (int64_t e = 0; e < count; e++) {
        block->own.values[e] = view->values[block->order[e]];
    }
    if (block->dropped == 0) {
        sfu__free(block->order);
        block->order = NULL;
    }
    view_own(block);
done:
    return status;
}
