/* program.h - runs another program to completion, without a shell. */
#ifndef SFU_PROGRAM_H
#define SFU_PROGRAM_H

#include "progress.h"

typedef struct sfu__program {
    bool found;     /* false: there is no such program */
    int exit_code;  /* 128 + the signal if it was killed by one */
    char said[200]; /* the last line of its output that begins with "ERROR", else the last line; printable, quoted */
} sfu__program;

/* Runs argv[0] with the arguments up to NULL and no input. Only absolute entries of PATH are searched and passed on,
 * and Python's variables are removed, so that the current folder cannot influence what runs. The ticker is called while
 * it runs; on cancellation, the program and its children are terminated. Fails only if no process could be started. */
SFU_CHECKED sfu_status sfu__program_run(sfu__program *program, const char *const *argv, sfu__ticker *ticker);

#endif
