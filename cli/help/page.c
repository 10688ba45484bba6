#include "page.h"

#include <string.h>

void page_usage(FILE *file, const cli_command *command) {
    char title[COMMAND_TITLE_MAX];
    fputs(command_title(title, command, ' '), file);
    if (command_child(command, 0)) {
        fputs(" COMMAND", file);
    }
    for (const cli_operand *operand = command->operands; operand && operand->name; operand++) {
        fprintf(file, operand->optional ? " [%s]%s" : " %s%s", operand->name, operand->many ? "..." : "");
    }
    const cli_option *option;
    for (int i = 0; (option = command_option(command, i)) != NULL; i++) {
        if (option->required && option->letter) {
            fprintf(file, " -%c %s", option->letter, option->value);
        } else if (option->required) {
            fprintf(file, " --%s %s", option->name, option->value);
        }
    }
    fputs(" [OPTION]...", file);
}

/* "-o, --output FILE", "--scale unit|sum|none" */
static void option_term(char *term, size_t size, const cli_option *option) {
    char letter[8] = "";
    if (option->letter) {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    size_t used = (size_t)snprintf(term, size, "%s--%s", letter, option->name);
    if (option->kind == VALUE_CHOICE) {
        for (int i = 0; option->choices[i] && used < size; i++) {
            used += (size_t)snprintf(term + used, size - used, "%c%s", i == 0 ? ' ' : '|', option->choices[i]);
        }
    } else if (option->value && used < size) {
        snprintf(term + used, size - used, " %s", option->value);
    }
}

static void write_option(FILE *file, const cli_option *option, const page_style *style) {
    char term[128], text[1024], value[OPTION_DEFAULT_MAX];
    option_term(term, sizeof term, option);
    option_default(value, option);
    const bool shown = value[0] != '\0' && !option->required;
    snprintf(text, sizeof text, "%s%s%s%s", option->help, shown ? " (default: " : "", shown ? value : "",
             shown ? ")" : "");
    style->item(file, term, text);
}

static void write_names(FILE *file, const char *title, names_fn names, const page_style *style) {
    const char *name, *text;
    style->section(file, title);
    for (int i = 0; (name = names(i, &text)) != NULL; i++) {
        style->item(file, name, text);
    }
}

/* The possible values of operands and options that take one of several names. */
static void write_all_names(FILE *file, const cli_command *command, const page_style *style) {
    char title[64];
    for (const cli_operand *operand = command->operands; operand && operand->name; operand++) {
        if (operand->names) {
            snprintf(title, sizeof title, "Values of %s", operand->name);
            write_names(file, title, operand->names, style);
        }
    }
    const cli_option *option;
    for (int i = 0; (option = command_option(command, i)) != NULL; i++) {
        if (option->names) {
            snprintf(title, sizeof title, "Values of %s", option->value);
            write_names(file, title, option->names, style);
        }
    }
}

static void write_text(FILE *file, const char *text, const page_style *style) {
    while (*text) {
        const char *end = strstr(text, "\n\n");
        const size_t size = end ? (size_t)(end - text) : strlen(text);
        char paragraph[2048];
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)size, text);
        if (paragraph[0] == ' ') {
            style->verbatim(file, paragraph);
        } else {
            style->paragraph(file, paragraph);
        }
        text += size + (end ? 2 : 0);
    }
}

static void write_children(FILE *file, const cli_command *command, const page_style *style) {
    const cli_command *child;
    for (int i = 0; (child = command_child(command, i)) != NULL; i++) {
        if (i == 0) {
            style->section(file, "Commands");
        }
        style->item(file, command_word(child), child->summary);
    }
}

static void write_examples(FILE *file, const cli_command *command, const page_style *style) {
    style->section(file, "Examples");
    for (const cli_example *example = command->examples; example->line; example++) {
        if (example->what[0]) {
            style->paragraph(file, example->what);
        }
        char line[512];
        snprintf(line, sizeof line, "  %s", example->line);
        style->verbatim(file, line);
    }
}

void page_write(FILE *file, const cli_command *command, const page_style *style) {
    if (command->defaults) {
        command->defaults();
    }
    style->start(file, command);
    write_text(file, command->description, style);
    write_children(file, command, style);
    if (command->operands) {
        style->section(file, "Operands");
        for (const cli_operand *operand = command->operands; operand->name; operand++) {
            style->item(file, operand->name, operand->help);
        }
    }
    style->section(file, "Options");
    const cli_option *option;
    for (int i = 0; (option = command_option(command, i)) != NULL; i++) {
        write_option(file, option, style);
    }
    write_all_names(file, command, style);
    for (const cli_section *section = command->sections; section && section->title; section++) {
        style->section(file, section->title);
        write_text(file, section->text, style);
    }
    if (command->examples) {
        write_examples(file, command, style);
    }
    style->end(file, command);
}

void page_short(FILE *file, const cli_command *command) {
    fputs("Usage: ", file);
    page_usage(file, command);
    putc('\n', file);
    write_children(file, command, &page_plain);
    char title[COMMAND_TITLE_MAX];
    fprintf(file, "\nSee %s --help.\n", command_title(title, command, ' '));
}
