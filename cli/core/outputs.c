#include "outputs.h"

#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- kinds of files ---------------------------------------------------------------------------------------------- */

static bool is_model(const char *path) {
    sfu_model *model = NULL;
    const bool is = sfu_model_open(&model, path) == SFU_OK;
    sfu_model_free(model);
    return is;
}

static bool is_dataset(const char *path) {
    sfu_dataset *dataset = NULL;
    const bool is = sfu_dataset_open(&dataset, path) == SFU_OK;
    sfu_dataset_free(dataset);
    return is;
}

#define BEGINS(...) ((const char *const[]){__VA_ARGS__, NULL})

const file_kind model_file = {"a model", .is_one = is_model}, dataset_file = {"a dataset", .is_one = is_dataset},
                predictions_file = {"a table of labels or embeddings",
                                    .begins =
                                        BEGINS("node,label,probability", "node,label_1,probability_1", "node,h0")},
                curve_file = {"a learning curve", .begins = BEGINS("epoch,train_loss")},
                trials_file = {"a table of trials", .begins = BEGINS("number,state")},
                label_page = {"a page of labels", .begins = BEGINS("<!DOCTYPE html>"),
                              .mark = "content=\"sfumato label\""},
                split_file = {"a split", .begins = BEGINS("node,part")},
                network_drawing = {"a drawing of a network", .begins = BEGINS("<svg "),
                                   .mark = "<desc>Drawn by sfumato</desc>"},
                history_drawing = {"a plot of a study", .begins = BEGINS("<?xml"), .mark = "<title>sfumato</title>"},
                history_script = {"the script of a plot of a study", .begins = BEGINS("# The history of a study")},
                history_data = {"the data of a plot of a study", .begins = BEGINS("trial,state,val")};

static bool looks_like(const char *path, const file_kind *kind) {
    char begin[1024] = "";
    FILE *file = fopen(path, "rb");
    if (!file) {
        return false;
    }
    const size_t size = fread(begin, 1, sizeof begin - 1, file);
    (void)fclose(file);
    bool good = false;
    for (const char *const *start = kind->begins; *start && !good; start++) {
        good = size >= strlen(*start) && strncmp(begin, *start, strlen(*start)) == 0;
    }
    return good && (!kind->mark || strstr(begin, kind->mark));
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

typedef struct cli_file {
    const char *role;
    char *path;
    bool written;
    const file_kind *kind; /* NULL: whether it can be written to, and what exists there, is checked elsewhere */
} cli_file;

/* The command itself reports a missing input. */
static void add(cli_files *files, const cli_file *file, const char *path) {
    if (!path || (!file->written && access(path, F_OK) != 0)) {
        return;
    }
    cli_file *grown = realloc(files->items, ((size_t)files->count + 1) * sizeof *grown);
    if (!grown) {
        files->no_memory = true;
        return;
    }
    files->items = grown;
    grown[files->count] = *file;
    grown[files->count].path = strdup(path);
    files->no_memory = files->no_memory || !grown[files->count].path;
    files->count += grown[files->count].path != NULL;
}

void files_read(cli_files *files, const char *role, const char *path) { add(files, &(cli_file){.role = role}, path); }

void files_read_dataset(cli_files *files, const char *name_or_path) {
    char *path = NULL;
    if (name_or_path && sfu_dataset_path(&path, name_or_path) == SFU_OK) {
        files_read(files, "DATASET", path);
    }
    sfu_text_free(path);
}

void files_read_split(cli_files *files, const char *split) {
    if (split && strncmp(split, "file:", 5) == 0) {
        files_read(files, "--split", split + 5);
    }
}

void files_write(cli_files *files, const char *role, const char *path, const file_kind *kind) {
    add(files, &(cli_file){.role = role, .written = true, .kind = kind}, path);
}

/* Adds the first `size` bytes of `path` followed by `end`. */
static void add_beside(cli_files *files, const cli_file *file, const char *path, size_t size, const char *end) {
    const size_t all = size + strlen(end) + 1;
    char *ok = malloc(all);
    if (ok) {
        snprintf(ok, all, "%.*s%s", (int)size, path, end);
    }
    files->no_memory = files->no_memory || !ok;
    add(files, file, ok);
    free(ok);
}

void files_read_source(cli_files *files, const char *source) {
    static const char *const ends[] = {".x",    ".y",    ".tx",    ".ty", /* Planetoid's */
                                       ".allx", ".ally", ".graph", ".test.index"};
    const cli_file file = {.role = "SOURCE"};
    files_read(files, file.role, source);
    for (size_t i = 0; source && i < sizeof ends / sizeof ends[0]; i++) {
        add_beside(files, &file, source, strlen(source), ends[i]);
    }
    const char *dot = source ? strrchr(source, '.') : NULL;
    if (dot) { /* LINQS's NAME.content and NAME.cites */
        add_beside(files, &file, source, (size_t)(dot - source), ".content");
        add_beside(files, &file, source, (size_t)(dot - source), ".cites");
    }
}

void files_write_study(cli_files *files, const char *role, const char *path) {
    static const char *const ends[] = {"", "-journal", "-wal", "-shm"}; /* SQLite's */
    for (size_t i = 0; path && i < sizeof ends / sizeof ends[0]; i++) {
        add_beside(files, &(cli_file){.role = role, .written = true}, path, strlen(path), ends[i]);
    }
}

void files_write_folder(cli_files *files, const char *role, const char *folder, const char *(*name)(int i)) {
    for (int i = 0; folder && name(i); i++) {
        char end[64];
        snprintf(end, sizeof end, "/%s", name(i));
        add_beside(files, &(cli_file){.role = role, .written = true}, folder, strlen(folder), end);
    }
}

/* ---- the checks -------------------------------------------------------------------------------------------------- */

static int refuse_same(const cli_command *command, const cli_file *one, const cli_file *other) {
    return strcmp(one->path, other->path) == 0
               ? usage_error(command, "%s and %s are the same file, %s; choose different names", one->role, other->role,
                             quote(one->path))
               : usage_error(command, "%s %s and %s %s are the same file; choose different names", one->role,
                             quote(one->path), other->role, quote(other->path));
}

/* Files with the same role belong to one study or folder and never collide. */
static int check_pairs(const cli_files *files, const cli_command *command) {
    for (int i = 0; i < files->count; i++) {
        for (int j = 0; j < i; j++) {
            const cli_file *one = &files->items[j], *other = &files->items[i];
            if ((one->written || other->written) && strcmp(one->role, other->role) != 0 &&
                sfu_same_file(one->path, other->path)) {
                return refuse_same(command, one, other);
            }
        }
    }
    return DONE;
}

/* Whether the file can be written, and whether writing would destroy a file of another kind. */
static int check_written(const cli_file *file) {
    struct stat info;
    if (!file->kind) {
        return DONE;
    }
    const sfu_status status = sfu_output_check(file->path);
    if (status != SFU_OK) {
        return fail_status(status);
    }
    if (common.force || stat(file->path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0 ||
        is_stdout(file->path)) {
        return DONE;
    }
    const bool good = file->kind->is_one ? file->kind->is_one(file->path) : looks_like(file->path, file->kind);
    return good ? DONE
                : fail("%s: exists and is not %s that sfumato wrote; choose another name, or replace it with --force",
                       file->path, file->kind->what);
}

static int check_all(const cli_files *files, const cli_command *command) {
    int code = files->no_memory ? fail("out of memory") : check_pairs(files, command);
    for (int i = 0; i < files->count && code == DONE; i++) {
        const cli_file *file = &files->items[i];
        if (file->written && strcmp(file->path, "-") == 0) {
            code =
                usage_error(command, "%s: expected the name of a file, found %s; for standard output use /dev/stdout",
                            file->role, quote(file->path));
        } else if (file->kind && common.json && is_stdout(file->path)) {
            code = usage_error(command, "%s %s and --json would both write to stdout", file->role, quote(file->path));
        } else if (file->written) {
            code = check_written(file);
        }
    }
    return code;
}

int files_check(cli_files *files, const cli_command *command) {
    if (files->count > 0) {
        add(files, &(cli_file){.role = "standard output", .written = true}, "/dev/stdout");
    }
    const int code = check_all(files, command);
    for (int i = 0; i < files->count; i++) {
        free(files->items[i].path);
    }
    free(files->items);
    *files = (cli_files){0};
    return code;
}

int folder_check(const char *folder, sfu_status (*check)(const char *folder)) {
    const sfu_status status = common.force ? SFU_OK : check(folder);
    if (status == SFU_ERR_IO) {
        return fail("%s; choose another folder, or replace it with --force", sfu_message());
    }
    return status == SFU_OK ? DONE : fail_status(status);
}

bool is_regular_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}
