/* dataset_warnings.c - what will hurt: one rule a function and a row of the table, each a sentence that says what it
 * does to the results and what can be done. */
#include "dataset_statistics.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { A_CLASS = 20, IMBALANCE = 10, DENSE_CELLS = 1000000 };

static const double low_homophily = 0.5;
static const double small_largest = 0.5; /* share of the nodes in the largest component */
static const double low_density = 0.1;

/* What a rule is asked: does it apply, and if so, what is to be said? */
typedef struct csv_output {
    const sfu__statistics *statistics;
    const sfu_info *info;
    const sfu_dataset *dataset;
    char text[1024];
} csv_output;

static bool say(csv_output *about, const char *format, ...) SFU_PRINTF(2, 3);

static bool say(csv_output *about, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(about->text, sizeof about->text, format, arguments);
    va_end(arguments);
    return true;
}

/* The name of a class in quotes, or its number. */
static const char *class_text(char text[SFU__QUOTE_MAX], const csv_output *about, int32_t class) {
    const char *name = sfu_dataset_class_name(about->dataset, class);
    if (name == NULL) {
        snprintf(text, SFU__QUOTE_MAX, "%d", class);
        return text;
    }
    return sfu__quote(text, name, strlen(name));
}

/* ---- labels ----------------------------------------------------------------------------------------------------- */

static bool no_labels(csv_output *about) {
    return about->statistics->labelled_classes == 0 &&
           say(about, "No node has a label: nothing can be trained or scored before some are given.");
}

static bool one_class(csv_output *about) {
    char name[SFU__QUOTE_MAX];
    return about->statistics->labelled_classes == 1 &&
           say(about, "All labels are of one class (%s): there is nothing to tell apart; give labels of another.",
               class_text(name, about, about->statistics->largest_class));
}

static bool unlabelled(csv_output *about) {
    const int32_t count = about->info->unlabelled;
    return count > 0 && about->statistics->labelled_classes > 0 &&
           say(about,
               "%d of %d nodes have no label: they are smoothed over and predicted like others, but no split draws "
               "them, and nothing can be scored there.",
               count, about->info->nodes);
}

static bool empty_classes(csv_output *about) {
    const int32_t count = about->info->classes - about->statistics->labelled_classes;
    if (count == 0 || about->statistics->labelled_classes == 0) {
        return false;
    }
    int32_t class = 0;
    while (about->statistics->class_counts[class] > 0) {
        class ++;
    }
    char name[SFU__QUOTE_MAX];
    return say(about,
               "%d of %d classes have no labelled node (%s%s): they are never predicted; label some nodes of "
               "them, or leave them out.",
               count, about->info->classes, count > 1 ? "the first is " : "", class_text(name, about, class));
}

static bool small_classes(csv_output *about) {
    int32_t count = 0;
    for (int32_t class = 0; class < about->info->classes; class ++) {
        count += about->statistics->class_counts[class] > 0 && about->statistics->class_counts[class] < A_CLASS;
    }
    char name[SFU__QUOTE_MAX];
    const int32_t smallest = about->statistics->smallest_class;
    return count > 0 && say(about,
                            "%d of %d classes have fewer than %d labelled nodes (the smallest, %s, has %d): what is "
                            "measured on them is mostly chance; label more, or join them with others.",
                            count, about->info->classes, A_CLASS, class_text(name, about, smallest),
                            about->statistics->class_counts[smallest]);
}

static bool imbalance(csv_output *about) {
    const sfu__statistics *statistics = about->statistics;
    if (statistics->labelled_classes < 2) {
        return false;
    }
    const int32_t most = statistics->class_counts[statistics->largest_class];
    const int32_t least = statistics->class_counts[statistics->smallest_class];
    char large[SFU__QUOTE_MAX], small[SFU__QUOTE_MAX];
    return most / least >= IMBALANCE &&
           say(about,
               "The largest class (%s, %d nodes) has %d times the nodes of the smallest (%s, %d): accuracy hides the "
               "small ones; look at macro-F1, and weigh the loss by class.",
               class_text(large, about, statistics->largest_class), most, most / least,
               class_text(small, about, statistics->smallest_class), least);
}

/* ---- graph ------------------------------------------------------------------------------------------------------ */

static bool no_edges(csv_output *about) {
    return about->info->edges == about->info->self_loops &&
           say(about, "No two nodes are joined: smoothing does nothing; join each node with its nearest by features "
                      "(knn) to get a graph.");
}

static bool isolated(csv_output *about) {
    const int32_t count = about->info->isolated;
    return count > 0 && about->info->edges > about->info->self_loops &&
           say(about,
               "%d of %d nodes have no neighbour: smoothing leaves them as they are, so label smoothing cannot help "
               "them.",
               count, about->info->nodes);
}

static bool in_pieces(csv_output *about) {
    const sfu_info *info = about->info;
    return info->edges > info->self_loops && info->largest_component < small_largest * info->nodes &&
           say(about,
               "The graph is in %d pieces and the largest holds %d of %d nodes: labels do not spread from one to "
               "another; the largest alone can be kept when importing.",
               info->components, info->largest_component, info->nodes);
}

static bool heterophily(csv_output *about) {
    const double share = about->info->homophily; /* NaN, where there is no such edge, is not below anything */
    return share < low_homophily &&
           say(about,
               "Only %.0f %% of the edges between labelled nodes join nodes of one class: smoothing may hurt; compare "
               "with mlp and linear, which do not smooth.",
               floor(share * 100.0));
}

static bool self_loops(csv_output *about) {
    return about->info->self_loops > 0 &&
           say(about,
               "%lld self-loops were kept: self= of a smoothing layer adds to them, so that a node counts itself "
               "twice; use self=0 where all nodes have one, or drop them when importing.",
               (long long)about->info->self_loops);
}

static bool directed(csv_output *about) {
    return about->info->directed &&
           say(about, "The graph is directed: a node is smoothed over the nodes that it points to and not over those "
                      "that point to it; import it undirected unless that is meant.");
}

/* ---- features --------------------------------------------------------------------------------------------------- */

static bool one_hot(csv_output *about) {
    return about->statistics->one_hot &&
           say(about, "There are no features but one for each node: mlp and linear learn nothing that holds for "
                      "another node; only smoothing carries labels on.");
}

static bool featureless(csv_output *about) {
    const int32_t count = about->info->featureless;
    return count > 0 &&
           say(about, "%d of %d nodes have no features: they look alike, and only their neighbours tell them apart.",
               count, about->info->nodes);
}

static bool unscaled(csv_output *about) {
    const sfu__statistics *statistics = about->statistics;
    const bool unit = fabs(statistics->smallest_norm - 1.0) < 1e-3 && fabs(statistics->largest_norm - 1.0) < 1e-3;
    return statistics->largest_norm > 0.0 && !unit && !statistics->rows_sum_to_one &&
           say(about,
               "Features are not scaled: the lengths of the nodes' vectors go from %.3g to %.3g, and the usual "
               "learning "
               "rates and weight decays are for unit vectors; scale them when importing.",
               statistics->smallest_norm, statistics->largest_norm);
}

static bool dense_zeros(csv_output *about) {
    const double cells = (double)about->info->nodes * about->info->features;
    const double density = (double)about->info->feature_nonzeros / cells;
    return about->dataset->dense != NULL && cells >= DENSE_CELLS && density < low_density &&
           say(about,
               "Features are stored dense, %.0f MB, although only %.1f %% of them are not zero: as sparse features "
               "they would be smaller and faster.",
               cells * 4e-6, density * 100.0);
}

/* ---- split ------------------------------------------------------------------------------------------------------ */

static bool no_standard(csv_output *about) {
    return !about->info->has_standard && about->statistics->labelled_classes > 0 &&
           say(about, "There is no standard split: random:0 is drawn unless another is asked for, and results from "
                      "other splits do not compare with it.");
}

static bool standard_unlabelled(csv_output *about) {
    return about->statistics->standard_unlabelled > 0 &&
           say(about, "%d nodes of the standard split have no label: they are left out of it.",
               about->statistics->standard_unlabelled);
}

/* In the order in which they are told. */
static bool (*const rules[])(csv_output *about) = {
    no_labels, one_class,   unlabelled, empty_classes, small_classes, imbalance,
    no_edges,  isolated,    in_pieces,  heterophily,   self_loops,    directed,
    one_hot,   featureless, unscaled,   dense_zeros,   no_standard,   standard_unlabelled};

sfu_status sfu_dataset_warning(char *text, size_t size, const sfu_dataset *dataset, int i) {
    csv_output about = {.dataset = dataset};
    const sfu_status status = sfu__dataset_statistics(&about.statistics, dataset);
    if (status != SFU_OK) {
        return status;
    }
    about.info = &about.statistics->info;
    int found = 0;
    for (size_t rule = 0; rule < sizeof rules / sizeof rules[0]; rule++) {
        if (rules[rule](&about) && found++ == i) {
            snprintf(text, size, "%s", about.text);
            return SFU_OK;
        }
    }
    return sfu__fail(SFU_ERR_NOT_FOUND, "%s: there are %d warnings, none has the number %d", dataset->name, found, i);
}
