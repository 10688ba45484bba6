/* Writes a dataset as CSV files, and prints the command that imports them. */
#include "cmd.h"

#include "output.h"
#include "outputs.h"
#include "progress_bar.h"
#include "report.h"

static struct {
    const char *folder;
    sfu_csv_options csv;
} settings;

static void defaults(void) { sfu_csv_options_init(&settings.csv); }

static int check_outputs(const char *dataset) {
    cli_files files = {0};
    files_read_dataset(&files, dataset);
    files_write_folder(&files, "-o", settings.folder, sfu_export_file);
    const int code = files_check(&files, &cmd_data_export);
    return code == DONE ? folder_check(settings.folder, sfu_export_check) : code;
}

static int run(int count, char **operands) {
    (void)count;
    int code = check_outputs(operands[0]);
    if (code != DONE) {
        return code;
    }
    sfu_dataset *dataset = NULL;
    char *command = NULL;
    progress_start();
    sfu_status status = sfu_dataset_open(&dataset, operands[0]);
    if (status == SFU_OK) {
        status =
            sfu_dataset_export(dataset, settings.folder, &settings.csv, settings.csv.spreadsheet ? NULL : &command);
    }
    progress_end();
    if (status != SFU_OK) {
        code = fail_status(status);
    } else if (common.json) {
        code = put_json(json_pack("{s:o, s:o, s:o}", "dataset", json_bytes(sfu_dataset_name(dataset)), "folder",
                                  json_bytes(settings.folder), "import", json_bytes(command)));
    } else {
        printf("Written to %s\n", printable(settings.folder));
        if (command) {
            printf("To import it again:\n  %s\n", command);
        }
    }
    sfu_text_free(command);
    sfu_dataset_free(dataset);
    return code;
}

static const cli_option options[] = {
    OPTION_OUTPUT(VALUE_FOLDER, "FOLDER", settings.folder, true, NULL, "output folder"),
    OPTION_SPREADSHEET(settings.csv.spreadsheet),
    {0}};

const cli_command cmd_data_export = {
    .name = "data export",
    .summary = "write a dataset as CSV files",
    .description =
        "Writes edges.csv, nodes.csv, features.csv and, if the dataset has them, class names, feature names, "
        "columns.csv and split.csv; export.json lists the files. The printed command imports them again and "
        "reproduces the digest. Files of an earlier export are replaced; other files with these names, and "
        "files that were modified since, only with --force. An interrupted export leaves no files behind. "
        "Files written with --spreadsheet are not meant to be imported again.",
    .operands =
        (const cli_operand[]){{.name = "DATASET", .kind = VALUE_DATASET, .help = "name or path of a dataset"}, {0}},
    .options = options,
    .examples =
        (const cli_example[]){{"sfumato data export citation -o citation", "Inspect the dataset with other tools:"},
                              {0}},
    .reports = true,
    .writes = true,
    .defaults = defaults,
    .run = run};
