/* lpnn_matrices.c - the features and the smoothing matrix of an LPNN executor.
 *
 * A rank has the rows that it computes, read from the mapped file; the other rows of its matrices are empty.
 */
#include "lpnn_int.h"
#include "progress.h"
#include "row_block.h"
#include "smoothing.h"
#include "submatrix.h"

#include <string.h>

sfu__range sfu__lpnn_own_rows(const sfu__lpnn_executor *executor, int64_t rows) {
    const sfu__rank_group *ranks = executor->ranks;
    return ranks == NULL ? (sfu__range){0, rows}
                         : (sfu__range){sfu__lpnn_first_row(rows, ranks->rank, ranks->count),
                                        sfu__lpnn_first_row(rows, ranks->rank + 1, ranks->count)};
}

/* ---- features ---------------------------------------------------------------------------------------------------- */

/* Rows [own.begin, own.end) of a matrix of features; row i is that of node nodes[i], or of node i. */
typedef struct wanted {
    const int32_t *nodes;
    int32_t rows;
    sfu__range own;
} wanted;

static int32_t node_of(const wanted *rows, int64_t row) {
    return rows->nodes != NULL ? rows->nodes[row] : (int32_t)row;
}

/* Dense features become CSR rows that store every column: element e of a dropout mask is then element e of the values,
 * and a product has the same bits as a dense one. */
static sfu_status dense_rows(sfu_matrix *to, const sfu_dataset *dataset, const wanted *rows) {
    sfu_status status = SFU_OK;
    const int64_t cols = dataset->features, count = cols * (rows->own.end - rows->own.begin);
    SFU_ALLOC(to->indices, count);
    SFU_ALLOC(to->values, count);
    for (int64_t row = rows->own.begin, at = 0; row < rows->own.end; row++, at += cols) {
        memcpy(to->values + at, dataset->dense + node_of(rows, row) * cols, (size_t)cols * sizeof *to->values);
        for (int32_t j = 0; j < cols; j++) {
            to->indices[at + j] = j;
        }
        to->indptr[row + 1] = at + cols;
    }
done:
    return status;
}

/* Reads the row of a node, unless it has been read ahead, as rows are that follow one another. */
static sfu_status read_row(sfu__row_block *block, const sfu__mapped_csr *X, const wanted *rows, int64_t row,
                           int64_t piece) {
    const int64_t node = node_of(rows, row), ahead = node + SFU__AHEAD_ROWS;
    if (block->csr.rows > 0 && node >= block->first && node < block->first + block->csr.rows) {
        return SFU_OK;
    }
    const int64_t last = rows->nodes != NULL ? node + 1 : ahead < rows->own.end ? ahead : rows->own.end;
    return sfu__row_block_read(block, X, node, sfu__row_piece_end(X, node, last, piece));
}

static sfu_status sparse_rows(sfu_matrix *to, const sfu_dataset *dataset, const wanted *rows) {
    sfu_status status = SFU_OK;
    const sfu__mapped_csr X = sfu__dataset_mapped_features(dataset);
    const int64_t piece = sfu__row_piece(&X, SFU__AHEAD_ROWS);
    sfu__row_block block = {0};
    size_t capacity = 0;
    int64_t at = 0;
    for (int64_t row = rows->own.begin; row < rows->own.end; row++) {
        SFU_TRY(sfu__poll_at(row));
        SFU_TRY(read_row(&block, &X, rows, row, piece));
        const int64_t *indptr = block.indptr + (node_of(rows, row) - block.first), count = indptr[1] - indptr[0];
        SFU_TRY(sfu__matrix_reserve(to, &capacity, at + count));
        for (int64_t e = 0; e < count; e++) {
            to->indices[at + e] = block.indices[indptr[0] + e];
            to->values[at + e] = block.csr.values != NULL ? block.csr.values[indptr[0] + e] : 1.0F;
        }
        at += count;
        to->indptr[row + 1] = at;
    }
done:
    sfu__row_block_clear(&block);
    return status;
}

static sfu_status read_rows(sfu_matrix *to, const sfu_dataset *dataset, const wanted *rows) {
    sfu_status status = SFU_OK;
    *to = (sfu_matrix){.rows = rows->rows, .cols = dataset->features};
    SFU_ALLOC_ZERO(to->indptr, (int64_t)rows->rows + 1);
    SFU_TRY(dataset->dense != NULL ? dense_rows(to, dataset, rows) : sparse_rows(to, dataset, rows));
    for (int64_t row = rows->own.end; row < rows->rows; row++) {
        to->indptr[row + 1] = to->indptr[rows->own.end];
    }
    SFU_TRY(sfu__matrix_fit(to));
done:
    return status;
}

sfu_status sfu__lpnn_features(sfu__lpnn_executor *executor, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    const wanted all = {NULL, dataset->nodes, sfu__lpnn_own_rows(executor, dataset->nodes)};
    executor->features_csr = dataset->sparse;
    if (dataset->dense != NULL || executor->ranks != NULL) {
        SFU_TRY(read_rows(&executor->own_features, dataset, &all));
        executor->features_csr = sfu__matrix_view(&executor->own_features);
    } else if (executor->features_csr.values == NULL) {
        const int64_t count = dataset->sparse.indptr[dataset->sparse.rows];
        SFU_ALLOC(executor->own_features.values, count);
        for (int64_t e = 0; e < count; e++) {
            executor->own_features.values[e] = 1.0F;
        }
        executor->features_csr.values = executor->own_features.values;
    }
done:
    return status;
}

sfu_status sfu__lpnn_features_of(sfu_matrix *features, const sfu__lpnn_executor *executor, const sfu_dataset *dataset,
                                 const int32_t *nodes, int32_t count) {
    if (executor->ranks == NULL) {
        const sfu__rows_of rows = {nodes, count};
        return sfu__submatrix(features, NULL, &executor->features_csr, &rows, NULL, executor->features);
    }
    const wanted rows = {nodes, count, sfu__lpnn_own_rows(executor, count)};
    return read_rows(features, dataset, &rows);
}

/* ---- S ----------------------------------------------------------------------------------------------------------- */

static void halve(sfu_matrix *S) {
    for (int64_t e = 0; e < S->indptr[S->rows]; e++) {
        S->values[e] *= 0.5F;
    }
}

/* The rows of this rank. */
static sfu_status stream_rows(sfu_matrix *S, sfu_matrix *St, const sfu__lpnn_executor *executor,
                              const sfu_dataset *dataset, const sfu_smoothing_options *options, int threads) {
    sfu_status status = SFU_OK;
    const sfu__mapped_csr graph = sfu__dataset_mapped_graph(dataset);
    const sfu__row_set all = {.count = dataset->nodes};
    const sfu__range own = sfu__lpnn_own_rows(executor, dataset->nodes);
    sfu__smoother smoother = {0};
    SFU_TRY(sfu__smoothing_stream_new(&smoother.stream, &graph, !dataset->directed, options, 1.0, threads));
    SFU_TRY(sfu__smoother_rows(S, all.count, &smoother, &all, own, NULL, &all));
    SFU_TRY(dataset->directed ? sfu__smoother_columns(St, all.count, &smoother, &all, &all, own) : SFU_OK);
done:
    sfu__smoothing_stream_free(smoother.stream);
    return status;
}

sfu_status sfu__lpnn_smoothing(sfu_matrix *S, sfu_matrix *St, const sfu__lpnn_executor *executor,
                               const sfu_dataset *dataset, int threads) {
    sfu_status status = SFU_OK;
    sfu_smoothing_options options;
    sfu_smoothing_options_init(&options);
    SFU_TRY(executor->ranks != NULL ? stream_rows(S, St, executor, dataset, &options, threads)
                                    : sfu__smoothing(S, &dataset->graph, !dataset->directed, &options, threads));
    if (dataset->directed) {
        halve(S);
    }
    if (St->indptr != NULL) {
        halve(St);
    }
done:
    return status;
}
