/* import_options.h - the options of the commands that import a dataset from files. */
#ifndef SFU_IMPORT_OPTIONS_H
#define SFU_IMPORT_OPTIONS_H

#include "command.h"
#include "outputs.h"

/* Rows of an option table; `import` is the sfu_import_options that they set. */
#define IMPORT_FILES(import)                                                                                           \
    IMPORT_EDGES(import),                                                                                              \
        OPTION_TEXT("nodes", VALUE_FILE, "FILE", (import).nodes, NULL, "node, features and label in one file"),        \
        IMPORT_OTHER_FILES(import)
#define IMPORT_EDGES(import)                                                                                           \
    OPTION_TEXT("edges", VALUE_FILE, "FILE", (import).edges, NULL,                                                     \
                "two columns of node ids, and an optional third one of weights"),                                      \
        OPTION_TEXT("source", VALUE_TEXT, "COLUMN", (import).source_column, "found by its name",                       \
                    "the column of --edges with the first node, by name or number"),                                   \
        OPTION_TEXT("target", VALUE_TEXT, "COLUMN", (import).target_column, "found by its name",                       \
                    "the column of --edges with the second node"),                                                     \
        OPTION_TEXT("weight", VALUE_TEXT, "COLUMN", (import).weight_column, "found by its name",                       \
                    "the column of --edges with the weight; none: no weights")
#define IMPORT_OTHER_FILES(import)                                                                                     \
    OPTION_TEXT("label", VALUE_TEXT, "COLUMN", (import).label, NULL, "the column of --nodes with the label"),          \
        OPTION_TEXT("features", VALUE_FILE, "FILE", (import).features, NULL,                                           \
                    "node and one column per feature, or node,feature,value"),                                         \
        OPTION_TEXT("feature-names", VALUE_FILE, "FILE", (import).feature_names, NULL,                                 \
                    "one name per line; determines the number and order of the features"),                             \
        OPTION_TEXT("labels", VALUE_FILE, "FILE", (import).labels, NULL, "node,label")
#define IMPORT_COLUMNS(import, decimal_choice, label_choice)                                                           \
    OPTION_TEXT("id", VALUE_TEXT, "COLUMN", (import).id, "the first", "the column of --nodes with the node id"),       \
        OPTION_TEXT("numeric", VALUE_TEXT, "COLUMNS", (import).numeric, "detected", "columns of numbers: A,B,..."),    \
        OPTION_TEXT("categorical", VALUE_TEXT, "COLUMNS", (import).categorical, "detected",                            \
                    "columns of categories, which become one feature per level"),                                      \
        OPTION_TEXT("text", VALUE_TEXT, "COLUMNS", (import).text, "detected",                                          \
                    "columns of free text, which become word counts"),                                                 \
        OPTION_TEXT("ignore", VALUE_TEXT, "COLUMNS", (import).ignore, "",                                              \
                    "columns to leave out; identifiers are left out anyway"),                                          \
        OPTION_TEXT("missing", VALUE_TEXT, "VALUES", (import).missing, "",                                             \
                    "values that mean a missing cell or label, besides an empty one, NA, N/A, nan, NULL, None and ?"), \
        OPTION_CHOICE("decimal", decimal_choice, import_decimal_choices, "decimal point or comma"),                    \
        OPTION_CHOICE("label-type", label_choice, import_label_choices,                                                \
                      "class takes every number as a class; auto refuses numbers that look measured"),                 \
        OPTION_TEXT("like", VALUE_FILE, "DATASET", (import).like, "",                                                  \
                    "transform the columns as those of this dataset, or of the dataset of this model")
/* The same for commands that take the transformation of the columns from a model. */
#define IMPORT_COLUMNS_LIKE_MODEL(import, decimal_choice)                                                              \
    OPTION_TEXT("id", VALUE_TEXT, "COLUMN", (import).id, "that of the model, or the first",                            \
                "the column of --nodes with the node id"),                                                             \
        OPTION_TEXT("missing", VALUE_TEXT, "VALUES", (import).missing, "",                                             \
                    "values that mean a missing cell or label, besides an empty one, NA, N/A, nan, NULL, None and ?"), \
        OPTION_CHOICE("decimal", decimal_choice, import_decimal_like_choices,                                          \
                      "decimal point or comma; auto: as in the table of the model"),                                   \
        OPTION_CHOICE("label-type", (import).label_type, import_label_choices,                                         \
                      "class takes every number as a class; auto refuses numbers that look measured")
#define IMPORT_HEADER(import)                                                                                          \
    OPTION_CHOICE("header", (import).header, import_header_choices,                                                    \
                  "whether the first line of a CSV file has the column names")
#define IMPORT_RULES(import)                                                                                           \
    OPTION_FLAG("strict", (import).strict,                                                                             \
                "reject edges to nodes that are in no other file, instead of adding the nodes"),                       \
        OPTION_FLAG("directed", (import).directed, "keep the direction of edges")
#define IMPORT_SCALE(import)                                                                                           \
    OPTION_CHOICE("scale", (import).scale, import_scale_choices,                                                       \
                  "auto: standardise the columns of a table, each by its type, and scale other features to length 1; " \
                  "quantile: replace numbers by their quantiles; unit, sum, none: scale the features of each node to " \
                  "length 1, to sum 1, or not at all")
#define IMPORT_KNN(import)                                                                                             \
    OPTION_COUNT("knn", "K", (import).knn, 1, 10000, "",                                                               \
                 "build a graph: connect each node to its K nearest neighbours by cosine similarity of the features")

extern const char *const import_header_choices[],
    *const import_scale_choices[], *const import_decimal_choices[], *const import_decimal_like_choices[],
                                                                        *const import_label_choices[];

/* The decimal separator by its index in import_decimal_choices. */
char import_decimal(int choice);

/* Whether the options name a file to import. */
bool import_has_files(const sfu_import_options *import);

/* Whether a command has either a dataset (NULL: none) or files for its model; reports a usage error. */
int import_check_use(const cli_command *command, const char *dataset, const sfu_import_options *import);

/* Opens a model, and the dataset with this name, or imports the files (name NULL) with the column transformation of the
 * model, if it has one, within a memory limit (0: none). `decimal`: an index into import_decimal_like_choices. */
sfu_status open_with_model(sfu_model **model, sfu_dataset **dataset, const char *path, const char *name,
                           sfu_import_options *import, int decimal, uint64_t memory);

/* Adds the files that the options name. */
void import_files(cli_files *files, const sfu_import_options *import);

#endif
