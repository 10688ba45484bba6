#include "feature_view.h"

#include "digest.h"
#include "node_index.h"
#include "progress.h"
#include "row_sort.h"

#include <stdio.h>
#include <string.h>

static const char *name_of(const sfu__strings *names, int64_t i) { return names->bytes + names->offsets[i]; }

/* ---- matching ---------------------------------------------------------------------------------------------------- */

/* Which features of the dataset and of the model are the same. */
typedef struct matching {
    const sfu_dataset *dataset;
    const sfu_model *model;
    int32_t *to;                          /* [features of the dataset]: that of the model, or -1 */
    bool *found;                          /* [features of the model] */
    int64_t unknown, missing;             /* features of the dataset alone, and of the model alone */
    int64_t first_unknown, first_missing; /* the first of each */
} matching;

static bool same_names(const sfu__strings *one, const sfu__strings *other) {
    bool same = one->count == other->count;
    for (int64_t i = 0; same && i < one->count; i++) {
        same = strcmp(name_of(one, i), name_of(other, i)) == 0;
    }
    return same;
}

static sfu_status fail_twice(const sfu_dataset *dataset, const char *where, const char *name) {
    char quoted[SFU__QUOTE_MAX];
    return sfu__fail(SFU_ERR_ARGUMENT, "%s: two features of the %s are called %s, so they cannot be matched by name",
                     dataset->name, where, sfu__quote(quoted, name, strlen(name)));
}

static sfu_status index_names(sfu__node_index *index, const matching *it) {
    const sfu__strings *names = &it->model->feature_names;
    for (int64_t i = 0; i < names->count; i++) {
        const char *name = name_of(names, i);
        int64_t number = -1;
        const sfu_status status = sfu__node_index_add(index, name, strlen(name), &number);
        if (status != SFU_OK || number != i) {
            return status != SFU_OK ? status : fail_twice(it->dataset, "model", name);
        }
    }
    return SFU_OK;
}

static void count_differences(matching *it) {
    for (int64_t i = it->dataset->features - 1; i >= 0; i--) {
        it->first_unknown = it->to[i] < 0 ? i : it->first_unknown;
        it->unknown += it->to[i] < 0;
    }
    for (int64_t i = it->model->features - 1; i >= 0; i--) {
        it->first_missing = it->found[i] ? it->first_missing : i;
        it->missing += !it->found[i];
    }
}

static sfu_status match(matching *it) {
    sfu_status status = SFU_OK;
    sfu__node_index index = {0};
    const sfu__strings *names = &it->dataset->feature_names;
    SFU_ALLOC(it->to, it->dataset->features);
    SFU_ALLOC_ZERO(it->found, it->model->features);
    SFU_TRY(index_names(&index, it));
    for (int64_t i = 0; i < names->count; i++) {
        const char *name = name_of(names, i);
        int64_t number = -1;
        SFU_TRY(sfu__node_index_find(&index, name, strlen(name), &number));
        if (number >= 0 && it->found[number]) {
            status = fail_twice(it->dataset, "dataset", name);
            goto done;
        }
        it->to[i] = (int32_t)number;
        if (number >= 0) {
            it->found[number] = true;
        }
    }
    count_differences(it);
done:
    sfu__node_index_clear(&index);
    return status;
}

static const char *others(char text[48], int64_t count) {
    text[0] = '\0';
    if (count > 1) {
        snprintf(text, 48, " (and %lld other%s)", (long long)count - 1, count > 2 ? "s" : "");
    }
    return text;
}

/* Dense features have no natural 0, so all of them must be there. */
static sfu_status check_differences(const matching *it, bool ignore) {
    char more[48], quoted[SFU__QUOTE_MAX];
    const bool dense = it->dataset->dense != NULL;
    if (it->missing > 0 && (dense || !ignore)) {
        const char *name = name_of(&it->model->feature_names, it->first_missing);
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: the feature %s%s of the model is missing%s", it->dataset->name,
                         sfu__quote(quoted, name, strlen(name)), others(more, it->missing),
                         dense ? "" : "; --unknown-features ignore takes it as 0");
    }
    if (it->unknown > 0 && !ignore) {
        const char *name = name_of(&it->dataset->feature_names, it->first_unknown);
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "%s: the model does not know the feature %s%s; --unknown-features ignore leaves it out",
                         it->dataset->name, sfu__quote(quoted, name, strlen(name)), others(more, it->unknown));
    }
    if (it->unknown == it->dataset->features) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: the model knows none of its %d features", it->dataset->name,
                         it->dataset->features);
    }
    if (it->unknown > 0) {
        sfu__log(SFU_LOG_NOTE, "%s: %lld of %d features are not known to the model and left out", it->dataset->name,
                 (long long)it->unknown, it->dataset->features);
    }
    if (it->missing > 0) {
        sfu__log(SFU_LOG_NOTE, "%s: %lld of the %d features of the model are missing and count as 0", it->dataset->name,
                 (long long)it->missing, it->model->features);
    }
    return SFU_OK;
}

/* ---- the features in the order of the model ---------------------------------------------------------------------- */

static sfu_status copy_dense(sfu__feature_view *view, const matching *it) {
    sfu_status status = SFU_OK;
    const int64_t from = it->dataset->features, to = it->model->features;
    SFU_ALLOC(view->values, (size_t)it->dataset->nodes * (size_t)to);
    for (int64_t node = 0; node < it->dataset->nodes; node++) {
        for (int64_t i = 0; i < from; i++) {
            if (it->to[i] >= 0) {
                view->values[node * to + it->to[i]] = it->dataset->dense[node * from + i];
            }
        }
    }
    view->renamed->dense = view->values;
done:
    return status;
}

/* Copies the known features of a row to the end of the arrays; returns their number. */
static int64_t copy_row(const sfu__feature_view *view, const matching *it, int64_t node, int64_t end) {
    const sfu_csr *X = &it->dataset->sparse;
    int64_t count = 0;
    for (int64_t e = X->indptr[node]; e < X->indptr[node + 1]; e++) {
        if (it->to[X->indices[e]] >= 0) {
            view->indices[end + count] = it->to[X->indices[e]];
            if (X->values != NULL) {
                view->values[end + count] = X->values[e];
            }
            count++;
        }
    }
    return count;
}

static sfu_status copy_sparse(sfu__feature_view *view, const matching *it) {
    sfu_status status = SFU_OK;
    const sfu_csr *X = &it->dataset->sparse;
    const int64_t entries = X->indptr[X->rows];
    uint32_t *keys = NULL;
    float *weights = NULL;
    SFU_ALLOC(view->indptr, (int64_t)X->rows + 1);
    SFU_ALLOC(view->indices, entries);
    SFU_ALLOC(keys, it->dataset->features);
    if (X->values != NULL) {
        SFU_ALLOC(view->values, entries);
        SFU_ALLOC(weights, it->dataset->features);
    }
    view->indptr[0] = 0;
    for (int64_t node = 0; node < X->rows; node++) {
        const int64_t end = view->indptr[node], count = copy_row(view, it, node, end);
        sfu__sort_row((uint32_t *)view->indices + end, view->values != NULL ? view->values + end : NULL, keys, weights,
                      count);
        view->indptr[node + 1] = end + count;
    }
    view->renamed->sparse = (sfu_csr){X->rows, it->model->features, view->indptr, view->indices, view->values};
done:
    sfu__free(keys);
    sfu__free(weights);
    return status;
}

/* Plans share results by the digest of their dataset, so other features need another digest. */
static sfu_status digest_view(sfu_dataset *view, const matching *it) {
    sfu_status status = SFU_OK;
    sfu__digest *digest = NULL;
    char before[65];
    SFU_TRY(sfu_dataset_digest(before, it->dataset));
    SFU_TRY(sfu__digest_new(&digest));
    SFU_TRY(sfu__digest_add(digest, before, sizeof before));
    SFU_TRY(sfu__digest_add(digest, &it->model->features, sizeof it->model->features));
    SFU_TRY(sfu__digest_add(digest, it->to, (size_t)it->dataset->features * sizeof *it->to));
    SFU_TRY(sfu__digest_end(digest, view->digest));
done:
    sfu__digest_free(digest);
    return status;
}

static void borrow(sfu_dataset *to, const sfu_dataset *from, int32_t features) {
    to->nodes = from->nodes;
    to->features = features;
    to->classes = from->classes;
    to->graph = from->graph;
    to->labels = from->labels;
    to->tensors = from->tensors;
    to->tensor_count = from->tensor_count;
    to->checked = true;
    to->assembled = from->assembled;
    to->directed = from->directed;
}

sfu_status sfu__feature_view_make(sfu__feature_view *view, const sfu_dataset *dataset, const sfu_model *model,
                                  bool ignore) {
    sfu_status status = SFU_OK;
    matching it = {.dataset = dataset, .model = model};
    view->dataset = dataset;
    const bool named = dataset->feature_names.count > 0 && model->feature_names.count > 0;
    if (!named && dataset->features != model->features) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: it has %d feature%s, but the model was trained with %d", dataset->name,
                         dataset->features, dataset->features == 1 ? "" : "s", model->features);
    }
    if (!named || same_names(&dataset->feature_names, &model->feature_names)) {
        return SFU_OK;
    }
    SFU_TRY(sfu_dataset_check(dataset)); /* the features are copied, so everything must be in memory */
    SFU_TRY(match(&it));
    SFU_TRY(check_differences(&it, ignore));
    SFU_TRY(sfu__dataset_new(&view->renamed, dataset->name));
    borrow(view->renamed, dataset, model->features);
    SFU_TRY(dataset->dense != NULL ? copy_dense(view, &it) : copy_sparse(view, &it));
    SFU_TRY(digest_view(view->renamed, &it));
    view->dataset = view->renamed;
done:
    sfu__free(it.to);
    sfu__free(it.found);
    return status;
}

void sfu__feature_view_clear(sfu__feature_view *view) {
    if (view->renamed != NULL) {
        view->renamed->tensors = NULL; /* the dataset's */
        view->renamed->tensor_count = 0;
    }
    sfu_dataset_free(view->renamed);
    sfu__free(view->indptr);
    sfu__free(view->indices);
    sfu__free(view->values);
    *view = (sfu__feature_view){0};
}
