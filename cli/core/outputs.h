/* outputs.h - checks the files that a command reads and writes before it computes anything (docs/reference/outputs.md).
 *
 * 1. No output is the same file as another output, an input or the redirected stdout. 2. Every output is writable. 3.
 * An existing file is replaced only if it is empty or its content is of the kind that the command writes; --force
 * replaces any file.
 */
#ifndef SFU_OUTPUTS_H
#define SFU_OUTPUTS_H

#include "command.h"

/* A kind of file and how it is recognised. */
typedef struct file_kind {
    const char *what;             /* "a model" */
    bool (*is_one)(const char *); /* NULL: recognised by `begins` and `mark` */
    const char *const *begins;    /* the file starts with one of these; NULL ends them */
    const char *mark;             /* NULL, or a string within its first 1023 bytes */
} file_kind;

extern const file_kind model_file, dataset_file, predictions_file, curve_file, trials_file, label_page, split_file,
    network_drawing, history_drawing, history_script, history_data;

/* The files of one command. Starts as {0}. The role names the file in messages: "-o", "--curve", "DATASET". Paths are
 * copied; a NULL path adds nothing. */
typedef struct cli_files {
    struct cli_file *items;
    int count;
    bool no_memory;
} cli_files;

void files_read(cli_files *files, const char *role, const char *path);
void files_read_dataset(cli_files *files, const char *name_or_path); /* the operand DATASET */
void files_read_source(cli_files *files, const char *source);        /* and its companion files */
void files_read_split(cli_files *files, const char *split);          /* file:CSV of --split, else nothing */
void files_write(cli_files *files, const char *role, const char *path, const file_kind *kind);
/* Outputs whose existing content is checked elsewhere: a study, or FOLDER/name(i) for every i. */
void files_write_study(cli_files *files, const char *role, const char *path);
void files_write_folder(cli_files *files, const char *role, const char *folder, const char *(*name)(int i));

/* Checks all files, prints an error for the first violation, and releases the list. Returns the exit status. */
int files_check(cli_files *files, const cli_command *command);

/* Checks a folder of outputs (sfu_export_check, sfu_results_check) unless --force is given. Returns the exit status. */
int folder_check(const char *folder, sfu_status (*check)(const char *folder));

/* Whether a path names a regular file, which another command can read: not /dev/null, a FIFO or a terminal. */
bool is_regular_file(const char *path);

#endif
