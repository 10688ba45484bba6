/* dataset_warnings.c - warnings about a dataset: properties that harm the results, and the remedy. Each rule is one
 * function and one row of the table. */
#include "dataset_statistics.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MIN_CLASS_SIZE = 20, IMBALANCE = 10, DENSE_CELLS = 1000000 };

static const double low_homophily = 0.5;
static const double small_largest = 0.5; /* fraction of the nodes in the largest component */
static const double low_density = 0.1;

/* Input of a rule, and the text of the warning if the rule applies. */
typedef struct rule_input {
    const sfu__statistics *statistics;
    const sfu_info *info;
    const sfu_dataset *dataset;
    char text[1024];
} rule_input;

static bool warn(rule_input *about, const char *format, ...) SFU_PRINTF(2, 3);

static bool warn(rule_input *about, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(about->text, sizeof about->text, format, arguments);
    va_end(arguments);
    return true;
}

/* The quoted name of a class, or its number. */
static const char *class_text(char text[SFU__QUOTE_MAX], const rule_input *about, int32_t class) {
    const char *name = sfu_dataset_class_name(about->dataset, class);
    if (name == NULL) {
        snprintf(text, SFU__QUOTE_MAX, "%d", class);
        return text;
    }
    return sfu__quote(text, name, strlen(name));
}

/* ---- labels ----------------------------------------------------------------------------------------------------- */

static bool no_labels(rule_input *about) {
    return about->statistics->labelled_classes == 0 &&
           warn(about, "No node has a label: nothing can be trained or scored before some are given.");
}

static bool one_class(rule_input *about) {
    char name[SFU__QUOTE_MAX];
    return about->statistics->labelled_classes == 1 &&
           warn(about, "All labels are of one class (%s): there is nothing to classify; add labels of another class.",
                class_text(name, about, about->statistics->largest_class));
}

static bool unlabelled(rule_input *about) {
    const int32_t count = about->info->unlabelled;
    return count > 0 && about->statistics->labelled_classes > 0 &&
           warn(about,
                "%d of %d nodes have no label: they take part in smoothing and are predicted, but no split "
                "contains them, and they cannot be scored.",
                count, about->info->nodes);
}

static bool empty_classes(rule_input *about) {
    const int32_t count = about->info->classes - about->statistics->labelled_classes;
    if (count == 0 || about->statistics->labelled_classes == 0) {
        return false;
    }
    int32_t class = 0;
    while (about->statistics->class_counts[class] > 0) {
        class ++;
    }
    char name[SFU__QUOTE_MAX];
    return warn(about,
                "%d of %d classes have no labelled node (%s%s): they are never predicted; label some nodes of "
                "them, or leave them out.",
                count, about->info->classes, count > 1 ? "the first is " : "", class_text(name, about, class));
}

static bool small_classes(rule_input *about) {
    int32_t count = 0;
    for (int32_t class = 0; class < about->info->classes; class ++) {
        count += about->statistics->class_counts[class] > 0 && about->statistics->class_counts[class] < MIN_CLASS_SIZE;
    }
    char name[SFU__QUOTE_MAX];
    const int32_t smallest = about->statistics->smallest_class;
    return count > 0 && warn(about,
                             "%d of %d classes have fewer than %d labelled nodes (the smallest, %s, has %d): their "
                             "scores are mostly chance; label more nodes, or merge them with other classes.",
                             count, about->info->classes, MIN_CLASS_SIZE, class_text(name, about, smallest),
                             about->statistics->class_counts[smallest]);
}

static bool imbalance(rule_input *about) {
    const sfu__statistics *statistics = about->statistics;
    if (statistics->labelled_classes < 2) {
        return false;
    }
    const int32_t most = statistics->class_counts[statistics->largest_class];
    const int32_t least = statistics->class_counts[statistics->smallest_class];
    char large[SFU__QUOTE_MAX], small[SFU__QUOTE_MAX];
    return most / least >= IMBALANCE &&
           warn(about,
                "The largest class (%s, %d nodes) has %d times the nodes of the smallest (%s, %d): accuracy hides the "
                "small ones; look at macro-F1, and weigh the loss by class.",
                class_text(large, about, statistics->largest_class), most, most / least,
                class_text(small, about, statistics->smallest_class), least);
}

/* ---- graph ------------------------------------------------------------------------------------------------------ */

static bool no_edges(rule_input *about) {
    return about->info->edges == about->info->self_loops &&
           warn(about, "No two nodes are joined: smoothing does nothing; join each node with its nearest by features "
                       "(knn) to get a graph.");
}

static bool isolated(rule_input *about) {
    const int32_t count = about->info->isolated;
    return count > 0 && about->info->edges > about->info->self_loops &&
           warn(about,
                "%d of %d nodes have no neighbour: smoothing leaves them as they are, so label smoothing cannot help "
                "them.",
                count, about->info->nodes);
}

static bool disconnected(rule_input *about) {
    const sfu_info *info = about->info;
    return info->edges > info->self_loops && info->largest_component < small_largest * info->nodes &&
           warn(about,
                "The graph has %d connected components and the largest holds %d of %d nodes: labels do not spread "
                "between components; the import can keep only the largest.",
                info->components, info->largest_component, info->nodes);
}

static bool heterophily(rule_input *about) {
    const double share = about->info->homophily; /* NaN if there is no edge between labelled nodes: no warning */
    return share < low_homophily &&
           warn(about,
                "Only %.0f %% of the edges between labelled nodes join nodes of one class: smoothing may hurt; compare "
                "with mlp and linear, which do not smooth.",
                floor(share * 100.0));
}

static bool self_loops(rule_input *about) {
    return about->info->self_loops > 0 &&
           warn(about,
                "%lld self-loops were kept: self= of a smoothing layer adds to them, so that a node counts itself "
                "twice; use self=0 where all nodes have one, or drop them when importing.",
                (long long)about->info->self_loops);
}

static bool directed(rule_input *about) {
    return about->info->directed &&
           warn(about, "The graph is directed: a node is smoothed over the nodes that it points to and not over those "
                       "that point to it; import it undirected unless that is meant.");
}

/* ---- features --------------------------------------------------------------------------------------------------- */

static bool one_hot(rule_input *about) {
    return about->statistics->one_hot &&
           warn(about, "The features are one-hot node ids: mlp and linear cannot generalize to other nodes; only "
                       "smoothing spreads labels.");
}

static bool featureless(rule_input *about) {
    const int32_t count = about->info->featureless;
    return count > 0 && warn(about, "%d of %d nodes have no features: only their neighbours distinguish them.", count,
                             about->info->nodes);
}

/* The transformation of a table has scaled its columns; vectors of features then have any length. */
static bool columns_are_scaled(const sfu_dataset *dataset) {
    return dataset->transform != NULL && strstr(dataset->transform, "\"values\":\"raw\"") == NULL;
}

static bool unscaled(rule_input *about) {
    const sfu__statistics *statistics = about->statistics;
    const bool unit = fabs(statistics->smallest_norm - 1.0) < 1e-3 && fabs(statistics->largest_norm - 1.0) < 1e-3;
    return !columns_are_scaled(about->dataset) && statistics->largest_norm > 0.0 && !unit &&
           !statistics->rows_sum_to_one &&
           warn(about,
                "Features are not scaled: the L2 norms of the feature vectors range from %.3g to %.3g, but the usual "
                "learning rates and weight decays are for unit vectors; scale them when importing.",
                statistics->smallest_norm, statistics->largest_norm);
}

static bool dense_zeros(rule_input *about) {
    const double cells = (double)about->info->nodes * about->info->features;
    const double density = (double)about->info->feature_nonzeros / cells;
    return about->dataset->dense != NULL && cells >= DENSE_CELLS && density < low_density &&
           warn(about,
                "Features are stored dense, %.0f MB, although only %.1f %% of them are not zero: as sparse features "
                "they would be smaller and faster.",
                cells * 4e-6, density * 100.0);
}

/* ---- split ------------------------------------------------------------------------------------------------------ */

static bool no_standard(rule_input *about) {
    return !about->info->has_standard && about->statistics->labelled_classes > 0 &&
           warn(about, "There is no standard split: holdout:0 is drawn unless another is asked for, and results from "
                       "other splits do not compare with it.");
}

static bool standard_unlabelled(rule_input *about) {
    return about->statistics->standard_unlabelled > 0 &&
           warn(about, "%d nodes of the standard split have no label: they are left out of it.",
                about->statistics->standard_unlabelled);
}

/* In the order in which they are reported. */
static bool (*const rules[])(rule_input *about) = {
    no_labels, one_class,   unlabelled,   empty_classes, small_classes, imbalance,
    no_edges,  isolated,    disconnected, heterophily,   self_loops,    directed,
    one_hot,   featureless, unscaled,     dense_zeros,   no_standard,   standard_unlabelled};

sfu_status sfu_dataset_warning(char *text, size_t size, const sfu_dataset *dataset, int i) {
    rule_input about = {.dataset = dataset};
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
