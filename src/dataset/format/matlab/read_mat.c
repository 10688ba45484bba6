/* read_mat.c - reads a dataset from a MATLAB .mat file such as HAN's ACM3025.mat; the options name its variables.
 *
 *   edges       a square matrix, dense or sparse
 *   features    a matrix, dense or sparse
 *   labels      one-hot rows, or a vector of class numbers: classes in numeric order, named by their numbers unless
 *               these are 0, 1, 2, ...
 *   train_idx, val_idx, test_idx    the standard split, if the file has all three. Files written by MATLAB are 1-based,
 *               those by Python 0-based. They are 0-based if a 0 occurs and 1-based if the number of nodes occurs. If
 *               neither occurs, the split is skipped with a warning.
 *
 * Versions 5 and 7.3 are supported (mat.h).
 */
#include "arrays.h"
#include "file.h"
#include "mat.h"
#include "progress.h"

#include <stdio.h>
#include <string.h>

/* ---- edges, features, labels ---------------------------------------------------------------------------------- */

static sfu_status set_labels(sfu__raw *raw, const sfu__table *table) { return sfu__raw_set_labels(raw, table, NULL); }

static sfu_status read_variable(sfu__raw *raw, sfu__mat *mat, const char *name,
                                sfu_status (*set)(sfu__raw *raw, const sfu__table *table)) {
    sfu_status status = SFU_OK;
    sfu__table table = {0};
    SFU_TRY(sfu__mat_get(&table, mat, name));
    SFU_TRY(set(raw, &table));
done:
    sfu__table_clear(&table);
    return status;
}

/* ---- the standard split --------------------------------------------------------------------------------------- */

static const char *const split_names[SFU_PARTS] = {"train_idx", "val_idx", "test_idx"};

static sfu_status read_part(sfu__raw *raw, sfu__mat *mat, sfu_part part, bool *zero, bool *last) {
    sfu_status status = SFU_OK;
    sfu__table table = {0};
    SFU_TRY(sfu__mat_get(&table, mat, split_names[part]));
    if (table.is_sparse || table.dense.count == 0 || table.dense.count > raw->nodes) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: it is not a vector of at most %lld nodes", table.location,
                           (long long)raw->nodes);
        goto done;
    }
    SFU_ALLOC(raw->standard[part], table.dense.count);
    raw->standard_count[part] = table.dense.count;
    for (int64_t i = 0; i < table.dense.count; i++) {
        int64_t node;
        SFU_TRY(sfu__array_whole(&node, &table.dense, i));
        if (node < 0 || node > raw->nodes) {
            status = sfu__fail(SFU_ERR_FORMAT, "%s: entry %lld is %lld, which is none of %lld nodes", table.location,
                               (long long)i, (long long)node, (long long)raw->nodes);
            goto done;
        }
        *zero = *zero || node == 0;
        *last = *last || node == raw->nodes;
        raw->standard[part][i] = (int32_t)node;
    }
done:
    sfu__table_clear(&table);
    return status;
}

static void drop_split(sfu__raw *raw) {
    for (int part = 0; part < SFU_PARTS; part++) {
        sfu__free(raw->standard[part]);
        raw->standard[part] = NULL;
        raw->standard_count[part] = 0;
    }
}

static sfu_status read_split(sfu__raw *raw, sfu__mat *mat, const char *path) {
    sfu_status status = SFU_OK;
    bool zero = false;
    bool last = false;
    for (int part = 0; part < SFU_PARTS; part++) {
        SFU_TRY(read_part(raw, mat, (sfu_part)part, &zero, &last));
    }
    if (zero == last) {
        if (zero) {
            return sfu__fail(SFU_ERR_FORMAT,
                             "%s: train_idx, val_idx and test_idx name both node 0 and node %lld of %lld", path,
                             (long long)raw->nodes, (long long)raw->nodes);
        }
        sfu__log(
            SFU_LOG_WARNING,
            "%s: the split is left out: it is unknown whether train_idx, val_idx and test_idx count nodes from 0 or "
            "from 1",
            path);
        drop_split(raw);
        return SFU_OK;
    }
    for (int part = 0; part < SFU_PARTS && last; part++) {
        for (int64_t i = 0; i < raw->standard_count[part]; i++) {
            raw->standard[part][i]--;
        }
    }
    raw->has_standard = true;
done:
    return status;
}

/* ---- the reader ----------------------------------------------------------------------------------------------- */

sfu_status sfu__read_mat(sfu__raw *raw, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    sfu__mat *mat = NULL;
    raw->format = "mat";
    SFU_TRY(sfu__raw_add_file(raw, options->source));
    SFU_TRY(sfu__mat_open(&mat, options->source));
    if (options->edges == NULL && options->features == NULL) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "%s: name its variables with --edges, --features and --labels; it has: %s",
                           options->source, sfu__mat_list(mat));
        goto done;
    }
    if (options->edges != NULL) {
        SFU_TRY(read_variable(raw, mat, options->edges, sfu__raw_set_edges));
    }
    if (options->features != NULL) {
        SFU_TRY(read_variable(raw, mat, options->features, sfu__raw_set_features));
    }
    if (options->labels != NULL) {
        SFU_TRY(read_variable(raw, mat, options->labels, set_labels));
    }
    if (sfu__mat_has(mat, "train_idx") && sfu__mat_has(mat, "val_idx") && sfu__mat_has(mat, "test_idx")) {
        SFU_TRY(read_split(raw, mat, options->source));
    }
done:
    sfu__mat_free(mat);
    return status;
}
