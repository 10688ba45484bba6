/* details.h - what report.html shows besides the scores: properties and warnings of each dataset, and for each network
 * on the first split the winning hyperparameters and the confusion matrix. FOLDER/details.csv keeps them, one value per
 * row. A folder without the file has a report without these sections.
 */
#ifndef SFU_DETAILS_H
#define SFU_DETAILS_H

#include "results.h"

/* One value. The section is "digest" (of the dataset), "property" (row: its name), "warning" (row: its number),
 * "hyperparameter" (row: its name) or "confusion" (row: true class, column: predicted class, value: number of test
 * nodes). */
typedef struct sfu__detail {
    sfu__task task; /* the dataset; and network, size and split where it is not about the dataset alone */
    int32_t trial;  /* the winner: details of another trial are out of date */
    char section[16];
    char row[128], column[128], value[512];
} sfu__detail;

/* A growing list. Starts as {0}; sfu__details_clear also after a failure. */
typedef struct sfu__details {
    sfu__detail *items;
    int count;
    size_t capacity;
} sfu__details;

void sfu__details_clear(sfu__details *details);

/* Adds what is known of a dataset, given by this name or path; and of the winner of a study. */
SFU_CHECKED sfu_status sfu__details_add_dataset(sfu__details *details, const char *given, const sfu_dataset *dataset);
SFU_CHECKED sfu_status sfu__details_add_winner(sfu__details *details, const sfu__entry *entry, const sfu_study *study,
                                               const sfu_dataset *dataset);

/* The digest of a dataset, borrowed; NULL: not known. */
const char *sfu__details_digest(const sfu__details *details, const char *given);

/* Adds what the list does not have yet, task by task. */
SFU_CHECKED sfu_status sfu__details_add_missing(sfu__details *details, const sfu__details *from);

/* Moves all of `from` into the list, instead of what it has for the same task, and leaves `from` empty. */
SFU_CHECKED sfu_status sfu__details_put(sfu__details *details, sfu__details *from);

/* The next value of a section after *i, which starts as -1; NULL after the last. With an entry its winner's, with NULL
 * those of the dataset. */
const sfu__detail *sfu__details_next(const sfu__details *details, const char *dataset, const sfu__entry *entry,
                                     const char *section, int *i);

/* Whether a task keeps details: the first split, and not part of a sweep. */
bool sfu__details_wanted(const sfu__task *task);

/* details.csv: a missing file gives none, and a malformed one an error with its line. It is written as a whole,
 * datasets first, then in the order of the tasks, then the rest; not at all where there are none. */
SFU_CHECKED sfu_status sfu__details_read(sfu__details *details, const char *folder);
SFU_CHECKED sfu_status sfu__details_write(const sfu__details *details, const char *folder, const sfu__tasks *tasks);

/* All values as a JSON array; and added to a list, as those of this task. */
SFU_CHECKED sfu_status sfu__details_print(sfu__text *json, const sfu__details *details);
SFU_CHECKED sfu_status sfu__details_read_json(sfu__details *details, const sfu__json *json, const sfu__task *task,
                                              const char *place);

#endif
