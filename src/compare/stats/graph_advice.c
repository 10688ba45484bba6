/* graph_advice.c - whether the graph helps: the best network that uses it against the best one that does not, by the
 * paired tests of contrast.h. One of the two has the best mean of all, so the contrast of the other one decides. */
#include "graph_advice.h"

#include "format_number.h"
#include "net.h"

#include <math.h>
#include <string.h>

/* A difference below this is small whether or not it is significant. */
static const double POINT = 0.01;

typedef enum graph_use { WITHOUT_GRAPH, WITH_GRAPH, UNKNOWN_USE } graph_use;

/* A text that is not a network, in a damaged folder, is left out. */
static sfu_status find_use(graph_use *use, const char *text) {
    sfu_net *net = NULL;
    const sfu_status status = sfu__net_read(&net, text, NULL);
    *use = status == SFU_OK ? WITHOUT_GRAPH : UNKNOWN_USE;
    for (int i = 0; status == SFU_OK && i < net->count; i++) {
        *use = net->is_lpnn || net->layers[i].kind == SFU__LAYER_SMOOTH ? WITH_GRAPH : *use;
    }
    sfu_net_free(net);
    return status == SFU_ERR_MEMORY ? status : SFU_OK;
}

/* best[use]: the contrast with the best mean, or NULL. */
static sfu_status find_best(const sfu__contrast *best[UNKNOWN_USE], const sfu__contrast *contrasts, int count) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < count; i++) {
        graph_use use = UNKNOWN_USE;
        SFU_TRY(find_use(&use, contrasts[i].cell->net));
        if (use != UNKNOWN_USE && (best[use] == NULL || contrasts[i].cell->mean > best[use]->cell->mean)) {
            best[use] = &contrasts[i];
        }
    }
done:
    return status;
}

/* The edge homophily of the dataset of a cell, as details.csv has it; NULL: not known. */
static const char *homophily_of(const sfu_results *results, const sfu_cell *cell) {
    int from = -1;
    double number = NAN;
    const sfu__entry *entry = sfu__cell_entry(results, cell, &from);
    const sfu__detail *detail;
    for (int i = -1; entry != NULL && (detail = sfu__details_next(&results->details, entry->task.dataset, NULL,
                                                                  "property", &i)) != NULL;) {
        if (strcmp(detail->row, "edge homophily") == 0 &&
            sfu__parse_double(&number, detail->value, detail->value + strlen(detail->value)) && isfinite(number)) {
            return detail->value;
        }
    }
    return NULL;
}

/* The verdict, and how the score without the graph relates to the one with it. */
typedef struct verdict {
    const char *text, *relation;
} verdict;

static verdict judge(const sfu__contrast *with, const sfu__contrast *without) {
    const bool behind = without->cell->mean < with->cell->mean;
    const sfu__standing standing = behind ? without->standing : with->standing;
    if (standing == SFU__STANDING_UNTESTED) {
        return (verdict){behind ? "one split does not show whether the graph helps" : "the graph does not help",
                         "not tested"};
    }
    if (standing == SFU__STANDING_WORSE) {
        return behind ? (verdict){"the graph helps", "significantly worse"}
                      : (verdict){"the graph does not help", "significantly better"};
    }
    return (verdict){with->cell->mean - without->cell->mean > POINT ? "the splits do not show that the graph helps"
                                                                    : "the graph does not help",
                     behind ? "not significantly worse" : "not worse"};
}

sfu_status sfu__graph_advice(sfu__text *text, const sfu_results *results, const sfu__contrast *contrasts, int count) {
    sfu_status status = SFU_OK;
    const sfu__contrast *best[UNKNOWN_USE] = {NULL};
    char label[SFU__LABEL_MAX], score[SFU__FIXED_MAX];
    SFU_TRY(find_best(best, contrasts, count));
    if (best[WITH_GRAPH] == NULL || best[WITHOUT_GRAPH] == NULL) {
        goto done;
    }
    const verdict found = judge(best[WITH_GRAPH], best[WITHOUT_GRAPH]);
    const sfu_cell *with = best[WITH_GRAPH]->cell, *without = best[WITHOUT_GRAPH]->cell;
    SFU_TRY(sfu__text_format(text, "%s: the best network with it is %s, %s %%; ", found.text,
                             sfu__net_label(label, results, with->net), sfu__percent(score, with->mean)));
    SFU_TRY(sfu__text_format(text, "the best without it is %s, %s %%, %s", sfu__net_label(label, results, without->net),
                             sfu__percent(score, without->mean), found.relation));
    const char *homophily = homophily_of(results, with);
    if (homophily != NULL) {
        SFU_TRY(sfu__text_format(text, "; edge homophily %s", homophily));
    }
done:
    return status;
}
