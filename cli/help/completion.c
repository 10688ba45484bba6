/* Three shells, one walk each over the tables. Names of datasets are asked of the program when they are needed. */
#include "completion.h"

#include "command.h"

#include <string.h>

#define DATASETS "sfumato data list --names 2>/dev/null"

static bool is_group(const cli_command *command) { return command_child(command, 0) != NULL; }

/* The words that a value can be, with a blank between them: choices, names, or words of commands. */
static void put_words(FILE *file, const char *const *choices, names_fn names) {
    const char *word;
    for (int i = 0; (word = choices ? choices[i] : names ? names(i, NULL) : NULL) != NULL; i++) {
        fprintf(file, "%s%s", i == 0 ? "" : " ", word);
    }
}

static void put_children(FILE *file, const cli_command *parent) {
    const cli_command *child;
    for (int i = 0; (child = command_child(parent, i)) != NULL; i++) {
        fprintf(file, "%s%s", i == 0 ? "" : " ", command_word(child));
    }
}

/* Text inside single quotes, for a shell that ends them with `end` where the text has one. */
static void put_quoted(FILE *file, const char *text, const char *end) {
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            fputs(end, file);
        } else {
            putc(*c, file);
        }
    }
}

/* ---- bash ------------------------------------------------------------------------------------------------------- */

static void bash_value(FILE *file, value_kind kind, const char *const *choices, names_fn names) {
    switch (kind) {
    case VALUE_FOLDER:
        fputs("folders=1", file);
        break;
    case VALUE_DATASET:
        fputs("words=$(" DATASETS ")", file);
        break;
    case VALUE_COMMAND:
        fputs("words='", file);
        put_children(file, commands[0]);
        putc('\'', file);
        break;
    default:
        fputs("words='", file);
        put_words(file, choices, names);
        putc('\'', file);
    }
}

/* Which words lead to which command. `help` is followed by the words of a command. */
static void bash_paths(FILE *file) {
    for (const cli_command *const *group = commands; *group; group++) {
        const cli_command *child;
        for (int i = 0; (child = command_child(*group, i)) != NULL; i++) {
            fprintf(file, "        '%s %s') path='%s' ;;\n", (*group)->name, command_word(child), child->name);
        }
        if (is_group(*group) && (*group)->name[0]) {
            fprintf(file, "        'help %s') path='help %s' ;;\n", (*group)->name, (*group)->name);
        }
    }
}

static void bash_values(FILE *file, const cli_command *command) {
    const cli_option *option;
    for (int i = 0; (option = command_option(command, i)) != NULL; i++) {
        if (option->kind == VALUE_FLAG) {
            continue;
        }
        fprintf(file, "    '%s:--%s'", command->name, option->name);
        if (option->letter) {
            fprintf(file, " | '%s:-%c'", command->name, option->letter);
        }
        fputs(") ", file);
        bash_value(file, option->kind, option->choices, option->names);
        fputs(" ;;\n", file);
    }
}

static void bash_words(FILE *file, const cli_command *command) {
    fprintf(file, "    '%s:-')\n        words='", command->name);
    const cli_option *option;
    for (int i = 0; (option = command_option(command, i)) != NULL; i++) {
        fprintf(file, "%s--%s", i == 0 ? "" : " ", option->name);
    }
    fprintf(file, "' ;;\n    '%s:')\n        ", command->name);
    if (is_group(command)) {
        fputs("words='", file);
        put_children(file, command);
        putc('\'', file);
    } else if (command->operands) {
        bash_value(file, command->operands[0].kind, NULL, command->operands[0].names);
    } else {
        fputs("words=''", file);
    }
    fputs(" ;;\n", file);
    if (is_group(command) && command->name[0]) {
        fprintf(file, "    'help %s:')\n        words='", command->name);
        put_children(file, command);
        fputs("' ;;\n", file);
    }
}

static void write_bash(FILE *file) {
    fputs("# bash completion for sfumato, written by: sfumato help --completion bash\n"
          "# Where nothing matches, bash completes names of files.\n"
          "_sfumato() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local path='' word words='' folders=''\n"
          "    # bash takes --name=VALUE apart at the equals sign.\n"
          "    if [[ $current == '=' ]]; then\n"
          "        current=''\n"
          "    elif [[ $previous == '=' ]]; then\n"
          "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
          "        case \"$path $word\" in\n",
          file);
    bash_paths(file);
    fputs("        esac\n"
          "    done\n"
          "    case \"$path:$previous\" in\n",
          file);
    for (const cli_command *const *command = commands; *command; command++) {
        bash_values(file, *command);
    }
    fputs("    *)\n"
          "        word=''\n"
          "        [[ $current == -* ]] && word='-'\n"
          "        case \"$path:$word\" in\n",
          file);
    for (const cli_command *const *command = commands; *command; command++) {
        bash_words(file, *command);
    }
    fputs("        esac ;;\n"
          "    esac\n"
          "    if [[ -n $folders ]]; then\n"
          "        compopt -o filenames\n"
          "        mapfile -t COMPREPLY < <(compgen -d -- \"$current\")\n"
          "    else\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
          "    fi\n"
          "}\n"
          "complete -o bashdefault -o default -F _sfumato sfumato\n",
          file);
}

/* ---- zsh -------------------------------------------------------------------------------------------------------- */

static void zsh_value(FILE *file, value_kind kind, const char *const *choices, names_fn names) {
    switch (kind) {
    case VALUE_FOLDER:
        fputs("_files -/", file);
        break;
    case VALUE_FILE:
        fputs("_files", file);
        break;
    case VALUE_DATASET:
        fputs("_sfumato_datasets", file);
        break;
    case VALUE_COMMAND:
    case VALUE_CHOICE:
    case VALUE_NAME:
        putc('(', file);
        if (kind == VALUE_COMMAND) {
            put_children(file, commands[0]);
        }
        put_words(file, choices, names);
        putc(')', file);
        break;
    default:
        putc(' ', file);
    }
}

/* A text inside a specification of _arguments, where brackets and colons have a meaning. */
static void zsh_text(FILE *file, const char *text) {
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            fputs("'\\''", file);
        } else {
            fprintf(file, strchr("[]:\\", *c) ? "\\%c" : "%c", *c);
        }
    }
}

static void zsh_option(FILE *file, const cli_option *option) {
    const bool flag = option->kind == VALUE_FLAG;
    fputs("        ", file);
    if (option->letter) {
        fprintf(file, "'(-%c --%s)'{-%c%s,--%s%s}'", option->letter, option->name, option->letter, flag ? "" : "+",
                option->name, flag ? "" : "=");
    } else {
        fprintf(file, "'--%s%s", option->name, flag ? "" : "=");
    }
    putc('[', file);
    zsh_text(file, option->help);
    putc(']', file);
    if (!flag) {
        fprintf(file, ":%s:", option->value ? option->value : option->name);
        zsh_value(file, option->kind, option->choices, option->names);
    }
    fputs("' \\\n", file);
}

static void zsh_function_name(FILE *file, const cli_command *command) {
    char title[COMMAND_TITLE_MAX];
    fprintf(file, "_%s", command_title(title, command, '_'));
}

static void zsh_group(FILE *file, const cli_command *command) {
    fputs("        '1:command:->command' '*::word:->rest'\n"
          "    case $state in\n"
          "    command)\n"
          "        local -a commands=(\n",
          file);
    const cli_command *child;
    for (int i = 0; (child = command_child(command, i)) != NULL; i++) {
        fprintf(file, "            '%s:", command_word(child));
        zsh_text(file, child->summary);
        fputs("'\n", file);
    }
    fputs("        )\n"
          "        _describe command commands ;;\n"
          "    rest)\n"
          "        (( $+functions[",
          file);
    zsh_function_name(file, command);
    fputs("_$line[1]] )) && ", file);
    zsh_function_name(file, command);
    fputs("_$line[1] ;;\n"
          "    esac\n",
          file);
}

static void zsh_operands(FILE *file, const cli_command *command) {
    for (const cli_operand *operand = command->operands; operand && operand->name; operand++) {
        fprintf(file, "        '%s%s:%s:", operand->many ? "*" : "", operand->optional && !operand->many ? ":" : "",
                operand->name);
        zsh_value(file, operand->kind, NULL, operand->names);
        fputs("' \\\n", file);
    }
    fputs("        && return\n", file);
}

static void write_zsh(FILE *file) {
    fputs("#compdef sfumato\n"
          "# zsh completion for sfumato, written by: sfumato help --completion zsh\n"
          "_sfumato_datasets() {\n"
          "    local -a names=(${(f)\"$(" DATASETS ")\"})\n"
          "    _alternative 'datasets:dataset:compadd -a names' 'files:file:_files -g \"*.safetensors\"'\n"
          "}\n",
          file);
    for (const cli_command *const *command = commands; *command; command++) {
        zsh_function_name(file, *command);
        fputs("() {\n"
              "    local context state state_descr line\n"
              "    typeset -A opt_args\n",
              file);
        fputs(is_group(*command) ? "    _arguments -C \\\n" : "    _arguments -s \\\n", file);
        const cli_option *option;
        for (int i = 0; (option = command_option(*command, i)) != NULL; i++) {
            zsh_option(file, option);
        }
        if (is_group(*command)) {
            zsh_group(file, *command);
        } else {
            zsh_operands(file, *command);
        }
        fputs("}\n", file);
    }
    fputs("_sfumato \"$@\"\n", file);
}

/* ---- fish ------------------------------------------------------------------------------------------------------- */

static void fish_text(FILE *file, const char *text) {
    fputs(" -d '", file);
    put_quoted(file, text, "\\'");
    putc('\'', file);
}

/* Starts a line that holds while the words typed so far name the command. */
static void fish_line(FILE *file, const cli_command *command) {
    fprintf(file, "complete -c sfumato -n \"__sfumato_at '%s'\"", command->name);
}

static void fish_value(FILE *file, value_kind kind, const char *const *choices, names_fn names) {
    switch (kind) {
    case VALUE_FILE:
        fputs(" -F", file);
        break;
    case VALUE_FOLDER:
        fputs(" -x -a '(__fish_complete_directories)'", file);
        break;
    case VALUE_DATASET:
        fputs(" -F -a '(" DATASETS ")'", file);
        break;
    default:
        fputs(" -x -a '", file);
        if (kind == VALUE_COMMAND) {
            put_children(file, commands[0]);
        }
        put_words(file, choices, names);
        putc('\'', file);
    }
}

static void fish_command(FILE *file, const cli_command *command) {
    const cli_command *child;
    for (int i = 0; (child = command_child(command, i)) != NULL; i++) {
        fish_line(file, command);
        fprintf(file, " -a %s", command_word(child));
        fish_text(file, child->summary);
        putc('\n', file);
    }
    for (const cli_operand *operand = command->operands; operand && operand->name; operand++) {
        fish_line(file, command);
        fish_value(file, operand->kind, NULL, operand->names);
        fish_text(file, operand->name);
        putc('\n', file);
    }
    const cli_option *option;
    for (int i = 0; (option = command_option(command, i)) != NULL; i++) {
        fish_line(file, command);
        fprintf(file, " -l %s", option->name);
        if (option->letter) {
            fprintf(file, " -s %c", option->letter);
        }
        if (option->kind != VALUE_FLAG) {
            fputs(" -r", file);
            fish_value(file, option->kind, option->choices, option->names);
        }
        fish_text(file, option->help);
        putc('\n', file);
    }
}

static void write_fish(FILE *file) {
    fputs("# fish completion for sfumato, written by: sfumato help --completion fish\n"
          "function __sfumato_at\n"
          "    set -l path ''\n"
          "    for word in (commandline -opc)[2..-1]\n"
          "        switch (string trim -- \"$path $word\")\n"
          "            case",
          file);
    for (const cli_command *const *command = commands + 1; *command; command++) {
        fprintf(file, " '%s'", (*command)->name);
    }
    fputs("\n"
          "                set path (string trim -- \"$path $word\")\n"
          "        end\n"
          "    end\n"
          "    test \"$path\" = \"$argv[1]\"\n"
          "end\n"
          "complete -c sfumato -f\n",
          file);
    for (const cli_command *const *command = commands; *command; command++) {
        fish_command(file, *command);
    }
}

const cli_completion completions[] = {
    {"bash", "sfumato.bash", write_bash}, {"zsh", "_sfumato", write_zsh}, {"fish", "sfumato.fish", write_fish}, {0}};
