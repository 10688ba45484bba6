/* Tables, plots and a page from the results of a comparison. */
#include "cmd.h"

#include "output.h"
#include "outputs.h"
#include "results_report.h"
#include "table.h"

#include <string.h>
#include <unistd.h>

/* What may lie in the folder of results afterwards, and what it is: there are no plots of a single number. */
static const char *const files[][2] = {
    {"report.html", "all of it as one page"},
    {"tables.md", "the tables as text"},
    {"tables.tex", "the tables for LaTeX"},
    {"plots", "the plots, each with its script and data"},
    {"results.csv", "the entries, one a network, dataset, size and split"},
    {"timings.csv", "how long they took"},
    {"curves.csv", "how winners were trained, an epoch a row"},
    {"details.csv", "datasets, winning hyperparameters, confusion matrices"},
    {"manifest.json", "what is needed to run it again"},
};
enum { FILES = sizeof files / sizeof files[0] };

/* FOLDER/NAME */
static void join(char path[4096], const char *folder, const char *name) {
    const size_t size = strlen(folder);
    snprintf(path, 4096, "%s%s%s", folder, size > 0 && folder[size - 1] == '/' ? "" : "/", name);
}

/* The keys of compare and reproduce, and the files. NULL where there is no memory. */
static json_t *to_json(const sfu_results *results) {
    json_t *object = results_json(results), *written = json_object();
    const char *folder = sfu_results_folder(results);
    bool fine = object && written && json_put(object, "folder", json_bytes(folder));
    for (int i = 0; fine && i < FILES; i++) {
        char path[4096];
        join(path, folder, files[i][0]);
        fine = access(path, F_OK) != 0 || json_put(written, files[i][0], json_bytes(path));
    }
    fine = fine && json_object_set(object, "files", written) == 0;
    json_decref(written);
    if (!fine) {
        json_decref(object);
    }
    return fine ? object : NULL;
}

static void print(const sfu_results *results) {
    cli_table table = {.align = "ll"};
    results_print(results);
    if (common.quiet) {
        return;
    }
    for (int i = 0; i < FILES; i++) {
        char path[4096];
        join(path, sfu_results_folder(results), files[i][0]);
        if (access(path, F_OK) == 0) {
            clean(path, sizeof path);
            TABLE_CELLS(&table, path, files[i][1]);
        }
    }
    putchar('\n');
    table_print(&table, stdout, 0);
}

static int report(const sfu_results *results) {
    const int checked = folder_check(sfu_results_folder(results), sfu_results_check);
    const sfu_status status = checked == DONE ? sfu_results_report(results) : SFU_OK;
    if (checked != DONE || status != SFU_OK) {
        return checked != DONE ? checked : fail_status(status);
    }
    if (common.json) {
        return put_json(to_json(results));
    }
    print(results);
    return DONE;
}

static int run(int count, char **operands) {
    (void)count;
    sfu_results *results = NULL;
    const sfu_status status = sfu_results_open(&results, operands[0]);
    const int code = status == SFU_OK ? report(results) : fail_status(status);
    sfu_results_free(results);
    return code;
}

const cli_command cmd_report = {
    .name = "report",
    .summary = "write tables, plots and a page from results",
    .description =
        "compare and reproduce end with a report; this makes it anew from the folder of their results, without any "
        "training: after an interruption, with another version of the program, or where gnuplot, which draws the "
        "plots, "
        "was not installed before. It prints the tables.\n\n"
        "report.html is one page that needs nothing else: no network, no other file. Its tables can be sorted.",
    .operands =
        (const cli_operand[]){{.name = "RESULTS", .kind = VALUE_FOLDER, .help = "the folder of the results"}, {0}},
    .examples = (const cli_example[]){{"sfumato report results", "Write the report anew, and print the tables:"}, {0}},
    .reports = true,
    .writes = true,
    .run = run};
