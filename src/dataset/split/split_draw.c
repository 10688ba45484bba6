/* split_draw.c - drawn splits, `random`, `holdout` and `cv`, and the sizes of the training set.
 *
 * One shuffle of the labelled nodes, a function of the seed and of the set of labelled nodes, determines the validation
 * and test sets and the order in which the remaining nodes (T) join the training set. So a larger training set contains
 * every smaller one of the same seed, and validation and test sets do not depend on the size.
 */
#include "split_int.h"
#include "progress.h"
#include "random.h"

#include <stdio.h>
#include <string.h>

enum { VALIDATION = 500, TEST = 1000, PER_CLASS = 20, SETS = 5 };

/* Each protocol uses a separate random stream. */
enum { STREAM_RANDOM = 0, STREAM_CV = 1, STREAM_HOLDOUT = 2 };

/* The labelled nodes in shuffled order. */
typedef struct draw {
    int32_t *order;
    int32_t count;
} draw;

static sfu_status shuffle_labelled(draw *drawn, const sfu_dataset *dataset, uint64_t seed, uint32_t stream) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(drawn->order, dataset->nodes);
    for (int32_t node = 0; node < dataset->nodes; node++) {
        if (dataset->labels[node] != SFU_NO_LABEL) {
            drawn->order[drawn->count++] = node;
        }
    }
    sfu__random random = sfu__random_start(seed, sfu__stream_of(SFU__STREAM_SPLIT, stream));
    sfu__random_shuffle(&random, drawn->order, drawn->count);
done:
    return status;
}

/* ---- validation and test sets ----------------------------------------------------------------------------------- */

/* next[c]: index of the first node of class c if the labelled nodes are ordered by class; [classes + 1], from zeros. */
static void start_classes(int64_t *next, const sfu_dataset *dataset, const draw *drawn) {
    for (int32_t i = 0; i < drawn->count; i++) {
        next[dataset->labels[drawn->order[i]] + 1]++;
    }
    for (int32_t class = 0; class < dataset->classes; class ++) {
        next[class + 1] += next[class];
    }
}

/* Stratified assignment: orders the labelled nodes by class, then by the shuffle, and assigns parts by repeating the
 * pattern along that order. Every class, and the whole, is divided in the proportions of the pattern, up to one node
 * per part. */
static sfu_status assign_stratified(sfu__draft *draft, const draw *drawn, const uint8_t *pattern, int64_t period) {
    sfu_status status = SFU_OK;
    const sfu_dataset *dataset = draft->dataset;
    int64_t *next = NULL; /* per class: index of its next node in that order */
    SFU_ALLOC_ZERO(next, (size_t)dataset->classes + 1);
    start_classes(next, dataset, drawn);
    for (int32_t i = 0; i < drawn->count; i++) {
        const int32_t node = drawn->order[i];
        draft->part_of[node] = pattern[next[dataset->labels[node]]++ % period];
    }
done:
    sfu__free(next);
    return status;
}

static void assign_fixed_sizes(sfu__draft *draft, const draw *drawn) {
    for (int32_t i = 0; i < drawn->count; i++) {
        draft->part_of[drawn->order[i]] = i < VALIDATION ? SFU_VAL : i < VALIDATION + TEST ? SFU_TEST : SFU_TRAIN;
    }
}

/* ---- holdout ----------------------------------------------------------------------------------------------------- */

/* Eight of ten nodes train. Any three in a row (cyclically) have at most one that does not. */
static const uint8_t tenths[] = {SFU_TRAIN, SFU_TRAIN, SFU_VAL,  SFU_TRAIN, SFU_TRAIN,
                                 SFU_TRAIN, SFU_TRAIN, SFU_TEST, SFU_TRAIN, SFU_TRAIN};

/* A class with two labels: one trains, the other one validates or tests, in turn over these classes. */
static void assign_two(uint8_t *part_of, const int32_t *nodes, int32_t *pairs) {
    part_of[nodes[0]] = SFU_TRAIN;
    part_of[nodes[1]] = (*pairs)++ % 2 == 0 ? SFU_VAL : SFU_TEST;
}

/* A class with three or more labels that were dealt: if it has none to validate or test, its first training node
 * becomes that. */
static void complete_class(uint8_t *part_of, const int32_t *nodes, int64_t count) {
    for (int part = SFU_VAL; part <= SFU_TEST; part++) {
        int64_t first = count; /* training node */
        bool found = false;
        for (int64_t i = count - 1; i >= 0 && !found; i--) {
            first = part_of[nodes[i]] == SFU_TRAIN ? i : first;
            found = part_of[nodes[i]] == part;
        }
        if (!found) {
            part_of[nodes[first]] = (uint8_t)part;
        }
    }
}

/* Small classes differ from the dealing of assign_stratified: each with at least three labels is in all parts, and
 * each is trained on. `by_class` are the labelled nodes by class, then by the shuffle. */
static void adjust_small_classes(uint8_t *part_of, const int32_t *by_class, const int64_t *starts, int32_t classes) {
    int32_t pairs = 0;
    for (int32_t class = 0; class < classes; class ++) {
        const int32_t *nodes = by_class + starts[class];
        const int64_t count = starts[class + 1] - starts[class];
        if (count == 1) {
            part_of[nodes[0]] = SFU_TRAIN;
        } else if (count == 2) {
            assign_two(part_of, nodes, &pairs);
        } else if (count >= 3) {
            complete_class(part_of, nodes, count);
        }
    }
}

static sfu_status assign_holdout(sfu__draft *draft, const draw *drawn) {
    sfu_status status = SFU_OK;
    const sfu_dataset *dataset = draft->dataset;
    int64_t *starts = NULL, *next = NULL;
    int32_t *by_class = NULL;
    const size_t bounds = (size_t)dataset->classes + 1;
    SFU_ALLOC_ZERO(starts, bounds);
    SFU_ALLOC(next, bounds);
    SFU_ALLOC(by_class, drawn->count);
    start_classes(starts, dataset, drawn);
    memcpy(next, starts, bounds * sizeof *next);
    for (int32_t i = 0; i < drawn->count; i++) {
        by_class[next[dataset->labels[drawn->order[i]]]++] = drawn->order[i];
    }
    SFU_TRY(assign_stratified(draft, drawn, tenths, sizeof tenths));
    adjust_small_classes(draft->part_of, by_class, starts, dataset->classes);
done:
    sfu__free(starts);
    sfu__free(next);
    sfu__free(by_class);
    return status;
}

/* ---- the training set ------------------------------------------------------------------------------------------- */

/* The training sizes in the paper's tables, which do not always follow its own rule: by nodes, features and classes. */
static const struct {
    int32_t nodes, features, classes;
    int32_t sizes[SETS];
} paper[] = {
    {2708, 1433, 7, {140, 407, 674, 941, 1208}},     /* Cora */
    {3327, 3703, 6, {120, 547, 974, 1401, 1812}},    /* Citeseer, of which 15 nodes have no label */
    {19717, 500, 3, {60, 4600, 9139, 13678, 18217}}, /* Pubmed */
    {3025, 1870, 3, {60, 426, 792, 1158, 1525}},     /* ACM */
    {4057, 334, 4, {80, 699, 1318, 1937, 2557}},     /* DBLP */
};

/* The nodes available for training (T), per class. */
typedef struct pool {
    int32_t *by_class; /* [classes] */
    int32_t total;     /* |T| */
    int32_t base;      /* size 1: 20 per class, or all if there are fewer */
    int32_t short_classes, shortest;
} pool;

static sfu_status measure_pool(pool *t, const sfu__draft *draft) {
    sfu_status status = SFU_OK;
    const sfu_dataset *dataset = draft->dataset;
    SFU_ALLOC_ZERO(t->by_class, dataset->classes);
    for (int32_t node = 0; node < dataset->nodes; node++) {
        if (draft->part_of[node] == SFU_TRAIN) {
            t->by_class[dataset->labels[node]]++;
            t->total++;
        }
    }
    for (int32_t class = 0; class < dataset->classes; class ++) {
        const int32_t count = t->by_class[class];
        t->base += count < PER_CLASS ? count : PER_CLASS;
        t->short_classes += count < PER_CLASS;
        t->shortest = count < t->by_class[t->shortest] ? class : t->shortest;
    }
done:
    return status;
}

static int32_t set_size(const pool *t, const sfu_dataset *dataset, int64_t set) {
    for (size_t i = 0; i < sizeof paper / sizeof paper[0]; i++) {
        if (dataset->nodes == paper[i].nodes && dataset->features == paper[i].features &&
            dataset->classes == paper[i].classes && t->base == paper[i].sizes[0] &&
            t->total == paper[i].sizes[SETS - 1]) {
            return paper[i].sizes[set - 1];
        }
    }
    const int32_t step = (t->total - t->base) / (SETS - 1);
    return set == SETS ? t->total : t->base + (int32_t)(set - 1) * step;
}

/* *size holds the default on entry. */
static sfu_status parse_size(int64_t *size, const pool *t, const sfu__draft *draft) {
    char quoted[SFU__QUOTE_MAX];
    if (draft->size != NULL && (!sfu__parse_int64_string(size, draft->size) || *size < 1)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "size %s: expected 1 to 5, or a number of training nodes above 5",
                         sfu__quote(quoted, draft->size, strlen(draft->size)));
    }
    if (*size > SETS && *size > t->total) {
        return sfu__fail(SFU_ERR_ARGUMENT, "size %s: split %s leaves only %d nodes to train on",
                         sfu__quote(quoted, draft->size, strlen(draft->size)), draft->quoted, t->total);
    }
    return SFU_OK;
}

/* Keeps the first `want` nodes of T. The order is: 20 per class, taken round-robin over the classes, then the rest in
 * shuffled order. Kept are the nodes whose rank in their class is below `full`, those of rank `full` in a class below
 * `next_class`, and `others` nodes of rank 20 or more. */
static void keep_first(sfu__draft *draft, const draw *drawn, const pool *t, int32_t want, int32_t *seen) {
    const sfu_dataset *dataset = draft->dataset;
    int32_t full = 0, next_class = 0, taken = 0;
    while (taken < want && full < PER_CLASS) {
        if (next_class == dataset->classes) {
            next_class = 0;
            full++;
            continue;
        }
        taken += t->by_class[next_class++] > full;
    }
    int32_t others = want - taken;
    for (int32_t i = 0; i < drawn->count; i++) {
        const int32_t node = drawn->order[i];
        const int32_t class = dataset->labels[node];
        if (draft->part_of[node] != SFU_TRAIN) {
            continue;
        }
        const int32_t rank = seen[class]++;
        const bool kept = rank < full || (rank == full && class < next_class) || (rank >= PER_CLASS && others-- > 0);
        draft->part_of[node] = kept ? SFU_TRAIN : SFU__NO_PART;
    }
}

static void note_small_classes(const sfu__draft *draft, const pool *t) {
    const char *name = sfu_dataset_class_name(draft->dataset, t->shortest);
    char number[16], quoted[SFU__QUOTE_MAX];
    snprintf(number, sizeof number, "%d", t->shortest);
    name = name != NULL ? name : number;
    sfu__log(SFU_LOG_NOTE, "split %s: %d of %d classes have fewer than %d nodes to train on (%s has %d): all are taken",
             draft->quoted, t->short_classes, draft->dataset->classes, PER_CLASS,
             sfu__quote(quoted, name, strlen(name)), t->by_class[t->shortest]);
}

/* Reduces T to the requested size, and appends the size to the text of the protocol. */
static sfu_status cut_to_size(sfu__draft *draft, const draw *drawn, int64_t default_set) {
    sfu_status status = SFU_OK;
    pool t = {0};
    int32_t *seen = NULL;
    int64_t size = default_set;
    SFU_TRY(measure_pool(&t, draft));
    SFU_TRY(parse_size(&size, &t, draft));
    const int32_t want = size > SETS ? (int32_t)size : set_size(&t, draft->dataset, size);
    if (want < t.total) {
        SFU_ALLOC_ZERO(seen, draft->dataset->classes);
        keep_first(draft, drawn, &t, want, seen);
        if (t.short_classes > 0) {
            note_small_classes(draft, &t);
        }
    }
    SFU_TRY(sfu__text_format(&draft->text, " size %lld", (long long)size));
done:
    sfu__free(t.by_class);
    sfu__free(seen);
    return status;
}

/* ---- the protocols ---------------------------------------------------------------------------------------------- */

sfu_status sfu__split_random(sfu__draft *draft, uint64_t seed) {
    static const uint8_t quarters[] = {SFU_TRAIN, SFU_VAL, SFU_TRAIN, SFU_TEST};
    sfu_status status = SFU_OK;
    draw drawn = {0};
    SFU_TRY(sfu__text_format(&draft->text, "random:%llu", (unsigned long long)seed));
    SFU_TRY(shuffle_labelled(&drawn, draft->dataset, seed, STREAM_RANDOM));
    const bool few = drawn.count - (int64_t)PER_CLASS * draft->dataset->classes < VALIDATION + TEST;
    if (few) {
        sfu__log(SFU_LOG_NOTE,
                 "split %s: %d labelled nodes are too few for %d per class to train on, %d to validate and %d to test; "
                 "each class is divided 50/25/25 %% instead",
                 draft->quoted, drawn.count, PER_CLASS, VALIDATION, TEST);
        SFU_TRY(assign_stratified(draft, &drawn, quarters, 4));
    } else {
        assign_fixed_sizes(draft, &drawn);
    }
    SFU_TRY(cut_to_size(draft, &drawn, few ? SETS : 1));
done:
    sfu__free(drawn.order);
    return status;
}

sfu_status sfu__split_holdout(sfu__draft *draft, uint64_t seed) {
    sfu_status status = SFU_OK;
    draw drawn = {0};
    SFU_TRY(sfu__text_format(&draft->text, "holdout:%llu", (unsigned long long)seed));
    SFU_TRY(shuffle_labelled(&drawn, draft->dataset, seed, STREAM_HOLDOUT));
    SFU_TRY(assign_holdout(draft, &drawn));
    SFU_TRY(cut_to_size(draft, &drawn, SETS));
done:
    sfu__free(drawn.order);
    return status;
}

sfu_status sfu__split_cv(sfu__draft *draft, int64_t folds, int64_t fold, uint64_t seed) {
    sfu_status status = SFU_OK;
    draw drawn = {0};
    uint8_t *pattern = NULL;
    SFU_TRY(sfu__text_format(&draft->text, "cv:%lld:%lld:%llu", (long long)folds, (long long)fold,
                             (unsigned long long)seed));
    SFU_TRY(shuffle_labelled(&drawn, draft->dataset, seed, STREAM_CV));
    if (folds < 3 || folds > drawn.count) {
        status =
            sfu__fail(SFU_ERR_ARGUMENT, "split %s: FOLDS must be from 3 to the %d labelled nodes, as in \"cv:5:0:0\"",
                      draft->quoted, drawn.count);
        goto done;
    }
    if (fold >= folds) {
        status =
            sfu__fail(SFU_ERR_ARGUMENT, "split %s: FOLD must be from 0 to %lld", draft->quoted, (long long)folds - 1);
        goto done;
    }
    SFU_ALLOC(pattern, folds);
    memset(pattern, SFU_TRAIN, (size_t)folds);
    pattern[fold] = SFU_TEST;
    pattern[(fold + 1) % folds] = SFU_VAL;
    SFU_TRY(assign_stratified(draft, &drawn, pattern, folds));
    SFU_TRY(cut_to_size(draft, &drawn, SETS));
done:
    sfu__free(drawn.order);
    sfu__free(pattern);
    return status;
}
