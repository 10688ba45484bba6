/* import_options.h - the options of the commands that read a dataset out of files. */
#ifndef SFU_IMPORT_OPTIONS_H
#define SFU_IMPORT_OPTIONS_H

#include "command.h"
#include "outputs.h"

/* Rows of an option table; `import` is the sfu_import_options that they set. */
#define IMPORT_FILES(import)                                                                                           \
    OPTION_TEXT("edges", VALUE_FILE, "FILE", (import).edges, NULL,                                                     \
                "two columns of nodes, and a weight if there is a third"),                                             \
        OPTION_TEXT("nodes", VALUE_FILE, "FILE", (import).nodes, NULL,                                                 \
                    "node, features and the label, all in one file"),                                                  \
        OPTION_TEXT("label", VALUE_TEXT, "COLUMN", (import).label, NULL, "the column of --nodes that is the label"),   \
        OPTION_TEXT("features", VALUE_FILE, "FILE", (import).features, NULL,                                           \
                    "node and a number a feature, or node,feature,value"),                                             \
        OPTION_TEXT("feature-names", VALUE_FILE, "FILE", (import).feature_names, NULL,                                 \
                    "one a line: names the features and fixes their order and number"),                                \
        OPTION_TEXT("labels", VALUE_FILE, "FILE", (import).labels, NULL, "node,label")
#define IMPORT_HEADER(import)                                                                                          \
    OPTION_CHOICE("header", (import).header, import_header_choices,                                                    \
                  "whether the first line of a CSV file names its columns")
#define IMPORT_RULES(import)                                                                                           \
    OPTION_FLAG("strict", (import).strict,                                                                             \
                "refuse an edge to a node that no other file names, instead of adding the node"),                      \
        OPTION_FLAG("directed", (import).directed, "keep the direction of edges")
#define IMPORT_SCALE(import)                                                                                           \
    OPTION_CHOICE("scale", (import).scale, import_scale_choices,                                                       \
                  "scale a node's features to length 1, to sum 1, or leave them")
#define IMPORT_KNN(import)                                                                                             \
    OPTION_COUNT("knn", "K", (import).knn, 1, 10000, "",                                                               \
                 "no graph: join each node with its K nearest, by the cosine of their features")

extern const char *const import_header_choices[], *const import_scale_choices[];

/* Adds the files that the options name. */
void import_files(cli_files *files, const sfu_import_options *import);

#endif
