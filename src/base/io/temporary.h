/* temporary.h - what is on its way to become an output: .NAME.sfumato-XXXXXX, beside the NAME that it is for.
 *
 * 1. Whoever makes a file holds a lock on it (flock) until it is renamed or removed; the system releases the lock when
 * a process ends, however it ends. 2. A file whose lock can be taken belongs to nobody any more, and the next writer of
 * the same NAME removes it. 3. Only regular files of this user whose name has exactly this form are touched. 4. Where
 * the file system has no locks, nothing is removed.
 */
#ifndef SFU_TEMPORARY_H
#define SFU_TEMPORARY_H

#include "text.h"

/* Makes an empty file for `target`, readable by this user alone, and locks it; before that, removes those that killed
 * runs left of the same target. *file is -1, with errno set, where none can be made. `path` starts as {0}. */
SFU_CHECKED sfu_status sfu__temporary_make(int *file, sfu__text *path, const char *target);

/* The folder of temporary files for `target`: one that an earlier run left, so that its work can go on, else a new one.
 * Further ones are removed. Only for the one process that holds the lock of the target (sfu__temporary_lock). */
SFU_CHECKED sfu_status sfu__temporary_folder(sfu__text *path, const char *target);

/* The path of a lock file for `target`, which has the form of a temporary file, too. */
SFU_CHECKED sfu_status sfu__temporary_lock(sfu__text *path, const char *target);

/* Removes a folder and everything in it; links are removed, never followed. */
void sfu__remove_tree(const char *path);

#endif
