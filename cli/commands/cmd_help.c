#include "cmd.h"

#include "completion.h"
#include "output.h"
#include "page.h"
#include "suggest.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static struct {
    bool man;
    const char *shell, *folder;
} settings;

static const char *shell_name(int i, const char **text) {
    if (text && completions[i].shell) {
        *text = completions[i].file;
    }
    return completions[i].shell;
}

/* ---- files to install ------------------------------------------------------------------------------------------- */

/* Opens FOLDER/PART/NAME, creating both folders. */
static FILE *open_below(const char *folder, const char *part, const char *name) {
    char path[4096];
    const int made = snprintf(path, sizeof path, "%s/%s", folder, part);
    if (made < 0 || (size_t)made + strlen(name) + 2 > sizeof path) {
        errno = ENAMETOOLONG;
    } else if ((mkdir(folder, 0777) == 0 || errno == EEXIST) && (mkdir(path, 0777) == 0 || errno == EEXIST)) {
        snprintf(path + made, sizeof path - (size_t)made, "/%s", name);
        FILE *file = fopen(path, "w");
        if (file) {
            return file;
        }
    }
    fail("%s/%s/%s: %s", folder, part, name, strerror(errno));
    return NULL;
}

static bool close_written(FILE *file, const char *name) {
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        fail("%s: cannot be written", name);
        return false;
    }
    return true;
}

static int write_files(const char *folder) {
    for (const cli_command *const *command = commands; *command; command++) {
        char title[COMMAND_TITLE_MAX], name[COMMAND_TITLE_MAX + 4];
        snprintf(name, sizeof name, "%s.1", command_title(title, *command, '-'));
        FILE *file = open_below(folder, "man", name);
        if (!file) {
            return FAILED;
        }
        page_write(file, *command, &page_roff);
        if (!close_written(file, name)) {
            return FAILED;
        }
    }
    for (const cli_completion *completion = completions; completion->shell; completion++) {
        FILE *file = open_below(folder, "completions", completion->file);
        if (!file) {
            return FAILED;
        }
        completion->write(file);
        if (!close_written(file, completion->file)) {
            return FAILED;
        }
    }
    return DONE;
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

static int write_completion(const char *shell) {
    const cli_completion *completion = completions;
    while (strcmp(completion->shell, shell) != 0) {
        completion++;
    }
    completion->write(stdout);
    return DONE;
}

static int run(int count, char **words) {
    if (settings.folder) {
        return write_files(settings.folder);
    }
    if (settings.shell) {
        return write_completion(settings.shell);
    }
    const cli_command *asked = command_find(&count, &words);
    if (count > 0) {
        return unknown_command(asked, words[0]);
    }
    page_write(stdout, asked, settings.man ? &page_roff : &page_plain);
    return DONE;
}

int unknown_command(const cli_command *parent, const char *word) {
    cli_suggestion nearest = {.word = word};
    const cli_command *child;
    for (int i = 0; (child = command_child(parent, i)) != NULL; i++) {
        suggest(&nearest, command_word(child));
    }
    char text[SUGGESTION_MAX];
    return usage_error(parent, "unknown command %s%s", quote(word), suggestion_text(text, &nearest, ""));
}

static const cli_option options[] = {
    OPTION_FLAG("man", settings.man, "print the man page in roff"),
    OPTION_NAME("completion", "SHELL", settings.shell, shell_name, NULL, "print the completion script of a shell"),
    OPTION_TEXT("write", VALUE_FOLDER, "FOLDER", settings.folder, NULL,
                "write man pages and completion scripts to FOLDER/man and FOLDER/completions"),
    {0}};

const cli_command cmd_help = {
    .name = "help",
    .summary = "print help, man pages, or shell completions",
    .description = "Without COMMAND, prints the help of the program.",
    .operands = (const cli_operand[]){{.name = "COMMAND",
                                       .optional = true,
                                       .many = true,
                                       .kind = VALUE_COMMAND,
                                       .help = "name of a command, such as data import"},
                                      {0}},
    .options = options,
    .examples =
        (const cli_example[]){{"sfumato help data import", "The same as sfumato data import --help:"},
                              {"sfumato help --man data import | man -l -", "Read a man page without installing it:"},
                              {"source <(sfumato help --completion bash)", "Enable completion in this bash session:"},
                              {0}},
    .ranks = RANKS_FIRST,
    .run = run};
