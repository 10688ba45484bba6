#include "report.h"

#include "output.h"
#include "outputs.h"
#include "progress_bar.h"
#include "table.h"
#include "terminal.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SENTENCE_MAX = 1100 };

sfu_status report_make(cli_report *report, const sfu_dataset *dataset, bool digest) {
    *report = (cli_report){.dataset = dataset};
    const sfu_info *info = NULL;
    sfu_status status = sfu_dataset_info(&info, dataset);
    if (status == SFU_OK) {
        report->info = *info;
    }
    if (status == SFU_OK && digest) {
        status = sfu_dataset_digest(report->digest, dataset);
    }
    if (status == SFU_OK && report->info.classes > 0) {
        report->class_counts = calloc((size_t)report->info.classes, sizeof *report->class_counts);
        status = report->class_counts ? sfu_dataset_class_counts(report->class_counts, dataset) : SFU_ERR_MEMORY;
    }
    return status;
}

void report_clear(cli_report *report) { free(report->class_counts); }

/* The name of a class, or its number. */
enum { NUMBER_MAX = 16 };
static const char *class_name(char number[NUMBER_MAX], const cli_report *report, int32_t class_index) {
    const char *name = sfu_dataset_class_name(report->dataset, class_index);
    snprintf(number, NUMBER_MAX, "%d", class_index);
    return name ? name : number;
}

/* Fraction of non-zeros in the feature matrix; NaN without features. */
static double density(const sfu_info *info) {
    return (double)info->feature_nonzeros / ((double)info->nodes * (double)info->features);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *classes_json(const cli_report *report) {
    json_t *classes = json_array();
    for (int32_t c = 0; c < report->info.classes; c++) {
        char number[NUMBER_MAX];
        json_append(&classes, json_pack("{s:o, s:i}", "name", json_bytes(class_name(number, report, c)), "count",
                                        (int)report->class_counts[c]));
    }
    return classes;
}

static json_t *warnings_json(const cli_report *report) {
    json_t *warnings = json_array();
    char text[SENTENCE_MAX];
    for (int i = 0; sfu_dataset_warning(text, sizeof text, report->dataset, i) == SFU_OK; i++) {
        json_append(&warnings, json_bytes(text));
    }
    return warnings;
}

static json_t *notes_json(const cli_report *report) {
    json_t *notes = json_array();
    char text[SENTENCE_MAX];
    for (int i = 0; sfu_dataset_import_note(text, sizeof text, report->dataset, i) == SFU_OK; i++) {
        json_append(&notes, json_bytes(text));
    }
    return notes;
}

static json_t *columns_json(const cli_report *report) {
    json_t *columns = json_array();
    const char *name;
    for (int i = 0; (name = sfu_dataset_column_name(report->dataset, i)) != NULL; i++) {
        json_append(&columns, json_bytes(name));
    }
    return columns;
}

static json_t *split_json(const sfu_info *info) {
    if (!info->has_standard) {
        return json_null();
    }
    return json_pack("{s:i, s:i, s:i}", "train", (int)info->standard[SFU_TRAIN], "val", (int)info->standard[SFU_VAL],
                     "test", (int)info->standard[SFU_TEST]);
}

json_t *report_json(const cli_report *report) {
    const sfu_info *info = &report->info;
    json_t *source = info->source ? json_loads(info->source, 0, NULL) : NULL;
    return json_pack(
        "{s:o, s:i, s:I, s:I, s:I, s:I, s:i, s:I, s:o, s:o, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:i, s:b, s:b, s:o, "
        "s:o, s:i, s:s, s:o, s:o, s:o}",
        "name", json_bytes(sfu_dataset_name(report->dataset)), "nodes", (int)info->nodes, "edges",
        (json_int_t)info->edges, "self_loops", (json_int_t)info->self_loops, "self_loops_dropped",
        (json_int_t)info->self_loops_dropped, "duplicates_dropped", (json_int_t)info->duplicates_dropped, "features",
        (int)info->features, "feature_nonzeros", (json_int_t)info->feature_nonzeros, "feature_density",
        json_number_or_null(density(info)), "classes", classes_json(report), "unlabelled", (int)info->unlabelled,
        "isolated", (int)info->isolated, "featureless", (int)info->featureless, "components", (int)info->components,
        "largest_component", (int)info->largest_component, "homophily", json_number_or_null(info->homophily),
        "mean_degree", json_number_or_null(info->mean_degree), "max_degree", (int)info->max_degree, "directed",
        (int)info->directed, "weighted", (int)info->weighted, "columns", columns_json(report), "split",
        split_json(info), "standard_splits", (int)info->standard_splits, "digest", report->digest, "source",
        source ? source : json_null(), "notes", notes_json(report), "warnings", warnings_json(report));
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

/* Appends "; standard:0 to standard:9" if there are several standard splits. */
static void add_split_count(char *line, size_t size, const sfu_info *info) {
    if (info->standard_splits > 1) {
        const size_t used = strlen(line);
        snprintf(line + used, size - used, "; %s splits, standard:0 to standard:%d", grouped(info->standard_splits),
                 info->standard_splits - 1);
    }
}

/* Appends ", COUNT WHAT" if count > 0. */
static void add_count(char *line, size_t size, int64_t count, const char *what) {
    if (count > 0) {
        const size_t used = strlen(line);
        snprintf(line + used, size - used, "%s%s %s", used ? ", " : "", grouped(count), what);
    }
}

/* "151 duplicates, 1 self-loop" */
static void add_dropped(char *line, size_t size, const sfu_info *info) {
    const int64_t counts[] = {info->duplicates_dropped, info->self_loops_dropped};
    static const char *const names[] = {"duplicate", "self-loop"};
    for (int i = 0; i < 2; i++) {
        const size_t used = strlen(line);
        if (counts[i] > 0) {
            snprintf(line + used, size - used, "%s%s", used ? ", " : "", counted(counts[i], names[i]));
        }
    }
}

/* A number in the import record of the dataset; 0 if missing. */
static int64_t recorded(const cli_report *report, const char *key) {
    json_t *source = report->info.source ? json_loads(report->info.source, 0, NULL) : NULL;
    const int64_t number = json_integer_value(json_object_get(source, key));
    json_decref(source);
    return number;
}

/* Numbers of nodes with special properties. */
static void add_remarks(char *line, size_t size, const cli_report *report) {
    const sfu_info *info = &report->info;
    add_count(line, size, info->unlabelled, "unlabelled");
    add_count(line, size, info->featureless, "featureless");
    add_count(line, size, info->isolated, "isolated");
    add_count(line, size, recorded(report, "nodes_only_in_edges"), "only in the edge list");
    add_count(line, size, recorded(report, "nodes_left_out"), "outside the largest component dropped");
}

static void add_graph_rows(cli_table *table, const cli_report *report) {
    const sfu_info *info = &report->info;
    char line[SENTENCE_MAX] = "";
    add_remarks(line, sizeof line, report);
    TABLE_CELLS(table, "nodes", grouped(info->nodes), line);

    snprintf(line, sizeof line, "%s, %s; mean degree %.2f, maximum %s", info->directed ? "directed" : "undirected",
             info->weighted ? "weighted" : "unweighted", info->mean_degree, grouped(info->max_degree));
    TABLE_CELLS(table, "edges", grouped(info->edges), line);

    line[0] = '\0';
    add_dropped(line, sizeof line, info);
    TABLE_CELLS(table, "dropped", grouped(info->duplicates_dropped + info->self_loops_dropped), line);
    if (info->self_loops > 0) {
        TABLE_CELLS(table, "self-loops", grouped(info->self_loops), "kept");
    }
    snprintf(line, sizeof line, "largest: %s, %s", counted(info->largest_component, "node"),
             percent((double)info->largest_component / info->nodes));
    if (info->components == 1) {
        snprintf(line, sizeof line, "the graph is connected");
    }
    TABLE_CELLS(table, "components", grouped(info->components), line);
    if (isfinite(info->homophily)) {
        TABLE_CELLS(table, "homophily", percent(info->homophily),
                    "of edges between labelled nodes join the same class");
    }
}

static void add_node_rows(cli_table *table, const cli_report *report) {
    const sfu_info *info = &report->info;
    char line[SENTENCE_MAX] = "";
    if (info->features > 0) {
        snprintf(line, sizeof line, "%s non-zeros, density %s", grouped(info->feature_nonzeros),
                 percent(density(info)));
    }
    TABLE_CELLS(table, "features", grouped(info->features), line);
    TABLE_CELLS(table, "classes", grouped(info->classes), "");
    line[0] = '\0';
    const char *name;
    int columns = 0;
    for (; (name = sfu_dataset_column_name(report->dataset, columns)) != NULL; columns++) {
        const size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, "%s%s", columns ? ", " : "", name);
    }
    if (columns > 0) {
        TABLE_CELLS(table, "columns", grouped(columns), line);
    }
    if (info->has_standard) {
        snprintf(line, sizeof line, "%s train, %s val, %s test", grouped(info->standard[SFU_TRAIN]),
                 grouped(info->standard[SFU_VAL]), grouped(info->standard[SFU_TEST]));
        add_split_count(line, sizeof line, info);
        TABLE_CELLS(table, "split",
                    grouped((int64_t)info->standard[SFU_TRAIN] + info->standard[SFU_VAL] + info->standard[SFU_TEST]),
                    line);
    } else {
        TABLE_CELLS(table, "split", "none", "");
    }
}

/* "; 1,584 of 5,281 edges removed (seed 0); nodes ordered in 64 parts", where noise was added, nodes ordered. */
static void add_changes(char *line, size_t size, const json_t *source) {
    static const char *const kinds[] = {"removed", "rewired"};
    size_t used = 0;
    for (int i = 0; i < 2; i++) {
        const json_t *noise = json_object_get(source, kinds[i]);
        const char *seed = json_string_value(json_object_get(noise, "seed"));
        if (noise && used < size) {
            used += (size_t)snprintf(line + used, size - used, "; %s of %s %s (seed %s)",
                                     grouped(json_integer_value(json_object_get(noise, "edges"))),
                                     counted(json_integer_value(json_object_get(noise, "of")), "edge"), kinds[i],
                                     seed ? seed : "?");
        }
    }
    const json_t *parts = json_object_get(json_object_get(source, "ordered"), "parts");
    if (parts && used < size) {
        snprintf(line + used, size - used, "; nodes ordered in %s", counted(json_integer_value(parts), "part"));
    }
}

/* The source by the import record: "csv: edges.csv, nodes.csv". */
static void print_source(const cli_report *report) {
    json_t *source = report->info.source ? json_loads(report->info.source, 0, NULL) : NULL;
    const char *format = json_string_value(json_object_get(source, "format"));
    if (format) {
        char line[SENTENCE_MAX];
        size_t i, used = (size_t)snprintf(line, sizeof line, "%s", format);
        json_t *file;
        json_array_foreach(json_object_get(source, "files"), i, file) {
            const char *name = json_is_string(file) ? json_string_value(file) : "?";
            used +=
                used < sizeof line ? (size_t)snprintf(line + used, sizeof line - used, i ? ", %s" : ": %s", name) : 0;
        }
        if (used < sizeof line) {
            add_changes(line + used, sizeof line - used, source);
        }
        clean(line, sizeof line);
        fputs("  source", stdout);
        put_wrapped(stdout, line, 8, 14, terminal_width(STDOUT_FILENO) - 1);
    }
    json_decref(source);
}

static void print_classes(const cli_report *report) {
    enum { SHOWN = 40 };
    const int32_t classes = report->info.classes;
    const int32_t labelled = report->info.nodes - report->info.unlabelled;
    int32_t largest = 1;
    for (int32_t c = 0; c < classes; c++) {
        largest = report->class_counts[c] > largest ? report->class_counts[c] : largest;
    }
    cli_table table = {.align = "lrrl"};
    TABLE_CELLS(&table, "class", "nodes", "share", "");
    for (int32_t c = 0; c < classes && c < SHOWN; c++) {
        char bar[TABLE_BAR_MAX], number[NUMBER_MAX];
        table_bar(bar, (double)report->class_counts[c] / largest);
        TABLE_CELLS(&table, class_name(number, report, c), grouped(report->class_counts[c]),
                    percent(labelled ? (double)report->class_counts[c] / labelled : 0), bar);
    }
    putchar('\n');
    table_print(&table, stdout, 2);
    if (classes > SHOWN) {
        printf("  and %s more; --json lists all\n", grouped(classes - SHOWN));
    }
}

/* What the import did, one sentence per line, each after `before` blanks. */
static void print_notes(const cli_report *report, int before) {
    char text[SENTENCE_MAX];
    const int width = terminal_width(STDOUT_FILENO) - 1;
    for (int i = 0; sfu_dataset_import_note(text, sizeof text, report->dataset, i) == SFU_OK; i++) {
        printf("%*s", before, "");
        clean(text, sizeof text);
        put_wrapped(stdout, text, before, before, width);
    }
}

void report_print_warnings(const cli_report *report) {
    char text[SENTENCE_MAX];
    const int width = terminal_width(STDOUT_FILENO) - 1;
    for (int i = 0; sfu_dataset_warning(text, sizeof text, report->dataset, i) == SFU_OK; i++) {
        if (i == 0) {
            putchar('\n');
            put_heading(stdout, "Warnings:");
        }
        fputs("  - ", stdout);
        clean(text, sizeof text);
        put_wrapped(stdout, text, 4, 4, width);
    }
}

void report_print(const cli_report *report) {
    put_heading(stdout, "%s", sfu_dataset_name(report->dataset));
    cli_table table = {.align = "lrl"};
    add_graph_rows(&table, report);
    add_node_rows(&table, report);
    table_print(&table, stdout, 2);
    print_source(report);
    printf("  digest      %s\n", report->digest);
    print_notes(report, 2);
    if (report->info.classes > 0) {
        print_classes(report);
    }
    report_print_warnings(report);
}

void report_print_short(const cli_report *report) {
    const sfu_info *info = &report->info;
    put_clean(stdout, sfu_dataset_name(report->dataset));
    printf(": %s, %s, %s, %s\n", counted(info->nodes, "node"), counted(info->edges, "edge"),
           counted(info->features, "feature"), counted(info->classes, "class"));
    char line[SENTENCE_MAX] = "";
    add_dropped(line, sizeof line, info);
    if (line[0]) {
        printf("  dropped edges: %s\n", line);
    }
    line[0] = '\0';
    add_remarks(line, sizeof line, report);
    if (line[0]) {
        printf("  nodes: %s\n", line);
    }
    if (info->has_standard) {
        snprintf(line, sizeof line, "%s train, %s val, %s test", grouped(info->standard[SFU_TRAIN]),
                 grouped(info->standard[SFU_VAL]), grouped(info->standard[SFU_TEST]));
        add_split_count(line, sizeof line, info);
        printf("  standard split: %s\n", line);
    }
    print_notes(report, 2);
}

/* ---- saving ----------------------------------------------------------------------------------------------------- */

char *report_name(const char *path) {
    static const char ending[] = ".safetensors";
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const size_t size = strlen(base), tail = sizeof ending - 1;
    return strndup(base, size > tail && strcmp(base + size - tail, ending) == 0 ? size - tail : size);
}

char *report_folder(const char *path) {
    const char *slash = path && (is_regular_file(path) || access(path, F_OK) != 0) ? strrchr(path, '/') : NULL;
    return slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
}

/* A report computed in another thread while this one writes the dataset. */
typedef struct task {
    cli_report *report;
    const sfu_dataset *dataset;
    sfu_status status;
} task;

static void *make_report(void *argument) {
    task *self = argument;
    self->status = report_make(self->report, self->dataset, common.json);
    return NULL;
}

static sfu_status save_and_report(cli_report *report, const sfu_dataset *dataset, const char *path) {
    task self = {report, dataset, SFU_OK};
    pthread_t other;
    if (!progress_hold()) {
        return SFU_ERR_CANCELLED;
    }
    const bool started = pthread_create(&other, NULL, make_report, &self) == 0;
    const sfu_status status = sfu_dataset_save(dataset, path);
    if (started) {
        pthread_join(other, NULL);
    } else {
        make_report(&self);
    }
    return status != SFU_OK ? status : self.status;
}

int report_save(const sfu_dataset *dataset, const char *path) {
    cli_report report = {0};
    const sfu_status status = save_and_report(&report, dataset, path);
    int code = DONE;
    if (status != SFU_OK) {
        code = fail_status(status);
    } else if (common.json) {
        json_t *object = report_json(&report);
        code = object && json_put(object, "path", json_bytes(path)) ? put_json(object) : put_json(NULL);
    } else {
        report_print_short(&report);
        printf("  written to %s\n", printable(path));
        if (is_regular_file(path)) {
            printf("Next: sfumato data info %s\n", shell_word(path));
        }
    }
    report_clear(&report);
    return code;
}

int report_made(const char *from, const char *path, report_make_fn make) {
    sfu_dataset *dataset = NULL, *made = NULL;
    char *name = report_name(path);
    if (!name) {
        return fail("out of memory");
    }
    progress_start();
    sfu_status status = sfu_dataset_open(&dataset, from);
    status = status == SFU_OK ? make(&made, dataset, name) : status;
    const int code = status == SFU_OK ? report_save(made, path) : fail_status(status);
    progress_end();
    sfu_dataset_free(made);
    sfu_dataset_free(dataset);
    free(name);
    return code;
}
