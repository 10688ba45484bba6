/* Learned smoothing matrices in parts, each with the rows and columns of some nodes: values, gradients of values and
 * gradients of parameters are those of the whole matrix, bit for bit. What ranks send each other is copied here. */
#include "support.h"

#include "random.h"
#include "smoothing_learned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1700, MOST_PARTS = 6, DEGREE = 4 };

/* A graph, options and parameters. */
typedef struct trial {
    int32_t n;
    int64_t indptr[MOST + 1];
    int32_t indices[2 * MOST * DEGREE];
    float weights[2 * MOST * DEGREE];
    sfu__mapped_csr graph;
    bool symmetric;
    float selves[MOST], neighbours[MOST], left, right;
    sfu_smoothing_options options;
    sfu__learn learn;
} trial;

/* A part of the matrix, or all of it, with its values and gradients. */
typedef struct part {
    int32_t first, end;
    sfu__learned *learned;
    sfu__learned_work *work;
    float *values, *dS; /* [entries] */
    float dself[MOST], dneighbour[MOST], dleft, dright;
} part;

/* ---- cases ------------------------------------------------------------------------------------------------------- */

typedef struct edge {
    int32_t from, to;
} edge;

static int by_row(const void *a, const void *b) {
    const edge *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

/* The same in both directions. */
static float weight_of(int32_t i, int32_t j) {
    const uint64_t low = (uint64_t)(i < j ? i : j), high = (uint64_t)(i < j ? j : i);
    return 0.1F + 3.0F * ((float)sfu__random_bits(7, low, high) * 0x1p-64F);
}

static void draw_graph(trial *it, sfu__random *random) {
    static edge edges[2 * MOST * DEGREE];
    int64_t count = 0, used = 0;
    it->n = sfu__random_below(random, 3) == 0 ? 1 + (int32_t)sfu__random_below(random, 20)
                                              : 1 + (int32_t)sfu__random_below(random, MOST);
    it->symmetric = sfu__random_below(random, 2);
    const bool weighted = sfu__random_below(random, 2);
    for (int64_t i = 0; i < (int64_t)it->n * (DEGREE - 1); i++) {
        const edge drawn = {(int32_t)sfu__random_below(random, (uint64_t)it->n),
                            (int32_t)sfu__random_below(random, (uint64_t)it->n)};
        edges[count++] = drawn;
        if (it->symmetric) {
            edges[count++] = (edge){drawn.to, drawn.from};
        }
    }
    qsort(edges, (size_t)count, sizeof *edges, by_row);
    memset(it->indptr, 0, sizeof it->indptr);
    for (int64_t i = 0; i < count; i++) {
        if (i == 0 || by_row(&edges[i], &edges[i - 1]) != 0) {
            it->indptr[edges[i].from + 1]++;
            it->weights[used] = weight_of(edges[i].from, edges[i].to);
            it->indices[used++] = edges[i].to;
        }
    }
    for (int32_t i = 0; i < it->n; i++) {
        it->indptr[i + 1] += it->indptr[i];
    }
    it->graph = (sfu__mapped_csr){{it->n, it->n, it->indptr, it->indices, weighted ? it->weights : NULL}, used, "here"};
}

static void draw(trial *it, sfu__random *random) {
    sfu_smoothing_options *options = &it->options;
    draw_graph(it, random);
    sfu_smoothing_options_init(options);
    for (int i = 0; i < it->n; i++) { /* zeros, so that there are empty rows */
        it->selves[i] = sfu__random_below(random, 5) == 0 ? 0.0F : (float)sfu__random_unit(random);
        it->neighbours[i] = (float)(0.2 + sfu__random_unit(random));
    }
    options->norm = (sfu_norm)sfu__random_below(random, 5);
    options->exponents = sfu__random_below(random, 2);
    options->left = sfu__random_unit(random);
    options->right = sfu__random_below(random, 3) == 0 ? 0.0 : sfu__random_unit(random);
    options->self_column = sfu__random_below(random, 2) ? it->selves : NULL;
    options->neighbour_column = sfu__random_below(random, 3) == 0 ? it->neighbours : NULL;
    options->unweighted = sfu__random_below(random, 4) == 0;
    options->probabilities =
        (options->exponents || options->norm == SFU_NORM_ROW || options->norm == SFU_NORM_SYM_ROW) &&
        sfu__random_below(random, 2);
    it->learn = (sfu__learn){sfu__random_below(random, 2), sfu__random_below(random, 2), sfu__random_below(random, 2),
                             sfu__random_below(random, 2)};
    it->left = (float)sfu__random_unit(random);
    it->right = (float)sfu__random_unit(random);
}

/* ---- running it -------------------------------------------------------------------------------------------------- */

static sfu__learned_parameters parameters_of(const trial *it) {
    return (sfu__learned_parameters){it->selves, it->neighbours, &it->left, &it->right};
}

static float gradient_of(int32_t row, int32_t column) {
    return (float)sfu__random_bits(9, (uint64_t)row, (uint64_t)column) * 0x1p-64F - 0.5F;
}

/* Memory for the entries; dS of rows and columns. */
static void start_part(part *self) {
    const int32_t *entry_of = NULL;
    const sfu_csr rows = sfu__learned_pattern(self->learned),
                  columns = sfu__learned_transpose(self->learned, &entry_of);
    const size_t count = (size_t)sfu__learned_form_of(self->learned)->entries;
    assert_ok(sfu__learned_work_new(&self->work, self->learned));
    self->values = test_malloc((count + 1) * sizeof *self->values);
    self->dS = test_malloc((count + 1) * sizeof *self->dS);
    for (int32_t row = 0; row < rows.rows; row++) {
        for (int64_t e = rows.indptr[row]; e < rows.indptr[row + 1]; e++) {
            self->dS[e] = gradient_of(row, rows.indices[e]);
        }
        for (int64_t e = columns.indptr[row]; e < columns.indptr[row + 1]; e++) {
            self->dS[entry_of[e]] = gradient_of(columns.indices[e], row);
        }
    }
}

static void end_part(part *self) {
    sfu__learned_work_free(self->work);
    sfu__learned_free(self->learned);
    test_free(self->values);
    test_free(self->dS);
}

/* Every part gets the values of all nodes. */
static void share_nodes(part *parts, int count, bool backward, int phase) {
    double *own[SFU__LEARNED_ARRAYS], *other[SFU__LEARNED_ARRAYS];
    for (int p = 0; p < count; p++) {
        const int arrays = sfu__learned_shared(own, parts[p].work, backward, phase);
        for (int q = 0; q < count; q++) {
            assert_int_equal(sfu__learned_shared(other, parts[q].work, backward, phase), arrays);
            for (int i = 0; i < arrays && q != p; i++) {
                memcpy(other[i] + parts[p].first, own[i] + parts[p].first,
                       (size_t)(parts[p].end - parts[p].first) * sizeof **own);
            }
        }
    }
}

static void share_sums(part *parts, int count) {
    static sfu__learned_row_terms heads[MOST];
    int64_t at[MOST_PARTS + 1] = {0};
    for (int p = 0; p < count; p++) {
        at[p + 1] = at[p] + sfu__learned_head(parts[p].first, parts[p].end);
        memcpy(heads + at[p], sfu__learned_heads(parts[p].work), (size_t)(at[p + 1] - at[p]) * sizeof *heads);
    }
    for (int p = 0; p < count; p++) {
        sfu__learned_add_heads(parts[p].work, heads + at[p + 1], at[count] - at[p + 1]);
    }
    for (int p = 0; p < count; p++) {
        const int64_t first = sfu__learned_first_block(parts[p].first), end = sfu__learned_first_block(parts[p].end);
        for (int q = 0; q < count; q++) {
            memmove(sfu__learned_blocks(parts[q].work) + first, sfu__learned_blocks(parts[p].work) + first,
                    (size_t)(end - first) * sizeof *heads);
        }
    }
}

static void run(part *parts, int count, const trial *it, int threads) {
    const sfu__learned_parameters at = parameters_of(it);
    for (int phase = 0; phase < SFU__LEARNED_FORWARD; phase++) {
        for (int i = 0; i < count * threads; i++) {
            sfu__learned_forward(parts[i / threads].values, parts[i / threads].work, &at, phase, i % threads, threads);
        }
        share_nodes(parts, count, false, phase);
    }
    for (int phase = 0; phase < SFU__LEARNED_BACKWARD; phase++) {
        if (phase == SFU__LEARNED_BACKWARD - 1) {
            share_sums(parts, count);
        }
        for (int i = 0; i < count * threads; i++) {
            part *self = &parts[i / threads];
            const sfu__learned_gradient to = {self->dself, self->dneighbour, &self->dleft, &self->dright};
            sfu__learned_backward(&to, self->work, &at, self->dS, phase, i % threads, threads);
        }
        share_nodes(parts, count, true, phase);
    }
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static void assert_same(float ours, float expected) { assert_memory_equal(&ours, &expected, sizeof ours); }

/* A part has the rows and the columns of its nodes, with the values of the whole. */
static void assert_entries(const part *self, const part *whole) {
    const int32_t *entry_of = NULL, *all_entry_of = NULL;
    const sfu_csr rows = sfu__learned_pattern(self->learned), all_rows = sfu__learned_pattern(whole->learned);
    const sfu_csr columns = sfu__learned_transpose(self->learned, &entry_of);
    const sfu_csr all_columns = sfu__learned_transpose(whole->learned, &all_entry_of);
    for (int32_t i = 0; i < rows.rows; i++) {
        const bool own = i >= self->first && i < self->end;
        const int64_t at = rows.indptr[i], all_at = all_rows.indptr[i], across = columns.indptr[i];
        const int64_t count = own ? all_rows.indptr[i + 1] - all_at : 0;
        const int64_t across_count = own ? all_columns.indptr[i + 1] - all_columns.indptr[i] : 0;
        assert_int_equal(rows.indptr[i + 1] - at, count);
        assert_int_equal(columns.indptr[i + 1] - across, across_count);
        for (int64_t e = 0; e < count; e++) {
            assert_int_equal(rows.indices[at + e], all_rows.indices[all_at + e]);
            assert_same(self->values[at + e], whole->values[all_at + e]);
        }
        for (int64_t e = 0; e < across_count; e++) {
            const int64_t all_across = all_columns.indptr[i] + e;
            assert_int_equal(columns.indices[across + e], all_columns.indices[all_across]);
            assert_same(self->values[entry_of[across + e]], whole->values[all_entry_of[all_across]]);
        }
    }
}

/* Gradients of numbers in every part; those of node columns where the nodes are. */
static void assert_gradients(const part *self, const part *whole, const trial *it) {
    for (int32_t i = it->options.self_column != NULL ? self->first : 0;
         it->learn.self && i < (it->options.self_column != NULL ? self->end : 1); i++) {
        assert_same(self->dself[i], whole->dself[i]);
    }
    for (int32_t i = it->options.neighbour_column != NULL ? self->first : 0;
         it->learn.neighbour && i < (it->options.neighbour_column != NULL ? self->end : 1); i++) {
        assert_same(self->dneighbour[i], whole->dneighbour[i]);
    }
    assert_same(self->dleft, whole->dleft);
    assert_same(self->dright, whole->dright);
}

static void parts_are_the_whole(void **state) {
    (void)state;
    static trial it;
    static part whole, parts[MOST_PARTS];
    sfu__random random = sfu__random_start(11, 0);
    int many_blocks = 0;
    for (int round = 0; round < (test_is_slow() ? 40 : 300); round++) {
        const int count = 1 + (int)sfu__random_below(&random, MOST_PARTS);
        int32_t first = 0;
        draw(&it, &random);
        memset(&whole, 0, sizeof whole);
        memset(parts, 0, sizeof parts);
        whole.end = it.n;
        assert_ok(sfu__learned_new(&whole.learned, &it.graph.csr, it.symmetric, &it.options, it.learn, 1));
        start_part(&whole);
        run(&whole, 1, &it, 1);
        for (int p = 0; p < count; p++) { /* also empty ones */
            const int32_t left = it.n - first;
            parts[p].first = first;
            parts[p].end = p + 1 == count ? it.n : first + (int32_t)sfu__random_below(&random, (uint64_t)left + 1);
            first = parts[p].end;
            assert_ok(sfu__learned_new_part(&parts[p].learned, &it.graph, it.symmetric, &it.options, it.learn,
                                            parts[p].first, parts[p].end, 1));
            start_part(&parts[p]);
        }
        run(parts, count, &it, 1 + round % 3);
        run(parts, count, &it, 1); /* another epoch starts anew */
        for (int p = 0; p < count; p++) {
            assert_entries(&parts[p], &whole);
            assert_gradients(&parts[p], &whole, &it);
            end_part(&parts[p]);
        }
        end_part(&whole);
        many_blocks += count > 1 && it.n > 2 * SFU__LEARNED_BLOCK;
    }
    assert_true(many_blocks > (test_is_slow() ? 5 : 40));
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static sfu_status make_part(void *context) {
    const trial *it = context;
    sfu__learned *learned = NULL;
    sfu__learned_work *work = NULL;
    sfu_status status = sfu__learned_new_part(&learned, &it->graph, it->symmetric, &it->options, it->learn, it->n / 3,
                                              it->n / 3 + it->n / 2, 1);
    if (status == SFU_OK) {
        status = sfu__learned_work_new(&work, learned);
    }
    sfu__learned_work_free(work);
    sfu__learned_free(learned);
    return status;
}

static void errors(void **state) {
    (void)state;
    static trial it;
    sfu__random random = sfu__random_start(12, 0);
    for (int directed = 0; directed < 2; directed++) {
        do {
            draw(&it, &random);
        } while (it.n < 600 || it.symmetric != (directed == 0));
        test_fail_each_allocation(make_part, &it, 100);
    }
    sfu_smoothing_options_init(&it.options);
    it.options.neighbour = -1;
    assert_fails(SFU_ERR_ARGUMENT, make_part(&it), "neighbour is -1");
    sfu_smoothing_options_init(&it.options);
    it.indices[it.indptr[0]] = it.n; /* of a row that another part has */
    assert_int_equal(it.symmetric, false);
    assert_fails(SFU_ERR_FORMAT, make_part(&it), "here.indices: entry 0, in row 0");
    it.indptr[it.n / 3 + 1] = -5;
    assert_fails(SFU_ERR_FORMAT, make_part(&it), "here.indptr: row");
    assert_ok(sfu__check_filled((int64_t[]){2, 5}, (int64_t[]){0, 2, 5}, 2, "here"));
    assert_fails(SFU_ERR_FORMAT, sfu__check_filled((int64_t[]){2, 4}, (int64_t[]){0, 2, 5}, 2, "here"),
                 "here: another process changed the file while it was read");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
