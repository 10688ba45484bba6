/* array_file.c - reads a matrix from a file of its own.
 *
 *   .npz    a sparse matrix as written by scipy.sparse.save_npz: format (csr, csc or coo), shape, data, and indptr and
 *           indices, or row and col
 *   .npy    a dense matrix; for labels a vector of numbers or text, or one-hot rows (see arrays.h); for edges also a
 *           list of edges
 */
#include "array_file.h"
#include "npy.h"

#include <stdio.h>
#include <string.h>

bool sfu__is_array_path(const char *path) {
    return path != NULL && (sfu__path_ends_with(path, ".npy") || sfu__path_ends_with(path, ".npz"));
}

bool sfu__array_file_is_list(const sfu__array_file *file) {
    return !file->table.is_sparse && sfu__is_edge_list(&file->table.dense, false);
}

void sfu__array_file_close(sfu__array_file *file) {
    sfu__table_clear(&file->table);
    sfu__npz_free(file->npz);
    sfu__bytes_close(&file->bytes);
    *file = (sfu__array_file){0};
}

/* The text of the array `format`, truncated to fit. */
static sfu_status read_format(char *format, size_t size, sfu__npz *npz) {
    sfu_status status = SFU_OK;
    sfu__strings names = {0};
    sfu__array array;
    SFU_TRY(sfu__npz_get(&array, npz, "format"));
    SFU_TRY(sfu__array_strings(&names, &array));
    if (names.count != 1) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: %lld texts, where the name of one layout is needed", array.location,
                           (long long)names.count);
        goto done;
    }
    snprintf(format, size, "%.*s", (int)(names.offsets[1] < 16 ? names.offsets[1] : 16), names.bytes);
done:
    sfu__strings_clear(&names);
    return status;
}

static sfu_status read_sparse(sfu__array_file *file, const char *path) {
    sfu_status status = SFU_OK;
    char format[20];
    char quoted[SFU__QUOTE_MAX];
    int64_t rows;
    int64_t cols;
    sfu__array shape;
    sfu__array data;
    sfu__array first;
    sfu__array second;
    SFU_TRY(sfu__npz_open(&file->npz, path));
    SFU_TRY(read_format(format, sizeof format, file->npz));
    const bool coo = strcmp(format, "coo") == 0;
    const bool csc = strcmp(format, "csc") == 0;
    if (!coo && !csc && strcmp(format, "csr") != 0) {
        return sfu__fail(SFU_ERR_FORMAT,
                         "%s: a sparse matrix in the layout %s: csr, csc and coo are read (convert it with .tocsr())",
                         path, sfu__quote(quoted, format, strlen(format)));
    }
    SFU_TRY(sfu__npz_get(&shape, file->npz, "shape"));
    SFU_TRY(sfu__array_sides(&rows, &cols, &shape));
    SFU_TRY(sfu__npz_get(&data, file->npz, "data"));
    SFU_TRY(sfu__npz_get(&first, file->npz, coo ? "row" : "indptr"));
    SFU_TRY(sfu__npz_get(&second, file->npz, coo ? "col" : "indices"));
    sfu__table *table = &file->table;
    table->is_sparse = true;
    snprintf(table->location, sizeof table->location, "%s", path);
    SFU_TRY(coo ? sfu__triplets_coordinates(&table->sparse, table->location, rows, cols, &first, &second, &data)
                : sfu__triplets_compressed(&table->sparse, table->location, rows, cols, &first, &second, &data, csc));
done:
    return status;
}

static sfu_status read_dense(sfu__array_file *file, const char *path) {
    sfu_status status = SFU_OK;
    sfu__array array;
    SFU_TRY(sfu__bytes_open(&file->bytes, path));
    SFU_TRY(sfu__npy_view(&array, file->bytes.data, file->bytes.size, path));
    sfu__table_set_dense(&file->table, &array);
done:
    return status;
}

sfu_status sfu__array_file_open(sfu__array_file *file, const char *path) {
    return sfu__path_ends_with(path, ".npy") ? read_dense(file, path) : read_sparse(file, path);
}
