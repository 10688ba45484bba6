/* results_files.c - which files of a folder may be replaced: those whose contents show that we wrote them.
 *
 * An empty file has nothing to lose. A plot is ours if its script is. manifest.json is not checked here: it is read
 * before anything is written, and a foreign one ends the call.
 */
#define _GNU_SOURCE /* memmem */
#include "results_int.h"

#include "file.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

/* A file, and how our files begin, or a text that they contain. NULL ends the list. */
typedef struct known_file {
    const char *name;
    const char *begins[7];
    const char *holds;
} known_file;

static const known_file files[] = {
    {"report.html", {NULL}, "<footer>Made by sfumato"},
    {"tables.md",
     {"# A comparison of networks", "# The tables of the paper", "# The paper's table ",
      "# Beyond the paper: ", "## What an epoch costs", "## The datasets", NULL},
     NULL},
    {"tables.tex", {"% Needs \\usepackage{booktabs}", NULL}, NULL},
    {"cost.md", {"## What an epoch costs", NULL}, NULL},
    {"datasets.md", {"## The datasets", NULL}, NULL},
    {"results.csv", {"dataset,net,size,split", NULL}, NULL},
    {"timings.csv", {"dataset,net,size,split", NULL}, NULL},
    {"curves.csv", {"dataset,net,size,split", NULL}, NULL},
    {"details.csv", {"dataset,net,size,split", NULL}, NULL},
    {"manifest.json", {NULL}, NULL},
};
enum { FILES = sizeof files / sizeof files[0], CHECKED = FILES - 1 };

/* Prefixes of the names of plots, each of which is in the first line of its script. */
static const char *const plots[] = {"sizes-",  "ranks-",          "tradeoff-",         "curves-", "losses-",
                                    "layers-", "self-neighbour-", "degree-exponents-", "noise-"};
static const known_file script = {"", {NULL}, "\" in this folder draws it again."};

const char *sfu_results_file(int i) { return i >= 0 && i < FILES ? files[i].name : NULL; }

static bool is_known(const known_file *known, const sfu__bytes *bytes) {
    bool is = bytes->size == 0 ||
              (known->holds != NULL && memmem(bytes->data, bytes->size, known->holds, strlen(known->holds)) != NULL);
    for (int i = 0; known->begins[i] != NULL && !is; i++) {
        const size_t size = strlen(known->begins[i]);
        is = bytes->size >= size && memcmp(bytes->data, known->begins[i], size) == 0;
    }
    return is;
}

/* *ours: no regular file exists, or it is a known one. */
static sfu_status check_ours(bool *ours, const known_file *known, const char *path) {
    sfu_status status = SFU_OK;
    struct stat info;
    sfu__bytes bytes = {0};
    *ours = true;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
        SFU_TRY(sfu__bytes_open(&bytes, path));
        *ours = is_known(known, &bytes);
    }
done:
    sfu__bytes_close(&bytes);
    return status;
}

static sfu_status refuse(const char *path) {
    return sfu__fail(SFU_ERR_IO, "%s: exists and was not written by compare, reproduce or report", path);
}

static sfu_status check_file(const char *folder, const known_file *known) {
    bool ours = true;
    char *path = sfu__path_join(folder, known->name);
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    sfu_status status = check_ours(&ours, known, path);
    if (status == SFU_OK && !ours) {
        status = refuse(path);
    }
    sfu__free(path);
    return status;
}

/* Length of a name without its extension if it may belong to a plot, else 0. */
static size_t plot_stem(const char *name) {
    static const char *const endings[] = {".svg", ".gp", ".csv"};
    bool is_plot = false;
    for (size_t i = 0; i < sizeof plots / sizeof plots[0]; i++) {
        is_plot = is_plot || strncmp(name, plots[i], strlen(plots[i])) == 0;
    }
    for (size_t i = 0; is_plot && i < sizeof endings / sizeof endings[0]; i++) {
        const size_t size = strlen(name), ending = strlen(endings[i]);
        if (size > ending && strcmp(name + size - ending, endings[i]) == 0) {
            return size - ending;
        }
    }
    return 0;
}

static sfu_status check_plot(const char *folder, const char *name) {
    sfu_status status = SFU_OK;
    bool ours = true;
    sfu__text path = {0};
    SFU_TRY(sfu__text_format(&path, "%s/%.*s.gp", folder, (int)plot_stem(name), name));
    SFU_TRY(check_ours(&ours, &script, path.bytes));
    if (!ours || !sfu__path_is_file(path.bytes)) {
        path.size = 0;
        SFU_TRY(sfu__text_format(&path, "%s/%s", folder, name));
        status = refuse(path.bytes);
    }
done:
    sfu__text_clear(&path);
    return status;
}

static sfu_status check_plots(const char *folder) {
    sfu_status status = SFU_OK;
    char *path = sfu__path_join(folder, "plots");
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    DIR *entries = opendir(path);
    for (const struct dirent *entry; entries != NULL && status == SFU_OK && (entry = readdir(entries)) != NULL;) {
        if (plot_stem(entry->d_name) > 0) {
            status = check_plot(path, entry->d_name);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    sfu__free(path);
    return status;
}

sfu_status sfu_results_check(const char *folder) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < CHECKED; i++) {
        SFU_TRY(check_file(folder, &files[i]));
    }
    SFU_TRY(check_plots(folder));
done:
    return status;
}
