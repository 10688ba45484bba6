/* temporary.h - temporary files for outputs: .NAME.sfumato-XXXXXX, beside the final NAME.
 *
 * 1. The creator of a file holds a lock on it (flock) until it is renamed or removed; the system releases the lock when
 * the process ends, however it ends. 2. A file whose lock can be taken is abandoned, and the next writer of the same
 * NAME removes it. 3. Only regular files of this user whose name has exactly this form are touched. 4. On file systems
 * without locks, nothing is removed.
 */
#ifndef SFU_TEMPORARY_H
#define SFU_TEMPORARY_H

#include "text.h"

/* Creates and locks an empty file for `target`, accessible to this user only; first removes files that killed runs left
 * for the same target. *file is -1, with errno set, if none can be created. `path` starts as {0}. */
SFU_CHECKED sfu_status sfu__temporary_make(int *file, sfu__text *path, const char *target);

/* The temporary folder for `target`: one left by an earlier run, so that its work can be resumed, else a new one.
 * Others are removed. Only for the process that holds the lock of the target (sfu__temporary_lock). */
SFU_CHECKED sfu_status sfu__temporary_folder(sfu__text *path, const char *target);

/* The path of a lock file for `target`, which also has the form of a temporary file. */
SFU_CHECKED sfu_status sfu__temporary_lock(sfu__text *path, const char *target);

/* Removes a folder and everything in it; links are removed, never followed. */
void sfu__remove_tree(const char *path);

#endif
