/* Imports a dataset from files of other formats and writes it as a safetensors file. */
#include "cmd.h"

#include "class_names.h"
#include "import_options.h"
#include "output.h"
#include "progress_bar.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

static struct {
    sfu_import_options import;
    const char *output, *class_names;
    int self_loops; /* index into self_loop_choices */
    int decimal;    /* index into import_decimal_choices */
} settings;

static const char *const self_loop_choices[] = {"drop", "keep", NULL};
static const char *const duplicate_choices[] = {"max", "sum", "first", NULL};

static void defaults(void) {
    memset(&settings, 0, sizeof settings);
    sfu_import_options_init(&settings.import);
    settings.self_loops = settings.import.keep_loops;
}

static const cli_option options[] = {
    OPTION_OUTPUT(VALUE_FILE, "FILE", settings.output, false, "NAME.safetensors", "output file"),
    OPTION_TEXT("name", VALUE_TEXT, "NAME", settings.import.name, "from the output or the source",
                "name of the dataset"),
    OPTION_NAME("format", "FORMAT", settings.import.format, sfu_import_format, "detected", "format of the source"),
    IMPORT_FILES(settings.import),
    OPTION_TEXT("columns", VALUE_FILE, "FILE", settings.import.columns, NULL,
                "node and extra numeric columns, named by the header"),
    OPTION_TEXT("split", VALUE_FILE, "FILE", settings.import.split, NULL,
                "standard split: node,part where part is train, val or test; one more column per further split"),
    OPTION_TEXT("class-names", VALUE_FILE, "NAMES", settings.class_names, NULL,
                "names of the classes, in order: A,B,... or a file with one name per line"),
    IMPORT_COLUMNS(settings.import, settings.decimal, settings.import.label_type),
    IMPORT_HEADER(settings.import),
    IMPORT_RULES(settings.import),
    OPTION_CHOICE("self-loops", settings.self_loops, self_loop_choices, "drop or keep self-loops"),
    OPTION_CHOICE("duplicates", settings.import.duplicates, duplicate_choices,
                  "weight of a duplicate edge: the largest, the sum, or the first"),
    OPTION_FLAG("largest-component", settings.import.largest, "keep only the largest connected component"),
    IMPORT_SCALE(settings.import),
    IMPORT_KNN(settings.import),
    OPTION_SIZE("memory", settings.import.memory, "no limit",
                "memory limit of at least 32M, such as 8G; larger data is kept in temporary files beside the output"),
    OPTION_COUNT("threads", "N", settings.import.threads, 0, 1024, "one per core",
                 "number of threads; does not affect the result"),
    {0}};

/* The value of -o, or NAME.safetensors. To be freed. */
static char *output_path(const sfu_dataset *dataset) {
    static const char ending[] = ".safetensors";
    if (settings.output) {
        return strdup(settings.output);
    }
    const char *name = sfu_dataset_name(dataset);
    const size_t size = strlen(name) + sizeof ending;
    char *path = malloc(size);
    if (path) {
        snprintf(path, size, "%s%s", name, ending);
    }
    return path;
}

static int check_output(const char *path) {
    cli_files files = {0};
    files_write(&files, "-o", path, &dataset_file);
    import_files(&files, &settings.import);
    files_read(&files, "--class-names", settings.class_names);
    return files_check(&files, &cmd_data_import);
}

static int save(const sfu_dataset *dataset) {
    char *path = output_path(dataset);
    int code = path ? check_output(path) : fail("out of memory");
    if (code == DONE) {
        code = report_save(dataset, path);
    }
    free(path);
    return code;
}

static int import_and_save(void) {
    sfu_dataset *dataset = NULL;
    char *folder = report_folder(settings.output);
    if (!folder) {
        return fail("out of memory");
    }
    settings.import.scratch = folder;
    progress_start();
    settings.import.progress = progress_report;
    const sfu_status status = sfu_dataset_import(&dataset, &settings.import);
    const int code = status == SFU_OK ? save(dataset) : fail_status(status);
    progress_end();
    sfu_dataset_free(dataset);
    free(folder);
    return code;
}

static int run(int count, char **operands) {
    sfu_import_options *import = &settings.import;
    import->source = count > 0 ? operands[0] : NULL;
    import->keep_loops = settings.self_loops == 1;
    import->decimal = import_decimal(settings.decimal);
    if (!import->source && !import->edges && !import->nodes && !import->features) {
        return usage_error(&cmd_data_import,
                           "nothing to read: give a SOURCE, or --edges, --nodes or --features, for example "
                           "sfumato data import --edges edges.csv --nodes nodes.csv --label topic");
    }
    cli_class_names classes = {0};
    char *name = NULL;
    int code = settings.output ? check_output(settings.output) : DONE;
    if (code == DONE && settings.output && !import->name) {
        import->name = name = report_name(settings.output);
        code = name ? DONE : fail("out of memory");
    }
    if (code == DONE && settings.class_names) {
        code = class_names_read(&classes, settings.class_names);
    }
    import->class_names = classes.names;
    import->class_name_count = classes.count;
    if (code == DONE) {
        code = import_and_save();
    }
    class_names_clear(&classes);
    free(name);
    return code;
}

const cli_command cmd_data_import = {
    .name = "data import",
    .summary = "import a dataset from files of other formats",
    .description =
        "The format is detected. If SOURCE holds several arrays, --edges, --features and --labels are the names of "
        "arrays in it; otherwise they are paths of files.\n\n"
        "CSV and TSV files may be compressed with gzip. Their first column is the node id, under any name; --id names "
        "another column of --nodes. "
        "The nodes are the union over all files, those of --nodes first. An empty label means unlabelled, "
        "and so do NA, N/A, nan, NULL, None and ?. In a file of edges the columns are found by their names "
        "(from,to,weight and other usual ones), or by position. CSV files and .npy arrays can be combined; then nodes "
        "are called by their numbers.\n\n"
        "The columns of --nodes are numbers, truth values, dates, categories, free text, lists of numbers or "
        "identifiers; the types are detected unless an option names them. Numbers and dates are standardised, missing "
        "cells are set to the median, categories become one feature per level, identifiers are left out. --like does "
        "the same to a second table as was done to the first.\n\n"
        "By default, the graph is made undirected, self-loops and duplicate edges are dropped, and features other than "
        "the columns of a table are scaled to unit length. These changes are printed and recorded in the output. An "
        "existing dataset with the name of the output is replaced.",
    .operands = (const cli_operand[]){{.name = "SOURCE",
                                       .optional = true,
                                       .kind = VALUE_FILE,
                                       .help = "a file, a folder, or the folder and prefix of Planetoid files"},
                                      {0}},
    .options = options,
    .examples =
        (const cli_example[]){
            {"sfumato data import planetoid/ind.cora", "Planetoid files, by folder and prefix:"},
            {"sfumato data import cora.content", "LINQS files; cora.cites is in the same folder:"},
            {"sfumato data import ACM3025.mat --edges PAP --features feature --labels label",
             "Arrays in a MATLAB file:"},
            {"sfumato data import --edges apa.npz --features a_feat.npz --labels labels.npy",
             "Arrays in SciPy and NumPy files:"},
            {"sfumato data import graph.npz --edges pairs --features x --labels y", "Arrays in one NumPy file:"},
            {"sfumato data import --edges edges.csv --source payer --target payee --weight amount",
             "A CSV file of edges with other column names:"},
            {"sfumato data import --edges edges.csv --nodes nodes.csv --label topic",
             "Two CSV files; the label is a column of the second:"},
            {"sfumato data import --edges edges.csv --features words.csv --labels labels.csv",
             "Separate files for features and labels:"},
            {"sfumato data import --edges edges.csv --nodes users.csv --id user --label group --categorical zip "
             "--ignore phone",
             "Another node column, and types of columns that would not be detected:"},
            {"sfumato data import --edges new_edges.csv --nodes new.csv --like people.safetensors",
             "New nodes, with the features of an earlier import:"},
            {"sfumato data import --edges edges.csv.gz --features x.npy --labels y.npy --memory 8G",
             "A graph that is larger than memory:"},
            {"sfumato data import --nodes nodes.csv --label topic --knn 10",
             "No graph: connect each node to its ten nearest neighbours:"},
            {0}},
    .reports = true,
    .writes = true,
    .defaults = defaults,
    .run = run};
