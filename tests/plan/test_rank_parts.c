/* What a rank holds: its rows of every matrix, which together are the matrices of one process. */
#include "support.h"

#include "plan_int.h"

enum { RANKS = 5, NODES = 12000, FEATURES = 20 };

static sfu_dataset *make_dataset(void) {
    sfu_make_options options;
    sfu_dataset *dataset = NULL;
    sfu_make_options_init(&options);
    options.nodes = NODES;
    options.dense = FEATURES;
    options.degree = 6;
    assert_ok(sfu_dataset_make(&dataset, &options));
    return dataset;
}

/* A plan to train on every other node; `ranks` NULL: of one process. */
static sfu__plan *make_plan(const sfu_dataset *dataset, const char *text, const sfu__rank_group *ranks) {
    static int32_t nodes[NODES / 2];
    sfu_net_options options;
    sfu_net *net = NULL;
    sfu__plan *plan = NULL;
    sfu__plan_request request = {.rewrites = SFU__ALL_REWRITES, .threads = 1, .ranks = ranks};
    for (int32_t i = 0; i < NODES / 2; i++) {
        nodes[i] = 2 * i;
    }
    request.nodes[SFU_PASS_TRAIN] = nodes;
    request.count[SFU_PASS_TRAIN] = NODES / 2;
    sfu_net_options_init(&options);
    assert_ok(sfu_net_parse(&net, text, &options));
    assert_ok(sfu__plan_make(&plan, dataset, net, &request));
    sfu_net_free(net);
    return plan;
}

static int64_t entries_of(const sfu__pass *pass, size_t block) {
    const sfu__prepared *matrix = pass->blocks[block].matrix;
    return matrix->indptr[matrix->rows];
}

/* Every block of S, and of its transpose, is divided; each entry has one rank. */
static void check_smoothing(const sfu_dataset *dataset, const char *text, size_t parts_expected) {
    sfu__plan *whole = make_plan(dataset, text, NULL);
    const sfu__pass *all = &whole->passes[SFU_PASS_TRAIN];
    int64_t sums[8] = {0};
    for (int rank = 0; rank < RANKS; rank++) {
        const sfu__rank_group ranks = {.rank = rank, .count = RANKS};
        sfu__plan *plan = make_plan(dataset, text, &ranks);
        const sfu__pass *pass = &plan->passes[SFU_PASS_TRAIN];
        size_t parts = 0;
        assert_int_equal(pass->block_count, all->block_count);
        for (size_t i = 0; i < pass->block_count; i++) {
            parts += pass->blocks[i].part;
            sums[i] += pass->blocks[i].part ? entries_of(pass, i) : 0;
            assert_true(!pass->blocks[i].part || entries_of(pass, i) < entries_of(all, i) / 2);
        }
        assert_int_equal(parts, parts_expected);
        assert_true(plan->learned_values <= whole->learned_values / 2);
        for (int i = 0; i < plan->smoother_count; i++) {
            assert_true(plan->smoothers[i].learned != NULL || plan->smoothers[i].csr.indptr == NULL);
        }
        sfu__plan_release(plan);
    }
    for (size_t i = 0; i < all->block_count; i++) {
        assert_true(sums[i] == 0 || sums[i] == entries_of(all, i));
    }
    sfu__plan_release(whole);
}

/* Steps of a learned smoothing with the same rows share their blocks. */
static void test_shared_blocks(void **state) {
    (void)state;
    sfu_dataset *dataset = make_dataset();
    const sfu__rank_group ranks = {.rank = 1, .count = RANKS};
    sfu__plan *few = make_plan(dataset, "dense 8 relu | smooth^8(learn=self) | softmax", &ranks);
    sfu__plan *more = make_plan(dataset, "dense 8 relu | smooth^12(learn=self) | softmax", &ranks);
    assert_int_equal(few->passes[SFU_PASS_TRAIN].block_count, more->passes[SFU_PASS_TRAIN].block_count);
    sfu__plan_release(few);
    sfu__plan_release(more);
    sfu_dataset_free(dataset);
}

static void test_smoothing(void **state) {
    (void)state;
    sfu_dataset *dataset = make_dataset();
    check_smoothing(dataset, "dense 8 relu | smooth | dense 8 | smooth(act=relu) | softmax", 4);
    check_smoothing(dataset, "dense 8 relu | smooth(norm=row) | softmax", 2); /* not symmetric */
    check_smoothing(dataset, "dense 8 relu | smooth(norm=none, learn=self) | dense 8 | smooth | softmax", 4);
    sfu_dataset_free(dataset);
}

/* The folded features of one process, at the rows of the rank; zeros far from them. */
static void test_features(void **state) {
    (void)state;
    sfu_dataset *dataset = make_dataset();
    const char *text = "smooth^2(act=relu) | dense 8 | softmax";
    sfu__plan *whole = make_plan(dataset, text, NULL);
    const sfu__pass *all = &whole->passes[SFU_PASS_TRAIN];
    const float *expected = all->shared[0]->dense;
    assert_non_null(expected);
    for (int rank = 0; rank < RANKS; rank++) {
        const sfu__rank_group ranks = {.rank = rank, .count = RANKS};
        sfu__plan *plan = make_plan(dataset, text, &ranks);
        const sfu__pass *pass = &plan->passes[SFU_PASS_TRAIN];
        const sfu__row_set *rows = &pass->row_sets[plan->passes[SFU_PASS_TRAIN].segments[0].fold];
        const sfu__range own = sfu__rank_rows(plan, rows), some = sfu__rank_feature_rows(plan, rows);
        const float *features = pass->shared[0]->dense;
        const int32_t ld = sfu__ld(FEATURES);
        assert_non_null(features);
        assert_true(some.begin <= own.begin && own.begin < own.end && own.end <= some.end);
        assert_true(some.end - some.begin < rows->count);
        assert_memory_equal(features + some.begin * ld, expected + some.begin * ld,
                            (size_t)(some.end - some.begin) * (size_t)ld * sizeof *features);
        for (int64_t i = 0; i < rows->count * (int64_t)ld; i++) {
            assert_true((i >= some.begin * ld && i < some.end * ld) || features[i] == 0.0F);
        }
        sfu__plan_release(plan);
    }
    sfu__plan_release(whole);
    sfu_dataset_free(dataset);
}

/* ---- sparse features --------------------------------------------------------------------------------------------- */

enum { WORDS = 600 };

/* What the other ranks, which this process does not have, would add to a count. */
static int64_t count_of_all;

static void gather_counts(float *items, int32_t floats, const int64_t *bounds) {
    int64_t *counts = (int64_t *)(void *)items;
    int64_t own = 0, other = 0;
    assert_int_equal(floats * (int32_t)sizeof(float), sizeof *counts);
    for (int64_t r = 0; r < bounds[RANKS]; r++) {
        own += counts[r];
        other = counts[r] == 0 ? r : other;
    }
    assert_true(own < count_of_all);
    counts[other] = count_of_all - own;
}

static sfu_dataset *make_words(void) {
    sfu_make_options options;
    sfu_dataset *dataset = NULL;
    sfu_make_options_init(&options);
    options.nodes = NODES;
    options.vocabulary = WORDS;
    options.words = 40;
    options.degree = 8;
    assert_ok(sfu_dataset_make(&dataset, &options));
    return dataset;
}

/* The first product of the pass with sparse features. */
static const sfu__prepared *features_of(const sfu__pass *pass) {
    for (size_t i = 0; i < pass->step_count; i++) {
        if (pass->steps[i].kernel == SFU__KERNEL_SPMM && pass->steps[i].b.space == SFU__MEMORY_THETA) {
            return pass->blocks[pass->steps[i].block].matrix;
        }
    }
    fail_msg("no product with sparse features");
    return NULL;
}

static void check_sparse_rows(const sfu__plan *plan, const sfu__prepared *some, const sfu__prepared *all) {
    const sfu__pass *pass = &plan->passes[SFU_PASS_TRAIN];
    const sfu__range rows = sfu__rank_sparse_rows(plan, &pass->row_sets[pass->segments[0].fold]);
    const int32_t *columns = plan->backend->columns(some), *expected = plan->backend->columns(all);
    assert_int_equal(some->rows, all->rows);
    assert_true(rows.end - rows.begin < all->rows);
    for (int32_t i = 0; i < all->rows; i++) {
        const int64_t count = some->indptr[i + 1] - some->indptr[i];
        const bool has = i >= rows.begin && i < rows.end;
        assert_int_equal(count, has ? all->indptr[i + 1] - all->indptr[i] : 0);
        for (int64_t e = 0; e < count; e++) {
            assert_int_equal(columns[some->indptr[i] + e], expected[all->indptr[i] + e]);
        }
    }
}

/* Every part of the gradient has one rank, near whose rows it is; it is empty in the others. */
static int check_parts(const sfu__plan *plan, const sfu__pass *all) {
    const sfu__pass *pass = &plan->passes[SFU_PASS_TRAIN];
    int own = 0;
    assert_int_equal(pass->step_count, all->step_count);
    for (size_t i = 0; i < pass->step_count; i++) {
        const sfu__plan_step *step = &pass->steps[i];
        assert_int_equal(all->steps[i].owner, -1);
        if (step->owner >= 0) {
            const bool here = step->owner == plan->ranks->rank;
            assert_int_equal(step->rows.begin, all->steps[i].rows.begin);
            assert_int_equal(step->rows.end, all->steps[i].rows.end);
            assert_int_equal(entries_of(pass, (size_t)step->block),
                             here ? entries_of(all, (size_t)all->steps[i].block) : 0);
            own += here;
        }
    }
    return own;
}

static void check_sparse(const sfu_dataset *dataset, const char *text) {
    static const sfu__mpi mpi = {.gather = gather_counts};
    sfu__plan *whole = make_plan(dataset, text, NULL);
    const sfu__pass *all = &whole->passes[SFU_PASS_TRAIN];
    const sfu__prepared *F = features_of(all);
    int parts = 0, expected = 0;
    count_of_all = F->indptr[F->rows];
    for (int rank = 0; rank < RANKS; rank++) {
        const sfu__rank_group ranks = {.rank = rank, .count = RANKS, .mpi = &mpi};
        sfu__plan *plan = make_plan(dataset, text, &ranks);
        check_sparse_rows(plan, features_of(&plan->passes[SFU_PASS_TRAIN]), F);
        parts += check_parts(plan, all);
        sfu__plan_release(plan);
    }
    for (size_t i = 0; i < all->step_count; i++) {
        expected += all->steps[i].rows.end > 0;
    }
    assert_int_equal(parts, expected);
    sfu__plan_release(whole);
}

static void test_sparse_features(void **state) {
    (void)state;
    sfu_dataset *dataset = make_words();
    check_sparse(dataset, "dense 20 relu | dense 8 | softmax"); /* X */
    check_sparse(dataset, "smooth | dense 20 relu | softmax");  /* S X, in many parts */
    sfu_dataset_free(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smoothing),
        cmocka_unit_test(test_shared_blocks),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_sparse_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
