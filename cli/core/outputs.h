/* outputs.h - the files that a command reads and writes, checked before it computes anything
 * (docs/reference/outputs.md).
 *
 * 1. No output is the same file as another output, an input or what stdout was redirected to. 2. Every output can be
 * written to. 3. A file that exists is replaced only where it is empty or of the kind that the command writes there,
 * told by its content; --force replaces any.
 */
#ifndef SFU_OUTPUTS_H
#define SFU_OUTPUTS_H

#include "command.h"

/* What a file is, and how one is recognised. */
typedef struct file_kind {
    const char *what;             /* "a model" */
    bool (*is_one)(const char *); /* NULL: it begins with one of these, and then has `mark`, if there is one */
    const char *const *begins;    /* ends with NULL */
    const char *mark;             /* within the first 1023 bytes */
} file_kind;

extern const file_kind model_file, dataset_file, predictions_file, curve_file, trials_file, split_file, network_drawing,
    history_drawing, history_script, history_data;

/* The files of one command. Starts as {0}; the role is what a message calls one: "-o", "--curve", "DATASET". Paths are
 * copied; NULL adds nothing. */
typedef struct cli_files {
    struct cli_file *items;
    int count;
    bool lost; /* there was no memory */
} cli_files;

void files_read(cli_files *files, const char *role, const char *path);
void files_read_dataset(cli_files *files, const char *name_or_path); /* as the operand DATASET */
void files_read_source(cli_files *files, const char *source);        /* and the files that belong to it */
void files_read_split(cli_files *files, const char *split);          /* file:CSV of --split, else nothing */
void files_write(cli_files *files, const char *role, const char *path, const file_kind *kind);
/* Where something else sees to what exists: a study, or FOLDER/NAME of each i that `name` has one for. */
void files_write_study(cli_files *files, const char *role, const char *path);
void files_write_folder(cli_files *files, const char *role, const char *folder, const char *(*name)(int i));

/* Checks all of them, says what is wrong in one line, and lets them go. Returns the exit status. */
int files_check(cli_files *files, const cli_command *command);

/* Says what the library found in a folder of outputs (sfu_export_check, sfu_results_check), unless --force is given.
 * Returns the exit status. */
int folder_check(const char *folder, sfu_status (*check)(const char *folder));

#endif
