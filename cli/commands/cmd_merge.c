/* Merges the results of several folders: parts of a comparison that ran on several machines. */
#include "cmd.h"

#include "output.h"
#include "outputs.h"
#include "results_report.h"

static struct { const char *folder; } settings;

static int count_studies(const sfu_results *results) {
    int count = 0;
    while (sfu_results_entry(results, count)) {
        count++;
    }
    return count;
}

static int print_json(const sfu_results *results) {
    json_t *object = results_json(results);
    const bool ok = object && json_put(object, "folder", json_bytes(sfu_results_folder(results))) &&
                    json_put(object, "results", json_integer(count_studies(results))) &&
                    json_put(object, "missing", json_integer(sfu_results_missing(results)));
    if (!ok) {
        json_decref(object);
    }
    return put_json_exact(ok ? object : NULL);
}

static int print(const sfu_results *results, int folders) {
    const int missing = sfu_results_missing(results);
    printf("%s of ", counted(count_studies(results), "result"));
    printf("%s merged\n", counted(folders, "folder"));
    if (missing > 0) {
        printf("Missing: %s; run the same compare or reproduce with -o ", counted(missing, "result"));
        put_clean(stdout, sfu_results_folder(results));
        printf(" to complete them\n");
    }
    printf("Report: ");
    put_clean(stdout, sfu_results_folder(results));
    printf("/report.html\n");
    return DONE;
}

/* The output may be one of the folders: it then grows. */
static int check_outputs(void) {
    cli_files files = {0};
    files_write_folder(&files, "-o", settings.folder, sfu_results_file);
    const int code = files_check(&files, &cmd_merge);
    return code == DONE ? folder_check(settings.folder, sfu_results_check) : code;
}

static int run(int count, char **operands) {
    sfu_results *results = NULL;
    int code = check_outputs();
    if (code != DONE) {
        return code;
    }
    const sfu_status status = sfu_results_merge(&results, (const char *const *)operands, count, settings.folder);
    if (status != SFU_OK) {
        code = fail_status(status);
    } else {
        code = common.json ? print_json(results) : print(results, count);
    }
    sfu_results_free(results);
    return code;
}

static const cli_option options[] = {
    OPTION_OUTPUT(VALUE_FOLDER, "FOLDER", settings.folder, true, NULL,
                  "folder of the merged results; results that it has already are kept"),
    {0}};

const cli_command cmd_merge = {
    .name = "merge",
    .summary = "merge results of several machines",
    .description =
        "Puts the results of several folders of compare or reproduce into one, and writes its report. The folders must "
        "have the same settings; their datasets, networks and splits may differ. A study that several folders have "
        "must have the same result in all of them. The merged results.csv has the same bytes as that of a single run. "
        "Studies that are not finished are left out.",
    .operands =
        (const cli_operand[]){{.name = "RESULTS", .kind = VALUE_FOLDER, .many = true, .help = "folders of results"},
                              {0}},
    .options = options,
    .examples = (const cli_example[]){{"sfumato reproduce set1 --part 1/2 -o part1", "On the first of two machines:"},
                                      {"sfumato reproduce set1 --part 2/2 -o part2", "On the second:"},
                                      {"sfumato merge part1 part2 -o set1", "When both folders are on one machine:"},
                                      {0}},
    .reports = true,
    .writes = true,
    .run = run};
