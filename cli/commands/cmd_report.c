/* Writes the report of a comparison: tables, plots and an HTML page. */
#include "cmd.h"

#include "output.h"
#include "outputs.h"
#include "results_report.h"
#include "table.h"

#include <string.h>
#include <unistd.h>

/* Files of a results folder. Not all exist: a single number has no plots. */
static const char *const files[][2] = {
    {"report.html", "the complete report as one HTML page"},
    {"tables.md", "the tables as Markdown"},
    {"tables.tex", "the tables for LaTeX"},
    {"plots", "the plots, each with script and data"},
    {"results.csv", "one row per network, dataset, size and split"},
    {"timings.csv", "running times"},
    {"curves.csv", "learning curves of the best trials, one row per epoch"},
    {"details.csv", "datasets, winning hyperparameters, confusion matrices"},
    {"manifest.json", "settings to run the comparison again"},
};
enum { FILES = sizeof files / sizeof files[0] };

/* FOLDER/NAME */
static void join(char path[4096], const char *folder, const char *name) {
    const size_t size = strlen(folder);
    snprintf(path, 4096, "%s%s%s", folder, size > 0 && folder[size - 1] == '/' ? "" : "/", name);
}

/* The keys of compare and reproduce, and the files. NULL: out of memory. */
static json_t *to_json(const sfu_results *results) {
    json_t *object = results_json(results), *written = json_object();
    const char *folder = sfu_results_folder(results);
    bool ok = object && written && json_put(object, "folder", json_bytes(folder));
    for (int i = 0; ok && i < FILES; i++) {
        char path[4096];
        join(path, folder, files[i][0]);
        ok = access(path, F_OK) != 0 || json_put(written, files[i][0], json_bytes(path));
    }
    ok = ok && json_object_set(object, "files", written) == 0;
    json_decref(written);
    if (!ok) {
        json_decref(object);
    }
    return ok ? object : NULL;
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
    .summary = "rewrite the report of saved results",
    .description =
        "Rewrites the report of compare or reproduce from a folder of results, without any training: after an "
        "interruption, with another version of the program, or after installing gnuplot, which draws the plots. Prints "
        "the tables.\n\n"
        "report.html is self-contained: it needs no network and no other file. Its tables can be sorted.",
    .operands = (const cli_operand[]){{.name = "RESULTS", .kind = VALUE_FOLDER, .help = "folder of results"}, {0}},
    .examples = (const cli_example[]){{"sfumato report results", "Rewrite the report and print the tables:"}, {0}},
    .reports = true,
    .writes = true,
    .run = run};
