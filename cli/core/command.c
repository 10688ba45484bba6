#include "command.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

common_settings common;

static const cli_option report_options[] = {
    OPTION_FLAG("json", common.json, "print one JSON object on stdout and nothing else"),
    {OPTION_ROW("quiet", VALUE_FLAG, NULL, bool, common.quiet, "print only errors on stderr"), .letter = 'q'},
    {0}};

static const cli_option write_options[] = {
    OPTION_FLAG("force", common.force, "replace files that sfumato did not write"), {0}};

static const cli_option help_options[] = {
    {OPTION_ROW("help", VALUE_FLAG, NULL, bool, common.help, "print this help"), .letter = 'h'}, {0}};

const cli_option *command_option(const cli_command *command, int i) {
    static const cli_option none[] = {{0}};
    const cli_option *const tables[] = {command->options ? command->options : none,
                                        command->writes ? write_options : none,
                                        command->reports ? report_options : none, help_options};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
        for (const cli_option *row = tables[t]; row->name; row++) {
            if (i-- == 0) {
                return row;
            }
        }
    }
    return NULL;
}

static bool is_child(const cli_command *parent, const cli_command *child) {
    const size_t size = strlen(parent->name);
    if (strncmp(parent->name, child->name, size) != 0) {
        return false;
    }
    const char *rest = child->name + size;
    if (size > 0 && *rest++ != ' ') {
        return false;
    }
    return *rest != '\0' && strchr(rest, ' ') == NULL;
}

const cli_command *command_child(const cli_command *parent, int i) {
    for (const cli_command *const *child = commands; *child; child++) {
        if (is_child(parent, *child) && i-- == 0) {
            return *child;
        }
    }
    return NULL;
}

const char *command_word(const cli_command *command) {
    const char *blank = strrchr(command->name, ' ');
    return blank ? blank + 1 : command->name;
}

static const cli_command *child_named(const cli_command *parent, const char *word) {
    const cli_command *child;
    for (int i = 0; (child = command_child(parent, i)) != NULL; i++) {
        if (strcmp(command_word(child), word) == 0) {
            break;
        }
    }
    return child;
}

const cli_command *command_find(int *count, char ***words) {
    const cli_command *found = commands[0];
    while (*count > 0) {
        const cli_command *child = child_named(found, **words);
        if (!child) {
            break;
        }
        found = child;
        --*count;
        ++*words;
    }
    return found;
}

const char *command_title(char title[COMMAND_TITLE_MAX], const cli_command *command, char separator) {
    snprintf(title, COMMAND_TITLE_MAX, "sfumato%s%s", command->name[0] ? " " : "", command->name);
    for (char *c = title; *c; c++) {
        *c = *c == ' ' ? separator : *c;
    }
    return title;
}

const char *option_default(char text[OPTION_DEFAULT_MAX], const cli_option *option) {
    text[0] = '\0';
    double value = 1;
    switch (option->kind) {
    case VALUE_FLAG:
    case VALUE_TEXTS:
        break;
    case VALUE_CHOICE:
        snprintf(text, OPTION_DEFAULT_MAX, "%s", option->choices[*(const int *)option->target]);
        break;
    case VALUE_COUNT:
        value = *(const int32_t *)option->target;
        snprintf(text, OPTION_DEFAULT_MAX, "%d", *(const int32_t *)option->target);
        break;
    case VALUE_SEED:
        snprintf(text, OPTION_DEFAULT_MAX, "%llu", (unsigned long long)*(const uint64_t *)option->target);
        break;
    case VALUE_SIZE:
        value = (double)*(const uint64_t *)option->target;
        snprintf(text, OPTION_DEFAULT_MAX, "%.0f", value);
        break;
    case VALUE_NUMBER:
        value = *(const double *)option->target;
        snprintf(text, OPTION_DEFAULT_MAX, "%g", value);
        break;
    default: {
        const char *string = *(const char *const *)option->target;
        value = string ? 1 : 0;
        snprintf(text, OPTION_DEFAULT_MAX, "%s", string ? string : "");
    }
    }
    if ((value == 0 || isnan(value)) && option->unset) {
        snprintf(text, OPTION_DEFAULT_MAX, "%s", option->unset);
    }
    return text;
}
