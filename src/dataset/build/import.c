/* import.c - selects the reader of a format, given by name or recognized from the files, and runs it. */
#include "dataset.h"
#include "array_file.h"
#include "memory_limit.h"
#include "progress.h"
#include "raw.h"
#include "sized_struct.h"

#include <stdio.h>
#include <string.h>

void sfu_import_options_init_sized(sfu_import_options *options, size_t size) {
    const sfu_scale scale = size > offsetof(sfu_import_options, id) ? SFU_SCALE_AUTO : SFU_SCALE_UNIT;
    const sfu_import_options defaults = {.size = sizeof defaults, .scale = scale};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- the formats ---------------------------------------------------------------------------------------------- */

static bool has_suffix(const char *path, const char *suffix) {
    return path != NULL && sfu__path_ends_with(path, suffix);
}

static bool is_planetoid(const sfu_import_options *o) {
    return o->source != NULL && (strncmp(sfu__path_base(o->source), "ind.", 4) == 0 || sfu__path_is_folder(o->source));
}
static bool is_graphland(const sfu_import_options *o) { return o->source != NULL && sfu__is_graphland(o->source); }
static bool is_ogb(const sfu_import_options *o) { return o->source != NULL && sfu__is_ogb(o->source); }
static bool is_geom_gcn(const sfu_import_options *o) { return o->source != NULL && sfu__is_geom_gcn(o->source); }
static bool is_musae(const sfu_import_options *o) { return o->source != NULL && sfu__is_musae(o->source); }
static bool is_linqs(const sfu_import_options *o) {
    return has_suffix(o->source, ".content") || has_suffix(o->source, ".cites");
}
static bool is_mat(const sfu_import_options *o) { return has_suffix(o->source, ".mat"); }
static bool is_platonov(const sfu_import_options *o) {
    return has_suffix(o->source, ".npz") && sfu__npz_is_platonov(o->source);
}
static bool is_npz(const sfu_import_options *o) { return has_suffix(o->source, ".npz"); }
static bool is_mtx(const sfu_import_options *o) {
    return has_suffix(o->source, ".mtx") || has_suffix(o->edges, ".mtx") ||
           (o->edges == NULL && has_suffix(o->features, ".mtx"));
}
static bool is_scipy(const sfu_import_options *o) {
    const char *const files[] = {o->edges, o->features, o->labels};
    bool any = false, all = o->source == NULL && o->nodes == NULL && o->columns == NULL && o->split == NULL;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        any = any || (i < 2 && files[i] != NULL);
        all = all && (files[i] == NULL || sfu__is_array_path(files[i]));
    }
    return any && all;
}
static bool is_csv(const sfu_import_options *o) {
    return o->source == NULL && (o->edges != NULL || o->nodes != NULL || o->features != NULL);
}

static const struct {
    const char *name, *text;
    bool (*matches)(const sfu_import_options *options);
    sfu_status (*read)(sfu__raw *raw, const sfu_import_options *options);
} formats[] = {
    {"graphland", "FOLDER with features.csv, targets.csv, edgelist.csv and split_masks_*.csv", is_graphland,
     sfu__read_graphland},
    {"ogb", "FOLDER of the Open Graph Benchmark, with raw/edge.csv.gz and split", is_ogb, sfu__read_ogb},
    {"geom-gcn", "FOLDER with out1_graph_edges.txt and out1_node_feature_label.txt", is_geom_gcn, sfu__read_geom_gcn},
    {"musae", "NAME_edges.csv, NAME_target.csv and a JSON file of features; or their FOLDER", is_musae,
     sfu__read_musae},
    {"planetoid", "Planetoid's pickles: FOLDER/ind.NAME", is_planetoid, sfu__read_planetoid},
    {"linqs", "NAME.content with NAME.cites beside it", is_linqs, sfu__read_linqs},
    {"mat", "MATLAB's .mat; --edges, --features and --labels name its arrays", is_mat, sfu__read_mat},
    {"platonov", "one .npz with edges, node_features, node_labels and masks", is_platonov, sfu__read_platonov},
    {"npz", "one .npz in Shchur's layout; --edges, --features and --labels name other arrays", is_npz, sfu__read_npz},
    {"scipy", "scipy's sparse .npz and numpy's .npy: --edges, --features, --labels", is_scipy, sfu__read_scipy},
    {"mtx", "Matrix Market: --edges, --features", is_mtx, sfu__read_mtx},
    {"csv", "CSV or TSV, gzip'd or not: --edges, --nodes, --features, --labels", is_csv, sfu__read_csv},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

const char *sfu_import_format(int i, const char **text) {
    if (i < 0 || i >= FORMATS) {
        return NULL;
    }
    if (text != NULL) {
        *text = formats[i].text;
    }
    return formats[i].name;
}

static sfu_status fail_format(const char *name) {
    sfu_status status = SFU_OK;
    char quoted[SFU__QUOTE_MAX];
    sfu__text list = {0};
    for (int i = 0; i < FORMATS; i++) {
        const char *before = i == 0 ? "" : i + 1 < FORMATS ? ", " : " and ";
        SFU_TRY(sfu__text_format(&list, "%s%s", before, formats[i].name));
    }
    status = sfu__fail(SFU_ERR_ARGUMENT, "unknown format %s; known are %s", sfu__quote(quoted, name, strlen(name)),
                       list.bytes);
done:
    sfu__text_clear(&list);
    return status;
}

static sfu_status find_format(int *format, const sfu_import_options *options) {
    for (*format = 0; *format < FORMATS; ++*format) {
        if (options->format != NULL ? strcmp(formats[*format].name, options->format) == 0
                                    : formats[*format].matches(options)) {
            return SFU_OK;
        }
    }
    char quoted[SFU__QUOTE_MAX];
    if (options->format != NULL) {
        return fail_format(options->format);
    }
    if (options->source == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "nothing to import: give a source, or edges, or nodes");
    }
    const char *name = sfu__quote(quoted, options->source, strlen(options->source));
    if (has_suffix(options->source, ".safetensors")) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s is a dataset already and needs no import", name);
    }
    if (!sfu__path_is_file(options->source)) {
        return sfu__fail(SFU_ERR_NOT_FOUND, "%s: no such file", name);
    }
    return sfu__fail(SFU_ERR_ARGUMENT,
                     "%s: the format cannot be recognized from the name; give a text file as --edges or --nodes, "
                     "or name the format with --format",
                     name);
}

/* ---- name and options ----------------------------------------------------------------------------------------- */

/* The file that the dataset is named after, and that errors about the dataset as a whole refer to. */
static const char *main_file(const sfu_import_options *options) {
    return options->source != NULL     ? options->source
           : options->edges != NULL    ? options->edges
           : options->nodes != NULL    ? options->nodes
           : options->features != NULL ? options->features
                                       : "dataset";
}

/* The last component of a folder, without the slashes at its end. */
static char *folder_name(const char *path) {
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/') {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') {
        begin--;
    }
    return sfu__copy_bytes(path + begin, end - begin);
}

/* "cora" for "x/ind.cora", "cora.content", "cora_edges.csv" and the folder "x/cora/". */
static char *default_name(const sfu_import_options *options) {
    static const char *const ends[] = {"_edges", "_target"};
    const char *from = main_file(options);
    const char *base = sfu__path_base(from);
    if (strncmp(base, "ind.", 4) == 0) {
        const size_t size = strcspn(base + 4, ".");
        return sfu__copy_bytes(base + 4, size);
    }
    if (options->source != NULL && sfu__path_is_folder(options->source)) {
        return folder_name(options->source);
    }
    char *name = sfu__path_stem(from);
    for (size_t i = 0; name != NULL && options->source != NULL && i < sizeof ends / sizeof ends[0]; i++) {
        const size_t size = strlen(name), end = strlen(ends[i]);
        if (size > end && strcmp(name + size - end, ends[i]) == 0) {
            name[size - end] = '\0';
        }
    }
    return name;
}

static sfu_status check_name(const char *name) {
    char quoted[SFU__QUOTE_MAX];
    return name[0] != '\0' && strchr(name, '/') == NULL
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT, "%s cannot be the name of a dataset: it must not be empty or hold a \"/\"",
                           sfu__quote(quoted, name, strlen(name)));
}

static sfu_status check_options(const sfu_import_options *options) {
    char quoted[SFU__QUOTE_MAX];
    if (options->knn < 0) {
        return sfu__fail(SFU_ERR_ARGUMENT, "knn is %d; it must be at least 1", options->knn);
    }
    if (options->memory > 0 && (options->knn > 0 || options->largest)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s needs the %s in memory: expected no memory limit",
                         options->knn > 0 ? "--knn" : "--largest-component",
                         options->knn > 0 ? "features" : "whole graph");
    }
    if (options->decimal != '\0' && options->decimal != '.' && options->decimal != ',') {
        return sfu__fail(SFU_ERR_ARGUMENT, "the decimal separator is %s; expected \".\" or \",\"",
                         sfu__quote(quoted, &options->decimal, 1));
    }
    if (options->id != NULL && options->nodes == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "the id column %s needs the nodes file that holds it",
                         sfu__quote(quoted, options->id, strlen(options->id)));
    }
    if (options->label != NULL && options->nodes == NULL && options->source == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "the label column %s needs the nodes file that holds it",
                         sfu__quote(quoted, options->label, strlen(options->label)));
    }
    return SFU_OK;
}

/* Options about the columns of a table are for formats that have one. */
static sfu_status check_table_options(const sfu_import_options *options, const char *format) {
    const struct {
        const char *option, *value;
    } all[] = {{"--numeric", options->numeric},
               {"--categorical", options->categorical},
               {"--text", options->text},
               {"--ignore", options->ignore},
               {"--like", options->like}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].value != NULL && strcmp(format, "csv") != 0 && strcmp(format, "mtx") != 0) {
            return sfu__fail(SFU_ERR_ARGUMENT, "%s is about the columns of a CSV table, and the format is %s",
                             all[i].option, format);
        }
    }
    return SFU_OK;
}

/* ---- import --------------------------------------------------------------------------------------------------- */

static sfu_status import(sfu_dataset **dataset, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    sfu__raw raw = {0};
    sfu_import_options named = *options;
    char *name = NULL;
    int format = 0;
    int64_t lacking = 0;
    const sfu__watch before = sfu__watch_start(options->progress, options->progress_user, "importing");
    *dataset = NULL;
    SFU_TRY(check_options(options));
    SFU_TRY(sfu__limit_start(&raw, options->memory, options->scratch, &named.threads));
    SFU_TRY(find_format(&format, options));
    SFU_TRY(check_table_options(options, formats[format].name));
    name = options->name != NULL ? sfu__copy_string(options->name) : default_name(options);
    if (name == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_TRY(check_name(name));
    named.name = name;
    raw.format = formats[format].name;
    SFU_TRY(formats[format].read(&raw, &named));
    if (raw.nodes < 1) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: it contains no nodes", main_file(options));
        goto done;
    }
    status = sfu__build(dataset, &raw, &named, &lacking);
    if (status == SFU_ERR_FORMAT) {
        sfu__fail_prefix(status, main_file(options));
    }
done:
    status = sfu__limit_end(status, options->memory, "the import", lacking);
    sfu__watch_end(before);
    sfu__raw_clear(&raw);
    sfu__free(name);
    return status;
}

sfu_status sfu_dataset_import(sfu_dataset **dataset, const sfu_import_options *given) {
    sfu_import_options options;
    *dataset = NULL;
    const sfu_status status = SFU__READ_OPTIONS(&options, given, sfu_import_options);
    return status != SFU_OK ? status : import(dataset, &options);
}
