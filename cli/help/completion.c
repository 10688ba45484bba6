/* Completion scripts of three shells, generated from the command tables. The names of datasets are requested from the
 * program when they are needed. */
#include "completion.h"

#include "command.h"

#include <string.h>

#define DATASETS "sfumato data list --names 2>/dev/null"

static bool is_group(const cli_command *command) { return command_child(command, 0) != NULL; }

/* A value of an option or operand, and what can be offered for it. */
typedef struct value_offer {
    value_kind kind;
    const char *const *choices; /* NULL, or ended by NULL */
    names_fn names;             /* NULL, or names that are offered */
    bool list;                  /* comma-separated */
} value_offer;

static value_offer option_offer(const cli_option *option) {
    return (value_offer){option->kind, option->choices, option->offers ? option->offers : option->names, option->list};
}

static value_offer operand_offer(const cli_operand *operand) {
    return (value_offer){operand->kind, NULL, operand->names, false};
}

static const char *offer_word(const value_offer *offer, int i) {
    return offer->choices ? offer->choices[i] : offer->names ? offer->names(i, NULL) : NULL;
}

static void put_words(FILE *file, const value_offer *offer) {
    const char *word;
    for (int i = 0; (word = offer_word(offer, i)) != NULL; i++) {
        fprintf(file, "%s%s", i == 0 ? "" : " ", word);
    }
}

static void put_children(FILE *file, const cli_command *parent) {
    const cli_command *child;
    for (int i = 0; (child = command_child(parent, i)) != NULL; i++) {
        fprintf(file, "%s%s", i == 0 ? "" : " ", command_word(child));
    }
}

/* Text inside single quotes, for a shell that writes a single quote as `quote`. */
static void put_quoted(FILE *file, const char *text, const char *quote) {
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            fputs(quote, file);
        } else {
            putc(*c, file);
        }
    }
}

/* ---- bash ------------------------------------------------------------------------------------------------------- */

/* Sets the variables of _sfumato: words, kind (files: where no word matches; folders; list; or nothing else). */
static void bash_value(FILE *file, const value_offer *offer) {
    const bool file_names = offer->kind == VALUE_FILE || offer->kind == VALUE_DATASET;
    fprintf(file, "kind='%s' words=",
            offer->kind == VALUE_FOLDER ? "folders"
            : file_names                ? "files"
            : offer->list               ? "list"
                                        : "words");
    if (offer->kind == VALUE_DATASET) {
        fputs("$(" DATASETS ")", file);
        return;
    }
    putc('\'', file);
    if (offer->kind == VALUE_COMMAND) {
        put_children(file, commands[0]);
    }
    put_words(file, offer);
    putc('\'', file);
}

/* Which words lead to which command. `help` is followed by the words of a command. */
static void bash_paths(FILE *file) {
    for (const cli_command *const *group = commands; *group; group++) {
        const cli_command *child;
        for (int i = 0; (child = command_child(*group, i)) != NULL; i++) {
            fprintf(file, "        '%s %s') path='%s' position=0 ;;\n", (*group)->name, command_word(child),
                    child->name);
        }
        if (is_group(*group) && (*group)->name[0]) {
            fprintf(file, "        'help %s') path='help %s' position=0 ;;\n", (*group)->name, (*group)->name);
        }
    }
}

/* 'train:--lr' | 'train:-o': the patterns of one option with a value. */
static void bash_option(FILE *file, const cli_command *command, const cli_option *option) {
    fprintf(file, "'%s:--%s'", command->name, option->name);
    if (option->letter) {
        fprintf(file, " | '%s:-%c'", command->name, option->letter);
    }
}

/* One alternative with all options that take a value: the next word is not an operand. */
static void bash_valued_options(FILE *file) {
    const char *before = "            ";
    for (const cli_command *const *command = commands; *command; command++) {
        const cli_option *option;
        for (int i = 0; (option = command_option(*command, i)) != NULL; i++) {
            if (option->kind != VALUE_FLAG) {
                fputs(before, file);
                bash_option(file, *command, option);
                before = " | \\\n                ";
            }
        }
    }
    fputs(") skip=1 ;;\n", file);
}

static void bash_values(FILE *file, const cli_command *command) {
    const cli_option *option;
    for (int i = 0; (option = command_option(command, i)) != NULL; i++) {
        if (option->kind != VALUE_FLAG) {
            const value_offer offer = option_offer(option);
            fputs("    ", file);
            bash_option(file, command, option);
            fputs(") ", file);
            bash_value(file, &offer);
            fputs(" ;;\n", file);
        }
    }
}

static void bash_options(FILE *file, const cli_command *command) {
    fprintf(file, "    '%s:-')\n        words='", command->name);
    const cli_option *option;
    for (int i = 0; (option = command_option(command, i)) != NULL; i++) {
        fprintf(file, "%s--%s", i == 0 ? "" : " ", option->name);
    }
    fputs("' ;;\n", file);
}

/* Operands by their position; a group has its subcommands instead. */
static void bash_operands(FILE *file, const cli_command *command) {
    if (is_group(command)) {
        fprintf(file, "    '%s:0'%s%s%s)\n        words='", command->name, command->name[0] ? " | 'help " : "",
                command->name[0] ? command->name : "", command->name[0] ? ":0'" : "");
        put_children(file, command);
        fputs("' ;;\n", file);
    }
    for (int i = 0; command->operands && command->operands[i].name; i++) {
        const value_offer offer = operand_offer(&command->operands[i]);
        if (command->operands[i].many) {
            fprintf(file, "    '%s:'[0-9]*) ", command->name);
        } else {
            fprintf(file, "    '%s:%d') ", command->name, i);
        }
        bash_value(file, &offer);
        fputs(" ;;\n", file);
    }
}

static void write_bash(FILE *file) {
    fputs("# bash completion for sfumato, written by: sfumato help --completion bash\n"
          "_sfumato() {\n"
          "    local current='' previous='' path='' word words='' kind='words' skip='' position=0 i\n"
          "    local -a line=()\n"
          "    # bash splits words at colons: join random : 0 again.\n"
          "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
          "        word=${COMP_WORDS[i]}\n"
          "        if ((${#line[@]} > 1)) && [[ ${line[-1]} != '=' && ($word == ':' || ${line[-1]} == *:) ]]; then\n"
          "            line[-1]+=$word\n"
          "        else\n"
          "            line+=(\"$word\")\n"
          "        fi\n"
          "    done\n"
          "    current=${line[-1]}\n"
          "    previous=${line[-2]:-}\n"
          "    # It also splits --name=VALUE at the equals sign.\n"
          "    if [[ $current == '=' ]]; then\n"
          "        current=''\n"
          "    elif [[ $previous == '=' ]]; then\n"
          "        previous=${line[-3]}\n"
          "    fi\n"
          "    # The command, and the number of operands before the current word.\n"
          "    for word in \"${line[@]:1:${#line[@]}-2}\"; do\n"
          "        if [[ $word == '=' ]]; then\n"
          "            skip=1\n"
          "            continue\n"
          "        elif [[ -n $skip ]]; then\n"
          "            skip=''\n"
          "            continue\n"
          "        fi\n"
          "        case \"$path $word\" in\n",
          file);
    bash_paths(file);
    fputs("        *)\n"
          "            case \"$path:$word\" in\n",
          file);
    bash_valued_options(file);
    fputs("            *:-?*) ;;\n"
          "            *) position=$((position + 1)) ;;\n"
          "            esac ;;\n"
          "        esac\n"
          "    done\n"
          "    case \"$path:$previous\" in\n",
          file);
    for (const cli_command *const *command = commands; *command; command++) {
        bash_values(file, *command);
    }
    fputs("    *)\n"
          "        word=$position\n"
          "        [[ $current == -* ]] && word='-'\n"
          "        case \"$path:$word\" in\n",
          file);
    for (const cli_command *const *command = commands; *command; command++) {
        bash_options(file, *command);
        bash_operands(file, *command);
    }
    fputs("        esac ;;\n"
          "    esac\n"
          "    local before=''\n"
          "    case $kind in\n"
          "    folders)\n"
          "        compopt -o filenames\n"
          "        mapfile -t COMPREPLY < <(compgen -d -- \"$current\") ;;\n"
          "    list)\n"
          "        [[ $current == *,* ]] && before=${current%,*},\n"
          "        compopt +o default +o bashdefault -o nospace\n"
          "        mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$words\" -- \"${current##*,}\") ;;\n"
          "    *)\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
          "        if [[ $current == file:* && $words == *file:* ]]; then\n"
          "            compopt -o filenames\n"
          "            mapfile -t COMPREPLY < <(compgen -f -P file: -- \"${current#file:}\")\n"
          "        elif [[ $kind == words ]]; then\n"
          "            # Where files are expected (kind is files), bash completes them if no word matches.\n"
          "            compopt +o default +o bashdefault\n"
          "        fi ;;\n"
          "    esac\n"
          "    # bash replaces only what follows the last colon.\n"
          "    if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then\n"
          "        before=${current%\"${current##*:}\"}\n"
          "        COMPREPLY=(\"${COMPREPLY[@]#\"$before\"}\")\n"
          "    fi\n"
          "}\n"
          "complete -o bashdefault -o default -F _sfumato sfumato\n",
          file);
}

/* ---- zsh -------------------------------------------------------------------------------------------------------- */

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

static void zsh_words(FILE *file, const value_offer *offer) {
    const char *word;
    for (int i = 0; (word = offer_word(offer, i)) != NULL; i++) {
        fputs(i == 0 ? "" : " ", file);
        zsh_text(file, word);
    }
}

static void zsh_value(FILE *file, const value_offer *offer) {
    switch (offer->kind) {
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
        putc('(', file);
        put_children(file, commands[0]);
        putc(')', file);
        break;
    default:
        if (offer_word(offer, 0)) {
            fputs(offer->list ? "_values -s , item " : "(", file);
            zsh_words(file, offer);
            fputs(offer->list ? "" : ")", file);
        } else {
            putc(' ', file);
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
        const value_offer offer = option_offer(option);
        zsh_value(file, &offer);
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
        const value_offer offer = operand_offer(operand);
        zsh_value(file, &offer);
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

/* Starts a line that applies while the words typed so far name the command. */
static void fish_line(FILE *file, const cli_command *command) {
    fprintf(file, "complete -c sfumato -n \"__sfumato_at '%s'\"", command->name);
}

static void fish_value(FILE *file, const value_offer *offer) {
    switch (offer->kind) {
    case VALUE_FILE:
        fputs(" -F", file);
        if (offer_word(offer, 0)) {
            fputs(" -a '", file);
            put_words(file, offer);
            putc('\'', file);
        }
        break;
    case VALUE_FOLDER:
        fputs(" -x -a '(__fish_complete_directories)'", file);
        break;
    case VALUE_DATASET:
        fputs(" -F -a '(" DATASETS ")'", file);
        break;
    default:
        fputs(offer->list ? " -x -a '(__fish_append , " : " -x -a '", file);
        if (offer->kind == VALUE_COMMAND) {
            put_children(file, commands[0]);
        }
        put_words(file, offer);
        fputs(offer->list ? ")'" : "'", file);
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
        const value_offer offer = operand_offer(operand);
        fish_value(file, &offer);
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
            const value_offer offer = option_offer(option);
            fputs(" -r", file);
            fish_value(file, &offer);
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
