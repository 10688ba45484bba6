#include "label_report.h"

#include "output.h"
#include "command_input.h"
#include "report.h"
#include "table.h"
#include "terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELL_MAX = 96, SENTENCE_MAX = 512, CONFUSIONS = 3 };

/* 0.841 as "84". */
static int hundred(double share) { return (int)(100 * share + 0.5); }

static void put_sentence(const char *text) { put_wrapped(stdout, text, 2, 2, terminal_width(STDOUT_FILENO) - 1); }

#define SENTENCE(...)                                                                                                  \
    do {                                                                                                               \
        char sentence[SENTENCE_MAX];                                                                                   \
        snprintf(sentence, sizeof sentence, __VA_ARGS__);                                                              \
        clean(sentence, sizeof sentence);                                                                              \
        fputs("  ", stdout);                                                                                           \
        put_sentence(sentence);                                                                                        \
    } while (0)

static const char *class_of(char number[CLASS_NUMBER_MAX], const cli_labelling *said, int32_t class_index) {
    return model_class(number, sfu_labelling_model(said->labelling), class_index);
}

/* ---- what was read ------------------------------------------------------------------------------------------------
 */

static int print_data(const cli_labelling *said) {
    const sfu_label_summary summary = *sfu_labelling_summary(said->labelling);
    cli_report report = {0};
    const sfu_status status = report_make(&report, said->dataset, false);
    if (status == SFU_OK) {
        report_print_short(&report);
        printf("  labelled: %s (%s); to be labelled: %s\n", grouped(summary.labelled),
               percent((double)summary.labelled / sfu_dataset_nodes(said->dataset)), grouped(summary.unlabelled));
        report_print_warnings(&report);
    }
    report_clear(&report);
    return status == SFU_OK ? DONE : fail_status(status);
}

/* ---- what was chosen ----------------------------------------------------------------------------------------------
 */

static void print_choice(const cli_labelling *said) {
    const sfu_label_summary summary = *sfu_labelling_summary(said->labelling);
    int tried = 0;
    while (sfu_labelling_candidate(said->labelling, tried)) {
        tried++;
    }
    printf("\nChosen: %s\n", summary.net);
    SENTENCE("%s", sfu_net_text(sfu_model_net(sfu_labelling_model(said->labelling))));
    SENTENCE("with %s", rounded(summary.params, DIGITS_FOR_PEOPLE));
    SENTENCE("The best of %s, by the %s that were kept back for the choice; %s trained it.", counted(tried, "network"),
             counted(summary.val, "labelled node"), counted(summary.train, "other"));
    SENTENCE("It took %s and %s: %s of at most %d (--budget steps:%d gives the same bytes on any machine).",
             counted(summary.trainings, "training"), scaled(summary.seconds, "s"), counted(summary.steps, "step"),
             (int)summary.all_steps, (int)summary.steps);
    if (summary.cut && !summary.interrupted) {
        SENTENCE("The budget was too small to try every network; a larger one may find a better one.");
    }
}

static void print_candidates(const cli_labelling *said) {
    const sfu_label_summary summary = *sfu_labelling_summary(said->labelling);
    const sfu_label_candidate *candidate;
    cli_table table = {.align = "lrrrr"};
    putchar('\n');
    TABLE_CELLS(&table, "network", "trials", "validation", "held out", "chosen");
    for (int i = 0; (candidate = sfu_labelling_candidate(said->labelling, i)) != NULL; i++) {
        char chosen[CELL_MAX];
        snprintf(chosen, sizeof chosen, "%d of %d", (int)candidate->chosen, (int)summary.folds);
        TABLE_CELLS(&table, candidate->net, grouped(candidate->trials), percent(candidate->val_accuracy),
                    percent(candidate->accuracy), chosen);
    }
    table_print(&table, stdout, 2);
}

/* ---- how good it is -----------------------------------------------------------------------------------------------
 */

static void print_graph(const sfu_label_summary *summary) {
    if (isnan(summary->no_graph)) {
        SENTENCE("There was no time to see what the features alone would come to.");
    } else if (summary->graph_helps) {
        SENTENCE("The features without the graph (mlp) come to %d of 100: the graph helps.",
                 hundred(summary->no_graph));
    } else {
        SENTENCE("The features without the graph (mlp) come to %d of 100: as far as these labels can tell, the graph "
                 "does not help.",
                 hundred(summary->no_graph));
    }
}

static void print_measure(const sfu_label_summary *summary) {
    const bool all = summary->held_out == summary->labelled;
    SENTENCE("Measured on %s%s%s, in %s: each was put away, everything above done again without it, and %s of these "
             "nodes came out right. It holds for nodes like the labelled ones.",
             all ? "all " : grouped(summary->held_out), all ? "" : " of the ",
             counted(summary->labelled, "labelled node"), counted(summary->folds, "part"), grouped(summary->right));
}

static void print_quality(const cli_labelling *said) {
    const sfu_label_summary summary = *sfu_labelling_summary(said->labelling);
    char number[CLASS_NUMBER_MAX];
    printf("\nHow good that is likely to be:\n");
    SENTENCE("About %d of 100 new nodes will be labelled right (%d to %d).", hundred(summary.accuracy),
             hundred(summary.low), hundred(summary.high));
    print_measure(&summary);
    SENTENCE("Always guessing the most frequent class (%s) comes to %d of 100.",
             class_of(number, said, summary.frequent_class), hundred(summary.frequent));
    if (summary.low <= summary.frequent) {
        SENTENCE("So it is not shown that anything more than that was learned.");
    }
    print_graph(&summary);
}

/* The pair of classes that was mistaken most often below `most` and after `last` among equals; false: none. */
typedef struct mistake {
    int32_t truth, guess, count;
} mistake;

static bool comes_before(const mistake *one, const mistake *other, int32_t classes) {
    const int64_t place = (int64_t)one->truth * classes + one->guess;
    return one->count > other->count ||
           (one->count == other->count && place < (int64_t)other->truth * classes + other->guess);
}

static bool next_mistake(mistake *next, const cli_labelling *said, const mistake *last) {
    const int32_t classes = sfu_dataset_classes(said->dataset);
    *next = (mistake){0, 0, 0};
    for (int32_t truth = 0; truth < classes; truth++) {
        for (int32_t guess = 0; guess < classes; guess++) {
            const mistake here = {truth, guess, sfu_labelling_confusion(said->labelling, truth, guess)};
            if (truth != guess && comes_before(last, &here, classes) && comes_before(&here, next, classes)) {
                *next = here;
            }
        }
    }
    return next->count > 0;
}

static int32_t class_size(const cli_labelling *said, int32_t truth) {
    int32_t size = 0;
    for (int32_t guess = 0; guess < sfu_dataset_classes(said->dataset); guess++) {
        size += sfu_labelling_confusion(said->labelling, truth, guess);
    }
    return size;
}

static void print_mistakes(const cli_labelling *said) {
    mistake last = {-1, -1, INT32_MAX}, next;
    for (int i = 0; i < CONFUSIONS && next_mistake(&next, said, &last); i++) {
        char one[CLASS_NUMBER_MAX], other[CLASS_NUMBER_MAX];
        fputs(i == 0 ? "\nWhat is confused most:\n" : "", stdout);
        SENTENCE("%s was taken for %s: %s of %s", class_of(one, said, next.truth), class_of(other, said, next.guess),
                 grouped(next.count), grouped(class_size(said, next.truth)));
        last = next;
    }
}

static void print_sureness(const cli_labelling *said) {
    const sfu_label_summary summary = *sfu_labelling_summary(said->labelling);
    const sfu_label_calibration *range;
    cli_table table = {.align = "lrrr"};
    printf("\nHow sure single labels are:\n");
    TABLE_CELLS(&table, "probability", "held out", "of these right", "to be labelled");
    for (int i = 0; (range = sfu_labelling_calibration(said->labelling, i)) != NULL; i++) {
        char between[CELL_MAX];
        snprintf(between, sizeof between, "%.2f to %.2f", range->from, range->below);
        if (range->held_out + range->unlabelled > 0) {
            TABLE_CELLS(&table, between, grouped(range->held_out),
                        range->held_out > 0 ? percent((double)range->right / range->held_out) : "",
                        summary.unlabelled > 0 ? grouped(range->unlabelled) : "");
        }
    }
    table_print(&table, stdout, 2);
}

/* ---- what is next -------------------------------------------------------------------------------------------------
 */

static void print_files(const cli_labelling *said) {
    printf("\n%s written to %s\n", counted(said->written, "label"), shown(said->output));
    if (said->container) {
        printf("The dataset is kept in %s\n", shown(said->container));
    }
    if (said->model) {
        printf("The model is kept in %s\n", shown(said->model));
    }
    if (!said->dataset_path) {
        return;
    }
    const sfu_label_summary summary = *sfu_labelling_summary(said->labelling);
    const char *data = shell_word(said->dataset_path), *net = summary.net;
    printf("Next: sfumato tune %s %s --space practical --trials 200 --enqueue %s\n", data, net,
           shell_word(summary.params));
    printf("      sfumato compare %s --splits 10 --trials 50\n", data);
    if (said->model) {
        printf("      sfumato predict %s %s --top 3 -o all.csv\n", data, shell_word(said->model));
    }
    printf("      sfumato explain %s %s\n", data, net);
}

int labelling_print(const cli_labelling *said) {
    const int code = print_data(said);
    if (code != DONE) {
        return code;
    }
    print_choice(said);
    print_candidates(said);
    print_quality(said);
    print_mistakes(said);
    print_sureness(said);
    print_files(said);
    return DONE;
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------
 */

static json_t *candidates_json(const sfu_labelling *labelling) {
    json_t *list = json_array();
    const sfu_label_candidate *one;
    for (int i = 0; (one = sfu_labelling_candidate(labelling, i)) != NULL; i++) {
        json_append(&list, json_pack("{s:s, s:i, s:o, s:o, s:i}", "net", one->net, "trials", (int)one->trials,
                                     "val_accuracy", json_number_or_null(one->val_accuracy), "accuracy",
                                     json_number_or_null(one->accuracy), "chosen", (int)one->chosen));
    }
    return list;
}

static json_t *confusion_json(const cli_labelling *said) {
    json_t *rows = json_array();
    const int32_t classes = sfu_dataset_classes(said->dataset);
    for (int32_t truth = 0; truth < classes; truth++) {
        json_t *row = json_array();
        for (int32_t guess = 0; guess < classes; guess++) {
            json_append(&row, json_integer(sfu_labelling_confusion(said->labelling, truth, guess)));
        }
        json_append(&rows, row);
    }
    return rows;
}

static json_t *sureness_json(const sfu_labelling *labelling) {
    json_t *list = json_array();
    const sfu_label_calibration *one;
    for (int i = 0; (one = sfu_labelling_calibration(labelling, i)) != NULL; i++) {
        json_append(&list, json_pack("{s:f, s:f, s:i, s:i, s:i}", "from", one->from, "below", one->below, "held_out",
                                     (int)one->held_out, "right", (int)one->right, "unlabelled", (int)one->unlabelled));
    }
    return list;
}

static json_t *classes_json(const cli_labelling *said) {
    json_t *list = json_array();
    for (int32_t c = 0; c < sfu_dataset_classes(said->dataset); c++) {
        char number[CLASS_NUMBER_MAX];
        json_append(&list, json_bytes(class_of(number, said, c)));
    }
    return list;
}

static bool put_summary(json_t *object, const sfu_label_summary *summary) {
    return json_put(object, "labelled", json_integer(summary->labelled)) &&
           json_put(object, "unlabelled", json_integer(summary->unlabelled)) &&
           json_put(object, "accuracy", json_number_or_null(summary->accuracy)) &&
           json_put(object, "ci_low", json_number_or_null(summary->low)) &&
           json_put(object, "ci_high", json_number_or_null(summary->high)) &&
           json_put(object, "held_out", json_integer(summary->held_out)) &&
           json_put(object, "right", json_integer(summary->right)) &&
           json_put(object, "folds", json_integer(summary->folds)) &&
           json_put(object, "frequent", json_number_or_null(summary->frequent)) &&
           json_put(object, "no_graph", json_number_or_null(summary->no_graph)) &&
           json_put(object, "graph_helps", json_boolean(summary->graph_helps)) &&
           json_put(object, "params", json_bytes(summary->params)) &&
           json_put(object, "val_accuracy", json_number_or_null(summary->val_accuracy)) &&
           json_put(object, "steps", json_integer(summary->steps)) &&
           json_put(object, "all_steps", json_integer(summary->all_steps)) &&
           json_put(object, "trainings", json_integer(summary->trainings)) &&
           json_put(object, "interrupted", json_boolean(summary->interrupted)) &&
           json_put(object, "cut", json_boolean(summary->cut)) &&
           json_put(object, "seconds", json_number_or_null(summary->seconds));
}

json_t *labelling_json(const cli_labelling *said) {
    const sfu_label_summary summary = *sfu_labelling_summary(said->labelling);
    json_t *object =
        json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o}", "dataset", json_bytes(sfu_dataset_name(said->dataset)), "net",
                  summary.net, "composition", sfu_net_text(sfu_model_net(sfu_labelling_model(said->labelling))),
                  "classes", classes_json(said), "candidates", candidates_json(said->labelling), "confusion",
                  confusion_json(said), "sureness", sureness_json(said->labelling));
    if (object && put_summary(object, &summary) && json_put(object, "nodes", json_integer(said->written)) &&
        json_put(object, "path", json_bytes(said->output)) &&
        json_put(object, "container", json_bytes(said->container)) &&
        json_put(object, "model", json_bytes(said->model))) {
        return object;
    }
    json_decref(object);
    return NULL;
}
