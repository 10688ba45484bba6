/* Splits a dataset, prints the sizes and the digest, and writes the split as CSV on request. */
#include "cmd.h"

#include "offers.h"
#include "output.h"
#include "outputs.h"
#include "report.h"
#include "table.h"

static struct {
    const char *protocol, *size, *output;
    sfu_csv_options csv;
} settings;

static void defaults(void) { sfu_csv_options_init(&settings.csv); }

static const char *const part_names[SFU_PARTS] = {"train", "val", "test"};

static int32_t part_size(const sfu_split *split, int part) {
    int32_t count;
    (void)sfu_split_part(split, (sfu_part)part, &count);
    return count;
}

static int print_json(const sfu_dataset *dataset, const sfu_split *split) {
    return put_json(json_pack("{s:o, s:o, s:i, s:i, s:i, s:s, s:o}", "dataset", json_bytes(sfu_dataset_name(dataset)),
                              "split", json_bytes(sfu_split_text(split)), "train", (int)part_size(split, SFU_TRAIN),
                              "val", (int)part_size(split, SFU_VAL), "test", (int)part_size(split, SFU_TEST), "digest",
                              sfu_split_digest(split), "path", json_bytes(settings.output)));
}

static int print(const sfu_dataset *dataset, const sfu_split *split) {
    put_clean(stdout, sfu_dataset_name(dataset));
    printf(": %s\n", printable(sfu_split_text(split)));
    cli_table table = {.align = "lr"};
    for (int part = 0; part < SFU_PARTS; part++) {
        TABLE_CELLS(&table, part_names[part], grouped(part_size(split, part)));
    }
    table_print(&table, stdout, 2);
    printf("  digest %s\n", sfu_split_digest(split));
    if (settings.output) {
        printf("  written to %s\n", printable(settings.output));
    }
    return DONE;
}

static int run(int count, char **operands) {
    (void)count;
    cli_files files = {0};
    files_write(&files, "-o", settings.output, &split_file);
    files_read_dataset(&files, operands[0]);
    files_read_split(&files, settings.protocol);
    const int checked = files_check(&files, &cmd_data_split);
    if (checked != DONE) {
        return checked;
    }
    sfu_dataset *dataset = NULL;
    sfu_split *split = NULL;
    sfu_status status = sfu_dataset_open(&dataset, operands[0]);
    if (status == SFU_OK) {
        status = sfu_split_new(&split, dataset, settings.protocol, settings.size);
    }
    if (status == SFU_OK && settings.output) {
        status = sfu_split_save(split, dataset, settings.output, &settings.csv);
    }
    int code;
    if (status != SFU_OK) {
        code = fail_status(status);
    } else {
        code = common.json ? print_json(dataset, split) : print(dataset, split);
    }
    sfu_split_free(split);
    sfu_dataset_free(dataset);
    return code;
}

static const cli_option options[] = {
    OPTION_OFFER("split", VALUE_TEXT, "SPLIT", settings.protocol, "standard if there is one, else holdout:0",
                 offer_splits, false, "split protocol, see above"),
    OPTION_OFFER("size", VALUE_TEXT, "SIZE", settings.size, "1 for random, all otherwise", offer_size, false,
                 "label-set size: 1 (20 labels per class) to 5 (all), or a number of training nodes above 5"),
    OPTION_OUTPUT(VALUE_FILE, "FILE", settings.output, false, NULL, "write the split as CSV: node,part"),
    OPTION_SPREADSHEET(settings.csv.spreadsheet),
    {0}};

const cli_command cmd_data_split = {
    .name = "data split",
    .summary = "split a dataset for training, validation and test",
    .description =
        "Prints the sizes of the three parts and the digest that is stored with results. The same split has the "
        "same digest on every machine.\n\n"
        "SPLIT is one of\n\n"
        "  standard              the split that comes with the dataset\n"
        "  standard:NUMBER       one of several such splits, from 0\n"
        "  holdout:SEED          80 % of the labelled nodes to train, 10 % to validate\n"
        "                        and 10 % to test, stratified by class\n"
        "  random:SEED           500 validation and 1000 test nodes; the training\n"
        "                        nodes are drawn from the rest, see --size\n"
        "  cv:FOLDS:FOLD:SEED    one fold of a cross-validation\n"
        "  file:CSV              a CSV file of node,part, as -o writes it",
    .operands =
        (const cli_operand[]){{.name = "DATASET", .kind = VALUE_DATASET, .help = "name or path of a dataset"}, {0}},
    .options = options,
    .examples =
        (const cli_example[]){
            {"sfumato data split citation --split holdout:0", "80, 10 and 10 % of the labelled nodes:"},
            {"sfumato data split citation --split random:7 --size 2 -o split.csv", "Draw a random split and save it:"},
            {"sfumato data split citation --split file:split.csv", "Check that the saved split is the same:"},
            {0}},
    .reports = true,
    .writes = true,
    .defaults = defaults,
    .run = run};
