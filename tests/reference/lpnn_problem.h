/* lpnn_problem.h - small random LPNN problems: a dataset, a split, and the same for the reference. */
#ifndef SFU_TEST_LPNN_PROBLEM_H
#define SFU_TEST_LPNN_PROBLEM_H

#include "lpnn_reference.h"

#include "dataset.h"

typedef struct problem {
    reference r;
    sfu_dataset *dataset;
    sfu_net *net;
    int32_t train[REF_NODES], train_labels[REF_NODES], val[REF_NODES], val_labels[REF_NODES];
    float train_weights[REF_NODES];
    int32_t train_count, val_count;
} problem;

typedef enum kind { USUAL, DENSE, DIRECTED, ONE_CLASS, KINDS } kind;

static inline void draw_graph(problem *p, sfu__random *random, bool directed, int32_t *from, int32_t *to,
                              int64_t *edges) {
    static double A[REF_NODES][REF_NODES];
    memset(A, 0, sizeof A);
    *edges = 0;
    for (int i = 0; i < p->r.n - 2; i++) { /* the last two are isolated */
        for (int j = directed ? 0 : i + 1; j < p->r.n - 2; j++) {
            if (i != j && sfu__random_below(random, 100) < 12) {
                A[i][j] = 1;
                A[j][i] = directed ? A[j][i] : 1;
                from[*edges] = i;
                to[(*edges)++] = j;
            }
        }
    }
    reference_smoothing(&p->r, A);
}

/* Row 3 has no features. */
static inline void draw_features(problem *p, sfu__random *random, bool dense, float *values, int64_t *indptr,
                                 int32_t *indices, float *sparse) {
    indptr[0] = 0;
    for (int i = 0; i < p->r.n; i++) {
        int64_t at = indptr[i];
        for (int j = 0; j < p->r.d; j++) {
            const bool there = i != 3 && sfu__random_below(random, 100) < (dense ? 80 : 40);
            const float value = there ? (float)(sfu__random_unit(random) * 2 - 1) : 0.0F;
            p->r.x[i][j] = (double)value;
            p->r.index[i][j] = dense ? j : there ? (int)(at - indptr[i]) : -1;
            values[i * p->r.d + j] = value;
            if (there) {
                indices[at] = j;
                sparse[at++] = value;
            }
        }
        indptr[i + 1] = at;
    }
}

/* A third of the nodes is for training, another for validation. */
static inline void draw_labels(problem *p, sfu__random *random, int32_t *labels) {
    for (int i = 0; i < p->r.n; i++) {
        labels[i] = (int32_t)sfu__random_below(random, (uint64_t)p->r.classes);
        p->r.label[i] = -1;
        p->r.weight[i] = 1;
        if (i % 3 == 0) {
            const float weight = (float)(0.5 + sfu__random_unit(random));
            p->r.label[i] = labels[i];
            p->r.weight[i] = (double)weight;
            p->train[p->train_count] = i;
            p->train_labels[p->train_count] = labels[i];
            p->train_weights[p->train_count++] = weight;
        } else if (i % 3 == 1) {
            p->val[p->val_count] = i;
            p->val_labels[p->val_count++] = labels[i];
        }
    }
}

static inline void problem_make(problem *p, const char *net, kind kind, uint64_t seed) {
    static int32_t from[REF_NODES * REF_NODES], to[REF_NODES * REF_NODES], indices[REF_NODES * REF_FEATURES];
    static float values[REF_NODES * REF_FEATURES], sparse[REF_NODES * REF_FEATURES];
    int64_t indptr[REF_NODES + 1];
    int32_t labels[REF_NODES];
    sfu__random random = sfu__random_start(seed, sfu__stream_of(SFU__STREAM_GENERATE, 7));
    memset(p, 0, sizeof *p);
    p->r.n = 20 + (int)sfu__random_below(&random, REF_NODES - 20);
    p->r.d = REF_FEATURES;
    p->r.classes = kind == ONE_CLASS ? 1 : 2 + (int)sfu__random_below(&random, REF_CLASSES - 1);
    sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                         .nodes = p->r.n,
                         .edge_from = from,
                         .edge_to = to,
                         .features = p->r.d,
                         .labels = labels};
    arrays.classes = p->r.classes;
    draw_graph(p, &random, kind == DIRECTED, from, to, &arrays.edges);
    draw_features(p, &random, kind == DENSE, values, indptr, indices, sparse);
    draw_labels(p, &random, labels);
    if (kind == DENSE) {
        arrays.dense = values;
    } else {
        arrays.indptr = indptr;
        arrays.indices = indices;
        arrays.values = sparse;
    }
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.scale = SFU_SCALE_NONE;
    options.directed = kind == DIRECTED;
    assert_ok(sfu_dataset_from_arrays(&p->dataset, &arrays, &options));
    assert_int_equal(kind == DENSE, p->dataset->dense != NULL); /* mostly zeros would be stored sparse */
    assert_ok(sfu_net_parse(&p->net, net, NULL));
    p->r.net = p->net;
    assert_ok(sfu__parameters_make(&p->r.parameters, p->net, p->r.d, p->r.classes, p->r.n));
}

static inline void problem_clear(problem *p) {
    sfu__parameters_clear(&p->r.parameters);
    sfu_net_free(p->net);
    sfu_dataset_free(p->dataset);
}

#endif
