/* learned_entries.c - finds the entries of a smoothing matrix with trained parameters, by rows and by columns. */
#include "learned_entries.h"

#include "progress.h"
#include "smoothing_int.h"

#include <assert.h>
#include <string.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The number of entries of a row: those of A and the diagonal. */
static int64_t row_entries(const sfu__edges *graph, int64_t row) {
    const int64_t begin = graph->csr->indptr[row - graph->first], end = graph->csr->indptr[row - graph->first + 1];
    for (int64_t i = begin; i < end && graph->csr->indices[i] <= row; i++) {
        if (graph->csr->indices[i] == row) {
            return end - begin;
        }
    }
    return end - begin + 1;
}

static void fill_row(sfu__learned_entries *self, const sfu__edges *graph, int32_t row) {
    const sfu_csr *A = graph->csr;
    const int64_t end = A->indptr[row - graph->first + 1];
    int64_t position = self->rows.indptr[row];
    bool diagonal_due = true;
    for (int64_t i = A->indptr[row - graph->first]; i < end || diagonal_due;) {
        const bool more = i < end;
        const bool diagonal = diagonal_due && (!more || A->indices[i] >= row);
        const bool edge = more && (!diagonal || A->indices[i] == row);
        self->rows.indices[position] = diagonal ? row : A->indices[i];
        self->edges[position] = !edge ? 0.0F : A->values != NULL ? A->values[i] : 1.0F;
        diagonal_due = diagonal_due && !diagonal;
        i += edge;
        position++;
    }
    assert(position == self->rows.indptr[row + 1]);
}

/* Counts the entries of the rows; those of other nodes are empty. */
static sfu_status count_rows(sfu__learned_entries *self, const sfu__edges *graph) {
    sfu_status status = SFU_OK;
    const int32_t n = graph->csr->cols;
    self->rows.rows = self->rows.cols = n;
    SFU_ALLOC_ZERO(self->rows.indptr, (size_t)n + 1);
    for (int32_t row = self->first; row < n; row++) {
        self->rows.indptr[row + 1] = self->rows.indptr[row] + (row < self->end ? row_entries(graph, row) : 0);
    }
done:
    return status;
}

/* Memory for so many entries; those that are there stay. */
static sfu_status reserve(sfu__learned_entries *self, int64_t count) {
    if (count > INT32_MAX) {
        return sfu__fail(SFU_ERR_UNSUPPORTED,
                         "smoothing: learn= with %lld entries in the smoothing matrix; up to %d can be learned from",
                         (long long)count, INT32_MAX);
    }
    int32_t *indices = sfu__resize(self->rows.indices, (size_t)count, sizeof *indices);
    self->rows.indices = indices != NULL ? indices : self->rows.indices;
    float *edges = indices != NULL ? sfu__resize(self->edges, (size_t)count, sizeof *edges) : NULL;
    self->edges = edges != NULL ? edges : self->edges;
    self->count = count;
    return edges != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

static sfu_status fill_rows(sfu__learned_entries *self, const sfu__edges *graph) {
    sfu_status status = SFU_OK;
    SFU_TRY(reserve(self, self->rows.indptr[self->rows.rows]));
    for (int32_t row = self->first; row < self->end; row++) {
        fill_row(self, graph, row);
    }
done:
    return status;
}

/* ---- all rows ---------------------------------------------------------------------------------------------------- */

static sfu_status transpose_all(sfu__learned_entries *self) {
    sfu_status status = SFU_OK;
    const sfu_matrix *to = &self->transpose, *from = &self->rows;
    const int32_t n = from->rows;
    self->transpose.rows = self->transpose.cols = n;
    SFU_ALLOC_ZERO(self->transpose.indptr, (size_t)n + 2);
    SFU_ALLOC(self->transpose.indices, from->indptr[n]);
    SFU_ALLOC(self->value_perm, from->indptr[n]);
    /* indptr[j + 1] is the next free entry of column j, and its end when the loop is done. */
    for (int64_t i = 0; i < from->indptr[n]; i++) {
        to->indptr[from->indices[i] + 2]++;
    }
    for (int32_t j = 0; j < n; j++) {
        to->indptr[j + 1] += to->indptr[j];
    }
    for (int32_t row = 0; row < n; row++) {
        for (int64_t i = from->indptr[row]; i < from->indptr[row + 1]; i++) {
            const int64_t position = to->indptr[from->indices[i] + 1]++;
            to->indices[position] = row;
            self->value_perm[position] = (int32_t)i;
        }
    }
done:
    return status;
}

sfu_status sfu__learned_entries_all(sfu__learned_entries *entries, const sfu_csr *graph) {
    sfu_status status = SFU_OK;
    const sfu__edges all = {graph, 0};
    entries->end = graph->rows;
    SFU_TRY(count_rows(entries, &all));
    SFU_TRY(fill_rows(entries, &all));
    SFU_TRY(transpose_all(entries));
done:
    return status;
}

/* ---- a part ------------------------------------------------------------------------------------------------------ */

/* Finds the columns of a part: they are counted first. */
typedef struct filling {
    sfu__learned_entries *entries;
    int64_t others; /* entries in rows of other nodes so far */
    int64_t *next;  /* where the next entry of each column belongs; NULL: they are counted */
} filling;

static bool is_own(const sfu__learned_entries *self, int32_t node) { return node >= self->first && node < self->end; }

/* A column of these nodes has an entry in a row. It is counted in indptr[column + 1], or filled in at `next`. */
static void append(filling *self, int32_t row, int32_t column, int64_t entry) {
    sfu_matrix *to = &self->entries->transpose;
    if (self->next == NULL) {
        to->indptr[column + 1]++;
        return;
    }
    const int64_t at = self->next[column - self->entries->first]++;
    if (at < to->indptr[column + 1]) { /* else the file has changed */
        to->indices[at] = row;
        self->entries->value_perm[at] = (int32_t)entry;
    }
}

/* An entry in the row of another node. */
static void append_other(filling *self, int32_t row, int32_t column, float edge) {
    sfu__learned_entries *entries = self->entries;
    const int64_t entry = entries->rows.indptr[entries->rows.rows] + self->others++;
    append(self, row, column, entry);
    if (self->next != NULL && entry < entries->count) {
        entries->rows.indices[entry] = column;
        entries->edges[entry] = edge;
    }
}

/* The entry of a row of these nodes in a column. */
static int64_t find(const sfu__learned_entries *self, int32_t row, int32_t column) {
    int64_t low = self->rows.indptr[row], high = self->rows.indptr[row + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (self->rows.indices[middle] < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A column of a symmetric graph has the entries of the row. */
static void append_row(filling *self, int32_t node) {
    const sfu__learned_entries *entries = self->entries;
    for (int64_t e = entries->rows.indptr[node]; e < entries->rows.indptr[node + 1]; e++) {
        const int32_t row = entries->rows.indices[e];
        if (!is_own(entries, row)) {
            append_other(self, row, node, entries->edges[e]);
        } else {
            append(self, row, node, find(entries, row, node));
        }
    }
}

/* The entries of a row in columns of these nodes. */
static void visit_row(filling *self, const sfu_csr *A, int64_t at, int32_t row) {
    const sfu__learned_entries *entries = self->entries;
    const sfu_matrix *rows = &entries->rows;
    if (is_own(entries, row)) {
        for (int64_t e = rows->indptr[row]; e < rows->indptr[row + 1]; e++) {
            if (is_own(entries, rows->indices[e])) {
                append(self, row, rows->indices[e], e);
            }
        }
        return;
    }
    for (int64_t e = A->indptr[at]; e < A->indptr[at + 1]; e++) {
        if (is_own(entries, A->indices[e])) {
            append_other(self, row, A->indices[e], A->values != NULL ? A->values[e] : 1.0F);
        }
    }
}

/* Visits the entries of all columns, with ascending rows. */
static sfu_status scan(filling *self, const sfu__mapped_csr *graph, bool symmetric) {
    enum { ROWS = 1 << 11 };
    sfu_status status = SFU_OK;
    sfu__row_block block = {0};
    const int64_t n = graph->csr.rows, piece = symmetric ? 0 : sfu__row_piece(graph, ROWS);
    self->others = 0;
    for (int32_t node = self->entries->first; symmetric && node < self->entries->end; node++) {
        append_row(self, node);
    }
    for (int64_t first = 0, next; !symmetric && first < n; first = next) {
        next = sfu__row_piece_end(graph, first, first + ROWS < n ? first + ROWS : n, piece);
        SFU_TRY(sfu__poll());
        SFU_TRY(sfu__row_block_read(&block, graph, first, next));
        for (int64_t row = first; row < next; row++) {
            visit_row(self, &block.csr, row - first, (int32_t)row);
        }
    }
done:
    sfu__row_block_clear(&block);
    return status;
}

/* Counts the entries of the columns. */
static sfu_status count_columns(filling *self, const sfu__mapped_csr *graph, bool symmetric) {
    sfu_status status = SFU_OK;
    sfu_matrix *to = &self->entries->transpose;
    const int32_t n = graph->csr.rows;
    to->rows = to->cols = n;
    SFU_ALLOC_ZERO(to->indptr, (size_t)n + 1);
    SFU_TRY(scan(self, graph, symmetric));
    for (int32_t row = 0; row < n; row++) {
        to->indptr[row + 1] += to->indptr[row];
    }
done:
    return status;
}

static sfu_status fill_columns(filling *self, const sfu__mapped_csr *graph, bool symmetric) {
    sfu_status status = SFU_OK;
    sfu__learned_entries *entries = self->entries;
    sfu_matrix *to = &entries->transpose;
    const int64_t nodes = entries->end - entries->first, *starts = to->indptr + entries->first;
    SFU_ALLOC(to->indices, to->indptr[to->rows]);
    SFU_ALLOC(entries->value_perm, to->indptr[to->rows]);
    SFU_ALLOC(self->next, nodes);
    memcpy(self->next, starts, (size_t)nodes * sizeof *starts);
    SFU_TRY(scan(self, graph, symmetric));
    SFU_TRY(sfu__check_filled(self->next, starts, nodes, graph->what));
done:
    sfu__free(self->next);
    self->next = NULL;
    return status;
}

sfu_status sfu__learned_entries_part(sfu__learned_entries *entries, const sfu__mapped_csr *graph, bool symmetric,
                                     int32_t first, int32_t end) {
    sfu_status status = SFU_OK;
    sfu__row_block block = {0};
    filling columns = {.entries = entries};
    entries->part = true;
    entries->first = first;
    entries->end = end;
    SFU_TRY(sfu__row_block_read(&block, graph, first, end));
    const sfu__edges own = {&block.csr, first};
    SFU_TRY(count_rows(entries, &own));
    SFU_TRY(fill_rows(entries, &own));
    sfu__row_block_clear(&block);
    SFU_TRY(count_columns(&columns, graph, symmetric));
    SFU_TRY(reserve(entries, entries->count + columns.others));
    SFU_TRY(fill_columns(&columns, graph, symmetric));
done:
    sfu__row_block_clear(&block);
    return status;
}

void sfu__learned_entries_clear(sfu__learned_entries *entries) {
    sfu__matrix_clear(&entries->rows);
    sfu__matrix_clear(&entries->transpose);
    sfu__free(entries->edges);
    sfu__free(entries->value_perm);
    *entries = (sfu__learned_entries){0};
}
