/* generate.c - a labelled graph with words, drawn from a degree-corrected contextual stochastic block model.
 *
 *   class of a node     sizes fixed, in proportion to 1/(c + 2); which nodes, a shuffle
 *   popularity          a power law over the ranks of a class
 *   outsiders           the least popular of each class, who write and cite as if they were of another one
 *   edge i - j          node i cites about degree/2 others, mostly of its class, there the popular ones
 * (generate_edges.c) words of a node     with the share `noise` from the whole vocabulary, else of the class's topic
 * (generate_words.c) standard split      20 nodes a class for training, 500 for validation, 1000 for testing
 *
 * docs/make.md has the formulas.
 */
#include "generate.h"
#include "json.h"
#include "progress.h"
#include "sized_struct.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Share of the nodes. With fewer citations between classes all of them are outsiders'; with more the others stray too.
 */
static const double OUTSIDERS_MOST = 0.2;

enum { TRAIN_A_CLASS = 20, VAL_MOST = 500, TEST_MOST = 1000 };

/* Names for up to so many classes; beyond them classes are called by their numbers. */
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

static sfu_status refuse(const char *option, double value, const char *wanted) {
    return sfu__fail(SFU_ERR_ARGUMENT, "make: %s is %.10g; it must be %s", option, value, wanted);
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

/* Every class gets one node, and the others in proportion to 1/(c + 2): seven classes come out like Cora's. */
static void cut_classes(sfu__class_members *groups) {
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

/* How many members of class c are no outsiders. */
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
    SFU_ALLOC(groups->places, groups->nodes);
    SFU_ALLOC(raw->labels, groups->nodes);
    cut_classes(groups);
    for (int32_t node = 0; node < groups->nodes; node++) {
        groups->members[node] = node;
    }
    sfu__random walk = sfu__generate_walk(options, SFU__GENERATE_MEMBERS, 0);
    sfu__random_shuffle(&walk, groups->members, groups->nodes);
    for (int32_t c = 0; c < groups->classes; c++) {
        groups->insiders += insiders_of(groups, c);
        for (int32_t place = groups->starts[c]; place < groups->starts[c + 1]; place++) {
            raw->labels[groups->members[place]] = c;
            groups->places[groups->members[place]] = place;
        }
    }
done:
    return status;
}

/* The class whose members take in `place`. */
static int32_t class_at(const sfu__class_members *groups, int32_t place) {
    int32_t low = 0;
    int32_t high = groups->classes - 1;
    while (low < high) {
        const int32_t middle = low + (high - low + 1) / 2;
        if (groups->starts[middle] <= place) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

int32_t sfu__class_members_other(const sfu__class_members *groups, int32_t own, double unit) {
    /* A place among those that are left when the own class is cut out. */
    const int32_t size = sfu__class_members_size(groups, own);
    const int32_t place = (int32_t)(unit * (groups->nodes - size));
    return class_at(groups, place < groups->starts[own] ? place : place + size);
}

int32_t sfu__class_members_leaning(const sfu__class_members *groups, const sfu_make_options *options, int32_t node,
                                   int32_t own) {
    if (groups->places[node] - groups->starts[own] < insiders_of(groups, own)) {
        return own;
    }
    sfu__random walk = sfu__generate_walk(options, SFU__GENERATE_LEANINGS, 2 * (uint64_t)node);
    return sfu__class_members_other(groups, own, sfu__random_unit(&walk));
}

static void clear_groups(sfu__class_members *groups) {
    sfu__free(groups->starts);
    sfu__free(groups->members);
    sfu__free(groups->places);
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

/* How many nodes of a class with `size` nodes are for training: 20, of a small class half of it, rounded up. */
static int32_t train_of_class(int32_t size) { return at_most(TRAIN_A_CLASS, size - size / 2); }

/* Goes through all nodes in random order: those of a class that still lacks some are for training, the next for
 * validation, the next for testing. `lacking` is scratch, one a class. */
static void deal_nodes(sfu__raw *raw, const int32_t *order, int32_t *lacking, const int64_t wanted[SFU_PARTS]) {
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
    deal_nodes(raw, order, lacking, wanted);
    raw->has_standard = wanted[SFU_VAL] > 0; /* else there are too few nodes for a split */
done:
    sfu__free(order);
    sfu__free(lacking);
    return status;
}

/* ---- the record ------------------------------------------------------------------------------------------------- */

/* The options, for the dataset's `source`. The seed is a text because JSON's numbers do not hold 64 bits. */
static sfu_status write_recipe(sfu__raw *raw, const sfu_make_options *options) {
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)options->seed);
    json_t *normalization =
        json_pack("{s:s, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f}", "seed", seed, "nodes", options->nodes, "classes",
                  options->classes, "vocabulary", options->vocabulary, "degree", options->degree, "power",
                  options->power, "homophily", options->homophily, "words", options->words, "noise", options->noise);
    const sfu_status status = sfu__json_print(&raw->normalization, normalization,
                                              JSON_COMPACT | JSON_REAL_PRECISION(15), "the record of the options");
    json_decref(normalization);
    return status;
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static sfu_status draw_all(sfu__raw *raw, const sfu_make_options *options) {
    sfu_status status = SFU_OK;
    sfu__class_members groups = {0};
    raw->format = "make";
    raw->nodes = options->nodes;
    raw->classes = options->classes;
    SFU_TRY(write_recipe(raw, options));
    SFU_TRY(draw_classes(&groups, raw, options));
    SFU_TRY(name_classes(raw));
    SFU_TRY(draw_split(raw, &groups, options));
    SFU_TRY(sfu__generate_edges(raw, &groups, options));
    SFU_TRY(sfu__generate_words(raw, &groups, options));
done:
    clear_groups(&groups);
    return status;
}

static sfu_status generate(sfu_dataset **dataset, const sfu_make_options *options) {
    sfu_status status = SFU_OK;
    sfu__raw raw = {0};
    sfu_import_options build;
    const sfu__watch before = sfu__watch_start(options->progress, options->progress_user, "making a dataset");
    *dataset = NULL;
    SFU_TRY(check_options(options));
    SFU_TRY(draw_all(&raw, options));
    sfu_import_options_init(&build);
    build.name = options->name != NULL ? options->name : "made";
    build.threads = options->threads;
    build.progress = options->progress;
    build.progress_user = options->progress_user;
    SFU_TRY(sfu__build(dataset, &raw, &build));
done:
    sfu__watch_end(before);
    sfu__raw_clear(&raw);
    return status;
}

sfu_status sfu_dataset_make(sfu_dataset **dataset, const sfu_make_options *given) {
    sfu_make_options options;
    *dataset = NULL;
    const sfu_status status = SFU__READ_OPTIONS(&options, given, sfu_make_options);
    return status != SFU_OK ? status : generate(dataset, &options);
}
