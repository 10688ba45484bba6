/* read_scipy.c - reads matrices from separate files: --edges apa.npz --features a_feat.npz --labels labels.npy.
 *
 *   .npz    a sparse matrix as written by scipy.sparse.save_npz: format (csr, csc or coo), shape, data, and indptr and
 *           indices, or row and col
 *   .npy    a dense matrix; for labels a vector of numbers or text, or one-hot rows (see arrays.h)
 *
 * Each of the three is optional, and row i is node i in all of them.
 */
#include "arrays.h"
#include "file.h"
#include "npy.h"
#include "npz.h"

#include <stdio.h>
#include <string.h>

/* A file of either kind; it stays open while its table is used. */
typedef struct source {
    sfu__bytes bytes;
    sfu__npz *npz;
    sfu__table table;
} source;

static void source_clear(source *from) {
    sfu__table_clear(&from->table);
    sfu__npz_free(from->npz);
    sfu__bytes_close(&from->bytes);
    *from = (source){0};
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

static sfu_status read_sparse(source *from, const char *path) {
    sfu_status status = SFU_OK;
    char format[20];
    char quoted[SFU__QUOTE_MAX];
    int64_t rows;
    int64_t cols;
    sfu__array shape;
    sfu__array data;
    sfu__array first;
    sfu__array second;
    SFU_TRY(sfu__npz_open(&from->npz, path));
    SFU_TRY(read_format(format, sizeof format, from->npz));
    const bool coo = strcmp(format, "coo") == 0;
    const bool csc = strcmp(format, "csc") == 0;
    if (!coo && !csc && strcmp(format, "csr") != 0) {
        return sfu__fail(SFU_ERR_FORMAT,
                         "%s: a sparse matrix in the layout %s: csr, csc and coo are read (convert it with .tocsr())",
                         path, sfu__quote(quoted, format, strlen(format)));
    }
    SFU_TRY(sfu__npz_get(&shape, from->npz, "shape"));
    SFU_TRY(sfu__array_sides(&rows, &cols, &shape));
    SFU_TRY(sfu__npz_get(&data, from->npz, "data"));
    SFU_TRY(sfu__npz_get(&first, from->npz, coo ? "row" : "indptr"));
    SFU_TRY(sfu__npz_get(&second, from->npz, coo ? "col" : "indices"));
    sfu__table *table = &from->table;
    table->is_sparse = true;
    snprintf(table->location, sizeof table->location, "%s", path);
    SFU_TRY(coo ? sfu__triplets_coordinates(&table->sparse, table->location, rows, cols, &first, &second, &data)
                : sfu__triplets_compressed(&table->sparse, table->location, rows, cols, &first, &second, &data, csc));
done:
    return status;
}

static sfu_status read_dense(source *from, const char *path) {
    sfu_status status = SFU_OK;
    sfu__array array;
    SFU_TRY(sfu__bytes_open(&from->bytes, path));
    SFU_TRY(sfu__npy_view(&array, from->bytes.data, from->bytes.size, path));
    sfu__table_set_dense(&from->table, &array);
done:
    return status;
}

static sfu_status read_source(source *from, sfu__raw *raw, const char *path) {
    const sfu_status status = sfu__raw_add_file(raw, path);
    if (status != SFU_OK) {
        return status;
    }
    return sfu__path_ends_with(path, ".npy") ? read_dense(from, path) : read_sparse(from, path);
}

static sfu_status set_labels(sfu__raw *raw, const sfu__table *table) { return sfu__raw_set_labels(raw, table, NULL); }

sfu_status sfu__read_scipy(sfu__raw *raw, const sfu_import_options *options) {
    const struct {
        const char *path;
        sfu_status (*set)(sfu__raw *raw, const sfu__table *table);
    } parts[] = {{options->edges, sfu__raw_set_edges},
                 {options->features, sfu__raw_set_features},
                 {options->labels, set_labels}};
    sfu_status status = SFU_OK;
    source from = {0};
    raw->format = "scipy";
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].path != NULL) {
            SFU_TRY(read_source(&from, raw, parts[i].path));
            SFU_TRY(parts[i].set(raw, &from.table));
            source_clear(&from);
        }
    }
    if (raw->nodes == 0) {
        return sfu__fail(SFU_ERR_ARGUMENT, "no .npz or .npy file is given: --edges, --features or --labels is needed");
    }
done:
    source_clear(&from);
    return status;
}
