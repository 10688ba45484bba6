/* output_path.h - resolves an output path.
 *
 * 1. Symbolic links are followed, also if the last one dangles; a link itself is never replaced. 2. A regular file is
 * replaced atomically. 3. A device or FIFO is written to directly. 4. /dev/stdout and /dev/fd/N are the open descriptor
 * itself, so that bytes go where the shell redirected it, at its position. 5. A folder or socket is an error.
 */
#ifndef SFU_OUTPUT_PATH_H
#define SFU_OUTPUT_PATH_H

#include "status.h"

#include <limits.h>
#include <sys/stat.h>

typedef enum sfu__output_kind {
    SFU__OUTPUT_NEW,       /* does not exist yet */
    SFU__OUTPUT_FILE,      /* a regular file */
    SFU__OUTPUT_STREAM,    /* a device or FIFO */
    SFU__OUTPUT_DESCRIPTOR /* a descriptor of this process */
} sfu__output_kind;

typedef struct sfu__output_path {
    sfu__output_kind kind;
    int descriptor;          /* of SFU__OUTPUT_DESCRIPTOR */
    struct stat file_status; /* unless SFU__OUTPUT_NEW */
    char path[PATH_MAX];     /* with links followed */
} sfu__output_path;

/* Messages begin with the path as given. */
SFU_CHECKED sfu_status sfu__output_path_find(sfu__output_path *target, const char *path);

#endif
