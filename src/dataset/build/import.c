/* import.c - which reader? From what the caller gives, or as the caller says. */
#include "dataset.h"
#include "progress.h"
#include "raw.h"
#include "sized_struct.h"

#include <stdio.h>
#include <string.h>

void sfu_import_options_init_sized(sfu_import_options *options, size_t size) {
    const sfu_import_options defaults = {.size = sizeof defaults};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- the formats ---------------------------------------------------------------------------------------------- */

static bool ends(const char *path, const char *ending) { return path != NULL && sfu__path_ends_with(path, ending); }

static bool looks_planetoid(const sfu_import_options *o) {
    return o->source != NULL && (strncmp(sfu__path_base(o->source), "ind.", 4) == 0 || sfu__path_is_folder(o->source));
}
static bool looks_linqs(const sfu_import_options *o) {
    return ends(o->source, ".content") || ends(o->source, ".cites");
}
static bool looks_mat(const sfu_import_options *o) { return ends(o->source, ".mat"); }
static bool looks_npz(const sfu_import_options *o) { return ends(o->source, ".npz"); }
static bool looks_mtx(const sfu_import_options *o) {
    return ends(o->source, ".mtx") || ends(o->edges, ".mtx") || (o->edges == NULL && ends(o->features, ".mtx"));
}
static bool looks_scipy(const sfu_import_options *o) {
    return o->source == NULL && (ends(o->edges, ".npz") || ends(o->edges, ".npy") ||
                                 (o->edges == NULL && (ends(o->features, ".npz") || ends(o->features, ".npy"))));
}
static bool looks_csv(const sfu_import_options *o) {
    return o->source == NULL && (o->edges != NULL || o->nodes != NULL);
}

static const struct {
    const char *name, *text;
    bool (*looks)(const sfu_import_options *options);
    sfu_status (*read)(sfu__raw *raw, const sfu_import_options *options);
} formats[] = {
    {"planetoid", "Planetoid's pickles: FOLDER/ind.NAME", looks_planetoid, sfu__read_planetoid},
    {"linqs", "NAME.content with NAME.cites beside it", looks_linqs, sfu__read_linqs},
    {"mat", "MATLAB's .mat; --edges, --features and --labels name its arrays", looks_mat, sfu__read_mat},
    {"npz", "one .npz with graph, attributes and labels (Shchur's layout)", looks_npz, sfu__read_npz},
    {"scipy", "scipy's sparse .npz and numpy's .npy: --edges, --features, --labels", looks_scipy, sfu__read_scipy},
    {"mtx", "Matrix Market: --edges, --features", looks_mtx, sfu__read_mtx},
    {"csv", "CSV or TSV, gzip'd or not: --edges, --nodes, --features, --labels", looks_csv, sfu__read_csv},
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

static sfu_status find_format(int *format, const sfu_import_options *options) {
    for (*format = 0; *format < FORMATS; ++*format) {
        if (options->format != NULL ? strcmp(formats[*format].name, options->format) == 0
                                    : formats[*format].looks(options)) {
            return SFU_OK;
        }
    }
    char quoted[SFU__QUOTE_MAX];
    if (options->format != NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "unknown format %s; known are planetoid, linqs, mat, npz, scipy, mtx and csv",
                         sfu__quote(quoted, options->format, strlen(options->format)));
    }
    if (options->source == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "nothing to import: give a source, or edges, or nodes");
    }
    const char *name = sfu__quote(quoted, options->source, strlen(options->source));
    if (ends(options->source, ".safetensors")) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s is a container already; it can be used as it is", name);
    }
    if (!sfu__path_is_file(options->source)) {
        return sfu__fail(SFU_ERR_NOT_FOUND, "%s: no such file", name);
    }
    return sfu__fail(SFU_ERR_ARGUMENT,
                     "%s: the format cannot be told from the name; a text file is given as --edges or --nodes, "
                     "another format with --format",
                     name);
}

/* ---- the name ------------------------------------------------------------------------------------------------- */

/* What is read first of all: what names the dataset, and what a mistake that shows only in the whole is blamed on. */
static const char *main_file(const sfu_import_options *options) {
    return options->source != NULL     ? options->source
           : options->edges != NULL    ? options->edges
           : options->nodes != NULL    ? options->nodes
           : options->features != NULL ? options->features
                                       : "dataset";
}

/* "cora" of "x/ind.cora" and of "cora.content". */
static char *default_name(const sfu_import_options *options) {
    const char *from = main_file(options);
    const char *base = sfu__path_base(from);
    if (strncmp(base, "ind.", 4) == 0) {
        const size_t size = strcspn(base + 4, ".");
        return sfu__copy_bytes(base + 4, size);
    }
    return sfu__path_stem(from);
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
    if (options->label != NULL && options->nodes == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "the label column %s needs the nodes file that holds it",
                         sfu__quote(quoted, options->label, strlen(options->label)));
    }
    return SFU_OK;
}

/* ---- all of it ------------------------------------------------------------------------------------------------ */

static sfu_status import(sfu_dataset **dataset, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    sfu__raw raw = {0};
    sfu_import_options named = *options;
    char *name = NULL;
    int format = 0;
    const sfu__watch before = sfu__watch_start(options->progress, options->progress_user, "importing");
    *dataset = NULL;
    SFU_TRY(check_options(options));
    SFU_TRY(find_format(&format, options));
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
        status = sfu__fail(SFU_ERR_FORMAT, "%s: there is no node in it", main_file(options));
        goto done;
    }
    status = sfu__build(dataset, &raw, &named);
    if (status == SFU_ERR_FORMAT) {
        sfu__fail_prefix(status, main_file(options));
    }
done:
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
