/* command.h - the description of a command.
 *
 * One `cli_command` holds the name, operands, options, help text and function of a command. The parser, --help, the man
 * pages and the shell completions are all generated from it. Each cmd_*.c defines its command; main.c lists them.
 */
#ifndef SFU_COMMAND_H
#define SFU_COMMAND_H

#include "sfumato.h"

/* The type of a value: how it is parsed, the C type of its variable, and what shell completion offers for it. */
typedef enum value_kind {
    VALUE_FLAG,    /* bool; takes no value */
    VALUE_TEXT,    /* const char * */
    VALUE_TEXTS,   /* cli_texts: may be repeated */
    VALUE_FILE,    /* const char *, a path */
    VALUE_FOLDER,  /* const char *, a path */
    VALUE_DATASET, /* const char *, name or path of a dataset */
    VALUE_COMMAND, /* const char *, one word of a command's name */
    VALUE_NAME,    /* const char *, one of names() */
    VALUE_CHOICE,  /* an enum: the index into `choices` */
    VALUE_COUNT,   /* int32_t, from `min` to `max` */
    VALUE_SEED,    /* uint64_t */
    VALUE_SIZE,    /* uint64_t, in bytes: 8G, 512M, 1.5T; 0 unless given. A memory limit: starts frugal.h */
    VALUE_NUMBER   /* double, from `min` to `max` */
} value_kind;

/* The values of a repeated option, in order. Starts as {0}. */
enum { TEXTS_MAX = 256 };
typedef struct cli_texts {
    const char *items[TEXTS_MAX];
    int count;
} cli_texts;

/* The i-th name and (if text is not NULL) a one-line description; NULL after the last. As sfu_import_format. */
typedef const char *(*names_fn)(int i, const char **text);

typedef struct cli_option {
    const char *name; /* "edges" is --edges; NULL ends a table */
    char letter;      /* 'o' is -o; 0: none */
    bool required;    /* omitting it is a usage error */
    value_kind kind;
    const char *value;          /* placeholder of the value in the help: FILE */
    void *target;               /* the variable that it sets; holds the default before parsing */
    const char *help;           /* starts with a lowercase letter, ends without a full stop */
    const char *unset;          /* the help text for a default of 0, NaN or NULL; "" hides the default */
    const char *const *choices; /* NULL ends them */
    names_fn names;
    names_fn offers; /* values that shell completion offers for free text */
    bool list;       /* the value is a comma-separated list: completion continues after each comma */
    double min, max; /* both included */
} cli_option;

/* Rows of an option table. The compiler checks that the variable has the type of the kind. */
#define OPTION_ROW(name_, kind_, value_, type, variable, help_)                                                        \
    .name = (name_), .kind = (kind_), .value = (value_), .target = (1 ? &(variable) : (type *)NULL), .help = (help_)
/* For the commands that write names into CSV files. */
#define OPTION_SPREADSHEET(variable)                                                                                   \
    OPTION_FLAG("spreadsheet", variable, "prefix names that a spreadsheet would run as a formula (=, +, -, @) with '")

#define OPTION_FLAG(name_, variable, help_)                                                                            \
    { OPTION_ROW(name_, VALUE_FLAG, NULL, bool, variable, help_) }
#define OPTION_TEXT(name_, kind_, value_, variable, unset_, help_)                                                     \
    { OPTION_ROW(name_, kind_, value_, const char *, variable, help_), .unset = (unset_) }
#define OPTION_OFFER(name_, kind_, value_, variable, unset_, offers_, list_, help_)                                    \
    {                                                                                                                  \
        OPTION_ROW(name_, kind_, value_, const char *, variable, help_), .unset = (unset_), .offers = (offers_),       \
                                                                         .list = (list_)                               \
    }
#define OPTION_TEXTS(name_, value_, variable, help_)                                                                   \
    { OPTION_ROW(name_, VALUE_TEXTS, value_, cli_texts, variable, help_) }
#define OPTION_OUTPUT(kind_, value_, variable, required_, unset_, help_)                                               \
    {                                                                                                                  \
        OPTION_ROW("output", kind_, value_, const char *, variable, help_), .letter = 'o', .required = (required_),    \
                                                                            .unset = (unset_)                          \
    }
#define OPTION_NAME(name_, value_, variable, names_, unset_, help_)                                                    \
    { OPTION_ROW(name_, VALUE_NAME, value_, const char *, variable, help_), .names = (names_), .unset = (unset_) }
#define OPTION_CHOICE(name_, variable, choices_, help_)                                                                \
    { .name = (name_), .kind = VALUE_CHOICE, .target = &(variable), .choices = (choices_), .help = (help_) }
#define OPTION_COUNT(name_, value_, variable, min_, max_, unset_, help_)                                               \
    {                                                                                                                  \
        OPTION_ROW(name_, VALUE_COUNT, value_, int32_t, variable, help_), .min = (min_), .max = (max_),                \
                                                                          .unset = (unset_)                            \
    }
#define OPTION_NUMBER(name_, variable, min_, max_, help_)                                                              \
    { OPTION_ROW(name_, VALUE_NUMBER, "X", double, variable, help_), .min = (min_), .max = (max_) }
#define OPTION_SEED(name_, variable, help_)                                                                            \
    { OPTION_ROW(name_, VALUE_SEED, "N", uint64_t, variable, help_) }
#define OPTION_SIZE(name_, variable, unset_, help_)                                                                    \
    { OPTION_ROW(name_, VALUE_SIZE, "SIZE", uint64_t, variable, help_), .unset = (unset_) }

typedef struct cli_operand {
    const char *name; /* SOURCE; NULL ends a table */
    bool optional, many;
    value_kind kind;
    const char *help;
    names_fn names;
} cli_operand;

/* Paragraphs are separated by an empty line; one whose lines start with a blank is shown verbatim. */
typedef struct cli_section {
    const char *title; /* "Environment"; NULL ends a table */
    const char *text;
} cli_section;

typedef struct cli_example {
    const char *line; /* "sfumato data info cora"; NULL ends a table */
    const char *what; /* what it does, as a sentence; "" repeats the one before */
} cli_example;

/* What the processes of an MPI launcher do with a command. */
typedef enum cli_ranks {
    RANKS_REFUSED,  /* it is for one process */
    RANKS_FIRST,    /* the first of them runs it */
    RANKS_TOGETHER, /* they run it together */
    RANKS_CHOSEN    /* the command decides: together, in groups, or as workers that share work */
} cli_ranks;

typedef struct cli_command {
    const char *name;            /* "data import"; "" is the program itself */
    const char *summary;         /* one line, like an option's help */
    const char *description;     /* as in a section */
    const cli_operand *operands; /* NULL: none */
    const cli_option *options;   /* NULL: none but the common ones */
    const cli_section *sections; /* NULL: none */
    const cli_example *examples;
    bool reports;           /* takes --json and --quiet */
    bool writes;            /* writes files: takes --force */
    cli_ranks ranks;        /* under an MPI launcher */
    void (*defaults)(void); /* sets the option variables to their defaults; NULL: static initialisers do */
    int (*run)(int count, char **operands); /* returns the exit status; NULL: needs a subcommand */
} cli_command;

/* All commands, in the order of the help, the program itself first; NULL ends them. */
extern const cli_command *const commands[];

/* The common options: --json and --quiet (`reports`), --force (`writes`), --help. */
typedef struct common_settings {
    bool json, quiet, help, force;
} common_settings;
extern common_settings common;

/* The command named by the longest possible prefix of the words; *count and *words move past that prefix. */
const cli_command *command_find(int *count, char ***words);

/* The i-th subcommand of a command, NULL after the last. */
const cli_command *command_child(const cli_command *parent, int i);

/* The i-th option of a command, its own and then the common ones; NULL after the last. */
const cli_option *command_option(const cli_command *command, int i);

/* The last word of its name: "import". */
const char *command_word(const cli_command *command);

/* "sfumato data import"; with '-' as separator, the name of its man page. */
enum { COMMAND_TITLE_MAX = 64 };
const char *command_title(char title[COMMAND_TITLE_MAX], const cli_command *command, char separator);

/* The default of an option as text, "" for none. Call the command's `defaults` first. */
enum { OPTION_DEFAULT_MAX = 128 };
const char *option_default(char text[OPTION_DEFAULT_MAX], const cli_option *option);

#endif
