/* generate.c - generates a labelled graph with words from a degree-corrected contextual stochastic block model.
 *
 *   class of a node     fixed sizes, in proportion to 1/(c + 2); members by a shuffle
 *   popularity          a power law over the ranks of a class
 *   outsiders           the least popular nodes of each class; drawn as if they belonged to another class
 *   edge i - j          node i cites about degree/2 others, mostly popular nodes of its class (generate_edges.c)
 *   words of a node     a fraction `noise` from the whole vocabulary, the rest from the topic of its class
 *                       (generate_words.c); or dense features around the mean of its class (generate_dense.c)
 *   standard split      20 nodes per class for training, 500 for validation, 1000 for testing
 *
 * docs/reference/make.md has the formulas.
 */
#include "generate.h"
#include "json.h"
#include "memory_limit.h"
#include "progress.h"
#include "sized_struct.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Maximum fraction of outsiders. Up to this fraction, only outsiders cite other classes; beyond it, insiders do too. */
static const double OUTSIDERS_MOST = 0.2;

enum { TRAIN_PER_CLASS = 20, VAL_MOST = 500, TEST_MOST = 1000 };

/* Class names; with more classes than names, classes are named by their numbers. */
static const char *const topics[] = {"Optics",     "Botany",      "Geology",   "Acoustics", "Robotics",
                                     "Statistics", "Linguistics", "Astronomy", "Ecology",   "Medicine"};
enum { TOPICS = sizeof topics / sizeof topics[0] };

void sfu_make_options_init_sized(sfu_make_options *options, size_t size) {
    const sfu_make_options defaults = {
        .size = sizeof defaults,
        .name = "citation",
        .seed = 0,
        .nodes = 2708,
        .classes = 7,
        .vocabulary = 1433,
        .degree = 3.9,
        .power = 2.7,
        .homophily = 0.8,
        .words = 18,
        .noise = 0.56,
    };
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- options ---------------------------------------------------------------------------------------------------- */

static sfu_status refuse(const char *option, double value, const char *expected) {
    return sfu__fail(SFU_ERR_ARGUMENT, "make: %s is %.10g; expected %s", option, value, expected);
}

static sfu_status check_options(const sfu_make_options *options) {
    const double edges_most = 0x1p32;
    if (options->nodes < 1 || options->nodes == INT32_MAX) {
        return refuse("nodes", options->nodes, "between 1 and 2147483646");
    }
    if (options->classes < 1 || options->classes > options->nodes) {
        return refuse("classes", options->classes, "at least 1 and at most the number of nodes");
    }
    if (options->vocabulary < 1) {
        return refuse("vocabulary", options->vocabulary, "at least 1");
    }
    if (options->dense < 0) {
        return refuse("dense", options->dense, "at least 0");
    }
    if (!(options->degree >= 0 && options->degree < options->nodes)) {
        return refuse("degree", options->degree, "at least 0 and less than the number of nodes");
    }
    if (options->degree * options->nodes / 2 > edges_most) {
        return refuse("degree", options->degree, "so small that there are at most 4294967296 edges");
    }
    if (!(options->power == 0 || (options->power > 2 && isfinite(options->power)))) {
        return refuse("power", options->power, "0 (all nodes alike) or more than 2");
    }
    if (!(options->homophily >= 0 && options->homophily <= 1)) {
        return refuse("homophily", options->homophily, "between 0 and 1");
    }
    if (!(options->words >= 0 && options->words <= options->vocabulary)) {
        return refuse("words", options->words, "at least 0 and at most the vocabulary");
    }
    if (!(options->noise >= 0 && options->noise <= 1)) {
        return refuse("noise", options->noise, "between 0 and 1");
    }
    return SFU_OK;
}

/* ---- classes ---------------------------------------------------------------------------------------------------- */

/* Each class gets one node, and the rest in proportion to 1/(c + 2): seven classes have proportions like Cora's. */
static void set_class_sizes(sfu__class_members *groups) {
    double all = 0;
    for (int32_t c = 0; c < groups->classes; c++) {
        all += 1.0 / (c + 2.0);
    }
    const double spare = groups->nodes - groups->classes;
    double before = 0;
    for (int32_t c = 0; c < groups->classes; c++) {
        groups->starts[c] = c + (int32_t)(spare * (before / all));
        before += 1.0 / (c + 2.0);
    }
    groups->starts[groups->classes] = groups->nodes;
}

/* The number of members of class c that are not outsiders. */
static int32_t insiders_of(const sfu__class_members *groups, int32_t c) {
    const int32_t size = sfu__class_members_size(groups, c);
    return size - (int32_t)(size * groups->outsiders + 0.5);
}

static sfu_status draw_classes(sfu__class_members *groups, sfu__raw *raw, const sfu_make_options *options) {
    sfu_status status = SFU_OK;
    groups->nodes = options->nodes;
    groups->classes = options->classes;
    const double strays = options->classes > 1 ? 1 - options->homophily : 0;
    groups->outsiders = strays < OUTSIDERS_MOST ? strays : OUTSIDERS_MOST;
    SFU_ALLOC(groups->starts, (size_t)groups->classes + 1);
    SFU_ALLOC(groups->members, groups->nodes);
    SFU_ALLOC(groups->positions, groups->nodes);
    SFU_ALLOC(raw->labels, groups->nodes);
    set_class_sizes(groups);
    for (int32_t node = 0; node < groups->nodes; node++) {
        groups->members[node] = node;
    }
    sfu__random walk = sfu__generate_walk(options, SFU__GENERATE_MEMBERS, 0);
    sfu__random_shuffle(&walk, groups->members, groups->nodes);
    for (int32_t c = 0; c < groups->classes; c++) {
        groups->insiders += insiders_of(groups, c);
        for (int32_t position = groups->starts[c]; position < groups->starts[c + 1]; position++) {
            raw->labels[groups->members[position]] = c;
            groups->positions[groups->members[position]] = position;
        }
    }
done:
    return status;
}

/* The class whose range of `members` contains an index (binary search). */
static int32_t class_at(const sfu__class_members *groups, int32_t position) {
    int32_t low = 0;
    int32_t high = groups->classes - 1;
    while (low < high) {
        const int32_t middle = low + (high - low + 1) / 2;
        if (groups->starts[middle] <= position) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

int32_t sfu__class_members_other(const sfu__class_members *groups, int32_t own, double unit) {
    /* An index into `members` with the own class left out. */
    const int32_t size = sfu__class_members_size(groups, own);
    const int32_t position = (int32_t)(unit * (groups->nodes - size));
    return class_at(groups, position < groups->starts[own] ? position : position + size);
}

int32_t sfu__class_members_leaning(const sfu__class_members *groups, const sfu_make_options *options, int32_t node,
                                   int32_t own) {
    if (groups->positions[node] - groups->starts[own] < insiders_of(groups, own)) {
        return own;
    }
    sfu__random walk = sfu__generate_walk(options, SFU__GENERATE_LEANINGS, 2 * (uint64_t)node);
    return sfu__class_members_other(groups, own, sfu__random_unit(&walk));
}

static void clear_members(sfu__class_members *groups) {
    sfu__free(groups->starts);
    sfu__free(groups->members);
    sfu__free(groups->positions);
    *groups = (sfu__class_members){0};
}

static sfu_status name_classes(sfu__raw *raw) {
    sfu_status status = SFU_OK;
    for (int64_t c = 0; raw->classes <= TOPICS && c < raw->classes; c++) {
        SFU_TRY(sfu__strings_add(&raw->class_names, topics[c], strlen(topics[c])));
    }
done:
    return status;
}

/* ---- the standard split ----------------------------------------------------------------------------------------- */

static int32_t at_most(int32_t value, int32_t most) { return value < most ? value : most; }

/* Training nodes of a class with `size` nodes: 20, or half of a small class, rounded up. */
static int32_t train_of_class(int32_t size) { return at_most(TRAIN_PER_CLASS, size - size / 2); }

/* Visits the nodes in random order and assigns each to training until its class has enough, then to validation, then to
 * test. `lacking` is scratch, one entry per class. */
static void assign_parts(sfu__raw *raw, const int32_t *order, int32_t *lacking, const int64_t wanted[SFU_PARTS]) {
    for (int64_t i = 0; i < raw->nodes; i++) {
        const int32_t node = order[i];
        sfu_part part = SFU_VAL;
        if (lacking[raw->labels[node]] > 0) {
            lacking[raw->labels[node]]--;
            part = SFU_TRAIN;
        } else if (raw->standard_count[SFU_VAL] == wanted[SFU_VAL]) {
            part = SFU_TEST;
        }
        if (raw->standard_count[part] < wanted[part]) {
            raw->standard[part][raw->standard_count[part]++] = node;
        }
    }
}

static sfu_status draw_split(sfu__raw *raw, const sfu__class_members *groups, const sfu_make_options *options) {
    sfu_status status = SFU_OK;
    int32_t *order = NULL;
    int32_t *lacking = NULL;
    int32_t train = 0;
    SFU_ALLOC(order, groups->nodes);
    SFU_ALLOC(lacking, groups->classes);
    for (int32_t c = 0; c < groups->classes; c++) {
        lacking[c] = train_of_class(groups->starts[c + 1] - groups->starts[c]);
        train += lacking[c];
    }
    const int32_t rest = groups->nodes - train;
    const int64_t wanted[SFU_PARTS] = {train, at_most(VAL_MOST, rest / 3), at_most(TEST_MOST, rest - rest / 3)};
    for (int part = 0; part < SFU_PARTS; part++) {
        SFU_ALLOC(raw->standard[part], wanted[part]);
    }
    for (int32_t node = 0; node < groups->nodes; node++) {
        order[node] = node;
    }
    sfu__random walk = sfu__generate_walk(options, SFU__GENERATE_SPLIT, 0);
    sfu__random_shuffle(&walk, order, groups->nodes);
    assign_parts(raw, order, lacking, wanted);
    raw->has_standard = wanted[SFU_VAL] > 0; /* otherwise there are too few nodes for a split */
done:
    sfu__free(order);
    sfu__free(lacking);
    return status;
}

/* ---- the source record ------------------------------------------------------------------------------------------ */

/* Writes the options for the dataset's `source`. The seed is a string because JSON numbers cannot hold 64 bits. */
static sfu_status record_options(sfu__raw *raw, const sfu_make_options *options) {
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)options->seed);
    json_t *record =
        json_pack("{s:s, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f}", "seed", seed, "nodes", options->nodes, "classes",
                  options->classes, "vocabulary", options->vocabulary, "degree", options->degree, "power",
                  options->power, "homophily", options->homophily, "words", options->words, "noise", options->noise);
    if (options->dense > 0) {
        sfu__json_set(&record, "dense", json_integer(options->dense));
    }
    const sfu_status status =
        sfu__json_print(&raw->generator, record, JSON_COMPACT | JSON_REAL_PRECISION(15), "the record of the options");
    json_decref(record);
    return status;
}

/* ---- generate --------------------------------------------------------------------------------------------------- */

static sfu_status draw_all(sfu__raw *raw, sfu__class_members *groups, void **edges, const sfu_make_options *options) {
    sfu_status status = SFU_OK;
    raw->format = "make";
    raw->nodes = options->nodes;
    raw->classes = options->classes;
    SFU_TRY(record_options(raw, options));
    SFU_TRY(draw_classes(groups, raw, options));
    SFU_TRY(name_classes(raw));
    SFU_TRY(draw_split(raw, groups, options));
    SFU_TRY(sfu__generate_edges(raw, groups, options, edges));
    SFU_TRY(options->dense > 0 ? sfu__generate_dense(raw, groups, options) : sfu__generate_words(raw, groups, options));
done:
    return status;
}

static sfu_status generate(sfu_dataset **dataset, const sfu_make_options *given) {
    sfu_status status = SFU_OK;
    sfu_make_options limited = *given;
    const sfu_make_options *options = &limited;
    sfu__raw raw = {0};
    sfu__class_members groups = {0};
    void *edges = NULL;
    int64_t lacking = 0;
    sfu_import_options build;
    const sfu__watch before = sfu__watch_start(options->progress, options->progress_user, "making a dataset");
    *dataset = NULL;
    SFU_TRY(check_options(options));
    SFU_TRY(sfu__limit_start(&raw, options->memory, options->scratch, &limited.threads));
    SFU_TRY(draw_all(&raw, &groups, &edges, options));
    if (edges == NULL) {
        clear_members(&groups);
    }
    sfu_import_options_init(&build);
    build.name = options->name != NULL ? options->name : "made";
    build.threads = options->threads;
    build.progress = options->progress;
    build.progress_user = options->progress_user;
    SFU_TRY(sfu__build(dataset, &raw, &build, &lacking));
done:
    status = sfu__limit_end(status, options->memory, "making this dataset", lacking);
    sfu__watch_end(before);
    sfu__raw_clear(&raw);
    clear_members(&groups);
    sfu__free(edges);
    return status;
}

sfu_status sfu_dataset_make(sfu_dataset **dataset, const sfu_make_options *given) {
    sfu_make_options options;
    *dataset = NULL;
    const sfu_status status = SFU__READ_OPTIONS(&options, given, sfu_make_options);
    return status != SFU_OK ? status : generate(dataset, &options);
}
