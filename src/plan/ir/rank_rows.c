/* rank_rows.c - the nodes of each rank, and the rows of features and smoothing matrices that a rank has.
 *
 * A rank holds the rows of S of its own nodes, read from the mapped graph, and the same rows of the transpose. The
 * other rows of its matrices are empty.
 */
#include "plan_int.h"
#include "progress.h"

#include <string.h>

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

sfu_status sfu__rank_nodes_make(sfu__plan *plan) {
    sfu_status status = SFU_OK;
    const int count = plan->ranks->count;
    SFU_ALLOC(plan->rank_nodes, count + 1);
    for (int r = 0; r <= count; r++) {
        const int64_t *indptr = plan->dataset->graph.indptr, before = r > 0 ? plan->rank_nodes[r - 1] : 0;
        const int64_t at = r == count ? plan->nodes : sfu__row_at(indptr, plan->nodes, (double)r / count);
        plan->rank_nodes[r] = at > before ? at : before; /* also if somebody changes the file */
    }
done:
    return status;
}

int64_t sfu__row_of_node(const sfu__row_set *rows, int64_t node) {
    int64_t low = 0, high = rows->count;
    if (rows->nodes == NULL) {
        return node;
    }
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (rows->nodes[middle] < node) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

sfu__range sfu__rank_rows(const sfu__plan *plan, const sfu__row_set *rows) {
    const int64_t *own = plan->rank_nodes + plan->ranks->rank;
    return (sfu__range){sfu__row_of_node(rows, own[0]), sfu__row_of_node(rows, own[1])};
}

/* A block of rows belongs to the rank that has its middle, so its rows are less than a block away. */
sfu__range sfu__rank_feature_rows(const sfu__plan *plan, const sfu__row_set *rows) {
    const sfu__range own = sfu__rank_rows(plan, rows);
    const int64_t size = sfu__block_rows(rows->count), count = rows->count;
    return sfu__block_count(count) <= 1
               ? (sfu__range){0, count}
               : (sfu__range){own.begin > size ? own.begin - size : 0, own.end + size < count ? own.end + size : count};
}

/* Parts of the gradient belong to the rank that has their middle. */
sfu__range sfu__rank_sparse_rows(const sfu__plan *plan, const sfu__row_set *rows) {
    const int64_t beyond = SFU__ROWS_TRANSPOSED / 2, count = rows->count;
    const sfu__range own = sfu__rank_rows(plan, rows);
    return (sfu__range){own.begin > beyond ? own.begin - beyond : 0,
                        own.end + beyond < count ? own.end + beyond : count};
}

int sfu__rank_of_rows(const sfu__plan *plan, const sfu__row_set *rows, sfu__range some) {
    const int64_t middle = some.begin + (some.end - some.begin) / 2;
    int rank = plan->ranks->count - 1;
    while (rank > 0 && sfu__row_of_node(rows, plan->rank_nodes[rank]) > middle) {
        rank--;
    }
    return rank;
}

sfu_status sfu__rank_sum(int64_t *sum, const sfu__plan *plan, int64_t count) {
    sfu_status status = SFU_OK;
    const sfu__rank_group *ranks = plan->ranks;
    int64_t *counts = NULL, *bounds = NULL;
    SFU_ALLOC_ZERO(counts, ranks->count);
    SFU_ALLOC(bounds, (int64_t)ranks->count + 1);
    if (plan->limit > 0 && ranks->mpi->any(false)) { /* one that lacks memory answers in sfu__resident_make */
        if (plan->others_lack != NULL) {
            *plan->others_lack = true;
        }
        status = sfu__fail(SFU_ERR_MEMORY, "another rank has not enough memory for its part of the plan");
        goto done;
    }
    for (int r = 0; r <= ranks->count; r++) {
        bounds[r] = r;
    }
    counts[ranks->rank] = count;
    ranks->mpi->gather((float *)(void *)counts, (int32_t)(sizeof *counts / sizeof(float)), bounds);
    *sum = 0;
    for (int r = 0; r < ranks->count; r++) {
        *sum += counts[r];
    }
done:
    sfu__free(counts);
    sfu__free(bounds);
    return status;
}

/* ---- rows of S --------------------------------------------------------------------------------------------------- */

/* The column of a node, -1 if the row set does not have it. row_of is its index. */
static int32_t column_of(const sfu__row_set *columns, const int32_t *row_of, int32_t node) {
    if (row_of == NULL) {
        return node;
    }
    return columns->count > 0 && columns->nodes[row_of[node]] == node ? row_of[node] : -1;
}

sfu_status sfu__smoother_rows(sfu_matrix *matrix, int32_t nodes, const sfu__smoother *smoother,
                              const sfu__row_set *rows, sfu__range some, const uint8_t *wanted,
                              const sfu__row_set *columns) {
    sfu_status status = SFU_OK;
    sfu__row_reader reader = {.smoother = smoother};
    size_t capacity = 0;
    int64_t at = 0;
    int32_t *row_of = NULL;
    *matrix = (sfu_matrix){.rows = rows->count, .cols = columns->count};
    SFU_ALLOC_ZERO(matrix->indptr, (int64_t)rows->count + 1);
    SFU_TRY(sfu__row_set_index(&row_of, columns, nodes));
    for (int64_t row = some.begin; row < some.end; row++) {
        const int32_t node = sfu__row_set_node(rows, (int32_t)row);
        SFU_TRY(sfu__poll_at(row));
        matrix->indptr[row + 1] = at;
        if (wanted != NULL && wanted[node] == 0) {
            continue;
        }
        SFU_TRY(sfu__read_row(&reader, node));
        SFU_TRY(sfu__matrix_reserve(matrix, &capacity, at + reader.count));
        for (int64_t e = 0; e < reader.count; e++) {
            const int32_t column = column_of(columns, row_of, reader.columns[e]);
            if (column >= 0) {
                matrix->indices[at] = column;
                matrix->values[at++] = reader.values[e];
            }
        }
        matrix->indptr[row + 1] = at;
    }
    for (int64_t row = some.end; row < rows->count; row++) {
        matrix->indptr[row + 1] = at;
    }
    SFU_TRY(sfu__matrix_fit(matrix));
done:
    sfu__row_reader_clear(&reader);
    sfu__free(row_of);
    return status;
}

sfu_status sfu__rank_smoothing(sfu_matrix *matrix, const sfu__plan *plan, const sfu__smoother *smoother,
                               const sfu__row_set *out, const sfu__row_set *in) {
    return sfu__smoother_rows(matrix, plan->nodes, smoother, out, sfu__rank_rows(plan, out), NULL, in);
}

/* ---- rows of the transpose --------------------------------------------------------------------------------------- */

/* Visits all entries of S in the rows of `out` and the columns [own.begin, own.end) of `in`. With `next` they are
 * filled in, and next[column - own.begin] moves to the end of each row of the transpose; else they are counted in
 * indptr[column + 1]. */
static sfu_status scan(sfu_matrix *transpose, int64_t *next, const sfu__smoother *smoother, const sfu__row_set *out,
                       const sfu__row_set *in, const int32_t *row_of, sfu__range own) {
    sfu_status status = SFU_OK;
    sfu__row_reader reader = {.smoother = smoother};
    for (int32_t row = 0; row < out->count; row++) {
        SFU_TRY(sfu__poll_at(row));
        SFU_TRY(sfu__read_row(&reader, sfu__row_set_node(out, row)));
        for (int64_t e = 0; e < reader.count; e++) {
            const int32_t column = column_of(in, row_of, reader.columns[e]);
            if (column < own.begin || column >= own.end) {
                continue;
            }
            if (next == NULL) {
                transpose->indptr[column + 1]++;
                continue;
            }
            const int64_t at = next[column - own.begin]++;
            if (at < transpose->indptr[column + 1]) { /* else the file has changed */
                transpose->indices[at] = row;
                transpose->values[at] = reader.values[e];
            }
        }
    }
done:
    sfu__row_reader_clear(&reader);
    return status;
}

sfu_status sfu__smoother_columns(sfu_matrix *transpose, int32_t nodes, const sfu__smoother *smoother,
                                 const sfu__row_set *out, const sfu__row_set *in, sfu__range own) {
    sfu_status status = SFU_OK;
    int32_t *row_of = NULL;
    int64_t *next = NULL;
    *transpose = (sfu_matrix){.rows = in->count, .cols = out->count};
    SFU_ALLOC_ZERO(transpose->indptr, (int64_t)in->count + 1);
    SFU_TRY(sfu__row_set_index(&row_of, in, nodes));
    SFU_TRY(scan(transpose, NULL, smoother, out, in, row_of, own));
    for (int32_t row = 0; row < in->count; row++) {
        transpose->indptr[row + 1] += transpose->indptr[row];
    }
    SFU_ALLOC(transpose->indices, transpose->indptr[in->count] + 1);
    SFU_ALLOC(transpose->values, transpose->indptr[in->count] + 1);
    SFU_ALLOC(next, own.end - own.begin);
    memcpy(next, transpose->indptr + own.begin, (size_t)(own.end - own.begin) * sizeof *next);
    SFU_TRY(scan(transpose, next, smoother, out, in, row_of, own));
    SFU_TRY(sfu__check_filled(next, transpose->indptr + own.begin, own.end - own.begin, smoother->stream->graph.what));
done:
    sfu__free(next);
    sfu__free(row_of);
    return status;
}

sfu_status sfu__rank_transpose(sfu_matrix *transpose, const sfu__plan *plan, const sfu__smoother *smoother,
                               const sfu__row_set *out, const sfu__row_set *in) {
    const sfu__range own = sfu__rank_rows(plan, in);
    return smoother->stream->symmetric ? sfu__smoother_rows(transpose, plan->nodes, smoother, in, own, NULL, out)
                                       : sfu__smoother_columns(transpose, plan->nodes, smoother, out, in, own);
}

sfu_status sfu__rank_learned_transpose(sfu_matrix *transpose, int32_t **value_perm, const sfu__plan *plan,
                                       const sfu__learned *learned, const sfu__row_set *out, const sfu__row_set *in,
                                       bool others) {
    sfu_status status = SFU_OK;
    const int32_t *entry_of = NULL;
    const sfu_csr all = sfu__learned_transpose(learned, &entry_of), rows = sfu__learned_pattern(learned);
    const int64_t least = others ? rows.indptr[rows.rows] : 0;
    const sfu__range own = sfu__rank_rows(plan, in);
    int32_t *row_of = NULL;
    int64_t at = 0;
    *transpose = (sfu_matrix){.rows = in->count, .cols = out->count};
    SFU_ALLOC_ZERO(transpose->indptr, (int64_t)in->count + 1);
    SFU_ALLOC(transpose->indices, all.indptr[all.rows]);
    SFU_ALLOC(*value_perm, all.indptr[all.rows]);
    SFU_TRY(sfu__row_set_index(&row_of, out, plan->nodes));
    for (int32_t row = 0; row < in->count; row++) {
        const int32_t node = row >= own.begin && row < own.end ? sfu__row_set_node(in, row) : -1;
        for (int64_t e = node >= 0 ? all.indptr[node] : 0; node >= 0 && e < all.indptr[node + 1]; e++) {
            const int32_t column = column_of(out, row_of, all.indices[e]);
            if (column >= 0 && entry_of[e] >= least) {
                transpose->indices[at] = column;
                (*value_perm)[at++] = entry_of[e];
            }
        }
        transpose->indptr[row + 1] = at;
    }
done:
    sfu__free(row_of);
    return status;
}

/* ---- rows of S for products that are made once ------------------------------------------------------------------- */

/* Marks the nodes whose rows of this smoother ops [first, last) read. */
static void mark_read(uint8_t *wanted, const sfu__plan *plan, const sfu__pass *pass, int smoother, int first,
                      int last) {
    memset(wanted, 0, (size_t)plan->nodes);
    for (int i = first; i < last; i++) {
        const sfu__row_set *rows = &pass->row_sets[i + 1];
        const bool reads = plan->ops[i].kind == SFU__OP_SMOOTH && plan->ops[i].smoothing == smoother;
        for (int32_t row = 0; reads && row < rows->count; row++) {
            wanted[sfu__row_set_node(rows, row)] = 1;
        }
    }
}

sfu_status sfu__smoothers_gather(const sfu__plan *plan, const sfu__pass *pass, int first, int last) {
    sfu_status status = SFU_OK;
    const sfu__row_set all = {.count = plan->nodes};
    uint8_t *wanted = NULL;
    SFU_ALLOC(wanted, pass != NULL ? plan->nodes : 1);
    for (int i = 0; i < plan->smoother_count; i++) {
        sfu__smoother *smoother = &plan->smoothers[i];
        if (smoother->stream == NULL || smoother->learned != NULL) {
            continue;
        }
        if (pass != NULL) {
            mark_read(wanted, plan, pass, i, first, last);
        }
        SFU_TRY(sfu__smoother_rows(&smoother->gathered, plan->nodes, smoother, &all, (sfu__range){0, plan->nodes},
                                   pass != NULL ? wanted : NULL, &all));
        smoother->csr = sfu__matrix_view(&smoother->gathered);
    }
done:
    sfu__free(wanted);
    return status;
}

void sfu__smoothers_scatter(const sfu__plan *plan) {
    for (int i = 0; i < plan->smoother_count; i++) {
        sfu__smoother *smoother = &plan->smoothers[i];
        if (smoother->gathered.indptr != NULL) {
            sfu__matrix_clear(&smoother->gathered);
            smoother->csr = (sfu_csr){.rows = plan->nodes, .cols = plan->nodes};
        }
    }
}
