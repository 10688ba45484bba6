/* output_path.h - where an output path leads.
 *
 * 1. Symbolic links are followed, the last of a chain may dangle; the link itself is never replaced. 2. A regular file
 * is replaced whole. 3. A device or FIFO is written to in its place. 4. /dev/stdout and /dev/fd/N are the open
 * descriptor itself, so that bytes go where the shell sent it, at its position. 5. A folder or socket is refused.
 */
#ifndef SFU_OUTPUT_PATH_H
#define SFU_OUTPUT_PATH_H

#include "status.h"

#include <limits.h>
#include <sys/stat.h>

typedef enum sfu__output_kind {
    SFU__OUTPUT_NEW,       /* nothing exists at the path yet */
    SFU__OUTPUT_FILE,      /* a regular file */
    SFU__OUTPUT_STREAM,    /* a device or FIFO */
    SFU__OUTPUT_DESCRIPTOR /* a descriptor of this process */
} sfu__output_kind;

typedef struct sfu__output_path {
    sfu__output_kind kind;
    int descriptor;      /* of SFU__OUTPUT_DESCRIPTOR */
    struct stat facts;   /* of everything that exists */
    char path[PATH_MAX]; /* with links followed */
} sfu__output_path;

/* The messages begin with the path as it is given. */
SFU_CHECKED sfu_status sfu__output_path_find(sfu__output_path *target, const char *path);

#endif
